"""Comments in a source that take text out of the search: ``<!-- doublet-ignore -->`` and its relatives.

``doublet-ignore`` takes out the paragraph or element behind it (up to the next empty line), ``doublet-ignore-start``
everything up to ``doublet-ignore-end`` or the end of the file, ``doublet-ignore-file`` the whole file. They count in
comments of HTML, XML and Markdown, of reStructuredText, LaTeX, AsciiDoc and MDX.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from doublet.model import Span

WORD = "doublet-ignore"
_COMMENT = re.compile(
    rf"""<!--[ \t]*{WORD}(?P<xml>-start|-end|-file)?[ \t]*-->
    |\{{/\*[ \t]*{WORD}(?P<mdx>-start|-end|-file)?[ \t]*\*/\}}
    |^\[//\]:[ \t]\#[ \t]\({WORD}(?P<link>-start|-end|-file)?\)[ \t]*$
    |^[ \t]*(?:\.\.|%+|//)[ \t]+{WORD}(?P<line>-start|-end|-file)?[ \t]*$""",
    re.M | re.X,
)
_EMPTY_LINE = re.compile(r"\n[ \t]*(?=\n)")


def ignored_spans(text: str) -> list[Span]:
    """What comments in *text* take out of the search, in order."""
    return list(_spans(text)) if WORD in text else []


def _spans(text: str) -> Iterator[Span]:
    begin = -1  # of an open stretch
    for match in _COMMENT.finditer(text):
        what = next(filter(None, match.groupdict().values()), "")
        if what == "-file":
            yield Span(0, len(text))
        elif what == "-start":
            begin = match.start() if begin < 0 else begin
        elif what == "-end":
            if begin >= 0:
                yield Span(begin, match.end())
            begin = -1
        elif begin < 0:
            at = match.end()
            while at < len(text) and text[at].isspace():
                at += 1
            end = _EMPTY_LINE.search(text, at)
            yield Span(match.start(), end.start() if end else len(text))
    if begin >= 0:
        yield Span(begin, len(text))
