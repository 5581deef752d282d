"""LaTeX source: the words without the commands.

The preamble and comments are dropped, a footnote follows its paragraph, commands give way to the words in their
arguments, labels and references to nothing. Formulas keep their letters and numbers. No other file is ever read: what
``\\input`` names is not part of this text, and that is noted.
"""

from __future__ import annotations

import re
import unicodedata

from doublet.text.encoding import decode_page
from doublet.text.formats.protocol import Builder, Hints, Reading

_COMMENT = re.compile(r"(?<!\\)((?:\\\\)*)%[^\n]*(?:\n[ \t]*(?=\S))?")
_VERBATIM = re.compile(r"\\begin\{(verbatim\*?|lstlisting|minted|Verbatim|alltt)\}(.*?)\\end\{\1\}", re.S)
_INLINE_VERBATIM = re.compile(r"\\(?:verb|lstinline)\*?([^A-Za-z\s*{])(.*?)\1")
_BEGIN = re.compile(r"\\begin\s*\{document\}")
_END = re.compile(r"\\end\s*\{document\}")
_COMMAND = re.compile(r"\\([A-Za-z@]+)\*?|\\(.)", re.S)
_OPTION = re.compile(r"\s*\[[^\[\]]*\]")

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
_LIGATURES = (("---", "—"), ("--", "–"), ("``", "“"), ("''", "”"), ("<<", "«"), (">>", "»"))
_SHORTHANDS = {
    '"=': "-",
    '"~': "-",
    '"-': "",
    '""': "",
    '"|': "",
    '"`': "„",
    "\"'": "“",
    '"<': "«",
    '">': "»",
}
_SHORTHAND = re.compile(r"\"---|\"--[~*]|\"[=~\-\"|`'<>]")
_BREAK = "\x02"  # a block ends
_HEAD = "\x03"  # and this one is a heading
_DEPTH = 200


