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
        time.sleep(luck.uniform(0.5, 1.2))
        worker.send_signal(signal.SIGKILL)
        worker.communicate()
        with Store(address) as store:
            (info,) = store.sources.all(store.libraries.get("x").number)
            page = int(info.state.get("page", 0))
            stored = {document.id for document in store.documents.all("x")}
            # The checkpoint and all that came before it, or neither.
            assert {f"{number:04}" for number in range(page * PER_PAGE)} <= stored
            reached.append(page)
    assert reached == sorted(reached)
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
    if reached[-1] > 2:
        assert pages.count(0) < 4  # not from the beginning each time
    assert set(pages) == set(range(PAGES))
