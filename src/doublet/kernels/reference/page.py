"""Plain twin of the kernel that cuts a page into blocks (native/page.cpp): it defines what that does.

A block is what a reader sees as a stretch of text of its own: a paragraph, an item, a row of data, the words of a box.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from doublet.kernels.elements import DATED, MAY_BE_SMALL_PRINT
from doublet.kernels.letters import block_words
from doublet.kernels.reference.arguments import F64, U8, U32

INLINE = frozenset(
    "a abbr acronym b bdi bdo big cite code data del dfn em font i img input ins kbd label mark meter nobr output "
    "progress q ruby s samp small span strike strong sub sup time tt u var wbr rb rp rt o:p".split()
)
SILENT = frozenset(
    "script style noscript template head title meta link base object embed applet iframe svg canvas audio video "
    "select option datalist textarea button math map area frameset frame noframes".split()
)
VERBATIM = frozenset({"pre", "listing", "xmp", "plaintext"})
_IN_FLAT_ROWS = INLINE | {"td", "th", "p", "br", "div"}
_HEADINGS = frozenset({"h1", "h2", "h3", "h4", "h5", "h6"})
_CELL_LETTERS = 600
_PARAGRAPHS = 40
_BUTTON_ELEMENTS = 30
_NAME = r"[A-Za-z0-9:_.\-\x80-\xff]+"
_PART = re.compile(
    rb'<(?P<start>%b)(?P<attributes>(?: %b="[^"<]*")*)>|</(?P<end>%b)>|(?P<text>[^<]+)'
    % ((_NAME.encode("latin-1"),) * 3)
)
_ATTRIBUTE = re.compile(rb' (%b)="([^"<]*)"' % _NAME.encode("latin-1"))
_REFERENCES = {
    "&amp;": "&", "&lt;": "<", "&gt;": ">", "&quot;": '"', "&#xD;": "\r", "&#xA;": "\n", "&#x9;": "\t",
}  # fmt: skip
_REFERENCE = re.compile("&[^;]*;?")
_BLANKS = re.compile(r"[ \t\r\n\f]+")
_CELL = re.compile(" ?\x1f ?")
_NOTE_MARK = re.compile(r"[\[(]?(?:\d{1,4}|[*†‡]|[ivx]{1,5}|[a-z])[\])]?\Z")
_NOTE_LINK = re.compile(r"footnote-(?:ref|back)|doc-(?:noteref|backlink)|sdfootnote|sdendnote|noteref")
_DIGIT = re.compile(r"[0-9]")
_DATE = re.compile(
    r"\b(?:19|20)\d\d\b|\d{1,2}[:.]\d\d|\bago\b|назад|\b(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\b|"
    r"янв|фев|март|апр|мая|июн|июл|авг|сент|окт|нояб|дек"
)
_OF_RIGHTS = ("right", "©", "(c)", "права защ", "powered by", "privacy p", "terms of")

Blocks = tuple[
    list[str],  #: the text of each block
    U32,  #: its words
    U32,  #: its characters in links
    F64,  #: … and their share
    U8,  #: what it speaks of: DATED, MAY_BE_SMALL_PRINT
    U32,  #: its element, by its place in the page
    U32,  #: … and by its place among the elements around blocks
    U32,  #: of each of those: the one around it; a root is its own parent
    U32,  #: … a number for its tag and class
    list[str],  #: … its tag, class, id, role and epub:type, with a zero character between them
]


class _Element(NamedTuple):
    tag: str
    attributes: dict[str, str]
    order: int
    around: tuple[_Element, ...]
    inside: list[_Element | str]  #: elements and texts, in order

    def texts(self) -> Iterator[str]:
        waiting: list[_Element | str] = [self]
        while waiting:
            one = waiting.pop()
            if isinstance(one, str):
                yield one
            else:
                waiting.extend(reversed(one.inside))

    def elements(self) -> Iterator[_Element]:
        """All inside it, in no order."""
        waiting = [self]
        while waiting:
            for one in waiting.pop().inside:
                if isinstance(one, _Element):
                    yield one
                    waiting.append(one)


def cut_markup(markup: bytes) -> Blocks | None:
    """The blocks of a page, given as canonical XML without comments. None for anything else."""
    if not isinstance(markup, bytes):
        raise TypeError("markup is given as bytes")
    try:
        root = _parsed(markup)
    except ValueError:
        return None
    cutter = _Cutter(root)
    cutter.run()
    return cutter.blocks()


def _parsed(markup: bytes) -> _Element:
    root: _Element | None = None
    opened: list[_Element] = []
    at = order = 0
    for found in _PART.finditer(markup):
        if found.start() != at:
            raise ValueError("not canonical XML")
        at = found.end()
        if found["start"] is not None:
            values = {
                name.decode(): _decoded(value) for name, value in _ATTRIBUTE.findall(found["attributes"])
            }
            tag = found["start"].decode()
            around = (*opened[-1].around, opened[-1]) if opened else ()
            element = _Element(tag, values, order, around, [])
            order += 1
            if opened:
                opened[-1].inside.append(element)
            elif root is not None:
                raise ValueError("two roots")
            else:
                root = element
            opened.append(element)
        elif not opened:
            raise ValueError("nothing is open")
        elif found["end"] is not None:
            if opened.pop().tag != found["end"].decode():
                raise ValueError("another element is open")
        else:
            opened[-1].inside.append(_decoded(found["text"]))
    if root is None or opened or at != len(markup):
        raise ValueError("not canonical XML")
    return root


def _decoded(raw: bytes) -> str:
    """Raises ValueError for other references than canonical XML has."""

    def letter(found: re.Match[str]) -> str:
        if found[0] not in _REFERENCES:
            raise ValueError(found[0])
        return _REFERENCES[found[0]]

    return _REFERENCE.sub(letter, raw.decode("utf-8"))


class _Cutter:
    def __init__(self, root: _Element) -> None:
        self.root = root
        self.found: list[tuple[str, _Element, int]] = []
        self.pieces: list[str] = []
        self.owner = root
        self.row: _Element | None = None
        self.verbatim = self.links = self.linked = 0

    def run(self) -> None:
        # Without recursion: pages nest as deep as they like. A string is words, a pair ends an element.
        waiting: list[_Element | str | tuple[_Element, bool]] = [self.root]
        while waiting:
            one = waiting.pop()
            if isinstance(one, str):
                self.add(one)
            elif isinstance(one, _Element):
                if (one.tag in SILENT and not _never_closed(one)) or _is_note(one):
                    continue
                link = one.tag == "a" and "href" in one.attributes and not self.leads_here(one)
                self.links += link
                self.start(one)
                waiting.append((one, link))
                waiting.extend(reversed(one.inside))
            else:
                self.end(one[0])
                self.links -= one[1]

    def leads_here(self, link: _Element) -> bool:
        """A link to the place where it is, as manuals have in their headings, leads nowhere else."""
        return link.attributes["href"].startswith("#") and self.owner.tag in _HEADINGS

    def start(self, element: _Element) -> None:
        tag = element.tag
        if tag == "br":
            self.pieces.append("\v")
        elif tag not in INLINE:
            if self.row is None:
                self.put()
                self.owner = element
                self.verbatim += tag in VERBATIM
                if tag == "tr" and _is_flat(element):
                    self.row = element
            else:
                self.pieces.append("\x1f" if tag in ("td", "th") else " ")

    def end(self, element: _Element) -> None:
        if element.tag in INLINE or element.tag == "br":
            return
        if self.row is None or self.row is element:
            self.put()
            self.row = None
            self.verbatim -= element.tag in VERBATIM
            self.owner = element.around[-1] if element.around else self.root
        else:
            self.pieces.append(" ")

    def add(self, text: str) -> None:
        if self.pieces or self.verbatim or text.strip():  # blanks before the first word are dropped
            self.pieces.append(text)
            if self.links:
                self.linked += len(text.strip())

    def put(self) -> None:
        raw = "".join(self.pieces)
        self.pieces = []
        if raw.strip():
            if self.verbatim:
                text = raw.strip("\n")
            else:
                text = "\n".join(_BLANKS.sub(" ", line.strip()) for line in raw.split("\v")).strip()
                if self.row is not None:
                    text = _CELL.sub("\t", text).strip("\t")
            self.found.append((text, self.owner, self.linked))
        self.linked = 0

    def blocks(self) -> Blocks:
        around: dict[int, int] = {}  # order of an element → its place among those around blocks
        parents: list[int] = []
        kinds: dict[tuple[str, str], int] = {}
        names: list[int] = []
        keys: list[str] = []
        holders = []
        for _, owner, _ in self.found:
            for one in (*owner.around, owner):
                if one.order not in around:
                    around[one.order] = len(parents)
                    parents.append(around[one.around[-1].order] if one.around else len(parents))
                    of = [one.attributes.get(name, "") for name in ("class", "id", "role", "epub:type")]
                    names.append(kinds.setdefault((one.tag, of[0]), len(kinds)))
                    keys.append("\0".join([one.tag, *of]))
            holders.append(around[owner.order])
        shares = [
            min(1.0, linked / (len(text) - text.count(" ") or 1)) if linked else 0.0
            for text, _, linked in self.found
        ]
        return (
            [text for text, _, _ in self.found],
            np.array([block_words(text) for text, _, _ in self.found], np.uint32),
            np.array([linked for _, _, linked in self.found], np.uint32),
            np.array(shares, np.float64),
            np.array([_hints(text) for text, _, _ in self.found], np.uint8),
            np.array([owner.order for _, owner, _ in self.found], np.uint32),
            np.array(holders, np.uint32),
            np.array(parents, np.uint32),
            np.array(names, np.uint32),
            keys,
        )


def _hints(text: str) -> int:
    """What a block speaks of, as far as that can be told quickly."""
    words = block_words(text)
    if words >= 150:
        return 0
    low = "".join([letter.lower()[0] for letter in text])
    dated = words < 15 and bool(_DIGIT.search(text)) and bool(_DATE.search(low))
    small = "cookie" in low or (words < 30 and any(word in low for word in _OF_RIGHTS))
    return dated * DATED | small * MAY_BE_SMALL_PRINT


def _never_closed(element: _Element) -> bool:
    """A button that holds half a page is one that the author forgot to close."""
    return element.tag == "button" and sum(1 for _ in element.elements()) > _BUTTON_ELEMENTS


def _is_note(element: _Element) -> bool:
    """The raised number that leads to a note, or back from it: not a word of the sentence it sticks to."""
    if element.tag == "a":
        names = [element.attributes.get(name, "") for name in ("class", "role", "epub:type")]
        named = any(_NOTE_LINK.search(_small(name)) for name in names)
        return named and len("".join(element.texts()).strip()) <= 6
    if element.tag != "sup" or not _NOTE_MARK.match("".join(element.texts()).strip()):
        return False
    return any(one.tag == "a" for one in (*element.around, *element.elements()))


def _small(name: str) -> str:
    return name.encode().lower().decode()


def _is_flat(row: _Element) -> bool:
    """A row of a table of data: its cells hold words and no blocks. Others are there for the layout."""
    inside = list(row.elements())
    return (
        all(one.tag in _IN_FLAT_ROWS for one in inside)
        and sum(one.tag in ("p", "div") for one in inside) <= _PARAGRAPHS
        and all(
            sum(map(len, cell.texts())) < _CELL_LETTERS for cell in row.inside if isinstance(cell, _Element)
        )
    )
