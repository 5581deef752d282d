"""Bodies of answers, unpacked piece by piece: a small answer that unpacks to gigabytes never does so here.

A `Decoder` takes bytes as they arrive and gives unpacked pieces of bounded size, so that whoever counts them can stop
in time. `finish` tells whether the packed body came to its end.
"""

from __future__ import annotations

import functools
import zlib
from collections.abc import Iterator
from typing import Any, Protocol

from doublet.model import Note

PIECE_BYTES = 1 << 18
_GZIP = 31
_ZLIB = 15
_RAW = -15
# Four bytes of zstd can stand for 128 KB: 64 bytes for 2 MB.
_ZSTD_STEP = 64
_ZSTD_WINDOW = 1 << 23  # what the rule for the web asks a receiver to support


class BadBody(Exception):
    """The body is not what its Content-Encoding says, or ends too early; *note* says which."""

    def __init__(self, note: Note) -> None:
        super().__init__(note)
        self.note = note


class Decoder(Protocol):
    def feed(self, data: bytes) -> Iterator[bytes]:
        """Unpacked pieces. Raises `BadBody`."""
        ...

    def finish(self) -> None:
        """The body has ended. Raises `BadBody` when it should not have."""
        ...


class _Deflate:
    """gzip (several in a row too) and deflate, with and without the zlib head."""

    def __init__(self, bits: int) -> None:
        self._bits = bits
        self._inner: Any = zlib.decompressobj(bits)
        self._begun = False
        self._head = b""

    def feed(self, data: bytes) -> Iterator[bytes]:
        if self._bits == _ZLIB and not self._begun:  # two bytes tell whether the head of zlib is there
            self._head = data = self._head + data
            if len(data) < 2:
                return
            if data[0] & 0x0F != zlib.DEFLATED or int.from_bytes(data[:2], "big") % 31:
                self._bits, self._inner = _RAW, zlib.decompressobj(_RAW)
            self._begun = True
        while data:
            if self._inner.eof:
                # Another member, or bytes that mean nothing: servers and packers leave zeros behind.
                if self._bits != _GZIP or not data.startswith(b"\x1f\x8b"):
                    return
                self._inner = zlib.decompressobj(self._bits)
            try:
                piece = self._inner.decompress(data, PIECE_BYTES)
            except zlib.error as error:
                raise BadBody(Note("body_not_unpacked", why=str(error))) from error
            self._begun = True
            if piece:
                yield piece
            data = self._inner.unconsumed_tail or self._inner.unused_data

    def finish(self) -> None:
        if (self._begun or self._head) and not self._inner.eof:
            raise BadBody(Note("body_cut_off"))


class _Brotli:
    def __init__(self) -> None:
        import brotli

        self._error: type[Exception] = brotli.error
        self._inner: Any = brotli.Decompressor()
        self._begun = False

    def feed(self, data: bytes) -> Iterator[bytes]:
        self._begun = self._begun or bool(data)
        try:
            piece = self._inner.process(data, output_buffer_limit=PIECE_BYTES)
            while True:
                if piece:
                    yield piece
                if self._inner.can_accept_more_data():
                    return
                piece = self._inner.process(b"", output_buffer_limit=PIECE_BYTES)
        except self._error as error:
            raise BadBody(Note("body_not_unpacked", why=str(error))) from error

    def finish(self) -> None:
        if self._begun and not self._inner.is_finished():
            raise BadBody(Note("body_cut_off"))


class _Zstd:
    def __init__(self) -> None:
        import zstandard

        self._error: type[Exception] = zstandard.ZstdError
        self._make = zstandard.ZstdDecompressor(max_window_size=_ZSTD_WINDOW).decompressobj
        self._inner: Any = None

    def feed(self, data: bytes) -> Iterator[bytes]:
        for start in range(0, len(data), _ZSTD_STEP):
            part = data[start : start + _ZSTD_STEP]
            while part:
                if self._inner is None or self._inner.eof:
                    self._inner = self._make()
                try:
                    piece = self._inner.decompress(part)
                except self._error as error:
                    raise BadBody(Note("body_not_unpacked", why=str(error))) from error
                if piece:
                    yield piece
                part = self._inner.unused_data if self._inner.eof else b""

    def finish(self) -> None:
        if self._inner is not None and not self._inner.eof:
            raise BadBody(Note("body_cut_off"))


@functools.cache
def supported() -> tuple[str, ...]:
    """What can be unpacked here, for Accept-Encoding."""
    found = ["gzip", "deflate"]
    try:
        import brotli

        # Earlier ones cannot be told to stop.
        if tuple(map(int, brotli.__version__.split(".")[:2])) >= (1, 2):
            found.append("br")
    except (ImportError, ValueError):
        pass
    try:
        import zstandard  # noqa: F401 - only whether it is there

        found.append("zstd")
    except ImportError:
        pass
    return tuple(found)


def decoders(encoding: str) -> list[Decoder]:
    """Decoders for the value of a Content-Encoding header, the one to use first first. Raises `BadBody`."""
    out: list[Decoder] = []
    known = supported()
    for part in encoding.lower().split(","):
        name = part.strip().removeprefix("x-")
        if name in (
            "",
            "identity",
            "none",
            "utf-8",
        ):  # the last two are mistakes of servers, and mean nothing
            continue
        if name not in known:
            raise BadBody(Note("body_packing_unknown", packing=name))
        if name == "gzip":
            out.append(_Deflate(_GZIP))
        elif name == "deflate":
            out.append(_Deflate(_ZLIB))
        elif name == "br":
            out.append(_Brotli())
        else:
            out.append(_Zstd())
    if len(out) > 3:
        raise BadBody(Note("body_packed_often", most=3))
    return out[::-1]


def unpack(pieces: Iterator[bytes], chain: list[Decoder]) -> Iterator[bytes]:
    """*pieces* through all decoders. Raises `BadBody`."""
    for decoder in chain:
        pieces = _through(pieces, decoder)
    return pieces


def _through(pieces: Iterator[bytes], decoder: Decoder) -> Iterator[bytes]:
    for piece in pieces:
        yield from decoder.feed(piece)
    decoder.finish()
