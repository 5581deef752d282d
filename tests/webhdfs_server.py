"""A small WebHDFS server over a folder, as Hadoop's documentation describes the protocol: one address answers as the
name node, and sends whoever reads or writes on to itself as the data node."""

from __future__ import annotations

import json
import shutil
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

PREFIX = "/webhdfs/v1"


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    wbufsize = 1 << 16  # an answer in one piece, which nobody waits for
    disable_nagle_algorithm = True
    root: Path
    asked: list[str]

    def log_message(self, *_: Any) -> None:
        pass

    def _answer(self) -> None:
        parts = urlsplit(self.path)
        self.query = {name: values[0] for name, values in parse_qs(parts.query).items()}
        self.name = unquote(parts.path.removeprefix(PREFIX)) or "/"
        self.place = self.root / self.name.strip("/")
        operation = self.query.get("op", "").upper()
        self.asked.append(operation)
        work = getattr(self, f"_{self.command}_{operation}".lower(), None)
        if work is None:
            self._fail(400, "UnsupportedOperationException", f"{self.command} {operation}")
            return
        try:
            work()
        except FileNotFoundError:
            self._fail(404, "FileNotFoundException", f"File does not exist: {self.name}")

    do_GET = do_PUT = do_POST = do_DELETE = _answer  # noqa: N815 - names of the server

    def _send(
        self, status: int, body: bytes = b"", kind: str = "application/json", location: str = ""
    ) -> None:
        self.send_response(status)
        if location:
            self.send_header("Location", location)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def _tell(self, value: Any) -> None:
        self._send(200, json.dumps(value).encode())

    def _fail(self, status: int, name: str, message: str) -> None:
        told = {"exception": name, "javaClassName": f"java.io.{name}", "message": message}
        self._body()
        self._send(status, json.dumps({"RemoteException": told}).encode())

    def _body(self) -> bytes:
        if "chunked" not in self.headers.get("Transfer-Encoding", ""):
            return self.rfile.read(int(self.headers.get("Content-Length") or 0))
        out = b""
        while size := int(self.rfile.readline().split(b";")[0], 16):
            out += self.rfile.read(size)
            self.rfile.readline()
        self.rfile.readline()
        return out

    def _on(self) -> bool:
        """Whether the name node was asked, which sends to the data node; a body is not meant for it."""
        if "datanode" in self.query:
            return False
        self._body()
        self._send(307, location=f"http://{self.headers['Host']}{self.path}&datanode=true")
        return True

    def _status(self, place: Path, suffix: str) -> dict[str, Any]:
        facts = place.stat()
        folder = place.is_dir()
        return {
            "pathSuffix": suffix,
            "type": "DIRECTORY" if folder else "FILE",
            "length": 0 if folder else facts.st_size,
            "modificationTime": facts.st_mtime_ns // 1_000_000,
            "accessTime": 0,
            "blockSize": 0 if folder else 1 << 27,
            "replication": 0 if folder else 1,
            "owner": "doublet",
            "group": "doublet",
            "permission": "755",
            "fileId": facts.st_ino,
            "childrenNum": 0,
            "storagePolicy": 0,
        }

    def _get_getfilestatus(self) -> None:
        self._tell({"FileStatus": self._status(self.place, "")})

    def _get_liststatus(self) -> None:
        inside = sorted(self.place.iterdir()) if self.place.is_dir() else [self.place]
        rows = [self._status(one, one.name if self.place.is_dir() else "") for one in inside]
        self._tell({"FileStatuses": {"FileStatus": rows}})

    def _get_open(self) -> None:
        self.place.stat()
        if self._on():
            return
        with self.place.open("rb") as file:
            file.seek(int(self.query.get("offset", 0)))
            self._send(200, file.read(int(self.query.get("length", -1))), "application/octet-stream")

    def _put_mkdirs(self) -> None:
        self._body()
        self.place.mkdir(parents=True, exist_ok=True)
        self._tell({"boolean": True})

    def _put_create(self) -> None:
        if self._on():
            return
        self.place.parent.mkdir(parents=True, exist_ok=True)
        self.place.write_bytes(self._body())
        self._send(201)

    def _post_append(self) -> None:
        self.place.stat()
        if self._on():
            return
        with self.place.open("ab") as file:
            file.write(self._body())
        self._send(200)

    def _put_rename(self) -> None:
        self._body()
        target = self.root / self.query["destination"].strip("/")
        moved = self.place.exists() and not target.exists() and target.parent.is_dir()
        if moved:  # as HDFS: what is there is not replaced
            self.place.rename(target)
        self._tell({"boolean": moved})

    def _delete_delete(self) -> None:
        self._body()
        there = self.place.exists()
        if self.place.is_dir():
            shutil.rmtree(self.place)
        elif there:
            self.place.unlink()
        self._tell({"boolean": there})


@contextmanager
def serving(root: Path) -> Iterator[tuple[str, list[str]]]:
    """The address of a server over the folder *root*, and the operations that it was asked for."""
    asked: list[str] = []
    kind = type("Serving", (Handler,), {"root": root, "asked": asked})
    server = ThreadingHTTPServer(("127.0.0.1", 0), kind)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
    thread.start()
    try:
        yield f"webhdfs://127.0.0.1:{server.server_port}", asked
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
