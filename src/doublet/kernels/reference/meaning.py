"""Local alignment by position of two texts in which words were replaced. Twin of native/meaning.cpp.

Explained in docs/explanation/meaning.md.
"""

from __future__ import annotations

import collections
import itertools
import math

import numpy as np
from numpy.typing import NDArray

from doublet.kernels.reference.arguments import F64, U8, U32, U64, check_numbers, documents

# Words with more than FREQUENT places in b only prolong paths, and not without end: where all lines of a text are
# alike (logs, tables), each of them prolongs as many paths as there are lines. Chosen so that nothing changes on 46,000
# pairs of real texts, the longest ones with themselves among them: beyond EACH for each word these spend 860,000 at
# most, and all but one less than 230,000. Before changing it, see docs/explanation/meaning.md and count again.
FREQUENT, SPARE, EACH = 32, 1 << 20, 4


def number_words(words: U64) -> tuple[U64, U32]:
    """Each word once, in order of first sight, and for every word its number in that list."""
    known: dict[int, int] = {}
    numbers = [known.setdefault(word, len(known)) for word in words.tolist()]
    return np.array(list(known), np.uint64), np.array(numbers, np.uint32)


def find_keys(words: U64, keys: U64, firsts: U32, bits: int) -> NDArray[np.int64]:
    """Where the first *bits* of each word are among the *keys*, which are sorted; where they are not, the number of
    keys. Words are dealt out evenly to as many parts as *firsts* tells of: keys of part i are from ``firsts[i]`` to
    ``firsts[i + 1]``."""
    if not 1 <= bits <= 63:
        raise ValueError("a key has 1 to 63 bits")
    if len(firsts) < 2:
        raise ValueError("there must be a part or more")
    parts, known, bounds = len(firsts) - 1, keys.tolist(), firsts.tolist()
    out = []
    for word in words.tolist():
        part = word * parts >> 64
        among = range(min(bounds[part], len(known)), min(bounds[part + 1], len(known)))
        out.append(next((at for at in among if known[at] == word >> 64 - bits), len(known)))
    return np.array(out, np.int64)


def sample_keys(values: U64, offsets: U64, first: int, bits: int) -> tuple[U64, U8]:
    """One in 2 ** *bits* of the fingerprints of documents *first* and on, chosen by their second lowest byte: the
    fingerprint with the number of its document in place of its 24 lowest bits, and that byte."""
    check_numbers(first)
    bounds = documents(offsets, len(values))
    if not 0 <= bits <= 8:
        raise ValueError("a byte has eight bits")
    if first + len(bounds) > 1 << 24:
        raise ValueError("too many documents")
    keys, chosen = [], []
    for document, (start, end) in enumerate(bounds, first):
        for value in values[start:end].tolist():
            byte = value >> 8 & 0xFF
            if byte & ((1 << bits) - 1) == 0:
                keys.append(value >> 24 << 24 | document)
                chosen.append(byte)
    return np.array(keys, np.uint64), np.array(chosen, np.uint8)


def pair_keys(keys: U64, documents: int, most: int) -> tuple[U64, NDArray[np.int64]]:
    """Of sorted keys as of `sample_keys`: a code for each two documents of a fingerprint that two to *most* have (the
    numbers of both, 24 bits each, and in four bits how many have it), and how many keys each document has."""
    check_numbers(documents, most)
    if most > 15:
        raise ValueError("a code has room for 15 documents")
    if documents > 1 << 24:
        raise ValueError("too many documents")
    mask = (1 << 24) - 1
    counts = [0] * documents
    codes = []
    for _, run in itertools.groupby(keys.tolist(), lambda key: key >> 24):
        holders = [key & mask for key in run]
        for document in holders:
            if document >= documents:
                raise ValueError("a key names a document that is not there")
            counts[document] += 1
        if 2 <= len(holders) <= most:
            codes += [(a << 24 | b) << 4 | len(holders) for a, b in itertools.combinations(holders, 2)]
    return np.array(codes, np.uint64), np.array(counts, np.int64)


