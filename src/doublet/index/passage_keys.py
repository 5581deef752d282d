"""Keys by which borrowed passages are found, what they hit, and which of the documents that were hit are verified.

Of the fingerprints of every four words those are kept that are smallest among nineteen in a row (winnowing): two
documents that share a run of 22 words share a key, wherever it stands. A key is 40 bits of the fingerprint. Positions
are not kept: verification finds them in the few texts that are looked at. Who files the keys, and where, is no matter
of this module: a store, a table of Spark or a dictionary gives `Hits`. Measured in benchmarks/store.py.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from doublet import kernels
from doublet.kernels.data import HASH_VERSION, TEXT_VERSION
from doublet.text.tokens import Canon, TokenBatch

U64 = NDArray[np.uint64]
U32 = NDArray[np.uint32]
I64 = NDArray[np.int64]
F64 = NDArray[np.float64]

SHINGLE_WORDS = 4
WINDOW = 19  #: fingerprints; every common run of WINDOW + SHINGLE_WORDS - 1 words shares a key
KEY_BITS = 40
CUT = 1_000  #: a key of more documents says little; it is looked up no further than that
LEAST_CANDIDATES = 50  #: documents that are verified, at least
KEYS_PER_CANDIDATE = 4  #: a long work has one more candidate for so many keys
#: words; of a text that short every fingerprint is looked up, so that shorter passages are found
EVERY_KEY_UP_TO = 300
#: Goes with stored keys: what was made with another version is made again by `doublet library verify --repair`.
VERSION = (TEXT_VERSION * 100 + HASH_VERSION) * 100 + 1

_MASK = np.uint64((1 << KEY_BITS) - 1)


@dataclass(frozen=True, slots=True, eq=False)
class PassageKeys:
    """Keys of several texts: those of text d are ``[offsets[d]:offsets[d+1]]``, each once."""

    values: U64
    offsets: U64
    places: U32  #: first word of the (first) passage with this key
    folds: U64  #: one fingerprint of all words of each text
    words: I64  #: of each text


def make_keys(texts: Sequence[str], batch: TokenBatch | None = None, *, every: bool = False) -> PassageKeys:
    """The low bits are taken, because the smallest of many fingerprints all begin with zeros.

    *every*: no fingerprint is left out, to look up what a short text shares with stored keys.
    """
    batch = batch if batch is not None else Canon().tokens(texts)
    values, offsets = kernels.shingle(batch.hashes, batch.offsets, SHINGLE_WORDS)
    places, ends = kernels.winnow(values, offsets, 1 if every else WINDOW)
    starts = np.repeat(offsets[:-1], np.diff(ends).astype(np.int64))
    chosen = values[(starts + places).astype(np.int64)] & _MASK
    # Each key once in a text, where it stands first.
    owners = np.repeat(np.arange(len(ends) - 1, dtype=np.uint64), np.diff(ends).astype(np.int64))
    keyed = chosen | (owners << np.uint64(KEY_BITS))
    order = np.argsort(keyed, kind="stable")
    same = np.zeros(len(order), np.bool_)
    sorted_keys = keyed[order]
    same[1:] = sorted_keys[1:] == sorted_keys[:-1]
    kept = order[~same]
    new_ends = np.searchsorted(owners[kept], np.arange(len(ends), dtype=np.uint64)).astype(np.uint64)
    # One fingerprint of the whole text: a "run" longer than any.
    folds = np.zeros(len(batch), np.uint64)
    whole, whole_ends = kernels.shingle(batch.hashes, batch.offsets, 1 << 31)
    filled = np.diff(whole_ends) > 0
    folds[filled] = whole
    return PassageKeys(chosen[kept], new_ends, places[kept], folds, np.diff(batch.offsets).astype(np.int64))


@dataclass(frozen=True, slots=True, eq=False)
class Hits:
    """Postings of some keys: pairs (number of the key, document), and of each key how many documents have it."""

    keys: I64
    documents: I64
    frequency: I64  #: of each key, counted up to CUT + 1


def candidates_for(keys: int) -> int:
    """How many documents are verified for a text of so many keys."""
    return max(LEAST_CANDIDATES, keys // KEYS_PER_CANDIDATE)


def choose(hits: Hits, documents: int, limit: int, most: int | None = None) -> list[int]:
    """The documents to verify: always the one next that explains most of what is not explained yet.

    A key weighs log(N / df); each time it was explained before it counts less, so that a family of near copies does not
    take all places. *most*: a key of more documents is left alone as long as others lead somewhere.
    """
    if not len(hits.documents):
        return []
    frequency = np.maximum(hits.frequency, 1)
    weights: F64 = np.log((documents + 1.0) / frequency) + 0.01
    if most is not None:
        weights = np.where(frequency > most, 1e-3, weights)
    names, rows = np.unique(hits.documents, return_inverse=True)
    rows = rows.reshape(-1)
    scores = np.bincount(rows, weights=weights[hits.keys])
    # Only the best from the beginning can come up: a score never rises.
    top = np.sort(np.lexsort((names, -scores))[: max(4 * limit, 400)])
    place = np.full(len(names), -1, np.int64)
    place[top] = np.arange(len(top))
    kept = place[rows] >= 0
    owners, own_keys, scores = place[rows[kept]], hits.keys[kept], scores[top]
    by_key, by_owner = np.argsort(own_keys, kind="stable"), np.argsort(owners, kind="stable")
    owners_of, keys_of = (
        owners[by_key],
        own_keys[by_owner],
    )  # of each key, of each document, one after the other
    key_ends = np.cumsum(np.bincount(own_keys, minlength=len(weights))).tolist()
    owner_ends = np.cumsum(np.bincount(owners, minlength=len(top))).tolist()
    weight = weights.tolist()
    covered = [0] * len(weight)
    chosen: list[int] = []
    while len(chosen) < min(limit, len(top)):
        # Of equals the first that was stored; sums of the same weights differ in their last digits.
        best = int(np.argmax(np.round(scores, 9)))
        chosen.append(int(names[top[best]]))
        scores[best] = -np.inf
        for key in keys_of[owner_ends[best - 1] if best else 0 : owner_ends[best]].tolist():
            covered[key] += 1
            less = weight[key] * (1 / covered[key] ** 2 - 1 / (covered[key] + 1) ** 2)
            scores[owners_of[key_ends[key - 1] if key else 0 : key_ends[key]]] -= less
    return chosen
