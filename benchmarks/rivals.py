"""Other programs doing the job of `doublet dedupe`: JSONL file in, pairs of similar documents out. One
run, one process.

    python benchmarks/rivals.py gaoya FILE.jsonl PAIRS.npy [--workers 2] [--limit N]

Settings are the same for all: words are `\\w+` of the lower-cased text (each program's own word splitter
where it has one), runs of five words, 128 hash functions in 16 bands of 8, threshold 0.8, candidates
filtered by the sketch's own estimate. The clock starts after the imports, with the opening of the file,
which is kinder to them than to us: our command is timed from the start of its process to its end. Prints
one line of JSON with the times by stage.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import re
import resource
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from measure import read_texts

THRESHOLD = 0.8
FUNCTIONS, BANDS, ROWS = 128, 16, 8
WORD = re.compile(r"\w+")
Found = set[tuple[int, int]]


class Clock:
    """CPU (with finished children) and wall seconds of the stages of a run."""

    def __init__(self) -> None:
        self.stages: dict[str, dict[str, float]] = {}
        self._last = self._now()

    @staticmethod
    def _now() -> tuple[float, float]:
        children = resource.getrusage(resource.RUSAGE_CHILDREN)
        return time.process_time() + children.ru_utime + children.ru_stime, time.perf_counter()

    def stage(self, name: str) -> None:
        cpu, wall = self._now()
        self.stages[name] = {"cpu_s": cpu - self._last[0], "wall_s": wall - self._last[1]}
        self._last = (cpu, wall)

    def total(self, kind: str) -> float:
        return sum(stage[kind] for stage in self.stages.values())


def shingles(text: str) -> set[str]:
    words = WORD.findall(text.lower())
    if len(words) < 5:
        return {" ".join(words)}
    return set(map(" ".join, zip(words, words[1:], words[2:], words[3:], words[4:], strict=False)))


def pooled(work: Callable[[Sequence[str]], list[Any]], texts: list[str], workers: int) -> list[Any]:
    """*work* over batches of texts, in this process or in several."""
    batches = [texts[i : i + 500] for i in range(0, len(texts), 500)]
    if workers == 1:
        return [item for batch in batches for item in work(batch)]
    with multiprocessing.get_context("fork").Pool(workers) as pool:
        out = [item for part in pool.imap(work, batches) for item in part]
        pool.close()
        pool.join()
    return out


def gaoya(texts: list[str], clock: Clock, workers: int) -> Found:
    """With its own word splitter in Rust: a Python callable would make it four times slower."""
    from gaoya.minhash import MinHashStringIndex

    index = MinHashStringIndex(
        hash_size=32,
        jaccard_threshold=THRESHOLD,
        num_bands=BANDS,
        band_size=ROWS,
        num_hashes=FUNCTIONS,
        analyzer="word",
        lowercase=True,
        ngram_range=(5, 5),
    )
    if workers == 1:
        for i, text in enumerate(texts):
            index.insert_document(i, text)
        clock.stage("signatures")
        near: Iterator[Any] = map(index.query, texts)
    else:
        index.par_bulk_insert_docs(list(range(len(texts))), texts)
        clock.stage("signatures")
        near = iter(index.par_bulk_query(texts))
    out = {(min(i, j), max(i, j)) for i, others in enumerate(near) for j in others if i != j}
    clock.stage("pairs")
    return out


def _rensa_batch(texts: Sequence[str]) -> list[Any]:
    from rensa import RMinHash

    out = []
    for text in texts:
        sketch = RMinHash(num_perm=FUNCTIONS, seed=42)
        sketch.update(list(shingles(text)))
        out.append(sketch)
    return out


def rensa(texts: list[str], clock: Clock, workers: int) -> Found:
    """RMinHash: its quicker sketches (rho) only flag documents and miss four in ten of the true copies."""
    from rensa import RMinHashLSH

    sketches = pooled(_rensa_batch, texts, workers)
    clock.stage("signatures")
    index = RMinHashLSH(threshold=THRESHOLD, num_perm=FUNCTIONS, num_bands=BANDS)
    out: Found = set()
    for i, sketch in enumerate(sketches):
        out.update((j, i) for j in index.query(sketch) if sketches[j].jaccard(sketch) >= THRESHOLD)
        index.insert(i, sketch)
    clock.stage("pairs")
    return out


def _datasketch_batch(texts: Sequence[str]) -> list[Any]:
    from datasketch import MinHash

    out = []
    for text in texts:
        sketch = MinHash(num_perm=FUNCTIONS, seed=1)
        sketch.update_batch([s.encode() for s in shingles(text)])
        out.append(sketch)
    return out


def datasketch(texts: list[str], clock: Clock, workers: int) -> Found:
    from datasketch import MinHashLSH

    sketches = pooled(_datasketch_batch, texts, workers)
    clock.stage("signatures")
    index = MinHashLSH(num_perm=FUNCTIONS, params=(BANDS, ROWS))
    out: Found = set()
    for i, sketch in enumerate(sketches):
        out.update((j, i) for j in index.query(sketch) if sketches[j].jaccard(sketch) >= THRESHOLD)
        index.insert(i, sketch)
    clock.stage("pairs")
    return out


def datatrove(texts: list[str], clock: Clock, workers: int) -> Found:
    """Its four stages with local files; gives what it removes, as pairs of a document with itself."""
    from datatrove.executor import LocalPipelineExecutor
    from datatrove.pipeline.dedup import MinhashDedupSignature
    from datatrove.pipeline.dedup.minhash import (
        MinhashConfig,
        MinhashDedupBuckets,
        MinhashDedupCluster,
        MinhashDedupFilter,
    )
    from datatrove.pipeline.readers import JsonlReader
    from datatrove.pipeline.writers import JsonlWriter
    from datatrove.utils.hashing import HashConfig

    with tempfile.TemporaryDirectory() as folder:
        base = Path(folder)
        (base / "in").mkdir()
        lines = [json.dumps({"id": str(i), "text": text}) for i, text in enumerate(texts)]
        step = -(-len(lines) // workers)
        for i in range(workers):
            part = lines[i * step : (i + 1) * step]
            (base / "in" / f"{i}.jsonl").write_text("\n".join(part) + "\n", encoding="utf-8")
        clock.stage("input")
        del clock.stages["input"]  # laying the texts out as it wants them is not its work
        config = MinhashConfig(
            hash_config=HashConfig(precision=64), n_grams=5, num_buckets=14, hashes_per_bucket=8, seed=1
        )
        reader = JsonlReader(str(base / "in"))
        stages = [
            (workers, [reader, MinhashDedupSignature(str(base / "signatures"), config=config)]),
            (14, [MinhashDedupBuckets(str(base / "signatures"), str(base / "buckets"), config=config)]),
            (1, [MinhashDedupCluster(str(base / "buckets"), str(base / "remove"), config=config)]),
            (
                workers,
                [
                    reader,
                    MinhashDedupFilter(str(base / "remove")),
                    JsonlWriter(str(base / "out"), compression=None),
                ],
            ),
        ]
        for number, (tasks, pipeline) in enumerate(stages):
            LocalPipelineExecutor(
                pipeline=pipeline, tasks=tasks, workers=workers, logging_dir=str(base / f"log{number}")
            ).run()
            clock.stage(f"stage {number + 1}")
        kept = {
            int(json.loads(line)["id"])
            for file in (base / "out").rglob("*.jsonl")
            for line in file.read_text(encoding="utf-8").splitlines()
        }
    return {(i, i) for i in range(len(texts)) if i not in kept}


RIVALS: dict[str, Callable[[list[str], Clock, int], Found]] = {
    "gaoya": gaoya,
    "rensa": rensa,
    "datasketch": datasketch,
    "datatrove": datatrove,
}
FLAGS_ONLY = {"datatrove"}  # tell what they remove, not for which document


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n")[0])
    parser.add_argument("rival", choices=RIVALS)
    parser.add_argument("corpus", type=Path)
    parser.add_argument("pairs", type=Path)
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--limit", type=int, default=0)
    given = parser.parse_args()
    try:
        __import__(given.rival)
    except ImportError as error:
        sys.exit(f"{given.rival} is not installed ({error}): pip install 'doublet[bench]'")
    import orjson  # noqa: F401  # reading is timed, importing is not

    clock = Clock()
    texts = read_texts(given.corpus, given.limit)
    clock.stage("reading")
    found = RIVALS[given.rival](texts, clock, given.workers)
    np.save(given.pairs, np.array(sorted(found), np.int64).reshape(-1, 2))
    clock.stage("writing")
    print(
        json.dumps({"cpu_s": clock.total("cpu_s"), "wall_s": clock.total("wall_s"), "stages": clock.stages})
    )


if __name__ == "__main__":
    main()
