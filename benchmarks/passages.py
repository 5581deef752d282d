"""Borrowed passages of the PAN 2013 text alignment corpus: plagdet by kind of change, with time, on two halves.

    python benchmarks/passages.py
    python benchmarks/passages.py --data ../shared/data/pan13-text-alignment-train --threads 2
    python benchmarks/passages.py --set gap=200 next_sentence=0     what a setting does; shows the tuned half alone

The settings were chosen on the half of the suspicious texts called "tuned" alone. A detection is a strong passage
(`Fragment.strength`). Words, stems, sentences, passages of equal words and reworded ones are all inside the time;
reading the files and counting are not. ParaPlag (Russian essays rewritten by people) follows, counted as its README
says, with everything that a check counts, and with what it calls possible too.
"""

from __future__ import annotations

import argparse
import json
import lzma
import time
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from doublet.evaluation.metrics import PairCounts, Passage, count_pair, passage_score
from doublet.kernels.settings import PassageOptions
from doublet.matches.align import to_fragments
from doublet.matches.passages import SharedPassages, find_all
from doublet.matches.stems import StemmedTexts, read_stems
from doublet.model import Fragment, Span
from measure import save, table

SHARED = Path(__file__).resolve().parent.parent.parent / "shared" / "data"
KINDS = {
    "02-no-obfuscation": "none",
    "03-random-obfuscation": "random",
    "04-translation-obfuscation": "translation",
    "05-summary-obfuscation": "summary",
}
HALVES = ("tuned", "other", "both")
#: plagdet that the winner of 2014 printed for this corpus (Table 2 of the paper)
PUBLISHED = {
    "none": 0.89381,
    "random": 0.88864,
    "translation": 0.88394,
    "summary": 0.57727,
    "entire": 0.87735,
}


@dataclass(frozen=True)
class Row:
    half: str
    kind: str
    plagdet: float
    low: float
    high: float
    precision: float
    recall: float
    granularity: float
    passages: int
    found: int
    published: float


@dataclass(frozen=True)
class Pair:
    suspicious: str
    source: str
    kind: str
    cases: tuple[Passage, ...]

    @property
    def half(self) -> str:
        """By the suspicious text, so that no text serves in both."""
        return ("tuned", "other")[zlib.crc32(self.suspicious.encode()) & 1]


def lines(path: Path) -> Iterator[dict[str, Any]]:
    with lzma.open(path, "rt", encoding="utf-8") as stream:
        yield from map(json.loads, stream)


def read_pan(data: Path) -> tuple[dict[str, str], list[Pair]]:
    texts = {row["id"]: row["text"] for row in lines(data / "docs.jsonl.xz")}
    pairs = []
    for row in lines(data / "pairs.jsonl.xz"):
        cases = tuple(
            Passage(
                Span(one["this_offset"], one["this_offset"] + one["this_length"]),
                Span(one["source_offset"], one["source_offset"] + one["source_length"]),
            )
            for one in row["cases"]
        )
        pairs.append(Pair(row["susp"], row["src"], row["type"], cases))
    return texts, pairs


def find(
    texts: Sequence[str],
    pairs: Sequence[tuple[int, int]],
    threads: int,
    options: PassageOptions | None = None,
) -> list[list[Fragment]]:
    """The strong passages of each pair."""
    read = read_stems(texts)
    found = find_all(read, pairs, options=options, threads=threads)
    return [
        [f for f in fragments(read, pair, one) if f.strength == "strong"]
        for pair, one in zip(pairs, found, strict=True)
    ]


def fragments(read: StemmedTexts, pair: tuple[int, int], found: SharedPassages) -> tuple[Fragment, ...]:
    return to_fragments(found.passages, read.words.one(pair[0]), read.words.one(pair[1]))


def score(half: str, kind: str, counts: Sequence[PairCounts]) -> Row:
    made = passage_score(counts)
    low, high = made.interval or (0.0, 0.0)
    return Row(
        half,
        kind,
        *(made.plagdet, low, high, made.precision, made.recall, made.granularity),
        *(made.cases, made.detected, PUBLISHED[kind]),
    )


