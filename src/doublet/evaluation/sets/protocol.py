"""What an evaluation can be run on. An adapter is one file: it recognises a folder and reads it into one of these."""

from __future__ import annotations

import json
import lzma
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from doublet.errors import InputUnreadable
from doublet.evaluation.problem import PassagePair
from doublet.model import Document, Note, Span


@dataclass(frozen=True)
class Collection:
    """Documents without labels: they are changed on purpose."""

    name: str
    documents: Sequence[Document]
    notes: tuple[Note, ...] = ()


@dataclass(frozen=True)
class LabelledCollection:
    """Documents and the pairs of them that are duplicates. *wanted*: those a method is asked for; *open*: pairs that
    are neither right nor wrong."""

    name: str
    documents: Sequence[Document]
    wanted: frozenset[tuple[str, str]]
    open: frozenset[tuple[str, str]]
    about: str = ""


@dataclass(frozen=True)
class LabelledPairs:
    """Pairs of texts that people called the same or not. *kinds*: a name for each pair, for tables by kind."""

    name: str
    pairs: Sequence[tuple[str, str]]
    labels: Sequence[bool]
    kinds: Sequence[str]
    short: bool = False  #: sentences: shingles of one word
    about: str = ""
    stories: bool = False  #: "the same" means the same event: `same_story` is asked beside the methods


@dataclass(frozen=True)
class LabelledPassages:
    """Texts beside their sources with the borrowed passages. *own*: by name of the text its author's own sentences."""

    name: str
    pairs: Sequence[PassagePair]
    own: dict[str, tuple[Span, ...]] = field(default_factory=dict)
    about: str = ""


DataSet = Collection | LabelledCollection | LabelledPairs | LabelledPassages


class Adapter(Protocol):
    name: str

    def recognises(self, folder: Path) -> bool: ...

    def load(self, folder: Path, *, limit: int | None) -> DataSet:
        """*limit*: at most so many pairs of each kind, always the same ones."""
        ...


def lines(path: Path) -> Iterator[dict[str, Any]]:
    """Records of a packed JSON Lines file. Raises `InputUnreadable` that names the file."""
    try:
        with lzma.open(path, "rt", encoding="utf-8") as stream:
            for line in stream:
                yield json.loads(line)
    except (OSError, EOFError, lzma.LZMAError, ValueError) as error:
        raise InputUnreadable("cannot_be_read", why=error, path=str(path)) from error


def first(path: Path) -> dict[str, Any]:
    """The first record, or nothing when there is none to be had."""
    if not path.is_file():
        return {}
    try:
        return next(lines(path), {})
    except InputUnreadable:
        return {}


def spread(items: list[Any], limit: int | None) -> list[Any]:
    """At most *limit* items, evenly spread, always the same."""
    if limit is None or len(items) <= limit:
        return items
    return [items[int(i * len(items) / limit)] for i in range(limit)]
