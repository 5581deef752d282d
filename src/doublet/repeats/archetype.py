"""What the variants of a repeat have in common: a template with fixed text and variable places.

Words and signs of each variant are aligned with those of the first; what all have, in the same order, is fixed.
Between two fixed stretches each variant has its own text, which may be empty.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

_WORD = re.compile(r"\w+|[^\w\s]")
MOST_WORDS = 4000  #: of a variant that are aligned; what follows is one variable place


@dataclass(frozen=True, slots=True)
class ArchetypePiece:
    """A stretch of the template. *texts* has the text of each variant; they are alike when it is *fixed*."""

    fixed: bool
    texts: tuple[str, ...]


def archetype(variants: Sequence[str]) -> list[ArchetypePiece]:
    """The template of *variants*. The n-th texts of all pieces, joined, give variant n (but for blanks at its end)."""
    if not variants:
        return []
    places = [list(_WORD.finditer(text))[:MOST_WORDS] for text in variants]
    words = [[match[0].lower() for match in found] for found in places]
    base = words[0]
    # For each word of the first variant: where it stands in each, or nothing when one of them lacks it.
    where: list[list[int] | None] = [[i] for i in range(len(base))]
    for other in words[1:]:
        found = _matched(base, other)
        for i, row in enumerate(where):
            if row is not None:
                at = found.get(i)
                where[i] = None if at is None else [*row, at]
    pieces: list[ArchetypePiece] = []
    told = [0] * len(variants)  # characters of each variant that stand in a piece already
    ends = [0] * len(variants)  # the same in words
    run: list[int] = []  # last words of the fixed stretch that is going on

    def add(fixed: bool, upto: Sequence[int]) -> None:
        """A piece with all words of each variant before the word *upto*."""
        texts = []
        for number, stop in enumerate(upto):
            end = places[number][stop - 1].end() if stop > ends[number] else told[number]
            texts.append(variants[number][told[number] : end])
            told[number] = end
            ends[number] = max(stop, ends[number])
        pieces.append(ArchetypePiece(fixed, tuple(texts)))

    for row in where:
        if row is None:
            continue
        if run and row != [at + 1 for at in run]:
            add(True, [at + 1 for at in run])
            run = []
        if not run and any(at > end for at, end in zip(row, ends, strict=True)):
            add(False, row)
        run = row
    if run:
        add(True, [at + 1 for at in run])
    rest = tuple(variant[at:] for variant, at in zip(variants, told, strict=True))
    if any(text.strip() for text in rest):
        pieces.append(ArchetypePiece(False, rest))
    return pieces


def _matched(base: list[str], other: list[str]) -> dict[int, int]:
    """Place in *base* → place in *other* of the words of a longest common subsequence."""
    if base == other:
        return {i: i for i in range(len(base))}
    from rapidfuzz.distance import Indel

    out: dict[int, int] = {}
    for step in Indel.opcodes(base, other):
        if step.tag == "equal":
            out.update(
                zip(
                    range(step.src_start, step.src_end),
                    range(step.dest_start, step.dest_end),
                    strict=True,
                )
            )
    return out


def fixed_words(pieces: Sequence[ArchetypePiece]) -> int:
    """Words that stand in all variants; few where many variants have each something in common with some others."""
    return sum(len(re.findall(r"\w+", piece.texts[0])) for piece in pieces if piece.fixed)


def template(pieces: Sequence[ArchetypePiece]) -> str:
    """The archetype as one line: fixed text, with ``[…]`` for each variable place."""
    line = "".join(piece.texts[0] if piece.fixed else " […]" for piece in pieces)
    return " ".join(re.sub(r"…\](?=\w)", "…] ", line).split())
