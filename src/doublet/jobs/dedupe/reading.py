"""Documents → sets of shingles: batches of the source are parsed and shingled by threads and go into the store."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Generator, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass, field
from itertools import chain, islice
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from doublet import kernels
from doublet.jobs.dedupe.collection import Collection
from doublet.jobs.dedupe.long_records import LONG_BYTES, read_long
from doublet.jobs.dedupe.memory import MemoryShares, spilling
from doublet.jobs.dedupe.options import DedupeMethods, DedupeOptions
from doublet.jobs.dedupe.outcomes import empty_ones
from doublet.jobs.dedupe.repeated import leave_out_repeats
from doublet.jobs.dedupe.signed import Compact
from doublet.matches.preference import has_repeats, id_ranks
from doublet.model import Note, Outcome
from doublet.progress import Progress
from doublet.signatures import in_parts
from doublet.signatures.shingled import without
from doublet.sources.jsonl import JsonBatch
from doublet.sources.records import MAX_BATCH_BYTES, Batch, Batched, ParsedBatch
from doublet.text.apart import with_runs
from doublet.text.tokens import forget_words

Made = TypeVar("Made")  # what is made of a batch
U32 = NDArray[np.uint32]
U64 = NDArray[np.uint64]

LARGE_BATCH = 2 * MAX_BATCH_BYTES  #: a batch of more is one long text
BYTES_PER_SHINGLE = 8  #: of JSON; English has about 7, Russian about 14
# From so many disguised words on, and this share of a text or this many in a passage, a closer look may find an alarm.
DISGUISED_WORDS, DISGUISED_SHARE, DISGUISED_PASSAGE = 3, 0.01, 10


@dataclass(slots=True)
class Shingled:
    """A batch after the threads: what the collector needs of it, and nothing of the texts."""

    ids: bytes
    id_ends: U64
    positions: U64
    values: U64
    offsets: U64
    words: U32
    disguised: int
    outcomes: list[Outcome]
    empty: int  #: documents without words; the first of them by id are among the outcomes
    consumed: int
    times: list[str] = field(default_factory=list)
    sources: list[str] = field(default_factory=list)
    signed: list[Compact] = field(default_factory=list)
    counted: bool = False  #: the store knows the values already


def read(
    source: Batched,
    methods: DedupeMethods,
    options: DedupeOptions,
    store: Any,
    memory: MemoryShares,
    progress: Progress,
) -> Collection:
    """All documents of *source*, their sets in *store*. Raises `SourceError`, `SpillFailed`, `MemoryTooSmall`."""
    out = Collection(store)
    facts, outcomes, keep = out.facts, out.outcomes, options.keep
    total = source.total_bytes

    def work(batch: Batch) -> Iterator[Shingled]:
        return shingle_batch(batch, methods, keep, store, memory)

    batches = iter(source.batches())
    start = list(islice(batches, 1))
    if start and total and methods.reads_blocks:
        # The first batch tells how far the input is compressed.
        unpacked = total * start[0].size_bytes // max(1, start[0].consumed_bytes)
        store.expect(unpacked // BYTES_PER_SHINGLE)
    done = 0
    # Closed before anything else when the work is stopped: threads may still be counting in the store.
    with closing(in_order(chain(start, batches), work, options.workers)) as shingles:
        for shingled in shingles:
            with spilling(memory.folder):
                if methods.sampled is not None:
                    methods.sampled.add(shingled.values, shingled.offsets, done)
                store.add(shingled.values, shingled.offsets, True, shingled.counted)
                methods.signed.take(shingled.signed, done)
            for outcome in shingled.outcomes:
                outcomes.add(outcome)
            outcomes.counts["empty"] += shingled.empty - sum(o.state == "empty" for o in shingled.outcomes)
            out.disguised += shingled.disguised
            facts.add_encoded(shingled.ids, shingled.id_ends)
            facts.words.append(shingled.words)
            facts.positions.append(shingled.positions)
            if keep == "newest":
                facts.times += shingled.times
            if keep == "best-source":
                facts.sources += shingled.sources
            done += len(shingled.words)
            memory.check_documents(done)
            progress.step(
                "reading", shingled.consumed, total, "bytes", Note("documents_read", documents=done)
            )
    out.names = facts.ids()
    out.id_order = id_ranks(out.names)
    if has_repeats(out.names, out.id_order):
        with spilling(memory.folder):
            leave_out_repeats(source, out, options)
    return out


def shingle_batch(
    batch: Batch, methods: DedupeMethods, keep: str, store: Any, memory: MemoryShares
) -> Iterator[Shingled]:
    """The sets of a batch, straight from raw JSON where that can be done; *store* (or None) counts their values."""
    block = batch.block if isinstance(batch, JsonBatch) else None
    if block is None or keep not in ("longest", "first") or not methods.reads_blocks:
        yield shingle_parsed(batch.parse(), methods, memory, batch.consumed_bytes)
        return
    long = shingle_long(batch, methods) if batch.size_bytes >= LONG_BYTES else None
    if long is not None:
        yield long
    else:
        yield from shingle_block(batch, block, methods, store, memory)


def shingle_long(batch: Any, methods: DedupeMethods) -> Shingled | None:
    """A batch that is one record of great length, which takes its memory with it; None when it has to be read whole."""
    if batch.count != 1:
        return None
    found = read_long(batch.block, batch.fields.id, batch.fields.text, methods)
    if found is None:
        return None
    identifier = found.id.encode("utf-8", "surrogatepass")
    tricks, words = np.array([found.disguised], np.uint32), np.array([found.words], np.uint32)
    disguised = _disguised_among(batch.parse().texts) if _suspicious(tricks, words)[0] else 0
    batch.forget()
    return Shingled(
        ids=identifier,
        id_ends=np.array([len(identifier)], np.uint64),
        positions=np.array([batch.first], np.uint64),
        values=found.values,
        offsets=np.array([0, len(found.values)], np.uint64),
        words=words,
        disguised=disguised,
        outcomes=[],
        empty=0,
        consumed=batch.consumed_bytes,
    )


def shingle_block(
    batch: Any, block: bytes, methods: DedupeMethods, store: Any, memory: MemoryShares
) -> Iterator[Shingled]:
    """Lines of JSON straight to sets; lines that are not plainly good, and disguised texts, are read with care."""
    parameters, canon = methods.exact.parameters, methods.exact.canon
    values, offsets, words, tricks, ids, ends, lines, starts, left, left_starts = kernels.json_sets(
        block,
        batch.fields.id,
        batch.fields.text,
        parameters.shingle_words,
        canon.stop_hashes,
        canon.min_letters,
        store,
    )
    spaced = _spaced_lines(batch, lines, starts, tricks)
    if len(spaced):  # the kernel does not know the words of letters that were set apart
        stay = np.ones(len(lines), np.bool_)
        stay[spaced] = False
        left, left_starts = (
            np.concatenate([left, lines[spaced]]),
            np.concatenate([left_starts, starts[spaced]]),
        )
        values, offsets, words, tricks = without((values, offsets, words, tricks), spaced)
        lengths = ends.astype(np.int64)
        lengths[1:] -= lengths[:-1].copy()
        ids = np.frombuffer(ids, np.uint8)[np.repeat(stay, lengths)].tobytes()
        ends = np.cumsum(lengths[stay]).astype(np.uint64)
        lines, starts = lines[stay], starts[stay]
    doubtful = _suspicious(tricks, words)
    suspects = batch.pick(lines[doubtful].tolist(), starts[doubtful].tolist())
    empty = np.flatnonzero(np.diff(offsets) == 0).tolist()
    firsts = np.concatenate([[0], ends[:-1]]) if empty else ends
    blank = (ids[int(firsts[i]) : int(ends[i])].decode("utf-8", "surrogatepass") for i in empty)
    yield Shingled(
        ids=ids,
        id_ends=ends,
        positions=lines.astype(np.uint64) + np.uint64(batch.first),
        values=values,
        offsets=offsets,
        words=words,
        disguised=_disguised_among(suspects.parse().texts),
        outcomes=empty_ones(blank),
        empty=len(empty),
        consumed=batch.consumed_bytes,
        counted=True,
    )
    if len(left):
        yield shingle_parsed(
            batch.pick(left.tolist(), left_starts.tolist()).parse(), methods, memory, batch.consumed_bytes
        )


def _spaced_lines(batch: Any, lines: U32, starts: U64, tricks: U32) -> NDArray[np.int64]:
    """Which of the records of a block may have letters that were set apart with the gaps between words lost."""
    some = np.flatnonzero(tricks)
    if not len(some):
        return some
    texts = batch.pick(lines[some].tolist(), starts[some].tolist()).parse().texts
    return some[with_runs(texts, tricks[some])]


def shingle_parsed(
    parsed: ParsedBatch, methods: DedupeMethods, memory: MemoryShares, consumed: int
) -> Shingled:
    """Records of any kind of input: texts to sets, and to the signatures of the method where it has its own."""
    signed: list[Compact] = []
    if not methods.by_shingles:
        done = 0
        for part in in_parts(parsed.texts):
            signed.append(methods.signed.compact(methods.method.sign_texts(part), done))
            done += len(part)
            if memory.words is not None:
                forget_words(memory.words)
    values, offsets, words, tricks = methods.exact.sets(parsed.texts)
    if memory.words is not None:
        forget_words(memory.words)
    suspects = np.flatnonzero(_suspicious(tricks, words)).tolist()
    encoded = [i.encode("utf-8", "surrogatepass") for i in parsed.ids]
    empty = np.flatnonzero(np.diff(offsets) == 0).tolist()
    return Shingled(
        ids=b"".join(encoded),
        id_ends=np.cumsum([len(i) for i in encoded], dtype=np.uint64),
        positions=np.asarray(parsed.positions, np.uint64),
        values=values,
        offsets=offsets,
        words=words,
        disguised=_disguised_among([parsed.texts[i] for i in suspects]),
        outcomes=empty_ones(parsed.ids[i] for i in empty) + parsed.outcomes,
        empty=len(empty),
        consumed=consumed,
        times=parsed.times,
        sources=parsed.sources,
        signed=signed,
    )


def in_order(
    batches: Iterator[Any], work: Callable[[Any], Iterator[Made]], workers: int
) -> Generator[Made, None, None]:
    """Results of *work* in the order of the batches; *workers* batches are in hand at a time."""
    if workers == 1:
        for batch in batches:
            yield from work(batch)
        return
    waiting: deque[Future[list[Made]]] = deque()
    threads = BusyThreads()
    with ThreadPoolExecutor(workers, thread_name_prefix="doublet") as pool:
        try:
            for batch in batches:
                large = batch.size_bytes > LARGE_BATCH
                # One very long text is held in many forms at once: it is worked on alone.
                while large and waiting:
                    yield from waiting.popleft().result()
                waiting.append(pool.submit(threads.call, work, batch))
                if large or len(waiting) > workers:
                    yield from waiting.popleft().result()
            while waiting:
                yield from waiting.popleft().result()
        finally:
            threads.rest()
            for future in waiting:
                future.cancel()


class BusyThreads:
    """Knows which threads are at work. A pool forgets a thread when the user stops the program while it is being
    started; such a thread must not go on with a store that is closed."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._busy = 0
        self._resting = False

    def call(self, work: Callable[[Any], Iterator[Made]], batch: Any) -> list[Made]:
        """All results of *work*; none after `rest`."""
        with self._changed:
            if self._resting:
                return []
            self._busy += 1
        try:
            return list(work(batch))
        finally:
            with self._changed:
                self._busy -= 1
                self._changed.notify_all()

    def rest(self) -> None:
        """Wait for those that are at work, and let nobody begin."""
        with self._changed:
            self._resting = True
            self._changed.wait_for(lambda: not self._busy)


def _suspicious(tricks: U32, words: U32) -> NDArray[np.bool_]:
    many = (tricks >= DISGUISED_SHARE * words) | (tricks >= DISGUISED_PASSAGE)
    return (tricks >= DISGUISED_WORDS) & many


def _disguised_among(texts: list[str]) -> int:
    if not texts:
        return 0
    from doublet.text.disguise import disguised_among

    return disguised_among(texts)
