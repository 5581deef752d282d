"""HTML pages: the useful content of a page, or all of it (books, saved chapters).

What nobody sees (``hidden``, ``display:none``, letters in the colour of their ground or of no size) is not part of the
text and is reported. `doublet.text.frame` decides what is content and what is frame.
"""

from __future__ import annotations

import bisect
import itertools
import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import NamedTuple

from doublet import kernels
from doublet.errors import Broken
from doublet.kernels.letters import block_words
from doublet.kernels.reference.arguments import F64, U8, U32
from doublet.kernels.reference.page import SILENT
from doublet.model import Span
from doublet.text.encoding import decode_page
from doublet.text.formats.package import Element
from doublet.text.formats.protocol import Builder, Hints, Reading, needs

try:
    from lxml import etree
except ImportError as error:  # pragma: no cover - depends on what is installed
    raise needs("lxml", "html") from error

HEADINGS = frozenset({"h1", "h2", "h3", "h4", "h5", "h6"})
_XML_DECLARATION = re.compile(r"\A\s*<\?xml[^>]*\?>")
_XML_NAME = re.compile(r"[A-Za-z0-9:_.\-\u0080-\U0010ffff]+")
_CONTROLS = re.compile("[\x00-\x08\x0b\x0e-\x1f]")  # no part of any page, and lxml trips over them
_CONTROL_BYTES = bytes(code for code in range(32) if code not in (9, 10, 12, 13))
_HIDING = re.compile(r"(?:^|[;{\s])(?:display\s*:\s*none|visibility\s*:\s*(?:hidden|collapse))\b", re.I)
_NO_SIZE = re.compile(
    r"(?:^|[;{\s])font-size\s*:\s*(?:0(?:\.0+)?(?:px|pt|r?em|%)?\s*(?:;|$|!|\})|[01](?:\.\d+)?(?:px|pt)|0?\.[01]\d*r?em)",
    re.I,
)
_OPACITY = re.compile(r"(?:^|[;{\s])opacity\s*:\s*0(?:\.0+)?\s*(?:;|$|!)", re.I)
_COLOUR = re.compile(r"(?:^|[;{\s])color\s*:\s*([^;!}]+)", re.I)
_GROUND = re.compile(r"(?:^|[;{\s])background(?:-color|-image)?\s*:\s*([^;!}]+)", re.I)
_OUTSIDE = re.compile(r"(?:text-indent|left|top|margin-left)\s*:\s*-\d{4,}", re.I)
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
# What holds so much of the letters that would then be seen is shown by a script once the page has been loaded (it fades
# in), and so are the parts of pages that React streams. On the choose part of the labelled pages F1 of articles is .943
# with this and .927 without. Windows that open later do not count: of 2,259 pages of tune and choose five that were
# empty are read, and one is worse. With a quarter a page could hide a third of itself.
SHOWN_LATER = 0.5
PROSE_LETTERS = 200
_STREAMED = re.compile(r"S:[0-9a-f]+")
# Parts that a click shows: behind a tab, below the heading of a part that folds. Of the words in hidden regions of the
# pages that content was learned from 3,520 of 4,344 are content, on four sites of ten; the rest is judged as any other.
_UNFOLDED = frozenset({"tabpanel", "region"})
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
        useful(page, build, left_out=hints.left_out)
    else:
        read_elements(page, build)
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
    _open_noscript(page)
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


def _open_noscript(page: Element) -> None:
    """A page whose text is there only for readers without scripts is that text. What is inside another one goes with
    it, so that no text is counted more than twice."""
    shown: int | None = None
    inside: set[Element] = set()
    for item in list(page.iter("noscript")):
        if item in inside:
            continue
        letters = sum(len(text.strip()) for text in item.itertext())
        within = list(item.iter("noscript"))
        inside.update(within)
        if letters < PROSE_LETTERS:
            continue
        if shown is None:
            shown = _letters(page)
        if letters >= SHOWN_LATER * max(letters, shown):
            shown += letters
            for one in within:
                one.tag = "div"


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


def read_elements(page: Element, build: Builder, *, element: str = "") -> None:
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


class Cut(NamedTuple):
    """The blocks of a page, and the elements around them: what `kernels.cut_markup` gives."""

    texts: list[str]
    words: U32
    linked: U32  #: characters in links
    shares: F64  #: of the characters in links
    said: U8  #: what a block speaks of: DATED, MAY_BE_SMALL_PRINT
    orders: U32  #: of the element of a block among all of the page
    holders: U32  #: the same among the elements around blocks
    parents: U32
    names: U32  #: equal for elements of the same tag and class
    keys: list[str]  #: tag, class, id, role, epub:type


