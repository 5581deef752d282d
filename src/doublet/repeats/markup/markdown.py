"""Markdown: headings, fenced and indented code, tables, links and inline marks.

The reader is the kernel `mark_markdown`; here its answers become plans.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from doublet import kernels
from doublet.model import Span
from doublet.repeats.markup.plan import Plan, number_headings

_TITLE_MARKS = re.compile(r"\]\([^)]*\)|[*_`\[\]]")


def read_markdown(text: str) -> Plan:
    return read_all_markdown([text])[0]


def read_all_markdown(texts: Sequence[str], threads: int = 1) -> list[Plan]:
    """The plans of several texts, read in so many threads."""
    plans = []
    for text, (masked, headings, code, tables) in zip(
        texts, kernels.mark_markdown(texts, threads), strict=True
    ):
        plan = Plan("markdown", text, text if masked is None else masked)
        if headings:
            plan.headings = number_headings(
                [
                    (Span(start, end), level, _title(text, start, end, begin))
                    for start, end, level, begin in headings
                ]
            )
        if code:
            plan.code = sorted(Span(*span) for span in code)
        if tables:
            plan.tables = [Span(*span) for span in tables]
        plans.append(plan)
    return plans


def _title(text: str, start: int, end: int, begin: int) -> str:
    title = text[begin:end]
    if begin > start:  # behind number signs, which may stand behind the title too
        title = title.rstrip().rstrip("#").strip()
    return _TITLE_MARKS.sub("", title).strip()
