"""Filling a library from a source: every document ends in a stated outcome, on every database."""

from __future__ import annotations

import os
import pathlib
import zipfile
from collections.abc import Iterator
from typing import Any, ClassVar

import pytest

from doublet.crawl.politeness import PoliteFetcher
from doublet.errors import Cancelled, FetchFailed, InputNotFound, InvalidParameter
from doublet.jobs import add_source as jobs
from doublet.jobs.add_source import Filled, Filling, fill_source, register_source, update_library
from doublet.model import Note
from doublet.progress import Event, Progress
from doublet.sources.protocol import (
    Checkpoint,
    Complete,
    Failed,
    Found,
    Gone,
    Known,
    KnownLookup,
    Unchanged,
    Validators,
)
from doublet.store import sources
from doublet.store.database import Store
from doublet.store.pace import Pace
from doublet.store.values import SourceInfo
from doublet.store.verify import verify
from library_databases import VENDORS, new_address

TOWER = "Водонапорная башня стоит у реки и давно никем не занята, кроме голубей и летучих мышей."
BRIDGE = "The old bridge over the river was built long before the town had a name of its own."
SNOW = "Снег в городе занимает место, которое летом занимают столики, велосипеды и разговоры прохожих."


@pytest.fixture(params=VENDORS)
def store(request: pytest.FixtureRequest) -> Iterator[Store]:
    with Store(new_address(request.param)) as opened:
        opened.libraries.create("x")
        yield opened
        assert verify(opened) == []


class Scripted:
    """A source that says what it is told to say."""

    kind: ClassVar[str] = "page"
    address = "https://example.org/"

    def __init__(self, *items: Any) -> None:
        self.script = items
        self.state: dict[str, Any] = {}
        self.known: dict[str, Known | None] = {}

    def items(self, fetcher: Any, known: KnownLookup, state: dict[str, Any]) -> Iterator[Any]:
        self.state = state
        for item in self.script:
            if isinstance(item, BaseException):
                raise item
            if hasattr(item, "id"):
                self.known[item.id] = known(item.id)
            yield item


def text(id: str, words: str = TOWER, **facts: Any) -> Found:
    return Found(id, text=words, **facts)


def fill(store: Store, *items: Any, kind: str = "page", **options: Any) -> tuple[Filled, Scripted]:
    source = Scripted(*items)
    info = store.sources.add(store.libraries.get("x").number, kind, source.address, {})
    progress = options.pop("progress", None)
    filled = fill_source(store, info, filling=Filling(**options), walked=source, progress=progress)
    return filled, source


def ids(store: Store) -> list[str]:
    return sorted(document.id for document in store.documents.all("x"))


def only(store: Store) -> SourceInfo:
    (info,) = store.sources.all(store.libraries.get("x").number)
    return info


@pytest.mark.covers("L7")
def test_it_works(store: Store) -> None:
    found = text(
        "a", title="Башня", address="https://example.org/a", version="7", validators=Validators('"e"', "d")
    )
    filled, _ = fill(store, found, text("b", BRIDGE), Checkpoint({"page": 2}))
    assert filled.counts == {"stored": 2}
    assert filled.outcomes == []
    document = store.documents.get("x", "a")
    assert document is not None
    assert (document.title, document.address, document.source) == (
        *("Башня", "https://example.org/a"),
        "https://example.org/",
    )
    info = only(store)
    assert (info.status, info.state, info.documents, dict(info.outcomes)) == (
        "done",
        {"page": 2},
        2,
        {"stored": 2},
    )
    again, source = fill(store, Unchanged("a"), text("b", SNOW), text("c", TOWER + " И всё."))
    assert source.state == {"page": 2}
    assert source.known["a"] == Known("7", Validators('"e"', "d"))
    assert source.known["c"] is None
    assert again.counts == {"unchanged": 1, "changed": 1, "stored": 1}
    assert store.libraries.get("x").outcomes == {"stored": 3, "changed": 1, "unchanged": 1}


