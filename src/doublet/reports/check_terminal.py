"""A checked document for a terminal: the share, the sources, and the text itself with what was taken in colour.

Each source has a number and a colour; a passage stands between brackets with the number of its source, so colour never
carries the meaning alone.
"""

from __future__ import annotations

from doublet.model import Check, SourceMatch
from doublet.reports.terminal import Painter, disguise_lines, harmless, wrap
from doublet.reports.wording import FRAGMENT_KINDS, LEFT_OUT, POSSIBLE, count, percent

SHOWN_SOURCES = 20
SHOWN_POSSIBLE = 5
_GLUE = "\u00a0"  # keeps the number of a source on the line of its first word
_COLOURS = ("31", "32", "33", "34", "35", "36", "91", "92", "94", "95")


class SourcePainter(Painter):
    """Knows the colours of sources: style ``source 3`` is that of the third one."""

    def __call__(self, text: str, style: str) -> str:
        if not style.startswith("source ") or not self.colour or not text:
            return super().__call__(text, style)
        number = int(style.removeprefix("source ")) - 1
        return f"\x1b[1;{_COLOURS[number % len(_COLOURS)]}m{text}\x1b[0m"


def check_report(
    result: Check, text: str, *, name: str = "the document", width: int = 80, colour: bool = False
) -> str:
    """*text* is the checked one."""
    paint = SourcePainter(colour)
    lines = [
        paint(
            f"{name}: {percent(result.share)} of {count(result.words, 'word')} stand in other documents",
            "title",
        )
    ]
    where = f" in {', '.join(map(harmless, result.libraries))}" if result.libraries else ""
    lines.append(paint(f"checked against {count(result.documents, 'document')}{where}", "dim"))
    lines += _left_out(result)
    lines.append("")
    lines += disguise_lines("The text", result.disguise, paint)
    if not result.sources:
        lines.append("No source was found.")
    for number, source in enumerate(result.sources[:SHOWN_SOURCES], 1):
        lines += _source(number, source, paint)
    if len(result.sources) > SHOWN_SOURCES:
        lines.append(
            f"and {count(len(result.sources) - SHOWN_SOURCES, 'more source')}: --format json has them all"
        )
    lines += _possible(result, text, width, paint)
    if result.sources:
        lines += ["", *_coloured(result, text, width, paint)]
    lines += [f"Note: {harmless(note)}" for note in result.notes]
    return "\n".join(lines) + "\n"


def _left_out(result: Check) -> list[str]:
    """One line for each kind that was left out, with the share that it would have made."""
    out = []
    for one in result.left_out:
        if not one.words:
            out.append(f"not counted: {LEFT_OUT.get(one.kind, one.kind)}: none found")
            continue
        told = f"{LEFT_OUT.get(one.kind, one.kind)}: {count(one.words, 'word')}"
        if one.documents:
            told += f" in {', '.join(map(harmless, one.documents))}"
        out.append(f"not counted: {told}; with them the share would be {percent(one.share_with)}")
    if sum(one.words > 0 for one in result.left_out) > 1 and result.share_with_all is not None:
        out.append(f"with all of these counted: {percent(result.share_with_all)}")
    return out


def _source(number: int, source: SourceMatch, paint: Painter) -> list[str]:
    kinds: dict[str, int] = {}
    for fragment in source.fragments:
        kinds[fragment.kind] = kinds.get(fragment.kind, 0) + 1
    told = ", ".join(f"{many} {FRAGMENT_KINDS.get(kind, kind)}" for kind, many in sorted(kinds.items()))
    title = harmless(f"{source.title} ({source.id})" if source.title else source.id)
    extra = "" if abs(source.added - source.share) < 0.0005 else f", {percent(source.added)} not seen above"
    head = paint(f"[{number}] {title}", f"source {number}")
    weak = (
        f"; {POSSIBLE.lower()}, not counted: {count(len(source.possible), 'place')}"
        if source.possible
        else ""
    )
    return [f"{head}: {percent(source.share)}{extra}; passages: {told}{weak}"]


def _possible(result: Check, text: str, width: int, paint: Painter) -> list[str]:
    """Documents with nothing but places that may be reworded: apart, without a number, with the first place."""
    some = result.possible_sources
    if not some:
        return []
    head = f"{POSSIBLE}, in no share: {count(len(some), 'document')} with nothing else of the text"
    lines = ["", paint(head, "title")]
    for source in some[:SHOWN_POSSIBLE]:
        title = harmless(f"{source.title} ({source.id})" if source.title else source.id)
        lines.append(f"  ? {title}: {count(len(source.possible), 'place')}")
        first = source.possible[0].a
        place = wrap([(harmless(text[first.start : first.end]), "dim")], max(20, width - 8))
        lines.append(f"      {paint.line(place[0])}{' …' * (len(place) > 1)}")
    if len(some) > SHOWN_POSSIBLE:
        lines.append(f"  and {len(some) - SHOWN_POSSIBLE} more: --format json has them all")
    return lines


def _coloured(result: Check, text: str, width: int, paint: Painter) -> list[str]:
    """The text, paragraph by paragraph, each word in the colour of the first source that explains it."""
    owner = [0] * len(text)
    for number, source in reversed(list(enumerate(result.sources, 1))):
        for fragment in source.fragments:
            owner[fragment.a.start : fragment.a.end] = [number] * (fragment.a.end - fragment.a.start)
    lines: list[str] = []
    at = 0
    for paragraph in text.split("\n"):
        segments: list[tuple[str, str]] = []
        start = at
        end = at + len(paragraph)
        while start < end:
            stop = start
            while stop < end and owner[stop] == owner[start]:
                stop += 1
            part = harmless(text[start:stop])
            if owner[start]:
                style = f"source {owner[start]}"
                opens = start == 0 or owner[start - 1] != owner[start]
                closes = stop == len(text) or owner[min(stop, len(text) - 1)] != owner[start]
                segments.append((f"[{owner[start]}{_GLUE}" * opens + part + "]" * closes, style))
            else:
                segments.append((part, ""))
            start = stop
        at = end + 1
        if segments:
            lines += [paint.line(line).replace(_GLUE, " ") for line in wrap(segments, width)]
        else:
            lines.append("")
    return lines
