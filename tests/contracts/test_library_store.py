"""What a store of libraries promises, on SQLite and on PostgreSQL."""

from __future__ import annotations

import contextlib
import itertools
import pathlib
import random
import sqlite3
import threading
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from another_process import ask, assert_sound
from doublet.errors import (
    Cancelled,
    IncompatibleSignatures,
    InvalidParameter,
    LibraryExists,
    SignaturesNotReady,
    StoreError,
    StoreTooNew,
    UnknownLibrary,
    UnknownMethod,
)
from doublet.index import passage_keys, stem_chunks
from doublet.jobs.check_library import check_library
from doublet.jobs.index_library import index_library
from doublet.jobs.library_duplicates import library_duplicates
from doublet.model import Document, Note
from doublet.progress import Event, Progress
from doublet.signatures import METHODS
from doublet.signatures.statistics import CollectionStatistics
from doublet.store import connection, pace, postings, rebuild, segments, signing, words
from doublet.store import verify as verifying
from doublet.store.connection import Database
from doublet.store.database import Store
from doublet.store.pace import Pace
from doublet.store.texts import Packer
from doublet.store.values import Added
from doublet.store.verify import verify
from doublet.store.writing import EACH_CHARACTERS, Prepared, Writer
from library_databases import VENDORS, new_address

TEXTS = pathlib.Path(__file__).resolve().parents[1] / "golden" / "texts"
RU, EN, MIXED = (TEXTS.joinpath(f"{name}.txt").read_text(encoding="utf-8") for name in ("ru", "en", "mixed"))
HOSTILE = "o'Hara\"; DROP TABLE x; -- \x00 \ud800 \u202eabc 𝒳😀 \ue000 %s"
_names = itertools.count()
_stores: dict[str, Store] = {}


