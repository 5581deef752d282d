"""Blocks of a page → the signs by which `doublet.text.frame` tells content from frame: a row of numbers for each block.

A sign is something plain: how long a block is, how much of it is links, what it is in, how much text the elements
around it hold, whether it is before the first heading. None decides alone; their weights were learned from labelled
pages by ``tools/learn_frame.py``, which reads the signs from here too. Explained in
docs/explanation/text-from-documents.md.
"""

from __future__ import annotations

import functools
import itertools
import math
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from doublet.text.formats.package import Element

if TYPE_CHECKING:
    from doublet.text.frame import Block

F64 = NDArray[np.float64]

RUNNING = 8  #: words from which a block counts as text of its element; shorter ones count by SHORT
SHORT = 0.3
CENTRE = 0.8  #: of the text of a page: the deepest element that holds so much of it is its centre
AROUND = 30  #: words: the first element around a block with so much other text is where it belongs

_FRAME_NAMES = re.compile(
    r"(?:^|[\s_-])(?:nav\w*|\w*sidebar|menus?|submenu|foot(?:er)?|comments?|commentlist|disqus\w*|"
    r"respond|replies|breadcrumbs?|crumbs?|share(?:daddy|bar)?|sharing|social|related(?:posts)?|recommend\w*|"
    r"advert\w*|ads?|banner|sponsor\w*|promo|cookies?|consent|popup|modal|login|signin|signup|register|subscri\w+|"
    r"newsletter|widget|pagination|pager|paginator|toolbar|skip-?link|copyright|masthead|topbar|toc|tags?|tagcloud|"
    r"printfooter|catlinks|editsection|mw-jump-link|noprint|rating|vote|hidden|sr-only|metadata|infobar)"
    r"(?:$|[\s_-])",
    re.I,
)
_BESIDE_NAMES = re.compile(
    r"related|recommend|more-|promo|teaser|popular|trending|read-?next|newsletter|subscri|share|social|tags?\b|author|"
    r"byline|meta|caption|credit|date|time|breadcrumb",
    re.I,
)
_COMMENT_NAMES = re.compile(r"comment|disqus|respond|replies", re.I)
# They say of a whole page, or of a part of the content, what it has.
_LAYOUT_NAMES = re.compile(r"(?:has|with|no|without|is|content|main|page|article|post|entry|body)[_-]", re.I)
_CONTENT_NAMES = re.compile(
    r"(?:^|[\s_-])(?:article|content|entry|main|body|story|post|text|page)(?:$|[\s_-])", re.I
)
_NOTES = re.compile(r"footnote|endnote|rearnote|(?:^|[\s_-])notes?(?:$|[\s_-])", re.I)
_ROLES = frozenset({"navigation", "banner", "contentinfo", "complementary", "search", "dialog", "menu"})
_DATE = re.compile(
    r"\b(?:19|20)\d\d\b|\d{1,2}[:.]\d\d|\bago\b|назад|\b(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\b|"
    r"янв|фев|март|апр|мая|июн|июл|авг|сент|окт|нояб|дек",
    re.I,
)
_DIGIT = re.compile(r"[0-9]")
_LEGAL = re.compile(
    r"©|\(c\)\s*\d{4}|\bcopyright\b|all rights reserved|все права защищены|powered by|privacy policy|"
    r"terms of (?:use|service)",
    re.I,
)
_COOKIES = re.compile(
    r"\b(?:web\s?site|site|we|сайт|мы)\s+(?:also\s+)?(?:uses?|используе[тм])\s+(?:файлы\s+)?cookies?\b|"
    r"\bcookies? (?:are|is) (?:necessary|used to|stored)|\baccept (?:all )?cookies",
    re.I,
)
# What an element is, as far as its tag, role and names say. The first sixteen hold for what is inside, too. FRAME is
# whatever calls itself frame; of these LAST are footers and comments, LISTED are tables of contents.
_TAG_BITS = {
    name: 1 << place
    for place, name in enumerate(
        (
            "nav",
            "footer",
            "aside",
            "form",
            "header",
            "article",
            "main",
            "table",
            "list",
            "figure",
            "quotation",
            "code",
        )
    )
}
NAV, FOOTER, ASIDE, FORM, HEADER, ARTICLE, MAIN, TABLE, LIST, FIGURE, QUOTATION, CODE = _TAG_BITS.values()
ROLE, NAMED_FRAME, NAMED_CONTENT, COMMENTS, BESIDE, FRAME, LAST, LISTED = (
    1 << place for place in range(12, 20)
)
_TAGS = {
    "nav": NAV, "menu": NAV, "footer": FOOTER, "aside": ASIDE, "form": FORM, "dialog": FORM, "address": FORM,
    "header": HEADER, "article": ARTICLE, "main": MAIN, "table": TABLE, "ul": LIST, "ol": LIST, "dl": LIST,
    "figure": FIGURE, "blockquote": QUOTATION, "pre": CODE,
}  # fmt: skip
_INHERITED = BESIDE - 1
_LAST_NAMES = re.compile(
    r"(?:^|[\s_-])(?:\w*foot(?:er)?|copyright|comments?|commentlist|disqus\w*)(?:$|[\s_-])", re.I
)
_LISTED_NAMES = re.compile(r"(?:^|[\s_-])toc(?:$|[\s_-])", re.I)
_FRAME_TAGS = frozenset({"nav", "footer", "aside", "menu", "form", "dialog", "address"})

