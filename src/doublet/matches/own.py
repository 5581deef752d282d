"""Which documents are the author's own earlier versions: those that were named, and those of the same name."""

from __future__ import annotations

from collections.abc import Iterable
from fnmatch import fnmatchcase

from doublet.matches.among import same_work
from doublet.model import Note


class OwnVersions:
    """*name* is what the checked work is called: "ivanov.docx" finds "2023/Ivanov_v2.pdf". *patterns* are ids or
    sources, in which * and ? stand for any characters; capitals make no difference."""

    def __init__(self, name: str, patterns: Iterable[str]) -> None:
        self._name = name
        self._patterns = [patterns] if isinstance(patterns, str) else list(patterns)
        self._met: set[str] = set()

    def has(self, id: str, *others: str) -> bool:
        """Whether a document with this *id*, which also goes by these *others* (its source), is an own one. A source
        may hold the documents of many, so it has to have the very name."""
        given = [name.casefold() for name in (id, *others) if name]
        found = bool(self._name) and (same_work(self._name, id) or self._name in others)
        for pattern in self._patterns:
            wanted = pattern.casefold()
            if any(name == wanted or fnmatchcase(name, wanted) for name in given):
                self._met.add(pattern)
                found = True
        return found

    def notes(self) -> tuple[Note, ...]:
        """A note for each pattern that no document met."""
        return tuple(
            Note("own_matched_nothing", pattern=pattern)
            for pattern in self._patterns
            if pattern not in self._met
        )
