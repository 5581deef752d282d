"""Two texts side by side: what they have in common, with the words that differ marked."""

from __future__ import annotations

from typing import Any

from doublet.model import Comparison
from doublet.reports.check_view import colour, differences
from doublet.web import checkers
from doublet.web.words import Words
from doublet.web.works import drawing


def side_by_side(a: str, b: str, words: Words) -> tuple[Comparison, list[dict[str, Any]]]:
    """The comparison, and its fragments as a page shows them."""
    result = checkers.compare(a, b)
    rows = []
    for number, one in enumerate(result.fragments, 1):
        left, right = differences(a[one.a.start : one.a.end], b[one.b.start : one.b.end])
        rows.append(
            {
                "number": number,
                "kind": words.kind(one.kind),
                "words": one.words,
                "a": drawing.marked(left, "ins"),
                "b": drawing.marked(right, "del"),
                "colour": colour(number),
            }
        )
    return result, rows


def shared_words(before: str, after: str) -> float:
    """Share of the words of *after* that were in *before* already, in the same passages."""
    return checkers.compare(before, after).share_b
