"""Find the duplicates of a collection and say which documents to keep (K7, C3).

1. Read batches (threads parse and shingle them in parallel) into a `SetStore`, which spills to disk beyond the budget.
2. Order the documents by the user's preference.
3. Join: exact for up to a million documents, else candidates from sketches; the other methods bring their own
   candidates. Every link is verified on the full sets of shingles before it counts.
4. Give every removed document to its closest keeper.

The result does not depend on the order of the input or on the number of workers. Explained in
docs/explanation/exact-join.md.
"""

from __future__ import annotations

import hashlib
import os
import tempfile
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from heapq import nsmallest
from itertools import chain, islice
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from doublet import kernels
from doublet.errors import InvalidParameter, MemoryTooSmall, OutputFailed, SpillFailed, UsageError
from doublet.index.keys import KeyTable, clean_by_keys
from doublet.index.sampled import BYTES_PER_ENTRY, MOST_ENTRIES, SampledKeys
from doublet.jobs.preference import Facts, check_keep, has_repeats, id_ranks, preference
from doublet.matches.groups import best_links, families, lists, strict_groups
from doublet.model import Deduplication, Document, Group, Member, Outcome, Pair, Related, Signature
from doublet.progress import Progress
from doublet.signatures import Method, gather_statistics
from doublet.signatures import method as make_method
from doublet.signatures.minhash import MinHash
from doublet.signatures.shingled import ShingledMethod
from doublet.sources.records import ParsedBatch, RecordSource

U32 = NDArray[np.uint32]
U64 = NDArray[np.uint64]

EXACT_UP_TO = 1_000_000  #: documents; beyond, candidates come from sketches (docs/explanation/exact-join.md)
PAIRS_LIMIT = (
    5_000_000  #: of the list of all pairs: thousands of near copies of one text have millions of pairs
)
OUTCOMES_SHOWN = (
    1_000  #: rows of each state kept of documents that could not be used; all of them are counted
)
LEAST_MEMORY = 256_000_000
BASE_MEMORY = 90_000_000  #: Python, numpy and the modules
BYTES_PER_DOCUMENT = 330  #: id, place, rank and the like, which cannot be spilled
BYTES_PER_SHINGLE = 8  #: of JSON; English has about 7, Russian about 14
KEY_SHARE = 4  #: so small a part of the memory is for the keys of a method; more of them wait on disk
WORKER_MEMORY = 45_000_000  #: a batch in hand: raw, parsed, words, shingles
VIEWS = ("strict", "families")
DISGUISED_WORDS, DISGUISED_SHARE = 3, 0.01  #: from when on a document counts as disguised
AUTO = "auto"  #: the method that looks further where shingles found nothing
CANDIDATES = ("auto", "exact", "sketches")
REWORDED_CHOICES = ("list", "all", "remove", "off")


def dedupe(
    documents: Iterable[Document | Mapping[str, Any] | tuple[str, str]],
    **options: Any,
) -> Deduplication:
    """Duplicates among *documents* (in memory): `Document`s, mappings with "id" and "text", or (id, text) pairs.

    Options are those of `dedupe_inputs` except the files to write. Example::

        result = doublet.dedupe([("a", text_a), ("b", text_b)], threshold=0.8, shingle_words=5)
        result.groups[0].members[0].resemblance
    """
    for name in ("groups_out", "kept_out"):
        if name in options:
            raise UsageError(f"{name} is for collections in files: use dedupe_inputs")
    return dedupe_inputs(Documents(documents), **options)


