"""The pieces of an evaluation, each for one method: what a worker process is handed and what it hands back.

Every method has a process of its own, so that the memory it takes can be told, a method that falls over takes nothing
with it, and several can run at the same time. The results do not depend on how many do.
"""

from __future__ import annotations

import contextlib
import pickle
import re
import struct
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

from doublet.errors import DoubletError
from doublet.evaluation.finding import MethodFindings, find
from doublet.evaluation.metrics import PairCounts, Passage, count_pair
from doublet.evaluation.problem import PassagePair
from doublet.evaluation.specs import Spec
from doublet.model import Document, Note, Span
from doublet.progress import Progress

LENGTH = struct.Struct("<Q")


@dataclass(frozen=True)
class FindTask:
    """Queries against a library; without queries, all pairs of it."""

    spec: Spec
    library: Sequence[Document]
    queries: Sequence[Document] | None
    thresholds: tuple[float, ...] = ()

    def run(self) -> MethodFindings:
        return find(self.spec, self.library, self.queries, thresholds=self.thresholds)


@dataclass
class PassageResult:
    """*rows* and *detections* have a place for every pair; *found*: cases of which half or more was covered.

    *rows* count strong passages, *detections* and *found* the weak ones too.
    """

    rows: list[PairCounts] = field(default_factory=list)
    detections: list[list[Passage]] = field(default_factory=list)
    found: list[list[bool]] = field(default_factory=list)
    seconds: float = 0.0


@dataclass(frozen=True)
class PassageTask:
    spec: Spec
    pairs: Sequence[PassagePair]

    def run(self) -> PassageResult:
        from doublet.jobs.compare import compare

        out = PassageResult()
        began = time.perf_counter()
        for pair in self.pairs:
            result = compare(pair.text, pair.source, method=self.spec.method, **self.spec.options)
            # PAN's measures are about passages; what is short (weak) still counts when single sentences are asked for.
            strong = [Passage(Span(*f.a), Span(*f.b)) for f in result.fragments if f.strength == "strong"]
            detections = [Passage(Span(*f.a), Span(*f.b)) for f in result.fragments]
            out.rows.append(count_pair(pair.cases, strong))
            out.detections.append(detections)
            out.found.append([half_covered(case, detections) for case in pair.cases])
        out.seconds = time.perf_counter() - began
        return out


def half_covered(case: Passage, detections: Sequence[Passage]) -> bool:
    """Whether detections that reach the right place of the source cover half of the case in the checked text."""
    low, high = case.source_span
    good = sorted(d.span for d in detections if d.source_span.start < high and low < d.source_span.end)
    return covered(case.span, good) * 2 >= case.span.end - case.span.start


def covered(window: Span, spans: Sequence[Span]) -> int:
    """Characters of *window* inside any of *spans*, which are sorted."""
    total, reached = 0, window.start
    for start, end in spans:
        begin, stop = max(start, reached), min(end, window.end)
        if stop > begin:
            total += stop - begin
            reached = stop
    return total


@dataclass(frozen=True)
class ScoreTask:
    """Scores of pairs of texts: of every pair the measure of the spec, and what the method's own rule says."""

    spec: Spec
    pairs: Sequence[tuple[str, str]]

    def run(self) -> list[tuple[float, bool]]:
        return score_pairs(self.spec, self.pairs)


def score_pairs(spec: Spec, pairs: Sequence[tuple[str, str]]) -> list[tuple[float, bool]]:
    """Resemblance, or the larger containment where the spec decides by it; 0 for texts that cannot be signed."""
    from doublet.signatures import gather_statistics
    from doublet.signatures import method as make_method

    texts = [text for pair in pairs for text in pair]
    statistics = gather_statistics(spec.method, texts, **spec.options)
    method = make_method(spec.method, statistics, **spec.options)
    signatures = method.sign_texts(texts)
    out = []
    for a, b in zip(signatures[0::2], signatures[1::2], strict=True):
        if a is None or b is None:
            out.append((0.0, False))
            continue
        measures = method.compare(a, b)
        score = measures.resemblance
        if spec.measure == "containment" and measures.containment is not None:
            score = max(measures.containment)
        out.append((float(score), bool(measures.similar)))
    return out


Task = FindTask | PassageTask | ScoreTask


@dataclass(frozen=True)
class Failure:
    """A task that could not be done, in words."""

    label: str
    reason: Note


