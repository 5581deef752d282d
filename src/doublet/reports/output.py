"""Files that are written whole or not at all.

`open_output` gives a stream onto a temporary file beside the target; only when everything has been written
does it take the target's place. Several files of one job wait for each other (`Together`), so that all of them
appear or none. Compression follows the suffix (.gz, .zst) and does not depend on the clock,
so the same content always gives the same bytes.
"""

from __future__ import annotations

import codecs
import contextlib
import errno
import gzip
import io
import os
import shutil
import stat
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import IO, Any, cast

from doublet.errors import ConfigError, OutputFailed, UsageError
from doublet.model import Note

COMPRESSIONS = (".gz", ".zst")
STDOUT = Path("-")
PART = ".part"  #: what is not complete yet ends so


def format_suffix(path: Path) -> str:
    """The suffix that tells the format, in lower case (".jsonl" of "groups.jsonl.gz"), or nothing."""
    name = Path(path.name.lower())
    if name.suffix in COMPRESSIONS:
        name = Path(name.stem)
    return name.suffix


def compression_suffix(path: Path) -> str:
    suffix = path.suffix.lower()
    return suffix if suffix in COMPRESSIONS else ""


def check_output(path: Path) -> None:
    """Raise `OutputFailed` for what can be known before the work: no such folder, not allowed."""
    if path == STDOUT:
        return
    if compression_suffix(path) == ".zst":
        zstandard()
    if path.is_dir():
        raise OutputFailed("output_is_folder", path=str(path))
    parent = path.resolve().parent
    if not parent.is_dir():
        raise OutputFailed("output_needs_folder", parent=parent, path=str(path))
    if is_stream(path):
        return
    if not os.access(parent, os.W_OK | os.X_OK):
        raise OutputFailed("output_not_permitted", parent=parent, path=str(path))


class Together:
    """Files and folders that take their places together, when the block ends well, or not at all::

        with Together() as together:
            with open_output(groups, together) as stream: ...
            with open_output(kept, together) as stream: ...

    Raises `OutputFailed` at the end when one cannot take its place, and says which ones have already.
    """

    def __init__(self) -> None:
        self._waiting: list[tuple[Path, Path, Path]] = []

    def put(self, temporary: Path, target: Path, named: Path) -> None:
        """*temporary* is complete and becomes *target*, which the user calls *named*."""
        self._waiting.append((temporary, target, named))

    def __enter__(self) -> Together:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: Any) -> None:
        placed: list[Path] = []
        try:
            if error is None:
                for temporary, target, named in self._waiting:
                    try:
                        temporary.replace(target)
                    except OSError as why:
                        raise output_failed(named, why, beside=placed) from why
                    placed.append(named)
        finally:
            for temporary, _, _ in self._waiting[len(placed) :]:
                discard(temporary)


def discard(temporary: Path) -> None:
    """Remove a file or a folder that was not completed, as far as it is there."""
    with contextlib.suppress(OSError):
        if temporary.is_dir():
            shutil.rmtree(temporary)
        else:
            temporary.unlink()


def standard_output() -> IO[bytes]:
    """The bytes of standard output; on a terminal, without what would steer it."""
    return cast(IO[bytes], _OnTerminal()) if sys.stdout.isatty() else sys.stdout.buffer


class _OnTerminal(io.RawIOBase):
    """JSON and tables for the eyes of a person. A character may come in two parts."""

    def __init__(self) -> None:
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        from doublet.reports.terminal import json_for_terminal

        sys.stdout.buffer.write(json_for_terminal(self._decoder.decode(bytes(data))).encode())
        return len(data)


@contextlib.contextmanager
def open_output(path: Path, together: Together | None = None) -> Iterator[IO[bytes]]:
    """A binary stream that becomes *path* when the block ends well, and leaves nothing behind when it does
    not. With *together* it waits for the others.

    "-" is standard output. Devices and pipes are written straight. Raises `OutputFailed` when the disk is
    full or the place cannot be written; a `BrokenPipeError` of standard output passes through.
    """
    if path == STDOUT:
        try:
            yield standard_output()
            sys.stdout.buffer.flush()
        except BrokenPipeError:
            raise
        except OSError as error:
            raise output_failed(path, error) from error
        return
    check_output(path)
    try:
        if is_stream(path):
            with path.open("wb") as plain, _compressed(plain, path) as stream:
                yield stream
        else:
            with _temporary(path, together) as temporary, _compressed(temporary, path) as stream:
                yield stream
    except OSError as error:
        raise output_failed(path, error) from error


def output_failed(path: Path, error: OSError, beside: Sequence[Path] = ()) -> OutputFailed:
    """*error* while writing *path*, in words. *beside*: files of the same job that are there already."""
    if error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
        why: Note | str = Note("no_space_to_write")
    else:
        why = error.strerror or str(error)
    if isinstance(error.filename, str) and not error.filename.endswith(PART):
        why = Note("file_why", file=error.filename, why=why)  # another file than the one being written
    if is_stream(path):
        name = Note("standard_output") if path == STDOUT else str(path)
        return OutputFailed("not_written", name=name, why=why, path=str(path))
    return OutputFailed("output_failed", path=str(path), why=why, beside=[str(one) for one in beside])


def zstandard() -> Any:
    """The zstandard library, or a `ConfigError` that says what to install."""
    try:
        import zstandard as library
    except ImportError as error:
        raise ConfigError(
            "zst_needs_zstandard",
            library="zstandard",
        ) from error
    return library


def check_distinct(paths: dict[str, Path | None]) -> None:
    """Two outputs must not be one file. *paths*: option → place."""
    seen: dict[Path, str] = {}
    for option, path in paths.items():
        if path is None:
            continue
        other = seen.setdefault(path if path == STDOUT else path.resolve(), option)
        if other != option:
            raise UsageError("same_file_twice", other=other, option=option, path=str(path))


def is_stream(path: Path) -> bool:
    """Standard output, a device or a pipe: what was written there cannot be taken back."""
    if path == STDOUT:
        return True
    try:
        mode = path.stat().st_mode
    except OSError:
        return False
    return not (stat.S_ISREG(mode) or stat.S_ISDIR(mode))


@contextlib.contextmanager
def _temporary(path: Path, together: Together | None) -> Iterator[IO[bytes]]:
    target = path.resolve()  # a link stays a link: what it points to is replaced
    handle, name = tempfile.mkstemp(prefix=f".{target.name[:80]}.", suffix=PART, dir=target.parent)
    try:
        with os.fdopen(handle, "wb", buffering=1 << 20) as stream:
            yield stream
            stream.flush()
            os.fchmod(stream.fileno(), _mode(target))
            os.fsync(stream.fileno())
        if together is None:
            Path(name).replace(target)
        else:
            together.put(Path(name), target, path)
    except BaseException:
        discard(Path(name))
        raise


def _mode(target: Path) -> int:
    """Permissions of the file that is replaced, or those a new file would get."""
    try:
        return stat.S_IMODE(target.stat().st_mode)
    except OSError:
        mask = os.umask(0o077)
        os.umask(mask)
        return 0o666 & ~mask


@contextlib.contextmanager
def _compressed(stream: IO[bytes], path: Path) -> Iterator[IO[bytes]]:
    kind = compression_suffix(path)
    if kind == ".gz":
        with gzip.GzipFile(filename="", fileobj=stream, mode="wb", compresslevel=6, mtime=0) as packed:
            yield packed  # type: ignore[misc]
    elif kind == ".zst":
        with zstandard().ZstdCompressor(level=3).stream_writer(stream, closefd=False) as packed:
            yield packed
    else:
        yield stream
