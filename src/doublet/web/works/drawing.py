"""A report as HTML of the service: the text with its passages as links, the strip that maps it, and differences.

The values are those of `doublet.reports.check_view`. Texts of hundreds of pages become safe HTML here in one pass,
instead of in a template. A passage is a link, so that it works without a script; the script then shows the source
beside the text.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from django.utils.safestring import SafeString, mark_safe

from doublet.reports.check_html import stretches
from doublet.reports.check_view import CheckView, Passage, Stretch, ViewPiece
from doublet.reports.page import escape

CHUNK = 6_000  #: characters that a browser lays out together
STRIP = 1_000  #: units of width of the strip


def draw_text(view: CheckView, address: str) -> SafeString:
    """The whole text, passages as links to their sources at *address*, disguised words underlined, parts that are
    left out marked."""
    out = ['<div class="chunk">']
    size = 0
    begun: set[str] = set()
    for piece in view.pieces(every=CHUNK):
        out.append(_piece(piece, view, address, begun))
        size += len(piece.text)
        if size > CHUNK and "\n" in piece.text[-200:]:
            out.append('</div><div class="chunk">')
            size = 0
    out.append("</div>")
    return mark_safe("".join(out))


def _piece(piece: ViewPiece, view: CheckView, address: str, begun: set[str]) -> str:
    words, inner, owner = view.words, escape(piece.text), piece.owner
    before = "".join(
        f'<details class="hid"><summary>{escape(words("check_hidden_here", words=len(text.split())))}</summary>'
        f"<bdi>{escape(text)}</bdi></details>"
        for text in piece.hidden
        if text
    )
    return before + _marked(piece, view, address, begun, inner, owner)


def _marked(
    piece: ViewPiece, view: CheckView, address: str, begun: set[str], inner: str, owner: Passage | None
) -> str:
    words = view.words
    if piece.disguised:
        kinds = ", ".join(words.name("disguise", kind) for kind in piece.disguised)
        inner = f'<span class="disguised" title="{escape(kinds)}">{inner}</span>'
    if owner is None:
        if not piece.left_out:
            return inner
        why = ", ".join(words.name("left_out", kind) for kind in piece.left_out)
        return (
            f'<span class="mk out" title="{escape(words("check_left_out_tag", reason=why))}">{inner}</span>'
        )
    tag, ident = "", ' tabindex="-1"'
    if owner.id not in begun:
        begun.add(owner.id)
        tag = f'<span class="n c{owner.colour}">{owner.number}</span>'
        ident = f' id="f-{escape(owner.id)}"'
    classes = "mk off" if owner.off else "mk out" if piece.left_out else f"mk c{owner.colour}"
    ids = " ".join(one.id for one in piece.passages)
    return (
        f'<a class="{classes}"{ident} href="{address}?fragment={escape(owner.id)}" data-f="{escape(ids)}" '
        f'title="{escape(owner.label)}">{tag}{inner}</a>'
    )


def strip(view: CheckView) -> list[dict[str, Any]]:
    """Rectangles of the map of the whole document."""
    length = max(1, len(view.text))
    return [
        {
            "x": round(STRIP * one.fragment.a.start / length, 1),
            "width": round(max(1.5, STRIP * (one.fragment.a.end - one.fragment.a.start) / length), 1),
            "colour": one.colour,
            "id": one.id,
        }
        for one in view.passages
        if not one.off
    ]


def beside(view: CheckView, passage: Passage) -> dict[str, Any]:
    """The passage in the work and in its source, with the words that differ marked, and the source around it."""
    both = view.beside(passage)
    return {
        "here": marked(both.here, "ins"),
        "there": marked(both.there, "del"),
        "before": mark_safe(escape(both.before)),
        "after": mark_safe(escape(both.after)),
        "equal": both.equal,
    }


def marked(some: Iterable[Stretch], tag: str) -> SafeString:
    """A passage with the words that differ inside elements *tag*."""
    return mark_safe(stretches(some, tag))
