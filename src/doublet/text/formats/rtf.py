"""RTF: paragraphs, tables by rows, notes after the paragraph that refers to them.

Characters come as ``\\'xx`` in the code page of their font or as ``\\uN``; both are heeded. Hidden runs (``\\v``),
white runs and runs under two points are hidden text. Headers, footers, pictures and tables of fonts are left out.
"""

from __future__ import annotations

import codecs
import contextlib
import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from doublet.errors import Broken
from doublet.text.formats.protocol import Builder, Hints, Reading, Run

_TOKEN = re.compile(
    rb"\\([A-Za-z]{1,32})(-?\d{1,10})? ?|\\'([0-9A-Fa-f]{2})|\\([^A-Za-z'])|([{}])|([^\\{}\r\n]+)|[\r\n]+|\\"
)
_INFO_TITLE = re.compile(rb"\{\\title\b ?((?:[^{}]|\{[^{}]*\}){0,4000})\}", re.S)
_INFO_STARTS = 1 << 20  # fonts and styles go before it
_INFO_BYTES = 8_192
_CODE_PAGE = re.compile(rb"\\ansicpg\d{1,5}")
_CHARSETS = {
    0: "cp1252", 77: "mac-roman", 128: "cp932", 129: "cp949", 134: "gbk", 136: "big5", 161: "cp1253",
    162: "cp1254", 163: "cp1258", 177: "cp1255", 178: "cp1256", 186: "cp1257", 204: "cp1251", 222: "cp874",
    238: "cp1250", 254: "cp437",
}  # fmt: skip
_SKIPPED = frozenset(
    b"fonttbl colortbl stylesheet info pict object header headerl headerr headerf footer footerl footerr footerf "
    b"listtable listoverridetable revtbl rsidtbl generator themedata colorschememapping datastore latentstyles "
    b"xmlnstbl fldinst bkmkstart bkmkend filetbl private pgdsctbl annotation atnid atnauthor atndate ftnsep "
    b"ftnsepc ftncn aftnsep aftnsepc aftncn listtext pntext nonshppict mmathPr wgrffmtfilter template userprops "
    b"objdata shppict sp sn sv picprop blipuid falt panose".split()
)
_CHARACTERS = {
    b"tab": "\t", b"line": "\n", b"emdash": "—", b"endash": "–", b"lquote": "‘", b"rquote": "’",
    b"ldblquote": "“", b"rdblquote": "”", b"bullet": "•", b"emspace": "\u2003", b"enspace": "\u2002",
    b"zwj": "\u200d", b"zwnj": "\u200c", b"zwbo": "", b"zwnbo": "",
}  # fmt: skip
_SYMBOLS = {b"~": "\u00a0", b"_": "\u2011", b"-": "", b"\\": "\\", b"{": "{", b"}": "}", b"\n": "\n"}
_TINY_HALF_POINTS = 4
_DEPTH = 2_000
_LIGHT = 0xF0


@dataclass(slots=True)
class _Group:
    skip: bool = False
    fonts: bool = False
    colours: bool = False
    note: bool = False
    hidden: bool = False
    colour: int = 0
    half_points: int = 24
    shaded: bool = False
    font: int = -1
    unicode_skip: int = 1
    destination: bool = False  #: \\* was the last word: what it names may be left out


@dataclass(slots=True)
class _State:
    build: Builder
    encoding: str = "cp1252"
    default_font: int = -1
    charsets: dict[int, str] = field(default_factory=dict)
    colours: list[tuple[int, int, int] | None] = field(default_factory=list)
    runs: list[Run] = field(default_factory=list)
    note: list[Run] = field(default_factory=list)
    notes: list[list[Run]] = field(default_factory=list)
    cells: bool = False
    paragraph: int = 0
    raw: bytearray = field(default_factory=bytearray)
    font_number: int = -1
    colour: list[int] = field(default_factory=lambda: [-1, -1, -1])
    swallow: int = 0


def read(data: bytes, hints: Hints) -> Reading:
    state = _State(Builder(hints.characters))
    for title in _titles(data):
        state.build.offer_title(title)
    stack: list[_Group] = []
    group = _Group()
    opened = False
    high = 0
    for token in _TOKEN.finditer(data):
        word, number, byte, symbol, brace, text = token.groups()
        if brace == b"{":
            _flush(state, group)
            stack.append(group)
            if len(stack) > _DEPTH:
                raise Broken("rtf_too_deep", depth=_DEPTH)
            group = replace(group, destination=False)
            opened = True
            state.swallow = 0
        elif brace == b"}":
            _flush(state, group)
            if not stack:
                break
            outer = stack.pop()
            if group.note and not outer.note:
                state.notes.append(state.note)
                state.note = []
            group = outer
            state.swallow = 0
            if not stack:
                break
        elif word is not None:
            value = int(number) if number is not None else None
            if word == b"u" and value is not None:
                if not group.skip and not group.fonts and not group.colours:
                    _flush(state, group)
                    code = value & 0xFFFF
                    if 0xD800 <= code < 0xDC00:
                        high = code
                    elif 0xDC00 <= code < 0xE000 and high:
                        _put(state, group, chr(0x10000 + ((high - 0xD800) << 10) + (code - 0xDC00)))
                        high = 0
                    else:
                        _put(state, group, chr(code))
                state.swallow = group.unicode_skip
            else:
                _flush(state, group)
                state.swallow = 0
                if word == b"bin" and value:
                    continue
                _word(state, group, word, value)
        elif byte is not None:
            if state.swallow:
                state.swallow -= 1
            elif not group.skip and not group.fonts:
                state.raw.append(int(byte, 16))
        elif symbol is not None:
            if symbol == b"*":
                group.destination = True
            elif state.swallow:
                state.swallow -= 1
            elif not group.skip and not group.fonts and not group.colours and symbol in _SYMBOLS:
                _flush(state, group)
                _put(state, group, _SYMBOLS[symbol])
        elif text is not None:
            if group.colours:
                _colour_ends(state, text)
                continue
            if state.swallow:
                cut = min(state.swallow, len(text))
                text = text[cut:]
                state.swallow -= cut
            if text and not group.skip and not group.fonts:
                state.raw += text
    _flush(state, group)
    _paragraph(state)
    if not opened:
        raise Broken("no_rtf")
    if stack:
        if not state.paragraph:
            raise Broken("rtf_cut_no_text")
        state.build.note("rtf_cut_short")
    return state.build.done(state.encoding)


