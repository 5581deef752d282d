"""A backup of a running service, brought back elsewhere: the same people, reports and sessions."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from web_service import Browser, running

pytestmark = pytest.mark.covers("S6")


def doublet(*arguments: object, **environment: str) -> subprocess.CompletedProcess[str]:
    plain = {
        name: value for name, value in os.environ.items() if not name.startswith("DOUBLET_")
    } | environment
    command = [sys.executable, "-m", "doublet", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, encoding="utf-8", check=False, timeout=180, env=plain)


def test_everything_comes_back(tmp_path: Path) -> None:
    first, second = tmp_path / "first", tmp_path / "second"
    first.mkdir()
    second.mkdir()
    file = tmp_path / "all.zip"
    with running(first, "--workers", "0", "--checkers", "0") as service:
        browser = service.administrator()
        address = re.search(r'href="(/reports/[^"]+/)">Sample work<', browser.get("/").text)
        cookies = {one.name: one.value for one in browser._jar}
        made = doublet("backup", file, "--database", first / "service.db")
        assert made.returncode == 0, made.stderr
        password = service.password
    assert address and file.stat().st_mode & 0o077 == 0
    back = doublet("restore", file, "--database", second / "service.db")
    assert back.returncode == 0, back.stderr
    with running(second, "--workers", "0", "--checkers", "0") as service:
        report = service.browser("admin", password).get(address.group(1)).text
        assert "Водонапорные башни" in report
        same = Browser(service.base).get("/", Cookie=f"sessionid={cookies['sessionid']}")
        assert "/login/" not in same.address, "who was logged in still is: the key came back too"
    again = doublet("restore", file, "--database", second / "service.db")
    assert again.returncode == 2 and "service.db" in again.stderr


@pytest.mark.parametrize("content", [b"", b"not a zip", None])
def test_what_is_not_a_backup_changes_nothing(tmp_path: Path, content: bytes | None) -> None:
    file = tmp_path / "bad.zip"
    if content is None:
        with zipfile.ZipFile(file, "w") as archive:
            archive.writestr("backup.json", '{"format": 1, "database": "sqlite"}')
            archive.writestr("database", b"SQLite format 3\0 and then nothing")
    else:
        file.write_bytes(content)
    done = doublet("restore", file, "--database", tmp_path / "new.db")
    assert done.returncode == 4 and "bad.zip" in done.stderr and "fault" not in done.stderr
    assert sorted(one.name for one in tmp_path.iterdir()) == ["bad.zip"]


def test_a_missing_database_and_a_server_that_is_not_there_are_named(tmp_path: Path) -> None:
    done = doublet("backup", tmp_path / "x.zip", "--database", tmp_path / "none.db")
    assert done.returncode == 4 and "none.db" in done.stderr and not list(tmp_path.iterdir())
    done = doublet("backup", tmp_path / "x.zip", "--database", "postgresql://nobody@127.0.0.1:9/x")
    assert done.returncode == 4 and "127.0.0.1" in done.stderr and not list(tmp_path.iterdir())
