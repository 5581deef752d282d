"""Several workers over one PostgreSQL: indexing and checking, with one of them killed in the middle of each (D2)."""

from __future__ import annotations

import contextlib
import random
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from fill_worker import PAGES, PER_PAGE, text_of

from doublet.jobs.check_library import check_library
from doublet.jobs.queue import kinds
from doublet.jobs.queue.kinds import enqueue
from doublet.store.database import Store
from doublet.store.values import JobInfo
from doublet.store.verify import verify
from library_databases import new_address

WORKER = Path(__file__).parent / "queue_worker.py"
LIBRARIES, DOCUMENTS, WORKS, WORKERS = 2, 40, 40, 3
WORDS = [
    f"{a}{b}{c}"
    for a in ("сне", "ка", "ле", "мо", "ри")
    for b in ("го", "на", "ти", "ро")
    for c in ("с", "м", "к")
]


def text(seed: int, words: int = 120) -> str:
    rng = random.Random(seed)
    return " ".join(rng.choice(WORDS) + rng.choice(WORDS) for _ in range(words))


def borrowed(number: int) -> str:
    """A work that takes a passage from a document of each library."""
    parts = [text(100_000 + number, 40)]
    for library in range(LIBRARIES):
        theirs = text(library * 1000 + number % DOCUMENTS).split()
        parts.append(" ".join(theirs[20:70]))
    return " ".join(parts)


def eventually(seen: Callable[[], bool], seconds: float = 120) -> None:
    until = time.monotonic() + seconds
    while not seen():
        assert time.monotonic() < until, "it did not happen"
        time.sleep(0.02)


class Workers:
    """Processes of their own; each is known by its number of process."""

    def __init__(self, address: str, stack: contextlib.ExitStack) -> None:
        self._address, self._stack = address, stack
        self.alive: list[subprocess.Popen[str]] = []

    def start(self) -> None:
        worker = subprocess.Popen(
            [sys.executable, str(WORKER), self._address, "2.0"], stdout=subprocess.PIPE, text=True
        )
        self._stack.callback(self._end, worker)
        assert worker.stdout is not None
        assert worker.stdout.readline() == "ready\n"
        self.alive.append(worker)

    @staticmethod
    def _end(worker: subprocess.Popen[str]) -> None:
        worker.kill()
        worker.wait()
        assert worker.stdout is not None
        worker.stdout.close()

    def kill_the_one_at(self, job: JobInfo) -> None:
        """Kill -9 of the process that has this job; it was alive."""
        (victim,) = [worker for worker in self.alive if str(worker.pid) in job.worker]
        assert victim.poll() is None
        victim.kill()
        victim.wait()
        self.alive.remove(victim)


@pytest.mark.covers("D2")
def test_one_of_several_is_killed_while_indexing_and_one_while_checking(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(kinds.KINDS, "pages", "queue_worker:pages")  # fills the library x from a slow source
    address = new_address("postgresql")
    folders = []
    for library in range(LIBRARIES):
        folder = tmp_path / f"texts{library}"
        folder.mkdir()
        for number in range(DOCUMENTS):
            (folder / f"{number:03d}.txt").write_text(text(library * 1000 + number), "utf-8")
        folders.append(folder)
    with contextlib.ExitStack() as stack:
        store = stack.enter_context(Store(address))
        workers = Workers(address, stack)
        names = [f"shelf{library}" for library in range(LIBRARIES)]
        for name in names:
            store.libraries.create(name)
        store.libraries.create("x")
        for _ in range(WORKERS):
            workers.start()
        slow = enqueue(store, "pages", {"journal": str(tmp_path / "journal"), "pause_s": 0.15}).number
        jobs = [slow]
        for name, folder in zip(names, folders, strict=True):
            jobs.append(enqueue(store, "fill", {"library": name, "address": str(folder)}).number)

        def page() -> int:
            infos = store.sources.all(store.libraries.get("x").number)
            return max((int(info.state.get("page", 0)) for info in infos), default=0)

        eventually(lambda: 0 < page() < PAGES)
        workers.kill_the_one_at(store.jobs.get(slow))
        assert page() < PAGES
        workers.start()
        eventually(lambda: all(store.jobs.get(job).over for job in jobs))
        assert {store.jobs.get(job).state for job in jobs} == {"done"}
        assert store.jobs.get(slow).attempts == 2
        # Checks, and again one worker goes.
        given = [{"text": borrowed(number), "name": f"w{number}"} for number in range(WORKS)]
        checks = [
            enqueue(store, "check", {"documents": given[start::2], "libraries": names}).number
            for start in range(2)
        ]

        def checked(job: int) -> int:  # written down after each document, unlike the progress
            return len(store.jobs.get(job).checkpoint.get("rows", []))

        eventually(lambda: any(0 < checked(job) < WORKS // 2 for job in checks))
        busy = next(store.jobs.get(job) for job in checks if 0 < checked(job) < WORKS // 2)
        workers.kill_the_one_at(busy)
        eventually(lambda: all(store.jobs.get(job).over for job in checks))
        rows = [row for job in checks for row in store.jobs.get(job).result["documents"]]
        assert store.jobs.get(busy.number).attempts == 2
    with Store(address) as other:  # what is there is read by a process that wrote nothing of it
        assert verify(other) == []
        found = {one.id: content for batch in other.documents.batches("x") for one, content in batch}
        assert found == {f"{n:04}": text_of(n) for n in range(PAGES * PER_PAGE)}
        for name, library in zip(names, range(LIBRARIES), strict=True):
            found = {one.id: content for batch in other.documents.batches(name) for one, content in batch}
            assert sorted(found.values()) == sorted(
                text(library * 1000 + number) for number in range(DOCUMENTS)
            )
        assert sorted(row["name"] for row in rows) == sorted(
            work["name"] for work in given
        )  # none lost, none twice
        shares = {row["name"]: row["share"] for row in rows}
        for work in given[:6]:
            assert shares[work["name"]] == check_library(other, work["text"], libraries=names).share > 0.3
