"""Workers of the queue: in this process, and real ones that are killed and stopped."""

from __future__ import annotations

import contextlib
import os
import pathlib
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from fill_worker import PAGES, PER_PAGE, text_of
from queue_worker import FOR_TESTS

from doublet.cli.exits import guarded
from doublet.errors import InvalidParameter, UnknownKindOfJob
from doublet.jobs.queue import kinds
from doublet.jobs.queue import worker as module
from doublet.jobs.queue.kinds import enqueue
from doublet.jobs.queue.worker import Ended, Worker
from doublet.model import Document, Note
from doublet.reports import queue_terminal
from doublet.store.database import Store
from doublet.store.values import JobInfo
from doublet.store.verify import verify
from library_databases import VENDORS, new_address

WORKER = pathlib.Path(__file__).parent / "queue_worker.py"
TEXT = (
    "Снег в городе занимает место, которое летом занимали люди, и лежит там до самой весны без всякого дела."
)


@pytest.fixture(params=VENDORS, scope="module")
def address(request: pytest.FixtureRequest) -> str:
    made = new_address(str(request.param))
    with Store(made) as store:
        store.libraries.create("x")
    return made


@pytest.fixture
def store(address: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[Store]:
    for name in FOR_TESTS:
        monkeypatch.setitem(kinds.KINDS, name, f"queue_worker:{name}")
    monkeypatch.setattr(module, "TRY_AGAIN_S", 0.05)
    with Store(address) as made:
        with made.database.writing():
            made.database.rows("DELETE FROM doublet_job")
        yield made


def done(store: Store, kind: str, **parameters: Any) -> JobInfo:
    """The job after a worker was there."""
    number = enqueue(store, kind, parameters).number
    Worker(store, look_s=0.05).run(until_empty=True)
    return store.jobs.get(number)


def eventually(seen: Callable[[], object], seconds: float = 40) -> None:
    until = time.monotonic() + seconds
    while not seen():
        assert time.monotonic() < until, "it did not happen"
        time.sleep(0.05)


@contextlib.contextmanager
def process(address: str, lease_s: float = 2.0) -> Iterator[subprocess.Popen[str]]:
    """A worker in a process of its own."""
    with subprocess.Popen(
        [sys.executable, str(WORKER), address, str(lease_s)], stdout=subprocess.PIPE, text=True
    ) as worker:
        assert worker.stdout is not None
        assert worker.stdout.readline() == "ready\n"
        try:
            yield worker
        finally:
            worker.kill()


@pytest.mark.covers("L5")
def test_it_works(store: Store) -> None:
    job = done(store, "echo", value={"a": [1, "о"]})
    assert (job.state, job.result, job.attempts, job.owner) == ("done", {"a": [1, "о"]}, 1, "")


def test_progress_is_seen_by_others(store: Store, address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "REPORT_S", 0.1)
    number = enqueue(store, "sleep", {"steps": 30}).number
    worker = Worker(store, look_s=0.05)
    seen: list[tuple[Any, ...]] = []

    def look() -> None:
        with Store(address) as other:
            while not (job := other.jobs.get(number)).over:
                seen.append((job.stage, job.done, job.total, job.unit, job.message, job.facts.get("note")))
                time.sleep(0.05)

    thread = threading.Thread(target=look)
    thread.start()
    worker.run(until_empty=True)
    thread.join()
    told = [row for row in seen if row[0] == "sleeping"]
    assert told
    assert all(row[2:] == (30, "steps", "said", Note("said", text="well").to_dict()) for row in told)
    counted = [row[1] for row in told]
    assert counted == sorted(counted)
    assert len(set(counted)) > 2
    assert (store.jobs.get(number).stage, store.jobs.get(number).done) == ("sleeping", 29)


def test_errors_are_codes_with_values(store: Store) -> None:
    job = done(store, "index", library="nowhere", method="minhash")
    assert (job.state, job.message, job.facts["name"], job.attempts) == (
        "failed",
        "unknown_library",
        "nowhere",
        1,
    )
    fault = done(store, "wrong")
    assert (fault.state, fault.message) == ("failed", "fault")
    assert fault.facts == {"type": "ZeroDivisionError", "message": "on purpose"}


def test_what_may_pass_is_tried_again(store: Store) -> None:
    number = enqueue(store, "busy", {"times": 1}).number
    Worker(store).run_one()
    passed = store.jobs.get(number)
    assert passed.state == "new"  # it waits for a moment
    eventually(lambda: Worker(store).run_one() is not None)
    passed = store.jobs.get(passed.number)
    assert (passed.state, passed.result, passed.attempts) == ("done", 2, 2)
    number = enqueue(store, "busy", {"times": 9}).number

    def tried() -> bool:
        Worker(store).run_one()
        return store.jobs.get(number).over

    eventually(tried)
    given_up = store.jobs.get(number)
    assert (given_up.state, given_up.message, given_up.attempts) == ("failed", "store_busy", 3)
    assert given_up.facts["message"] == "busy on purpose"


def test_wrong_work_is_refused_before_it_waits(store: Store) -> None:
    with pytest.raises(UnknownKindOfJob, match="did you mean 'verify'"):
        enqueue(store, "verfy", {})
    with pytest.raises(InvalidParameter, match="fill has no parameter 'libary', did you mean 'library'"):
        enqueue(store, "fill", {"libary": "x"})
    with pytest.raises(InvalidParameter, match="needs the parameter 'library'"):
        enqueue(store, "fill", {})
    number = store.jobs.add("fill", {"libary": "x"}).number  # by a program that does not look
    Worker(store).run(until_empty=True)
    assert store.jobs.get(number).message == "invalid_parameter"


def test_cancel_while_it_runs(store: Store, address: str) -> None:
    number = enqueue(store, "sleep", {"steps": 1_000}).number
    with process(address):
        eventually(lambda: store.jobs.get(number).checkpoint.get("steps", 0) > 2)
        asked = time.monotonic()
        assert store.jobs.cancel(number).state == "running"
        eventually(lambda: store.jobs.get(number).over)
        assert time.monotonic() - asked < 10  # two seconds, and a busy machine
    assert (store.jobs.get(number).state, store.jobs.get(number).message) == ("cancelled", "cancelled")


@pytest.mark.covers("L5")
def test_a_job_that_was_paused_is_not_called_cancelled(store: Store) -> None:
    number = enqueue(store, "sleep", {"steps": 1_000}).number
    told: list[Ended] = []
    worker = Worker(
        store, look_s=0.05, told=lambda what: told.append(what) if isinstance(what, Ended) else None
    )

    def pause() -> None:
        eventually(lambda: store.jobs.get(number).checkpoint.get("steps", 0) > 2)
        store.jobs.pause(number)
        store.jobs.close_thread()

    with ThreadPoolExecutor(1) as other:
        done = other.submit(pause)
        worker.run(until_empty=True)
        done.result()
    assert [one.state for one in told] == ["paused"]
    ended = told[0]
    assert "paused" in queue_terminal.ended(ended.job, ended.state, ended.message, ended.facts, 1.0)
    assert store.jobs.cancel(number).state == "cancelled"


def test_a_stopped_worker_hands_its_job_back(store: Store, address: str) -> None:
    number = enqueue(store, "sleep", {"steps": 100}).number
    with process(address) as worker:
        eventually(lambda: store.jobs.get(number).checkpoint.get("steps", 0) > 2)
        worker.send_signal(signal.SIGTERM)
        out, _ = worker.communicate(timeout=30)
        assert (out, worker.returncode) == ("stopped\n", 0)
    back = store.jobs.get(number)
    reached = back.checkpoint["steps"]
    assert (back.state, back.attempts) == ("new", 0)
    assert 2 < reached < 100
    Worker(store).run(until_empty=True)
    assert (store.jobs.get(number).state, store.jobs.get(number).result) == ("done", 100)


def test_a_killed_worker_loses_nothing(store: Store, address: str, tmp_path: pathlib.Path) -> None:
    """kill -9 in the middle, twice; the next one goes on, and the library is whole."""
    journal = tmp_path / "journal"
    number = enqueue(store, "pages", {"journal": str(journal)}).number
    reached = []
    for round_ in range(2):
        with process(address, lease_s=1.5) as worker:
            before = reached[-1] if reached else 0
            eventually(lambda before=before: _page(store) > before)  # type: ignore[misc]
            assert worker.poll() is None
            worker.kill()
            worker.wait()
        reached.append(_page(store))
        job = store.jobs.get(number)
        assert (job.state, job.attempts) == ("running", round_ + 1)
    assert reached == sorted(set(reached))
    assert reached[-1] < PAGES
    with process(address, lease_s=1.5):
        eventually(lambda: store.jobs.get(number).over)
    job = store.jobs.get(number)
    assert (job.state, job.attempts, job.result["pages"]) == ("done", 3, PAGES)
    assert job.result["counts"].get("gone", 0) == 0
    with Store(address) as other:
        found = {one.id: text for batch in other.documents.batches("x") for one, text in batch}
        assert found == {f"{n:04}": text_of(n) for n in range(PAGES * PER_PAGE)}
        assert verify(other) == []
    walked = [int(line) for line in journal.read_text().split()]
    assert walked.count(0) == 1  # never from the beginning again


def _page(store: Store) -> int:
    infos = store.sources.all(store.libraries.get("x").number)
    return max((int(info.state.get("page", 0)) for info in infos), default=0)


def test_a_job_that_kills_its_workers_fails(store: Store, address: str) -> None:
    number = enqueue(store, "crash", {}, max_attempts=2).number
    other = enqueue(store, "echo", {"value": 1}).number
    for _ in range(2):
        with process(address, lease_s=0.6) as worker:
            assert worker.wait(30) == -signal.SIGKILL
        time.sleep(0.7)
    Worker(store).run(until_empty=True)
    job = store.jobs.get(number)
    assert (job.state, job.message, job.facts) == ("failed", "worker_lost", {"attempts": 2})
    assert store.jobs.get(other).state == "done"


# The command line


def doublet(address: str, *arguments: str, code: int = 0) -> subprocess.CompletedProcess[str]:
    ran = subprocess.run(
        [sys.executable, "-m", "doublet", *arguments],
        env={**os.environ, "DOUBLET_DATABASE": address},
        check=False,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert ran.returncode == code, ran.stderr
    return ran


@pytest.fixture(scope="module")
def own(address: str, tmp_path_factory: pytest.TempPathFactory) -> tuple[str, pathlib.Path]:
    """A database of its own for the commands, with a library and a folder."""
    vendor = "sqlite" if address.endswith(".db") else "postgresql"
    made, folder = new_address(vendor), tmp_path_factory.mktemp("texts")
    for number in range(6):
        own_words = " ".join(f"зима{number}{chr(1072 + k % 32)}{k}" for k in range(60))
        (folder / f"{number}.txt").write_text(f"{TEXT} {own_words}.", "utf-8")
    with Store(made) as store:
        store.libraries.create("y")
        store.documents.add("y", [Document("y1", TEXT)])
    return made, folder


@pytest.mark.covers("L5", "U2")
def test_every_long_command_can_be_done_later(
    own: tuple[str, pathlib.Path],
    tmp_path: pathlib.Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    address, folder = own
    essay = tmp_path / "essay.txt"
    essay.write_text(TEXT, "utf-8")
    evaluated = ("--methods", "minhash", "--changes", "look-alikes", "--quick", "--no-curves")
    asked = {
        "fill": ("library", "add", "z", str(folder), "--create", "--later"),
        "check": ("check", str(essay), str(folder), "--library", "y", "--later"),
        "duplicates": ("library", "duplicates", "y", "--later"),
        "verify": ("library", "verify", "y", "--later"),
        "repeats": ("repeats", str(essay), "--later"),
        "tidy": ("queue", "add", "tidy"),
        "index": ("queue", "add", "index", "-p", "library=y", "-p", "method=minhash"),
        "expire": ("queue", "add", "expire", "-p", "days=1"),
        "again": ("queue", "add", "fill", "-p", "library=z"),
        "delete": ("library", "remove", "y", "--all", "--yes", "--later"),
        "evaluate": ("evaluate", str(folder), *evaluated, "--later"),
    }
    monkeypatch.setenv("DOUBLET_DATABASE", address)

    def number_of(*arguments: str) -> int:
        assert guarded(list(arguments)) == 0, capsys.readouterr().err
        return int(capsys.readouterr().out)

    numbers = {kind: number_of(*arguments) for kind, arguments in asked.items()}
    with Store(address) as store:
        assert [job.state for job in store.jobs.find()] == ["new"] * len(asked)
        told = doublet(address, "worker", "--until-empty").stderr
        assert f"job {numbers['fill']}: fill z\n" in told
        jobs = {kind: store.jobs.get(number) for kind, number in numbers.items()}
        for kind, job in jobs.items():
            assert job.state == "done", (kind, job.message, job.facts)
        assert [info.name for info in store.libraries.all()] == ["z"]
        results = {kind: job.result for kind, job in jobs.items()}
        assert results["fill"]["documents"] == 6
        assert [row["state"] for row in results["check"]["documents"]] == ["done"] * 7
        assert results["check"]["documents"][0]["share"] == 1.0
        assert store.reports.data(results["check"]["documents"][0]["report"])["share"] == 1.0
        assert results["verify"] == {"findings": []}
        assert results["index"]["documents"] == 1
        assert results["again"]["sources"][0]["counts"] == {"unchanged": 6}
        assert results["delete"] == {"library": "y", "documents": 1}
        updated = number_of("library", "update", "--later")
        Worker(store).run(until_empty=True)
        assert store.jobs.get(updated).result["sources"][0]["counts"] == {"unchanged": 6}


def test_the_queue_on_the_command_line(
    own: tuple[str, pathlib.Path], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    address, _ = own
    monkeypatch.setenv("DOUBLET_DATABASE", address)

    def said(*arguments: str, code: int = 0) -> str:
        assert guarded(["queue", *arguments]) == code
        both = capsys.readouterr()
        return both.out + both.err

    number = said("add", "tidy", "--after", "1h", "--key", "k", "--quiet").strip()
    assert said("add", "tidy", "--key", "k", "--quiet").strip() == number
    assert "waits" in said("show", number)
    assert "is cancelled" in said("cancel", number)
    assert "waits again" in said("retry", number)
    with subprocess.Popen(
        [sys.executable, "-m", "doublet", "queue", "--watch", "--library", ""],
        stdout=subprocess.PIPE,
        text=True,
    ) as watched:
        assert watched.stdout is not None
        assert "state" in watched.stdout.readline()
        with Store(address) as store:
            Worker(store).run(until_empty=True)
        out = watched.stdout.read()
        assert watched.wait(60) == 0
    assert "waits: 1" in out
    assert "waits: 1" not in out.splitlines()[-1]
    assert "no job 9999" in said("show", "9999", code=2)
    assert "is done" in said("retry", number, code=2)
    assert "did you mean 'cancel'" in said("cancle", "1", code=2)


@pytest.mark.parametrize("how", ["term", "kill"])
def test_workers_end_with_their_supervisor(own: tuple[str, pathlib.Path], how: str) -> None:
    address, _ = own
    command = [sys.executable, "-m", "doublet", "worker", "--processes", "2"]
    with subprocess.Popen(
        command, env={**os.environ, "DOUBLET_DATABASE": address}, stderr=subprocess.PIPE, text=True
    ) as supervisor:
        eventually(lambda: len(_children(supervisor.pid)) == 2)
        first, second = _children(supervisor.pid)
        os.kill(first, signal.SIGKILL)
        eventually(lambda: len(set(_children(supervisor.pid)) - {first}) == 2)  # another one took its place
        third = next(pid for pid in _children(supervisor.pid) if pid not in (first, second))
        supervisor.send_signal(signal.SIGTERM if how == "term" else signal.SIGKILL)
        _, told = supervisor.communicate(timeout=60)
        assert supervisor.returncode == (0 if how == "term" else -signal.SIGKILL)
        assert f"worker {first} ended with -9" in told
    eventually(lambda: not any(pathlib.Path(f"/proc/{pid}").exists() for pid in (second, third)))


def _children(pid: int) -> list[int]:
    with contextlib.suppress(OSError):
        return [int(n) for n in pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
    return []
