"""What kind of source is it? KindOfSource from what stands there, for a path as for an address.

`KINDS` names every kind with the class that reads it. A kind that a user names is taken without asking; otherwise the
address is fetched once and its content decides: an answer of OAI-PMH, a sitemap, a feed, a page of a wiki, a page that
names its feed, a site whose robots.txt names a sitemap, and for everything else the document itself.
"""

from __future__ import annotations

import importlib
import inspect
from dataclasses import dataclass
from typing import Any
from urllib.parse import urljoin, urlsplit

from doublet.addresses import clean, is_address
from doublet.errors import InputUnreadable, InvalidParameter, SourceError, nearest
from doublet.sources.protocol import Answer, Fetcher, Source

#: kind → module and class. A source of your own needs a line here, or is handed to the library itself.
KINDS = {
    "sitemap": "doublet.sources.sitemap:SitemapSource",
    "feed": "doublet.sources.feed:FeedSource",
    "oai": "doublet.sources.oai:OaiSource",
    "wiki": "doublet.sources.wiki:WikiSource",
    "page": "doublet.sources.page:PageSource",
    "folder": "doublet.sources.folder:FolderSource",
}
WEB_KINDS = ("sitemap", "feed", "oai", "wiki", "page")


@dataclass(frozen=True, slots=True)
class KindOfSource:
    """A kind with the address that belongs to it, and its options."""

    kind: str
    address: str
    options: dict[str, Any]


def tell_source(given: str, fetcher: Fetcher, kind: str = "auto", **options: Any) -> Source:
    """The source that a user means by a path or an address.

    *options* are those of the kind (docs/reference/sources.md). Raises `InvalidParameter` for a kind or an option that
    is not there, `SourceError` when nothing can be had from the address.
    """
    if kind not in ("auto", *KINDS):
        raise InvalidParameter("unknown_source_kind", kind=kind, nearest=nearest(kind, KINDS), kinds=KINDS)
    if kind != "auto":
        return make_source(kind, given, **options)
    if not is_address(given):
        return make_source("folder", given, **options)
    told = tell_web(given, fetcher)
    return make_source(told.kind, told.address, **(told.options | options))


def make_source(kind: str, given: str, **options: Any) -> Source:
    """A source of a kind that is known. Options that are `None` count as not given."""
    module, _, name = KINDS[kind].partition(":")
    made = getattr(importlib.import_module(module), name)
    wanted = {key: value for key, value in options.items() if value is not None}
    allowed = options_of(kind)
    for key in wanted:
        if key not in allowed:
            takes = ", ".join(allowed) or "none"
            raise InvalidParameter(
                "source_option",
                nearest=nearest(key, allowed),
                takes=takes,
                name=key,
                kind=kind,
            )
    source: Source = made(given, **wanted)
    return source


def options_of(kind: str) -> list[str]:
    """The names of the options that a kind of source takes."""
    module, _, name = KINDS[kind].partition(":")
    made = getattr(importlib.import_module(module), name)
    parameters = inspect.signature(made).parameters.values()
    return [one.name for one in parameters if one.kind is one.KEYWORD_ONLY and one.name != "pause"]


def tell_web(given: str, fetcher: Fetcher) -> KindOfSource:
    """The kind of what stands at an address. Raises `SourceError` when it gives no answer."""
    address = clean(given)
    if not address:
        raise InputUnreadable("address_not_askable", address=given)
    by_name = _by_name(address, fetcher)
    if by_name:
        return by_name
    answer = fetcher.fetch(address)
    if not 200 <= answer.status < 300:
        raise InputUnreadable("nothing_to_add", status=answer.status, address=address)
    return _by_content(address, answer, fetcher)


