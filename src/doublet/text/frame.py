"""A page → its useful content (T3): menus, banners, footers, comments and other frame are left out.

The page is cut into blocks. Many plain signs of each (`doublet.text.signs`) are weighed together, so that no length,
tag or name decides alone. The weights (``frame_weights.json``) were learned from labelled pages by
``tools/learn_frame.py``. Written for this program because it is many times quicker than the libraries and keeps the
place of every block. Next to the best of them it is better on mixed pages, and on articles of one collection of two
(benchmarks/unseen.py, docs/explanation/text-from-documents.md).
"""

from __future__ import annotations

import functools
import itertools
import json
import re
from dataclasses import dataclass
from importlib.resources import files

import numpy as np
from numpy.typing import NDArray

from doublet.kernels.elements import FRAMED, MENU, NEVER
from doublet.kernels.settings import FrameOptions
from doublet.text.formats.html import HEADINGS, Cut, cut_page
from doublet.text.formats.html import element_name as name_of
from doublet.text.formats.package import Element
from doublet.text.formats.protocol import Builder
from doublet.text.signs import NAMES, signs

OPTIONS = FrameOptions()
# Chosen on the tune part of the labelled pages; F1 of articles there is .932, of other kinds of pages .688. What half
# and twice a value make of these two is said with each; CleanEval moves by .002 at most.
LEAST_WORDS = 25  # less content than that: the page is taken as it is; .932, .690 and .932, .688
RUNNING_WORDS = 15  # a block so long is running text; .932, .689 and .929, .684
# In something that is called frame, what has less than this score, or is short, is frame; .933, .688 and .925, .678.
FRAMED_SCORE = 1.0
LIST_WORDS = 150  # a page with less text than that may be a list of links; .932, .686 and .932, .689
CONTENTS = 8  # items of a list of links that is not read as a part of the text; .932, .687 and .932, .690
LIST_ITEMS = 3  # that a list has at least: one or two links are no list; nothing changes at 2 and 6
LINKED_ITEM = 0.9  # of a block is links: an item of such a list; at .5 CleanEval falls by .005
# A heading or a doubtful block with more of it in links leads elsewhere; .932, .687 and .932, .688.
LINKED_SHORT = 0.25
# From this score on a block between content may be content; at -1 other pages of the choose part fall by .004.
DOUBTFUL = -2.0
DOUBTFUL_IN_ARTICLE = -1.0  # the same on a page that says it is an article; at -2 articles fall by .001
# Of the words of an article: the deepest element that holds so many is its body. Articles .932 without, .934 at .75 and
# .933 at .92; pages of news .876, .881, .877.
BODY = 0.85
NOTE_DEPTH = 4  # elements up from a block that may call it a footnote: paragraph, item, list, section
_NOTE = re.compile(r"footnotes?\b|endnotes?\b|rearnotes?\b", re.I)
_ARTICLE = re.compile(
    r'"@type"\s*:\s*(?:\[[^\[\]]{0,200})?"(?:\w{0,40}Article|BlogPosting|LiveBlogPosting|Report)"'
)
_DATA = frozenset({"dt", "dd", "tr", "td", "th", "pre"})


@dataclass(slots=True)
class Block:
    text: str
    element: Element
    words: int
    linked: float  #: share of the characters in links
    framed: bool  #: is in something that is called a menu, a footer …
    heading: bool
    menu: bool = False  #: framed, and not by a table of contents
    never: bool = (
        False  #: in a footer or comments, a note on rights or cookies: not content, however it reads
    )
    score: float = 0.0  #: logarithm of the odds that it is content


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
    return choose(cut(root), article=is_article(root))


def is_article(page: Element) -> bool:
    """Whether a page says, to those who link to it or search it, that it is an article."""
    for meta in page.iter("meta"):
        name = meta.get("property") or meta.get("name") or ""
        if name == "article:published_time" or (
            name == "og:type" and _is_word(meta.get("content"), "article")
        ):
            return True
    return any(
        "ld+json" in (script.get("type") or "") and _ARTICLE.search(script.text or "")
        for script in page.iter("script")
    )


def _is_word(value: str | None, word: str) -> bool:
    return (value or "").strip().lower() == word


def choose(blocks: list[Block], *, article: bool = False) -> list[Block]:
    """Those of the blocks of a page that are its content. Of an *article* the headline is known besides, and what is
    doubtful is rather a byline, a caption or a teaser."""
    title = _title(blocks)
    good = [
        (block is title and not article) or (block.score > 0 and not _is_frame(block)) for block in blocks
    ]
    _fill(blocks, good, DOUBTFUL_IN_ARTICLE if article else DOUBTFUL)
    _drop_contents(blocks, good)
    kept = [block for block, yes in zip(blocks, good, strict=True) if yes]
    if article:
        kept = _body(kept)
    words = sum(block.words for block in kept)
    if words < (LEAST_WORDS if article else LIST_WORDS):
        listed, alone = _list(blocks, title)
        if listed and (alone or sum(block.words for block in listed) > words):
            return listed
    if words >= LEAST_WORDS:
        return kept
    plain = [block for block in blocks if not block.framed and not block.never and block.linked < 0.8]
    return plain or [block for block in blocks if not block.never] or blocks


