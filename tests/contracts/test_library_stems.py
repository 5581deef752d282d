"""The index of telling stems: what leads to reworded passages, kept in step with the documents in both databases."""

from __future__ import annotations

import functools
import random
from collections.abc import Iterator

import pytest

import doublet
from another_process import assert_sound
from doublet.index.stem_chunks import MOST_CHUNKS, chunk_numbers, read_windows, telling
from doublet.jobs.check_library import check_library
from doublet.model import Document
from doublet.signatures.background import Rates
from doublet.signatures.statistics import LEXICAL_CANON
from doublet.store import postings, segments, stems
from doublet.store.database import Store
from doublet.store.rebuild import rebuild
from doublet.store.verify import verify
from library_databases import VENDORS, new_address

SYLLABLES = "ba ko ri mu ten gal dor sim pe la vu nok har fi zo tra".split()


def word(luck: random.Random) -> str:
    return "".join(luck.choice(SYLLABLES) for _ in range(luck.randint(3, 4)))


@functools.cache
def vocabulary() -> tuple[str, ...]:
    luck = random.Random(1)
    return tuple(dict.fromkeys(word(luck) for _ in range(3_000)))


def prose(luck: random.Random, words: int) -> str:
    """Sentences of eight to fourteen words."""
    out: list[str] = []
    while len(out) < words:
        size = luck.randint(8, 14)
        out += [luck.choice(vocabulary()) for _ in range(size - 1)]
        out.append(luck.choice(vocabulary()) + ".")
    return " ".join(out)


def reworded(luck: random.Random, text: str) -> str:
    """Every third word replaced, so that no four words in a row stay."""
    words = text.split()
    return " ".join(luck.choice(vocabulary()) if place % 3 == 2 else one for place, one in enumerate(words))


@pytest.fixture(scope="module")
def collection() -> tuple[list[Document], str]:
    """Documents, and a text of which 60 words in the middle are a reworded part of document 7."""
    luck = random.Random(2)
    documents = [Document(f"d{number:03}", prose(luck, 500)) for number in range(60)]
    borrowed = " ".join(documents[7].text.split()[200:260])
    return documents, f"{prose(luck, 300)} {reworded(luck, borrowed)} {prose(luck, 300)}"


@pytest.fixture(params=VENDORS)
def address(request: pytest.FixtureRequest) -> Iterator[str]:
    yield new_address(str(request.param))


def sources(store: Store, text: str, **given: object) -> list[str]:
    return [one.id for one in check_library(store, text, **given).sources]  # type: ignore[arg-type]


@pytest.mark.covers("K1")
def test_a_reworded_passage_is_found(address: str, collection: tuple[list[Document], str]) -> None:
    documents, text = collection
    with Store(address) as store:
        store.libraries.create("x")
        store.documents.add("x", documents)
        assert "d007" not in sources(store, text, method="passages")
        assert sources(store, text) == ["d007"]
        store.libraries.create("y")
        store.documents.add("y", [Document("other", documents[7].text + " more")])
        assert sources(store, text, libraries=["x"]) == ["d007"]
        assert sources(store, text, libraries=["y"]) == ["other"]
        store.documents.remove("x", ["d007"])
        assert sources(store, text, libraries=["x"]) == []
        store.documents.add("x", [documents[7]])
        assert sources(store, text, libraries=["x"]) == ["d007"]
    assert_sound(address, "x")


def test_files_and_libraries_lead_to_the_same(collection: tuple[list[Document], str]) -> None:
    documents, text = collection
    backwards = doublet.check(text, reversed(documents))
    assert [one.id for one in backwards.sources] == ["d007"]
    assert doublet.check(text, documents).sources == backwards.sources


def test_an_old_library_is_filed_when_a_check_may_write(
    address: str, collection: tuple[list[Document], str]
) -> None:
    documents, text = collection
    with Store(address) as store:
        store.libraries.create("x")
        store.documents.add("x", documents)
        # As it was before there was an index of stems.
        store.database.rows("UPDATE doublet_content SET stems = NULL")
        rebuild(store.database)
        assert verify(store) == []
        assert sources(store, text) == []
        assert sources(store, text, build=True) == ["d007"]
        assert sources(store, text) == ["d007"]
        assert verify(store) == []
    assert_sound(address, "x")


def test_a_damaged_index_of_stems_is_made_again(address: str, collection: tuple[list[Document], str]) -> None:
    documents, text = collection
    with Store(address) as store:
        store.libraries.create("x")
        store.documents.add("x", documents)
        row = store.database.rows(
            "SELECT c.document_id, c.bag, c.stems FROM doublet_content c JOIN doublet_document d "
            "ON d.id = c.document_id WHERE d.name = 'd007'"
        )[0]
        with store.database.writing():
            postings.remove(store.database, stems.unpack([row[0]], [bytes(row[1])], [bytes(row[2])]))
        assert [one.kind for one in verify(store)] == ["index"]
        assert all(one.repaired for one in verify(store, repair=True))
        assert verify(store) == []
        assert sources(store, text) == ["d007"]
        with store.database.writing():
            store.database.rows(
                "UPDATE doublet_content SET stems = %s WHERE document_id = %s", [b"\x09x", row[0]]
            )
        assert {one.kind for one in verify(store)} == {"keys", "index"}
        verify(store, repair=True)
        assert verify(store) == []
        assert sources(store, text) == ["d007"]


