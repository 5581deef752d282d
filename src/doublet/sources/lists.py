"""Lists of many libraries at once (L9): a table exported from a registry of repositories, an OPML file of feeds, or
addresses, one a line.

`read_list` gives the entries in their order, each with a name and an address. What the address is, is worked out later
(`doublet.sources.kinds`); a column or an element that says so is taken at its word.
"""

from __future__ import annotations

import csv
import io
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from doublet.addresses import clean
from doublet.errors import InputUnreadable, InvalidParameter
from doublet.model import Note
from doublet.sources.csv_table import DELIMITERS
from doublet.sources.texts import read_text

LIMIT_BYTES = 1 << 26
LONGEST_NAME = 120
_ADDRESS = re.compile(r"https?://[^\s<>\"'|;,]+", re.IGNORECASE)
# Names of columns in what OpenDOAR, re3data, ROAR and spreadsheets export, best first; letters and digits only.
_OAI_COLUMNS = (
    *("oaipmhbaseurl", "oaibaseurl", "oaipmhurl", "oaiurl", "oaipmh", "oai", "baseurl", "oaipmhendpoint"),
    *("oaiendpoint", "repositoryoaiurl", "endpoint", "apiurl", "api"),
)
_ADDRESS_COLUMNS = (
    *(
        "url",
        "address",
        "link",
        "homepage",
        "homepageurl",
        "repositoryurl",
        "website",
        "web",
        "site",
        "siteurl",
    ),
    *("feed", "feedurl", "xmlurl", "sitemap", "sitemapurl", "uri", "href", "адрес", "ссылка", "сайт"),
)
_NAME_COLUMNS = (
    *("name", "title", "repositoryname", "library", "organisation", "organization", "text", "label"),
    *("название", "имя", "наименование", "библиотека"),
)
_KIND_COLUMNS = ("kind", "sourcekind", "вид")
_KINDS = frozenset(("oai", "sitemap", "feed", "wiki", "page"))


@dataclass(frozen=True, slots=True)
class Entry:
    """One library of a list. *kind* is "auto" unless the list says what it is."""

    name: str
    address: str
    kind: str = "auto"
    place: str = ""


@dataclass(slots=True)
class LibraryList:
    entries: list[Entry]
    notes: list[Note]


def read_list(path: str) -> LibraryList:
    """Read a list. Raises `InputNotFound`, `InputUnreadable` when there is no address in it."""
    text, _ = read_text(Path(path), limit_bytes=LIMIT_BYTES, label=path)
    start = text.lstrip("\ufeff \t\r\n")
    if re.match(r"<(\?xml|opml|!doctype)", start, re.IGNORECASE) or "<opml" in start[:2000].lower():
        found = list(_opml(start, path))
    else:
        found = list(_table(text.lstrip("\ufeff"), path)) or list(_lines(text, path))
    if not found:
        raise InputUnreadable(
            "list_without_addresses",
            path=path,
        )
    return _tidy(found, path)


def _tidy(found: list[Entry], path: str) -> LibraryList:
    """Each address once, each name once."""
    notes: list[Note] = []
    entries: list[Entry] = []
    addresses: set[str] = set()
    names: set[str] = set()
    for entry in found:
        address = clean(entry.address)
        if not address:
            notes.append(Note("place_not_address", place=entry.place, address=entry.address[:200]))
            continue
        if address in addresses:
            notes.append(Note("place_address_twice", place=entry.place, address=address))
            continue
        addresses.add(address)
        wanted = " ".join(entry.name.split())[:LONGEST_NAME] or _name_of(address)
        name, number = wanted, 2
        while name.casefold() in names:
            name, number = f"{wanted} ({number})", number + 1
        names.add(name.casefold())
        entries.append(Entry(name, address, entry.kind, entry.place))
    if not entries:
        raise InputUnreadable("no_askable_addresses", path=path)
    return LibraryList(entries, notes)


