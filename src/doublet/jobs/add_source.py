"""Fill a library from a source: walk it, read what it gives with all processors, store it batch by batch.

One thread walks the source and fetches; documents are read by the pool of reader processes, some at a time, while the
batch before is prepared and written. Everything before a checkpoint of the source is written in the same transaction as
the checkpoint, so a process that is killed goes on where it was. Every document ends in a stated outcome.
"""

from __future__ import annotations

import contextlib
import itertools
import queue
import re
import threading
import time
from collections import Counter, deque
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from doublet.errors import (
    Cancelled,
    ConfigError,
    DoubletError,
    InputUnreadable,
    InvalidParameter,
    SourceError,
    note_of,
)
from doublet.jobs.heartbeat import Heartbeat
from doublet.jobs.index_library import OPTIMIZE_FROM, to_documents
from doublet.model import FORMAT_VERSION, Document, Note, Outcome
from doublet.progress import Progress
from doublet.sources.folder import FolderSource, Records, Whole
from doublet.sources.kinds import KINDS, WEB_KINDS, make_source, options_of, tell_web
from doublet.sources.protocol import (
    AsksForUnlisted,
    Checkpoint,
    Complete,
    Failed,
    Fetcher,
    Found,
    Gone,
    Known,
    Source,
    Stoppable,
    TakesNotes,
    Unchanged,
    Validators,
)
from doublet.sources.records import ParsedBatch
from doublet.sources.streams import cannot_open
from doublet.sources.texts import failure
from doublet.sources.workers import ReaderPool, shared
from doublet.store.database import Store
from doublet.store.sources import Fact, WalkBatch
from doublet.store.values import SourceInfo
from doublet.text.words import count_words

BATCH_DOCUMENTS = 500  #: that are stored in one transaction; fewer when they are long
FLUSH_S = 2.0  #: what was fetched is stored after so long at the latest
IN_FLIGHT_BYTES = 1 << 26  #: of documents that wait to be read
MIN_WORDS = 10
#: Ends that a user should look at; the others are answers.
PROBLEMS = frozenset(
    "scanned encrypted broken nothing_read too_large unknown_kind refused failed unreadable invalid "
    "duplicate_id".split()
)
#: The web is full of copies of one page under several addresses: they are not stored twice (L3).
SKIPS_DUPLICATES = frozenset(("sitemap", "feed", "page"))
UNLISTED = Note("unlisted_kept")
LOCAL_KINDS = ("folder", "file")


@dataclass(slots=True)
class Filled:
    """How the documents of one source ended. *counts* has every state; *outcomes* has a row for each document that is
    not in the library as it stands at the source. *documents* (when asked for) has the state of every one."""

    library: str
    kind: str
    address: str
    counts: Counter[str] = field(default_factory=Counter)
    outcomes: list[Outcome] = field(default_factory=list)
    documents: dict[str, str] = field(default_factory=dict)
    notes: list[Note] = field(default_factory=list)
    message: Note | None = None  #: why the walk ended early; empty when it came to its end

    @property
    def stored(self) -> int:
        return self.counts["stored"]

    @property
    def problems(self) -> int:
        """Documents that could not be got or read."""
        return sum(many for state, many in self.counts.items() if state in PROBLEMS)

    @property
    def good(self) -> int:
        """Documents that are in the library now, or were found to be in it already."""
        return sum(self.counts[state] for state in ("stored", "changed", "unchanged", "duplicate"))

    def to_dict(self) -> dict[str, Any]:
        out = {
            "format": FORMAT_VERSION,
            "library": self.library,
            "kind": self.kind,
            "address": self.address,
            "counts": dict(sorted(self.counts.items())),
            "outcomes": [outcome.to_dict() for outcome in self.outcomes],
            "notes": [note.to_dict() for note in self.notes],
            "message": self.message.to_dict() if self.message else None,
        }
        return out | ({"documents": self.documents} if self.documents else {})

    @classmethod
    def from_dict(cls, value: Mapping[str, Any]) -> Filled:
        """What `to_dict` gave, as the result of a job has it."""
        return cls(
            value["library"],
            value["kind"],
            value["address"],
            Counter(value["counts"]),
            [Outcome.from_dict(row) for row in value["outcomes"]],
            dict(value.get("documents", {})),
            [Note.from_dict(note) for note in value["notes"]],
            Note.from_dict(value["message"]) if value["message"] else None,
        )


