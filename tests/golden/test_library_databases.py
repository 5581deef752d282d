"""Databases of earlier layouts open, are brought up to date, and still hold what they held."""

from __future__ import annotations

import contextlib
import importlib
import pathlib
import sqlite3

import pytest
import zstandard

from doublet.jobs.check_library import check_library
from doublet.model import Document
from doublet.store import segments
from doublet.store.connection import known_migrations
from doublet.store.database import Store
from doublet.store.verify import verify

FOLDER = pathlib.Path(__file__).parent / "libraries"


def test_there_is_one_of_every_layout() -> None:
    """A new migration needs a database that was made before it."""
    made = {path.name.split(".")[0] for path in FOLDER.glob("*.db.zst")}
    assert {name.split("_")[0] for name in known_migrations()} <= made


@pytest.mark.parametrize("path", sorted(FOLDER.glob("*.db.zst")), ids=lambda path: path.name)
def test_old_databases_open(path: pathlib.Path, tmp_path: pathlib.Path) -> None:
    place = tmp_path / "old.db"
    place.write_bytes(zstandard.ZstdDecompressor().decompress(path.read_bytes()))
    with Store(str(place)) as store:
        (info,) = store.libraries.all()
        assert (info.name, info.documents, info.note) == ("old", 11, "made by the first version")
        texts = {document.id: text for batch in store.documents.batches("old") for document, text in batch}
        assert "snow" not in texts
        assert texts["water-towers"].startswith("Водонапорная башня")
        assert store.libraries.statistics("old").documents == 11
        verify(store, repair=True)  # makes again what another version of the canonical text made
        assert verify(store) == []
        found = check_library(store, texts["water-towers"], method="minhash", build=True)
        assert found.sources[0].id == "water-towers"
        assert check_library(store, texts["springs"]).share == 1.0


