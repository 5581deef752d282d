"""Wiki markup (MediaWiki): the words without the markup, and no remains of it (T3).

Templates are dropped, except those that only dress words up; links keep what is shown; tables keep their cells;
a reference follows its paragraph. Categories and links to other languages are not part of the text.
"""

from __future__ import annotations

import html
import re
from collections.abc import Callable, Sequence

from doublet.text.encoding import decode_page
from doublet.text.formats.protocol import Builder, Hints, Reading

_COMMENT = re.compile(r"<!--.*?(?:-->|\Z)", re.S)
_NOWIKI = ("nowiki",)
_VERBATIM = ("pre", "source", "syntaxhighlight", "code")
_DROPPED = (
    "math chem timeline score graph gallery imagemap hiero templatestyles mapframe maplink references".split()
)
_REFERENCE = ("ref",)
_TAG = re.compile(r"</?[A-Za-z][^<>]*>")
_BREAK = re.compile(r"<(?:br|hr)\s*(?:/\s*)?>", re.I)
_INNERMOST = re.compile(r"\{\{(?!\{)([^{}]*)\}\}")
_ARGUMENT = re.compile(r"\{\{\{([^{}]*)\}\}\}(?!\})")
_INNER_LINK = re.compile(r"\[\[([^\[\]]*)\]\]")
_OUTER_LINK = re.compile(
    r"\[(?:(?:https?:|ftp:|mailto:|news:|irc:|tel:)?//?[^\s\[\]]*|mailto:[^\s\[\]]+)(?:\s([^\[\]]*))?\]"
)
_BARE_ADDRESS = re.compile(r"(?<![\w/])https?://[^\s<>\[\]|]+")
_QUOTES = re.compile(r"'{2,5}")
_DISPLAYED = re.compile(r"\{\{\s*DISPLAYTITLE\s*:([^{}|]*)", re.I)
_LEAD = re.compile(r"^'''([^'\n]{2,150})'''", re.M)  # articles begin with their subject
_LIST = re.compile(r"[*#:;]+[ \t]*")
_MAGIC = re.compile(r"__[A-ZА-ЯЁ_]{3,}?__")
_REDIRECT = re.compile(r"\A\s*#(?:redirect|перенаправление)\b[^\n]*", re.I)
_SIGNATURE = re.compile(r"~{3,5}")
_ATTRIBUTES = re.compile(
    r"\s*(?:[\w-]+\s*=\s*(?:\"[^\"]*\"\s*|'[^']*'\s*|[^\s\"']+(?:\s+|\Z)))+", re.S
)  # of a cell, before its bar
_NAMED = re.compile(r"[\w\s-]+=")
_NAMED_TEXT = re.compile(r"\s*(?:текст|text|1|2)\s*=")
_INTERWIKI = re.compile(r"[a-z]{2,3}(?:-[a-z]+)?\Z")
_FILES = ("file", "image", "файл", "изображение", "media")
_SILENT = ("category", "категория", "template", "шаблон", "portal", "портал")
_FILE_OPTION = re.compile(
    r"thumb|thumbnail|frame|frameless|border|left|right|center|none|мини|слева|справа|центр|upright.*|"
    r"(?:\d*x)?\d+(?:px|пкс)|(?:alt|link|page|class|lang|upright|альт)\s*=.*|baseline|sub|super|top|middle|bottom",
    re.I | re.S,
)
_HELD = dict.fromkeys((0, 1))  # the signs that stand for what was taken out are no part of a page
# Templates that show their last unnamed argument.
_DRESSING = frozenset(
    "lang lang-en lang-ru lang-de lang-fr lang-la nobr nowrap small s strike big rq начало цитаты цитата quote "
    "quotation cquote blockquote пт tt code abbr красный зелёный color цвет не переведено нп нп2 нп3 нп4 нп5 "
    "iw iw2 translation не переведено 3 comment подсказка transl транслит юникод unicode ipa мфа".split()
)
_PASSES = 64  # nesting deeper than that is no text


def read(data: bytes, hints: Hints) -> Reading:
    text, encoding = decode_page(data, header=hints.charset, markup=False)
    build = Builder(hints.characters)
    text = text.replace("\r\n", "\n").replace("\r", "\n").translate(_HELD)
    displayed, lead = _DISPLAYED.search(text), _LEAD.search(text)
    opening = _heading(text.lstrip()[:1000].partition("\n")[0].strip(), most=1)
    for named in (displayed and displayed.group(1), opening, lead and lead.group(1)):
        build.offer_title(_inline(named) if named else "", heading=True)
    _read_page(text, build)
    return build.done(encoding)


