"""Progress of long work on standard error: a bar on a terminal, a plain line now and then elsewhere.

Reads the events of `doublet.progress`; nothing of the work knows about it.
"""

from __future__ import annotations

import contextlib
import sys
import time
from collections.abc import Iterator
from typing import Any, TextIO

from doublet.cli.exits import cancelled_by_signals
from doublet.cli.language import words
from doublet.model import Note
from doublet.progress import Event, Progress

PLAIN_EVERY_S = 5.0


@contextlib.contextmanager
def shown(
    *, quiet: bool, colour: bool, stream: TextIO | None = None, expected_s: float | None = None
) -> Iterator[Progress]:
    """A `Progress` whose events are shown as *stream* (standard error) allows. *expected_s* is how long the whole work
    is expected to take, where that is known."""
    stream = sys.stderr if stream is None else stream
    if quiet:
        progress = Progress()
        with cancelled_by_signals(progress.cancel):
            yield progress
    elif stream.isatty():
        with _bar(stream, colour, expected_s) as progress, cancelled_by_signals(progress.cancel):
            yield progress
    else:
        lines = PlainLines(stream)
        progress = Progress(lines)
        try:
            with cancelled_by_signals(progress.cancel):
                yield progress
        finally:
            lines.finish()


class PlainLines:
    """One line when a stage takes long, then one every few seconds. Quick work stays silent."""

    def __init__(self, stream: TextIO, clock: Any = time.monotonic) -> None:
        self._stream = stream
        self._clock = clock
        self._stage = ""
        self._began = self._spoke = clock()

    def __call__(self, event: Event) -> None:
        now = self._clock()
        if event.stage != self._stage:
            self._stage, self._began = event.stage, now
        if now - self._spoke < PLAIN_EVERY_S:
            return
        self._spoke = now
        self._stream.write(describe(event, now - self._began) + "\n")
        self._stream.flush()

    def finish(self) -> None:
        self._stream.flush()


def describe(event: Event, elapsed_s: float) -> str:
    """One event in words: stage, how far, how fast, how much longer."""
    say = words()
    parts = [say.name("stage", event.stage)]
    done = _amount(event.done, event.unit)
    if event.total:
        share = f"{event.done / event.total * 100:.0f}{say.tables.PERCENT}"
        parts.append(f"{_of(event.done, event.total, event.unit)} ({share})")
    elif event.done:
        parts.append(done)
    if elapsed_s > 1 and event.done and not _tells_its_pace(event):
        rate = event.done / elapsed_s
        if rate >= 1:  # slower work is told by what is left of it
            parts.append(say("a_second", amount=_amount(rate, event.unit)))
        if event.total and event.done < event.total:
            parts.append(say("time_left", seconds=(event.total - event.done) / rate))
    if event.message:
        parts.append(say.say(event.message))
    return ": ".join(parts[:2]) + "".join(f", {part}" for part in parts[2:])


def _tells_its_pace(event: Event) -> bool:
    """Whether the message has its own rate, and the time that is left."""
    return isinstance(event.message, Note) and "rate" in event.message.values


def _amount(number: float, unit: str) -> str:
    say = words()
    if unit in ("bytes", "byte"):
        return say.size(number)
    return f"{say.number(number)} {say.name('unit', unit)}".rstrip()


def _of(done: float, total: float, unit: str) -> str:
    """ "50.0 MB of 200 MB", "3 of 8 changes"."""
    say = words()
    first = say.size(done) if unit in ("bytes", "byte") else say.number(done)
    return say("done_of", done=first, total=_amount(total, unit))


def time_left(elapsed_s: float, expected_s: float | None, stage_left_s: float | None) -> float | None:
    """Seconds until the whole work is over: what was expected, and at least what is left of this stage. None while
    nobody knows."""
    known = [] if stage_left_s is None else [stage_left_s]
    if expected_s is not None and expected_s > elapsed_s:
        known.append(expected_s - elapsed_s)
    return max(known) if known else None


@contextlib.contextmanager
def _bar(stream: TextIO, colour: bool, expected_s: float | None = None) -> Iterator[Progress]:
    from rich.console import Console
    from rich.progress import BarColumn, ProgressColumn, SpinnerColumn, TextColumn
    from rich.progress import Progress as Bars
    from rich.text import Text

    class Amounts(ProgressColumn):
        def render(self, task: Any) -> Text:
            unit = task.fields["unit"]
            text = _of(task.completed, task.total, unit) if task.total else _amount(task.completed, unit)
            if task.fields["told"]:
                text += ", " + task.fields["told"]
            elif task.speed and task.speed >= 1:
                text += ", " + words()("a_second", amount=_amount(task.speed, unit))
            return Text(text)

    began = time.monotonic()

    class TimeLeft(ProgressColumn):
        """Drawn anew several times a second, whether an event came or not."""

        def render(self, task: Any) -> Text:
            left = time_left(time.monotonic() - began, expected_s, task.time_remaining)
            return Text("" if left is None else words()("time_left", seconds=left))

    console = Console(file=stream, no_color=not colour, highlight=False)
    columns = (SpinnerColumn(), TextColumn("{task.description}"), BarColumn(), Amounts(), TimeLeft())
    with Bars(*columns, console=console, transient=True) as bars:
        tasks: dict[str, Any] = {}

        def listen(event: Event) -> None:
            if event.stage not in tasks:
                for task in tasks.values():
                    bars.update(task, visible=False)
                name = words().name("stage", event.stage)
                tasks[event.stage] = bars.add_task(name, total=event.total, unit=event.unit, told="")
            told = words().say(event.message) if _tells_its_pace(event) else ""
            bars.update(tasks[event.stage], completed=event.done, total=event.total, visible=True, told=told)

        yield Progress(listen)
