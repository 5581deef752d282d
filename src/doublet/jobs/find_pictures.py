"""Find the groups of duplicate pictures in files and folders (R9)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from doublet.errors import InvalidParameter
from doublet.matches.pictures import DISTANCE, Picture, PictureGroup, group_pictures
from doublet.model import FORMAT_VERSION, Outcome
from doublet.progress import Progress
from doublet.sources.pictures import picture_files, read_picture


@dataclass(frozen=True, slots=True)
class FoundPictures:
    """*pictures*: how many were compared. *outcomes*: those that could not be used, and why."""

    pictures: int
    groups: tuple[PictureGroup, ...]
    outcomes: tuple[Outcome, ...]
    parameters: Mapping[str, Any]

    def to_dict(self) -> dict[str, Any]:
        return {
            "format": FORMAT_VERSION,
            "pictures": self.pictures,
            "groups": [group.to_dict() for group in self.groups],
            "outcomes": [outcome.to_dict() for outcome in self.outcomes],
            "parameters": dict(self.parameters),
        }


def find_pictures(
    paths: Iterable[Path], *, distance: int = DISTANCE, progress: Progress | None = None
) -> FoundPictures:
    """Groups of pictures that show the same. Raises `InputUnreadable`, `InvalidParameter`, `ConfigError`."""
    if not 0 <= distance <= 24:
        raise InvalidParameter("picture_distance", value=distance, name="distance")
    told = progress or Progress()
    pictures: list[Picture] = []
    outcomes: list[Outcome] = []
    for number, path in enumerate(dict.fromkeys(picture_files(paths))):
        told.step("reading", number, None, "files")
        made = read_picture(path)
        if isinstance(made, Picture):
            pictures.append(made)
        else:
            outcomes.append(made)
    groups = group_pictures(pictures, distance=distance)
    return FoundPictures(len(pictures), tuple(groups), tuple(outcomes), {"distance": distance})
