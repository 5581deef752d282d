"""kill -9 while a library is filled from a source: the next run goes on where it was, and nothing is missing."""

from __future__ import annotations

import pathlib
import random
import signal
import subprocess
import sys
import time

import pytest
from fill_worker import PAGES, PER_PAGE, Pages, text_of

from doublet.jobs.add_source import fill_source
from doublet.store.database import Store
from doublet.store.verify import verify
from library_databases import VENDORS, new_address

WORKER = pathlib.Path(__file__).parent / "fill_worker.py"


def _page(address: str) -> int:
    """How far the walk got, as another process sees it."""
    with Store(address) as store:
        found = store.sources.all(store.libraries.get("x").number)
        return int(found[0].state.get("page", 0)) if found else 0


@pytest.mark.covers("L3", "L7")
@pytest.mark.parametrize("vendor", VENDORS)
def test_goes_on_where_it_was(vendor: str, tmp_path: pathlib.Path) -> None:
    address, journal = new_address(vendor), tmp_path / "journal"
    luck = random.Random(7)
    with Store(address) as store:
        store.libraries.create("x")
    reached = []
    for _ in range(3):
        worker = subprocess.Popen(
            [sys.executable, str(WORKER), address, str(journal)], stdout=subprocess.PIPE, text=True
        )
        assert worker.stdout is not None
        assert worker.stdout.readline() == "ready\n"
        before = reached[-1] if reached else 0
        deadline = time.monotonic() + 60
        while _page(address) <= before and worker.poll() is None and time.monotonic() < deadline:
            time.sleep(0.02)
        time.sleep(luck.uniform(0.0, 0.3))
        assert worker.poll() is None  # alive and getting on: a worker that fell over proves nothing
        worker.send_signal(signal.SIGKILL)
        said, _ = worker.communicate()
        assert worker.returncode == -signal.SIGKILL
        assert said == ""  # it was not done
        with Store(address) as store:
            (info,) = store.sources.all(store.libraries.get("x").number)
            page = int(info.state.get("page", 0))
            stored = {document.id for document in store.documents.all("x")}
            # The checkpoint and all that came before it, or neither.
            assert {f"{number:04}" for number in range(page * PER_PAGE)} <= stored
            reached.append(page)
    assert 0 < reached[0] < reached[1] < reached[2]  # every round got further
    with Store(address) as store:
        (info,) = store.sources.all(store.libraries.get("x").number)
        filled = fill_source(store, info, walked=Pages(str(journal), 0.0))  # type: ignore[arg-type]
        found = {document.id: text for batch in store.documents.batches("x") for document, text in batch}
        assert found == {f"{number:04}": text_of(number) for number in range(PAGES * PER_PAGE)}
        assert verify(store) == []
        assert filled.counts["gone"] == 0
        (info,) = store.sources.all(store.libraries.get("x").number)
        assert info.status == "done"
        assert dict(info.state) == {"page": PAGES}
    pages = [int(line) for line in journal.read_text().split()]
    assert pages.count(0) < 4  # not from the beginning each time
    assert set(pages) == set(range(PAGES))
