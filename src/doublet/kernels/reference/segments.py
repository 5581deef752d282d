"""Postings of a stored index: sorted, packed into blocks, and read again. Twin of native/segments.cpp.

A block is: how many bytes follow; the smallest document; then for each posting, keys rising, twice the difference to
the key before, plus one when the library is another one than before, which follows then; and the difference to the
document before, or to the smallest one where the key is new. All numbers have seven bits a byte, the lowest first, the
last byte without the high bit.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from doublet.kernels.reference.arguments import MOST_NUMBER, U8, U64
from doublet.kernels.reference.arguments import documents as ranges


def sort_postings(keys: U64, documents: U64) -> NDArray[np.int64]:
    """The order of postings by key and document; of equal ones the first stays first. Nothing when they are in
    order."""
    if len(documents) != len(keys):
        raise ValueError("every posting needs a key and a document")
    rows = list(zip(keys.tolist(), documents.tolist(), strict=True))
    order = sorted(range(len(rows)), key=rows.__getitem__)
    return np.array([] if order == list(range(len(rows))) else order, np.int64)


def pack_postings(keys: U64, documents: U64, libraries: U64, offsets: U64) -> tuple[U8, U64]:
    """One block for each range of the postings, and where it ends; an empty range has no byte."""
    if len(documents) != len(keys) or len(libraries) != len(keys):
        raise ValueError("every posting needs a key, a document and a library")
    data = bytearray()
    ends = [0]
    rows = list(zip(keys.tolist(), documents.tolist(), libraries.tolist(), strict=True))
    for start, end in ranges(offsets, len(keys)):
        own = rows[start:end]
        if own:
            base = min(document for _, document, _ in own)
            values = [base]
            last_key, last_document, last_library = 0, base, 0
            for key, document, library in own:
                if key < last_key or key >> 63:
                    raise ValueError("keys of a block must rise and stay below 2 ** 63")
                if key != last_key:
                    last_document = base
                values.append((key - last_key) << 1 | (library != last_library))
                if library != last_library:
                    values.append(library)
                values.append((document - last_document) & MOST_NUMBER)
                last_key, last_document, last_library = key, document, library
            block = b"".join(map(_bytes, values))
            data += _bytes(len(block)) + block
        ends.append(len(data))
    return np.frombuffer(bytes(data), np.uint8), np.array(ends, np.uint64)


def cut_postings(
    keys: U64, documents: U64, libraries: U64, key_bits: int, bits: int, heavy: int
) -> tuple[NDArray[np.int64], U8, U64]:
    """Postings in any order, as blocks: their parts, their bytes, and where each ends. A part has the keys that begin
    with the same *bits* of all *key_bits*. A key with more than *heavy* postings has a part of its own, -1 - key; they
    come first. In the block of its part a posting of document 0 points to it."""
    if len(documents) != len(keys) or len(libraries) != len(keys):
        raise ValueError("every posting needs a key, a document and a library")
    if key_bits > 63 or bits > key_bits:
        raise ValueError("a key has at most 63 bits, a part at most those of the key")
    rows = sorted(
        zip(keys.tolist(), documents.tolist(), libraries.tolist(), strict=True), key=lambda row: row[:2]
    )
    if any(key >> key_bits for key, _, _ in rows):
        raise ValueError("a key has too many bits")
    blocks: list[tuple[int, list[tuple[int, int, int]]]] = []
    rest: list[tuple[int, int, int]] = []
    for key, group in itertools.groupby(rows, lambda row: row[0]):
        own = list(group)
        if len(own) > heavy:
            blocks.append((-1 - key, own))
            own = [(key, 0, own[0][2])]
        rest += own
    shift = key_bits - bits
    blocks += [(part, list(group)) for part, group in itertools.groupby(rest, lambda row: row[0] >> shift)]
    flat = [row for _, own in blocks for row in own]
    columns = [np.array([row[n] for row in flat], np.uint64) for n in range(3)]
    cuts = [0, *itertools.accumulate(len(own) for _, own in blocks)]
    # Each block begins anew, so the keys of all need not rise.
    data, ends = pack_postings(columns[0], columns[1], columns[2], np.array(cuts, np.uint64))
    return np.array([part for part, _ in blocks], np.int64), data, ends


def _bytes(value: int) -> bytes:
    out = bytearray()
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    return bytes([*out, value])


def unpack_postings(
    data: U8, offsets: U64, wanted: U64 | None = None, cut: bool = False
) -> tuple[U64, U64, U64, U64]:
    """Keys, documents and libraries of the blocks in each range of the bytes, and the number of the range. *wanted*:
    only postings of these keys, which rise. *cut*: the last block of a range may end too early."""
    parts = ranges(offsets, len(data))
    asked = None if wanted is None else wanted.tolist()
    if asked is not None and any(b < a for a, b in itertools.pairwise(asked)):
        raise ValueError("the wanted keys must rise")
    out: list[tuple[int, int, int, int]] = []
    for row, (start, end) in enumerate(parts):
        try:
            for key, document, library in _postings(data[start:end].tobytes()):
                if asked is None or key in asked:
                    out.append((key, document, library, row))
        except EOFError:
            if not cut:
                raise ValueError("postings are damaged") from None
    columns = np.array(out, np.uint64).reshape(-1, 4)
    return columns[:, 0].copy(), columns[:, 1].copy(), columns[:, 2].copy(), columns[:, 3].copy()


def merge_postings(data: U8, offsets: U64) -> tuple[U64, U64, U64]:
    """All postings of the ranges, sorted, without what was added and removed: documents that differ in the lowest bit
    alone. A posting of document 0 is none."""
    rows = list(zip(*(column.tolist() for column in unpack_postings(data, offsets)[:3]), strict=True))
    out = sorted((row for row in rows if row[1]), key=lambda row: row[:2])
    names = [(key, document >> 1) for key, document, _ in out]
    alone = [names[i] not in (*names[max(0, i - 1) : i], *names[i + 1 : i + 2]) for i in range(len(out))]
    columns = np.array([row for row, one in zip(out, alone, strict=True) if one], np.uint64).reshape(-1, 3)
    return columns[:, 0].copy(), columns[:, 1].copy(), columns[:, 2].copy()


def _postings(data: bytes) -> Iterator[tuple[int, int, int]]:
    """Those of one block after the other. Raises `EOFError` where bytes are missing."""
    at = 0

    def number(end: int) -> int:
        nonlocal at
        value = 0
        for shift in range(0, 64, 7):
            if at == end:
                break
            byte = data[at]
            at += 1
            if shift == 63 and byte > 1:
                break
            value |= (byte & 127) << shift
            if byte < 128:
                return value
        raise EOFError

    while at < len(data):
        size = number(len(data))
        whole = size <= len(data) - at
        end = at + size if whole else len(data)
        base = number(end)
        key, document, library = 0, base, 0
        while at < end:
            step = number(end)
            if step & 1:
                library = number(end)
            more = number(end)
            if step >> 1:
                document = base
            key = (key + (step >> 1)) & MOST_NUMBER
            document = (document + more) & MOST_NUMBER
            yield key, document, library
        if not whole:
            raise EOFError
