"""The service as people and programs meet it: a real server, real workers, pages without a script, REST."""

from __future__ import annotations

import contextlib
import html
import io
import re
import socket
import sqlite3
import threading
import time
import zipfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from doublet.samples import WORK
from web_service import Browser, Service, running

BORROWED = WORK.read_text(encoding="utf-8")
NASTY = "<script>alert(1)</script> ' \" & =cmd|' /C calc'!A0 \u202e \x07"


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    with running(tmp_path_factory.mktemp("service")) as made:
        yield made


@pytest.fixture(scope="module")
def teacher(service: Service) -> Browser:
    return service.browser(*service.invite("maria"))


@pytest.fixture(scope="module")
def other(service: Service) -> Browser:
    return service.browser(*service.invite("pavel"))


def wait_for(browser: Browser, path: str, words: str, seconds: float = 120) -> str:
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        text = browser.get(path).text
        if words in text:
            return text
        time.sleep(0.5)
    raise AssertionError(text)


def check(browser: Browser, text: str = BORROWED, **fields: str) -> str:
    """Paste a text; gives the address of its report."""
    browser.get("/check/")
    answer = browser.post("/check/", {"text": text, "leave_out": "quotations", **fields})
    assert answer.status == 200 and "/reports/" in answer.address, answer.text
    return answer.address


@pytest.mark.covers("S1", "S2", "S6")
def test_it_works(service: Service) -> None:
    administrator = service.administrator()
    home = administrator.get("/").text
    assert "Sample work" in home and "Sample library" in administrator.get("/libraries/").text
    address = re.search(r'href="(/reports/[^"]+/)">Sample work<', home)
    assert address
    report = administrator.get(address.group(1)).text
    assert "Водонапорные башни" in report and "61.2%" in report


@pytest.mark.covers("S3", "S4")
def test_a_pasted_text_is_answered_at_once(teacher: Browser) -> None:
    address = check(teacher, title="My essay")
    page = teacher.get(address).text
    assert "My essay" in page and 'class="mk c1"' in page
    first = re.search(r'id="f-([^"]+)" href="([^"]+)"', page)
    assert first
    beside = teacher.get(html.unescape(first.group(2)), **{"X-Part": "1"}).text
    assert "In the source" in beside and "<html" not in beside
    whole = teacher.get(html.unescape(first.group(2))).text  # without a script it is a page of its own
    assert "In the source" in whole and "<html" in whole


def test_no_duplicates_is_an_answer(teacher: Browser) -> None:
    page = teacher.get(
        check(teacher, "Nobody has ever written these few words about quiet violet engines.")
    ).text
    assert "No sources were found" in page and "100%" in page


@pytest.mark.covers("S4", "K3")
def test_switching_a_source_off_changes_the_figures_and_can_be_undone(teacher: Browser) -> None:
    address = check(teacher, title="Switched")
    before = teacher.get(address).text
    source = re.search(
        r'name="target" value="source"><input type="hidden" name="which" value="([^"]+)"', before
    )
    assert source
    path = address.removeprefix(teacher.base) + "decide/"
    which = html.unescape(source.group(1))
    after = teacher.post(path, {"target": "source", "which": which, "off": "off", "reason": "own book"}).text
    figures = re.compile(r'class="figure borrowed"><b>([^<]+)<')
    assert figures.search(after).group(1) != figures.search(before).group(1)
    assert "own book" in after
    exported = teacher.get(address + "report.json").json()
    assert [one["reason"] for one in exported["decisions"]] == ["own book"]
    assert exported["decisions"][0]["by"] == "maria"
    assert abs(sum(exported["figures"].values()) - 1) < 1e-9
    undone = teacher.post(path, {"target": "source", "which": which, "off": "on"}).text
    assert figures.search(undone).group(1) == figures.search(before).group(1)


def test_a_file_is_checked_by_a_worker(teacher: Browser) -> None:
    teacher.get("/check/")
    page = (
        "<html><body><article>" + "".join(f"<p>{line}</p>" for line in BORROWED.splitlines()) + "</article>"
    )
    answer = teacher.post("/check/", {"title": "A file"}, {"files": ("essay.html", page.encode())})
    assert answer.status == 200
    wait_for(teacher, answer.address, "Водонапорные башни")


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("empty.txt", b"", ""),
        ("broken.docx", b"PK\x03\x04 nothing more", ""),
        ("lying.pdf", b"%PDF-1.7 and then nothing", ""),
        ("picture.png", b"\x89PNG\r\n\x1a\n" + bytes(200), ""),
    ],
)
def test_a_bad_file_fails_with_its_reason(teacher: Browser, name: str, content: bytes, words: str) -> None:
    teacher.get("/check/")
    answer = teacher.post("/check/", {"title": ""}, {"files": (name, content)})
    page = wait_for(teacher, answer.address, 'role="alert"')
    assert name in page and "Traceback" not in page


