"""Repeats inside one document or a tree of documentation: tokenise, filter, search, balance, report (P1).

`search` is the pipeline over texts in memory; `SEARCHES` maps the name of an algorithm to its function, and each step
can be used by itself. `doublet.jobs.find_repeats` reads files and calls it. Ideas: docs/explanation/repeats.md.
"""

from __future__ import annotations

import functools
import hashlib
import importlib
import itertools
import re
from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from doublet import kernels
from doublet.kernels.blanks import QUIET
from doublet.model import Note
from doublet.progress import Progress
from doublet.repeats.balance import TokenGroups, balance, drop_lonely, significance
from doublet.repeats.model import (
    FORMULA_MEMBERS,
    FORMULA_TOKENS,
    NEIGHBOUR_GAP,
    NEIGHBOUR_TOKENS,
    TEMPLATE_ALIKE,
    TEMPLATE_MEMBERS,
    TEMPLATE_TOKENS,
    RepeatFile,
    RepeatFragment,
    RepeatGroup,
    RepeatOptions,
    Repeats,
)
from doublet.repeats.tokenise import TokenSequence, tokenise
from doublet.text.markup import MarkedText
from doublet.text.tokens import Canon

Search = Callable[[TokenSequence, RepeatOptions], tuple[TokenGroups, list[Note]]]


def _search(module: str, name: str) -> Search:
    """A search that is imported when it is first used: the command starts quicker."""

    def find(sequence: TokenSequence, options: RepeatOptions) -> tuple[TokenGroups, list[Note]]:
        found: tuple[TokenGroups, list[Note]] = getattr(
            importlib.import_module(f"doublet.repeats.{module}"), name
        )(sequence, options)
        return found

    return find


#: algorithm → its search: a sequence of tokens and options to groups of stretches, and notes
SEARCHES: dict[str, Search] = {
    "auto": _search("auto", "find_auto"),
    "exact": _search("exact", "find_exact"),
    "edit": _search("by_edit", "find_by_edit"),
    "ngrams": _search("by_ngrams", "find_by_ngrams"),
}
HASHED_AT_ONCE = 4096  #: texts, so that little memory is needed on the way
# Signs that belong to the last word: between it and a blank. A comma or a dash alone says that the sentence goes on.
_CLOSING = re.compile(r"(?![,–—-]+(?:\s|$))[^\w\s]{1,20}(?=\s|$)")
# Signs that belong to the first: between a blank and it; at the beginning of a line, or brackets and quotes, also with
# a blank behind them ("$ cat", "( see", "« < version »").
_OPENING = re.compile(
    r"(?<=\s)(?:[^\w\s]{1,20}|[“«„(\[{<]{1,3}[ \t])$|(?<=\n)\s{0,20}(?P<first>[^\w\s][^\w\n]{0,20}[^\S\n])$"
)
# Signs that close what the fragment opens, with a blank before them ("“ Layer ”", "/* a comment */").
_CLOSING_APART = re.compile(r"[ \t]{1,2}(?:(?P<comment>\*/|-->)|(?P<close>[”»)\]]))[.!?:;]*(?=\s|$)")
# Signs with which the sentence ends behind the last word ("less than $#.", "the `page` .").
_FINISH = re.compile(r"[^\w\n]{1,60}?[.!?…](?=\s|$)")
# The marks of the first and the last word of a paragraph of reStructuredText.
_FIRST_MARKS = re.compile(r"(?<!\S)(?::[\w:.+-]+:)?(?:\*{1,2}|`{1,2})$")
_LAST_MARKS = re.compile(r"(?:\s{1,20}<[^<>`]{1,400}>)?(?:\*{1,2}|`{1,2}_{0,2})(?=[.!?:;,)»”]|\s|$)")
_WORD = re.compile(r"\w*[^\W\d]\w*")  # no number
_OPENERS = {"”": "“", "»": "«", ")": "(", "]": "["}
_LOOK_BACK = 48  #: characters before a fragment that are looked at


