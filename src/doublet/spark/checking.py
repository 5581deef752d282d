"""Many works against a stored corpus: sources with shares and fragments, as `doublet check` gives them for one work.

The corpus is the folder of an earlier run with its sets of shingles. A table says which fingerprints the works have;
splits of the corpus send only those. Buckets count what a work and a document share, the owner of a work takes the 200
documents that share most, asks for their texts, and lays them beside the work. The telling stems of all works go to
every partition, which reads its splits of the corpus and asks for the documents nearest to each window of a work.
"""

from __future__ import annotations

import pickle
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from doublet.errors import UsageError, require_number
from doublet.index.most_shared import CANDIDATES
from doublet.index.stem_chunks import BEST, Windows, near_documents, read_windows
from doublet.jobs.check import align_options, check
from doublet.model import Document
from doublet.progress import Progress
from doublet.reports.json_report import json_document
from doublet.signatures.mixing import mix
from doublet.signatures.statistics import LEXICAL_CANON
from doublet.signatures.thesaurus import find_thesaurus, tell_thesaurus
from doublet.sources.records import Fields
from doublet.spark import answers, counting, exchange, inputs, signing, stages, storage
from doublet.spark.exchange import Sent, pack, scatter, slots, tell, unpack
from doublet.spark.job import Job, splits_of
from doublet.spark.session import cores_of
from doublet.spark.signing import SIGNATURES, runs

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

U64 = NDArray[np.uint64]

CHECKS, SOURCES, FRAGMENTS = "checks", "sources", "fragments"
_HALF = np.uint64(32)
_ROW = np.uint64(0xFFFFFFFF)


@dataclass(frozen=True, slots=True)
class Checking:
    """The works' job and the corpus' job, and how works are checked."""

    works: Job
    corpus: Job
    tables: int
    corpus_splits: int
    corpus_documents: int
    shingle_words: int
    min_share: float
    thesaurus: str
    align: dict[str, Any]


def check_works(
    spark: SparkSession,
    addresses: Sequence[str],
    corpus: str,
    out: str,
    *,
    min_share: float = 0.0,
    thesaurus: str = "",
    fields: Fields | None = None,
    partitions: int | None = None,
    splits: int | None = None,
    restart: bool = False,
    progress: Progress | None = None,
    **align: Any,
) -> dict[str, Any]:
    """Check the documents at *addresses* against the run in the folder *corpus*; writes checks, sources and fragments.

    The options are those of `doublet.check`; so are the answers. Raises `UsageError`, `InvalidParameter`,
    `SourceError`.
    """
    progress = Progress.of(progress)
    require_number("min_share", min_share, 0, 1)
    align_options(align)
    synonyms = find_thesaurus(thesaurus)
    theirs, state = stages.open_finished(corpus)
    done = state["stages"].get(SIGNATURES)
    if done is None or theirs.method != "shingles":
        raise UsageError("no_sets_to_check", path=corpus)
    shingle_words = int(theirs.parameters.get("shingle_words", 4))
    cores = cores_of(spark)
    job = Job(
        out=storage.whole(out),
        method="shingles",
        parameters={"shingle_words": shingle_words},
        fields=fields or Fields(),
        partitions=partitions or max(2, 2 * cores),
    )
    run = stages.Run.open(
        job, addresses, splits or 2 * cores, least_split=1 if splits else inputs.LEAST_SPLIT, restart=restart
    )
    told = tell_thesaurus(thesaurus, synonyms)
    run.depend([theirs.out, done["key"], min_share, sorted(align.items()), sorted(told.items())])
    job = run.job

    def sign() -> dict[str, Any]:
        found = exchange.answers(exchange.begin(spark, run.splits, partial(signing.sign_split, job)))
        return {"splits": sorted(found, key=lambda one: int(one["split"]))}

    signed = run.stage(SIGNATURES, sign, progress)["splits"]
    bits = counting.bits_for(4 * sum(one["values"] for one in signed))
    fingerprints = partial(counting.fingerprints, job)
    counted = run.stage(
        counting.COUNTS,
        lambda: counting.count(spark, job, counting.COUNTS, bits, run.splits, fingerprints),
        progress,
    )
    checking = Checking(
        job,
        theirs,
        counted["tables"],
        len(splits_of(theirs)),
        sum(one["documents"] for one in done["figures"]["splits"]),
        shingle_words,
        min_share,
        thesaurus,
        align,
    )

    def compare() -> dict[str, Any]:
        found = _compare(spark, checking, run.splits)
        return {name: sum(one[name] for one in found) for name in ("works", "sources", "fragments")}

    figures = run.stage(CHECKS, compare, progress)
    answers.write_errors(spark, run, signed, progress)
    return {
        "out": job.out,
        "works": figures["works"],
        "sources": figures["sources"],
        "fragments": figures["fragments"],
        "outcomes": stages.count_outcomes(signed),
        "stages": run.figures(),
        "reused": list(run.reused),
    }


