"""Numbers that come in pieces and are asked for by their places: in memory up to a limit, in an unnamed file beyond it.

What the methods keep of a collection besides their signatures is of this kind: postings of words, texts as sequences
of stems, signatures themselves.
"""

from __future__ import annotations

import os
import tempfile
from typing import IO, Any, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

T = TypeVar("T", bound=np.generic)

_BLOCK_BYTES = 1 << 20


class LongArray(Generic[T]):
    """An array that only grows. A full disk raises `OSError`. Not safe for several threads while it grows."""

    def __init__(self, kind: type[T], memory_bytes: int | None = None, folder: str | None = None) -> None:
        self._kind: np.dtype[Any] = np.dtype(kind)
        self._memory, self._folder = memory_bytes, folder
        self._each = _BLOCK_BYTES // self._kind.itemsize
        self._blocks: list[NDArray[T]] = []
        self._length = 0
        self._file: IO[bytes] | None = None
        self._unwritten = False

    def __len__(self) -> int:
        return self._length

    @property
    def in_memory(self) -> bool:
        return self._file is None

    def add(self, values: NDArray[T]) -> None:
        """Put these behind the others."""
        values = np.ascontiguousarray(values, self._kind)
        if self._file is None and self._memory is not None:
            blocks = -(-(self._length + len(values)) // self._each)
            if blocks * _BLOCK_BYTES > self._memory:
                self._move()
        if self._file is not None:
            self._file.write(values.data)
            self._unwritten = True
            self._length += len(values)
            return
        done = 0
        while done < len(values):
            at = self._length % self._each
            if at == 0:
                self._blocks.append(np.empty(self._each, self._kind))
            some = values[done : done + self._each - at]
            self._blocks[-1][at : at + len(some)] = some
            self._length += len(some)
            done += len(some)

    def read(self, start: int, stop: int) -> NDArray[T]:
        """The numbers at ``[start:stop]``. Not to be written to."""
        if not 0 <= start <= stop <= self._length:
            raise IndexError(f"[{start}:{stop}] of {self._length}")
        if self._file is not None:
            return self._from_file(start, stop)
        first, last = start // self._each, max(start, stop - 1) // self._each
        if start == stop:
            return np.zeros(0, self._kind)
        if first == last:
            return self._blocks[first][start - first * self._each : stop - first * self._each]
        parts = [self._blocks[number] for number in range(first, last + 1)]
        parts[0] = parts[0][start - first * self._each :]
        parts[-1] = parts[-1][: stop - last * self._each]
        return np.concatenate(parts)

    def close(self) -> None:
        """Give memory and file back; nothing can be read after that."""
        if self._file is not None:
            self._file.close()
        self._file, self._blocks, self._length = None, [], 0

    def __del__(self) -> None:
        if getattr(self, "_file", None) is not None:  # its owner was stopped by an error
            self.close()

    def _move(self) -> None:
        self._file = tempfile.TemporaryFile(dir=self._folder)  # noqa: SIM115 - closed by `close`
        for number, block in enumerate(self._blocks):
            self._file.write(block[: self._length - number * self._each].data)
        self._blocks, self._unwritten = [], True

    def _from_file(self, start: int, stop: int) -> NDArray[T]:
        assert self._file is not None
        if self._unwritten:
            self._file.flush()
            self._unwritten = False
        size = self._kind.itemsize
        at, end = start * size, stop * size
        parts = []
        while at < end:
            part = os.pread(self._file.fileno(), end - at, at)
            if not part:
                raise OSError(5, "the temporary file is shorter than expected")
            parts.append(part)
            at += len(part)
        return np.frombuffer(parts[0] if len(parts) == 1 else b"".join(parts), self._kind)