READING = ("whole_page",)  #: options of a source that say how its documents are read


@dataclass(frozen=True, slots=True)
class Filling:
    """How to fill. *keep_duplicates* None: as the kind of source has it (`SKIPS_DUPLICATES`)."""

    min_words: int = MIN_WORDS
    keep_duplicates: bool | None = None
    keep_gone: bool = False  #: what is gone at the source stays in the library
    again: bool = False  #: fetch and read everything, whatever is known of it
    limit: int | None = None  #: so many documents at most are fetched and read
    ocr: bool = False
    every: bool = False  #: give the state of every document


def register_source(
    store: Store,
    library: str,
    given: str,
    *,
    kind: str = "auto",
    fetcher: Fetcher | None = None,
    options: Mapping[str, Any] | None = None,
) -> SourceInfo:
    """Write down a source of a library: a path, or an address whose kind is worked out. Nothing is added yet.

    Raises `InvalidParameter` for options that the kind does not have, `SourceError` when the address gives nothing.
    """
    kind, address, wanted = work_out(given, kind, fetcher, options or {})
    if kind in LOCAL_KINDS:
        wanted.setdefault("prefix", _prefix(store, library, kind, given, address))
    make(kind, address, wanted)  # options that cannot be are refused before anything is written
    number = store.libraries.get(library).number
    for info in store.sources.all(number):
        same = (info.kind, info.address, _own(info.options)) == (kind, address, _own(wanted))
        if same and dict(info.options) != wanted:  # the same source, to be read in another way from now on
            return store.sources.change(info.number, wanted)
    return store.sources.add(number, kind, address, wanted)


def _own(options: Mapping[str, Any]) -> dict[str, Any]:
    """Options of the source itself, without those that say how its documents are read."""
    return {name: value for name, value in options.items() if name not in READING}


def work_out(
    given: str, kind: str, fetcher: Fetcher | None, options: Mapping[str, Any]
) -> tuple[str, str, dict[str, Any]]:
    """Kind, address and options of what a user gave."""
    wanted = {name: value for name, value in options.items() if value is not None}
    web = re.match(r"https?://", given.strip(), re.IGNORECASE) is not None
    if kind in LOCAL_KINDS or (kind == "auto" and not web):
        path = Path(given).expanduser().absolute()
        try:
            path.stat()
        except (FileNotFoundError, NotADirectoryError, PermissionError):  # it may be there when it is walked
            there = False
        except (OSError, ValueError) as error:
            raise cannot_open(given, error) from error
        else:
            there = True
        found = "folder" if there and path.is_dir() else "file"
        if kind in LOCAL_KINDS and there and found != kind:
            raise InvalidParameter("source_is_another_kind", given=given, found=found, kind=kind, name="kind")
        return found, str(path), wanted
    if fetcher is None:
        raise ConfigError("needs_fetcher", given=given)
    if kind == "auto":
        told = tell_web(given, fetcher)
        return told.kind, told.address, {**told.options, **wanted}
    return kind, make_source(kind, given, **_own(wanted)).address, wanted


def make(kind: str, address: str, options: Mapping[str, Any]) -> Source:
    """The source that was written down. Raises `InvalidParameter` for options that the kind does not have."""
    if kind not in (*LOCAL_KINDS, *KINDS):
        raise InputUnreadable("no_such_kind_here", kind=kind, address=address)
    options = _own(options)
    if kind not in LOCAL_KINDS:
        return make_source(kind, address, **options)
    unknown = sorted(set(options) - set(options_of("folder")))
    if unknown:
        raise InvalidParameter("option_of_web_sources", kind=kind, name=unknown[0])
    return FolderSource(address, **options)  # type: ignore[return-value] # gives some items of its own


