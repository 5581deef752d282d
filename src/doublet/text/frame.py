"""A page → its useful content (T3): menus, banners, footers, comments and other frame are left out.

The page is cut into blocks. Many plain signs of each (`doublet.text.signs`) are weighed together by small decision
trees, so that no length, tag or name decides alone. The trees (``frame_trees.json``) were learned from labelled pages
by ``tools/learn_frame.py``. Written for this program because it is many times quicker than the libraries and keeps the
place of every block. Next to the best of them it is as good on one labelled set and better on the others
(benchmarks/content.py, docs/explanation/text-from-documents.md).
"""

from __future__ import annotations

import functools
import itertools
import json
import re
from dataclasses import dataclass, replace
from html import unescape
from importlib.resources import files
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from doublet import kernels
from doublet.kernels.elements import FRAMED, MENU, NEVER
from doublet.kernels.letters import block_words
from doublet.kernels.reference.frame import LEAF
from doublet.kernels.settings import FrameOptions
from doublet.text.formats.html import HEADINGS, Cut, cut_page
from doublet.text.formats.html import element_name as name_of
from doublet.text.formats.package import Element
from doublet.text.formats.protocol import Builder
from doublet.text.signs import COMMENT_NAMES, NAMES, signs

OPTIONS = FrameOptions()
# Chosen on the tune part of the labelled pages, with trees that had not seen the site of a page. F1 of articles there
# is .9389, of kinds of pages other than articles and documentation .6655, of news .9505, of CleanEval .9110. What half
# and twice a value make of the first three is said with each, and of CleanEval where it moves by more than .001.
# Less content than that: the page is taken as it is; .9389, .6648, .9505, CleanEval .9087 and .9389, .6656, .9505.
LEAST_WORDS = 25
RUNNING_WORDS = 15  # a block so long is running text; .9399, .6650, .9498 and .9385, .6658, .9499
# On an article: in something that is called frame, what has less than this score is frame; .9389, .6652, .9497 and
# .9388, .6656, .9507; at 0, without the rule, .9389, .6651, .9486.
FRAMED_SCORE = 1.0
# A page with less text than that may be a list of links; .9390, .6609, .9505 and .9389, .6599, .9505.
LIST_WORDS = 150
# Items of a list of links that is no part of the text; .9388, .6657, .9505 and .9390, .6665, .9505. Without the rule
# .9389, .6696, .9505, but then a manual's page of contents that has some text keeps its contents: F1 .17, not .91.
CONTENTS = 8
# That a list has at least: one or two links are no list; .9389, .6652, .9505 at 2 and .9389, .6646, .9505 at 6.
LIST_ITEMS = 3
LINKED_ITEM = 0.9  # of a block is links: an item of such a list; .9368, .6630, .9500 at .5
# A heading, a doubtful block or one in a menu with more of it in links leads elsewhere; .9388, .6653, .9504 and .9389,
# .6653, .9505.
LINKED_SHORT = 0.25
# From this score on a block between content may be content; .9392, .6655, .9505, CleanEval .9129 and .9389, .6646,
# .9505.
DOUBTFUL = -2.0
# Of the words of an article: the deepest element that holds so many is its body; .9371, .6650, .9505 at .6 and .9390,
# .6650, .9498 at .9.
BODY = 0.75
# Paragraphs in one element: a text, no teaser; .9386, .6656, .9480 at 1 and .9382, .6653, .9505 at 4.
FLOW = 2
# Of the words of an article: with so many in such elements the others have no say in where its body is, and with so
# many in what is called frame that name means nothing; .9386, .6650, .9505 and .9385, .6668, .9499.
FLOW_SHARE = 0.4
# Times the words that are shown: what a page tells search engines is its text when it has so many. Of 1,426 pages one
# is read so, and what it tells has an F1 of .96, what it shows .15; the same with half and twice the value.
DECLARED = 3.0
# Of the words of a page read as any other: with less of them it was not an article; .9389, .6655, .9505 and .9378,
# .6658, .9449.
LEAST_SHARE = 0.3
# Elements up from a block that may call it a footnote or caption: paragraph, item, list, section; .9389, .6655, .9505
# and .9379, .6655, .9500.
NAMED_DEPTH = 4
# What stands in an article and is not its text: captions, and posts from elsewhere as their networks set them in.
_SET_IN = re.compile(
    r"caption|credit|lightbox|twitter-tweet|instagram-media|tiktok-embed|bluesky-embed|fb-post", re.I
)
_NOTE = re.compile(r"footnotes?\b|endnotes?\b|rearnotes?\b", re.I)
_ARTICLE = re.compile(
    r'"@type"\s*:\s*(?:\[[^\[\]]{0,200})?"(?:\w{0,40}Article|BlogPosting|LiveBlogPosting|Report)"'
)
_ARTICLE_BODY = re.compile(r'"articleBody"\s*:\s*("(?:[^"\\]|\\.)*")')
_MARKUP = re.compile(r"<[^<>]*>")
_NO_TEXT = re.compile(
    "[\x00-\x08\x0b\x0e-\x1f\ud800-\udfff]"
)  # halves of letters and controls, which JSON may hold
_TURN_KEYS = frozenset("pnuh")
_TURNS = frozenset({"prev", "previous", "next", "up", "start", "contents"})
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
    declared: bool = False  #: cannot be seen; the page tells it to search engines


