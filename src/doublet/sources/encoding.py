"""Bytes → text: which encoding is it?

A byte order mark decides, then UTF-8 (a few damaged bytes are forgiven), then UTF-16 without a mark, then a
contest between the 8-bit encodings that Russian texts come in. The contest reads the bytes in each encoding
and asks how much the result looks like written Russian: letters as frequent as they should be, no capital
letters inside words, hardly any signs that are neither letters nor punctuation.
"""

from __future__ import annotations

import codecs
import math
import re
from collections import Counter

from doublet.errors import Unreadable

SAMPLE_BYTES = 1 << 16  # enough for the contest by far: 200 letters decide it
DAMAGED = "utf-8 (damaged)"  #: a text that is UTF-8 but for a few bytes, which became U+FFFD

# Per mille in running Russian text; е and ё counted apart. The letters of other Cyrillic languages get a
# little, so that Ukrainian and Belarusian texts in windows-1251 win as well.
_PER_MILLE = {
    "о": 109.8, "е": 84.5, "а": 79.9, "и": 73.7, "н": 67.0, "т": 63.2, "с": 54.7, "р": 47.5, "в": 45.3,
    "л": 43.4, "к": 34.9, "м": 32.0, "д": 29.8, "п": 28.0, "у": 26.2, "я": 20.0, "ы": 19.0, "ь": 17.4,
    "г": 16.9, "з": 16.4, "б": 15.9, "ч": 14.5, "й": 12.1, "х": 9.7, "ж": 9.4, "ш": 7.2, "ю": 6.4, "ц": 4.9,
    "щ": 3.6, "э": 3.3, "ф": 2.7, "ъ": 0.4, "ё": 1.0, "і": 1.0, "ї": 0.5, "є": 0.5, "ґ": 0.1, "ў": 0.3,
}  # fmt: skip
_LOG = {letter: math.log(share / 1000) for letter, share in _PER_MILLE.items()}
_PUNCTUATION = frozenset("«»„“”‘’–—…№§°\u00a0\u00ad©®™•·±")
_LOG_PUNCTUATION = math.log(0.01)
_LOG_STRANGE = math.log(1e-5)
_EXPECTED = sum(share / 1000 * math.log(share / 1000) for share in _PER_MILLE.values())
# Russian text scores about _EXPECTED (-2.9); the same text read in a wrong encoding scores below -4.5.
_WORST_RUSSIAN = _EXPECTED - 1.0

_CYRILLIC = ("windows-1251", "koi8-r", "cp866", "iso8859-5", "mac-cyrillic")
_WESTERN = "windows-1252"
_CASE_BREAK = re.compile("[а-яё][А-ЯЁ]")
_CONTROLS = bytes(
    set(range(32)) - {9, 10, 12, 13, 27}
)  # a text may hold tabs, line ends, form feeds, escapes

_KINDS = (
    (b"%PDF-", "a PDF document"),
    (b"PK\x03\x04", "a ZIP archive or an office document"),
    (b"\xd0\xcf\x11\xe0", "an old office document"),
    (b"{\\rtf", "an RTF document"),
    (b"\x89PNG", "a PNG image"),
    (b"\xff\xd8\xff", "a JPEG image"),
    (b"GIF8", "a GIF image"),
    (b"AT&TFORM", "a DjVu document"),
    (b"Rar!", "a RAR archive"),
    (b"7z\xbc\xaf\x27\x1c", "a 7z archive"),
    (b"SQLite format 3\x00", "an SQLite database"),
    (b"\x7fELF", "a program"),
    (b"PAR1", "a Parquet table"),
    (b"\x1f\x8b", "a gzip archive"),
    (b"\x28\xb5\x2f\xfd", "a zstd archive"),
)  # fmt: skip


def decode(data: bytes) -> tuple[str, str]:
    """The text and the name of its encoding. Raises `Unreadable` (saying why) when the bytes are not text."""
    head = data[:SAMPLE_BYTES]
    encoding = _marked(head) or _wide(head)
    if encoding is None:
        try:
            text = data.decode("utf-8")
        except UnicodeDecodeError:
            encoding = detect(head)
        else:
            _refuse_binary(head)
            return text, "utf-8"
    if encoding == DAMAGED:
        return data.decode("utf-8", "replace"), DAMAGED
    try:
        return data.decode(encoding), encoding
    except UnicodeDecodeError as error:
        if encoding.startswith("utf-8"):
            return data.decode("utf-8-sig", "replace"), DAMAGED
        if encoding.startswith(("utf-16", "utf-32")):
            return data.decode(encoding, "replace"), f"{encoding} (damaged)"
        raise Unreadable(f"cannot be read as {encoding}: {error.reason} at byte {error.start}") from error