def _prefix(store: Store, library: str, kind: str, given: str, address: str) -> str:
    """What goes before the ids of a folder. The first folder of a library needs nothing; others are told apart by
    the name that the user gave. One that is there already keeps its own."""
    others = [
        info for info in store.sources.all(store.libraries.get(library).number) if info.kind in LOCAL_KINDS
    ]
    for info in others:
        if info.address == address and info.kind == kind:
            return str(info.options.get("prefix", ""))
    if kind == "file":
        return given
    if not any(info.kind == "folder" for info in others):
        return ""
    taken = {str(info.options.get("prefix", "")) for info in others}
    name = Path(address).name or "folder"
    for number in itertools.count(1):
        prefix = f"{name}/" if number == 1 else f"{name}-{number}/"
        if prefix not in taken:
            return prefix
    raise AssertionError("there is always another number")


def fill_source(
    store: Store,
    source: SourceInfo,
    *,
    fetcher: Fetcher | None = None,
    filling: Filling | None = None,
    progress: Progress | None = None,
    pool: ReaderPool | None = None,
    walked: Source | None = None,
) -> Filled:
    """Walk a source and bring its library up to date with it. *walked* is the source itself, where it is one that only
    the caller can make.

    Raises `SourceError` when nothing can be had from the source at all, `Cancelled`, `StoreError`; what was stored
    before stays, and the next call goes on from the last checkpoint.
    """
    if source.kind == "crawl":
        return _refill(store, source, fetcher, filling or Filling(), progress, pool)
    walk = _Walk(store, source, fetcher, filling or Filling(), progress or Progress(), pool, walked)
    return walk.run()


def _refill(
    store: Store,
    source: SourceInfo,
    fetcher: Any,
    filling: Filling,
    progress: Progress | None,
    pool: ReaderPool | None,
) -> Filled:
    """A site that is crawled has a walk of its own."""
    from doublet.jobs.crawl import refill

    made = refill(
        store,
        source,
        fetcher=fetcher,
        limit=filling.limit,
        min_words=filling.min_words,
        again=filling.again,
        progress=progress,
        pool=pool,
    )
    out = Filled(source.library, source.kind, source.address)
    out.counts = Counter({"stored": made.stored, "changed": made.changed, "unchanged": made.unchanged})
    out.counts.update({state: many for state, many in made.states.items() if state in PROBLEMS})
    out.counts = +out.counts
    out.notes = list(made.notes)
    return out


