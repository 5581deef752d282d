"""The robot: pages a second where politeness allows it, a refresh that finds nothing new, and the frontier by itself.

    python benchmarks/crawl.py [--documents N] [--hosts N] [--rows N] [--database ADDRESS] [--rival PYTHON]
    python benchmarks/crawl.py --pages FOLDER [FOLDER …] [--hosts N] [--rival PYTHON]

Simulated libraries on loopback addresses of their own (tests/library_simulator.py, in processes of their own, so that
they take their share of the processors too) are crawled with a delay of nothing. The frontier is measured with *rows*
addresses: pages are acknowledged with twenty links each, of which two are new. ``--rival`` names a Python with Scrapy:
it fetches the same pages, reads them with the same reader and stores the texts in a plain SQLite table.

``--pages`` crawls real pages instead: trees of HTML such as /usr/share/doc/debian-handbook/html (Debian's package
debian-handbook: 3,302 pages in 26 languages), postgresql-doc-15 or python3-doc, each on a loopback address of its own
and served by nginx. A folder without a front page is several trees. ``--hosts`` is how many are crawled at a time.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import random
import resource
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from doublet.crawl.politeness import PoliteFetcher
from doublet.crawl.protocol import Link
from doublet.jobs.crawl import Wish, crawl_library, refresh_library
from doublet.store.database import Store
from doublet.store.frontier import Batch, Ended
from measure import HERE, save, table

SIMULATOR = HERE.parent / "tests" / "library_simulator.py"
RIVAL = """
import sqlite3, sys, time
import scrapy
from scrapy.crawler import CrawlerProcess
from doublet.sources.whole_page import read_whole_page

class Spider(scrapy.Spider):
    name = "rival"
    start_urls = sys.argv[2:]
    def __init__(self):
        self.base = sqlite3.connect(sys.argv[1], isolation_level=None)
        self.base.execute("PRAGMA journal_mode=WAL")
        self.base.execute("CREATE TABLE page (address TEXT PRIMARY KEY, title TEXT, text TEXT)")
    def parse(self, response):
        headers = {"content-type": "text/html; charset=utf-8"}
        page = read_whole_page(response.body, address=response.url, headers=headers)
        self.base.execute("INSERT OR IGNORE INTO page VALUES (?, ?, ?)", (response.url, page["title"], page["text"]))
        host = "/".join(response.url.split("/")[:3])
        for link, _, _ in page["links"]:
            if link.startswith(host):
                yield response.follow(link, self.parse)

process = CrawlerProcess({"LOG_ENABLED": False, "CONCURRENT_REQUESTS": 64, "CONCURRENT_REQUESTS_PER_DOMAIN": 1,
                          "DOWNLOAD_DELAY": 0, "ROBOTSTXT_OBEY": True, "TELNETCONSOLE_ENABLED": False})
