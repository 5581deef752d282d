"""Index a whole site (L1-L6): look at it, decide, crawl it, refresh it.

`preview` gives the plan and fetches no more than it needs; `crawl_library` carries it out, and goes on where an earlier
run stopped; `refresh_library` asks again for what is due. Addresses, what became of each, the plan and all that was
learned are in the database: a process that is killed at any moment loses nothing. The rules are those of
`doublet.crawl`; here they are joined with the fetcher, the readers and the store.
"""

from __future__ import annotations

import contextlib
import hashlib
import ipaddress
import os
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from doublet.addresses import clean, parse_address
from doublet.crawl.judge import Judge
from doublet.crawl.mirrors import is_mirror
from doublet.crawl.patterns import Pattern
from doublet.crawl.plan import Plan
from doublet.crawl.politeness import PoliteFetcher
from doublet.crawl.spool import Spool
from doublet.crawl.survey import Seen, Survey
from doublet.crawl.warc import WarcFile
from doublet.errors import Cancelled, ConfigError, DoubletError, InputUnreadable, SiteIsMirror, UsageError
from doublet.jobs.crawl.batch import CrawlFigures
from doublet.jobs.crawl.engine import THREADS, Engine
from doublet.jobs.crawl.look import Looker
from doublet.jobs.heartbeat import Heartbeat
from doublet.model import FORMAT_VERSION, Note
from doublet.progress import Progress
from doublet.sources.protocol import Answer
from doublet.sources.web import iso_time
from doublet.sources.workers import ReaderPool, shared
from doublet.store import leases
from doublet.store.database import Store
from doublet.store.names import name_hash
from doublet.store.values import SourceInfo

KIND = "crawl"
MIN_WORDS = 10


@dataclass(frozen=True, slots=True)
class Wish:
    """What a user asks for. *patterns* and *numbers* overrule what looking at the site tells."""

    only: Sequence[str] = ()
    examples: Sequence[str] = ()
    skip: Sequence[str] = ()
    patterns: Sequence[Pattern] = ()
    numbers: tuple[int, int] | None = None
    subdomains: bool = False  #: hosts below that of the address belong to the site too

    def __bool__(self) -> bool:
        return bool(
            self.only or self.examples or self.skip or self.patterns or self.numbers or self.subdomains
        )

    def to_dict(self) -> dict[str, Any]:
        return {
            "only": list(self.only),
            "examples": list(self.examples),
            "skip": list(self.skip),
            "patterns": [pattern.text for pattern in self.patterns],
            "numbers": list(self.numbers) if self.numbers else None,
            **({"subdomains": True} if self.subdomains else {}),
        }


@dataclass(frozen=True, slots=True)
class Crawling:
    """How to crawl."""

    limit: int | None = None  #: pages that are fetched in this run at most
    min_words: int = MIN_WORDS
    threads: int = THREADS
    warc: Path | None = None
    spool: Path | None = None  #: folder for what was fetched and not stored yet
    look_again: bool = False  #: make the plan anew


@dataclass(slots=True)
class Crawled:
    """How a crawl ended. *states* counts the addresses of this run by what became of them."""

    library: str
    address: str
    plan: Plan
    requests: int = 0
    fetched: int = 0
    found: int = 0
    stored: int = 0
    changed: int = 0
    unchanged: int = 0
    waiting: int = 0  #: addresses that are left for another run
    seconds: float = 0.0
    states: Counter[str] = field(default_factory=Counter)
    dropped: dict[str, list[Any]] = field(default_factory=dict)
    notes: list[Note] = field(default_factory=list)

    def to_dict(self) -> dict[str, Any]:
        return {
            "format": FORMAT_VERSION,
            "library": self.library,
            "address": self.address,
            "plan": self.plan.to_dict(),
            "requests": self.requests,
            "fetched": self.fetched,
            "found": self.found,
            "stored": self.stored,
            "changed": self.changed,
            "unchanged": self.unchanged,
            "waiting": self.waiting,
            "seconds": round(self.seconds, 1),
            "states": dict(sorted(self.states.items())),
            "dropped": self.dropped,
            "notes": [note.to_dict() for note in self.notes],
        }

    @classmethod
    def from_dict(cls, value: Mapping[str, Any]) -> Crawled:
        """What `to_dict` gave, as the result of a job has it."""
        facts = {name: one for name, one in value.items() if name != "format"}
        facts["plan"] = Plan.from_dict(value["plan"])
        facts["states"] = Counter(value["states"])
        facts["notes"] = [Note.from_dict(note) for note in value["notes"]]
        return cls(**facts)


