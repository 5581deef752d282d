"""Raw answers as WARC, so that a crawl can be read again by us or by others: one record for each answer with a body.

Files are packed record by record and closed when they are large; a file that ends in the middle of a record, because
the robot was killed, keeps all records before it.
"""

from __future__ import annotations

import io
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from doublet.errors import ConfigError

FILE_BYTES = 1 << 30
_LEFT_OUT = frozenset(("content-encoding", "transfer-encoding", "content-length", "connection"))


class WarcFile:
    """Writes records to numbered files in a folder. Raises `ConfigError` where warcio is not installed."""

    def __init__(self, folder: Path, name: str, agent: str) -> None:
        try:
            from warcio.statusandheaders import StatusAndHeaders
            from warcio.warcwriter import WARCWriter
        except ImportError as error:
            raise ConfigError("needs_warcio", library="warcio") from error
        self._headers: Any = StatusAndHeaders
        self._make: Any = WARCWriter
        folder.mkdir(parents=True, exist_ok=True)
        self._folder = folder
        self._name = name
        self._agent = agent
        self._file: Any = None
        self._writer: Any = None

    def write(self, address: str, status: int, headers: Mapping[str, str], body: bytes) -> None:
        """The answer of a server. The body is unpacked, so the record says nothing of how it was packed."""
        if self._file is None or self._file.tell() > FILE_BYTES:
            self._open()
        kept = [(name, value) for name, value in headers.items() if name not in _LEFT_OUT]
        kept.append(("content-length", str(len(body))))
        http = self._headers(f"{status} Answer", kept, protocol="HTTP/1.1")
        record = self._writer.create_warc_record(
            address, "response", payload=io.BytesIO(body), length=len(body), http_headers=http
        )
        self._writer.write_record(record)
        self._file.flush()

    def _open(self) -> None:
        self.close()
        moment = datetime.now(UTC).strftime("%Y%m%d%H%M%S%f")
        path = self._folder / f"{self._name}-{moment}.warc.gz"
        self._file = path.open("xb")
        self._writer = self._make(self._file, gzip=True)
        info = self._writer.create_warcinfo_record(
            path.name, {"software": self._agent, "format": "WARC File Format 1.0"}
        )
        self._writer.write_record(info)

    def close(self) -> None:
        if self._file is not None:
            self._file.close()
            self._file = None
