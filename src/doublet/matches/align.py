"""Two texts → the passages they share, with places on both sides (K2).

1. Seeds: maximal equal runs of words (`kernels.common_runs`), longest first; every word of a belongs to one run.
2. Runs that follow each other in both texts with a small edit between them become one passage.
3. A passage is stretched over single changed words at its ends as long as words beyond agree.
4. What is too short to mean anything is dropped.
5. Passages that stand in another order in b than the main body are *moved* (heaviest chain that rises in both texts).

Explained with examples in docs/explanation/fragments.md.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from doublet import kernels
from doublet.errors import InvalidParameter
from doublet.model import Fragment, Note, Span
from doublet.text.tokens import TokenBatch

U64 = NDArray[np.uint64]

RUN_LENGTH = 200  #: characters on both sides from which equal runs are strong: chosen as in matches.passages
REWORDED_BELOW = 0.6  #: a passage with a smaller share of equal words is called reworded, not edited
SUMMARIES = ("summary", "summed")  #: origins of passages of which one side is much longer than the other


@dataclass(frozen=True, slots=True)
class AlignOptions:
    """seed_words: the shortest equal run that starts a passage. max_gap_words: the longest edit inside one.
    min_words: the fewest equal words of a passage; in texts under 60 words 4 are enough."""

    seed_words: int = 4
    max_gap_words: int = 8
    min_words: int = 6

    def __post_init__(self) -> None:
        for name, low, high in (("seed_words", 1, 50), ("max_gap_words", 0, 1000), ("min_words", 1, 1000)):
            value = getattr(self, name)
            if not isinstance(value, int) or isinstance(value, bool) or not low <= value <= high:
                raise InvalidParameter(
                    "whole_number_range",
                    low=low,
                    high=high,
                    name=name,
                    value=value,
                )


ALIGN_NAMES = ("seed_words", "max_gap_words", "min_words")


@dataclass(slots=True)
class Passage:
    """A passage in words: ranges in a and b, and how many words of them are equal.

    *origin*: "runs" of equal words, "parts" that are such runs in another order, "words" that both sides hold in any
    order and form, a "summary" of a long place of b, or a place that is "summed" up there. *parts*: how many there are.
    *strength*: "weak" for what is short. *mass* is the weight of the common words, where they were weighed.
    """

    a_start: int
    a_end: int
    b_start: int
    b_end: int
    equal: int
    kind: str = "verbatim"
    strength: str = "strong"
    origin: str = "runs"
    mass: float = 0.0
    parts: int = 1

    def turned(self) -> Passage:
        """The same with the texts in the other order."""
        return replace(
            self,
            a_start=self.b_start,
            a_end=self.b_end,
            b_start=self.a_start,
            b_end=self.a_end,
            origin={"summary": "summed", "summed": "summary"}.get(self.origin, self.origin),
        )

    @property
    def score(self) -> float:
        """Share of equal words: of the longer side; of both where their order is free; of a summary's own words."""
        own, other = self.a_end - self.a_start, self.b_end - self.b_start
        if self.origin in ("words", "parts"):
            return 2 * self.equal / (own + other)
        if self.origin in SUMMARIES:
            return self.equal / (own if self.origin == "summary" else other)
        return self.equal / max(own, other)

    @property
    def reason(self) -> Note:
        """Why it is a passage."""
        words = self.a_end - self.a_start
        if self.origin == "summary":
            return Note("passage_summary", equal=self.equal, words=words)
        if self.origin == "summed":
            return Note("passage_summed", equal=self.equal, words=self.b_end - self.b_start)
        if self.origin == "words" and self.kind != "verbatim":
            return Note("passage_words", equal=self.equal, words=words, weight=round(self.mass))
        if self.origin == "parts":
            return Note("passage_parts", equal=self.equal, words=words, parts=self.parts)
        if self.score == 1.0:
            return Note("passage_row", words=words)
        return Note("passage_order", equal=self.equal, words=words)