def dedupe_inputs(
    source: RecordSource | Documents,
    *,
    method: str = AUTO,
    threshold: float | None = None,
    containment: float | None = 0.9,
    keep: str = "longest",
    prefer: Sequence[str] = (),
    pairs: bool = False,
    views: Sequence[str] = (),
    candidates: str = "auto",
    reworded: str = "list",
    workers: int = 1,
    memory_bytes: int | None = None,
    spill_folder: str | None = None,
    progress: Progress | None = None,
    groups_out: Path | None = None,
    kept_out: Path | None = None,
    **parameters: Any,
) -> Deduplication:
    """Duplicates of a collection.

    A document is removed when a kept one resembles it with *threshold* or more, or when *containment* of it or more
    lies inside a kept one that is not shorter (None: never). *keep* orders the documents (`doublet.jobs.preference`).
    *pairs* lists all pairs, *views* adds "strict" groups and "families". *parameters* are those of the method.
    *reworded* is what the method "auto" does about kept documents that are edited or reworded copies of each other:
    "list" the likeliest, list "all" (slow), "remove" the reworded ones, or "off".
    Raises `UsageError`, `SourceError`, `SpillFailed`, `MemoryTooSmall`, `OutputFailed`, `Cancelled`.
    """
    progress = progress or Progress()
    workers = _check_workers(workers)
    check_keep(keep, prefer)
    containment = _check_share("containment", containment)
    if candidates not in CANDIDATES:
        raise InvalidParameter(
            f"candidates is {candidates!r}: it can be {', '.join(CANDIDATES)}", name="candidates"
        )
    if reworded not in REWORDED_CHOICES:
        raise InvalidParameter(
            f"reworded is {reworded!r}: it can be {', '.join(REWORDED_CHOICES)}", name="reworded"
        )
    for view in views:
        if view not in VIEWS:
            raise InvalidParameter(f"there is no view {view!r}: it can be {', '.join(VIEWS)}", name="views")
    if threshold is not None:
        parameters["threshold"] = _check_share("threshold", threshold)
    plan = _Plan.make(method, parameters, source, workers)
    least = plan.threshold
    if kept_out is not None and isinstance(source, RecordSource):
        source.check_kept(kept_out)
    if groups_out is not None:
        from doublet.reports.tables import check_groups

        check_groups(groups_out)
    room = _store_memory(memory_bytes, workers)
    folder = spill_folder or tempfile.gettempdir()
    if method == AUTO and reworded != "off":
        room -= plan.sample(room)
    key_room = room // KEY_SHARE
    if not plan.by_shingles:
        plan.keys = KeyTable(key_room, folder)
        room -= key_room
    store = kernels.SetStore(room, folder, workers)
    try:
        facts, outcomes, disguised = _read(source, plan, store, workers, progress, folder, keep, room)
        names = facts.ids()
        id_order = id_ranks(names)
        if has_repeats(names, id_order):
            _drop_repeated_ids(names, store, outcomes)
        with _spilling(folder):
            links, ranks = _join(
                plan,
                facts,
                id_order,
                store,
                outcomes,
                containment,
                keep,
                prefer,
                candidates,
                progress,
                key_room,
                folder,
            )
            sizes = store.sizes()
            groups, removed = _groups(names, links, sizes, ranks, least)
            listed = _pairs(names, id_order, store, outcomes, least, containment, pairs, views, progress)
            related, groups, removed = _related(
                source,
                plan,
                facts,
                names,
                store,
                outcomes,
                groups,
                removed,
                ranks,
                reworded,
                workers,
                progress,
            )
    finally:
        store.close()
    notes = [*getattr(source, "notes", ()), *plan.notes, *listed.notes, *outcomes.notes()]
    if disguised:
        notes.append(
            f"{disguised} of {len(facts)} documents hold disguised words (look-alike letters, hidden characters)"
        )
    gone = np.zeros(len(facts), np.bool_)
    gone[[*removed, *outcomes.excluded]] = True
    by_id = np.argsort(id_order, kind="stable")
    kept = by_id[~gone[by_id]]
    named = np.empty(len(names), object)
    named[:] = names
    result = Deduplication(
        method=method,
        parameters={**plan.described, "threshold": least, "containment": containment or None, "keep": keep},
        documents=len(facts),
        groups=groups,
        kept=tuple(named[kept].tolist()),
        outcomes=outcomes.rows(),
        pairs=listed.pairs,
        strict=listed.strict,
        families=listed.families,
        notes=tuple(notes),
        recipe=plan.recipe,
        extra={
            "outcomes": {state: count for state, count in sorted(outcomes.counts.items()) if count},
            "disguised_documents": disguised,
        },
        related=related,
    )
    progress.step("writing", 0, None, "files")
    unused = sum(count for state, count in outcomes.counts.items() if state != "empty")
    if unused and kept_out is not None and isinstance(source, RecordSource) and source.reads(kept_out):
        raise OutputFailed(
            f"{kept_out} is one of the inputs, and {unused:,} of the records could not be used: they would be lost. "
            "Name another file for what is kept",
            path=str(kept_out),
        )
    if groups_out is not None:
        from doublet.reports.tables import write_groups

        write_groups(result, groups_out)
    if kept_out is not None:
        if not isinstance(source, RecordSource):
            raise UsageError("kept_out is for collections in files")
        positions = facts.all_positions()
        stays = np.zeros(int(positions.max(initial=0)) + 1, np.bool_)
        stays[positions[kept].astype(np.int64)] = True
        source.write_kept(kept_out, lambda position: position < len(stays) and bool(stays[position]))
    return result