def useful(page: Element, build: Builder, *, left_out: bool = False) -> None:
    """Put the useful content of a page into *build*, and with *left_out* also what is frame, apart from it."""
    blocks, kept = read_blocks(page)
    chosen = {id(block) for block in kept} if left_out else set()
    number = 0
    for block in [*blocks, *(block for block in kept if block.declared)] if left_out else kept:
        if left_out and id(block) not in chosen:
            build.leave_out(block.text)
            continue
        number += 1
        build.add(
            block.text,
            paragraph=number,
            line=block.element.sourceline or None,
            element=name_of(block.element),
        )


def content(root: Element) -> list[Block]:
    """The blocks of the content, in order."""
    return read_blocks(root)[1]


def read_blocks(page: Element) -> tuple[list[Block], list[Block]]:
    """All blocks of a page, and those of its content."""
    article = is_article(page)
    blocks = cut(page, article=article)  # not of its body: on broken pages the text stands after it
    kept = choose(blocks, article=article)
    if article:
        body = _declared(page)
        if sum(block.words for block in body) > DECLARED * sum(block.words for block in kept):
            told = "\n".join(block.text for block in body)
            kept = [*(block for block in kept if block.text not in told), *body]
    return blocks, kept


def _declared(page: Element) -> list[Block]:
    """The text of an article as the page tells it to search engines (``articleBody`` of JSON-LD)."""
    for script in page.iter("script"):
        if "ld+json" not in (script.get("type") or ""):
            continue
        found = _ARTICLE_BODY.search(script.text or "")
        if found is None:
            continue
        try:
            text = json.loads(found[1], strict=False)
        except ValueError:
            continue
        text = _NO_TEXT.sub(" ", unescape(_MARKUP.sub(" ", text)))
        lines = [" ".join(line.split()) for line in text.splitlines()]
        return [
            Block(line, script, block_words(line), 0.0, False, False, declared=True) for line in lines if line
        ]
    return []


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
    """Those of the blocks of a page that are its content. On a page that says it is an *article* what is doubtful is
    rather a byline, a caption or a teaser."""
    title = _title(blocks)
    good = [block is title or (block.score > 0 and not _is_menu(block)) for block in blocks]
    _fill(blocks, good)
    _drop_contents(blocks, good)
    kept = [block for block, yes in zip(blocks, good, strict=True) if yes]
    words = sum(block.words for block in kept)
    if article:
        own = _article(blocks)
        if sum(block.words for block in own) >= max(LEAST_WORDS, LEAST_SHARE * words):
            return own  # else it is one of the lists of articles that say it, too
    if not any(_is_running(block) for block in kept):
        freed = _with_comments(blocks)
        if freed is not None:
            own_block = {id(free): block for free, block in zip(freed, blocks, strict=True)}
            return [own_block[id(free)] for free in choose(freed)]
    if words < LIST_WORDS:
        listed, alone = _list(blocks, title)
        if listed and (alone or sum(block.words for block in listed) > words):
            return listed
    if words >= LEAST_WORDS:
        return kept
    plain = [block for block in blocks if not block.framed and not block.never and block.linked < 0.8]
    return plain or [block for block in blocks if not block.never] or blocks


