"""Wiki markup (MediaWiki): the words without the markup, and no remains of it (T3).

Templates are dropped, except those that only dress words up; links keep what is shown; tables keep their cells;
a reference follows its paragraph. Categories and links to other languages are not part of the text.
"""

from __future__ import annotations

import html
import re

from doublet.text.encoding import decode_page
from doublet.text.formats.protocol import Builder, Hints, Reading

_COMMENT = re.compile(r"<!--.*?(?:-->|\Z)", re.S)
_NOWIKI = re.compile(r"<nowiki\s*>(.*?)</nowiki\s*>|<nowiki\s*/>", re.S | re.I)
_VERBATIM = re.compile(r"<(pre|source|syntaxhighlight|code)\b[^>]*>(.*?)</\1\s*>", re.S | re.I)
_DROPPED = re.compile(
    r"<(math|chem|timeline|score|graph|gallery|imagemap|hiero|templatestyles|mapframe|maplink|references)\b"
    r"(?:[^>]*/>|[^>]*>(.*?)</\1\s*>)",
    re.S | re.I,
)
_REFERENCE = re.compile(r"<ref\b[^>/]*(?:/(?!>)[^>/]*)*(?:/>|>(.*?)</ref\s*>)", re.S | re.I)
_TAG = re.compile(r"</?[A-Za-z][^<>]*>")
_BREAK = re.compile(r"<(?:br|hr)\s*/?\s*>", re.I)
_INNERMOST = re.compile(r"\{\{(?!\{)([^{}]*)\}\}")
_ARGUMENT = re.compile(r"\{\{\{([^{}]*)\}\}\}(?!\})")
_INNER_LINK = re.compile(r"\[\[([^\[\]]*)\]\]")
_OUTER_LINK = re.compile(
    r"\[(?:https?:|ftp:|mailto:|news:|irc:|tel:)?//?[^\s\[\]]*(?:\s+([^\[\]]*))?\]|\[mailto:\S+(?:\s+([^\]]*))?\]"
)
_BARE_ADDRESS = re.compile(r"(?<![\w/])https?://[^\s<>\[\]|]+")
_QUOTES = re.compile(r"'{2,5}")
_HEADING = re.compile(r"(={1,6})[ \t]*(.*?)[ \t]*\1[ \t]*\Z")
_DISPLAYED = re.compile(r"\{\{\s*DISPLAYTITLE\s*:([^{}|]*)", re.I)
_FIRST_HEADING = re.compile(r"\s*=[ \t]*([^=\n]+?)[ \t]*=[ \t]*$", re.M)
_LEAD = re.compile(r"^'''([^'\n]{2,150})'''", re.M)  # articles begin with their subject
_LIST = re.compile(r"[*#:;]+[ \t]*")
_MAGIC = re.compile(r"__[A-ZА-ЯЁ_]{3,}?__")
_REDIRECT = re.compile(r"\A\s*#(?:redirect|перенаправление)\b[^\n]*", re.I)
_SIGNATURE = re.compile(r"~{3,5}")
_ATTRIBUTE_CELL = re.compile(r"\s*(?:[\w-]+\s*=\s*(?:\"[^\"]*\"|'[^']*'|[^\s|\"']+)\s*)+\|(?!\|)")
_INTERWIKI = re.compile(r"[a-z]{2,3}(?:-[a-z]+)?\Z")
_FILES = ("file", "image", "файл", "изображение", "media")
_SILENT = ("category", "категория", "template", "шаблон", "portal", "портал")
_FILE_OPTION = re.compile(
    r"\s*(?:thumb|thumbnail|frame|frameless|border|left|right|center|none|мини|слева|справа|центр|upright.*|"
    r"\d*x?\d+(?:px|пкс)|(?:alt|link|page|class|lang|upright|альт)\s*=.*|baseline|sub|super|top|middle|bottom)\s*\Z",
    re.I,
)
# Templates that show their last unnamed argument.
_DRESSING = frozenset(
    "lang lang-en lang-ru lang-de lang-fr lang-la nobr nowrap small s strike big rq начало цитаты цитата quote "
    "quotation cquote blockquote пт tt code abbr красный зелёный color цвет не переведено нп нп2 нп3 нп4 нп5 "
    "iw iw2 translation не переведено 3 comment подсказка transl транслит юникод unicode ipa мфа".split()
)
_PASSES = 64  # nesting deeper than that is no text


def read(data: bytes, hints: Hints) -> Reading:
    text, encoding = decode_page(data, header=hints.charset, markup=False)
    build = Builder()
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    for named in (_DISPLAYED.search(text), _FIRST_HEADING.match(text), _LEAD.search(text)):
        build.offer_title(_inline(named.group(1)) if named else "", heading=True)
    _read_page(text, build)
    return build.done(encoding)


