"""Signatures of a collection with any method, over Spark: a row for each document, as `doublet.signatures`
makes them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from doublet.progress import Progress
from doublet.signatures import in_parts, to_bytes
from doublet.sources.records import Fields
from doublet.spark import dedupe as jobs
from doublet.spark import exchange, inputs, stages, storage
from doublet.spark.exchange import Sent, tell
from doublet.spark.job import Job, memory_of, methods_of, splits_of
from doublet.text.tokens import forget_words

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

SIGNED = "signed"


def sign(
    spark: SparkSession,
    addresses: Sequence[str],
    out: str,
    *,
    method: str = "shingles",
    fields: Fields | None = None,
    partitions: int | None = None,
    splits: int | None = None,
    restart: bool = False,
    progress: Progress | None = None,
    **parameters: Any,
) -> dict[str, Any]:
    """Write the signatures of all documents, and what later jobs (dedupe, check) need of them, to *out*."""
    progress = Progress.of(progress)
    options = {"method": method, "fields": fields, "partitions": partitions, "splits": splits, **parameters}
    first = jobs.dedupe(
        spark, addresses, out, stop_after="signatures", restart=restart, progress=progress, **options
    )
    job, state = stages.open_finished(out)
    run = stages.Run(job, inputs.Listing(splits_of(job)), state)
    run.depend(state["stages"]["signatures"]["key"])

    def work() -> dict[str, Any]:
        found = exchange.answers(exchange.begin(spark, run.splits, partial(_sign_split, job)))
        return {name: sum(one[name] for one in found) for name in ("documents", "signed")}

    figures = run.stage(SIGNED, work, progress)
    return {
        "out": job.out,
        "documents": figures["documents"],
        "signed": figures["signed"],
        "outcomes": dict(first.outcomes),
        "stages": run.figures(),
        "reused": [*first.reused, *run.reused],
    }


def _sign_split(job: Job, split: int) -> Sent:
    import pyarrow as pa

    methods = methods_of(job)
    memory = memory_of(methods)
    schema = pa.schema([("id", pa.string()), ("signature", pa.binary()), ("size", pa.int64())])
    told = {"documents": 0, "signed": 0}

    def tables() -> Iterator[Any]:
        for batch in inputs.batches(splits_of(job)[split], job.fields, job.max_record_bytes):
            parsed = batch.parse()
            done = 0
            for part in in_parts(parsed.texts):
                found = methods.method.sign_texts(part)
                names = parsed.ids[done : done + len(part)]
                done += len(part)
                told["documents"] += len(part)
                told["signed"] += sum(one is not None for one in found)
                if memory.words is not None:
                    forget_words(memory.words)
                yield pa.table(
                    [
                        pa.array(
                            [name.encode("utf-8", "backslashreplace").decode() for name in names], pa.string()
                        ),
                        pa.array([None if one is None else to_bytes(one) for one in found], pa.binary()),
                        pa.array([None if one is None else one.size for one in found], pa.int64()),
                    ],
                    schema=schema,
                )

    storage.write_table(job.part(SIGNED, split), tables(), schema)
    yield tell(told)
