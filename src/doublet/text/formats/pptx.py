"""PPTX: the text of each slide in the order of the presentation, then its speaker notes.

Slide numbers, dates and footers, which repeat on every slide, are left out. What nobody sees is hidden text: shapes
that are marked hidden or stand beside the slide, letters without a fill, letters of two points and less, and white
letters on a white slide. White letters count only where nothing can be behind them: no picture and no filled shape on
the slide, its layout or its master, for where shapes overlap is not worked out here.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from doublet.errors import Broken
from doublet.text.formats.docx import is_white
from doublet.text.formats.package import Element, Package, core_title, relations
from doublet.text.formats.protocol import Builder, Hints, Reading, Run

_A = "{http://schemas.openxmlformats.org/drawingml/2006/main}"
_P = "{http://schemas.openxmlformats.org/presentationml/2006/main}"
_R = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}"
_FRAME = frozenset({"sldNum", "dt", "ftr", "hdr"})
_TINY = 200  # hundredths of a point
_FILLS = ("solidFill", "gradFill", "blipFill", "pattFill", "grpFill")
_CLEAR = "FFFFFF"
_NAMED = {
    "white": "FFFFFF",
    "snow": "FFFAFA",
    "ivory": "FFFFF0",
    "ghostWhite": "F8F8FF",
    "floralWhite": "FFFAF0",
}
# What themes call the two colours of paper and ink, before a master says otherwise.
_MAPPED = {"bg1": "lt1", "tx1": "dk1", "bg2": "lt2", "tx2": "dk2"}


@dataclass(slots=True)
class _Ground:
    """What lies behind the text of a slide."""

    white: bool = False  #: and nothing else that could lie behind letters
    colours: dict[str, str] = field(default_factory=dict)  #: of the theme, by name
    width: int = 0
    height: int = 0


def read(data: bytes, hints: Hints) -> Reading:
    package = Package(data, hints.unpacked_bytes)
    main = next((target for kind, target in relations(package, "").values() if kind == "officeDocument"), "")
    build = Builder(hints.characters)
    slides = _order(package, main)
    size = package.xml(main).find(_P + "sldSz") if main in package else None
    width, height = (_number(size, "cx"), _number(size, "cy")) if size is not None else (0, 0)
    if not slides and main not in package:
        raise Broken("no_presentation")
    for number, name in enumerate(slides, 1):
        root = package.xml(name)
        if number == 1:
            build.offer_title(core_title(package))
            build.offer_title(_first_title(root), heading=True)
        if root.get("show") == "0":
            build.note("slide_hidden", number=number)
        ground = _ground(package, name, root)
        ground.width, ground.height = width, height
        _slide(build, root, number, f"slide {number}", ground)
        for kind, target in relations(package, name).values():
            if kind == "notesSlide" and target in package:
                _slide(build, package.xml(target), number, f"slide {number}, speaker notes", _Ground())
    return build.done()


def _order(package: Package, main: str) -> list[str]:
    """Names of the slides as they follow each other."""
    if main not in package:
        found = [name for name in package.names if re.fullmatch(r"ppt/slides/slide\d+\.xml", name)]
        return sorted(found, key=lambda name: int(re.sub(r"\D", "", name)))
    targets = relations(package, main)
    out = []
    for entry in package.xml(main).iter(_P + "sldId"):
        _, target = targets.get(entry.get(_R + "id", ""), ("", ""))
        if target in package:
            out.append(target)
    return list(dict.fromkeys(out))  # each is one slide, however often it is listed


def _first_title(slide: Element) -> str:
    """The text of the shape that holds the title of a slide."""
    for shape in slide.iter(_P + "sp"):
        holder = shape.find(f"{_P}nvSpPr/{_P}nvPr/{_P}ph")
        if holder is not None and holder.get("type") in ("title", "ctrTitle"):
            return " ".join(item.text or "" for item in shape.iter(_A + "t"))
    return ""


def _slide(build: Builder, root: Element, number: int, element: str, ground: _Ground) -> None:
    paragraph = 0
    for shape in root.iter(_P + "sp", _P + "graphicFrame", _P + "cxnSp"):
        holder = shape.find(f"{_P}nvSpPr/{_P}nvPr/{_P}ph")
        if holder is not None and holder.get("type") in _FRAME:
            continue
        unseen = _unseen(shape, ground)
        rows = list(shape.iter(_A + "tr"))
        if rows and unseen:
            build.hide(
                " ".join(item.text or "" for item in shape.iter(_A + "t")),
                unseen,
                page=number,
                element=element,
            )
            continue
        if rows:  # their cells have grounds of their own
            for row in rows:
                cells = ["\n".join(_text(p) for p in cell.iter(_A + "p")) for cell in row.iter(_A + "tc")]
                build.add("\t".join(cells), page=number, element=f"{element}, table")
            continue
        on_white = ground.white and not _is_filled(shape, ground)
        for item in shape.iter(_A + "p"):
            paragraph += 1
            runs = [Run(text, unseen or _reason(run, ground, on_white)) for text, run in _runs(item)]
            build.add_runs(runs, page=number, paragraph=paragraph, element=element)


def _runs(paragraph: Element) -> list[tuple[str, Element]]:
    """Pieces of text with the elements that hold them."""
    breaks = {_A + "br": "\n", _A + "tab": "\t"}
    return [
        (breaks.get(item.tag) or item.text or "", item if item.tag in breaks else item.getparent())
        for item in paragraph.iter(_A + "t", *breaks)
        if not _is_note_mark(item)
    ]


def _text(paragraph: Element) -> str:
    return "".join(text for text, _ in _runs(paragraph))


def _unseen(shape: Element, ground: _Ground) -> str:
    """Why nobody sees the whole shape, or nothing."""
    if any(one.get("hidden") in ("1", "true") for one in shape.iter(_P + "cNvPr")):
        return "hidden"
    frame = shape.find(f"{_P}spPr/{_A}xfrm")
    frame = frame if frame is not None else shape.find(_P + "xfrm")
    inside_group = next(shape.iterancestors(_P + "grpSp"), None) is not None  # has places of its own
    if frame is None or inside_group or not ground.width or not ground.height:
        return ""
    offset, extent = frame.find(_A + "off"), frame.find(_A + "ext")
    if offset is None or extent is None:
        return ""
    left, top = _number(offset, "x"), _number(offset, "y")
    right, bottom = left + _number(extent, "cx"), top + _number(extent, "cy")
    beside = right <= 0 or bottom <= 0 or left >= ground.width or top >= ground.height
    return "outside" if beside else ""


def _reason(run: Element, ground: _Ground, on_white: bool) -> str:
    look = run.find(_A + "rPr")
    if look is None:
        return ""
    if look.find(_A + "noFill") is not None and look.find(_A + "ln") is None:
        return "hidden"
    size = look.get("sz", "")
    if size.isdigit() and int(size) <= _TINY:
        return "tiny"
    fill = look.find(_A + "solidFill")
    if (
        on_white
        and fill is not None
        and look.find(_A + "highlight") is None
        and is_white(_colour(fill, ground.colours))
    ):
        return "white"
    return ""


def _ground(package: Package, name: str, root: Element) -> _Ground:
    """What lies behind the text of a slide: its own background, else that of its layout, else that of its master."""
    chain = [root]
    part = name
    for wanted in ("slideLayout", "slideMaster"):
        part = next((target for kind, target in relations(package, part).values() if kind == wanted), "")
        if part not in package:
            break
        chain.append(package.xml(part))
    ground = _Ground(colours=_theme(package, part, chain[-1]))
    ground.white = not any(_has_more_than_text(one, ground) for one in chain)
    for one in chain:
        background = one.find(f"{_P}cSld/{_P}bg")
        if background is not None:
            ground.white = ground.white and is_white(_colour(background, ground.colours))
            break
    return ground


def _theme(package: Package, master: str, root: Element) -> dict[str, str]:
    """Colours by the names that runs use for them."""
    colours: dict[str, str] = {"lt1": _CLEAR, "dk1": "000000"}
    theme = (
        next((t for kind, t in relations(package, master).values() if kind == "theme"), "") if master else ""
    )
    if theme in package:
        for scheme in package.xml(theme).iter(_A + "clrScheme"):
            for one in scheme:
                colours[str(one.tag).rsplit("}", 1)[-1]] = _colour(one, {})
    mapped = root.find(_P + "clrMap")
    for name, usual in _MAPPED.items():
        colours[name] = colours.get(mapped.get(name, usual) if mapped is not None else usual, "")
    return colours


def _colour(holder: Element, colours: dict[str, str]) -> str:
    """The one colour of a fill as FFFFFF; empty for anything more than one plain colour."""
    if any(next(holder.iter(_A + name), None) is not None for name in ("gradFill", "blipFill", "pattFill")):
        return ""
    found = list(holder.iter(*(_A + name for name in ("srgbClr", "schemeClr", "sysClr", "prstClr"))))
    if len(found) != 1 or len(found[0]):  # children make it lighter, darker or transparent
        return ""
    one = found[0]
    name = str(one.tag).rsplit("}", 1)[-1]
    value = str(one.get("val") or "")
    if name == "srgbClr":
        return value
    if name == "sysClr":
        return str(one.get("lastClr") or "")
    return colours.get(value, "") if name == "schemeClr" else _NAMED.get(value, "")


def _has_more_than_text(root: Element, ground: _Ground) -> bool:
    """A picture or a coloured shape, which letters may lie on."""
    if next(root.iter(_P + "pic", _P + "contentPart"), None) is not None:
        return True
    return any(_is_filled(shape, ground) for shape in root.iter(_P + "sp", _P + "grpSp"))


def _is_filled(shape: Element, ground: _Ground) -> bool:
    """Filled with something that white letters can be seen on."""
    properties = shape.find(_P + "spPr")
    properties = properties if properties is not None else shape.find(_P + "grpSpPr")
    if properties is not None:
        if properties.find(_A + "noFill") is not None:
            return False
        for name in _FILLS:
            fill = properties.find(_A + name)
            if fill is not None:
                return name != "solidFill" or not is_white(_colour(fill, ground.colours))
    style = shape.find(f"{_P}style/{_A}fillRef")
    return style is not None and style.get("idx", "0") != "0"


def _number(element: Element, name: str) -> int:
    value = element.get(name) or ""
    return int(value) if re.fullmatch(r"-?\d{1,12}", value) else 0


def _is_note_mark(item: Element) -> bool:
    """A raised number: the mark of a note, no part of the word it sticks to."""
    properties = item.getparent().find(_A + "rPr")
    raised = (
        properties is not None
        and properties.get("baseline", "0").lstrip("-").isdigit()
        and (int(properties.get("baseline", "0")) > 0)
    )
    return raised and (item.text or "").strip().isdigit()
