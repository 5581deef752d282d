"""How long a write holds everybody else up: the longest transaction of everything that changes much.

    python benchmarks/holds.py                             100 thousand documents into SQLite
    python benchmarks/holds.py --documents 10000           smaller
    python benchmarks/holds.py --database postgresql://…   the same on PostgreSQL (an empty database)

The promise is half a second on a machine that is not busy. On a busy one look at the largest sum of CPU, of ours and of
the server's process for our connection (where PostgreSQL runs on this machine).
"""

from __future__ import annotations

import argparse
import contextlib
import itertools
import random
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np

from doublet.jobs.index_library import index_library
from doublet.store.database import Store
from doublet.store.postings import Pairs, remove, unpack_keys
from doublet.store.rebuild import rebuild
from doublet.store.verify import verify

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


def damage(store: Store, library: int) -> None:
    """Counters and the index disagree with the texts, and the words of every fiftieth document are wrong."""
    with store.database.writing():
        rows = store.database.rows(
            "SELECT document_id, keys FROM doublet_content ORDER BY document_id LIMIT 50"
        )
        keys = [unpack_keys(bytes(data)) for _, data in rows]
        cuts = list(itertools.accumulate(map(len, keys), initial=0))
        remove(store.database, Pairs.of_keys([number for number, _ in rows], np.concatenate(keys), cuts))
        store.database.rows("UPDATE doublet_library SET documents = documents + 1 WHERE id = %s", [library])
        some = [(row[0],) for row in store.database.rows("SELECT id FROM doublet_document")[::50]]
        store.database.many("UPDATE doublet_content SET bag = keys WHERE document_id = %s", some)


class Watched:
    """The most CPU that one transaction took, together with what the server spent on it."""

    def __init__(self, store: Store) -> None:
        self.most_s = 0.0
        self._database = store.database
        self._server: Path | None = None
        if store.database.vendor == "postgresql":
            ((number,),) = store.database.rows("SELECT pg_backend_pid()")
            place = Path(f"/proc/{number}/schedstat")
            self._server = place if place.exists() else None
        plain = store.database._begun

        @contextlib.contextmanager
        def begun(mode: str, waiting: Callable[[float], None] | None = None) -> Iterator[None]:
            with plain(mode, waiting):
                before = self._spent()
                yield
                if mode == "IMMEDIATE":
                    self.most_s = max(self.most_s, self._spent() - before)

        store.database._begun = begun  # type: ignore[method-assign]

    def _spent(self) -> float:
        there = int(self._server.read_text().split()[0]) / 1e9 if self._server else 0.0
        return time.thread_time() + there


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
        watched = Watched(store)

        def sign(method: str) -> Callable[[], object]:
            return lambda: store.signatures.index(number, method)

        work: dict[str, Callable[[], object]] = {
            "add": lambda: index_library(store, "bench", documents(options.documents)),
            "sign by tfridf": sign("tfridf"),
            "sign by minhash": sign("minhash"),
            "optimize": store.optimize,
            "make the index again": lambda: rebuild(store.database),
            "verify and repair": lambda: verify(store, repair=True),
            "remove a tenth": lambda: store.documents.remove(
                "bench", [str(n) for n in range(options.documents // 10)]
            ),
            "delete": lambda: store.libraries.delete("bench"),
        }
        print("| work | seconds | longest hold, s | most CPU of a hold, s |\n| --- | --- | --- | --- |")
        for name, do in work.items():
            if name == "verify and repair":
                damage(store, number)
            store.database.longest_hold_s = watched.most_s = 0.0
            began = time.perf_counter()
            do()
            print(
                f"| {name} | {time.perf_counter() - began:.1f} | {store.database.longest_hold_s:.3f} | "
                f"{watched.most_s:.3f} |",
                flush=True,
            )


if __name__ == "__main__":
    main()