def _name_of(address: str) -> str:
    host = (urlsplit(address).hostname or address).removeprefix("www.")
    try:
        return host.encode("ascii").decode("idna")
    except UnicodeError:
        return host


def _opml(text: str, path: str) -> list[Entry]:
    try:
        from lxml import etree
    except ImportError as error:
        raise InvalidParameter("opml_needs_lxml") from error
    parser = etree.XMLParser(
        resolve_entities=False, no_network=True, load_dtd=False, recover=True, huge_tree=False
    )
    try:
        root: Any = etree.fromstring(text.encode("utf-8", "replace"), parser)
    except etree.XMLSyntaxError as error:
        raise InputUnreadable("not_opml", why=error, path=path) from error
    out = []
    for number, element in enumerate(root.iter() if root is not None else (), 1):
        if not isinstance(element.tag, str) or element.tag.rpartition("}")[2].lower() != "outline":
            continue
        facts = {name.lower(): value for name, value in element.attrib.items()}
        address = facts.get("xmlurl") or facts.get("url") or facts.get("htmlurl") or ""
        if address:
            kind = (
                "feed"
                if facts.get("xmlurl") and facts.get("type", "rss").lower() in ("rss", "atom")
                else "auto"
            )
            name = facts.get("title") or facts.get("text") or ""
            out.append(Entry(name, address, kind, f"{path}: outline {number}"))
    return out


def _table(text: str, path: str) -> list[Entry]:
    """A table with a header that names a column of addresses; nothing for anything else."""
    first = next((line for line in text.splitlines() if line.strip()), "")
    best: tuple[int, str, list[str]] = (0, "", [])
    for delimiter in DELIMITERS:
        header = next(csv.reader(io.StringIO(first), delimiter=delimiter), [])
        known = sum(_plain(name) in (*_OAI_COLUMNS, *_ADDRESS_COLUMNS, *_NAME_COLUMNS) for name in header)
        best = max(best, (known, delimiter, header), key=lambda found: (found[0], len(found[2])))
    known, delimiter, header = best
    columns = {_plain(name): place for place, name in reversed(list(enumerate(header)))}
    oai = [columns[name] for name in _OAI_COLUMNS if name in columns]
    web = [columns[name] for name in _ADDRESS_COLUMNS if name in columns]
    if not known or not (oai or web):
        return []
    names = [columns[name] for name in _NAME_COLUMNS if name in columns]
    kinds = [columns[name] for name in _KIND_COLUMNS if name in columns]
    out = []
    csv.field_size_limit(LIMIT_BYTES)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)
    for row in reader:
        if row == header or not any(cell.strip() for cell in row):
            continue
        place = f"{path}:{reader.line_num}"
        address, is_oai = _first(row, oai, address=True), True
        if not address:
            address, is_oai = _first(row, web, address=True), False
        if not address:
            address = _first(row, [*oai, *web])
        said = _first(row, kinds).lower()
        kind = said if said in _KINDS else "oai" if is_oai and address else "auto"
        out.append(Entry(_first(row, names), address, kind, place))
    return out


def _first(row: list[str], places: list[int], *, address: bool = False) -> str:
    """The first of these cells that holds something; of a cell with several addresses the first."""
    for place in places:
        cell = row[place].strip() if place < len(row) else ""
        if address:
            found = _ADDRESS.search(cell)
            if found:
                return found.group()
        elif cell:
            return cell
    return ""


def _lines(text: str, path: str) -> list[Entry]:
    """An address a line; what stands before or after it is its name. Lines that begin with # are notes."""
    out = []
    for number, line in enumerate(text.splitlines(), 1):
        found = _ADDRESS.search(line)
        if found and not line.lstrip().startswith("#"):
            rest = f"{line[: found.start()]} {line[found.end() :]}"
            name = rest.strip(" \t,;|—–-:\"'<>")
            out.append(Entry(name, found.group(), "auto", f"{path}:{number}"))
    return out


def _plain(name: str) -> str:
    return "".join(letter for letter in name.casefold() if letter.isalnum())
