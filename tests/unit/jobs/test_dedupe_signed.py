"""What the join keeps of signatures, and what it asks of them."""

from __future__ import annotations

import random
from pathlib import Path

import numpy as np
import pytest

from doublet.jobs.dedupe import dedupe
from doublet.jobs.dedupe.signed import Signed
from doublet.signatures import method as make_method
from doublet.signatures.protocol import BaseMethod


def texts(count: int) -> list[str]:
    rng = random.Random(6)
    words = [f"word{i}" for i in range(30)]
    return [" ".join(rng.choice(words) for _ in range(rng.randint(0, 12))) for _ in range(count)]


def gathered(name: str, *, memory: int | None = None, folder: str | None = None, **options: int) -> Signed:
    method = make_method(name, **options)
    out = Signed(method, memory, folder)
    made = texts(120)
    for first in range(0, 120, 50):
        batch = made[first : first + 50]
        out.take([out.compact(method.sign_texts(batch[at : at + 20]), at) for at in (0, 20, 40)], first)
    return out


@pytest.mark.covers("M6")
@pytest.mark.parametrize("max_distance", [0, 3, 12])
@pytest.mark.parametrize("memory", [None, 0])
def test_many_pairs_at_once_are_judged_as_each_of_them(
    max_distance: int, memory: int | None, tmp_path: Path
) -> None:
    signed = gathered("simhash", max_distance=max_distance, memory=memory, folder=str(tmp_path))
    some = [i for i, text in enumerate(texts(120)) if text]
    left, right = np.array([(a, b) for a in some for b in some], np.uint32).T
    alike = signed.alike
    assert alike is not None
    by_one = [signed.agree(a, np.array(some, np.uint32)) for a in some]
    assert alike(left, right).tolist() == np.concatenate(by_one).tolist()
    assert len(some) < np.concatenate(by_one).sum() < len(some) ** 2 or not max_distance


@pytest.mark.parametrize("name", ["supershingles", "longsent", "tf"])
def test_methods_that_cannot_are_asked_one_by_one(name: str) -> None:
    assert gathered(name).alike is None


def test_nothing_signed() -> None:
    assert Signed(make_method("simhash")).alike is None


def test_equal_signatures_are_compared_once(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []
    plain = BaseMethod.compare
    monkeypatch.setattr(BaseMethod, "compare", lambda self, a, b: asked.append(1) or plain(self, a, b))
    many = [(f"d{i}", "one two three four five six seven eight nine ten") for i in range(500)]
    (group,) = dedupe(many, method="longsent").groups
    assert len(group.members) == 499
    assert len(asked) == 1


@pytest.mark.covers("K7")
@pytest.mark.parametrize(
    "method", ["minhash", "smallest", "supershingles", "megashingles", "simhash", "imatch", "pivot"]
)
def test_crowded_keys_give_the_same_groups_in_any_order(method: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Tiny texts that are nearly equal, by the plain walk over keys and by rare wording."""
    from doublet.index import keeper_join, keys

    rng = random.Random(11)
    names, days = ["Ivan", "Olga", "Pavel"], ["Monday", "Friday"]
    many = [
        (f"d{i}", f"Order {i // 2 % 40} was shipped to {rng.choice(names)} on {rng.choice(days)} by road")
        for i in range(240)
    ]
    plain = dedupe(many, method=method).to_dict()
    monkeypatch.setattr(keys, "LARGE", 3)
    monkeypatch.setattr(keeper_join, "PATIENCE", 0)
    monkeypatch.setattr(keeper_join, "LEAST_PATIENCE", 0)
    rng.shuffle(many)
    crowded = dedupe(many, method=method, workers=2).to_dict()
    assert plain == crowded
