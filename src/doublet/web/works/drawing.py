"""A report as HTML: the text with its passages, the strip that maps it, and a source beside it.

Texts of hundreds of pages are cut here into safe HTML in one pass, instead of in a template. A passage is a link,
so that it works without a script; the script then shows the source beside the text.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from django.utils.html import escape
from django.utils.safestring import SafeString, mark_safe
from rapidfuzz.distance import Levenshtein

from doublet.model import Check, Fragment, SourceMatch
from doublet.web.works.kept import Report, Scored, SwitchedOff

COLOURS = 12
CHUNK = 6_000  #: characters that a browser lays out together
STRIP = 1_000  #: units of width of the strip
_UNSAFE = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff\ufdd0-\ufdef\ufffe\uffff]"
)
_WORDS = re.compile(r"\w+", re.UNICODE)


@dataclass(frozen=True, slots=True)
class Passage:
    """A fragment with its source, as pages show it."""

    id: str
    number: int
    colour: int
    fragment: Fragment
    source: SourceMatch
    off: bool


@dataclass(slots=True)
class ShownSource:
    number: int
    colour: int
    source: SourceMatch
    share: float
    off: bool
    passages: list[Passage] = field(default_factory=list)


def shown_sources(check: Check, off: SwitchedOff, scored: Scored) -> list[ShownSource]:
    out = []
    for number, source in enumerate(check.sources, 1):
        colour = (number - 1) % COLOURS + 1
        out.append(
            ShownSource(
                number,
                colour,
                source,
                scored.shares.get(source.id, 0.0),
                source.id in off.sources,
                [
                    Passage(one.id, number, colour, one, source, off.has(source, one))
                    for one in sorted(source.fragments, key=lambda one: one.a)
                ],
            )
        )
    return out


def safe(text: str) -> str:
    """Text for a page. What would change the page around it is shown as a sign."""
    plain = text.replace("\r\n", "\n").replace("\r", "\n")
    return str(escape(_UNSAFE.sub(lambda found: "\ufffd" if ord(found.group()) > 0x1F else "␀", plain)))


def draw_text(report: Report, sources: Sequence[ShownSource], address: str, words: Any) -> SafeString:
    """The whole text, passages as links to their sources, disguised words underlined, left out parts marked."""
    text = report.text
    passages = [one for source in sources for one in source.passages]
    marks: list[tuple[int, int, Any]] = [(one.fragment.a.start, one.fragment.a.end, one) for one in passages]
    for finding in report.check.disguise.findings:
        marks += [(start, end, "disguised") for start, end in finding.spans]
    for one in report.check.left_out:
        marks += [(start, end, one.kind) for start, end in one.spans]
    out = ['<div class="chunk">']
    size = 0
    begun: set[str] = set()
    for start, end, open_marks in _pieces(len(text), marks):
        piece = text[start:end]
        having = [one for one in open_marks if isinstance(one, Passage)]
        reasons = sorted({one for one in open_marks if isinstance(one, str)} - {"disguised"})
        inner = safe(piece)
        if "disguised" in open_marks:
            inner = f'<span class="disguised">{inner}</span>'
        if having:
            live = [one for one in having if not one.off] or having
            first = min(live, key=lambda one: (one.number, one.fragment.a))
            ids = " ".join(one.id for one in having)
            tag = ""
            if first.id not in begun:
                begun.add(first.id)
                tag = f'<span class="n c{first.colour}">{first.number}</span>'
                ident = f' id="f-{escape(first.id)}"'
            else:
                ident = ' tabindex="-1"'
            kind = words.kind(first.fragment.kind)
            classes = "mk off" if first.off else "mk out" if reasons else f"mk c{first.colour}"
            title = words("report.passage_title", number=first.number, kind=kind)
            inner = (
                f'<a class="{classes}"{ident} href="{address}?fragment={escape(first.id)}" data-f="{escape(ids)}" '
                f'title="{escape(title)}">{tag}{inner}</a>'
            )
        elif reasons:
            why = ", ".join(words.left_out(one) for one in reasons)
            inner = f'<span class="mk out" title="{escape(words("report.not_counted_why", why=why))}">{inner}</span>'
        out.append(inner)
        size += end - start
        if size > CHUNK and "\n" in piece[-200:]:
            out.append('</div><div class="chunk">')
            size = 0
    out.append("</div>")
    return mark_safe("".join(out))


def _pieces(length: int, marks: Iterable[tuple[int, int, Any]]) -> Iterable[tuple[int, int, list[Any]]]:
    """Runs of characters under the same marks. Long unmarked runs are cut at line ends, so that chunks stay small."""
    opens: dict[int, list[Any]] = {}
    closes: dict[int, list[Any]] = {}
    edges = {0, length, *range(CHUNK, length, CHUNK)}
    for first, last, what in marks:
        start, end = max(0, first), min(length, last)
        if start < end:
            opens.setdefault(start, []).append(what)
            closes.setdefault(end, []).append(what)
            edges |= {start, end}
    under: list[Any] = []
    for start, end in itertools.pairwise(sorted(edges)):
        for what in closes.get(start, ()):
            under.remove(what)
        under += opens.get(start, ())
        yield start, end, under


def strip(report: Report, sources: Sequence[ShownSource]) -> list[dict[str, Any]]:
    """Rectangles of the map of the whole document."""
    length = max(1, len(report.text))
    out = []
    for source in sources:
        for one in source.passages:
            if not one.off:
                start, end = one.fragment.a
                out.append(
                    {
                        "x": round(STRIP * start / length, 1),
                        "width": round(max(1.5, STRIP * (end - start) / length), 1),
                        "colour": source.colour,
                        "id": one.id,
                    }
                )
    return out


def beside(report: Report, passage: Passage) -> dict[str, Any]:
    """The passage in the work and in its source, with the words that differ marked, and the source around it."""
    fragment = passage.fragment
    mine = report.text[fragment.a.start : fragment.a.end]
    around, theirs = "", ""
    before = after = ""
    for start, piece in report.excerpts.get(passage.source.id, ()):
        if start <= fragment.b.start and fragment.b.end <= start + len(piece):
            theirs = piece[fragment.b.start - start : fragment.b.end - start]
            before, after = piece[: fragment.b.start - start], piece[fragment.b.end - start :]
            around = piece
            break
    left, right = differences(mine, theirs) if theirs else (safe(mine), "")
    return {
        "mine": mark_safe(left),
        "theirs": mark_safe(right),
        "before": _tail(before),
        "after": after[:1_500],
        "there": bool(around),
    }


def _tail(text: str) -> str:
    return text[-1_500:]


def differences(mine: str, theirs: str) -> tuple[str, str]:
    """Both texts as safe HTML, words that are not in the other marked."""
    a, b = list(_WORDS.finditer(mine)), list(_WORDS.finditer(theirs))
    codes = Levenshtein.opcodes([m.group().lower() for m in a], [m.group().lower() for m in b])
    changed_a: set[int] = set()
    changed_b: set[int] = set()
    for code in codes:
        if code.tag != "equal":
            changed_a |= set(range(code.src_start, code.src_end))
            changed_b |= set(range(code.dest_start, code.dest_end))
    return _marked(mine, a, changed_a, "ins"), _marked(theirs, b, changed_b, "del")


def _marked(text: str, found: Sequence[re.Match[str]], changed: set[int], tag: str) -> str:
    out, last = [], 0
    for place, match in enumerate(found):
        if place in changed:
            out.append(safe(text[last : match.start()]))
            out.append(f"<{tag}>{safe(match.group())}</{tag}>")
            last = match.end()
    out.append(safe(text[last:]))
    return "".join(out)


def marked(html: str) -> SafeString:
    """HTML of `differences`, for a template."""
    return mark_safe(html)


def settings_rows(parameters: Mapping[str, Any]) -> list[tuple[str, str]]:
    return [
        (name, ", ".join(map(str, value)) if isinstance(value, list | tuple) else str(value))
        for name, value in parameters.items()
    ]
