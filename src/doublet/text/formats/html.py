"""HTML pages: the useful content of a page, or all of it (books, saved chapters).

What nobody sees (``hidden``, ``display:none``, letters in the colour of their ground or of no size) is not part of the
text and is reported. `doublet.text.frame` decides what is content and what is frame.
"""

from __future__ import annotations

import bisect
import functools
import itertools
import re
from collections.abc import Callable, Iterator
from dataclasses import replace

from doublet.errors import Broken
from doublet.model import Span
from doublet.text.encoding import decode_page
from doublet.text.formats.package import Element
from doublet.text.formats.protocol import Builder, Hints, Reading, needs

try:
    from lxml import etree
except ImportError as error:  # pragma: no cover - depends on what is installed
    raise needs("lxml", "an HTML page") from error

INLINE = frozenset(
    "a abbr acronym b bdi bdo big cite code data del dfn em font i img input ins kbd label mark meter nobr output "
    "progress q ruby s samp small span strike strong sub sup time tt u var wbr rb rp rt o:p".split()
)
SILENT = frozenset(
    "script style noscript template head title meta link base object embed applet iframe svg canvas audio video "
    "select option datalist textarea button math map area frameset frame noframes".split()
)
VERBATIM = frozenset({"pre", "listing", "xmp", "plaintext"})
HEADINGS = frozenset({"h1", "h2", "h3", "h4", "h5", "h6"})
_IN_FLAT_ROWS = INLINE | {"td", "th", "p", "br", "div"}
_XML_DECLARATION = re.compile(r"\A\s*<\?xml[^>]*\?>")
_CONTROLS = re.compile("[\x00-\x08\x0b\x0e-\x1f]")  # no part of any page, and lxml trips over them
_CONTROL_BYTES = bytes(code for code in range(32) if code not in (9, 10, 12, 13))
_BLANKS = re.compile(r" [ \t\r\n\f]+|[\t\r\n\f][ \t\r\n\f]*")  # runs of them, but for a single space
_CELL = re.compile(" ?\x1f ?")
_HIDING = re.compile(r"(?:^|[;{\s])(?:display\s*:\s*none|visibility\s*:\s*(?:hidden|collapse))\b", re.I)
_NO_SIZE = re.compile(
    r"(?:^|[;{\s])font-size\s*:\s*(?:0(?:\.0+)?(?:px|pt|r?em|%)?\s*(?:;|$|!|\})|[01](?:\.\d+)?(?:px|pt)|0?\.[01]\d*r?em)",
    re.I,
)
_OPACITY = re.compile(r"(?:^|[;{\s])opacity\s*:\s*0(?:\.0+)?\s*(?:;|$|!)", re.I)
_COLOUR = re.compile(r"(?:^|[;{\s])color\s*:\s*([^;!}]+)", re.I)
_GROUND = re.compile(r"(?:^|[;{\s])background(?:-color|-image)?\s*:\s*([^;!}]+)", re.I)
_OUTSIDE = re.compile(r"(?:text-indent|left|top|margin-left)\s*:\s*-\d{4,}", re.I)
_NOTE_MARK = re.compile(r"[\[(]?(?:\d{1,4}|[*†‡]|[ivx]{1,5}|[a-z])[\])]?\Z")
_NOTE_LINK = re.compile(r"footnote-(?:ref|back)|doc-(?:noteref|backlink)|sdfootnote|sdendnote|noteref", re.I)
_CSS_COMMENT = re.compile(r"/\*.*?(?:\*/|\Z)", re.S)
_TAG_NAME = re.compile(r"<[A-Za-z][^\s<>/\"'=]*")
_ATTRIBUTE = re.compile(r"[\s/]*[^\s<>/\"'=]+(?:\s*=\s*(?:\"[^\"]*\"|'[^']*'|[^\s<>\"']+))?")
_TAG_CHARACTERS = 4_096  # pictures inside a page apart, no tag is nearly so long
_LONG_TAG = re.compile(rf"<[^>]{{{_TAG_CHARACTERS}}}")
_ATTRIBUTES = 64
_BRACE = re.compile(r"[{}]")
_CSS_CHARACTERS = 200_000
_SELECTOR = re.compile(r"([a-z][a-z0-9]*)?([.#])([\w-]+)\Z", re.I)
_WHITE = frozenset({"#fff", "#ffffff", "white", "rgb(255,255,255)", "rgba(255,255,255,1)", "transparent"})
# Hidden words of a page are mostly its machinery (menus, windows that open later). Prose is another matter.
PROSE_WORDS = 8
# More white text than that is the design of a page whose dark ground stands in a style sheet elsewhere.
DESIGN_SHARE = 0.2


