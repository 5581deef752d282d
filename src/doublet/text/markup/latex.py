"""LaTeX: sections, environments, commands with their arguments, notes, formulas, tables and verbatim text.

The preamble and comments are dropped, a footnote follows its paragraph, commands give way to the words in their
arguments, labels and references to nothing. Formulas keep their letters and numbers. No other file is ever read: what
``\\input`` names is not part of the text. One pass from left to right, in linear time; what is not understood stays as
text.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_right
from typing import NamedTuple

from doublet.model import Span
from doublet.text.markup.marked import Block, MarkedText, Piece, Structure

_VERBATIM = frozenset("verbatim verbatim* Verbatim lstlisting minted alltt comment".split())
_CODE_NAME = re.compile(
    r"code|listing"
)  #: environments of packages and of manuals themselves: codeexample, tcblisting
_VERBATIM_START = re.compile(
    r"%[^\n]*|\\begin\{([A-Za-z]+\*?)\}|\\(?:verb|lstinline)\*?([^A-Za-z\s*{])|\\.", re.S
)
_VERB_CHARACTERS = 1_000  # of one \\verb
_FORMULA_CHARACTERS = 5_000
_BRACE = re.compile(r"\\.|%[^\n]*|[{}]", re.S)
_BEGIN = re.compile(r"\\begin\s*\{document\}")
_END = re.compile(r"\\end\s*\{document\}")
_COMMAND = re.compile(r"\\([A-Za-z@]+)\*?|\\(.)", re.S)
_BARE_NAME = re.compile(r"\s*\\[A-Za-z@]+")
_OPTION = re.compile(r"\s*\[[^\[\]]*\]")
_WORDS = re.compile(r"[^\\{}$~&%\n\"\-`'<>]+")
_PARAGRAPH = re.compile(r"\n[ \t\r]*\n\s*")
_LIGATURE = re.compile(r"\"---|\"--[~*]|\"[=~\-\"|`'<>]|---|--|``|''|<<|>>")

# Commands whose arguments are not words, with how many of them there are.
_SILENT = {
    **dict.fromkeys(
        "label ref eqref pageref autoref cref Cref nameref cite citep citet citeauthor citeyear parencite "
        "textcite autocite footcite nocite includegraphics input include bibliography bibliographystyle "
        "vspace hspace pagestyle thispagestyle usepackage documentclass hypersetup setcounter@ url pagenumbering "
        "selectlanguage color definecolor@ graphicspath geometry index addbibresource printbibliography "
        "bibitem foreignlanguage@ fontsize@ linespread setmainfont setsansfont setmonofont setdefaultlanguage "
        "setotherlanguage newpage lstset theoremstyle rowcolor cellcolor cline cmidrule hyphenation "
        "phantomsection tag".split(),
        1,
    ),
    **dict.fromkeys(
        "newcommand renewcommand providecommand setlength addtolength setcounter addtocounter href fontsize "
        "newtheorem definecolor DeclareMathOperator addcontentsline foreignlanguage textcolor colorbox rule "
        "titleformat raisebox hypertarget".split(),
        2,
    ),
    **dict.fromkeys("newenvironment renewenvironment multicolumn multirow titlespacing".split(), 3),
}
# Of these only the last argument is for readers.
_LAST_SHOWN = frozenset(
    "href foreignlanguage textcolor colorbox multicolumn multirow hypertarget raisebox".split()
)
_BLOCKS = frozenset(
    "part chapter section subsection subsubsection paragraph subparagraph caption title author date item "
    "par newpage clearpage maketitle tableofcontents".split()
)
_HEADINGS = frozenset("part chapter section subsection subsubsection title".split())
_NOTES = frozenset({"footnote", "thanks", "footnotetext", "endnote", "marginpar"})
_CHARACTERS = {
    "ldots": "…", "dots": "…", "textellipsis": "…", "textemdash": "—", "textendash": "–", "textbackslash": "\\",
    "textasciitilde": "~", "textquotedblleft": "“", "textquotedblright": "”", "textquoteleft": "‘",
    "textquoteright": "’", "guillemotleft": "«", "guillemotright": "»", "glqq": "„", "grqq": "“", "flqq": "«",
    "frqq": "»", "No": "№", "textnumero": "№", "S": "§", "copyright": "©", "ss": "ß", "o": "ø", "O": "Ø",
    "l": "ł", "L": "Ł", "ae": "æ", "AE": "Æ", "oe": "œ", "OE": "Œ", "aa": "å", "AA": "Å", "i": "ı", "j": "ȷ",
    "quad": " ", "qquad": " ", "newline": "\n", "linebreak": "\n", "textasciicircum": "^", "textbar": "|",
    "textless": "<", "textgreater": ">", "textquotesingle": "'", "textasciigrave": "`", "textdegree": "°",
    "TeX": "TeX", "LaTeX": "LaTeX", "cyrdash": "—", "cdash": "—", "textbullet": "•", "euro": "€",
    "allowbreak": "", "slash": "/", "textunderscore": "_", "textdollar": "$", "textsection": "§",
}  # fmt: skip
_ACCENTS = {
    "`": "\u0300", "'": "\u0301", "^": "\u0302", "~": "\u0303", "=": "\u0304", "u": "\u0306", ".": "\u0307",
    '"': "\u0308", "r": "\u030a", "H": "\u030b", "v": "\u030c", "c": "\u0327", "k": "\u0328", "d": "\u0323",
    "b": "\u0331",
}  # fmt: skip
_TYPESET = {
    "---": "—", "--": "–", "``": "“", "''": "”", "<<": "«", ">>": "»", '"=': "-", '"~': "-", '"-': "", '""': "",
    '"|': "", '"`': "„", "\"'": "“", '"<': "«", '">': "»",
}  # fmt: skip
_LEVELS = {"part": 0, "chapter": 1, "section": 2, "subsection": 3, "subsubsection": 4, "paragraph": 5}
_TABLES = frozenset("tabular tabular* tabularx longtable table table*".split())
_ARGUMENTS = {
    "tabular": 1, "tabular*": 2, "tabularx": 2, "longtable": 1, "array": 1, "minipage": 1, "thebibliography": 1,
    "multicols": 1, "wrapfigure": 2, "supertabular": 1, "tabulary": 2,
}  # fmt: skip


class _Argument(NamedTuple):
    start: int
    end: int
    after: int


class _Outside(NamedTuple):
    """The paragraph around a note that is open."""

    pieces: list[Piece]
    element: str
    note: Block


class _Verbatim(NamedTuple):
    start: int  #: of the command
    body: Span
    end: int
    name: str  #: of the environment; empty for \\verb


def read_latex(text: str) -> MarkedText:
    return read_structure(text).marked("latex", text)


def read_structure(text: str) -> Structure:
    reader = _Reader(text)
    begin = next((found for found in _BEGIN.finditer(text) if not reader.is_verbatim(found.start())), None)
    start = begin.end() if begin else 0
    finish = next(
        (found for found in _END.finditer(text, start) if not reader.is_verbatim(found.start())), None
    )
    reader.read_title()
    for argument in reader.shown_title(start):
        reader.read_between(argument.start, argument.end)
    reader.read_between(start, finish.start() if finish else len(text))
    return reader.found


class _Reader:
    def __init__(self, text: str) -> None:
        self.text = text
        self.found = Structure()
        self._verbatims = _verbatims(text)
        self._starts = [one.start for one in self._verbatims]
        self._closing = self._braces()
        self._pieces: list[Piece] = []
        self._element = ""
        self._notes: list[Block] = []  # that follow the paragraph
        self._open: list[tuple[int, str, int]] = []  # what ends where: heading, block, note; where it began
        self._outside: list[_Outside] = []  # around the notes that are open
        self._next: dict[str, int] = {}  # where the marks that end formulas come next
        self._quiet_until = -1
        self._accent: tuple[int, str] | None = None
        self._tables: list[int] = []

    def is_verbatim(self, at: int) -> bool:
        number = bisect_right(self._starts, at) - 1
        return number >= 0 and at < self._verbatims[number].end

    def _braces(self) -> dict[int, int]:
        """Opening brace → its closing one."""
        closing: dict[int, int] = {}
        stack: list[int] = []
        verbatims = iter([*self._verbatims, _Verbatim(len(self.text), Span(0, 0), len(self.text), "")])
        at, one = 0, next(verbatims)
        while True:
            for found in _BRACE.finditer(self.text, at, one.start):
                if found[0] == "{":
                    stack.append(found.start())
                elif found[0] == "}" and stack:
                    closing[stack.pop()] = found.start()
            if one.start >= len(self.text):
                return closing
            at, one = one.end, next(verbatims)

    def argument(self, at: int, end: int) -> _Argument | None:
        """What stands in the braces at *at*."""
        while at < end and self.text[at].isspace():
            at += 1
        if at >= end or self.text[at] != "{":
            return None
        close = self._closing.get(at, end)
        return _Argument(at + 1, min(close, end), min(close + 1, end))

    def argument_of(self, name: str, start: int, end: int) -> _Argument | None:
        found = re.compile(rf"\\{name}\s*(?:\[[^\[\]]*\]\s*)?(?=\{{)").search(self.text, start, end)
        return self.argument(found.end(), end) if found else None

    def read_title(self) -> None:
        """What \\title says, wherever it stands and whether the body shows it or not."""
        argument = self.argument_of("title", 0, len(self.text))
        if argument is not None:
            self.read_between(argument.start, argument.end)
            words = [block.text(self.text) for block in self.found.blocks if block.element != "footnote"]
            self.found = Structure(title=" ".join(words))

    def shown_title(self, start: int) -> list[_Argument]:
        """The title that the preamble sets, when the body shows it."""
        if start == 0 or "\\maketitle" not in self.text:
            return []
        found = (self.argument_of(name, 0, start) for name in ("title", "author", "date"))
        return [argument for argument in found if argument]

    def read_between(self, start: int, end: int) -> None:
        """What readers see of text[start:end]."""
        text, at = self.text, start
        number = bisect_right(self._starts, start - 1)
        while at < end:
            while self._open and at >= self._open[-1][0]:
                self._close()
            limit = min(end, self._open[-1][0]) if self._open else end
            if found := _WORDS.match(text, at, limit):
                self._emit(at, found.end())
                at = found.end()
                continue
            character = text[at]
            if character in "\\%":
                while number < len(self._verbatims) and self._verbatims[number].start < at:
                    number += 1
                if number < len(self._verbatims) and self._verbatims[number].start == at:
                    at = self._verbatim(self._verbatims[number])
                elif character == "%":
                    newline = text.find("\n", at, limit)
                    at = newline if newline >= 0 else limit
                else:
                    at = self._command(at, limit)
            elif character in "{}":
                at += 1
            elif character == "$":
                at = self._dollar(at, limit)
            elif character == "~":
                self._emit(at, at + 1, "\u00a0")
                at += 1
            elif character == "&":
                self._emit(at, at + 1, "\t")
                at += 1
            elif character == "\n":
                at = self._line_end(at, limit)
            elif found := _LIGATURE.match(text, at, limit):
                self._emit(
                    at, found.end(), "—" if "--" in found[0] and found[0] != "--" else _TYPESET[found[0]]
                )
                at = found.end()
            else:
                self._emit(at, at + 1)
                at += 1
        while self._open:
            self._close()
        self._border()

    def _line_end(self, at: int, limit: int) -> int:
        found = _PARAGRAPH.match(self.text, at, limit)
        if found is None:
            self._emit(at, at + 1)
            return at + 1
        self._border()
        return found.end()

    def _emit(self, start: int, end: int, shown: str | None = None) -> None:
        if self._accent is not None and (shown is None or shown.strip()):
            start, end = self._accented(start, end, shown)
            if start == end:
                return
            shown = None
        quiet = start < self._quiet_until
        last = self._pieces[-1] if self._pieces and shown is None else None
        if last and last.shown is None and last.end == start and last.quiet == quiet:
            self._pieces[-1] = Piece(last.start, end, None, quiet)
        else:
            self._pieces.append(Piece(start, end, shown, quiet))

    def _accented(self, start: int, end: int, shown: str | None) -> tuple[int, int]:
        """Put the accent on the first character of what comes, and say what is left of that."""
        assert self._accent is not None
        (begin, accent), self._accent = self._accent, None
        base = self.text[start] if shown is None else shown
        base = {"ı": "i", "ȷ": "j"}.get(base, base)
        after = start + 1 if shown is None else end
        combined = unicodedata.normalize("NFC", base[:1] + accent) + base[1:] if base.strip() else base
        self._pieces.append(Piece(begin, after, combined, begin < self._quiet_until))
        return after, end

    def _border(self, element: str = "") -> None:
        """A block ends; what comes is an *element*."""
        if any(piece.shown is None or piece.shown for piece in self._pieces):
            if self._outside:
                self._outside[-1].note.pieces += [*self._pieces, Piece(0, 0, "\n")]
            else:
                self.found.blocks.append(Block(self._pieces, self._element))
        self._pieces, self._element, self._accent = [], element, None
        if not self._outside:
            self.found.blocks += [note for note in self._notes if note.pieces]
            self._notes = []

    def _close(self) -> None:
        """The end of a heading, of a block or of a note."""
        end, what, began = self._open.pop()
        if what == "note":
            inside, self._accent = self._pieces, None
            self._pieces, self._element, note = self._outside.pop()
            note.pieces += inside
            return
        if what in _LEVELS and not self._outside:
            title = Block(self._pieces).text(self.text)
            self.found.headings.append((Span(began, min(end + 1, len(self.text))), _LEVELS[what], title))
        self._border()

    def _verbatim(self, one: _Verbatim) -> int:
        if not one.name:
            self._emit(*one.body)
        elif one.name != "comment":
            self._border("code")
            self._emit(*one.body)
            self._border()
            self.found.code.append(one.body)
        return one.end

    def _dollar(self, at: int, limit: int) -> int:
        """A formula ends at the next sign, in its paragraph."""
        size = 2 if self.text.startswith("$$", at) else 1
        if at != self._quiet_until:
            self._formula("$", at, at + size, limit)
        return at + size

    def _formula(self, mark: str, start: int, at: int, limit: int) -> None:
        """What stands between here and the next *mark* is one, unless that is far away."""
        close = self._next.get(mark, 0)
        if 0 <= close < at:
            close = self._next[mark] = self.text.find(mark, at)
        if at <= close < min(limit, at + _FORMULA_CHARACTERS) and "\n\n" not in self.text[start:close]:
            self._quiet_until = close

    def _command(self, at: int, end: int) -> int:
        found = _COMMAND.match(self.text, at, end)
        if found is None:
            return at + 1
        after, name = found.end(), found.group(1)
        if name is None:
            return self._symbol(found.group(2), at, after, end)
        if name in ("begin", "end"):
            return self._environment(name, at, after, end)
        if name in _CHARACTERS:
            self._emit(at, after, _CHARACTERS[name])
            return self._after_name(after, end)
        if len(name) == 1 and name in _ACCENTS:
            self._accent = (at, _ACCENTS[name])
            return self._after_name(after, end)
        if name in ("input", "include"):
            self.found.inputs += 1
        if name in _SILENT:
            return self._silent(name, after, end)
        if name in _NOTES or name in _BLOCKS:
            return self._opened(name, at, self._options(after, end), end)
        return self._options(self._after_name(after, end), end)

    def _opened(self, name: str, began: int, at: int, end: int) -> int:
        """A command whose argument is a block of its own."""
        argument = self.argument(at, end) if name not in ("item", "par") else None
        if name in _NOTES:
            if argument is None:
                return at
            note = Block([], "footnote")
            self._notes.append(note)
            self._outside.append(_Outside(self._pieces, self._element, note))
            self._pieces = []
            self._open.append((argument.end, "note", began))
            return argument.start
        self._border("heading" if name in _HEADINGS and argument else "")
        if argument is None:
            return self._after_name(at, end)
        self._open.append((argument.end, name, began))
        return argument.start

    def _symbol(self, symbol: str, at: int, after: int, end: int) -> int:
        if symbol in _ACCENTS and symbol != ".":
            self._accent = (at, _ACCENTS[symbol])
            return self._after_name(after, end)
        if symbol == "\\":
            self._emit(at, after, "\n")
            return self._options(after, end)
        if symbol in "[(":
            self._formula("\\]" if symbol == "[" else "\\)", at, after, end)
        if symbol in "[]()":
            self._emit(at, after, " ")
        elif symbol in "%&_#${}":
            self._emit(at, after, symbol)
        elif symbol in " ,;:!/\n~":
            self._emit(at, after, " " if symbol in " \n~;:" else "" if symbol in "/!" else "\u2009")
        return after

    def _environment(self, command: str, at: int, after: int, end: int) -> int:
        argument = self.argument(after, end)
        if argument is None:
            return after
        name = self.text[argument.start : min(argument.end, argument.start + 40)].strip()
        if name.strip("* ") != "math":
            self._border()
        after = argument.after
        if name in _TABLES and command == "end" and self._tables:
            began = self._tables.pop()
            if not self._tables:
                self.found.tables.append(Span(began, at))
        if command == "begin":
            after = self._options(after, end)
            for _ in range(_ARGUMENTS.get(name, 0)):
                found = self.argument(self._options(after, end), end)
                after = found.after if found else after
            if name in _TABLES:
                self._tables.append(after)
        return after

    def _silent(self, name: str, at: int, end: int) -> int:
        shown = None
        for _ in range(_SILENT[name]):
            found = self.argument(self._options(at, end), end)
            if found is None:
                bare = _BARE_NAME.match(self.text, at, end)  # \\newcommand\\name{…}: without braces
                if bare is None:
                    break
                at = bare.end()
                continue
            shown, at = found, found.after
        if name in _LAST_SHOWN and shown:
            return shown.start
        if name == "bibitem":
            self._border()
        return at

    def _after_name(self, at: int, end: int) -> int:
        """A blank after the name of a command only ends the name; an empty group ends it too."""
        if self.text.startswith("{}", at) and at + 2 <= end:
            return at + 2
        while at < end and self.text[at] in " \t":
            at += 1
        return at

    def _options(self, at: int, end: int) -> int:
        while (found := _OPTION.match(self.text, at, end)) and "\n\n" not in found.group():
            at = found.end()
        return at


def _verbatims(text: str) -> list[_Verbatim]:
    """Where nothing is markup, in order. An environment that is never closed is none."""
    out: list[_Verbatim] = []
    missing: set[str] = set()
    at = 0
    while found := _VERBATIM_START.search(text, at):
        at = found.end()
        name, mark = found.group(1), found.group(2)
        if mark:
            close = text.find(mark, at, at + _VERB_CHARACTERS)
            if close >= 0 and "\n" not in text[at:close]:
                out.append(_Verbatim(found.start(), Span(at, close), close + 1, ""))
                at = close + 1
        elif name and (name in _VERBATIM or _CODE_NAME.search(name)) and name not in missing:
            closing = f"\\end{{{name}}}"
            close = text.find(closing, at)
            if close < 0:
                missing.add(name)
                continue
            begin = _OPTION.match(text, at, close) if name != "alltt" else None
            body = begin.end() if begin and "\n" not in begin[0] else at
            out.append(_Verbatim(found.start(), Span(body, close), close + len(closing), name))
            at = close + len(closing)
    return out
