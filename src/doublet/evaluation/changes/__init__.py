"""Changes made on purpose (E1): one file each; `change` makes one by its name.

Changes of other packages come in through the entry point group ``doublet.changes`` (name = the change's name, value =
the change, see `Change`) and are loaded only when they are asked for.
"""

from __future__ import annotations

import random
from collections.abc import Mapping
from types import MappingProxyType

from doublet.errors import ConfigError, UsageError, nearest
from doublet.evaluation.changes.deletion import Deletion
from doublet.evaluation.changes.grammar import Grammar
from doublet.evaluation.changes.insertion import Insertion
from doublet.evaluation.changes.lookalikes import LookAlikes
from doublet.evaluation.changes.ocr import OcrNoise
from doublet.evaluation.changes.order import ParagraphsMoved, SentencesMoved, WordOrder
from doublet.evaluation.changes.protocol import (
    Case,
    Change,
    Changed,
    Origin,
    Pieces,
    Surroundings,
    cases,
    compose,
    unchanged,
)
from doublet.evaluation.changes.rewriting import Rewriting, in_turn
from doublet.evaluation.changes.splice import Splice
from doublet.evaluation.changes.summary import Summary
from doublet.evaluation.changes.synonyms import Synonyms
from doublet.model import Document

__all__ = [
    "CHANGES",
    "Case",
    "Change",
    "Changed",
    "Origin",
    "Pieces",
    "Splice",
    "Surroundings",
    "apply",
    "cases",
    "change",
    "change_names",
    "compose",
    "in_turn",
    "unchanged",
]

_OURS: tuple[Change, ...] = (
    Synonyms(0.6),
    Synonyms(0.4),
    Synonyms(0.2),
    Synonyms(0.05),
    Synonyms(0.6, stretch=True),
    Synonyms(0.4, stretch=True),
    Synonyms(0.2, stretch=True),
    Synonyms(0.05, stretch=True),
    ParagraphsMoved(),
    SentencesMoved(),
    SentencesMoved(0.2),
    LookAlikes(),
    Deletion(0.2),
    Insertion(0.2),
    OcrNoise(),
    WordOrder(),
    Grammar(),
    Splice(),
    Summary(),
    Rewriting(),
)

#: our changes by name, in the order in which they are listed everywhere
CHANGES: Mapping[str, Change] = MappingProxyType({one.name: one for one in _OURS})
_GROUP = "doublet.changes"


def change_names() -> list[str]:
    from importlib.metadata import entry_points

    return [*CHANGES, *sorted(p.name for p in entry_points(group=_GROUP) if p.name not in CHANGES)]


def change(name: str) -> Change:
    """The change called *name*; "a+b" is one after the other. Raises `UsageError` with the nearest name."""
    if name in CHANGES:
        return CHANGES[name]
    if "+" in name:
        steps = tuple(change(part) for part in name.split("+"))
        return Rewriting(name=name, steps=steps)
    from importlib.metadata import entry_points

    for point in entry_points(group=_GROUP):
        if point.name == name:
            try:
                found: Change = point.load()
            except Exception as error:
                raise ConfigError(
                    "change_not_loaded",
                    value=point.value,
                    why=error,
                    name=name,
                ) from error
            return found
    known = change_names()
    raise UsageError(
        "unknown_change",
        nearest=nearest(name, known),
        name=name,
        known=known,
    )


def apply(one: Change, document: Document, around: Surroundings, *, seed: int) -> Changed:
    """*one* on *document*. The same seed, change and document give the same text, whatever was done before."""
    return one.apply(document, around, random.Random(f"{seed} {one.name} {document.id}"))
