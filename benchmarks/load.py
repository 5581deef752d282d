"""Many users at once: checks a second through the pool of processes, with writers beside.

    python benchmarks/load.py                              100 thousand documents in SQLite, 50 clients, a minute
    python benchmarks/load.py --documents 10000 --seconds 20          smaller
    python benchmarks/load.py --database postgresql://…    the same on PostgreSQL (an empty database)
    python benchmarks/load.py --database load.db           keeps the library for the next run

Each client asks for a check, waits for the answer and asks again. The texts have 1,000 words: two passages of 60 words
from the library inside words in random order (as in store.py), or, with --prose, inside sentences like those of the
library. Two other processes add ten documents a second each. Documents have 400 words: two of
benchmarks/data/million.jsonl each if that is there, otherwise made-up ones, recombined in the same way.

Told are checks a second, waiting times, CPU of the pool for each check, and the memory of all processes (as shared out
between them, PSS). On a busy machine look at the CPU: 2 cores give at most 2000 / cpu_ms checks a second.
"""

from __future__ import annotations

import argparse
import itertools
import json
import os
import random
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from corpus import _recombined
from doublet.errors import DoubletError
from doublet.jobs.check_pool import CheckPool
from doublet.jobs.index_library import index_library
from doublet.model import Document
from doublet.store.database import Store
from measure import DATA, RESULTS, machine
from store import documents as paired
from store import passage

SEED = 11
POOL = 100_000  # sentences that documents are made of
KNOWN_TEXTS = 400  # that clients ask for, in turn
TICKS = os.sysconf("SC_CLK_TCK")


def sentences(seed: str) -> tuple[list[list[str]], list[str]]:
    """Made-up sentences in two alphabets, with words as often as in real text, and the words."""
    luck = random.Random(f"{SEED} sentences")
    words: list[str] = []
    for vowels, consonants in (("аеиоуы", "бвгдзклмнпрст"), ("aeiou", "bcdfgklmnprst")):
        syllables = [c + v for c in consonants for v in vowels]
        words += ["".join(luck.choices(syllables, k=luck.randint(1, 5))) for _ in range(30_000)]
    luck.shuffle(words)
    chances = list(itertools.accumulate(1 / (rank + 3) for rank in range(len(words))))
    luck = random.Random(f"{SEED} {seed}")
    return [luck.choices(words, cum_weights=chances, k=luck.randint(8, 30)) for _ in range(POOL)], words


def made_up(count: int, start: int = 0) -> Iterator[Document]:
    pool, words = sentences("library")
    for number in range(start, start + count):
        luck = random.Random(f"{SEED} {number}")
        text = [*_recombined(pool, words, luck), *_recombined(pool, words, luck)]
        yield Document(f"d{number:07}", " ".join(text))


def library(store: Store, count: int, source: Path) -> None:
    """At least *count* documents in the library, made the first time."""
    if "bench" not in {info.name for info in store.libraries.all()}:
        store.libraries.create("bench")
    there = store.libraries.get("bench").documents
    if there < count:
        print(f"filling: {count - there:,} documents", file=sys.stderr, flush=True)
        given = paired(source, count - there, there) if source.exists() else made_up(count - there, there)
        began = time.monotonic()
        index_library(store, "bench", given)
        print(f"filled in {time.monotonic() - began:.0f} s", file=sys.stderr, flush=True)


def texts(store: Store, count: int, *, prose: bool) -> list[str]:
    """What clients ask for."""
    luck = random.Random(SEED)
    pool, words = sentences("library" if prose else "works")
    out = []
    for _ in range(KNOWN_TEXTS):
        around: list[str] = []
        while prose and len(around) < 880:
            around += luck.choice(pool)
        around = (around or luck.choices(words, k=880))[:880]
        for _ in range(2):
            _, borrowed = passage(store, count, 60, luck)
            place = luck.randrange(len(around))
            around[place:place] = borrowed
        out.append(" ".join(around))
    return out


def write(address: str, number: int, seconds: float) -> None:
    """A process that adds ten documents a second, in one transaction."""
    pool, words = sentences("library")
    done, slowest = 0, 0.0
    until = time.monotonic() + seconds
    with Store(address) as store:
        while time.monotonic() < until:
            began = time.monotonic()
            luck = random.Random(f"{number} {os.getpid()} {done}")
            ready = [
                Document(f"w{number}-{os.getpid()}-{done + n}", " ".join(_recombined(pool, words, luck)))
                for n in range(10)
            ]
            store.documents.add("bench", ready)
            done += 10
            spent = time.monotonic() - began
            slowest = max(slowest, spent)
            time.sleep(max(0.0, 1.0 - spent))
    print(json.dumps({"documents": done, "slowest_s": round(slowest, 2)}))


