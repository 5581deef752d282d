"""A checked document for a terminal: the share, the sources, and the text itself with what was taken in colour.

Each source has a number and a colour; a passage stands between brackets with the number of its source, so colour never
carries the meaning alone.
"""

from __future__ import annotations

from doublet.model import Check, SourceMatch
from doublet.reports.terminal import Painter, disguise_lines, harmless, wrap
from doublet.reports.wording import Wording, wording

SHOWN_SOURCES = 20
SHOWN_POSSIBLE = 5  #: documents with nothing but possible places
SHOWN_PLACES = 3  #: of each document …
PLACE_LINES = 2  #: … and lines of each place
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
    result: Check,
    text: str,
    *,
    name: str = "",
    width: int = 80,
    colour: bool = False,
    language: str = "en",
) -> str:
    """*text* is the checked one."""
    paint, words = SourcePainter(colour), wording(language)
    name = name or words("check_document")
    lines = [paint(words("check_line", name=name, share=result.share, words=result.words), "title")]
    libraries = [harmless(library) for library in result.libraries]
    lines.append(paint(words("check_line_against", documents=result.documents, libraries=libraries), "dim"))
    lines += _left_out(result, words)
    lines.append("")
    lines += disguise_lines(words("the_text"), result.disguise, paint, words)
    if not result.sources:
        lines.append(words("check_line_none"))
    for number, source in enumerate(result.sources[:SHOWN_SOURCES], 1):
        lines += _source(number, source, text, width, paint, words)
    if len(result.sources) > SHOWN_SOURCES:
        lines.append(words("check_line_more", sources=len(result.sources) - SHOWN_SOURCES))
    lines += _possible(result, text, width, paint, words)
    if result.sources:
        lines += ["", *_coloured(result, text, width, paint)]
    lines += [harmless(words("note_line", note=note)) for note in result.notes]
    return "\n".join(lines) + "\n"


def _left_out(result: Check, words: Wording) -> list[str]:
    """One line for each kind that was left out, with the share that it would have made."""
    out = []
    for one in result.left_out:
        if not one.words:
            row = words("check_left_out_none", kind=one.kind)
        else:
            documents = [harmless(document) for document in one.documents]
            row = words(
                "check_left_out_row",
                kind=one.kind,
                words=one.words,
                share=one.share_with,
                documents=documents,
            )
        out.append(words("check_line_left_out", row=row))
    if sum(one.words > 0 for one in result.left_out) > 1 and result.share_with_all is not None:
        out.append(words("check_line_left_out_all", share=result.share_with_all))
    return out


def _source(
    number: int, source: SourceMatch, text: str, width: int, paint: Painter, words: Wording
) -> list[str]:
    kinds: dict[str, int] = {}
    for fragment in source.fragments:
        kinds[fragment.kind] = kinds.get(fragment.kind, 0) + 1
    told = ", ".join(words.count(many, f"{kind}_fragment") for kind, many in sorted(kinds.items()))
    title = harmless(f"{source.title} ({source.id})" if source.title else source.id)
    return [
        words(
            "check_line_source",
            head=paint(f"[{number}] {title}", f"source {number}"),
            share=source.share,
            added="" if abs(source.added - source.share) < 0.0005 else words.percent(source.added),
            kinds=told,
            possible=words.count(len(source.possible), "place") if source.possible else "",
        ),
        *_places(source, text, width, paint),
    ]


def _places(source: SourceMatch, text: str, width: int, paint: Painter) -> list[str]:
    """What may be reworded, the beginning of each place; of many the first ones."""
    lines = []
    for one in source.possible[:SHOWN_PLACES]:
        place = wrap([(harmless(text[one.a.start : one.a.end]), "dim")], max(20, width - 10))
        shown = [paint.line(line) for line in place[:PLACE_LINES]]
        lines += [f"    {'? ' if not at else '  '}  {line}" for at, line in enumerate(shown)]
        if len(place) > PLACE_LINES:
            lines[-1] += " …"
    if len(source.possible) > SHOWN_PLACES:
        lines.append("        …")
    return lines


def _possible(result: Check, text: str, width: int, paint: Painter, words: Wording) -> list[str]:
    """Documents with nothing but places that may be reworded: apart, without a number."""
    some = result.possible_sources
    if not some:
        return []
    lines = ["", paint(words("check_line_possible", documents=len(some)), "title")]
    for source in some[:SHOWN_POSSIBLE]:
        title = harmless(f"{source.title} ({source.id})" if source.title else source.id)
        lines.append(f"  ? {title}: {words.count(len(source.possible), 'place')}")
        lines += _places(source, text, width, paint)
    if len(some) > SHOWN_POSSIBLE:
        lines.append("  " + words("check_line_possible_more", number=len(some) - SHOWN_POSSIBLE))
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
