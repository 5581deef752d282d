"""Packed arrays between tasks: what goes in comes out, and goes to the partition that was named."""

from __future__ import annotations

import numpy as np
import pytest

from doublet.spark import exchange


def test_it_works() -> None:
    arrays = [
        np.array([1, 2, 3], np.uint64),
        np.zeros(0, np.uint32),
        np.array([7], np.uint8),
        np.array([0.5]),
    ]
    back = exchange.unpack(exchange.pack(*arrays))
    assert [a.dtype for a in back] == [a.dtype for a in arrays]
    assert all(np.array_equal(a, b) for a, b in zip(arrays, back, strict=True))


@pytest.mark.parametrize("partitions", [1, 2, 7, 64])
def test_every_partition_has_a_number_of_its_own(partitions: int) -> None:
    numbers = exchange.slots(partitions)
    assert len(set(numbers)) == partitions
    assert [exchange._murmur3(n) % partitions for n in numbers] == list(range(partitions))


def test_the_hash_is_that_of_spark() -> None:
    """Values of ``SELECT hash(cast(n AS int))``."""
    known = {0: 933211791, 1: -559580957, 2: 1765031574, 42: 29417773}
    assert {n: exchange._murmur3(n) for n in known} == known


def test_scatter_sends_every_row_once() -> None:
    rng = np.random.default_rng(3)
    values, places = rng.integers(0, 1 << 60, 5000).astype(np.uint64), rng.integers(0, 3, 5000)
    numbers = {slot: place for place, slot in enumerate(exchange.slots(3))}
    received: list[list[bytes]] = [[], [], []]
    for slot, blob in exchange.scatter(places, 3, values):
        received[numbers[slot]].append(blob)
    for place in range(3):
        (found,) = exchange.joined(received[place], (np.uint64,))
        assert np.array_equal(found, values[places == place])


def test_nothing_received() -> None:
    (found,) = exchange.joined([], (np.uint32,))
    assert found.dtype == np.uint32
    assert len(found) == 0
