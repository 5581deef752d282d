"""The service through HTTP: memory at rest, times of pages, many people at once, and kills at random moments.

    python benchmarks/service.py memory
    python benchmarks/service.py pages --documents 100000 --reports 10000
    python benchmarks/service.py load --documents 100000 --seconds 60
    python benchmarks/service.py kills --times 20
    python benchmarks/service.py lighthouse --lighthouse FOLDER       where `npm install lighthouse` was run
    python benchmarks/service.py pages --database postgresql://…     an empty database; without it a file is made
    python benchmarks/service.py prepare --folder FOLDER              fills it once; then
    python benchmarks/service.py pages|load --folder FOLDER           measures without filling again

Memory is what the processes hold as it is shared out between them (PSS). Pages are asked for again and again over one
connection, by an administrator, and the median counts. Under load 50 programs check texts of 1,000 words through REST
while a library is being filled; on a busy machine look at the CPU of a check. Every result says how busy the machine
was.
"""

from __future__ import annotations

import argparse
import contextlib
import gzip
import http.client
import json
import os
import random
import re
import signal
import statistics
import sys
import tempfile
import threading
import time
import uuid
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))

from doublet.store.database import Store
from lighthouse import lighthouse
from load import command_of, cpu_s, family, library, made_up, pss_mb, texts
from measure import DATA, save
from web_service import Browser, Service

LIBRARY = "bench"  # as `load` calls it
CLIENTS = 50
WARM = 40  # checks for each checker before those that count


class Line:
    """One connection that is kept, with the cookies or the token of somebody."""

    def __init__(self, service: Service, **headers: str) -> None:
        self._connection = http.client.HTTPConnection("127.0.0.1", service.port, timeout=120)
        self._headers = {"Accept-Encoding": "gzip", **headers}

    def ask(self, method: str, path: str, value: Any = None) -> tuple[int, bytes, float]:
        began = time.perf_counter()
        body = None if value is None else json.dumps(value).encode()
        headers = {**self._headers, **({"Content-Type": "application/json"} if body else {})}
        self._connection.request(method, path, body, headers)
        answer = self._connection.getresponse()
        content = answer.read()
        return answer.status, content, time.perf_counter() - began


def cookies(browser: Browser) -> str:
    return "; ".join(f"{one.name}={one.value}" for one in browser._jar)


def token(browser: Browser, name: str) -> str:
    browser.get("/account/")
    page = browser.post("/account/tokens/", {"name": name, "scope": "manage", "days": "2"}).text
    found = re.search(r'value="(dbl_[^"]+)"', page)
    assert found
    return found.group(1)


def fill(address: str, count: int) -> list[str]:
    """Documents, and texts to check against them."""
    with Store(address) as store:
        library(store, count, DATA / "million.jsonl")
        return texts(store, count, prose=False)


def add_reports(address: str, like: str, count: int) -> None:
    """Copies of one work in the lists; they share its report."""
    with Store(address) as store:
        database = store.database
        columns = [
            "owner_id", "group_id", "title", "author", "labels", "kind", "upload_id", "address", "options", "state",
            "key", "job", "report", "message", "words", "borrowed", "quoted", "alarms", "sources", "verdict",
            "verdict_note", "changes", "created_at", "ended_at", "deleted_at",
        ]  # fmt: skip
        listed = ", ".join(f"NULL AS {name}" if name in ("upload_id", "key") else name for name in columns)
        wanted = like.replace("-", "") if database.vendor == "sqlite" else like
        with database.writing():
            for _ in range(count):
                new = uuid.uuid4()
                id = new.hex if database.vendor == "sqlite" else str(new)
                cast = "" if database.vendor == "sqlite" else "::uuid"
                database.rows(
                    f"INSERT INTO web_work (id, {', '.join(columns)}) SELECT %s{cast}, {listed} FROM web_work "
                    f"WHERE id = %s{cast}",
                    [id, wanted],
                )


def memory(service: Service, options: argparse.Namespace) -> dict[str, Any]:
    time.sleep(options.rest)
    sizes = {pid: pss_mb(pid) for pid in family(service.process.pid)}
    return {"processes": len(sizes), "pss_mb": round(sum(sizes.values()), 1)}


def prepare(service: Service, options: argparse.Namespace) -> dict[str, Any]:
    """Reports in the lists and the report of a long work; done once for each folder."""
    note = service.folder / "prepared.json"
    if note.exists():
        return dict(json.loads(note.read_text()))
    asked = fill(options.address, options.documents)
    program = Browser(service.base, token=token(service.administrator(), "prepare"))
    made = program.send("POST", "/api/v1/checks", {"text": asked[0], "title": "A work of many"}).json()
    assert made["state"] == "done", made
    add_reports(options.address, made["id"], options.reports)
    long = " ".join(asked)[: options.long_words * 7]
    words = len(long.split())
    sent = program.send(
        "POST", "/api/v1/checks", {"text": long, "title": "300 pages", "method": "auto"}
    ).json()
    until = time.monotonic() + 600
    while program.get(f"/api/v1/checks/{sent['id']}").json()["state"] not in ("done", "failed"):
        assert time.monotonic() < until
        time.sleep(1)
    found = {"short": made["id"], "long": sent["id"], "long_words": words}
    note.write_text(json.dumps(found))
    return found