def read(data: bytes, hints: Hints) -> Reading:
    page, encoding = parse_page(data, charset=hints.charset)
    build = Builder(hints.characters)
    for title in page_titles(page):
        build.offer_title(title)
    if hints.frame:
        from doublet.text.frame import useful

        take_hidden(page, build)
        useful(page, build)
    else:
        walk(page, build)
    return _placed(build.done(encoding))


def _placed(reading: Reading) -> Reading:
    """Hidden text was taken out before the rest was read: by its line it goes after the blocks that begin before it."""
    if not reading.hidden:
        return reading
    known = sorted((place.line, place.span.end) for place in reading.places if place.line is not None)
    lines = [line for line, _ in known]
    ends = list(itertools.accumulate((end for _, end in known), max))
    hidden = []
    for one in reading.hidden:
        before = bisect.bisect_left(lines, one.place.line) if one.place.line is not None else 0
        at = ends[before - 1] if before else one.place.span.start
        hidden.append(replace(one, place=replace(one.place, span=Span(at, at))))
    return reading._replace(hidden=tuple(hidden))


def parse_page(data: bytes, *, charset: str = "") -> tuple[Element, str]:
    """The tree of a page and its encoding. Raises `Broken` for what has no tree."""
    if data.count(b"\x00", 0, 4096) * 20 < min(len(data), 4096):  # not UTF-16, where they belong
        data = data.translate(None, _CONTROL_BYTES)
    text, encoding = decode_page(data, header=charset)
    text = _XML_DECLARATION.sub("", text, count=1)
    text = _without_long_tags(_CONTROLS.sub("", text))
    parser = etree.HTMLParser(
        encoding="utf-8", no_network=True, huge_tree=True, remove_comments=True, remove_pis=True
    )
    try:
        page = etree.fromstring(text.encode("utf-8", "replace"), parser=parser)
        if page is None:
            raise etree.ParserError("Document is empty")
    except (etree.ParserError, etree.XMLSyntaxError, ValueError) as error:
        raise Broken("no_page", why=error) from error
    if any(entry.type == etree.ErrorTypes.ERR_RESOURCE_LIMIT for entry in parser.error_log):
        raise Broken("page_too_deep")  # the rest of it was not parsed
    return page, encoding


def _without_long_tags(text: str) -> str:
    """*text* with the tags that are longer than any should be cut down to their first attributes: each is compared with
    all before it, and a value of many megabytes ends the parsing."""
    if _LONG_TAG.search(text) is None:
        return text
    out: list[str] = []
    kept = at = 0
    while (start := text.find("<", at)) >= 0:
        at = text.find(">", start + 1)
        if at < 0:
            at = len(text)
        name = _TAG_NAME.match(text, start) if at - start > _TAG_CHARACTERS else None
        if name is None:
            continue
        attributes: list[str] = []
        end = name.end()
        while found := _ATTRIBUTE.match(text, end):
            end = found.end()
            if len(attributes) < _ATTRIBUTES and len(found.group()) < _TAG_CHARACTERS:
                attributes.append(found.group().strip(" \t\r\n\f/"))
        out += [text[kept:start], " ".join([name.group(), *attributes]), " "]
        kept = at = end
    return "".join([*out, text[kept:]]) if out else text