def detect(sample: bytes) -> str:
    """Name of the encoding of a text that begins with *sample*. Raises `Unreadable` when it is not text."""
    encoding = _marked(sample) or _wide(sample)
    if encoding:
        return encoding
    whole = _whole_characters(sample)
    try:
        whole.decode("utf-8")
    except UnicodeDecodeError:
        pass
    else:
        _refuse_binary(sample)
        return "utf-8"
    _refuse_binary(sample)
    if _nearly_utf8(whole):
        return DAMAGED
    return _contest(sample)


def binary_kind(head: bytes) -> str:
    """What the bytes are, in words, when they are known not to be plain text; else nothing."""
    for magic, name in _KINDS:
        if head.startswith(magic):
            return name
    if head and not _marked(head) and not _wide(head):
        if b"\x00" in head:
            return "a binary file"
        if len(head) - len(head.translate(None, _CONTROLS)) > len(head) // 50:
            return "a binary file"
    return ""


def _refuse_binary(head: bytes) -> None:
    kind = binary_kind(head)
    if kind:
        raise Unreadable(f"is {kind}, not text", kind=kind)


def _marked(head: bytes) -> str | None:
    if head.startswith(codecs.BOM_UTF8):
        return "utf-8-sig"
    if head.startswith((codecs.BOM_UTF32_LE, codecs.BOM_UTF32_BE)):
        return "utf-32"
    if head.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return "utf-16"
    return None


def _whole_characters(sample: bytes) -> bytes:
    """Without a UTF-8 character that the end of the sample cuts in two."""
    for back in range(1, min(4, len(sample) + 1)):
        byte = sample[-back]
        if byte >= 0xC0:
            return sample[:-back]
        if byte < 0x80:
            break
    return sample


def _nearly_utf8(sample: bytes) -> bool:
    """True when at most one in fifty of the characters beyond ASCII is damaged."""
    text = sample.decode("utf-8", "replace")
    good = len(text) - len(text.encode("ascii", "ignore"))
    bad = text.count("\ufffd")
    return bad * 50 <= good


def _wide(sample: bytes) -> str | None:
    """UTF-16 without a mark: one byte of every pair is 0 (Latin) or 4 (Cyrillic) nearly always."""
    pairs = len(sample) // 2
    if pairs < 2:
        return None
    for encoding, start in (("utf-16-le", 1), ("utf-16-be", 0)):
        high = sample[start : 2 * pairs : 2]
        low = sample[1 - start : 2 * pairs : 2]
        letters = high.count(b"\x00") + high.count(b"\x04")
        if letters > 0.7 * pairs and letters + high.count(b"\x20") > 0.9 * pairs > 9 * low.count(b"\x00"):
            return encoding
    return None


def _contest(sample: bytes) -> str:
    letters = len(re.findall(rb"[A-Za-z\x80-\xff]", sample))
    high = len(re.findall(rb"[\x80-\xff]", sample))
    beside = len(re.findall(rb"(?<=[A-Za-z])[\xc0-\xff]|[\xc0-\xff](?=[A-Za-z])", sample))
    inner = len(re.findall(rb"[\xc0-\xff]", sample))
    if beside * 2 > inner or (not inner and high * 4 < letters):
        return _WESTERN  # single letters inside Latin words: é, ü, ñ
    scores = {encoding: _looks_russian(sample, encoding) for encoding in _CYRILLIC}
    best = max(scores, key=lambda name: scores[name])
    if scores[best] < _WORST_RUSSIAN:
        raise Unreadable(
            "is in an encoding that could not be told (not UTF-8, none of the Russian ones): save it as UTF-8"
        )
    return best


def _looks_russian(sample: bytes, encoding: str) -> float:
    """Mean log probability of a character beyond ASCII; a capital inside a word is a strange sign."""
    text = sample.decode(encoding, "replace")
    counts = Counter(text)
    total = score = 0.0
    for character, count in counts.items():
        if character < "\x80":
            continue
        total += count
        logarithm = _LOG.get(character.lower())
        if logarithm is None:
            logarithm = _LOG_PUNCTUATION if character in _PUNCTUATION else _LOG_STRANGE
        score += count * logarithm
    score += len(_CASE_BREAK.findall(text)) * _LOG_STRANGE / 2
    return score / total if total else _LOG_STRANGE
