"""Archives (zip, tar, packed or not) as many documents. Nothing is ever written to the disk.

A member whose name leads out of the archive, a link or a device is refused; an encrypted one, one over the limit and
one that is damaged say so; the rest goes on. Archives inside archives are opened, a few deep. An archive that
unpacks to many times its size is a bomb: reading stops there.
"""

from __future__ import annotations

import io
import os
import struct
import tarfile
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from doublet.errors import InputUnreadable
from doublet.model import Note
from doublet.sources.streams import Stream, damage
from doublet.text.damaged import DAMAGED
from doublet.text.limits import EXPANSION, unpacked_limit

DEPTH = 3
BOMB_BYTES = 1 << 30  # only what is large is a bomb
DIRECTORY_BYTES = 1 << 27  # a list of names longer than that is one
_STEP = 1 << 20
_LINK = 0o120000
_FORMAT = 0o170000


@dataclass(frozen=True, slots=True)
class Member:
    """A document of an archive, or why there is none: *state* is then the state of its outcome."""

    name: str
    data: bytes = b""
    state: str = ""
    reason: Note | None = None
    declared_type: str = ""
    packed_bytes: int = 0


@dataclass(slots=True)
class _Budget:
    """How much may still be unpacked."""

    packed: int
    unpacked: int = 0

    def spend(self, size: int) -> bool:
        self.unpacked += size
        return not self.spent

    @property
    def spent(self) -> bool:
        return self.unpacked > max(BOMB_BYTES, EXPANSION * self.packed)


def archive_kind(path: Path, head: bytes) -> str:
    """zip, tar or warc, from the beginning of the (decompressed) file; empty for anything else. Packages that are one
    document (DOCX, EPUB …) are not archives."""
    if head.startswith(b"WARC/"):
        return "warc"
    if head[257:262] == b"ustar":
        return "tar"
    if not head.startswith((b"PK\x03\x04", b"PK\x05\x06")):
        return ""
    try:
        if _directory_bytes(path) > DIRECTORY_BYTES:
            return "zip"
        with zipfile.ZipFile(path) as package:
            names = set(package.namelist())
    except DAMAGED:
        return ""
    marks = {"[Content_Types].xml", "META-INF/container.xml", "mimetype", "META-INF/manifest.xml"}
    book = len(names) == 1 and next(iter(names)).lower().endswith(".fb2")
    return "" if names & marks or book else "zip"


def members(path: Path, kind: str, *, label: str, limit_bytes: int) -> Iterator[Member]:
    """The documents of an archive, in its order. Raises `InputUnreadable` when it cannot be opened at all."""
    budget = _Budget(path.stat().st_size)
    if kind == "zip":
        if _directory_bytes(path) > DIRECTORY_BYTES:
            raise InputUnreadable(
                "archive_list_too_long",
                directory_bytes=DIRECTORY_BYTES,
                path=label,
            )
        with path.open("rb") as file:
            yield from _zip(file, "", budget, limit_bytes, 1, label)
    else:
        with Stream(path, label=label) as stream:
            yield from _tar(stream, "", budget, limit_bytes, 1, label)


def _zip(
    file: IO[bytes], prefix: str, budget: _Budget, limit: int, depth: int, label: str
) -> Iterator[Member]:
    try:
        package = zipfile.ZipFile(file)
        infos = package.infolist()
    except DAMAGED as error:
        if depth > 1:
            yield Member(prefix.rstrip("/"), state="broken", reason=Note("is_damaged_archive", why=error))
            return
        raise InputUnreadable("archive_damaged", why=error, path=label) from error
    with package:
        for info in infos:
            if info.is_dir() or _is_litter(info.filename):
                continue
            name = prefix + info.filename
            size = info.compress_size
            most = unpacked_limit(size, limit)
            refused = _refused(info.filename)
            if info.external_attr >> 16 & _FORMAT == _LINK:
                refused = Note("is_link")
            if refused:
                yield Member(name, state="refused", reason=refused, packed_bytes=size)
            elif info.flag_bits & 1:
                yield Member(name, state="encrypted", reason=Note("is_encrypted"), packed_bytes=size)
            elif info.file_size > most:
                yield Member(
                    name, state="too_large", reason=_too_large(info.file_size, most), packed_bytes=size
                )
            else:
                try:
                    with package.open(info) as stream:
                        data = _read(stream, most)
                except NotImplementedError as error:
                    yield Member(name, state="unknown_kind", reason=Note("packed_unknown_way", why=error))
                    continue
                except DAMAGED as error:
                    yield Member(
                        name, state="broken", reason=Note("is_damaged", why=error), packed_bytes=size
                    )
                    continue
                yield from _opened(name, data, budget, limit, depth, size, most)
                if budget.spent:
                    return