def page_titles(page: Element) -> list[str]:
    """What a page calls itself, the best first: "Snow" of its description, not "Snow — The City" of its head."""
    metas: dict[str, str] = {}
    for meta in page.iter("meta"):
        name = (meta.get("name") or meta.get("property") or "").strip().lower()
        if name in ("citation_title", "og:title", "dc.title"):
            metas.setdefault(name, " ".join((meta.get("content") or "").split()))
    title = next((line(item) for item in page.iter("title") if _outside_pictures(item)), "")
    short = metas.get("citation_title") or metas.get("og:title") or metas.get("dc.title") or ""
    heading = next((line(item) for item in page.iter("h1")), "")
    return [short, title, heading] if not title or short in title else [title, short, heading]


def line(item: Element) -> str:
    """The words of an element in one line."""
    return " ".join("".join(item.itertext()).split())


def _outside_pictures(item: Element) -> bool:
    """A drawing inside a page has a title of its own."""
    return next(item.iterancestors("svg"), None) is None


def walk(page: Element, build: Builder, *, element: str = "") -> None:
    """All visible text, block by block."""
    take_hidden(page, build, element=element)
    for number, (text, tag, line) in enumerate(blocks(page), 1):
        where = f"{element}, {tag}" if element and tag else element or tag
        build.add(text, paragraph=number, line=line or None, element=where)


def blocks(root: Element) -> list[tuple[str, str, int]]:
    """(text, kind of element, line of the source) of every block below *root*, in order. Rows of tables are one
    block each when they hold nothing but words."""
    out: list[tuple[str, str, int]] = []
    gather(root, lambda text, element, _: out.append((text, element_name(element), element.sourceline or 0)))
    return out


_ELEMENT_NAMES = dict.fromkeys(HEADINGS, "heading") | {
    "li": "list", "dt": "list", "dd": "list", "tr": "table", "td": "table", "th": "table",
    "pre": "code", "blockquote": "quotation", "figcaption": "caption", "caption": "table",
}  # fmt: skip


def element_name(element: Element) -> str:
    """What a report calls the block: nothing for a plain paragraph."""
    return _ELEMENT_NAMES.get(str(element.tag), "")


# What an element does to the text around it.
_BLOCK, _WITHIN, _SKIPPED, _BREAK, _LINK, _RAISED, _ROW, _CELL_OF_ROW = range(8)
_EFFECTS = (
    dict.fromkeys(INLINE, _WITHIN)
    | dict.fromkeys(SILENT, _SKIPPED)
    | {"br": _BREAK, "a": _LINK, "sup": _RAISED, "tr": _ROW, "td": _CELL_OF_ROW, "th": _CELL_OF_ROW}
)
_BLOCKS = frozenset({_BLOCK, _ROW, _CELL_OF_ROW})