def _by_name(address: str, fetcher: Fetcher) -> KindOfSource | None:
    """What the address itself gives away; the API of a wiki and a repository answer little to a bare request."""
    from doublet.sources.wiki import is_api

    parts = urlsplit(address)
    path = parts.path.rstrip("/").lower()
    if path.endswith("/api.php") and is_api(fetcher, address.split("?", 1)[0]):
        return KindOfSource("wiki", address.split("?", 1)[0], {})
    if "verb=" in parts.query or path.rsplit("/", 1)[-1] in ("oai", "oai2d", "oai-pmh", "oaipmh", "request"):
        base = address.split("?", 1)[0] if "verb=" in parts.query else address
        if _is_oai(base, fetcher):
            return KindOfSource("oai", base, {})
    if path.endswith("/robots.txt"):
        return KindOfSource("sitemap", address, {})
    return None


def _by_content(address: str, answer: Answer, fetcher: Fetcher) -> KindOfSource:
    from doublet.sources.feed import is_feed
    from doublet.sources.oai import is_repository
    from doublet.sources.sitemap import is_sitemap
    from doublet.sources.web import is_page, look

    if is_repository(answer.body):
        return KindOfSource("oai", address, {})
    if is_sitemap(answer.body):
        return KindOfSource("sitemap", address, {})
    if not is_page(answer):
        if is_feed(answer.body):
            return KindOfSource("feed", address, {})
        if _is_oai(address, fetcher):
            return KindOfSource("oai", address, {})
        return KindOfSource("page", address, {})
    facts = look(answer)
    if facts.edit_uri or facts.generator.lower().startswith("mediawiki"):
        told = _wiki(address, answer, fetcher)
        if told:
            return told
    if _is_front(address) or _is_front(answer.address):
        named = _sitemaps(answer.address, fetcher)
        if named:
            return KindOfSource("sitemap", urljoin(answer.address, "/robots.txt"), {})
        if facts.feeds:
            return KindOfSource("feed", facts.feeds[0], {})
    return KindOfSource("page", address, {})


def _wiki(address: str, answer: Answer, fetcher: Fetcher) -> KindOfSource | None:
    """The whole wiki for its front page; a category for the page of a category; else that one page."""
    import orjson

    from doublet.sources.wiki import find_api, title_of

    api = find_api(fetcher, address)
    if not api:
        return None
    try:
        asked = fetcher.fetch(f"{api}?action=query&meta=siteinfo&format=json", robots=False)
        general = orjson.loads(asked.body)["query"]["general"]
    except (SourceError, orjson.JSONDecodeError, KeyError, TypeError):
        return None
    title = title_of(answer.address, str(general.get("articlepath", ""))) or title_of(
        address, str(general.get("articlepath", ""))
    )
    if not title or title == str(general.get("mainpage", "")):
        return KindOfSource("wiki", api, {})
    if _is_category(api, title, fetcher):
        return KindOfSource("wiki", api, {"category": title})
    return KindOfSource("wiki", api, {"titles": (title,)})


def _is_category(api: str, title: str, fetcher: Fetcher) -> bool:
    from urllib.parse import urlencode

    import orjson

    try:
        asked = urlencode({"action": "query", "titles": title, "format": "json", "formatversion": "2"})
        pages = orjson.loads(fetcher.fetch(f"{api}?{asked}", robots=False).body)["query"]["pages"]
        first = next(iter(pages.values())) if isinstance(pages, dict) else pages[0]
        return bool(first.get("ns") == 14)
    except (SourceError, orjson.JSONDecodeError, KeyError, TypeError, IndexError, StopIteration):
        return False


def _is_oai(address: str, fetcher: Fetcher) -> bool:
    from doublet.sources.oai import is_repository

    joint = "&" if "?" in address else "?"
    try:
        return is_repository(fetcher.fetch(f"{address}{joint}verb=Identify", robots=False).body)
    except SourceError:
        return False


def _sitemaps(address: str, fetcher: Fetcher) -> list[str]:
    from doublet.sources.sitemap import robots_sitemaps

    try:
        answer = fetcher.fetch(urljoin(address, "/robots.txt"), accept="text/plain")
    except SourceError:
        return []
    if answer.status != 200:
        return []
    return robots_sitemaps(answer.body[: 1 << 19].decode("utf-8", "replace"), answer.address)


def _is_front(address: str) -> bool:
    parts = urlsplit(address)
    return parts.path in ("", "/", "/index.html", "/index.php") and not parts.query
