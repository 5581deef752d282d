"""A library is filled from many sources: one that fails stops nobody."""

from __future__ import annotations

from pathlib import Path

import pytest

import doublet
from doublet.jobs.add_source import Filled
from doublet.jobs.fill_sources import NotFilled, fill_sources, update_libraries

TEXT = "The boats were locked in the ice until March, and nobody in the village minded it much."


@pytest.fixture
def folders(tmp_path: Path) -> list[Path]:
    out = []
    for name in ("one", "two"):
        folder = tmp_path / name
        folder.mkdir()
        (folder / "boats.txt").write_text(f"{TEXT} {name}", "utf-8")
        out.append(folder)
    return [out[0], tmp_path / "missing", out[1], out[0]]


def test_it_works(tmp_path: Path, folders: list[Path]) -> None:
    with doublet.open_library(tmp_path / "library.db") as library:
        found = list(fill_sources(library.store, library.name, folders))
        assert [type(one) for one in found] == [Filled, NotFilled, Filled]  # each once
        assert [one.address for one in found] == [str(path) for path in folders[:3]]
        assert [one.stored for one in found if isinstance(one, Filled)] == [1, 1]
        assert len(library) == 2


def test_options_for_the_web_are_refused_for_a_folder(tmp_path: Path, folders: list[Path]) -> None:
    with doublet.open_library(tmp_path / "library.db") as library:
        with pytest.raises(doublet.InvalidParameter, match="this computer"):
            list(fill_sources(library.store, library.name, folders, web_options={"only": ["a"]}))
        assert len(library) == 0


def test_an_update_goes_on_after_a_source_that_is_gone(tmp_path: Path, folders: list[Path]) -> None:
    with doublet.open_library(tmp_path / "library.db", "first") as library:
        store = library.store
        store.libraries.create("second")
        list(fill_sources(store, "first", folders[:1]))
        list(fill_sources(store, "second", folders[2:3]))
        (folders[0] / "boats.txt").unlink()
        folders[0].rmdir()
        (folders[2] / "more.txt").write_text(f"More. {TEXT}", "utf-8")
        found = list(update_libraries(store, ["first", "second"]))
        assert [one.library for one in found] == ["first", "second"]
        assert isinstance(found[0], NotFilled)
        assert isinstance(found[1], Filled) and found[1].stored == 1
