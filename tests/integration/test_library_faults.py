"""Libraries when something goes wrong: two writers, a full disk, a lost connection, files that are no database."""

from __future__ import annotations

import pathlib
import sqlite3
import subprocess
import sys
import threading

import pytest

from doublet.errors import StoreBusy, StoreDamaged, StoreError, StoreFull, StoreUnreachable
from doublet.jobs.index_library import index_library
from doublet.model import Document
from doublet.progress import Event, Progress
from doublet.store import connection
from doublet.store.database import Store
from doublet.store.verify import verify
from library_databases import VENDORS, new_address

ADD = """
import sys
from doublet.jobs.index_library import index_library
from doublet.model import Document
from doublet.store.database import Store
address, name, first = sys.argv[1], sys.argv[2], int(sys.argv[3])
store = Store(address)
for batch in range(5):
    numbers = range(first + 100 * batch, first + 100 * batch + 100)
    store.documents.add(name, [Document(f"d{n}", f"слово{n} текст номер {n} и общие слова для всех") for n in numbers])
"""


@pytest.mark.parametrize("vendor", VENDORS)
def test_two_processes_write_one_library(vendor: str) -> None:
    address = new_address(vendor)
    with Store(address) as store:
        store.libraries.create("x")
    command = [sys.executable, "-c", ADD, address, "x"]
    writers = [
        subprocess.Popen([*command, first]) for first in ("0", "250")
    ]  # half of the documents in common
    assert [writer.wait(120) for writer in writers] == [0, 0]
    with Store(address) as store:
        assert sorted(d.id for d in store.documents.all("x")) == sorted(f"d{n}" for n in range(750))
        assert verify(store) == []


@pytest.mark.parametrize("vendor", VENDORS)
def test_two_processes_make_the_tables(vendor: str) -> None:
    address = new_address(vendor)
    code = "import sys; from doublet.store.database import Store; Store(sys.argv[1]).libraries.create(sys.argv[2])"
    makers = [subprocess.Popen([sys.executable, "-c", code, address, name]) for name in "ab"]
    assert [maker.wait(120) for maker in makers] == [0, 0]
    with Store(address) as store:
        assert [info.name for info in store.libraries.all()] == ["a", "b"]


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connection, "BUSY_S", 0.1)
    monkeypatch.setattr(connection, "PATIENCE_S", 0.5)


@pytest.mark.usefixtures("impatient")
def test_a_writer_that_does_not_finish() -> None:
    address = new_address("sqlite")
    store = Store(address)
    store.libraries.create("x")
    other = sqlite3.connect(address, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    with pytest.raises(StoreBusy, match="another process"):
        store.documents.add("x", [Document("a", "some words")])
    assert store.libraries.get("x").documents == 0  # reading goes on
    other.execute("ROLLBACK")
    assert store.documents.add("x", [Document("a", "some words")]).stored == 1
    store.close()
    other.close()


@pytest.mark.usefixtures("impatient")
def test_waiting_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connection, "PATIENCE_S", 30)
    address = new_address("sqlite")
    store = Store(address)
    store.libraries.create("x")
    other = sqlite3.connect(address, isolation_level=None, check_same_thread=False)
    told: list[str] = []

    def listen(event: Event) -> None:
        if event.stage == "waiting" and not told:
            told.append(event.message)
            other.execute("ROLLBACK")

    batch = store.documents.prepare([Document("a", "some words")])
    progress = Progress(listen)
    other.execute("BEGIN IMMEDIATE")
    store.documents.add_prepared(
        store.libraries.get("x").number,
        batch,
        lambda s: progress.step("waiting", int(s), None, "s", "another process"),
    )
    assert told == ["another process"]
    assert store.libraries.get("x").documents == 1
    store.close()
    other.close()


