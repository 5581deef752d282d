"""Works of a class: files, folders and the zip archives that learning systems export, with what their names tell.

Moodle, Canvas and Blackboard put the author into the name of the file or folder, Blackboard also the time at which the
work was handed in. An archive is unpacked in memory, within limits. Explained in docs/explanation/classes.md.
"""

from __future__ import annotations

import io
import re
import zipfile
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path, PurePosixPath

from doublet.errors import UsageError
from doublet.matches.among import bare_name
from doublet.matches.preference import all_numbers, read_time
from doublet.sources.streams import is_folder
from doublet.sources.texts import list_files
from doublet.text.damaged import DAMAGED

MOST_ENTRIES = 4_000  #: of one archive
MOST_BYTES = 1 << 30  #: of all documents of one archive, unpacked
#: times of files tell something only when they are further apart: files that were copied together differ by seconds
APART = timedelta(minutes=10)
_SKIPPED = ("__MACOSX/", ".DS_Store")
_MOODLE = re.compile(r"^(?P<author>[^/_]+)_\d+_assignsubmission_(?:file|onlinetext)_?/?(?P<name>.+)$")
_BLACKBOARD = re.compile(
    r"^(?:.*/)?[^/]*_(?P<author>[^_/]+)_attempt_(?P<time>\d{4}(?:-\d\d){5})(?:_(?P<name>.+))?$"
)
_CANVAS = re.compile(r"^(?:.*/)?(?P<author>[^\W\d_][^_/]*)_(?:LATE_)?\d{3,}_\d{3,}_(?P<name>[^/]+)$")


@dataclass(frozen=True, slots=True)
class WorkFile:
    """A work as it was handed in. It is either a file (*path*) or the content of one (*data*)."""

    name: str  #: differs from the names of all others
    author: str = ""
    time: str = ""
    path: Path | None = None
    data: bytes = b""
    title: str = ""  #: the name that the author gave the file


def list_works(places: Iterable[Path]) -> list[WorkFile]:
    """The works at these places, in the order of their names within each place. Raises `UsageError` for a folder
    without files. A place that is not there stays in the list: reading it says so."""
    found: list[WorkFile] = []
    for place in places:
        if is_folder(place):
            inside, _ = list_files(place, str(place))
            if not inside:
                raise UsageError("no_files_to_check", text=str(place))
            for path in inside:
                found += _files(path, path.relative_to(place).as_posix())
        else:
            found += _files(place, place.name)
    return settle(found)


def settle(works: Sequence[WorkFile]) -> list[WorkFile]:
    """The same works with names that differ, authors where names or folders tell them, and times only where they tell
    something."""
    told = [_told(one) for one in works]
    folders: dict[str, set[str]] = {}
    for one in told:
        folders.setdefault(bare_name(one.title), set()).add(str(PurePosixPath(one.name).parent))
    out: list[WorkFile] = []
    taken: set[str] = set()
    for one in told:
        parent = PurePosixPath(one.name).parent
        # "ivanov/essay.docx" and "petrov/essay.docx": the folders are named for the authors
        author = one.author
        if not author and parent.name and len(folders[bare_name(one.title)]) > 1:
            author = parent.name
        name, number = one.name, 2
        while name in taken:
            name, number = f"{one.name} ({number})", number + 1
        taken.add(name)
        out.append(replace(one, name=name, author=author))
    number = all_numbers(one.time for one in out)
    read = [read_time(one.time, number=number) for one in out]
    moments = [moment for moment in read if moment is not None]
    if not moments or max(moments) - min(moments) < APART.total_seconds():
        out = [replace(one, time="") for one in out]
    return out


def same_author(a: WorkFile, b: WorkFile) -> bool:
    """Whether two works can be versions of one: their authors are the same, or nobody knows."""
    return not (a.author and b.author) or a.author.casefold() == b.author.casefold()


def unpack(name: str, content: bytes, room: int = MOST_BYTES) -> list[tuple[str, bytes, str]] | None:
    """Name, content and time of each document of a zip archive, or None for what is not one; documents that are zip
    archives inside (docx, odt, epub) stay whole.

    An entry that is encrypted or larger than what is left of *room* is handed on empty, so that it becomes a row that
    says so.
    """
    if not (name.lower().endswith(".zip") and content[:4] == b"PK\x03\x04"):
        return None
    out: list[tuple[str, bytes, str]] = []
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            for entry in archive.infolist()[:MOST_ENTRIES]:
                if entry.is_dir() or any(part in entry.filename for part in _SKIPPED):
                    continue
                data = b""
                if entry.file_size <= room and not entry.flag_bits & 1:
                    room -= entry.file_size
                    data = archive.read(entry)
                out.append((entry.filename, data, _entry_time(entry)))
    except DAMAGED:
        return None
    return out


def _files(path: Path, name: str) -> list[WorkFile]:
    try:
        there = path.stat()
    except (OSError, ValueError):
        return [WorkFile(name, path=path)]
    if path.suffix.lower() == ".zip" and path.is_file() and there.st_size <= MOST_BYTES:
        found = unpack(path.name, path.read_bytes())
        if found:
            return [
                WorkFile(inner, time=time, data=data)
                for inner, data, time in sorted(found, key=lambda r: r[0])
            ]
    time = datetime.fromtimestamp(there.st_mtime, UTC).isoformat(timespec="seconds")
    return [WorkFile(name, time=time, path=path)]


def _entry_time(entry: zipfile.ZipInfo) -> str:
    try:
        time = datetime(*entry.date_time, tzinfo=UTC)
    except ValueError:
        return ""
    return time.isoformat(timespec="seconds") if time.year > 1980 else ""


def _attempt_time(told: str) -> str:
    """The time in a name, or nothing for a day that is in no calendar."""
    try:
        return datetime.strptime(told, "%Y-%m-%d-%H-%M-%S").replace(tzinfo=UTC).isoformat()
    except ValueError:
        return ""


def _told(work: WorkFile) -> WorkFile:
    """With what a learning system put into the name."""
    for pattern in (_MOODLE, _BLACKBOARD, _CANVAS):
        if match := pattern.match(work.name):
            parts = match.groupdict()
            time = _attempt_time(parts.get("time") or "") or work.time
            title = PurePosixPath(parts["name"] or work.name).name
            return replace(work, author=parts["author"].strip(), time=time, title=title)
    return replace(work, title=PurePosixPath(work.name).name)
