"""TF-RIDF weights a second, over all words of all documents of a collection.

    python benchmarks/weights.py ru en

Weights are counted, one for each different word of each document. The words and their counts are there
already, as they are in a stored library; the last row starts from the text.
"""

from __future__ import annotations

import argparse
import math
import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from measure import cores, corpus_path, read_texts, save, table, timed

BATCH = 1000


@dataclass(frozen=True)
class Row:
    corpus: str
    way: str
    weights: int
    cpu_s: float
    millions_per_s: float


def measure(path: Path, *, limit: int, runs: int) -> list[Row]:
    from doublet.signatures import CollectionStatistics, method
    from doublet.signatures.statistics import LEXICAL_CANON, count_words
    from doublet.signatures.tfridf import tfridf_weights

    texts = read_texts(path, limit)
    batches = [LEXICAL_CANON.tokens(texts[i : i + BATCH], words=True) for i in range(0, len(texts), BATCH)]
    statistics = CollectionStatistics()
    for batch in batches:
        statistics.add(batch)
    counted = [count_words(batch) for batch in batches]
    tf = np.concatenate([rows.counts for rows in counted]).astype(np.float64)
    tf_max = np.concatenate(
        [np.maximum.reduceat(rows.counts, rows.offsets[:-1])[rows.texts] for rows in counted]
    ).astype(np.float64)
    names = [
        [batch.vocabulary[i] for i in rows.ids.tolist()] for batch, rows in zip(batches, counted, strict=True)
    ]
    df = np.concatenate([statistics.df(some) for some in names])
    cf = np.concatenate([statistics.cf(some) for some in names])
    documents = statistics.documents

    def plain(_: object) -> list[float]:
        rows = zip(tf.tolist(), tf_max.tolist(), df.tolist(), cf.tolist(), strict=True)
        return [
            (0.5 + 0.5 * t / m) * (math.log(documents / d) + math.log(1.0 - math.exp(-c / documents)))
            for t, m, d, c in rows
        ]

    signing = method("tfridf", statistics)

    def signatures(given: list[str]) -> None:
        for start in range(0, len(given), BATCH):
            signing.sign_texts(given[start : start + BATCH])

    ways: list[tuple[str, Callable[[Any], Any], Callable[[], Any]]] = [
        ("doublet: tfridf_weights", lambda _: tfridf_weights(tf, tf_max, df, cf, documents), lambda: None),
        ("the formula in a Python loop", plain, lambda: None),
        ("doublet: text to tfridf signatures", signatures, lambda: read_texts(path, limit)),
    ]
    out = []
    for name, work, fresh in ways:
        cpu = timed(work, fresh=fresh, runs=runs).cpu_s
        out.append(Row(path.stem, name, len(tf), cpu, len(tf) / cpu / 1e6))
    return out


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n")[0])
    parser.add_argument("names", nargs="+", help="ru, en, or the path of a JSONL file")
    parser.add_argument("--limit", type=int, default=0, help="only the first so many documents")
    parser.add_argument("--runs", type=int, default=3)
    given = parser.parse_args()
    os.sched_setaffinity(0, cores(1))
    rows = []
    for name in given.names:
        path = corpus_path(name)
        rows += measure(path, limit=given.limit, runs=given.runs)
    print(
        table(
            ["corpus", "way", "weights", "CPU s", "million a second"],
            [list(vars(row).values()) for row in rows],
        )
    )
    save("weights", rows, limit=given.limit, runs=given.runs)


if __name__ == "__main__":
    main()