class _Walk:
    def __init__(
        self,
        store: Store,
        source: SourceInfo,
        fetcher: Fetcher | None,
        filling: Filling,
        progress: Progress,
        pool: ReaderPool | None,
        walked: Source | None,
    ) -> None:
        self.store = store
        self.info = source
        self.fetcher = fetcher
        self.filling = filling
        self.progress = progress
        self.library = store.libraries.get(source.library).number
        self.source: Any = walked or make(source.kind, source.address, source.options)
        keep = filling.keep_duplicates
        self.keep_duplicates = source.kind not in SKIPS_DUPLICATES if keep is None else keep
        self.result = Filled(source.library, source.kind, source.address)
        self._frame = not source.options.get("whole_page", False)
        self._own_pool = ReaderPool(ocr=True) if filling.ocr and pool is None else None
        self.pool = pool or self._own_pool or shared()
        self._stop = threading.Event()
        self._items: queue.Queue[Any] = queue.Queue(4 * self.pool.workers)
        self._in_flight = _InFlight(IN_FLIGHT_BYTES)
        self._complete = False
        self._reached_limit = False
        self._batch = _Gathered()
        self._ahead: deque[tuple[Future[WalkBatch], int]] = deque()
        self._done = 0
        self._unlisted: set[str] = (
            set()
        )  #: fetched though their source does not list them any more, not yet stored

    def run(self) -> Filled:
        walks = self.store.sources
        self.info = walks.begin(self.info.number)
        walker = threading.Thread(target=self._walk, name="doublet-walk", daemon=True)
        try:
            with (
                Heartbeat(lambda: walks.renew(self.info), close=walks.close_thread),
                ThreadPoolExecutor(self.pool.workers) as readers,
                ThreadPoolExecutor(1) as preparer,
            ):
                self._readers, self._preparer = readers, preparer
                walker.start()
                try:
                    self._take_in()
                    if self._complete and not self._reached_limit:
                        self._remove_unseen()
                except BaseException:
                    self._break_off(walker)
                    raise
                walker.join()
                if self.result.counts["stored"] + self.result.counts["changed"] >= OPTIMIZE_FROM:
                    self.store.optimize()
        except BaseException as error:
            stopped = isinstance(error, Cancelled | KeyboardInterrupt)
            told = self._stopped() if isinstance(error, Cancelled) else error
            with contextlib.suppress(DoubletError):  # the database itself may be what failed
                walks.end(self.info, "cancelled" if stopped else "failed", note_of(told))
            if told is not error:
                raise told from error
            raise
        finally:
            if self._own_pool is not None:
                self._own_pool.close()
        walks.end(self.info, "failed" if self.result.message else "done", self.result.message)
        if isinstance(self.source, TakesNotes):
            self.result.notes += self.source.notes
        return self.result

    def _stopped(self) -> Cancelled:
        """What to say of a walk that was stopped: what is in the library, and that nothing is lost."""
        many = self.result.counts["stored"] + self.result.counts["changed"]
        code = "walk_stopped" if many else "walk_stopped_nothing"
        return Cancelled(code, address=self.info.address, stored=many)

    # The thread that walks

    def _walk(self) -> None:
        try:
            state = {} if self.filling.again else dict(self.info.state)
            left = self.filling.limit
            for item in self.source.items(self.fetcher, self._known, state):
                if self._stop.is_set():
                    return
                if left is not None and isinstance(item, Found):
                    if left <= 0:
                        self._reached_limit = True
                        break
                    left -= 1
                self._hand_on(item)
            self._put(None)
        except BaseException as error:
            self._put(error)
        finally:
            self.store.sources.close_thread()

    def _known(self, id: str) -> Known | None:
        if self.filling.again:
            return None
        found = self.store.sources.known(self.info.number, id)
        return Known(found.version, Validators(found.etag, found.modified)) if found else None

    def _hand_on(self, item: Any) -> None:
        if isinstance(item, Found):
            size = len(item.data)
            self._in_flight.take(size, self._stop)
            self._put((item.id, self._readers.submit(self._read, item), size))
        elif isinstance(item, Records):
            size = item.batch.size_bytes
            self._in_flight.take(size, self._stop)
            self._put((item, self._readers.submit(item.batch.parse), size))
        else:
            self._put(item)

    def _put(self, item: Any) -> None:
        while not self._stop.is_set():
            with contextlib.suppress(queue.Full):
                self._items.put(item, timeout=0.2)
                return

    def _break_off(self, walker: threading.Thread) -> None:
        self._stop.set()
        if isinstance(self.fetcher, Stoppable):
            self.fetcher.stop()
        for future, _ in self._ahead:
            future.cancel()
        walker.join(10)

    # Reading, in the threads of the pool

    def _read(self, item: Found) -> tuple[Document | None, Fact]:
        fact = Fact(
            item.id, version=item.version, etag=item.validators.etag, modified=item.validators.modified
        )
        text, title = item.text, item.title
        if text is None:
            declared = item.media_type
            if item.charset and "charset=" not in declared:
                declared = f"{declared or 'text/html'}; charset={item.charset}"
            try:
                read = self.pool.read(item.data, name=item.name, declared_type=declared, frame=self._frame)
            except DoubletError as error:
                if isinstance(error, ConfigError):
                    raise
                state, reason = failure(error)
                return None, replace(fact, state=state, reason=reason)
            text, title = read.text, title or read.title
        short = self._too_short(text)
        if short:
            return None, replace(fact, state=short[0], reason=short[1])
        source = self.info.address if self.info.kind not in LOCAL_KINDS else Path(self.info.address).name
        return Document(item.id, text, title, item.time, source, item.address), fact

    def _too_short(self, text: str) -> tuple[str, Note] | None:
        """State and reason of a text that is too short to be kept."""
        wanted = max(self.filling.min_words, 1)
        words = count_words(text, most=wanted)
        if words >= wanted:
            return None
        if not words:
            return "empty", Note("no_words")
        return "too_short", Note("too_few_words", words=words, wanted=wanted)

    # Taking in what was read, in order

    def _take_in(self) -> None:
        began = time.monotonic()
        while True:
            try:
                item = self._items.get(timeout=0.5)
            except queue.Empty:
                self._tell()
                if len(self._batch) and time.monotonic() - began > FLUSH_S:
                    self._flush(wait=True)
                    began = time.monotonic()
                continue
            if item is None:
                break
            if isinstance(item, BaseException):
                self._flush(wait=True)
                self._handle_end(item)
                break
            self._take(item)
            if self._full or time.monotonic() - began > FLUSH_S:
                self._flush(wait=False)
                began = time.monotonic()
        self._flush(wait=True)

    def _handle_end(self, error: BaseException) -> None:
        """The walk ended with an error. With nothing to show for it, the error is the answer."""
        if not isinstance(error, SourceError) or not any(self.result.counts.values()):
            raise error
        self.result.message = error.note if isinstance(error, SourceError) else None

    def _take(self, item: Any) -> None:
        batch = self._batch
        if isinstance(item, tuple):
            given, future, size = item
            found = future.result()
            self._in_flight.give_back(size)
            if isinstance(found, tuple):
                document, fact = found
                batch.facts.append(fact)
                if document is not None:
                    batch.add(document)
            else:
                self._take_records(given, found)
        elif isinstance(item, Unchanged):
            batch.unchanged.append(
                Fact(
                    item.id,
                    version=item.version,
                    etag=item.validators.etag,
                    modified=item.validators.modified,
                )
            )
        elif isinstance(item, Failed):
            batch.failed.append(Outcome(item.state, item.id, "", item.reason))
        elif isinstance(item, Gone):
            if not self.filling.keep_gone:
                batch.gone.append((item.id, item.reason))
        elif isinstance(item, Whole):
            batch.facts.append(Fact(item.id, version=item.version, state="whole"))
        elif isinstance(item, Checkpoint):
            batch.state = item.state
        elif isinstance(item, Complete):
            self._complete = True

    def _take_records(self, given: Records, parsed: ParsedBatch) -> None:
        """Records of a table count as documents however short they are: whoever made the table has decided that."""
        batch, part = self._batch, given.part
        for document in to_documents(parsed):
            fact = Fact(document.id, part=part)
            short = None if given.table else self._too_short(document.text)
            batch.facts.append(replace(fact, state=short[0], reason=short[1]) if short else fact)
            if not short:
                batch.add(document)
        for outcome in parsed.outcomes:
            fact = Fact(outcome.id or outcome.place, part=part, state=outcome.state, reason=outcome.reason)
            batch.facts.append(replace(fact, place=outcome.place))

    def _flush(self, *, wait: bool) -> None:
        """Hand the batch over to be prepared, and write the one before it; with *wait*, write both."""
        if len(self._batch) or self._batch.state is not None:
            gathered, self._batch = self._batch, _Gathered()
            self._ahead.append((self._preparer.submit(self._prepare, gathered), len(gathered)))
        while self._ahead and (wait or len(self._ahead) > 1):
            future, _ = self._ahead.popleft()
            self._write(future.result())

    def _prepare(self, gathered: _Gathered) -> WalkBatch:
        seen: set[str] = set()
        facts = []
        failed = list(gathered.failed)
        for fact in gathered.facts:  # of two records with one id the first one counts, as `prepare` has it
            if fact.id not in seen:
                facts.append(fact)
                seen.add(fact.id)
            elif fact.state and fact.state != "whole":
                failed.append(Outcome(fact.state, fact.id, fact.place, fact.reason or Note("no_message")))
        prepared = self.store.documents.prepare(gathered.documents)
        twice = [outcome for outcome in prepared.outcomes if outcome.state == "duplicate_id"]
        prepared.outcomes[:] = [outcome for outcome in prepared.outcomes if outcome.state != "duplicate_id"]
        batch = WalkBatch(prepared, facts, gathered.unchanged, failed + twice, gathered.gone)
        batch.state = gathered.state
        batch.every = self.filling.every
        return batch

    def _write(self, batch: WalkBatch) -> None:
        def waiting(seconds: float) -> None:
            self.progress.step("waiting", int(seconds), None, "seconds", Note("database_in_use"))

        added, counts = self.store.sources.store(
            self.library,
            self.info,
            batch,
            keep_duplicates=self.keep_duplicates,
            waiting=waiting,
        )
        result = self.result
        rows = added.outcomes
        result.counts.update(counts)
        result.outcomes += rows
        if self.filling.every:
            result.documents |= added.states
            result.documents |= {row.id: row.state for row in rows}
        for id in sorted(self._unlisted & added.states.keys()):
            if added.states[id] == "unchanged":
                self._tell_unlisted(id)
        self._unlisted -= added.states.keys()
        self._done += counts.total()
        self._tell()

    def _tell(self) -> None:
        good = self.result.good
        self.progress.step(
            "storing",
            self._done,
            None,
            "documents",
            Note("documents_in_library", documents=good, library=self.info.library),
        )

    def _remove_unseen(self) -> None:
        """A walk that saw everything: what it did not see is gone."""
        if self.filling.keep_gone:
            return
        walks = self.store.sources
        if self.info.documents and not walks.seen(self.info):
            self.result.notes.append(
                Note("source_empty_now", address=self.info.address, documents=self.info.documents)
            )
            return
        for ids in list(walks.unseen(self.info)):
            if isinstance(self.source, AsksForUnlisted):
                self._ask_for(ids, self.source)
            else:
                self._batch.gone += [(id, None) for id in ids]
            self._flush(wait=True)
        self.result.counts = +self.result.counts

    def _tell_unlisted(self, id: str) -> None:
        """The document counts once: as unlisted, and not as unchanged, which the store has it for."""
        self.result.counts.update(unlisted=1, unchanged=-1)
        self.result.outcomes.append(Outcome("unlisted", id, "", UNLISTED))

    def _ask_for(self, ids: Sequence[str], source: AsksForUnlisted) -> None:
        """Documents that their source does not list any more: the source says of each what becomes of it."""
        assert self.fetcher is not None  # such a source is on the web
        for id in ids:
            known = self.store.sources.known(self.info.number, id)
            if known is None or not known.stored:
                continue
            item = source.unlisted(
                self.fetcher, id, Known(known.version, Validators(known.etag, known.modified))
            )
            if isinstance(item, Found):
                size = len(item.data)
                self._in_flight.take(size, self._stop)
                self._take((item.id, self._readers.submit(self._read, item), size))
            elif item is not None:
                self._take(item)
            if isinstance(item, Unchanged):
                self._tell_unlisted(id)
            elif isinstance(item, Found):
                self._unlisted.add(id)
            if self._full:
                self._flush(wait=False)
            self._tell()

    @property
    def _full(self) -> bool:
        """Whether the batch is as large as one transaction should be."""
        batch = self._batch
        return len(batch) >= BATCH_DOCUMENTS or batch.characters >= self.store.documents.step_characters