class _Reader:
    def __init__(self, text: str) -> None:
        self.text = text
        self.notes: list[str] = []
        self.inputs = 0
        self.depth = 0

    def words(self, start: int, end: int) -> str:
        """What readers see of text[start:end]. Line ends stay, so that places stay true."""
        out: list[str] = []
        text, at = self.text, start
        self.depth += 1
        if self.depth > _DEPTH:
            self.depth -= 1
            return ""
        while at < end:
            character = text[at]
            if character == "\\":
                at = self._command(at, end, out)
            elif character in "{}$":
                at += 1
            elif character == "~":
                short = bool(out) and out[-1].endswith('"')  # the hyphen "~ of the Russian style
                if short:
                    out[-1] = out[-1][:-1]
                out.append("-" if short else "\u00a0")
                at += 1
            elif character == "&":
                out.append("\t")
                at += 1
            else:
                stop = at + 1
                while stop < end and text[stop] not in "\\{}$~&":
                    stop += 1
                out.append(_typeset(text[at:stop]))
                at = stop
        self.depth -= 1
        return "".join(out)

    def _command(self, at: int, end: int, out: list[str]) -> int:
        found = _COMMAND.match(self.text, at)
        if found is None:
            return at + 1
        at = found.end()
        name = found.group(1)
        if name is None:
            return self._symbol(found.group(2), at, end, out)
        if name in ("begin", "end"):
            return self._environment(name, at, end, out)
        if name in _CHARACTERS:
            out.append(_CHARACTERS[name])
            return self._after_name(at, end)
        if len(name) == 1 and name in _ACCENTS:
            return self._accent(name, at, end, out)
        if name in _NOTES:
            at = self._options(at, end)
            inner = self._argument(at, end)
            if inner:
                out.append(f"\x01{len(self.notes)}\x01" + "\n" * self.text.count("\n", at, inner[2]))
                self.notes.append("")  # the place is taken before notes inside the note
                index = len(self.notes) - 1
                self.notes[index] = self.words(inner[0], inner[1])
                return inner[2]
            return at
        if name in ("input", "include"):
            self.inputs += 1
        if name in _SILENT:
            return self._silent(name, at, end, out)
        if name in _BLOCKS:
            out.append(_BREAK)
            at = self._options(at, end)
            inner = self._argument(at, end) if name not in ("item", "par") else None
            if inner and inner[0] > 0:
                mark = _HEAD if name in _HEADINGS else ""
                out.append(mark + self.words(inner[0], inner[1]) + _BREAK)
                return inner[2]
            return self._after_name(at, end)
        if name == "verbatimkept":
            inner = self._argument(at, end)
            if inner:
                out.append(self.text[inner[0] : inner[1]])
                return inner[2]
        return self._options(self._after_name(at, end), end)

    def _symbol(self, symbol: str, at: int, end: int, out: list[str]) -> int:
        if symbol in _ACCENTS and symbol not in ".":
            return self._accent(symbol, at, end, out)
        if symbol == "\\":
            out.append("\n")
            return self._options(at, end)
        if symbol in "[]()":
            out.append(" ")
        elif symbol in "%&_#${}":
            out.append(symbol)
        elif symbol in " ,;:!/\n~":
            out.append(" " if symbol in " \n~;:" else "" if symbol in "/!" else "\u2009")
        return at

    def _accent(self, accent: str, at: int, end: int, out: list[str]) -> int:
        while at < end and self.text[at] in " \t":
            at += 1
        inner = self._argument(at, end)
        if inner:
            base, after = self.words(inner[0], inner[1]), inner[2]
        elif at < end and self.text[at] == "\\":
            held: list[str] = []
            after = self._command(at, end, held)
            base = "".join(held)
        else:
            base, after = self.text[at : at + 1], at + 1
        base = {"ı": "i", "ȷ": "j"}.get(base, base)
        out.append(unicodedata.normalize("NFC", base[:1] + _ACCENTS[accent]) + base[1:] if base else "")
        return after

    def _environment(self, command: str, at: int, end: int, out: list[str]) -> int:
        inner = self._argument(at, end)
        if not inner:
            return at
        name = self.text[inner[0] : inner[1]].strip("* ")
        out.append(_BREAK if name not in ("math",) else " ")
        at = inner[2]
        if command == "begin":
            at = self._options(at, end)
            count = {"tabular": 1, "tabularx": 2, "longtable": 1, "array": 1, "minipage": 1, "thebibliography": 1,
                     "multicols": 1, "wrapfigure": 2, "supertabular": 1, "tabulary": 2}.get(name, 0)  # fmt: skip
            for _ in range(count):
                found = self._argument(self._options(at, end), end)
                if found:
                    at = found[2]
        return at

    def _silent(self, name: str, at: int, end: int, out: list[str]) -> int:
        shown = None
        for _ in range(_SILENT[name]):
            found = self._argument(self._options(at, end), end)
            if not found:
                # \newcommand\name{…}: the name comes without braces
                bare = re.compile(r"\s*\\[A-Za-z@]+").match(self.text, at)
                if not bare or bare.end() > end:
                    break
                at = bare.end()
                continue
            shown, at = found, found[2]
        if name in _LAST_SHOWN and shown:
            out.append(self.words(shown[0], shown[1]))
        elif name == "bibitem":
            out.append(_BREAK)
        return at

    def _after_name(self, at: int, end: int) -> int:
        """A blank after the name of a command only ends the name; an empty group ends it too."""
        if self.text.startswith("{}", at) and at + 2 <= end:
            return at + 2
        while at < end and self.text[at] in " \t":
            at += 1
        return at

    def _options(self, at: int, end: int) -> int:
        while (found := _OPTION.match(self.text, at)) and found.end() <= end and "\n\n" not in found.group():
            at = found.end()
        return at

    def _argument(self, at: int, end: int) -> tuple[int, int, int] | None:
        """Start and end of what stands in the braces at *at*, and where they end."""
        while at < end and self.text[at].isspace():
            at += 1
        if at >= end or self.text[at] != "{":
            return None
        depth, place = 0, at
        while place < end:
            character = self.text[place]
            if character == "\\":
                place += 2
                continue
            depth += (character == "{") - (character == "}")
            place += 1
            if not depth:
                return at + 1, place - 1, place
        return at + 1, end, end