@pytest.mark.covers("K8")
def test_a_class_is_checked_among_itself(teacher: Browser) -> None:
    own = " ".join(f"word{n} thought{n * 7 % 31}" for n in range(80))
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("anna.txt", own)
        archive.writestr("boris.txt", "An opening of my own that is quite short. " + own)
        archive.writestr("vera.txt", " ".join(f"other{n} idea{n * 5 % 29}" for n in range(80)))
        archive.writestr("__MACOSX/anna.txt", "x")
        archive.writestr("broken.docx", b"PK\x03\x04")
    teacher.get("/check/")
    answer = teacher.post(
        "/check/", {"title": "Group 1", "among": "on"}, {"files": ("group.zip", packed.getvalue())}
    )
    assert "/classes/" in answer.address
    page = wait_for(teacher, answer.address, "Who took from whom", 180)
    table = page[page.index("Who took from whom") :]
    assert (
        "anna.txt" in table and "boris.txt" in table and "vera.txt" not in table[: table.index("All pairs")]
    )
    assert page.count("broken.docx") >= 1 and "failed" in page
    report = re.search(r'href="(/reports/[^"]+/)">anna.txt<', page)
    assert report
    shown = teacher.get(report.group(1)).text  # the same answer as that of `doublet check --among`
    assert '<div class="figure borrowed"><b>100%</b>' in shown and "boris.txt" in shown
    passage = re.search(r'href="(/reports/[^"]+fragment=[^"]+)"', shown)
    assert passage
    beside = teacher.get(html.unescape(passage.group(1)))
    assert beside.status == 200 and "boris.txt" in beside.text and "word40" in beside.text
    pair = re.search(r'href="(/classes/[^"]+/pair/[^"]+)"', table)
    assert pair and "word79" in teacher.get(html.unescape(pair.group(1))).text
    with zipfile.ZipFile(io.BytesIO(teacher.get(answer.address + "class.zip").body)) as archive:
        assert "index.csv" in archive.namelist() and len(archive.namelist()) == 4


@pytest.mark.covers("K8")
def test_times_of_a_learning_system_tell_who_was_first(teacher: Browser) -> None:
    own = " ".join(f"street{n} market{n * 7 % 31}" for n in range(80))
    works = {
        "essay_ivanov_attempt_2024-05-01-10-00-00_a.txt": own,
        "essay_petrov_attempt_2024-05-03-10-00-00_b.txt": "An opening of my own that is quite short. " + own,
        "essay_sidorov_attempt_2024-02-30-10-10-10_c.txt": "No such day was ever in a calendar, said he.",
    }
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for name, text in works.items():
            archive.writestr(name, text)
    teacher.get("/check/")
    answer = teacher.post(
        "/check/", {"title": "Group 2", "among": "on"}, {"files": ("group.zip", packed.getvalue())}
    )
    page = wait_for(teacher, answer.address, "Who took from whom", 180)
    assert "the other one is newer" in page and "the other one is older" in page
    assert "group.direction" not in page


@pytest.mark.covers("S2", "S7")
def test_people_see_only_their_own(service: Service, teacher: Browser, other: Browser) -> None:
    address = check(teacher, title="Private")
    assert other.get(address).status == 404
    other.get("/check/")
    for action in ("delete/", "edit/", "share/", "decide/", "comments/", "cancel/"):
        assert other.post(address.removeprefix(other.base) + action, {}).status in (400, 404)
    assert other.get(address + "report.json").status == 404
    assert "Private" not in other.get("/reports/").text
    assert "Private" in service.administrator().get("/reports/").text


@pytest.mark.parametrize(
    "path", ["/users/", "/audit/", "/settings/", "/queue/", "/libraries/add/", "/audit/export/"]
)
def test_teachers_are_kept_out(teacher: Browser, path: str) -> None:
    assert teacher.get(path).status == 403


@pytest.mark.parametrize("path", ["/", "/check/", "/reports/", "/libraries/", "/methods/", "/account/"])
def test_strangers_are_asked_who_they_are(service: Service, path: str) -> None:
    assert "/login/" in Browser(service.base).get(path).address


