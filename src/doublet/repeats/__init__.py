"""Repeats inside one document or a tree of documentation: tokenise, filter, search, balance, report (P1).

`search` is the pipeline over texts in memory; `SEARCHES` maps the name of an algorithm to its function, and each step
can be used by itself. `doublet.jobs.find_repeats` reads files and calls it. Ideas: docs/explanation/repeats.md.
"""

from __future__ import annotations

import hashlib
import itertools
import re
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from doublet import kernels
from doublet.progress import Progress
from doublet.repeats.auto import find_auto
from doublet.repeats.balance import TokenGroups, balance, drop_lonely, significance
from doublet.repeats.by_edit import find_by_edit
from doublet.repeats.by_ngrams import find_by_ngrams
from doublet.repeats.exact import find_exact
from doublet.repeats.markup import Plan
from doublet.repeats.model import RepeatFile, RepeatFragment, RepeatGroup, RepeatOptions, Repeats
from doublet.repeats.tokenise import TokenSequence, tokenise
from doublet.text.tokens import Canon

Search = Callable[[TokenSequence, RepeatOptions], tuple[TokenGroups, list[str]]]

#: algorithm → its search: a sequence of tokens and options to groups of stretches, and notes
SEARCHES: dict[str, Search] = {
    "auto": find_auto,
    "exact": find_exact,
    "edit": find_by_edit,
    "ngrams": find_by_ngrams,
}
_CLOSING = re.compile(r"[.!?…]+[\"'»”’)\]]*(?=\s|$)|[»”’)\]]+[.!?…]*(?=\s|$)")


def search(
    plans: Sequence[tuple[str, Plan]], options: RepeatOptions, progress: Progress | None = None
) -> Repeats:
    """Repeats in *plans*: names of files and what their markup says."""
    progress = progress or Progress()
    progress.step("tokenising", 0, None, "tokens")
    sequence = tokenise([plan for _, plan in plans], options)
    progress.step("searching", 0, len(sequence), "tokens")
    groups, notes = SEARCHES[options.algorithm](sequence, options)
    if options.balance and options.algorithm != "auto":
        groups = balance(groups, borders=set(sequence.cuts.tolist()))
    groups = [
        group
        for group in drop_lonely(groups)
        if sum(end - start for start, end in group) >= options.least * len(group)
    ]
    groups.sort(key=lambda group: (-significance(group), group))
    progress.step("writing", 0, len(groups), "groups")
    if not len(sequence):
        notes.append("there are no words: there is nothing to look for")
    covered = _covered(groups, len(sequence))
    edges = sequence.offsets.tolist()
    files = tuple(
        RepeatFile(
            name,
            plan.kind,
            len(plan.text),
            two - one,
            float(covered[one:two].sum()) / (two - one) if two > one else 0.0,
        )
        for (name, plan), (one, two) in zip(plans, itertools.pairwise(edges), strict=True)
    )
    return Repeats(
        algorithm=options.algorithm,
        parameters=options.to_dict(),
        files=files,
        tokens=len(sequence),
        share=float(covered.sum()) / len(sequence) if len(sequence) else 0.0,
        groups=tuple(_built(groups, sequence, [name for name, _ in plans])),
        notes=tuple(notes),
    )


def _covered(groups: TokenGroups, count: int) -> NDArray[np.bool_]:
    """Which tokens stand in a repeat."""
    steps = np.zeros(count + 1, np.int64)
    flat = np.array([edge for group in groups for edge in group], np.int64).reshape(-1, 2)
    np.add.at(steps, flat[:, 0], 1)
    np.add.at(steps, flat[:, 1], -1)
    inside: NDArray[np.bool_] = np.cumsum(steps[:-1]) > 0
    return inside


def _built(groups: TokenGroups, sequence: TokenSequence, names: Sequence[str]) -> list[RepeatGroup]:
    """Groups with places in the files."""
    flat = np.array([edge for group in groups for edge in group], np.int64).reshape(-1, 2)
    owner = np.searchsorted(sequence.offsets, flat[:, 0], "right") - 1
    starts = sequence.starts[flat[:, 0]].astype(np.int64)
    ends = sequence.ends[flat[:, 1] - 1].astype(np.int64)
    rows: list[RepeatFragment | None] = [None] * len(flat)
    for number in np.unique(owner).tolist():
        plan = sequence.plans[number]
        lines = np.cumsum([0, *(len(line) + 1 for line in plan.text.split("\n"))])
        here = np.flatnonzero(owner == number)
        for at in here.tolist():  # a fragment takes the full stop that ends it
            closing = _CLOSING.match(plan.masked, int(ends[at]))
            if closing:
                ends[at] = closing.end()
        first = np.searchsorted(lines, starts[here], "right") - 1
        last = np.searchsorted(lines, np.maximum(ends[here] - 1, starts[here]), "right") - 1
        columns, end_columns = starts[here] - lines[first] + 1, ends[here] - lines[last] + 1
        for at, line, column, end_line, end_column in zip(
            here.tolist(), first.tolist(), columns.tolist(), last.tolist(), end_columns.tolist(), strict=True
        ):
            start, end = int(starts[at]), int(ends[at])
            heading = plan.section_at(start)
            rows[at] = RepeatFragment(
                file=names[number],
                start=start,
                end=end,
                line=line + 1,
                column=column,
                end_line=end_line + 1,
                end_column=end_column,
                tokens=int(flat[at, 1] - flat[at, 0]),
                section=f"{heading.number} {heading.title}" if heading else "",
                text=plan.text[start:end],
            )
    fragments = [row for row in rows if row is not None]
    hashes = text_hashes(
        [sequence.plans[o].masked[f.start : f.end] for o, f in zip(owner.tolist(), fragments, strict=True)]
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
            )
        )
    return out


def text_hashes(texts: Sequence[str]) -> list[int]:
    """One number for the canonical words of each text; 0 for a text without words."""
    if not texts:
        return []
    batch = Canon().tokens(list(texts))
    lengths = np.diff(batch.offsets.astype(np.int64))
    values, offsets = kernels.shingle(batch.hashes, batch.offsets, max(int(lengths.max(initial=1)), 1))
    out = np.zeros(len(texts), np.uint64)
    full = np.diff(offsets.astype(np.int64)) > 0
    out[full] = values[offsets[:-1][full].astype(np.int64)]
    return [int(value) for value in out.tolist()]


__all__ = ["SEARCHES", "RepeatFile", "RepeatFragment", "RepeatGroup", "RepeatOptions", "Repeats", "search"]
