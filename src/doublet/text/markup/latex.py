"""LaTeX: sections, verbatim and listings, tables, comments, formulas and commands. Arguments stay as text."""

from __future__ import annotations

import re

from doublet.model import Span
from doublet.text.markup.marked import MarkedText, Painter, number_headings

_LEVELS = {"part": 0, "chapter": 1, "section": 2, "subsection": 3, "subsubsection": 4, "paragraph": 5}
_CODE = "verbatim|Verbatim|lstlisting|minted|alltt|comment"
_TABLE = frozenset(["tabular", "tabularx", "longtable", "tabular*", "table", "table*"])
_NAMES_ONLY = frozenset(
    "label ref eqref pageref cite citep citet autoref cref input include includegraphics usepackage documentclass "
    "bibliography bibliographystyle newcommand renewcommand setcounter vspace hspace index url".split()
)
_MARKUP = re.compile(
    rf"\\begin\{{(?P<code>(?:{_CODE})\*?)\}}(?P<body>.*?)(?:\\end\{{(?P=code)\}}|\Z)"
    r"|(?<!\\)%[^\n]*"
    r"|\\(?P<edge>begin|end)\{(?P<environment>[^{}\n]*)\}(?:\[[^\]\n]*\])?"
    r"|\\(?P<level>part|chapter|section|subsection|subsubsection|paragraph)\*?(?:\[[^\]\n]*\])?\{(?P<title>[^{}]*(?:\{[^{}]*\}[^{}]*)*)\}"
    r"|\$\$.{0,5000}?\$\$|\\\[(?:[^\\]|\\[^\[\]])*\\\]|(?<!\\)\$[^$\n]*\$"
    r"|\\(?P<command>[A-Za-z@]+)\*?(?:\[[^\]\n]*\])?(?P<argument>\{[^{}\n]*\})?"
    r"|\\[^A-Za-z@\s]|\\\\|[{}~&]",
    re.DOTALL,
)


def read_latex(text: str) -> MarkedText:
    paint = Painter(text)
    marked = MarkedText("latex", text, text)
    headings: list[tuple[Span, int, str]] = []
    tables: list[int] = []
    for match in _MARKUP.finditer(text):
        start, end = match.span()
        if match["code"]:
            marked.code.append(Span(match.start("body"), match.end("body")))
            paint.blank(start, match.start("body"), border=True)
            paint.blank(match.end("body"), end, border=True)
        elif match["level"]:
            paint.blank(start, match.start("title"), border=True)
            paint.blank(match.end("title"), end, border=True)
            title = re.sub(r"\\[A-Za-z]+|[{}]", "", match["title"])
            headings.append((Span(start, end), _LEVELS[match["level"]], title))
        elif match["edge"]:
            paint.blank(start, end, border=True)
            if match["environment"] in _TABLE:
                if match["edge"] == "begin":
                    tables.append(end)
                elif tables:
                    begun = tables.pop()
                    if not tables:
                        marked.tables.append(Span(begun, start))
        elif match["command"]:
            whole = match["command"] in _NAMES_ONLY or match["argument"] is None
            border = match["command"] in ("item", "par")
            paint.blank(start, end if whole else match.start("argument") + 1, border=border)
            if not whole:
                paint.blank(end - 1, end)
        else:
            paint.blank(start, end)
    marked.masked = paint.masked()
    marked.headings = number_headings(headings)
    return marked