def search(
    marked_texts: Sequence[tuple[str, MarkedText]],
    options: RepeatOptions,
    progress: Progress | None = None,
    threads: int = 1,
) -> Repeats:
    """Repeats in *marked_texts*: names of files, each with what its markup says. The same with any *threads*."""
    progress = progress or Progress()
    progress.step("tokenising", 0, None, "tokens")
    sequence = tokenise([marked for _, marked in marked_texts], options, threads)
    sequence.code()  # while the words are there
    progress.step("searching", 0, len(sequence), "tokens")
    groups, notes = SEARCHES[options.algorithm](sequence, options)
    count = len(sequence)
    sequence.ids = np.zeros(0, np.uint32)  # from here on only places count
    if options.balance and options.algorithm != "auto":
        groups = balance(groups, borders=set(sequence.cuts.tolist()))
    groups, flat = _ordered(drop_lonely(groups), options.least)
    progress.step("writing", 0, len(groups), "groups")
    if not count:
        notes.append(Note("nothing_to_look_for"))
    edges = sequence.offsets.tolist()
    covered = _covered(flat, sequence)
    files = tuple(
        RepeatFile(
            name,
            marked.kind,
            len(marked.text),
            two - one,
            int(inside) / (two - one) if two > one else 0.0,
            marked.text,
            marked.masked,
        )
        for (name, marked), (one, two), inside in zip(
            marked_texts, itertools.pairwise(edges), covered, strict=True
        )
    )
    built = _built(
        groups,
        flat,
        sequence,
        [name for name, _ in marked_texts],
        signs=options.tokens == "punctuation",
        words=options.tokens in ("word", "punctuation"),
    )
    return Repeats(
        algorithm=options.algorithm,
        parameters=options.to_dict(),
        files=files,
        tokens=count,
        share=float(covered.sum()) / count if count else 0.0,
        groups=tuple(built),
        notes=tuple(notes),
    )


def _flat(groups: TokenGroups) -> NDArray[np.int64]:
    """All stretches, one after the other: start, end."""
    return np.array([edge for group in groups for edge in group], np.int64).reshape(-1, 2)


def _ordered(groups: TokenGroups, least: int) -> tuple[TokenGroups, NDArray[np.int64]]:
    """Groups with at least *least* tokens on average, the most significant first; and all their stretches."""
    flat = _flat(groups)
    if not groups:
        return groups, flat
    sizes = np.array([len(group) for group in groups], np.int64)
    totals = np.add.reduceat(flat[:, 1] - flat[:, 0], np.cumsum(sizes) - sizes)
    values = (totals * totals / sizes).tolist()
    kept = np.flatnonzero(totals >= least * sizes).tolist()
    kept.sort(key=lambda number: (-values[number], groups[number]))
    if kept == list(range(len(groups))):
        return groups, flat
    groups = [groups[number] for number in kept]
    return groups, _flat(groups)


def _covered(flat: NDArray[np.int64], sequence: TokenSequence) -> NDArray[np.int64]:
    """How many tokens of each file stand in a repeat."""
    flat = flat[np.argsort(flat[:, 0], kind="stable")]
    reach = np.maximum.accumulate(flat[:, 1])
    told = np.concatenate([[0], reach[:-1]]) if len(flat) else reach
    fresh = np.maximum(0, flat[:, 1] - np.maximum(flat[:, 0], told))
    owner = np.searchsorted(sequence.offsets, flat[:, 0], "right") - 1
    return np.bincount(owner, fresh, len(sequence.marked_texts)).astype(np.int64)