def test_every_address_has_a_right() -> None:
    from doublet.web.rights import RIGHTS

    source = (Path(__file__).parents[2] / "src/doublet/web/urls.py").read_text(encoding="utf-8")
    named = set(re.findall(r'name="([a-z-]+)"', source))
    assert named <= set(RIGHTS), named - set(RIGHTS)


@pytest.mark.covers("S4")
def test_a_link_can_be_shared_and_revoked(service: Service, teacher: Browser) -> None:
    address = check(teacher, title="Shared")
    page = teacher.post(address.removeprefix(teacher.base) + "share/", {}).text
    link = re.search(r'value="(http[^"]+/shared/[^"]+)"', page)
    assert link
    stranger = Browser(service.base)
    read = stranger.get(link.group(1))
    assert read.status == 200 and "Shared" in read.text and "Delete the report" not in read.text
    number = re.search(r"/share/(\d+)/revoke/", page)
    assert number
    teacher.post(address.removeprefix(teacher.base) + f"share/{number.group(1)}/revoke/", {})
    assert stranger.get(link.group(1)).status == 410


def test_two_people_who_edit_at_once(teacher: Browser) -> None:
    path = check(teacher, title="Edited twice").removeprefix(teacher.base) + "edit/"
    assert teacher.post(path, {"title": "First", "changes": "0"}).status == 200
    assert teacher.post(path, {"title": "Second", "changes": "0"}).status == 409


def test_reports_in_the_order_that_was_asked_for(teacher: Browser) -> None:
    check(teacher, "Quite a text of my own that nobody has written before me.", title="Order none")
    check(teacher, title="Order much")
    for order, first in (("borrowed", "Order much"), ("title", "Order much"), ("newest", "Order much")):
        page = teacher.get(f"/reports/?q=Order&order={order}").text
        assert re.findall(r">(Order \w+)</a>", page)[0] == first
    check(teacher, "Another text of my own, which is here to be the newest.", title="Order newest")
    newest = teacher.get("/reports/?q=Order&order=nonsense").text
    assert re.findall(r">(Order \w+)</a>", newest)[0] == "Order newest"


def test_deleting_and_restoring(teacher: Browser) -> None:
    address = check(teacher, title="Thrown away")
    path = address.removeprefix(teacher.base)
    teacher.post(path + "delete/", {})
    assert "Thrown away" not in teacher.get("/reports/").text
    assert "Thrown away" in teacher.get("/reports/?deleted=on").text
    teacher.post(path + "restore/", {})
    assert "Thrown away" in teacher.get("/reports/").text


@pytest.mark.covers("S7")
def test_stored_texts_are_just_text(teacher: Browser) -> None:
    address = check(teacher, NASTY + " " + BORROWED, title="<script>x</script>")
    page = teacher.get(address).text
    assert "<script>alert" not in page and "<script>x" not in page and "\u202e" not in page
    assert "script-src 'self'" in teacher.get(address).headers["Content-Security-Policy"]
    exported = teacher.get(address + "report.html")
    assert "<script>alert" not in exported.text and "attachment" in exported.headers["Content-Disposition"]


@pytest.mark.covers("S7")
def test_headers_that_protect(service: Service) -> None:
    answer = Browser(service.base).get("/login/")
    assert "unsafe-inline" not in answer.headers["Content-Security-Policy"]
    assert answer.headers["X-Frame-Options"] == "DENY"
    assert answer.headers["X-Content-Type-Options"] == "nosniff"
    assert "style=" not in answer.text


@pytest.mark.covers("R10", "S7")
@pytest.mark.parametrize(
    "address", ["http://127.0.0.1:1/", "http://[::1]/", "http://169.254.169.254/latest/"]
)
def test_addresses_of_the_own_network_are_refused(teacher: Browser, address: str) -> None:
    teacher.get("/check/")
    answer = teacher.post("/check/", {"address": address})
    page = wait_for(teacher, answer.address, 'role="alert"')
    assert "Traceback" not in page


@pytest.mark.parametrize("address", ["file:///etc/passwd", "/etc/passwd", "ftp://example.org/x"])
def test_other_addresses_are_not_even_taken(teacher: Browser, address: str) -> None:
    teacher.get("/check/")
    answer = teacher.post("/check/", {"address": address})
    assert "/reports/" not in answer.address and "root:" not in answer.text