def _body(kept: list[Block]) -> list[Block]:
    """What of the content is inside the deepest element that holds nearly all of it. Teasers, the life of the author
    and the like are below an article, not in it."""
    held: dict[Element, int] = {}
    for block in kept:
        for element in block.element.iterancestors():
            held[element] = held.get(element, 0) + block.words
    enough = BODY * sum(block.words for block in kept)
    holders = [element for element, words in held.items() if words >= enough]  # one inside the other
    body = max(holders, key=lambda element: sum(1 for _ in element.iterancestors()), default=None)
    if body is None:
        return kept
    return [block for block in kept if block.element is body or body in block.element.iterancestors()]


def _is_frame(block: Block) -> bool:
    """Whether it is frame although it reads like content."""
    return block.never or (block.framed and (block.words < RUNNING_WORDS or block.score < FRAMED_SCORE))


def _fill(blocks: list[Block], good: list[bool], doubtful: float) -> None:
    """Short blocks between content belong to it, and so do rows, terms and code after it, and what goes on in the same
    list or row of paragraphs, unless they are links, frame or very unlike content. So do all footnotes."""
    sure = [number for number, yes in enumerate(good) if yes]
    if not sure:
        return
    for number in range(sure[0], len(blocks)):
        block = blocks[number]
        if good[number] or block.framed or block.never or block.linked >= LINKED_SHORT:
            continue
        good[number] = _is_note(block) or (
            block.score > doubtful
            and (
                number < sure[-1]
                or block.element.tag in _DATA
                or (good[number - 1] and _goes_on(blocks[number - 1], block))
            )
        )


def _is_note(block: Block) -> bool:
    """Whether it is a footnote of the text, by what the elements around it are called."""
    around = itertools.islice((block.element, *block.element.iterancestors()), NOTE_DEPTH)
    return any(
        _NOTE.search(f"{one.get('class') or ''} {one.get('role') or ''} {one.get('epub:type') or ''}")
        for one in around
    )


def _goes_on(before: Block, block: Block) -> bool:
    one, other = before.element, block.element
    return bool(one.tag == other.tag and one.getparent() is other.getparent())


def _drop_contents(blocks: list[Block], good: list[bool]) -> None:
    """Long lists of nothing but links are no content where there is enough of it beside them."""
    run: list[int] = []
    found: list[int] = []
    for number in range(len(blocks) + 1):
        if number < len(blocks) and good[number] and blocks[number].linked >= LINKED_ITEM:
            run.append(number)
            continue
        if number < len(blocks) and not good[number]:
            continue
        if len(run) >= CONTENTS:
            found += run
        run = []
    words = sum(block.words for block, yes in zip(blocks, good, strict=True) if yes)
    if found and words - sum(blocks[number].words for number in found) >= LIST_WORDS:
        for number in found:
            good[number] = False


def _list(blocks: list[Block], title: Block | None) -> tuple[list[Block], bool]:
    """What a page of links has: its title and the links below, in the nearest element that holds both (True: and no
    running text), else all from the title to the last link. A table of contents is such a list; a menu is not."""
    items = [block for block in blocks if block.linked >= LINKED_ITEM and not block.menu and not block.never]
    if title is None or len(items) < LIST_ITEMS:
        return items, False
    above = {id(block): set(block.element.iterancestors()) for block in items}
    for holder in title.element.iterancestors():
        if holder.tag in ("body", "html"):
            break
        if sum(holder in above[id(block)] for block in items) >= LIST_ITEMS:
            inside = [
                block
                for block in blocks
                if not block.menu and (block is title or holder in block.element.iterancestors())
            ]
            running = any(block.linked < LINKED_ITEM and block.words >= RUNNING_WORDS for block in inside)
            return ([], False) if running else (inside, True)
    first = next(number for number, block in enumerate(blocks) if block is title)
    last = max(
        number for number, block in enumerate(blocks) if block.linked >= LINKED_ITEM and not block.menu
    )
    return [block for block in blocks[first : last + 1] if not block.menu and not block.never], False


def cut(root: Element) -> list[Block]:
    """All blocks of a page, each with its score."""
    page = cut_page(root)
    blocks = gathered(root, page)
    if blocks:
        weights, start = learned()
        found = signs(page, OPTIONS)
        scores = (found.rows @ weights + start).tolist()
        for block, score, flags in zip(blocks, scores, found.flags, strict=True):
            block.score = score
            if flags:
                block.framed = bool(flags & FRAMED)
                block.menu = bool(flags & MENU)
                block.never = bool(flags & NEVER)
    return blocks


def gathered(root: Element, page: Cut) -> list[Block]:
    """The blocks of a page with their elements, before anything is known of them."""
    elements = list(root.iter("*"))
    return [
        Block(text, element := elements[order], words, share, False, element.tag in HEADINGS)
        for text, order, words, share in zip(
            page.texts, page.orders.tolist(), page.words.tolist(), page.shares.tolist(), strict=True
        )
    ]


@functools.cache
def learned() -> tuple[NDArray[np.float64], float]:
    """The weight of each sign, and where the sum of them starts."""
    table = json.loads((files("doublet.text") / "frame_weights.json").read_text("utf-8"))
    return np.array([table["weights"][name] for name in NAMES]), float(table["start"])


def _title(blocks: list[Block]) -> Block | None:
    """The first of the largest headings: a table of contents may stand between it and the text."""
    headings = [
        block for block in blocks if block.heading and not block.framed and block.linked < LINKED_SHORT
    ]
    largest = min((str(block.element.tag) for block in headings), default="")
    return next((block for block in headings if block.element.tag == largest), None)
