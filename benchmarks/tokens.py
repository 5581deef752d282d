"""From text in memory to words, stems and signatures: MB of UTF-8 per CPU second on one core, next to
other ways.

    python benchmarks/tokens.py ru en

Every run gets strings that were just read, because CPython keeps the UTF-8 form of a string once somebody
asked for it. Our calls get batches of 1000 texts, as `dedupe` makes them.
"""

from __future__ import annotations

import argparse
import os
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from measure import cores, corpus_path, megabytes, read_texts, save, table, timed
from rivals import FUNCTIONS, shingles

BATCH = 1000
WARM_UP = 10  #: texts that load the modules and tables of a way, before it is measured
WORD = re.compile(r"\w+")
Work = Callable[[list[str]], Any]


@dataclass(frozen=True)
class Row:
    corpus: str
    job: str
    way: str
    cpu_s: float
    mb_per_s: float
    times_ours: float = 0.0  #: time of this way / our time for the same job


def batches(texts: Sequence[str]) -> Iterator[list[str]]:
    for start in range(0, len(texts), BATCH):
        yield list(texts[start : start + BATCH])


def our_words(texts: list[str]) -> None:
    """All folding undone, places, flags of disguise and of stop words."""
    from doublet import kernels
    from doublet.text.tokens import Canon

    stop = Canon(stop_words=True).stop_hashes
    for batch in batches(texts):
        kernels.tokenize(batch, stop, None, 1)


def our_stems(texts: list[str]) -> None:
    from doublet.text.tokens import Canon

    canon = Canon(reduce="stem")
    for batch in batches(texts):
        canon.tokens(batch)


def our_signatures(texts: list[str]) -> None:
    from doublet.signatures import method

    minhash = method("minhash", shingle_words=5, functions=FUNCTIONS)
    for batch in batches(texts):
        minhash.sign_texts(batch)


def plain_words(texts: list[str]) -> None:
    for text in texts:
        WORD.findall(text.lower())


def pystemmer(language: str) -> Work:
    def work(texts: list[str]) -> None:
        import Stemmer

        stemmer = Stemmer.Stemmer(language, 0)  # its own cache makes it slower
        for text in texts:
            stemmer.stemWords(WORD.findall(text.lower()))

    return work


def rensa_signatures(texts: list[str]) -> None:
    from rensa import RMinHash

    for text in texts:
        RMinHash(num_perm=FUNCTIONS, seed=42).update(list(shingles(text)))


def datasketch_signatures(texts: list[str]) -> None:
    from datasketch import MinHash

    for text in texts:
        MinHash(num_perm=FUNCTIONS, seed=1).update_batch([s.encode() for s in shingles(text)])


def jobs(language: str) -> list[tuple[str, str, Work]]:
    """(what is made, by what, how); the first way of each job is ours."""
    return [
        ("words", "doublet: folded, with places and flags", our_words),
        ("words", "str.lower and re \\w+, no places", plain_words),
        ("stems", "doublet: folded, with places and flags", our_stems),
        ("stems", "str.lower, re \\w+ and PyStemmer", pystemmer(language)),
        ("signatures", "doublet: 128 functions, word 5-grams", our_signatures),
        ("signatures", "re and rensa RMinHash", rensa_signatures),
        ("signatures", "re and datasketch", datasketch_signatures),
    ]


def measure(path: Path, *, limit: int, runs: int) -> list[Row]:
    language = "russian" if path.stem.startswith("ru") else "english"
    size = megabytes(read_texts(path, limit))
    out: list[Row] = []
    ours: dict[str, float] = {}
    for job, way, work in jobs(language):
        warm_up = read_texts(path, WARM_UP)
        cpu = timed(work, fresh=lambda: read_texts(path, limit), runs=runs, warm_up=warm_up).cpu_s
        ours.setdefault(job, cpu)
        out.append(Row(path.stem, job, way, cpu, size / cpu, cpu / ours[job]))
    return out


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n")[0])
    parser.add_argument("names", nargs="+", help="ru, en, or the path of a JSONL file")
    parser.add_argument("--limit", type=int, default=10_000, help="only the first so many documents")
    parser.add_argument("--runs", type=int, default=3)
    given = parser.parse_args()
    os.sched_setaffinity(0, cores(1))
    rows = []
    for name in given.names:
        path = corpus_path(name)
        rows += measure(path, limit=given.limit, runs=given.runs)
    print(
        table(
            ["corpus", "job", "way", "CPU s", "MB/s", "× our time"],
            [list(vars(row).values()) for row in rows],
        )
    )
    save("tokens", rows, limit=given.limit, runs=given.runs)


if __name__ == "__main__":
    main()
