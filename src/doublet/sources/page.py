"""A single page or document on the web, by its address.

The simplest source there is, and the one to copy when you write your own: see `doublet.sources.protocol`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar

from doublet.addresses import clean
from doublet.errors import InputUnreadable
from doublet.sources.protocol import Fetcher, Item, KnownLookup, Unchanged
from doublet.sources.web import item_of


class PageSource:
    """One document: a page, a PDF, whatever stands at the address."""

    kind: ClassVar[str] = "page"

    def __init__(self, address: str) -> None:
        self.address = clean(address)
        if not self.address:
            raise InputUnreadable("address_not_askable", address=address)

    def items(self, fetcher: Fetcher, known: KnownLookup, state: dict[str, Any]) -> Iterator[Item]:  # noqa: ARG002
        """Asks "only if changed" when the library knows the document. There is no state: one request is all."""
        before = known(self.address)
        answer = fetcher.fetch(
            self.address, validators=before.validators if before and before.validators else None
        )
        if answer.unchanged:
            yield Unchanged(self.address, validators=answer.validators)
            return
        item, _ = item_of(answer, self.address, before)
        yield item
