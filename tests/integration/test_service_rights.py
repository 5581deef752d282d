"""Every address × method as everybody, against the table of rights; and REST as its description says it."""

from __future__ import annotations

import http.client
import itertools
import json
import re
import sqlite3
import subprocess
import sys
import time
import urllib.parse
import uuid
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from doublet.samples import WORK
from doublet.web import rights
from web_service import Browser, Service, running

pytestmark = pytest.mark.covers("S2", "S5", "S7")
BORROWED = WORK.read_text(encoding="utf-8")
METHODS = ("GET", "POST", "DELETE")
REST_METHODS = ("GET", "POST", "PUT", "PATCH", "DELETE")
_ADDRESSES = (f"10.{a}.{b}.{c}" for a, b, c in itertools.product(range(256), repeat=3))


@dataclass
class Answer:
    status: int
    place: str
    body: bytes


@dataclass
class Somebody:
    """Asks as one person, or with one token; follows nothing."""

    port: int
    headers: dict[str, str] = field(default_factory=dict)

    def ask(self, method: str, path: str, body: Any = None) -> Answer:
        """The answer; who asks faster than people may waits, and asks again."""
        until = time.monotonic() + 120
        while (answer := self._ask(method, path, body)).status == 429 and time.monotonic() < until:
            time.sleep(1)
        return answer

    def _ask(self, method: str, path: str, body: Any) -> Answer:
        # Each request comes from another address, as the trusted proxy says: only people have limits here.
        headers = {**self.headers, "X-Forwarded-For": next(_ADDRESSES)}
        data = None
        if body is not None:
            data = json.dumps(body).encode()
            headers["Content-Type"] = "application/json"
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=120)
        try:
            connection.request(method, path, data, headers)
            answer = connection.getresponse()
            events = "event-stream" in answer.getheader("Content-Type", "")  # that may never end
            return Answer(answer.status, answer.getheader("Location", ""), b"" if events else answer.read())
        finally:
            connection.close()


@dataclass
class World:
    service: Service
    people: dict[str, Somebody]
    tokens: dict[str, Somebody]
    values: dict[
        str, dict[str, str]
    ]  #: what stands for each part of an address, by the first part of the address


def _person(service: Service, browser: Browser) -> Somebody:
    browser.get("/login/")
    cookies = {one.name: one.value or "" for one in browser._jar}
    headers = {"Cookie": "; ".join(f"{name}={value}" for name, value in cookies.items())}
    return Somebody(service.port, {**headers, "X-CSRFToken": cookies.get("csrftoken", "")})


def _token(browser: Browser, scope: str) -> tuple[str, str]:
    """Number and secret of a new token."""
    browser.get("/account/")
    page = browser.post("/account/tokens/", {"name": scope, "scope": scope, "days": "9"}).text
    secret = re.search(r'value="(dbl_[^"]+)"', page)
    number = re.search(r"/account/tokens/(\d+)/revoke/", page)
    assert secret and number
    return number.group(1), secret.group(1)


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    folder = tmp_path_factory.mktemp("rights")
    with running(folder, "--workers", "0", "--checkers", "0", "--proxies", "1", "--allow-private") as service:
        teacher = service.browser(*service.invite("maria"))
        other = service.browser(*service.invite("pavel"))
        service.invite("spare")
        administrator = service.administrator()
        browsers = {"teacher": teacher, "other": other, "administrator": administrator}
        made: dict[str, str] = {}
        for name, browser in browsers.items():
            _, made[name] = _token(browser, "manage")
        _, made["reader"] = _token(teacher, "read")
        ended = {name: _token(teacher, "manage") for name in ("expired", "revoked")}
        for name, (row, secret) in ended.items():
            made[name] = secret
            column = "expires_at" if name == "expired" else "revoked_at"
            with sqlite3.connect(folder / "service.db") as database:
                database.execute(
                    f"UPDATE web_token SET {column} = '2020-01-01 00:00:00' WHERE id = ?", (row,)
                )
            database.close()
        mine, _ = _token(teacher, "read")
        tokens = {
            name: Somebody(service.port, {"Authorization": f"Bearer {secret}"})
            for name, secret in made.items()
        }
        program = Browser(service.base, token=made["teacher"])
        work = program.send("POST", "/api/v1/checks", {"text": BORROWED, "title": "Mine"}).json()
        assert work["state"] == "done"
        page = teacher.get(f"/reports/{work['id']}/") and teacher.post(f"/reports/{work['id']}/share/", {})
        link = re.search(r'value="http[^"]+/shared/([^/"]+)', page.text)
        share = re.search(r"/share/(\d+)/revoke/", page.text)
        assert link and share
        teacher.get("/check/")
        group = teacher.post("/check/", {"title": "g", "among": "on"}, {"files": ("a.zip", _archive())})
        teacher.get("/repeats/")
        search = teacher.post("/repeats/", {"algorithm": "auto"}, {"file": ("a.txt", b"one two three " * 50)})
        ids = {name: one.address.rstrip("/").split("/")[-1] for name, one in (("g", group), ("s", search))}
        job = str(program.get(f"/api/v1/repeats/{ids['s']}").json()["job"])
        assert program.send("POST", f"/api/v1/jobs/{job}/cancel").json()["state"] == "cancelled"
        hook = program.send("POST", "/api/v1/hooks", BODIES["make_hook"]).json()
        program.send("POST", f"/api/v1/hooks/{hook['id']}/test")
        delivery = program.get(f"/api/v1/hooks/{hook['id']}/deliveries").json()[0]["id"]
        common = {"name": "Sample library", "number": job, "secret": "none", "form": "json"}
        report = {"id": work["id"], "number": share.group(1), "form": "json"}
        values = {
            "": common,
            "reports": report,
            "checks": report,
            "shared": {"secret": link.group(1)},
            "classes": {"id": ids["g"], "form": "zip"},
            "repeats": {"id": ids["s"]},
            "account": {"number": mine},
            "account/hooks": {"number": str(hook["id"]), "id": delivery},
            "hooks": {"number": str(hook["id"])},
            "users": {"number": "4"},
            "methods": {"name": "shingles"},
        }
        people = {name: _person(service, browser) for name, browser in browsers.items()}
        people["anonymous"] = _person(service, Browser(service.base))
        tokens["anonymous"] = Somebody(service.port)
        yield World(service, people, tokens, values)


