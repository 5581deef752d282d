"""Zip packages of XML (DOCX, ODT, PPTX, EPUB) and XML itself, opened so that they can do no harm.

Sizes are counted while unpacking, whatever the directory of the archive says. Nothing outside the bytes in hand is
read: no external entities, no DTDs, no network. Entities inside the document are resolved, with the limit on growth
of libxml2 kept.
"""

from __future__ import annotations

import html.entities
import io
import re
import zipfile
from collections.abc import Iterator
from typing import Any

from doublet.errors import Broken, Encrypted, Oversized
from doublet.text.damaged import DAMAGED
from doublet.text.encoding import decode_page
from doublet.text.formats.protocol import needs

try:
    from lxml import etree
except ImportError as error:  # pragma: no cover - depends on what is installed
    raise needs("lxml", "this_kind") from error

Element = Any  # lxml has no types of its own

MEMBERS = 50_000  # a package with more parts is a bomb: the largest book has some thousands
_STEP = 1 << 20
_ENTITY = re.compile(r"&([A-Za-z][A-Za-z0-9]*);")
_XML_ENTITIES = frozenset({"lt", "gt", "amp", "quot", "apos"})
_DECLARATION = re.compile(r"\A\s*<\?xml[^>]*\?>")
_UNDEFINED_ENTITY = (26, 27)  # libxml2: XML_ERR_UNDECLARED_ENTITY, XML_WAR_UNDECLARED_ENTITY


class Package:
    """A zip archive held in memory. Raises `Broken` or `Encrypted` at once when it cannot be opened."""

    def __init__(self, data: bytes, limit_bytes: int) -> None:
        try:
            self._zip = zipfile.ZipFile(io.BytesIO(data))
            self._infos = {info.filename: info for info in self._zip.infolist()}
        except RuntimeError as error:
            raise Broken("packed_unknown_way", why=error) from error
        except DAMAGED as error:
            raise Broken("archive_not_opened", why=error) from error
        if len(self._infos) > MEMBERS:
            raise Oversized("too_many_parts", infos=len(self._infos))
        self._left = limit_bytes
        self._limit = limit_bytes

    @property
    def names(self) -> list[str]:
        return list(self._infos)

    def __contains__(self, name: str) -> bool:
        return name in self._infos

    def read(self, name: str) -> bytes:
        """A part. Raises `Broken` when it is not there or damaged, `Oversized` past the limit."""
        info = self._infos.get(name)
        if info is None:
            raise Broken("part_missing", name=name)
        if info.flag_bits & 1:
            raise Encrypted("save_without_password")
        parts = []
        try:
            with self._zip.open(info) as stream:
                while part := stream.read(_STEP):
                    self._left -= len(part)
                    if self._left < 0:
                        raise Oversized("unpacks_over_limit", limit=self._limit)
                    parts.append(part)
        except RuntimeError as error:
            raise Broken("packed_unknown_way", why=error) from error
        except DAMAGED as error:
            raise Broken("part_not_unpacked", name=name, why=error) from error
        return b"".join(parts)

    def xml(self, name: str) -> Element:
        return parse_xml(self.read(name), part=name)


def parse_xml(data: bytes, *, part: str = "") -> Element:
    """The root element. Raises `Broken`."""
    parser = etree.XMLParser(
        resolve_entities="internal",
        no_network=True,
        load_dtd=False,
        dtd_validation=False,
        huge_tree=False,
        remove_comments=True,
        remove_pis=True,
    )
    try:
        root = etree.fromstring(data, parser)
    except (etree.XMLSyntaxError, ValueError, LookupError) as error:
        raise Broken("part_not_parsed" if part else "xml_not_parsed", part=part, parser=error) from error
    if root is None:
        raise Broken("part_empty", part=part)
    return root


def parse_document(data: bytes, *, charset: str = "") -> tuple[Element, str]:
    """The root of a file that is XML, and its encoding. The names of characters that HTML has (``&nbsp;``) are known
    even when the document does not declare them."""
    text, encoding = decode_page(data, header=charset)
    text = _DECLARATION.sub("", text, count=1)
    try:
        return parse_xml(text.encode("utf-8", "replace")), encoding
    except Broken as error:
        cause = error.__cause__
        if not isinstance(cause, etree.XMLSyntaxError) or cause.code not in _UNDEFINED_ENTITY:
            raise
    return parse_xml(_ENTITY.sub(_named_character, text).encode("utf-8", "replace")), encoding


def _named_character(found: re.Match[str]) -> str:
    name = found.group(1)
    if name in _XML_ENTITIES:
        return found.group()
    character = html.entities.html5.get(f"{name};")
    return character if character is not None else " "


def local(element: Element) -> str:
    """The name of an element without its namespace; empty for comments and instructions."""
    tag = element.tag
    if not isinstance(tag, str):
        return ""
    return tag.rsplit("}", 1)[-1]


def relations(package: Package, part: str) -> dict[str, tuple[str, str]]:
    """Id → (type, target) of the relationships of a part, targets as names inside the package."""
    folder, _, name = part.rpartition("/")
    rels = f"{folder}/_rels/{name}.rels" if folder else f"_rels/{name}.rels"
    if rels not in package:
        return {}
    found = {}
    for relation in package.xml(rels):
        if relation.get("TargetMode") == "External":
            continue
        kind = (relation.get("Type") or "").rsplit("/", 1)[-1]
        found[relation.get("Id") or ""] = (kind, inside(folder, relation.get("Target") or ""))
    return found


def inside(folder: str, target: str) -> str:
    """The name of a part from a reference relative to *folder*; steps out of the package lead nowhere."""
    path = target.split("#", 1)[0]
    steps = [] if path.startswith("/") or not folder else folder.split("/")
    for step in path.split("/"):
        if step == "..":
            steps = steps[:-1]
        elif step not in ("", "."):
            steps.append(step)
    return "/".join(steps)


def core_title(package: Package) -> str:
    """The title among the properties of an Office document; empty when there is none or they are damaged."""
    named = [target for kind, target in relations(package, "").values() if kind == "core-properties"]
    for name in (*named, "docProps/core.xml"):
        if name in package:
            return title_of(package, name)
    return ""


def title_of(package: Package, name: str) -> str:
    """The first title in a part that describes the document; empty when the part is damaged."""
    try:
        found = next((item for item in package.xml(name).iter() if local(item) == "title"), None)
    except Broken:
        return ""
    return "".join(found.itertext()) if found is not None else ""


def texts(element: Element) -> Iterator[str]:
    """All text below an element."""
    yield from element.itertext()
