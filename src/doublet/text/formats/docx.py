"""DOCX (and its macro and template kin): paragraphs in reading order, tables row by row.

A footnote follows the paragraph that refers to it, so that no sentence is torn. Headers, footers and comments are not
part of the text, neither is what was deleted under "track changes". Pages are known where Word has noted them.
Runs that are marked hidden, set in white on nothing dark, or in letters under two points are hidden text.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from doublet.errors import Broken
from doublet.text.formats.package import Element, Package, core_title, parse_xml, relations
from doublet.text.formats.protocol import Builder, Hints, Reading, Run

_W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
_STRICT = b"http://purl.oclc.org/ooxml/wordprocessingml/main"
_TRANSITIONAL = b"http://schemas.openxmlformats.org/wordprocessingml/2006/main"
_MC = "{http://schemas.openxmlformats.org/markup-compatibility/2006}"
_M = "{http://schemas.openxmlformats.org/officeDocument/2006/math}"

_P, _R, _T, _TBL, _TR, _TC = (_W + name for name in ("p", "r", "t", "tbl", "tr", "tc"))
_RPR, _PPR, _VAL = _W + "rPr", _W + "pPr", _W + "val"
_SKIPPED = frozenset(
    {_W + "del", _W + "moveFrom", _W + "delText", _W + "instrText", _MC + "Fallback", _RPR, _PPR, _W + "pict"}
)
_BREAKS = {_W + "tab": "\t", _W + "br": "\n", _W + "cr": "\n", _W + "noBreakHyphen": "\u2011"}
# Each begins with a literal, which makes looking for it quick.
_HIDING = (
    re.compile(rb"anish"),
    re.compile(rb'<w:color [^>]*w:val="[fF]'),
    re.compile(rb'<w:sz [^>]*w:val="[0-4]"'),
)
_TINY_HALF_POINTS = 4  # two points: nobody reads that, and no honest text is set so
_TITLE_PARAGRAPHS = 60  # a title page has so many lines at most
_LIGHT = 0xF0  # every channel from here on is white to the eye


@dataclass(frozen=True, slots=True)
class _Look:
    """What decides whether a run is seen; None where nothing is said."""

    vanish: bool | None = None
    colour: str | None = None
    half_points: float | None = None
    shaded: bool | None = None

    def over(self, below: _Look) -> _Look:
        return _Look(
            self.vanish if self.vanish is not None else below.vanish,
            self.colour if self.colour is not None else below.colour,
            self.half_points if self.half_points is not None else below.half_points,
            self.shaded if self.shaded is not None else below.shaded,
        )

    def reason(self) -> str:
        if self.vanish:
            return "hidden"
        if self.half_points is not None and self.half_points <= _TINY_HALF_POINTS:
            return "tiny"
        if self.colour is not None and not self.shaded and is_white(self.colour):
            return "white"
        return ""


_PLAIN = _Look()


@dataclass(slots=True)
class _State:
    package: Package
    build: Builder
    styles: dict[str, _Look]
    notes: dict[tuple[str, str], Element]
    paragraph: int = 0
    page: int = 1
    paged: bool = False
    looks: bool = True  #: whether anything in the document may be hidden
    waiting: list[tuple[str, str]] = field(
        default_factory=list
    )  #: notes referred to in the paragraph in hand


def read(data: bytes, hints: Hints) -> Reading:
    package = Package(data, hints.unpacked_bytes)
    main = _main_part(package)
    raw = package.read(main)
    body = _parsed(raw, main).find(_W + "body")
    if body is None:
        raise Broken("no_body")
    parts = dict(relations(package, main).values())
    notes: dict[tuple[str, str], Element] = {}
    for kind in ("footnotes", "endnotes"):
        if parts.get(kind, "") in package:
            for note in _root(package, parts[kind]):
                if note.get(_W + "type", "normal") == "normal":
                    notes[kind[:-1], note.get(_W + "id", "")] = note
    styles = _styles(package, parts.get("styles", ""))
    state = _State(package, Builder(hints.characters), styles, notes)
    state.build.offer_title(core_title(package))
    if not state.build.title:
        _offer_headings(state.build, body, _title_styles(package, parts.get("styles", "")))
    # Most documents say nothing that could hide a word: they are read without asking every run.
    state.looks = any(sign.search(raw) for sign in _HIDING) or any(look.reason() for look in styles.values())
    state.paged = next(body.iter(_W + "lastRenderedPageBreak"), None) is not None
    _blocks(state, body, _PLAIN, "")
    if parts.get("comments", "") in package and b"<w:comment " in package.read(parts["comments"]):
        state.build.note("comments_left_out")
    return state.build.done()


def is_white(colour: str) -> bool:
    """A colour such as FFFFFF that cannot be told from white paper."""
    try:
        value = int(colour.lstrip("#"), 16)
    except ValueError:
        return False
    return len(colour.lstrip("#")) == 6 and all(value >> shift & 255 >= _LIGHT for shift in (16, 8, 0))


def _main_part(package: Package) -> str:
    for kind, target in relations(package, "").values():
        if kind == "officeDocument" and target in package:
            return target
    return "word/document.xml"


def _root(package: Package, name: str) -> Element:
    return _parsed(package.read(name), name)


def _parsed(data: bytes, name: str) -> Element:
    if _STRICT in data:
        data = data.replace(_STRICT, _TRANSITIONAL)
    return parse_xml(data, part=name)


def _styles(package: Package, name: str) -> dict[str, _Look]:
    """Style id → how its text looks, with what it is based on."""
    if name not in package:
        return {}
    own: dict[str, tuple[_Look, str]] = {}
    for style in _root(package, name).iter(_W + "style"):
        based = style.find(_W + "basedOn")
        look = _look(style.find(_RPR)).over(_shade(style.find(_PPR)))
        own[style.get(_W + "styleId", "")] = (look, based.get(_VAL, "") if based is not None else "")
    full: dict[str, _Look] = {}
    for identifier, pair in own.items():
        look, base = pair
        seen = {identifier}
        while base in own and base not in seen:
            seen.add(base)
            look = look.over(own[base][0])
            base = own[base][1]
        full[identifier] = look
    return full


def _title_styles(package: Package, name: str) -> tuple[set[str], set[str]]:
    """Ids of the styles of titles and of first headings: the ids are in the language of the program."""
    if name not in package:
        return set(), set()
    ids: dict[str, set[str]] = {"title": set(), "heading 1": set()}
    for style in _root(package, name).iter(_W + "style"):
        called = style.find(_W + "name")
        if called is not None and called.get(_VAL, "").lower() in ids:
            ids[called.get(_VAL, "").lower()].add(style.get(_W + "styleId", ""))
    return ids["title"], ids["heading 1"]


def _offer_headings(build: Builder, body: Element, styles: tuple[set[str], set[str]]) -> None:
    """The paragraph in the style of titles, or the heading that the document begins with."""
    titles, headings = styles
    first = True
    for paragraph in itertools.islice(body.iter(_P), _TITLE_PARAGRAPHS):
        style = paragraph.find(f"{_PPR}/{_W}pStyle")
        called = style.get(_VAL, "") if style is not None else ""
        text = "".join(item.text or "" for item in paragraph.iter(_T))
        if called in titles or (first and called in headings):
            build.offer_title(text, heading=True)
        first = first and not text.strip()


def _look(properties: Element | None) -> _Look:
    if properties is None or not len(properties):
        return _PLAIN
    vanish = colour = half_points = None
    shaded = _shade(properties).shaded
    for item in properties:
        tag = item.tag
        if tag == _W + "vanish" or tag == _W + "specVanish":
            vanish = item.get(_VAL, "true") not in ("false", "0", "off")
        elif tag == _W + "color":
            colour = item.get(_VAL)
        elif tag == _W + "sz":
            try:
                half_points = float(item.get(_VAL, ""))
            except ValueError:
                half_points = None
        elif tag == _W + "highlight":
            shaded = item.get(_VAL) not in ("none", "white")
    return _Look(vanish, colour, half_points, shaded)


def _shade(properties: Element | None) -> _Look:
    """Whether there is a dark ground under the text."""
    shade = properties.find(_W + "shd") if properties is not None else None
    if shade is None:
        return _PLAIN
    fill = shade.get(_W + "fill", "auto")
    solid = shade.get(_VAL) == "solid" and not is_white(shade.get(_W + "color", "FFFFFF"))
    return _Look(shaded=solid or shade.get(_W + "themeFill") is not None or _dark(fill))


def _dark(fill: str) -> bool:
    return fill != "auto" and not is_white(fill)


def _blocks(state: _State, parent: Element, ground: _Look, element: str) -> None:
    for child in parent:
        tag = child.tag
        if tag == _P:
            _paragraph(state, child, ground, element)
        elif tag == _TBL:
            _table(state, child, ground)
        elif tag not in _SKIPPED:
            _blocks(state, child, ground, element)  # content controls, custom XML, inserted blocks


def _table(state: _State, table: Element, ground: _Look) -> None:
    properties = table.find(_W + "tblPr")
    ground = _shade(properties).over(ground)
    for row in _rows(table):
        runs: list[Run] = []
        first = state.paragraph + 1
        nested: list[tuple[Element, _Look]] = []
        for cell in row.iter(_TC):
            if _table_of(cell) is not table:
                continue
            under = _shade(cell.find(_W + "tcPr")).over(ground)
            if runs:
                runs.append(Run("\t"))
            inner: list[Run] = []
            for paragraph in cell.iter(_P):
                if _cell_of(paragraph) is not cell or _in_box(paragraph):
                    continue
                state.paragraph += 1
                if inner:
                    inner.append(Run("\n"))
                inner += _runs(state, paragraph, under, nested)
            runs += inner
        state.build.add_runs(runs, page=_page(state), paragraph=first, element="table")
        for inner_table in (t for t in row.iter(_TBL) if t is not table and _table_of_row(t) is row):
            _table(state, inner_table, ground)
        for box, look in nested:
            _blocks(state, box, look, "text box")
        _notes(state)


def _rows(table: Element) -> Iterator[Element]:
    return (row for row in table.iter(_TR) if _ancestor(row, _TBL) is table)


def _table_of(cell: Element) -> Element | None:
    return _ancestor(cell, _TBL)


def _table_of_row(table: Element) -> Element | None:
    return _ancestor(table, _TR)


def _cell_of(paragraph: Element) -> Element | None:
    return _ancestor(paragraph, _TC)


def _in_box(paragraph: Element) -> bool:
    box = _ancestor(paragraph, _W + "txbxContent")
    return box is not None and _ancestor(box, _TC) is _cell_of(paragraph)


def _ancestor(element: Element, tag: str) -> Element | None:
    return next(element.iterancestors(tag), None)


def _page(state: _State) -> int | None:
    return state.page if state.paged else None


def _paragraph(state: _State, paragraph: Element, ground: _Look, element: str) -> None:
    state.paragraph += 1
    number, page = state.paragraph, _page(state)
    nested: list[tuple[Element, _Look]] = []
    runs = _runs(state, paragraph, ground, nested)
    state.build.add_runs(runs, page=page, paragraph=number, element=element)
    for box, look in nested:
        _blocks(state, box, look, "text box")
    _notes(state)


def _notes(state: _State) -> None:
    waiting, state.waiting = state.waiting, []
    for kind, identifier in waiting:
        note = state.notes.pop((kind, identifier), None)
        if note is not None:
            before = state.paragraph
            state.paragraph -= 1  # a note belongs to the paragraph that refers to it
            _blocks(state, note, _PLAIN, f"{kind} {identifier}")
            state.paragraph = before


def _runs(state: _State, paragraph: Element, ground: _Look, nested: list[tuple[Element, _Look]]) -> list[Run]:
    properties = paragraph.find(_PPR) if state.looks else None
    if properties is not None:
        style = properties.find(_W + "pStyle")
        ground = _shade(properties).over(ground)
        if style is not None:
            ground = ground.over(state.styles.get(style.get(_VAL, ""), _PLAIN))
    out: list[Run] = []
    _inline(state, paragraph, ground, nested, out)
    return out


def _inline(
    state: _State,
    parent: Element,
    ground: _Look,
    nested: list[tuple[Element, _Look]],
    out: list[Run],
) -> None:
    for child in parent:
        tag = child.tag
        if tag == _R:
            properties = child.find(_RPR) if state.looks else None
            reason = ""
            if properties is not None or ground is not _PLAIN:
                look = _look(properties).over(_styled(state, properties)).over(ground)
                reason = look.reason()
            _run(state, child, ground, reason, nested, out)
        elif tag == _M + "t":
            out.append(Run(child.text or ""))
        elif tag not in _SKIPPED:
            _inline(state, child, ground, nested, out)


def _styled(state: _State, properties: Element | None) -> _Look:
    style = properties.find(_W + "rStyle") if properties is not None else None
    return state.styles.get(style.get(_VAL, ""), _PLAIN) if style is not None else _PLAIN


def _run(
    state: _State,
    run: Element,
    ground: _Look,
    reason: str,
    nested: list[tuple[Element, _Look]],
    out: list[Run],
) -> None:
    for item in run:
        tag = item.tag
        if tag == _T:
            if item.text:
                out.append(Run(item.text, reason))
        elif tag in _BREAKS:
            out.append(Run(_BREAKS[tag], reason))
            if item.get(_W + "type") == "page" and not state.paged:
                state.page += 1
        elif tag == _W + "lastRenderedPageBreak":
            state.page += 1
        elif tag in (_W + "footnoteReference", _W + "endnoteReference"):
            kind = "footnote" if tag == _W + "footnoteReference" else "endnote"
            state.waiting.append((kind, item.get(_W + "id", "")))
        elif tag == _W + "pict" or tag not in _SKIPPED:
            # Text boxes stand inside a drawing inside a run; of two versions of one only the newer is read.
            nested += [
                (box, ground)
                for box in item.iter(_W + "txbxContent")
                if _ancestor(box, _MC + "Fallback") is None and _ancestor(box, _W + "txbxContent") is None
            ]
            out += [Run(part.text or "", reason) for part in item.iter(_M + "t")]
