"""Bytes of a file: decompressed, brought to UTF-8, cut into lines, with memory that does not grow with the
file.

The compression is told from the first bytes (gzip, zstd, bzip2, xz), never from the name.
"""

from __future__ import annotations

import bz2
import codecs
import contextlib
import errno
import gzip
import io
import lzma
import os
import signal
import stat
import sys
import tempfile
import zlib
from collections.abc import Callable, Generator, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, Protocol, cast

from doublet.errors import InputNotFound, InputUnreadable, SpillFailed, nearest
from doublet.model import Note
from doublet.reports.output import zstandard

STDIN_LABEL = "stdin"  #: as it is called in messages and results, in every language
HEAD_BYTES = 1 << 16
_TOO_LONG_HEAD = 1 << 10
_STEP = 1 << 16
LONG_LINE = 8_000_000  #: bytes; a line from this length on is a block of its own


class ByteReader(Protocol):
    def read(self, size: int = ..., /) -> bytes: ...


@dataclass(frozen=True, slots=True)
class TooLong:
    """Stands for a line over the limit: its size and its beginning."""

    size: int
    head: bytes


@dataclass(frozen=True, slots=True)
class Damaged:
    """Stands for the rest of a stream that could not be read, and says why."""

    reason: Note


class Stream:
    """Decompressed bytes of a file; `consumed` tells how much of the file itself has been read."""

    def __init__(self, path: Path, *, label: str) -> None:
        try:
            self._file: IO[bytes] = path.open("rb")
        except (OSError, ValueError) as error:
            raise cannot_open(label, error) from error
        try:
            self._reader, self.compression = _decompressed(self._file, label)
        except BaseException:
            self._file.close()
            raise
        self._pending = b""
        self._failure: Exception | None = None

    @property
    def consumed(self) -> int:
        return self._file.tell()

    def read(self, size: int = -1, /) -> bytes:
        """The next bytes, fewer than *size* only at the end. Raises what `damage` can put into words."""
        if self._pending:
            found, self._pending = self._pending, b""
            return found
        if self._failure is not None:
            raise self._failure
        if not self.compression or size < 0:
            return self._reader.read(size)
        # What one step of unpacking gives: where the file is damaged, what came before is not lost with it.
        parts, missing = [], size
        step = getattr(self._reader, "read1", self._reader.read)
        try:
            while missing > 0 and (part := step(min(missing, _STEP))):
                parts.append(part)
                missing -= len(part)
        except Exception as error:
            if not parts:
                raise
            self._failure = error
        return b"".join(parts)

    def whole_lines(self, size: int) -> int:
        """How many of the next *size* bytes are whole lines, less the end of the last one; 0 when that is not known.

        What is read so needs not be put together from the ends of two pieces, which costs a copy of all.
        """
        if self.compression or self._pending:
            return 0
        looked = min(size, _STEP)
        try:
            last = os.pread(self._file.fileno(), looked, self._file.tell() + size - looked)
        except OSError:
            return 0
        cut = last.rfind(b"\n") if len(last) == looked else -1
        return size - looked + cut if cut >= 0 else 0

    def peek(self, size: int) -> bytes:
        """Up to *size* bytes from the beginning, which `read` gives again. Only before a `read`."""
        if len(self._pending) < size:
            self._pending, before = b"", self._pending
            self._pending = before + self.read(size - len(before))
        return self._pending

    def close(self) -> None:
        self._file.close()

    def __enter__(self) -> Stream:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class Recoded:
    """A stream in another encoding, as UTF-8. Bytes that mean nothing there become U+FFFD."""

    def __init__(self, stream: ByteReader, encoding: str) -> None:
        self._stream = stream
        self._decoder = codecs.getincrementaldecoder(encoding)("replace")

    def read(self, size: int = -1, /) -> bytes:
        while True:
            data = self._stream.read(size)
            text = self._decoder.decode(data, final=not data)
            if text or not data:
                return text.encode("utf-8", "replace")


