"""What a page of duplicates shows of a library, as values: groups, and the documents in them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from doublet.model import Deduplication


@dataclass(frozen=True, slots=True)
class Described:
    """A document as people know it. *opening* is how its text begins."""

    library: str = ""
    title: str = ""
    address: str = ""
    time: str = ""
    words: int = 0
    opening: str = ""


@dataclass(frozen=True, slots=True)
class DuplicateRow:
    """A document of a group. *id* is that of the result, which a reviewed list names."""

    id: str
    about: Described
    resemblance: float = 1.0
    containment: float = 1.0


@dataclass(frozen=True, slots=True)
class DuplicateGroup:
    """One document that stays, and those that would go."""

    id: str
    keep: DuplicateRow
    members: tuple[DuplicateRow, ...]

    @property
    def between(self) -> bool:
        """Whether the documents are of two libraries or more."""
        return any(member.about.library != self.keep.about.library for member in self.members)


def duplicate_groups(result: Deduplication, known: Mapping[str, Described]) -> Sequence[DuplicateGroup]:
    """The groups of a result with what is known of their documents, the largest first."""
    return [
        DuplicateGroup(
            group.id,
            DuplicateRow(group.keep, known.get(group.keep, Described())),
            tuple(
                DuplicateRow(m.id, known.get(m.id, Described()), m.resemblance, m.containment)
                for m in group.members
            ),
        )
        for group in sorted(result.groups, key=lambda group: (-len(group.members), group.keep))
    ]