def _built(
    groups: TokenGroups,
    flat: NDArray[np.int64],
    sequence: TokenSequence,
    names: Sequence[str],
    *,
    signs: bool,
    words: bool,
) -> list[RepeatGroup]:
    """Groups with places in the files; the places of the tokens are given up on the way. Signs beside a fragment go
    with it, unless *signs* are tokens and belong to a fragment already. Tokens are *words*, or lines and sentences."""
    owners = np.searchsorted(sequence.offsets, flat[:, 0], "right") - 1
    owner = owners.tolist()
    in_code = np.diff(sequence.code_before(flat)).reshape(-1)  # tokens of each stretch
    masks = [marked.masked for marked in sequence.marked_texts]
    starts = sequence.starts[flat[:, 0]].tolist()
    ends = sequence.ends(flat[:, 1] - 1).tolist()
    sequence.starts, sequence.sizes = (
        np.zeros(0, np.uint32),
        np.zeros(0, np.uint8),
    )  # no longer needed, and large
    for at, (number, start, end) in enumerate([] if signs else zip(owner, starts, ends, strict=True)):
        mask = masks[number]
        sign = mask[end : end + 1]
        for _ in range(2 if sign and sign not in " \n" else 0):
            # A sign, the mark that closes the last word, and the full stop behind it.
            closing = _CLOSING.match(mask, end)
            end = closing.end() if closing else end  # noqa: PLW2901
            if mask[end : end + 1] != QUIET:
                break
            end = _behind_marks(mask, sequence.marked_texts[number].text, end)  # noqa: PLW2901
        closed = _end_of_listing(sequence.marked_texts[number], end)
        if closed > end:
            end = closed  # noqa: PLW2901
        elif mask[end - 1] not in ".!?…:;":
            finish = _FINISH.match(mask, end)
            end = finish.end() if finish else end  # noqa: PLW2901
        ends[at] = end
        if end + 1 < len(mask) and mask[end].isspace() and mask[end + 1] in "”»)]*- \t":
            apart = _CLOSING_APART.match(mask, end)
            close = apart["close"] if apart else ""
            if apart and (
                not close or mask.count(_OPENERS[close], start, end) > mask.count(close, start, end)
            ):
                ends[at] = apart.end()
        ends[at] = _behind_reference(sequence.marked_texts[number], ends[at])
        if sequence.marked_texts[number].kind == "rst":
            ends[at] = _behind_last_marks(mask, sequence.marked_texts[number].text, ends[at])
            start = starts[at] = _before_first_marks(mask, sequence.marked_texts[number].text, start)  # noqa: PLW2901
        if sequence.marked_texts[number].code:
            start = starts[at] = _begin_of_listing(sequence.marked_texts[number], start)  # noqa: PLW2901
        if mask[start - 1 : start] == QUIET:
            start = starts[at] = _before_marks(mask, sequence.marked_texts[number].text, start)  # noqa: PLW2901
        near = mask[start - 3 if start > 3 else 0 : start]
        gap = near[-2:-1]
        if near[-1:] in ("", "\n") or gap.isalnum() or (near[:-2].isalnum() and not gap.isspace()):
            continue  # a line begins, or a word stands before it: most are so
        around = mask[max(0, start - _LOOK_BACK) : start]
        before = around.rsplit(None, 1)[-1:]  # the word or the signs before it; words are left alone
        if before and not before[0][0].isalnum():
            opening = _OPENING.search(around if start > _LOOK_BACK else f"\n{around}")
            if opening:
                starts[at] = start - len(opening["first"] or opening[0])
    table = _PlaceTable(sequence.marked_texts, owners)
    first, behind = np.array(starts, np.int64), np.array(ends, np.int64)
    lines, columns = table.lines(owners, first)
    last = np.maximum(behind - 1, first)
    end_lines, end_columns = table.lines(owners, last)
    sections, places = table.labels(owners, first)
    shared: dict[str, str] = {}  # equal texts are one
    rows = zip(
        [names[number] for number in owner],
        starts,
        ends,
        lines.tolist(),
        columns.tolist(),
        end_lines.tolist(),
        (end_columns + behind - last).tolist(),
        (flat[:, 1] - flat[:, 0]).tolist(),
        sections,
        places,
        [
            shared.setdefault(text := sequence.marked_texts[o].text[one:two], text)
            for o, one, two in zip(owner, starts, ends, strict=True)
        ],
        strict=True,
    )
    fragments = list(map(functools.partial(tuple.__new__, RepeatFragment), rows))
    hashes = text_hashes(
        [
            f.text if masks[o] is sequence.marked_texts[o].text else masks[o][f.start : f.end]
            for o, f in zip(owner, fragments, strict=True)
        ],
        sequence.threads,
    )
    out: list[RepeatGroup] = []
    taken: dict[str, int] = {}
    at = 0
    for group in groups:
        part = slice(at, at + len(group))
        at += len(group)
        distinct = sorted(set(hashes[part]))
        name = (
            "r" + hashlib.blake2b(b"".join(h.to_bytes(8, "big") for h in distinct), digest_size=5).hexdigest()
        )
        taken[name] = taken.get(name, 0) + 1
        out.append(
            RepeatGroup(
                id=name if taken[name] == 1 else f"{name}-{taken[name]}",
                significance=significance(group),
                tokens=sum(end - start for start, end in group) / len(group),
                equal=len(distinct) == 1,
                fragments=tuple(fragments[part]),
                kind=_kind(group, fragments[part], masks, owner[part], int(in_code[part].sum()), words=words),
            )
        )
    return out


