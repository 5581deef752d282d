"""The default search: what a person would accept as a repeat, exact or not, in nearly linear time.

Two sources of groups: the text aligned with itself (runs of four equal tokens, chained over small differences), and
stretches between two borders (sentence, line, element) that occur again word for word; long runs of a few words come
on top. A score ranks them and a rule
without labels says how many to report. Figures and how the numbers were chosen: docs/explanation/repeats.md; before
one is changed, run ``benchmarks/repeats.py --only quality``.
"""

from __future__ import annotations

import itertools
import math

import numpy as np
from numpy.typing import NDArray

from doublet import kernels
from doublet.model import Note
from doublet.repeats.agree import Agreement
from doublet.repeats.balance import TokenGroups
from doublet.repeats.blocks import Blocks
from doublet.repeats.borders import SymbolCounts
from doublet.repeats.edges import EDGE_UNIT, shared_edges
from doublet.repeats.exact import equal_pairs
from doublet.repeats.formulas import find_formulas
from doublet.repeats.headings import Headings
from doublet.repeats.model import FORMULA_MEMBERS, RepeatOptions
from doublet.repeats.runs import find_runs
from doublet.repeats.tokenise import BLOCK, LINE, SENTENCE, TokenSequence
from doublet.repeats.told import (
    PAIR_TOKENS,
    WIDER,
    Scored,
    mean_length,
    merged,
    with_own_words,
    without_covered,
    without_frames,
    without_inner,
)
from doublet.repeats.wholes import Cells, Listings, Wholes

I64 = NDArray[np.int64]
F64 = NDArray[np.float64]

SEED, NEAREST, GAP, JOIN_GAP, MIN_MATCHED = 4, 16, 20, 30, 6
JOIN_COST = 1  #: quarters of the gap between two chains that each must have matched
WHOLE = 20  #: tokens of equal passages that are taken whole, whatever chains make of them
MIN_SHARE = 0.45  #: of the longer side that must be matched
SAME_PLACE = 0.75  #: overlap / union from which two stretches are one place
NEIGHBOURS = 24  #: stretches after it, by start, that a stretch is compared with
SNAP = 3  #: tokens by which an edge may move to a border
SNAP_SHARE, SNAP_MOST = 0.25, 8  #: of a longer stretch that share of its tokens, at most so many
PAIR_SHARE = 0.65  #: matched share from which on a pair counts in full
LEAST_WORDS = 3  #: between blanks: an address, a name made of parts or a row of numbers is no repeat
# Chosen on the eight labelled manuals: with 4 and 7 recall is the same, with 38 groups less; with 8 the mean of the
# manuals falls from .890 to .870, with 14 to .841.
SCRAP = 7  #: tokens, or words between blanks: less in fewer places than a formula has is not worth telling
# Chosen on the same eight, recall of all fragments, mean of the manuals and groups: .961, .891 and 1,656 with 16,
# .961, .891 and 1,675 with 12, .953, .885 and 1,614 with 24; 1,706 groups where every part stays.
PART = 16  #: tokens from which on a part of a group stays, whatever its own score
COHERENT = 0.65  #: mean share of a member's word pairs that 30 % of the group have
SYMBOL_WEIGHT = 8.0
NUMBER_WEIGHT, NUMBERS_USUAL = 8.0, 0.2  #: of the share of numbers beyond the usual
THRESHOLD, EXPONENT = 12.5, 4.0  #: the rule: score >= THRESHOLD · (log2(tokens) / 16) ** EXPONENT


class _FlatGroups:
    """Groups as flat arrays: stretches, the group of each, and of each group its score and how many words match."""

    def __init__(self, start: I64, end: I64, group: I64, score: F64, matched: F64) -> None:
        self.start, self.end, self.group, self.score, self.matched = start, end, group, score, matched


