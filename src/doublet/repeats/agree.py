"""Members of a group begin with the same sentence or item, and end with the same.

Chains end where words stop to match: in the middle of a sentence or an item as often as not, and not in the same one
for all members. Here the members of a group get the first unit that they have in common, and the last: a few words
further out, or further in. Those that have another one in common are a group of their own. A member that agrees with
none says something else and goes.
"""

from __future__ import annotations

import functools
import itertools
import math
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import NDArray

from doublet.repeats.blocks import NEAR, PIECE, Blocks
from doublet.repeats.edges import EDGE_UNIT, SHORT
from doublet.repeats.headings import LABEL_WORDS
from doublet.repeats.told import WIDER, Members, Over, Scored, enter, holders_of, rescored, width
from doublet.repeats.wholes import Cells, Listings, Wholes

# Chosen on the eight labelled manuals and by what was refused in others (docs/explanation/repeats.md). Mean recall of
# the manuals: .876 with 48 words, .871 with 24; the text reported hardly differs.
WORDS = 48  #: of a unit that are compared, from the edge on; and tokens by which joined members may overlap
# Recall of all fragments and mean of the manuals: .965 and .894 with .5, .964 and .894 with .6, .961 and .890 with .65,
# .952 and .853 with .75. Below .65 readers refuse most, and more of what is short.
ALIKE = 0.65  #: of the longer of two members that must be in common
# On the same eight: .963 and .892 with 1,690 groups with .4, .961 and .890 with 1,665 with .75 and with 1,650 with .8,
# .956 and .866 with .85. Nothing is more alike than 1.
SHORT_ALIKE = 0.8  #: the same of members of less than `SHORT` tokens
# Chosen on the same eight: mean .895 with .6 and .8, .887 with .9, and 2.26, 2.22 and 2.20 times the accepted text.
# Mean of the manuals .885 with .5 and .4 (edges that share less than half are not the same), .883 with .65.
HALF = 0.5  #: the same of whole sentences around what is word for word the same
NEARLY = 0.8  #: the same of members that agree on no edges
# Chosen by reading, for no manual marks code: .8 lets prototypes of functions through.
CODE_ALIKE = 0.9  #: the same in code and rows of tables, which are alike by nature
# With 0 four groups of 1,625 are told in two parts; 6 gives what 3 gives.
GAP = 3  #: tokens between two groups that follow each other: the number of the next section
PIVOTS = 4  #: members whose units are tried as the common one: .878 with 2, .883 with 4
# On the same eight: .966 and .896 with 128 members, .959 and .894 with 512, .950 and .892 without a limit.
MOST = 256  #: members of a group that is looked at: larger ones are frames of pages and formulas

Unit = frozenset[int]  #: the words of a sentence or an item, from the edge on
Place = tuple[
    int, tuple[int, int], Unit
]  #: how much a member is worth that begins or ends there, and its unit
NUMBERS = frozenset([0])  #: all numbers are one word


