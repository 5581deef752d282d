"""The index of telling stems (`index.stem_chunks`) in the database: which chunks of documents have a stem.

The stems of a document are those of its bag (`store.words`), by their numbers; beside the bag is kept in which chunks
each of them is filed, one bit for each. So what was put in is always known exactly, and taking it out needs no text.
The postings are in `segments`, together with those of passages: the keys of both are 40 bits without a pattern.
Documents of a library that was made before there was this index have no bits; `fill` makes them from the texts, in
short steps.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from doublet import kernels
from doublet.errors import StoreDamaged
from doublet.index.passage_keys import CUT, KEY_BITS, Hits
from doublet.index.stem_chunks import CHUNK_WORDS, MOST_CHUNKS, Windows
from doublet.signatures.mixing import mix
from doublet.store import postings, segments, words
from doublet.store.connection import Database
from doublet.store.names import name_hash
from doublet.store.pace import Pace
from doublet.store.postings import Pairs

U64 = NDArray[np.uint64]
I64 = NDArray[np.int64]

REMEMBERED = 4_000_000  #: postings, eight bytes each
STEP = 200  #: documents that are filed in the first step of `fill`
_PLAIN_CHUNKS = 8  # the bits of more chunks are mostly zeros, and are packed
_CHUNK_BITS = MOST_CHUNKS.bit_length() - 1
_MASK = np.uint64((1 << KEY_BITS) - 1)
_SALT = np.uint64(0x5354454D53000000)
_U64 = (1 << 64) - 1


def keys_of(numbers: NDArray[np.integer]) -> U64:
    """The keys of stems by the numbers of their words."""
    return mix(numbers.astype(np.uint64) ^ _SALT) & _MASK


@dataclass(frozen=True, slots=True, eq=False)
class Filed:
    """Where the stems of documents are filed: *packed* for each document, in the order of its bag; and the same as
    postings, by their keys: key, place of the document in the batch, chunk."""

    packed: list[bytes]
    keys: U64
    documents: NDArray[np.uint32]
    chunks: NDArray[np.uint32]


def pack(lexical: words.Words, numbers: I64, rows: NDArray[np.uint32]) -> Filed:
    """*numbers* of the words by their ids, *rows* of the words in their bags (`words.pack_bags`)."""
    known = int(lexical.used[-1]) + 1 if len(lexical.used) else 0
    filed, keys = np.zeros(known, np.uint8), np.zeros(known, np.uint64)
    filed[lexical.used] = lexical.telling
    keys[lexical.used] = keys_of(numbers[lexical.used])
    bits, ends, counts, found, documents, chunks = kernels.chunk_stems(
        lexical.ids, rows, lexical.offsets, filed, keys, CHUNK_WORDS, MOST_CHUNKS
    )
    data = bits.tobytes()
    packed = [
        bytes([count - 1])
        + (data[start:end] if count <= _PLAIN_CHUNKS else zlib.compress(data[start:end], 6))
        for count, (start, end) in zip(counts.tolist(), pairwise(ends.tolist()), strict=True)
    ]
    return Filed(packed, found, documents, chunks)


def unpack(documents: Sequence[int], bags: Sequence[bytes], stems: Sequence[bytes]) -> Pairs:
    """What is filed of these documents, exactly as it was put in."""
    numbers, _, offsets = words.unpack_bags(bags)
    keys, chunks = [np.zeros(0, np.uint64)], [np.zeros(0, np.int64)]
    for place, (document, data) in enumerate(zip(documents, stems, strict=True)):
        if not data:  # its bag is of another version of the canonical text: it is not filed
            continue
        own = numbers[int(offsets[place]) : int(offsets[place + 1])]
        count = data[0] + 1
        try:
            raw = data[1:] if count <= _PLAIN_CHUNKS else zlib.decompress(data[1:])
            bits = np.unpackbits(np.frombuffer(raw, np.uint8))[: len(own) * count].reshape(len(own), count)
        except (zlib.error, ValueError) as error:
            raise StoreDamaged("words_damaged") from error
        row, chunk = np.nonzero(bits)
        keys.append(keys_of(own[row]))
        chunks.append((document << _CHUNK_BITS) + chunk.astype(np.int64))
    numbers_of = np.concatenate(chunks)
    return Pairs(np.concatenate(keys), numbers_of, numbers_of >> _CHUNK_BITS)


def pairs(documents: Sequence[int], filed: Filed) -> Pairs:
    """What is filed of a batch whose documents have these numbers."""
    numbers = np.array(documents, np.int64)[filed.documents]
    return Pairs(filed.keys, (numbers << _CHUNK_BITS) + filed.chunks, numbers)


class StemIndex:
    """Looks stems up. What was looked up is remembered, by the state of the libraries: the words of one language come
    back in every text, and the longer lists cost most."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._state: object = None
        self._known: dict[str, I64] = {}  # chunks of a stem
        self._size = 0

    def look_up(self, windows: Windows, libraries: Sequence[int] | None, state: object) -> Hits:
        """Chunks (of documents of these libraries) that have the stems of the windows. *state*: what tells that nothing
        was added and nothing removed since."""
        known = self._known
        if state is None or state != self._state or self._size > REMEMBERED:
            known = {}
            if state is not None:
                self._state, self._known, self._size = state, known, 0
        new = [word for word in windows.words if word not in known]
        found = self._read(new, libraries)
        self._size += sum(map(len, found)) + len(found)
        known |= dict(zip(new, found, strict=True))
        parts = [known[word] for word in windows.words]
        sizes = np.array([len(part) for part in parts], np.int64)
        documents = np.concatenate(parts) if parts else np.zeros(0, np.int64)
        return Hits(np.repeat(np.arange(len(parts)), sizes), documents, sizes)

    def _read(self, spelt: Sequence[str], libraries: Sequence[int] | None) -> list[I64]:
        hashes = [name_hash(word) for word in spelt]
        rows = self._database.among("SELECT hash, id FROM doublet_word WHERE hash IN", hashes)
        known = {value & _U64: number for value, number in rows}
        numbers = np.array([known.get(value & _U64, -1) for value in hashes], np.int64)
        there = np.flatnonzero(numbers >= 0)
        keys = keys_of(numbers[there])
        there, keys = there[np.argsort(keys)], np.sort(keys)  # what is found comes in the order of keys
        _, chunks, sizes = segments.look_up(self._database, keys, libraries, CUT)
        out = [np.zeros(0, np.int64)] * len(hashes)
        for place, (start, end) in zip(
            there.tolist(), pairwise([0, *np.cumsum(sizes).tolist()]), strict=True
        ):
            out[place] = chunks[start:end]
        return out


