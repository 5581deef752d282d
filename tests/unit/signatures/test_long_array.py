"""Long arrays: the same answers from memory and from a file."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from doublet.signatures import long_array as module
from doublet.signatures.long_array import LongArray


def filled(memory: int | None, folder: Path | None = None) -> LongArray[np.uint32]:
    out = LongArray(np.uint32, memory, str(folder) if folder else None)
    for start in range(0, 1_000_000, 70_000):
        out.add(np.arange(start, min(start + 70_000, 1_000_000), dtype=np.uint32))
    return out


@pytest.mark.parametrize("memory", [None, 10_000_000, 3_000_000, 0])
def test_it_works(memory: int | None, tmp_path: Path) -> None:
    numbers = filled(memory, tmp_path)
    assert len(numbers) == 1_000_000
    assert numbers.in_memory == (memory is None or memory > 4_000_000)
    for start, stop in (
        (0, 0),
        (0, 1),
        (262_143, 262_145),
        (5, 900_000),
        (999_999, 1_000_000),
        (1_000_000, 1_000_000),
    ):
        assert numbers.read(start, stop).tolist() == list(range(start, stop))
    numbers.add(np.array([7], np.uint32))
    assert numbers.read(999_999, 1_000_001).tolist() == [999_999, 7]
    assert list(tmp_path.iterdir()) == []  # the file has no name
    numbers.close()
    assert len(numbers) == 0


def test_empty() -> None:
    numbers = LongArray(np.uint8, 0)
    numbers.add(np.zeros(0, np.uint8))
    assert numbers.read(0, 0).tolist() == []
    with pytest.raises(IndexError):
        numbers.read(0, 1)
    with pytest.raises(IndexError):
        numbers.read(-1, 0)


def test_a_folder_that_is_not_there(tmp_path: Path) -> None:
    numbers = LongArray(np.uint8, 0, str(tmp_path / "none"))
    with pytest.raises(OSError, match="none"):
        numbers.add(np.zeros(1, np.uint8))


@given(st.lists(st.lists(st.integers(0, 255), max_size=20), max_size=8), st.integers(0, 40), st.data())
def test_any_pieces_and_any_places(parts: list[list[int]], memory: int, data: st.DataObject) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "_BLOCK_BYTES", 8)
        numbers = LongArray(np.uint8, memory)
        for part in parts:
            numbers.add(np.array(part, np.uint8))
        every = [number for part in parts for number in part]
        start = data.draw(st.integers(0, len(every)))
        stop = data.draw(st.integers(start, len(every)))
        assert numbers.read(start, stop).tolist() == every[start:stop]
        numbers.close()