@pytest.mark.covers("T1", "L6")
def test_a_document_has_the_title_that_it_gives_itself(store: Store, tmp_path: pathlib.Path) -> None:
    """A list of paths says little; what the source calls it goes before what the document calls itself."""
    page = f"<html><title>Башня у реки</title><p>{TOWER}</p></html>".encode()
    fill(store, Found("a", data=page), Found("b", data=page, title="Башня"), kind="oai")
    folder = tmp_path / "texts"
    folder.mkdir()
    (folder / "tower.html").write_bytes(page)
    (folder / "bridge.md").write_text(f"---\ntitle: The Bridge\n---\n{BRIDGE}\n")
    (folder / "snow.html").write_text(f"<html><title>Untitled Document</title><p>{SNOW}</p></html>")
    with zipfile.ZipFile(folder / "old.zip", "w") as archive:
        archive.writestr("tower.html", page)
    fill_source(store, register_source(store, "x", str(folder)))
    titles = {document.id: document.title for document in store.documents.all("x")}
    assert titles == {
        "a": "Башня у реки",
        "b": "Башня",
        "tower.html": "Башня у реки",
        "bridge.md": "The Bridge",
        "snow.html": "",
        "old.zip/tower.html": "Башня у реки",
    }


@pytest.mark.covers("L7")
def test_every_document_ends_in_a_stated_outcome(store: Store) -> None:
    encrypted = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + b"\0" * 600
    filled, _ = fill(
        store,
        text("stored"),
        text("copy"),
        text("short", "two words"),
        text("empty", " \n"),
        Found("broken", data=b"%PDF-1.7 and no more", name="x.pdf"),
        Found("unknown", data=b"\x89PNG\r\n\x1a\n" + b"\0" * 100, name="x.png"),
        Found("old office", data=encrypted, name="x.doc"),
        Failed("refused", "refused", "robots.txt"),
        Failed("failed", "failed", "no answer"),
        Failed("large", "too_large", "over the limit"),
        Gone("never seen"),
        every=True,
    )
    assert filled.documents == {
        "stored": "stored",
        "copy": "duplicate",
        "short": "too_short",
        "empty": "empty",
        "broken": "broken",
        "unknown": "unknown_kind",
        "old office": "unknown_kind",
        "refused": "refused",
        "failed": "failed",
        "large": "too_large",
    }
    assert all(str(outcome.reason) for outcome in filled.outcomes)
    assert filled.problems == 6
    assert ids(store) == ["stored"]
    assert sum(store.libraries.get("x").outcomes.values()) == 10


def test_what_could_not_be_used_is_not_fetched_again_and_still_told(store: Store) -> None:
    fill(store, Found("b", data=b"%PDF-1.7", version="1", name="b.pdf"), text("s", "few words", version="1"))
    again, source = fill(store, Unchanged("b"), Unchanged("s"), Failed("f", "failed", "no answer"))
    assert source.known["b"] == Known("1")
    assert again.counts == {"broken": 1, "too_short": 1, "failed": 1}
    _, source = fill(store, Unchanged("f"))
    assert source.known["f"] is None  # what could not be got is tried again


def test_new_versions_and_validators_are_remembered(store: Store) -> None:
    fill(store, text("a", version="1", validators=Validators('"1"', "then")))
    fill(store, Unchanged("a", version="2"))
    fill(store, Unchanged("a", validators=Validators('"2"', "")))
    _, source = fill(store, Unchanged("a"))
    assert source.known["a"] == Known("2", Validators('"2"', ""))


def test_a_failure_leaves_what_was_stored(store: Store) -> None:
    fill(store, text("a", version="1"))
    filled, _ = fill(store, Failed("a", "failed", "no answer"))
    assert filled.counts == {"failed": 1}
    assert ids(store) == ["a"]
    filled, _ = fill(store, Found("a", data=b"%PDF-1.7", version="2", name="a.pdf"))
    assert filled.counts == {"broken": 1}
    assert ids(store) == ["a"]


# Gone


@pytest.mark.covers("L7")
def test_what_is_gone_is_removed(store: Store) -> None:
    fill(store, text("a"), text("b", BRIDGE), text("c", SNOW))
    filled, _ = fill(store, Gone("a", "404"), Gone("z"))
    assert filled.counts == {"gone": 1}
    assert ids(store) == ["b", "c"]
    filled, _ = fill(store, Unchanged("b"), Complete())
    assert filled.counts == {"unchanged": 1, "gone": 1}
    assert ids(store) == ["b"]


def test_gone_may_be_kept(store: Store) -> None:
    fill(store, text("a"), text("b", BRIDGE))
    filled, _ = fill(store, Gone("a"), Unchanged("b"), Complete(), keep_gone=True)
    assert filled.counts == {"unchanged": 1}
    assert ids(store) == ["a", "b"]