def _compare(spark: SparkSession, checking: Checking, splits: int) -> list[dict[str, Any]]:
    count = checking.works.partitions
    works = exchange.begin(spark, splits, partial(_post_works, checking))
    corpus = exchange.begin(spark, checking.corpus_splits, partial(_post_corpus, checking))
    shared = exchange.then(works.union(corpus), count, partial(_share, checking))
    asked = exchange.then(shared, count, partial(_ask, checking))
    windows = exchange.begin(spark, splits, partial(_post_windows, checking))
    near = exchange.then(windows, count, partial(_near, checking))
    asked = asked.union(near)
    given = exchange.then(asked, count, partial(_give, checking))
    return exchange.answers(exchange.then(given, count, partial(_tell, checking, splits)))


def _place(values: U64, count: int) -> NDArray[np.int64]:
    return ((mix(values) >> _HALF) * np.uint64(count) >> _HALF).astype(np.int64)


def _rows(job: Job, split: int) -> Iterator[tuple[U64, U64]]:
    """Fingerprints and the numbers of the documents that they stand in."""
    first = 0
    for part in storage.read_table(job.part(SIGNATURES, split), ["set"]):
        values, offsets = runs(part.column("set"))
        numbers = np.arange(first, first + part.num_rows, dtype=np.uint64) | np.uint64(split) << _HALF
        yield values, np.repeat(numbers, np.diff(offsets))
        first += part.num_rows


def _post_works(checking: Checking, split: int) -> Sent:
    count = checking.works.partitions
    for values, numbers in _rows(checking.works, split):
        yield from scatter(_place(values, count), count, values, numbers, np.zeros(len(values), np.uint8))


def _post_corpus(checking: Checking, split: int) -> Sent:
    count = checking.works.partitions
    table = counting.table_of(checking.works, counting.COUNTS, checking.tables)
    for values, numbers in _rows(checking.corpus, split):
        used = counting.look_up(table, values) > 0
        asked = values[used]
        yield from scatter(_place(asked, count), count, asked, numbers[used], np.ones(len(asked), np.uint8))


def _share(checking: Checking, bucket: int, blobs: Iterator[Any]) -> Sent:  # noqa: ARG001 - the form of all steps
    """How many fingerprints of this bucket each work and each document share."""
    values, numbers, sides = exchange.joined(blobs, (np.uint64, np.uint64, np.uint8))
    order = np.lexsort((sides, values))
    values, numbers, sides = values[order], numbers[order], sides[order]
    of_work = np.flatnonzero(sides == 0)
    # For each fingerprint of a work the run of documents that have it too.
    starts = np.searchsorted(values, values[of_work], side="left")
    ends = np.searchsorted(values, values[of_work], side="right")
    works_before = np.concatenate([[0], np.cumsum(sides == 0)])
    starts = starts + (works_before[ends] - works_before[starts])  # works come first in a run
    widths = ends - starts
    works = np.repeat(numbers[of_work], widths)
    before = np.cumsum(widths) - widths
    documents = numbers[np.repeat(starts - before, widths) + np.arange(len(works))]
    order = np.lexsort((documents, works))
    works, documents = works[order], documents[order]
    first = (
        np.flatnonzero(
            np.concatenate([[True], (works[1:] != works[:-1]) | (documents[1:] != documents[:-1])])
        )
        if len(works)
        else order
    )
    counts = np.diff(np.append(first, len(works))).astype(np.uint32)
    works, documents = works[first], documents[first]
    count = checking.works.partitions
    yield from scatter((works >> _HALF).astype(np.int64) % count, count, works, documents, counts)