def _with_comments(blocks: list[Block]) -> list[Block] | None:
    """The blocks of a page whose comments count as content, as on a forum; None where there are next to none."""
    posts = {
        number
        for number, block in enumerate(blocks)
        if block.never and block.linked < LINKED_ITEM and _in_comments(block.element)
    }
    if sum(blocks[number].words for number in posts) < LIST_WORDS:
        return None
    return [
        replace(block, framed=False, menu=False, never=False) if number in posts else block
        for number, block in enumerate(blocks)
    ]


def _in_comments(element: Element) -> bool:
    return any(
        COMMENT_NAMES.search(f"{one.get('class') or ''} {one.get('id') or ''}")
        for one in element.iterancestors()
        if one.tag not in ("body", "html")
    )


def _article(blocks: list[Block]) -> list[Block]:
    """The blocks of an article: the running text, its headings and lists, and rows, terms and code among them. Its
    headline is its title, and not among them."""
    likely = [block for block in blocks if block.score > 0 and not block.never and block.element.tag != "h1"]
    if not _is_misnamed(likely):
        likely = [block for block in likely if not _is_frame(block)]
    chosen = {id(block) for block in likely if not _called(block, _SET_IN)}
    good = [id(block) in chosen for block in blocks]
    _fill(blocks, good, only_data=True)
    kept = [block for block, yes in zip(blocks, good, strict=True) if yes]
    return _body(_without_teasers(kept))


def _without_teasers(kept: list[Block]) -> list[Block]:
    """What is nothing but links leads to other articles, unless it is a heading and text follows it."""
    if sum(block.words for block in kept if block.linked < LINKED_ITEM) < LIST_WORDS:
        return kept
    return [
        block
        for block, following in zip(kept, [*kept[1:], None], strict=True)
        if block.linked < LINKED_ITEM or (block.heading and following is not None and _is_running(following))
    ]


def _body(kept: list[Block]) -> list[Block]:
    """What of an article is inside the deepest element that holds most of it, and the lead above. Teasers, the life of
    the author and the like are below an article, not in it."""
    flow = _flow(kept)
    held: dict[Element, int] = {}
    for block in flow:
        for element in block.element.iterancestors():
            held[element] = held.get(element, 0) + block.words
    enough = BODY * sum(block.words for block in flow)
    holders = [element for element, words in held.items() if words >= enough]  # one inside the other
    body = max(holders, key=lambda element: sum(1 for _ in element.iterancestors()), default=None)
    if body is None:
        return kept
    inside = [body in block.element.iterancestors() for block in kept]
    first = inside.index(True)
    return [
        block for number, block in enumerate(kept) if inside[number] or (number < first and _is_lead(block))
    ]


def _flow(kept: list[Block]) -> list[Block]:
    """The blocks with others beside them in the same element, as the paragraphs of a text have, where these are most of
    it: each teaser is alone in its box."""
    beside: dict[Element | None, int] = {}
    for block in kept:
        if _is_running(block):
            parent = block.element.getparent()
            beside[parent] = beside.get(parent, 0) + 1
    flow = [block for block in kept if beside.get(block.element.getparent(), 0) >= FLOW]
    if sum(block.words for block in flow) < FLOW_SHARE * sum(block.words for block in kept):
        return kept
    return flow


def _is_lead(block: Block) -> bool:
    """Whether it may be the lead of an article, which is often marked as a heading below the title."""
    return block.words >= RUNNING_WORDS and block.linked < LINKED_SHORT and block.element.tag != "h1"


def _is_running(block: Block) -> bool:
    """Whether it is text, and neither a heading nor a link to more of it."""
    return not block.heading and block.words >= RUNNING_WORDS and block.linked < LINKED_SHORT


def _is_menu(block: Block) -> bool:
    """Whether it is no content on any page: a link in something that is called frame, a footer."""
    return block.never or (block.framed and block.linked >= LINKED_SHORT)


def _is_frame(block: Block) -> bool:
    """Whether it is frame although it rather reads like content."""
    return block.framed and block.score < FRAMED_SCORE


def _is_misnamed(likely: list[Block]) -> bool:
    """Whether too much of the text of an article is in something that is called frame for that to be true."""
    text = [block for block in likely if _is_running(block)]
    framed = sum(block.words for block in text if block.framed)
    return framed > FLOW_SHARE * sum(block.words for block in text)