# --- what was asked for ---------------------------------------------------------------------------------------------


@dataclass(slots=True)
class _Plan:
    """The method at hand, and the shingles by which every link is verified (the method's own where it has them)."""

    method: Method
    exact: ShingledMethod[Any]
    threshold: float
    described: dict[str, Any]
    notes: list[str] = field(default_factory=list)
    keys: KeyTable = field(default_factory=KeyTable)
    signatures: dict[int, Signature] = field(
        default_factory=dict
    )  #: of methods that only say "equal" or "not"
    sampled: SampledKeys | None = None  #: leads to what shingles leave open

    @property
    def recipe(self) -> Any:
        return self.method.recipe

    @property
    def by_shingles(self) -> bool:
        return self.method.name in ("shingles", AUTO)

    @property
    def meaning(self) -> Any:
        """The last step of the method "auto"."""
        return getattr(self.method, "meaning")  # noqa: B009 - a method of ours, known by its name alone

    @property
    def reads_blocks(self) -> bool:
        """True when sets can be made from raw JSON: plain words, shingles of words, no signatures besides."""
        return self.by_shingles and self.exact.canon.plain and not self.exact.parameters.shingle_chars

    @property
    def estimates(self) -> bool:
        """True for methods that estimate resemblance: the exact value decides in their place."""
        return hasattr(self.method.parameters, "threshold")

    def take(self, signed: list[Signature | None], first: int) -> None:
        """Keep what the join needs of the signatures of documents *first* and on."""
        found: list[U64] = []
        owners: list[int] = []
        for document, signature in enumerate(signed, first):
            if signature is None:
                continue
            found.append(np.unique(self.method.keys(signature)))
            owners.append(document)
            if not self.estimates:
                self.signatures[document] = signature
        if found:
            lengths = [len(keys) for keys in found]
            self.keys.add(np.concatenate(found), np.repeat(np.array(owners, np.uint32), lengths))

    def sample(self, room: int) -> int:
        """Make ready to look for reworded copies; gives the memory that this takes."""
        entries = min(MOST_ENTRIES, room // (4 * BYTES_PER_ENTRY))
        self.sampled = SampledKeys(entries)
        return entries * BYTES_PER_ENTRY

    def agree(self, a: int, b: int) -> bool:
        return self.method.compare(self.signatures[a], self.signatures[b]).similar

    @staticmethod
    def make(name: str, parameters: dict[str, Any], source: Any, workers: int) -> _Plan:
        own = dict(parameters)
        verify = own.get("threshold", 0.5)
        from doublet.signatures import METHODS

        known = {info.name for info in METHODS[name].parameters_type.infos()} if name in METHODS else set(own)
        if "threshold" not in known:
            own.pop("threshold", None)
        statistics = gather_statistics(name, _texts(source), threads=workers, **own)
        chosen = make_method(name, statistics, **own)
        described = {key: value for key, value in vars(chosen.parameters).items() if key != "containment"}
        shape = {
            key: described[key]
            for key in (
                "shingle_words",
                "shingle_chars",
                "stop_words",
                "extra_stop_words",
                "min_letters",
                "reduce",
            )
            if key in described and "shingle_words" in described
        }
        if name == AUTO:
            shape["reduce"] = "none"  # its stems are for the last step
        exact = make_method("shingles", **shape)
        assert isinstance(exact, ShingledMethod)
        return _Plan(chosen, exact, getattr(chosen.parameters, "threshold", verify), described)


def _texts(source: Any) -> Iterator[str]:
    for batch in source.batches():
        yield from batch.parse().texts


def _check_share(name: str, value: float | None) -> float:
    if value is None:
        return 0.0
    if not 0 < value <= 1:
        raise InvalidParameter(f"{name} is {value}: it must be above 0 and at most 1", name=name, value=value)
    return float(value)


def _check_workers(workers: int) -> int:
    if workers < 0:
        raise InvalidParameter(
            f"workers is {workers}: it must be 1 or more, or 0 for all cores", name="workers", value=workers
        )
    return workers or len(os.sched_getaffinity(0))


def _store_memory(memory_bytes: int | None, workers: int) -> int:
    """What is left for the store of a budget for the whole process."""
    if memory_bytes is None:
        memory_bytes = max(os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") // 2, 2 * LEAST_MEMORY)
    needed = max(LEAST_MEMORY, BASE_MEMORY + 2 * workers * WORKER_MEMORY)
    if memory_bytes < needed:
        raise MemoryTooSmall(
            f"{memory_bytes:,} bytes of memory are too little for {workers} worker{'s' * (workers > 1)}: "
            f"give at least {needed:,}",
            memory_bytes=memory_bytes,
            needed_bytes=needed,
        )
    return memory_bytes - BASE_MEMORY - workers * WORKER_MEMORY


# --- reading --------------------------------------------------------------------------------------------------------


@dataclass(slots=True)
class _Outcomes:
    """Documents that could not be used as they were. *excluded* take no part, and are neither kept nor removed.

    All are counted. Of each state the first by id are listed, so that the list does not depend on the order of arrival.
    """

    counts: Counter[str] = field(default_factory=Counter)
    excluded: set[int] = field(default_factory=set)
    _listed: dict[str, list[Outcome]] = field(default_factory=dict)

    def add(self, outcome: Outcome) -> None:
        self.counts[outcome.state] += 1
        rows = self._listed.setdefault(outcome.state, [])
        rows.append(outcome)
        if len(rows) >= 2 * OUTCOMES_SHOWN:
            self._listed[outcome.state] = sorted(rows, key=_by_id)[:OUTCOMES_SHOWN]

    def rows(self) -> tuple[Outcome, ...]:
        """What is listed, state by state."""
        states = sorted(self._listed.items())
        return tuple(row for _, rows in states for row in sorted(rows, key=_by_id)[:OUTCOMES_SHOWN])

    def notes(self) -> list[str]:
        left = self.counts.total() - len(self.rows())
        return (
            [f"{left:,} more documents could not be used as they were; they are counted, not listed"]
            if left
            else []
        )


def _by_id(outcome: Outcome) -> tuple[str, str, str]:
    return outcome.id, outcome.place, outcome.reason


@dataclass(slots=True)
class _Shingled:
    """A batch after the threads: what the collector needs of it, and nothing of the texts."""

    ids: bytes
    id_ends: U64
    positions: U64
    values: U64
    offsets: U64
    words: U32
    disguised: int
    times: list[str]
    sources: list[str]
    signed: list[Signature | None]
    outcomes: list[Outcome]
    empty: int  #: documents without words; the first of them by id are among the outcomes
    consumed: int
    counted: bool = False  #: the store knows the values already


def _read(
    source: Any, plan: _Plan, store: Any, workers: int, progress: Progress, folder: str, keep: str, room: int
) -> tuple[Facts, _Outcomes, int]:
    facts, outcomes = Facts(), _Outcomes()
    disguised = 0
    total = getattr(source, "total_bytes", None)
    most = (room + BASE_MEMORY) // BYTES_PER_DOCUMENT

    def work(batch: Any) -> Iterator[_Shingled]:
        if keep in ("longest", "first"):
            block = getattr(batch, "block", None)
            if block is not None and plan.reads_blocks:
                yield from _shingle_block(batch, block, plan, store)
                return
        yield _shingle_parsed(batch.parse(), plan, batch.consumed_bytes)

    batches = iter(source.batches())
    start = list(islice(batches, 1))
    if start and total and plan.reads_blocks:
        # The first batch tells how far the input is compressed.
        unpacked = total * getattr(start[0], "size_bytes", 0) // max(1, start[0].consumed_bytes)
        store.expect(unpacked // BYTES_PER_SHINGLE)
    done = 0
    for shingled in _in_order(chain(start, batches), work, workers):
        if plan.sampled is not None:
            plan.sampled.add(shingled.values, shingled.offsets, done)
        with _spilling(folder):
            store.add(shingled.values, shingled.offsets, True, shingled.counted)
            plan.take(shingled.signed, done)
        for outcome in shingled.outcomes:
            outcomes.add(outcome)
        outcomes.counts["empty"] += shingled.empty - sum(o.state == "empty" for o in shingled.outcomes)
        disguised += shingled.disguised
        facts.add_encoded(shingled.ids, shingled.id_ends)
        facts.words.append(shingled.words)
        facts.positions.append(shingled.positions)
        if keep == "newest":
            facts.times += shingled.times
        if keep == "best-source":
            facts.sources += shingled.sources
        done += len(shingled.words)
        if done > most:
            raise MemoryTooSmall(
                f"more than {most:,} documents do not fit the memory that is allowed, whatever is spilled: "
                f"allow {BYTES_PER_DOCUMENT} bytes a document and more (--memory), or cut the collection",
                documents=done,
            )
        progress.step("reading", shingled.consumed, total, "bytes", f"{done} documents")
    return facts, outcomes, disguised


def _shingle_block(batch: Any, block: bytes, plan: _Plan, store: Any) -> Iterator[_Shingled]:
    """Lines of JSON straight to sets; lines that are not plainly good, and disguised texts, are read with care."""
    parameters, canon = plan.exact.parameters, plan.exact.canon
    values, offsets, words, tricks, ids, ends, lines, starts, left, left_starts = kernels.json_sets(
        block,
        batch.fields.id,
        batch.fields.text,
        parameters.shingle_words,
        canon.stop_hashes,
        canon.min_letters,
        store,
    )
    doubtful = _suspicious(tricks, words)
    suspects = batch.pick(lines[doubtful].tolist(), starts[doubtful].tolist())
    disguised = _disguised_among(suspects.parse().texts)
    empty = np.flatnonzero(np.diff(offsets) == 0).tolist()
    firsts = np.concatenate([[0], ends[:-1]]) if empty else ends
    blank = (ids[int(firsts[i]) : int(ends[i])].decode("utf-8", "surrogatepass") for i in empty)
    outcomes = [_empty(identifier) for identifier in nsmallest(OUTCOMES_SHOWN, blank)]
    positions = lines.astype(np.uint64) + np.uint64(batch.first)
    yield _Shingled(
        ids,
        ends,
        positions,
        values,
        offsets,
        words,
        disguised,
        [],
        [],
        [],
        outcomes,
        len(empty),
        batch.consumed_bytes,
        counted=True,
    )
    if len(left):
        yield _shingle_parsed(
            batch.pick(left.tolist(), left_starts.tolist()).parse(), plan, batch.consumed_bytes
        )


def _shingle_parsed(parsed: ParsedBatch, plan: _Plan, consumed: int) -> _Shingled:
    signed = [] if plan.by_shingles else plan.method.sign_texts(parsed.texts)
    values, offsets, words, tricks = plan.exact.sets(parsed.texts)
    suspects = np.flatnonzero(_suspicious(tricks, words)).tolist()
    encoded = [i.encode("utf-8", "surrogatepass") for i in parsed.ids]
    empty = np.flatnonzero(np.diff(offsets) == 0).tolist()
    return _Shingled(
        ids=b"".join(encoded),
        id_ends=np.cumsum([len(i) for i in encoded], dtype=np.uint64),
        positions=np.asarray(parsed.positions, np.uint64),
        values=values,
        offsets=offsets,
        words=words,
        disguised=_disguised_among([parsed.texts[i] for i in suspects]),
        times=parsed.times,
        sources=parsed.sources,
        signed=signed,
        outcomes=[
            _empty(identifier) for identifier in nsmallest(OUTCOMES_SHOWN, (parsed.ids[i] for i in empty))
        ]
        + parsed.outcomes,
        empty=len(empty),
        consumed=consumed,
    )


def _empty(identifier: str) -> Outcome:
    return Outcome("empty", identifier, "", "the text has no words: it is like nothing, and is kept")


def _suspicious(tricks: U32, words: U32) -> NDArray[np.bool_]:
    return (tricks >= DISGUISED_WORDS) & (tricks >= DISGUISED_SHARE * words)


def _disguised_among(texts: list[str]) -> int:
    if not texts:
        return 0
    from doublet.text.disguise import disguised_among

    return disguised_among(texts)


def _in_order(
    batches: Iterator[Any], work: Callable[[Any], Iterator[_Shingled]], workers: int
) -> Iterator[_Shingled]:
    """Results of *work* in the order of the batches; *workers* batches are in hand at a time."""
    if workers == 1:
        for batch in batches:
            yield from work(batch)
        return
    waiting: deque[Future[list[_Shingled]]] = deque()
    with ThreadPoolExecutor(workers, thread_name_prefix="doublet") as pool:
        try:
            for batch in batches:
                waiting.append(pool.submit(lambda batch: list(work(batch)), batch))
                if len(waiting) > workers:
                    yield from waiting.popleft().result()
            while waiting:
                yield from waiting.popleft().result()
        finally:
            for future in waiting:
                future.cancel()


def _drop_repeated_ids(names: list[str], store: Any, outcomes: _Outcomes) -> None:
    """Of records with one id the one with the smallest content is used: the order of arrival is no matter."""
    same: dict[str, list[int]] = {}
    for document, name in enumerate(names):
        same.setdefault(name, []).append(document)
    for name, documents in same.items():
        if len(documents) == 1:
            continue
        documents.sort(key=lambda d: (store.get(d).tobytes(), d))
        for document in documents[1:]:
            outcomes.excluded.add(document)
            reason = (
                f"{len(documents)} records have the id {name!r}: one of them is used, this one is left out"
            )
            outcomes.add(Outcome("duplicate_id", name, "", reason))


class _spilling:  # noqa: N801 - reads as a word in "with _spilling(folder)"
    """Turns a full or missing disk into an error that says what to do."""

    def __init__(self, folder: str) -> None:
        self.folder = folder

    def __enter__(self) -> None:
        return

    def __exit__(self, kind: Any, error: BaseException | None, trace: Any) -> None:
        if isinstance(error, OSError):
            raise SpillFailed(
                f"the folder for temporary data, {self.folder}, cannot be used ({error.strerror or error}): "
                "free some room, name another folder in TMPDIR, or allow more memory so that nothing has to be spilled",
                folder=self.folder,
            ) from error


# --- joining --------------------------------------------------------------------------------------------------------


def _join(
    plan: _Plan,
    facts: Facts,
    id_order: NDArray[np.int64],
    store: Any,
    outcomes: _Outcomes,
    containment: float,
    keep: str,
    prefer: Sequence[str],
    candidates: str,
    progress: Progress,
    key_room: int,
    folder: str,
) -> tuple[tuple[U32, U32, U32], U32]:
    """Links of removed documents to the kept ones that cover them, and the rank of every document."""
    count = len(facts)
    order = preference(facts, id_order, keep, prefer)
    if facts.unread_times:
        plan.notes.append(
            f"{len(facts.unread_times):,} of the times could not be read, such as {facts.unread_times[0]!r}: their "
            "documents count as the oldest; write times as 2024-05-31 or 2024-05-31T12:00"
        )
    if outcomes.excluded:
        order = order[~np.isin(order, np.array(sorted(outcomes.excluded), np.int64))]
    if keep != "longest" and containment:
        # A short text inside a longer one goes to it, whatever is preferred: such texts come last, the longest first.
        inside = store.contained(containment)[order].astype(bool)
        sizes = store.sizes()[order].astype(np.int64)
        order = np.concatenate([order[~inside], order[inside][np.argsort(-sizes[inside], kind="stable")]])
    chosen = order.astype(np.uint32)
    ranks = np.full(count, count, np.uint32)
    ranks[chosen] = np.arange(len(chosen), dtype=np.uint32)

    def on_step(done: int, total: int) -> None:
        progress.step("joining", done, total, "documents")

    if plan.by_shingles and (candidates == "exact" or (candidates == "auto" and count <= EXACT_UP_TO)):
        return store.clean(chosen, plan.threshold, containment, on_step), ranks
    if plan.by_shingles:
        plan.keys = _sketch_keys(plan, store, key_room, folder)
        plan.notes.append(
            "candidates came from sketches: a few pairs close to the threshold, and short texts inside long "
            "ones, may be missing; every link shown was verified"
        )
    plan.keys.settle(count)
    agree = None if plan.by_shingles or plan.estimates else plan.agree
    return clean_by_keys(
        plan.keys, store, chosen, plan.threshold, containment, agree=agree, on_step=on_step
    ), ranks


def _sketch_keys(plan: _Plan, store: Any, room: int, folder: str) -> KeyTable:
    """Bands of MinHash over the sets in the store."""
    sketch = make_method("minhash", threshold=plan.threshold, recall=0.99)
    assert isinstance(sketch, MinHash)
    filled = np.flatnonzero(store.sizes()).astype(np.uint32)
    table = KeyTable(room, folder)
    for start in range(0, len(filled), 50_000):
        some = filled[start : start + 50_000]
        keys = sketch.band_keys(store.minima(sketch.factors, sketch.terms, some))
        table.add(keys.reshape(-1), np.repeat(some, keys.shape[1]))
    return table


# --- answers --------------------------------------------------------------------------------------------------------


def _groups(
    names: list[str], links: tuple[U32, U32, U32], sizes: U32, ranks: U32, threshold: float
) -> tuple[tuple[Group, ...], set[int]]:
    documents, keepers, resemblance, containment = best_links(links, sizes, ranks)
    members: dict[int, list[Member]] = {}
    for document, keeper, like, inside in zip(
        documents.tolist(), keepers.tolist(), resemblance.tolist(), containment.tolist(), strict=True
    ):
        within = names[keeper] if like < threshold else None  # else resemblance was reason enough
        step = "exact" if like == 1.0 else "shingles"
        members.setdefault(keeper, []).append(Member(names[document], like, inside, within, step))
    kept = sorted(members)
    keeps = [names[k] for k in kept]
    order = np.argsort(id_ranks(keeps), kind="stable").tolist()
    groups = tuple(
        Group(
            _group_id(keeps[i]),
            keeps[i],
            tuple(sorted(members[kept[i]], key=lambda m: (-m.resemblance, -m.containment, m.id))),
        )
        for i in order
    )
    return groups, set(documents.tolist())


def _related(
    source: Any,
    plan: _Plan,
    facts: Facts,
    names: list[str],
    store: Any,
    outcomes: _Outcomes,
    groups: tuple[Group, ...],
    removed: set[int],
    ranks: U32,
    reworded: str,
    workers: int,
    progress: Progress,
) -> tuple[tuple[Related, ...] | None, tuple[Group, ...], set[int]]:
    """Kept documents that are edited or reworded copies of each other; with "remove" the reworded ones join groups."""
    if plan.sampled is None:
        return None, groups, removed
    from doublet.jobs.reworded import LONGEST_SHINGLE, find_related

    if plan.exact.parameters.shingle_words > LONGEST_SHINGLE:
        plan.notes.append(
            f"reworded copies were not looked for: runs of more than {LONGEST_SHINGLE} words do not survive in them"
        )
        return None, groups, removed
    alive = np.ones(len(facts), np.bool_)
    alive[[*removed, *outcomes.excluded]] = False
    found, left = find_related(
        source,
        plan.sampled,
        store,
        alive,
        facts.all_positions(),
        plan.meaning,
        thorough=reworded == "all",
        workers=workers,
        progress=progress,
    )
    if left:
        plan.notes.append(
            f"{left:,} more pairs share some rare phrases and were not looked at: --reworded all looks at every one"
        )
    if reworded == "remove":
        # Only documents that stand for no other one go, each to the most preferred document that it is a copy of.
        keeping = {group.keep for group in groups}
        joined: dict[str, list[Member]] = {}
        gone = set(removed)
        wanted = [one for one in found if one.kind == "reworded"]
        for one in sorted(wanted, key=lambda one: sorted((int(ranks[one.a]), int(ranks[one.b])))):
            keep, other = (one.a, one.b) if ranks[one.a] < ranks[one.b] else (one.b, one.a)
            if keep in gone or other in gone or names[other] in keeping:
                continue
            gone.add(other)
            keeping.add(names[keep])
            inside = one.containment[1] if other == one.b else one.containment[0]
            member = Member(names[other], one.resemblance, inside, None, "meaning")
            joined.setdefault(names[keep], []).append(member)
        groups = join_groups(groups, joined)
        found = [one for one in found if one.a not in gone and one.b not in gone]
        removed = gone
    rows = []
    for one in found:
        a, b, both = one.a, one.b, one.containment
        if names[a] > names[b]:
            a, b, both = b, a, both[::-1]
        step = "shingles" if one.aligned is None else "meaning"
        rows.append(Related(names[a], names[b], one.kind, step, one.resemblance, both, one.aligned, one.kept))
    return tuple(sorted(rows, key=lambda r: (r.kind, -r.resemblance, r.a, r.b))), groups, removed


def _group_id(keep: str) -> str:
    return hashlib.blake2b(keep.encode("utf-8", "surrogatepass"), digest_size=6).hexdigest()


def join_groups(groups: tuple[Group, ...], joined: Mapping[str, list[Member]]) -> tuple[Group, ...]:
    """Groups with more members, and new ones; sorted by the kept id as they were."""
    known = {group.keep: group.members for group in groups}
    keeps = [*known, *(keep for keep in joined if keep not in known)]
    out = []
    for i in np.argsort(id_ranks(keeps), kind="stable").tolist():
        members = (*known.get(keeps[i], ()), *joined.get(keeps[i], ()))
        ordered = tuple(sorted(members, key=lambda m: (-m.resemblance, -m.containment, m.id)))
        out.append(Group(_group_id(keeps[i]), keeps[i], ordered))
    return tuple(out)


@dataclass(slots=True)
class _Listed:
    """What was asked for besides the groups."""

    pairs: tuple[Pair, ...] | None = None
    strict: tuple[tuple[str, ...], ...] | None = None
    families: tuple[tuple[str, ...], ...] | None = None
    notes: list[str] = field(default_factory=list)


def _pairs(
    names: list[str],
    id_order: NDArray[np.int64],
    store: Any,
    outcomes: _Outcomes,
    threshold: float,
    containment: float,
    pairs: bool,
    views: Sequence[str],
    progress: Progress,
) -> _Listed:
    out = _Listed()
    if not pairs and not views:
        return out

    def on_step(done: int, total: int) -> None:
        progress.step("pairing", done, total, "documents")

    left, right, overlaps, cut = store.pairs(threshold, containment, PAIRS_LIMIT, on_step)
    if cut:
        out.notes.append(
            f"there are more than {PAIRS_LIMIT:,} pairs: the list, the strict groups and the families are cut short; "
            "the groups around kept documents are complete"
        )
    if outcomes.excluded:
        gone = np.array(sorted(outcomes.excluded), np.uint32)
        used = ~(np.isin(left, gone) | np.isin(right, gone))
        left, right, overlaps = left[used], right[used], overlaps[used]
    sizes = store.sizes().astype(np.float64)
    common = overlaps.astype(np.float64)
    resemblance = common / (sizes[left] + sizes[right] - common)
    if pairs:
        rows = []
        for a, b, like, both in zip(
            left.tolist(), right.tolist(), resemblance.tolist(), common.tolist(), strict=True
        ):
            x, y = (a, b) if names[a] <= names[b] else (b, a)
            rows.append(Pair(names[x], names[y], like, (both / float(sizes[x]), both / float(sizes[y]))))
        out.pairs = tuple(sorted(rows, key=lambda p: (-p.resemblance, p.a, p.b)))
    if "strict" in views:
        # Numbered by id, so that ties do not depend on the order of arrival.
        rank = id_order.astype(np.uint32)
        by_rank = [names[i] for i in np.argsort(rank).tolist()]
        low, high = np.minimum(rank[left], rank[right]), np.maximum(rank[left], rank[right])
        out.strict = lists(strict_groups(low, high, resemblance), by_rank)
    if "families" in views:
        out.families = lists(families(len(names), left, right), names)
    return out


# --- documents in memory --------------------------------------------------------------------------------------------


class _Batch(Protocol):
    consumed_bytes: int

    def parse(self) -> ParsedBatch: ...


@dataclass(slots=True)
class _MemoryBatch:
    """Documents that were in memory all along."""

    parsed: ParsedBatch
    consumed_bytes: int = 0

    def parse(self) -> ParsedBatch:
        return self.parsed


class Documents:
    """Documents in memory as a source. An iterator is walked once and kept when a method needs two walks."""

    total_bytes: int | None = None
    notes: tuple[str, ...] = ()

    def __init__(self, documents: Iterable[Any]) -> None:
        self._documents = documents if isinstance(documents, Sequence) else list(documents)

    def batches(self, max_records: int = 1000) -> Iterator[Any]:
        parsed, done = ParsedBatch(positions=[]), 0
        for position, item in enumerate(self._documents):
            self._put(parsed, position, item)
            done += 1
            if len(parsed) + len(parsed.outcomes) >= max_records:
                yield _MemoryBatch(parsed, done)
                parsed = ParsedBatch(positions=[])
        if len(parsed) or parsed.outcomes:
            yield _MemoryBatch(parsed, done)

    @staticmethod
    def _put(parsed: ParsedBatch, position: int, item: Any) -> None:
        name: Any
        text: Any
        time = source = ""
        if isinstance(item, Document):
            name, text, time, source = item.id, item.text, item.time, item.source
        elif isinstance(item, Mapping):
            name, text = item.get("id"), item.get("text")
            time, source = str(item.get("time") or ""), str(item.get("source") or "")
        elif isinstance(item, tuple) and len(item) == 2:
            name, text = item
        else:
            name = text = None
        if isinstance(name, int) and not isinstance(name, bool):
            name = str(name)
        if not isinstance(name, str) or not isinstance(text, str):
            reason = "not a Document, a mapping with the strings 'id' and 'text', or a pair of id and text"
            parsed.outcomes.append(Outcome("invalid", str(name or ""), f"document {position + 1}", reason))
            return
        parsed.ids.append(name)
        parsed.texts.append(text)
        parsed.times.append(time)
        parsed.sources.append(source)
        parsed.sizes.append(len(text))
        parsed.positions.append(position)  # type: ignore[attr-defined]
