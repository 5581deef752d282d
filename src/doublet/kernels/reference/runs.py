"""Equal runs of words of two texts. Twin of native/runs.cpp."""

from __future__ import annotations

from doublet.kernels.reference.arguments import U32, U64, check_numbers
from doublet.kernels.reference.sets import columns

RUN_CAP = (
    64  #: places of one run of words that are looked at in the other text: keeps repetitive texts linear
)


def common_runs(a: U64, b: U64, size: int) -> tuple[U32, U32, U32]:
    """Maximal equal runs of at least *size* words, longest first, no word of *a* twice: starts in a and b, lengths.

    All left- and right-maximal runs are found; the longest are taken first (ties: earlier in a, then in b) and later
    ones keep only stretches of *a* that are still free, again of at least *size* words. Of a run of *size* words that
    stands in *b* more than `RUN_CAP` times only the first `RUN_CAP` places are looked at; and of runs from one place of
    *b* that begin inside an earlier one, as in a text that repeats itself, only the first `RUN_CAP`.
    """
    check_numbers(size)
    if size < 1:
        raise ValueError("a run has at least one word")
    places: dict[tuple[int, ...], list[int]] = {}
    words_a, words_b = a.tolist(), b.tolist()
    for j in range(len(words_b) - size + 1):
        known = places.setdefault(tuple(words_b[j : j + size]), [])
        if len(known) < RUN_CAP:
            known.append(j)
    runs = []
    # Place in b → end in a of its runs so far, and how many began inside one.
    reached: dict[int, tuple[int, int]] = {}
    for i in range(len(words_a) - size + 1):
        for j in places.get(tuple(words_a[i : i + size]), ()):
            if (
                i
                and j
                and words_a[i - 1] == words_b[j - 1]
                and j - 1 in places.get(tuple(words_a[i - 1 : i - 1 + size]), ())
            ):
                continue
            end, again = reached.get(j, (0, 0))
            again = again + 1 if i < end else 0
            if again > RUN_CAP:
                continue
            length = size
            while (
                i + length < len(words_a)
                and j + length < len(words_b)
                and words_a[i + length] == words_b[j + length]
            ):
                length += 1
            reached[j] = (max(end, i + length), again)
            runs.append((-length, i, j))
    taken = [False] * len(words_a)
    out = []
    for length, i, j in sorted(runs):
        at = i
        end = i - length
        while at < end:
            if taken[at]:
                at += 1
                continue
            stop = at
            while stop < end and not taken[stop]:
                stop += 1
            if stop - at >= size:
                taken[at:stop] = [True] * (stop - at)
                out.append((at, j + at - i, stop - at))
            at = stop
    return columns(out)