def find_passages(a: U64, b: U64, options: AlignOptions | None = None) -> list[Passage]:
    """Passages that two sequences of word hashes share, in order of a; their ranges in a do not overlap."""
    passages = exact_passages(a, b, options)
    name_passages(passages)
    return passages


def exact_passages(a: U64, b: U64, options: AlignOptions | None = None) -> list[Passage]:
    """The same without their kinds."""
    options = options or AlignOptions()
    if not len(a) or not len(b):
        return []
    shortest = min(len(a), len(b))
    seed = min(options.seed_words, shortest)
    if shortest < 2 and len(a) != len(b):
        return []  # one word alone says nothing about a longer text
    runs = kernels.common_runs(a, b, seed)
    if not len(runs[0]):
        return []
    words_a, words_b = a.data, b.data  # few of the words are looked at: a list would hold all
    passages = _merge(runs, words_a, words_b, options)
    _stretch(passages, words_a, words_b)
    least = options.min_words if shortest >= 60 else min(options.min_words, 4, shortest)
    return [p for p in passages if p.equal >= least]


def is_strong(p: Passage, lengths: tuple[int, int]) -> bool:
    """Whether a passage, with its lengths in characters, is long enough to be sure of."""
    return p.strength == "strong" and (p.origin not in ("runs", "parts") or min(lengths) >= RUN_LENGTH)


def to_fragments(
    passages: list[Passage], a: TokenBatch, b: TokenBatch, *, prefix: str = "f"
) -> tuple[Fragment, ...]:
    """Passages of two batches of one text each, with places in the original texts."""
    out = []
    for number, p in enumerate(passages, 1):
        here = Span(int(a.starts[p.a_start]), int(a.ends[p.a_end - 1]))
        there = Span(int(b.starts[p.b_start]), int(b.ends[p.b_end - 1]))
        strong = is_strong(p, (here.end - here.start, there.end - there.start))
        out.append(
            Fragment(
                id=f"{prefix}{number}",
                a=here,
                b=there,
                kind=p.kind,
                score=round(p.score, 6),
                words=p.a_end - p.a_start,
                strength="strong" if strong else "weak",
                reason=p.reason,
                a_words=Span(p.a_start, p.a_end),
                b_words=Span(p.b_start, p.b_end),
            )
        )
    return tuple(out)


def _merge(
    runs: tuple[NDArray[np.uint32], ...], words_a: memoryview, words_b: memoryview, options: AlignOptions
) -> list[Passage]:
    out: list[Passage] = []
    gap = options.max_gap_words
    for start_a, found_b, length in zip(*(column.tolist() for column in runs), strict=True):
        start_b = found_b
        if out:
            last = out[-1]
            between_a, between_b = start_a - last.a_end, start_b - last.b_end
            if between_a <= gap and not 0 <= between_b <= gap:
                # What stands in b several times, as the labels of a form: the one that goes on counts.
                run = words_a[start_a : start_a + length]
                between_b = _near(words_b, run, last.b_end, last.b_end + gap)
                start_b = last.b_end + between_b if between_b >= 0 else start_b
            if between_a <= gap and 0 <= between_b <= gap:
                if between_a and between_b:
                    last.equal += _common(
                        words_a[last.a_end : start_a].tolist(), words_b[last.b_end : start_b].tolist()
                    )
                last.equal += length
                last.a_end, last.b_end = start_a + length, start_b + length
                continue
        out.append(Passage(start_a, start_a + length, start_b, start_b + length, length))
    return out


def _near(words: memoryview, run: memoryview, first: int, last: int) -> int:
    """How far after *first*, up to *last*, the run stands in the words; -1: nowhere."""
    for at in range(first, min(last, len(words) - len(run)) + 1):
        if words[at] == run[0] and words[at : at + len(run)] == run:
            return at - first
    return -1


def _common(left: list[int], right: list[int]) -> int:
    """Words that both short lists hold, each as often as the list that has it less often."""
    if len(left) * len(right) > 256:
        return (Counter(left) & Counter(right)).total()
    count = 0
    for word in left:
        if word in right:
            right.remove(word)
            count += 1
    return count