def test_an_index_that_was_made_again_is_merged(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each part of a migration leaves a segment, and every check asks them all."""
    migration = importlib.import_module("doublet.store.migrations.0009_packed_segments")
    monkeypatch.setattr(migration, "_TOGETHER", 1)
    monkeypatch.setattr(segments, "FAN", 2)
    place = tmp_path / "old.db"
    place.write_bytes(zstandard.ZstdDecompressor().decompress((FOLDER / "0008.db.zst").read_bytes()))
    with Store(str(place)) as store:
        (count,) = store.database.row("SELECT count(*) FROM doublet_segment") or (0,)
        assert 1 <= count <= 3  # of 11
        texts = {document.id: text for batch in store.documents.batches("old") for document, text in batch}
        assert check_library(store, texts["springs"]).share == 1.0


def test_sources_of_the_second_layout(tmp_path: pathlib.Path) -> None:
    place = tmp_path / "old.db"
    place.write_bytes(zstandard.ZstdDecompressor().decompress((FOLDER / "0002.db.zst").read_bytes()))
    with Store(str(place)) as store:
        (source,) = store.sources.all(store.libraries.get("old").number)
        assert (source.kind, source.address, source.status) == ("oai", "https://example.org/oai", "done")
        assert (source.options, source.state) == ({"sets": ["theses"]}, {"since": "2024-05-02"})
        assert (source.documents, source.outcomes) == (1, {"too_short": 1, "unchanged": 1})
        known = store.sources.known(source.number, "springs")
        assert known is not None
        assert (known.version, known.etag, known.stored) == ("2024-05-01", '"abc"', True)


def test_twin_recipes_of_the_first_layout_become_one(tmp_path: pathlib.Path) -> None:
    """Two processes could make one recipe twice; from the second layout on they cannot."""
    place = tmp_path / "old.db"
    place.write_bytes(zstandard.ZstdDecompressor().decompress((FOLDER / "0001.db.zst").read_bytes()))
    columns = (
        "library_id, digest, method, recipe, settings, parameters, statistics, changes, documents, follows"
    )
    with contextlib.closing(sqlite3.connect(place)) as plain, plain:
        before = plain.execute("SELECT count(*) FROM doublet_recipe").fetchone()[0]
        assert before > 0
        plain.execute(f"INSERT INTO doublet_recipe ({columns}) SELECT {columns} FROM doublet_recipe")
        twin = plain.execute("SELECT max(id) FROM doublet_recipe").fetchone()[0]
        facts = 'name, name_hash, size, "values", keys'
        plain.execute(
            f"INSERT INTO doublet_entry (recipe_id, {facts}) SELECT ?, {facts} FROM doublet_entry "
            "WHERE recipe_id = (SELECT max(id) FROM doublet_recipe WHERE id < ?)",
            (twin, twin),
        )
    with Store(str(place)) as store:
        assert store.database.row("SELECT count(*) FROM doublet_recipe") == (before,)
        orphans = "SELECT count(*) FROM doublet_entry WHERE recipe_id NOT IN (SELECT id FROM doublet_recipe)"
        assert store.database.row(orphans) == (0,)
        with pytest.raises(sqlite3.IntegrityError):
            store.database.raw.execute(
                f"INSERT INTO doublet_recipe ({columns}) SELECT {columns} FROM doublet_recipe"
            )


def test_contents_lose_their_second_index(tmp_path: pathlib.Path) -> None:
    """Up to the second layout the number of a document stood beside the table, too; it gets smaller."""
    size = (
        "SELECT sum(pgsize) FROM dbstat WHERE name LIKE '%doublet_content%' "
        "AND name <> 'doublet_content_unfiled'"
    )
    place = tmp_path / "old.db"
    with Store(str(place)) as store:
        store.libraries.create("x")
        store.documents.add(
            "x", [Document(str(n), f"the {n}th of some thousand short texts") for n in range(12_000)]
        )
    with contextlib.closing(sqlite3.connect(place, isolation_level=None)) as plain:
        plain.execute("DELETE FROM django_migrations WHERE app = 'doublet_store' AND name > '0003'")
        later_ones = ("page", "host", "report", "rebuild", "segment", "block", "merging")
        for later in (f"doublet_{name}" for name in later_ones):
            plain.execute(f"DROP TABLE {later}")
        plain.execute("CREATE VIRTUAL TABLE doublet_posting USING fts5 (k, content='', detail=none)")
        plain.execute("ALTER TABLE doublet_content RENAME TO now")
        plain.execute(
            "CREATE TABLE doublet_content (document_id bigint NOT NULL PRIMARY KEY, version integer NOT NULL, "
            "dictionary bigint NOT NULL, keys BLOB NOT NULL, bag BLOB NOT NULL, text BLOB NOT NULL)"
        )
        plain.execute(
            "INSERT INTO doublet_content SELECT document_id, version, dictionary, keys, bag, text FROM now"
        )
        plain.execute("DROP TABLE now")
        plain.execute("VACUUM")
        assert plain.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0] == 0
        before = plain.execute(size).fetchone()[0]
    with Store(str(place)) as store:
        indexes = store.database.rows("SELECT name FROM sqlite_master WHERE tbl_name = 'doublet_content'")
        assert indexes == [("doublet_content",), ("doublet_content_unfiled",)]
        assert verify(store) == []
        assert check_library(store, "the 77th of some thousand short texts").share == 1.0
        assert store.database.rows(size)[0][0] < before


def test_jobs_of_the_fourth_layout(tmp_path: pathlib.Path) -> None:
    place = tmp_path / "old.db"
    place.write_bytes(zstandard.ZstdDecompressor().decompress((FOLDER / "0004.db.zst").read_bytes()))
    with Store(str(place)) as store:
        tidy, fill = store.jobs.find()
        assert (tidy.kind, tidy.state, tidy.parameters) == ("tidy", "new", {})
        assert (fill.kind, fill.state, fill.library, fill.key) == ("fill", "done", "old", "first")
        assert (fill.parameters, fill.result) == ({"source": 1}, {"stored": 11})
