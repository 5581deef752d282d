"""The client of the service, and the command line that uses it: the same answers as on this computer."""

from __future__ import annotations

import asyncio
import gzip
import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from urllib.error import HTTPError
from urllib.request import urlopen

import pytest

from doublet.client import AsyncClient, Client, ServerRefused
from doublet.errors import FetchFailed, NotAllowed, UsageError
from doublet.samples import WORK
from library_simulator import Library, Site
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


def test_everything_that_is_done_with_a_report(service: Service, token: str) -> None:
    with Client(service.base, token) as client:
        work = client.wait(client.check(BORROWED, title="Reviewed"))["id"]
        source = client.report(work).sources[0].id
        figures = client.decide(work, "source", source, "their own text")
        assert figures["borrowed"] < 0.5
        (decision,) = client.decisions(work)
        assert client.undo_decision(work, decision["id"])["borrowed"] > figures["borrowed"]
        said = client.comment(work, "Look at this")
        client.delete_comment(work, said["id"])
        with pytest.raises(ServerRefused):
            client.delete_comment(work, said["id"])
        link = client.share(work)
        assert b"<html" in urlopen(link["address"]).read()
        client.revoke_link(work, link["id"])
        with pytest.raises(HTTPError, match="410"):
            urlopen(link["address"])
        (listed,) = client.links(work)
        assert listed["revoked"] and listed["address"] is None
        again = client.wait(client.check(f"{BORROWED} And a line more.", title="Reviewed"))["id"]
        compared = client.compare_checks(work, again)
        assert compared["before"] == work and compared["kept"] > 0.9
        assert client.search_documents("Sample library", "башня")["items"][0]["snippet"]
        assert client.search_documents("Sample library", "no such words at all")["items"] == []
        settings = client._value("PATCH", "/settings", value={"notice": "Closed on Friday"})
        assert settings["notice"] == "Closed on Friday" and settings["title"] == "Doublet"
        assert "Closed on Friday" in service.administrator().get("/").text
        client._value("PATCH", "/settings", value={"notice": ""})
        pair = {"a": {"library": "x", "id": "1"}, "b": {"library": "x", "id": "2"}}
        client._value("PUT", "/duplicates/decisions", value={**pair, "decision": "both"})
        assert client._value("GET", "/duplicates/decisions")["items"][0]["decision"] == "both"
        client.ask("POST", "/duplicates/decisions/undo", value=pair)
        assert client._value("GET", "/duplicates/decisions")["items"] == []
        invited = client._value("POST", "/users/invite", value={"role": "teacher", "note": "Ivan"})
        (waiting,) = client._value("GET", "/invitations")
        assert waiting["note"] == "Ivan"
        client.ask("DELETE", f"/invitations/{waiting['id']}")
        with pytest.raises(HTTPError, match="410"):
            urlopen(invited["address"])


def test_the_same_request_twice_is_done_once(service: Service, token: str, tmp_path: Path) -> None:
    same = {"Idempotency-Key": "again"}
    table = ("some.jsonl", json.dumps({"id": "x", "text": BORROWED}).encode())
    with Client(service.base, token) as client:
        client.make_library("Twice")
        jobs = set()
        for _ in range(2):
            sent = client._value("POST", "/libraries/Twice/upload", fields=[("file", table)], headers=same)
            found = client._value("POST", "/libraries/Twice/duplicates", headers=same)
            jobs.add((sent["number"], found["number"]))
            assert client.wait_job(sent["number"])["state"] == "done"
        assert len(jobs) == 1
        assert client.find_duplicates("Twice")["number"] != found["number"], "another request"
        for path, field in (("/repeats", "file"), ("/classes", "files")):
            work = [(field, ("work.txt", BORROWED.encode()))]
            made = {client._value("POST", path, fields=work, headers=same)["id"] for _ in range(2)}
            assert len(made) == 1, path
        assert client.wait_job(client.delete_library("Twice")["number"])["state"] == "done"


