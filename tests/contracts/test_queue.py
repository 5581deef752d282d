"""What the queue of a store promises, on SQLite and on PostgreSQL."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator

import pytest

from doublet.errors import InvalidParameter, UnknownJob, UsageError
from doublet.store.database import Store
from doublet.store.jobs import WORKER_LOST
from doublet.store.values import JobInfo
from library_databases import VENDORS, new_address

HOSTILE = "o'Hara\"; DROP TABLE x; -- \x00 \ud800 \u202eabc 𝒳😀 \ue000 %s \\u0000"


@pytest.fixture(params=VENDORS, scope="module")
def shared_store(request: pytest.FixtureRequest) -> Iterator[Store]:
    with Store(new_address(str(request.param))) as made:
        yield made


@pytest.fixture
def store(shared_store: Store) -> Store:
    """An empty queue."""
    with shared_store.database.writing():
        shared_store.database.rows("DELETE FROM doublet_job")
    return shared_store


def claimed(store: Store, owner: str = "a", **options: float) -> JobInfo:
    job = store.jobs.claim(owner, **options)
    assert job is not None
    return job


@pytest.mark.covers("L5")
def test_it_works(store: Store) -> None:
    added = store.jobs.add("tidy", {"x": [1, None, HOSTILE]}, library=HOSTILE, asked_by="web:1")
    assert (added.state, added.attempts, added.library, added.asked_by) == ("new", 0, HOSTILE, "web:1")
    assert added.parameters == {"x": [1, None, HOSTILE]}
    job = claimed(store)
    assert (job.number, job.state, job.attempts, job.owner) == (added.number, "running", 1, "a")
    assert store.jobs.claim("b") is None
    told = store.jobs.report(
        job.number,
        "a",
        stage="storing",
        done=5,
        total=10,
        unit="documents",
        message="busy",
        facts={"n": HOSTILE},
    )
    assert (told.held, told.cancel) == (True, False)
    seen = store.jobs.get(job.number)
    assert (seen.stage, seen.done, seen.total, seen.unit, seen.message) == (
        "storing",
        5,
        10,
        "documents",
        "busy",
    )
    assert seen.facts == {"n": HOSTILE}
    assert store.jobs.finish(job.number, "a", "done", result={"text": HOSTILE})
    ended = store.jobs.get(job.number)
    assert (ended.state, ended.result, ended.over, ended.owner) == ("done", {"text": HOSTILE}, True, "")
    assert store.jobs.counts() == {"new": 0, "running": 0, "done": 1, "failed": 0, "cancelled": 0}
    assert "result" not in ended.to_dict()


def test_higher_priorities_first_then_older_ones(store: Store) -> None:
    numbers = [store.jobs.add("x", priority=p).number for p in (0, 5, 0, 5, -1)]
    assert [store.jobs.ahead(n) for n in numbers] == [2, 0, 3, 1, 4]
    order = [claimed(store).number for _ in numbers]
    assert order == [numbers[1], numbers[3], numbers[0], numbers[2], numbers[4]]
    assert store.jobs.claim("a") is None


def test_a_job_waits_for_its_time(store: Store) -> None:
    store.jobs.add("x", after_s=0.4)
    assert store.jobs.claim("a") is None
    time.sleep(0.5)
    claimed(store)


def test_a_worker_takes_only_what_it_can_do(store: Store) -> None:
    store.jobs.add("of another program")
    assert store.jobs.claim("a", kinds=["check", "fill"]) is None
    assert store.jobs.claim("a", kinds=[]) is None
    assert store.jobs.claim("a", kinds=["check", "of another program"]) is not None


def test_the_same_key_gives_the_same_job(store: Store) -> None:
    first = store.jobs.add("x", {"n": 1}, key=HOSTILE)
    assert store.jobs.add("x", {"n": 2}, key=HOSTILE) == first
    job = claimed(store)
    store.jobs.finish(job.number, "a", "done")
    assert store.jobs.add("x", key=HOSTILE).state == "done"
    assert store.jobs.add("x", key="another").number != first.number
    assert store.jobs.add("x").number != store.jobs.add("x").number


def test_one_key_from_many_threads_is_one_job(store: Store) -> None:
    numbers = []

    def add() -> None:
        numbers.append(store.jobs.add("x", key="k").number)
        store.jobs.close_thread()

    threads = [threading.Thread(target=add) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(numbers) == 8
    assert len(set(numbers)) == 1


def test_many_workers_never_share_a_job(store: Store) -> None:
    for _ in range(30):
        store.jobs.add("x")
    taken: list[int] = []

    def work(owner: str) -> None:
        while (job := store.jobs.claim(owner)) is not None:
            taken.append(job.number)
            assert store.jobs.finish(job.number, owner, "done")
        store.jobs.close_thread()

    threads = [threading.Thread(target=work, args=(f"w{n}",)) for n in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(taken) == 30
    assert len(set(taken)) == 30


def test_a_lease_that_ran_out_gives_the_job_to_another(store: Store) -> None:
    store.jobs.add("x")
    job = claimed(store, "a", lease_s=0.2)
    assert store.jobs.keep(job.number, "a", {"page": 7})
    time.sleep(0.3)
    other = claimed(store, "b")
    assert (other.number, other.attempts, other.checkpoint) == (job.number, 2, {"page": 7})
    # The first one has nothing to say any more.
    assert not store.jobs.beat(job.number, "a").held
    assert not store.jobs.look(job.number, "a").held
    assert not store.jobs.report(job.number, "a", stage="s", done=9, total=9, unit="").held
    assert not store.jobs.keep(job.number, "a", {"page": 9})
    assert not store.jobs.finish(job.number, "a", "done", result=1)
    assert not store.jobs.hand_back(job.number, "a")
    seen = store.jobs.get(job.number)
    assert (seen.owner, seen.state, seen.stage, seen.checkpoint) == ("b", "running", "", {"page": 7})


def test_a_beat_keeps_the_lease(store: Store) -> None:
    store.jobs.add("x")
    job = claimed(store, "a", lease_s=0.3)
    for _ in range(4):
        time.sleep(0.15)
        assert store.jobs.beat(job.number, "a", lease_s=0.3).held
    assert store.jobs.claim("b") is None


def test_a_job_that_kills_its_workers_fails(store: Store) -> None:
    number = store.jobs.add("x", max_attempts=2).number
    for owner in ("a", "b"):
        claimed(store, owner, lease_s=0.05)
        time.sleep(0.1)
    assert store.jobs.claim("c") is None
    ended = store.jobs.get(number)
    assert (ended.state, ended.message, ended.facts) == ("failed", WORKER_LOST, {"attempts": 2})
    again = store.jobs.retry(number)
    assert (again.state, again.attempts, again.message) == ("new", 0, "")


def test_cancel_while_it_waits_is_at_once(store: Store) -> None:
    number = store.jobs.add("x").number
    assert store.jobs.cancel(number).state == "cancelled"
    assert store.jobs.claim("a") is None
    assert store.jobs.cancel(number).state == "cancelled"


def test_cancel_while_it_runs_is_told_to_the_worker(store: Store) -> None:
    number = store.jobs.add("x").number
    claimed(store)
    asked = store.jobs.cancel(number)
    assert (asked.state, asked.cancel) == ("running", True)
    assert store.jobs.look(number, "a").cancel
    assert store.jobs.beat(number, "a").cancel
    assert store.jobs.report(number, "a", stage="", done=0, total=None, unit="").cancel
    store.jobs.finish(number, "a", "cancelled", message="cancelled")
    assert store.jobs.get(number).state == "cancelled"


def test_cancel_reaches_a_job_whose_worker_died(store: Store) -> None:
    first, second = (store.jobs.add("x").number for _ in range(2))
    claimed(store, lease_s=0.1)
    claimed(store, lease_s=0.1)
    store.jobs.cancel(second)
    time.sleep(0.2)
    assert store.jobs.cancel(first).state == "cancelled"
    store.jobs.sweep()
    assert store.jobs.get(second).state == "cancelled"


def test_a_job_handed_back_waits_again(store: Store) -> None:
    store.jobs.add("x")
    job = claimed(store)
    assert store.jobs.hand_back(job.number, "a")
    assert claimed(store).attempts == 1  # a stop of the worker is no try that failed
    assert store.jobs.hand_back(
        job.number, "a", counts=True, after_s=60, message="store_busy", facts={"n": 1}
    )
    waits = store.jobs.get(job.number)
    assert (waits.state, waits.attempts, waits.message, waits.facts) == ("new", 1, "store_busy", {"n": 1})
    assert store.jobs.claim("a") is None


def test_retry_is_for_what_did_not_end_well(store: Store) -> None:
    number = store.jobs.add("x").number
    with pytest.raises(UsageError, match="is new"):
        store.jobs.retry(number)
    claimed(store)
    with pytest.raises(UsageError, match="is running"):
        store.jobs.retry(number)
    store.jobs.finish(number, "a", "done")
    with pytest.raises(UsageError, match="is done"):
        store.jobs.retry(number)


def test_what_cannot_be(store: Store) -> None:
    for call in (store.jobs.get, store.jobs.cancel, store.jobs.retry):
        with pytest.raises(UnknownJob, match="no job 12345"):
            call(12345)
    with pytest.raises(InvalidParameter, match="JSON"):
        store.jobs.add("x", {"a": object()})
    with pytest.raises(InvalidParameter, match="JSON"):
        store.jobs.add("x", {"a": float("nan")})
    with pytest.raises(InvalidParameter, match="max_attempts"):
        store.jobs.add("x", max_attempts=0)
    with pytest.raises(InvalidParameter, match="never 'gone'"):
        store.jobs.find(["gone"])


def test_finding_jobs(store: Store) -> None:
    for n in range(5):
        store.jobs.add("odd" if n % 2 else "even", library=f"l{n}", asked_by="me" if n > 2 else "you")
    job = claimed(store)
    assert [one.library for one in store.jobs.find()] == ["l4", "l3", "l2", "l1", "l0"]
    assert [one.library for one in store.jobs.find(["running"])] == ["l0"]
    assert [one.library for one in store.jobs.find(kind="odd")] == ["l3", "l1"]
    assert [one.library for one in store.jobs.find(["new", "running"], asked_by="you", limit=2)] == [
        "l2",
        "l1",
    ]
    assert [one.library for one in store.jobs.find(library="l2")] == ["l2"]
    assert [one.library for one in store.jobs.find(before=job.number + 2)] == ["l1", "l0"]


def test_ended_jobs_are_forgotten_after_a_while(store: Store) -> None:
    old, new, waiting = (store.jobs.add("x").number for _ in range(3))
    for _ in range(2):
        store.jobs.finish(claimed(store).number, "a", "done")
    with store.database.writing():
        store.database.rows("UPDATE doublet_job SET ended_at = ended_at - 864001 WHERE id = %s", [old])
        store.database.rows("UPDATE doublet_job SET created_at = 0, changed_at = 0 WHERE id = %s", [waiting])
    assert store.jobs.expire(10) == 1
    assert sorted(one.number for one in store.jobs.find()) == [new, waiting]


@pytest.mark.covers("L5")
def test_a_paused_job_waits_and_goes_on(store: Store) -> None:
    waiting, running = store.jobs.add("tidy"), store.jobs.add("tidy", priority=1)
    job = claimed(store)
    assert job.number == running.number
    store.jobs.keep(job.number, "a", {"page": 7})
    assert store.jobs.pause(waiting.number).paused
    assert store.jobs.pause(running.number).paused
    assert store.jobs.look(job.number, "a").cancel, "its worker is told to stop"
    assert store.jobs.finish(job.number, "a", "cancelled") == "paused"
    seen = store.jobs.get(job.number)
    assert (seen.state, seen.paused, seen.attempts, seen.cancel) == ("new", True, 0, False)
    assert store.jobs.claim("b") is None
    assert store.jobs.resume(job.number).paused is False
    again = claimed(store, "b")
    assert (again.number, again.checkpoint) == (job.number, {"page": 7})
    assert store.jobs.ahead(store.jobs.add("tidy").number) == 0, "a paused job is not in the way"
    assert store.jobs.cancel(waiting.number).state == "cancelled"


@pytest.mark.covers("L5")
def test_a_paused_job_can_be_taken_out_and_survives_its_worker(store: Store) -> None:
    store.jobs.add("tidy")
    job = claimed(store)
    store.jobs.pause(job.number)
    store.jobs.cancel(job.number)
    assert store.jobs.finish(job.number, "a", "cancelled") == "cancelled"
    assert store.jobs.get(job.number).state == "cancelled", "taken out, not paused"
    store.jobs.add("tidy")
    lost = claimed(store, "dead", lease_s=0.01)
    store.jobs.pause(lost.number)
    time.sleep(0.05)
    store.jobs.sweep()
    seen = store.jobs.get(lost.number)
    assert (seen.state, seen.paused) == ("new", True)
