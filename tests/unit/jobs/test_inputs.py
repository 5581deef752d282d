"""A string is a text, in every function. Files are paths, bytes are bytes, addresses are `WebAddress`."""

from __future__ import annotations

import builtins
import json
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import doublet
from doublet.jobs import read as reading

TEXT = "The boats were locked in the ice until March, and nobody in the village minded it much."


@pytest.fixture
def essay(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A file whose name somebody pastes as a text."""
    path = tmp_path / "essay.txt"
    path.write_text(TEXT, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    yield path


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Iterator[doublet.Library]:
    with doublet.open_library(tmp_path_factory.mktemp("library") / "library.db") as opened:
        opened.add([("boats", TEXT)])
        yield opened


def words(function: str, given: Any, library: doublet.Library) -> int:
    """How many words the function saw."""
    if function == "check":
        return doublet.check(given, [("boats", TEXT)]).words
    if function == "compare":
        return doublet.compare(TEXT, given).words_b
    if function == "find_repeats":
        return doublet.find_repeats(given, algorithm="exact").tokens
    return library.check(given).words


FUNCTIONS = pytest.mark.parametrize("function", ["check", "compare", "find_repeats", "library"])


@FUNCTIONS
@pytest.mark.parametrize(
    "given",
    [
        "essay.txt",
        "./essay.txt",
        "no-such-file.docx",
        "https://example.org/essay.html",
        "word " * 300,
        "a\0b",
    ],
    ids=["file", "path", "missing", "address", "long", "nul"],
)
def test_a_string_is_a_text_whatever_it_looks_like(
    function: str, given: str, essay: Path, library: doublet.Library, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened: list[Any] = []
    for module, name in ((builtins, "open"), (os, "open"), (os, "stat")):
        real = getattr(module, name)

        def spy(path: Any, *rest: Any, real: Callable[..., Any] = real, **options: Any) -> Any:
            if os.fspath(path) == given if isinstance(path, str | os.PathLike) else False:
                opened.append(path)
            return real(path, *rest, **options)

        monkeypatch.setattr(module, name, spy)
    assert words(function, given, library) in (1, 2, 3, 4, 5, 300)
    assert opened == []


@FUNCTIONS
def test_a_path_is_a_file_and_bytes_are_its_content(
    function: str, essay: Path, library: doublet.Library
) -> None:
    expected = words(function, TEXT, library)
    assert expected >= 16
    assert words(function, essay, library) == expected
    assert words(function, TEXT.encode(), library) == expected
    assert words(function, doublet.read_document(essay), library) == expected


@FUNCTIONS
def test_an_address_is_fetched(
    function: str, library: doublet.Library, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = []

    def fetched(address: doublet.WebAddress) -> bytes:
        asked.append(address.url)
        return TEXT.encode()

    monkeypatch.setattr(reading, "_fetched", lambda address, *_: (fetched(address), "", "text/plain"))
    given = doublet.WebAddress("https://example.org/essay.txt")
    assert words(function, given, library) == words(function, TEXT, library)
    assert asked == ["https://example.org/essay.txt"]


def test_an_address_is_one() -> None:
    for wrong in ("essay.txt", "file:///etc/passwd", "https://", 5, ""):
        with pytest.raises(doublet.InvalidParameter, match="address"):
            doublet.WebAddress(wrong)  # type: ignore[arg-type]


@pytest.mark.parametrize("given", ["essay.txt", ["essay.txt"]])
def test_where_no_text_can_be_meant_a_string_is_refused(given: Any, essay: Path, library: Any) -> None:
    for function in (
        doublet.read_document,
        doublet.dedupe,
        library.add,
        library.add_source,
        lambda documents: doublet.check(TEXT, documents),
    ):
        if isinstance(given, list) and function in (doublet.read_document, library.add_source):
            continue
        found: Any = None
        try:
            found = function(given)
        except doublet.UsageError as error:
            assert "Path" in error.message or "list" in error.message, error.message
            continue
        # A string in a list is the text of a document; a library has no id for it. Nothing is read.
        if isinstance(found, doublet.Deduplication):
            assert (found.documents, found.kept) == (1, (0,))
        elif isinstance(found, doublet.Check):
            assert (found.documents, found.share) == (1, 0)
        else:
            assert [outcome.state for outcome in found.outcomes] == ["invalid"]
    if isinstance(given, list):
        with pytest.raises(doublet.UsageError, match="Path"):
            doublet.find_repeats(given)


def test_files_of_documents_are_paths(essay: Path, tmp_path: Path, library: doublet.Library) -> None:
    rows = tmp_path / "rows.jsonl"
    rows.write_text("".join(json.dumps({"id": id, "text": TEXT}) + "\n" for id in "ab"), "utf-8")
    assert [s.id for s in doublet.check(TEXT, rows).sources] == ["a", "b"]
    assert doublet.dedupe(rows).removed == 1
    assert library.add(rows).stored == 2


def test_what_is_hidden_in_a_file_is_told_by_compare_too(tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    hidden = "many words that nobody who reads the page can see at all"
    page.write_text(
        f"<html><body><article><p>{TEXT}</p><p style='font-size:0'>{hidden}</p></article></body></html>",
        "utf-8",
    )
    assert doublet.read_document(page).hidden
    assert [f.kind for f in doublet.compare(page, TEXT).disguise_a.findings] == ["hidden"]
    assert [f.kind for f in doublet.check(page, [("a", TEXT)]).disguise.findings] == ["hidden"]


def test_other_things_are_refused_by_name(library: doublet.Library) -> None:
    for wrong in (None, 5, ["a"], {"text": "a"}):
        with pytest.raises(doublet.InvalidParameter, match="text_b"):
            doublet.compare(TEXT, wrong)  # type: ignore[arg-type]
        with pytest.raises(doublet.InvalidParameter, match="text"):
            doublet.check(wrong, [])  # type: ignore[arg-type]
        with pytest.raises(doublet.InvalidParameter, match="text"):
            library.check(wrong)  # type: ignore[arg-type]
