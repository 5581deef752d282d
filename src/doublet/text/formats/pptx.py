"""PPTX: the text of each slide in the order of the presentation, then its speaker notes.

Slide numbers, dates and footers, which repeat on every slide, are left out.
"""

from __future__ import annotations

import re

from doublet.errors import Broken
from doublet.text.formats.package import Element, Package, relations
from doublet.text.formats.protocol import Builder, Hints, Reading

_A = "{http://schemas.openxmlformats.org/drawingml/2006/main}"
_P = "{http://schemas.openxmlformats.org/presentationml/2006/main}"
_R = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}"
_FRAME = frozenset({"sldNum", "dt", "ftr", "hdr"})


def read(data: bytes, hints: Hints) -> Reading:
    package = Package(data, hints.unpacked_bytes)
    main = next((target for kind, target in relations(package, "").values() if kind == "officeDocument"), "")
    build = Builder()
    slides = _order(package, main)
    if not slides and main not in package:
        raise Broken("is damaged: it has no presentation in it")
    for number, name in enumerate(slides, 1):
        root = package.xml(name)
        if root.get("show") == "0":
            build.note(f"slide {number} is not shown in the presentation; it is read all the same")
        _slide(build, root, number, f"slide {number}")
        for kind, target in relations(package, name).values():
            if kind == "notesSlide" and target in package:
                _slide(build, package.xml(target), number, f"slide {number}, speaker notes")
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
    return out


def _slide(build: Builder, root: Element, number: int, element: str) -> None:
    paragraph = 0
    for shape in root.iter(_P + "sp", _P + "graphicFrame", _P + "cxnSp"):
        holder = shape.find(f"{_P}nvSpPr/{_P}nvPr/{_P}ph")
        if holder is not None and holder.get("type") in _FRAME:
            continue
        rows = list(shape.iter(_A + "tr"))
        if rows:
            for row in rows:
                cells = ["\n".join(_text(p) for p in cell.iter(_A + "p")) for cell in row.iter(_A + "tc")]
                build.add("\t".join(cells), page=number, element=f"{element}, table")
            continue
        for item in shape.iter(_A + "p"):
            paragraph += 1
            build.add(_text(item), page=number, paragraph=paragraph, element=element)


def _text(paragraph: Element) -> str:
    breaks = {_A + "br": "\n", _A + "tab": "\t"}
    return "".join(
        breaks.get(item.tag) or item.text or ""
        for item in paragraph.iter(_A + "t", *breaks)
        if not _is_note_mark(item)
    )


def _is_note_mark(item: Element) -> bool:
    """A raised number: the mark of a note, no part of the word it sticks to."""
    properties = item.getparent().find(_A + "rPr")
    raised = (
        properties is not None
        and properties.get("baseline", "0").lstrip("-").isdigit()
        and (int(properties.get("baseline", "0")) > 0)
    )
    return raised and (item.text or "").strip().isdigit()
