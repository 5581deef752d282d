"""Libraries: how quickly documents go in, how quickly a text is checked, and which passages are found.

    python benchmarks/store.py                            100 thousand documents into SQLite, and all tables
    python benchmarks/store.py --documents 10000          smaller
    python benchmarks/store.py --documents 1000000 --only check batches    the curve to a million
    python benchmarks/store.py --database postgresql://…  the same on PostgreSQL (an empty database)

The documents are two of benchmarks/data/million.jsonl each (about 400 words; see corpus.py); from half a million on
its texts are used a second time, paired otherwise. A check has 1,000 words:
two passages of 60 words from the library inside words in random order, which match nothing: prose like that of the
library leads to more candidates and takes about twice the time. Times are wall time; CPU seconds stand beside
them, because the machine may be busy.
"""

from __future__ import annotations

import argparse
import functools
import json
import os
import random
import statistics
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any

import orjson

from doublet.jobs.check_library import check_library
from doublet.jobs.index_library import index_library
from doublet.model import Document
from doublet.store.database import Store
from measure import DATA, RESULTS, machine

LENGTHS = (20, 25, 30, 40, 60, 80, 120)
WORK_WORDS = 10_000
SEED = 7
IN_MEMORY = 100_000  # documents
WARM = 40  # checks before those that count: pages of the database, and stems of words, are then known


def texts(path: Path, skip: int = 0) -> Iterator[str]:
    with path.open("rb") as lines:
        for line in islice(lines, skip, None):
            yield orjson.loads(line)["text"]


@functools.cache
def count_texts(path: Path) -> int:
    with path.open("rb") as file:
        return sum(block.count(b"\n") for block in iter(lambda: file.read(1 << 22), b""))


def documents(path: Path, count: int, skip: int = 0) -> Iterator[Document]:
    """Documents of two texts each. When all texts are used up they are paired anew, the second of a pair with the first
    of the next one: each text then stands in two documents."""
    pairs = count_texts(path) // 2
    for turn in range(2):
        first, end = max(skip, turn * pairs), min(skip + count, (turn + 1) * pairs - turn)
        if first >= end:
            continue
        source = texts(path, 2 * (first - turn * pairs) + turn)
        for number in range(first, end):
            yield Document(f"d{number:07}", "\n\n".join(islice(source, 2)))


def fill(store: Store, path: Path, start: int, end: int) -> dict[str, Any]:
    """Documents *start* to *end* into the library, to committed: from memory, or, where they are too many, as they are
    read from the file."""
    size = words = count = 0

    def counted(some: Iterator[Document]) -> Iterator[Document]:
        nonlocal size, words, count
        for document in some:
            size += len(document.text.encode())
            words += document.text.count(" ") + 1
            count += 1
            yield document

    source: Any = counted(documents(path, end - start, start))
    if end - start <= IN_MEMORY:
        source = list(source)
    wall, cpu, server = time.perf_counter(), time.process_time(), server_cpu_s(store)
    index_library(store, "bench", source)
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    if server is not None:
        cpu += (server_cpu_s(store) or server) - server
    out = {
        "documents": count,
        "mean_words": round(words / count),
        "wall_s": round(wall, 2),
        "cpu_s": round(cpu, 2),
        "documents_per_s": round(count / wall),
        "documents_per_cpu_s": round(count / cpu),
        "text_mb": round(size / 1e6, 1),
    }
    if store.database.place is not None:
        store.database.rows("PRAGMA wal_checkpoint(TRUNCATE)")
        out["file_mb"] = round(store.database.place.stat().st_size / 1e6, 1)
    return out


