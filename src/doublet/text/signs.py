"""Blocks of a page → the signs by which `doublet.text.frame` tells content from frame: a row of numbers for each block.

A sign is something plain: how long a block is, how much of it is links, what it is in, how much text the elements
around it hold, whether it is before the first heading. None decides alone; their weights were learned from labelled
pages by ``tools/learn_frame.py``, which reads the signs from here too. Explained in
docs/explanation/text-from-documents.md.
"""

from __future__ import annotations

import functools
import operator
import re
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from doublet import kernels
from doublet.kernels.elements import (
    ARTICLE,
    ASIDE,
    BESIDE,
    CODE,
    COMMENT_LIST,
    COMMENTS,
    FIGURE,
    FOOTER,
    FORM,
    FRAME,
    HEADER,
    KIND_SHIFT,
    KINDS,
    LAST,
    LIST,
    LISTED,
    MAIN,
    MAY_BE_SMALL_PRINT,
    NAMED_BODY,
    NAMED_CAPTION,
    NAMED_COMMENT,
    NAMED_CONTENT,
    NAMED_FRAME,
    NAMED_MENU,
    NAMED_SHARING,
    NAMED_TAGS,
    NAMED_TEASER,
    NAV,
    QUOTATION,
    ROLE,
    SPEAKS_OF_COOKIES,
    SPEAKS_OF_RIGHTS,
    TABLE,
)
from doublet.kernels.settings import FrameOptions
from doublet.text.formats.html import Cut

F64 = NDArray[np.float64]

_FRAME_NAMES = re.compile(
    r"(?:^|[\s_-])(?:nav\w*|\w*sidebar|menus?|submenu|foot(?:er)?|comments?|commentlist|disqus\w*|"
    r"respond|replies|breadcrumbs?|crumbs?|share(?:daddy|bar)?|sharing|social|related(?:posts)?|recommend\w*|"
    r"advert\w*|ads?|banner|sponsor\w*|promo|cookies?|cookieconsent\w*|onetrust\w*|consent|popup|modal|login|signin|signup|"
    r"register|subscri\w+|newsletter|pagination|pager|paginator|toolbar|skip-?link|copyright|masthead|topbar|toc|tags?|tagcloud|"
    r"printfooter|catlinks|editsection|mw-jump-link|noprint|rating|vote|hidden|sr-only|metadata|infobar)"
    r"(?:$|[\s_-])|^widget(?:$|[\s_-])",
    re.I,
)
_BESIDE_NAMES = re.compile(
    r"related|recommend|more-|promo|teaser|popular|trending|read-?next|newsletter|subscri|share|social|tags?\b|author|"
    r"byline|meta|caption|credit|date|time|breadcrumb",
    re.I,
)
COMMENT_NAMES = re.compile(r"comment|disqus|respond|replies", re.I)
# They say of a whole page, or of a part of the content, what it has, or where it is left out: "hidden-print".
_LAYOUT_NAMES = re.compile(
    r"(?:hide|hidden|has|with|no|without|is|content|main|page|article|post|entry|body)[_-]", re.I
)
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
_COOKIES = re.compile(
    r"\b(?:web\s?site|site|we|сайт|мы)\s+(?:also\s+)?(?:uses?|используе[тм])\s+(?:файлы\s+)?cookies?\b|"
    r"\bcookies? (?:are|is) (?:necessary|used to|stored)|\baccept (?:all )?cookies",
    re.I,
)
_TAGS = {
    "nav": NAV, "menu": NAV, "footer": FOOTER, "aside": ASIDE, "form": FORM, "dialog": FORM, "address": FORM,
    "header": HEADER, "article": ARTICLE, "main": MAIN, "table": TABLE, "ul": LIST, "ol": LIST, "dl": LIST,
    "figure": FIGURE, "blockquote": QUOTATION, "pre": CODE,
}  # fmt: skip
_COMMENT_LISTS = re.compile(
    r"(?:\w+[_-])?(?:comments|commentlist|disqus\w*)(?:[_-](?:area|list|section|thread|wrap\w*))?", re.I
)
_LAST_NAMES = re.compile(
    r"(?:^|[\s_-])(?:\w*foot(?:er)?|copyright|comments?|commentlist|disqus\w*|onetrust\w*|cookieconsent\w*|"
    r"cookies?[_-](?:consent|banner|notice|law|bar|modal|popup)|consent[_-](?:banner|modal|popup|manager))(?:$|[\s_-])",
    re.I,
)
_LISTED_NAMES = re.compile(r"(?:^|[\s_-])toc(?:$|[\s_-])", re.I)
_FRAME_TAGS = frozenset({"nav", "footer", "aside", "menu", "form", "dialog", "address"})

