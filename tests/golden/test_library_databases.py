"""Databases of earlier layouts open, are brought up to date, and still hold what they held."""

from __future__ import annotations

import pathlib

import pytest
import zstandard

from doublet.jobs.check_library import check_library
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
        (info,) = store.libraries()
        assert (info.name, info.documents, info.note) == ("old", 11, "made by the first version")
        texts = {document.id: text for batch in store.walk("old") for document, text in batch}
        assert "snow" not in texts
        assert texts["water-towers"].startswith("Водонапорная башня")
        assert store.statistics("old").documents == 11
        verify(store, repair=True)  # makes again what another version of the canonical text made
        assert verify(store) == []
        found = check_library(store, texts["water-towers"], method="minhash")
        assert found.sources[0].id == "water-towers"
        assert check_library(store, texts["springs"]).share == 1.0