def run_tasks(
    tasks: Sequence[Task],
    *,
    workers: int = 1,
    isolated: bool = True,
    progress: Progress | None = None,
    stage: str = "evaluating",
) -> list[Any]:
    """Results in the order of the tasks; a `Failure` in the place of one that could not be done.

    *isolated*: all tasks of a method in a process of their own. Raises `Cancelled` and ends the processes when the
    user stops.
    """
    progress = progress or Progress()
    results: list[Any] = [None] * len(tasks)
    if not isolated:
        for number, task in enumerate(tasks):
            progress.step(stage, number, len(tasks), "runs", Note("said", text=task.spec.label))
            results[number] = _guarded(task)
        progress.step(stage, len(tasks), len(tasks), "runs")
        return results
    groups: dict[str, list[int]] = {}
    for number, task in enumerate(tasks):
        groups.setdefault(task.spec.method, []).append(number)
    crew = _Crew(tasks, results)
    with ThreadPoolExecutor(max(1, workers)) as pool:
        # The largest first: the others fill the time beside them.
        ordered = sorted(groups.values(), key=lambda numbers: -len(numbers))
        waiting = {pool.submit(crew.run, numbers) for numbers in ordered}
        try:
            while waiting:
                done, waiting = wait(waiting, timeout=0.2, return_when=FIRST_COMPLETED)
                for future in done:
                    future.result()
                progress.step(stage, crew.done, len(tasks), "runs", Note("said", text=crew.last))
        except BaseException:
            crew.stop()
            for future in waiting:
                future.cancel()
            raise
    return results


class _Crew:
    """Worker processes: each is handed the tasks of one method and answers as it gets done with them."""

    def __init__(self, tasks: Sequence[Task], results: list[Any]) -> None:
        self._tasks, self._results = tasks, results
        self._running: set[subprocess.Popen[bytes]] = set()
        self._lock = threading.Lock()
        self._stopped = False
        self.done = 0
        self.last = ""

    def run(self, numbers: Sequence[int]) -> None:
        with self._lock:
            if self._stopped:
                return
            process = subprocess.Popen(
                [sys.executable, "-m", "doublet.evaluation.worker"],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
            )
            self._running.add(process)
        assert process.stdin is not None
        assert process.stdout is not None
        with process, contextlib.suppress(BrokenPipeError):
            process.stdin.write(pickle.dumps([self._tasks[number] for number in numbers]))
            process.stdin.close()
            for number in numbers:
                head = process.stdout.read(LENGTH.size)
                if len(head) < LENGTH.size:
                    break
                self._results[number] = pickle.loads(process.stdout.read(LENGTH.unpack(head)[0]))
                self.done += 1
                self.last = self._tasks[number].spec.label
        with self._lock:
            self._running.discard(process)
        for number in numbers:
            if self._results[number] is None:
                self.done += 1
                self._results[number] = Failure(
                    self._tasks[number].spec.label,
                    Note("process_ended", returncode=process.returncode),
                )

    def stop(self) -> None:
        with self._lock:
            self._stopped = True
            for process in self._running:
                process.kill()


def _guarded(task: Task) -> Any:
    try:
        return task.run()
    except DoubletError as error:
        return Failure(task.spec.label, error.note)


def main(stdin: IO[bytes], stdout: IO[bytes]) -> None:
    """What a worker process does: a list of tasks in, and for each its result out, behind its length."""
    tasks: list[Task] = pickle.loads(stdin.read())
    for task in tasks:
        before = _forget_peak()
        result = _guarded(task)
        if isinstance(result, MethodFindings) and before is not None:
            result.cost.peak_bytes = max(0, (_memory("VmHWM") or before) - before)
        body = pickle.dumps(result)
        stdout.write(LENGTH.pack(len(body)) + body)
        stdout.flush()


def _forget_peak() -> int | None:
    """Memory in use now; the system forgets what was used before. None where it cannot be told (not Linux)."""
    try:
        Path("/proc/self/clear_refs").write_text("5")
    except OSError:
        return None
    return _memory("VmRSS")


def _memory(name: str) -> int | None:
    try:
        status = Path("/proc/self/status").read_text()
    except OSError:
        return None
    found = re.search(rf"^{name}:\s+(\d+) kB$", status, re.M)
    return int(found[1]) * 1024 if found else None


__all__ = ["Failure", "FindTask", "PassageTask", "ScoreTask", "run_tasks", "score_pairs"]
