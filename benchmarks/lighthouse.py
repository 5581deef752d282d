"""The pages of the service through Lighthouse, as on a desk and as on a phone; part of `service.py`.

Lighthouse is a program for Node. It is looked for on the path and below the folder of `--lighthouse`:

    apt-get install nodejs npm chromium && npm install --prefix FOLDER lighthouse

The pages are those of `tools/screenshots.py`, with the same work in them.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / "tests"), str(ROOT / "tools")]

from doublet.jobs.check_pdf import NAMES  # noqa: E402 # after the path
from screenshots import prepare  # noqa: E402
from web_service import Browser, Service, free_port  # noqa: E402

PAGES = (
    *("login", "home", "home of a teacher", "check", "report", "class", "reports", "libraries", "library"),
    *("document", "duplicates", "repeats", "methods", "users", "settings"),
)
KINDS = ("performance", "accessibility", "best-practices")
PROFILES = {"phone": (), "desk": ("--preset=desktop",)}
GOOD = 95


def find(folder: Path | None) -> str:
    places = [str(folder / "node_modules" / ".bin")] if folder else []
    program = shutil.which("lighthouse", path=os.pathsep.join([*places, os.environ.get("PATH", "")]))
    if program is None or shutil.which("node") is None:
        sys.exit(
            "Lighthouse is missing: apt-get install nodejs npm && npm install --prefix FOLDER lighthouse"
        )
    return program


@contextlib.contextmanager
def chromium() -> Iterator[tuple[int, Any]]:
    """One browser for all pages; gives its port and what holds its cookies, which Lighthouse leaves alone."""
    from playwright.sync_api import sync_playwright

    program = next(filter(None, map(shutil.which, NAMES)), None)
    if program is None:
        sys.exit("No Chromium is installed: `make system` installs it.")
    port = free_port()
    root = hasattr(os, "geteuid") and os.geteuid() == 0
    with (
        sync_playwright() as playwright,
        tempfile.TemporaryDirectory(prefix="doublet-lighthouse-") as profile,
    ):
        context = playwright.chromium.launch_persistent_context(
            profile,
            executable_path=program,
            args=[f"--remote-debugging-port={port}", *(["--no-sandbox"] if root else [])],
            chromium_sandbox=not root,
        )
        try:
            yield port, context
        finally:
            context.close()


def cookies(browser: Browser) -> list[dict[str, Any]]:
    return [{"name": one.name, "value": one.value, "url": browser.base} for one in browser._jar]


def look(program: str, port: int, address: str, profile: str) -> dict[str, Any]:
    """What Lighthouse says of one page; the best of a few runs, since other work only makes a page slower. On a busy
    machine it can also miss the start of a page, and is asked again."""
    best: dict[str, Any] = {}
    said = ""
    for _ in range(3):
        done = subprocess.run(
            [
                *(program, address, f"--port={port}", "--quiet", "--output=json", *PROFILES[profile]),
                f"--only-categories={','.join(KINDS)}",
            ],
            capture_output=True,
            check=False,
            timeout=300,
        )
        if done.returncode:
            said = done.stderr.decode("utf-8", "replace")[-2000:]
            continue
        found = json.loads(done.stdout)
        scores = {kind: round(100 * (found["categories"][kind]["score"] or 0)) for kind in KINDS}
        audits = found["audits"]
        wrong = [
            f"{name}: {one['title']} {one.get('displayValue', '')}".strip()
            for kind in KINDS
            for name in (part["id"] for part in found["categories"][kind]["auditRefs"] if part["weight"])
            if (one := audits[name])["score"] is not None and one["score"] < 0.9
        ]
        row = {
            **scores,
            "shift": round(audits["cumulative-layout-shift"]["numericValue"], 3),
            "paint_ms": round(audits["largest-contentful-paint"]["numericValue"]),
            "wrong": wrong,
            "end": found["finalDisplayedUrl"],
        }
        if not best or row["performance"] > best["performance"]:
            best = row
        if best["performance"] >= GOOD:
            break
    assert best, said
    return best


def lighthouse(service: Service, options: argparse.Namespace) -> list[dict[str, Any]]:
    program = find(options.lighthouse)
    paths = {**prepare(service), "home of a teacher": "/"}
    people = {
        "login": [],
        "home of a teacher": cookies(service.browser(*service.invite("teacher"))),
    }
    administrator = cookies(service.administrator())
    rows = []
    with chromium() as (port, context):
        for name in PAGES:
            if options.only and not name.startswith(tuple(options.only)):
                continue
            context.clear_cookies()
            context.add_cookies(people.get(name, administrator))
            for profile in PROFILES:
                address = service.base + paths[name]
                found = look(program, port, address, profile)
                assert found.pop("end") == address, f"{name} led elsewhere"
                rows.append({"page": name, "profile": profile, **found})
                print(json.dumps(rows[-1], ensure_ascii=False), file=sys.stderr, flush=True)
    return rows