def find_auto(sequence: TokenSequence, options: RepeatOptions) -> tuple[TokenGroups, list[Note]]:
    """Groups whose score passes the rule, the best first; and notes."""
    if len(sequence) < 2:
        return [], []
    edges = sequence.edges()
    marks = edges.marks
    symbols = SymbolCounts(sequence, edges.signs_before, edges.signs_behind)
    limit = options.level * THRESHOLD * (math.log2(max(len(sequence), 2)) / 16) ** EXPONENT
    pairs = equal_pairs(sequence, WHOLE)
    units = _unit_hashes(sequence, marks)
    headings = Headings(sequence, edges)
    blocks = Blocks(sequence, edges, headings)
    titles = headings.titles(np.flatnonzero(marks), units)
    groups = [
        *_listed(_aligned(sequence, pairs, marks, symbols, options), limit, equal=False),
        *_listed(_bordered(sequence, marks, units, edges.kinds, symbols, options), limit, equal=True),
        *_listed(_whole(pairs, marks, symbols, limit), limit, equal=True),
    ]
    often = _unit_widths(marks, units, options.least)
    groups = with_own_words(groups, marks, limit, options.least, often)
    groups = titles.left_out(groups)
    groups = [group for group in groups if _is_text(group.members, sequence)]
    groups = titles.left_out(shared_edges(groups, blocks, options.least))
    wholes, listings, cells = Wholes(sequence), Listings(sequence), Cells(sequence, edges)
    groups = wholes.fit(groups, options.least, rests=True)
    agreement = Agreement(blocks, wholes, cells)
    groups = agreement.listed(groups, listings)
    groups = [group for group in groups if group.score >= limit]
    runs = find_runs(sequence, marks, options.least)
    if runs:  # what was aligned inside them says nothing more
        inside = np.zeros(len(sequence) + 1, np.int64)
        for start, end in itertools.chain.from_iterable(runs):
            inside[start + 1 : end + 1] = 1
        reach = np.cumsum(inside).tolist()
        groups = [
            group
            for group in groups
            if any(2 * (reach[end] - reach[start]) < end - start for start, end in group.members)
        ]
        groups += [
            Scored(math.log2(len(run)) * (run[0][1] - run[0][0]), run, 0.0, equal=True) for run in runs
        ]
    groups.sort(key=_rank)
    best = without_covered(groups, WHOLE, marks, blocks.closed)
    agreed = [
        group
        for group in agreement.parted(best, options.least)
        if group.equal or group.score >= limit or mean_length(group.members) >= PART
    ]
    # What a better group told may have gone with its edges: what is word for word the same comes back then.
    kept = {id(group.members) for group in best}
    agreed += [group for group in groups if group.equal and id(group.members) not in kept]
    groups = without_covered(sorted(agreed, key=_rank), WHOLE, marks, blocks.closed)
    groups = wholes.fit(agreement.joined(agreement.whole(groups, options.least)), options.least)
    groups = agreement.listed(groups, listings)
    offsets = sequence.offsets.tolist()
    groups = without_frames(cells.left_out(titles.left_out(groups)), offsets)
    groups = agreement.grown(
        agreement.joined(merged(groups, sequence.ids)), _page_widths(marks, units, sequence.offsets, often)
    )
    groups = agreement.joined(without_covered(sorted(groups, key=_rank), WHOLE, marks, blocks.closed))
    passages = without_inner(headings.cut([group.members for group in groups], options.least))
    if options.min_tokens is None:
        passages = [members for members in passages if not _is_scrap(members, sequence, options.level)]
    passages = [members for members in passages if not _are_other_numbers(members, sequence)]
    told = np.zeros(len(sequence), bool)
    for start, end in itertools.chain.from_iterable(passages):
        told[start:end] = True
    least = FORMULA_MEMBERS * options.level
    found = find_formulas(sequence, edges, told, least)
    formulas = [Scored(0.0, members, 0.0, equal=False) for members in headings.cut(found, options.least)]
    formulas = agreement.listed(wholes.fit(formulas, options.least), listings)
    formulas = without_frames(cells.left_out(titles.left_out(formulas)), offsets)
    formulas = [group for group in formulas if len(group.members) >= least]
    return passages + [group.members for group in formulas if _is_text(group.members, sequence)], []


def _rank(group: Scored) -> tuple[float, list[tuple[int, int]]]:
    """The best first."""
    return -group.score, group.members


