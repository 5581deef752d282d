"""A result of the search for repeats as a value that is kept or sent, with the texts of its files, and back."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from doublet.model import Note, Outcome
from doublet.repeats.model import RepeatFile, RepeatFragment, RepeatGroup, Repeats


def keep_repeats(result: Repeats) -> dict[str, Any]:
    """All of a result as JSON: what `Repeats.to_dict` gives, and the texts, from which every report can be made."""
    files = [{**one.to_dict(), "source": one.source, "masked": one.masked} for one in result.files]
    return {
        "algorithm": result.algorithm,
        "parameters": dict(result.parameters),
        "files": files,
        "tokens": result.tokens,
        "share": result.share,
        "groups": [group.to_dict() for group in result.groups],
        "outcomes": [outcome.to_dict() for outcome in result.outcomes],
        "notes": [note.to_dict() for note in result.notes],
    }


def read_repeats(value: dict[str, Any]) -> Repeats:
    """What `keep_repeats` gave. Raises `KeyError` or `TypeError` for anything else."""
    return Repeats(
        algorithm=value["algorithm"],
        parameters=value["parameters"],
        files=tuple(RepeatFile(**one) for one in value["files"]),
        tokens=value["tokens"],
        share=value["share"],
        groups=tuple(map(_group, value["groups"])),
        outcomes=tuple(map(Outcome.from_dict, value["outcomes"])),
        notes=tuple(map(Note.from_dict, value["notes"])),
    )


def _group(value: dict[str, Any]) -> RepeatGroup:
    return RepeatGroup(
        id=value["id"],
        significance=value["significance"],
        tokens=value["tokens"],
        equal=value["equal"],
        fragments=tuple(RepeatFragment(**one) for one in value["fragments"]),
        new=value.get("new"),
        reason=Note.from_dict(value["reason"]) if value.get("reason") else None,
        kind=value["kind"],
        decision=value.get("decision", ""),
    )


_TEXTS = frozenset(("source", "masked", "text", "message"))


def with_names(result: Repeats, name: Callable[[str], str]) -> Repeats:
    """The same result with other names of files, in notes and outcomes too."""

    def change(value: Any) -> Any:
        if isinstance(value, str):
            return name(value)
        if isinstance(value, dict):
            return {key: one if key in _TEXTS else change(one) for key, one in value.items()}
        return [change(one) for one in value] if isinstance(value, list | tuple) else value

    return read_repeats(change(keep_repeats(result)))
