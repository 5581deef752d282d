"""The process that reads documents for `doublet.sources.workers`: what falls over or is stopped does so here.

Requests come on standard input and answers go to standard output, each as two lengths, a JSON head and the bytes of the
document or nothing. Before the first document the memory of the process is limited; network, other programs (but for
text recognition, when it was asked for) and writing files are refused.
"""

from __future__ import annotations

import os
import signal
import struct
import sys
from typing import IO, Any

import orjson

from doublet.model import Note

LENGTHS = struct.Struct("<QQ")
_REFUSED = (
    "socket.connect",
    "socket.bind",
    "socket.sendto",
    "socket.getaddrinfo",
    "urllib.Request",
    "ftplib.connect",
)
_PROGRAMS = ("subprocess.Popen", "os.exec", "os.posix_spawn", "os.system", "os.fork", "os.forkpty")


def write(stream: IO[bytes], head: dict[str, Any], body: bytes = b"") -> None:
    raw = orjson.dumps(head)
    stream.write(LENGTHS.pack(len(raw), len(body)))
    stream.write(raw)
    stream.write(body)
    stream.flush()


def receive(stream: IO[bytes]) -> tuple[dict[str, Any], bytes] | None:
    """The next message, or None when the other side has gone."""
    lengths = stream.read(LENGTHS.size)
    if len(lengths) < LENGTHS.size:
        return None
    head_size, body_size = LENGTHS.unpack(lengths)
    raw = stream.read(head_size)
    body = stream.read(body_size) if body_size else b""
    if len(raw) < head_size or len(body) < body_size:
        return None
    head: dict[str, Any] = orjson.loads(raw)
    return head, body


def limit(memory_bytes: int) -> None:
    """Take away what no reader of documents needs."""
    try:
        import resource
    except ImportError:  # not a POSIX system: time is limited from outside, memory is not
        return
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_AS, (memory_bytes, memory_bytes))


def _allow(processor_s: float) -> None:
    """Let the system stop this process after so long a time of work from now on; 0 for no limit."""
    if hasattr(signal, "setitimer"):
        signal.setitimer(signal.ITIMER_PROF, processor_s)


def refuse(*, programs: bool) -> None:
    """From now on the process opens no connection, writes no file and, unless *programs*, starts nothing."""

    def hook(event: str, arguments: tuple[Any, ...]) -> None:
        if event in _REFUSED or (event in _PROGRAMS and not programs):
            raise PermissionError(f"a reader of documents may not do this: {event}")
        if event == "open" and len(arguments) == 3:
            path, _, flags = arguments
            writing = isinstance(flags, int) and flags & (os.O_WRONLY | os.O_RDWR | os.O_CREAT)
            if writing and isinstance(path, str | bytes) and os.fsdecode(path) != os.devnull:
                raise PermissionError(f"a reader of documents may not write: {os.fsdecode(path)}")

    sys.dont_write_bytecode = True
    sys.addaudithook(hook)


def answer(head: dict[str, Any], data: bytes) -> dict[str, Any]:
    """Read one document, or the answer of a server; whatever goes wrong becomes an answer too."""
    from doublet.errors import DoubletError
    from doublet.sources.apart import run
    from doublet.text.read import Recogniser, read_document

    recognise: Recogniser | None = None
    if head.get("ocr"):
        from doublet.sources.ocr import recognise_pages

        recognise = recognise_pages
    try:
        if "parse" in head:
            return {"result": run(head["parse"], data, head["options"])}
        found = read_document(
            data,
            name=head["name"],
            declared_type=head["declared_type"],
            as_kind=head["as_kind"],
            frame=head["frame"],
            left_out=head.get("left_out", False),
            max_bytes=head["max_bytes"],
            recognise=recognise,
        )
    except DoubletError as error:
        return {"error": type(error).__name__, "message": error.note.to_dict()}
    except MemoryError:
        return {"error": "Oversized", "message": Note("needs_more_memory").to_dict()}
    except Exception as error:
        return {
            "error": "ReadFailed",
            "message": Note("could_not_be_read", fault=type(error).__name__, why=error).to_dict(),
        }
    return {
        "kind": found.kind,
        "encoding": found.encoding,
        "title": found.title,
        "text": found.text,
        "notes": [note.to_dict() for note in found.notes],
        "left_out": found.left_out,
        "places": [[*p.span, p.page, p.paragraph, p.line, p.element] for p in found.places],
        "hidden": [
            [
                h.text,
                h.reason,
                h.place.span.start,
                h.place.page,
                h.place.paragraph,
                h.place.line,
                h.place.element,
            ]
            for h in found.hidden
        ],
    }


def main() -> None:
    requests, answers = sys.stdin.buffer, sys.stdout.buffer
    sys.stdout = sys.stderr  # a library that prints must not write between the answers
    first = receive(requests)
    if first is None:
        return
    sys.setrecursionlimit(1500)
    limit(int(first[0]["memory_bytes"]))
    refuse(programs=bool(first[0]["programs"]))
    while (message := receive(requests)) is not None:
        head, data = message
        _allow(head.get("processor_s", 0.0))
        reply = answer(head, data)
        _allow(0.0)
        del data, message
        try:
            write(answers, reply)
        except (TypeError, MemoryError):
            write(answers, {"error": "ReadFailed", "message": Note("not_handed_over").to_dict()})


if __name__ == "__main__":
    main()