def site_pages(store: Store, source: SourceInfo) -> dict[str, Any]:
    """What became of the addresses that the robot met on a site: how many in each state, why some gave no document,
    links that were not followed, and what was found how far from the front page."""
    plan = source.state.get("plan", {})
    patterns = [one["text"] for one in plan.get("patterns", ())]
    return {
        "address": source.address,
        "stage": source.state.get("stage", "looking"),
        "patterns": patterns,
        "states": dict(store.frontier.counts(source.number)),
        "reasons": [
            {"state": state, "reason": reason, "pages": many, "examples": examples}
            for state, reason, many, examples in store.frontier.reasons(source.number)
        ],
        "dropped": [
            {"reason": reason, "links": entry[0], "examples": entry[1:]}
            for reason, entry in sorted(source.state.get("dropped", {}).items())
        ],
        "picture": [
            {
                "depth": depth,
                "pattern": patterns[place] if 0 <= place < len(patterns) else "",
                "state": state,
                "pages": many,
            }
            for depth, place, state, many in store.frontier.picture(source.number)
        ],
    }


def preview(
    address: str,
    *,
    fetcher: PoliteFetcher,
    wish: Wish | None = None,
    progress: Progress | None = None,
    pool: ReaderPool | None = None,
) -> Plan:
    """What a crawl would do. Nothing is stored. Raises `SourceError` with what was seen and what to change."""
    wish = wish or Wish()
    require_contact(fetcher, address)
    looker = Looker(fetcher, pool or shared(), progress=progress)
    return _survey(looker, address, wish).plan


def require_contact(fetcher: PoliteFetcher, address: str) -> None:
    """Whoever is crawled must be able to write to somebody. Raises `ConfigError`, but for this computer itself."""
    start = clean(address)
    if not start or fetcher.contact:
        return
    host = parse_address(start).host
    try:
        own = ipaddress.ip_address(host).is_loopback
    except ValueError:
        own = host == "localhost"
    if not own:
        raise ConfigError("crawl_needs_contact", address=address)


def _survey(looker: Looker, address: str, wish: Wish) -> Survey:
    return looker.look(
        address,
        only=wish.only,
        examples=wish.examples,
        skip=wish.skip,
        patterns=wish.patterns,
        numbers=wish.numbers,
        subdomains=wish.subdomains,
    )


def register(store: Store, library: str, address: str) -> SourceInfo:
    """The crawled source of a library at this address; made when it is not there yet. Raises `InputUnreadable`."""
    start = clean(address)
    if not start:
        raise InputUnreadable("crawl_not_an_address", address=address)
    return store.sources.add(store.libraries.get(library).number, KIND, start, {})


def crawl_library(
    store: Store,
    library: str,
    address: str,
    *,
    fetcher: PoliteFetcher,
    wish: Wish | None = None,
    crawling: Crawling | None = None,
    progress: Progress | None = None,
    pool: ReaderPool | None = None,
    planned: Callable[[], None] | None = None,
) -> Crawled:
    """Index a site, or go on with it. A site that was indexed before is looked through for what is new. *planned* is
    called when the plan is written down.

    Raises `SourceError`, `Cancelled`, `StoreError`; what was stored stays, and the same call goes on from there.
    """
    info = register(store, library, address)
    return _run(
        store,
        info,
        fetcher,
        wish or Wish(),
        crawling or Crawling(),
        progress or Progress(),
        pool or shared(),
        planned=planned,
    )


def refresh_library(
    store: Store,
    library: str,
    *,
    fetcher: PoliteFetcher,
    crawling: Crawling | None = None,
    progress: Progress | None = None,
    pool: ReaderPool | None = None,
    everything: bool = False,
    address: str | None = None,
    planned: Callable[[], None] | None = None,
) -> list[Crawled]:
    """Ask again for the pages of a library that are due (*everything*: for all), and for its sitemaps and feeds."""
    sources = [
        info
        for info in store.sources.all(store.libraries.get(library).number)
        if info.kind == KIND
        and info.state.get("plan")
        and (address is None or info.address == clean(address))
    ]
    if not sources:
        raise UsageError("crawl_no_site", library=library)
    now = int(time.time())
    for info in sources:
        store.frontier.ask_again(info.number, due_at=1 << 60 if everything else now)
    if planned is not None:
        planned()
    how, told, readers = crawling or Crawling(), progress or Progress(), pool or shared()
    return [_run(store, info, fetcher, Wish(), how, told, readers, refresh=True) for info in sources]