class Agreement:
    """Finds the edges on which the members of a group agree."""

    def __init__(self, blocks: Blocks, wholes: Wholes, cells: Cells) -> None:
        self._are_rows, self._in_cells = cells.are_rows, cells.in_cells
        self._cuts_one = wholes.cuts
        self._parts_one = wholes.in_sections.parts
        self._borders = sorted({*blocks.full, *cells.edges})
        self._inside, self._in_code = blocks.inside, blocks.in_code
        self._is_heading, self._begins_block = blocks.begins_section, set(blocks.starts).__contains__
        self._listings = dict(blocks.sequence.code()[0])
        self._blocks, self._marks = blocks.starts, blocks.edges.marks
        self._introduces = functools.cache(blocks.introduces)
        self._cuts: list[int] = blocks.sequence.cuts.tolist()
        self._begins_part = {0, *self._cuts}.__contains__
        self._ids = blocks.sequence.ids
        self._raw = memoryview(np.ascontiguousarray(self._ids).data).cast("B")  # quick to compare

    def parted(self, groups: list[Scored], least: int) -> list[Scored]:
        """*groups* whose members begin and end alike: one that was not so becomes several, or none. Those that are word
        for word the same stay. What became smaller has a lower score."""
        return [
            part
            for group in groups
            for part in (
                [group]
                if group.equal
                else [rescored(group, members) for members in self(group.members, least)]
            )
        ]

    def whole(self, groups: list[Scored], least: int) -> list[Scored]:
        """*groups*, those that are word for word the same with whole sentences if all members can have these."""
        return [
            group._replace(members=self._whole(group.members, least)) if group.equal else group
            for group in groups
        ]

    def joined(self, groups: list[Scored]) -> list[Scored]:
        """*groups*, two of them as one where each member of the one goes on in a member of the other.

        A sentence that one copy says twice in a row parts an exact copy: both halves have it. So members may overlap.
        """
        out = list(groups)
        order = sorted(range(len(groups)), key=lambda number: groups[number].members)
        starts = [groups[number].members[0][0] for number in order]
        gone: set[int] = set()
        for number in order:
            while number not in gone:
                members = out[number].members
                end = members[0][1]
                near = order[bisect_left(starts, end - WORDS) : bisect_right(starts, end + GAP)]
                other = next(
                    (one for one in near if one not in gone and self._goes_on(members, out[one].members)), -1
                )
                if other < 0:
                    break
                whole = [(one[0], two[1]) for one, two in zip(members, out[other].members, strict=True)]
                equal = (
                    out[number].equal and out[other].equal and len({end - start for start, end in whole}) == 1
                )
                out[number] = out[number]._replace(members=whole, equal=equal)
                gone.add(other)
        return [group for number, group in enumerate(out) if number not in gone]

    def grown(self, groups: list[Scored], often: NDArray[np.uint8]) -> list[Scored]:
        """*groups*, those whose members all go on with the same words, or begin after the same, with these: whole
        sentences, lines and elements, up to the frame of a page, and over headings up to sections that a better group
        tells. Those that are nearly the same are taken if a paragraph or an item ends there, if others follow, or if
        little differs. A listing is taken whole. *often* tells of each token how often its sentence or line is
        there."""
        out: list[Scored] = []
        over: Over = {}
        todo = groups[::-1]
        while todo:
            group = todo.pop()
            members = group.members
            if holders_of(members, over, 0.0):  # a better one has grown over it
                continue
            if len(members) <= MOST:
                members = self._grown_behind(members, often, over)
                members = members if group.equal else self._to_the_end(members)
                longer = self._grown_before(members, often, over)
                # With all of an item it may go on into the next one.
                members = members if longer == members else self._grown_behind(longer, often, over)
            if members != group.members:
                group = group._replace(members=members, equal=self._equal(members))
            if 2 < len(members) <= MOST:
                todo += self._most_go_on(group, often, over)
            # It keeps those places, too: whoever changes it has to know them all.
            enter(group.members, len(out), over)
            out.append(group)
        return out

    def _most_go_on(self, group: Scored, often: NDArray[np.uint8], over: Over) -> list[Scored]:
        """A longer group of those members of *group* that go on with the same words, or nearly, or begin after the
        same, with these, if they are most of them but not all, and no group *over* them tells it; or none."""
        members = group.members
        for units, grown, edge in (
            ([(end, self._next(end)) for _, end in members], self._grown_behind, 0),
            ([(self._last(start), start) for start, _ in members], self._grown_before, 1),
        ):
            if any(self._is_heading(unit[edge]) for unit in units):
                continue  # sections are said in many places, each beside others
            said = [
                frozenset(self._ids[one:two].tolist()) if 0 <= one < two <= len(self._ids) else frozenset()
                for one, two in units
            ]
            for words, _ in Counter(said).most_common(PIVOTS):
                alike = [words == own or _share(words, own) > ALIKE for own in said] if words else []
                if not len(members) < 2 * sum(alike) < 2 * len(members):
                    continue
                part = list(itertools.compress(members, alike))
                longer = part if holders_of(part, over, 0.0) else grown(part, often, over)
                if longer != part:
                    return [rescored(group, part)._replace(members=longer, equal=self._equal(longer))]
        return []

    def _grown_behind(self, members: Members, often: NDArray[np.uint8], over: Over) -> Members:
        starts, ends = (list(edges) for edges in zip(*members, strict=True))
        limits = [*starts[1:], len(self._ids)]
        best = ends
        section: int | None = None
        while ends[0] in self._listings or self._may_go_on([(end, self._next(end)) for end in ends[:2]]):
            titled = any(map(self._is_heading, ends))
            if titled and holders_of([(end, end + 1) for end in ends], over, 0.0):
                break  # a better group tells the section behind
            announced = all(end in self._listings for end in ends)
            following = [self._listings[end] if announced else self._next(end) for end in ends]
            units = list(zip(ends, following, strict=True))
            if any(stop > limit for stop, limit in zip(following, limits, strict=True)):
                break
            equal = self._equal(units)
            near = equal or self._near(units)
            if not near or self._is_frame(units, often):
                break
            ends = following
            if titled:
                section = ends[0]  # a heading belongs to what follows
            if (
                not titled
                and (section is None or ends[0] - section >= PIECE or all(map(self._ends_section, ends)))
                and (equal or all(map(self._begins_block, ends)) or self._variants(units, SHORT_ALIKE))
                and (ends[0] - best[0] >= EDGE_UNIT or not self._begins_block(best[0]))
                and not all(map(self._introduces, ends))
                and not any(map(self._parts_one, starts, ends))
            ):
                best = ends
        return list(zip(starts, best, strict=True))

    def _ends_section(self, token: int) -> bool:
        return token >= len(self._ids) or self._begins_part(token) or self._is_heading(token)

    def _may_go_on(self, units: Members) -> bool:
        """Whether what two members go on with may be said to be the same: most are not, and that is seen at once."""
        return all(0 <= start < end <= len(self._ids) for start, end in units) and (
            self._equal(units) or self._near(units)
        )

    def _to_the_end(self, members: Members) -> Members:
        """*members* with the rest of the paragraphs in which they end if of each only a word or a few are missing."""
        whole = [(start, self._blocks[bisect_left(self._blocks, end)]) for start, end in members]
        near = all(new - old <= LABEL_WORDS for (_, old), (_, new) in zip(members, whole, strict=True))
        apart = all(two[0] >= one[1] for one, two in itertools.pairwise(whole))
        return whole if near and apart and not any(itertools.starmap(self._parts_one, whole)) else members

    def _grown_before(self, members: Members, often: NDArray[np.uint8], over: Over) -> Members:
        starts, ends = (list(edges) for edges in zip(*members, strict=True))
        limits = [0, *ends[:-1]]
        best = starts
        begun_inside = any(map(self._inside, starts, ends))
        section: int | None = None
        while self._may_go_on([(self._last(start), start) for start in starts[:2]]):
            before = list(map(self._last, starts))
            units = list(zip(before, starts, strict=True))
            if any(start < limit for start, limit in zip(before, limits, strict=True)):
                break
            equal = self._equal(units)
            if not (equal or self._near(units)) or self._is_frame(units, often):
                break
            titled = any(map(self._is_heading, before))
            if (
                not titled
                and any(map(self._is_heading, starts))
                and holders_of([(start - 1, start) for start in starts], over, 0.0)
            ):
                break  # a better group tells the section before
            if not titled and any(map(self._is_heading, starts)):
                section = starts[0]
            starts = before
            if (
                (section is None or section - starts[0] >= PIECE or titled)
                and (equal or all(map(self._begins_block, starts)) or self._variants(units, SHORT_ALIKE))
                and not any(map(self._parts_one, starts, ends))
                and (begun_inside or not any(map(self._inside, starts, ends)))
            ):
                best = starts
        return list(zip(best, ends, strict=True))

    def _is_frame(self, stretches: Members, often: NDArray[np.uint8]) -> bool:
        """Whether one of *stretches* begins a paragraph or an item, and is said many more times. What stands inside a
        paragraph belongs to it."""
        many = width(stretches) + WIDER
        return any(
            often[start] >= many and self._begins_block(start) and int(often[start:end].min()) >= many
            for start, end in stretches
        )

    def _variants(self, stretches: Members, share: float) -> bool:
        """Whether *stretches* share more than that of their words."""
        texts = [frozenset(self._ids[start:end].tolist()) - NUMBERS for start, end in stretches]
        return all(len(texts[0] & text) > share * max(len(texts[0]), len(text)) for text in texts[1:])

    def _next(self, end: int) -> int:
        """Where the sentence, line or element ends that begins at *end*; nowhere at the end of a part."""
        count = len(self._ids)
        if end >= count or self._begins_part(end):
            return count + 1
        at = bisect_right(self._borders, end)
        return self._borders[at] if at < len(self._borders) else count + 1

    def _last(self, start: int) -> int:
        """Where the one begins that ends at *start*."""
        if self._begins_part(start):
            return -1
        at = bisect_left(self._borders, start) - 1
        return self._borders[at] if at >= 0 else -1

    def _near(self, units: Members) -> bool:
        """Whether groups go on with these, which are nearly the same. Cells of tables are alike by nature; of a heading
        half is enough, for it names what is another thing in each place."""
        titles = [self._is_heading(start) for start, _ in units]
        if any(titles):
            return all(titles) and self._variants(units, HALF)
        in_cells = any(start < end and self._in_cells(start, end) for start, end in units)
        return self._variants(units, SHORT_ALIKE if in_cells else ALIKE)

    def _equal(self, stretches: Members) -> bool:
        """Whether *stretches* are there, and word for word the same."""
        start, end = stretches[0]
        size, raw, width = end - start, self._raw, self._ids.itemsize
        words = raw[start * width : end * width].tobytes()
        return size > 0 and all(
            two - one == size and raw[one * width : two * width].tobytes() == words
            for one, two in stretches[1:]
        )

    def _goes_on(self, members: Members, others: Members) -> bool:
        return (
            len(members) == len(others)
            and all(
                one[0] < two[0]
                and one[1] < two[1]
                and one[1] - WORDS <= two[0] <= one[1] + GAP
                and self._part(*one) == self._part(*two)
                and not self._parts_one(one[0], two[1])
                for one, two in zip(members, others, strict=True)
            )
            and all(two[1] <= one[0] for two, one in zip(others, members[1:], strict=False))
        )

    def _part(self, start: int, _end: int) -> int:
        return bisect_right(self._cuts, start)

    def listed(self, groups: list[Scored], listings: Listings) -> list[Scored]:
        """*groups* of which no member is a piece of a listing."""
        out = []
        for group in groups:
            members = listings.whole(group.members)
            if members == group.members:
                out.append(group)
            else:
                alike = self._alike(sorted(set(members)), CODE_ALIKE)
                out += [group._replace(members=part, equal=False) for part in alike]
        return out

    def __call__(self, members: Members, least: int, share: float = ALIKE) -> list[Members]:
        """Groups of those *members* that begin and end alike, with at least *least* tokens each, and share that much of
        their words."""
        if len(members) > MOST:
            return [members]
        out: list[Members] = []
        for ended in self._parted(members, self._ends):
            free = dict(
                zip(ended, [0, *(end for _, end in ended)], strict=False)
            )  # where the one before ends
            for begun in self._parted(ended, functools.partial(self._begins, free)):
                out += self._alike([(start, end) for start, end in begun if end - start >= least], share)
        # What is nearly word for word the same is told wherever it begins and ends, if no better place is near.
        fair = [
            member for member in members if all(map(self._fair, member)) and not self._introduces(member[1])
        ]
        return out or self._alike(fair, NEARLY)

    def _alike(self, members: Members, share: float) -> list[Members]:
        """*members* parted into those that share enough words. Numbers are masked: they say nothing."""
        texts = {(start, end): frozenset(self._ids[start:end].tolist()) - NUMBERS for start, end in members}
        out = []
        while len(members) > 1:
            middle = sorted(members, key=lambda member: len(texts[member]))[(len(members) - 1) // 2]
            words = texts[middle]
            short = middle[1] - middle[0] < SHORT
            least = max(share, SHORT_ALIKE) if short and share >= ALIKE else share
            if self._in_code(*middle) or self._are_rows(*middle):
                least = 1.0 if short else CODE_ALIKE
            alike = [
                member
                for member in members
                if texts[member] == words
                or len(texts[member] & words) > least * max(len(texts[member]), len(words))
            ]
            if len(alike) > 1:
                out.append(alike)
            gone = {*alike, middle}
            members = [member for member in members if member not in gone]
        return out

    def _whole(self, members: Members, least: int) -> Members:
        if len(members) > MOST or all(self._is_whole(*member) for member in members):
            return members
        parted = self(members, least, HALF)
        return parted[0] if len(parted) == 1 and len(parted[0]) == len(members) else members

    def _fair(self, edge: int) -> bool:
        """Whether a member can begin or end there: at a border, or far from any."""
        at = bisect_left(self._borders, edge - WORDS)
        far = at == len(self._borders) or self._borders[at] > edge + WORDS
        return far or bool(self._marks[edge])

    def _is_whole(self, start: int, end: int) -> bool:
        at, behind = (bisect_left(self._borders, edge) for edge in (start, end))
        return self._borders[at] == start and self._borders[behind] == end and not self._introduces(end)

    def _parted(
        self,
        members: Members,
        places_of: Callable[[int, int], Iterator[tuple[int, int, Unit]]],
    ) -> list[Members]:
        """*members* parted by the unit that they begin or end with. The most words count; members are worth less that
        begin inside a paragraph or an item and go on into others."""
        out = []
        edges = [
            [
                (end - start - (PIECE if self._inside(start, end) else 0), (start, end), unit)
                for start, end, unit in places_of(*member)
            ]
            for member in members
        ]
        edges = [places for places in edges if places]
        while len(edges) > 1:
            best: list[Place | None] = []
            most, top = -math.inf, sum(max(places)[0] for places in edges)
            pivots = sorted({number * (len(edges) - 1) // (PIVOTS - 1) for number in range(PIVOTS)})
            units = {place[2] for places in edges for place in places}
            for unit in dict.fromkeys(place[2] for pivot in pivots for place in edges[pivot]):
                same = {other for other in units if _same(unit, other)}
                found = [next((place for place in places if place[2] in same), None) for places in edges]
                if len(found) - found.count(None) < 2:
                    continue
                words = sum(place[0] for place in found if place)
                if words > most:
                    best, most = found, words
                if words >= top:
                    break  # there is no better one
            if not best:
                break
            out.append([place[1] for place in best if place])
            edges = [places for places, place in zip(edges, best, strict=True) if not place]
        return out

    def _begins(
        self, free: dict[tuple[int, int], int], start: int, end: int
    ) -> Iterator[tuple[int, int, Unit]]:
        """What a member could be with other beginnings, the nearest first; and the unit that it begins with then."""
        borders = self._borders
        at = bisect_right(self._cuts, start) - 1
        lowest = max(free[start, end], self._cuts[at] if at >= 0 else 0)
        own = bisect_right(borders, start) - 1  # of the sentence in which it begins
        first = bisect_left(borders, max(lowest, start - NEAR))
        if 0 <= own < first and borders[own] >= max(lowest, start - WORDS):
            first = own
        last = bisect_right(borders, start + (end - start) // 2, first)
        for place in sorted(range(first, last), key=lambda place: (abs(borders[place] - start), place)):
            begin = borders[place]
            if self._cuts_one(begin, end):
                continue
            behind = borders[place + 1] if place + 1 < len(borders) else len(self._ids)
            yield begin, end, frozenset(self._ids[begin : min(behind, begin + WORDS)].tolist())

    def _ends(self, start: int, end: int) -> Iterator[tuple[int, int, Unit]]:
        """The same for the end: not behind the paragraph in which the member ends, and not with a label."""
        borders = self._borders
        own = bisect_left(borders, end)
        first = bisect_left(borders, end - (end - start) // 2)
        at = bisect_left(self._blocks, end)
        highest = min(end + NEAR, self._blocks[at] if at < len(self._blocks) else len(self._ids))
        last = max(own, bisect_right(borders, highest) - 1)
        for place in range(min(last, len(borders) - 1), first - 1, -1):
            stop = borders[place]
            before = borders[place - 1] if place else 0
            if (
                stop < end + WORDS
                and not self._introduces(stop)
                and not (stop > start and self._cuts_one(start, stop))
            ):
                yield start, stop, frozenset(self._ids[max(before, stop - WORDS) : stop].tolist())


def _share(one: Unit, two: Unit) -> float:
    """Share of the words of the longer that are in common. Numbers are masked: they say nothing."""
    return len((one & two) - NUMBERS) / max(1, len(one - NUMBERS), len(two - NUMBERS))


def _same(one: Unit, two: Unit) -> bool:
    """Whether more than half of the words of both are in common, or most of the shorter: where a full stop is missing,
    two sentences are one unit."""
    common, shorter, longer = len(one & two), *sorted((len(one), len(two)))
    return 2 * common > longer or (shorter >= NEAR and 4 * common > 3 * shorter)