def _titles(data: bytes) -> Iterator[str]:
    """The titles among the properties: small documents of their own in the code page of the whole. Where that does not
    have the letters, the same title follows in Unicode."""
    info = data.find(b"{\\info", 0, _INFO_STARTS)
    if info < 0:
        return
    page = _CODE_PAGE.search(data, 0, info)
    for found in _INFO_TITLE.finditer(data, info, info + _INFO_BYTES):
        inner = b"{\\rtf1" + (page.group() if page else b"") + b" " + found.group(1) + b"}"
        with contextlib.suppress(Broken):
            yield read(inner, Hints()).text


def _word(state: _State, group: _Group, word: bytes, value: int | None) -> None:
    optional, group.destination = group.destination, False
    if group.fonts:
        if word == b"f":
            state.font_number = value or 0
        elif word == b"fcharset":
            state.charsets[state.font_number] = _CHARSETS.get(value or 0, "")
        return
    if group.colours:
        if word in (b"red", b"green", b"blue"):
            state.colour[(b"red", b"green", b"blue").index(word)] = value or 0
        return
    if word == b"fonttbl":
        group.fonts = True
    elif word == b"colortbl":
        group.colours = True
    elif word in _SKIPPED:
        group.skip = True
    elif word in (b"footnote", b"endnote"):
        group.note, group.skip = True, False
    elif optional and word not in (b"shpinst", b"shptxt", b"nesttableprops", b"fldrslt"):
        group.skip = True
    elif group.skip:
        return
    elif word in _CHARACTERS:
        _put(state, group, _CHARACTERS[word])
    elif word in (b"par", b"sect", b"page"):
        if group.note:
            state.note.append(Run("\n"))
        else:
            _paragraph(state)
    elif word in (b"cell", b"nestcell"):
        state.runs.append(Run("\t"))
        state.cells = True
    elif word in (b"row", b"nestrow"):
        _paragraph(state)
    elif word == b"intbl":
        state.cells = True
    elif word == b"ansicpg" and value:
        state.encoding = _code_page(value) or state.encoding
    elif word == b"mac":
        state.encoding = "mac-roman"
    elif word == b"deff":
        state.default_font = value or 0
        group.font = state.default_font
    elif word == b"uc":
        group.unicode_skip = max(0, min(value if value is not None else 1, 8))
    elif word == b"f":
        group.font = value or 0
    else:
        _look(group, word, value)


def _look(group: _Group, word: bytes, value: int | None) -> None:
    if word == b"v":
        group.hidden = value != 0
    elif word == b"cf":
        group.colour = value or 0
    elif word in (b"fs",):
        group.half_points = value if value is not None else 24
    elif word in (b"highlight", b"cb", b"chcbpat", b"chshdng"):
        group.shaded = bool(value)
    elif word == b"plain":
        group.hidden, group.colour, group.half_points, group.shaded = False, 0, 24, False


def _code_page(number: int) -> str | None:
    for name in (f"cp{number}", {10000: "mac-roman", 10007: "mac-cyrillic"}.get(number, "")):
        try:
            return codecs.lookup(name).name
        except LookupError:
            continue
    return None


def _colour_ends(state: _State, text: bytes) -> None:
    for _ in range(text.count(b";")):
        red, green, blue = state.colour
        state.colours.append(None if red < 0 and green < 0 and blue < 0 else (red, green, blue))
        state.colour = [-1, -1, -1]


def _flush(state: _State, group: _Group) -> None:
    """Bytes that were gathered become text in the code page of the font."""
    if state.raw:
        encoding = state.charsets.get(group.font) or state.encoding
        raw, state.raw = bytes(state.raw), bytearray()
        _put(state, group, raw.decode(encoding, "replace"))


def _put(state: _State, group: _Group, text: str) -> None:
    if group.skip or group.fonts or group.colours:
        return
    reason = ""
    if group.hidden:
        reason = "hidden"
    elif group.half_points <= _TINY_HALF_POINTS:
        reason = "tiny"
    elif 0 < group.colour < len(state.colours) and not group.shaded:
        colour = state.colours[group.colour]
        if colour is not None and min(colour) >= _LIGHT:
            reason = "white"
    (state.note if group.note else state.runs).append(Run(text, reason))


def _paragraph(state: _State) -> None:
    runs, state.runs = state.runs, []
    state.paragraph += 1
    element = "table" if state.cells and any(run.text == "\t" for run in runs) else ""
    state.cells = False
    if not state.build.add_runs(runs, paragraph=state.paragraph, element=element) and not any(
        run.hidden for run in runs
    ):
        state.paragraph -= 1
    notes, state.notes = state.notes, []
    for note in notes:
        state.build.add_runs(note, paragraph=state.paragraph, element="footnote")
