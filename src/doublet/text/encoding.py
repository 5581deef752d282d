"""Bytes → text: which encoding is it?

`decode_page` decides as a browser does (T2): a byte order mark, then what the server said, then what the
page says of itself, then `detect`. Other than a browser it sees through a page that was saved as UTF-8 and still names
the encoding it had before. `decode` is for files that nobody says anything about: a byte order mark
decides, then UTF-8 (a few damaged bytes are forgiven), then UTF-16 without a mark, then a contest between
the 8-bit encodings that Russian texts come in. The contest reads the bytes in each encoding and asks how
much the result looks like written Russian: letters as frequent as they should be, no capital letters inside
words, hardly any signs that are neither letters nor punctuation.
"""

from __future__ import annotations

import codecs
import math
import re
from collections import Counter

from doublet.errors import UnknownKind, Unreadable

SAMPLE_BYTES = 1 << 16  # enough for the contest by far: 200 letters decide it
# Characters beyond ASCII that are UTF-8 without a fault: then a text is UTF-8, whatever it was called. Of the common
# characters of Chinese in GBK 18 % read like one by chance, of other encodings fewer.
SURELY_UTF8 = 8
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

_DECLARATION_BYTES = 4096  # browsers look at 1024; pages with long comments first are common enough
_COMMENT = re.compile(rb"<!--.*?-->", re.S)
_XML_ENCODING = re.compile(rb"""\s*<\?xml[^>]*?\bencoding\s*=\s*["']([A-Za-z0-9._:-]+)""")
_META_CHARSET = re.compile(rb"""<meta\b[^>]*?\bcharset\s*=\s*["']?\s*([A-Za-z0-9._:-]+)""", re.I)
# What browsers take for another encoding than the name says, and names that Python does not know.
_LABELS = {
    "iso-8859-1": "windows-1252", "iso8859-1": "windows-1252", "latin1": "windows-1252", "ascii": "windows-1252",
    "us-ascii": "windows-1252", "x-cp1251": "windows-1251", "cp-1251": "windows-1251", "win-1251": "windows-1251",
    "windows1251": "windows-1251", "koi": "koi8-r", "koi8": "koi8-r", "koi8_r": "koi8-r", "ibm866": "cp866",
    "dos-866": "cp866", "x-mac-cyrillic": "mac-cyrillic", "x-x-big5": "big5", "utf8": "utf-8", "unicode": "utf-8",
}  # fmt: skip

_NO_PAGES = frozenset("utf-7 idna punycode unicode-escape raw-unicode-escape undefined mbcs oem".split())

_KINDS = (
    (b"%PDF-", "pdf"),
    (b"PK\x03\x04", "zip_or_office"),
    (b"\xd0\xcf\x11\xe0", "old_office"),
    (b"{\\rtf", "rtf"),
    (b"\x89PNG", "png"),
    (b"\xff\xd8\xff", "jpeg"),
    (b"GIF8", "gif"),
    (b"AT&TFORM", "djvu"),
    (b"Rar!", "rar"),
    (b"7z\xbc\xaf\x27\x1c", "7z"),
    (b"SQLite format 3\x00", "sqlite"),
    (b"\x7fELF", "program"),
    (b"PAR1", "parquet"),
    (b"\x1f\x8b", "gzip"),
    (b"\x28\xb5\x2f\xfd", "zstd"),
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
        raise Unreadable("not_in_encoding", encoding=encoding, why=error.reason, start=error.start) from error


def decode_page(data: bytes, *, header: str = "", markup: bool = True) -> tuple[str, str]:
    """The text of a page and the name of its encoding.

    *header* is the charset of the Content-Type that the server sent, or empty. With *markup* the page's own
    declaration (``<meta charset>``, ``<?xml encoding?>``; the first, when there are two) is heeded. A declaration
    that cannot be true (the bytes are not UTF-8 at all, or nothing but UTF-8) gives way to detection. Raises
    `Unreadable`.
    """
    marked = _marked(data[:4])
    if marked:
        return decode(data)
    named = [header] if header else []
    if markup:
        named.append(declared_encoding(data))
    for label in named:
        encoding = known_encoding(label)
        if encoding is None:
            continue
        if encoding == "utf-8":
            if not _nearly_utf8(_whole_characters(data[:SAMPLE_BYTES])):
                continue
            text = data.decode("utf-8", "replace")
            return text, "utf-8" if "\ufffd" not in text else DAMAGED
        saved = _surely_utf8(data)
        return (saved, "utf-8") if saved is not None else (data.decode(encoding, "replace"), encoding)
    return decode(data)


def declared_encoding(data: bytes) -> str:
    """The encoding that a page names in itself, as it spells it, or nothing."""
    head = _COMMENT.sub(b"", data[:_DECLARATION_BYTES])
    found = _XML_ENCODING.match(head) or _META_CHARSET.search(head)
    return found.group(1).decode("ascii", "replace") if found else ""


def known_encoding(label: str) -> str | None:
    """Python's name for a label as browsers read it, or None for an unknown one."""
    name = label.strip().strip("\"'").lower()
    name = _LABELS.get(name, name)
    if name in ("utf-16", "utf-16le", "utf-16be", "utf-16-le", "utf-16-be"):
        return "utf-8"  # a page whose declaration can be read byte by byte is not UTF-16
    try:
        found = codecs.lookup(name)
    except (LookupError, ValueError):
        return None
    # Some codecs of Python are not encodings of text (rot13, base64 …), others of no page that a browser shows.
    return found.name if getattr(found, "_is_text_encoding", True) and found.name not in _NO_PAGES else None


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
            return "binary"
        if len(head) - len(head.translate(None, _CONTROLS)) > len(head) // 50:
            return "binary"
    return ""


def _refuse_binary(head: bytes) -> None:
    kind = binary_kind(head)
    if kind:
        raise UnknownKind("is_not_text", kind=kind)


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


def _surely_utf8(data: bytes) -> str | None:
    """The text, when it is UTF-8 and has so much beyond ASCII that this is no chance."""
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        return None
    return text if len(text) - len(text.encode("ascii", "ignore")) >= SURELY_UTF8 else None


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
        raise Unreadable("encoding_not_told")
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
