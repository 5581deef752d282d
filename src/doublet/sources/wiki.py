"""MediaWiki: the pages of a wiki through its API (api.php).

Takes the address of the API or of any page of the wiki. Gives all pages, those of a category and its subcategories,
those that a search finds, or single pages by title; redirects are left out. The text is made from the HTML that the
wiki itself renders, so templates are filled in and no markup remains; what belongs to the frame (edit links, boxes,
notes, lists of references) is taken out here.

A page's version is the number of its last revision. A second walk over a whole wiki asks for the changes since the
first and for what was deleted; categories and searches are listed again and compared by revision.
"""

from __future__ import annotations

import datetime
import itertools
import re
import time as clock
from collections.abc import Callable, Iterator, Sequence
from typing import Any, ClassVar
from urllib.parse import parse_qsl, unquote, urlencode, urljoin, urlsplit

import orjson

from doublet.addresses import clean
from doublet.errors import ConfigError, InputUnreadable, SourceError, Unreadable
from doublet.model import Note
from doublet.sources.apart import take_apart
from doublet.sources.protocol import (
    Checkpoint,
    Complete,
    Failed,
    Fetcher,
    Found,
    Gone,
    Item,
    KnownLookup,
    Unchanged,
)
from doublet.sources.web import content_version, failure, iso_time, look
from doublet.text.formats.html import gather, parse_page, read_elements
from doublet.text.formats.protocol import Builder

EVERY = 10  #: pages between checkpoints
BATCH = 50  #: pages looked up by number or title at a time: what the API allows to everyone
LISTED = 200  #: pages of a list at a time
MAX_LAG_S = 5  #: of the wiki's database servers; a busy wiki tells us to wait
TRIES = 6
LONGEST_WAIT_S = 120.0
# Wikis keep recent changes for 90 days unless they are told otherwise; after so long a pause the whole list is read.
CHANGES_DAYS = 25
MAX_CHANGES = 5_000  #: more changes than that: reading the list is quicker
OVERLAP = datetime.timedelta(minutes=10)
MAX_CATEGORIES = 2_000
MAX_PASSED = 20_000
MAX_HTML = 8 * 1024 * 1024
MAX_ANSWER = 12 * 1024 * 1024  #: of the API, in bytes: hostile JSON takes 30 times its size in memory
MAX_PARTS = 10_000  #: of one list of changes or categories
MAX_EMPTY = 100  #: parts of a list without a page, one after another
_TIME = "%Y-%m-%dT%H:%M:%SZ"
_WAIT = frozenset({"maxlag", "ratelimited", "readonly", "internal_api_error_DBConnectionError"})
_PLACES = ("/w/api.php", "/api.php", "/wiki/api.php", "/mediawiki/api.php")
_FRAME_CLASSES = re.compile(
    r"(?:^|\s)(?:mw-editsection\S*|toc\S*|\S*navbox\S*|navbar|sidebar\S*|vertical-\S+|infobox\S*|infocard\S*|reference|"
    r"references\S*|reflist\S*|refbegin\S*|mw-references-wrap|mw-cite-backlink|mw-ext-cite-error|error|[actofi]?mbox\S*|"
    r"ambox\S*|metadata|hatnote\S*|dablink|noprint|mw-empty-elt|mw-broken-media|magnify|mw-jump-link|catlinks|printfooter|geo|"
    r"coordinates|portal\S*|sistersitebox|side-box\S*|authority-control|succession-box|navigation-not-searchable|"
    r"mwe-math-mathml\S*|sortkey|mw-collapsible-toggle|noexcerpt|ts-comment-\S+|homonym\S*)(?:\s|\Z)",
    re.I,
)
_PAGE_NAME = re.compile(r"[^\W\d_]+:\S")
_FRAME_IDS = re.compile(r"(?:toc|coordinates|catlinks|siteSub|jump-to-nav)\Z", re.I)
_SILENT = ("style", "script", "noscript", "math")
_HEADING = re.compile(r"h([1-6])\Z")


class _ApiError(Exception):
    def __init__(self, code: str, info: str | Note) -> None:
        super().__init__(f"{info} ({code})" if info else code)
        self.code = code


