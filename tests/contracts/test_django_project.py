"""The store inside a Django project: one connection, one transaction, on SQLite and on PostgreSQL."""

from __future__ import annotations

import json
import os
import pathlib
import subprocess
import sys
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from library_databases import VENDORS, new_address

PROJECT = pathlib.Path(__file__).with_name("django_project.py")


def run(address: str, *steps: str) -> list[dict[str, Any]]:
    """Each step in a process of its own."""
    if address.startswith("postgresql"):
        parts = urlsplit(address)
        host = parse_qs(parts.query)["host"][0] if parts.query else parts.hostname or ""
        place = ["postgresql", parts.path.lstrip("/"), host]
    else:
        place = ["sqlite3", address, ""]
    out = []
    for step in steps:
        done = subprocess.run(
            [sys.executable, str(PROJECT), *place, step],
            capture_output=True,
            text=True,
            check=False,
            timeout=120,
            env={**os.environ, "DOUBLET_OTHER": address + "-other" if place[0] == "sqlite3" else address},
        )
        assert done.returncode == 0, done.stderr
        out.append(json.loads(done.stdout))
    return out


@pytest.mark.covers("S6")
@pytest.mark.parametrize("vendor", VENDORS)
def test_a_page_and_the_store_share_a_transaction(vendor: str) -> None:
    steps = ("too_early", "migrate", "one_transaction", "read_back", "threads", "query")
    early, _, seen, later, threads, queried = run(new_address(vendor), *steps)
    assert "manage.py migrate" in early["message"]
    assert (seen["share"], seen["after"]) == (1.0, 0.0)
    assert seen["libraries"] == ["kept"]  # "half" was taken back, and the page went on
    assert seen["inside"] == 1
    assert seen["open"]  # closing the store leaves the connection of the project alone
    assert later == {
        "library": ["kept", 1, "noted by the page"],
        "share": 1.0,
        "findings": [],
        "titles": ["Fox"],
    }
    assert threads == {"names": ["kept"] * 3, "same": True}
    assert queried == {
        "names": [True] * 4,
        "times": [True, True, False, True],
        "json": [True, True],
        "report": [True, 1],
        "saved": True,
        "apps": ["doublet_store"],
    }