def test_an_upload_that_is_too_large_is_refused_before_it_is_read(service: Service, teacher: Browser) -> None:
    import http.client

    connection = http.client.HTTPConnection("127.0.0.1", service.port, timeout=60)
    try:
        connection.putrequest("POST", "/check/")
        connection.putheader("Content-Length", str(2 * 10**9))
        connection.putheader("Content-Type", "application/octet-stream")
        connection.endheaders()
        answer = connection.getresponse()
        assert answer.status == 413
        page = answer.read().decode()
        assert '<html lang="en">' in page and "<h1>" in page and "<script" not in page
    finally:
        connection.close()


def test_pages_in_russian(service: Service) -> None:
    browser = service.administrator(language="ru")
    home = browser.get("/").text
    assert 'lang="ru"' in home and "Здравствуйте" in home
    for path in (
        "/check/",
        "/reports/",
        "/libraries/",
        "/queue/",
        "/users/",
        "/audit/",
        "/settings/",
        "/account/",
    ):
        assert browser.get(path).status == 200
    missing = browser.get("/nothing/")
    assert missing.status == 404 and "По этому адресу ничего нет" in missing.text


def test_words_are_the_same_in_both_languages() -> None:
    from doublet.web.words import en, ru

    assert set(en.TABLE) == set(ru.TABLE) and set(en.NOUNS) == set(ru.NOUNS)
    fields = re.compile(r"\{(\w+)")
    for key, sentence in en.TABLE.items():
        assert set(fields.findall(sentence)) == set(fields.findall(ru.TABLE[key])), key


@pytest.mark.covers("S5")
def test_rest(service: Service, teacher: Browser) -> None:
    teacher.get("/account/")
    page = teacher.post("/account/tokens/", {"name": "program", "scope": "check", "days": "1"}).text
    secret = re.search(r'value="(dbl_[^"]+)"', page)
    assert secret
    client = Browser(service.base, token=secret.group(1))
    assert client.get("/api/v1/me").json()["name"] == "maria"
    made = client.send(
        "POST", "/api/v1/checks", {"text": BORROWED, "title": "By REST"}, **{"Idempotency-Key": "k1"}
    )
    assert made.status == 201 and made.json()["state"] == "done", made.text
    again = client.send("POST", "/api/v1/checks", {"text": BORROWED}, **{"Idempotency-Key": "k1"})
    assert again.status == 200 and again.json()["id"] == made.json()["id"]
    with ThreadPoolExecutor(8) as hands:  # the same request many times at once is made once
        twins = [
            hands.submit(
                client.send, "POST", "/api/v1/checks", {"text": BORROWED}, **{"Idempotency-Key": "k2"}
            )
            for _ in range(8)
        ]
    assert sorted(one.result().status for one in twins) == [200] * 7 + [201]
    assert len({one.result().json()["id"] for one in twins}) == 1
    path = f"/api/v1/checks/{made.json()['id']}"
    report = client.get(path + "/report")
    assert report.json()["sources"][0]["fragments"]
    assert client.get(path + "/report", **{"If-None-Match": report.headers["ETag"]}).status == 304
    source = report.json()["sources"][0]["id"]
    figures = client.send("POST", path + "/decisions", {"target": "source", "which": source})
    assert figures.status == 201 and figures.json()["borrowed"] < made.json()["borrowed"]
    assert client.send("POST", path + "/decisions", {"target": "source", "which": "none such"}).status == 400
    listed = client.get("/api/v1/checks?limit=1").json()
    assert len(listed["items"]) == 1 and listed["next"]
    assert client.get(f"/api/v1/checks?limit=1&cursor={listed['next']}").json()["items"] != listed["items"]
    assert client.get("/api/v1/checks?cursor=nonsense").json()["code"] == "invalid_parameter"
    assert client.send("POST", "/api/v1/libraries", {"name": "x"}).status == 403  # the token may not
    assert client.get("/api/v1/libraries").json()[0]["name"] == "Sample library"
    assert client.get("/api/v1/openapi.json").json()["info"]["title"] == "Doublet"
    assert Browser(service.base).get("/api/v1/me").status == 401
    assert Browser(service.base, token="dbl_wrong").get("/api/v1/me").status == 401