def article_text(html: str, address: str = "") -> str:
    """The text of a page as the wiki renders it: paragraphs, headings, lists and tables, without the frame. Raises
    `InputUnreadable` for one that takes too long."""
    text: str = take_apart("article", html[:MAX_HTML].encode("utf-8", "replace"), address)
    return text


def read_article(data: bytes, *, address: str) -> str:  # noqa: ARG001 - all parsers are called in one way
    """The parser behind `article_text`."""
    try:
        page, _ = parse_page(data, charset="utf-8")
    except Unreadable:
        return ""
    doomed = [item for item in page.iter() if isinstance(item.tag, str) and _is_frame(item)]
    for item in doomed:
        item.clear(keep_tail=True)
        item.tag = "template"
    read_elements(page, Builder())  # takes out what cannot be seen
    blocks: list[tuple[str, int]] = []

    def put(text: str, element: Any, _: int) -> None:
        heading = _HEADING.match(str(element.tag))
        blocks.append((text, int(heading.group(1)) if heading else 0))

    gather(page, put)
    kept = [
        text
        for number, (text, level) in enumerate(blocks)
        if not level
        or (number + 1 < len(blocks) and (not blocks[number + 1][1] or blocks[number + 1][1] > level))
    ]
    return "\n\n".join(kept)


def find_api(fetcher: Fetcher, address: str) -> str:
    """The address of the API of the wiki that a page belongs to; empty when it is no wiki."""
    address = clean(address)
    if urlsplit(address).path.endswith("/api.php"):
        return address.split("?", 1)[0]
    candidates: list[str] = []
    try:
        answer = fetcher.fetch(address)
        facts = look(answer)
        if facts.edit_uri:
            candidates.append(facts.edit_uri.split("?", 1)[0])
        address = answer.address
    except SourceError:
        pass  # pages may be closed to robots where the API is open
    beside = address.split("?", 1)[0].split("/index.php", 1)[0]
    candidates += [f"{beside.rstrip('/')}/api.php", *(urljoin(address, place) for place in _PLACES)]
    for candidate in dict.fromkeys(candidates):
        if is_api(fetcher, candidate):
            return candidate
    return ""


def is_api(fetcher: Fetcher, address: str) -> bool:
    """Whether an address answers as the API of a MediaWiki."""
    try:
        answer = fetcher.fetch(f"{address}?action=query&meta=siteinfo&format=json", robots=False)
        got = orjson.loads(answer.body)
        return "MediaWiki" in got["query"]["general"]["generator"]
    except (SourceError, orjson.JSONDecodeError, KeyError, TypeError):
        return False


class WikiSource:
    """Pages of a MediaWiki.

    Without *category*, *search* and *titles*: all pages of the *namespace* (0: articles). *category* takes its pages
    and those of its subcategories, *depth* levels down. *search* takes what the wiki's own search finds.
    *max_documents* stops the walk after so many pages. *pause* is there for tests.
    """

    kind: ClassVar[str] = "wiki"

    def __init__(
        self,
        address: str,
        *,
        category: str = "",
        depth: int = 0,
        search: str = "",
        titles: Sequence[str] = (),
        namespace: int = 0,
        max_documents: int = 1_000_000,
        pause: Callable[[float], None] = clock.sleep,
    ) -> None:
        self.address = clean(address)
        if not self.address:
            raise InputUnreadable("address_not_askable", address=address)
        if sum(map(bool, (category, search, titles))) > 1:
            raise ConfigError("wiki_exclude")
        self.category = category
        self.depth = depth
        self.search = search
        self.titles = tuple(titles)
        self.namespace = namespace
        self.max_documents = max_documents
        self.pause = pause

    def items(self, fetcher: Fetcher, known: KnownLookup, state: dict[str, Any]) -> Iterator[Item]:
        return _Walk(self, fetcher, known, state).items()