def _listed(found: _FlatGroups, limit: float, *, equal: bool) -> list[Scored]:
    """Groups whose score passes the limit, one by one."""
    keep = (found.score >= limit)[found.group] if len(found.group) else np.zeros(0, bool)
    order = np.flatnonzero(keep)
    order = order[np.lexsort((found.start[order], found.group[order]))]
    bounds = np.flatnonzero(np.diff(found.group[order], prepend=-1))
    starts, ends = found.start[order].tolist(), found.end[order].tolist()
    numbers = found.group[order].tolist()
    return [
        Scored(
            float(found.score[numbers[one]]),
            list(zip(starts[one:two], ends[one:two], strict=True)),
            float(found.matched[numbers[one]]),
            equal,
        )
        for one, two in itertools.pairwise([*bounds.tolist(), len(order)])
    ]


def _is_text(members: list[tuple[int, int]], sequence: TokenSequence) -> bool:
    """Whether one of the first members has several words between blanks, and as many that are not numbers."""
    for start, end in members[:3]:
        if np.count_nonzero(sequence.ids[start:end]) < LEAST_WORDS:
            continue
        if len(_said(sequence, start, end).split(None, LEAST_WORDS)) >= LEAST_WORDS:
            return True
    return False


def _is_scrap(members: list[tuple[int, int]], sequence: TokenSequence, level: float) -> bool:
    """Whether *members* are a few words, in too few places for a formula. A path or an address is one word."""
    least = SCRAP * min(level, 1.0)
    return len(members) < FORMULA_MEMBERS and (
        mean_length(members) < least
        or all(len(_said(sequence, *member).split(None, SCRAP)) < least for member in members[:3])
    )


def _said(sequence: TokenSequence, start: int, end: int) -> str:
    text = sequence.marked_texts[sequence.file_of(start)].masked
    return text[int(sequence.starts[start]) : int(sequence.ends(end - 1))]


def _are_other_numbers(members: list[tuple[int, int]], sequence: TokenSequence) -> bool:
    """Whether *members* are mostly numbers, and not the same: all numbers are one word to the search."""
    (start, end), (other, stop) = members[:2]
    if 2 * np.count_nonzero(sequence.ids[start:end]) >= end - start:
        return False
    one, two = _said(sequence, start, end), _said(sequence, other, stop)
    return one.split() != two.split()


def _unit_widths(marks: NDArray[np.bool_], units: NDArray[np.uint64], least: int) -> NDArray[np.uint8]:
    """For each token: how often its unit is there, as a power of two; 0 for units of less than *least* tokens."""
    sizes = np.diff(np.flatnonzero(marks))
    _, which, counts = np.unique(units, return_inverse=True, return_counts=True)
    width = np.floor(np.log2(counts)).astype(np.uint8)[which.reshape(-1)]
    width[sizes < least] = 0
    return np.repeat(width, sizes)


