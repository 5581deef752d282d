"""A page → its useful content (T3): menus, banners, footers, comments and other frame are left out.

The page is cut into blocks. A block is told by its length, by how much of it stands in links and by the
names of what it stands in; a block that could be either goes with its neighbours. Written for this program
because it is better and quicker than the libraries on the labelled pages (benchmarks/formats.py,
docs/explanation/text-from-documents.md): old pages that are little but text lose nothing, and pages of
today lose their frame.
"""

from __future__ import annotations

import functools
import re
from dataclasses import dataclass

from doublet.text.formats.html import HEADINGS, gather
from doublet.text.formats.html import element_name as name_of
from doublet.text.formats.package import Element
from doublet.text.formats.protocol import Builder

# Chosen on CleanEval, and no better there than on pages without a say (benchmarks/formats.py --cross-validate).
LONG_WORDS = 14  # a block this long is running text unless it is links
LINKED = 0.45  # of the characters: more is a menu
LINKED_SHORT = 0.25  # the same for blocks that are not long
SENTENCE_WORDS = 5  # so many words outside links and a full stop: a sentence, however many links it has
NEIGHBOURS = 6  # a doubtful block so many blocks from running text may still belong to it
MOST = 0.4  # of the words: what holds more than that is no frame, whatever it is called
BESIDE_COMMENTS = 60  # words outside: comments may be longer than the article, and are still no part of it
MAX_HOLDERS = 8  # frames inside frames that are looked at
LEAST_WORDS = 25  # less content than that: the page is taken as it is

_FRAME_NAMES = re.compile(
    r"(?:^|[\s_-])(?:nav\w*|\w*sidebar|menus?|submenu|foot(?:er)?|comments?|commentlist|disqus\w*|"
    r"respond|replies|breadcrumbs?|crumbs?|share(?:daddy|bar)?|sharing|social|related(?:posts)?|recommend\w*|"
    r"advert\w*|ads?|banner|sponsor\w*|promo|cookies?|consent|popup|modal|login|signin|signup|register|subscri\w+|"
    r"newsletter|widget|pagination|pager|paginator|toolbar|skip-?link|copyright|masthead|topbar|toc|tags?|tagcloud|"
    r"printfooter|catlinks|editsection|mw-jump-link|noprint|rating|vote|hidden|sr-only|metadata|infobar)"
    r"(?:$|[\s_-])",
    re.I,
)
_COMMENT_NAMES = re.compile(
    r"(?:\w+[_-])?(?:comments|commentlist|disqus\w*)(?:[_-](?:area|list|section|thread|wrap\w*))?", re.I
)
# They say of a whole page, or of a part of the content, what it has.
_LAYOUT_NAMES = re.compile(r"(?:has|with|no|without|is|content|main|page|article|post|entry|body)[_-]", re.I)
_FRAME_TAGS = frozenset({"nav", "footer", "aside", "menu", "form", "dialog", "address"})
_CONTENT_NAMES = re.compile(
    r"(?:^|[\s_-])(?:article|content|entry|main|body|story|post|text|page)(?:$|[\s_-])", re.I
)
_NOTES = re.compile(r"footnote|endnote|rearnote|(?:^|[\s_-])notes?(?:$|[\s_-])", re.I)
_ROLES = frozenset({"navigation", "banner", "contentinfo", "complementary", "search", "dialog", "menu"})
_LEGAL = re.compile(
    r"©|\(c\)\s*\d{4}|\bcopyright\b|all rights reserved|все права защищены|powered by|privacy policy|"
    r"terms of (?:use|service)",
    re.I,
)
# One of them is in whatever the expression above finds: most blocks are told without it.
_LEGAL_WORDS = (
    "©",
    "(c)",
    "copyright",
    "rights reserved",
    "права защ",
    "powered by",
    "privacy p",
    "terms of",
)

_COOKIES = re.compile(
    r"\b(?:web\s?site|site|we|сайт|мы)\s+(?:also\s+)?(?:uses?|используе[тм])\s+(?:файлы\s+)?cookies?\b|"
    r"\bcookies? (?:are|is) (?:necessary|used to|stored)|\baccept (?:all )?cookies",
    re.I,
)


@dataclass(slots=True)
class Block:
    text: str
    element: Element
    words: int
    linked: float  #: share of the characters in links
    framed: bool  #: stands in something that is called a menu, a footer …
    heading: bool
    good: bool | None = None  #: None: not known yet


def useful(page: Element, build: Builder) -> None:
    """Put the useful content of a page into *build*."""
    blocks = content(page)  # not its body: on broken pages the text stands after it
    for number, block in enumerate(blocks, 1):
        build.add(
            block.text,
            paragraph=number,
            line=block.element.sourceline or None,
            element=name_of(block.element),
        )


def content(root: Element) -> list[Block]:
    """The blocks of the content, in order."""
    return choose(cut(root))


def choose(blocks: list[Block]) -> list[Block]:
    """Those of the blocks of a page that are its content."""
    _judge(blocks)
    _ask_neighbours(blocks)
    kept = [block for block in blocks if block.good]
    if sum(block.words for block in kept) >= LEAST_WORDS:
        return kept
    plain = [block for block in blocks if not block.framed and block.linked < 0.8]
    return plain or blocks


