"""A mix of changes, as people rewrite (E1): sentences dropped and moved, words replaced, added, reordered."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass

from doublet.evaluation.changes.deletion import Deletion
from doublet.evaluation.changes.grammar import Grammar
from doublet.evaluation.changes.insertion import Insertion
from doublet.evaluation.changes.order import SentencesMoved, WordOrder
from doublet.evaluation.changes.protocol import Change, Changed, Surroundings, compose, unchanged
from doublet.evaluation.changes.summary import Summary
from doublet.evaluation.changes.synonyms import Synonyms
from doublet.model import Document


def in_turn(document: Document, steps: Sequence[Change], around: Surroundings, rng: random.Random) -> Changed:
    """One change after the other, with one map from the last text to the first."""
    changed = unchanged(document)
    for step in steps:
        changed = compose(changed, step.apply(Document(document.id, changed.text), around, rng))
    return changed


@dataclass(frozen=True)
class Rewriting:
    """The steps and their shares; all of them small, because a person does a little of each."""

    name: str = "rewriting"
    steps: tuple[Change, ...] = (
        Summary(0.8),
        SentencesMoved(),
        Synonyms(0.3),
        Grammar(0.2),
        WordOrder(0.15),
        Deletion(0.07),
        Insertion(0.07),
    )

    @property
    def title(self) -> dict[str, str]:
        return {"en": "rewriting: a little of everything", "ru": "рерайт: всего понемногу"}

    def apply(self, document: Document, around: Surroundings, rng: random.Random) -> Changed:
        return in_turn(document, self.steps, around, rng)
