"""A record of great length: from its line of JSON to its set of shingles, a piece at a time.

The whole line in the kernel takes eight times its size. Here the text is cut between two words into pieces, which
overlap by enough words for every shingle to lie in one of them; the set of the record is what the pieces have together.
The answer is that of the whole. A record that cannot be cut (no blanks between words, a great many other fields, JSON
that is not plain) is left to the kernel.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import orjson
from numpy.typing import NDArray

from doublet import kernels
from doublet.jobs.dedupe.options import DedupeMethods
from doublet.text.apart import with_runs

U64 = NDArray[np.uint64]

LONG_BYTES = 16_000_000  #: lines from this length on are read in pieces
PIECE_BYTES = 2_000_000
FIELDS_BYTES = 1_000_000  #: of a record besides its text
CUT_WITHIN = 100_000  #: bytes in which a place to cut is looked for
NEIGHBOURHOOD = 250  #: characters; the kernels look at 64 on either side of a word
AT_ONCE = 1 << 22  #: values

# Between two plain words nothing goes on: no letters set apart, no word that is broken at the end of a line. Each of
# them has a letter that tells its alphabet: words of look-alike letters alone take theirs from the words around them.
_WORD = rb"([A-Za-z]{4,24}|(?:[\xd0\xd1][\x80-\xbf]){4,24}|(?:\\u04[0-5][0-9a-fA-F]){4,24})"
_CUT = re.compile(rb" " + _WORD + rb" " + _WORD + rb"(?= )")
_ESCAPE = re.compile(r'\\[bfnrt"/\\]')
_CODE = re.compile(r"\\u([0-9a-fA-F]{4})")
_LATIN = re.compile(r"[A-Za-z]*[bdfgijlnqrsuvwzDFGIJLNQRSUVWZ][A-Za-z]*")
_CYRILLIC = re.compile(r"[а-яА-ЯёЁ]*[бгджзилцчшщыэюяБГДЖЗИЛЦЧШЩЫЭЮЯ][а-яА-ЯёЁ]*")


@dataclass(slots=True)
class LongRecord:
    """What is known of one record: its values are each there once, in any order."""

    id: str
    values: U64
    words: int
    disguised: int


def read_long(line: bytes, id_field: str, text_field: str, methods: DedupeMethods) -> LongRecord | None:
    """The record of a line of JSON, or None when it has to be read whole."""
    found = _find_text(line, id_field, text_field)
    if found is None:
        return None
    identifier, start, end = found
    shape, canon = methods.exact.parameters, methods.exact.canon
    values = Values((end - start) // 6)
    words = disguised = 0
    for piece, overlap in _pieces(line, start, end, 256 * shape.shingle_words):
        lines = [b'{"i":0,"t":"%b"}' % line[a:b] for a, b in (piece, overlap) if a < b]
        sets, offsets, count, tricks, *_, left, _ = kernels.json_sets(
            b"\n".join(lines), "i", "t", shape.shingle_words, canon.stop_hashes, canon.min_letters
        )
        twice = int(count[1]) if len(lines) > 1 and len(count) > 1 else 0
        if len(left) or int(count[0]) < shape.shingle_words + twice:
            return None
        if piece[0] > start and twice < shape.shingle_words - 1:
            return None
        if int(tricks[0]) and len(with_runs([orjson.loads(b'"%b"' % line[slice(*piece)])], tricks[:1])):
            return None  # letters that were set apart are read whole
        values.add(sets[: int(offsets[1])])
        words += int(count[0]) - twice
        disguised += int(tricks[0]) - (int(tricks[1]) if twice else 0)
    return LongRecord(identifier, values.distinct(), words, disguised)


def _find_text(line: bytes, id_field: str, text_field: str) -> tuple[str, int, int] | None:
    """The id, and where in the line the text lies; None unless both are plain to see."""
    name = json.dumps(text_field).encode()
    key = re.compile(re.escape(name) + rb"\s*:\s*\"").search(line, 0, FIELDS_BYTES)
    if key is None:
        return None
    start = key.end()
    end = _string_end(line, start)
    if end is None or len(line) - (end - start) > FIELDS_BYTES:
        return None
    rest = line[:start] + line[end:]  # the record with an empty text
    try:
        record = orjson.loads(rest)
    except ValueError:
        return None
    if not isinstance(record, dict) or record.get(text_field) != "":
        return None
    identifier = record.get(id_field)
    if type(identifier) is int:
        identifier = str(identifier)
    once = all(rest.count(json.dumps(field).encode()) == 1 for field in (id_field, text_field))
    return (identifier, start, end) if type(identifier) is str and identifier and once else None


def _string_end(line: bytes, start: int) -> int | None:
    """Where the string that begins at *start* has its closing quote."""
    at = line.find(b'"', start)
    while at >= 0:
        back = at
        while line[back - 1] == 0x5C:
            back -= 1
        if (at - back) % 2 == 0:
            return at
        at = line.find(b'"', at + 1)
    return None


def _pieces(
    line: bytes, start: int, end: int, overlap_bytes: int
) -> Iterator[tuple[tuple[int, int], tuple[int, int]]]:
    """Where pieces begin and end, and the beginning of each that the piece before has too. What cannot be cut further
    is one piece, however long."""
    begin = start
    repeated = begin
    while begin < end:
        stop = end
        if end - begin > 2 * PIECE_BYTES:
            stop = _cut(line, begin + PIECE_BYTES, min(end, begin + PIECE_BYTES + CUT_WITHIN)) or end
        yield (begin, stop), (begin, repeated)
        if stop == end:
            return
        again = _cut(line, max(begin + 1, stop - overlap_bytes - CUT_WITHIN // 2), stop)
        begin, repeated = (again or stop) + 1, stop


def _cut(line: bytes, low: int, high: int) -> int | None:
    """The first blank between *low* and *high* at which a text can be cut."""
    for found in _CUT.finditer(line, low, high):
        words = [orjson.loads(b'"%b"' % word) for word in found.groups()]
        for alphabet in (_LATIN, _CYRILLIC):
            if all(alphabet.fullmatch(word) for word in words) and _one_alphabet(line, found.end(1)):
                return found.end(1)
    return None


def _one_alphabet(line: bytes, at: int) -> bool:
    """Whether the text around has letters of one alphabet. Where they are mixed, a word of look-alike letters is read
    by what stands in its neighbourhood, which must not be cut."""
    raw = line[max(0, at - 6 * NEIGHBOURHOOD) : at + 6 * NEIGHBOURHOOD].decode("utf-8", "ignore")
    whole = raw[raw.find(" ") : raw.rfind(" ")]  # words and codes that are not cut themselves
    text = _CODE.sub(lambda code: chr(int(code[1], 16)), _ESCAPE.sub(" ", whole))
    return len({ord(letter) >> 7 for letter in text if letter.isalpha()}) == 1


class Values:
    """Fingerprints that come in parts. One piece of memory, which becomes a set in place."""

    def __init__(self, expected: int) -> None:
        self._all: U64 = np.empty(max(1024, expected), np.uint64)
        self._size = 0

    def add(self, values: U64) -> None:
        wanted = self._size + len(values)
        if wanted > len(self._all):
            self._all.resize(wanted + wanted // 8, refcheck=False)
        self._all[self._size : wanted] = values
        self._size = wanted

    def distinct(self) -> U64:
        """Each value once, sorted. Nothing can be added afterwards."""
        self._all.resize(self._size, refcheck=False)
        values = self._all
        values.sort()
        kept = 0
        before: Any = None
        for first in range(0, len(values), AT_ONCE):
            part = values[first : first + AT_ONCE].copy()
            new = np.ones(len(part), np.bool_)
            new[1:] = part[1:] != part[:-1]
            new[0] = before is None or part[0] != before
            before = part[-1]
            some = part[new]
            values[kept : kept + len(some)] = some
            kept += len(some)
        values.resize(kept, refcheck=False)
        return values