INSIDE = (
    "nav", "footer", "aside", "form", "header", "article", "main", "table", "list", "figure", "quotation", "code",
    "role of a frame", "name of a frame", "name of content", "comments",
)  # fmt: skip
KINDS = ("h1", "h2", "h3", "p", "li", "tr", "td", "div", "pre", "figcaption", "dt", "h4-h6")
_KIND_PLACES = {name: place for place, name in enumerate(KINDS)} | dict.fromkeys(
    ("h4", "h5", "h6"), len(KINDS) - 1
)
NAMES = (
    "5 words", "15 words", "40 words", "words", "links", "all links", "few words in links", "any link",
    "full stop", "sentence", "colon", "commas", "capitals", "date", "legal", "cookies", "framed", "named beside",
    *(f"kind {name}" for name in KINDS),
    *(f"in {name}" for name in INSIDE),
    *(f"{sign} of {who}" for who in ("parent", "second", "third") for sign in ("share", "links", "length", "text")),
    "share around", "links around", "length around", "in the centre", "depth in the centre",
    "place", "first part", "last blocks", "before h1", "after h1",
    *(f"{sign} of {who}" for who in ("previous", "next") for sign in ("length", "links", "same kind", "heading")),
    "no previous or short", "no next or short",
)  # fmt: skip


def is_small_print(text: str, words: int) -> tuple[bool, bool]:
    """Whether a short block speaks of rights, and whether a block speaks of cookies."""
    if words >= 150:
        return False, False
    lower = text.lower()
    cookies = "cookie" in lower and bool(_COOKIES.search(text))
    # Most blocks are told without the expression.
    likely = words < 30 and (
        "right" in lower
        or "©" in lower
        or "(c)" in lower
        or "права защ" in lower
        or "powered by" in lower
        or "privacy p" in lower
        or "terms of" in lower
    )
    return likely and bool(_LEGAL.search(text)), cookies


@functools.lru_cache(8192)
def names_frame(name: str) -> bool:
    return bool(_FRAME_NAMES.search(name)) and not _LAYOUT_NAMES.match(name)


@functools.lru_cache(8192)
def _own_bits(tag: str, names: str, own_id: str, role: str, epub: str) -> int:
    """What an element says of itself."""
    bits = _TAGS.get(tag, 0)
    if role in _ROLES:
        bits |= ROLE
    elif role == "main":
        bits |= MAIN
    if tag == "aside" and _NOTES.search(f"{names} {role} {epub}"):
        return bits & ~ASIDE
    framed = tag in _FRAME_TAGS or role in _ROLES
    if tag == "footer" or role == "contentinfo":
        bits |= LAST
    if tag not in ("body", "html") and (names or own_id):
        every = names.split()
        if own_id and not _is_made_of_heading(tag, names, own_id):
            every += own_id.split()
        of_frame = [name for name in every if names_frame(name)]
        of_content = any(_CONTENT_NAMES.search(name) for name in every if name not in of_frame)
        if of_frame:
            bits |= NAMED_FRAME
            if not framed and all(_LISTED_NAMES.search(name) for name in of_frame):
                bits |= LISTED
            if any(_LAST_NAMES.search(name) for name in of_frame):
                bits |= LAST
            framed = framed or not of_content  # "footer-text" is a footer; "post hidden" is a post
        if of_content:
            bits |= NAMED_CONTENT
        if any(_COMMENT_NAMES.search(name) for name in every):
            bits |= COMMENTS
        if any(_BESIDE_NAMES.search(name) for name in every):
            bits |= BESIDE
    return bits | FRAME if framed else bits


