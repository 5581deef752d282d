"""kill -9 while a library is changed: nothing that was reported stored is lost, nothing is half there.

``LIBRARY_KILLS=50`` kills more often than a build server has time for.
"""

from __future__ import annotations

import os
import pathlib
import random
import signal
import subprocess
import sys
import time

import pytest
from kill_library_worker import after

from doublet.jobs.check_library import check_library
from doublet.signatures.statistics import CollectionStatistics
from doublet.store.database import Store
from doublet.store.verify import verify
from library_databases import VENDORS, new_address

WORKER = pathlib.Path(__file__).parent / "kill_library_worker.py"
KILLS = int(os.environ.get("LIBRARY_KILLS", "5"))


def run_and_kill(address: str, first: int, wait_s: float) -> int:
    """Start the worker at a step, kill it some time after it got on; gives the last step that it reported.

    The worker has to be alive when it is killed: one that fell over proves nothing.
    """
    worker = subprocess.Popen(
        [sys.executable, str(WORKER), address, str(first)], stdout=subprocess.PIPE, text=True
    )
    assert worker.stdout is not None
    assert worker.stdout.readline() == "ready\n"
    assert worker.stdout.readline() == f"{first}\n"
    time.sleep(wait_s)
    assert worker.poll() is None
    worker.send_signal(signal.SIGKILL)
    reported, _ = worker.communicate()
    assert worker.returncode == -signal.SIGKILL
    lines = reported.splitlines(keepends=True)
    done = [int(line) for line in lines if line.endswith("\n")]
    return done[-1] if done else first


@pytest.mark.covers("L3")
@pytest.mark.parametrize("vendor", VENDORS)
def test_nothing_is_lost_or_half_there(vendor: str) -> None:
    address = new_address(vendor)
    luck = random.Random(11)
    with Store(address) as store:
        store.libraries.create("x")
    state: dict[str, str] = {}
    step = 0
    for _ in range(KILLS):
        before = step
        reported = run_and_kill(address, step, luck.uniform(0.0, 0.6))
        assert reported >= before  # every round gets on
        while step <= reported:
            state = after(step, state)
            step += 1
        with Store(address) as store:
            found = {info.id: text for batch in store.documents.batches("x") for info, text in batch}
            if found != state:  # the step in hand was stored, and killed before it could say so
                state = after(step, state)
                step += 1
            assert found == state
            assert verify(store) == []
            counted = CollectionStatistics()
            counted.add_texts(list(state.values()))
            assert store.libraries.statistics("x") == counted
            if state:
                some = luck.choice(sorted(state))
                assert check_library(store, state[some]).share == 1.0
    assert step >= KILLS
