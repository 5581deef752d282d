"""Another process that opens a store anew for every question: it reads and writes what this one has written.

The process is started once, because starting takes a second; the store is opened and closed for each question.
"""

from __future__ import annotations

import atexit
import functools
import json
import subprocess
import sys
from typing import IO, Any


@functools.cache
def _process() -> subprocess.Popen[str]:
    made = subprocess.Popen(
        [sys.executable, __file__], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1
    )
    atexit.register(stop)
    return made


def stop() -> None:
    if _process.cache_info().currsize:
        process = _process()
        if process.stdin is not None:
            process.stdin.close()
        process.wait(30)
        _process.cache_clear()


def ask(question: str, address: str, library: str, **more: Any) -> Any:
    """The answer of the other process to one of the functions below."""
    process = _process()
    stdin, stdout = process.stdin, process.stdout
    assert stdin is not None
    assert stdout is not None
    stdin.write(json.dumps([question, address, library, more]) + "\n")
    stdin.flush()
    line = stdout.readline()
    assert line, f"the other process died while it answered {question!r}"
    answer = json.loads(line)
    assert "error" not in answer, answer["error"]
    return answer["answer"]


def assert_sound(address: str, library: str) -> None:
    """Another process finds nothing wrong with a library, and can write to it."""
    assert ask("sound", address, library) == []


def _sound(store: Any, library: str) -> list[str]:
    from doublet.model import Document
    from doublet.store.verify import verify

    before = store.libraries.get(library).documents
    store.documents.add(library, [Document("another process", "words that come from another process " * 5)])
    wrong = [f"{one.kind}: {one.message}" for one in verify(store, [library])]
    store.documents.remove(library, ["another process"])
    wrong += [f"afterwards {one.kind}: {one.message}" for one in verify(store, [library])]
    if store.libraries.get(library).documents != before:
        wrong.append("the number of documents changed")
    return wrong


def _share(store: Any, library: str, text: str, method: str = "auto") -> float:
    from doublet.jobs.check_library import check_library

    return float(check_library(store, text, libraries=[library], method=method, build=True).share)


def _documents(store: Any, library: str) -> list[str]:
    return [document.id for document in store.documents.all(library)]


def _report(store: Any, library: str, number: int) -> list[Any]:
    return [store.reports.get(number).to_dict(), store.reports.data(number)]


def answer(questions: IO[str], answers: IO[str]) -> None:
    from doublet.store.database import Store

    known = {"sound": _sound, "share": _share, "documents": _documents, "report": _report}
    for line in questions:
        question, address, library, more = json.loads(line)
        try:
            with Store(address, create=False) as store:
                out = {"answer": known[question](store, library, **more)}
        except Exception as error:
            import traceback

            out = {"error": f"{error!r}\n{traceback.format_exc()}"}
        answers.write(json.dumps(out) + "\n")
        answers.flush()


if __name__ == "__main__":
    answer(sys.stdin, sys.stdout)
