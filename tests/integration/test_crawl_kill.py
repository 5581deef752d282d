"""A crawl that is killed again and again: nothing is lost, hardly anything is asked for twice, and the same library
comes out. ``DOUBLET_TEST_KILLS=100`` kills more often, over a larger site."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import pathlib
import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterator

import pytest

from doublet.jobs.queue.kinds import enqueue
from doublet.store.database import Store
from library_databases import new_address
from library_simulator import Library, Site

HERE = pathlib.Path(__file__).parent
KILLS = int(os.environ.get("DOUBLET_TEST_KILLS", "6"))
DOCUMENTS = 20 * max(KILLS, 10)


def environment() -> dict[str, str]:
    paths = [str(HERE.parents[1] / "src"), str(HERE.parent)]
    return {
        **{name: value for name, value in os.environ.items() if not name.startswith("DOUBLET_")},
        "PYTHONPATH": os.pathsep.join(paths),
    }


@contextlib.contextmanager
def crawling(
    tmp: pathlib.Path, database: str, site: Site, *, wish: bool = True
) -> Iterator[subprocess.Popen[str]]:
    command = [
        sys.executable,
        str(HERE / "crawl_worker.py"),
        database,
        site.url,
        "article",
        str(tmp / "alive"),
        str(tmp / "spool"),
    ]
    with (tmp / "errors").open("a") as errors:
        process = subprocess.Popen(
            [*command, *(["--wish"] if wish else [])],
            env=environment(),
            stdout=subprocess.PIPE,
            stderr=errors,
            text=True,
        )
        try:
            yield process
        finally:
            if process.poll() is None:
                process.kill()
            process.wait()
            if process.stdout is not None:
                process.stdout.close()


def digest(database: str) -> str:
    """Of all documents with their texts."""
    with Store(database) as store:
        found = sorted(
            (document.id.partition("/article")[2], text)
            for batch in store.documents.batches("site")
            for document, text in batch
        )
    return hashlib.sha256(json.dumps(found).encode()).hexdigest()


def library() -> Library:
    return Library(DOCUMENTS, scheme="slug", twins=10)


@pytest.mark.covers("L3")
def test_killed_again_and_again(tmp_path: pathlib.Path) -> None:
    calm, wild = tmp_path / "calm", tmp_path / "wild"
    calm.mkdir()
    wild.mkdir()
    with Site(library()) as site, crawling(calm, str(calm / "l.db"), site) as process:
        assert process.wait(300) == 0, (calm / "errors").read_text()
    undisturbed = digest(str(calm / "l.db"))
    draw = random.Random(7)
    database = str(wild / "l.db")
    last: list[int] = []  # how many requests had been made when a process was killed
    stored = 0
    with Site(library(), port=site.port) as other:
        planned = False
        while True:
            with crawling(wild, database, other, wish=not planned) as process:
                asked = len(other.seen)
                began = time.monotonic()
                while len(other.seen) == asked and process.poll() is None and time.monotonic() - began < 60:
                    time.sleep(0.005)
                if len(last) >= KILLS:
                    assert process.wait(300) == 0, (wild / "errors").read_text()
                    break
                with contextlib.suppress(subprocess.TimeoutExpired):
                    process.wait(draw.uniform(0.0, 1.2))
                if process.poll() is not None:
                    assert process.returncode == 0, (wild / "errors").read_text()
                    break
                process.send_signal(signal.SIGKILL)
                assert process.wait() == -signal.SIGKILL, "it lived until it was killed"
                assert len(other.seen) > asked, "it had got on: something was asked for"
                last.append(len(other.seen))
            with Store(database) as store:  # as another process sees it
                libraries = store.libraries.all()
                sources = store.sources.all(1) if libraries else []
                planned = bool(sources) and "plan" in sources[0].state
                now = libraries[0].documents if libraries else 0
                assert now >= stored, "nothing that was stored is lost"
                stored = now
        asked_for = [target for _, target in other.seen]
    assert len(last) >= min(KILLS, 4), "the crawl was over before it could be killed"
    assert stored > 0, "the killed processes stored documents"
    firsts: dict[str, int] = {}
    twice = []
    for number, target in enumerate(asked_for):
        if target != "/robots.txt" and firsts.setdefault(target, number) != number:
            twice.append(target)
    # What was on the wire when a process was killed: the last request of it, and nothing else.
    assert {firsts[target] + 1 for target in twice} <= set(last)
    print(f"{len(last)} kills, {sum(other.targets().values())} requests, {len(twice)} asked for twice")
    assert len(twice) <= 10
    assert digest(database) == undisturbed
    with Store(database) as store:
        assert store.frontier.open_count(1) == 0


@pytest.mark.covers("L5", "D2")
def test_another_worker_takes_over(tmp_path: pathlib.Path) -> None:
    """Two workers on PostgreSQL; the one that crawls is killed."""
    address = new_address("postgresql")
    command = [sys.executable, "-m", "doublet", "worker", "--quiet", "--lease", "5"]
    settings = {
        "DOUBLET_DATABASE": address,
        "DOUBLET_FETCH_DELAY_S": "0",
        "DOUBLET_ALLOW_PRIVATE": "yes",
        "XDG_CACHE_HOME": str(tmp_path),
    }
    with Site(Library(150, delay_s=0.02)) as site, Store(address) as store, contextlib.ExitStack() as stack:
        store.libraries.create("site")
        job = enqueue(store, "crawl", {"library": "site", "address": site.url, "only": ["post"]})

        def worker() -> subprocess.Popen[bytes]:
            made = subprocess.Popen(command, env=environment() | settings, start_new_session=True)
            stack.callback(lambda: (made.kill(), made.wait()))
            return made

        first = worker()
        until = time.monotonic() + 60
        while len(site.seen) <= 40 and time.monotonic() < until:
            time.sleep(0.02)
        asked = len(site.seen)
        assert asked > 30
        assert store.jobs.get(job.number).state == "running"
        os.killpg(first.pid, signal.SIGKILL)
        first.wait()
        began = time.monotonic()
        worker()
        while store.jobs.get(job.number).state in ("new", "running") and time.monotonic() - began < 90:
            time.sleep(0.1)
            if len(site.seen) > asked + 5:
                assert time.monotonic() - began < 60
        assert store.jobs.get(job.number).state == "done"
        assert {document.id for document in store.documents.all("site")} == site.addresses()
        twice = sum(many - 1 for target, many in site.targets().items() if target != "/robots.txt")
        assert twice <= 10
