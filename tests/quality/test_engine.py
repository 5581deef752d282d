"""Floors of the engine on real texts. They hold exactly; lowering one is a decision, not a repair."""

from __future__ import annotations

import json
import lzma
import re

import pytest

import doublet
from doublet import samples

TO_LATIN = str.maketrans("аеорсухіАВЕКМНОРСТУХІ", "aeopcyxiABEKMHOPCTYXI")
TO_CYRILLIC = str.maketrans("aeopcyxABEKMHOPCTYX", "аеорсухАВЕКМНОРСТУХ")


def lines(path):
    with lzma.open(path, "rt", encoding="utf-8") as stream:
        return [json.loads(line) for line in stream]


def plain_shingles(text: str) -> frozenset[tuple[str, ...]]:
    """Word 5-grams the obvious way, an independent measure. ё is е; marks and soft hyphens are no part of a word."""
    words = re.findall(r"\w+", re.sub("[\u00ad\u0301]", "", text.lower().replace("ё", "е")))
    return (
        frozenset(zip(*(words[i:] for i in range(5)), strict=False))
        if len(words) > 4
        else frozenset([tuple(words)])
    )


def check_swapped(texts: dict[str, str], swap) -> None:
    """Every text and its disguised copy: found, and nothing else is found that was not alike before."""
    before = doublet.dedupe(texts.items(), threshold=0.8, shingle_words=5, containment=None, pairs=True)
    both = {**texts, **{f"{name}~": swap(text) for name, text in texts.items()}}
    after = doublet.dedupe(both.items(), threshold=0.8, shingle_words=5, containment=None, pairs=True)
    honest = {(p.a, p.b) for p in before.pairs}
    expected = {(n, f"{n}~") for n in texts}
    expected |= {tuple(sorted((x, y))) for a, b in honest for x in (a, f"{a}~") for y in (b, f"{b}~")}
    found = {(p.a, p.b) for p in after.pairs}
    assert found == expected  # recall 1.0 and precision 1.0


@pytest.mark.covers("T5")
def test_swapped_letters_are_found_with_precision_and_recall_one():
    records = [json.loads(line) for line in samples.LIBRARY.read_text("utf-8").splitlines()]
    russian = {r["id"]: r["text"] for r in records if re.search("[а-я]", r["text"])}
    english = {r["id"]: r["text"] for r in records if r["id"] not in russian}
    assert russian
    assert english
    check_swapped(russian, lambda text: text.translate(TO_LATIN))
    check_swapped(english, lambda text: text.translate(TO_CYRILLIC))


@pytest.mark.shared
@pytest.mark.covers("T5")
def test_swapped_letters_of_real_documents(shared):
    russian = {r["id"]: r["text"] for r in lines(shared / "data/mdn-ru-revisions/docs.jsonl.xz")}
    check_swapped(russian, lambda text: text.translate(TO_LATIN))
    english = {
        r["id"]: r["text"] for r in lines(shared / "data/pan13-text-alignment-train/docs.jsonl.xz")[:1500]
    }
    check_swapped(english, lambda text: text.translate(TO_CYRILLIC))


@pytest.mark.shared
@pytest.mark.covers("M1", "K7")
def test_revisions_of_pages_against_brute_force(shared):
    """All pairs at 0.5, 0.7 and 0.8 are exactly those that comparing everything with everything finds."""
    texts = {r["id"]: r["text"] for r in lines(shared / "data/mdn-ru-revisions/docs.jsonl.xz")}
    sets = {name: plain_shingles(text) for name, text in texts.items()}
    names = sorted(sets)
    truth = {}
    for i, a in enumerate(names):
        for b in names[i + 1 :]:
            common = len(sets[a] & sets[b])
            if common and (like := common / (len(sets[a]) + len(sets[b]) - common)) >= 0.45:
                truth[a, b] = like
    for threshold in (0.5, 0.7, 0.8):
        result = doublet.dedupe(
            texts.items(), threshold=threshold, shingle_words=5, containment=None, pairs=True
        )
        found = {(p.a, p.b): p.resemblance for p in result.pairs}
        wanted = {pair for pair, like in truth.items() if like >= threshold}
        # Letters that the two ways fold differently can move a pair over the line; none does here.
        assert set(found) == wanted
        removed = {m.id for g in result.groups for m in g.members}
        assert all(a in removed or b in removed for a, b in wanted)


@pytest.mark.shared
@pytest.mark.covers("K7")
def test_versions_of_a_page_are_found_and_strangers_are_not(shared):
    rows = lines(shared / "data/mdn-ru-revisions/docs.jsonl.xz")
    listing = (shared / "data/mdn-ru-revisions/similar_different_pages.jsonl").read_text("utf-8")
    listed = [json.loads(line) for line in listing.splitlines()]
    siblings = {tuple(sorted((r["a"], r["b"]))) for r in listed}
    page = {r["id"]: r["page"] for r in rows}
    documents = [(r["id"], r["text"]) for r in rows]
    result = doublet.dedupe(documents, threshold=0.5, shingle_words=5, containment=None, pairs=True)
    found = {(p.a, p.b) for p in result.pairs}
    right = {pair for pair in found if page[pair[0]] == page[pair[1]]}
    wrong = found - right - siblings
    versions = sum(1 for r in rows if r["version"] == "old" and r["jaccard5_to_other"] >= 0.5)
    assert len(right) >= 0.99 * versions
    assert len(wrong) <= 0.01 * len(found)
