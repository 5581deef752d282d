"""Dedupe on Spark: against Spark MLlib's own MinHashLSH pipeline, against one machine, and how its cost grows.

    python benchmarks/spark.py corpus.jsonl                     ours, MLlib and one machine on this file
    python benchmarks/spark.py corpus.jsonl --sizes 1000,10000  the growth: CPU, bytes sent, bytes stored, one machine

Costs are CPU seconds of all processes (the JVM with its compiler and collector, and the Python workers), so a busy
machine changes little. Starting Spark, and one small job that loads what is needed, is not counted for anybody. The
rate of a core is megabytes of text for each CPU second; the further rate leaves out what a run over 300 documents (or
over the smallest of the sizes) takes as well, which is the planning of Spark and no work on texts. With --save the
growth is written down for scale.py, which makes the tables of docs/explanation/scale.md of it.
"""

from __future__ import annotations

import argparse
import json
import shutil
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import psutil

from doublet.spark.dedupe import dedupe
from doublet.spark.session import open_session, shuffled_bytes

THRESHOLD, SHINGLE_WORDS = 0.8, 5
MLLIB_TABLES = 8  #: hash tables of MinHashLSH: recall of about 0.8 at the threshold; more tables cost more


def cpu_seconds(name: str = "") -> float:
    """Of this process and all that it started, those that are gone included where the system tells; or of those with
    this name alone."""
    total = 0.0
    for process in (psutil.Process(), *psutil.Process().children(recursive=True)):
        try:
            times = process.cpu_times()
            if name and process.name() != name:
                continue
        except psutil.NoSuchProcess:
            continue
        total += times.user + times.system + (times.children_user + times.children_system) * (not name)
    return total


def measured(work: Callable[[], Any]) -> tuple[float, float, Any]:
    """CPU seconds, wall seconds, and what *work* gives."""
    cpu, wall = cpu_seconds(), time.perf_counter()
    found = work()
    return cpu_seconds() - cpu, time.perf_counter() - wall, found


def first(path: Path, count: int, folder: Path) -> Path:
    """The first documents of a file, as a file."""
    out = folder / f"{count}.jsonl"
    with path.open("rb") as source, out.open("wb") as target:
        for _, line in zip(range(count), source, strict=False):
            target.write(line)
    return out


def text_bytes(path: Path) -> tuple[int, int]:
    documents = size = 0
    with path.open("rb") as file:
        for line in file:
            documents += 1
            size += len(json.loads(line)["text"].encode("utf-8", "replace"))
    return documents, size


def ours(spark: Any, path: Path, folder: Path, **options: Any) -> Any:
    out = folder / "run"
    shutil.rmtree(out, ignore_errors=True)
    return dedupe(
        spark,
        [str(path)],
        str(out),
        method="shingles",
        threshold=THRESHOLD,
        shingle_words=SHINGLE_WORDS,
        stop_after="groups",  # one machine writes no kept documents here either
        **options,
    )


def mllib(spark: Any, path: Path) -> int:
    """The pipeline of MLlib's documentation: words, runs of words, a vector, MinHash, the similarity join."""
    from pyspark.ml import Pipeline
    from pyspark.ml.feature import HashingTF, MinHashLSH, NGram, RegexTokenizer

    spark.conf.set("spark.sql.execution.arrow.maxRecordsPerBatch", "10000")
    rows = spark.read.json(str(path)).select("id", "text")
    steps = Pipeline(
        stages=[
            RegexTokenizer(inputCol="text", outputCol="words", pattern=r"\W+", gaps=True),
            NGram(n=SHINGLE_WORDS, inputCol="words", outputCol="runs"),
            HashingTF(inputCol="runs", outputCol="features", numFeatures=1 << 20, binary=True),
        ]
    )
    vectors = steps.fit(rows).transform(rows).where("size(runs) > 0").select("id", "features")
    model = MinHashLSH(inputCol="features", outputCol="hashes", numHashTables=MLLIB_TABLES, seed=1).fit(
        vectors
    )
    pairs = model.approxSimilarityJoin(vectors, vectors, 1 - THRESHOLD, distCol="distance")
    return int(pairs.where("datasetA.id < datasetB.id").count())


def one_machine(path: Path) -> Any:
    from doublet.jobs.dedupe import dedupe_inputs
    from doublet.sources.open import open_source

    with open_source([str(path)]) as source:
        return dedupe_inputs(source, method="shingles", threshold=THRESHOLD, shingle_words=SHINGLE_WORDS)


def simulate(path: Path, sizes: list[int]) -> None:
    """How many candidates sketches make, for growing parts of a real collection: pairs that are near, and chance.

    Pairs of near copies grow with the documents, pairs by chance with their square. Both are printed as factors.
    """
    import numpy as np

    from doublet import kernels
    from doublet.signatures import method as make_method

    exact = make_method("shingles", shingle_words=SHINGLE_WORDS)
    sketch: Any = make_method("minhash", threshold=THRESHOLD, recall=0.99, shingle_words=SHINGLE_WORDS)
    with path.open("rb") as file:
        texts = [json.loads(line)["text"] for _, line in zip(range(max(sizes)), file, strict=False)]
    values, offsets, _, _ = exact.sets(texts)  # type: ignore[attr-defined]
    keys = sketch.band_keys(kernels.minima(values, offsets, sketch.factors, sketch.terms))
    store = kernels.SetStore(1 << 32, "", 1)
    store.add(values, offsets)
    full = store.sizes() > 0
    for size in sizes:
        count = min(size, len(texts))
        pairs: set[tuple[int, int]] = set()
        for band in range(keys.shape[1]):
            order = np.argsort(keys[:count, band], kind="stable")
            order = order[full[order]]
            column = keys[order, band]
            starts = np.flatnonzero(np.concatenate([[True], column[1:] != column[:-1]]))
            for start, end in zip(starts, np.append(starts[1:], len(column)), strict=True):
                members = np.sort(order[start:end])[:200].tolist()
                pairs.update((a, b) for i, a in enumerate(members) for b in members[i + 1 :])
        left, right = (np.array([pair[i] for pair in sorted(pairs)], np.uint32) for i in (0, 1))
        common = store.overlaps(left, right).astype(float)
        sizes_of = store.sizes().astype(float)
        like = common / np.maximum(sizes_of[left] + sizes_of[right] - common, 1)
        near, chance = int((like >= 0.3).sum()), int((like < 0.3).sum())
        row = {"documents": count, "bands": sketch.bands, "rows": sketch.rows, "candidates": len(pairs)}
        row |= {"verified": int((like >= THRESHOLD).sum()), "near": near, "chance": chance}
        print(
            json.dumps(row | {"near_per_document": near / count, "chance_per_pair": chance / (count**2 / 2)}),
            flush=True,
        )


