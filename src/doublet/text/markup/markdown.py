"""Markdown: headings, fenced and indented code, tables, links and inline marks.

The reader is the kernel `mark_markdown`; here its answers become marked_texts.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from doublet import kernels
from doublet.model import Span
from doublet.text.markup.marked import MarkedText, number_headings

_TITLE_MARKS = re.compile(r"\]\([^)]*\)|[*_`\[\]]")


def read_markdown(text: str) -> MarkedText:
    return read_all_markdown([text])[0]


def read_all_markdown(texts: Sequence[str], threads: int = 1) -> list[MarkedText]:
    """The marked_texts of several texts, read in so many threads."""
    marked_texts = []
    for text, (masked, headings, code, tables) in zip(
        texts, kernels.mark_markdown(texts, threads), strict=True
    ):
        marked = MarkedText("markdown", text, text if masked is None else masked)
        if headings:
            marked.headings = number_headings(
                [
                    (Span(start, end), level, _title(text, start, end, begin))
                    for start, end, level, begin in headings
                ]
            )
        if code:
            marked.code = sorted(Span(*span) for span in code)
        if tables:
            marked.tables = [Span(*span) for span in tables]
        marked_texts.append(marked)
    return marked_texts


def _title(text: str, start: int, end: int, begin: int) -> str:
    title = text[begin:end]
    if begin > start:  # behind number signs, which may stand behind the title too
        title = title.rstrip().rstrip("#").strip()
    return _TITLE_MARKS.sub("", title).strip()