def _stretch(passages: list[Passage], words_a: memoryview, words_b: memoryview) -> None:
    """Over one or two changed words at the ends, while at least two words beyond them agree."""
    for i, p in enumerate(passages):
        low = passages[i - 1].a_end if i else 0
        high = passages[i + 1].a_start if i + 1 < len(passages) else len(words_a)
        while True:
            for skip_a, skip_b in _SKIPS:
                x, y = p.a_end + skip_a, p.b_end + skip_b
                run = 0
                while x + run < high and y + run < len(words_b) and words_a[x + run] == words_b[y + run]:
                    run += 1
                if run >= 2:
                    p.a_end, p.b_end, p.equal = x + run, y + run, p.equal + run
                    break
            else:
                break
        while True:
            for skip_a, skip_b in _SKIPS:
                x, y = p.a_start - skip_a, p.b_start - skip_b
                run = 0
                while x - run > low and y - run > 0 and words_a[x - run - 1] == words_b[y - run - 1]:
                    run += 1
                if run >= 2:
                    p.a_start, p.b_start, p.equal = x - run, y - run, p.equal + run
                    break
            else:
                break


_SKIPS = ((1, 1), (1, 0), (0, 1), (2, 2), (2, 1), (1, 2), (2, 0), (0, 2))


def name_passages(passages: list[Passage]) -> None:
    """Kinds of exact passages. One outside of the heaviest rising chain is moved, unless its place in b belongs to the
    chain. Reworded ones stand in the chain too, but keep their kind; a summary stands nowhere in particular."""
    for p in passages:
        if p.origin == "runs" and p.score < 1:
            p.kind = "edited" if p.score >= REWORDED_BELOW else "reworded"
    placed = [p for p in passages if p.origin not in SUMMARIES]
    chain = _heaviest_chain(placed)
    reached = sorted((p.b_start, p.b_end) for p, inside in zip(placed, chain, strict=True) if inside)
    starts = [start for start, _ in reached]
    for p, inside in zip(placed, chain, strict=True):
        if inside or p.origin != "runs":
            continue
        at = bisect_left(starts, p.b_end) - 1
        if at < 0 or reached[at][1] <= p.b_start:
            p.kind = "moved"


def name_by_words(p: Passage, a: U64, b: U64) -> None:
    """The kind of a passage by its words in both texts, as it is in the end: of a reworded one, and of a piece."""
    if p.origin == "words":
        p.kind = "edited" if p.score >= REWORDED_BELOW else "reworded"
    same = np.array_equal(a[p.a_start : p.a_end], b[p.b_start : p.b_end])
    if same and p.origin not in SUMMARIES and p.kind != "moved":
        p.kind = "verbatim"


def _heaviest_chain(passages: list[Passage]) -> list[bool]:
    """Members of the chain, rising in a and b, that holds the most equal words; ties go to the earlier passage."""
    if len(passages) == 1:
        return [passages[0].equal > 0]
    starts = sorted({p.b_start for p in passages})
    size = len(starts)
    best: list[tuple[int, int]] = [(0, -1)] * (
        size + 1
    )  # Fenwick tree: (weight, -(passage + 1)) of the best chain
    before = [-1] * len(passages)
    for i, p in enumerate(passages):
        at = bisect_left(starts, p.b_start)
        top = (0, -1)
        node = at
        while node > 0:
            if best[node][0] > top[0] or (best[node][0] == top[0] and best[node][1] > top[1]):
                top = best[node]
            node &= node - 1
        before[i] = -top[1] - 1 if top[0] else -1
        entry = (top[0] + p.equal, -(i + 1))
        node = at + 1
        while node <= size:
            if entry[0] > best[node][0]:
                best[node] = entry
            node += node & -node
    top = (0, -1)
    node = size
    while node > 0:
        if best[node][0] > top[0] or (best[node][0] == top[0] and best[node][1] > top[1]):
            top = best[node]
        node &= node - 1
    inside = [False] * len(passages)
    at = -top[1] - 1 if top[0] else -1
    while at >= 0:
        inside[at] = True
        at = before[at]
    return inside