def _page_widths(
    marks: NDArray[np.bool_], units: NDArray[np.uint64], offsets: I64, often: NDArray[np.uint8]
) -> NDArray[np.uint8]:
    """For each token of a unit that is there *often*: in how many files it is, as a power of two."""
    edges = np.flatnonzero(marks)
    widths = np.zeros(len(units), np.uint8)
    many = np.flatnonzero(often[edges[:-1]] >= WIDER)
    if len(offsets) > 1 << WIDER and len(many):
        _, which = np.unique(units[many], return_inverse=True)
        which = which.reshape(-1)
        files = np.searchsorted(offsets, edges[many], "right")
        pairs = np.unique(which * len(offsets) + files)
        widths[many] = np.floor(np.log2(np.bincount(pairs // len(offsets))))[which]
    return np.repeat(widths, np.diff(edges))


def _whole(
    pairs: tuple[I64, ...], marks: NDArray[np.bool_], symbols: SymbolCounts, limit: float
) -> _FlatGroups:
    """Long passages that are said again word for word: they are always told, as a whole."""
    later, earlier, length = (column[pairs[2] >= WHOLE] for column in pairs)
    if not len(length):
        return _nothing()
    starts = np.concatenate([later, earlier])
    ends = starts + np.concatenate([length, length])
    spans, which = np.unique(starts << 32 | ends, return_inverse=True)
    links = which.reshape(-1).astype(np.uint32)
    label = kernels.components(len(spans), links[: len(length)], links[len(length) :]).astype(np.int64)
    _, group = np.unique(label, return_inverse=True)
    group = group.reshape(-1)
    start, end = spans >> 32, spans & 0xFFFFFFFF
    size = _mean((end - start).astype(float), group, int(group.max()) + 1)
    start, end = _inwards(start, end, marks)
    end = _without_numbers(start, end, marks, symbols)
    bordered = (
        _mean(marks[start] & marks[end], group, len(size)) == 1.0
    )  # those of other groups are better else
    score = np.maximum(np.where(bordered, 2, 1) * np.log2(np.bincount(group)) * size, limit)
    return _FlatGroups(start, end, group, score, size)


def _inwards(start: I64, end: I64, marks: NDArray[np.bool_]) -> tuple[I64, I64]:
    """Edges moved to a border inside the stretch, where there is one near."""
    borders = np.flatnonzero(marks)
    first = borders[np.minimum(np.searchsorted(borders, start), len(borders) - 1)]
    last = borders[np.maximum(np.searchsorted(borders, end, "right") - 1, 0)]
    first = np.where((first - start <= SNAP_MOST) & (first >= start), first, start)
    last = np.where((end - last <= SNAP_MOST) & (last <= end), last, end)
    return first, last


def _aligned(
    sequence: TokenSequence,
    pairs: tuple[I64, ...],
    marks: NDArray[np.bool_],
    symbols: SymbolCounts,
    options: RepeatOptions,
) -> _FlatGroups:
    """Groups of places that are linked by chains of equal runs."""
    parts = sequence.parts()
    chains = kernels.self_chains(
        sequence.ids, parts, SEED, NEAREST, GAP, JOIN_GAP, max(MIN_MATCHED, 1), JOIN_COST
    )
    later, earlier, equal = pairs
    a, a_end, b, b_end, matched = (
        np.concatenate([column.astype(np.int64), more])
        for column, more in zip(chains, (later, later + equal, earlier, earlier + equal, equal), strict=True)
    )
    longer = np.maximum(a_end - a, b_end - b)
    share = matched / np.maximum(longer, 1)
    keep = (share >= MIN_SHARE) & (longer >= options.least)
    a, a_end, b, b_end, matched, share = (x[keep] for x in (a, a_end, b, b_end, matched, share))
    if not len(a):
        return _nothing()
    starts, ends = _snapped(np.concatenate([a, b]), np.concatenate([a_end, b_end]), marks)
    ends = _without_numbers(starts, ends, marks, symbols)
    spans, which = np.unique(starts << 32 | ends, return_inverse=True)
    which = which.reshape(-1)
    place, start, end = _places(spans >> 32, spans & 0xFFFFFFFF, which)
    left, right = place[which[: len(a)]], place[which[len(a) :]]
    apart = left != right
    left, right, share, matched = left[apart], right[apart], share[apart], matched[apart]
    label = _coherent_components(sequence, start, end, left, right, share)
    # Mean matched tokens of the links inside a group.
    inside = label[left] == label[right]
    total = np.bincount(label[left[inside]], matched[inside], len(start))
    count = np.bincount(label[left[inside]], minlength=len(start))
    used = np.flatnonzero(count[label] > 0)
    used = _without_overlaps(start, end, label, used)
    members = np.bincount(label[used], minlength=len(start))
    used = used[members[label[used]] > 1]
    groups, group = np.unique(label[used], return_inverse=True)
    group = group.reshape(-1)
    n = members[groups]
    begins = _near_border(start[used], marks)
    stops = _near_border(end[used], marks)
    density = _mean(symbols.density(start[used], end[used]), group, len(groups))
    length = _mean((end[used] - start[used]).astype(float), group, len(groups))
    matched_mean = total[groups] / count[groups]
    score = np.log2(n) * matched_mean * _pair_factor(n, length, matched_mean / np.maximum(length, 1))
    score *= (0.5 + 0.5 * _mean(begins, group, len(groups))) * (0.5 + 0.5 * _mean(stops, group, len(groups)))
    score *= np.exp(
        -SYMBOL_WEIGHT * density - NUMBER_WEIGHT * _numbers(symbols, start[used], end[used], group)
    )
    return _FlatGroups(start[used], end[used], group, score, matched_mean)


def _unit_hashes(sequence: TokenSequence, marks: NDArray[np.bool_]) -> NDArray[np.uint64]:
    """One number for the words of each unit between two borders."""
    edges = np.flatnonzero(marks)
    values = (sequence.ids.astype(np.uint64) + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15)
    longest = int(np.diff(edges).max(initial=1))
    return kernels.shingle(values, edges.astype(np.uint64), max(longest, 1))[0]


def _bordered(
    sequence: TokenSequence,
    marks: NDArray[np.bool_],
    units: NDArray[np.uint64],
    kinds: NDArray[np.uint8],
    symbols: SymbolCounts,
    options: RepeatOptions,
) -> _FlatGroups:
    """Stretches of one, two and three units between borders that occur again word for word."""
    edges = np.flatnonzero(marks)
    finished = (kinds & (SENTENCE | LINE | BLOCK)) != 0
    blocks = (kinds & BLOCK) != 0
    before = np.concatenate([[0], np.cumsum(blocks)])
    parts = sequence.parts()
    found: list[_FlatGroups] = []
    base = 0
    for run in (1, 2, 3):
        if len(edges) <= run:
            break
        hashes = units[: len(units) - run + 1].copy()
        for step in range(1, run):
            hashes = hashes * np.uint64(0x9E3779B97F4A7C15) + units[step : len(units) - run + 1 + step]
        start, end = edges[:-run], edges[run:]
        again = np.zeros(len(hashes), bool)  # a unit that follows itself is told by the unit alone
        for step in range(1, run):
            again |= units[: len(hashes)] == units[step : len(hashes) + step]
        whole = ~again & (end - start >= options.least) & (parts[start] == parts[end - 1])
        if run > 1:  # a word by itself at an edge says nothing more, nor does what stands beside a colon
            whole &= (edges[1 : len(start) + 1] - start >= EDGE_UNIT) & (
                end - edges[run - 1 : -1] >= EDGE_UNIT
            )
            whole &= finished[start] & finished[end]
            # What goes over several paragraphs or items begins with one.
            whole &= blocks[start] | (before[end] == before[start + 1])
        hashes, start, end = hashes[whole], start[whole], end[whole]
        _, group, counts = np.unique(hashes, return_inverse=True, return_counts=True)
        group = group.reshape(-1)
        again = counts[group] > 1
        start, end, group = start[again], end[again], group[again]
        kept = (
            _without_overlaps(start, end, group, np.arange(len(start))) if run > 1 else np.arange(len(start))
        )
        start, end, group = start[kept], end[kept], group[kept]
        labels, group, counts = np.unique(group, return_inverse=True, return_counts=True)
        group = group.reshape(-1)
        several = counts[group] > 1
        density = _mean(symbols.density(start, end), group, len(labels))
        length = _mean((end - start).astype(float), group, len(labels))
        numbers = _numbers(symbols, start, end, group) if len(start) else np.zeros(0)
        score = (
            2 * np.log2(np.maximum(counts, 1)) * length * _pair_factor(counts, length, np.ones(len(labels)))
        )
        score *= 1 - 0.5 * _mean(_dangling(sequence, end), group, len(labels))
        score *= np.exp(-SYMBOL_WEIGHT * density - NUMBER_WEIGHT * numbers)
        found.append(_FlatGroups(start[several], end[several], group[several] + base, score, length))
        base += len(labels)
    if not found:
        return _nothing()
    return _FlatGroups(
        np.concatenate([row.start for row in found]),
        np.concatenate([row.end for row in found]),
        np.concatenate([row.group for row in found]),
        np.concatenate([row.score for row in found]),
        np.concatenate([row.matched for row in found]),
    )


def _nothing() -> _FlatGroups:
    none = np.zeros(0, np.int64)
    return _FlatGroups(none, none, none, np.zeros(0), np.zeros(0))


def _mean(values: NDArray[np.generic], group: I64, count: int) -> F64:
    sizes = np.maximum(np.bincount(group, minlength=count), 1)
    means: F64 = np.bincount(group, values.astype(float), count) / sizes
    return means


def _numbers(symbols: SymbolCounts, start: I64, end: I64, group: I64) -> F64:
    """Share of the tokens of each group that are numbers, beyond the usual: much in a table of contents."""
    share = symbols.numbers(start, end)
    return np.maximum(0.0, _mean(share, group, int(group.max(initial=-1)) + 1) - NUMBERS_USUAL)


def _pair_factor(members: NDArray[np.generic], length: F64, share: F64) -> F64:
    """What stands there only twice may be chance: pairs count less the shorter and the less alike they are."""
    factor = np.minimum(1.0, length / PAIR_TOKENS) ** 2 * np.minimum(1.0, share / PAIR_SHARE) ** 4
    return np.where(members == 2, factor, 1.0)


def _dangling(sequence: TokenSequence, end: I64) -> NDArray[np.bool_]:
    """Whether stretches that end there end with a word after which a sentence must go on."""
    return np.isin(sequence.ids[end - 1], sequence.dangling if sequence.dangling is not None else [])


def _near_border(places: I64, marks: NDArray[np.bool_]) -> NDArray[np.bool_]:
    last = len(marks) - 1
    near: NDArray[np.bool_] = (
        marks[places] | marks[np.maximum(places - 1, 0)] | marks[np.minimum(places + 1, last)]
    )
    return near


def _snapped(start: I64, end: I64, marks: NDArray[np.bool_]) -> tuple[I64, I64]:
    """Edges moved to the nearest border, outwards in doubt: within `SNAP` tokens, or a share of a longer stretch.

    Never over the border of a part, which is a border too.
    """
    borders = np.flatnonzero(marks)  # the end is one
    at = np.cumsum(marks, dtype=np.uint32)  # how many stand at or before a token
    first, last = np.int64(0), np.int64(len(marks) - 1)

    def before(edge: I64) -> I64:
        return np.where(at[edge] > 0, borders[np.maximum(at[edge].astype(np.int64) - 1, 0)], first)

    def after(edge: I64) -> I64:
        behind = at[edge].astype(np.int64) - marks[edge]
        return np.where(behind < len(borders), borders[np.minimum(behind, len(borders) - 1)], last)

    reach = np.clip(((end - start) * SNAP_SHARE).astype(np.int64), SNAP, SNAP_MOST)

    def moved(edge: I64, outside: I64, inside: I64) -> I64:
        outwards, inwards = np.abs(edge - outside), np.abs(edge - inside)
        nearest = np.where(outwards <= inwards, outside, inside)
        return np.where(np.minimum(outwards, inwards) <= reach, nearest, edge)

    new_start, new_end = moved(start, before(start), after(start)), moved(end, after(end), before(end))
    bad = new_end - new_start < 2
    return np.where(bad, start, new_start), np.where(bad, end, new_end)


def _without_numbers(start: I64, end: I64, marks: NDArray[np.bool_], symbols: SymbolCounts) -> I64:
    """Ends before a number that stands by itself: that of the next section, which belongs to its title."""
    borders = np.flatnonzero(marks)
    for _ in range(2):
        last = borders[np.maximum(np.searchsorted(borders, end) - 1, 0)]  # where the last unit begins
        alone = (last - start >= 2) & (symbols.numbers(last, end) == 1.0)
        end = np.where(alone, last, end)
    return end


def _places(start: I64, end: I64, which: I64) -> tuple[I64, I64, I64]:
    """Stretches that nearly coincide are one place: number of the place of each, start and end of the places.

    The stretch that most chains have stands for its place, the longer one in doubt. Stretches come sorted.
    """
    weight = np.bincount(which, minlength=len(start))
    left: list[I64] = []
    right: list[I64] = []
    for step in range(1, min(NEIGHBOURS, len(start) - 1) + 1):
        overlap = np.minimum(end[:-step], end[step:]) - start[step:]
        union = np.maximum(end[:-step], end[step:]) - start[:-step]
        close = np.flatnonzero(overlap >= SAME_PLACE * union)
        if not len(close) and not (overlap > 0).any():
            break
        left.append(close)
        right.append(close + step)
    one = np.concatenate(left) if left else np.zeros(0, np.int64)
    two = np.concatenate(right) if right else np.zeros(0, np.int64)
    # Each stretch goes to the heaviest one near it, not to a chain of them: places must not creep along the text.
    rank = weight * (1 << 20) + np.minimum(end - start, (1 << 20) - 1)
    head = np.arange(len(start))
    best = rank.copy()
    for mine, other in ((one, two), (two, one)):
        order = np.argsort(rank[other], kind="stable")
        source, target = mine[order], other[order]
        better = rank[target] > best[source]
        source, target = source[better], target[better]
        head[source] = target  # the last, heaviest, stays
        best[source] = rank[target]
    for _ in range(4):
        head = head[head]
    heads, place = np.unique(head, return_inverse=True)
    return place.reshape(-1), start[heads], end[heads]


def _coherent_components(
    sequence: TokenSequence, start: I64, end: I64, left: I64, right: I64, share: F64
) -> I64:
    """Label of each place. Where members of a component have too little in common, its weakest links are cut."""
    alive = np.ones(len(left), bool)
    label = kernels.components(len(start), left.astype(np.uint32), right.astype(np.uint32)).astype(np.int64)
    doubtful = np.ones(len(start), bool)  # what was coherent once is not looked at again
    for least in (0.6, 0.7, 0.8, 0.9, 1.01):
        loose = _incoherent(sequence, start, end, label, doubtful)
        if not loose.any():
            break
        doubtful = loose[label]
        alive &= ~(loose[label[left]] & (share < least))
        label = kernels.components(
            len(start), left[alive].astype(np.uint32), right[alive].astype(np.uint32)
        ).astype(np.int64)
    return label


MEMBERS_READ = 48  #: of a group that are read to see whether it is coherent


def _incoherent(
    sequence: TokenSequence, start: I64, end: I64, label: I64, doubtful: NDArray[np.bool_]
) -> NDArray[np.bool_]:
    """For each label of the *doubtful* places: whether its members share too few word pairs."""
    sizes = np.bincount(label, minlength=len(start))
    order = np.argsort(label, kind="stable")
    order = order[(sizes[label[order]] > 2) & doubtful[order]]
    out = np.zeros(len(start), bool)
    if not len(order):
        return out
    first = np.flatnonzero(np.diff(label[order], prepend=-1))
    nth = np.arange(len(order)) - np.repeat(first, np.diff(np.append(first, len(order))))
    order = order[nth < MEMBERS_READ]
    lengths = np.maximum(end[order] - start[order] - 1, 0)
    member = np.repeat(np.arange(len(order)), lengths)
    reach = np.cumsum(lengths)
    at = np.repeat(start[order] - reach + lengths, lengths) + np.arange(int(reach[-1]))
    pair = (sequence.ids[at].astype(np.uint64) << np.uint64(32)) | sequence.ids[at + 1]
    key = pair * np.uint64(0x9E3779B97F4A7C15) ^ label[order][member].astype(np.uint64) * np.uint64(
        0xBF58476D1CE4E5B9
    )
    sort = np.lexsort((member, key))
    key, owner = key[sort], member[sort]
    fresh = np.ones(len(key), bool)
    fresh[1:] = (key[1:] != key[:-1]) | (owner[1:] != owner[:-1])
    key, owner = key[fresh], owner[fresh]
    begins = np.flatnonzero(np.concatenate([[True], key[1:] != key[:-1]]))
    times = np.repeat(np.diff(np.append(begins, len(key))), np.diff(np.append(begins, len(key))))
    group = label[order]
    read = np.bincount(group, minlength=len(start))
    common = times >= np.maximum(2, 0.3 * read[group[owner]])
    per_member = np.bincount(owner, common, len(order)) / np.maximum(
        np.bincount(owner, minlength=len(order)), 1
    )
    mean = np.bincount(group, per_member, len(start)) / np.maximum(read, 1)
    out[(read > 0) & (mean < COHERENT)] = True
    return out


def _without_overlaps(start: I64, end: I64, label: I64, chosen: I64) -> I64:
    """Of members of one group that overlap by half of the shorter, only the longer stays."""
    order = chosen[np.lexsort((-end[chosen], start[chosen], label[chosen]))]
    keep = np.ones(len(order), bool)
    starts, ends, labels = start[order].tolist(), end[order].tolist(), label[order].tolist()
    last = -1
    for i in range(len(order)):
        if last >= 0 and labels[last] == labels[i]:
            overlap = min(ends[last], ends[i]) - starts[i]
            shorter = min(ends[last] - starts[last], ends[i] - starts[i])
            if overlap * 2 >= shorter and overlap > 0:
                if ends[i] - starts[i] > ends[last] - starts[last]:
                    keep[last] = False
                    last = i
                else:
                    keep[i] = False
                continue
        last = i
    return order[keep]
