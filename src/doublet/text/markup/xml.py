"""DocBook, DITA, other XML and HTML, read tag by tag without building a tree, so broken files are read too."""

from __future__ import annotations

import html
import re
from html.entities import html5

from doublet.model import Span
from doublet.text.markup.marked import MarkedText, Painter, number_headings, running

_MARKUP = re.compile(
    r"<!--.*?(?:-->|\Z)"
    r"|<!\[CDATA\[(?P<data>.*?)(?:\]\]>|\Z)"
    r"|<\?.*?(?:\?>|\Z)"
    r"|<!DOCTYPE[^<>\[]*(?:\[.{0,50000}?\]\s*)?>|<![A-Za-z][^<>]*>"
    r"|<(?P<close>/?)(?P<name>[A-Za-z_][\w:.-]*)(?:[^<>\"']|\"[^\"<]*\"|'[^'<]*'|\"[^\"<\n]{0,300}<[^\"\n]{0,300}\")*>"
    r"|&(?P<entity>#?\w{1,31});",
    re.DOTALL,
)
_INLINE = frozenset(
    # HTML
    "a abbr acronym b bdi bdo big cite code del dfn em font i ins kbd label mark q s samp small span strike strong sub "
    "sup time tt u var wbr nobr "
    # DocBook
    "emphasis link ulink xref quote phrase literal command filename function option parameter varname replaceable "
    "guibutton guiicon guilabel guimenu guimenuitem guisubmenu keycap keycombo keysym menuchoice mousebutton accel "
    "citetitle classname constant email envar errorcode firstterm footnoteref foreignphrase glossterm indexterm "
    "interfacename methodname package productname productnumber prompt property remark returnvalue sgmltag tag "
    "subscript superscript symbol systemitem token trademark type userinput wordasword anchor inlinegraphic "
    "inlinemediaobject application acronym computeroutput database structfield structname uri "
    "abbrev citation citerefentry errorname exceptionname hardware inlineequation keycode manvolnum markup mathphrase "
    "medialabel olink optional orgname refentrytitle shortcut termdef "
    # Of a picture, which stands inside a sentence or has an element around it that does not; words beside it do end it
    "imageobject imagedata videoobject videodata audioobject audiodata "
    # DITA
    "ph codeph apiname cmdname filepath fn keyword msgph parmname term tm uicontrol wintitle menucascade msgnum "
    # Mallard
    "app cmd file gui guiseq input key keyseq output sys".split()
)
_CODE = frozenset(
    "programlisting screen literallayout synopsis cmdsynopsis funcsynopsis classsynopsis codeblock msgblock pre "
    "listing programlistingco screenco screenshot sourcecode xmp".split()
)
_TABLE = frozenset(["table", "informaltable", "simpletable"])
_SKIPPED = frozenset(["script", "style", "indexterm", "template", "credit"])
_SECTIONS = frozenset(
    "set book part chapter appendix preface article section sect1 sect2 sect3 sect4 sect5 simplesect refentry "
    "refsection refsect1 refsect2 refsect3 glossary bibliography topic concept task reference "
    "troubleshooting dita".split()
)
_LABELS = frozenset(["dt", "term", "question"])
# Elements that are whole or not there: in HTML the end of most of them need not be marked.
_HOLDERS = frozenset("ul ol dl menu dir".split())
_WHOLES = {
    **dict.fromkeys("li listitem step callout item varlistentry qandaentry dlentry plentry".split(), "item"),
    **dict.fromkeys("tr row strow".split(), "row"),
    **dict.fromkeys("td th entry stentry".split(), "cell"),
    **dict.fromkeys(_TABLE, "table"),
    **{
        name: name
        for name in "div section article aside nav header footer main figure blockquote fieldset details note tip "
        "caution important warning example informalexample sidebar admonition".split()
    },
    "dt": "term",
    "dd": "body",
}
_ENDED_BY = {
    "item": frozenset(["item"]),
    "row": frozenset(["row", "cell"]),
    "cell": frozenset(["cell"]),
    "term": frozenset(["body"]),
    "body": frozenset(["body"]),
}  #: which open elements end where one begins, if nobody said so before
_TITLES = frozenset(["title", "refname", "h1", "h2", "h3", "h4", "h5", "h6"])
# A page that leads to another one. One that is read anew after some time waits longer than nine seconds.
_REFRESH = re.compile(
    r"<meta\s(?=[^<>]*http-equiv\s*=\s*[\"']?refresh\b)[^<>]*content\s*=\s*[\"']?\s*\d?(?:\.\d*)?\s*[;,]\s*url\s*=",
    re.IGNORECASE,
)
_HEAD = re.compile(
    r"<!--.*?(?:-->|\Z)|<(?P<apart>script|style|noscript)\b.*?(?:</(?P=apart)|\Z)|<(?P<body>body)\b|<meta\s[^<>]*>",
    re.IGNORECASE | re.DOTALL,
)


def read_xml(text: str) -> MarkedText:
    return _read(text, "xml")


def read_html(text: str) -> MarkedText:
    if _sends_on(text):
        return MarkedText("html", text, re.sub(r"[^\n]", " ", text))
    return _read(text, "html")


def _sends_on(text: str) -> bool:
    """Whether a page does nothing but lead to another one, and at once: what it says is there for old browsers."""
    if _REFRESH.search(text) is None:  # nearly always so
        return False
    part = next((part for part in _HEAD.finditer(text) if part["body"] or _REFRESH.match(part[0])), None)
    return part is not None and not part["body"]


