"""Documents that may hold a reworded passage, by the telling stems of its sentences.

A reworded passage keeps few runs of words, but many of its rarer words, near each other. So each document is cut into
chunks of some 150 content words, and the stems of each chunk are filed, all but those that a text of any kind is full
of. A text is read through a window of 20 content words; the twelve rarest stems in the window are looked up, and the
two chunks that weigh most by what they share with it are candidates, when they share enough. Who files the stems, and
where, is no matter of this module: a store gives `Hits`, and `NearestDocuments` reads documents as they come. A
candidate is not a match: `matches.explain` verifies it. Measured in benchmarks/unseen.py.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from doublet import kernels
from doublet.index.passage_keys import CUT, Hits
from doublet.model import Span
from doublet.signatures.background import Rates
from doublet.text.tokens import TokenBatch

U64 = NDArray[np.uint64]
I64 = NDArray[np.int64]
F64 = NDArray[np.float64]

# Chosen on the part "tune" of benchmarks/unseen.py (the sources of passages with replaced words and of translations
# there and back, among 15 thousand documents: .975 and 1.000, 23 candidates); at half and at twice the value:
CHUNK_WORDS = 150  #: content words of a chunk, about (.967, 1.000, 21 candidates; .975, .992, 28)
MOST_CHUNKS = 256  #: of a document; those of a longer one are longer
#: content words of the checked text that are looked at together. Single sentences with two words dropped (ru, en) and
#: passages with replaced words that are found in a library of "tune": .92, .90 and .98; halved .91, .91 and .95,
#: doubled .85, .83 and .94. The other figures here were made with windows of 30 words.
WINDOW_WORDS, STEP_WORDS = 20, 10
RAREST = 12  #: stems of a window that are looked up (.833, .925, 9 candidates; 1.000, 1.000, 40)
BEST = 2  #: chunks of a window that become candidates (.950, .992, 15 candidates; .975, 1.000, 31)
#: a stem that stands in more than one document in twelve, in general, is not filed (.975, 1.000, 23; .967, .992, 22)
LEAST_IDF = 2.5
#: what a chunk and a window must share: so many stems that stand nowhere else, or more that are less rare
#: (.992, 1.000, 52 candidates; .783, .900, 6)
ENOUGH = 2.0
#: the same where nothing is known but how rare words are in general
ENOUGH_IN_GENERAL = 24.0
LEAST_CANDIDATES = (
    24  #: documents that are verified, at most: so many, or one for each window of a longer text
)


@dataclass(frozen=True, slots=True, eq=False)
class Windows:
    """The stems by which each window of a text is looked for. ``stems[keys[i]]`` is one of window ``windows[i]``."""

    stems: U64  #: hashes, each once, rising
    words: Sequence[str]  #: how they are spelt
    masses: F64  #: how much each tells, in general
    keys: I64
    windows: I64  #: rising
    count: int  #: of windows

    @property
    def most(self) -> int:
        """How many documents are verified at most."""
        return max(LEAST_CANDIDATES, self.count)


def telling(stems: U64) -> NDArray[np.bool_]:
    """Which stems, given by their hashes, are filed."""
    return Rates().of(stems)[1] >= LEAST_IDF


def read_windows(text: TokenBatch, explained: Sequence[Span] = ()) -> Windows:
    """Of one text, by its content words: a batch of `LEXICAL_CANON` that knows their spelling. A window all
    of whose words are in places that are *explained* already is not looked for."""
    size = len(text.hashes)
    starts = np.arange(0, max(1, size - WINDOW_WORDS + STEP_WORDS), STEP_WORDS)
    ends = np.minimum(starts + WINDOW_WORDS, size)
    count = len(starts)
    open_ = _still_open(text, starts, ends, explained)
    starts, ends, numbers = starts[open_], ends[open_], np.flatnonzero(open_)
    sizes = ends - starts
    windows = np.repeat(numbers, sizes)
    at = np.arange(len(windows)) + np.repeat(starts - np.cumsum(sizes) + sizes, sizes)
    stems, first, keys = np.unique(text.hashes[at], return_index=True, return_inverse=True)
    masses = Rates().of(stems)[1]
    pairs = np.unique(windows * max(1, len(stems)) + keys.reshape(-1))
    windows, keys = np.divmod(pairs, max(1, len(stems)))
    known = masses[keys] >= LEAST_IDF
    windows, keys = windows[known], keys[known]
    order = np.lexsort((keys, -masses[keys], windows))
    windows, keys = windows[order], keys[order]
    rank = np.arange(len(windows)) - np.searchsorted(windows, windows)
    windows, keys = windows[rank < RAREST], keys[rank < RAREST]
    used, keys = np.unique(keys, return_inverse=True)
    return Windows(
        stems[used],
        [text.vocabulary[number] for number in text.ids[at[first[used]]].tolist()],
        masses[used],
        keys.reshape(-1).astype(np.int64),
        windows.astype(np.int64),
        count,
    )


def _still_open(text: TokenBatch, starts: I64, ends: I64, explained: Sequence[Span]) -> NDArray[np.bool_]:
    """Which windows, from one content word to another, have a word that is in none of the places."""
    edges = np.zeros(len(text.hashes) + 1, np.int64)
    np.add.at(edges, np.searchsorted(text.starts, [place.start for place in explained]), 1)
    np.add.at(edges, np.searchsorted(text.ends, [place.end for place in explained], side="right"), -1)
    free = np.concatenate([[0], np.cumsum(np.cumsum(edges)[:-1] == 0)])
    out: NDArray[np.bool_] = (free[ends] > free[starts]) | (starts == ends)
    return out


def chunk_numbers(offsets: U64) -> tuple[I64, I64]:
    """Of every content word the number of its chunk inside its document, and of every document how many it has."""
    sizes = sizes_of(offsets)
    counts: I64 = np.clip((sizes + CHUNK_WORDS // 2) // CHUNK_WORDS, 1, MOST_CHUNKS)
    places = np.arange(int(sizes.sum())) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    return places * np.repeat(counts, sizes) // np.maximum(np.repeat(sizes, sizes), 1), counts


def sizes_of(offsets: U64) -> I64:
    cuts = offsets.astype(np.int64)
    out: I64 = cuts[1:] - cuts[:-1]
    return out


def choose(windows: Windows, hits: Hits, chunks: int) -> list[int]:
    """The documents to verify, those first that share most with a window.

    *hits* are chunks by the stems of the windows: ``document * MOST_CHUNKS + number``; *chunks*: how many there are.
    """
    weights = np.log((chunks + 1.0) / np.maximum(hits.frequency, 1)) + 0.01
    weights[(hits.frequency > CUT) | (weights < 0)] = 0
    found, scores, _ = _shared(windows, hits.keys, hits.documents, weights, ENOUGH * math.log(chunks + 1.0))
    return _documents(found, scores, windows.most)


def _documents(chunks: I64, scores: F64, most: int) -> list[int]:
    documents, places = np.unique(chunks // MOST_CHUNKS, return_inverse=True)
    best = np.zeros(len(documents))
    np.maximum.at(best, places.reshape(-1), scores)
    nearest: list[int] = documents[np.lexsort((documents, -np.round(best, 9)))][:most].tolist()
    return nearest


def _shared(
    windows: Windows, keys: I64, chunks: I64, weights: F64, enough: float, best: int = BEST
) -> tuple[I64, F64, I64]:
    """Chunks that share *enough* with a window, what that weighs, and the window. Of each window only the *best* (and
    those that are as good as the last of them); 0: all."""
    ends = np.searchsorted(windows.windows, np.arange(windows.count + 1))
    found, scores, own = kernels.shared_chunks(
        keys.astype(np.uint64),
        chunks.astype(np.uint64),
        weights,
        windows.keys.astype(np.uint64),
        ends.astype(np.uint64),
        enough,
        1,  # enough are always several
        best,
    )
    return found.astype(np.int64), scores, own.astype(np.int64)


def near_documents(windows: Windows, batch: TokenBatch, best: int = BEST) -> tuple[I64, I64, F64]:
    """Of the documents of a batch (their content words) those that share enough with a window: windows, documents and
    what they share, by how rare words are in general. Of each window only the *best*, and those that are as good."""
    chunks, _ = chunk_numbers(batch.offsets)
    sizes = sizes_of(batch.offsets)
    at = np.minimum(np.searchsorted(windows.stems, batch.hashes), max(0, len(windows.stems) - 1))
    asked = np.flatnonzero(windows.stems[at] == batch.hashes) if len(windows.stems) else np.zeros(0, np.int64)
    owners = np.repeat(np.arange(len(sizes)), sizes)[asked] * MOST_CHUNKS + chunks[asked]
    span = max(1, len(sizes)) * MOST_CHUNKS
    keys, owners = np.divmod(np.unique(at[asked] * span + owners), span)
    found, scores, own = _shared(windows, keys, owners, windows.masses, ENOUGH_IN_GENERAL, best=0)
    documents = found // MOST_CHUNKS
    # The best chunk of each document, then the best documents of each window.
    order = np.lexsort((-scores, documents, own))
    own, documents, scores = own[order], documents[order], np.round(scores[order], 9)
    first = np.ones(len(own), np.bool_)
    first[1:] = (own[1:] != own[:-1]) | (documents[1:] != documents[:-1])
    own, documents, scores = own[first], documents[first], scores[first]
    order = np.lexsort((documents, -scores, own))
    own, documents, scores = own[order], documents[order], scores[order]
    starts = np.searchsorted(own, own)
    last = np.minimum(starts + best, np.searchsorted(own, own, side="right")) - 1
    good = scores >= scores[last]
    return own[good], documents[good], scores[good]


class NearestDocuments:
    """The documents nearest to the windows of a text among all that come, whatever the order in which they do."""

    def __init__(self, windows: Windows) -> None:
        self._windows = windows
        self._best: dict[
            int, list[tuple[float, str, int]]
        ] = {}  # of a window: -score, id and number of documents

    def add(self, batch: TokenBatch, ids: Sequence[str], first: int) -> list[int]:
        """A batch of documents by their content words, numbered from *first* on; gives the places in the batch of those
        that are among the nearest so far."""
        new: set[int] = set()
        for window, place, score in zip(
            *(column.tolist() for column in near_documents(self._windows, batch)), strict=True
        ):
            best = self._best.setdefault(window, [])
            best.append((-score, ids[place], first + place))
            best.sort()
            del best[BEST:]
            new.add(first + place)
        return [number - first for number in self.nearest() if number in new]

    def nearest(self) -> list[int]:
        """The numbers of the nearest documents, the nearest first."""
        scores: dict[int, tuple[float, str, int]] = {}
        for best in self._best.values():
            for row in best:
                scores[row[2]] = min(row, scores.get(row[2], row))
        return [number for *_, number in sorted(scores.values())][: self._windows.most]
