"""The exact join of sets that are templates with some words changed: native against plain, whatever is passed over."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from doublet.kernels import reference

native = pytest.importorskip("doublet.kernels._native")

pytestmark = [pytest.mark.covers("K7")]


def templates(seed: int) -> list[list[int]]:
    """Sets with a few fingerprints of their own, or of two of them, among some that all have."""
    rng = random.Random(seed)
    size, words = rng.randint(1, 12), rng.randint(6, 40)
    pool = [rng.getrandbits(64) for _ in range(words)]
    bases = [rng.sample(pool, min(size, words)) for _ in range(rng.randint(1, 3))]
    own = [rng.getrandbits(64) for _ in range(400)]
    out = []
    for number in range(rng.randint(30, 120)):
        made = list(rng.choice(bases))
        for _ in range(rng.randint(0, 3)):
            made[rng.randrange(len(made))] = rng.choice([own[number], own[number // 2], rng.choice(pool)])
        out.append(sorted(set(made[: rng.choice([0, *[len(made)] * 6, rng.randint(1, len(made))])])))
    return out


def filled(kind: Any, sets: list[list[int]], *given: Any) -> Any:
    store = kind(*given)
    offsets = np.cumsum([0, *map(len, sets)]).astype(np.uint64)
    store.add(np.array([v for one in sets for v in one], np.uint64), offsets)
    return store


def rows(found: tuple[Any, ...]) -> list[tuple[int, ...]]:
    return sorted(zip(*(column.tolist() for column in found[:3]), strict=True))


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("containment", [0.0, 0.5, 0.9])
@pytest.mark.parametrize("threshold", [0.2, 0.5, 0.8])
def test_the_same_links_pairs_and_contained(
    threshold: float, containment: float, threads: int, tmp_path: Path
) -> None:
    for seed in range(20):
        sets = templates(seed)
        plain = filled(reference.SetStore, sets)
        memory = 0 if seed % 3 else 20_000
        quick = filled(native.SetStore, sets, memory, str(tmp_path) if memory else "", threads)
        order = np.array(random.Random(seed).sample(range(len(sets)), len(sets)), np.uint32)
        assert rows(plain.clean(order, threshold, containment)) == rows(
            quick.clean(order, threshold, containment)
        )
        assert rows(plain.pairs(threshold, containment, 10**6)) == rows(
            quick.pairs(threshold, containment, 10**6)
        )
        if containment:
            assert plain.contained(containment).tolist() == quick.contained(containment).tolist()
