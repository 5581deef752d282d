"""Every error travels between processes, and tells its facts as JSON."""

from __future__ import annotations

import json
import pathlib
import pickle
from collections.abc import Iterator

import numpy as np
import pytest

from doublet import errors
from doublet.errors import DoubletError, UnknownLibrary, UnknownMethod

FACTS = {
    "path": pathlib.Path("a/b.txt"),
    "count": np.int64(3),
    "share": np.float32(0.5),
    "never": float("nan"),
    "bytes": b"\xff",
    "values": np.arange(3),
    "nested": {"set": {2, 1}, 3: [pathlib.Path("x"), None, True]},
    "surrogate": "\ud800",
    "function": lambda: None,
}


def kinds(root: type[DoubletError] = DoubletError) -> Iterator[type[DoubletError]]:
    yield root
    for child in root.__subclasses__():
        yield from kinds(child)


def made(kind: type[DoubletError]) -> DoubletError:
    if kind in (UnknownMethod, UnknownLibrary):
        return kind("minhsh", known=["minhash", "simhash"])
    return kind("what happened, and what to do", **FACTS)


@pytest.mark.parametrize("kind", sorted(set(kinds()), key=lambda kind: kind.__name__))
def test_it_travels_and_tells_its_facts(kind: type[DoubletError]) -> None:
    error = made(kind)
    error.add_note("seen on the way")
    again = pickle.loads(pickle.dumps(error))
    assert type(again) is kind
    assert (again.message, str(again), again.code, again.exit_code) == (
        *(error.message, str(error), error.code, error.exit_code),
    )
    assert again.__notes__ == ["seen on the way"]
    assert set(again.details) == set(error.details)
    told = json.loads(json.dumps(error.to_dict(), allow_nan=False, ensure_ascii=False).encode())
    assert told == json.loads(json.dumps(again.to_dict(), allow_nan=False))
    assert told["code"] == kind.code


def test_facts_are_plain() -> None:
    told = DoubletError("x", **FACTS).to_dict()["details"]
    assert isinstance(told, dict)
    assert told["path"] == "a/b.txt"
    assert (told["count"], told["share"], told["never"]) == (3, 0.5, "nan")
    assert told["nested"] == {"set": [1, 2], "3": ["x", None, True]}
    assert told["surrogate"] == "\\ud800"


def test_all_errors_are_in_the_tree() -> None:
    found = {value for value in vars(errors).values() if isinstance(value, type)}
    ours = {
        kind for kind in kinds() if kind.__module__ == errors.__name__
    }  # other tests may have loaded more
    assert {kind for kind in found if issubclass(kind, Exception)} == ours