# Libraries that were made before there was this index


def any_unfiled(database: Database) -> bool:
    return database.row("SELECT 1 FROM doublet_content WHERE stems IS NULL LIMIT 1") is not None


def fill(
    database: Database,
    library: int,
    texts_of: Callable[[Sequence[int]], dict[int, str]],
    step: Callable[[int, int], None] | None = None,
) -> None:
    """File the stems of all documents of a library that are not yet, in short steps. What came meanwhile was filed when
    it came; who is killed loses a step."""
    pace = Pace(STEP, most=2_000)
    known = words.WordNumbers(database)
    done = last = 0
    while True:
        with database.guard():
            rows = database.rows(
                "SELECT c.document_id FROM doublet_content c JOIN doublet_document d ON d.id = c.document_id "
                "WHERE c.stems IS NULL AND d.library_id = %s AND c.document_id > %s ORDER BY c.document_id LIMIT %s",
                [library, last, pace.size],
            )
        if not rows:
            return
        numbers = [row[0] for row in rows]
        last = numbers[-1]
        texts = texts_of(numbers)
        numbers = [number for number in numbers if number in texts]
        lexical = words.read_words([texts[number] for number in numbers])
        with pace.step(database), database.writing():
            if database.vendor == "postgresql":
                database.take_turn(library)
            _file(database, library, numbers, lexical, known)
        known.keep()
        segments.tidy(database)
        done += len(rows)
        if step is not None:
            step(done, done + (0 if len(rows) < pace.size else 1))


def _file(
    database: Database,
    library: int,
    numbers: Sequence[int],
    lexical: words.Words,
    known: words.WordNumbers,
) -> None:
    """Those that are still there and not filed. A bag that is not what the text gives today is of another version of
    the canonical text: it is passed over until `verify` has made it again."""
    found = {
        row[0]: bytes(row[1])
        for row in database.among(
            "SELECT document_id, bag FROM doublet_content WHERE stems IS NULL AND document_id IN",
            list(numbers),
        )
    }
    word_numbers = known.numbers(lexical)
    bags, _, rows = words.pack_bags(lexical, word_numbers)
    filed = pack(lexical, word_numbers, rows)
    good = [found.get(number) == bag for number, bag in zip(numbers, bags, strict=True)]
    kept = np.array(good, np.bool_)[filed.documents]
    postings_of = Filed(filed.packed, filed.keys[kept], filed.documents[kept], filed.chunks[kept])
    postings.add(database, library, pairs(numbers, postings_of))
    database.many(
        "UPDATE doublet_content SET stems = %s WHERE document_id = %s",
        [
            (packed if same else b"", number)
            for packed, same, number in zip(filed.packed, good, numbers, strict=True)
            if number in found
        ],
    )