def _tar(stream: Any, prefix: str, budget: _Budget, limit: int, depth: int, label: str) -> Iterator[Member]:
    most = unpacked_limit(budget.packed, limit)
    try:
        with tarfile.open(fileobj=stream, mode="r|") as package:
            for info in package:
                name = prefix + info.name
                if info.isdir() or _is_litter(info.name):
                    continue
                refused = _refused(info.name)
                if info.issym() or info.islnk():
                    refused = Note("is_link")
                elif not info.isreg():
                    refused = Note("is_device")
                if refused:
                    yield Member(name, state="refused", reason=refused)
                elif info.size > most:
                    yield Member(name, state="too_large", reason=_too_large(info.size, most))
                else:
                    member = package.extractfile(info)
                    data = _read(member, most) if member is not None else b""
                    yield from _opened(name, data, budget, limit, depth, info.size, most)
                    if budget.spent:
                        return
    except DAMAGED as error:
        reason = damage(error) or Note("said", text=str(error))
        yield Member(
            prefix.rstrip("/") or label, state="broken", reason=Note("is_cut_or_damaged", reason=reason)
        )


def _opened(
    name: str, data: bytes | None, budget: _Budget, limit: int, depth: int, packed: int, most: int
) -> Iterator[Member]:
    """A member, or the members of an archive that it is."""
    if data is None:
        yield Member(name, state="too_large", reason=_too_large(most + 1, most), packed_bytes=packed)
        return
    if not budget.spend(len(data)):
        yield Member(
            name,
            state="too_large",
            reason=Note("archive_bomb", expansion=EXPANSION),
            packed_bytes=packed,
        )
        return
    inner = _inner_kind(name, data)
    if not inner:
        yield Member(name, data, packed_bytes=packed)
    elif depth >= DEPTH:
        yield Member(name, state="refused", reason=Note("archive_too_deep", depth=DEPTH), packed_bytes=packed)
    elif inner == "zip":
        yield from _zip(io.BytesIO(data), f"{name}/", budget, limit, depth + 1, name)
    else:
        yield from _tar(io.BytesIO(data), f"{name}/", budget, limit, depth + 1, name)


def _inner_kind(name: str, data: bytes) -> str:
    if data[257:262] == b"ustar":
        return "tar"
    if not data.startswith((b"PK\x03\x04", b"PK\x05\x06")) or name.lower().endswith(".fb2.zip"):
        return ""
    from doublet.errors import Unreadable
    from doublet.text.kind import tell

    try:
        return "zip" if tell(data, name=name) == "zip" else ""
    except Unreadable:
        return ""


def _read(stream: IO[bytes], limit: int) -> bytes | None:
    """All of a member, or None when it is more than its directory said and than the limit allows."""
    parts, size = [], 0
    while part := stream.read(_STEP):
        size += len(part)
        if size > limit:
            return None
        parts.append(part)
    return b"".join(parts)


def _refused(name: str) -> Note | None:
    path = name.replace("\\", "/")
    if path.startswith("/") or ".." in path.split("/") or path[1:2] == ":" or "\x00" in name:
        return Note("name_leads_out")
    return None


def _is_litter(name: str) -> bool:
    """What systems leave in archives, and hidden files, as in folders."""
    parts = [part for part in name.replace("\\", "/").split("/") if part not in ("", ".", "..")]
    return not parts or parts[0] == "__MACOSX" or any(part.startswith(".") for part in parts)


def _too_large(size: int, limit: int) -> Note:
    return Note("has_bytes_or_more", size=size, limit=limit)


def _directory_bytes(path: Path) -> int:
    """Size of the list of names of a zip archive, from the record at its end."""
    with path.open("rb") as file:
        end = file.seek(0, os.SEEK_END)
        file.seek(max(0, end - (1 << 16) - 22))
        tail = file.read()
    at = tail.rfind(b"PK\x05\x06")
    if at < 0 or at + 16 > len(tail):
        return 0
    (size,) = struct.unpack_from("<I", tail, at + 12)
    return int(size) if size != 0xFFFFFFFF else end
