"""Works as lists show them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from doublet.web.works.models import Work


def shown_works(works: Iterable[Work]) -> list[Any]:
    """Works with what a row needs besides their own fields. A page of a list stays a page."""
    rows: list[Any] = list(works)
    for one in rows:
        one.bar = f"{100 * one.borrowed:.1f}" if one.borrowed is not None else "0"
    return rows