# Parts of names: what they say is weak, and counts only together with the other signs.
_PARTS = (
    (NAMED_MENU, re.compile(r"nav|menu|header|footer|toolbar|\bbar\b|button|btn|\blink", re.I)),
    (
        NAMED_SHARING,
        re.compile(
            r"share|social|newsletter|subscri|follow|sign-?up|login|paywall|\bads?\b|advert|sponsor|donat|promo|cta\b|"
            r"banner|cookie|consent|modal|popup|tooltip|dropdown|search",
            re.I,
        ),
    ),
    (NAMED_TAGS, re.compile(r"\btags?\b|topic|categor|keyword|breadcrumb|\btoc\b|pagination|pager", re.I)),
    (
        NAMED_BODY,
        re.compile(
            r"(?:article|post|entry|story|news|blog|page|main|rich|text|wiki|doc|detail)s?[-_]{0,2}"
            r"(?:body|content|text|copy|main|inner)|(?:body|content|text)[-_]{0,2}(?:article|post|entry|story)|markdown|"
            r"prose|mw-parser-output|wysiwyg",
            re.I,
        ),
    ),
    (NAMED_COMMENT, re.compile(r"comment|disqus|respond|repl(?:y|ies)|review|rating", re.I)),
    (
        NAMED_CAPTION,
        re.compile(r"caption|credit|lightbox|gallery|figure|image|photo|media|video|picture", re.I),
    ),
    (
        NAMED_TEASER,
        re.compile(
            r"related|recommend|more-|read-?more|promo|teaser|popular|trending|read-?next|card|also|most-?read|latest|"
            r"carousel|slider|widget|recirc|outbrain|taboola|suggest|similar|up-?next",
            re.I,
        ),
    ),
)
_ANY_PART = functools.reduce(operator.or_, (bit for bit, _ in _PARTS))
_BITS_OF_NAMES = (
    (NAMED_CONTENT, _CONTENT_NAMES),
    (COMMENTS, COMMENT_NAMES),
    (BESIDE, _BESIDE_NAMES),
    (LAST, _LAST_NAMES),
    (LISTED, _LISTED_NAMES),
    *_PARTS,
)

INSIDE = (
    "nav", "footer", "aside", "form", "header", "article", "main", "table", "list", "figure", "quotation", "code",
    "role of a frame", "name of a frame", "name of content", "comments",
)  # fmt: skip
_KINDS = {name: place << KIND_SHIFT for place, name in enumerate(KINDS, 1)}
_KINDS |= dict.fromkeys(("h4", "h5", "h6"), _KINDS["h4-h6"])
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
    "article", "words of the page", "blocks of the page", "links of the page", "text before", "text after",
    "blocks alike", "words of those alike", "links of those alike", "parents alike", "words of parents alike",
    "depth", "depth below text", "texts in parent", "text in parent", "words in parent", "blocks in parent",
    "in the most texts", "words near", "links near", "text near",
    "after a heading", "links of its heading", "framed heading", "size of its heading", "digits", "letters of a word",
    *(f"named {name}" for name in ("menu", "sharing", "tags", "body", "comment", "caption", "teaser")),
)  # fmt: skip