class _Walk:
    """One walk. Its state: *since*, the wiki's clock when the last whole walk began, and *began* the same for the walk
    in hand; *todo*, numbers of changed pages still to look at; *at*, where in the list it is (the list, what the API
    wants to go on, and the last page done); *passed*, pages left out on purpose, with their revision."""

    def __init__(
        self, source: WikiSource, fetcher: Fetcher, known: KnownLookup, state: dict[str, Any]
    ) -> None:
        self.source = source
        self.fetcher = fetcher
        self.known = known
        self.api = ""
        self.script = ""
        self.since = str(state.get("since", ""))
        self.began = str(state.get("began", ""))
        self.todo: list[int] | None = list(state["todo"]) if state.get("todo") else None
        self.at: dict[str, Any] | None = dict(state["at"]) if state.get("at") else None
        self.passed: dict[str, str] = dict(state.get("passed", {}))
        self.given = 0
        self.since_checkpoint = 0

    def items(self) -> Iterator[Item]:
        self.api = find_api(self.fetcher, self.source.address)
        if not self.api:
            raise InputUnreadable(
                "not_mediawiki",
                address=self.source.address,
            )
        now = self._open()
        if self.at is None and self.todo is None:
            self.began = now
            if self._whole_wiki() and self.since and _days(self.since, now) <= CHANGES_DAYS:
                self.todo = self._changes()
        if self.todo is not None:
            yield from self._changed()
        else:
            yield from self._listed()

    def _whole_wiki(self) -> bool:
        return not (self.source.category or self.source.search or self.source.titles)

    def _open(self) -> str:
        """Look at the wiki; gives its clock."""
        try:
            got = self._ask({"action": "query", "meta": "siteinfo", "siprop": "general", "curtimestamp": "1"})
            general = got["query"]["general"]
            base = urljoin(self.api, str(general.get("server", "")))
            self.script = clean(str(general.get("script", "/index.php")), base=base) or self.api
        except _ApiError as error:
            raise InputUnreadable("api_answered", why=error, address=self.api) from error
        except (KeyError, TypeError, AttributeError, ValueError) as error:
            raise InputUnreadable("not_mediawiki_api", address=self.api) from error
        return str(got.get("curtimestamp") or general.get("time") or "")

    # Lists

    def _listed(self) -> Iterator[Item]:
        try:
            lists = self._lists()
        except _ApiError as error:
            raise InputUnreadable("api_answered", why=error, address=self.api) from error
        mark = content_version(orjson.dumps(lists))
        resumed = (
            self.at is not None and self.at.get("mark") == mark
        )  # else other categories are asked for now
        at: dict[str, Any] = {"list": 0, "go": {}, "position": 0, "last": 0, "mark": mark}
        if self.at and resumed:
            at = self.at
        whole = True
        some = False
        empty = 0
        while at["list"] < len(lists):
            try:
                pages, go = self._batch(lists[at["list"]], at["go"])
            except (_ApiError, SourceError) as error:
                if not resumed and not at["list"] and not at["go"]:
                    if isinstance(error, _ApiError):
                        raise InputUnreadable("api_answered", why=error, address=self.api) from error
                    raise
                yield Failed(
                    self.source.address,
                    "failed",
                    Note("pages_broke_off", why=error),
                )
                yield self._checkpoint(at)
                return
            some = some or bool(pages)
            empty = 0 if pages else empty + 1
            if empty > MAX_EMPTY:
                yield Failed(
                    self.source.address,
                    "failed",
                    Note("pages_broke_off_empty", empty=empty),
                )
                yield self._checkpoint(at)
                return
            start = at["position"]
            if start and (start > len(pages) or pages[start - 1].get("pageid") != at["last"]):
                start = 0
            for number, page in enumerate(pages[start:], start + 1):
                yield from self._page(page)
                if self.given >= self.source.max_documents:
                    whole = False
                    break
                if self.since_checkpoint >= EVERY:
                    at = at | {"position": number, "last": _number(page, "pageid")}
                    yield self._checkpoint(at)
            if not whole:
                yield Failed(
                    self.source.address,
                    "too_large",
                    Note("stopped_after_pages", given=self.given),
                )
                break
            at = at | {"list": at["list"] + (not go), "go": go, "position": 0, "last": 0}
            if at["list"] < len(lists):
                yield self._checkpoint(at)
        if whole and self._whole_wiki():
            self.since = self.began
        yield self._checkpoint(None)
        # A list without a single page is more likely a category that was renamed than one that lost everything.
        if whole and some and not resumed and not self.source.search and not self.source.titles:
            yield Complete()

    def _lists(self) -> list[dict[str, str]]:
        """The questions whose answers are the pages."""
        source = self.source
        space = str(source.namespace)
        if source.titles:
            titles = source.titles
            return [{"titles": "|".join(titles[n : n + BATCH])} for n in range(0, len(titles), BATCH)]
        if source.search:
            asked = {
                "generator": "search",
                "gsrsearch": source.search,
                "gsrnamespace": space,
                "gsrlimit": str(BATCH),
            }
            # Without this the stock search engine looks at titles only; others may not know the word.
            return [asked | self._search_option(asked)]
        if source.category:
            return [
                {
                    "generator": "categorymembers",
                    "gcmtitle": name,
                    "gcmnamespace": space,
                    "gcmlimit": str(LISTED),
                }
                for name in self._categories()
            ]
        return [
            {
                "generator": "allpages",
                "gapnamespace": space,
                "gapfilterredir": "nonredirects",
                "gaplimit": str(LISTED),
            }
        ]

    def _search_option(self, asked: dict[str, str]) -> dict[str, str]:
        try:
            self._ask({"action": "query", **asked, "gsrwhat": "text", "gsrlimit": "1"})
        except _ApiError:
            return {}
        return {"gsrwhat": "text"}

    def _categories(self) -> list[str]:
        """The category and those below it, each once: categories go in circles."""
        name = self.source.category
        first = name if ":" in name else f"Category:{name}"
        found = {first: 0}
        queue = [first]
        for category in queue:
            depth = found[category]
            if depth >= self.source.depth or len(found) >= MAX_CATEGORIES:
                continue
            go: dict[str, str] = {}
            for _ in range(MAX_PARTS):
                asked = {
                    "list": "categorymembers",
                    "cmtitle": category,
                    "cmtype": "subcat",
                    "cmlimit": str(LISTED),
                }
                got = self._ask({"action": "query", **asked, **go})
                for member in _rows(got, "categorymembers"):
                    title = str(member.get("title", ""))
                    if title and title not in found and len(found) < MAX_CATEGORIES:
                        found[title] = depth + 1
                        queue.append(title)
                go, before = _go(got), go
                if not go or go == before:
                    break
        return list(found)

    def _batch(
        self, asked: dict[str, str], go: dict[str, str]
    ) -> tuple[list[dict[str, Any]], dict[str, str]]:
        more = {"action": "query", "prop": "info|revisions", "inprop": "url", "rvprop": "ids|timestamp"}
        got = self._ask(more | asked | go)
        more_to_come = _go(got)
        if more_to_come and more_to_come == go:
            raise _ApiError("continue", Note("wiki_same_part"))
        return _rows(got, "pages"), more_to_come

    # Changes

    def _changes(self) -> list[int] | None:
        """Numbers of the pages that changed, moved, came or went since the last walk; nothing when there are too many
        or the wiki does not say."""
        since = (datetime.datetime.strptime(self.since, _TIME) - OVERLAP).strftime(_TIME)
        changed: set[int] = set()
        # Of a deleted page recent changes have no number, the log has.
        for asked in (
            {
                "list": "recentchanges",
                "rcend": since,
                "rctype": "edit|new|log",
                "rcprop": "ids|title",
                "rclimit": "500",
            },
            {"list": "logevents", "leend": since, "leprop": "ids|title|type", "lelimit": "500"},
        ):
            go: dict[str, str] = {}
            for part in itertools.count():
                try:
                    got = self._ask({"action": "query", **asked, **go})
                except _ApiError:
                    return None
                if part >= MAX_PARTS:
                    return None
                for change in _rows(got, asked["list"]):
                    changed |= {_number(change, name) for name in ("pageid", "logpage")}
                go, before = _go(got), go
                if len(changed) > MAX_CHANGES or (go and go == before):
                    return None
                if not go:
                    break
        return sorted(changed - {0})

    def _changed(self) -> Iterator[Item]:
        todo = self.todo or []
        while todo:
            part, todo = todo[:BATCH], todo[BATCH:]
            try:
                pages, _ = self._batch({"pageids": "|".join(map(str, part))}, {})
            except (_ApiError, SourceError) as error:
                yield Failed(
                    self.source.address,
                    "failed",
                    Note("changes_not_read", why=error),
                )
                self.todo = part + todo
                yield self._checkpoint(None)
                return
            for number, page in enumerate(pages, 1):
                yield from self._page(page)
                if self.since_checkpoint >= EVERY:
                    self.todo = [_number(one, "pageid") for one in pages[number:]] + todo
                    if self.todo:
                        yield self._checkpoint(None)
        self.todo = None
        self.since = self.began
        yield self._checkpoint(None)

    # Pages

    def _page(self, page: dict[str, Any]) -> Iterator[Item]:
        number = _number(page, "pageid")
        if not number:
            if "missing" in page or "invalid" in page:
                yield Failed(str(page.get("title", "")), "failed", Note("wiki_no_page"))
            return
        id = f"{self.script}?curid={number}"
        known = self.known(id)
        if "missing" in page or "redirect" in page or page.get("ns", 0) != self.source.namespace:
            if known:
                reason = Note("page_deleted") if "missing" in page else Note("page_redirect")
                yield Gone(id, reason)
            return
        revision = str(page.get("lastrevid") or _revision(page).get("revid", ""))
        if revision and ((known and known.version == revision) or self.passed.get(str(number)) == revision):
            yield Unchanged(id)
            return
        self.since_checkpoint += 1
        item = self._render(id, number, page, known is not None)
        self.passed.pop(str(number), None)
        if isinstance(item, Found):
            self.given += 1
        elif not (isinstance(item, Failed) and item.state == "failed") and len(self.passed) < MAX_PASSED:
            self.passed[str(number)] = revision
        yield item

    def _render(self, id: str, number: int, page: dict[str, Any], is_known: bool) -> Item:
        asked = {"action": "parse", "pageid": str(number), "prop": "text|revid|properties"}
        asked |= {"disablelimitreport": "1", "disableeditsection": "1", "disabletoc": "1"}
        try:
            got = self._ask(asked)["parse"]
            html = got["text"]
            html = str(html["*"] if isinstance(html, dict) else html)
        except _ApiError as error:
            if error.code in ("nosuchpageid", "missingtitle") and is_known:
                return Gone(id, Note("page_deleted"))
            return Failed(id, "failed", Note("page_not_rendered", why=error))
        except SourceError as error:
            return failure(id, error)
        except (KeyError, TypeError):
            return Failed(id, "failed", Note("not_a_page"))
        if "noindex" in _properties(got.get("properties")):
            reason = Note("noindex")
            return Gone(id, reason) if is_known else Failed(id, "refused", reason)
        address = clean(str(page.get("canonicalurl") or page.get("fullurl") or ""), base=self.api) or id
        try:
            text = article_text(html, address)
        except InputUnreadable as error:
            return Failed(id, "unreadable", error.note)
        if not text:
            return Failed(id, "empty", Note("page_without_text"))
        return Found(
            id=id,
            address=address,
            title=str(page.get("title", "")),
            version=str(got.get("revid") or page.get("lastrevid", "")),
            time=iso_time(str(_revision(page).get("timestamp", ""))),
            text=text,
        )

    # The API

    def _ask(self, arguments: dict[str, str]) -> dict[str, Any]:
        """One question. Waits when the wiki is busy. Raises `_ApiError` for what the wiki refuses, `SourceError` when
        there is no answer."""
        asked = {"format": "json", "formatversion": "2", "maxlag": str(MAX_LAG_S)} | arguments
        address = f"{self.api}?{urlencode(asked)}"
        for attempt in range(TRIES):
            answer = self.fetcher.fetch(address, accept="application/json", robots=False)
            if len(answer.body) > MAX_ANSWER:
                raise InputUnreadable(
                    "answer_too_large",
                    api=self.api,
                    body=len(answer.body),
                    max_answer=MAX_ANSWER,
                    address=address,
                )
            try:
                got = orjson.loads(answer.body)
            except orjson.JSONDecodeError as error:
                raise InputUnreadable(
                    "api_not_json", api=self.api, status=answer.status, address=address
                ) from error
            if not isinstance(got, dict):
                raise InputUnreadable("api_no_answer", api=self.api, address=address)
            refusal = got.get("error")
            if not refusal:
                return got
            refusal = refusal if isinstance(refusal, dict) else {"info": str(refusal)}
            code = str(refusal.get("code", "error"))
            if code not in _WAIT or attempt == TRIES - 1:
                raise _ApiError(code, str(refusal.get("info", "")))
            told = answer.headers.get("retry-after", "")
            self.source.pause(min(float(told) if told.isdigit() else 5.0 * 2**attempt, LONGEST_WAIT_S))
        raise AssertionError("not reached")  # pragma: no cover

    def _checkpoint(self, at: dict[str, Any] | None) -> Checkpoint:
        self.since_checkpoint = 0
        state: dict[str, Any] = {"since": self.since, "passed": dict(self.passed)}
        if at is not None or self.todo:
            state |= {"began": self.began, "at": at, "todo": list(self.todo or [])}
        return Checkpoint(state)