def refill(
    store: Store,
    info: SourceInfo,
    *,
    fetcher: PoliteFetcher,
    limit: int | None = None,
    min_words: int = MIN_WORDS,
    again: bool = False,
    progress: Progress | None = None,
    pool: ReaderPool | None = None,
) -> Crawled:
    """Bring a crawled source up to date: go on with it, or ask again for what is due (*again*: for all)."""
    done = info.state.get("stage") == "done"
    if done:
        store.frontier.ask_again(info.number, due_at=1 << 60 if again else int(time.time()))
    crawling = Crawling(limit=limit, min_words=min_words)
    return _run(
        store, info, fetcher, Wish(), crawling, progress or Progress(), pool or shared(), refresh=done
    )


def due(store: Store, library: str) -> int:
    """How many pages of a library should be asked for again by now."""
    now = int(time.time())
    sources = store.sources.all(store.libraries.get(library).number)
    return sum(store.frontier.due(info.number, now) for info in sources if info.kind == KIND)


def _run(
    store: Store,
    info: SourceInfo,
    fetcher: PoliteFetcher,
    wish: Wish,
    crawling: Crawling,
    progress: Progress,
    pool: ReaderPool,
    *,
    refresh: bool = False,
    planned: Callable[[], None] | None = None,
) -> Crawled:
    require_contact(fetcher, info.address)
    info = store.sources.begin(info.number)
    folder = crawling.spool or spool_folder(store, info)
    spool = Spool(folder)
    warc: WarcFile | None = None
    began = time.monotonic()
    owner = leases.new_owner()

    def renew() -> bool:
        store.frontier.renew(owner)
        return store.sources.renew(info)

    try:
        with Heartbeat(renew, close=store.sources.close_thread):
            _wait_for_host(store, info, fetcher, owner, progress)
            if crawling.warc is not None:
                warc = WarcFile(crawling.warc, f"doublet-{info.number}", fetcher.user_agent)
            state = dict(info.state)
            first = "plan" not in state or crawling.look_again
            first = first or (bool(wish) and wish.to_dict() != state["plan"].get("wish"))
            if first or refresh or state.get("stage") == "done":
                state, seen, listed = _look(
                    store, info, fetcher, wish, pool, folder, progress, state, new=first
                )
            else:
                seen, listed = _kept_look(folder), {}
            again = state.get("stage") == "done" or refresh
            plan = Plan.from_dict(state["plan"])
            judge = Judge(plan, state, min_words=crawling.min_words)
            if again and not refresh:  # a site grows at the top; a refresh sees that in its lists
                store.frontier.try_again(
                    info.number, [name_hash(link.key) for link in judge.reopen(plan.origin)]
                )
            if again:
                changed = {judge.plain(one): _moment(date) for one, date in listed.items() if date}
                store.frontier.changed_since(
                    info.number, {name_hash(key): at for key, at in changed.items() if at}
                )
            engine = Engine(
                store,
                info,
                judge,
                fetcher,
                pool,
                spool,
                owner,
                progress=progress,
                limit=crawling.limit,
                threads=crawling.threads,
                warc=warc,
                handshakes=again and not refresh,
                begun=None if refresh else planned,
            )
            links = judge.seed([plan.address, *listed])
            figures = engine.run(seen, links)
            waiting = store.frontier.open_count(info.number)
            store.sources.keep_state(info, judge.state() | {"stage": "in_work" if waiting else "done"})
    except BaseException as error:
        stopped = isinstance(error, Cancelled | KeyboardInterrupt)
        note = error.note if isinstance(error, DoubletError) else Note("said", text=str(error))
        _end(store, info, "cancelled" if stopped else "failed", note)
        raise
    finally:
        with contextlib.suppress(DoubletError):
            store.frontier.release(owner)
        spool.close()
        if warc is not None:
            warc.close()
    _forget_look(folder)
    _end(store, info, "done", None)
    if not waiting and not again and not figures.states["stored"] and not figures.states["duplicate"]:
        engine.notes.append(Note("crawl_no_documents", address=info.address, library=info.library))
    return _crawled(info, plan, judge, figures, waiting, time.monotonic() - began, engine.notes)


def _wait_for_host(
    store: Store, info: SourceInfo, fetcher: PoliteFetcher, owner: str, progress: Progress
) -> None:
    """Until no other robot asks the site, or another site of the same machine."""
    origin = parse_address(info.address).origin
    place = fetcher.place_of(origin)
    while not store.frontier.lease(origin, place, owner):
        progress.step("waiting", 0, None, "", Note("host_held", host=origin))
        time.sleep(0.5)


def _moment(date: str) -> int:
    """A date of a sitemap or a feed in seconds since 1970; 0 when it is not one. A day without a time: its end."""
    text = iso_time(date)
    try:
        found = datetime.fromisoformat(text)
    except ValueError:
        return 0
    if found.tzinfo is None:
        found = found.replace(tzinfo=UTC)
    return int(found.timestamp()) + (86_400 if len(text) <= 10 else 0)