process.crawl(Spider)
began = time.time()
process.start()
base = sqlite3.connect(sys.argv[1])
print(base.execute("SELECT count(*) FROM page").fetchone()[0], time.time() - began)
"""


class Trees:
    """Folders of HTML, each on a loopback address of its own, behind one nginx."""

    def __init__(self, folders: list[Path]) -> None:
        roots = [found for folder in folders for found in self._roots(folder.resolve())]
        if not roots:
            raise SystemExit(f"no index.html in {', '.join(map(str, folders))} or right below")
        program = shutil.which("nginx") or "/usr/sbin/nginx"
        self._folder = tempfile.TemporaryDirectory()
        place = Path(self._folder.name)
        with socket.create_server(("127.0.0.1", 0)) as free:
            port = free.getsockname()[1]
        sizes = [path.stat().st_size for root in roots for path in root.rglob("*.html")]
        self.kb_a_page = round(sum(sizes) / len(sizes) / 1000, 1)
        self.urls = [f"http://127.0.{1 + n // 200}.{1 + n % 200}:{port}" for n in range(len(roots))]
        servers = "".join(
            f"server {{ listen {url.removeprefix('http://')}; root {root}; }}\n"
            for url, root in zip(self.urls, roots, strict=True)
        )
        temporary = "".join(
            f"{name}_temp_path {place}/{name};\n"
            for name in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
        )
        (place / "nginx.conf").write_text(
            f"pid {place}/pid;\nerror_log {place}/error.log;\nworker_processes 1;\ndaemon off;\nuser root;\n"
            "events { worker_connections 1000; }\n"
            "http { access_log off; types { text/html html; text/css css; image/png png; }\n"
            f"keepalive_requests 1000000;\ngzip on;\ngzip_comp_level 1;\n{temporary}{servers} }}\n",
            encoding="utf-8",
        )
        self._server = subprocess.Popen([program, "-c", str(place / "nginx.conf"), "-p", str(place)])
        self.pids = [self._server.pid]
        for _ in range(100):
            with contextlib.suppress(OSError), socket.create_connection(("127.0.1.1", port), 1):
                return
            time.sleep(0.1)
        raise SystemExit((place / "error.log").read_text(encoding="utf-8"))

    @staticmethod
    def _roots(folder: Path) -> list[Path]:
        if (folder / "index.html").exists():
            return [folder]
        return sorted(path for path in folder.iterdir() if (path / "index.html").exists())

    def __enter__(self) -> Trees:
        return self

    def __exit__(self, *_: object) -> None:
        self._server.terminate()
        self._server.wait()
        self._folder.cleanup()


class Sites:
    """Simulated libraries, each in a process of its own."""

    def __init__(self, hosts: int, documents: int) -> None:
        self._processes = []
        self.urls = []
        self.kb_a_page = 1.5
        for number in range(hosts):
            given = json.dumps({"documents": documents, "scheme": "slug", "seed": number + 1})
            made = subprocess.Popen(
                [sys.executable, str(SIMULATOR), given, f"127.0.0.{number + 2}"],
                stdout=subprocess.PIPE,
                text=True,
            )
            self._processes.append(made)
        for made in self._processes:
            assert made.stdout is not None
            self.urls.append(made.stdout.readline().strip())
        self.pids = [made.pid for made in self._processes]

    def __enter__(self) -> Sites:
        return self

    def __exit__(self, *_: object) -> None:
        for made in self._processes:
            made.kill()
            made.wait()


def spent(others: Sequence[int] = ()) -> float:
    """Processor seconds of this process and its children, those that still run included (they read the pages), but for
    the servers (*others*)."""
    own, children = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    used = own.ru_utime + own.ru_stime + children.ru_utime + children.ru_stime
    for child in readers(others):
        with contextlib.suppress(OSError):
            fields = Path(f"/proc/{child}/stat").read_text(encoding="ascii").rpartition(")")[2].split()
            used += (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
    return used


def readers(others: Sequence[int]) -> list[int]:
    """Processes of this one, but for the servers."""
    found = []
    for listed in Path("/proc/self/task").glob("*/children"):
        with contextlib.suppress(OSError):
            found += map(int, listed.read_text(encoding="ascii").split())
    return [child for child in found if child not in others]


def resident_mb(process: int | str = "self") -> int:
    """Memory of a process now."""
    with contextlib.suppress(OSError):
        pages = int(Path(f"/proc/{process}/statm").read_text(encoding="ascii").split()[1])
        return pages * resource.getpagesize() >> 20
    return 0


def early(memory: list[int]) -> int:
    """The most in the second tenth of the time: what it takes when it is warm."""
    tenth = len(memory) // 10
    return max(memory[tenth : 2 * tenth + 1], default=0)


def crawl(sites: Sites | Trees, wish: Wish, hosts: int, folder: Path) -> list[dict[str, Any]]:
    """All sites, so many at once, each into a library of its own, then a refresh of all of it."""
    out = []
    with Store(str(folder / "crawl.db")) as store:
        for number in range(len(sites.urls)):
            store.libraries.create(f"site{number}")

        def all_at_once(what: str, work: Any) -> None:
            began, before = time.monotonic(), spent(sites.pids)
            memory: list[int] = []
            done = threading.Event()

            def watch() -> None:
                while not done.wait(0.5):
                    memory.append(resident_mb())

            threading.Thread(target=watch, daemon=True).start()

            def one(number: int) -> Any:
                with PoliteFetcher(delay_s=0.0, allow_private=True) as fetcher:
                    try:
                        return work(number, fetcher)
                    finally:
                        store.close()

            with ThreadPoolExecutor(hosts) as pool:
                results = list(pool.map(one, range(len(sites.urls))))
            seconds = time.monotonic() - began
            done.set()
            pages = sum(made.fetched for made in results)
            out.append(
                {
                    "what": what,
                    "pages": pages,
                    "stored": sum(made.stored for made in results),
                    "kb_a_page": sites.kb_a_page,
                    "seconds": round(seconds, 2),
                    "pages_s": round(pages / seconds, 1),
                    "processor_ms_a_page": round(1000 * (spent(sites.pids) - before) / max(1, pages), 2),
                    "memory_mb_after_a_tenth": early(memory),
                    "memory_mb_at_the_end": memory[-1] if memory else 0,
                    "mb_of_a_reader": max(map(resident_mb, readers(sites.pids)), default=0),
                }
            )

        all_at_once(
            "crawl",
            lambda number, fetcher: crawl_library(
                store, f"site{number}", sites.urls[number], fetcher=fetcher, wish=wish
            ),
        )
        all_at_once(
            "refresh, nothing changed",
            lambda number, fetcher: refresh_library(store, f"site{number}", fetcher=fetcher, everything=True)[
                0
            ],
        )
    return out


def frontier(rows: int, address: str) -> dict[str, Any]:
    """Acknowledge pages with their links when the frontier is large."""
    draw = random.Random(1)
    origins = [f"http://host{number}.example" for number in range(200)]

    def link(number: int) -> Link:
        target = f"/articles/{number % 97}/text-{number}.html"
        origin = origins[number % len(origins)]
        return Link(origin + target, origin, target, 1)

    with Store(address) as store, store.database.small_cache():
        store.libraries.create("frontier")
        source = store.sources.add(
            store.libraries.get("frontier").number, "crawl", "http://x.example/", {}
        ).number
        for start in range(0, rows, 20_000):
            with store.database.writing():
                store.frontier.add(source, [link(n) for n in range(start, min(rows, start + 20_000))])
        known, pages, batch = rows, 5_000, 250
        numbers = [
            row[0] for row in store.database.rows("SELECT id FROM doublet_page ORDER BY id LIMIT %s", [pages])
        ]
        used = seconds = 0.0
        for start in range(0, pages, batch):
            links = []
            for _ in range(batch):
                links += [link(draw.randrange(rows)) for _ in range(18)] + [link(known), link(known + 1)]
                known += 2
            ended = [
                Ended(number, "stored", interval_s=60, next_try=1)
                for number in numbers[start : start + batch]
            ]
            before, began = spent(), time.monotonic()
            with store.database.writing():
                store.frontier.apply(source, Batch(ended, links))
            used, seconds = used + spent() - before, seconds + time.monotonic() - began
        if store.database.vendor == "sqlite":
            store.database.rows("PRAGMA wal_checkpoint(TRUNCATE)")
            size = Path(address).stat().st_size
        else:
            size = store.database.rows("SELECT pg_total_relation_size('doublet_page')")[0][0]
        return {
            "what": f"frontier, {store.database.vendor}",
            "rows": known,
            "pages_per_own_processor_s": round(pages / used),
            "pages_s": round(pages / seconds),
            "bytes_an_address": round(size / known),
        }


def rival(python: str, sites: Sites | Trees, folder: Path) -> dict[str, Any]:
    """Scrapy over the same sites."""
    script = folder / "rival.py"
    script.write_text(RIVAL, encoding="utf-8")
    paths = [str(HERE.parent / "src"), *filter(None, os.environ.get("PYTHONPATH", "").split(os.pathsep))]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(paths)}
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(
        [python, str(script), str(folder / "rival.db"), *sites.urls],
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    pages, seconds = map(float, done.stdout.split())
    used = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return {
        "what": "Scrapy",
        "pages": int(pages),
        "seconds": round(seconds, 2),
        "pages_s": round(pages / seconds, 1),
        "processor_ms_a_page": round(1000 * used / pages, 2),
    }


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--documents", type=int, default=500, help="of each site")
    parser.add_argument("--hosts", type=int, default=4)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--database", help="a PostgreSQL database for the frontier, besides a SQLite file")
    parser.add_argument("--rival", help="a Python that has Scrapy")
    parser.add_argument(
        "--pages", type=Path, nargs="+", help="trees of HTML to crawl instead of simulated sites"
    )
    given = parser.parse_args()
    rows: list[dict[str, Any]] = []
    with tempfile.TemporaryDirectory() as name, contextlib.ExitStack() as stack:
        folder = Path(name)
        sites: Sites | Trees = stack.enter_context(
            Trees(given.pages) if given.pages else Sites(given.hosts, given.documents)
        )
        rows += crawl(sites, Wish() if given.pages else Wish(only=["article"]), given.hosts, folder)
        if given.rival:
            rows.append(rival(given.rival, sites, folder))
        if not given.pages:
            rows.append(frontier(given.rows, str(folder / "frontier.db")))
        if given.database:
            rows.append(frontier(given.rows, given.database))
    for row in rows:
        print(table(list(row), [list(row.values())]))
    save("crawl", rows)


if __name__ == "__main__":
    main()
