"""Blanks in place of markup: what readers of markup put where a text has marks, so that no character moves."""

from __future__ import annotations

from collections.abc import Sequence

QUIET = (
    "\u00a0"  #: a blank that ends nothing, however many there are: two common ones end an element of a line
)
FILLER = "\u00ad"  #: stands for what is nothing inside a word; the tokeniser drops it there
INLINE_TAGS = frozenset(
    "a abbr b bdi bdo big cite code data del dfn em font i img input ins kbd label mark q s samp small span strike "
    "strong sub sup time tt u var wbr".split()
)  #: tags inside a sentence


def blanked(text: str, parts: Sequence[tuple[int, int, str]]) -> str:
    """*text* with stretches (start, end, what stands there instead, of the same length) replaced; line ends stay."""
    out = []
    at = 0
    for begin, end, whole in sorted(parts):
        if end <= at:  # inside what is blank already
            continue
        start = max(begin, at)
        instead = whole[start - begin :]
        out.append(text[at:start])
        source = text[start:end]
        if "\n" in source:
            instead = "".join("\n" if old == "\n" else new for new, old in zip(instead, source, strict=True))
        out.append(instead)
        at = end
    out.append(text[at:])
    return "".join(out)


def blank(start: int, end: int, *, border: bool = False) -> tuple[int, int, str]:
    """A stretch of blanks; a *border* ends whatever sentence was going on."""
    size = end - start
    return start, end, "\n" * min(size, 2) + " " * (size - 2) if border else " " * size
