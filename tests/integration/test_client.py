"""The client of the service, and the command line that uses it: the same answers as on this computer."""

from __future__ import annotations

import asyncio
import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from doublet.client import AsyncClient, Client, ServerRefused
from doublet.errors import FetchFailed, NotAllowed, UsageError
from doublet.samples import WORK
from web_service import Service, free_port, running

pytestmark = pytest.mark.covers("S5")
BORROWED = WORK.read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    with running(tmp_path_factory.mktemp("client")) as made:
        yield made


@pytest.fixture(scope="module")
def token(service: Service) -> str:
    browser = service.administrator()
    browser.get("/account/")
    page = browser.post("/account/tokens/", {"name": "program", "scope": "manage", "days": "1"}).text
    secret = re.search(r'value="(dbl_[^"]+)"', page)
    assert secret
    return secret.group(1)


def doublet(*arguments: object, **environment: str) -> subprocess.CompletedProcess[str]:
    plain = {name: value for name, value in os.environ.items() if not name.startswith("DOUBLET_")}
    command = [sys.executable, "-m", "doublet", *map(str, arguments)]
    plain |= environment
    return subprocess.run(command, capture_output=True, encoding="utf-8", check=False, timeout=180, env=plain)


def test_a_check_from_python(service: Service, token: str, tmp_path: Path) -> None:
    with Client(service.base, token) as client:
        assert client.me()["name"] == "admin"
        begun = client.check(BORROWED, title="By a program", leave_out=["quotations"], key="once")
        assert client.check(BORROWED, key="once")["id"] == begun["id"], "one key, one check"
        done = client.wait(begun)
        report = client.report(done["id"])
        assert report.sources and abs(report.share - done["borrowed"]) < 0.5
        assert b"<html" in client.export(done["id"], "html")
        file = tmp_path / "work.txt"
        file.write_text(BORROWED, encoding="utf-8")
        sent = client.wait(
            client.check(file, libraries=["Sample library"], leave_out=["quotations", "common"])
        )
        assert sent["title"] == "work.txt" and sent["sources"] == done["sources"]
        assert {done["id"], sent["id"]} <= {one["id"] for one in client.checks("done")}
        assert [one["name"] for one in client.libraries()] == ["Sample library"]
        assert len(client.documents("Sample library")) == 12
        assert client.job(client.find_duplicates("Sample library")["number"])["kind"] == "duplicates"
        assert client.repeats(client.find_repeats(file)["id"])["title"] == "work.txt"
        client.delete_check(done["id"])
        assert done["id"] not in {one["id"] for one in client.checks()}


def test_the_same_with_asyncio(service: Service, token: str) -> None:
    async def three() -> list[str]:
        async with AsyncClient(service.base, token) as client:
            begun = await asyncio.gather(*(client.check(f"{BORROWED} Number {n}.") for n in range(3)))
            return [(await client.wait(one))["state"] for one in begun]

    assert asyncio.run(three()) == ["done"] * 3


def test_refusals_say_why(service: Service, token: str) -> None:
    with Client(service.base, "dbl_wrong") as stranger, pytest.raises(NotAllowed, match="token"):
        stranger.me()
    with Client(service.base, token) as client:
        with pytest.raises(ServerRefused) as refused:
            client.check("words", libraries=["no such library"])
        assert refused.value.details["status"] == 404 and "no such library" in str(refused.value)
        with pytest.raises(ServerRefused):
            client.get_check("00000000-0000-0000-0000-000000000000")
    with (
        Client(f"http://127.0.0.1:{free_port()}") as nobody,
        pytest.raises(FetchFailed, match="does not answer"),
    ):
        nobody.me()
    with pytest.raises(UsageError):
        Client("localhost")


def test_the_command_line_answers_as_it_does_here(
    service: Service, token: str, tmp_path: Path, root: Path
) -> None:
    database = str(tmp_path / "here.db")
    here = {"DOUBLET_DATABASE": database}
    assert doublet("library", "create", "Sample library", **here).returncode == 0
    added = doublet("library", "add", "Sample library", root / "examples/library.jsonl", **here)
    assert added.returncode == 0, added.stderr
    local = doublet("check", WORK, "--format", "json", "--leave-out", "quotations", **here)
    there = doublet(
        *(
            "--server",
            service.base,
            "--token",
            token,
            "check",
            WORK,
            "--format",
            "json",
            "--leave-out",
            "quotations",
        )
    )
    assert there.returncode == 0, there.stderr
    mine, theirs = json.loads(local.stdout), json.loads(there.stdout)
    assert theirs["share"] == mine["share"] and theirs["words"] == mine["words"]
    assert [one["fragments"] for one in theirs["sources"]] == [one["fragments"] for one in mine["sources"]]
    environment = {"DOUBLET_SERVER": service.base, "DOUBLET_TOKEN": token}
    table = doublet("check", WORK, "--leave-out", "quotations", **environment)
    assert table.stdout == doublet("check", WORK, "--leave-out", "quotations", **here).stdout
    listed = doublet("library", "list", "--format", "json", **environment)
    assert [one["name"] for one in json.loads(listed.stdout)["libraries"]] == ["Sample library"]
    page = tmp_path / "page.html"
    assert doublet("check", WORK, "--format", "html", "--out", page, **environment).returncode == 0
    assert "Водонапорные башни" in page.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["info"], "leave out --server"),
        (["library", "rename", "x", "y"], "leave out --server"),
        (["check", "x.txt", "--later"], "--later"),
        (["check", "x.txt", "--against", "y.jsonl"], "leave out --server"),
    ],
)
def test_what_a_service_cannot_do_is_refused(arguments: list[str], words: str) -> None:
    done = doublet("--server", "http://127.0.0.1:9", *arguments)
    assert done.returncode == 2 and words in done.stderr


