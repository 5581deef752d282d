"""OpenDocument texts and presentations (ODT, ODP; also flat ones, FODT): paragraphs, headings, tables, notes.

A note follows the paragraph that refers to it. Deleted passages of recorded changes and comments in the margin are
not part of the text; pages are known where the program has noted its soft page breaks. Text with
``text:display="none"``, white text and text under two points is hidden.
"""

from __future__ import annotations

import itertools
import re
from dataclasses import dataclass, field

from doublet.errors import Broken, Encrypted
from doublet.text.formats.docx import is_white
from doublet.text.formats.package import Element, Package, local, parse_xml, title_of
from doublet.text.formats.protocol import Builder, Hints, Reading, Run

_TEXT = "{urn:oasis:names:tc:opendocument:xmlns:text:1.0}"
_STYLE = "{urn:oasis:names:tc:opendocument:xmlns:style:1.0}"
_FO = "{urn:oasis:names:tc:opendocument:xmlns:xsl-fo-compatible:1.0}"
_OFFICE = "{urn:oasis:names:tc:opendocument:xmlns:office:1.0}"
_TABLE = "{urn:oasis:names:tc:opendocument:xmlns:table:1.0}"
_DRAW = "{urn:oasis:names:tc:opendocument:xmlns:drawing:1.0}"
_PRESENTATION = "{urn:oasis:names:tc:opendocument:xmlns:presentation:1.0}"
_DC = "{http://purl.org/dc/elements/1.1/}"
_LINK = "{http://www.w3.org/1999/xlink}href"

_P, _H, _NOTE = _TEXT + "p", _TEXT + "h", _TEXT + "note"
_SKIPPED = frozenset(
    {
        *(_TEXT + name for name in ("tracked-changes", "sequence-decls", "note-citation", "index-source")),
        *(_TEXT + name for name in ("table-of-content-source", "page-number", "page-count", "bookmark")),
        *(_OFFICE + name for name in ("annotation", "annotation-end", "forms", "scripts", "font-face-decls")),
        *(_OFFICE + name for name in ("meta", "settings", "automatic-styles", "styles", "master-styles")),
    }
)
_BOXES = frozenset({_DRAW + "frame", _DRAW + "custom-shape", _DRAW + "rect", _DRAW + "text-box"})
_TINY_POINTS = 2.0
_TITLE_PARAGRAPHS = 60  # a title page has so many lines at most
_LENGTH = re.compile(r"([\d.]+)(pt|in|cm|mm|px|pc)\Z")
_POINTS = {"pt": 1.0, "in": 72.0, "cm": 28.35, "mm": 2.835, "px": 0.75, "pc": 12.0}


@dataclass(slots=True)
class _State:
    build: Builder
    hidden: dict[str, str]  #: style → why its text cannot be seen
    shown: frozenset[str]  #: styles that bring a dark ground of their own
    paragraph: int = 0
    page: int = 1
    paged: bool = False
    slide: int = 0
    notes: list[Element] = field(default_factory=list)
    boxes: list[Element] = field(default_factory=list)


def read(data: bytes, hints: Hints) -> Reading:
    if data[:2] == b"PK":
        package = Package(data, hints.unpacked_bytes)
        if "META-INF/manifest.xml" in package and b"encryption-data" in package.read("META-INF/manifest.xml"):
            raise Encrypted("save_without_password")
        roots = [package.xml("content.xml")]
        title = title_of(package, "meta.xml") if "meta.xml" in package else ""
        if "styles.xml" in package:
            roots.append(package.xml("styles.xml"))
    else:
        roots = [parse_xml(data)]
        named = roots[0].find(f"{_OFFICE}meta/{_DC}title")
        title = "".join(named.itertext()) if named is not None else ""
    body = roots[0].find(_OFFICE + "body")
    if body is None:
        raise Broken("no_body")
    hidden, shown = _styles(roots)
    state = _State(Builder(hints.characters), hidden, shown)
    state.build.offer_title(title)
    if not state.build.title:
        _offer_headings(state.build, roots, body)
    state.paged = next(body.iter(_TEXT + "soft-page-break"), None) is not None
    _blocks(state, body, "")
    if next(body.iter(_OFFICE + "annotation"), None) is not None:
        state.build.note("comments_left_out")
    return state.build.done()


def _offer_headings(build: Builder, roots: list[Element], body: Element) -> None:
    """The paragraph in the style of titles, the heading that a text begins with, the title of a first slide."""
    styles = {"Title"}
    for root in roots:
        for style in root.iter(_STYLE + "style"):
            if style.get(_STYLE + "parent-style-name") in styles:
                styles.add(style.get(_STYLE + "name", ""))
    first = True
    for paragraph in itertools.islice(body.iter(_P, _H), _TITLE_PARAGRAPHS):
        text = "".join(paragraph.itertext())
        frame = next(paragraph.iterancestors(_DRAW + "frame"), None)
        on_slide = frame is not None and frame.get(_PRESENTATION + "class") == "title"
        heading = first and paragraph.tag == _H and paragraph.get(_TEXT + "outline-level") == "1"
        if on_slide or heading or paragraph.get(_TEXT + "style-name") in styles:
            build.offer_title(text, heading=True)
        first = first and not text.strip()