def _end_of_listing(marked: MarkedText, end: int) -> int:
    """Where the listing ends whose last word ends before *end*: the brackets that close it belong to it."""
    at = bisect_left(marked.code, end, key=lambda span: span.end)
    if at == len(marked.code) or marked.code[at].start >= end:
        return end
    rest = marked.masked[end : marked.code[at].end]
    if any(map(str.isalnum, rest)):
        return end
    return _behind_reference(marked, end + len(rest.rstrip()))


def _behind_reference(marked: MarkedText, end: int) -> int:
    """The place behind the character reference that stands for the last sign, if one does."""
    if marked.text[end - 1] == "&" != marked.masked[end - 1]:
        return marked.text.find(";", end) + 1 or end
    return end


def _begin_of_listing(marked: MarkedText, start: int) -> int:
    """Where the listing begins whose first word begins at *start*: the brackets that open it belong to it."""
    at = bisect_right(marked.code, start, key=lambda span: span.start) - 1
    if at < 0 or marked.code[at].end <= start:
        return start
    signs = marked.masked[marked.code[at].start : start]
    return start - len(signs.lstrip()) if not any(map(str.isalnum, signs)) else start


def _behind_marks(mask: str, text: str, end: int) -> int:
    """The place behind marks that close a word: they have no blanks, and a blank or a sign follows them."""
    at = end
    while at < len(mask) and mask[at] == QUIET and not text[at].isspace():
        at += 1
    if "<" in text[end:at]:  # the tag that opens the next word may have blanks
        at = text.rfind(">", end, at) + 1 or end
    return at if at == len(mask) or not (mask[at].isalnum() or mask[at] == text[at] == QUIET) else end


def _before_marks(mask: str, text: str, start: int) -> int:
    """The same before marks that open one; a tag, which may have blanks, is left out."""
    at = start
    if text[at - 1] == ">":
        return start
    while at and mask[at - 1] == QUIET and not text[at - 1].isspace():
        at -= 1
    return at if not at or mask[at - 1] != QUIET else start


def _behind_last_marks(mask: str, text: str, end: int) -> int:
    """The place behind marks that close the last word of a paragraph of reStructuredText: blanks stand for them."""
    marks = _LAST_MARKS.match(text, end)
    if not marks or not mask[end : marks.end()].isspace():
        return end
    closing = _CLOSING.match(mask, marks.end())
    return closing.end() if closing else marks.end()


def _before_first_marks(mask: str, text: str, start: int) -> int:
    """The same before marks that open the first: a role goes with them."""
    marks = _FIRST_MARKS.search(text, max(0, start - _LOOK_BACK), start)
    return marks.start() if marks and mask[marks.start() : start].isspace() else start


def _kind(
    group: list[tuple[int, int]],
    fragments: Sequence[RepeatFragment],
    masks: Sequence[str],
    owner: Sequence[int],
    in_code: int,
    *,
    words: bool,
) -> str:
    """What a group is: mostly code, if so many of its tokens are *in_code*; a few words in many places, in several that
    differ in more than a word of ten, or in any number of them if they only announce what follows; places side by
    side; or text."""
    places, total = len(group), sum(end - start for start, end in group)
    if 2 * in_code > total:
        return "listing"
    if not words:
        return "passage"
    if total <= FORMULA_TOKENS * places and (
        places >= FORMULA_MEMBERS or all(fragment.text.endswith(":") for fragment in fragments)
    ):
        return "formula"
    near = total <= NEIGHBOUR_TOKENS * places and _side_by_side(fragments, masks, owner)
    text = "neighbour" if near else "passage"
    if places < TEMPLATE_MEMBERS or total >= TEMPLATE_TOKENS * places:
        return text
    texts = (masks[file][f.start : f.end].casefold() for file, f in zip(owner, fragments, strict=True))
    first, *others = (set(_WORD.findall(text)) for text in texts)
    alike = (len(first & other) >= TEMPLATE_ALIKE * max(len(first), len(other)) for other in others)
    return text if all(alike) else "formula"