def test_a_class_by_a_program(service: Service, token: str, tmp_path: Path) -> None:
    works = [tmp_path / name for name in ("anna.txt", "boris.txt")]
    for work in works:
        work.write_text(f"{BORROWED} By {work.stem}.", encoding="utf-8")
    with Client(service.base, token) as client:
        made = client.check_class(works, title="9b", libraries=["Sample library"])
        assert client.wait_job(int(made["job"]))["state"] == "done"
        found = client.get_class(made["id"])
        a, b = (one["id"] for one in found["works"])
        assert found["result"]["pairs"] and client.compare_works(made["id"], a, b)["fragments"]
        assert b"anna.txt" in client.export_class(made["id"], "csv")
        assert client.export_class(made["id"], "zip")[:2] == b"PK"
        client.delete_class(made["id"])
        with pytest.raises(ServerRefused):
            client.get_class(made["id"])


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
        (["compare", "x.txt", "y.txt"], "files"),
        (["library", "backup", "x.zip"], "the database itself"),
        (["library", "add", "x", "y.jsonl", "--id-field", "url"], "--id-field"),
        (["library", "crawl", "x", "http://site.test/", "--warc", "folder"], "--warc"),
        (["repeats", "x.md", "--later"], "--later"),
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
    exported = tmp_path / "out.jsonl.gz"
    written = doublet(*there, "library", "export", "Sent/1", "--out", exported)
    assert written.returncode == 0 and "4" in written.stderr, written.stderr
    with gzip.open(exported, "rt", encoding="utf-8") as lines:
        ids = {row["id"]: row["text"] for row in map(json.loads, lines)}
    assert len(ids) == 4 and all(BORROWED in text for text in ids.values())
    assert doublet(*there, "library", "export", "Nowhere").returncode == 4
    first, *rest = sorted(ids)
    assert doublet(*there, "library", "remove", "Sent/1", "--document", first).returncode == 0
    gone = doublet(*there, "library", "remove", "Sent/1", "--document", first, "--document", rest[0])
    assert gone.returncode == 3 and first in gone.stderr, "one of two was there"
    unsure = doublet(*there, "library", "remove", "Sent/1", "--like", "*d3")
    assert unsure.returncode == 2 and "--yes" in unsure.stderr
    like = doublet(*there, "library", "remove", "Sent/1", "--like", "*d3", "--yes", "--format", "json")
    assert json.loads(like.stdout)["removed"] == [rest[-1]]
    renamed = doublet(*there, "library", "rename", "Sent/1", "Sent/2")
    assert renamed.returncode == 0, renamed.stderr
    assert doublet(*there, "library", "rename", "Sent/2", "Sample library").returncode != 0
    well = doublet(*there, "library", "verify", "Sent/2")
    assert well.returncode == 0 and "Sent/2" in well.stdout, well.stderr
    put = doublet(*there, "library", "verify", "--later")
    assert put.returncode == 0 and put.stdout.strip().isdigit()
    nothing = doublet(*there, "library", "update", "Sent/2")
    assert nothing.returncode == 2 and "Sent/2" in nothing.stderr, "an upload is not walked again"
    all_gone = doublet(*there, "library", "remove", "Sent/2", "--all", "--yes", "--format", "json")
    assert json.loads(all_gone.stdout)["documents"] == 1, all_gone.stderr
    assert doublet(*there, "library", "show", "Sent/2").returncode == 2