def is_small_print(text: str, words: int) -> tuple[bool, bool]:
    """Whether a short block speaks of rights, and whether a block speaks of cookies."""
    if words >= 150:
        return False, False
    return words < 30 and bool(_LEGAL.search(text)), bool(_COOKIES.search(text))


def names_frame(name: str) -> bool:
    return bool(_FRAME_NAMES.search(name)) and not _LAYOUT_NAMES.match(name)


@functools.lru_cache(8192)
def bits_of(key: str) -> int:
    """What an element says of itself: its tag, class, id, role and epub:type."""
    tag, names, own_id, role, epub = key.split("\0")
    return _element_bits(tag, names, own_id, role.lower(), epub if tag == "aside" else "")


def _element_bits(tag: str, names: str, own_id: str, role: str, epub: str) -> int:
    bits = _TAGS.get(tag, 0) | _KINDS.get(tag, 0)
    if role in _ROLES:
        bits |= ROLE
    elif role == "main":
        bits |= MAIN
    if tag == "aside" and _NOTES.search(f"{names} {role} {epub}"):
        return bits & ~ASIDE
    framed = tag in _FRAME_TAGS or role in _ROLES
    if tag == "footer" or role == "contentinfo":
        bits |= LAST
    classes, ids = _bits_of_names(names), _bits_of_names(own_id)
    for said in (*classes, *ids):
        bits |= said & COMMENT_LIST
    if tag in ("body", "html"):
        return bits | FRAME if framed else bits
    for said in (*classes, *ids):
        bits |= said & _ANY_PART
    every = classes if _is_made_of_heading(tag, names, own_id) else classes + ids
    of_frame = [said for said in every if said & NAMED_FRAME]
    of_content = any(said & NAMED_CONTENT for said in every if not said & NAMED_FRAME)
    if of_frame:
        bits |= NAMED_FRAME
        if not framed and all(said & LISTED for said in of_frame):
            bits |= LISTED
        for said in of_frame:
            bits |= said & LAST
        framed = framed or not of_content  # "footer-text" is a footer; "post hidden" is a post
    if of_content:
        bits |= NAMED_CONTENT
    for said in every:
        bits |= said & (COMMENTS | BESIDE)
    return bits | FRAME if framed else bits


def _bits_of_names(names: str) -> list[int]:
    return [_name_bits(name) for name in names.split()]


@functools.lru_cache(1 << 15)
def _name_bits(name: str) -> int:
    """What one name says, whatever has it."""
    bits = NAMED_FRAME if names_frame(name) else 0
    for bit, names in _BITS_OF_NAMES:
        if names.search(name):
            bits |= bit
    return bits | COMMENT_LIST if _COMMENT_LISTS.fullmatch(name) else bits


def _is_made_of_heading(tag: str, names: str, own: str) -> bool:
    """An id such as "handling-security-related-bugs" is what a section is about."""
    parts = len(re.split(r"[_-]+", own))
    return parts >= (2 if tag == "section" and not names else 4)


class Signs(NamedTuple):
    rows: F64  #: a row for each block, a column for each of NAMES
    flags: list[int]  #: of each block: FRAMED, MENU, NEVER


def signs(page: Cut, settings: FrameOptions, *, article: bool) -> Signs:
    """What can be seen of the blocks of a page, which may say that it is an *article*."""
    said = page.said
    small = np.flatnonzero(said & MAY_BE_SMALL_PRINT).tolist()
    if small:
        said = said.copy()
        for number in small:
            rights, cookies = is_small_print(page.texts[number], int(page.words[number]))
            said[number] |= rights * SPEAKS_OF_RIGHTS | cookies * SPEAKS_OF_COOKIES
    rows, flags = kernels.block_signs(
        page.texts,
        page.words,
        page.shares,
        said,
        page.holders,
        page.parents,
        np.array([bits_of(key) for key in page.keys], np.uint32),
        page.names,
        settings,
        article,
    )
    return Signs(rows, flags.tolist())
