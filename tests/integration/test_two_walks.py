"""Two processes that walk one source: the second is refused, and takes over when the first is dead or unheard of."""

from __future__ import annotations

import contextlib
import pathlib
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator

import pytest
from fill_worker import PAGES, PER_PAGE, Pages, text_of

from doublet.errors import Cancelled, SourceBusy, StoreBusy
from doublet.jobs import add_source
from doublet.jobs.add_source import Filled, fill_source
from doublet.progress import Event, Progress
from doublet.store import connection, leases
from doublet.store.database import Store
from doublet.store.values import SourceInfo
from doublet.store.verify import verify
from library_databases import VENDORS, new_address

WORKER = pathlib.Path(__file__).parent / "fill_worker.py"
EVERYTHING = {f"{number:04}": text_of(number) for number in range(PAGES * PER_PAGE)}


@pytest.fixture(params=VENDORS)
def address(request: pytest.FixtureRequest) -> str:
    made = new_address(str(request.param))
    with Store(made) as store:
        store.libraries.create("x")
    return made


@contextlib.contextmanager
def walking(
    address: str, journal: pathlib.Path, pause_s: float, lease_s: float
) -> Iterator[subprocess.Popen[str]]:
    """Another process that walks the source."""
    command = [sys.executable, str(WORKER), address, str(journal), str(pause_s), str(lease_s)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as worker:
        assert worker.stdout is not None
        assert worker.stdout.readline() == "ready\n"
        try:
            yield worker
        finally:
            worker.kill()


def eventually(seen: Callable[[], object], seconds: float = 30) -> None:
    until = time.monotonic() + seconds
    while not seen():
        assert time.monotonic() < until, "it did not happen"
        time.sleep(0.05)


def source_of(store: Store) -> SourceInfo:
    (info,) = store.sources.all(store.libraries.get("x").number)
    return info


def page_of(store: Store) -> int:
    return int(source_of(store).state.get("page", 0))


def walk(store: Store, journal: pathlib.Path) -> Filled:
    return fill_source(store, source_of(store), walked=Pages(str(journal), 0.0))  # type: ignore[arg-type]


def assert_whole(address: str) -> None:
    with Store(address) as store:
        assert {one.id: text for batch in store.documents.batches("x") for one, text in batch} == EVERYTHING
        info = source_of(store)
        assert (info.status, dict(info.state), info.owner) == ("done", {"page": PAGES}, "")
        assert verify(store) == []


@pytest.mark.covers("L3", "L7")
def test_a_second_walk_is_refused_until_the_first_is_dead(address: str, tmp_path: pathlib.Path) -> None:
    journal = tmp_path / "journal"
    with walking(address, journal, 0.2, 30) as other, Store(address) as store:
        eventually(lambda: page_of(store) > 1)
        assert other.poll() is None
        with pytest.raises(SourceBusy, match=f"is being walked by process {other.pid} on ") as told:
            walk(store, journal)
        assert "Nothing was begun" in told.value.message
        before = page_of(store)
        eventually(lambda: page_of(store) > before)  # the first one is not disturbed
        other.kill()
        other.wait()
        assert source_of(store).status == "running"
        filled = walk(store, journal)  # at once: that the process is gone can be seen
    assert filled.counts["gone"] == 0
    assert_whole(address)


def test_a_walker_of_another_machine_is_waited_for_as_long_as_its_lease(
    address: str, tmp_path: pathlib.Path
) -> None:
    with Store(address) as store:
        store.sources.add(store.libraries.get("x").number, "page", Pages.address, {})
        number = source_of(store).number
        store.sources.begin(number)
        with store.database.writing():
            store.database.rows(
                "UPDATE doublet_source SET owner = 'far:1:1:1:other', lease_until = lease_until - %s WHERE id = %s",
                [leases.LEASE_S - 1.0, number],
            )
        with pytest.raises(SourceBusy, match=r"process 1 on far.*begin in 1 second"):
            walk(store, tmp_path / "journal")
        time.sleep(1.1)
        walk(store, tmp_path / "journal")
    assert_whole(address)


def test_a_walk_that_was_asleep_writes_nothing_more(
    address: str, tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first process is stopped in the middle, the second one takes over, and the first wakes up."""
    monkeypatch.setattr(leases, "is_gone", lambda _: False)
    monkeypatch.setattr(connection, "PATIENCE_S", 1.0)
    journal = tmp_path / "journal"
    with walking(address, journal, 0.1, 1.0) as other, Store(address) as store:
        eventually(lambda: page_of(store) > 1)
        other.send_signal(signal.SIGSTOP)
        time.sleep(1.2)
        until = time.monotonic() + 60
        while True:  # on SQLite it may have been stopped while it was writing
            try:
                filled = walk(store, journal)
                break
            except (SourceBusy, StoreBusy):
                assert time.monotonic() < until
                other.send_signal(signal.SIGCONT)
                time.sleep(0.3)
                other.send_signal(signal.SIGSTOP)
                time.sleep(1.2)
        run = source_of(store).run
        other.send_signal(signal.SIGCONT)
        _, told = other.communicate(timeout=60)
        assert other.returncode != 0
        assert "LeaseLost" in told
        assert filled.counts["gone"] == 0
        assert source_of(store).run == run
    assert_whole(address)


def test_a_long_walk_keeps_its_lease(address: str, tmp_path: pathlib.Path) -> None:
    with walking(address, tmp_path / "journal", 0.1, 0.6) as other:
        out, told = other.communicate(timeout=60)
        assert (out, other.returncode) == ("done\n", 0), told
    assert_whole(address)


def test_what_is_said_when_a_walk_is_stopped(
    address: str, tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Not that nothing was written: what was stored stays."""
    monkeypatch.setattr(add_source, "BATCH_DOCUMENTS", 5)
    with Store(address) as store:
        store.sources.add(store.libraries.get("x").number, "page", Pages.address, {})
        progress: Progress

        def listen(event: Event) -> None:
            if event.done >= 5:
                progress.cancel()

        progress = Progress(listen)
        with pytest.raises(Cancelled) as told:
            fill_source(
                store,
                source_of(store),
                walked=Pages(str(tmp_path / "journal"), 0.0),  # type: ignore[arg-type]
                progress=progress,
            )
        stored = store.libraries.get("x").documents
        assert stored >= 5
        assert told.value.message.startswith(
            f"stopped: {stored} documents of {Pages.address} had been stored, and stay"
        )
        assert source_of(store).status == "cancelled"
        walk(store, tmp_path / "journal")
    assert_whole(address)


def test_two_walks_in_one_process(address: str, tmp_path: pathlib.Path) -> None:
    with Store(address) as store:
        store.sources.add(store.libraries.get("x").number, "page", Pages.address, {})
        slow = Pages(str(tmp_path / "journal"), 0.1)

        def run() -> None:
            fill_source(store, source_of(store), walked=slow)  # type: ignore[arg-type]
            store.sources.close_thread()

        thread = threading.Thread(target=run)
        thread.start()
        eventually(lambda: source_of(store).status == "running")
        with pytest.raises(SourceBusy):
            walk(store, tmp_path / "journal")
        thread.join()
    assert_whole(address)
