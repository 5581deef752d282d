"""Fills a library from a source that is slow on purpose, until it is killed. What the source says follows from numbers.

The source counts its walks in a file, so that a test can tell what was asked for again.
"""

from __future__ import annotations

import pathlib
import sys
import time
from collections.abc import Iterator
from typing import Any, ClassVar

PAGES = 30
PER_PAGE = 5


def text_of(number: int) -> str:
    return f"Документ номер {number} рассказывает о реке, мосте, башне и зиме, которая длится {number} дней подряд."


class Pages:
    kind: ClassVar[str] = "page"
    address = "https://example.org/pages"

    def __init__(self, journal: str, pause_s: float) -> None:
        self.journal = pathlib.Path(journal)
        self.pause_s = pause_s

    def items(self, fetcher: Any, known: Any, state: dict[str, Any]) -> Iterator[Any]:
        from doublet.sources.protocol import Checkpoint, Complete, Found

        for page in range(int(state.get("page", 0)) % PAGES, PAGES):
            with self.journal.open("a") as file:
                file.write(f"{page}\n")
            for number in range(page * PER_PAGE, (page + 1) * PER_PAGE):
                data = f"<html><body><p>{text_of(number)}</p></body></html>".encode()
                yield Found(f"{number:04}", version="1", data=data, name="x.html")
            time.sleep(self.pause_s)
            yield Checkpoint({"page": page + 1})
        yield Complete()


def main(address: str, journal: str, pause_s: str = "0.05", lease_s: str = "30") -> None:
    from doublet.jobs import add_source
    from doublet.store import leases
    from doublet.store.database import Store

    leases.LEASE_S = float(lease_s)
    add_source.BATCH_DOCUMENTS = 4
    with Store(address) as store:
        source = Pages(journal, float(pause_s))
        info = store.sources.add(store.libraries.get("x").number, source.kind, source.address, {})
        print("ready", flush=True)
        add_source.fill_source(store, info, walked=source)  # type: ignore[arg-type]
        print("done", flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