def gather(root: Element, put: Callable[[str, Element, int], None]) -> None:
    """Calls put(text, element, linked) for each stretch of text that a reader sees as a block of its own; *linked*
    is how many of its characters stand in links. Without recursion: pages nest as deep as they like."""
    pieces: list[str] = []
    owner = root
    verbatim = 0
    row: Element | None = None
    links = linked = 0
    opened: list[tuple[Element, int]] = []  # elements that have begun and not ended, with their effects
    passed_over = 0

    def finish() -> None:
        nonlocal pieces, linked
        raw = "".join(pieces)
        pieces = []
        if not raw.isspace():
            if verbatim:
                text = raw.strip("\n")
            elif "\v" in raw:
                text = "\n".join(map(_in_one_line, raw.split("\v"))).strip()
            else:
                text = _in_one_line(raw)
            if row is not None and not verbatim:
                text = _CELL.sub("\t", text).strip("\t")
            put(text, owner, linked)
        linked = 0

    for element in itertools.chain(root.iter(), (None,)):  # the last ends all that is open
        if passed_over:
            passed_over -= 1
            continue
        parent = None if element is None else element.getparent()
        while opened and opened[-1][0] is not parent:
            ended, effect = opened.pop()
            if effect in _BLOCKS:
                if row is None or ended is row:
                    if pieces:
                        finish()
                    row = None
                    verbatim -= ended.tag in VERBATIM
                    owner = opened[-1][0] if opened else root
                else:
                    pieces.append(" ")
            elif effect == _LINK:
                links -= 1
            tail = ended.tail
            if tail and ended is not root and (pieces or verbatim or not tail.isspace()):
                pieces.append(tail)
                if links:
                    linked += len(tail.strip())
        if element is None:
            break
        tag = element.tag
        effect = _EFFECTS.get(tag, _BLOCK if isinstance(tag, str) else _SKIPPED)
        if effect in (_LINK, _RAISED):
            if _is_note_mark(element):
                effect = _SKIPPED
            elif effect == _LINK and element.get("href") is not None:
                links += 1
            else:
                effect = _WITHIN
        opened.append((element, effect))
        if effect == _SKIPPED:
            if len(element):
                passed_over = sum(1 for _ in element.iter()) - 1
            continue
        if effect == _BREAK:
            pieces.append("\v")
        elif effect in _BLOCKS:
            if row is None:
                if pieces:
                    finish()
                owner = element
                verbatim += tag in VERBATIM
                if effect == _ROW and _flat(element):
                    row = element
            else:
                pieces.append("\x1f" if effect == _CELL_OF_ROW else " ")
        text = element.text
        if text and (pieces or verbatim or not text.isspace()):  # blanks before the first word are dropped
            pieces.append(text)
            if links:
                linked += len(text.strip())


def _in_one_line(raw: str) -> str:
    """*raw* with single spaces. Other blanks than those of the source (no-break spaces …) stay inside."""
    flat = raw.replace("\n", " ")
    if flat.isprintable():  # then it has no blanks but spaces
        return " ".join(flat.split())
    return _BLANKS.sub(" ", raw).strip()


def _is_note_mark(element: Element) -> bool:
    """The raised number that leads to a note, or back from it: no word of the sentence it sticks to."""
    if element.tag == "a":
        names = element.get("class"), element.get("role"), element.get("epub:type")
        return (
            names != (None, None, None)
            and any(name and _calls_itself_note(name) for name in names)
            and len("".join(element.itertext()).strip()) <= 6
        )
    if not _NOTE_MARK.match("".join(element.itertext()).strip()):
        return False
    return next(element.iterancestors("a"), None) is not None or next(element.iter("a"), None) is not None


@functools.lru_cache(4096)
def _calls_itself_note(name: str) -> bool:
    return bool(_NOTE_LINK.search(name))


def _flat(row: Element) -> bool:
    """A row of a table of data: its cells hold words and no blocks. Others are there for the layout."""
    count = 0
    for item in row.iter():
        tag = item.tag
        if not isinstance(tag, str):
            continue
        if tag not in _IN_FLAT_ROWS and item is not row:
            return False
        count += tag in ("p", "div")
        if count > 40:
            return False
    return all(len("".join(cell.itertext())) < 600 for cell in row if isinstance(cell.tag, str))


_STYLED = etree.XPath("descendant-or-self::*[@hidden or @style or self::font[@color]]")
_STYLED_OR_NAMED = etree.XPath(
    "descendant-or-self::*[@hidden or @style or @class or @id or self::font[@color]]"
)


def take_hidden(page: Element, build: Builder, *, element: str = "") -> bool:
    """Take out what cannot be seen; report it when it is prose. Gives whether anything was taken out."""
    rules = _hiding_rules(page)
    candidates = _STYLED_OR_NAMED if rules else _STYLED
    doomed: list[tuple[Element, str]] = []
    inside: set[Element] = set()  # of something that goes already
    for item in candidates(page):
        if item in inside or item.tag in ("html", "body", "head"):
            continue
        reason = _reason(item, rules)
        if reason:
            doomed.append((item, reason))
            if len(item):
                inside.update(candidates(item))
    if any(reason == "white" for _, reason in doomed):
        white = sum(len("".join(_visible(item))) for item, reason in doomed if reason == "white")
        if white > DESIGN_SHARE * len("".join(_visible(page))):
            doomed = [pair for pair in doomed if pair[1] != "white"]
    for item, reason in doomed:
        words = " ".join(" ".join(_visible(item)).split())
        if len(words.split()) >= PROSE_WORDS or (reason != "hidden" and words):
            build.hide(words, reason, line=item.sourceline, element=element or item.tag)
        item.clear(keep_tail=True)  # taken out, each would copy the text before it
        item.tag = "template"
    return bool(doomed)


