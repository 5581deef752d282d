"""The service on a full disk: a plain sentence in the reader's language, nothing lost, and it goes on by itself."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from doublet.samples import WORK
from full_disk import FullDisk
from web_service import Browser, Service

pytestmark = pytest.mark.covers("S1", "S7")
TEXT = WORK.read_text(encoding="utf-8")
NO_ROOM = {"en": "There is no room left on the disk", "ru": "На диске кончилось место"}


@pytest.fixture(scope="module")
def disk(tmp_path_factory: pytest.TempPathFactory) -> FullDisk:
    return FullDisk(tmp_path_factory.getbasetemp() / "small-disk", tmp_path_factory.mktemp("tools"))


@pytest.fixture(scope="module")
def service(disk: FullDisk, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    folder = tmp_path_factory.getbasetemp() / "small-disk"
    (folder / "temporary").mkdir(parents=True)
    environment = {**disk.environment, "TMPDIR": str(folder / "temporary")}
    made = Service(folder, environment=environment, log=tmp_path_factory.mktemp("log") / "log.txt")
    yield made
    made.stop()


def token(browser: Browser) -> str:
    browser.get("/account/")
    page = browser.post("/account/tokens/", {"name": "program", "scope": "manage", "days": "2"}).text
    found = re.search(r'value="(dbl_[^"]+)"', page)
    assert found
    return found.group(1)


def uploads(service: Service) -> list[Path]:
    return [one for one in service.folder.rglob("uploads/*") if one.is_file()]


@pytest.mark.parametrize("language", ["en", "ru"])
def test_everybody_is_told_and_nothing_is_lost(service: Service, disk: FullDisk, language: str) -> None:
    person = service.administrator(language)
    program = Browser(service.base, language, token=token(person))
    person.get("/check/")
    report = person.post("/check/", {"text": TEXT, "libraries": "Sample library"}).address
    before = person.get(report).text
    service.browser().ask("POST", "/login/", bytes(2_000_000))  # large bodies go to the disk from the start
    disk.fill()
    try:
        large = (TEXT * 400).encode()  # more than is held in memory
        upload = {"way": "upload", "name": "x"}
        for page, fields, files in (
            ("/check/", {"text": TEXT}, {}),
            ("/check/", {}, {"files": ("essay.txt", TEXT.encode())}),
            ("/check/", {}, {"files": ("essay.txt", large)}),
            ("/libraries/add/", upload, {"file": ("a.txt", TEXT.encode())}),
        ):
            person.get(page)
            answer = person.post(page, fields, files)
            assert answer.status == 507 and NO_ROOM[language] in answer.text, answer.text
            assert str(service.folder) not in answer.text
        for path, value in (("checks", {"text": TEXT}), ("libraries", {"name": f"other {language}"})):
            refused = program.send("POST", f"/api/v1/{path}", value)
            assert (refused.status, refused.json()["code"]) == (507, "store_full")
        assert person.get(report).status == 200, "what is there can be read"
        assert not uploads(service)
    finally:
        disk.empty()
    assert person.get(report).text.count("<a class=") == before.count("<a class=")
    person.get("/check/")
    again = person.post("/check/", {"text": TEXT, "libraries": "Sample library"})
    assert again.status == 200 and "/reports/" in again.address
    assert program.send("POST", "/api/v1/libraries", {"name": f"other {language}"}).status == 201


def test_a_job_waits_for_room_and_goes_on(service: Service, disk: FullDisk) -> None:
    program = Browser(service.base, token=token(service.administrator()))
    lines = [json.dumps({"id": str(n), "text": f"{TEXT} {n}"}) for n in range(300)]
    person = service.administrator()
    person.get("/libraries/add/")
    person.post(
        "/libraries/add/",
        {"way": "upload", "name": "waits"},
        {"file": ("many.jsonl", "\n".join(lines).encode())},
    )
    (job,) = [one for one in program.get("/api/v1/jobs").json()["items"] if one["kind"] == "fill_upload"]
    disk.fill()
    full = until = time.monotonic() + 3
    while time.monotonic() < until:  # whatever it does meanwhile, it does not end
        assert program.get(f"/api/v1/jobs/{job['number']}").json()["state"] in ("new", "running", "done")
        time.sleep(0.2)
    disk.empty()
    until = full + 120
    while (state := program.get(f"/api/v1/jobs/{job['number']}").json())["state"] in ("new", "running"):
        assert time.monotonic() < until, state
        time.sleep(0.3)
    assert state["state"] == "done", state
    assert program.get("/api/v1/libraries/waits").json()["documents"] == 300