def test_an_empty_source_removes_nothing(store: Store) -> None:
    """A disk that is not mounted looks like an empty folder."""
    fill(store, text("a"))
    filled, _ = fill(store, Complete())
    assert ids(store) == ["a"]
    assert "is empty now" in str(filled.notes[0])


def test_a_cut_walk_removes_nothing(store: Store) -> None:
    fill(store, text("a"), text("b", BRIDGE), text("c", SNOW))
    filled, _ = fill(store, text("a", TOWER + " Да."), text("b", BRIDGE + " Yes."), Complete(), limit=1)
    assert filled.counts == {"changed": 1}
    assert ids(store) == ["a", "b", "c"]


def test_a_document_of_two_sources_stays_while_one_has_it(store: Store) -> None:
    fill(store, text("a"))
    fill(store, text("a"), kind="feed")
    filled, _ = fill(store, Gone("a"))
    assert filled.counts == {"gone": 1}
    assert ids(store) == ["a"]
    fill(store, Gone("a"), kind="feed")
    assert ids(store) == []


def test_what_a_user_took_out_stays_out_until_it_changes(store: Store) -> None:
    fill(store, text("a", version="1"), text("b", BRIDGE))
    assert store.documents.remove("x", ["a"]) == ["a"]
    filled, _ = fill(store, Unchanged("a"), Unchanged("b"))
    assert filled.counts == {"removed": 1, "unchanged": 1}
    filled, _ = fill(store, text("a", SNOW))
    assert filled.counts == {"stored": 1}


def test_a_removed_library_takes_its_sources_along(store: Store) -> None:
    fill(store, text("a"))
    store.libraries.delete("x")
    assert store.database.row("SELECT count(*) FROM doublet_origin") == (0,)
    assert store.database.row("SELECT count(*) FROM doublet_source") == (0,)


def test_a_forgotten_source_leaves_its_documents(store: Store) -> None:
    fill(store, text("a"))
    store.sources.forget(only(store).number)
    assert ids(store) == ["a"]
    assert store.sources.all(store.libraries.get("x").number) == []


# Duplicates


@pytest.mark.covers("L3")
def test_the_same_words_under_another_id(store: Store) -> None:
    filled, _ = fill(store, text("a"), text("copy", TOWER.upper()), text("b", BRIDGE))
    assert filled.counts == {"stored": 2, "duplicate": 1}
    assert "'a'" in str(filled.outcomes[0].reason)
    filled, _ = fill(store, text("copy 2"), Unchanged("copy"), Unchanged("a"))
    assert filled.counts == {"duplicate": 2, "unchanged": 1}
    filled, _ = fill(store, text("copy"), keep_duplicates=True)
    assert filled.counts == {"stored": 1}
    assert ids(store) == ["a", "b", "copy"]


def test_a_copy_that_comes_before_what_is_stored(store: Store) -> None:
    fill(store, text("b"))
    filled, _ = fill(store, text("a"), text("b"), text("c"))
    assert filled.counts == {"duplicate": 2, "unchanged": 1}
    assert ids(store) == ["b"]


def test_folders_keep_copies(store: Store) -> None:
    filled, _ = fill(store, text("a"), text("copy"), kind="oai")
    assert filled.counts == {"stored": 2}


def test_the_copy_of_what_is_gone_is_fetched_again(store: Store) -> None:
    fill(store, text("a", version="1"), text("copy", version="1"))
    filled, _ = fill(store, Gone("a"))
    assert filled.counts == {"gone": 1}
    filled, source = fill(store, text("copy", version="1"))
    assert source.known["copy"] == Known("")  # so the source does not take it for unchanged
    assert filled.counts == {"stored": 1}


def test_a_document_that_becomes_a_copy(store: Store) -> None:
    fill(store, text("a"), text("b", BRIDGE))
    filled, _ = fill(store, text("b"))
    assert filled.counts == {"duplicate": 1}
    assert ids(store) == ["a"]


def test_two_documents_may_change_places(store: Store) -> None:
    fill(store, text("a"), text("b", BRIDGE))
    filled, _ = fill(store, text("a", BRIDGE), text("b", TOWER))
    assert filled.counts == {"changed": 2}
    assert ids(store) == ["a", "b"]


