"""FB2 books, plain or zipped: the bodies with their titles, verses, tables and notes; pictures are left out."""

from __future__ import annotations

from doublet.errors import Broken
from doublet.text.formats.package import Element, Package, local, parse_document
from doublet.text.formats.protocol import Builder, Hints, Reading

_BLOCKS = frozenset({"p", "v", "subtitle", "text-author", "date"})


def read(data: bytes, hints: Hints) -> Reading:
    if data[:2] == b"PK":
        package = Package(data, hints.unpacked_bytes)
        names = [name for name in package.names if name.lower().endswith(".fb2")]
        if not names:
            raise Broken("no_book")
        data = package.read(names[0])
    root, encoding = parse_document(data, charset=hints.charset)
    build = Builder(hints.characters)
    for item in root.iter():
        if local(item) == "book-title":
            build.offer_title(_text(item))
    paragraph = 0
    bodies = [child for child in root if local(child) == "body"]
    if not bodies:
        raise Broken("no_body")
    for body in bodies:
        name = body.get("name", "")
        section = 0
        for item in body.iter():
            tag = local(item)
            if tag == "section" and item.getparent() is body:
                section += 1
            element = name or (f"section {section}" if section else "")
            if tag in _BLOCKS and not (name and _is_number(item)):
                paragraph += 1
                build.add(_text(item), paragraph=paragraph, line=item.sourceline, element=element)
            elif tag == "tr":
                cells = "\t".join(_text(cell) for cell in item if local(cell) in ("td", "th"))
                build.add(cells, line=item.sourceline, element="table")
    return build.done(encoding)


def _is_number(item: Element) -> bool:
    """The title of a note is its number."""
    title = next(item.iterancestors(), None)
    return title is not None and local(title) == "title" and _text(item).strip("[]() .*").isdigit()


def _text(element: Element) -> str:
    """The words of a paragraph; marks of notes are no words of it."""
    parts = [element.text or ""]
    for child in element:
        tag = local(child)
        if tag and not (tag == "a" and child.get("type") == "note") and tag not in ("image", "binary"):
            parts.append(_text(child))
        parts.append(child.tail or "")
    return " ".join("".join(parts).split())
