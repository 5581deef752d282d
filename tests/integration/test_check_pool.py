"""The pool of processes that answers checks: the same answers, bounded, and no process is ever missed."""

from __future__ import annotations

import os
import pathlib
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

from doublet.errors import InvalidParameter, PoolBusy, StoreError, TimedOut, UnknownLibrary, WorkerLost
from doublet.jobs.check_library import check_library
from doublet.jobs.check_pool import CheckPool
from doublet.model import Document
from doublet.store.database import Store
from library_databases import VENDORS, new_address

TEXTS = pathlib.Path(__file__).resolve().parents[1] / "golden" / "texts"
RU, EN = (TEXTS.joinpath(f"{name}.txt").read_text(encoding="utf-8") for name in ("ru", "en"))


def filled(vendor: str) -> str:
    made = new_address(vendor)
    with Store(made) as store:
        store.libraries.create("x")
        store.documents.add("x", [Document("ru", RU, title="Снег"), Document("en", EN)])
    return made


@pytest.fixture(params=VENDORS, scope="module")
def pool(request: pytest.FixtureRequest) -> Iterator[CheckPool]:
    with CheckPool(filled(str(request.param)), processes=2) as made:
        yield made


@pytest.fixture(scope="module")
def address() -> str:
    """For what has nothing to do with the kind of database."""
    return filled("sqlite")


def eventually(seen: Callable[[], object], seconds: float = 40) -> None:
    until = time.monotonic() + seconds
    while not seen():
        assert time.monotonic() < until, "it did not happen"
        time.sleep(0.05)


@pytest.mark.covers("T5")
def test_it_works(pool: CheckPool) -> None:
    with Store(pool.address) as store:
        expected = check_library(store, RU, libraries=["x"], name="work", leave_out=["quotations"])
    found = pool.check(RU, libraries=["x"], name="work", leave_out=["quotations"])
    assert found.share == 1.0
    assert found == expected


def test_many_at_once_get_the_answers_of_one(pool: CheckPool) -> None:
    texts = [f"{RU if n % 2 else EN} {n}" for n in range(24)]
    with Store(pool.address) as store:
        expected = [check_library(store, text) for text in texts]
    with ThreadPoolExecutor(12) as clients:
        assert list(clients.map(pool.check, texts)) == expected
    assert len(pool.pids) == 2


def test_what_is_added_meanwhile_is_found(pool: CheckPool) -> None:
    text = "Башня над рекой служит домом голубям, и ни один из них не платит за это городу ни копейки."
    assert pool.check(text, libraries=["x"]).share == 0
    with Store(pool.address) as store:
        store.documents.add("x", [Document("tower", text)])
    assert pool.check(text, libraries=["x"]).share == 1.0
    with Store(pool.address) as store:
        store.documents.remove("x", ["tower"])


def test_errors_come_back_as_they_are(pool: CheckPool) -> None:
    with pytest.raises(UnknownLibrary, match="no library 'y'"):
        pool.check(RU, libraries=["y"])
    with pytest.raises(InvalidParameter, match="candidates"):
        pool.check(RU, candidates=0)
    with pytest.raises(InvalidParameter, match="text"):
        pool.check(b"bytes")  # type: ignore[arg-type]
    assert pool.check(RU).share == 1.0


def test_too_many_are_refused_at_once(address: str) -> None:
    with CheckPool(address, processes=1, waiting=2) as pool:
        pool.check("first")
        os.kill(pool.pids[0], signal.SIGSTOP)
        first = pool.submit(RU)
        eventually(first.running)
        waiting = [pool.submit(RU), pool.submit(RU)]
        assert pool.waiting == 2
        with pytest.raises(PoolBusy, match="2 checks wait already"):
            pool.submit(RU)
        os.kill(pool.pids[0], signal.SIGCONT)
        assert [one.result(60).share for one in (first, *waiting)] == [1.0] * 3


