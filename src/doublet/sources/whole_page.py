"""A fetched page, parsed once for all that a robot wants of it: text, title, links, rules, and what it is made of.

Runs in the reader processes (`doublet.sources.workers`, the parser "page"). What is not an HTML page is read as any
other document and has no links.
"""

from __future__ import annotations

import hashlib
from typing import Any

from doublet import kernels
from doublet.addresses import clean
from doublet.errors import DoubletError
from doublet.sources.protocol import Answer
from doublet.sources.web import base_of, content_type, facts_of, header_forbids, is_page, iso_time, name_of

MAX_LINKS = 5_000  #: of one page; what has more is a trap or a dump
MAX_BLOCKS = 400
LINKED = 0.5  # a block with more of its letters in links is a list, which may change at each request
_UNFOLLOWED = frozenset(("nofollow", "ugc", "sponsored"))


def read_whole_page(data: bytes, *, address: str, headers: dict[str, str]) -> dict[str, Any]:
    """What the answer of a server holds.

    *text* and *title* as `read_document` gives them (*error*, a code, when it cannot be read); *links* as
    [address, rel=nofollow, hidden]; *blocks*, one number for each stretch of text that is not a list of links;
    *noindex*, *nofollow*, *canonical*, *feeds*, *time*; *password*: there is a field for one.
    """
    answer = Answer(address, 200, headers, data)
    tag = headers.get("x-robots-tag", "")
    out: dict[str, Any] = {
        "text": "",
        "title": "",
        "links": [],
        "blocks": [],
        "canonical": "",
        "noindex": header_forbids(tag, "noindex"),
        "nofollow": header_forbids(tag, "nofollow"),
        "feeds": [],
        "time": "",
        "password": False,
        "page": False,
        "linked": 0.0,
    }
    try:
        if is_page(answer):
            _page(answer, out)
        else:
            _document(answer, out)
    except DoubletError as error:
        out["error"] = error.code
    return out


def _document(answer: Answer, out: dict[str, Any]) -> None:
    from doublet.text.read import read_document

    declared = answer.headers.get("content-type", "")
    found = read_document(answer.body, name=name_of(answer), declared_type=declared)
    out |= {"text": found.text, "title": found.title}


def _page(answer: Answer, out: dict[str, Any]) -> None:
    from doublet.text.formats.html import parse_page, take_hidden
    from doublet.text.formats.protocol import Builder
    from doublet.text.frame import read_blocks

    _, charset = content_type(answer)
    tree, _ = parse_page(answer.body, charset=charset)
    base = base_of(tree, answer.address)
    facts = facts_of(tree, base)
    build = Builder()
    password = any((item.get("type") or "").lower() == "password" for item in tree.iter("input"))
    cleaned: dict[str, str] = {}
    every = visible = _links(tree, base, cleaned)
    if take_hidden(tree, build):
        visible = _links(tree, base, cleaned) if len(every) <= MAX_LINKS else {}
    blocks, kept = read_blocks(tree)
    build.add_plain(block.text for block in kept)
    letters = sum(len(block.text) for block in blocks) or 1
    heading = f"title {facts.title}" if facts.title else ""
    plain = [heading, *(block.text for block in blocks if block.linked <= LINKED)]
    out |= {
        "page": True,
        "text": build.done("").text,
        "title": facts.title,
        "links": [
            [link, unfollowed, link not in visible] for link, unfollowed in [*every.items()][:MAX_LINKS]
        ],
        "blocks": block_numbers([text for text in plain[:MAX_BLOCKS] if text]),
        "canonical": facts.canonical,
        "noindex": out["noindex"] or facts.noindex,
        "nofollow": out["nofollow"] or facts.nofollow,
        "feeds": list(facts.feeds),
        "time": facts.time or iso_time(answer.headers.get("last-modified", "")),
        "password": password,
        "linked": sum(len(block.text) * block.linked for block in blocks) / letters,
    }


def _links(tree: Any, base: str, cleaned: dict[str, str]) -> dict[str, bool]:
    """Where the links of a page lead, each once, and whether it asks robots not to follow. *cleaned* remembers the
    addresses of links as they are spelled on the page."""
    found: dict[str, bool] = {}

    def address_of(link: str) -> str:
        if link not in cleaned:
            cleaned[link] = clean(link, base=base)
        return cleaned[link]

    for item in tree.iter("a", "area", "frame", "iframe"):
        link = item.get("href") or item.get("src")
        if not link or link[:1] == "#":
            continue
        address = address_of(link)
        if address:
            rel = item.get("rel")
            unfollowed = bool(rel) and not _UNFOLLOWED.isdisjoint(rel.lower().split())
            found[address] = found.get(address, True) and unfollowed
    for item in tree.iter("link"):
        if item.get("href") and {"next", "prev"} & set((item.get("rel") or "").lower().split()):
            address = address_of(item.get("href"))
            if address:
                found.setdefault(address, False)
    return found


def block_numbers(texts: list[str]) -> list[int]:
    """A number for each block of text; numbers inside it do not count (dates, counters)."""
    return [
        int.from_bytes(hashlib.blake2b(plain, digest_size=6).digest(), "big")
        for plain in kernels.without_numbers([text.lower() for text in texts])
    ]
