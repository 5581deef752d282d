"""The files of a dedupe job: all of them or none, and what can be known is said before the work."""

from __future__ import annotations

import errno
import json
import pathlib
from typing import Any

import pytest

from doublet.errors import DoubletError, OutputFailed, UsageError
from doublet.jobs.dedupe import Documents, dedupe_inputs
from doublet.sources import kept as kept_module
from doublet.sources.open import open_source

TEXT = "The boats were locked in the ice until March, and nobody in the village minded it much."


@pytest.fixture
def corpus(tmp_path: pathlib.Path) -> pathlib.Path:
    path = tmp_path / "corpus.jsonl"
    path.write_text(
        "".join(json.dumps({"id": name, "text": TEXT}) + "\n" for name in "abc"), encoding="utf-8"
    )
    return path


def run(corpus: pathlib.Path, **options: Any) -> None:
    with open_source([str(corpus)]) as source:
        dedupe_inputs(source, **options)


def names(folder: pathlib.Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_it_works(corpus: pathlib.Path) -> None:
    folder = corpus.parent
    run(corpus, groups_out=folder / "groups.jsonl", kept_out=folder / "kept.jsonl")
    assert names(folder) == ["corpus.jsonl", "groups.jsonl", "kept.jsonl"]


def full(*_: object) -> Any:
    raise OSError(errno.ENOSPC, "No space left on device")


def test_a_full_disk_leaves_no_groups_beside_a_missing_collection(
    corpus: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = corpus.parent
    monkeypatch.setattr(kept_module, "_write_lines", full)
    with pytest.raises(OutputFailed, match="Nothing was left behind"):
        run(corpus, groups_out=folder / "groups.jsonl", kept_out=folder / "kept.jsonl")
    assert names(folder) == ["corpus.jsonl"]


@pytest.mark.parametrize("streamed", ["groups_out", "kept_out"])
def test_a_stream_that_fails_leaves_no_file(corpus: pathlib.Path, streamed: str) -> None:
    folder = corpus.parent
    outputs = {"groups_out": folder / "groups.jsonl", "kept_out": folder / "kept.jsonl"}
    outputs[streamed] = pathlib.Path("/dev/full")
    with pytest.raises(OutputFailed, match="no space left"):
        run(corpus, **outputs)
    assert names(folder) == ["corpus.jsonl"]


def test_copies_of_files_wait_for_the_groups(tmp_path: pathlib.Path) -> None:
    texts = tmp_path / "texts"
    texts.mkdir()
    for name in "abc":
        (texts / f"{name}.txt").write_text(TEXT)
    with pytest.raises(OutputFailed, match="no space left"):
        run(texts, groups_out=pathlib.Path("/dev/full"), kept_out=tmp_path / "clean")
    assert names(tmp_path) == ["texts"]
    run(texts, groups_out=tmp_path / "groups.jsonl", kept_out=tmp_path / "clean")
    assert names(tmp_path) == ["clean", "groups.jsonl", "texts"]
    assert names(tmp_path / "clean") == ["a.txt"]


def test_one_file_for_both(corpus: pathlib.Path) -> None:
    one = corpus.parent / "one.jsonl"
    with pytest.raises(UsageError, match="both name"):
        run(corpus, groups_out=one, kept_out=one)


def never(*_: object, **__: object) -> Any:
    raise AssertionError("the collection was read before that was said")


@pytest.mark.parametrize(
    "options",
    [
        {"groups_out": "no/such/folder.jsonl"},
        {"kept_out": "no/such/folder.jsonl"},
        {"groups_out": "groups.pdf"},
        {"kept_out": "kept.pdf"},
    ],
)
def test_what_cannot_be_written_is_said_before_the_work(
    corpus: pathlib.Path, options: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    places = {name: corpus.parent / value for name, value in options.items()}
    with open_source([str(corpus)]) as source:
        monkeypatch.setattr(source, "batches", never)
        with pytest.raises(DoubletError):
            dedupe_inputs(source, method="tfidf", **places)  # a method that reads the collection first


def test_documents_in_memory_have_no_cleaned_file(tmp_path: pathlib.Path) -> None:
    documents = Documents([("a", TEXT)])
    documents.batches = never  # type: ignore[method-assign]
    with pytest.raises(UsageError, match="in files"):
        dedupe_inputs(documents, kept_out=tmp_path / "kept.jsonl")