def title_of(address: str, article_path: str) -> str:
    """The title of the wiki page that an address names, by the wiki's *article_path* ("/wiki/$1")."""
    parts = urlsplit(address)
    asked = dict(parse_qsl(parts.query))
    if "title" in asked:
        return asked["title"].replace("_", " ")
    before, _, after = urlsplit(article_path).path.partition("$1")
    path = unquote(parts.path)
    if before and path.startswith(before) and path.endswith(after) and len(path) > len(before):
        return path[len(before) : len(path) - len(after)].replace("_", " ").strip("/")
    return ""


def _is_frame(item: Any) -> bool:
    if item.tag == "a" and _is_bare_name(item):
        return True
    if item.tag in _SILENT or (item.get("role") or "").lower() == "navigation":
        return True
    classes, id = item.get("class"), item.get("id")
    return bool((classes and _FRAME_CLASSES.search(classes)) or (id and _FRAME_IDS.match(id)))


def _is_bare_name(link: Any) -> bool:
    """The name of a picture or a template that is not there, which the wiki shows in its place."""
    parent = link.getparent()
    if parent is not None and "thumbinner" in (parent.get("class") or ""):
        return True
    text = " ".join("".join(link.itertext()).split())
    is_red = "new" in (link.get("class") or "").split()
    return is_red and bool(_PAGE_NAME.match(text)) and (link.get("title") or "").startswith(text)