def _read(text: str, kind: str) -> MarkedText:
    paint = Painter(text)
    marked = MarkedText(kind, text, text)
    headings: list[tuple[Span, int, str]] = []
    depth = 0
    opened: dict[str, int] = {}  # skipped, code, table: where the outermost open one began
    nested: dict[str, int] = {}
    title_at = link_at = label_at = -1
    parent = ""
    wholes = _Wholes()
    for match in _MARKUP.finditer(text):
        start, end = match.span()
        if match["entity"] is not None:
            letter = html.unescape(match[0])
            if len(letter) == 1 and not letter.isspace():
                paint.put(start, end, letter)
            elif kind == "xml" and match["entity"][0] != "#" and f"{match['entity']};" not in html5:
                # A word that the document has defined elsewhere: "&app;".
                paint.blank(start, start + 1, quiet=True)
                paint.blank(end - 1, end, quiet=True)
                first = text[start + 1].upper()  # it may begin a sentence
                if len(first) == 1:
                    paint.put(start + 1, start + 2, first)
            else:
                paint.blank(start, end)
            continue
        if match["data"] is not None:
            paint.blank(start, match.start("data"))
            paint.blank(match.end("data"), end)
            continue
        if match["name"] is None:
            paint.blank(start, end, border=True)
            continue
        name = match["name"].rpartition(":")[2].lower()
        if name == "br":
            paint.end_line(start, end)
            continue
        paint.blank(start, end, border=name not in _INLINE, quiet=name in _INLINE)
        if match[0].endswith("/>"):
            continue
        if name in _WHOLES or name in _HOLDERS:
            wholes.see(name, start, end, close=bool(match["close"]))
        if name in _SECTIONS:
            depth = max(0, depth + (-1 if match["close"] else 1))
        elif name in _CODE or name in _TABLE or name in _SKIPPED:
            where = "code" if name in _CODE else "table" if name in _TABLE else "skipped"
            count = nested.get(where, 0) + (-1 if match["close"] else 1)
            if count == 1 and not match["close"]:
                opened[where] = end
            elif count <= 0 and where in opened:
                span = Span(opened.pop(where), start)
                if where == "skipped":
                    paint.blank(span.start, span.end)
                else:
                    (marked.code if where == "code" else marked.tables).append(span)
            nested[where] = max(0, count)
        elif name in _TITLES:
            if match["close"]:
                level = int(name[1]) if name[0] == "h" and len(name) == 2 else max(depth, 1)
                if title_at >= 0 and (name[0] == "h" or parent in _SECTIONS or parent.endswith("info")):
                    headings.append((Span(title_at, start), level, _plain(text[title_at:start])))
                elif title_at >= 0 and kind == "html":
                    marked.links.append(
                        Span(title_at, start)
                    )  # the name of the page, as its heading and links have it
                title_at = -1
            else:
                title_at = end
        elif name == "a":
            if link_at >= 0:
                marked.links.append(Span(link_at, start))
            link_at = end if "href" in match[0] else -1
        elif name in _LABELS:
            if match["close"] and label_at >= 0:
                marked.labels.append(Span(label_at, start))
            label_at = -1 if match["close"] else end
        if not match["close"] and name not in _INLINE and name not in _TITLES:
            parent = name
    marked.wholes, marked.cells = wholes.found(len(text))
    marked.code.sort()
    marked.masked = paint.masked(_outside_code(text, marked.code))
    marked.headings = number_headings([row for row in headings if row[2]])
    marked.tables.sort()
    return marked


class _Wholes:
    """Where items, rows, cells and the entries of a list of terms begin and end. A term and what is said of it are one
    entry."""

    def __init__(self) -> None:
        self._open: list[tuple[str, int]] = []
        self._spans: list[Span] = []
        self._cells: list[Span] = []

    def see(self, name: str, start: int, end: int, *, close: bool) -> None:
        """A tag, from *start* to *end*."""
        kind = _WHOLES.get(name, name)
        if close:
            if kind == "term":
                return
            self._close(kind, start)
            return
        while self._open and self._open[-1][0] in _ENDED_BY.get(kind, ()):
            self._end(start)
        if kind == "term":
            if self._open and self._open[-1][0] == "said":
                self._end(start)
            if not self._open or self._open[-1][0] != "entry":
                self._open.append(("entry", end))
            return
        if kind == "body" and self._open and self._open[-1][0] == "entry":
            self._open[-1] = ("said", self._open[-1][1])
        self._open.append((kind, end))

    def _close(self, kind: str, at: int) -> None:
        if self._open and self._open[-1][0] == kind:  # nearly always so
            self._end(at)
            return
        for number in range(len(self._open) - 1, -1, -1):
            if self._open[number][0] == kind:
                while len(self._open) > number:
                    self._end(at)
                return
            if self._open[number][0] in _HOLDERS or self._open[number][0] == "table":
                return  # a stray tag

    def _end(self, at: int) -> None:
        kind, start = self._open.pop()
        if at > start:
            (self._cells if kind in ("cell", "body") else self._spans).append(Span(start, at))

    def found(self, size: int) -> tuple[list[Span], list[Span]]:
        """All, and the cells among them: of a table, and what is said of a term."""
        while self._open:
            self._end(size)
        return sorted(self._spans + self._cells), sorted(self._cells)


def _outside_code(text: str, code: list[Span]) -> str:
    """*text* with its line ends and rows of blanks as blanks that end nothing: only an element does that, and code."""
    out, at = [], 0
    for span in code:
        if span.start >= at:
            out += [running(text[at : span.start]), text[span.start : span.end]]
            at = span.end
    return "".join([*out, running(text[at:])])


def _plain(part: str) -> str:
    return html.unescape(re.sub(r"<[^<>]*>", "", part)).strip()