def _side_by_side(fragments: Sequence[RepeatFragment], masks: Sequence[str], owner: Sequence[int]) -> bool:
    """Whether most places follow the one before them, with no more than a title or a name between them. All words count
    there, those of listings and tables that are left out as well."""
    if len(set(owner)) > 1:
        return False
    places = sorted((f.start, f.end) for f in fragments)
    between = (
        _WORD.finditer(masks[owner[0]], end, start) for (_, end), (start, _) in itertools.pairwise(places)
    )
    short = sum(next(itertools.islice(words, NEIGHBOUR_GAP, None), None) is None for words in between)
    return 2 * short > len(places) - 1


class _PlaceTable:
    """Lines, sections and places of all files that have repeats, looked up for all fragments at once.

    Files are laid end to end, so that one sorted array serves them all.
    """

    def __init__(self, marked_texts: Sequence[MarkedText], owners: NDArray[np.int64]) -> None:
        self._base = np.cumsum([0, *(len(marked.text) + 1 for marked in marked_texts)])
        self._first = np.zeros(len(marked_texts), np.int64)  # number of the first line of each file
        lengths = array("q")  # of the lines of all these files
        counts, bases = [], []
        marks: tuple[list[int], list[int]] = ([], [])
        texts: tuple[list[str], list[str]] = ([], [])
        for number in np.flatnonzero(np.bincount(owners)).tolist():
            marked = marked_texts[number]
            base = int(self._base[number])
            self._first[number] = len(lengths)
            _add_lines(marked.text, lengths)
            counts.append(len(lengths) - int(self._first[number]))
            bases.append(base)
            sections = [
                (heading.span.start, f"{heading.number} {heading.title}") for heading in marked.headings
            ]
            for into, labels, found in zip(marks, texts, (sections, marked.places), strict=True):
                into.append(base)  # before the first heading there is none
                labels.append("")
                into += [base + start for start, _ in found]
                labels += [label for _, label in found]
        ends = np.cumsum(np.array(lengths, np.int64) + 1)
        begins = np.concatenate([[0], ends[:-1]]) if len(ends) else ends
        first = np.cumsum([0, *counts])[:-1]
        self._begins = begins + np.repeat(np.array(bases, np.int64) - begins[first], counts)
        self._marks = [np.array(found, np.int64) for found in marks]
        self._texts = texts

    def lines(
        self, owners: NDArray[np.int64], where: NDArray[np.int64]
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Line and column of characters, from 1."""
        place = self._base[owners] + where
        line = np.searchsorted(self._begins, place, "right") - 1
        return line - self._first[owners] + 1, place - self._begins[line] + 1

    def labels(self, owners: NDArray[np.int64], where: NDArray[np.int64]) -> tuple[list[str], list[str]]:
        """The section and the place (page, paragraph) of each character."""
        place = self._base[owners] + where
        out = []
        for marks, texts in zip(self._marks, self._texts, strict=True):
            which = np.searchsorted(marks, place, "right") - 1
            out.append([texts[at] for at in which.tolist()])
        return out[0], out[1]


def _add_lines(text: str, lengths: array[int], at_once: int = 1 << 18) -> None:
    """The lengths of the lines of *text*, as `str.split` cuts them; of a long text in pieces, so that its lines are
    not held all at once."""
    at = 0
    while len(text) - at > at_once:
        end = text.rfind("\n", at, at + at_once)
        end = end if end >= 0 else text.find("\n", at + at_once)
        if end < 0:
            break
        lengths.extend(map(len, text[at:end].split("\n")))
        at = end + 1
    lengths.extend(map(len, text[at:].split("\n") if at else text.split("\n")))


def text_hashes(texts: Sequence[str], threads: int = 1) -> list[int]:
    """One number for the canonical words of each text; 0 for a text without words."""
    known = dict.fromkeys(texts, 0)
    different = list(known)
    for at in range(0, len(different), HASHED_AT_ONCE):
        some = different[at : at + HASHED_AT_ONCE]
        batch = Canon().tokens(some, threads=threads if len(some) > 64 else 1)
        lengths = np.diff(batch.offsets.astype(np.int64))
        values, offsets = kernels.shingle(batch.hashes, batch.offsets, max(int(lengths.max(initial=1)), 1))
        out = np.zeros(len(some), np.uint64)
        full = np.diff(offsets.astype(np.int64)) > 0
        out[full] = values[offsets[:-1][full].astype(np.int64)]
        known.update(zip(some, out.tolist(), strict=True))
    return [known[text] for text in texts]


__all__ = ["SEARCHES", "RepeatFile", "RepeatFragment", "RepeatGroup", "RepeatOptions", "Repeats", "search"]