def growth(spark: Any, corpus: Path, count: int, folder: Path) -> dict[str, Any]:
    """What the first documents of a file cost on Spark, and on one machine."""
    part = first(corpus, count, folder)
    documents, size = text_bytes(part)
    sent = shuffled_bytes(spark)
    java = cpu_seconds("java")
    cpu, wall, done = measured(lambda: ours(spark, part, folder))
    java = cpu_seconds("java") - java
    sent = shuffled_bytes(spark) - sent
    shutil.rmtree(folder / "run")
    # Spark's processes may go away while it rests, and what they used goes with them: this process alone counts here.
    begun, since = time.process_time(), time.perf_counter()
    here = one_machine(part)
    alone, alone_wall = time.process_time() - begun, time.perf_counter() - since
    assert done.removed == sum(len(group.members) for group in here.groups)
    row = {
        "documents": documents,
        "text_bytes": size,
        "cpu_s": round(cpu, 2),
        "java_cpu_s": round(java, 2),
        "seconds": round(wall, 2),
        "one_machine_cpu_s": round(alone, 2),
        "one_machine_seconds": round(alone_wall, 2),
        "sent_bytes": sent,
        "stored_bytes": sum(figures["bytes"] for figures in done.stages.values()),
        "candidates": done.candidates,
        "pairs": done.pairs,
        "removed": done.removed,
        "stage_seconds": {name: figures["seconds"] for name, figures in done.stages.items()},
    }
    print(json.dumps(row), flush=True)
    return row


def _rates(
    told: dict[str, Any],
    name: str,
    work: Callable[[Path], Any],
    small: Path,
    corpus: Path,
    size: int,
    less: int,
) -> Any:
    """Megabytes for each CPU second, as the run is and without what a run over a few documents takes as well."""
    work(small)
    fixed, _, _ = measured(lambda: work(small))
    cpu, _, found = measured(lambda: work(corpus))
    told[f"{name}_fixed_cpu_s"] = round(fixed, 2)
    told[f"{name}_mb_per_cpu_s"] = round(size / 1e6 / cpu, 3)
    told[f"{name}_mb_per_further_cpu_s"] = round((size - less) / 1e6 / max(1e-9, cpu - fixed), 3)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("corpus", type=Path)
    parser.add_argument("--sizes", default="", help="numbers of documents, for the growth")
    parser.add_argument("--save", type=Path, help="with --sizes: a file for the figures")
    parser.add_argument("--master", default="local[2]")
    parser.add_argument("--without", default="", help="mllib: leave it out")
    parser.add_argument("--folder", type=Path)
    parser.add_argument("--conf", action="append", default=[], help="NAME=VALUE: a setting of Spark")
    parser.add_argument(
        "--simulate", action="store_true", help="count the candidates of sketches, without Spark"
    )
    given = parser.parse_args()
    if given.simulate:
        simulate(given.corpus, [int(n) for n in given.sizes.split(",")])
        return
    folder = given.folder or Path(tempfile.mkdtemp(prefix="doublet-spark-"))
    settings = dict(one.split("=", 1) for one in given.conf)
    if not given.sizes:  # for MLlib Java is as it is on its own
        settings.setdefault("spark.driver.defaultJavaOptions", "-XX:+UseG1GC")
    spark = open_session(
        given.master, {"spark.driver.memory": "3g", "spark.local.dir": str(folder), **settings}
    )
    spark.sparkContext.setLogLevel("ERROR")
    small = first(given.corpus, 300, folder)
    ours(spark, small, folder)
    rows = [growth(spark, given.corpus, int(n), folder) for n in given.sizes.split(",") if n]
    if given.save:
        known = json.loads(given.save.read_text(encoding="utf-8")) if given.save.exists() else {}
        known |= {"spark": spark.version, "master": given.master, "sizes": rows}
        given.save.write_text(json.dumps(known, indent=1) + "\n", encoding="utf-8")
    if not given.sizes:
        documents, size = text_bytes(given.corpus)
        _, less = text_bytes(small)
        told: dict[str, Any] = {"documents": documents, "text_mb": round(size / 1e6, 2)}
        here = _rates(told, "one_machine", one_machine, small, given.corpus, size, less)
        done = _rates(told, "spark", lambda path: ours(spark, path, folder), small, given.corpus, size, less)
        assert done.removed == sum(len(group.members) for group in here.groups)
        told["removed"] = done.removed
        print(json.dumps(told), flush=True)
        if given.without != "mllib":
            told["mllib_pairs"] = _rates(
                told, "mllib", lambda path: mllib(spark, path), small, given.corpus, size, less
            )
            print(json.dumps(told), flush=True)
    spark.stop()
    if given.folder is None:
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    sys.exit(main())