def _end(store: Store, info: SourceInfo, status: str, message: Note | None) -> None:
    with contextlib.suppress(DoubletError):  # the database itself may be what failed
        store.sources.end(info, status, message)


def _look(
    store: Store,
    info: SourceInfo,
    fetcher: PoliteFetcher,
    wish: Wish,
    pool: ReaderPool,
    folder: Path,
    progress: Progress,
    state: dict[str, Any],
    *,
    new: bool,
) -> tuple[dict[str, Any], list[Seen], dict[str, str]]:
    """Look at the site: make the plan, or only read its lists anew."""
    kept = Spool(folder / "look")
    known = _seen(kept)
    counter = iter(range(1, 1 << 60))

    def keep(seen: Seen) -> None:
        kept.put(next(counter), seen.to_dict(), seen.answer.body)

    looker = Looker(fetcher, pool, keep=keep, known=known if new else (), progress=progress)
    try:
        if new:
            survey = _survey(looker, info.address, wish)
            plan = survey.plan
            plan.wish = wish.to_dict()
            _refuse_mirror(store, info, looker, plan)
            state = {
                **state,
                "plan": plan.to_dict(),
                "signals": {key: signal.to_dict() for key, signal in survey.signals.items()},
                "ranges": {} if wish or "ranges" not in state else state["ranges"],
            }
        else:
            survey = looker.lists_again(Plan.from_dict(state["plan"]))
    finally:
        kept.leave()
    return state, list(looker.seen.values()), survey.listed


def _refuse_mirror(store: Store, info: SourceInfo, looker: Looker, plan: Plan) -> None:
    """A site whose pages are those of another one in the library is not indexed again (R7). Raises `SiteIsMirror`."""
    library = store.libraries.get(info.library).number
    texts = {
        parse_address(seen.answer.address).target: seen.page["text"]
        for seen in looker.seen.values()
        if seen.page.get("text") and plan.pattern_of(seen.answer.address) >= 0
    }
    for other in store.sources.all(library):
        if other.number == info.number or other.kind != KIND:
            continue
        origin = parse_address(other.address).origin
        ids = {origin + target: target for target in texts}
        numbers = store.documents.numbers_of(library, list(ids))
        stored = store.documents.texts(list(numbers.values()))
        if is_mirror((texts[ids[id]], stored[number]) for id, number in numbers.items() if number in stored):
            raise SiteIsMirror(
                "crawl_mirror", address=info.address, other=other.address, library=info.library
            )


def _kept_look(folder: Path) -> list[Seen]:
    """What an earlier process fetched while looking, and may not have stored."""
    if not (folder / "look").is_dir():
        return []
    kept = Spool(folder / "look")
    try:
        return _seen(kept)
    finally:
        kept.leave()


def _seen(kept: Spool) -> list[Seen]:
    out = []
    for record in kept.replay():
        facts = record.facts
        answer = Answer(facts["final"], facts["status"], facts["headers"], record.body)
        out.append(Seen(facts["asked"], answer, probe=facts["probe"]))
    return out


def _forget_look(folder: Path) -> None:
    """What was fetched while looking is in the database now."""
    look = folder / "look"
    if look.is_dir():
        for path in look.glob("*.spool"):
            path.unlink(missing_ok=True)
        look.rmdir()
    if folder.is_dir() and not any(folder.iterdir()):
        folder.rmdir()


def _crawled(
    info: SourceInfo,
    plan: Plan,
    judge: Judge,
    figures: CrawlFigures,
    waiting: int,
    seconds: float,
    notes: list[Note],
) -> Crawled:
    return Crawled(
        info.library,
        info.address,
        plan,
        figures.requests,
        figures.fetched,
        figures.found,
        figures.stored,
        figures.changed,
        figures.unchanged,
        waiting,
        seconds,
        figures.states,
        judge.dropped,
        list(dict.fromkeys(notes)),
    )


def spool_folder(store: Store, info: SourceInfo) -> Path:
    """Where fetched answers wait: beside a file of libraries, in the user's cache for a server."""
    place = store.database.place
    if place is not None:
        return Path(f"{place}-spool") / str(info.number)
    base = os.environ.get("XDG_CACHE_HOME")
    try:
        root = Path(base) if base else Path.home() / ".cache"
    except RuntimeError as error:
        raise ConfigError("no_home_for_spool") from error
    name = hashlib.blake2b(store.database.shown.encode(), digest_size=8).hexdigest()
    return root / "doublet" / "spool" / name / str(info.number)