@pytest.mark.covers("L5", "L6")
def test_a_library_is_filled_from_an_upload(service: Service) -> None:
    administrator = service.administrator()
    administrator.get("/libraries/add/")
    line = '{"id": "one", "text": "A document about the slow silver rivers of the north, long enough to be kept here."}'
    answer = administrator.post(
        "/libraries/add/", {"way": "upload", "name": "Uploaded: ü/1"}, {"file": ("docs.jsonl", line.encode())}
    )
    assert answer.status == 200
    page = wait_for(administrator, answer.address, "<b>1</b>documents")
    assert "Uploaded: ü/1" in page
    documents = administrator.get(answer.address + "documents/").text
    assert ">one<" in documents


def test_the_audit_log_knows(service: Service) -> None:
    administrator = service.administrator()
    log = administrator.get("/audit/").text
    assert "checked a work" in log and "maria" in log
    exported = administrator.get("/audit/export/")
    assert exported.status == 200 and "work_checked" in exported.text


def test_health_and_metrics(service: Service) -> None:
    browser = Browser(service.base)
    assert browser.get("/healthz").json()["status"] == "ok"
    assert browser.get("/readyz").json()["status"] == "ok"
    assert 'doublet_documents{library="Sample library"} 12' in browser.get("/metrics").text


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--bind", "0.0.0.0"], "--https"),
        (["--bind", "0.0.0.0", "--https"], "--host-name"),
        (["--upload-limit", "much"], "--upload-limit"),
    ],
)
def test_an_unsafe_start_is_refused(tmp_path: Path, options: list[str], words: str) -> None:
    import subprocess
    import sys

    command = [sys.executable, "-m", "doublet", "serve", "--database", str(tmp_path / "x.db"), *options]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 2 and words in done.stderr


@pytest.mark.covers("S3")
def test_kill_and_go_on(tmp_path: Path) -> None:
    """A killed service starts again with everything that was finished, and what waited is done."""
    import signal

    with running(tmp_path, "--workers", "0") as service:
        browser = service.administrator()
        browser.get("/check/")
        answer = browser.post("/check/", {"title": "Waiting"}, {"files": ("essay.txt", BORROWED.encode())})
        assert "waiting" in browser.get(answer.address).text
        assert service.process.poll() is None
        service.stop(signal.SIGKILL)
        service._command[service._command.index("--workers") + 1] = "1"
        service.start()
        wait_for(service.administrator(), answer.address.replace("http://", "http://"), "Водонапорные башни")


@pytest.mark.covers("S3")
@pytest.mark.parametrize("number", ["SIGKILL", "SIGTERM"])
def test_a_check_that_runs_survives_its_service(tmp_path: Path, number: str) -> None:
    """Whoever ends the service in the middle of a check, the check is done by the next one, and not cancelled."""
    import signal

    service = Service(tmp_path, "--checkers", "0")
    try:
        browser = service.administrator()
        browser.get("/account/")
        page = browser.post("/account/tokens/", {"name": "t", "scope": "check", "days": "1"}).text
        secret = re.search(r'value="(dbl_[^"]+)"', page)
        assert secret
        program = Browser(service.base, token=secret.group(1))
        long = " ".join(f"{BORROWED} {n}" for n in range(150))
        work = f"/api/v1/checks/{program.send('POST', '/api/v1/checks', {'text': long}).json()['id']}"
        until = time.monotonic() + 60
        while (state := program.get(work).json()["state"]) == "new":
            assert time.monotonic() < until
            time.sleep(0.02)
        assert state == "running", "it is killed in the middle"
        service.stop(getattr(signal, number))
        service.start()
        until = time.monotonic() + 120
        while (state := program.get(work).json()["state"]) in ("new", "running"):
            assert time.monotonic() < until
            time.sleep(0.2)
        assert state == "done"
    finally:
        service.stop()


def as_new(service: Service, path: str) -> None:
    """As if the service had been killed while somebody waited for the answer: there is no job that would go on."""
    id = path.rstrip("/").rpartition("/")[2].replace("-", "")
    database = sqlite3.connect(service.folder / "service.db", timeout=60)
    with database:
        changed = database.execute(
            "UPDATE web_work SET state = 'running', job = NULL, report = NULL, "
            "created_at = datetime('now', '-1 hour') WHERE id = ?",
            (id,),
        )
    database.close()
    assert changed.rowcount == 1