def _read_page(text: str, build: Builder) -> None:
    kept: list[str] = []
    notes: list[str] = []

    def keep(words: str) -> str:
        kept.append(words)
        return f"\x00{len(kept) - 1}\x00"

    def with_lines(words: str, whole: str) -> str:
        """As many line ends as before, so that places stay true."""
        return words + "\n" * max(0, whole.count("\n") - words.count("\n"))

    def note(inside: str, whole: str) -> str:
        if not inside:
            return with_lines("", whole)
        notes.append(inside)
        return with_lines(f"\x01{len(notes) - 1}\x01", whole)

    text = _COMMENT.sub(lambda f: with_lines("", f.group()), _REDIRECT.sub("", text))
    text = _elements(text, _NOWIKI, lambda inside, _: keep(inside))
    text = _elements(text, _VERBATIM, lambda inside, whole: with_lines(keep(inside), whole))
    text = _elements(text, _REFERENCE, note)
    text = _elements(text, _DROPPED, lambda _, whole: with_lines("", whole))
    text = _templates(text)
    _lines(text, build, lambda words: _restore(_inline(words), kept), notes)


def _elements(text: str, names: Sequence[str], instead: Callable[[str, str], str]) -> str:
    """*text* with instead(inside, whole) for each of the elements; one that is never closed stays as it is."""
    tags = list(re.finditer(rf"<(/?)({'|'.join(names)})\b([^<>]*)>", text, re.I))
    closing: list[re.Match[str] | None] = []
    last: dict[str, re.Match[str]] = {}
    for tag in reversed(tags):  # for each tag the next closing one of its name
        name = tag.group(2).lower()
        closing.append(last.get(name))
        if tag.group(1):
            last[name] = tag
    closing.reverse()
    out: list[str] = []
    at = 0
    for tag, end in zip(tags, closing, strict=True):
        if tag.start() < at or tag.group(1):
            continue
        if tag.group(3).endswith("/"):
            inside, after = "", tag.end()
        elif end is not None:
            inside, after = text[tag.end() : end.start()], end.end()
        else:
            continue
        out += [text[at : tag.start()], instead(inside, text[tag.start() : after])]
        at = after
    return "".join([*out, text[at:]])


def _heading(bare: str, most: int = 6) -> str:
    """The words between equals signs, as many before as after; empty when the line is not a heading."""
    level = min(len(bare) - len(bare.lstrip("=")), len(bare) - len(bare.rstrip("=")), (len(bare) - 1) // 2)
    if level < 1 or (most == 1 and level > 1):
        return ""
    level = min(level, most)
    return bare[level:-level].strip(" \t")


def _cell(text: str) -> str:
    """The words of a cell: without attributes and the bar after them."""
    head, bar, rest = text.partition("|")
    return rest if bar and not rest.startswith("|") and _ATTRIBUTES.fullmatch(head) else text


def _lines(text: str, build: Builder, clean: Callable[[str], str], notes: list[str]) -> None:
    block: list[str] = []
    cells: list[list[str]] = []
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
            block = ["\t".join("\n".join(lines) for lines in cells)]
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
                block, first = [_cell(bare[2:])], at
                finish("table")
        elif depth and bare.startswith(("|", "!")):
            first = first if cells else at
            cut = r"\|\||!!" if bare[0] == "!" else r"\|\|"
            cells += [[_cell(cell).strip()] for cell in re.split(cut, bare[1:])]
        elif depth:
            if bare and cells:
                cells[-1].append(bare)
            elif bare:
                cells, first = [[bare]], at
        elif not bare:
            finish()
        elif heading := _heading(bare):
            finish()
            block, first = [heading], at
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
        unnamed = [part for part in arguments if not _NAMED.match(part)]
        named = [part.split("=", 1)[1] for part in arguments if _NAMED_TEXT.match(part)]
        words = (unnamed or named or [""])[-1]
        return words + "\n" * (len(lines) - words.count("\n"))
    return lines


def _inline(text: str) -> str:
    for _ in range(_PASSES):
        changed = _INNER_LINK.sub(_link, text)
        if changed == text:
            break
        text = changed
    text = _OUTER_LINK.sub(lambda f: (f.group(1) or "").lstrip(), text)
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
            captions = [part for part in shown if not _FILE_OPTION.fullmatch(part.strip())]
            return captions[-1] if captions else ""
        if space in _SILENT or (_INTERWIKI.match(space) and not shown):
            return ""
    if shown and shown[-1].strip():
        return shown[-1]
    return target.strip().lstrip(":").split("#")[0] or target.strip().lstrip("#:")


def _restore(text: str, kept: list[str]) -> str:
    return re.sub("\x00(\\d+)\x00", lambda found: kept[int(found.group(1))], text)
