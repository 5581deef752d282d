"""A folder of broken and hostile documents: each ends as it should, nothing outside is read, nobody is called."""

from __future__ import annotations

import os
import pathlib
import socket
import sys
import threading

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from formats_hostile import SECRET, WORDS, corpus

from doublet.model import Outcome
from doublet.sources import workers
from doublet.sources.open import open_source
from doublet.sources.workers import ReaderPool
from doublet.text.read import read_document

LIMIT_BYTES = 16_000_000


class Listener:
    """Counts who connects."""

    def __init__(self) -> None:
        self._socket = socket.create_server(("127.0.0.1", 0))
        self.calls = 0
        self.address = f"http://127.0.0.1:{self._socket.getsockname()[1]}"
        threading.Thread(target=self._listen, daemon=True).start()

    def _listen(self) -> None:
        while True:
            try:
                connection, _ = self._socket.accept()
            except OSError:
                return
            self.calls += 1
            connection.close()

    def close(self) -> None:
        self._socket.close()


@pytest.fixture(scope="module")
def outcomes(tmp_path_factory: pytest.TempPathFactory) -> dict[str, tuple[set[str], set[str]]]:
    """File → the states its documents ended in and those that are right, from one walk over a folder of all."""
    folder = tmp_path_factory.mktemp("hostile")
    secret = tmp_path_factory.mktemp("outside") / "secret.txt"
    secret.write_text(SECRET * 30, encoding="utf-8")
    listener = Listener()
    cases = corpus(str(secret), listener.address)
    for name, (data, _) in cases.items():
        (folder / name).write_bytes(data)
    before = workers._shared
    pool = ReaderPool(2, timeout_s=8, memory_bytes=1 << 30, max_bytes=LIMIT_BYTES)
    workers._shared, workers._owner = pool, os.getpid()
    found: dict[str, set[str]] = {name: set() for name in cases}
    texts = []
    try:
        with open_source([str(folder)], max_record_bytes=LIMIT_BYTES) as source:
            for batch in source.batches():
                parsed = batch.parse()
                for outcome in parsed.outcomes:
                    found[_file(outcome, folder, cases)].add(outcome.state)
                for identifier, text in zip(parsed.ids, parsed.texts, strict=True):
                    name = identifier.removeprefix(f"{folder}/").split("/")[0]
                    name = name if name in cases else "good.warc"
                    found[name].add("read" if text.split() else "empty")
                    texts.append(text)
    finally:
        workers._shared = before
        pool.close()
        listener.close()
    assert not any(SECRET in text for text in texts), "a file outside was read"
    assert listener.calls == 0, "something called home"
    return {name: (found[name], wanted) for name, (_, wanted) in cases.items()}


def _file(outcome: Outcome, folder: pathlib.Path, cases: dict[str, object]) -> str:
    place = outcome.place.removeprefix(f"{folder}/")
    found = [name for name in cases if place.startswith(name)]
    assert found, outcome
    return max(found, key=len)


def test_it_works() -> None:
    data, _ = corpus("/nowhere", "http://127.0.0.1:9")["really-pdf.docx"]
    assert read_document(data, name="really-pdf.docx").text.split()[:5] == WORDS.split()[:5]


@pytest.mark.covers("T1")
def test_each_ends_in_the_right_state(outcomes: dict[str, tuple[set[str], set[str]]]) -> None:
    """One test, not one for each: the folder is read once, by whichever process runs this."""
    assert len(outcomes) >= 60
    wrong = {
        name: f"{sorted(found)}, not {sorted(wanted)}"
        for name, (found, wanted) in outcomes.items()
        if not found or not found <= wanted or ("refused" in wanted and "refused" not in found)
    }
    assert not wrong