class OldLineEnds:
    """A stream whose lines end with carriage returns alone, as on old Macs, with the line ends of today."""

    def __init__(self, stream: ByteReader) -> None:
        self._stream = stream

    def read(self, size: int = -1, /) -> bytes:
        return self._stream.read(size).replace(b"\r", b"\n")


class BadZstdFile(OSError):
    """What is no zstd though it begins so: the like of `gzip.BadGzipFile`, for a library that is loaded when needed."""


def damage(error: BaseException) -> Note | None:
    """Why a stream broke off, or None when *error* is not about the stream."""
    if isinstance(error, EOFError):
        return Note("compressed_cut_off")
    if isinstance(error, zlib.error | gzip.BadGzipFile | lzma.LZMAError | BadZstdFile):
        return Note("compressed_damaged", why=error)
    if isinstance(error, OSError):
        return Note("reading_failed", why=error.strerror or error)
    return None


Line = bytes | TooLong | Damaged


class Block:
    """Whole lines as one piece, without the end of the last one. Cut only when somebody asks: that takes time."""

    __slots__ = ("_count", "raw")

    def __init__(self, raw: bytes) -> None:
        self.raw = raw
        self._count = 0

    def __len__(self) -> int:
        if not self._count:
            from doublet.kernels import count_lines  # twenty times as fast as bytes.count

            self._count = count_lines(self.raw) + 1
        return self._count

    def lines(self) -> list[Line]:
        return list(self.raw.split(b"\n"))

    def forget(self) -> None:
        self._count = len(self)
        self.raw = b""


def blocks_of_lines(stream: ByteReader, *, block_bytes: int, limit_bytes: int) -> Iterator[list[Line]]:
    """Lines without their ends, about *block_bytes* at a time. A line over *limit_bytes* is never held whole.

    A stream that breaks off ends with a `Damaged` in place of the line that was being read.
    """
    for block in uncut_blocks(stream, block_bytes=block_bytes, limit_bytes=limit_bytes):
        yield block.lines() if isinstance(block, Block) else block


def uncut_blocks(stream: ByteReader, *, block_bytes: int, limit_bytes: int) -> Iterator[list[Line] | Block]:
    """As `blocks_of_lines`, but blocks in which nothing is amiss come in one piece."""
    cutter = _Cutter(limit_bytes)
    while True:
        end = b""
        try:
            whole = stream.whole_lines(block_bytes) if isinstance(stream, Stream) else 0
            if whole and whole <= limit_bytes and cutter.holds_nothing:
                chunk, end = stream.read(whole), stream.read(1)
            else:
                chunk = stream.read(whole + 1 if whole else block_bytes)
        except Exception as error:
            reason = damage(error)
            if reason is None:
                raise
            yield [Damaged(reason)]
            return
        if end == b"\n" and len(chunk) == whole:
            yield Block(chunk)
            continue
        chunk += end  # of a file that has changed meanwhile
        if not chunk:
            yield from cutter.finish()
            return
        if cutter.holds_long_line:
            chunk = yield from cutter.end_long_line(chunk)
        lines = cutter.feed(chunk)
        del chunk
        if lines:
            yield lines


