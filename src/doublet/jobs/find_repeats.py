"""Find what repeats inside documentation: files in, groups of repeats with their places out (P1–P7)."""

from __future__ import annotations

import contextlib
import dataclasses
import os
import stat
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from doublet.errors import (
    DoubletError,
    InputUnreadable,
    InvalidParameter,
    TooLarge,
    UnknownKind,
    UsageError,
    suggest,
)
from doublet.model import Outcome
from doublet.progress import Progress
from doublet.repeats import search
from doublet.repeats.baseline import check_baseline, mark_new
from doublet.repeats.markup import SUFFIXES, Plan, read_markup
from doublet.repeats.model import OPTION_NAMES, RepeatOptions, Repeats
from doublet.text.encoding import decode

#: names of documents that are no texts: places in them are those of the text as read
DOCUMENTS = frozenset(
    ".pdf .docx .docm .dotx .odt .ott .fodt .odp .rtf .epub .fb2 .pptx .pptm .ppsx .wiki .mediawiki .wikitext".split()
)
WANTED = DOCUMENTS | SUFFIXES.keys()  #: what is looked at in a folder
_PACKED = (
    b"\x1f",
    b"(",
    b"B",
    b"\xfd",
)  # how packed files begin; a text that begins so only takes the long way
_PLAIN = bytes(
    [9, 10, 13, *range(32, 127)]
)  # a text of these alone needs no detection; % and { may begin PDF and RTF
_VERBS = (
    "is ",
    "has ",
    "was ",
    "took ",
    "made ",
    "cannot ",
    "holds ",
)  # how readers begin to say what is wrong
LIMIT_QUICK = 1 << 28
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
    and stays out of the comparison, while all places are those in the source. Of PDF, Word, OpenDocument, EPUB and the
    like the text is read, and places are those in it, with page and paragraph. Of the *options* see `RepeatOptions`.
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
    for number, (file, found) in enumerate(_each_plan(files)):
        progress.step("reading", number, len(files), "files")
        if isinstance(found, Exception):
            outcomes.append(_outcome(file, found))
            continue
        plan, encoding, told = found
        if encoding and (not encoding.startswith("utf-8") or "damaged" in encoding):
            notes.append(f"{file} is read as {encoding}")
        notes += [f"{file}: {note}" for note in told]
        plans.append((file.as_posix(), plan))
    if outcomes and not plans:
        first = outcomes[0]
        joint = " " if first.reason.startswith(_VERBS) else " cannot be used: "
        raise InputUnreadable(f"{first.place}{joint}{first.reason}", path=first.place)
    return plans, outcomes, notes


Read = tuple[Plan, str, tuple[str, ...]]  #: what was read, its encoding where it is a text, and notes


def _each_plan(files: Sequence[Path]) -> Iterator[tuple[Path, Read | DoubletError | OSError]]:
    """All files in order. Documents (PDF, Word …) are parsed in other processes, several at a time."""
    if not any(_suffix(file) in DOCUMENTS for file in files):
        for file in files:
            yield file, _plan(file)
        return
    from doublet.sources.workers import shared

    yield from zip(files, shared().each(files, _plan), strict=True)


def _plan(file: Path) -> Read | DoubletError | OSError:
    """A text with the places of its source, or a document of another format with those of the text as read."""
    try:
        suffix = _suffix(file)
        if suffix not in DOCUMENTS:
            try:
                text, encoding = _source_text(file)
            except UnknownKind:  # not a text: perhaps a document with a strange name
                pass
            else:
                return read_markup(text, kind=SUFFIXES.get(suffix, "")), encoding, ()
        from doublet.sources.texts import read_file

        found = read_file(file, limit_bytes=LIMIT_BYTES, label=str(file))
        plan = Plan(found.kind, found.text, found.text)
        plan.tables = [place.span for place in found.places if place.element.endswith("table")]
        plan.places = [(place.span.start, place.label()) for place in found.places]
        return plan, "", found.notes
    except (DoubletError, OSError) as error:
        return error


def _suffix(file: Path) -> str:
    stem, dot, suffix = file.name.rpartition(
        "."
    )  # several times as quick as `Path.suffix`, and there can be many
    return f".{suffix.lower()}" if stem and dot else ""


def _source_text(file: Path) -> tuple[str, str]:
    """A text file as it is, and its encoding. The long way is for what is packed, odd or large."""
    with contextlib.suppress(OSError), file.open("rb") as stream:
        facts = os.fstat(stream.fileno())
        if stat.S_ISREG(facts.st_mode) and facts.st_size <= LIMIT_QUICK:
            data = stream.read(LIMIT_QUICK + 1)
            if len(data) <= LIMIT_QUICK and data[:1] not in _PACKED and data[1:4] != b"*M\x18":
                if data.isascii() and data[:1] not in b"%{" and not data.translate(None, _PLAIN):
                    return data.decode("ascii"), "utf-8"
                return decode(data)
    from doublet.sources.texts import read_text

    return read_text(file, limit_bytes=LIMIT_BYTES, label=str(file))


def list_files(paths: Iterable[Path]) -> tuple[list[Path], list[str]]:
    """All files, once each, in the order given; of folders those whose name says that they are documentation."""
    from doublet.sources.texts import walk

    files: dict[str, Path] = {}
    folders: dict[Path, str] = {}  # real paths of the folders
    notes: list[str] = []

    def enter(file: Path) -> None:
        if file.is_symlink():
            real = str(file.resolve())
        else:  # a folder is resolved once
            if file.parent not in folders:
                folders[file.parent] = str(file.parent.resolve())
            real = f"{folders[file.parent]}/{file.name}"
        files.setdefault(real, file)

    for path in paths:
        try:
            path.stat()
        except OSError as error:
            from doublet.sources.streams import cannot_open

            raise cannot_open(str(path), error) from error
        if not path.is_dir():
            enter(path)
            continue
        found, hidden = walk(path, str(path))
        wanted = [file for file in found if _suffix(file) in WANTED]
        if hidden:
            notes.append(f"{path}: {hidden} hidden files and folders were left out")
        if not found:
            notes.append(f"{path}: there are no files in it")
        if len(wanted) < len(found):
            notes.append(
                f"{path}: {len(found) - len(wanted)} files that are no documentation by their names were left out"
            )
        for file in wanted:
            enter(file)
    return list(files.values()), notes


def _outcome(file: Path, error: DoubletError | OSError) -> Outcome:
    from doublet.sources.texts import failure

    state, reason = failure(error)
    return Outcome(state, file.as_posix(), str(file), reason)