def _ask(checking: Checking, owner: int, blobs: Iterator[Any]) -> Sent:
    """Of each work the documents that share most, and those that tie with the last of them."""
    works, documents, counts = exchange.joined(blobs, (np.uint64, np.uint64, np.uint32))
    order = np.lexsort((documents, works))
    works, documents, counts = works[order], documents[order], counts[order].astype(np.int64)
    if not len(works):
        return
    first = np.flatnonzero(
        np.concatenate([[True], (works[1:] != works[:-1]) | (documents[1:] != documents[:-1])])
    )
    counts = np.add.reduceat(counts, first)
    works, documents = works[first], documents[first]
    order = np.lexsort((-counts, works))
    works, documents, counts = works[order], documents[order], counts[order]
    starts = np.flatnonzero(np.concatenate([[True], works[1:] != works[:-1]]))
    sizes = np.diff(np.append(starts, len(works)))
    least = counts[starts + np.minimum(sizes, CANDIDATES) - 1]
    used = counts >= np.repeat(least, sizes)
    works, documents = works[used], documents[used]
    count = checking.works.partitions
    places = (documents >> _HALF).astype(np.int64) % count
    yield from scatter(places, count, works, documents, np.full(len(works), owner, np.uint32))


def _works(job: Job, split: int) -> Iterator[tuple[int, str, str]]:
    """Number, id and text of the works of a split."""
    by_position = {int(position): row for row, position in enumerate(_positions(job, split))}
    for batch in inputs.batches(splits_of(job)[split], job.fields, job.max_record_bytes):
        parsed = batch.parse()
        for name, text, position in zip(parsed.ids, parsed.texts, parsed.positions, strict=True):
            yield by_position[int(position)] | split << 32, name, text


def _post_windows(checking: Checking, split: int) -> Sent:
    """The telling stems of each work, to everybody."""
    for number, _, text in _works(checking.works, split):
        found = read_windows(LEXICAL_CANON.tokens([text], words=True))
        blob = pack(np.array([number], np.uint64), found.stems, found.masses, found.keys, found.windows)
        for slot in slots(checking.works.partitions):
            yield slot, blob


def _near(checking: Checking, owner: int, blobs: Iterator[Any]) -> Sent:
    """The documents of the owner's splits of the corpus that are nearest to each window of each work."""
    numbers, windows = _joined([unpack(blob) for blob in blobs])
    count = checking.works.partitions
    job = checking.corpus
    for split in range(owner, checking.corpus_splits, count) if windows.count else ():
        best: dict[int, list[tuple[float, int]]] = defaultdict(list)
        by_position = {int(position): row for row, position in enumerate(_positions(job, split))}
        for batch in inputs.batches(splits_of(job)[split], job.fields, job.max_record_bytes):
            parsed = batch.parse()
            found = near_documents(windows, LEXICAL_CANON.tokens(parsed.texts))
            for window, place, score in zip(*(column.tolist() for column in found), strict=True):
                best[window].append((-score, by_position[int(parsed.positions[place])]))
            for window in set(
                found[0].tolist()
            ):  # those as good as the last are kept: their ids decide later
                rows = sorted(best[window])
                best[window] = [row for row in rows if row[0] <= rows[min(BEST, len(rows)) - 1][0]]
        asked = {(numbers[window], row) for window, rows in best.items() for _, row in rows}
        works = np.array([work for work, _ in asked], np.uint64)
        documents = np.array([row for _, row in asked], np.uint64) | np.uint64(split) << _HALF
        askers = ((works >> _HALF) % np.uint64(count)).astype(np.uint32)
        places = np.full(len(works), split % count, np.int64)
        yield from scatter(places, count, works, documents, askers)


def _joined(works: Sequence[Sequence[NDArray[Any]]]) -> tuple[list[int], Windows]:
    """The windows of all works as those of one text, and whose each is."""
    every = np.concatenate([np.zeros(0, np.uint64), *(one[1] for one in works)])
    stems, first, places = np.unique(every, return_index=True, return_inverse=True)
    masses = np.concatenate([np.zeros(0), *(one[2] for one in works)])[first]
    numbers: list[int] = []
    keys, windows = [np.zeros(0, np.int64)], [np.zeros(0, np.int64)]
    before = 0
    for number, own, _, own_keys, own_windows in works:
        keys.append(places.reshape(-1)[before : before + len(own)][own_keys])
        windows.append(own_windows + len(numbers))
        before += len(own)
        numbers += [int(number[0])] * (int(own_windows[-1]) + 1 if len(own_windows) else 0)
    return numbers, Windows(stems, (), masses, np.concatenate(keys), np.concatenate(windows), len(numbers))


