"""What an index is: it keeps the keys of signatures and finds the documents that share some with a given one.

The same suite of tests (tests/contracts/test_index.py) runs over every index.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple, Protocol

from doublet.model import Recipe, Signature


class Candidate(NamedTuple):
    """A document that shares *hits* keys with the signature asked for. Not a match until it is compared."""

    id: str
    hits: int


class Index(Protocol):
    """Keys of one method's signatures. Signatures of another recipe are refused with
    `IncompatibleSignatures`."""

    @property
    def recipe(self) -> Recipe: ...

    def __len__(self) -> int:
        """Number of documents."""
        ...

    def __contains__(self, id: object) -> bool: ...

    def add(self, id: str, signature: Signature) -> None:
        """Raises `UsageError` when the id is there already: `replace` is for that."""
        ...

    def add_many(self, documents: Iterable[tuple[str, Signature]]) -> None:
        """All of them or, when one is refused, none."""
        ...

    def remove(self, id: str) -> bool:
        """Forget a document; False when it was not there. It leaves no trace and can be added again."""
        ...

    def replace(self, id: str, signature: Signature) -> None:
        """Put a document in, whether it was there before or not."""
        ...

    def candidates(self, signature: Signature, limit: int | None = None) -> list[Candidate]:
        """Documents that share a key, those with most hits first, of equals by id; at most *limit*."""
        ...