def test_what_is_remembered_follows_the_library(address: str, collection: tuple[list[Document], str]) -> None:
    documents, text = collection
    with Store(address) as store, Store(address) as other:
        store.libraries.create("x")
        store.documents.add("x", documents[:7])
        assert sources(store, text) == []
        other.documents.add("x", documents[7:])
        assert sources(store, text) == ["d007"]
        other.documents.remove("x", ["d007"])
        assert sources(store, text) == []


def test_stems_lead_to_their_own_chunks(address: str, collection: tuple[list[Document], str]) -> None:
    """Exactly the chunks in which a stem is, for each stem that is asked for."""
    documents, text = collection
    with Store(address) as store:
        store.libraries.create("x")
        store.documents.add("x", documents)
        windows = read_windows(LEXICAL_CANON.tokens([text], words=True))
        hits = store.documents.look_up_stems(windows, None, store.libraries.all())
        found = {(windows.words[key], chunk) for key, chunk in zip(hits.keys, hits.documents, strict=True)}
        numbers = store.documents.numbers_of(store.libraries.get("x").number, [one.id for one in documents])
        expected = set()
        for document in documents:
            batch = LEXICAL_CANON.tokens([document.text], words=True)
            chunks, _ = chunk_numbers(batch.offsets)
            for stem, chunk in zip(batch.words(0), chunks.tolist(), strict=True):
                expected.add((stem, numbers[document.id] * MOST_CHUNKS + chunk))
        assert found == {one for one in expected if one[0] in windows.words}
        assert len(found) == len(hits.keys) == hits.frequency.sum()


def test_a_library_goes_back_to_the_layout_before_and_forth_again(
    address: str, collection: tuple[list[Document], str]
) -> None:
    """What was filed is filed again from what is stored of the documents; going back, passages are still found."""
    from django.core.management import call_command

    documents, text = collection
    with Store(address) as store:
        store.libraries.create("x")
        store.documents.add("x", documents)
        bits = store.database.rows("SELECT stems, document_id FROM doublet_content")
        alias = store.database.alias
        call_command("migrate", "doublet_store", "0008", database=alias, verbosity=0)
        if store.database.vendor == "sqlite":
            filed = "SELECT count(*) FROM doublet_posting WHERE doublet_posting MATCH %s"
            keys = postings.unpack_keys(store.database.rows("SELECT keys FROM doublet_content")[0][0])
            assert store.database.rows(filed, [postings.spell_keys(keys[:1], [0, 1])[0].strip()]) == [(1,)]
            assert store.database.rows("SELECT count(*) FROM doublet_content WHERE stems IS NULL") == [(60,)]
            with store.database.writing():
                store.database.many("UPDATE doublet_content SET stems = %s WHERE document_id = %s", bits)
        else:
            (data,) = store.database.binary("SELECT data FROM doublet_block LIMIT 1", [])[0]
            assert segments.unpack_plain(data).documents.all()
        call_command("migrate", "doublet_store", database=alias, verbosity=0)
        assert verify(store) == []
        assert sources(store, text) == ["d007"]
        store.optimize()
        assert sources(store, text) == ["d007"]
    assert_sound(address, "x")


def test_long_documents_have_many_chunks(address: str) -> None:
    """A chunk is found inside a document with more content words than there can be chunks of 150."""
    luck = random.Random(3)
    long = prose(luck, 45_000)
    borrowed = " ".join(long.split()[30_000:30_060])
    text = f"{prose(luck, 120)} {reworded(luck, borrowed)} {prose(luck, 120)}"
    with Store(address) as store:
        store.libraries.create("x")
        store.documents.add(
            "x", [Document("long", long), *(Document(f"d{n}", prose(luck, 400)) for n in range(40))]
        )
        packed = store.database.rows("SELECT stems FROM doublet_content ORDER BY document_id")[0][0]
        assert bytes(packed)[0] + 1 == 256
        assert "long" in sources(store, text)
        store.documents.remove("x", ["long"])
    assert_sound(address, "x")


def test_words_that_are_in_every_text_are_not_filed() -> None:
    batch = LEXICAL_CANON.tokens(["people work made small telescope"], words=True)
    masses = Rates().of(batch.hashes)[1]
    filed = telling(batch.hashes)
    assert filed.tolist() == (masses >= 2.5).tolist()
    assert bool(filed[-1])