@dataclass(slots=True)
class _Gathered:
    """What was read since the last batch."""

    documents: list[Document] = field(default_factory=list)
    facts: list[Fact] = field(default_factory=list)
    unchanged: list[Fact] = field(default_factory=list)
    failed: list[Outcome] = field(default_factory=list)
    gone: list[tuple[str, Note | None]] = field(default_factory=list)
    state: dict[str, Any] | None = None
    characters: int = 0

    def add(self, document: Document) -> None:
        self.documents.append(document)
        self.characters += len(document.text)

    def __len__(self) -> int:
        return len(self.facts) + len(self.unchanged) + len(self.failed) + len(self.gone)


class _InFlight:
    """Bytes of documents that may wait at the same time. One that is larger than that goes alone."""

    def __init__(self, size: int) -> None:
        self._size = size
        self._used = 0
        self._changed = threading.Condition()

    def take(self, size: int, stop: threading.Event) -> None:
        with self._changed:
            while self._used and self._used + size > self._size and not stop.is_set():
                self._changed.wait(0.2)
            self._used += size

    def give_back(self, size: int) -> None:
        with self._changed:
            self._used -= size
            self._changed.notify_all()


def update_library(
    store: Store,
    name: str,
    *,
    fetcher: Fetcher | None = None,
    filling: Filling | None = None,
    progress: Progress | None = None,
    sources: Sequence[int] | None = None,
) -> Iterator[Filled | tuple[SourceInfo, SourceError]]:
    """Walk all sources of a library again, or those with these numbers. A source that fails does not stop the others:
    it is given with its error."""
    for info in store.sources.all(store.libraries.get(name).number):
        if sources is not None and info.number not in sources:
            continue
        try:
            yield fill_source(store, info, fetcher=fetcher, filling=filling, progress=progress)
        except SourceError as error:
            yield info, error


def is_web_kind(kind: str) -> bool:
    return kind in WEB_KINDS or kind == "crawl"
