"""The service on PostgreSQL in a real browser, and its backup: the same report in a database that was made from it."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from doublet.samples import WORK
from library_databases import new_address, server
from web_service import Service, running

pytestmark = pytest.mark.covers("S1", "S6")


def doublet(*arguments: object, data: Path) -> subprocess.CompletedProcess[str]:
    plain = {name: value for name, value in os.environ.items() if not name.startswith("DOUBLET_")}
    command = [sys.executable, "-m", "doublet", *map(str, arguments)]
    environment = {**plain, "XDG_DATA_HOME": str(data)}
    return subprocess.run(
        command, capture_output=True, encoding="utf-8", check=False, timeout=180, env=environment
    )


def logged_in(browser: Any, service: Service, password: str) -> Any:
    page = browser.new_context(viewport={"width": 1280, "height": 900}, locale="en").new_page()
    page.goto(service.base)
    page.get_by_label("Name").fill("admin")
    page.get_by_label("Password").fill(password)
    page.keyboard.press("Enter")
    page.get_by_role("heading", name="Hello").wait_for()
    return page


def gone_and_back(service: Service, address: str, page: Any) -> None:
    """Nobody can connect to the database for a while: a plain sentence, and then everything is as before."""
    name = address.partition("?")[0].rpartition("/")[2]

    def allow(how: str) -> None:
        server().psql(f"ALTER DATABASE {name} ALLOW_CONNECTIONS {how}")
        server().psql(f"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '{name}'")

    allow("false")
    answer = page.goto(f"{service.base}/libraries/")
    assert answer.status == 503 and "The service cannot answer now" in page.locator("main").inner_text()
    assert service.browser().get("/readyz").status == 503
    refused = service.browser(language="ru").get("/api/v1/libraries")
    assert refused.status in (401, 503) and refused.json()["code"]
    allow("true")
    assert page.goto(f"{service.base}/libraries/").status == 200
    assert page.get_by_text("Sample library").count() >= 1


def many_requests(service: Service, address: str) -> None:
    """Connections are kept and used again: more requests than PostgreSQL allows connections."""
    name = address.partition("?")[0].rpartition("/")[2]
    person = service.administrator()
    assert {person.get("/queue/").status for _ in range(120)} == {200}
    count = server().psql(f"SELECT count(*) FROM pg_stat_activity WHERE datname = '{name}'")
    assert int(re.findall(r"\d+", count)[0]) < 30, count


def test_a_check_a_report_and_a_backup(browser: Any, expect: Any, tmp_path: Path) -> None:
    first, second = new_address("postgresql"), new_address("postgresql")
    here, there = tmp_path / "here", tmp_path / "there"
    here.mkdir()
    there.mkdir()
    file = tmp_path / "all.zip"
    with running(here, "--checkers", "0", database=first) as service:
        password = service.password
        page = logged_in(browser, service, password)
        page.get_by_role("navigation").get_by_role("link", name="Check", exact=True).click()
        name = "essay.txt"
        page.locator("#files").set_input_files(
            {"name": name, "mimeType": "text/plain", "buffer": WORK.read_bytes()}
        )
        page.locator("[data-go]").click()
        page.wait_for_url("**/reports/**")
        page.locator("a.mk").first.wait_for(timeout=90_000)  # a worker makes it, and the page renews itself
        share = page.locator(".figure.borrowed b")
        before = share.inner_text()
        page.locator(".stick button[aria-pressed=true]").first.click()
        expect(share).not_to_have_text(before)
        after = share.inner_text()
        path = page.url.removeprefix(service.base)
        page.goto(f"{service.base}/libraries/Sample%20library/documents/?q=%D0%B1%D0%B0%D1%88%D0%BD%D0%B8")
        assert page.locator("mark").count() >= 1
        many_requests(service, first)
        gone_and_back(service, first, page)
        made = doublet("backup", file, "--database", first, data=here / "data")
        assert made.returncode == 0, made.stderr
        page.context.close()
    back = doublet("restore", file, "--database", second, data=there / "data")
    assert back.returncode == 0, back.stderr
    again = doublet("restore", file, "--database", second, data=tmp_path / "elsewhere")
    assert again.returncode == 2, "a database that is not empty is left alone"
    with running(there, "--checkers", "0", database=second) as service:
        page = logged_in(browser, service, password)
        page.goto(service.base + path)
        assert page.locator(".figure.borrowed b").inner_text() == after
        page.goto(f"{service.base}/check/")
        page.locator("#text").fill(WORK.read_text(encoding="utf-8"))
        page.locator("[data-go]").click()
        page.locator("a.mk").first.wait_for(timeout=90_000)  # numbers go on after those of the backup
        page.context.close()