def server_cpu_s(store: Store) -> float | None:
    """CPU seconds so far of the server process behind this connection, where it runs on this machine."""
    if store.database.place is not None:
        return None
    row = store.database.row("SELECT pg_backend_pid()")
    try:
        text = Path(f"/proc/{row[0] if row else 0}/stat").read_text()
    except OSError:
        return None
    fields = text.rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def small_batches(
    store: Store, path: Path, start: int, batches: int = 20, size: int = 100, new_words: int = 0
) -> dict[str, Any]:
    """As a crawl brings them: a transaction for every 100 documents. *new_words* of each stand nowhere yet."""
    ready = list(documents(path, batches * size, start))
    if len(ready) < batches * size:  # all texts are used up: other pairs of them
        source = list(islice(texts(path), 2 * batches * size + 3))
        ready = [
            Document(f"n{at:07}", f"{source[at]}\n\n{source[at + 3]}") for at in range(0, len(source) - 3, 2)
        ]
    if new_words:
        top = store.database.row("SELECT max(id) FROM doublet_word")  # other words in every run
        luck = random.Random(f"{SEED} {top}")
        ready = [
            replace(one, text=" ".join([one.text, *(_word(luck) for _ in range(new_words))])) for one in ready
        ]
    wall, cpu, server = time.perf_counter(), time.process_time(), server_cpu_s(store)
    for first in range(0, len(ready), size):
        store.documents.add("bench", ready[first : first + size])
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    if server is not None:
        cpu += (server_cpu_s(store) or server) - server
    store.documents.remove("bench", [document.id for document in ready])
    return {
        "library": store.libraries.get("bench").documents,
        "new_words": new_words,
        "documents_per_s": round(len(ready) / wall),
        "documents_per_cpu_s": round(len(ready) / cpu),
    }


def _word(luck: random.Random) -> str:
    return "".join(luck.choices("абвгдежзиклмнопрстуфхцчш", k=9))


