"""How well the robot finds its way: four simulated libraries of five thousand documents each, every one difficult in
another way. Prints what was found, wasted, asked for twice, asked for although robots.txt forbids it, and what
was stored although it is not a document.

    python benchmarks/robot.py [--documents N]

The sites (tests/library_simulator.py) count every request. The front page, robots.txt, the sitemap, lists of documents,
probes for addresses that cannot exist and the holes of a range of numbers are no waste; everything else that is not a
document is. Of documents with the same text one is stored; the others are found when they were recognised as copies.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from doublet.crawl.politeness import PoliteFetcher
from doublet.jobs.crawl import Wish, crawl_library
from doublet.store.database import Store
from measure import HERE, save, table

sys.path.insert(0, str(HERE.parent / "tests"))

from library_simulator import Library, Site

KINDS: dict[str, tuple[dict[str, Any], tuple[str, ...]]] = {
    "numbers, 30 % holes, soft 404": ({"holes": 0.3, "soft_404": True}, ("post",)),
    "slugs, lists, traps, spellings": ({"scheme": "slug", "traps": True, "variants": True}, ("article",)),
    "two kinds of addresses, traps": ({"scheme": "two", "traps": True}, ("post", "read")),
    "sitemap, soft 404, equal texts": (
        {"scheme": "slug", "sitemap": True, "soft_404": True, "twins": 50},
        ("article",),
    ),
}
_NO_WASTE = ("/robots.txt", "/sitemap.xml", "/", "/feed.xml")


def crawl(kind: str, documents: int, number: int, store: Store) -> dict[str, Any]:
    given, only = KINDS[kind]
    library = Library(documents, seed=number, **given)
    name = f"site{number}"
    store.libraries.create(name)
    began = time.monotonic()
    with (
        Site(library, f"127.0.0.{number + 1}") as site,
        PoliteFetcher(delay_s=0.0, allow_private=True) as fetcher,
    ):
        made = crawl_library(store, name, site.url, fetcher=fetcher, wish=Wish(only=only))
        asked, wanted = site.targets(), site.addresses()
    seconds = time.monotonic() - began
    stored = {document.id for document in store.documents.all(name)}
    info = store.sources.all(store.libraries.get(name).number)[0]
    ends = store.frontier.counts(info.number)
    copies = ends["duplicate"] if library.twins else 0
    paths = {address.removeprefix(site.url) for address in wanted}
    other = [
        target
        for target in asked
        if target not in paths and target not in _NO_WASTE and not target.startswith("/list?")
    ]
    holes_and_probes = ends["missing"] + ends["soft_404"] + made.plan.probes
    requests = sum(asked.values())
    return {
        "what": kind,
        "documents": len(wanted),
        "found": min(1.0, (len(stored & wanted) + copies) / len(wanted)),
        "requests": requests,
        "holes_and_probes": holes_and_probes,
        "wasted": max(0, len(other) - holes_and_probes) / requests,
        "asked_twice": requests - len(asked),
        "forbidden": sum("private" in target for target in asked),
        "not_documents_stored": len(stored - wanted),
        "seconds": round(seconds, 1),
    }


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--documents", type=int, default=5_000, help="of each library")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, Store(str(Path(folder) / "robot.db")) as store:
        rows = [crawl(kind, given.documents, number, store) for number, kind in enumerate(KINDS, 1)]
    whole: dict[str, Any] = {"what": "together"}
    for name in rows[0]:
        if name in ("found", "wasted"):
            by = "documents" if name == "found" else "requests"
            whole[name] = sum(row[name] * row[by] for row in rows) / sum(row[by] for row in rows)
        elif name != "what":
            whole[name] = sum(row[name] for row in rows)
    whole["seconds"] = round(whole["seconds"], 1)
    rows.append(whole)
    for row in rows:
        row["found"], row["wasted"] = round(row["found"], 5), round(row["wasted"], 5)
    print(table(list(rows[0]), [list(row.values()) for row in rows]))
    save("robot", rows)


if __name__ == "__main__":
    main()