def align_texts(
    words: U32,
    offsets: U64,
    gains: F64,
    masses: F64,
    left: U32,
    right: U32,
    threads: int = 1,
    spare: int = SPARE,
) -> tuple[F64, U32, U32, U32, U32, U32]:
    """Local alignment by position of pairs of texts; *left* and *right* are numbers of texts.

    *words* are numbers of words; *gains* and *masses* are by word. An equal word at i and j is a point on the diagonal
    j - i. It adds its gain (at most ln(0.6 * length / count) in either text: what a text repeats weighs little) to the
    best path that reaches it on its own or one of the two next diagonals; a word between that does not agree costs 0.9,
    a step to the next diagonal 2. A path ends where its score is used up or lies 12 below its top, and counts from 12
    on; the best path takes its points first. A word with more than 32 places in b only prolongs paths. Such words may
    add *spare* points and four for each word of a before them; one that would add more than is left of that adds none,
    so that time and memory do not grow with the product of both lengths.

    Gives a row for each pair (share of a covered by paths, of b; share of the mass of the distinct words of a that are
    matched on a path, of b; and what says that both are about the same, 1 where nothing can tell: of the five heaviest
    words, by count and mass, that a text has three times or more, how much the other has as often, and the same of the
    heaviest one; the larger of both texts), and the paths: pair, a_start, a_end, b_start, b_end.
    """
    if len(gains) != len(masses):
        raise ValueError("each word has one gain and one mass")
    if len(words) and int(words.max()) >= len(gains):
        raise ValueError("a word has no gain")
    if not all(
        math.isfinite(mass) and not math.isnan(gain) for gain, mass in zip(gains, masses, strict=True)
    ):
        raise ValueError("gains and masses must be numbers")
    if len(left) != len(right):
        raise ValueError("a pair has two texts")
    check_numbers(spare)
    bounds = documents(offsets, len(words))
    rows = np.zeros((len(left), 6), np.float64)
    found: list[tuple[int, int, int, int, int]] = []
    weight = masses.tolist()
    for pair, (one, other) in enumerate(zip(left.tolist(), right.tolist(), strict=True)):
        if one >= len(bounds) or other >= len(bounds):
            raise ValueError("a pair names a text that is not there")
        a, b = (words[start:end].tolist() for start, end in (bounds[one], bounds[other]))
        paths = _paths(a, b, gains.tolist(), spare)
        for path in paths:
            found.append((pair, path[0][0], path[-1][0] + 1, path[0][1], path[-1][1] + 1))
        matched = {a[point[0]] for path in paths for point in path}
        some = sum(weight[word] for word in dict.fromkeys(a) if word in matched)
        for side, text in enumerate((a, b)):
            covered = {i for path in paths for i in range(path[0][side], path[-1][side] + 1)}
            total = sum(weight[word] for word in dict.fromkeys(text))
            rows[pair, side] = len(covered) / len(text) if text else 0.0
            rows[pair, 2 + side] = some / total if total > 0 else 0.0
        rows[pair, 4:] = _same_topics(a, b, weight)
    columns = np.array(found, np.uint32).reshape(-1, 5)
    return (rows, *(np.ascontiguousarray(columns[:, c]) for c in range(5)))  # type: ignore[return-value]


def _same_topics(a: list[int], b: list[int], masses: list[float]) -> tuple[float, float]:
    best = best_first = -1.0
    for text, other in ((a, b), (b, a)):
        counts, others = collections.Counter(text), collections.Counter(other)
        words = [word for word, count in counts.items() if count >= 3 and masses[word] > 0]
        words = sorted(words, key=lambda word: -counts[word] * masses[word])[:5]  # of equal ones the earlier
        if words and a and b:
            shares = [min(1.0, others[word] / counts[word]) for word in words]
            weights = [counts[word] * masses[word] for word in words]
            best = max(best, sum(x * y for x, y in zip(weights, shares, strict=True)) / sum(weights))
            best_first = max(best_first, shares[0])
    return (best, best_first) if best >= 0 else (1.0, 1.0)


def _paths(a: list[int], b: list[int], gains: list[float], spare: int) -> list[list[tuple[int, int]]]:
    """Points of every path that counts, in the order of the texts; the best path first."""
    places_b: dict[int, list[int]] = {}
    for j, word in enumerate(b):
        places_b.setdefault(word, []).append(j)
    counts_a: dict[int, int] = {}
    for word in a:
        counts_a[word] = counts_a.get(word, 0) + 1
    points: list[tuple[int, int, float, float, int]] = []  # i, j, score, top, number of the point before
    last: dict[int, int] = {}  # newest point of each diagonal
    live: dict[int, None] = {}  # diagonals with a path that may go on, in the order in which they became so
    spent = 0
    for i, word in enumerate(a):
        places = places_b.get(word, [])
        if not places:
            continue
        gain = min(
            gains[word],
            math.log(0.6 * len(b)) - math.log(len(places)),
            math.log(0.6 * len(a)) - math.log(counts_a[word]),
        )
        if gain <= 0:
            continue
        if len(places) > FREQUENT:
            alive = []
            for diagonal in live:
                at_i, _, score, top, _ = points[last[diagonal]]
                now = score - 0.9 * (i - at_i - 1)
                if now > 0 and now > top - 12.0:
                    alive.append(diagonal)
            live = dict.fromkeys(alive)
            places = [i + d for d in live if 0 <= i + d < len(b) and b[i + d] == word]
            if spent + len(places) > spare + EACH * i:
                continue
            spent += len(places)
        for j in places:
            best, best_top, before = 0.0, 0.0, -1
            for shift in (0, -1, 1, -2, 2):
                number = last.get(j - i + shift, -1)
                if number < 0:
                    continue
                at_i, at_j, score, top, _ = points[number]
                if at_i >= i or at_j >= j:
                    continue
                value = score - 0.9 * (max(i - at_i, j - at_j) - 1) - 2.0 * abs(shift)
                if value > best and value > top - 12.0:
                    best, best_top, before = value, top, number
            live.setdefault(j - i)
            last[j - i] = len(points)
            points.append((i, j, best + gain, max(best + gain, best_top), before))
    peaks = sorted((p for p in range(len(points)) if points[p][2] >= 12.0), key=lambda p: (-points[p][2], p))
    used: set[int] = set()
    out = []
    for peak in peaks:
        path, at = [], peak
        while at >= 0 and at not in used:
            used.add(at)
            path.append(points[at][:2])
            at = points[at][4]
        base = points[at][2] if at >= 0 else 0.0
        if path and points[peak][2] - base >= 12.0:
            out.append(path[::-1])
    return out