class Strange:
    """Words in random order, for borrowed passages to stand in. Easier than prose: hardly a key of it is known."""

    def __init__(self, path: Path) -> None:
        self.words = " ".join(islice(texts(path, 1_990_000 // 2), 1_500)).split()
        if len(self.words) < 50_000:  # a small collection: the library's own words, shuffled
            self.words = " ".join(islice(texts(path), 1_500)).split()
        random.Random(SEED).shuffle(self.words)

    def take(self, count: int, luck: random.Random) -> list[str]:
        start = luck.randrange(max(1, len(self.words) - count))
        return self.words[start : start + count]


def passage(store: Store, documents: int, length: int, luck: random.Random) -> tuple[str, list[str]]:
    """Id of a document and *length* words of it in a row."""
    while True:
        id = f"d{luck.randrange(documents):07}"
        found = store.documents.get("bench", id)
        words = store.documents.texts([found.number])[found.number].split() if found else []
        if len(words) >= length:
            start = luck.randrange(len(words) - length + 1)
            return id, words[start : start + length]


def time_checks(
    store: Store, strange: Strange, count: int, runs: int = 60, borrowed_passages: int = 2
) -> dict[str, Any]:
    luck = random.Random(SEED)
    spent, cpu, found = [], [], 0
    for run in range(runs + WARM):
        words = strange.take(1_000 - 60 * borrowed_passages, luck)
        for _ in range(borrowed_passages):
            _, borrowed = passage(store, count, 60, luck)
            place = luck.randrange(len(words))
            words[place:place] = borrowed
        text = " ".join(words)
        began, began_cpu = time.perf_counter(), time.process_time()
        result = check_library(store, text)
        if run >= WARM:
            spent.append((time.perf_counter() - began) * 1e3)
            cpu.append((time.process_time() - began_cpu) * 1e3)
            # Not by the ids: some passages stand in many documents, and any of them explains the words.
            explained, expected = result.share * result.words, 60 * borrowed_passages
            found += explained >= 0.95 * expected if expected else explained < 10
    spent.sort()
    return {
        "documents": count,
        "median_ms": round(statistics.median(spent), 1),
        "p95_ms": round(spent[int(0.95 * len(spent))], 1),
        "median_cpu_ms": round(statistics.median(cpu), 1),
        "p95_cpu_ms": round(sorted(cpu)[int(0.95 * len(cpu))], 1),
        "right": f"{found} of {runs}",
    }


def recall(store: Store, strange: Strange, documents: int, trials: int) -> list[dict[str, Any]]:
    """A passage of so many words, verbatim, inside a work of 10 thousand words: how often its place is found."""
    luck = random.Random(SEED)
    out = []
    for length in LENGTHS:
        found = 0
        for _ in range(trials):
            words = strange.take(WORK_WORDS - length, luck)
            _, borrowed = passage(store, documents, length, luck)
            place = luck.randrange(len(words))
            before = " ".join(words[:place])
            text = f"{before} {' '.join(borrowed)} {' '.join(words[place:])}"
            start, end = len(before) + 1, len(before) + 1 + len(" ".join(borrowed))
            result = check_library(store, text)
            spans = [f.a for source in result.sources for f in source.fragments]
            covered = sum(max(0, min(b, end) - max(a, start)) for a, b in _merged(spans))
            found += covered >= 0.8 * (end - start)
        out.append({"length": length, "found": found, "trials": trials, "share": round(found / trials, 3)})
    return out


def _merged(spans: list[Any]) -> list[tuple[int, int]]:
    out: list[tuple[int, int]] = []
    for start, end in sorted(spans):
        if out and start <= out[-1][1]:
            out[-1] = (out[-1][0], max(end, out[-1][1]))
        else:
            out.append((start, end))
    return out


def recompute(store: Store) -> dict[str, Any]:
    """TF-RIDF of all documents: read the words, weigh them, take the six heaviest; then the same and store it."""
    number = store.libraries.get("bench").number
    times = []
    for work in (
        lambda: store.signatures.weigh(number, "tfridf"),
        lambda: len(store.signatures.index(store.libraries.get("bench").number, "tfridf")),
    ):
        wall, cpu = time.perf_counter(), time.process_time()
        count = work()
        times.append((round(time.perf_counter() - wall, 2), round(time.process_time() - cpu, 2)))
    return {
        "documents": count,
        "weigh_s": times[0][0],
        "weigh_cpu_s": times[0][1],
        "weigh_and_store_s": times[1][0],
        "weigh_and_store_cpu_s": times[1][1],
    }


def table(rows: list[dict[str, Any]]) -> str:
    names = list(rows[0])
    lines = [names, ["---"] * len(names), *[[str(row.get(name, "")) for name in names] for row in rows]]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--source", type=Path, default=DATA / "million.jsonl")
    parser.add_argument("--documents", type=int, default=100_000)
    parser.add_argument("--database", help="address; without it a temporary SQLite file")
    parser.add_argument("--trials", type=int, default=100, help="passages of each length")
    parser.add_argument("--only", nargs="*", default=["check", "batches", "recall", "weights"])
    options = parser.parse_args()
    out: dict[str, list[dict[str, Any]]] = {}

    def keep(title: str, *rows: dict[str, Any]) -> None:
        out.setdefault(title, []).extend(rows)
        print(json.dumps({title: rows}), file=sys.stderr, flush=True)

    with tempfile.TemporaryDirectory() as folder:
        store = Store(options.database or str(Path(folder) / "bench.db"))
        if "bench" not in {info.name for info in store.libraries.all()}:
            store.libraries.create("bench")
        strange = Strange(options.source)
        sizes = [n for n in (1_000, 10_000, 100_000, 1_000_000) if n < options.documents] + [
            options.documents
        ]
        done = store.libraries.get("bench").documents
        for size in sizes:
            if size > done:
                keep("Documents into the library", fill(store, options.source, done, size))
                done = size
            if "check" in options.only:
                keep("Checks of 1,000 words", time_checks(store, strange, size))
                # Little is found, so every fingerprint is asked for: the second look of auto.
                keep("Checks with nothing borrowed", time_checks(store, strange, size, 30, 0))
        if "batches" in options.only:
            for new_words in (0, 0, 1, 10):  # the first batches of a process look more words up
                row = small_batches(store, options.source, options.documents, new_words=new_words)
                keep("Batches of 100 documents", row)
        if "recall" in options.only:
            keep(
                "Passages in a work of 10,000 words",
                *recall(store, strange, options.documents, options.trials),
            )
        if "weights" in options.only:
            keep("TF-RIDF of the whole library", recompute(store))
        vendor = store.database.vendor
        store.close()
    for title, rows in out.items():
        print(f"{title} ({vendor})\n\n{table(rows)}")
    RESULTS.mkdir(parents=True, exist_ok=True)
    facts = {"machine": machine(), "database": vendor, **out}
    text = json.dumps(facts, indent=1, ensure_ascii=False) + "\n"
    (RESULTS / f"store-{vendor}.json").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
