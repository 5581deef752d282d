"""What need not count in a checked text (K4): masks over its words, and what the share would be with them.

`matches.exclusions` finds quotations and bibliographies by their form. Here wording that many documents share is found,
everything becomes a mask over the words of the text, and each kind is told with the share that it would have made.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from doublet.errors import InvalidParameter, nearest, one_or_more
from doublet.index import passage_keys
from doublet.index.passage_keys import SHINGLE_WORDS, WINDOW, Hits, PassageKeys
from doublet.matches.align import AlignOptions, Passage, find_passages
from doublet.matches.exclusions import Excluded, bibliography, quotations
from doublet.model import LeftOut, Note, Span
from doublet.text.tokens import TokenBatch

Mask = NDArray[np.bool_]

LEAVE_OUT = ("quotations", "bibliography", "common", "own")
BY_FORM: Mapping[str, Callable[[str], list[Excluded]]] = {
    "quotations": quotations,
    "bibliography": bibliography,
}
COMMON_LEAST, COMMON_SHARE = 5, 0.02  #: wording is common from so many documents and this share of all on
COMMON_BESIDE = 100  #: without an index, of the nearest documents alone; so many are enough
COMMON_SAMPLE, COMMON_AGREE = 8, 0.6  #: so many of them are laid beside the text; this share has to agree


def check_leave_out(names: Iterable[str]) -> tuple[str, ...]:
    """The kinds to leave out, in their order. Raises `InvalidParameter` for what is none."""
    given = one_or_more("leave_out", names)
    for one in given:
        if one not in LEAVE_OUT:
            raise InvalidParameter(
                "cannot_leave_out",
                nearest=nearest(one, LEAVE_OUT),
                leave_out=LEAVE_OUT,
                name="leave_out",
                value=one,
            )
    return tuple(kind for kind in LEAVE_OUT if kind in given)


@dataclass(frozen=True, slots=True, eq=False)
class Masked:
    """Words of one kind that do not count, and the places with their reasons."""

    words: Mask
    places: Sequence[Excluded]


def masked(places: Sequence[Excluded], words: TokenBatch) -> Masked:
    return Masked(words_in([place.span for place in places], words), places)


def counted(masks: Mapping[str, Masked]) -> Mask | None:
    """The words that count when these do not; None when all do."""
    return ~np.logical_or.reduce([one.words for one in masks.values()]) if masks else None


def words_in(spans: Iterable[Span], words: TokenBatch) -> Mask:
    """The words that lie inside these places."""
    mask = np.zeros(len(words.starts), np.bool_)
    for start, end in spans:
        first = int(np.searchsorted(words.starts, start, side="left"))
        last = int(np.searchsorted(words.ends, end, side="right"))
        mask[first:last] = True
    return mask


def words_of(ranges: Iterable[tuple[int, int]], size: int) -> Mask:
    """The words of these ranges."""
    mask = np.zeros(size, np.bool_)
    for start, end in ranges:
        mask[start:end] = True
    return mask


# Wording of many documents


@dataclass(frozen=True, slots=True, eq=False)
class CommonRuns:
    """Neighbouring keys that many documents share, and of each run some of these documents."""

    runs: Sequence[Sequence[int]]
    samples: Sequence[Sequence[int]]

    @property
    def documents(self) -> list[int]:
        return list({number for sample in self.samples for number in sample})


def common_runs(keys: PassageKeys, hits: Hits, documents: int) -> CommonRuns:
    """Where the text has wording that many of so many *documents* share (title pages, stock phrases)."""
    bound = min(passage_keys.CUT, max(COMMON_LEAST, COMMON_SHARE * documents))
    runs: list[list[int]] = []
    for at in np.argsort(keys.places, kind="stable").tolist():
        if hits.frequency[at] < bound:
            continue
        if runs and keys.places[at] - keys.places[runs[-1][-1]] <= WINDOW:
            runs[-1].append(at)
        else:
            runs.append([at])
    samples = []
    for run in runs:
        rarest = min(run, key=lambda at: int(hits.frequency[at]))
        having = hits.documents[hits.keys == rarest]
        samples.append(having[:: max(1, len(having) // COMMON_SAMPLE)][:COMMON_SAMPLE].tolist())
    return CommonRuns(runs, samples)


def common_wording(
    words: TokenBatch,
    keys: PassageKeys,
    hits: Hits,
    found: CommonRuns,
    others: Mapping[int, TokenBatch],
    options: AlignOptions,
) -> list[Excluded]:
    """How far the wording of *found* goes: as far as most of its documents, whose words are *others*, agree with the
    text."""
    aligned = {number: find_passages(words.hashes, other.hashes, options) for number, other in others.items()}
    out: list[Excluded] = []
    for run, sample in zip(found.runs, found.samples, strict=True):
        sharing = np.zeros(len(words.starts), np.int64)
        for number in sample:
            for passage in aligned.get(number, ()):
                sharing[passage.a_start : passage.a_end] += 1
        common = sharing >= max(2, COMMON_AGREE * len(sample))
        first, last = int(keys.places[run[0]]), int(keys.places[run[-1]]) + SHINGLE_WORDS
        common[first:last] = True
        while first > 0 and common[first - 1]:
            first -= 1
        while last < len(common) and common[last]:
            last += 1
        least = int(min(hits.frequency[at] for at in run))
        cut = least > passage_keys.CUT
        code = "common_wording_over" if cut else "common_wording_least"
        span = Span(int(words.starts[first]), int(words.ends[min(last, len(common)) - 1]))
        out.append(Excluded(span, Note(code, documents=passage_keys.CUT if cut else least)))
    return out


def common_beside(words: TokenBatch, passages: Sequence[Iterable[Passage]], documents: int) -> list[Excluded]:
    """The same without an index: wording of the text that many of the documents beside it have. *passages* are those of
    each of them, the nearest of so many *documents*."""
    sharing = np.zeros(len(words.starts), np.int64)
    for some in passages:
        sharing += words_of(((one.a_start, one.a_end) for one in some), len(sharing))
    least = int(max(COMMON_LEAST, min(np.ceil(COMMON_SHARE * documents), COMMON_BESIDE)))
    return [
        Excluded(
            Span(int(words.starts[first]), int(words.ends[last - 1])),
            Note("common_wording_least", documents=int(sharing[first:last].min())),
        )
        for first, last in _ranges(sharing >= least)
    ]


def words_of_versions(versions: Iterable[TokenBatch], words: TokenBatch, options: AlignOptions) -> Mask:
    """The words that are found in own earlier versions, whose words these are."""
    passages = (p for one in versions for p in find_passages(words.hashes, one.hashes, options))
    return words_of(((p.a_start, p.a_end) for p in passages), len(words.hashes))


# What is told


def tell_left_out(
    masks: Mapping[str, Masked],
    borrowed: Mask,
    taken: Mask,
    words: TokenBatch,
    own: Sequence[str],
) -> tuple[LeftOut, ...]:
    """One row for each kind, with the share that there would be if only this kind were counted again.

    *borrowed* are the words of all sources, *taken* those of *own* earlier versions, which are named.
    """
    out = []
    shares = shares_with({kind: one.words for kind, one in masks.items()}, borrowed, taken)
    for kind, one in masks.items():
        out.append(
            LeftOut(
                kind,
                tuple(place.reason for place in one.places),
                tuple(place.span for place in one.places),
                int(one.words.sum()),
                shares[kind],
                ranges=_ranges(one.words),
            )
        )
    if own:
        spans = _spans(taken, words)
        out.append(
            LeftOut(
                "own",
                tuple(Note("own_version") for _ in spans),
                spans,
                int(taken.sum()),
                shares["own"],
                tuple(sorted(own)),
                ranges=_ranges(taken),
            )
        )
    return tuple(out)


def shares_with(masks: Mapping[str, Mask], borrowed: Mask, taken: Mask) -> dict[str, float]:
    """Of each kind the share that there would be if it were counted again, and the other kinds not."""
    size = max(1, len(borrowed))
    nothing = np.zeros_like(borrowed)
    out = {}
    for kind in masks:
        others = [mask for name, mask in masks.items() if name != kind]
        hidden = np.logical_or.reduce(others) if others else nothing
        out[kind] = float((borrowed & ~hidden).sum() / size)
    hidden = np.logical_or.reduce(list(masks.values())) if masks else nothing
    out["own"] = float(((borrowed | taken) & ~hidden).sum() / size)
    return out


def _ranges(mask: Mask) -> tuple[Span, ...]:
    edges = np.flatnonzero(np.diff(mask, prepend=False, append=False)).tolist()
    return tuple(Span(start, end) for start, end in zip(edges[::2], edges[1::2], strict=True))


def _spans(mask: Mask, words: TokenBatch) -> tuple[Span, ...]:
    return tuple(Span(int(words.starts[a]), int(words.ends[b - 1])) for a, b in _ranges(mask))