def read(data: bytes, hints: Hints) -> Reading:
    text, encoding = decode_page(data, header=hints.charset, markup=False)
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    kept: list[str] = []

    def keep(words: str) -> str:
        kept.append(words)
        return f"\\verbatimkept{{\x00{len(kept) - 1}\x00}}" + "\n" * words.count("\n")

    text = _VERBATIM.sub(lambda found: f"\n\n{keep(found.group(2).strip())}\n\n", text)
    text = _INLINE_VERBATIM.sub(lambda found: keep(found.group(2)), text)
    text = _COMMENT.sub(lambda found: found.group(1) + "\n" * found.group().count("\n"), text)
    begin, finish = _BEGIN.search(text), _END.search(text)
    start = begin.end() if begin else 0
    stop = finish.start() if finish and finish.start() >= start else len(text)
    reader = _Reader(text)
    title = _title(reader, start)
    words = title + "\n" * (text.count("\n", 0, start) - title.count("\n")) + reader.words(start, stop)
    build = Builder(hints.characters)
    build.offer_title(_named(text))
    _blocks(build, words, reader.notes, kept)
    if reader.inputs:
        build.note("inputs_not_read")
    return build.done(encoding)


def _named(text: str) -> str:
    """What \\title says, wherever it stands and whether the body shows it or not."""
    found = re.search(r"\\title\s*(?:\[[^\]]*\])?\s*(?=\{)", text)
    if not found:
        return ""
    reader = _Reader(text)
    inner = reader._argument(found.end(), min(len(text), found.end() + 4_000))
    words = reader.words(inner[0], inner[1]) if inner else ""
    return re.sub("\x01\\d+\x01|\x00\\d+\x00", "", words.replace(_BREAK, " ").replace(_HEAD, ""))


def _title(reader: _Reader, start: int) -> str:
    """The title that the preamble sets, when the body shows it."""
    if start == 0 or "\\maketitle" not in reader.text:
        return ""
    out = []
    for name in ("title", "author", "date"):
        found = re.search(rf"\\{name}\s*(?:\[[^\]]*\])?\s*(?=\{{)", reader.text[:start])
        inner = reader._argument(found.end(), start) if found else None
        if inner:
            out.append(reader.words(inner[0], inner[1]) + _BREAK)
    return "".join(out)


def _blocks(build: Builder, words: str, notes: list[str], kept: list[str]) -> None:
    number, line = 0, 1

    def restored(text: str) -> str:
        text = re.sub(f"[{_BREAK}{_HEAD}]", " ", text)
        return re.sub("\x00(\\d+)\x00", lambda found: kept[int(found.group(1))], text)

    def add_notes(text: str) -> None:
        for found in re.findall("\x01(\\d+)\x01", text):
            note = notes[int(found)]
            build.add(_even(restored(re.sub("\x01\\d+\x01", "", note))), line=line, element="footnote")
            add_notes(note)

    for block in re.split(rf"({_BREAK}|\n[ \t]*\n)", words):
        lead = len(block) - len(block.lstrip())
        begins = line + block.count("\n", 0, lead)
        bare = re.sub("\x01\\d+\x01", "", block)
        heading = _HEAD in bare
        text = restored(bare.replace(_HEAD, ""))
        if text.strip():
            number += 1
            literal = "\x00" in bare
            build.add(
                text if literal else _even(text),
                paragraph=number,
                line=begins,
                element="heading" if heading else "",
            )
        add_notes(block)
        line += block.count("\n")


def _even(text: str) -> str:
    return "\n".join(" ".join(line.split(" ")).strip() for line in text.split("\n"))


def _typeset(text: str) -> str:
    """Quotation marks, dashes and the shorthands of the Russian style."""
    text = _SHORTHAND.sub(lambda f: "—" if "--" in f.group() else _SHORTHANDS.get(f.group(), ""), text)
    for source, sign in _LIGATURES:
        text = text.replace(source, sign)
    return text