def _rows(got: dict[str, Any], name: str) -> list[dict[str, Any]]:
    """The rows of an answer, in either form: older wikis give an object with numbers as names."""
    query = got.get("query")
    rows = query.get(name) if isinstance(query, dict) else None
    found = list(rows.values()) if isinstance(rows, dict) else rows if isinstance(rows, list) else []
    return [row for row in found if isinstance(row, dict)]


def _go(got: dict[str, Any]) -> dict[str, str]:
    """What to ask with for the next part of a list; nothing at its end."""
    more = got.get("continue")
    return {str(name): str(value) for name, value in more.items()} if isinstance(more, dict) else {}


def _number(row: dict[str, Any], name: str) -> int:
    value = row.get(name)
    return value if isinstance(value, int) and value > 0 else 0


def _revision(page: dict[str, Any]) -> dict[str, Any]:
    revisions = page.get("revisions")
    first = revisions[0] if isinstance(revisions, list) and revisions else {}
    return first if isinstance(first, dict) else {}


def _properties(given: Any) -> set[str]:
    if isinstance(given, dict):
        return set(given)
    rows = given if isinstance(given, list) else []
    return {str(one.get("name", "")) for one in rows if isinstance(one, dict)}


def _days(since: str, now: str) -> float:
    try:
        passed = datetime.datetime.strptime(now, _TIME) - datetime.datetime.strptime(since, _TIME)
    except ValueError:
        return float("inf")
    return passed.total_seconds() / 86_400
