"""What auto adds to dedupe: edited and reworded copies are listed, and an original is never lost by default."""

from __future__ import annotations

import json
import pathlib
import random

import pytest

from doublet import dedupe
from doublet.errors import InvalidParameter
from doublet.jobs.dedupe import dedupe_inputs
from doublet.sources.open import open_source

WORDS = [
    f"{a}{b}{c}"
    for a in "бвгдкл"
    for b in ("ара", "оло", "ени", "ута")
    for c in ("ст", "мк", "рн", "лп", "зд")
]


def text(seed: int, count: int = 220) -> list[str]:
    chance = random.Random(seed)
    return [chance.choice(WORDS) + str(chance.randrange(40)) for _ in range(count)]


def changed(words: list[str], share: float, seed: int) -> list[str]:
    chance = random.Random(seed)
    return [f"иное{chance.randrange(9999)}" if chance.random() < share else word for word in words]


def collection() -> list[tuple[str, str]]:
    texts = {f"plain{n:02}": text(n) for n in range(30)}
    texts["source"] = text(100)
    texts["reworded"] = changed(texts["source"], 0.35, 1)
    texts["near"] = changed(texts["plain03"], 0.03, 2)
    texts["edited"] = changed(texts["plain05"], 0.14, 3)
    frame = text(200, 90)
    texts["page1"], texts["page2"] = frame + text(201, 110), frame + text(202, 110)
    return [(name, " ".join(words)) for name, words in texts.items()]


@pytest.mark.covers("M15", "K7")
def test_it_works() -> None:
    result = dedupe(collection())
    assert result.method == "auto"
    assert [(g.keep, [m.id for m in g.members]) for g in result.groups] == [("near", ["plain03"])] or [
        (g.keep, [m.id for m in g.members]) for g in result.groups
    ] == [("plain03", ["near"])]
    assert result.groups[0].members[0].step == "shingles"
    assert result.related is not None
    found = {(one.a, one.b): one for one in result.related}
    assert found["reworded", "source"].kind == "reworded"
    assert found["reworded", "source"].step == "meaning"
    assert (found["reworded", "source"].kept or 0) > 0.4
    assert found["edited", "plain05"].kind == "edited"
    assert {"source", "reworded", "page1", "page2", "edited", "plain05"} <= set(result.kept)


def test_pages_of_one_template_are_never_taken_out() -> None:
    for choice in ("list", "all", "remove"):
        result = dedupe(collection(), reworded=choice)
        assert {"page1", "page2"} <= set(result.kept)
        assert result.related is not None
        kinds = {one.kind for one in result.related if {one.a, one.b} == {"page1", "page2"}}
        assert kinds <= {"shared"}


def test_reworded_copies_can_be_taken_out() -> None:
    result = dedupe(collection(), reworded="remove")
    group = next(g for g in result.groups if "source" in (g.keep, g.members[0].id))
    assert {group.keep, group.members[0].id} == {"source", "reworded"}
    assert group.members[0].step == "meaning"
    assert group.members[0].id not in result.kept
    assert {"edited", "plain05"} <= set(
        result.kept
    )  # edited copies are under the threshold that the user set


def test_a_document_that_stands_for_others_stays() -> None:
    rows = dict(collection())
    copy = rows["reworded"].split()
    rows["reworded-copy"] = " ".join([*copy, "ещё", "слово"])
    rows["source-copy"] = " ".join([*rows["source"].split(), "и", "другое", "тут"])
    result = dedupe(list(rows.items()), reworded="remove")
    assert len(result.kept) + result.removed == len(rows)
    assert sum(group.keep.startswith(("source", "reworded")) for group in result.groups) == 2


def test_off_and_other_methods() -> None:
    assert dedupe(collection(), reworded="off").related is None
    assert dedupe(collection(), method="shingles").related is None
    with pytest.raises(InvalidParameter, match="list, all, remove, off"):
        dedupe(collection(), reworded="maybe")
    long = dedupe(collection(), shingle_words=9)
    assert long.related is None
    assert any("reworded copies were not looked for" in str(note) for note in long.notes)
    assert dedupe([]).related == ()


@pytest.mark.covers("M15")
@pytest.mark.parametrize("choice", ["list", "remove"])
def test_any_order_any_number_of_workers(tmp_path: pathlib.Path, choice: str) -> None:
    rows = collection()
    expected = None
    for seed in range(3):
        random.Random(seed).shuffle(rows)
        file = tmp_path / f"{seed}.jsonl"
        file.write_text("".join(json.dumps({"id": i, "text": t}) + "\n" for i, t in rows), encoding="utf-8")
        for workers in (1, 3):
            with open_source([str(file)]) as source:
                result = dedupe_inputs(source, workers=workers, reworded=choice)
            told = result.to_dict()
            expected = expected or told
            assert told == expected
    assert dedupe(rows, reworded=choice).to_dict() == expected