@pytest.fixture(params=VENDORS, scope="module")
def vendor(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def store(vendor: str) -> Store:
    """A store that the tests of a vendor share; each takes a library of its own."""
    if vendor not in _stores:
        _stores[vendor] = Store(new_address(vendor))
    return _stores[vendor]


@pytest.fixture
def name(store: Store) -> Iterator[str]:
    made = f"library {next(_names)}"
    store.libraries.create(made)
    yield made
    if made in {info.name for info in store.libraries.all()}:
        assert store.database.address is not None
        assert_sound(store.database.address, made)
        store.libraries.delete(made)


def counted(texts: list[str]) -> CollectionStatistics:
    out = CollectionStatistics()
    out.add_texts(texts)
    return out


@pytest.mark.covers("S6")
def test_it_works(store: Store, name: str) -> None:
    added = store.documents.add(name, [Document("ru", RU, title="Title"), Document("en", EN)])
    assert (added.stored, added.changed, added.unchanged, added.outcomes) == (2, 0, 0, [])
    assert [(d.id, d.title) for d in store.documents.all(name)] == [("ru", "Title"), ("en", "")]
    info = store.libraries.get(name)
    assert info.documents == 2
    assert info.size_bytes == len((RU + EN).encode())
    assert check_library(store, RU, libraries=[name]).sources[0].id == "ru"
    assert verify(store, [name]) == []


@pytest.mark.covers("M11")
def test_added_changed_removed_and_added_again(store: Store, name: str) -> None:
    store.documents.add(name, [Document("a", RU), Document("b", EN)])
    again = store.documents.add(name, [Document("a", RU), Document("b", MIXED), Document("c", EN)])
    assert (again.stored, again.changed, again.unchanged) == (1, 1, 1)
    assert store.libraries.statistics(name) == counted([RU, MIXED, EN])
    assert store.documents.remove(name, ["a", "zzz"]) == ["a"]
    assert store.documents.remove(name, ["a"]) == []
    assert store.libraries.statistics(name) == counted([MIXED, EN])
    assert check_library(store, RU, libraries=[name]).share < 0.5
    store.documents.add(name, [Document("a", RU)])
    assert check_library(store, RU, libraries=[name]).share == 1.0
    assert store.libraries.get(name).documents == 3
    assert verify(store, [name]) == []


def test_facts_change_without_the_text(store: Store, name: str) -> None:
    store.documents.add(name, [Document("a", EN, title="old", address="http://x")])
    assert store.documents.add(name, [Document("a", EN, title="new")]).unchanged == 1
    found = store.documents.get(name, "a")
    assert found is not None
    assert (found.title, found.address) == ("new", "")


def test_what_cannot_be_used_becomes_an_outcome(store: Store, name: str) -> None:
    added = store.documents.add(name, [Document("a", EN), Document("a", RU), Document("none", " — ")])
    assert added.stored == 1
    assert sorted((o.state, o.id) for o in added.outcomes) == [("duplicate_id", "a"), ("empty", "none")]
    assert store.libraries.get(name).outcomes == {"stored": 1, "duplicate_id": 1, "empty": 1}


def test_hostile_names_and_texts(store: Store, name: str) -> None:
    text = HOSTILE + RU + HOSTILE
    document = Document(HOSTILE, text, title=HOSTILE, address=HOSTILE, time=HOSTILE, source=HOSTILE)
    store.documents.add(name, [document])
    found = next(store.documents.all(name))
    assert (found.id, found.title, found.address, found.time, found.source) == (HOSTILE,) * 5
    assert store.documents.texts([found.number])[found.number] == text
    assert store.documents.add(name, [document]).unchanged == 1
    assert store.documents.remove(name, [HOSTILE]) == [HOSTILE]
    other = f"{HOSTILE}{next(_names)}"
    assert store.libraries.create(other, note=HOSTILE).note == HOSTILE
    assert store.libraries.get(other).name == other
    store.libraries.delete(other)


def test_very_long_names_and_words(store: Store, name: str) -> None:
    long = "x" * 20_000
    store.documents.add(name, [Document(long, f"{long} is a long word indeed")])
    assert next(store.documents.all(name)).id == long
    assert long in store.libraries.statistics(name)


@pytest.mark.parametrize("wrong", ["", "  ", "x" * 201])
def test_names_of_libraries(store: Store, wrong: str) -> None:
    with pytest.raises(InvalidParameter, match="name"):
        store.libraries.create(wrong)


def test_unknown_and_existing_libraries(store: Store, name: str) -> None:
    with pytest.raises(LibraryExists, match="already"):
        store.libraries.create(name)
    with pytest.raises(UnknownLibrary, match="did you mean"):
        store.libraries.get(name[:-1] + "_")
    with pytest.raises(UnknownLibrary):
        check_library(store, RU, libraries=["no such library"])


@pytest.mark.covers("K1")
def test_one_several_all(store: Store, name: str) -> None:
    other = name + " other"
    store.libraries.create(other)
    store.documents.add(name, [Document("same", RU)])
    store.documents.add(other, [Document("same", RU), Document("en", EN)])
    one = check_library(store, RU, libraries=[name])
    assert [(s.library, s.id) for s in one.sources] == [(name, "same")]
    assert one.documents == 1
    several = check_library(store, RU, libraries=[name, other])
    assert {(s.library, s.id) for s in several.sources} == {(name, "same"), (other, "same")}
    assert several.documents == 3
    assert [s.added for s in several.sources] == [1.0, 0.0]
    everything = check_library(store, RU)
    assert everything.share == 1.0
    assert {name, other} <= set(everything.libraries)
    store.libraries.delete(other)


def test_no_duplicates_is_an_answer(store: Store, name: str) -> None:
    store.documents.add(name, [Document("ru", RU)])
    found = check_library(store, EN, libraries=[name])
    assert (found.share, found.sources) == (0.0, ())
    assert check_library(store, "", libraries=[name]).notes
    assert check_library(store, RU, libraries=[name], candidates=1).share == 1.0


@pytest.mark.covers("K2", "K3")
def test_every_stored_document_finds_itself(store: Store, name: str) -> None:
    parts = [part for text in (RU, EN, MIXED) for part in text.split("\n\n") if part.strip()]
    store.documents.add(name, [Document(str(i), part) for i, part in enumerate(dict.fromkeys(parts))])
    for document in store.documents.all(name):
        text = store.documents.texts([document.number])[document.number]
        found = check_library(store, text, libraries=[name])
        assert found.share == 1.0
        assert found.sources[0].resemblance == 1.0
        assert sum(source.added for source in found.sources) == pytest.approx(found.share)
        for source in found.sources:
            for fragment in source.fragments:
                assert 0 <= fragment.a.start < fragment.a.end <= len(text)


def test_wording_of_every_document_is_found_too(
    store: Store, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Keys of more documents than are looked at still lead somewhere when there is nothing else."""
    monkeypatch.setattr(passage_keys, "CUT", 5)
    same = "это общий титульный лист всех работ кафедры за все годы её существования и ни одного слова больше"
    store.documents.add(name, [Document(str(n), f"{same} {n}") for n in range(40)])
    found = check_library(store, f"{same} 17", libraries=[name])
    assert found.share == 1.0


@pytest.mark.covers("K4")
def test_common_wording_is_left_out(store: Store, name: str) -> None:
    title = "министерство науки федеральное государственное бюджетное учреждение высшего образования кафедра истории"
    page = f"{title} дипломная работа студента пятого курса очной формы обучения допущена к защите заведующим кафедрой"
    store.documents.add(
        name, [Document(str(n), f"{page} номер {n} {RU[n * 50 : n * 50 + 400]}") for n in range(20)]
    )
    text = f"{page} и далее совсем свой текст который нигде больше не стоит и никем не был написан раньше"
    plain = check_library(store, text, libraries=[name])
    left = check_library(store, text, libraries=[name], leave_out=["common"])
    assert plain.share > 0.5
    assert plain.left_out == ()
    assert left.share < 0.1
    assert left.share_with_all == pytest.approx(plain.share)
    (one,) = left.left_out
    assert one.kind == "common"
    assert one.share_with == pytest.approx(plain.share)
    assert one.reasons[0] == Note("common_wording_least", documents=20)
    assert text[slice(*one.spans[0])].startswith("министерство")


@pytest.mark.covers("K4")
def test_own_versions_are_left_out(store: Store, name: str) -> None:
    store.documents.add(name, [Document("thesis.txt", RU), Document("other", EN, source="Ivanov")])
    text = RU + "\n\n" + EN
    whole = check_library(store, text, libraries=[name], name="thesis.txt")
    assert whole.share == 1.0
    by_name = check_library(store, text, libraries=[name], name="thesis.txt", leave_out=["own"])
    assert [s.id for s in by_name.sources] == ["other"]
    assert by_name.left_out[0].documents == (f"{name}/thesis.txt",)
    assert by_name.left_out[0].share_with == 1.0
    by_author = check_library(store, text, libraries=[name], leave_out=["own"], own=["Ivanov"])
    assert [s.id for s in by_author.sources] == ["thesis.txt"]


@pytest.mark.covers("K4")
def test_quotations_and_references_are_left_out(store: Store, name: str) -> None:
    borrowed = " ".join(EN.split()[:40])
    entry = (
        "1. Иванов И. И. История города // Вопросы истории. 2010. № 3. С. 12–25.\n"
        "2. Петров П. П. Северные порты. – М.: Наука, 1987. – 320 с.\n"
        "3. Smith, J. (2001). Harbours of the north. Oxford: University Press, pp. 10–40."
    )
    store.documents.add(name, [Document("en", EN), Document("list", f"{entry}\n{RU}")])
    text = f"As he said: «{borrowed}».\n\nThe rest is my own and stands nowhere else.\n\nСписок литературы\n{entry}\n"
    plain = check_library(store, text, libraries=[name])
    left = check_library(store, text, libraries=[name], leave_out=["quotations", "bibliography"])
    assert plain.share > 0.6
    assert left.share == 0.0
    assert left.sources == ()
    assert [one.kind for one in left.left_out] == ["quotations", "bibliography"]
    assert left.left_out[0].share_with < left.share_with_all  # type: ignore[operator]
    assert left.share_with_all == pytest.approx(plain.share)


@pytest.mark.parametrize("wrong", ["quotes", ""])
def test_only_known_things_can_be_left_out(store: Store, name: str, wrong: str) -> None:
    with pytest.raises(InvalidParameter, match="left out"):
        check_library(store, RU, libraries=[name], leave_out=[wrong])


@pytest.mark.covers("K1", "K2")
def test_a_borrowed_paragraph_of_a_long_work(store: Store, name: str) -> None:
    store.documents.add(name, [Document("ru", RU), Document("en", EN)])
    start = len(RU.split()) // 3
    paragraph = " ".join(RU.split()[start : start + 60])
    luck = np.random.default_rng(1)
    own = [f"слово{n}" for n in luck.integers(0, 5_000, 10_000)]
    text = " ".join([*own[:6_000], paragraph, *own[6_000:]])
    found = check_library(store, text, libraries=[name])
    assert [s.id for s in found.sources] == ["ru"]
    (fragment,) = found.sources[0].fragments
    assert text[slice(*fragment.a)].split()[0] == paragraph.split()[0].rstrip(".,")
    assert fragment.words == 60


@pytest.mark.parametrize("method", ["shingles", "minhash", "simhash", "tfridf", "imatch", "longsent"])
def test_whole_document_methods(store: Store, name: str, method: str) -> None:
    store.documents.add(name, [Document("ru", RU), Document("en", EN), Document("mixed", MIXED)])
    found = check_library(store, f"{RU} \U0001f600", libraries=[name], method=method, build=True)
    assert found.sources[0].id == "ru"
    assert found.sources[0].resemblance == pytest.approx(1.0, abs=0.01)
    store.documents.add(name, [Document("new", EN + RU)])  # signed as it comes in
    index = store.signatures.index(store.libraries.get(name).number, method)
    assert "new" in index
    store.documents.remove(name, ["ru"])
    assert "ru" not in store.signatures.index(store.libraries.get(name).number, method)
    assert verify(store, [name]) == []


def test_an_unknown_method(store: Store, name: str) -> None:
    with pytest.raises(UnknownMethod, match="did you mean"):
        check_library(store, RU, libraries=[name], method="minihash")
    with pytest.raises(UnknownMethod, match="did you mean 'passages'"):
        check_library(store, RU, libraries=[name], method="passage")


@pytest.mark.parametrize("method", sorted(name for name, kind in METHODS.items() if kind.needs_statistics))
@pytest.mark.covers("M11")
def test_signatures_are_those_of_the_texts(store: Store, name: str, method: str) -> None:
    """Made from stored words, they are what the method makes of the texts with the same statistics."""
    texts = {f"d{n}": part for n, part in enumerate((RU, EN, MIXED, RU + EN, *RU.split("\n\n")))}
    store.documents.add(name, [Document(id, text) for id, text in texts.items()])
    index = store.signatures.index(store.libraries.get(name).number, method)
    direct = dict(zip(texts, index.method.sign_texts(list(texts.values())), strict=True))
    stored = index.signatures(list(texts))
    assert set(stored) == {id for id, signature in direct.items() if signature is not None}
    for id, signature in stored.items():
        assert signature.size == direct[id].size  # type: ignore[union-attr]
        assert signature.values.tolist() == direct[id].values.tolist()  # type: ignore[union-attr]


def test_words_that_come_while_a_library_is_signed(vendor: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another process adds documents with new words between two steps: they are signed too."""
    monkeypatch.setattr(signing, "WEIGH_BATCH", 2)
    address = new_address(vendor)
    with Store(address) as store:
        store.libraries.create("x")
        parts = [part for part in (RU + EN).split("\n\n") if len(part.split()) > 12]
        store.documents.add("x", [Document(str(number), part) for number, part in enumerate(parts)])
        late = " ".join(f"unheard{number} of words{number}" for number in range(30))

        def add() -> None:
            with Store(address) as other:
                other.documents.add("x", [Document("late", late)])

        def step(done: int, total: int) -> None:
            if done == 2:
                thread = threading.Thread(target=add)
                thread.start()
                thread.join()

        index = store.signatures.index(store.libraries.get("x").number, "tf", step=step)
        assert len(index) == len(parts) + 1
        assert index.signatures(["late"])["late"].size == 60
        assert verify(store) == []


@pytest.mark.covers("M11")
def test_statistics_that_drifted_are_taken_anew(store: Store, name: str) -> None:
    parts = [f"{part} номер {n}" for n, part in enumerate(RU.split() * 2)]
    texts = [" ".join(parts[n * 10 : n * 10 + 30]) for n in range(20)]
    store.documents.add(name, [Document(str(n), text) for n, text in enumerate(texts)])
    first = store.signatures.index(store.libraries.get(name).number, "tfridf")
    store.documents.add(name, [Document("one more", EN), Document("and one", f"{EN} {EN}")])
    assert (
        store.signatures.index(store.libraries.get(name).number, "tfridf").recipe == first.recipe
    )  # 2 of 20 are within the bound of a tenth
    store.documents.add(name, [Document("x", MIXED), Document("y", RU)])
    second = store.signatures.index(store.libraries.get(name).number, "tfridf")
    assert second.recipe.statistics != first.recipe.statistics
    assert len(second) == store.libraries.get(name).documents
    assert len(first) == 0  # the old signatures are gone
    with pytest.raises(IncompatibleSignatures):
        second.candidates(first.method.sign(RU))  # type: ignore[arg-type]


ACTIONS = st.lists(
    st.tuples(st.sampled_from(["put", "remove"]), st.integers(0, 5), st.text("абв гдеж ab,", max_size=60)),
    max_size=25,
)


@pytest.mark.covers("M11")
@given(actions=ACTIONS)
@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
def test_statistics_after_any_history(store: Store, vendor: str, actions: list[tuple[str, int, str]]) -> None:
    """After any adds, changes and removals they are what counting from scratch gives, and the index agrees."""
    name = f"history {next(_names)}"
    store.libraries.create(name)
    there: dict[str, str] = {}
    for action, number, text in actions:
        id = str(number)
        if action == "put":
            added = store.documents.add(name, [Document(id, text)])
            if not added.outcomes:
                there[id] = text
        else:
            assert store.documents.remove(name, [id]) == ([id] if id in there else [])
            there.pop(id, None)
    assert {d.id for d in store.documents.all(name)} == set(there)
    assert store.libraries.statistics(name) == counted(list(there.values()))
    info = store.libraries.get(name)
    assert (info.documents, info.size_bytes) == (len(there), sum(len(t.encode()) for t in there.values()))
    for text in there.values():
        assert check_library(store, text, libraries=[name]).share == 1.0
    store.libraries.delete(name)


@pytest.mark.covers("M11")
def test_parts_of_statistics_are_folded(store: Store, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(words, "MERGE_AT", 4)
    for n in range(10):
        store.documents.add(name, [Document(str(n), f"{RU} {n}")])
    number = store.libraries.get(name).number
    rows = store.database.rows("SELECT count(*) FROM doublet_statistics WHERE library_id = %s", [number])
    assert rows[0][0] <= 4
    assert store.libraries.statistics(name) == counted([f"{RU} {n}" for n in range(10)])


@pytest.mark.covers("M11")
def test_words_that_were_read_at_once(vendor: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two writers that know all words from the beginning, one of them after a step that was taken back."""
    monkeypatch.setattr(words, "READ_ALL_FROM", 1)
    address = new_address(vendor)
    with Store(address) as one, Store(address) as other:
        one.libraries.create("x")
        one.documents.add("x", [Document("ru", RU)])
        with pytest.raises(ZeroDivisionError), other.database.writing():
            other.documents.add("x", [Document("en", EN)])
            raise ZeroDivisionError
        one.documents.add(
            "x", [Document("own", 'words that only this one has: quokka, axolotl, "okapi" and o\\kay')]
        )
        other.documents.add("x", [Document("both", "quokka and axolotl again, and a word of its own: tapir")])
        one.documents.add("x", [Document("en", EN), Document("tapir", "the tapir met the other animals")])
        texts = [text for batch in one.documents.batches("x") for _, text in batch]
        assert len(texts) == 5
        assert one.libraries.statistics("x") == other.libraries.statistics("x") == counted(texts)
        assert verify(one) == []


def test_more_words_than_are_read_at_once(vendor: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(words, "READ_ALL_FROM", 1)
    monkeypatch.setattr(words, "READ_ALL_UP_TO", 3)
    with Store(new_address(vendor)) as store:
        store.libraries.create("x")
        for id, text in (("ru", RU), ("en", EN), ("mixed", MIXED)):
            store.documents.add("x", [Document(id, text)])
        assert store.libraries.statistics("x") == counted([RU, EN, MIXED])
        assert verify(store) == []


def test_a_dictionary_is_trained_and_stays_readable(vendor: str) -> None:
    address = new_address(vendor)
    with Store(address) as store:
        store.libraries.create("x")
        documents = [Document(str(n), f"{RU[n : n + 250]} {n}") for n in range(420)]
        index_library(store, "x", documents)
        assert store.database.row("SELECT count(*) FROM doublet_dictionary") == (1,)
    with Store(address) as store:
        texts = {info.id: text for batch in store.documents.batches("x") for info, text in batch}
        assert texts == {document.id: document.text for document in documents}
        assert index_library(store, "x", documents).unchanged == 420


def test_a_dictionary_that_is_trained_while_others_are_stored_is_not_lost(vendor: str) -> None:
    """Texts are packed in one thread while another commits."""
    address = new_address(vendor)
    english = [Document(f"en{n}", f"{EN[n : n + 250]} {n}") for n in range(420)]
    with Store(address) as store:
        number = store.libraries.create("x").number
        waiting = []
        russian = store.documents.prepare([Document(f"ru{n}", f"{RU[n : n + 250]} {n}") for n in range(420)])
        store.writer.add(number, russian, then=lambda _: waiting.append(store.documents.prepare(english)))
        store.documents.add_prepared(number, waiting[0])
        assert store.database.row("SELECT count(*) FROM doublet_dictionary") == (2,)
    with Store(address) as store:
        texts = {info.id: text for batch in store.documents.batches("x") for info, text in batch}
        assert {one.id: one.text for one in english}.items() <= texts.items()


@pytest.mark.covers("K5")
@pytest.mark.parametrize(("method", "near"), [("passages", 0), ("auto", stem_chunks.LEAST_CANDIDATES)])
def test_the_work_of_a_check_hardly_grows_with_the_library(
    store: Store, name: str, monkeypatch: pytest.MonkeyPatch, method: str, near: int
) -> None:
    """Ten times as many documents, all sharing a line with the text: as many questions, and no more texts read."""
    luck = np.random.default_rng(9)
    words = [f"word{number}" for number in range(3_000)]
    footer = "all rights of these pages are kept by those who wrote them and by nobody else at all"
    text = " ".join([*luck.choice(words, 500), footer])
    work: list[tuple[int, int]] = []
    for size in (150, 1_500):
        made = [" ".join([*luck.choice(words, 30), footer]) for _ in range(size)]
        store.documents.add(name, [Document(f"{size} {number}", one) for number, one in enumerate(made)])
        asked, read = 0, 0
        with monkeypatch.context() as patch:

            def rows(self: Database, *given: Any, plain: Any = Database.rows) -> Any:
                nonlocal asked
                asked += 1
                return plain(self, *given)

            def unpack(self: Packer, *given: Any, plain: Any = Packer.unpack) -> Any:
                nonlocal read
                read += 1
                return plain(self, *given)

            patch.setattr(Database, "rows", rows)
            patch.setattr(Packer, "unpack", unpack)
            check_library(store, text, method=method, build=True)
        work.append((asked, read))
    assert work[1][0] <= work[0][0] + 2
    assert work[1][1] <= passage_keys.LEAST_CANDIDATES + near


@pytest.mark.covers("L8")
def test_groups_inside_and_between(store: Store, name: str) -> None:
    other = name + " b"
    store.libraries.create(other)
    store.documents.add(name, [Document("a", RU), Document("copy", RU + " ещё"), Document("en", EN)])
    store.documents.add(other, [Document("c", EN), Document("d", MIXED)])
    inside = library_duplicates(store, [name])
    assert [(g.keep, [m.id for m in g.members]) for g in inside.groups] == [("copy", ["a"])]
    both = library_duplicates(store, [name, other], between=True)
    ((keep, members),) = [(g.keep, [m.id for m in g.members]) for g in both.groups]
    assert {keep, *members} == {f"{name}/en", f"{other}/c"}
    store.libraries.delete(other)


def test_verify_finds_and_mends(vendor: str) -> None:
    store = Store(new_address(vendor))
    store.libraries.create("x")
    store.documents.add("x", [Document("ru", RU), Document("en", EN), Document("mixed", MIXED)])
    store.signatures.index(store.libraries.get("x").number, "minhash")
    assert verify(store) == []
    database = store.database
    first = next(store.documents.all("x")).number
    packed = bytes(database.rows("SELECT keys FROM doublet_content WHERE document_id = %s", [first])[0][0])
    with database.writing():
        keys = postings.unpack_keys(packed)
        postings.remove(database, postings.Pairs.of_keys([first], keys, [0, len(keys)]))
        database.rows("UPDATE doublet_library SET documents = 17")
        database.rows("UPDATE doublet_statistics SET documents = 99")
        database.rows("DELETE FROM doublet_entry WHERE name = 'en'")
    kinds = {finding.kind for finding in verify(store)}
    assert {"index", "counters", "statistics", "signatures", "key index"} <= kinds
    assert all(finding.repaired for finding in verify(store, repair=True))
    assert verify(store) == []
    assert check_library(store, RU).share == 1.0
    assert "en" in store.signatures.index(store.libraries.get("x").number, "minhash")
    with database.writing():
        database.rows(
            "UPDATE doublet_content SET keys = %s, bag = %s WHERE document_id = %s", [b"", b"\0", first]
        )
    assert {f.kind for f in verify(store)} >= {"keys", "index"}
    verify(store, repair=True)
    assert verify(store) == []
    with database.writing():
        database.rows("UPDATE doublet_content SET text = %s WHERE document_id = %s", [b"broken", first])
    (finding,) = [f for f in verify(store, repair=True) if f.kind == "texts"]
    assert not finding.repaired
    store.close()


def test_verify_lets_others_write(vendor: str) -> None:
    """Documents that come while everything is looked at are stored at once, and do not disturb what is seen."""
    address = new_address(vendor)
    with Store(address) as store:
        store.libraries.create("x")
        store.documents.add("x", [Document("ru", RU), Document("en", EN)])
        written: list[Added] = []

        def write() -> None:
            with Store(address) as other:
                written.append(other.documents.add("x", [Document(f"late {len(written)}", MIXED)]))

        def look(event: Event) -> None:
            if event.stage == "verifying" and not written:
                thread = threading.Thread(target=write)
                thread.start()
                thread.join(30)
                assert written, "the writer had to wait"

        assert verify(store, progress=Progress(look)) == []
        assert [added.stored for added in written] == [1]
        assert store.libraries.get("x").documents == 3
        assert verify(store) == []


def test_a_newer_database_is_refused_politely(vendor: str) -> None:
    address = new_address(vendor)
    with Store(address) as store, store.database.writing():
        store.database.rows(
            "INSERT INTO django_migrations (app, name, applied) VALUES ('doublet_store', '9999_future', %s)",
            ["2030-01-01 00:00:00+00"],
        )
    with pytest.raises(StoreTooNew, match="newer Doublet") as told:
        Store(address)
    assert "was not changed" in told.value.message


def test_a_database_without_libraries_is_not_made_by_looking(vendor: str) -> None:
    with pytest.raises(StoreError, match="library create"):
        Store(new_address(vendor), create=False)


def test_every_record_is_counted_in_the_library(store: Store, name: str) -> None:
    index_library(store, name, [("a", RU), ("b", EN), ("bad", 5)])
    assert store.libraries.get(name).outcomes == {"stored": 2, "invalid": 1}


@pytest.mark.parametrize("method", sorted(name for name, kind in METHODS.items() if kind.needs_statistics))
def test_another_process_goes_on_with_signatures(vendor: str, method: str) -> None:
    """What a method knows of the library is read back by those who did not gather it."""
    address = new_address(vendor)
    with Store(address) as store:
        store.libraries.create("x")
        store.documents.add("x", [Document("ru", RU), Document("en", EN), Document("mixed", MIXED)])
        check_library(store, RU, libraries=["x"], method=method, build=True)
        (recipe,) = store.database.rows("SELECT statistics, follows FROM doublet_recipe")
        assert recipe[0] is not None
        assert recipe[1]
    assert_sound(address, "x")
    assert ask("share", address, "x", text=RU, method=method) == 1.0


def test_documents_that_come_while_statistics_are_gathered(
    vendor: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They bring words that the table of words does not know."""
    address = new_address(vendor)
    monkeypatch.setattr(signing, "SIGN_BATCH", 2)
    came: list[int] = []

    def numbers(database: Database, library: int, size: int) -> Iterator[list[int]]:
        for some in plain(database, library, size):
            if not came:
                came.append(1)
                thread = threading.Thread(target=add)
                thread.start()
                thread.join()
            yield some

    def add() -> None:
        with Store(address) as other:
            other.documents.add("x", [Document(f"late {n}", f"{EN} lately{n} newword{n}") for n in range(4)])

    plain = Database.document_numbers
    monkeypatch.setattr(Database, "document_numbers", numbers)
    with Store(address) as store:
        store.libraries.create("x")
        store.documents.add("x", [Document(f"{n}", f"{RU} {EN} own{n}") for n in range(5)])
        check_library(store, RU, libraries=["x"], method="pivot", build=True)
        assert came == [1]
    assert_sound(address, "x")
    assert ask("share", address, "x", text=EN, method="pivot") > 0.9


def test_a_check_that_reads_writes_nothing(store: Store, name: str) -> None:
    """Signatures are made when somebody asks for it; documents that come later are signed with the rest."""
    store.documents.add(name, [Document("ru", RU), Document("en", EN)])
    with pytest.raises(SignaturesNotReady) as refused:
        check_library(store, RU, libraries=[name], method="tfridf")
    assert (refused.value.code, refused.value.details["method"]) == ("signatures_not_ready", "tfridf")
    count = "SELECT count(*) FROM doublet_recipe r JOIN doublet_library l ON l.id = r.library_id WHERE l.name = %s"
    assert store.database.row(count, [name]) == (0,)
    assert check_library(store, RU, libraries=[name], method="tfridf", build=True).share == 1.0
    store.documents.add(name, [Document("mixed", MIXED)])  # a drift of the statistics
    assert check_library(store, RU, libraries=[name], method="tfridf").share == 1.0
    assert store.database.row(count, [name]) == (1,)
    with pytest.raises(InvalidParameter):
        check_library(store, RU, libraries=[name], method="minhash", parameters={"functions": -1})


class Watched:
    """How many rows each transaction of one kind of work wrote, in every table, those inside an index too."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.wrote: list[int] = []
        plain = Database._begun

        @contextlib.contextmanager
        def begun(database: Database, mode: str, waiting: Any = None) -> Iterator[None]:
            with plain(database, mode, waiting):
                if mode != "IMMEDIATE":
                    yield
                    return
                before = self._rows(database)
                yield
                self.wrote.append(self._rows(database) - before)

        monkeypatch.setattr(Database, "_begun", begun)

    @staticmethod
    def _rows(database: Database) -> int:
        if database.vendor == "sqlite":
            return int(database.raw.total_changes)
        ((rows,),) = database.rows(
            "SELECT coalesce(sum(n_tup_ins + n_tup_upd + n_tup_del), 0) FROM pg_stat_xact_user_tables"
        )
        return int(rows)

    def largest_share(self, work: Callable[[], object]) -> float:
        """Of all that *work* writes, what its largest transaction does."""
        self.wrote.clear()
        work()
        return max(self.wrote) / sum(self.wrote)


class StopsAfter(Progress):
    """Is cancelled when it has heard of so many steps."""

    def __init__(self, steps: int) -> None:
        super().__init__(self._hear)
        self.met: list[Event] = []
        self._steps = steps

    def _hear(self, event: Event) -> None:
        self.met.append(event)
        if len(self.met) == self._steps:
            self.cancel()


def test_verifying_stops_wherever_it_is(vendor: str) -> None:
    """After the documents come the statistics, the signatures and the index, which take as long as these."""
    with Store(new_address(vendor)) as store:
        number = store.libraries.create("x").number
        store.documents.add("x", [Document(str(n), f"{n} words of a text {n}") for n in range(20)])
        store.signatures.index(number, "minhash")
        whole = StopsAfter(1000)
        verify(store, progress=whole)
        assert sum(event.stage == "verifying_index" for event in whole.met) > 5
        for steps in range(1, len(whole.met)):
            stopped = StopsAfter(steps)
            with pytest.raises(Cancelled):
                verify(store, progress=stopped)
            assert stopped.met == whole.met[:steps]
        assert verify(store) == []


@pytest.mark.parametrize("scale", [100, 0.001], ids=["steps", "no steps"])
def test_nobody_waits_for_long(vendor: str, scale: float, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever is done to a library, no transaction does a large part of it: a library of 100 thousand documents on a
    scale of one to a hundred, and so are the steps. Without steps the same work is one transaction, or nearly."""
    plain = Pace.__init__

    def scaled(self: Pace, size: int, *, most: int, least: int = 1) -> None:
        plain(
            self, max(1, int(size / scale)), most=max(1, int(most / scale)), least=max(1, int(least / scale))
        )

    monkeypatch.setattr(Pace, "__init__", scaled)
    monkeypatch.setattr(pace, "HOLD_S", 1e9)  # every step is quick, so that they become as large as they may
    for module, constant in ((verifying, "STEP"), (segments, "SLICE"), (words, "MADE_TOGETHER")):
        monkeypatch.setattr(module, constant, max(1, int(getattr(module, constant) / scale)))
    watched = Watched(monkeypatch)
    address = new_address(vendor)
    texts = [
        " ".join(f"w{(n * 7 + i) % 900}" if i % 4 else f"own{n}x{i}" for i in range(120)) for n in range(400)
    ]
    documents = [Document(str(n), text) for n, text in enumerate(texts)]
    with Store(address) as store:
        number = store.libraries.create("x").number

        def damaged() -> None:
            store.database.rows("UPDATE doublet_content SET bag = keys")
            assert {one.kind for one in verify(store, repair=True)} >= {"keys"}

        work: dict[str, Callable[[], object]] = {
            "add": lambda: store.documents.add("x", documents),
            "minhash": lambda: store.signatures.index(number, "minhash"),
            "rebuild": lambda: rebuild.rebuild(store.database),
            "verify": damaged,
            "remove": lambda: store.documents.remove("x", [str(n) for n in range(200)]),
            "delete": lambda: store.libraries.delete("x"),
        }
        shares = {name: watched.largest_share(do) for name, do in work.items()}
    if scale > 1:
        assert max(shares.values()) < 0.25, shares
    else:
        assert min(shares.values()) > 0.4, shares


@pytest.mark.parametrize("method", ["tfridf", "minhash"])
def test_a_library_is_sound_after_steps(vendor: str, method: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Everything that is done in steps, with steps of a few documents, leaves what one step would have left."""
    address = new_address(vendor)
    monkeypatch.setattr(signing, "SIGN_BATCH", 50)
    monkeypatch.setattr(signing, "WEIGH_BATCH", 50)
    texts = [f"{' '.join(f'w{(n * 7 + i) % 900}' for i in range(120))} x{n}" for n in range(300)]
    with Store(address) as store:
        store.libraries.create("x")
        index_library(store, "x", [(str(n), text) for n, text in enumerate(texts)])
        steps: list[int] = []
        number = store.libraries.get("x").number
        store.signatures.index(number, method, step=lambda done, _: steps.append(done))
        assert steps == list(range(50, 301, 50))
        store.optimize()
        store.documents.remove("x", [str(n) for n in range(50)])
        store.signatures.index(number, method, drift=0.01)
    assert_sound(address, "x")
    assert ask("share", address, "x", text=texts[-1], method=method) == 1.0
    with Store(address) as again:
        again.libraries.delete("x")


@pytest.mark.parametrize("settled", [True, False], ids=["new", "from before"])
def test_room_that_merges_left_empty_goes_back_to_the_disk(
    settled: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A file from before keeps it, and works as well."""
    if not settled:
        monkeypatch.setattr(connection, "_NEW_PRAGMAS", "")
    monkeypatch.setattr(connection, "_PAGES_TOGETHER", 4)
    address = new_address("sqlite")
    rng = random.Random(3)
    texts = [" ".join(f"w{rng.randrange(4000)}" for _ in range(300)) for _ in range(600)]
    with Store(address) as store:
        store.libraries.create("x")
        for start in range(0, len(texts), 20):
            index_library(
                store, "x", [(str(start + n), one) for n, one in enumerate(texts[start : start + 20])]
            )
        store.optimize()
    with sqlite3.connect(address) as file:
        ((empty,),) = file.execute("PRAGMA freelist_count").fetchall()
        ((every,),) = file.execute("PRAGMA page_count").fetchall()
    assert (20 * empty < every) is settled, (empty, every)
    assert_sound(address, "x")
    assert ask("share", address, "x", text=texts[7]) == 1.0


def test_small_changes_leave_few_segments() -> None:
    """FTS5 merges nothing in the transaction of whoever comes last; we do, in steps of our own."""
    with Store(new_address("sqlite")) as store:
        number = store.libraries.create("x").number
        store.signatures.index(number, "minhash", {}, build=True)
        most, filed = 0, 0
        for n in range(60):
            store.documents.add("x", [Document(str(n), f"{RU} own{n}")])
            ((structure,),) = store.database.rows("SELECT block FROM doublet_key_data WHERE id = 10")
            ((counted,),) = store.database.rows("SELECT count(DISTINCT segid) FROM doublet_key_idx")
            assert postings.segments_of(structure) == counted
            most = max(most, counted)
            filed = max(filed, store.database.rows("SELECT count(*) FROM doublet_segment")[0][0])
        assert most < postings.MERGE_FROM
        assert most > 4  # they were not merged each time
        assert store.database.rows("SELECT k FROM doublet_key_config WHERE k = 'crisismerge'")
        assert 4 < filed < 3 * segments.FAN
        assert verify(store, ["x"]) == []


def test_many_documents_are_stored_in_steps(vendor: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """What was stored before a step fails stays, whole and sound; the same call again brings the rest."""
    address = new_address(vendor)
    documents = [Document(str(n), f"{RU} own{n}") for n in range(10)]
    steps: list[int] = []
    plain = Writer._store

    def store_some(self: Writer, library: int, batch: Prepared, *rest: Any) -> Added:
        steps.append(len(batch))
        if len(steps) == 3:
            raise RuntimeError("pulled out")
        return plain(self, library, batch, *rest)

    monkeypatch.setattr(Writer, "_store", store_some)
    with Store(address) as store:
        store.libraries.create("x")
        most = 3 * (len(documents[0].text) + EACH_CHARACTERS)
        monkeypatch.setattr(store.documents._writer, "adding", Pace(most, most=most, least=most))
        with pytest.raises(RuntimeError, match="pulled out"):
            store.documents.add("x", documents)
        assert steps == [3, 3, 4]  # no small rest
        assert store.libraries.get("x").documents == 6
        assert_sound(address, "x")
        added = store.documents.add("x", documents)
        assert (added.stored, added.unchanged, len(added.states)) == (4, 6, 10)
    assert_sound(address, "x")


def test_an_index_is_made_again_while_others_write(vendor: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Documents that come, change and go meanwhile are in the new index as they are in the old one."""
    address = new_address(vendor)
    monkeypatch.setattr(rebuild, "Pace", lambda size, most: Pace(2, most=2))
    texts = {str(n): " ".join(f"w{n}x{i}" for i in range(40)) for n in range(12)}

    def meanwhile(done: int) -> None:
        if done == 6:
            with Store(address) as other:
                other.documents.add("x", [Document("new", "quite new words " * 8), Document("1", RU)])
                other.documents.remove("x", ["2", "9"])
        if done == 8:
            raise KeyboardInterrupt

    with Store(address) as store:
        store.libraries.create("x")
        store.documents.add("x", [Document(id, text) for id, text in texts.items()])
        with pytest.raises(KeyboardInterrupt):
            rebuild.rebuild(store.database, meanwhile)
        assert [(one.kind, one.message.code) for one in verify(store)] == [("index", "rebuild_unfinished")]
        assert check_library(store, texts["3"]).share == 1.0
        store.documents.remove("x", ["3"])  # stands in both
        assert [one.repaired for one in verify(store, repair=True)] == [True]
        rebuild.rebuild(store.database, lambda done: meanwhile(done) if done == 6 else None)
    assert_sound(address, "x")
    assert ask("share", address, "x", text=RU) == 1.0
    assert ask("share", address, "x", text=texts["4"]) == 1.0
    assert ask("share", address, "x", text=texts["3"]) == 0.0
    assert ask("documents", address, "x") == ["0", "4", "5", "6", "7", "8", "10", "11", "new", "1"]


def test_verify_finds_signatures_that_cannot_be_used(vendor: str) -> None:
    address = new_address(vendor)
    with Store(address) as store:
        store.libraries.create("x")
        store.documents.add("x", [Document("ru", RU), Document("en", EN)])
        store.signatures.index(store.libraries.get("x").number, "tfidf")
        with store.database.writing():
            store.database.rows("UPDATE doublet_recipe SET statistics = %s", [b"broken"])
    with Store(address) as store:
        (found,) = verify(store, repair=True)
        assert (found.kind, found.message.code, found.repaired) == ("signatures", "recipes_unusable", True)
    assert_sound(address, "x")
    assert ask("share", address, "x", text=RU, method="tfidf") == 1.0


def test_mending_is_done_in_steps(vendor: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Other versions of keys and words, statistics that are damaged: made again some at a time, nobody waits."""
    address = new_address(vendor)
    monkeypatch.setattr(verifying, "STEP", 3)
    with Store(address) as store:
        store.libraries.create("x")
        store.documents.add("x", [Document(f"{n}", f"{RU} own{n} word{n}") for n in range(10)])
        with store.database.writing():
            store.database.rows("UPDATE doublet_content SET version = 1")
            store.database.rows("UPDATE doublet_statistics SET data = %s", [b"broken"])
            store.database.rows("UPDATE doublet_library SET documents = 3")
        kinds = sorted(one.kind for one in verify(store))
        assert kinds == ["counters", "keys", "statistics"]
        mended = verify(store, repair=True)
        assert sorted(one.kind for one in mended) == kinds
        assert all(one.repaired for one in mended)
        assert store.libraries.statistics("x") == counted([f"{RU} own{n} word{n}" for n in range(10)])
    assert_sound(address, "x")
