"""Floors of passages on labelled texts: PAN 2013 text alignment (a fixed sample) and ParaPlag. The whole corpus is
measured by benchmarks/passages.py; the floors lie below what the sample reaches by about what chance may do."""

from __future__ import annotations

import hashlib
import json
import lzma
import zlib
from typing import Any

import pytest

from doublet.evaluation.metrics import Passage, PassageScore, count_pair, passage_score
from doublet.jobs.check import check
from doublet.matches.align import to_fragments
from doublet.matches.passages import find_all
from doublet.matches.stems import read_stems
from doublet.model import Span

pytestmark = [pytest.mark.shared, pytest.mark.covers("M15", "K2", "E3")]

#: every fourth suspicious text, by its name
PART, PARTS = 1, 4
FINGERPRINT = "a86dce61c3121c86"
FLOORS = {
    "02-no-obfuscation": 0.98,
    "03-random-obfuscation": 0.945,
    "04-translation-obfuscation": 0.95,
    "05-summary-obfuscation": 0.80,
}


def lines(path) -> list[dict[str, Any]]:
    with lzma.open(path, "rt", encoding="utf-8") as stream:
        return [json.loads(line) for line in stream]


@pytest.fixture(scope="module")
def scores(shared) -> dict[str, PassageScore]:
    data = shared / "data/pan13-text-alignment-train"
    pairs = [p for p in lines(data / "pairs.jsonl.xz") if zlib.crc32(p["susp"].encode()) // 2 % PARTS == PART]
    fingerprint = hashlib.sha256(json.dumps(pairs, sort_keys=True).encode()).hexdigest()
    assert fingerprint.startswith(FINGERPRINT), "the sample is another one: the floors say nothing about it"
    wanted = {p["susp"] for p in pairs} | {p["src"] for p in pairs}
    texts = {d["id"]: d["text"] for d in lines(data / "docs.jsonl.xz") if d["id"] in wanted}
    numbers = {name: number for number, name in enumerate(texts)}
    read = read_stems(list(texts.values()))
    numbered = [(numbers[p["susp"]], numbers[p["src"]]) for p in pairs]
    rows: dict[str, list[Any]] = {"entire": []}
    for pair, (x, y), found in zip(pairs, numbered, find_all(read, numbered, threads=2), strict=True):
        cases = [
            Passage(
                Span(c["this_offset"], c["this_offset"] + c["this_length"]),
                Span(c["source_offset"], c["source_offset"] + c["source_length"]),
            )
            for c in pair["cases"]
        ]
        fragments = to_fragments(found.passages, read.words.one(x), read.words.one(y))
        counts = count_pair(cases, [Passage(f.a, f.b) for f in fragments if f.strength == "strong"])
        rows.setdefault(pair["type"], []).append(counts)
        rows["entire"].append(counts)
    return {kind: passage_score(some) for kind, some in rows.items()}


@pytest.mark.parametrize("kind", list(FLOORS))
def test_plagdet_by_kind(scores, kind):
    assert scores[kind].plagdet >= FLOORS[kind]


def test_plagdet_of_all(scores):
    assert scores["entire"].plagdet >= 0.95
    assert scores["entire"].granularity <= 1.01
    assert scores["01-no-plagiarism"].detections <= 4


def test_russian_essays_rewritten_by_people(shared):
    """At least 90 % of the borrowed fragments touched at the right place of the right source, counted ones alone."""
    borrowed = touched = own = flagged = 0
    for essay in lines(shared / "data/paraplag-essays/essays.jsonl.xz"):
        result = check(essay["text"], list(essay["sources"].items()))
        spans = {s.id: [(f.a, f.b) for f in s.fragments] for s in result.sources}
        every = {i for some in spans.values() for a, _ in some for i in range(*a)}
        for fragment in essay["fragments"]:
            start, end = fragment["start"], fragment["end"]
            if fragment.get("originals"):
                borrowed += 1
                touched += any(
                    a.start < end and start < a.end and b.start < o["end"] and o["start"] < b.end
                    for a, b in spans.get(fragment["source"], [])
                    for o in fragment["originals"]
                )
            else:
                own += 1
                flagged += 2 * len(every & set(range(start, end))) >= end - start
    assert (borrowed, own) == (27, 6)
    assert touched >= 25
    assert flagged == 0
