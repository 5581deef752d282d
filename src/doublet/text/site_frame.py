"""Pages of one site → what nearly all of them carry: menus, banners, notes on rights, whoever mirrors the site (T3).

`doublet.text.frame` judges a page by itself and cannot know that its neighbours have the same footer. Here lines are
counted over whole pages, with what it left out. A line that is on most pages of a folder is frame there, and the page
is compared without it. A short page is compared by its own lines alone, whatever the first step made of them. Lines
that several pages of its folder have, such as advertisements and lists of what to see also, would outweigh them. Of
long lists the first step keeps pieces: they are compared from the first piece to the last. Explained in
docs/explanation/text-from-documents.md.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from doublet.kernels.letters import block_words

U64 = NDArray[np.uint64]
U32 = NDArray[np.uint32]
I64 = NDArray[np.int64]
Mask = NDArray[np.bool_]

LEAST_PAGES = 20  #: of a folder; of fewer it is not clear what is common by chance
# Tuned on mirrors of two manuals (Apache, a Debian handbook in Russian) and chosen on a third (LibreOffice in Russian):
# all 427 pages meet their twins from .2 to .9, and the wrong pairs are 14 up to .5 and 8 from .7 on.
SHARE = 0.7  #: of the pages of a folder that have a line which is frame
#: of the useful content of a folder that may be frame, or common lines. Pages that have two thirds in common resemble
#: each other by half: they are copies of one another, and what they have in common is their content. The mirrors have
#: .22 of frame, and .38 with common lines, at most. The same holds of a page and what the same pages have of it.
FRAME_SHARE = 0.6
#: of the useful content of a page that is not short: with less of its own it is a copy of others, not a page in a frame
OWN_SHARE = 0.05
COPY_WORDS = 200  #: of useful content that such a copy has
# Tuned on seven sites and chosen on seven others, with frames that stay and with advertisements that change from page
# to page (`benchmarks/mirrors.py --frames portal`, `rotating`, 400 pages each; docs/decisions/0066-frames-of-sites.md).
#: a page with no more words that are not frame is compared by its own lines. Twins on the first seven with
#: advertisements: 1,497 with 250, 1,534 with 300, 1,543 with 400, 1,555 with 600. More would part versions of one text.
SHORT_WORDS = 400
#: of a folder that have a line which is common, and not a page's own. With 3, 4 and 8 there are 1,550, 1,549 and 1,543
#: twins with advertisements, and 117, 125 and 134 other pairs of pages without. Three versions of a page are no rarity.
COMMON_PAGES = 4
#: of its own that a page has at most which is compared without the words of forms (`doublet.text.page_forms`). Stubs of
#: Tomcat's manual have 30; with 100, one twin of GHC's pages is lost between advertisements
FEW_WORDS = 50
#: of a folder that have a line which is the menu of a part of the site: it is frame on pages with titles of their own.
#: Chosen on LilyPond's manuals in one folder, and looked at on MPICH, wxWidgets, JUnit, ALSA and six sites from before
#: (300 pages each). With 10, 20 and 40 there are 3,196, 3,193 and 3,190 twins of 3,332 with advertisements, and 282,
#: 282 and 284 other pairs of pages without; with no such rule, 3,109 and 362. (Three pages could then share a title.)
PART_PAGES = 20
#: stands for the first page that has a common line, where `PART_PAGES` pages or more have it: whose common lines these
#: are, they do not make it a version of a page. With 10, 20 and 40 pages there are 571, 572 and 573 other pairs on 29
#: sites, of 614 without this rule, and the same twins
CROWD = np.uint64((1 << 64) - 1)
OWN_WORDS = 3  #: of own lines that stand for a page. With 2 two pages "<no title>" are equal, with 5 38 twins are lost
#: of a page that the same pages have: so many lines with more than `FRAME_SHARE` of its words make it a copy of these.
#: A list of what to see also is one line, and two advertisements are four. With 3, 12 twins fewer are found on all 14.
COPY_LINES = 5
# Chosen on indexes and tables of contents whose twins were missed (Python, Erlang, gnuplot: pieces from 11 on) beside
# contents of books that are cut in one place (GIMP, Debian's installation guide: 4 at most). With 4 or 8 pieces all are
# found; with 16 one is lost, and with a share of .5 two are.
PIECES = 8  #: of useful content, with something left out between any two: a page of so many is a list
#: of the words from the first piece to the last: with less useful content, all of them are taken
LIST_SHARE = 0.8

_WORD = re.compile(r"\w")
_LETTER = re.compile(r"[^\W\d_]")
_NUMBER = re.compile(r"\d+")
_BITS = (1 << 64) - 1


@dataclass(frozen=True, slots=True, eq=False)
class PageLines:
    """All lines of a page, in order."""

    lines: list[str]
    useful: Mask  #: those of its text as it was read
    keys: U64  #: equal for lines that differ in nothing but numbers and blanks; 0 for those without letters
    words: U32
    title: int = 0  #: equal for titles that differ in nothing but numbers and blanks; 0: the page has none


def lines_of(text: str, left_out: tuple[tuple[int, str], ...], title: str = "") -> PageLines:
    """The lines of a page from its text and the blocks that were left out of it."""
    lines, useful = cut_lines(text, left_out)
    keys = np.array([line_key(line) for line in lines], np.uint64)
    words = np.array([block_words(line) for line in lines], np.uint32)
    return PageLines(lines, np.array(useful, np.bool_), keys, words, title_key(title))


def cut_lines(text: str, left_out: tuple[tuple[int, str], ...]) -> tuple[list[str], list[bool]]:
    """The lines, and which of them are useful content."""
    lines: list[str] = []
    useful: list[bool] = []
    for piece, is_useful in _pieces(text, left_out):
        some = [line for line in piece.split("\n") if line and not line.isspace()]
        lines += some
        useful += [is_useful] * len(some)
    return lines, useful


def _pieces(text: str, left_out: tuple[tuple[int, str], ...]) -> Iterator[tuple[str, bool]]:
    done = 0
    for at, piece in left_out:
        yield text[done:at], True
        yield piece, False
        done = at
    yield text[done:], True


def line_key(line: str) -> int:
    """A number for a line, whatever its dates and page numbers are. A line of numbers alone is data, never frame: 0.
    Good in this process alone."""
    if _LETTER.search(line) is None:
        return 0
    return hash(_NUMBER.sub("0", " ".join(line.lower().split()))) & _BITS or 1


def title_key(title: str) -> int:
    """A number for the title of a page, other than that of an equal line; 0 for none, or one without letters."""
    key = line_key(title)
    return hash(("title", key)) & _BITS or 1 if key else 0


def least_with_line(pages: int) -> int:
    """How many pages of a folder must have a line for it to be frame."""
    return int(np.ceil(SHARE * pages - 1e-9))


def own_text(page: PageLines, frame: Mask, firsts: U64, named: bool = False) -> str | None:
    """What a page is compared by; None: by its text as it was read. *frame* are its lines that are frame; *firsts* is
    of its common lines the first page that has them or `CROWD`, and 0 of the others. A page that is *named*, with a
    title that no other page of its folder has, is no copy however little is left of it."""
    own = ~frame
    kept = page.useful & own
    count = int(page.words[kept].sum())
    if _is_long_copy(page, own, named):
        return None
    if int(page.words[own].sum()) <= SHORT_WORDS:
        kept = _short(page, own, firsts)
    elif _pieces_of(kept[own]) >= PIECES:
        places = np.flatnonzero(kept)
        listed = own.copy()
        listed[: places[0]] = listed[places[-1] + 1 :] = False
        if count < LIST_SHARE * int(page.words[listed].sum()):
            kept = listed
    text = "\n".join([page.lines[i] for i in np.flatnonzero(kept).tolist()])
    if np.array_equal(kept, page.useful) or _WORD.search(text) is None:
        return None
    return text


def few_own_lines(page: PageLines, frame: Mask, firsts: U64, named: bool = False) -> I64:
    """The places of the lines by which a page is compared that has few words of its own; none of another page."""
    own = ~frame
    kept = own & (firsts == 0)
    few = 0 < int(page.words[kept].sum()) <= FEW_WORDS and int(page.words[own].sum()) <= SHORT_WORDS
    if not few or _is_long_copy(page, own, named) or not np.array_equal(_short(page, own, firsts), kept):
        return np.zeros(0, np.int64)
    return np.flatnonzero(kept)


def _short(page: PageLines, own: Mask, firsts: U64) -> Mask:
    """The lines that a short page is compared by."""
    kept = own & (firsts == 0)
    return own if _words_once(page, kept) < OWN_WORDS or _is_copy(page, own, firsts) else kept


def _is_long_copy(page: PageLines, own: Mask, named: bool) -> bool:
    """Whether next to nothing of the useful content is the page's own."""
    whole = int(page.words[page.useful].sum())
    return not named and whole >= COPY_WORDS and int(page.words[page.useful & own].sum()) < OWN_SHARE * whole


def _words_once(page: PageLines, marked: Mask) -> int:
    """The words of the lines that are marked, of equal ones once; not of data."""
    counted = np.flatnonzero(marked & (page.keys != 0))
    _, firsts = np.unique(page.keys[counted], return_index=True)
    return int(page.words[counted[firsts]].sum())


def _is_copy(page: PageLines, own: Mask, firsts: U64) -> bool:
    """Whether a few other pages have most of a page, all of them the same lines."""
    common = np.flatnonzero(own & (firsts != 0) & (firsts != CROWD))
    if not len(common):
        return False
    _, places, lines = np.unique(firsts[common], return_inverse=True, return_counts=True)
    words = np.bincount(places, page.words[common])
    return float(words[lines >= COPY_LINES].max(initial=0)) > FRAME_SHARE * int(page.words[own].sum())


def _pieces_of(marked: Mask) -> int:
    """How many stretches are marked."""
    return int(marked[:1].sum()) + int(np.count_nonzero(marked[1:] & ~marked[:-1]))