def _archive() -> bytes:
    import io
    import zipfile

    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("anna.txt", "A work of Anna about rivers.")
        archive.writestr("boris.txt", "A work of Boris about roads.")
    return packed.getvalue()


def _filled(world: World, pattern: str, first: str) -> str:
    """The address, with real things of the teacher in the places of its parts."""
    values = {**world.values[""], **world.values.get(first, {})}
    return re.sub(
        r"[<{](?:\w+:)?(\w+)[>}]", lambda part: urllib.parse.quote(values[part.group(1)], safe=""), pattern
    )


def _pages(world: World) -> list[tuple[str, str, bool]]:
    """Name, address and whether the thing belongs to the teacher."""
    source = (Path(rights.__file__).parent / "urls.py").read_text(encoding="utf-8")
    found = re.findall(r'path\("([^"]*)", [^,]+?(?:\(\))?, name="([a-z-]+)"\)', source)
    assert {name for _, name in found} == set(rights.RIGHTS), (
        "a right for each address, an address for each right"
    )
    rows = [
        (
            name,
            "/" + _filled(world, pattern, "account/hooks" if "/hooks/" in pattern else pattern.split("/")[0]),
            "uuid:id" in pattern or name == "account-token-revoke" or "/hooks/<" in pattern,
        )
        for pattern, name in found
    ]
    return sorted(rows, key=lambda row: (row[0] == "logout", "delete" in row[0], row[0]))


def _judge(name: str, method: str, who: str, own: bool, answer: Answer) -> str:
    """What is wrong with an answer; "" when nothing is."""
    needed = rights.needed(name, method)
    to_login = answer.status == 302 and answer.place.startswith("/login/")
    if answer.status >= 500 or answer.status == 429:
        return "failed"
    if name == "metrics":
        return "" if answer.status == 403 else "answered"  # behind a proxy: an administrator's token only
    if needed == rights.ANYBODY:
        return "refused" if answer.status == 403 or (to_login and name != "language") else ""
    if who == "anonymous":
        return "" if to_login else "answered a stranger"
    if needed == rights.ADMINISTRATOR and who != "administrator":
        return "" if answer.status == 403 else "answered a teacher"
    if own and who == "other":
        return "" if answer.status in (404, 405) else "answered another teacher"
    if name == "account-token-revoke" and who == "administrator":
        return "" if answer.status in (404, 405) else "revoked the token of somebody else"
    return "refused" if answer.status == 403 or (to_login and name != "logout") else ""


@pytest.mark.parametrize("who", ["anonymous", "other", "teacher", "administrator"])
def test_pages_answer_only_who_may(world: World, who: str) -> None:
    wrong = []
    for name, path, own in _pages(world):
        for method in METHODS:
            if who == "teacher" and own and name.endswith("delete") and method == "POST":
                continue  # the administrator, who comes last, deletes it
            answer = world.people[who].ask(method, path)
            said = _judge(name, method, who, own, answer)
            if said:
                wrong.append(f"{method} {path} ({name}): {answer.status} {answer.place} {said}")
    assert not wrong, "\n".join(wrong)


def test_what_is_not_in_the_table_is_closed(world: World) -> None:
    for who in world.people.values():
        assert who.ask("GET", "/no/such/page/").status == 404
    assert rights.allows("no-such-name", "GET", None) == "no"


