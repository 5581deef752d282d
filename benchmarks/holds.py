"""How long a write holds everybody else up: the longest transaction of everything that changes much.

    python benchmarks/holds.py                             100 thousand documents into SQLite
    python benchmarks/holds.py --documents 10000           smaller
    python benchmarks/holds.py --database postgresql://…   the same on PostgreSQL (an empty database)

The promise is half a second on a machine that is not busy. On a busy one look at the CPU of the longest hold; on
PostgreSQL that does not count the work of the server.
"""

from __future__ import annotations

import argparse
import random
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from doublet.jobs.index_library import index_library
from doublet.store.database import Store
from doublet.store.rebuild import rebuild

WORDS = [
    f"{a}{b}{c}"
    for a in "бвгдклмнпрст"
    for b in "аеиоу"
    for c in ("нок", "ласт", "мир", "горь", "тел", "зим")
]


def documents(count: int) -> Iterator[tuple[str, str]]:
    luck = random.Random(5)
    for number in range(count):
        rare = [f"редкое{luck.randrange(200_000)}" for _ in range(60)]
        yield str(number), " ".join(luck.choices(WORDS, k=300) + rare)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--documents", type=int, default=100_000)
    parser.add_argument("--database", help="address; without it a temporary SQLite file")
    options = parser.parse_args()
    with (
        tempfile.TemporaryDirectory() as folder,
        Store(options.database or str(Path(folder) / "holds.db")) as store,
    ):
        number = store.libraries.create("bench").number

        def sign(method: str) -> Callable[[], object]:
            return lambda: store.signatures.index(number, method)

        work: dict[str, Callable[[], object]] = {
            "add": lambda: index_library(store, "bench", documents(options.documents)),
            "sign by tfridf": sign("tfridf"),
            "sign by minhash": sign("minhash"),
            "optimize": store.optimize,
            "make the index again": lambda: rebuild(store.database),
            "remove a tenth": lambda: store.documents.remove(
                "bench", [str(n) for n in range(options.documents // 10)]
            ),
            "delete": lambda: store.libraries.delete("bench"),
        }
        print("| work | seconds | longest hold, s | longest hold, CPU s |\n| --- | --- | --- | --- |")
        for name, do in work.items():
            store.database.longest_hold_s = store.database.longest_hold_cpu_s = 0.0
            began = time.perf_counter()
            do()
            print(
                f"| {name} | {time.perf_counter() - began:.1f} | {store.database.longest_hold_s:.3f} | "
                f"{store.database.longest_hold_cpu_s:.3f} |",
                flush=True,
            )


if __name__ == "__main__":
    main()
