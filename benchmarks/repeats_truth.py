"""Accepted groups of the shared manuals, and how much of them a search found."""

from __future__ import annotations

import json
import lzma
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path

Fragments = Sequence[tuple[int, int]]
MORE = ("blender", "linux-man", "libldap-man")  # in the folder beside, with "-more" at the end of its name
MANUALS = ("gimp", "svnbook", "linux-kernel-doc", "docbook-guide", "python-requests", *MORE)


def _folders(folder: Path) -> tuple[Path, Path]:
    return folder, folder.with_name(f"{folder.name}-more")


def manual(folder: Path, name: str) -> str:
    folder = _folders(folder)[name in MORE]
    with lzma.open(folder / "docs" / f"{name}.txt.xz", "rt", encoding="utf-8") as stream:
        return stream.read()


def accepted(folder: Path) -> dict[str, list[list[tuple[int, int]]]]:
    """Groups of at least two accepted fragments, by manual."""
    out: dict[str, list[list[tuple[int, int]]]] = defaultdict(list)
    for each in _folders(folder):
        with lzma.open(each / "groups.jsonl.xz", "rt", encoding="utf-8") as stream:
            for line in stream:
                row = json.loads(line)
                found = [(f["start"], f["end"]) for f in row["fragments"] if f["status"] == "ACCEPT"]
                if len(found) > 1:
                    out[row["doc"]].append(found)
    return dict(out)


def union(fragments: Fragments) -> int:
    """Characters inside at least one fragment."""
    total = reach = 0
    for start, end in sorted(fragments):
        total += max(0, end - max(start, reach))
        reach = max(reach, end)
    return total


def found_fragments(gold: Sequence[Fragments], reported: Sequence[Fragments]) -> list[list[bool]]:
    """A fragment is found when a reported one covers half of it and stands in a group with one that covers half of
    another fragment of the same accepted group."""
    cells: dict[int, list[tuple[int, int, int, int]]] = defaultdict(list)
    for number, group in enumerate(reported):
        for member, (start, end) in enumerate(group):
            for cell in range(start >> 10, (end >> 10) + 1):
                cells[cell].append((start, end, number, member))
    out = []
    for group in gold:
        touched: list[set[tuple[int, int]]] = []
        for start, end in group:
            near = {row for cell in range(start >> 10, (end >> 10) + 1) for row in cells.get(cell, ())}
            touched.append(
                {
                    (row[2], row[3])
                    for row in near
                    if 2 * (min(end, row[1]) - max(start, row[0])) >= end - start
                }
            )
        members: dict[int, set[tuple[int, int]]] = defaultdict(
            set
        )  # reported group → (gold fragment, its member)
        for index, hits in enumerate(touched):
            for number, member in hits:
                members[number].add((index, member))
        out.append(
            [
                any(
                    any(other != index and their != member for other, their in members[number])
                    for number, member in hits
                )
                for index, hits in enumerate(touched)
            ]
        )
    return out
