"""What a method has to know about the words of the whole collection, gathered over Spark: the same as on one machine.

Splits count their words, the counts are added up in parts, and one task writes them. For pivot
words only a sample of the documents is looked at: those with the smallest hashes of their content.
"""

from __future__ import annotations

import pickle
import zlib
from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from doublet.jobs.dedupe.options import own_parameters
from doublet.signatures import METHODS, CollectionStatistics, PivotWords, in_parts
from doublet.signatures.parameters import make
from doublet.signatures.pivot import content_hashes
from doublet.signatures.statistics import count_words
from doublet.spark import exchange, inputs, storage
from doublet.spark.exchange import Sent, slots, tell
from doublet.spark.frames import ROWS, stage_tables
from doublet.spark.job import Job, splits_of
from doublet.text.tokens import forget_words

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

STATISTICS = "statistics"
_WORDS_BYTES = 64_000_000
_AT_ONCE = 5_000  # words in a blob


def gather(spark: SparkSession, job: Job, splits: int) -> dict[str, Any]:
    """Write the statistics of the collection to the folder of the run."""
    if job.method == "pivot":
        return _choose_pivots(spark, job, splits)
    counted = exchange.begin(spark, splits, partial(_count_split, job))
    summed = exchange.then(counted, job.partitions, partial(_add_up, job))
    words, documents = exchange.answers(exchange.then(summed, 1, partial(_write, job)))[0]
    return {"words": words, "documents": documents}


def _choose_pivots(spark: SparkSession, job: Job, splits: int) -> dict[str, Any]:
    documents = sum(exchange.answers(exchange.begin(spark, splits, partial(_sample_split, job))))
    wanted = _parameters(job).sample
    share = min(1.0, 1.2 * wanted / max(1, documents))  # of all hashes that are small enough
    while True:
        sent = exchange.begin(spark, splits, partial(_send_sample, job, share))
        words, found = exchange.answers(exchange.then(sent, 1, partial(_choose, job)))[0]
        if found >= wanted or share >= 1.0:
            return {"words": words, "documents": documents, "sample": found}
        share = min(1.0, 4 * share)  # many documents had the same content


def _parameters(job: Job) -> Any:
    own = own_parameters(job.method, dict(job.parameters))
    return make(METHODS[job.method].parameters_type, own, method=job.method)


def _texts(job: Job, split: int) -> Iterator[str]:
    for batch in inputs.batches(splits_of(job)[split], job.fields, job.max_record_bytes):
        yield from batch.parse().texts


def _count_split(job: Job, split: int) -> Sent:
    counts = CollectionStatistics(_parameters(job).canon)
    for part in in_parts(_texts(job, split)):
        counts.add_texts(part)
        forget_words(_WORDS_BYTES)
    yield from _send(
        job.partitions, counts.documents, [(word, *both) for word, both in counts.counts().items()]
    )


def _send(partitions: int, documents: int, rows: list[tuple[str, int, int]]) -> Sent:
    """Words with their counts to the places where they are added up; the number of documents goes to the first."""
    names = slots(partitions)
    by_place: list[list[tuple[str, int, int]]] = [[] for _ in names]
    for row in rows:
        by_place[zlib.crc32(row[0].encode("utf-8", "surrogatepass")) % partitions].append(row)
    for name, some in zip(names, by_place, strict=True):
        for at in range(0, len(some), _AT_ONCE):
            yield name, pickle.dumps((0, some[at : at + _AT_ONCE]))
    yield names[0], pickle.dumps((documents, []))


def _summed(blobs: Iterator[Any]) -> tuple[int, dict[str, tuple[int, int]]]:
    documents, total = 0, dict[str, tuple[int, int]]()
    for blob in blobs:
        count, rows = pickle.loads(bytes(blob))  # made by the step before
        documents += count
        for word, df, cf in rows:
            known = total.get(word, (0, 0))
            total[word] = known[0] + df, known[1] + cf
    return documents, total


def _add_up(job: Job, place: int, blobs: Iterator[Any]) -> Sent:  # noqa: ARG001 - the form of all steps
    documents, total = _summed(blobs)
    yield from _send(1, documents, [(word, *both) for word, both in total.items()])


def _write(job: Job, place: int, blobs: Iterator[Any]) -> Sent:  # noqa: ARG001
    documents, total = _summed(blobs)
    df, cf = (np.array([both[i] for both in total.values()], np.int64) for i in (0, 1))
    found = CollectionStatistics.from_counts(list(total), df, cf, documents, _parameters(job).canon)
    storage.write_bytes(job.at(STATISTICS, "words.bin"), found.to_bytes())
    yield tell([len(total), documents])


def _sample_split(job: Job, split: int) -> Sent:
    """The texts of a split that can be in the sample: those with the smallest hashes."""
    import pyarrow as pa

    parameters = _parameters(job)
    contents, texts = np.zeros(0, np.uint64), np.zeros(0, object)
    documents = 0
    for part in in_parts(_texts(job, split)):
        batch = parameters.canon.tokens(part, words=True)
        counted = count_words(batch)
        filled = np.flatnonzero(np.diff(counted.offsets))
        documents += len(part)
        some = np.empty(len(part), object)
        some[:] = part
        contents = np.concatenate([contents, content_hashes(batch, counted)])
        texts = np.concatenate([texts, some[filled]])
        contents, first = np.unique(contents, return_index=True)
        contents, texts = contents[: parameters.sample], texts[first[: parameters.sample]]
        forget_words(_WORDS_BYTES)
    schema = pa.schema([("content", pa.binary()), ("text", pa.string())])

    def tables() -> Iterator[Any]:
        for at in range(0, len(contents), ROWS):
            keys = [int(one).to_bytes(8, "big") for one in contents[at : at + ROWS].tolist()]
            spelled = [text.encode("utf-8", "replace").decode() for text in texts[at : at + ROWS].tolist()]
            yield pa.table([pa.array(keys, pa.binary()), pa.array(spelled, pa.string())], schema=schema)

    storage.write_table(job.part(STATISTICS, split), tables(), schema)
    yield tell(documents)


def _send_sample(job: Job, share: float, split: int) -> Sent:
    (name,) = slots(1)
    most = min((1 << 64) - 1, int(share * (1 << 64))).to_bytes(8, "big")
    for table in stage_tables(job, STATISTICS, split):
        rows = zip(table.column("content").to_pylist(), table.column("text").to_pylist(), strict=True)
        for content, text in rows:
            if content <= most:
                yield name, pickle.dumps((content, text))


def _choose(job: Job, place: int, blobs: Iterator[Any]) -> Sent:  # noqa: ARG001
    parameters = _parameters(job)
    found = dict(pickle.loads(bytes(blob)) for blob in blobs)  # made by the step before
    chosen = [found[content] for content in sorted(found)[: parameters.sample]]
    words = PivotWords.choose(
        parameters, (parameters.canon.tokens(part, words=True) for part in in_parts(chosen))
    )
    storage.write_bytes(job.at(STATISTICS, "words.bin"), words.to_bytes())
    yield tell([len(words), len(chosen)])
