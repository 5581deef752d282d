"""Headers of answers are read by our own code where they are plain: it must find what the standard library finds."""

from __future__ import annotations

import http.client
import io

from hypothesis import example, given
from hypothesis import strategies as st

from doublet.crawl.connections import read_headers

_names = st.sampled_from(
    [b"ETag", b"etag", b"Content-Type", b"Set-Cookie", b"X-Y", b"From", b"From x", b"", b"a b", b"a\tb"]
)
_values = st.one_of(
    st.sampled_from([b"", b" ", b"a", b"a: b", b"text/html; charset=utf-8", b"\xd0\xb0", b"a\rb", b"a\x00b"]),
    st.binary(max_size=12).filter(lambda value: b"\n" not in value),
)
_lines = st.one_of(
    st.tuples(
        _names,
        st.sampled_from([b":", b": ", b":\t ", b" : ", b""]),
        _values,
        st.sampled_from([b"\r\n", b"\n"]),
    ).map(b"".join),
    st.sampled_from([b" folded\r\n", b"\tfolded\n", b"no colon\r\n", b": nothing\r\n"]),
).filter(lambda line: line not in (b"\r\n", b"\n"))


@given(st.lists(_lines, max_size=6))
@example([b"A: b\r\n", b" c\r\n"])
@example([b"A: b\rC: d\r\n"])
def test_headers_are_those_of_the_library(lines: list[bytes]) -> None:
    wanted = http.client.parse_headers(io.BytesIO(b"".join((*lines, b"\r\n"))))
    assert read_headers(lines).items() == wanted.items()