def _is_made_of_heading(tag: str, names: str, own: str) -> bool:
    """An id such as "handling-security-related-bugs" is what a section is about."""
    parts = len(re.split(r"[_-]+", own))
    return parts >= (2 if tag == "section" and not names else 4)


class Tree:
    """The elements around the blocks, parents before children, and what each holds."""

    __slots__ = ("bits", "index", "kinds", "of_block", "own", "parents")

    def __init__(self, root: Element, blocks: Sequence[Block]) -> None:
        self.index: dict[Element, int] = {}
        self.parents: list[int] = []
        self.bits: list[int] = []  #: inherited ones, too
        self.own: list[int] = []
        self.kinds: list[object] = []
        self.of_block: list[int] = []
        for block in blocks:
            chain: list[Element] = []
            element = block.element
            while element is not None and element not in self.index:
                chain.append(element)
                if element is root:
                    break
                element = element.getparent()
            for item in reversed(chain):
                self._add(item, root)
            self.of_block.append(self.index[block.element])

    def _add(self, item: Element, root: Element) -> None:
        parent = None if item is root else item.getparent()
        above = self.index.get(parent, -1) if parent is not None else -1
        get = item.get
        names = get("class") or ""
        tag = item.tag if isinstance(item.tag, str) else ""
        role = get("role")
        bits = _own_bits(
            tag,
            names,
            get("id") or "",
            role.lower() if role else "",
            get("epub:type") or "" if tag == "aside" else "",
        )
        around = self.bits[above] if above >= 0 else 0
        if tag == "header" and not around & (ARTICLE | MAIN):
            bits |= FRAME
        self.index[item] = len(self.parents)
        self.parents.append(above)
        self.own.append(bits)
        self.bits.append(bits | (around & _INHERITED))
        self.kinds.append((tag, names))


def signs(tree: Tree, blocks: Sequence[Block]) -> F64:
    """A row for each block, a column for each of NAMES."""
    count = len(blocks)
    words = np.array([block.words for block in blocks], dtype=np.float64)
    linked = np.array([block.linked for block in blocks], dtype=np.float64)
    unlinked = words * (1.0 - linked)
    text = np.where(words >= RUNNING, unlinked, SHORT * unlinked)
    own = np.array([_of_text(block) for block in blocks], dtype=np.float64).reshape(count, -1)
    where = np.array(tree.of_block, dtype=np.int64)
    tags = [str(block.element.tag) for block in blocks]
    bits = np.array([tree.bits[place] for place in tree.of_block], dtype=np.int64)
    headings = np.array([block.heading for block in blocks], dtype=np.float64)
    start = np.concatenate([np.zeros(1), np.cumsum(words)[:-1]]) / max(1.0, float(words.sum()))
    order = np.arange(count) / count
    first = next((number for number, tag in enumerate(tags) if tag == "h1"), -1)
    after = np.arange(count) >= first if first >= 0 else np.zeros(count, dtype=bool)
    inside = np.zeros((count, len(INSIDE)))
    for place in range(len(INSIDE)):
        inside[:, place] = (bits >> place) & 1
    kinds = np.zeros((count, len(KINDS) + 1))
    kinds[np.arange(count), [_KIND_PLACES.get(tag, len(KINDS)) for tag in tags]] = 1.0
    few = words < 15
    columns = [
        np.minimum(words, 5) / 5,
        np.minimum(words, 15) / 15,
        np.minimum(words, 40) / 40,
        np.log1p(words) / 5,
        linked,
        linked > 0.9,
        linked * few,
        linked > 0,
        own[:, 0],
        own[:, 0] * (words >= 5),
        own[:, 1],
        np.minimum(1.0, own[:, 2] / (words + 1) * 5),
        own[:, 3],
        own[:, 4],
        own[:, 5],
        own[:, 6],
        np.array([block.framed for block in blocks]),
        np.array([_is_beside(tree, place) for place in tree.of_block]),
        kinds[:, :-1],
        inside,
        _around(tree, where, words, linked, text),
        start,
        start < 0.05,
        order >= 0.9,
        ~after if first >= 0 else after,
        after,
    ]
    same = [tree.kinds[place] for place in tree.of_block]
    alike = np.array([a == b for a, b in itertools.pairwise(same)], dtype=np.float64)
    length = np.minimum(unlinked, 30) / 30
    no = np.zeros(1)
    columns += [
        np.column_stack([np.concatenate([no, part[:-1]]) for part in (length, linked)]),
        np.concatenate([no, alike]),
        np.concatenate([no, headings[:-1]]),
        np.column_stack([np.concatenate([part[1:], no]) for part in (length, linked)]),
        np.concatenate([alike, no]),
        np.concatenate([headings[1:], no]),
        np.concatenate([np.ones(1), unlinked[:-1] < 5]),
        np.concatenate([unlinked[1:] < 5, np.ones(1)]),
    ]
    return np.column_stack(columns).astype(np.float64)


