"""Find what repeats inside documentation: files in, groups of repeats with their places out (P1–P7)."""

from __future__ import annotations

import contextlib
import dataclasses
import os
import stat
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from doublet import kernels
from doublet.addresses import WebAddress
from doublet.config import processors
from doublet.errors import (
    DoubletError,
    InputUnreadable,
    InvalidParameter,
    TooLarge,
    UnknownKind,
    UsageError,
    nearest,
    require_text,
    wrong_type,
)
from doublet.jobs.read import FileContent, TextInput, take_text
from doublet.model import Note, Outcome
from doublet.progress import Progress
from doublet.repeats import search
from doublet.repeats.baseline import check_baseline, mark_new
from doublet.repeats.decisions import check_decisions, with_decisions
from doublet.repeats.model import OPTION_NAMES, RepeatOptions, Repeats
from doublet.sources.ignore_files import IgnoreRules
from doublet.text.encoding import decode
from doublet.text.markup import SUFFIXES, MarkedText, read_markup
from doublet.text.read import ReadDocument

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
LIMIT_QUICK = 1 << 28
FILES_AT_ONCE = 1024  #: that are read together
LIMIT_CHARACTERS = (1 << 31) - (1 << 16)  #: of all files together; places are kept in 32 bits
LIMIT_BYTES = 1 << 31


def find_repeats(
    text_or_files: TextInput | Iterable[os.PathLike[str]] | Mapping[str, str],
    *,
    algorithm: str = "auto",
    baseline: Mapping[str, Any] | None = None,
    decisions: Mapping[str, Any] | None = None,
    exclude: Sequence[str] = (),
    ignore_files: bool = True,
    progress: Progress | None = None,
    **options: Any,
) -> Repeats:
    """Repeats inside a text or inside files.

    *text_or_files* is a text (``str``); a file or folder (``Path``), or a list of these; the content of a file
    (``bytes``), a `WebAddress`, or what `read_document` gave; or texts by name, as ``{"guide.md": "# Guide …"}``.
    Markup is recognised by the name (Markdown, reStructuredText, DocBook, DITA, HTML, LaTeX)
    and stays out of the comparison, while all places are those in the source. Of PDF, Word, OpenDocument, EPUB and the
    like the text is read, and places are those in it, with page and paragraph. Of the *options* see `RepeatOptions`.
    With a *baseline*, the `to_dict` of an earlier result, every group says whether it is new; *decisions* is what the
    page of repeats exports. Files in folders are left out when they match a pattern of *exclude* or, with
    *ignore_files*, one in a ``.gitignore`` or ``.doubletignore``.
    Raises `InvalidParameter`, `InputNotFound`, and `InputUnreadable` when no file could be read.
    """
    unknown = sorted(set(options) - set(OPTION_NAMES))
    if unknown:
        raise InvalidParameter(
            "repeats_parameter",
            nearest=nearest(unknown[0], OPTION_NAMES),
            option_names=OPTION_NAMES,
            name=unknown[0],
        )
    chosen = RepeatOptions(algorithm=algorithm, **options)
    known = check_baseline(baseline, "baseline") if baseline is not None else None
    decided = check_decisions(decisions, "decisions") if decisions is not None else None
    if (
        isinstance(exclude, str)
        or not isinstance(exclude, Iterable)
        or not all(isinstance(pattern, str) for pattern in exclude)
    ):
        raise wrong_type("exclude", exclude, "wanted_patterns")
    progress = Progress.of(progress)
    marked_texts, outcomes, notes = read_plans(text_or_files, progress, exclude, ignore_files=ignore_files)
    if sum(len(marked.text) for _, marked in marked_texts) > LIMIT_CHARACTERS:
        raise TooLarge("too_many_characters")
    result = search(marked_texts, chosen, progress, processors())
    parameters = {**result.parameters, "exclude": list(exclude), "ignore_files": ignore_files}
    result = dataclasses.replace(
        result, parameters=parameters, outcomes=tuple(outcomes), notes=(*notes, *result.notes)
    )
    if known is not None:
        result = mark_new(result, known, processors())
    return with_decisions(result, decided) if decided is not None else result


