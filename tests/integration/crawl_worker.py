"""A process that crawls a simulated library, to be killed: database, address, clarification, and where to note that it
lives."""

from __future__ import annotations

import json
import pathlib
import sys

from doublet.crawl.politeness import PoliteFetcher
from doublet.jobs.crawl import Crawling, Wish, crawl_library
from doublet.progress import Event, Progress
from doublet.store.database import Store


def main() -> None:
    database, address, only, alive, spool = sys.argv[1:6]
    note = pathlib.Path(alive)

    def told(event: Event) -> None:
        note.write_text(f"{event.stage} {event.done}", encoding="utf-8")

    with Store(database) as store, PoliteFetcher(delay_s=0.04, allow_private=True) as fetcher:
        if not store.libraries.all():
            store.libraries.create("site")
        made = crawl_library(
            store,
            "site",
            address,
            fetcher=fetcher,
            wish=Wish(only=[only]) if "--wish" in sys.argv else Wish(),
            crawling=Crawling(spool=pathlib.Path(spool)),
            progress=Progress(told),
        )
        print(json.dumps(made.to_dict()))


if __name__ == "__main__":
    main()