def _read_page(text: str, build: Builder) -> None:
    kept: list[str] = []
    notes: list[str] = []

    def keep(words: str) -> str:
        kept.append(words)
        return f"\x00{len(kept) - 1}\x00"

    def with_lines(words: str, found: re.Match[str]) -> str:
        """As many line ends as before, so that places stay true."""
        return words + "\n" * max(0, found.group().count("\n") - words.count("\n"))

    def note(found: re.Match[str]) -> str:
        if not found.group(1):
            return with_lines("", found)
        notes.append(found.group(1))
        return with_lines(f"\x01{len(notes) - 1}\x01", found)

    text = _COMMENT.sub(lambda f: with_lines("", f), _REDIRECT.sub("", text))
    text = _NOWIKI.sub(lambda f: keep(f.group(1) or ""), text)
    text = _VERBATIM.sub(lambda f: with_lines(keep(f.group(2)), f), text)
    text = _REFERENCE.sub(note, text)
    text = _DROPPED.sub(lambda f: with_lines("", f), text)
    text = _templates(text)
    _lines(text, build, lambda words: _restore(_inline(words), kept), notes)


def _lines(text: str, build: Builder, clean: object, notes: list[str]) -> None:
    assert callable(clean)
    block: list[str] = []
    cells: list[str] = []
    first = number = depth = 0

    def finish(element: str = "") -> None:
        nonlocal block, number
        if block:
            raw = "\n".join(block)
            wanted = [int(found) for found in re.findall("\x01(\\d+)\x01", raw)]
            words = clean(re.sub("\x01\\d+\x01", "", raw))
            if words.strip():
                number += 1
                build.add(words, paragraph=number, line=first, element=element)
            for index in wanted:
                build.add(clean(_templates(notes[index])), line=first, element="footnote")
        block = []

    def finish_row() -> None:
        nonlocal cells, block
        if cells:
            block = ["\t".join(cells)]
            cells = []
            finish("table")

    for at, raw in enumerate(text.split("\n"), 1):
        line, bare = raw, raw.strip()
        if bare.startswith("{|"):
            finish()
            depth += 1
        elif depth and bare.startswith("|}"):
            finish_row()
            depth -= 1
        elif depth and bare.startswith(("|-", "|+")):
            finish_row()
            if bare.startswith("|+"):
                block, first = [_ATTRIBUTE_CELL.sub("", bare[2:])], at
                finish("table")
        elif depth and bare.startswith(("|", "!")):
            first = first if cells else at
            cut = r"\|\||!!" if bare[0] == "!" else r"\|\|"
            cells += [_ATTRIBUTE_CELL.sub("", cell, count=1).strip() for cell in re.split(cut, bare[1:])]
        elif depth:
            if bare and cells:
                cells[-1] += "\n" + bare
            elif bare:
                cells, first = [bare], at
        elif not bare:
            finish()
        elif heading := _HEADING.match(bare):
            finish()
            block, first = [heading.group(2)], at
            finish("heading")
        elif re.match(r"-{4,}", bare):
            finish()
        else:
            marks = _LIST.match(line)
            if marks:
                finish()
                line = line[marks.end() :]
            if not block:
                first = at
            block.append(line.strip())
            if marks:
                finish("list")
    finish_row()
    finish()


def _templates(text: str) -> str:
    """Innermost first, until none is left; what dresses words up gives them back."""
    for _ in range(_PASSES):
        changed = _INNERMOST.sub(_shown, _ARGUMENT.sub(lambda found: found.group(1).partition("|")[2], text))
        if changed == text:
            break
        text = changed
    return re.sub(r"\{\{|\}\}", "", text)


def _shown(found: re.Match[str]) -> str:
    name, *arguments = found.group(1).split("|")
    lines = "\n" * found.group().count("\n")
    title = name.strip().lower()
    if title in ("!",):
        return "|"
    if title in _DRESSING and arguments:
        unnamed = [part for part in arguments if not re.match(r"\s*[\w -]+\s*=", part)]
        named = [part.split("=", 1)[1] for part in arguments if re.match(r"\s*(?:текст|text|1|2)\s*=", part)]
        words = (unnamed or named or [""])[-1]
        return words + "\n" * (len(lines) - words.count("\n"))
    return lines


def _inline(text: str) -> str:
    for _ in range(_PASSES):
        changed = _INNER_LINK.sub(_link, text)
        if changed == text:
            break
        text = changed
    text = _OUTER_LINK.sub(lambda f: f.group(1) or f.group(2) or "", text)
    text = _BARE_ADDRESS.sub("", text)
    text = _MAGIC.sub("", _QUOTES.sub("", text))
    text = _SIGNATURE.sub("", _BREAK.sub("\n", text))
    text = html.unescape(_TAG.sub("", text))
    return re.sub(r"\[\[|\]\]", "", text)


def _link(found: re.Match[str]) -> str:
    target, *shown = found.group(1).split("|")
    space, colon, _ = target.strip().partition(":")
    space = space.strip().lower()
    if colon and not target.strip().startswith(":"):
        if space in _FILES:
            captions = [part for part in shown if not _FILE_OPTION.match(part)]
            return captions[-1] if captions else ""
        if space in _SILENT or (_INTERWIKI.match(space) and not shown):
            return ""
    if shown and shown[-1].strip():
        return shown[-1]
    return target.strip().lstrip(":").split("#")[0] or target.strip().lstrip("#:")


def _restore(text: str, kept: list[str]) -> str:
    return re.sub("\x00(\\d+)\x00", lambda found: kept[int(found.group(1))], text)
