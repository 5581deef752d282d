"""Stems by the chunks of documents in which they stand, and the chunks that share stems with windows of a text. Twin of
native/stems.cpp."""

from __future__ import annotations

import numpy as np

from doublet.kernels.reference.arguments import F64, U8, U32, U64, check_numbers
from doublet.kernels.reference.arguments import documents as ranges


def chunk_stems(
    words: U32, rows: U32, offsets: U64, filed: U8, keys: U64, chunk_words: int, most: int
) -> tuple[U8, U64, U32, U64, U32, U32]:
    """In which chunks of its document each word stands that is *filed*.

    *words* are those of the documents in their order, *rows* where each stands in the bag of its document
    (`pack_bags`). A document is cut into chunks of about *chunk_words* words each, at most *most* of them. Gives a bit
    for each row and chunk of a document, the highest of a byte first; where the bytes of each document end; how many
    chunks it has; and postings: the key of the word, the document and the chunk, sorted by the key, then as they stand.
    """
    check_numbers(chunk_words, most)
    parts = ranges(offsets, len(words))
    if len(rows) != len(words):
        raise ValueError("every word needs a row")
    if not 0 < chunk_words < 1 << 32 or not 0 < most < 1 << 32:
        raise ValueError("chunks have 1 to 4294967295 words")
    if len(words) and int(words.max()) >= min(len(filed), len(keys)):
        raise ValueError("of a word it is not known whether it is filed")
    if any(row >= end - start for start, end in parts for row in rows[start:end].tolist()):
        raise ValueError("a row lies outside its document")
    bits: list[list[int]] = []
    counts: list[int] = []
    found: list[tuple[int, int, int, int, int]] = []  # key, word, place, document, chunk
    for document, (start, end) in enumerate(parts):
        size = end - start
        count = min(max((size + chunk_words // 2) // chunk_words, 1), most)
        own = rows[start:end].tolist()
        bits.append([0] * (-(-((max(own) + 1 if own else 0) * count) // 8) * 8))
        counts.append(count)
        for place, word in enumerate(words[start:end].tolist()):
            chunk = place * count // size
            bit = own[place] * count + chunk
            if filed[word] and not bits[document][bit]:
                bits[document][bit] = 1
                found.append((int(keys[word]), word, start + place, document, chunk))
    data = [np.packbits(np.array(own, np.uint8)).tobytes() for own in bits]
    ends = np.cumsum([0, *map(len, data)])
    columns = np.array([(one[0], *one[3:]) for one in sorted(found)], np.uint64).reshape(-1, 3)
    return (
        np.frombuffer(b"".join(data), np.uint8),
        ends.astype(np.uint64),
        np.array(counts, np.uint32),
        columns[:, 0].copy(),
        columns[:, 1].astype(np.uint32),
        columns[:, 2].astype(np.uint32),
    )


def shared_chunks(
    keys: U64, chunks: U64, weights: F64, stems: U64, offsets: U64, enough: float, least: int, best: int
) -> tuple[U64, F64, U64]:
    """Chunks that share with a window stems that weigh *enough* together, *least* of them or more; what they weigh, and
    the window.

    ``chunks[i]`` has the stem ``keys[i]``; window w has the *stems* ``[offsets[w]:offsets[w+1]]``. A stem that weighs
    nothing counts nowhere. Of each window only the *best* chunks, and those that are as good as the last of them to
    nine digits; 0: all.
    """
    check_numbers(least, best)
    if len(chunks) != len(keys):
        raise ValueError("every key needs a chunk")
    windows = ranges(offsets, len(stems))
    if len(keys) and int(keys.max()) >= len(weights):
        raise ValueError("a key has no weight")
    if len(stems) and int(stems.max()) >= len(weights):
        raise ValueError("a stem of a window has no weight")
    weight = weights.tolist()
    own: list[list[int]] = [[] for _ in weight]
    for key, chunk in zip(keys.tolist(), chunks.tolist(), strict=True):
        if weight[key] > 0:
            own[key].append(chunk)
    total: dict[int, float] = {}
    for key, some in enumerate(own):
        for chunk in some:
            total[chunk] = total.get(chunk, 0.0) + weight[key]
    out: list[tuple[int, float, int]] = []
    for window, (start, end) in enumerate(windows):
        scores: dict[int, float] = {}
        shared: dict[int, int] = {}
        for key in stems[start:end].tolist():
            for chunk in own[key]:
                if total[chunk] >= enough:
                    scores[chunk] = scores.get(chunk, 0.0) + weight[key]
                    shared[chunk] = shared.get(chunk, 0) + 1
        good = [chunk for chunk in sorted(scores) if scores[chunk] >= enough and shared[chunk] >= least]
        rounded = {chunk: _round(scores[chunk]) for chunk in good}
        if best and len(good) > best:
            limit = sorted(rounded.values(), reverse=True)[best - 1]
            good = [chunk for chunk in good if rounded[chunk] >= limit]
        out += [(chunk, scores[chunk], window) for chunk in good]
    return (
        np.array([chunk for chunk, _, _ in out], np.uint64),
        np.array([score for _, score, _ in out], np.float64),
        np.array([window for _, _, window in out], np.uint64),
    )


def _round(value: float) -> float:
    return float(np.rint(value * 1e9)) / 1e9
