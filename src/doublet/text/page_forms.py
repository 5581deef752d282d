"""Lines of one form → the words that fill it in: "The node you are looking for is at Author" (T3).

A generator of pages writes stubs that differ in a name. Each of their lines is on one page alone, and yet nearly all of
it is on many. So the rule of `doublet.text.site_frame` is applied once more, to lines and words instead of pages and
lines. Own lines of pages with few words that begin or end alike are of one form. A word that nearly all pages of a form
have belongs to the form; the others are what the page says. Explained in docs/explanation/text-from-documents.md.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from doublet.text.site_frame import COMMON_PAGES, U64, least_with_line

# Tuned on eleven sites, zsh's and Tomcat's manuals among them, with frames that stay and with advertisements
# (docs/decisions/0066-frames-of-sites.md). With 2, 3, 4 and 8 words the answers are nearly the same.
FORM_WORDS = 4  #: that lines of one form have in common at their beginning or at their end
#: words of the form that stay before and after one that fills it in. A name alone is found in every list of names: with
#: 1, 2, 3 and 4 there are 129, 91, 94 and 113 other pairs of pages on seven sites. More makes names of two words alike.
AROUND = 2

_BITS = (1 << 64) - 1


def form_rows(folder: int, lines: Iterable[str]) -> U64:
    """What is counted of a page: a row for each form that its lines may be of, with 0, and one for each word of it."""
    found: set[tuple[int, int]] = set()
    for line in lines:
        words = line.lower().split()
        for form in _forms(folder, words):
            found.add((form, 0))
            found.update((form, _key_in(form, word)) for word in words)
    return np.array(list(found), np.uint64).reshape(-1, 2)


def words_of_forms(rows: U64) -> U64:
    """The keys of the words that belong to forms; *rows* are those of all pages that have these forms."""
    _, places = np.unique(rows[:, 0], return_inverse=True)
    pages = np.bincount(places[rows[:, 1] == 0], minlength=1)
    least = np.array(
        [least_with_line(count) if count >= COMMON_PAGES else 1 << 60 for count in pages.tolist()]
    )
    keys, firsts, counts = np.unique(rows[:, 1], return_index=True, return_counts=True)
    found: U64 = keys[(keys != 0) & (counts >= least[places[firsts]])]
    return found


def without_forms(lines: list[str], folder: int, known: U64) -> list[str]:
    """The lines, of those that fill in a form only the words that do and those around them. *known* are the keys of
    words of forms, sorted."""
    return [_filled_in(line, folder, known) for line in lines] if len(known) else lines


def _filled_in(line: str, folder: int, known: U64) -> str:
    words = line.lower().split()
    own = np.ones(len(words), np.bool_)
    for form in _forms(folder, words):
        keys = np.array([_key_in(form, word) for word in words], np.uint64)
        own &= known[np.minimum(np.searchsorted(known, keys), len(known) - 1)] != keys
    if own.all() or not own.any():
        return line
    near = np.convolve(own, np.ones(2 * AROUND + 1, np.int64))[AROUND : AROUND + len(own)] > 0
    return " ".join([word for word, is_near in zip(line.split(), near.tolist(), strict=True) if is_near])


def _forms(folder: int, words: list[str]) -> list[int]:
    """The keys of the forms that a line may be of: by its beginning and by its end. Good in this process alone."""
    if len(words) <= FORM_WORDS:
        return []
    ends = (words[:FORM_WORDS], words[-FORM_WORDS:])
    return [hash((folder, side, *some)) & _BITS for side, some in enumerate(ends)]


def _key_in(form: int, word: str) -> int:
    return hash((form, word)) & _BITS or 1