def read_plans(
    text_or_files: TextInput | Iterable[os.PathLike[str]] | Mapping[str, str],
    progress: Progress,
    exclude: Sequence[str] = (),
    *,
    ignore_files: bool = True,
) -> tuple[list[tuple[str, MarkedText]], list[Outcome], list[Note]]:
    """Texts with their markup read, what could not be read, and notes."""
    if isinstance(text_or_files, str | bytes | WebAddress | ReadDocument | FileContent):
        given = take_text("text_or_files", text_or_files)
        return [(given.name or "text", read_markup(given.text))], [], []
    if isinstance(text_or_files, Mapping):
        for name, text in text_or_files.items():
            require_text(f"text_or_files[{str(name)!r}]", text)
        return (
            [(str(name), read_markup(text, name=str(name))) for name, text in text_or_files.items()],
            [],
            [],
        )
    paths = _paths(text_or_files)
    if not paths:
        raise UsageError("no_file_named")
    files, notes = list_files(paths, exclude, ignore_files=ignore_files)
    marked_texts: list[tuple[str, MarkedText]] = []
    outcomes: list[Outcome] = []
    for number, (file, found) in enumerate(_each_plan(files, processors())):
        progress.step("reading", number, len(files), "files")
        if isinstance(found, MarkedText):
            marked_texts.append((_posix(file), found))
            continue
        if isinstance(found, Exception):
            outcomes.append(_outcome(file, found))
            continue
        marked, encoding, told = found
        if encoding and (not encoding.startswith("utf-8") or "damaged" in encoding):
            notes.append(Note("read_as_encoding", file=file, encoding=encoding))
        notes += [Note("file_note", file=file, note=note) for note in told]
        marked_texts.append((_posix(file), marked))
    if outcomes and not marked_texts:
        first = outcomes[0]
        raise InputUnreadable("input_unusable", path=first.place, why=first.reason)
    return marked_texts, outcomes, notes


def _paths(files: os.PathLike[str] | Iterable[os.PathLike[str]]) -> list[Path]:
    wanted = "wanted_repeats_input"
    if isinstance(files, os.PathLike):
        return [Path(files)]
    if not isinstance(files, Iterable):
        raise wrong_type("text_or_files", files, wanted)
    out = []
    for item in files:
        if not isinstance(item, os.PathLike):
            raise wrong_type("text_or_files", item, "wanted_path")
        out.append(Path(item))
    return out


Read = tuple[MarkedText, str, tuple[Note, ...]]  #: what was read, its encoding where it is a text, and notes


def _each_plan(
    files: Sequence[str], threads: int
) -> Iterator[tuple[str, MarkedText | Read | DoubletError | OSError]]:
    """All files in order. Ordinary texts are read many at a time; of the others, documents (PDF, Word …) are parsed in
    other processes, several at a time."""
    for at in range(0, len(files), FILES_AT_ONCE):
        some = files[at : at + FILES_AT_ONCE]
        quick = _quick_texts(some, threads)
        slow = [Path(file) for file, marked in zip(some, quick, strict=True) if marked is None]
        read: Iterator[Read | DoubletError | OSError]
        if any(_suffix(file.name) in DOCUMENTS for file in slow):
            from doublet.sources.workers import shared

            read = iter(shared().each(slow, _plan))
        else:
            read = map(_plan, slow)
        for file, marked in zip(some, quick, strict=True):
            yield file, marked if marked is not None else next(read)


def _quick_texts(files: Sequence[str], threads: int) -> list[MarkedText | None]:
    """What the markup says of those files that are texts in UTF-8 beyond doubt; None for the others."""
    kinds = [SUFFIXES.get(_suffix(file), "") for file in files]
    paths = [os.fsencode(file) if _suffix(file) not in DOCUMENTS else b"" for file in files]
    texts = kernels.read_texts(paths, LIMIT_QUICK, threads)
    in_markdown = [at for at, kind in enumerate(kinds) if kind == "markdown" and texts[at] is not None]
    marked_texts: list[MarkedText | None] = [None] * len(files)
    if in_markdown:
        from doublet.text.markup.markdown import read_all_markdown

        found = read_all_markdown([text for at in in_markdown if (text := texts[at]) is not None], threads)
        for at, marked in zip(in_markdown, found, strict=True):
            marked_texts[at] = marked
    for at, text in enumerate(texts):
        if text is not None and marked_texts[at] is None:
            marked_texts[at] = read_markup(text, kind=kinds[at])
    return marked_texts


def _plan(file: Path) -> Read | DoubletError | OSError:
    """A text with the places of its source, or a document of another format with those of the text as read."""
    try:
        suffix = _suffix(file.name)
        if suffix not in DOCUMENTS:
            try:
                text, encoding = _source_text(file)
            except UnknownKind:  # not a text: perhaps a document with a strange name
                pass
            else:
                return read_markup(text, kind=SUFFIXES.get(suffix, "")), encoding, ()
        from doublet.sources.texts import read_file

        found = read_file(file, label=str(file))
        marked = MarkedText(found.kind, found.text, found.text)
        marked.tables = [place.span for place in found.places if place.element.endswith("table")]
        marked.places = [(place.span.start, place.label()) for place in found.places]
        return marked, "", found.notes
    except (DoubletError, OSError) as error:
        return error


