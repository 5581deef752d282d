"""The three figures that readers of reports know: what was borrowed, what was quoted, what is original."""

from __future__ import annotations

from dataclasses import dataclass

from doublet.model import Check


@dataclass(frozen=True, slots=True)
class Figures:
    """Shares of the words of a work; they add up to 1."""

    borrowed: float
    quoted: (
        float  #: found in sources, but in parts that are not counted (quotations, references, own versions)
    )
    original: float

    def percents(self) -> tuple[float, float, float]:
        """The same in percent with one decimal. The rounded figures still add up to 100: what the rounding leaves
        goes to the original text."""
        borrowed, quoted = round(100 * self.borrowed, 1), round(100 * self.quoted, 1)
        if borrowed + quoted > 100:
            quoted = round(100 - borrowed, 1)
        return borrowed, quoted, round(100 - borrowed - quoted, 1)


def figures(check: Check) -> Figures:
    """Of a check as it is, without its text."""
    with_all = check.share if check.share_with_all is None else max(check.share, check.share_with_all)
    return Figures(check.share, with_all - check.share, max(0.0, 1 - with_all))