class _Cutter:
    """Cuts chunks into lines; keeps the beginning of a line until its end comes, unless it grows too long."""

    def __init__(self, limit_bytes: int) -> None:
        self._limit = limit_bytes
        self._tail = (
            io.BytesIO()
        )  # the beginning of a line whose end has not come; gives it away without a copy
        self._tail_bytes = 0
        self._skipped = 0  # bytes of a line over the limit, which is not kept
        self._head = b""

    @property
    def holds_nothing(self) -> bool:
        return not self._tail_bytes and not self._skipped

    @property
    def holds_long_line(self) -> bool:
        return self._tail_bytes >= LONG_LINE

    def end_long_line(self, chunk: bytes) -> Generator[Block | list[Line], None, bytes]:
        """A long line comes alone, so that nobody has to cut it out of a block again. Returns the rest of the chunk."""
        end = chunk.find(b"\n")
        if end < 0:
            return chunk
        self._keep(memoryview(chunk)[:end])
        yield from self.finish()
        return chunk[end + 1 :]

    def feed(self, chunk: bytes) -> list[Line] | Block:
        cut = chunk.rfind(b"\n")
        lines: list[Line] = []
        if cut < 0:
            self._keep(memoryview(chunk))
            return lines
        begin = 0
        if self._skipped:
            begin = chunk.find(b"\n") + 1
            lines.append(TooLong(self._skipped + begin - 1, self._head))
            self._skipped = 0
        if begin <= cut:
            sound = self._tail_bytes + cut - begin <= self._limit
            whole = Block(b"".join([self._take(), memoryview(chunk)[begin:cut]]))
            self._keep(memoryview(chunk)[cut + 1 :])
            if sound and not lines:
                return whole
            return lines + [self._checked(line) for line in whole.raw.split(b"\n")]
        self._keep(memoryview(chunk)[cut + 1 :])
        return lines

    def finish(self) -> Iterator[Block | list[Line]]:
        """The line that waits for its end: there is no more of it."""
        if self._skipped:
            yield [TooLong(self._skipped, self._head)]
            self._skipped = 0
        elif self._tail_bytes:
            yield Block(self._take())

    def _take(self) -> bytes:
        found = self._tail.getvalue()
        self._tail, self._tail_bytes = io.BytesIO(), 0
        return found

    def _keep(self, part: memoryview) -> None:
        if self._skipped:
            self._skipped += len(part)
            return
        self._tail.write(part)
        self._tail_bytes += len(part)
        if self._tail_bytes > self._limit:
            self._skipped = self._tail_bytes
            self._head = bytes(self._tail.getbuffer()[:_TOO_LONG_HEAD])
            self._tail, self._tail_bytes = io.BytesIO(), 0

    def _checked(self, line: bytes) -> Line:
        return line if len(line) <= self._limit else TooLong(len(line), line[:_TOO_LONG_HEAD])


def is_folder(path: Path) -> bool:
    """Whether there is such a folder. A name that no file can have, too long or with a NUL, is none."""
    try:
        return path.is_dir()
    except OSError:
        return False


def cannot_open(label: str, error: OSError | ValueError) -> InputNotFound | InputUnreadable:
    """*error* while opening an input, in words; for a name that is not there, the nearest one that is."""
    path = Path(label)
    if not isinstance(error, OSError) or error.errno == errno.ENAMETOOLONG:
        return InputNotFound("path_why", path=label, why=Note("impossible_name"))
    if error.errno == errno.ENOENT:
        if path.is_symlink():
            why = Note("link_to_nothing", target=str(path.readlink()))
            return InputNotFound("path_why", path=label, why=why)
        try:
            names = os.listdir(path.parent)  # noqa: PTH208 - names, not paths
        except OSError:
            return InputNotFound("no_folder", parent=str(path.parent), path=label)
        return InputNotFound("no_input", path=label, nearest=nearest(path.name, names))
    if error.errno == errno.EACCES:
        return InputUnreadable("not_permitted", path=label)
    return InputUnreadable("cannot_be_read", why=error.strerror or error, path=label)


def is_stream(path: Path) -> bool:
    """A pipe or another thing that can be read only once (``<(command)`` in a shell)."""
    try:
        mode = path.stat().st_mode
    except (OSError, ValueError):
        return False
    return stat.S_ISFIFO(mode) or stat.S_ISCHR(mode) or stat.S_ISSOCK(mode)


@contextlib.contextmanager
def _unstopped() -> Iterator[None]:
    """The user's wish to stop waits: a file that is being made has nobody yet who would remove it."""
    wishes = [getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)]
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, wishes)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def spool(stream: IO[bytes], label: str) -> Any:
    """Copy a stream into a temporary file that disappears when it is closed, so that it can be read twice."""
    try:
        with _unstopped():
            spooled = tempfile.NamedTemporaryFile(prefix="doublet-input-")  # noqa: SIM115 - closed by the source
    except OSError as error:
        raise SpillFailed("no_temporary_file", label=label, why=error.strerror or error) from error
    try:
        # What has come, not all that was asked for: inside a read that waits for more, Ctrl-C can be overheard.
        read = getattr(stream, "read1", stream.read)
        while part := read(1 << 20):
            spooled.write(part)
        spooled.flush()
    except OSError as error:
        spooled.close()
        if error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
            folder = tempfile.gettempdir()
            raise SpillFailed("does_not_fit", label=label, folder=folder) from error
        raise InputUnreadable("cannot_be_read", why=error.strerror or error, path=label) from error
    return spooled