def _styles(roots: list[Element]) -> tuple[dict[str, str], frozenset[str]]:
    """Which styles hide their text, and why."""
    own: dict[str, tuple[str, str]] = {}
    grounds = set()
    for root in roots:
        for style in root.iter(_STYLE + "style"):
            name = style.get(_STYLE + "name", "")
            reason = ""
            for properties in style:
                ground = properties.get(_FO + "background-color", "transparent")
                if ground != "transparent" and not is_white(ground):
                    grounds.add(name)
                if properties.tag == _STYLE + "text-properties":
                    reason = _reason(properties)
            own[name] = (reason, style.get(_STYLE + "parent-style-name", ""))
    hidden = {}
    for name in own:
        at, seen = name, set()
        while at in own and at not in seen:
            seen.add(at)
            if own[at][0]:
                hidden[name] = own[at][0]
                break
            at = own[at][1]
    return hidden, frozenset(grounds)


def _reason(properties: Element) -> str:
    if properties.get(_TEXT + "display") == "none":
        return "hidden"
    size = _LENGTH.match(properties.get(_FO + "font-size", ""))
    if size and float(size.group(1)) * _POINTS[size.group(2)] <= _TINY_POINTS:
        return "tiny"
    ground = properties.get(_FO + "background-color", "transparent")
    if is_white(properties.get(_FO + "color", "")) and (ground == "transparent" or is_white(ground)):
        return "white"
    return ""


def _blocks(state: _State, parent: Element, element: str) -> None:
    for child in parent:
        tag = child.tag
        if tag in (_P, _H):
            _paragraph(state, child, element)
        elif tag == _TABLE + "table":
            _table(state, child)
        elif tag == _TEXT + "soft-page-break":
            state.page += 1
        elif tag == _DRAW + "page":
            state.slide += 1
            _blocks(state, child, f"slide {state.slide}")
        elif tag == _PRESENTATION + "notes":
            _blocks(state, child, f"slide {state.slide}, speaker notes")
        elif tag in (_TEXT + "hidden-paragraph",):
            state.build.hide("".join(child.itertext()), "hidden", paragraph=state.paragraph)
        elif tag not in _SKIPPED:
            _blocks(state, child, element)


def _table(state: _State, table: Element) -> None:
    for row in table.iter(_TABLE + "table-row"):
        if next(row.iterancestors(_TABLE + "table"), None) is not table:
            continue
        runs: list[Run] = []
        first = state.paragraph + 1
        inner: list[Element] = []
        for cell in row:
            if local(cell) not in ("table-cell", "covered-table-cell"):
                continue
            if runs:
                runs.append(Run("\t"))
            ground = cell.get(_TABLE + "style-name", "") in state.shown
            empty = True
            for block in cell:
                if block.tag == _TABLE + "table":
                    inner.append(block)
                    continue
                for paragraph in [block] if block.tag in (_P, _H) else block.iter(_P, _H):
                    state.paragraph += 1
                    if not empty:
                        runs.append(Run("\n"))
                    empty = False
                    runs += _runs(state, paragraph, ground)
        state.build.add_runs(runs, page=_page(state), paragraph=first, element="table")
        for nested in inner:
            _table(state, nested)
        _after(state)


def _page(state: _State) -> int | None:
    return state.page if state.paged else None


def _paragraph(state: _State, paragraph: Element, element: str) -> None:
    state.paragraph += 1
    number, page = state.paragraph, _page(state)
    runs = _runs(state, paragraph, ground=False)
    state.build.add_runs(runs, page=page, paragraph=number, element=element)
    _after(state)


def _after(state: _State) -> None:
    """What stood inside a paragraph and is no part of its sentences: notes and text boxes."""
    notes, boxes = state.notes, state.boxes
    state.notes, state.boxes = [], []
    for box in boxes:
        _blocks(state, box, "text box" if not state.slide else f"slide {state.slide}")
    for note in notes:
        kind = note.get(_TEXT + "note-class", "footnote")
        citation = note.find(_TEXT + "note-citation")
        label = "".join(citation.itertext()) if citation is not None else ""
        body = note.find(_TEXT + "note-body")
        if body is not None:
            before = state.paragraph
            state.paragraph -= 1  # a note belongs to the paragraph that refers to it
            _blocks(state, body, f"{kind} {label}".strip())
            state.paragraph = before


def _runs(state: _State, paragraph: Element, ground: bool) -> list[Run]:
    style = paragraph.get(_TEXT + "style-name", "")
    ground = ground or style in state.shown
    out: list[Run] = []
    _inline(state, paragraph, state.hidden.get(style, ""), ground, out)
    return out


def _inline(state: _State, parent: Element, reason: str, ground: bool, out: list[Run]) -> None:
    seen = "" if ground and reason == "white" else reason
    if parent.text:
        out.append(Run(_blanks(parent.text), seen))
    for child in parent:
        tag = child.tag
        if tag == _TEXT + "span":
            style = child.get(_TEXT + "style-name", "")
            _inline(state, child, state.hidden.get(style, reason), ground or style in state.shown, out)
        elif tag == _TEXT + "s":
            count = child.get(_TEXT + "c", "1")
            out.append(Run(" " * min(int(count) if count.isdigit() else 1, 1000), seen))
        elif tag == _TEXT + "tab":
            out.append(Run("\t", seen))
        elif tag == _TEXT + "line-break":
            out.append(Run("\n", seen))
        elif tag == _TEXT + "soft-page-break":
            state.page += 1
        elif tag == _NOTE:
            state.notes.append(child)
        elif tag in (_TEXT + "hidden-text",):
            out.append(Run("".join(child.itertext()) or child.get(_TEXT + "string-value", ""), "hidden"))
        elif tag in _BOXES:
            state.boxes.append(child)
        elif tag not in _SKIPPED:
            _inline(state, child, reason, ground, out)
        if child.tail:
            out.append(Run(_blanks(child.tail), seen))


def _blanks(text: str) -> str:
    """Line ends and repeated blanks in the XML are single blanks (ODF 1.3, 6.1.2)."""
    return re.sub(r"[ \t\r\n]+", " ", text)
