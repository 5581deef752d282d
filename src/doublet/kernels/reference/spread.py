"""Steps of work that is spread over machines: counting fingerprints, posting them, and what they lead to. Twin of
native/spread.cpp."""

from __future__ import annotations

import math

import numpy as np

from doublet.kernels.data import MASK64
from doublet.kernels.reference.arguments import U8, U32, U64, check_numbers, documents
from doublet.kernels.reference.shingles import mix

_MARKED, _INSIDE = 1 << 31, 1 << 30
_SIZE = _INSIDE - 1
_TAKING = 1
_SALT = 0x9E3779B97F4A7C15


def count_cells(table: U8, values: U64) -> None:
    """Count each value once more in its cell of *table*, which is changed. The highest bits of a value name its cell; a
    cell stops at 255."""
    shift = _shift_of(len(table))
    for value in values.tolist():
        if table[value >> shift] < 255:
            table[value >> shift] += 1


def add_cells(total: U8, more: U8) -> None:
    """Add the cells of one table to those of another, which is changed."""
    if len(total) != len(more):
        raise ValueError("both tables must have the same number of cells")
    for cell, count in enumerate(more.tolist()):
        total[cell] = min(255, int(total[cell]) + count)


def digest_sets(values: U64, offsets: U64) -> tuple[U64, U64]:
    """Two numbers for each set, which do not depend on the order of its values: sets that agree in one of them by
    chance differ in the other."""
    sums, crosses = [], []
    for low, high in documents(offsets, len(values)):
        mixed = [(value, mix(value)) for value in values[low:high].tolist()]
        sums.append(sum(one for _, one in mixed) & MASK64)
        crosses.append(sum(one * (value | 1) + _SALT for value, one in mixed) & MASK64)
    return np.array(sums, np.uint64), np.array(crosses, np.uint64)


def share_sets(
    values: U64, offsets: U64, taking: U8, table: U8, least: float, inside: float
) -> tuple[U64, U64, U8]:
    """What the documents have in common with others, by the table of counts: the values whose cell says that several
    documents have them, their offsets, and a mark for each.

    A mark is 0 for documents that *taking* does not name, else 1 and two bits. Bit 7: the value is among the rarest, of
    which a set that has *least* of this one must have one. Bit 6: the same for *inside*, if that is not 0.
    """
    spans = documents(offsets, len(values))
    if len(taking) != len(spans):
        raise ValueError("every document must be said to take part or not")
    if not (0 <= least <= 1 and 0 <= inside <= 1):
        raise ValueError("a share is 0 to 1")
    shift = _shift_of(len(table))
    shared: list[int] = []
    ends = [0]
    marks: list[int] = []
    for document, (low, high) in enumerate(spans):
        size = high - low
        several = [v for v in values[low:high].tolist() if table[v >> shift] > 1]
        shared += several
        ends.append(len(shared))
        if not taking[document]:
            marks += [0] * len(several)
            continue
        held = [(int(table[v >> shift]), v & 0xFFFFFFFF) for v in several]
        alone = size - len(held)  # those of a single document are the rarest
        rarest = sorted(held)
        any_pair = set(rarest[: max(0, _prefix(size, least) - alone)])
        much_longer = set(rarest[: max(0, _prefix(size, inside) - alone)]) if inside > 0 else set()
        marks += [
            _TAKING | (_MARKED >> 24 if key in any_pair else 0) | (_INSIDE >> 24 if key in much_longer else 0)
            for key in held
        ]
    return np.array(shared, np.uint64), np.array(ends, np.uint64), np.array(marks, np.uint8)


def post_shared(
    shared: U64, offsets: U64, marks: U8, sizes: U32, wanted: U8 | None = None
) -> tuple[U32, U32, U32]:
    """The postings of documents from what *share_sets* gave: the low 32 bits of a value, the document, and the size of
    its set with the marks in bits 31 and 30. With *wanted* a value without a mark is posted only if the cell of its 32
    bits is not 0 there."""
    spans = documents(offsets, len(shared))
    if len(marks) != len(shared):
        raise ValueError("every value must be marked or not")
    if len(sizes) != len(spans):
        raise ValueError("every document must have a size")
    shift = _shift_of(len(wanted)) if wanted is not None else 0
    postings: list[tuple[int, int, int]] = []
    for document, (low, high) in enumerate(spans):
        size = int(sizes[document])
        if size > _SIZE:
            raise ValueError("a set is too large")
        for value, mark in zip(shared[low:high].tolist(), marks[low:high].tolist(), strict=True):
            number = value & 0xFFFFFFFF
            if mark and (mark > _TAKING or wanted is None or wanted[number << 32 >> shift]):
                postings.append((number, document, size | mark << 24 & (_MARKED | _INSIDE)))
    columns = np.array(postings, np.uint32).reshape(-1, 3)
    return (
        np.ascontiguousarray(columns[:, 0]),
        np.ascontiguousarray(columns[:, 1]),
        np.ascontiguousarray(columns[:, 2]),
    )


def lead_postings(
    numbers: U64, documents: U64, sizes: U32, most: int, threshold: float, contained: bool
) -> tuple[U32, U64, U64]:
    """The pairs of documents that postings of one number lead to: a marked one, and one of a larger set.

    Gives the postings of numbers that would lead to more than *most* pairs, which are not followed; and the smaller and
    the larger document of each pair, once, in the order of the larger ones. The sizes of a pair must allow *threshold*,
    or the smaller set must be marked to lie inside others (with *contained*). Of sets of one size the lower document is
    the smaller one.
    """
    check_numbers(most)
    if not len(numbers) == len(documents) == len(sizes):
        raise ValueError("every posting must have a document and a size")
    groups: dict[int, list[int]] = {}
    for place, number in enumerate(numbers.tolist()):
        groups.setdefault(number, []).append(place)
    crowded: list[int] = []
    pairs: set[tuple[int, int]] = set()
    for _, places in sorted(groups.items()):
        marked = [place for place in places if int(sizes[place]) & _MARKED]
        if len(marked) * len(places) > most:
            crowded += places
            continue
        for one in marked:
            for other in places:
                own, held = int(sizes[one]) & _SIZE, int(sizes[other]) & _SIZE
                inner, outer = int(documents[one]), int(documents[other])
                if (own, inner) >= (held, outer):
                    continue
                within = contained and bool(int(sizes[one]) & _INSIDE)
                if within or own >= threshold * held - 1e-6:
                    pairs.add((outer, inner))
    found = sorted(pairs)
    return (
        np.array(crowded, np.uint32),
        np.array([inner for _, inner in found], np.uint64),
        np.array([outer for outer, _ in found], np.uint64),
    )


def _shift_of(cells: int) -> int:
    if cells < 2 or cells & (cells - 1):
        raise ValueError("a table must have a power of two of cells")
    return 65 - cells.bit_length()


def _prefix(size: int, share: float) -> int:
    return size + 1 - max(math.ceil(share * size - 1e-9), 1)
