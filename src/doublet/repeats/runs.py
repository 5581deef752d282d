"""A word or a few words said over and over again: "la la la …".

Such a run repeats itself at every distance, so the searches for passages that stand apart see either nothing in it or
too much. Here it is told once: cut into whole periods, one group for all runs of the same words.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from doublet.repeats.balance import TokenGroups
from doublet.repeats.tokenise import TokenSequence

LONGEST_PERIOD = 8  #: tokens; longer periods are sentences, which the searches see
LEAST_COPIES = 50  #: places of a group: a row of zeros in a table is none


def find_runs(sequence: TokenSequence, marks: NDArray[np.bool_], least: int) -> TokenGroups:
    """Groups of neighbouring stretches of at least *least* tokens, of runs of one period, in order of the text.

    *marks* says before which tokens a sentence or an element begins. Stretches begin there too, where the run has such
    places; a run of sentences of *least* tokens or more is none: those are seen as sentences.
    """
    ids = sequence.ids
    breaks = np.zeros(len(ids) + 1, bool)  # tokens with which a part begins
    breaks[sequence.cuts] = True
    found: dict[tuple[int, ...], list[tuple[int, int]]] = {}
    free = np.ones(len(ids), bool)  # a run of period 1 has the period 2 as well
    for period in range(1, min(LONGEST_PERIOD, len(ids) - 1) + 1):
        size = -(-least // period) * period
        again = np.zeros(len(ids) + 1, np.int8)
        again[period:-1] = (ids[period:] == ids[:-period]) & free[period:]
        if not len(_long(again, LEAST_COPIES * size - period)):  # quick, and nearly always so
            continue
        for shift in range(period):  # a token whose period began in another part says nothing
            again[shift:-1][breaks[: len(ids) - shift]] = 0
        edges = np.diff(again, prepend=0)
        begins, ends = np.flatnonzero(edges == 1) - period, np.flatnonzero(edges == -1)
        long = ends - begins >= LEAST_COPIES * size
        for begin, end in zip(begins[long].tolist(), ends[long].tolist(), strict=True):
            words = ids[begin : begin + period].tolist()
            borders = [int(marks[begin + at : end : period].sum()) for at in range(period)]
            if period >= least and 2 * period * max(borders) >= end - begin:
                continue
            turn = min(range(period), key=lambda at: (-borders[at], words[at:] + words[:at]))
            begin += turn  # noqa: PLW2901 - from here on the run is told
            stretches = [(at, at + size) for at in range(begin, end - size + 1, size)]
            key = min(tuple(words[at:] + words[:at]) for at in range(period))
            found.setdefault(key, []).extend(stretches)
            free[begin:end] = False
    return [sorted(group) for group in found.values() if len(group) >= LEAST_COPIES]


def _long(again: NDArray[np.int8], least: int) -> NDArray[np.intp]:
    """Whether there is a run of ones of *least* at all: the places just before a gap, far from the one before it."""
    gaps = np.flatnonzero(again == 0)
    return np.flatnonzero(np.diff(gaps, prepend=-1) > least)
