"""A value of a wrong kind is answered with an error of ours that names it and says what is wanted."""

from __future__ import annotations

import pathlib
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import doublet
from doublet.errors import InvalidParameter, MemoryTooSmall, UnknownMethod, require_number

TEXT = "The boats were locked in the ice until March, and nobody in the village minded it much."
DOCUMENTS = [("a", TEXT), ("b", TEXT)]


class Odd:
    def __repr__(self) -> str:
        return "Odd()"


NO_TEXTS = [5, None, ["list"], {"a": 1}, 3.5, True, Odd(), object]
READABLE = [b"bytes", pathlib.Path("a.txt")]  # what some functions read, and others cannot
NO_COLLECTIONS = [5, None, b"bytes", "text", {"id": "a", "text": TEXT}, True, Odd()]
NO_PATHS = [5, None, ["list"], {"a": 1}, 3.5, Odd()]

TAKE_TEXTS: dict[str, Callable[[Any], object]] = {
    "compare a": lambda value: doublet.compare(value, TEXT),
    "compare b": lambda value: doublet.compare(TEXT, value),
    "check": lambda value: doublet.check(value, DOCUMENTS),
    "same_story": lambda value: doublet.same_story(TEXT, value),
    "sign": lambda value: doublet.method("minhash").sign(value),
    "sign_texts": lambda value: doublet.method("tf").sign_texts([TEXT, value]),
    "find_repeats": lambda value: doublet.find_repeats({"guide.md": value}),
    "advise": lambda value: doublet.advise([(TEXT, value, True)] * 6),
}
TAKE_COLLECTIONS: dict[str, Callable[[Any], object]] = {
    "dedupe": doublet.dedupe,
    "check": lambda value: doublet.check(TEXT, value),
    "advise": doublet.advise,
}
TAKE_PATHS: dict[str, Callable[[Any], object]] = {
    "read_document": doublet.read_document,
    "load_embedder": doublet.load_embedder,
    "open_library": doublet.open_library,
    "find_repeats": lambda value: doublet.find_repeats([value]),
}


@pytest.mark.parametrize("value", NO_TEXTS, ids=repr)
@pytest.mark.parametrize("name", TAKE_TEXTS)
def test_what_is_no_text(name: str, value: object) -> None:
    with pytest.raises(InvalidParameter, match=r"must be a text \(str\)") as told:
        TAKE_TEXTS[name](value)
    assert told.value.details["type"] == type(value).__name__


@pytest.mark.parametrize("value", READABLE, ids=repr)
@pytest.mark.parametrize("name", ["same_story", "sign", "sign_texts", "find_repeats", "advise"])
def test_where_nothing_is_read_it_is_told_who_reads(name: str, value: object) -> None:
    with pytest.raises(InvalidParameter, match="read_document"):
        TAKE_TEXTS[name](value)


@pytest.mark.parametrize("value", NO_COLLECTIONS, ids=repr)
@pytest.mark.parametrize("name", TAKE_COLLECTIONS)
def test_what_is_no_collection(name: str, value: object) -> None:
    with pytest.raises(InvalidParameter, match="must be a list"):
        TAKE_COLLECTIONS[name](value)


@pytest.mark.parametrize(
    "value", [value for value in NO_COLLECTIONS if not isinstance(value, dict)], ids=repr
)
def test_what_is_no_list_of_texts(value: Any) -> None:
    with pytest.raises(InvalidParameter, match="must be a list of texts"):
        doublet.method("minhash").sign_texts(value)
    with pytest.raises(InvalidParameter, match="must be a list of texts"):
        doublet.CollectionStatistics().add_texts(value)


@pytest.mark.parametrize("value", NO_PATHS, ids=repr)
@pytest.mark.parametrize("name", TAKE_PATHS)
def test_what_is_no_path(name: str, value: object) -> None:
    with pytest.raises(InvalidParameter, match=r"[Pp]ath"):
        TAKE_PATHS[name](value)


def test_no_text_of_a_document_is_in_a_message() -> None:
    with pytest.raises(InvalidParameter) as told:
        doublet.compare(TEXT, ["a secret"])  # type: ignore[arg-type]
    assert "secret" not in told.value.message


@pytest.mark.parametrize("value", [5, None, ["list"], {}, Odd()], ids=repr)
def test_what_is_no_method(value: Any) -> None:
    for ask in (
        lambda: doublet.method(value),
        lambda: doublet.compare(TEXT, TEXT, method=value),
        lambda: doublet.dedupe(DOCUMENTS, method=value),
    ):
        with pytest.raises(UnknownMethod, match="Known methods"):
            ask()


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("threshold", ["x", True, 0, float("nan")]),
        ("containment", ["x", True, 2]),
        ("keep", [5]),
        ("prefer", [5]),
        ("views", [5, "circles", ["strict", 5]]),
        ("candidates", [5]),
        ("reworded", [5]),
        ("workers", ["x", 1.5, True, -1]),
        ("memory_bytes", ["1GB", 1.5e9]),
        ("spill_folder", [5]),
        ("progress", [5, print]),
    ],
)
def test_options_of_dedupe(name: str, values: list[Any]) -> None:
    for value in values:
        with pytest.raises(InvalidParameter) as told:
            doublet.dedupe(DOCUMENTS, **{name: value})
        assert told.value.details["name"] == name


@pytest.mark.parametrize(
    ("name", "value"), [("embedder", 5), ("alike", "x"), ("alike", 7), ("progress", 5), ("seed_words", "4")]
)
def test_options_of_compare(name: str, value: Any) -> None:
    with pytest.raises(InvalidParameter) as told:
        doublet.compare(TEXT, TEXT, **{name: value})
    assert told.value.details["name"] == name


def test_progress_of_the_others() -> None:
    for ask in (
        lambda: doublet.check(TEXT, DOCUMENTS, progress=5),  # type: ignore[arg-type]
        lambda: doublet.find_repeats(TEXT, progress=5),  # type: ignore[arg-type]
        lambda: doublet.advise([], progress=5),  # type: ignore[arg-type]
        lambda: doublet.evaluate(progress=5),  # type: ignore[arg-type]
    ):
        with pytest.raises(InvalidParameter, match="progress is 5"):
            ask()


def test_one_name_needs_no_list() -> None:
    assert doublet.dedupe(DOCUMENTS, views="strict").strict == (("a", "b"),)
    rows = [
        {"id": "a", "text": TEXT, "source": "fair"},
        {"id": "b", "text": TEXT, "source": "good"},
    ]
    assert doublet.dedupe(rows, keep="best-source", prefer="good").kept == ("b",)


def test_numbers_of_numpy_are_numbers() -> None:
    result = doublet.dedupe(DOCUMENTS, threshold=np.float32(0.5), workers=np.int64(1))  # type: ignore[arg-type]
    assert result.removed == 1
    require_number("share", np.float32(1), 0, 1)


def test_a_pair_without_a_text_is_named() -> None:
    with pytest.raises(InvalidParameter, match="pair 2 has no 'text_b'"):
        doublet.advise([(TEXT, TEXT, True), {"text_a": TEXT, "duplicate": True}])


def test_too_little_memory_is_a_wrong_setting() -> None:
    with pytest.raises(MemoryTooSmall, match="at least") as told:
        doublet.dedupe(DOCUMENTS, memory_bytes=1000)
    assert told.value.exit_code == 2