def _give(checking: Checking, owner: int, blobs: Iterator[Any]) -> Sent:  # noqa: ARG001
    """The documents that were asked for, with their texts."""
    works, documents, askers = exchange.joined(blobs, (np.uint64, np.uint64, np.uint32))
    job, names = checking.corpus, slots(checking.works.partitions)
    for split in np.unique(documents >> _HALF).tolist():
        wanted: dict[int, list[tuple[int, int]]] = defaultdict(list)
        mine = documents >> _HALF == split
        for document, work, asker in zip(
            (documents[mine] & _ROW).tolist(), works[mine].tolist(), askers[mine].tolist(), strict=True
        ):
            if (asker, work) not in wanted[document]:  # runs of words and telling stems may lead to the same
                wanted[document].append((asker, work))
        at = _positions(job, split)
        by_position = {int(at[row]): row for row in wanted}
        for batch in inputs.batches(splits_of(job)[split], job.fields, job.max_record_bytes):
            if not any(batch.first <= position < batch.first + batch.count for position in by_position):
                continue
            parsed = batch.parse()
            for i, position in enumerate(parsed.positions):
                row = by_position.get(int(position))
                if row is None:
                    continue
                document = Document(
                    parsed.ids[i],
                    parsed.texts[i],
                    parsed.titles[i] if parsed.titles else "",
                    address=parsed.addresses[i] if parsed.addresses else "",
                )
                for asker, work in wanted[row]:
                    yield names[asker], pickle.dumps((work, document))


def _positions(job: Job, split: int) -> NDArray[np.uint32]:
    parts = storage.read_table(job.part(SIGNATURES, split), ["position"])
    return np.concatenate([np.zeros(0, np.uint32), *(part.column("position").to_numpy() for part in parts)])


def _tell(checking: Checking, splits: int, owner: int, blobs: Iterator[Any]) -> Sent:
    """Check the works of an owner against the documents that came, and write what was found."""
    found: dict[int, list[Document]] = defaultdict(list)
    for blob in blobs:
        work, document = pickle.loads(bytes(blob))  # made by the step before
        found[work].append(document)
    job = checking.works
    told = {"works": 0, "sources": 0, "fragments": 0}
    for split in range(owner, splits, job.partitions):
        rows: dict[str, list[tuple[Any, ...]]] = {CHECKS: [], SOURCES: [], FRAGMENTS: []}
        for number, name, text in _works(job, split):
            theirs = sorted(found.pop(number, []), key=_by_id)
            answer = check(
                text,
                theirs,
                shingle_words=checking.shingle_words,
                min_share=checking.min_share,
                thesaurus=checking.thesaurus,
                **checking.align,
            )
            notes = () if checking.corpus_documents else answer.notes
            answer = replace(answer, documents=checking.corpus_documents, notes=notes)
            _put(rows, name, answer)
        for stage, listed in rows.items():
            _write(job, stage, split, listed)
        told["works"] += len(rows[CHECKS])
        told["sources"] += len(rows[SOURCES])
        told["fragments"] += len(rows[FRAGMENTS])
    yield tell(told)


def _by_id(document: Document) -> str:
    return document.id


def _put(rows: dict[str, list[tuple[Any, ...]]], name: str, answer: Any) -> None:
    rows[CHECKS].append(
        (name, answer.words, answer.share, len(answer.sources), json_document(answer.to_dict()).decode())
    )
    for source in answer.sources:
        rows[SOURCES].append(
            (name, source.id, source.share, source.added, source.resemblance, source.containment)
        )
        for one in source.fragments:
            rows[FRAGMENTS].append(
                (
                    name,
                    source.id,
                    one.id,
                    one.kind,
                    one.a.start,
                    one.a.end,
                    one.b.start,
                    one.b.end,
                    one.words,
                    one.score,
                )
            )


_COLUMNS = {
    CHECKS: "work:s words:i share:f sources:i report:s",
    SOURCES: "work:s source:s share:f added:f resemblance:f containment:f",
    FRAGMENTS: "work:s source:s fragment:s kind:s start:i end:i source_start:i source_end:i words:i score:f",
}


def _write(job: Job, stage: str, split: int, rows: list[tuple[Any, ...]]) -> None:
    import pyarrow as pa

    kinds = {"s": pa.string(), "i": pa.int64(), "f": pa.float64()}
    named = [column.split(":") for column in _COLUMNS[stage].split()]
    columns = list(zip(*rows, strict=True)) if rows else [()] * len(named)
    arrays = [
        pa.array([_utf8(v) if kind == "s" else v for v in column], kinds[kind])
        for column, (_, kind) in zip(columns, named, strict=True)
    ]
    table = pa.table(arrays, names=[name for name, _ in named])
    storage.write_table(job.part(stage, split), iter([table]), table.schema)


def _utf8(text: str) -> str:
    return text.encode("utf-8", "backslashreplace").decode()