class Watch(threading.Thread):
    """Looks at the memory of this process and of those that it started; the most of all counts."""

    def __init__(self) -> None:
        super().__init__(daemon=True)
        self.most_mb = 0.0
        self.parts: dict[str, float] = {}
        self._stop_it = threading.Event()

    def run(self) -> None:
        while not self._stop_it.wait(0.5):
            parts: Counter[str] = Counter()
            for pid in family(os.getpid()):
                mb = pss_mb(pid)
                command = command_of(pid)
                kind = (
                    "checks"
                    if "check_process" in command
                    else "writers"
                    if "--write" in command
                    else "service"
                )
                parts[kind] += mb
            if sum(parts.values()) > self.most_mb:
                self.most_mb, self.parts = sum(parts.values()), {k: round(v) for k, v in parts.items()}

    def end(self) -> None:
        self._stop_it.set()
        self.join()


def family(pid: int) -> list[int]:
    out = [pid]
    for task in Path(f"/proc/{pid}/task").glob("*/children"):
        try:
            out += [one for child in task.read_text().split() for one in family(int(child))]
        except OSError:
            continue
    return out


def pss_mb(pid: int) -> float:
    try:
        for line in Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines():
            if line.startswith("Pss:"):
                return int(line.split()[1]) / 1024
    except OSError:
        pass
    return 0.0


def command_of(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/cmdline").read_text().replace("\0", " ")
    except OSError:
        return ""


def cpu_s(pids: list[int]) -> float:
    total = 0.0
    for pid in pids:
        try:
            fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
            total += (int(fields[11]) + int(fields[12])) / TICKS
        except OSError:
            continue
    return total


def load(address: str, count: int, options: argparse.Namespace) -> dict[str, Any]:
    with Store(address) as store:
        library(store, count, options.source)
        asked = texts(store, count, prose=options.prose)
    spent: list[float] = []
    errors: Counter[str] = Counter()
    wrong = 0
    lock = threading.Lock()
    stop = threading.Event()
    pool = CheckPool(address, processes=options.processes)
    turn = itertools.count()

    def client() -> None:
        nonlocal wrong
        while not stop.is_set():
            text = asked[next(turn) % len(asked)]
            began = time.monotonic()
            try:
                found = pool.check(text)
                took = time.monotonic() - began
                with lock:
                    spent.append(took)
                    wrong += found.share * found.words < 0.95 * 120
            except DoubletError as error:
                with lock:
                    errors[error.code] += 1
                time.sleep(0.2)

    with pool:
        for _ in range(60 * options.processes):  # pages of the database, and stems of words, are then known
            pool.check(asked[next(turn) % len(asked)])
        writers = [
            subprocess.Popen(
                [sys.executable, __file__, "--write", address, str(n), str(options.seconds + 4)],
                stdout=subprocess.PIPE,
                text=True,
            )
            for n in range(options.writers)
        ]
        time.sleep(3 if writers else 0)
        watch = Watch()
        watch.start()
        before, began = cpu_s(pool.pids), time.monotonic()
        clients = [threading.Thread(target=client) for _ in range(options.clients)]
        for one in clients:
            one.start()
        time.sleep(options.seconds)
        wall, cpu, done = time.monotonic() - began, cpu_s(pool.pids) - before, len(spent)
        stop.set()
        for one in clients:
            one.join()
        watch.end()
        written = [json.loads(one.communicate()[0] or "{}") for one in writers]
    waits = sorted(spent)
    return {
        "database": "postgresql" if "://" in address else "sqlite",
        "documents": count,
        "clients": options.clients,
        "processes": options.processes,
        "checks": done,
        "checks_per_s": round(done / wall, 1),
        "median_s": round(waits[len(waits) // 2], 2),
        "p95_s": round(waits[int(0.95 * len(waits))], 2),
        "cpu_ms_per_check": round(1e3 * cpu / max(1, done), 1),
        "checks_per_cpu_s": round(done / cpu, 1),
        "memory_mb": round(watch.most_mb),
        "memory_of": watch.parts,
        "errors": dict(errors),
        "not_all_found": wrong,
        "written": sum(row.get("documents", 0) for row in written),
        "slowest_write_s": max((row.get("slowest_s", 0) for row in written), default=0),
        "load_average": round(os.getloadavg()[0], 1),
    }


def main() -> None:
    if sys.argv[1:2] == ["--write"]:
        write(sys.argv[2], int(sys.argv[3]), float(sys.argv[4]))
        return
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--database", help="address; without it a temporary SQLite file")
    parser.add_argument("--documents", type=int, default=100_000)
    parser.add_argument("--clients", type=int, default=50)
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--writers", type=int, default=2)
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument(
        "--prose", action="store_true", help="texts like those of the library: more candidates"
    )
    parser.add_argument("--source", type=Path, default=DATA / "million.jsonl")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        found = load(options.database or str(Path(folder) / "load.db"), options.documents, options)
    print(json.dumps(found, indent=1))
    RESULTS.mkdir(parents=True, exist_ok=True)
    facts = {"machine": machine(), **found}
    (RESULTS / f"load-{found['database']}.json").write_text(
        json.dumps(facts, indent=1) + "\n", encoding="utf-8"
    )


if __name__ == "__main__":
    main()