def standard_input() -> IO[bytes]:
    if sys.stdin is None:
        raise InputUnreadable("stdin_closed", path="-")
    return sys.stdin.buffer


def _decompressed(file: IO[bytes], label: str) -> tuple[ByteReader, str]:
    try:
        magic = file.read(6)
        file.seek(0)
    except OSError as error:
        raise cannot_open(label, error) from error
    if magic.startswith(b"\x1f\x8b"):
        return cast(ByteReader, gzip.GzipFile(fileobj=file)), "gzip"
    if magic.startswith(_ZSTD) or _is_skippable(magic):
        return _ZstdReader(file), "zstd"
    if magic.startswith(b"BZh"):
        return cast(ByteReader, bz2.BZ2File(file)), "bzip2"
    if magic == b"\xfd7zXZ\x00":
        return cast(ByteReader, lzma.LZMAFile(file)), "xz"
    return cast(ByteReader, file), ""


class _ZstdReader:
    """Reads zstd and notices, as the library does not, that the file ends inside a frame."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        library = zstandard()
        self._error: type[Exception] = library.ZstdError
        unpacking = library.ZstdDecompressor(max_window_size=1 << 31)
        self._reader = unpacking.stream_reader(file, read_across_frames=True, closefd=False)
        self._checked = False

    def read(self, size: int = -1, /) -> bytes:
        return self._checked_end(self._unpacked(self._reader.read, size))

    def read1(self, size: int = -1, /) -> bytes:
        return self._checked_end(self._unpacked(self._reader.read1, size))

    def _unpacked(self, read: Callable[[int], bytes], size: int) -> bytes:
        try:
            return bytes(read(size))
        except self._error as error:
            raise BadZstdFile(str(error)) from error

    def _checked_end(self, data: bytes) -> bytes:
        if not data and not self._checked:
            self._checked = True
            end = self._file.tell()
            complete = _is_complete_zstd(self._file)
            self._file.seek(end)
            if not complete:
                raise EOFError("inside a zstd frame")
        return data


_ZSTD = b"\x28\xb5\x2f\xfd"


def _is_skippable(magic: bytes) -> bool:
    return magic[1:4] == b"\x2a\x4d\x18" and 0x50 <= magic[0] <= 0x5F


def _is_complete_zstd(file: IO[bytes]) -> bool:
    """Walk from block to block by the sizes in their headers (RFC 8878); true when all is there."""
    end = file.seek(0, os.SEEK_END)
    at = 0
    while at < end:
        file.seek(at)
        head = file.read(5)
        if _is_skippable(head):
            file.seek(at + 4)
            at += 8 + int.from_bytes(file.read(4), "little")
            continue
        if len(head) < 5 or not head.startswith(_ZSTD):
            return False
        descriptor = head[4]
        single, checksum = descriptor >> 5 & 1, descriptor >> 2 & 1
        content_size = (single, 2, 4, 8)[descriptor >> 6]
        at += 5 + (1 - single) + (0, 1, 2, 4)[descriptor & 3] + content_size
        last = 0
        while not last:
            file.seek(at)
            block = file.read(3)
            if len(block) < 3:
                return False
            value = int.from_bytes(block, "little")
            last = value & 1
            at += 3 + (1 if value >> 1 & 3 == 1 else value >> 3)
        at += 4 * checksum
    return at == end


def open_text(stream: Stream, encoding: str) -> ByteReader:
    """The stream as UTF-8, whatever its encoding was."""
    if encoding in ("utf-8", "utf-8-sig"):
        return stream
    return Recoded(stream, encoding)
