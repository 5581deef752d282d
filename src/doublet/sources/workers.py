"""Readers of documents in processes of their own, with limits on time and memory.

A bomb or a fault of a parser costs the one document: its process is stopped, the document ends with a reason and the
next one goes to a fresh process. What kind a document is takes a moment to see, whatever is in it, so that plain text,
which needs no parser, is read here. A pool may be used from several
threads at once; `shared` is the one that all sources of a program use.
"""

from __future__ import annotations

import atexit
import contextlib
import os
import signal
import subprocess
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any, TypeVar

import doublet
from doublet import config, errors
from doublet.errors import DoubletError, Oversized, ReadFailed, Unreadable
from doublet.model import Note, Span
from doublet.sources import old_word
from doublet.sources.reader_process import receive, write
from doublet.text import kind
from doublet.text.formats.protocol import HiddenText, Place
from doublet.text.limits import MAX_BYTES
from doublet.text.read import ReadDocument, read_document

TIMEOUT_S = 60.0
IDLE_WATCHER_S = 5.0
OCR_TIMEOUT_S = 1800.0
MEMORY_BYTES = 1_000_000_000
DOCUMENTS_PER_PROCESS = 2_000  # libraries leak a little; a fresh process costs a fifth of a second
_SIGNED = (b"%PDF", b"PK", b"{\\rtf", b"\xd0\xcf\x11\xe0", b"<")

#: Ordinary documents take a tenth of a second for a megabyte, the slowest (PDF) a few seconds.
PROCESSOR_S = 8.0
PROCESSOR_S_PER_MB = 8.0

T = TypeVar("T")
R = TypeVar("R")


class ReaderPool:
    """Up to *workers* processes that read documents. Close it, or use ``with``."""

    def __init__(
        self,
        workers: int | None = None,
        *,
        timeout_s: float = TIMEOUT_S,
        memory_bytes: int = MEMORY_BYTES,
        max_bytes: int = MAX_BYTES,
        ocr: bool = False,
    ) -> None:
        self.workers = workers or config.processors()
        self.timeout_s = timeout_s
        self.memory_bytes = memory_bytes
        self.max_bytes = max_bytes
        self.ocr = ocr
        self._idle: list[_Process] = []
        self._lock = threading.Lock()
        self._slots = threading.BoundedSemaphore(self.workers)
        self._closed = False

    def read(
        self,
        data: bytes,
        *,
        name: str = "",
        declared_type: str = "",
        as_kind: str = "",
        frame: bool = True,
        left_out: bool = False,
    ) -> ReadDocument:
        """As `doublet.text.read.read_document`, within the limits. Raises `Unreadable` of some kind."""
        if len(data) > self.max_bytes:
            raise Oversized("document_over_limit", data=len(data), max_bytes=self.max_bytes)
        if not as_kind and old_word.is_old_word(data) and old_word.program():
            data, as_kind = old_word.to_docx(data), "docx"
        if not as_kind and not data[:1024].lstrip(b"\xef\xbb\xbf \t\r\n").startswith(_SIGNED):
            as_kind = kind.tell(data, name=name, declared_type=declared_type)
        if as_kind == "plain":
            return read_document(data, declared_type=declared_type, as_kind=as_kind)
        head = {
            "name": name,
            "declared_type": declared_type,
            "as_kind": as_kind,
            "frame": frame,
            "left_out": left_out,
            "max_bytes": self.max_bytes,
            "ocr": self.ocr,
        }
        return _document(self._ask(head, data))

    def parse(self, what: str, data: bytes, options: dict[str, Any]) -> Any:
        """What the parser *what* of `doublet.sources.apart` gives, within the limits. Raises what it raises, or
        `ReadFailed`."""
        answer = self._ask({"parse": what, "options": options}, data)
        if "error" in answer:
            raise _error(answer)
        return answer["result"]

    def each(self, items: Iterable[T], work: Callable[[T], R]) -> Iterator[R]:
        """work(item) for each item, in order, as many at a time as there are workers."""
        waiting: deque[Future[R]] = deque()
        with ThreadPoolExecutor(self.workers) as threads:
            try:
                for item in items:
                    waiting.append(threads.submit(work, item))
                    if len(waiting) > 2 * self.workers:
                        yield waiting.popleft().result()
                while waiting:
                    yield waiting.popleft().result()
            finally:
                for future in waiting:
                    future.cancel()

    def close(self) -> None:
        with self._lock:
            idle, self._idle, self._closed = self._idle, [], True
        for process in idle:
            process.end()

    def __enter__(self) -> ReaderPool:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _ask(self, head: dict[str, Any], data: bytes) -> dict[str, Any]:
        with self._slots:
            with self._lock:
                process = self._idle.pop() if self._idle else None
            if process is None:
                process = _Process(self.memory_bytes, programs=self.ocr)
            if not self.ocr:
                head["processor_s"] = processor_s(len(data))
            try:
                answer = process.ask(head, data, OCR_TIMEOUT_S if self.ocr else self.timeout_s)
            except BaseException:
                process.end()
                raise
            with self._lock:
                keep = not self._closed and process.served < DOCUMENTS_PER_PROCESS
                if keep:
                    self._idle.append(process)
            if not keep:
                process.end()
        return answer


