"""Web hooks of the service: signed, tried again, visible, and never sent into private networks unasked."""

from __future__ import annotations

import http.server
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from doublet.client import read_hook
from doublet.errors import NotAllowed
from web_service import Browser, Service

pytestmark = pytest.mark.covers("S5", "S7", "R10")


class Receiver:
    """A program that is told of ended jobs. It answers 500 as often as *refusals* says, then 200."""

    def __init__(self, refusals: int = 0) -> None:
        self.got: list[tuple[dict[str, str], bytes]] = []
        self.refusals = refusals
        receiver = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                receiver.got.append(({name.lower(): value for name, value in self.headers.items()}, body))
                receiver.refusals -= 1
                self.send_response(200 if receiver.refusals < 0 else 500)
                self.send_header("Content-Length", "0")
                self.end_headers()

            def log_message(self, *_: Any) -> None:
                pass

        self._server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.address = f"http://127.0.0.1:{self._server.server_address[1]}/told"
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    made = Receiver(refusals=1)
    yield made
    made.close()


def until(what: Callable[[], Any], seconds: float = 90.0) -> Any:
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        found = what()
        if found:
            return found
        time.sleep(0.2)
    raise AssertionError("it did not happen in time")


def _program(service: Service) -> Browser:
    import re

    administrator = service.administrator()
    administrator.get("/account/")
    page = administrator.post("/account/tokens/", {"name": "t", "scope": "manage", "days": "9"}).text
    secret = re.search(r'value="(dbl_[^"]+)"', page)
    assert secret
    return Browser(service.base, token=secret.group(1))


def test_a_hook_is_told_signed_and_tried_again(tmp_path: Path, receiver: Receiver) -> None:
    options = ("--empty", "--workers", "0", "--checkers", "0")
    service = Service(tmp_path, *options, "--allow-private")
    try:
        program = _program(service)
        made = program.send("POST", "/api/v1/hooks", {"address": receiver.address, "note": "mine"})
        assert made.status == 201
        hook = made.json()
        assert program.get("/api/v1/hooks").json()[0]["secret"] is None, "the secret is shown once"
        # A job of the own, which is taken out of the queue: that is an end as well.
        program.send("POST", "/api/v1/libraries", {"name": "L"})
        job = program.send("POST", "/api/v1/libraries/L/duplicates").json()
        assert program.send("POST", f"/api/v1/jobs/{job['number']}/cancel").json()["state"] == "cancelled"
        until(lambda: len(receiver.got) >= 2)  # the first try was answered with 500
        (first, body), (second, again) = receiver.got[:2]
        assert body == again and first["doublet-delivery"] == second["doublet-delivery"]
        told = read_hook(hook["secret"], second["doublet-signature"], again)
        assert told["event"] == "job.cancelled" and told["job"]["number"] == job["number"]
        with pytest.raises(NotAllowed):
            read_hook(hook["secret"], second["doublet-signature"], again + b" ")
        with pytest.raises(NotAllowed):
            read_hook("another", second["doublet-signature"], again)
        with pytest.raises(NotAllowed):
            read_hook(hook["secret"], second["doublet-signature"], again, now=time.time() + 3600)
        deliveries = f"/api/v1/hooks/{hook['id']}/deliveries"
        seen = until(lambda: [one for one in program.get(deliveries).json() if one["state"] == "delivered"])
        assert seen[0]["attempts"] == 2 and seen[0]["status"] == 200
        page = service.administrator().get(f"/account/hooks/{hook['id']}/")
        assert page.status == 200 and "delivered" in page.text
        service.stop()
        # The owner closed private networks again: what was allowed when it was made is refused now.
        service = Service(tmp_path, *options)
        service.password = ""
        assert program.base != service.base
        program.base = service.base
        program.send("POST", f"/api/v1/hooks/{hook['id']}/test")
        failed = until(lambda: [one for one in program.get(deliveries).json() if one["state"] == "failed"])
        assert failed[0]["problem"]["error"] == "not_allowed" and failed[0]["event"] == "test"
        count = len(receiver.got)
        refused = program.send("POST", "/api/v1/hooks", {"address": receiver.address})
        assert refused.status == 403 and refused.json()["code"] == "not_allowed"
        assert program.send("POST", "/api/v1/hooks", {"address": "ftp://x.example/"}).status == 403
        assert len(receiver.got) == count
        assert program.send("DELETE", f"/api/v1/hooks/{hook['id']}").status == 204
    finally:
        service.stop()
