"""Plain twins of the kernels that look at the blocks of a page (native/frame.cpp): they define what those do.

What each sign means: docs/explanation/text-from-documents.md; their names, in the order of the columns:
`doublet.text.signs.NAMES`.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence

import numpy as np

from doublet.kernels.elements import (
    ARTICLE,
    BESIDE,
    COMMENT_LIST,
    COMMENTS,
    DATED,
    FRAME,
    FRAMED,
    HEADER,
    INHERITED,
    INSIDE_BITS,
    KIND_MASK,
    KIND_SHIFT,
    KINDS,
    LAST,
    LISTED,
    MAIN,
    MENU,
    NAMED_BODY,
    NAMED_CAPTION,
    NAMED_COMMENT,
    NAMED_MENU,
    NAMED_SHARING,
    NAMED_TAGS,
    NAMED_TEASER,
    NEVER,
    SPEAKS_OF_COOKIES,
    SPEAKS_OF_RIGHTS,
)
from doublet.kernels.reference.arguments import F64, U8, U16, U32, checked_texts
from doublet.kernels.settings import FrameOptions

LEAF = 0xFFFF  #: the sign of a node that is none
_NUMBER = re.compile(r"\d+")
_ENDS = frozenset('.!?…"”»。！？」')
_HEADINGS = frozenset(KINDS.index(name) + 1 for name in ("h1", "h2", "h3", "h4-h6"))
_H1 = KINDS.index("h1") + 1
_SIZES = {KINDS.index(name) + 1: size for size, name in enumerate(("h1", "h2", "h3", "h4-h6"), 1)}
_NAMED_AROUND = (NAMED_MENU, NAMED_SHARING, NAMED_TAGS, NAMED_BODY)
_NAMED_NEAR = (NAMED_COMMENT, NAMED_CAPTION, NAMED_TEASER)


def block_signs(
    texts: Sequence[str],
    words: U32,
    linked: F64,
    said: U8,
    holders: U32,
    parents: U32,
    elements: U32,
    names: U32,
    settings: FrameOptions,
    article: bool,
) -> tuple[F64, U8]:
    """The signs of the blocks of a page, a row for each, and where each is: FRAMED, MENU, NEVER.

    A block has its words, the share of it that is links, what it speaks of (DATED, SPEAKS_OF_…) and the element that
    holds it. Elements come after the one around them, a root is its own parent; what they are is told in bits, and
    those with the same *names* are alike. A page may say that it is an *article*.
    """
    texts = checked_texts(texts)
    count, size = len(texts), len(parents)
    if not (len(words) == len(linked) == len(said) == len(holders) == count):
        raise ValueError("every block needs its words, links, what it speaks of and its element")
    if not (len(elements) == len(names) == size):
        raise ValueError("every element needs its parent, its bits and its names")
    if any(not 0 <= share <= 1 for share in linked.tolist()):
        raise ValueError("the share of links is 0 to 1")
    if any(not 0 <= getattr(settings, name) <= 1e6 for name in FrameOptions.__slots__):
        raise ValueError("a setting can be 0 to 1,000,000")
    where, above, alike = holders.tolist(), parents.tolist(), names.tolist()
    if any(place >= size for place in where):
        raise ValueError("a block is in an element that is not there")
    if any(parent > place for place, parent in enumerate(above)):
        raise ValueError("an element comes before the one around it")
    if any(name >= size for name in alike):
        raise ValueError("there are more names than elements")
    lengths, links, speaks = words.tolist(), linked.tolist(), said.tolist()
    own, inside = _bits(elements.tolist(), above)
    flags = _framed(lengths, links, where, above, own, settings)
    around = _around(lengths, links, where, above, settings)
    kinds = [own[place] >> KIND_SHIFT & KIND_MASK for place in where]
    headings = [_SIZES.get(kind, 0) for kind in kinds]
    shape = _shape(texts, lengths, links, where, above, own, alike, headings, flags)
    first = next((number for number, kind in enumerate(kinds) if kind == _H1), -1)
    total = max(1.0, float(sum(lengths)))
    rows = []
    before = 0
    for number, text in enumerate(texts):
        amount, share = float(lengths[number]), links[number]
        place = where[number]
        end = text.rstrip()[-1:]
        stop = float(end in _ENDS)
        at = before / total
        row = [
            min(amount, 5.0) / 5.0,
            min(amount, 15.0) / 15.0,
            min(amount, 40.0) / 40.0,
            math.log1p(amount) / 5.0,
            share,
            float(share > 0.9),
            share if amount < 15 else 0.0,
            float(share > 0),
            stop,
            stop if amount >= 5 else 0.0,
            float(end == ":"),
            min(1.0, text.count(",") / (amount + 1.0) * 5.0),
            float(text.isupper()),
            float(bool(speaks[number] & DATED)),
            float(bool(speaks[number] & SPEAKS_OF_RIGHTS)),
            float(bool(speaks[number] & SPEAKS_OF_COOKIES)),
            float(bool(flags[number])),
            float(_is_beside(own, above, place)),
            *(float(kinds[number] == kind) for kind in range(1, len(KINDS) + 1)),
            *(float(inside[place] >> bit & 1) for bit in range(INSIDE_BITS)),
            *around[number],
            at,
            float(at < 0.05),
            float(number / count >= 0.9),
            float(number < first),
            float(0 <= first <= number),
        ]
        for near in (number - 1, number + 1):
            if 0 <= near < count:
                unlinked = lengths[near] * (1.0 - links[near])
                same = alike[where[near]] == alike[place]
                row += [
                    min(unlinked, 30.0) / 30.0,
                    links[near],
                    float(same),
                    float(kinds[near] in _HEADINGS),
                ]
            else:
                row += [0.0, 0.0, 0.0, 0.0]
        for near in (number - 1, number + 1):
            short = not 0 <= near < count or lengths[near] * (1.0 - links[near]) < 5
            row.append(float(short))
        row.append(float(article))
        row += shape[number]
        rows.append(row)
        before += lengths[number]
        if speaks[number] & (SPEAKS_OF_RIGHTS | SPEAKS_OF_COOKIES):
            flags[number] |= NEVER
    columns = 18 + len(KINDS) + INSIDE_BITS + 17 + 5 + 10 + 27 + len(_NAMED_AROUND) + len(_NAMED_NEAR)
    return np.array(rows, np.float64).reshape(count, columns), np.array(flags, np.uint8)


def _bits(elements: list[int], above: list[int]) -> tuple[list[int], list[int]]:
    """What each element is, and what it is or is inside of."""
    own: list[int] = []
    inside: list[int] = []
    for place, bits in enumerate(elements):
        around = inside[above[place]] if above[place] < place else 0
        if bits & HEADER and not around & (ARTICLE | MAIN):  # the head of a page, not of an article
            bits |= FRAME
        own.append(bits)
        inside.append(bits | (around & INHERITED))
    return own, inside


def _framed(
    words: list[int],
    linked: list[float],
    where: list[int],
    above: list[int],
    own: list[int],
    settings: FrameOptions,
) -> list[int]:
    """Blocks inside something that calls itself frame, unless that holds most of the page; then what calls itself frame
    inside that still counts."""
    size = len(above)
    held, every = [0] * size, [0] * size  # words that are no links, all words
    for number, place in enumerate(where):
        held[place] += int(words[number] * (1.0 - linked[number]))
        every[place] += words[number]
    for place in range(size - 1, -1, -1):
        if above[place] < place:
            held[above[place]] += held[place]
            every[above[place]] += every[place]
    total = sum(held[place] for place in range(size) if above[place] == place)
    all_words = sum(words)
    framed = [0] * size
    for place in range(size):
        bits = own[place]
        if bits & FRAME and (
            held[place] <= settings.most * total
            or (bits & COMMENT_LIST and total - held[place] >= settings.beside_comments)
            or (bits & LAST and not bits & COMMENTS and all_words - every[place] >= settings.beside_footer)
        ):
            framed[place] = bits & (FRAME | LAST | LISTED)
        around = framed[above[place]] if above[place] < place else 0
        if around:  # a list inside a menu is that menu
            framed[place] = (framed[place] | around) & ~(LISTED & ~around)
    flags = []
    for place in where:
        bits = framed[place]
        flags.append((FRAMED | (0 if bits & LISTED else MENU) | (NEVER if bits & LAST else 0)) if bits else 0)
    return flags


def _around(
    words: list[int], linked: list[float], where: list[int], above: list[int], settings: FrameOptions
) -> list[list[float]]:
    """How much text and how many links the elements around each block hold, and whether it is in the deepest element
    that holds most of the text of the page."""
    size = len(above)
    text = [0.0] * size
    all_words, in_links, blocks, running = [0.0] * size, [0.0] * size, [0.0] * size, [0.0] * size
    whole = 0.0
    texts = []
    for number, place in enumerate(where):
        amount, share = float(words[number]), linked[number]
        unlinked = amount * (1.0 - share)
        own = unlinked if amount >= settings.running else settings.short * unlinked
        texts.append(own)
        whole += own
        text[place] += own
        all_words[place] += amount
        in_links[place] += amount * share
        blocks[place] += 1.0
        running[place] += min(amount, 40.0) if amount >= 12 and share < 0.3 else 0.0
    for place in range(size - 1, -1, -1):
        if above[place] < place:
            for sums in (text, all_words, in_links, blocks, running):
                sums[above[place]] += sums[place]
    whole = max(1e-9, whole)
    facts = [
        [
            text[place] / whole,
            in_links[place] / max(1.0, all_words[place]),
            min(1.0, all_words[place] / max(1.0, blocks[place]) / 30.0),
            math.log1p(running[place]) / 7.0,
        ]
        for place in range(size)
    ]
    depth = [0] * size
    centre, deepest = -1, -1
    for place, parent in enumerate(above):
        depth[place] = depth[parent] + 1 if parent < place else 0
        if facts[place][0] >= settings.centre and depth[place] > deepest:
            centre, deepest = place, depth[place]
    below = [-1] * size  # how far below the centre; -1 is outside
    for place, parent in enumerate(above):
        if place == centre:
            below[place] = 0
        elif parent < place and below[parent] >= 0:
            below[place] = below[parent] + 1
    rows = []
    for number, place in enumerate(where):
        row: list[float] = []
        holder = place
        for _ in range(3):
            holder = above[holder]
            row += facts[holder]
        holder = place
        while text[holder] - texts[number] < settings.around and above[holder] < holder:
            holder = above[holder]
        row += facts[holder][:3]
        row += [
            float(below[place] >= 0),
            min(float(below[place]), 5.0) / 5.0 if below[place] >= 0 else 1.0,
        ]
        rows.append(row)
    return rows


def _shape(
    texts: list[str],
    words: list[int],
    linked: list[float],
    where: list[int],
    above: list[int],
    own: list[int],
    alike: list[int],
    headings: list[int],
    flags: list[int],
) -> list[list[float]]:
    """Where each block is in the running text of the page, how often what looks like it comes, what its heading is, and
    what it and the elements around it are called. *headings*: 1 to 4, 0 for other blocks."""
    count, size = len(texts), len(above)
    unlinked = [words[number] * (1.0 - linked[number]) for number in range(count)]
    text = [
        words[number] if words[number] >= 15 and linked[number] < 0.25 and not headings[number] else 0
        for number in range(count)
    ]
    in_links = 0.0
    for number in range(count):
        in_links += words[number] * linked[number]
    every = sum(words)
    whole = max(1.0, float(sum(text)))
    texts_there = max(1.0, float(sum(amount > 0 for amount in text)))
    kinds = max(alike, default=-1) + 1
    blocks_of, words_of, links_of = [0] * kinds, [0] * kinds, [0.0] * kinds
    held, held_text, held_blocks, texts_in = [0] * size, [0] * size, [0] * size, [0] * size
    for number, place in enumerate(where):
        name = alike[place]
        blocks_of[name] += 1
        words_of[name] += words[number]
        links_of[name] += words[number] * linked[number]
        held[place] += words[number]
        held_text[place] += text[number]
        held_blocks[place] += 1
        texts_in[above[place]] += text[number] > 0
    for place in range(size - 1, -1, -1):
        if above[place] < place:
            held[above[place]] += held[place]
            held_text[above[place]] += held_text[place]
            held_blocks[above[place]] += held_blocks[place]
    elements_of, held_of = [0] * kinds, [0] * kinds
    depth, named, in_most = [0] * size, [0] * size, [False] * size
    most = max(range(size), key=lambda place: (texts_in[place], -place), default=0)
    for place, parent in enumerate(above):
        elements_of[alike[place]] += 1
        held_of[alike[place]] += held[place]
        inside = parent < place
        depth[place] = depth[parent] + 1 if inside else 0
        named[place] = own[place] | (named[parent] if inside else 0)
        in_most[place] = place == most or (inside and in_most[parent])
    depths = sorted(depth[where[number]] for number in range(count) if text[number])
    middle = depths[len(depths) // 2] if depths else 0
    rows = []
    before, heading = 0, -1
    for number, place in enumerate(where):
        parent, name = above[place], alike[place]
        of_parent = alike[parent]
        near_words, near_unlinked, near_text = 0, 0.0, 0
        for other in range(max(0, number - 10), min(count, number + 11)):
            near_text += text[other]
            if abs(other - number) <= 3:
                near_words += words[other]
                near_unlinked += unlinked[other]
        row = [
            math.log1p(every) / 10.0,
            math.log1p(count) / 8.0,
            in_links / max(1.0, float(every)),
            before / whole,
            max(0.0, whole - before - text[number]) / whole,
            math.log1p(blocks_of[name]) / 6.0,
            min(60.0, words_of[name] / blocks_of[name]) / 60.0,
            links_of[name] / max(1.0, float(words_of[name])),
            math.log1p(elements_of[of_parent]) / 5.0,
            min(300.0, held_of[of_parent] / elements_of[of_parent]) / 300.0,
            depth[place] / 30.0,
            float(depth[place] - middle),
            texts_in[parent] / texts_there,
            held_text[parent] / whole,
            math.log1p(held[parent]) / 8.0,
            math.log1p(held_blocks[parent]) / 6.0,
            float(in_most[place]),
            min(100.0, near_unlinked / 7.0) / 100.0,
            1.0 - near_unlinked / max(1.0, float(near_words)),
            near_text / whole,
            min(20, number - heading) / 20.0 if heading >= 0 else 1.0,
            linked[heading] if heading >= 0 else 0.0,
            float(bool(flags[heading])) if heading >= 0 else 0.0,
            headings[heading] / 4.0 if heading >= 0 else 1.25,
            sum(letter.isdecimal() for letter in texts[number]) / max(1.0, float(len(texts[number]))),
            min(12.0, len(texts[number]) / max(1.0, float(words[number]))) / 12.0,
        ]
        row += [float(bool(named[place] & bit)) for bit in _NAMED_AROUND]
        near = 0
        for _ in range(3):
            near |= own[place]
            place = above[place]
        row += [float(bool(near & bit)) for bit in _NAMED_NEAR]
        rows.append(row)
        before += text[number]
        if headings[number]:
            heading = number
    return rows


def _is_beside(own: list[int], above: list[int], place: int) -> bool:
    """Whether one of the nearest elements has a name that things beside an article have: teaser, byline, caption."""
    for _ in range(4):
        if own[place] & BESIDE:
            return True
        if above[place] == place:
            return False
        place = above[place]
    return False


def tree_scores(rows: F64, signs: U16, values: F64, others: U32, roots: U32) -> F64:
    """For each row the sum of what the trees say of it. A node that is no leaf (`LEAF`) asks for a sign: up to its
    value the next node follows, beyond it the other branch. A leaf has the value that counts."""
    if not isinstance(rows, np.ndarray) or rows.ndim != 2:
        raise TypeError("rows are a table")
    count, columns = rows.shape
    size = len(signs)
    if not len(values) == len(others) == size:
        raise ValueError("every node needs its sign, its value and its other branch")
    asked, bounds, branches = signs.tolist(), values.tolist(), others.tolist()
    for node, sign in enumerate(asked):
        if sign == LEAF:
            continue
        if sign >= columns:
            raise ValueError("a node asks for a sign that is not there")
        if node + 1 >= size or not node < branches[node] < size:
            raise ValueError("the branches of a node come after it")
    if any(root >= size for root in roots.tolist()):
        raise ValueError("a tree begins where there is no node")
    out = np.zeros(count)
    for number, row in enumerate(rows.tolist()):
        total = 0.0
        for node in roots.tolist():
            while asked[node] != LEAF:
                node = node + 1 if row[asked[node]] <= bounds[node] else branches[node]
            total += bounds[node]
        out[number] = total
    return out


def without_numbers(texts: Sequence[str]) -> list[bytes]:
    """Each text in UTF-8, with a space for each stretch of blanks between words and a zero for each number."""
    return [
        _NUMBER.sub("0", " ".join(text.split())).encode("utf-8", "replace") for text in checked_texts(texts)
    ]