def processor_s(size_bytes: int) -> float:
    """How long a processor may work on a document of this size; a busy machine does not make it shorter."""
    return PROCESSOR_S + PROCESSOR_S_PER_MB * size_bytes / 1e6


class _Process:
    def __init__(self, memory_bytes: int, *, programs: bool) -> None:
        package = str(Path(doublet.__file__).parents[1])
        paths = [package, *filter(None, os.environ.get("PYTHONPATH", "").split(os.pathsep))]
        self._process = subprocess.Popen(
            [sys.executable, "-m", "doublet.sources.reader_process"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(dict.fromkeys(paths)), "MALLOC_ARENA_MAX": "2"},
        )
        self.served = 0
        self._late = False
        with contextlib.suppress(OSError):
            write(self._in, {"memory_bytes": memory_bytes, "programs": programs})

    @property
    def _in(self) -> Any:
        return self._process.stdin

    def ask(self, head: dict[str, Any], data: bytes, timeout_s: float) -> dict[str, Any]:
        """Hand over a document and wait. Raises `ReadFailed` when the process does not live to answer."""
        self.served += 1
        _WATCHER.begin(self, timeout_s)
        try:
            write(self._in, head, data)
            message = receive(self._process.stdout)  # type: ignore[arg-type] # a pipe, as asked for
        except (OSError, ValueError):
            message = None
        finally:
            _WATCHER.end(self)
        if message is not None:
            return message[0]
        code = self._process.wait()
        if self._late:
            raise ReadFailed("read_too_slow", timeout_s=timeout_s)
        if code == -signal.SIGPROF:
            raise ReadFailed("read_too_long_for_size", processor_s=round(head["processor_s"], 1))
        how = Note("by_signal", number=-code) if code < 0 else Note("by_exit", number=code)
        raise ReadFailed("reader_fell_over", how=how)

    def give_up(self) -> None:
        """It takes too long: whoever waits for the answer gets none."""
        self._late = True
        self._process.kill()

    def end(self) -> None:
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                with contextlib.suppress(OSError, ValueError):
                    pipe.close()
        if self._process.poll() is None:
            self._process.kill()
        self._process.wait()


class _Watcher:
    """Ends processes that read for too long. One thread for all of them: a timer for each document cost as much as
    parsing a small page."""

    def __init__(self) -> None:
        self._until: dict[_Process, float] = {}
        self._changed = threading.Condition()
        self._thread: threading.Thread | None = None
        self._next = 0.0  # when the thread wakes by itself

    def begin(self, process: _Process, seconds: float) -> None:
        with self._changed:
            until = time.monotonic() + seconds
            self._until[process] = until
            if self._thread is None or not self._thread.is_alive():  # a forked process has no threads
                self._next = until
                self._thread = threading.Thread(target=self._watch, name="doublet-readers", daemon=True)
                self._thread.start()
            elif until < self._next:
                self._changed.notify()

    def end(self, process: _Process) -> None:
        with self._changed:
            self._until.pop(process, None)

    def _watch(self) -> None:
        with self._changed:
            while True:
                now = time.monotonic()
                for process in [one for one, until in self._until.items() if until <= now]:
                    process.give_up()
                    del self._until[process]
                idle = not self._until
                self._next = now + IDLE_WATCHER_S if idle else min(self._until.values())
                if not self._changed.wait(self._next - now) and idle and not self._until:
                    self._thread = None
                    return


_WATCHER = _Watcher()


def _error(answer: dict[str, Any]) -> DoubletError:
    error: type[DoubletError] = getattr(errors, str(answer["error"]), Unreadable)
    if not isinstance(error, type) or not issubclass(error, DoubletError):
        error = Unreadable
    return error(Note.from_dict(answer["message"]))


def _document(answer: dict[str, Any]) -> ReadDocument:
    if "error" in answer:
        raise _error(answer)
    return ReadDocument(
        answer["text"],
        answer["kind"],
        answer["encoding"],
        tuple(Place(Span(start, end), *rest) for start, end, *rest in answer["places"]),
        tuple(
            HiddenText(text, reason, Place(Span(at, at), *rest))
            for text, reason, at, *rest in answer["hidden"]
        ),
        tuple(map(Note.from_dict, answer["notes"])),
        answer["title"],
        tuple((at, text) for at, text in answer.get("left_out", ())),
    )


_shared: ReaderPool | None = None
_owner = 0
_shared_lock = threading.Lock()


def shared() -> ReaderPool:
    """The pool of this program, made when it is first needed and closed when the program ends."""
    global _shared, _owner
    with _shared_lock:
        if _shared is None or _owner != os.getpid():
            _shared, _owner = ReaderPool(), os.getpid()
            atexit.register(_shared.close)
        return _shared