def test_the_robot_of_a_service(tmp_path: Path) -> None:
    """Sites, sources and lists: a command here, the robot there, the same answers."""
    settings = tmp_path / "doublet.toml"
    settings.write_text("fetch_delay_s = 0.05\nmin_words = 5\n", encoding="utf-8")
    options = ("--empty", "--checkers", "0", "--allow-private", "--config", str(settings))
    with Site(Library(documents=12, feed=True)) as simulated, running(tmp_path, *options) as made:
        site = f"{simulated.url}/"
        browser = made.administrator()
        browser.get("/account/")
        page = browser.post("/account/tokens/", {"name": "robot", "scope": "manage", "days": "1"}).text
        secret = re.search(r'value="(dbl_[^"]+)"', page)
        assert secret
        there = ("--server", made.base, "--token", secret.group(1))
        plan = doublet(
            *there, "library", "crawl", "site", site, "--only", "post", "--preview", "--format", "json"
        )
        assert plan.returncode == 0 and json.loads(plan.stdout)["address"] == site, plan.stderr
        crawled = doublet(
            *there, "library", "crawl", "site", site, "--only", "post", "--create", "--format", "json"
        )
        assert crawled.returncode == 0, crawled.stderr
        assert json.loads(crawled.stdout)["stored"] > 0
        documents = json.loads(doublet(*there, "library", "show", "site", "--format", "json").stdout)
        assert documents["documents"] == json.loads(crawled.stdout)["stored"]
        counted = doublet(*there, "library", "pages", "site", "--format", "json")
        (one,) = json.loads(counted.stdout)["sites"]
        assert one["states"]["stored"] == documents["documents"]
        logged = doublet(
            *there, "library", "pages", "site", "--log", "--state", "stored", "--format", "jsonl"
        )
        assert len(logged.stdout.splitlines()) == documents["documents"]
        again = doublet(*there, "library", "refresh", "site", "--all", "--format", "json")
        assert again.returncode == 0 and json.loads(again.stdout)["sites"][0]["unchanged"] > 0, again.stderr
        updated = doublet(*there, "library", "update", "--format", "json")
        assert updated.returncode == 0, updated.stderr
        (source,) = json.loads(updated.stdout)["sources"]
        assert source["library"] == "site"
        listing = tmp_path / "list.txt"
        listing.write_text(f"{site}feed.xml\nhttp://127.0.0.1:9/\n", encoding="utf-8")
        listed = doublet(*there, "library", "add-list", listing, "--prefix", "by list ", "--format", "json")
        rows = json.loads(listed.stdout)["libraries"]
        assert [bool(row["error"]) for row in rows] == [False, True] and listed.returncode == 3, listed.stdout
        number = documents["sources"][0]["number"]
        emptied = doublet(
            *there,
            "library",
            "remove",
            "site",
            "--source",
            number,
            "--with-documents",
            "--yes",
            "--format",
            "json",
        )
        assert json.loads(emptied.stdout)["documents"] == documents["documents"], emptied.stderr
        failed = doublet(*there, "library", "crawl", "site", "http://127.0.0.1:9/")
        assert failed.returncode == 4 and "127.0.0.1:9" in failed.stderr


def test_repeats_by_a_service(service: Service, token: str, tmp_path: Path) -> None:
    """Every form is what the same command gives here."""
    there = ("--server", service.base, "--token", token)
    docs = tmp_path / "docs"
    (docs / "deep").mkdir(parents=True)
    line = "Press the green button and wait until the lamp is on and the door is closed. "
    (docs / "manual.md").write_text(f"# Manual\n\n{line * 2}\n\nOther words.\n", encoding="utf-8")
    (docs / "deep" / "other.md").write_text(f"Before. {line}\n", encoding="utf-8")
    (docs / "deep" / "left.md").write_text(line * 3, encoding="utf-8")
    (docs / "broken.pdf").write_bytes(b"%PDF-1.4 nothing")
    given = ("repeats", docs, "--exclude", "left.md", "--min-tokens", "6")
    for form in ("table", "json", "csv", "sarif", "html"):
        here, far = (doublet(*more, *given, "--format", form) for more in ((), there))
        assert far.returncode == here.returncode == 3, far.stderr
        assert far.stdout == here.stdout, form
    assert f"{service.base}/repeats/" in far.stderr and "broken.pdf" in far.stderr
    known = tmp_path / "known.json"
    known.write_text(doublet(*given, "--format", "json").stdout, encoding="utf-8")
    (docs / "new.md").write_text(
        "Never lift the lid of the old machine while it is hot. " * 2, encoding="utf-8"
    )
    new = doublet(*there, *given, "--baseline", known, "--fail-on-new")
    assert new.returncode == 1, new.stderr
    wrong = doublet(*there, "repeats", docs, "--ngram", "0")
    assert wrong.returncode == 4 and "ngram" in wrong.stderr
