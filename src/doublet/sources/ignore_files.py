"""Which files of a tree its ignore files and given patterns leave out: ``.gitignore`` and ``.doubletignore``.

Patterns mean what they mean to Git. Ignore files above a folder count too, up to the root of its repository; those
deeper in the tree come later, so they win.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from doublet.errors import InvalidParameter

if TYPE_CHECKING:
    from pathspec import GitIgnoreSpec

NAMES = (".gitignore", ".doubletignore")


class IgnoreRules:
    """Rules for one tree. *exclude* are patterns from its root, which no ignore file takes back."""

    def __init__(self, root: Path, exclude: Sequence[str] = (), *, files: bool = True) -> None:
        self._root = os.path.realpath(root)
        self._files = files
        self._exclude = _patterns(exclude) if exclude else None
        self._specs: dict[str, tuple[tuple[str, GitIgnoreSpec], ...]] = {}

    def inside(self, folder: str) -> Callable[[str, bool], bool] | None:
        """For what stands in *folder*, the root or a folder below it: a function that says, given a name and whether
        it is a folder, whether that is left out. None where nothing is."""
        real = os.path.realpath(folder)
        rules = self._rules(real) if self._files else ()
        exclude = self._exclude
        if not rules and exclude is None:
            return None

        def left_out(name: str, is_folder: bool) -> bool:
            path = f"{real}{os.sep}{name}"
            tail = "/" if is_folder else ""
            if exclude is not None and exclude.match_file(os.path.relpath(path, self._root) + tail):
                return True
            out = False
            for base, spec in rules:
                verdict = spec.check_file(os.path.relpath(path, base) + tail).include
                out = out if verdict is None else verdict
            return out

        return left_out

    def _rules(self, folder: str) -> tuple[tuple[str, GitIgnoreSpec], ...]:
        """The rules that hold in *folder*, those of folders above it first."""
        if folder in self._specs:
            return self._specs[folder]
        above = str(Path(folder).parent)
        inside = folder != self._root and _is_below(folder, self._root)
        if inside:
            known = self._rules(above)
        else:
            known = () if _is_repository(folder) or above == folder else self._outside(above)
        own = []
        for name in NAMES:
            try:
                lines = Path(folder, name).read_text(encoding="utf-8", errors="replace").splitlines()
            except OSError:
                continue
            own.append((folder, _lenient(lines)))
        self._specs[folder] = (*known, *own)
        return self._specs[folder]

    def _outside(self, folder: str) -> tuple[tuple[str, GitIgnoreSpec], ...]:
        """The rules of folders above the root; none where they belong to no repository."""
        at = folder
        while not _is_repository(at):
            above = str(Path(at).parent)
            if above == at:
                return ()
            at = above
        return self._rules(folder)


def _is_repository(folder: str) -> bool:
    return Path(folder, ".git").exists()


def _is_below(folder: str, root: str) -> bool:
    return folder.startswith(root.rstrip(os.sep) + os.sep)


def _patterns(lines: Sequence[str]) -> Any:
    from pathspec import GitIgnoreSpec

    for line in lines:
        try:
            GitIgnoreSpec.from_lines([line])
        except ValueError as error:
            raise InvalidParameter("exclude_pattern", value=line, why=error, name="exclude") from error
    return GitIgnoreSpec.from_lines(lines)


def _lenient(lines: Sequence[str]) -> GitIgnoreSpec:
    """As Git reads its files: a pattern that means nothing is skipped."""
    from pathspec import GitIgnoreSpec

    good = []
    for line in lines:
        try:
            GitIgnoreSpec.from_lines([line])
        except ValueError:
            continue
        good.append(line)
    return GitIgnoreSpec.from_lines(good)