@pytest.mark.covers("S3")
def test_a_quick_check_that_nobody_finished_is_made_by_a_worker(service: Service, teacher: Browser) -> None:
    """Also one whose library was removed meanwhile: it ends too, and says why."""
    administrator = service.administrator()
    administrator.get("/libraries/add/")
    name = "Soon gone"
    administrator.post(
        "/libraries/add/", {"way": "upload", "name": name}, {"file": ("a.txt", BORROWED.encode())}
    )
    wait_for(administrator, "/libraries/Soon%20gone/", "badge done")
    path, other = check(teacher), check(teacher, libraries=name)
    administrator.get("/libraries/Soon%20gone/")
    administrator.post("/libraries/Soon%20gone/delete/", {"name": name})
    until = time.monotonic() + 60
    while administrator.get("/libraries/Soon%20gone/").status == 200:
        assert time.monotonic() < until
        time.sleep(0.2)
    assert "a.txt" in teacher.get(other).text, "a report that was made before stays"
    as_new(service, path)
    as_new(service, other)
    assert "Водонапорные башни" not in teacher.get(path).text
    wait_for(teacher, path, "Водонапорные башни")
    said = wait_for(teacher, other, 'role="alert"')
    assert name in said


@pytest.mark.covers("S7")
@pytest.mark.parametrize(
    ("language", "password", "token"),
    [
        ("en", "The name or the password is wrong", "token"),
        ("ru", "Неверное имя или пароль", "токен"),
    ],
)
def test_wrong_passwords_and_tokens(service: Service, language: str, password: str, token: str) -> None:
    answer = service.browser(language=language).log_in("nobody-here", "wrong")
    assert password in answer.text, answer.text[-1500:]
    refused = Browser(service.base, language, token="dbl_not-a-token").get("/api/v1/libraries")
    assert refused.status == 401 and token in refused.json()["message"]


@pytest.mark.covers("S3")
def test_an_upload_that_breaks_off_leaves_no_trace(service: Service, teacher: Browser) -> None:
    """Half of what was announced comes, then the line is cut."""
    before = teacher.get("/reports/").text.count("/reports/")
    cookies = "; ".join(f"{one.name}={one.value}" for one in teacher._jar)
    with socket.create_connection(("127.0.0.1", service.port), timeout=30) as line:
        head = (
            f"POST /check/ HTTP/1.1\r\nHost: 127.0.0.1\r\nCookie: {cookies}\r\nContent-Length: 4000000\r\n"
            "Content-Type: multipart/form-data; boundary=xyz\r\n\r\n--xyz\r\n"
            'Content-Disposition: form-data; name="files"; filename="half.txt"\r\n\r\n'
        )
        line.sendall(head.encode() + b"word " * 400_000)
        time.sleep(0.5)
    until = time.monotonic() + 30
    while [one for one in service.folder.rglob("uploads/*") if one.is_file()]:
        assert time.monotonic() < until
        time.sleep(0.2)
    assert teacher.get("/reports/").text.count("/reports/") == before
    assert check(teacher), "the service goes on"


def test_command_lines_tell_nothing_of_the_database(service: Service) -> None:
    """Everybody on a computer can read them, and the address of a database server has its password in it."""
    parents = {}
    for place in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            line = (place / "cmdline").read_text().split("\0")
            parents[int(place.name)] = (int((place / "stat").read_text().rpartition(")")[2].split()[1]), line)
    ours = [line for parent, line in parents.values() if parent == service.process.pid]
    assert len(ours) >= 2, "a worker and a checker"
    assert not [line for line in ours if any("service.db" in part for part in line)]


def test_checks_beside_somebody_who_writes_all_the_time(service: Service) -> None:
    """Of SQLite there is one writer at a time: nobody is refused, and pages are answered meanwhile."""
    over = threading.Event()

    def write() -> None:
        with contextlib.closing(sqlite3.connect(service.folder / "service.db", timeout=60)) as other:
            other.isolation_level = None
            while not over.is_set():
                other.execute("BEGIN IMMEDIATE")
                time.sleep(0.1)
                other.execute("COMMIT")
                time.sleep(0.005)  # as `doublet.store.pace` leaves to others

    browser = service.administrator()
    browser.get("/account/")
    page = browser.post("/account/tokens/", {"name": "many", "scope": "check", "days": "1"}).text
    secret = re.search(r'value="(dbl_[^"]+)"', page)
    assert secret
    client = Browser(service.base, token=secret.group(1))
    writer = threading.Thread(target=write)
    writer.start()
    try:
        with ThreadPoolExecutor(12) as hands:
            made = [
                hands.submit(client.send, "POST", "/api/v1/checks", {"text": BORROWED}) for _ in range(24)
            ]
            assert browser.get("/reports/").status == 200
            assert {one.result().json()["state"] for one in made} == {"done"}
    finally:
        over.set()
        writer.join()