def _visible(item: Element) -> list[str]:
    return [
        text for part in item.iter() if isinstance(part.tag, str) and part.tag not in SILENT
        for text in (part.text or "", (part.tail or "") if part is not item else "")
    ]  # fmt: skip


def _hiding_rules(page: Element) -> dict[str, str]:
    """ ".name", "#name" → reason, from the style sheets inside the page. Rules for print and narrow screens do not
    count."""
    found: dict[str, str] = {}
    for sheet in page.iter("style"):
        for selectors, body in _css_rules(_CSS_COMMENT.sub("", (sheet.text or "")[:_CSS_CHARACTERS])):
            reason = _style_reason(body)
            if reason:
                for selector in selectors.split(","):
                    match = _SELECTOR.match(selector.strip())
                    if match:
                        found[f"{(match.group(1) or '').lower()}{match.group(2)}{match.group(3)}"] = reason
    return found


def _css_rules(css: str) -> Iterator[tuple[str, str]]:
    """(selectors, declarations) of the rules of a sheet; those inside ``@media`` and the like are left out."""
    before = start = depth = 0
    skipping = False
    for found in _BRACE.finditer(css):
        at = found.start()
        if css[at] == "{":
            if depth == 0:
                before, selectors = at, css[start:at].rpartition(";")[2].strip()
                skipping = selectors.startswith("@")
            depth += 1
        elif depth:
            depth -= 1
            if depth == 0:
                start = at + 1
                if not skipping:
                    yield selectors, css[before + 1 : at]
        else:
            start = at + 1


def _reason(item: Element, rules: dict[str, str]) -> str:
    if item.get("hidden") is not None and item.get("hidden") != "until-found":
        return "hidden"
    style = item.get("style")
    if style:
        reason = _style_reason(style)
        if reason == "white" and _on_ground(item):
            reason = ""
        if reason:
            return reason
    if item.tag == "font" and (item.get("color") or "").lower() in _WHITE and not _on_ground(item):
        return "white"
    if rules:
        names = [f".{name}" for name in (item.get("class") or "").split()]
        if item.get("id"):
            names.append(f"#{item.get('id')}")
        for name in names:
            reason = rules.get(name) or rules.get(f"{item.tag}{name}") or ""
            if reason and not (reason == "white" and _on_ground(item)):
                return reason
    return ""


def _style_reason(style: str) -> str:
    if _HIDING.search(style):
        return "hidden"
    if _NO_SIZE.search(style):
        return "tiny"
    if _OPACITY.search(style):
        return "hidden"
    if _OUTSIDE.search(style):
        return "outside"
    colour = _COLOUR.search(style)
    if colour:
        value = colour.group(1).strip().lower().replace(" ", "")
        ground = _GROUND.search(style)
        if value in _WHITE and not (ground and ground.group(1).strip().lower() not in _WHITE):
            return "white"
    return ""


def _on_ground(item: Element) -> bool:
    """True when something around gives the text a ground that it can be seen on, or when a style sheet might."""
    while item is not None:
        ground = _GROUND.search(item.get("style") or "")
        if ground and ground.group(1).strip().lower() not in _WHITE:
            return True
        if (item.get("bgcolor") or "").lower() not in ("", *_WHITE) or item.get("background"):
            return True
        if item.tag in ("header", "footer", "nav", "button"):
            return True
        item = item.getparent()
    return False