def _fill(blocks: list[Block], good: list[bool], *, only_data: bool = False) -> None:
    """Short blocks between content belong to it, and so do rows, terms and code after it, and what goes on in the same
    list or row of paragraphs, unless they are links, frame or very unlike content. So do all footnotes. *only_data*:
    rows, terms, code and footnotes alone."""
    sure = [number for number, yes in enumerate(good) if yes]
    if not sure:
        return
    for number in range(sure[0], len(blocks)):
        block = blocks[number]
        if good[number] or block.framed or block.never or block.linked >= LINKED_SHORT:
            continue
        good[number] = _called(block, _NOTE) or (
            block.score > DOUBTFUL
            and (
                block.element.tag in _DATA
                or (
                    not only_data
                    and (number < sure[-1] or (good[number - 1] and _goes_on(blocks[number - 1], block)))
                )
            )
        )


def _called(block: Block, names: re.Pattern[str]) -> bool:
    """Whether it or one of the elements around it is called so."""
    around = itertools.islice((block.element, *block.element.iterancestors()), NAMED_DEPTH)
    return any(
        names.search(
            f"{one.tag} {one.get('class') or ''} {one.get('role') or ''} {one.get('epub:type') or ''}"
        )
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


def cut(root: Element, *, article: bool) -> list[Block]:
    """All blocks of a page, each with its score. *article*: whether it says that it is one."""
    page = cut_page(root)
    blocks = gathered(root, page)
    if blocks:
        found = signs(page, OPTIONS, article=article)
        scores = kernels.tree_scores(found.rows, *learned()).tolist()
        for block, score, flags in zip(blocks, scores, found.flags, strict=True):
            block.score = score
            if flags:
                block.framed = bool(flags & FRAMED)
                block.menu = bool(flags & MENU)
                block.never = bool(flags & NEVER)
        _mark_turns(root, blocks)
    return blocks


def _mark_turns(root: Element, blocks: list[Block]) -> None:
    """Links to the page before, the next one, the chapter and the first page of a book are no content. Books say which
    they are: by the keys that follow them, as DocBook sets them, or by the relation of the pages."""
    turns = {
        link
        for link in root.iter("a")
        if link.get("accesskey") in _TURN_KEYS or _TURNS.intersection((link.get("rel") or "").lower().split())
    }
    if not turns:
        return
    for block in blocks:
        if block.linked >= LINKED_ITEM and turns.issuperset(links := list(block.element.iter("a"))) and links:
            block.framed = block.menu = block.never = True


def gathered(root: Element, page: Cut) -> list[Block]:
    """The blocks of a page with their elements, before anything is known of them."""
    elements = list(root.iter("*"))
    return [
        Block(text, element := elements[order], words, share, False, element.tag in HEADINGS)
        for text, order, words, share in zip(
            page.texts, page.orders.tolist(), page.words.tolist(), page.shares.tolist(), strict=True
        )
    ]


class Trees(NamedTuple):
    """What `kernels.tree_scores` reads: the nodes of all trees, one after the other."""

    signs: NDArray[np.uint16]
    values: NDArray[np.float64]
    others: NDArray[np.uint32]
    roots: NDArray[np.uint32]


@functools.cache
def learned() -> Trees:
    table = json.loads((files("doublet.text") / "frame_trees.json").read_text("utf-8"))
    return trees_of(table["signs"], table["trees"])


def trees_of(names: list[str], trees: list[list[Any]]) -> Trees:
    """*trees*: of each its nodes, every one before its branches. A pair is (number of the sign, how much of it at most
    leads to the first branch), a number is a leaf."""
    columns = [NAMES.index(name) for name in names]
    signs: list[int] = []
    values: list[float] = []
    others: list[int] = []
    roots: list[int] = []
    for tree in trees:
        roots.append(len(signs))
        waiting: list[int] = []  # nodes whose second branch is to come
        for node in tree:
            here = len(signs)
            others.append(0)
            if isinstance(node, list):
                signs.append(columns[node[0]])
                values.append(node[1])
                waiting.append(here)
            else:
                signs.append(LEAF)
                values.append(node)
                if waiting:
                    others[waiting.pop()] = here + 1
    return Trees(
        np.array(signs, np.uint16), np.array(values), np.array(others, np.uint32), np.array(roots, np.uint32)
    )


def _title(blocks: list[Block]) -> Block | None:
    """The first of the largest headings: a table of contents may stand between it and the text."""
    headings = [
        block for block in blocks if block.heading and not block.framed and block.linked < LINKED_SHORT
    ]
    largest = min((str(block.element.tag) for block in headings), default="")
    return next((block for block in headings if block.element.tag == largest), None)