def test_a_process_that_dies_is_replaced(address: str) -> None:
    with CheckPool(address, processes=1) as pool:
        pool.check("first")
        (before,) = pool.pids
        os.kill(before, signal.SIGSTOP)
        answer = pool.submit(RU)
        eventually(answer.running)
        os.kill(before, signal.SIGKILL)
        assert answer.result(60).share == 1.0  # tried again by another one
        assert pool.pids != [before]
        (idle,) = pool.pids
        os.kill(idle, signal.SIGKILL)
        assert pool.check(RU).share == 1.0


def test_a_request_that_kills_twice_fails(address: str) -> None:
    with CheckPool(address, processes=1) as pool:
        pool.check("first")
        answer = None
        killed: list[int] = []
        os.kill(pool.pids[0], signal.SIGSTOP)
        answer = pool.submit(RU)
        while not answer.done():
            for pid in pool.pids:
                # The second one dies as soon as it is there.
                if pid not in killed and len(killed) < 2:
                    os.kill(pid, signal.SIGKILL)
                    killed.append(pid)
            time.sleep(0.01)
        assert len(killed) == 2
        with pytest.raises(WorkerLost):
            answer.result()
        assert pool.check(RU).share == 1.0


def test_what_takes_too_long_is_stopped(address: str) -> None:
    with CheckPool(address, processes=1, timeout_s=5) as pool:
        pool.check("first")
        (before,) = pool.pids
        pool.timeout_s = 1.0
        os.kill(before, signal.SIGSTOP)
        with pytest.raises(TimedOut, match="took too long: the limit is 1 seconds"):
            pool.check(RU)
        assert before not in pool.pids
        pool.timeout_s = 60.0
        assert pool.check(RU).share == 1.0


def test_a_database_that_is_not_there(tmp_path: pathlib.Path) -> None:
    with (
        CheckPool(str(tmp_path / "none.db"), processes=1) as pool,
        pytest.raises(StoreError, match="no database"),
    ):
        pool.check(RU)


def test_processes_are_fresh_after_a_while(address: str) -> None:
    with CheckPool(address, processes=1, checks_per_process=2) as pool:
        seen = set()
        for _ in range(5):
            assert pool.check(RU).share == 1.0
            eventually(lambda: pool.pids)
            seen |= set(pool.pids)
        assert len(seen) >= 2


def test_processes_end_with_their_service(address: str) -> None:
    code = (
        "import sys, time\nfrom doublet.jobs.check_pool import CheckPool\n"
        "pool = CheckPool(sys.argv[1], processes=2)\npool.check('x')\n"
        "while len(pool.pids) < 2: time.sleep(0.05)\nprint(*pool.pids, flush=True)\ntime.sleep(600)\n"
    )
    with subprocess.Popen(
        [sys.executable, "-c", code, address], stdout=subprocess.PIPE, text=True
    ) as service:
        assert service.stdout is not None
        pids = [int(pid) for pid in service.stdout.readline().split()]
        assert len(pids) == 2
        assert all(pathlib.Path(f"/proc/{pid}").exists() for pid in pids)
        service.kill()
    eventually(lambda: not any(pathlib.Path(f"/proc/{pid}").exists() for pid in pids))


def test_a_closed_pool_answers_nothing(address: str) -> None:
    pool = CheckPool(address, processes=1)
    pool.check("first")
    (pid,) = pool.pids
    pool.close()
    assert not pathlib.Path(f"/proc/{pid}").exists()
    with pytest.raises(PoolBusy, match="closed"):
        pool.submit(RU)


def test_processes_come_when_they_are_needed_and_go(address: str) -> None:
    with CheckPool(address, processes=3, kept=1, idle_s=3) as pool:
        pool.check(RU)
        assert len(pool.pids) == 1
        answers = [pool.submit(text) for text in (RU, EN) * 10]
        eventually(lambda: len(pool.pids) == 3)
        assert [one.result().share for one in answers[:2]] == [one.result().share for one in answers[2:4]]
        eventually(lambda: len(pool.pids) == 1)
        assert pool.check(RU).share == answers[0].result().share