def pan(
    data: Path, threads: int, options: PassageOptions | None = None, halves: Sequence[str] = HALVES
) -> tuple[list[Row], dict[str, float]]:
    texts, pairs = read_pan(data)
    if "both" not in halves:
        pairs = [pair for pair in pairs if pair.half in halves]
    numbers = {name: number for number, name in enumerate(texts)}
    began, began_cpu = time.perf_counter(), time.process_time()
    numbered = [(numbers[p.suspicious], numbers[p.source]) for p in pairs]
    found = find(list(texts.values()), numbered, threads, options)
    took = {
        "wall_s": time.perf_counter() - began,
        "cpu_s": time.process_time() - began_cpu,
        "pairs": len(pairs),
        "megabytes": sum(len(text) for text in texts.values()) / 1e6,
    }
    rows = []
    counts = [
        count_pair(pair.cases, [Passage(f.a, f.b) for f in some])
        for pair, some in zip(pairs, found, strict=True)
    ]
    for half in halves:
        chosen = [i for i, pair in enumerate(pairs) if half in ("both", pair.half)]
        for kind, name in KINDS.items():
            rows.append(score(half, name, [counts[i] for i in chosen if pairs[i].kind == kind]))
        rows.append(score(half, "entire", [counts[i] for i in chosen]))
    return rows, took


def essays(path: Path) -> list[dict[str, Any]]:
    """Of each essay: borrowed fragments touched and half covered at the right place, own sentences flagged."""
    out = []
    for essay in lines(path / "essays.jsonl.xz"):
        names = list(essay["sources"])
        pairs = [(0, number) for number in range(1, len(names) + 1)]
        read = read_stems([essay["text"], *essay["sources"].values()])
        found = find_all(read, pairs)
        for told, possible in (("counted", False), ("with possible", True)):
            spans = {}
            for name, pair, one in zip(names, pairs, found, strict=True):
                some = SharedPassages([*one.passages, *one.possible] if possible else one.passages, [])
                spans[name] = [(f.a, f.b) for f in fragments(read, pair, some)]
            out.append({"essay": essay["essay"], "reported": told, **count_essay(essay, spans)})
    return out


def count_essay(essay: dict[str, Any], spans: dict[str, list[tuple[Span, Span]]]) -> dict[str, int]:
    counts = dict.fromkeys(("borrowed", "touched", "half", "own", "own flagged"), 0)
    for fragment in essay["fragments"]:
        window = Span(fragment["start"], fragment["end"])
        originals = fragment.get("originals")
        if originals:
            hits = [
                a
                for a, b in spans.get(fragment["source"], [])
                if overlap(window, a) and any(overlap(Span(o["start"], o["end"]), b) for o in originals)
            ]
            counts["borrowed"] += 1
            counts["touched"] += bool(hits)
            counts["half"] += 2 * covered(window, hits) >= window.end - window.start
        else:
            every = [a for some in spans.values() for a, _ in some]
            counts["own"] += 1
            counts["own flagged"] += 2 * covered(window, every) >= window.end - window.start
    return counts


def overlap(a: Span, b: Span) -> bool:
    return a.start < b.end and b.start < a.end


def covered(window: Span, spans: Sequence[Span]) -> int:
    inside = {i for span in spans for i in range(max(span.start, window.start), min(span.end, window.end))}
    return len(inside)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n")[0])
    parser.add_argument("--data", type=Path, default=SHARED / "pan13-text-alignment-train")
    parser.add_argument("--essays", type=Path, default=SHARED / "paraplag-essays")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument(
        "--set", nargs="+", default=[], metavar="NAME=VALUE", help="settings of PassageOptions"
    )
    given = parser.parse_args()
    if not given.data.is_dir():
        print(f"there is no corpus in {given.data}: nothing was measured")
        return
    changed = {name: float(value) for name, value in (one.split("=", 1) for one in given.set)}
    rows, took = pan(given.data, given.threads, PassageOptions(**changed), ("tuned",) if changed else HALVES)
    head = ["half", "kind", "plagdet", "95 %", "precision", "recall", "granularity", "found", "published"]
    print(
        table(
            head,
            [
                [
                    *(row.half, row.kind, f"{row.plagdet:.3f}", f"{row.low:.3f}–{row.high:.3f}"),
                    *(f"{row.precision:.3f}", f"{row.recall:.3f}", f"{row.granularity:.3f}"),
                    *(f"{row.found} of {row.passages}", f"{row.published:.3f}"),
                ]
                for row in rows
            ],
        )
    )
    print(
        f"\n{took['pairs']:,.0f} pairs, {took['megabytes']:.0f} MB of text: {took['wall_s']:.1f} s with "
        f"{given.threads} threads, {took['cpu_s']:.1f} s of processor time"
    )
    if changed:
        return
    written = essays(given.essays) if given.essays.is_dir() else []
    if written:
        print()
        print(table(list(written[0]), [list(map(str, row.values())) for row in written]))
    save("passages", rows, essays=written, threads=given.threads, **took)


if __name__ == "__main__":
    main()
