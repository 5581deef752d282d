"""Signatures → what the join needs of them: the keys, and all of a signature where a method only says yes or no."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from doublet.index.keys import KeyTable
from doublet.model import Signature
from doublet.signatures import Method


@dataclass(slots=True)
class Signed:
    """Gathered while reading, batch by batch, and asked while joining. The keys go to disk beyond their room."""

    method: Method
    keys: KeyTable = field(default_factory=KeyTable)
    signatures: dict[int, Signature] = field(
        default_factory=dict
    )  #: of methods that only say "equal" or "not"

    @property
    def estimates(self) -> bool:
        """True for methods that estimate resemblance: the exact value decides in their place."""
        return hasattr(self.method.parameters, "threshold")

    def take(self, signed: list[Signature | None], first: int) -> None:
        """Keep what the join needs of the signatures of documents *first* and on."""
        found = []
        owners: list[int] = []
        for document, signature in enumerate(signed, first):
            if signature is None:
                continue
            found.append(np.unique(self.method.keys(signature)))
            owners.append(document)
            if not self.estimates:
                self.signatures[document] = signature
        if found:
            lengths = [len(keys) for keys in found]
            self.keys.add(np.concatenate(found), np.repeat(np.array(owners, np.uint32), lengths))

    def agree(self, a: int, b: int) -> bool:
        """Whether the signatures of two documents say that they are alike."""
        return self.method.compare(self.signatures[a], self.signatures[b]).similar