def pages(service: Service, options: argparse.Namespace) -> list[dict[str, Any]]:
    ready = prepare(service, options)
    browser = service.administrator()
    name = f"/libraries/{LIBRARY}/"
    rows = []
    line = Line(service, Cookie=cookies(browser))
    known = [
        *("/", "/check/", "/reports/", "/reports/?q=work&state=done", "/reports/?page=200", "/libraries/"),
        *(
            name,
            f"{name}documents/",
            f"{name}documents/?before={options.documents // 2}",
            "/libraries/add/",
            "/queue/",
            "/repeats/",
        ),
        *("/methods/", "/methods/supershingles/", "/account/", "/users/", "/audit/", "/settings/"),
        *("/duplicates/", "/evaluation/", f"/reports/{ready['short']}/", f"/reports/{ready['long']}/"),
    ]
    for path in known:
        times, status, size = [], 0, 0
        for _ in range(options.times):
            status, content, took = line.ask("GET", path)
            times.append(1000 * took)
            size = len(content)
        assert status == 200, f"{path}: {status}"
        long = f"LONG ({ready['long_words']:,} words)"
        shown = path.replace(ready["short"], "SHORT").replace(ready["long"], long)
        rows.append(
            {
                "page": shown,
                "status": status,
                "median_ms": round(statistics.median(times), 1),
                "worst_ms": round(max(times), 1),
                "kB": round(size / 1000, 1),
            }
        )
    return rows


def processor_time(service: Service) -> dict[str, float]:
    """Seconds of each kind of process so far. The database server counts, with all its processes, if it runs here."""
    out: Counter[str] = Counter()
    for pid in family(service.process.pid):
        command = command_of(pid)
        kind = (
            "service"
            if pid == service.process.pid
            else "checkers"
            if "check_process" in command
            else "workers"
        )
        out[kind] += cpu_s([pid])
    out["clients"] = time.process_time()
    out["database server"] = cpu_s(
        [
            int(place.name)
            for place in Path("/proc").glob("[0-9]*")
            if command_of(int(place.name)).startswith("postgres:")
        ]
    )
    return dict(out)


