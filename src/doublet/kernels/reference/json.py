"""JSON lines straight to sets of shingles. Twin of native/json.cpp."""

from __future__ import annotations

import numpy as np
import orjson

from doublet.kernels.reference.arguments import U32, U64, check_numbers
from doublet.kernels.reference.sets import SetStore
from doublet.kernels.reference.tokens import shingle_sets


def count_lines(block: bytes) -> int:
    """Line ends in *block*."""
    return block.count(b"\n")


def json_sets(
    block: bytes,
    id_field: str,
    text_field: str,
    size: int,
    stop: U64 | None = None,
    min_letters: int = 1,
    store: SetStore | None = None,
) -> tuple[U64, U64, U32, U32, bytes, U64, U32, U64, U32, U64]:
    """Sets of the records of JSON lines: as `shingle_sets`, then ids (UTF-8, one piece) and their ends, the lines taken
    and where they begin, the lines left and where they begin.

    The native twin counts the values for *store* as they are made. A line is left to the caller, who reads it with
    care, unless it is plainly good: a valid JSON object whose id is a
    string that is not empty, or a whole number, and whose text is a string. A kernel may leave more lines, but never
    take a bad one.
    """
    check_numbers(size)
    if size < 1:
        raise ValueError("a shingle has at least one word")
    ids, texts, lines, starts, left, left_starts = [], [], [], [], [], []
    at = 0
    for number, line in enumerate(block.split(b"\n")):
        start, at = at, at + len(line) + 1
        if number == block.count(b"\n") and not line:
            break
        try:
            record = orjson.loads(line)
            identifier, text = record[id_field], record[text_field]
            good = isinstance(text, str) and type(identifier) in (str, int) and identifier != ""
        except (ValueError, KeyError, TypeError):
            good = False
        if not good:
            left.append(number)
            left_starts.append(start)
            continue
        ids.append(str(identifier).encode())
        texts.append(text)
        lines.append(number)
        starts.append(start)
    ends = np.cumsum([len(i) for i in ids], dtype=np.uint64)
    sets = shingle_sets(texts, size, stop, min_letters)
    taken = np.array(lines, np.uint32), np.array(starts, np.uint64)
    return *sets, b"".join(ids), ends, *taken, np.array(left, np.uint32), np.array(left_starts, np.uint64)