def cut(root: Element) -> list[Block]:
    blocks: list[Block] = []

    def put(text: str, element: Element, linked: int) -> None:
        heading = element.tag in HEADINGS
        share = min(1.0, linked / (len(text) - text.count(" ") or 1)) if linked else 0.0
        blocks.append(Block(text, element, len(text.split()), share, False, heading))

    gather(root, put)
    _mark_frame(root, blocks)
    return blocks


def _mark_frame(root: Element, blocks: list[Block]) -> None:
    """Blocks inside something that calls itself frame, unless that holds most of the page; then what calls itself frame
    inside that still counts."""
    holders: dict[Element, tuple[Element, ...]] = {}
    inside: dict[Element, int] = {}
    total = 0
    owners = []
    for block in blocks:
        chain = []
        element = block.element
        while element is not None and element not in holders:
            chain.append(element)
            if element is root:
                break
            element = element.getparent()
        around = holders.get(element, ()) if element is not None else ()
        for item in reversed(chain):
            if item is not root and len(around) < MAX_HOLDERS and _is_frame(item):
                around = (*around, item)
            holders[item] = around
        around = holders.get(block.element, ())
        own = int(block.words * (1 - block.linked))
        total += own
        owners.append(around)
        for holder in around:
            inside[holder] = inside.get(holder, 0) + own
    frame = {
        holder
        for holder, words in inside.items()
        if words <= MOST * total or (total - words >= BESIDE_COMMENTS and _is_comments(holder))
    }
    for block, around in zip(blocks, owners, strict=True):
        block.framed = any(holder in frame for holder in around)


def _is_frame(element: Element) -> bool:
    tag = element.tag
    role = (element.get("role") or "").lower()
    if tag == "aside" and _NOTES.search(
        f"{element.get('class') or ''} {role} {element.get('epub:type') or ''}"
    ):
        return False
    if tag in _FRAME_TAGS or role in _ROLES:
        return True
    if tag == "header":
        return next(element.iterancestors("article", "main"), None) is None
    names = (element.get("class") or "").split() + _own_id(element).split()
    if not names or tag in ("body", "html"):
        return False
    framed = [name for name in names if _names_frame(name)]
    # "footer-text" is a footer; "post hidden" is a post.
    return bool(framed) and not any(_CONTENT_NAMES.search(name) for name in names if name not in framed)


@functools.lru_cache(8192)
def _names_frame(name: str) -> bool:
    return bool(_FRAME_NAMES.search(name)) and not _LAYOUT_NAMES.match(name)


def _own_id(element: Element) -> str:
    """The id, unless it is made of a heading: "handling-security-related-bugs" is what a section is about."""
    own = element.get("id")
    if not own:
        return ""
    parts = len(re.split(r"[_-]+", own))
    titled = element.tag == "section" and not element.get("class")
    return "" if parts >= (2 if titled else 4) else own


def _is_comments(element: Element) -> bool:
    names = f"{element.get('class') or ''} {element.get('id') or ''}".split()
    return any(_COMMENT_NAMES.fullmatch(name) for name in names)


def _judge(blocks: list[Block]) -> None:
    _keep_title(blocks)
    for block in blocks:
        if block.good:
            continue
        if block.framed or (block.words < 150 and _is_small_print(block)):
            block.good = False
        elif _is_sentence(block):
            block.good = True
        elif block.words >= LONG_WORDS:
            block.good = block.linked < LINKED
        elif block.linked > LINKED_SHORT:
            block.good = False


def _is_small_print(block: Block) -> bool:
    lower = block.text.lower()
    if block.words < 30 and any(word in lower for word in _LEGAL_WORDS) and _LEGAL.search(block.text):
        return True
    return "cookie" in lower and bool(_COOKIES.search(block.text))


def _keep_title(blocks: list[Block]) -> None:
    """The first of the largest headings: a table of contents may stand between it and the text."""
    headings = [
        block for block in blocks if block.heading and not block.framed and block.linked < LINKED_SHORT
    ]
    if headings:
        largest = min(str(block.element.tag) for block in headings)
        next(block for block in headings if block.element.tag == largest).good = True


def _is_sentence(block: Block) -> bool:
    """Words of its own beside the links, and a full stop: "For the choice see chapter 3."."""
    own = block.words * (1 - block.linked)
    return own >= SENTENCE_WORDS and block.linked < 0.75 and block.text.rstrip()[-1:] in ".!?…"


def _ask_neighbours(blocks: list[Block]) -> None:
    """Short blocks go with the running text around them."""
    before = _distance(blocks, range(len(blocks)))
    after = _distance(blocks, range(len(blocks) - 1, -1, -1))
    for index, block in enumerate(blocks):
        if block.good is not None:
            continue
        if block.heading:
            block.good = after[index] <= NEIGHBOURS
        else:
            block.good = min(before[index], after[index]) <= NEIGHBOURS


def _distance(blocks: list[Block], order: range) -> list[int]:
    """How many blocks away the nearest running text in one direction is; frame in between counts more."""
    out = [1 << 20] * len(blocks)
    far = 1 << 20
    for index in order:
        out[index] = far
        block = blocks[index]
        if block.good:
            far = 1
        else:
            far += 3 if block.good is False else 1
    return out
