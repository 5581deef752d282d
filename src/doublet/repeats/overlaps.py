"""Groups that share places: what goes on in some places only is a longer group of its own besides.

Takes groups of a result. Shares of the text count each word once by themselves (`doublet.repeats.search`).
"""

from __future__ import annotations

from collections.abc import Sequence

from doublet.repeats.model import RepeatGroup


def count_places(groups: Sequence[RepeatGroup]) -> int:
    """How many places *groups* have. One inside another is the same place."""
    count, last, reach = 0, "", -1
    places = {(f.file, f.start, -f.end) for group in groups for f in group.fragments}
    for file, _, behind in sorted(places):
        reach = reach if file == last else -1
        count += -behind > reach
        last, reach = file, max(reach, -behind)
    return count


def shared_places(groups: Sequence[RepeatGroup]) -> list[list[int]]:
    """For each group the numbers of those before it with which it shares a place: half of the shorter one at least."""
    found: list[set[int]] = [set() for _ in groups]
    places = sorted(
        (f.file, f.start, -f.end, number) for number, group in enumerate(groups) for f in group.fragments
    )
    around: list[tuple[int, int, int]] = []  # start, end, number of those that may reach into the next
    last = ""
    for file, start, behind, number in places:
        end = -behind
        around = [one for one in around if one[1] > start] if file == last else []
        for begin, stop, other in around:
            if other != number and 2 * (min(end, stop) - start) >= min(end - start, stop - begin):
                found[max(number, other)].add(min(number, other))
        around.append((start, end, number))
        last = file
    return [sorted(numbers) for numbers in found]