def cut_page(root: Element) -> Cut:
    """Cut what is below *root* into blocks: each is a stretch of text that a reader sees as one."""
    found = kernels.cut_markup(_markup(root))
    if found is None:
        _name_plainly(root)
        found = kernels.cut_markup(_markup(root))
    if found is None:  # pragma: no cover - names are all that can be odd in a tree
        raise Broken("page_uncuttable")
    return Cut(*found)


def _markup(root: Element) -> bytes:
    return bytes(etree.tostring(root, method="c14n", with_comments=False))


def _name_plainly(root: Element) -> None:
    """Take out what a browser takes for the name of an attribute or element and XML does not: ``<p {{class}}>``."""
    for element in root.iter("*"):
        if not _XML_NAME.fullmatch(element.tag):
            element.tag = "unknown"
        kept = [(name, value) for name, value in element.items() if _XML_NAME.fullmatch(name)]
        if len(kept) < len(element.attrib):
            element.attrib.clear()
            for name, value in kept:
                element.set(name, value)


def gather(root: Element, put: Callable[[str, Element, int], None]) -> None:
    """Calls put(text, element, linked) for each block below *root*; *linked* is how many of its characters are in
    links."""
    found = cut_page(root)
    elements = list(root.iter("*"))
    for text, order, linked in zip(found.texts, found.orders.tolist(), found.linked.tolist(), strict=True):
        put(text, elements[order], linked)


_STYLED = etree.XPath("descendant-or-self::*[@hidden or @style or self::font[@color]]")
_STYLED_OR_NAMED = etree.XPath(
    "descendant-or-self::*[@hidden or @style or @class or @id or self::font[@color]]"
)


def take_hidden(page: Element, build: Builder, *, element: str = "") -> bool:
    """Take out what cannot be seen; report it when it is prose. Gives whether anything was taken out."""
    rules = _hiding_rules(page)
    candidates = _STYLED_OR_NAMED if rules else _STYLED
    shown: set[Element] = set()
    while True:
        doomed = _hidden(page, candidates, rules, shown)
        later = _shown_later(page, doomed)
        if not later:
            break
        shown |= later  # there may be more of the kind inside
    if any(reason == "white" for _, reason in doomed):
        white = sum(len("".join(_visible(item))) for item, reason in doomed if reason == "white")
        if white > DESIGN_SHARE * len("".join(_visible(page))):
            doomed = [pair for pair in doomed if pair[1] != "white"]
    for item, reason in doomed:
        words = " ".join(" ".join(_visible(item)).split())
        if block_words(words) >= PROSE_WORDS or (reason != "hidden" and words):
            build.hide(words, reason, line=item.sourceline, element=element or item.tag)
        item.clear(keep_tail=True)  # taken out, each would copy the text before it
        item.tag = "template"
    return bool(doomed)


def _hidden(
    page: Element, candidates: etree.XPath, rules: dict[str, str], shown: set[Element]
) -> list[tuple[Element, str]]:
    """What cannot be seen, and why: the outermost elements, without those that are *shown* all the same."""
    doomed: list[tuple[Element, str]] = []
    inside: set[Element] = set()  # of something that goes already
    for item in candidates(page):
        if item in inside or item in shown or item.tag in ("html", "body", "head"):
            continue
        reason = _reason(item, rules)
        if reason and not (
            reason == "hidden" and item.get("role") in _UNFOLDED
        ):  # a click on its tab or heading shows it
            doomed.append((item, reason))
            if len(item):
                inside.update(candidates(item))
    return doomed


def _shown_later(page: Element, doomed: list[tuple[Element, str]]) -> set[Element]:
    """Those of the hidden elements without which there would be no page to speak of."""
    letters = [(item, _letters(item)) for item, reason in doomed if reason == "hidden"]
    large = [(item, count) for item, count in letters if count >= PROSE_LETTERS]
    if not large:
        return set()
    seen = _letters(page) - sum(count for _, count in letters)
    return {
        item
        for item, count in large
        if count >= SHOWN_LATER * (count + seen) or _STREAMED.fullmatch(item.get("id") or "")
    }


def _letters(item: Element) -> int:
    return sum(len(text.strip()) for text in _visible(item))


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
