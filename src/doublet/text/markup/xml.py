"""DocBook, DITA, other XML and HTML, read tag by tag without building a tree, so broken files are read too."""

from __future__ import annotations

import html
import re

from doublet.model import Span
from doublet.text.markup.marked import QUIET, MarkedText, Painter, number_headings

_MARKUP = re.compile(
    r"<!--.*?(?:-->|\Z)"
    r"|<!\[CDATA\[(?P<data>.*?)(?:\]\]>|\Z)"
    r"|<\?.*?(?:\?>|\Z)"
    r"|<!DOCTYPE[^<>\[]*(?:\[.{0,50000}?\]\s*)?>|<![A-Za-z][^<>]*>"
    r"|<(?P<close>/?)(?P<name>[A-Za-z_][\w:.-]*)(?:[^<>\"']|\"[^\"<]*\"|'[^'<]*')*>"
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
_SKIPPED = frozenset(["script", "style", "indexterm", "template"])
_SECTIONS = frozenset(
    "set book part chapter appendix preface article section sect1 sect2 sect3 sect4 sect5 simplesect refentry "
    "refsection refsect1 refsect2 refsect3 glossary bibliography topic concept task reference "
    "troubleshooting dita".split()
)
_TITLES = frozenset(["title", "refname", "h1", "h2", "h3", "h4", "h5", "h6"])


def read_xml(text: str) -> MarkedText:
    return _read(text, "xml")


def read_html(text: str) -> MarkedText:
    return _read(text, "html")


def _read(text: str, kind: str) -> MarkedText:
    paint = Painter(text)
    marked = MarkedText(kind, text, text)
    headings: list[tuple[Span, int, str]] = []
    depth = 0
    opened: dict[str, int] = {}  # skipped, code, table: where the outermost open one began
    nested: dict[str, int] = {}
    title_at = -1
    parent = ""
    for match in _MARKUP.finditer(text):
        start, end = match.span()
        if match["entity"] is not None:
            letter = html.unescape(match[0])
            if len(letter) == 1 and not letter.isspace():
                paint.put(start, end, letter)
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
        paint.blank(start, end, border=name not in _INLINE, quiet=name in _INLINE)
        if match[0].endswith("/>"):
            continue
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
                title_at = -1
            else:
                title_at = end
        if not match["close"] and name not in _INLINE and name not in _TITLES:
            parent = name
    marked.code.sort()
    marked.masked = paint.masked(_running(text, marked.code))
    marked.headings = number_headings([row for row in headings if row[2]])
    marked.tables.sort()
    return marked


def _running(text: str, code: list[Span]) -> str:
    """*text* with its line ends and rows of blanks as blanks that end nothing: only an element does that, and code."""
    out, at = [], 0
    for span in code:
        if span.start >= at:
            out += [_quiet(text[at : span.start]), text[span.start : span.end]]
            at = span.end
    return "".join([*out, _quiet(text[at:])])


def _quiet(part: str) -> str:
    return part.replace("\n", " ").replace("\t", " ").replace("  ", f" {QUIET}")


def _plain(part: str) -> str:
    return html.unescape(re.sub(r"<[^<>]*>", "", part)).strip()
