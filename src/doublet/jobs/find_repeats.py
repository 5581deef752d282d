"""Find what repeats inside documentation: files in, groups of repeats with their places out (P1–P7)."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from doublet.errors import DoubletError, InputUnreadable, InvalidParameter, TooLarge, UsageError, suggest
from doublet.model import Outcome
from doublet.progress import Progress
from doublet.repeats import search
from doublet.repeats.baseline import check_baseline, mark_new
from doublet.repeats.markup import SUFFIXES, Plan, read_markup
from doublet.repeats.model import OPTION_NAMES, RepeatOptions, Repeats
from doublet.sources.streams import cannot_open
from doublet.sources.texts import read_text, walk

LIMIT_CHARACTERS = (1 << 31) - (1 << 16)  #: of all files together; places are kept in 32 bits
LIMIT_BYTES = 1 << 31


def find_repeats(
    text_or_files: str | Path | Iterable[str | Path] | Mapping[str, str],
    *,
    algorithm: str = "auto",
    baseline: Mapping[str, Any] | None = None,
    progress: Progress | None = None,
    **options: Any,
) -> Repeats:
    """Repeats inside a text or inside files.

    *text_or_files* is a text (``str``); a file or folder (``Path``); several of these, as paths; or texts by name, as
    ``{"guide.md": "# Guide …"}``. Markup is told from the name (Markdown, reStructuredText, DocBook, DITA, HTML, LaTeX)
    and stays out of the comparison, while all places are those in the source. Of the *options* see `RepeatOptions`.
    With a *baseline*, the `to_dict` of an earlier result, every group says whether it is new.
    Raises `InvalidParameter`, `InputNotFound`, and `InputUnreadable` when no file could be read.
    """
    unknown = sorted(set(options) - set(OPTION_NAMES))
    if unknown:
        raise InvalidParameter(
            f"find_repeats knows no parameter {unknown[0]!r}{suggest(unknown[0], OPTION_NAMES) or '.'} "
            f"Known: {', '.join(OPTION_NAMES)}",
            name=unknown[0],
        )
    chosen = RepeatOptions(algorithm=algorithm, **options)
    known = check_baseline(baseline, "the baseline") if baseline is not None else None
    progress = progress or Progress()
    plans, outcomes, notes = read_plans(text_or_files, progress)
    if sum(len(plan.text) for _, plan in plans) > LIMIT_CHARACTERS:
        raise TooLarge(
            "the files have more than 2,147,418,112 characters together: look for repeats in parts"
        )
    result = search(plans, chosen, progress)
    result = dataclasses.replace(result, outcomes=tuple(outcomes), notes=(*notes, *result.notes))
    return mark_new(result, known) if known is not None else result


def read_plans(
    text_or_files: str | Path | Iterable[str | Path] | Mapping[str, str], progress: Progress
) -> tuple[list[tuple[str, Plan]], list[Outcome], list[str]]:
    """Texts with their markup read, what could not be read, and notes."""
    if isinstance(text_or_files, str):
        return [("text", read_markup(text_or_files))], [], []
    if isinstance(text_or_files, Mapping):
        return (
            [(str(name), read_markup(text, name=str(name))) for name, text in text_or_files.items()],
            [],
            [],
        )
    paths = [text_or_files] if isinstance(text_or_files, Path) else [Path(item) for item in text_or_files]
    if not paths:
        raise UsageError("no file was named: give a file or a folder")
    files, notes = list_files(paths)
    plans: list[tuple[str, Plan]] = []
    outcomes: list[Outcome] = []
    for number, file in enumerate(files):
        progress.step("reading", number, len(files), "files")
        try:
            text, encoding = read_text(file, limit_bytes=LIMIT_BYTES, label=str(file))
        except (DoubletError, OSError) as error:
            outcomes.append(_outcome(file, error))
            continue
        if not encoding.startswith("utf-8") or "damaged" in encoding:
            notes.append(f"{file} is read as {encoding}")
        plans.append((file.as_posix(), read_markup(text, name=file.name)))
    if outcomes and not plans:
        first = outcomes[0]
        raise InputUnreadable(f"{first.place} cannot be used: {first.reason}", path=first.place)
    return plans, outcomes, notes


def list_files(paths: Iterable[Path]) -> tuple[list[Path], list[str]]:
    """All files, once each, in the order given; of folders those whose name says that they are documentation."""
    files: dict[Path, Path] = {}
    notes: list[str] = []
    for path in paths:
        try:
            path.stat()
        except OSError as error:
            raise cannot_open(str(path), error) from error
        if not path.is_dir():
            files.setdefault(path.resolve(), path)
            continue
        found, hidden = walk(path, str(path))
        wanted = [file for file in found if file.suffix.lower() in SUFFIXES]
        if hidden:
            notes.append(f"{path}: {hidden} hidden files and folders were left out")
        if len(wanted) < len(found):
            notes.append(
                f"{path}: {len(found) - len(wanted)} files that are no documentation by their names were left out"
            )
        for file in wanted:
            files.setdefault(file.resolve(), file)
    return list(files.values()), notes


def _outcome(file: Path, error: DoubletError | OSError) -> Outcome:
    if isinstance(error, OSError):
        return Outcome("unreadable", file.as_posix(), str(file), error.strerror or str(error))
    state = "too_large" if isinstance(error, TooLarge) else "unreadable"
    return Outcome(state, file.as_posix(), str(file), error.message)