# Stops


@pytest.mark.covers("L3")
def test_a_walk_that_breaks_goes_on_from_its_checkpoint(store: Store) -> None:
    filled, _ = fill(
        store, text("a"), Checkpoint({"at": 1}), text("b", BRIDGE), FetchFailed("the line is dead")
    )
    assert filled.message == Note("said", text="the line is dead")
    assert ids(store) == ["a", "b"]
    info = only(store)
    assert (info.status, info.state, info.run) == ("failed", {"at": 1}, 1)
    # What the first half saw counts as seen by the whole.
    filled, source = fill(store, text("c", SNOW), Checkpoint({"at": 2}), Complete())
    assert source.state == {"at": 1}
    assert filled.counts == {"stored": 1}
    assert ids(store) == ["a", "b", "c"]
    assert (only(store).run, only(store).status) == (1, "done")
    fill(store, Unchanged("c"), Complete())
    assert ids(store) == ["c"]


def test_a_source_that_gives_nothing_raises(store: Store) -> None:
    with pytest.raises(FetchFailed):
        fill(store, FetchFailed("no such host"))
    assert (only(store).status, only(store).message) == ("failed", Note("said", text="no such host"))


def test_a_fault_of_a_source_is_told(store: Store) -> None:
    with pytest.raises(ZeroDivisionError):
        fill(store, text("a"), ZeroDivisionError("a fault"))
    assert ids(store) == ["a"]


def test_stopped_by_the_user(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jobs, "BATCH_DOCUMENTS", 1)

    def listen(event: Event) -> None:
        if event.done >= 2:
            progress.cancel()

    progress = Progress(listen)
    many = [text(str(number), f"{TOWER} {number}") for number in range(40)]
    with pytest.raises(Cancelled):
        fill(store, *many, progress=progress)
    assert only(store).status == "cancelled"
    assert 2 <= len(ids(store)) < 40
    filled, _ = fill(store, *many)
    assert filled.counts["stored"] + filled.counts["unchanged"] == 40


def test_batches_are_in_order(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jobs, "BATCH_DOCUMENTS", 3)
    pages = [
        Found(f"{n:03}", data=f"<html><body><p>{TOWER} {n % 10}</p></body></html>".encode(), name="x.html")
        for n in range(30)
    ]
    filled, _ = fill(store, *pages, Checkpoint({"last": 30}))
    assert filled.counts == {"stored": 10, "duplicate": 20}
    assert [document.id for document in store.documents.all("x")] == [f"{n:03}" for n in range(10)]
    assert only(store).state == {"last": 30}


# Folders


@pytest.fixture
def folder(tmp_path: pathlib.Path) -> pathlib.Path:
    made = tmp_path / "works"
    (made / "sub").mkdir(parents=True)
    (made / "a.txt").write_text(TOWER, "utf-8")
    (made / "sub" / "b.html").write_text(f"<html><body><p>{BRIDGE}</p></body></html>", "utf-8")
    (made / "t.jsonl").write_text('{"id": "r1", "text": "one"}\n{"id": "r2", "text": "two"}\nno\n')
    with zipfile.ZipFile(made / "z.zip", "w") as archive:
        archive.writestr("in/c.txt", SNOW)
        archive.writestr("bad.pdf", "%PDF-1.7 and no more")
    return made


def walk(store: Store, given: pathlib.Path, **options: Any) -> Filled:
    info = register_source(store, "x", str(given))
    return fill_source(store, info, filling=Filling(every=True, **options))


def later(path: pathlib.Path, words: str) -> None:
    """Write, and be sure that the time of the last change is another."""
    path.write_text(words, "utf-8")
    os.utime(path, (1_800_000_000, 1_800_000_000))