def load(service: Service, options: argparse.Namespace) -> dict[str, Any]:
    asked = fill(options.address, options.documents)
    browser = service.administrator()
    secrets = [token(browser, f"client {number}") for number in range(CLIENTS)]
    program = Browser(service.base, token=secrets[0])
    # All processes that check are there then; pages of the database, and stems of words, are known.
    with ThreadPoolExecutor(2 * options.checkers) as hands:
        for number in range(WARM * options.checkers):
            text = asked[number % len(asked)]
            hands.submit(program.send, "POST", "/api/v1/checks", {"text": text, "libraries": [LIBRARY]})
    filling = f"filling {uuid.uuid4().hex[:6]}"
    program.send("POST", "/api/v1/libraries", {"name": filling})
    lines = [json.dumps({"id": one.id, "text": one.text}) for one in made_up(5_000, start=10_000_000)]
    browser.get("/libraries/add/")
    browser.post(
        "/libraries/add/",
        {"way": "upload", "name": filling},
        {"file": ("some.jsonl", "\n".join(lines).encode())},
    )
    took: list[float] = []
    statuses: Counter[int | str] = Counter()
    until = time.monotonic() + options.seconds

    def client(number: int) -> None:
        line = Line(service, Authorization=f"Bearer {secrets[number]}")
        luck = random.Random(number)
        while time.monotonic() < until:
            try:
                value = {"text": f"{luck.choice(asked)} {luck.random()}", "libraries": [LIBRARY]}
                status, content, seconds = line.ask("POST", "/api/v1/checks", value)
                state = json.loads(gzip.decompress(content)).get("state", "") if status < 300 else ""
                statuses[f"{status} {state}"] += 1
                took.append(seconds)
            except OSError as error:
                statuses[type(error).__name__] += 1
                line = Line(service, Authorization=f"Bearer {secrets[number]}")

    threads = [threading.Thread(target=client, args=(number,)) for number in range(CLIENTS)]
    logged = len(service.log)
    began, spent = time.monotonic(), processor_time(service)
    for one in threads:
        one.start()
    most = 0.0
    while any(one.is_alive() for one in threads):
        most = max(most, sum(pss_mb(pid) for pid in family(service.process.pid)))
        time.sleep(2)
    seconds = time.monotonic() - began
    used = {part: value - spent.get(part, 0.0) for part, value in processor_time(service).items()}
    took.sort()
    faults = [line for line in service.log[logged:].splitlines() if '"exception"' in line]
    print(*(line[-1500:] for line in faults[:3]), sep="\n", file=sys.stderr)
    return {
        "checks_a_second": round(len(took) / seconds, 1),
        "median_s": round(took[len(took) // 2], 3),
        "p95_s": round(took[int(len(took) * 0.95)], 3),
        "p99_s": round(took[int(len(took) * 0.99)], 3),
        "worst_s": round(took[-1], 3),
        "answers": dict(statuses),
        "cpu_ms_per_check": {part: round(1000 * value / len(took), 1) for part, value in used.items()},
        "most_pss_mb": round(most, 1),
    }


def kills(service: Service, options: argparse.Namespace) -> dict[str, Any]:
    """Works are handed in all the time while the service or its worker is killed. All of them must end."""
    luck = random.Random(options.seed)
    asked = fill(options.address, 500)
    program = Browser(service.base, token=token(service.administrator(), "kills"))
    ids: list[str] = []
    told: Counter[str] = Counter()

    def quick(text: str) -> None:
        with contextlib.suppress(OSError, http.client.HTTPException):
            program.send("POST", "/api/v1/checks", {"text": text})

    for number in range(options.times):
        for _ in range(3):
            content = f"{luck.choice(asked)} {luck.random()}".encode()
            line = uuid.uuid4().hex
            body = (
                f'--{line}\r\nContent-Disposition: form-data; name="file"; filename="{number}.txt"\r\n\r\n'.encode()
                + content * luck.choice((1, 40))
                + f"\r\n--{line}--\r\n".encode()
            )
            try:
                made = program.ask(
                    "POST",
                    "/api/v1/checks/file",
                    body,
                    {"Content-Type": f"multipart/form-data; boundary={line}"},
                )
                ids.append(made.json()["id"])
            except (OSError, KeyError, ValueError, http.client.HTTPException) as error:
                told[f"not taken: {type(error).__name__}"] += 1
        waiting = threading.Thread(target=quick, args=(f"{luck.choice(asked)} {luck.random()}",), daemon=True)
        waiting.start()  # somebody who waits for the answer when the service is killed
        time.sleep(luck.random() * 2)
        processes = family(service.process.pid)
        victim = service.process.pid if number % 2 else luck.choice(processes[1:] or processes)
        assert Path(f"/proc/{victim}").exists(), "what is killed was alive"
        _kill(victim)
        told["service" if victim == service.process.pid else "another process"] += 1
        if service.process.poll() is not None or victim == service.process.pid:
            service.process.wait(60)
            service.start()
    until = time.monotonic() + 600
    while any(program.get(f"/api/v1/checks?state={one}").json()["items"] for one in ("new", "running")):
        if time.monotonic() > until:
            told["stuck"] = 1
            break
        time.sleep(2)
    time.sleep(5)  # requests are counted
    states = Counter(program.get(f"/api/v1/checks/{id}").json().get("state", "?") for id in ids)
    left = [one.name for one in service.folder.rglob("uploads/*")]
    return {"works": len(ids), "states": dict(states), "killed": dict(told), "half_uploads_left": left}


def _kill(pid: int) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, signal.SIGKILL)


WHAT = {
    "memory": memory,
    "prepare": prepare,
    "pages": pages,
    "load": load,
    "kills": kills,
    "lighthouse": lighthouse,
}
WITH_SAMPLES = ("memory", "lighthouse")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("what", choices=WHAT)
    parser.add_argument("--database", default="", help="an empty PostgreSQL database, or a file that is kept")
    parser.add_argument("--folder", type=Path, help="what `prepare` filled is kept there and used again")
    parser.add_argument("--documents", type=int, default=100_000)
    parser.add_argument("--reports", type=int, default=10_000)
    parser.add_argument("--long-words", type=int, default=90_000, help="of the long work: 300 pages")
    parser.add_argument("--times", type=int, default=20, help="that each page is asked for, or kills")
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--rest", type=float, default=20.0, help="seconds after the start")
    parser.add_argument("--checkers", type=int, default=2)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--lighthouse", type=Path, help="folder in which `npm install lighthouse` was run")
    parser.add_argument("--only", nargs="*", help="pages for Lighthouse whose names begin so")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="doublet-service-") as passing:
        folder = options.folder or Path(passing)
        folder.mkdir(parents=True, exist_ok=True)
        options.address = options.database or str(folder / "service.db")
        if options.what in ("prepare", "pages", "load"):
            fill(options.address, options.documents)
        more = ("--allow-private",) if options.what in WITH_SAMPLES else ("--empty",)
        service = Service(folder, *more, "--checkers", str(options.checkers), database=options.address)
        try:
            found = WHAT[options.what](service, options)
        finally:
            service.stop()
    print(json.dumps(found, indent=2, ensure_ascii=False))
    rows = found if isinstance(found, list) else [found]
    save(f"service-{options.what}", rows, documents=options.documents, database=bool(options.database))


if __name__ == "__main__":
    main()