@pytest.mark.usefixtures("impatient")
def test_waiting_for_a_server_is_told_and_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    address = new_address("postgresql")
    told: list[float] = []
    with Store(address) as store:
        library = store.libraries.create("x").number
        batch = store.documents.prepare([Document("a", "some words")])
        taken, free, ended = threading.Event(), threading.Event(), threading.Event()

        def hold() -> None:
            with Store(address) as other, other.database.writing():
                other.database.take_turn(library)
                taken.set()
                free.wait(60)
            ended.set()

        thread = threading.Thread(target=hold)
        thread.start()
        assert taken.wait(60)
        with pytest.raises(StoreBusy, match="another process"):
            store.documents.add_prepared(library, batch, told.append)
        assert told
        assert store.libraries.get("x").documents == 0  # reading goes on

        def wait(seconds: float) -> None:
            told.append(seconds)
            free.set()

        monkeypatch.setattr(connection, "PATIENCE_S", 60)
        told.clear()
        assert store.documents.add_prepared(library, batch, wait).stored == 1
        assert told
        assert store.database.row("SHOW lock_timeout") == ("0",)
        thread.join()
        assert ended.is_set()


def test_a_full_disk_and_going_on() -> None:
    store = Store(new_address("sqlite"))
    store.libraries.create("x")
    pages = store.database.row("PRAGMA page_count")
    assert pages is not None
    store.database.rows(f"PRAGMA max_page_count={pages[0] + 20}")
    documents = [Document(str(n), " ".join(f"слово{n * k}" for k in range(40))) for n in range(2_500)]
    with pytest.raises(StoreFull, match="no space left"):
        index_library(store, "x", documents)
    stored = store.libraries.get("x").documents
    assert stored < 2_500
    store.database.rows("PRAGMA max_page_count=1000000")
    added = index_library(store, "x", documents)
    assert (added.stored, added.unchanged) == (2_500 - stored, stored)
    assert verify(store) == []
    store.close()


def test_the_connection_is_lost() -> None:
    address = new_address("postgresql")
    store, other = Store(address), Store(address + "&application_name=other")
    store.libraries.create("x")
    store.documents.add("x", [Document("a", "some words")])
    (number,) = store.database.rows("SELECT pg_backend_pid()")[0]
    other.database.rows("SELECT pg_terminate_backend(%s)", [number])
    with pytest.raises(StoreUnreachable, match="what was stored stays"):
        store.documents.add("x", [Document("b", "other words")])
    assert store.documents.add("x", [Document("b", "other words")]).stored == 1  # it connects again by itself
    assert store.libraries.get("x").documents == 2
    store.close()
    other.close()


def test_a_server_that_is_not_there() -> None:
    with pytest.raises(StoreUnreachable, match="server runs"):
        Store("postgresql://user:secret@127.0.0.1:9/none?connect_timeout=2")


def test_a_password_is_never_shown() -> None:
    with pytest.raises(StoreError) as told:
        Store("postgresql://user:secret@127.0.0.1:9/none?connect_timeout=2")
    assert "secret" not in told.value.message


def test_files_that_are_no_library(tmp_path: pathlib.Path) -> None:
    text = tmp_path / "essay.txt"
    text.write_text("this is an essay and not a database at all")
    with pytest.raises(StoreDamaged, match="is not a database of Doublet"):
        Store(str(text))
    foreign = tmp_path / "other.db"
    with sqlite3.connect(foreign) as made:
        made.execute("CREATE TABLE t (x)")
    made.close()
    with pytest.raises(StoreDamaged, match="another program"):
        Store(str(foreign))
    with pytest.raises(StoreError, match="folder"):
        Store(str(tmp_path))


def test_reading_beside_a_writer() -> None:
    """A check sees whole batches only, and is never refused."""
    address = new_address("sqlite")
    store = Store(address)
    store.libraries.create("x")
    stop = threading.Event()
    seen: set[int] = set()

    def read() -> None:
        with Store(address) as reader:
            while not stop.is_set():
                seen.add(sum(1 for _ in reader.documents.all("x")) % 50)

    thread = threading.Thread(target=read)
    thread.start()
    for batch in range(20):
        store.documents.add("x", [Document(f"{batch}-{n}", f"слово{n} и ещё {batch}") for n in range(50)])
    stop.set()
    thread.join()
    assert seen == {0}
    store.close()