@pytest.mark.covers("L7", "T1")
def test_a_folder_again_and_again(store: Store, folder: pathlib.Path) -> None:
    first = walk(store, folder)
    assert first.documents == {
        **dict.fromkeys(("a.txt", "sub/b.html", "r1", "r2", "z.zip/in/c.txt"), "stored"),
        "": "invalid",
        "z.zip/bad.pdf": "broken",
    }
    same = walk(store, folder)
    assert same.counts == {"unchanged": 5, "invalid": 1, "broken": 1}
    later(folder / "a.txt", TOWER)  # touched, not changed
    later(folder / "sub" / "b.html", f"<html><body><p>{BRIDGE} It fell.</p></body></html>")
    later(folder / "new.txt", SNOW + " И ещё.")
    later(folder / "t.jsonl", '{"id": "r2", "text": "two"}\n{"id": "r3", "text": "three"}\n')
    (folder / "z.zip").unlink()
    third = walk(store, folder)
    assert third.documents == {
        "a.txt": "unchanged",
        "sub/b.html": "changed",
        "new.txt": "stored",
        "r2": "unchanged",
        "r3": "stored",
        "r1": "gone",
        "z.zip/in/c.txt": "gone",
    }
    assert ids(store) == ["a.txt", "new.txt", "r2", "r3", "sub/b.html"]
    assert walk(store, folder).counts == {"unchanged": 5}
    assert walk(store, folder, again=True).counts == {"unchanged": 5}


def test_unchanged_files_are_not_opened(store: Store, folder: pathlib.Path) -> None:
    walk(store, folder)
    for file in folder.rglob("*"):
        if file.is_file():
            facts = file.stat()
            file.write_bytes(b"\0" * facts.st_size)
            os.utime(file, ns=(facts.st_atime_ns, facts.st_mtime_ns))
    assert walk(store, folder).counts == {"unchanged": 5, "invalid": 1, "broken": 1}


def test_a_folder_that_is_not_there_any_more(store: Store, folder: pathlib.Path) -> None:
    walk(store, folder)
    folder.rename(folder.with_name("elsewhere"))
    ((info, error),) = update_library(store, "x")  # type: ignore[misc]
    assert isinstance(error, InputNotFound)
    assert info.address == str(folder)
    assert len(ids(store)) == 5


def test_two_folders_with_the_same_names(store: Store, tmp_path: pathlib.Path) -> None:
    for name, words in (("2023", TOWER), ("2024", BRIDGE)):
        (tmp_path / name).mkdir()
        (tmp_path / name / "essay.txt").write_text(words, "utf-8")
        walk(store, tmp_path / name)
    assert ids(store) == ["2024/essay.txt", "essay.txt"]
    assert walk(store, tmp_path / "2024").counts == {"unchanged": 1}
    (tmp_path / "2023" / "essay.txt").unlink()
    (tmp_path / "2023" / "other.txt").write_text(SNOW, "utf-8")
    assert walk(store, tmp_path / "2023").counts == {"stored": 1, "gone": 1}
    assert ids(store) == ["2024/essay.txt", "other.txt"]


