"""EPUB: the chapters in the order of the spine, each read as a page without a frame."""

from __future__ import annotations

import re

from doublet.errors import Broken, Encrypted, Unreadable
from doublet.text.formats.html import line, parse_page, read_elements
from doublet.text.formats.package import Package, inside, local
from doublet.text.formats.protocol import Builder, Hints, Reading

_CONTAINER = "META-INF/container.xml"
_PAGES = ("application/xhtml+xml", "text/html", "application/x-dtbook+xml")
_FONT_METHODS = ("http://www.idpf.org/2008/embedding", "http://ns.adobe.com/pdf/enc#RC")


def read(data: bytes, hints: Hints) -> Reading:
    package = Package(data, hints.unpacked_bytes)
    _refuse_protected(package)
    opf = ""
    for item in package.xml(_CONTAINER).iter():
        if local(item) == "rootfile":
            opf = opf or item.get("full-path", "")
    root = package.xml(opf)
    folder = opf.rpartition("/")[0]
    manifest, spine = {}, []
    for item in root.iter():
        name = local(item)
        if name == "item":
            manifest[item.get("id", "")] = item
        elif name == "itemref":
            spine.append(item.get("idref", ""))
    build = Builder(hints.characters)
    for item in root.iter():
        if local(item) == "title":
            build.offer_title("".join(item.itertext()))
    chapter = 0
    for identifier in dict.fromkeys(spine):  # each is one chapter, however often it is listed
        item = manifest.get(identifier)
        if item is None or item.get("media-type") not in _PAGES:
            continue
        if "nav" in item.get("properties", "").split():
            continue
        chapter += 1
        target = inside(folder, _unquoted(item.get("href", "")))
        if target not in package:
            build.note("chapter_missing", target=target)
            continue
        try:
            page, _ = parse_page(package.read(target))
        except Broken as error:
            build.note("chapter_broken", target=target, problem=error)
            continue
        if build.empty:
            build.offer_title(next((line(item) for item in page.iter("h1")), ""), heading=True)
        read_elements(page, build, element=f"chapter {chapter}")
    if not chapter:
        raise Broken("no_chapters")
    return build.done()


def _refuse_protected(package: Package) -> None:
    """Obfuscated fonts are ordinary; anything else that is encrypted is rights management."""
    if "META-INF/encryption.xml" not in package:
        return
    try:
        root = package.xml("META-INF/encryption.xml")
    except Unreadable:
        return
    for item in root.iter():
        if local(item) == "EncryptionMethod" and item.get("Algorithm") not in _FONT_METHODS:
            raise Encrypted("rights_managed")


def _unquoted(reference: str) -> str:
    """%D0%B3 → г, as in references to parts with Cyrillic names."""
    raw = re.sub(rb"%([0-9A-Fa-f]{2})", lambda found: bytes([int(found.group(1), 16)]), reference.encode())
    return raw.decode("utf-8", "replace")
