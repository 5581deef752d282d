"""What all tests of the built program share."""

from __future__ import annotations

import signal
from collections.abc import Iterator

import pytest


@pytest.fixture(autouse=True)
def ordinary_signals() -> Iterator[None]:
    """Programs that a test starts get the signals of an ordinary terminal. The tests themselves may run under `nohup`
    or in the background of a shell, which ignore some, and programs inherit that."""
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGHUP)}
    for number, handler in before.items():
        if handler is signal.SIG_IGN:
            signal.signal(number, signal.default_int_handler if number == signal.SIGINT else signal.SIG_DFL)
    yield
    for number, handler in before.items():
        signal.signal(number, handler)