def test_single_files(store: Store, folder: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    for given in ("a.txt", "t.jsonl", "z.zip"):
        walk(store, pathlib.Path(given))
    assert ids(store) == ["a.txt", "r1", "r2", "z.zip/in/c.txt"]
    later(folder / "t.jsonl", '{"id": "r9", "text": "nine"}\n')
    assert walk(store, pathlib.Path("t.jsonl")).counts == {"stored": 1}
    assert "r1" in ids(store)  # a table is what was delivered, not all there is
    with zipfile.ZipFile(folder / "z.zip", "w") as archive:
        archive.writestr("in/d.txt", SNOW + " Тихо.")
    assert walk(store, pathlib.Path("z.zip")).counts == {"stored": 1, "gone": 1}
    with pytest.raises(InputNotFound):
        walk(store, pathlib.Path("nothing.txt"))


def test_an_archive_that_is_the_same_is_marked_in_steps(
    store: Store, tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It may hold millions of documents: nobody waits until all of them are marked as seen."""
    with zipfile.ZipFile(tmp_path / "z.zip", "w") as archive:
        for number in range(7):
            archive.writestr(f"{number}.txt", f"{TOWER} Голубей там {number * 'много'}.")
        archive.writestr("bad.pdf", "%PDF-1.7 and no more")
    assert walk(store, tmp_path).counts["stored"] == 7
    monkeypatch.setattr(sources, "Pace", lambda *_, **__: Pace(2, most=2))
    turns: list[int] = []
    renew = sources.Sources._still_ours

    def still_ours(self: Any, info: SourceInfo) -> None:
        turns.append(info.run)
        renew(self, info)

    monkeypatch.setattr(sources.Sources, "_still_ours", still_ours)
    again = walk(store, tmp_path)
    assert again.counts == {"unchanged": 7, "broken": 1}
    assert sum(state == "unchanged" for state in again.documents.values()) == 7
    assert len(turns) >= 5
    (tmp_path / "z.zip").unlink()
    (tmp_path / "other.txt").write_text(SNOW, "utf-8")
    assert walk(store, tmp_path).counts == {"stored": 1, "gone": 7}


def test_options_of_other_kinds(store: Store, folder: pathlib.Path) -> None:
    with pytest.raises(InvalidParameter, match="category"):
        register_source(store, "x", str(folder), options={"category": "y"})
    with pytest.raises(InvalidParameter, match="is a folder"):
        register_source(store, "x", str(folder), kind="file")
    assert store.sources.all(store.libraries.get("x").number) == []


def test_names_that_no_database_takes(store: Store, tmp_path: pathlib.Path) -> None:
    name = os.fsdecode(b"\xff\xfe bad.txt")
    (tmp_path / name).write_text(TOWER, "utf-8")
    assert walk(store, tmp_path).documents == {name: "stored"}
    assert walk(store, tmp_path).documents == {name: "unchanged"}


@pytest.mark.covers("L7")
def test_a_warc_file(store: Store, tmp_path: pathlib.Path) -> None:
    page = f"<html><body><p>{BRIDGE}</p></body></html>"
    answer = f"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: {len(page)}\r\n\r\n{page}"
    head = (
        "WARC/1.0\r\nWARC-Type: response\r\nWARC-Target-URI: https://example.org/bridge\r\n"
        "WARC-Record-ID: <urn:uuid:1>\r\nWARC-Date: 2026-01-01T00:00:00Z\r\n"
        f"Content-Type: application/http; msgtype=response\r\nContent-Length: {len(answer)}\r\n\r\n"
    )
    (tmp_path / "site.warc").write_bytes(f"{head}{answer}\r\n\r\n".encode())
    assert walk(store, tmp_path / "site.warc").documents == {"https://example.org/bridge": "stored"}
    found = store.documents.get("x", "https://example.org/bridge")
    assert found is not None
    assert found.address == "https://example.org/bridge"
    assert walk(store, tmp_path / "site.warc").counts == {"unchanged": 1}


@pytest.mark.covers("L6", "L7")
def test_what_its_source_does_not_list_any_more(store: Store) -> None:
    """The list is no proof: the source is asked for each, and says what became of it."""
    asked: list[tuple[str, str]] = []
    answers: dict[str, Any] = {
        "same": Unchanged("same", "unlisted:1"),
        "read again": text("read again", BRIDGE, version="unlisted:1"),
        "edited": text("edited", SNOW + " И снова снег.", version="unlisted:1"),
        "gone": Gone("gone", "the server answered 404"),
        "silent": Failed("silent", "failed", "no answer"),
        "seen to": None,
    }
    words = [TOWER, BRIDGE, SNOW, TOWER + " Да.", BRIDGE + " Yes.", SNOW + " Да."]
    listed = text("listed", "Совсем другие слова о погоде, которые никто здесь больше не повторит ни разу.")
    stored = [text(id, words, version="1") for id, words in zip(answers, words, strict=True)]
    fill(store, listed, Failed("never stored", "failed", "no answer"), *stored)

    class Listing(Scripted):
        def unlisted(self, fetcher: Any, id: str, known: Known) -> Any:
            asked.append((id, known.version))
            return answers[id]

    with PoliteFetcher(allow_private=True, delay_s=0.0) as fetcher:  # such a source asks for pages
        filled = fill_source(
            store, only(store), fetcher=fetcher, walked=Listing(Unchanged("listed"), Complete())
        )
    assert sorted(asked) == sorted((id, "1") for id in answers)
    assert filled.counts == {"unchanged": 1, "unlisted": 2, "changed": 1, "gone": 1, "failed": 1}
    assert {row.id for row in filled.outcomes if row.state == "unlisted"} == {"same", "read again"}
    assert ids(store) == ["edited", "listed", "read again", "same", "seen to", "silent"]
    remembered = store.sources.known(only(store).number, "same")
    assert remembered is not None and remembered.version == "unlisted:1"
    asked.clear()
    kept = fill_source(
        store, only(store), walked=Listing(Unchanged("listed"), Complete()), filling=Filling(keep_gone=True)
    )
    assert not asked and kept.counts == {"unchanged": 1}
