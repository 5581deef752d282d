"""A service on a free port of loopback, started as a user starts it, and a small client for it."""

from __future__ import annotations

import contextlib
import http.cookiejar
import json
import os
import re
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.parse
import urllib.request
import uuid
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

START_S = 180.0  #: the machine may be busy


def free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])


class Answer:
    """What the service answered."""

    def __init__(self, status: int, headers: Mapping[str, str], body: bytes, address: str) -> None:
        self.status, self.headers, self.body, self.address = status, headers, body, address

    @property
    def text(self) -> str:
        return self.body.decode("utf-8", "replace")

    def json(self) -> Any:
        return json.loads(self.body)


class Browser:
    """Cookies, redirects and CSRF as a browser has them; no script."""

    def __init__(self, base: str, language: str = "en", token: str = "") -> None:
        self.base = base
        self._jar = http.cookiejar.CookieJar()
        self._opener = urllib.request.build_opener(urllib.request.HTTPCookieProcessor(self._jar))
        self._headers = {"Accept-Language": language}
        if token:
            self._headers["Authorization"] = f"Bearer {token}"
        self.last = ""

    def ask(
        self, method: str, path: str, data: bytes | None = None, headers: Mapping[str, str] | None = None
    ) -> Answer:
        address = path if path.startswith("http") else self.base + path
        request = urllib.request.Request(
            address, data=data, method=method, headers={**self._headers, **(headers or {})}
        )
        try:
            with self._opener.open(request, timeout=120) as answer:
                found = Answer(answer.status, answer.headers, answer.read(), answer.url)
        except urllib.error.HTTPError as error:
            with error:
                found = Answer(error.code, error.headers, error.read(), address)
        self.last = found.text if "html" in found.headers.get("Content-Type", "") else self.last
        return found

    def get(self, path: str, **headers: str) -> Answer:
        return self.ask("GET", path, headers=headers)

    def post(self, path: str, fields: Any, files: Mapping[str, tuple[str, bytes]] | None = None) -> Answer:
        """A form, with the secret of the page that was read last."""
        secret = re.search(r'name="csrfmiddlewaretoken" value="([^"]+)"', self.last)
        pairs = list(fields.items() if isinstance(fields, dict) else fields)
        pairs.append(("csrfmiddlewaretoken", secret.group(1) if secret else ""))
        line = uuid.uuid4().hex
        parts = [
            f'--{line}\r\nContent-Disposition: form-data; name="{name}"\r\n\r\n{value}\r\n'.encode()
            for name, value in pairs
        ]
        for name, (file, content) in (files or {}).items():
            head = f'--{line}\r\nContent-Disposition: form-data; name="{name}"; filename="{file}"\r\n'
            parts.append(
                head.encode() + b"Content-Type: application/octet-stream\r\n\r\n" + content + b"\r\n"
            )
        body = b"".join(parts) + f"--{line}--\r\n".encode()
        return self.ask("POST", path, body, {"Content-Type": f"multipart/form-data; boundary={line}"})

    def send(self, method: str, path: str, value: Any = None, **headers: str) -> Answer:
        """JSON, for REST."""
        data = None if value is None else json.dumps(value).encode()
        return self.ask(method, path, data, {"Content-Type": "application/json", **headers})

    def log_in(self, name: str, password: str) -> Answer:
        self.get("/login/")
        return self.post("/login/", {"username": name, "password": password})


class Service:
    """A running service. *password* is that of the first administrator."""

    def __init__(
        self,
        folder: Path,
        *options: str,
        database: str = "",
        environment: Mapping[str, str] | None = None,
        log: Path | None = None,
    ) -> None:
        self.folder = folder
        self._environment = environment or {}
        self.port = free_port()
        self.base = f"http://127.0.0.1:{self.port}"
        self._log = log or folder / "log.txt"
        self._command = [
            *(sys.executable, "-m", "doublet", "serve", "--no-open", "--port", str(self.port)),
            *("--database", database or str(folder / "service.db"), *options),
        ]
        self.password = ""
        self.start()

    def start(self) -> None:
        environment = {k: v for k, v in os.environ.items() if not k.startswith("DOUBLET_")}
        environment |= {"XDG_DATA_HOME": str(self.folder / "data"), **self._environment}
        with self._log.open("ab") as log:
            self.process = subprocess.Popen(self._command, stdout=log, stderr=log, env=environment)
        until = time.monotonic() + START_S
        while time.monotonic() < until:
            if self.process.poll() is not None:
                raise AssertionError(f"the service ended:\n{self.log[-4000:]}")
            with contextlib.suppress(OSError), urllib.request.urlopen(f"{self.base}/healthz", timeout=5):
                break
            time.sleep(0.2)
        else:
            self.process.kill()
            self.process.wait(60)
            raise AssertionError(f"the service did not start:\n{self.log[-4000:]}")
        found = re.search(r"password\s+(\S+)", self.log)
        self.password = found.group(1) if found else self.password

    @property
    def log(self) -> str:
        return self._log.read_text(encoding="utf-8", errors="replace")

    def stop(self, number: int = signal.SIGTERM) -> int:
        if self.process.poll() is None:
            self.process.send_signal(number)
        return self.process.wait(60)

    def browser(self, name: str = "", password: str = "", language: str = "en") -> Browser:
        made = Browser(self.base, language)
        if name:
            answer = made.log_in(name, password or self.password)
            assert answer.status == 200, answer.text
        return made

    def administrator(self, language: str = "en") -> Browser:
        return self.browser("admin", language=language)

    def invite(self, name: str, role: str = "teacher") -> tuple[str, str]:
        """A new person; gives name and password."""
        administrator = self.administrator()
        administrator.get("/users/")
        page = administrator.post("/users/invite/", {"role": role, "note": name})
        link = re.search(r'value="(http[^"]+/invitation/[^"]+)"', page.text)
        assert link, page.text
        password = f"long-{uuid.uuid4().hex}"
        browser = Browser(self.base)
        browser.get(link.group(1))
        joined = browser.post(link.group(1), {"username": name, "password": password})
        assert joined.status == 200 and "/invitation/" not in joined.address, joined.text
        return name, password


@contextlib.contextmanager
def running(folder: Path, *options: str, database: str = "") -> Iterator[Service]:
    service = Service(folder, *options, database=database)
    try:
        yield service
    finally:
        service.stop()