def test_libraries_and_the_queue_of_a_service(service: Service, token: str, tmp_path: Path) -> None:
    """The same commands on libraries of the service; what they wrote is read back by another one."""
    there = ("--server", service.base, "--token", token)
    table = tmp_path / "some.jsonl"
    rows = [{"id": f"d{n}", "text": f"{BORROWED} Number {n // 2}."} for n in range(4)]
    table.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    made = doublet(*there, "library", "create", "Sent/1", "--note", "by a command")
    assert made.returncode == 0 and service.base in made.stderr, made.stderr
    added = doublet(*there, "library", "add", "Sent/1", table, "--format", "json")
    assert added.returncode == 0, added.stderr
    (job,) = json.loads(added.stdout)["jobs"]
    assert job["state"] == "done" and job["kind"] == "fill_upload"
    shown = json.loads(doublet(*there, "library", "show", "Sent/1", "--format", "json").stdout)
    assert shown["documents"] == 4 and shown["note"] == "by a command" and shown["database"] == service.base
    listed = doublet(*there, "library", "documents", "Sent/1", "--like", "*d2", "--format", "json")
    (one,) = json.loads(listed.stdout)["documents"]
    document = doublet(*there, "library", "document", "Sent/1", one["id"])
    assert document.returncode == 0 and "some.jsonl" in document.stdout, document.stderr
    assert "/tmp" not in document.stdout and not shown["sources"], "the place of the upload is gone"
    found = doublet(*there, "library", "duplicates", "Sent/1", "--format", "json")
    assert found.returncode == 0 and len(json.loads(found.stdout)["groups"]) == 1, found.stderr
    assert "Sent/1" not in doublet(*there, "library", "duplicates", "Sent/1").stderr
    counted = json.loads(doublet(*there, "library", "statistics", "Sent/1", "--format", "json").stdout)
    assert counted["documents"] == 4 and counted["top"][0]["df"] == 4
    by = doublet(*there, "library", "statistics", "Sent/1", "--by", "language", "--format", "json")
    assert json.loads(by.stdout)["documents"] == 4, by.stderr
    queue = doublet(*there, "queue", "list", "--library", "Sent/1", "--format", "json")
    assert {one["kind"] for one in json.loads(queue.stdout)["jobs"]} == {
        "fill_upload",
        "duplicates",
        "library_statistics",
    }
    number = job["number"]
    seen = json.loads(doublet(*there, "queue", "show", number, "--format", "json").stdout)
    assert seen["number"] == number and seen["result"]["documents"] == 4
    assert doublet(*there, "queue", "pause", number).returncode == 0
    missing = doublet(*there, "library", "show", "Nowhere")
    assert missing.returncode == 2 and "Nowhere" in missing.stderr
    folder = doublet(*there, "library", "add", "Sent/1", tmp_path)
    assert folder.returncode == 2 and "--server" in folder.stderr
    local = doublet(*there, "library", "rename", "Sent/1", "x")
    assert local.returncode == 2 and "--server" in local.stderr


def test_repeats_by_a_service(service: Service, token: str, tmp_path: Path) -> None:
    there = ("--server", service.base, "--token", token)
    manual, page = tmp_path / "manual.txt", tmp_path / "page.html"
    manual.write_text("Press the green button and wait until the lamp is on. " * 4, encoding="utf-8")
    told = doublet(*there, "repeats", manual)
    assert told.returncode == 0 and f"{service.base}/repeats/" in told.stdout, told.stderr
    made = doublet(*there, "repeats", manual, "--format", "html", "--out", page)
    assert made.returncode == 0 and "green button" in page.read_text(encoding="utf-8"), made.stderr
    for more in (["--format", "json"], ["--min-tokens", "7"]):
        refused = doublet(*there, "repeats", manual, *more)
        assert refused.returncode == 2 and "--server" in refused.stderr