def _suffix(path: str) -> str:
    """Several times as quick as `Path.suffix`, and there can be many."""
    stem, dot, suffix = path.replace("\\", "/").rpartition("/")[2].rpartition(".")
    return f".{suffix.lower()}" if stem and dot else ""


def _posix(file: str) -> str:
    return file if os.sep == "/" else Path(file).as_posix()


def _source_text(file: Path) -> tuple[str, str]:
    """A text file as it is, and its encoding."""
    with contextlib.suppress(OSError), file.open("rb") as stream:
        facts = os.fstat(stream.fileno())
        if stat.S_ISREG(facts.st_mode) and facts.st_size <= LIMIT_QUICK:
            data = stream.read(LIMIT_QUICK + 1)
            if len(data) <= LIMIT_QUICK and data[:1] not in _PACKED and data[1:4] != b"*M\x18":
                return decode(data)
    from doublet.sources.texts import read_text

    return read_text(file, limit_bytes=LIMIT_BYTES, label=str(file))


def list_files(
    paths: Iterable[Path], exclude: Sequence[str] = (), *, ignore_files: bool = True
) -> tuple[list[str], list[Note]]:
    """All files, once each, in the order given; of folders those whose name says that they are documentation, without
    what is excluded. A file that is named itself is always taken."""
    files: dict[str, str] = {}
    folders: dict[str, str] = {}  # real paths of the folders: each is resolved once
    notes: list[Note] = []

    def enter(file: str, link: bool) -> None:
        folder, _, name = file.rpartition(os.sep)
        if link:
            real = os.path.realpath(file)
        else:
            if folder not in folders:
                folders[folder] = os.path.realpath(folder or (os.sep if file.startswith(os.sep) else "."))
            real = f"{folders[folder]}{os.sep}{name}"
        files.setdefault(real, file)

    for path in paths:
        try:
            path.stat()
        except (OSError, ValueError) as error:
            from doublet.sources.streams import cannot_open

            raise cannot_open(str(path), error) from error
        if not path.is_dir():
            enter(str(path), path.is_symlink())
            continue
        found, hidden, ignored = _files_below(path, IgnoreRules(path, exclude, files=ignore_files))
        wanted = [(file, link) for file, link in found if _suffix(file) in WANTED]
        if hidden:
            notes.append(Note("hidden_left_out", path=path, hidden=hidden))
        if ignored:
            notes.append(Note("ignored_left_out", path=path, ignored=ignored))
        if not found:
            notes.append(Note("no_files_in_folder", path=path))
        if len(wanted) < len(found):
            notes.append(Note("not_documentation", path=path, found=len(found) - len(wanted)))
        for file, link in wanted:
            enter(file, link)
    return list(files.values()), notes


def _files_below(folder: Path, rules: IgnoreRules) -> tuple[list[tuple[str, bool]], int, int]:
    """All regular files below *folder* in the order of their names, with whether they are links; and how many hidden
    ones, and how many that the *rules* exclude, were left out. Links to files are followed, links to folders are not:
    they can lead round in circles.

    As `doublet.sources.texts.list_files`, but with names: of 14,000 files the paths alone take a fifth of a second.
    """
    found: list[tuple[str, bool]] = []
    hidden = ignored = 0
    waiting = [str(folder)]
    while waiting:
        here = waiting.pop()
        below = "" if here == "." else here if here.endswith(os.sep) else here + os.sep
        left_out = rules.inside(here)
        try:
            with os.scandir(here) as entries:
                for entry in entries:
                    name = entry.name
                    if name[0] == ".":
                        hidden += 1
                    elif left_out is not None and left_out(name, entry.is_dir(follow_symlinks=False)):
                        ignored += 1
                    elif entry.is_dir(follow_symlinks=False):
                        waiting.append(below + name)
                    elif entry.is_symlink():
                        if _leads_to_file(entry):
                            found.append((below + name, True))
                    elif entry.is_file(follow_symlinks=False):
                        found.append((below + name, False))
        except OSError as error:
            from doublet.sources.streams import cannot_open

            raise cannot_open(here, error) from error
    found.sort(key=lambda row: row[0].replace(os.sep, "\0"))
    return found, hidden, ignored


def _leads_to_file(entry: os.DirEntry[str]) -> bool:
    try:
        return stat.S_ISREG(entry.stat().st_mode)
    except OSError:
        return True  # a link to nowhere: reading it will say so


def _outcome(file: str, error: DoubletError | OSError) -> Outcome:
    from doublet.sources.texts import failure

    state, reason = failure(error)
    return Outcome(state, _posix(file), file, reason)
