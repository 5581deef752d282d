"""Steps follow from how long the last one held others up."""

from __future__ import annotations

from typing import Any

import pytest

from doublet.store.pace import HOLD_S, Pace


class Held:
    held_s = 0.0
    vendor = "postgresql"


def after(pace: Pace, spent: float, amount: int | None = None) -> int:
    database: Any = Held()
    with pace.step(database, amount) as size:
        assert size == pace.size
        database.held_s += spent
    return pace.size


def test_a_quick_step_is_followed_by_one_twice_as_large() -> None:
    pace = Pace(100, most=350)
    assert [after(pace, HOLD_S / 10) for _ in range(3)] == [200, 350, 350]


def test_a_slow_step_is_followed_by_a_smaller_one() -> None:
    pace = Pace(1_000, most=1_000, least=150)
    assert after(pace, 4 * HOLD_S) == 250
    assert after(pace, 4 * HOLD_S) == 150


def test_a_small_step_that_was_quick_says_nothing() -> None:
    pace = Pace(1_000, most=10_000)
    assert after(pace, HOLD_S / 10, amount=20) == 1_000
    assert after(pace, 2 * HOLD_S, amount=800) == 400


def test_a_step_that_fails_changes_nothing() -> None:
    pace = Pace(100, most=1_000)
    database: Any = Held()
    with pytest.raises(ValueError, match="no"), pace.step(database):
        raise ValueError("no")
    assert pace.size == 100