BODIES = {
    "make_check": {"text": "Some words."},
    "edit_check": {"changes": 0, "author": "x"},
    "make_decision": {"target": "kind", "which": "verbatim"},
    "make_comment": {"text": "seen"},
    "make_library": {"name": "Made by the walk"},
    "fill_library": {"address": "/etc"},
    "invite_user": {"role": "teacher"},
    "edit_user": {"checks_per_day": 7},
    "find_duplicates_between": {"libraries": ["Sample library"]},
    "rename_library": {"name": "Sample library"},
    "remove_documents": {"ids": ["x"]},
    "preview_site": {"address": "http://127.0.0.1:9/"},
    "crawl_site": {"address": "http://127.0.0.1:9/"},
    "verify_libraries": {"libraries": ["Sample library"]},
    "decide_duplicate": {
        "a": {"library": "x", "id": "1"},
        "b": {"library": "x", "id": "2"},
        "decision": "both",
    },
    "undo_duplicate_decision": {"a": {"library": "x", "id": "1"}, "b": {"library": "x", "id": "2"}},
    "start_evaluation": {"method": "none such"},
    "edit_settings": {"notice": ""},
    "put_repeats_decisions": {"decisions": {"group-1": "merge"}},
    "make_hook": {"address": "http://127.0.0.1:8099/x"},
}


QUERIES = {
    "document": "?id=x",
    "search": "?q=word",
    "compare": f"?other={uuid.uuid4()}",
    "pair": f"?a={uuid.uuid4()}&b={uuid.uuid4()}",
}


def _operations(world: World) -> list[tuple[str, str, str, bool]]:
    described = json.loads(world.tokens["anonymous"].ask("GET", "/api/v1/openapi.json").body)
    rows = []
    for pattern, methods in described["paths"].items():
        first = pattern.removeprefix("/api/v1/").split("/")[0]
        path = _filled(world, pattern, first) + QUERIES.get(pattern.rpartition("/")[2], "")
        for method in REST_METHODS:
            operation = methods.get(method.lower(), {}).get("operationId", "")
            rows.append(
                (operation, method, path, "{id}" in pattern or "/jobs/" in pattern or "/hooks/" in pattern)
            )
    named = [row[0] for row in rows if row[0]]
    assert sorted(named) == sorted(rights.API) == sorted(set(named)), (
        "one name for each operation, one right for each"
    )
    return sorted(rows, key=lambda row: ("delete" in row[0] or "remove" in row[0], row[0]))


@pytest.mark.parametrize(
    "who", ["anonymous", "expired", "revoked", "reader", "other", "teacher", "administrator"]
)
def test_rest_answers_only_who_may(world: World, who: str) -> None:
    wrong = []
    for operation, method, path, own in _operations(world):
        if operation in ("delete_check", "delete_class", "delete_hook") and who == "teacher":
            continue
        answer = world.tokens[who].ask(method, path, BODIES.get(operation))
        needed, scope = rights.API.get(operation, ("", ""))
        if not operation:
            fits = answer.status in (405, 401)
        elif who in ("anonymous", "expired", "revoked"):
            fits = answer.status == 401
        elif (who == "reader" and scope != "read") or (
            needed == rights.ADMINISTRATOR and who != "administrator"
        ):
            fits = answer.status == 403
        elif own and who == "other":
            fits = answer.status == 404
        elif operation == "fill_library":
            fits = answer.status == 403  # a folder that the owner of the service did not open
        else:
            fits = answer.status < 500 and answer.status not in (401, 403, 405, 429)
        if not fits:
            wrong.append(f"{method} {path} ({operation}): {answer.status} {answer.body[:200]!r}")
    assert not wrong, "\n".join(wrong)


def test_a_session_needs_the_secret_of_its_page(world: World) -> None:
    """Another site cannot make a logged-in browser act: neither on pages nor through REST."""
    person = _person(world.service, world.service.administrator())
    assert person.ask("POST", "/api/v1/libraries", {"name": "honest"}).status == 201
    forged = Somebody(world.service.port, {"Cookie": person.headers["Cookie"]})
    assert forged.ask("POST", "/api/v1/libraries", {"name": "forged"}).status == 403
    assert forged.ask("POST", "/libraries/add/").status == 403


def test_rest_keeps_its_description(world: World, tmp_path: Path) -> None:
    """Schemathesis asks every operation with good and bad values: no failure, and no answer that is not described."""
    secret = world.tokens["administrator"].headers["Authorization"]
    command = [
        *(sys.executable, "-m", "schemathesis.cli", "run", f"{world.service.base}/api/v1/openapi.json"),
        *("--header", f"Authorization: {secret}", "--header", "X-Forwarded-For: 10.9.9.9"),
        *("--phases", "examples,fuzzing", "--max-examples", "5", "--seed", "1", "--workers", "1"),
        *("--generation-database", "none", "--suppress-health-check", "all", "--request-timeout", "90"),
        "--checks",
        "not_a_server_error,status_code_conformance,content_type_conformance,response_schema_conformance",
    ]
    done = subprocess.run(
        command, capture_output=True, text=True, timeout=300, check=False, cwd=tmp_path, encoding="utf-8"
    )
    assert done.returncode == 0, done.stdout[-6000:] + done.stderr[-2000:]
    assert "Tested" in done.stdout
