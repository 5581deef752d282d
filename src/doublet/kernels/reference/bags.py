"""Words of stored documents as bytes, and the heaviest of them. Twin of native/bags.cpp."""

from __future__ import annotations

import numpy as np

from doublet.kernels.reference.arguments import F64, U8, U32, U64, check_numbers, documents


def pack_bags(words: U32, offsets: U64, numbers: U64) -> tuple[U8, U64, U64, U64, U32]:
    """The words of each document as bytes: data, where each document ends, df and cf of each word, and in which row of
    its bag each word of the documents is counted.

    *words* are all words of the documents in any order, *numbers* what each of them is called for good. A bag is the
    count of distinct numbers; the numbers rising, as differences, with a low bit for "more than once"; then the
    counts of those; words that have one number are counted together. Seven bits a byte, the lowest first, the last byte
    of a number without the high bit.
    """
    if len(words) and int(words.max()) >= len(numbers):
        raise ValueError("a word has no number")
    if any(int(numbers[word]) >= 1 << 32 for word in words.tolist()):
        raise ValueError("the number of a word is above 4294967295")
    data = bytearray()
    ends = [0]
    df, cf = [0] * len(numbers), [0] * len(numbers)
    rows: list[int] = []
    for start, end in documents(offsets, len(words)):
        own: dict[int, int] = {}
        for word in words[start:end].tolist():
            own[word] = own.get(word, 0) + 1
        for word, count in own.items():
            df[word] += 1
            cf[word] += count
        by_number: dict[int, int] = {}
        for word, count in own.items():
            by_number[int(numbers[word])] = by_number.get(int(numbers[word]), 0) + count
        counts = sorted(by_number.items())
        places = {number: row for row, (number, _) in enumerate(counts)}
        rows += [places[int(numbers[word])] for word in words[start:end].tolist()]
        values = [len(counts)]
        previous = 0
        for number, count in counts:
            values.append((number - previous) << 1 | (count > 1))
            previous = number
        values += [count for _, count in counts if count > 1]
        for value in values:
            while value > 127:
                data.append(value & 127 | 128)
                value >>= 7
            data.append(value)
        ends.append(len(data))
    return (
        np.frombuffer(bytes(data), np.uint8),
        np.array(ends, np.uint64),
        np.array(df, np.uint64),
        np.array(cf, np.uint64),
        np.array(rows, np.uint32),
    )


def unpack_bags(data: U8, offsets: U64) -> tuple[U32, U32, U64]:
    """What `pack_bags` packed: numbers of words (rising), how often each stands, and where each document ends."""
    words: list[int] = []
    counts: list[int] = []
    ends = [0]
    for start, end in documents(offsets, len(data)):
        values, value, shift = [], 0, 0
        for byte in data[start:end].tolist():
            value |= (byte & 127) << shift
            shift += 7
            if shift > 70 or value >> 64:
                raise ValueError("a bag of words is damaged")
            if byte < 128:
                values.append(value)
                value = shift = 0
        size = values[0] if values else -1
        steps = values[1 : size + 1]
        several = sum(step & 1 for step in steps)
        rest = values[size + 1 :]
        if (
            shift
            or size < 0
            or len(steps) != size
            or len(rest) != several
            or any(count < 2 for count in rest)
        ):
            raise ValueError("a bag of words is damaged")
        word = 0
        more = iter(rest)
        for step in steps:
            word += step >> 1
            words.append(word)
            counts.append(next(more) if step & 1 else 1)
        ends.append(len(words))
    if any(value >> 32 for value in (*words, *counts)):
        raise ValueError("a bag of words is damaged")
    return np.array(words, np.uint32), np.array(counts, np.uint32), np.array(ends, np.uint64)


def heaviest(weights: F64, ranks: U32, offsets: U64, count: int) -> tuple[U64, U64]:
    """Rows of the *count* heaviest words of each document, by rank; and where each document ends.

    Of equal weights the lowest rank is taken, of equal ranks the first row; minus infinity is never taken. A document
    with fewer has none.
    """
    check_numbers(count)
    if count < 1:
        raise ValueError("at least one row has to be chosen")
    if len(ranks) != len(weights):
        raise ValueError("every row needs a weight and a rank")
    rows: list[int] = []
    ends = [0]
    for start, end in documents(offsets, len(weights)):
        known = [row for row in range(start, end) if weights[row] > -np.inf]
        chosen = sorted(known, key=lambda row: (-weights[row], ranks[row]))[:count]
        if len(chosen) == count:
            rows += sorted(chosen, key=lambda row: (int(ranks[row]), row))
        ends.append(len(rows))
    return np.array(rows, np.uint64), np.array(ends, np.uint64)