def _of_text(block: Block) -> tuple[float, ...]:
    """What the words of a block say by themselves."""
    text = block.text
    end = text.rstrip()[-1:]
    legal, cookies = is_small_print(text, block.words)
    return (
        end in '.!?…"”»' and bool(end),
        end == ":",
        text.count(","),
        text.isupper(),
        block.words < 15 and bool(_DIGIT.search(text)) and bool(_DATE.search(text)),
        legal,
        cookies,
    )


def _is_beside(tree: Tree, place: int) -> bool:
    """Whether one of the nearest elements has a name that things beside an article have: teaser, byline, caption."""
    for _ in range(4):
        if place < 0:
            return False
        if tree.own[place] & BESIDE:
            return True
        place = tree.parents[place]
    return False


def _around(tree: Tree, where: NDArray[np.int64], words: F64, linked: F64, text: F64) -> F64:
    """How much text and how many links the elements around each block hold, and whether it is in the deepest element
    that holds most of the text of the page."""
    size = len(tree.parents)
    held = np.zeros((5, size))  # text, words, words in links, blocks, words of running text
    running = np.where((words >= 12) & (linked < 0.3), np.minimum(words, 40), 0.0)
    for row, values in enumerate((text, words, words * linked, np.ones(len(words)), running)):
        held[row] = np.bincount(where, weights=values, minlength=size)
    lists = [row.tolist() for row in held]
    parents = tree.parents
    for sums in lists:
        for place in range(size - 1, -1, -1):
            above = parents[place]
            if above >= 0:
                sums[above] += sums[place]
    held = np.array(lists)
    whole = max(1e-9, float(text.sum()))
    share = held[0] / whole
    links = held[2] / np.maximum(1.0, held[1])
    length = np.minimum(1.0, held[1] / np.maximum(1.0, held[3]) / 30)
    amount = np.log1p(held[4]) / 7
    depth = [0] * size
    for place, above in enumerate(parents):
        depth[place] = depth[above] + 1 if above >= 0 else 0
    half = [place for place in range(size) if share[place] >= CENTRE]
    centre = max(half, key=lambda place: (depth[place], -place), default=-1)
    below = [math.inf] * size
    for place, above in enumerate(parents):
        below[place] = 0 if place == centre else (below[above] + 1 if above >= 0 else math.inf)
    up = np.array([above if above >= 0 else place for place, above in enumerate(parents)])
    columns = []
    place_of = where
    for _ in range(3):
        place_of = up[place_of]
        columns += [share[place_of], links[place_of], length[place_of], amount[place_of]]
    texts = lists[0]
    near = []
    for first, own in zip(where.tolist(), text.tolist(), strict=True):
        holder = first
        while texts[holder] - own < AROUND and parents[holder] >= 0:
            holder = parents[holder]
        near.append(holder)
    distance = np.array(below)[where]
    columns += [share[near], links[near], length[near], np.isfinite(distance), np.minimum(distance, 5) / 5]
    return np.column_stack(columns)
