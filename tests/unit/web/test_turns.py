"""Threads that write one after the other."""

from __future__ import annotations

import threading
import time

from doublet.web.turns import Line


def test_a_line_is_served_in_its_order() -> None:
    line, order, standing = Line(), [], 0

    def stand(number: int) -> None:
        with line:
            order.append(number)

    with line:
        threads = []
        for number in range(20):
            threads.append(threading.Thread(target=stand, args=(number,)))
            threads[-1].start()
            until = time.monotonic() + 60
            while standing <= number:
                standing = len(line._waiting)
                assert time.monotonic() < until
        assert order == []
    for one in threads:
        one.join(60)
    assert order == list(range(20))
    with line:
        pass


def test_an_error_hands_the_turn_on() -> None:
    line = Line()
    for _ in range(2):
        try:
            with line:
                raise ValueError
        except ValueError:
            pass
