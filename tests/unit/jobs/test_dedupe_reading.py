"""Reading a collection: threads that are stopped, inputs that change on the way."""

from __future__ import annotations

import json
import pathlib
import threading
from collections.abc import Iterator
from typing import Any

import pytest

from doublet.errors import InputUnreadable
from doublet.jobs.dedupe import dedupe_inputs
from doublet.jobs.dedupe.documents import MemoryBatch
from doublet.jobs.dedupe.reading import BusyThreads, in_order
from doublet.progress import Event, Progress
from doublet.sources.open import open_source
from doublet.sources.records import ParsedBatch

TEXT = "The boats were locked in the ice until March, and nobody in the village minded it much."


def test_no_thread_begins_after_the_end() -> None:
    hands = BusyThreads()
    assert hands.call(iter, [1, 2]) == [1, 2]
    hands.rest()
    assert hands.call(lambda _: pytest.fail("went on"), []) == []


def test_the_end_waits_for_threads_at_work() -> None:
    """Even for one that a pool does not know of."""
    hands = BusyThreads()
    begun, go_on, done = threading.Event(), threading.Event(), []

    def work(_: Any) -> Iterator[Any]:
        begun.set()
        go_on.wait(10)
        done.append(True)
        return iter(())

    thread = threading.Thread(target=hands.call, args=(work, None))
    thread.start()
    begun.wait(10)
    ender = threading.Thread(target=hands.rest)
    ender.start()
    ender.join(0.05)
    assert ender.is_alive()
    go_on.set()
    ender.join(10)
    assert done == [True]
    thread.join(10)


def test_a_walk_that_is_left_ends_its_threads() -> None:
    at_work = threading.Event()
    working = 0

    def work(number: int) -> Iterator[Any]:
        nonlocal working
        working += 1
        if number:
            at_work.wait(0.05)
        working -= 1
        yield number

    batches = (MemoryBatch(ParsedBatch(), number, 1) for number in range(100))
    walk = in_order(batches, lambda batch: work(batch.first), 2)
    assert next(walk) == 0
    walk.close()
    assert working == 0


@pytest.mark.parametrize(
    ("change", "words"),
    [("append", "changed while"), ("cut", "changed while"), ("remove", "was removed while")],
)
def test_an_input_that_changes_is_told_when_it_has_been_read(
    tmp_path: pathlib.Path, change: str, words: str
) -> None:
    path = tmp_path / "corpus.jsonl"
    rows = ({"id": f"{i}", "text": f"{TEXT} {i}"} for i in range(50))
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    stages = []

    def listen(event: Event) -> None:
        if not stages:
            if change == "append":
                with path.open("a") as file:
                    file.write("{}\n")
            elif change == "cut":
                path.write_text("")
            else:
                path.unlink()
        stages.append(event.stage)

    with open_source([str(path)]) as source, pytest.raises(InputUnreadable, match=words):
        dedupe_inputs(source, progress=Progress(listen))
    assert set(stages) == {"reading"}  # and not after the work that follows


def test_an_input_that_is_gone_when_the_cleaned_collection_is_written(tmp_path: pathlib.Path) -> None:
    texts = tmp_path / "texts"
    texts.mkdir()
    for name in "abc":
        (texts / f"{name}.txt").write_text(f"{name} " * 20)

    def listen(event: Event) -> None:
        if event.stage == "writing":
            (texts / "b.txt").unlink()

    with (
        open_source([str(texts)]) as source,
        pytest.raises(Exception, match=r"b\.txt.*No such file"),
    ):
        dedupe_inputs(source, kept_out=tmp_path / "clean", progress=Progress(listen))
    assert sorted(path.name for path in tmp_path.iterdir()) == ["texts"]
