"""The fetcher against servers with bad manners: one made here, and a real nginx with the trouble real sites give."""

from __future__ import annotations

import contextlib
import email.utils
import gzip
import pathlib
import socket
import ssl
import subprocess
import threading
import time
from collections.abc import Iterator
from typing import Any

import pytest

from bad_server import BadServer, HandClock, Page, Request, answer, raw
from doublet.addresses import parse_address
from doublet.crawl.politeness import PoliteFetcher
from doublet.crawl.request import user_agent
from doublet.errors import Cancelled, FetchFailed, NotAllowed, TooLarge, TooSlow
from doublet.jobs.read import read_document
from doublet.sources.protocol import Validators

NO_ROBOTS: dict[str, Page | list[Page]] = {"/robots.txt": answer("404 Not Found")}


@pytest.fixture
def clock() -> HandClock:
    return HandClock()


@pytest.fixture
def server() -> Iterator[BadServer]:
    with BadServer(dict(NO_ROBOTS)) as running:
        yield running


@contextlib.contextmanager
def fetching(clock: HandClock, **options: Any) -> Iterator[PoliteFetcher]:
    options = {"allow_private": True, "delay_s": 0.0, "now": clock, **options}
    with PoliteFetcher(clock=clock, sleep=clock.sleep, **options) as fetcher:
        yield fetcher


@pytest.mark.covers("R1", "R2")
def test_it_works(server: BadServer, clock: HandClock) -> None:
    server.pages["/page"] = answer(
        body=gzip.compress(b"text"), Content_Encoding="gzip", ETag='"1"', X_Robots_Tag="noindex"
    )
    with fetching(clock, contact="mail@example.org") as fetcher:
        found = fetcher.fetch(f"{server.url}/page#part")
    assert (found.status, found.body, found.address) == (200, b"text", f"{server.url}/page")
    assert found.headers["x-robots-tag"] == "noindex"
    assert found.validators == Validators('"1"', "")
    assert server.targets() == ["/robots.txt", "/page"]
    assert {request.headers["user-agent"] for request in server.seen} == {user_agent("mail@example.org")}
    assert "mail@example.org" in user_agent("mail@example.org")
    assert "\n" not in user_agent("x\r\nEvil: 1")


@pytest.mark.covers("R1")
def test_only_if_changed(server: BadServer, clock: HandClock) -> None:
    def page(connection: socket.socket, request: Request) -> None:
        same = request.headers.get("if-none-match") == '"1"' and "if-modified-since" in request.headers
        answer("304 Not Modified" if same else "200 OK", b"" if same else b"x")(connection, request)

    server.pages["/page"] = page
    with fetching(clock) as fetcher:
        given = Validators('"1"', "Wed, 01 Jan 2025 00:00:00 GMT")
        again = fetcher.fetch(f"{server.url}/page", validators=given)
        assert (again.status, again.unchanged, again.body, again.validators) == (304, True, b"", given)
        assert not fetcher.fetch(f"{server.url}/page", validators=Validators()).unchanged


@pytest.mark.covers("R1")
@pytest.mark.parametrize(
    ("modified", "date", "remembered"),
    [
        ("Wed, 01 Jan 2025 00:00:05 GMT", "Wed, 01 Jan 2025 00:00:06 GMT", True),
        ("Wed, 01 Jan 2025 00:00:05 GMT", "Wed, 01 Jan 2025 00:00:05 GMT", False),
        ("Wed, 01 Jan 2025 00:00:05 GMT", "Wed, 01 Jan 2025 00:00:04 GMT", False),
        ("Wed, 01 Jan 2025 00:00:05 GMT", "soon", True),
        ("yesterday", "Wed, 01 Jan 2025 00:00:05 GMT", True),
    ],
)
def test_what_changed_in_this_second_may_change_again_in_it(
    server: BadServer, clock: HandClock, modified: str, date: str, remembered: bool
) -> None:
    server.pages["/page"] = answer(body=b"x", Last_Modified=modified, Date=date)
    with fetching(clock) as fetcher:
        found = fetcher.fetch(f"{server.url}/page")
    assert found.validators.modified == (modified if remembered else "")


# Turns and waiting


@pytest.mark.covers("R1")
def test_a_distance_between_requests(server: BadServer, clock: HandClock) -> None:
    server.pages["/page"] = answer()
    with fetching(clock, delay_s=1.0) as fetcher:
        for _ in range(3):
            fetcher.fetch(f"{server.url}/page")
    assert clock.slept == [1.0, 1.0, 1.0]  # after robots.txt, and between the pages


@pytest.mark.covers("R1")
def test_crawl_delay_counts_within_bounds(server: BadServer, clock: HandClock) -> None:
    server.pages["/page"] = answer()
    for asked, kept in (("5", 5.0), ("0.1", 1.0), ("9999", 30.0)):
        server.pages["/robots.txt"] = answer(body=f"User-agent: *\nCrawl-delay: {asked}\n".encode())
        clock.slept.clear()
        with fetching(clock, delay_s=1.0) as fetcher:
            fetcher.fetch(f"{server.url}/page")
            fetcher.fetch(f"{server.url}/page")
        assert clock.slept[-1] == kept


@pytest.mark.covers("R1")
def test_hosts_of_one_machine_take_turns(server: BadServer, clock: HandClock) -> None:
    server.pages["/page"] = answer()
    with fetching(clock, delay_s=1.0, resolve=lambda host, port: ["127.0.0.1"]) as fetcher:
        fetcher.fetch(f"http://one.example:{server.port}/page", robots=False)
        fetcher.fetch(f"http://two.example:{server.port}/page", robots=False)
    assert clock.slept == [1.0]
    assert [request.headers["host"] for request in server.seen] == [
        f"one.example:{server.port}",
        f"two.example:{server.port}",
    ]


def test_one_request_at_a_time_to_a_host(server: BadServer) -> None:
    busy = threading.Lock()
    clashes = []

    def page(connection: socket.socket, request: Request) -> None:
        if not busy.acquire(blocking=False):
            clashes.append(request)
            return
        time.sleep(0.02)
        busy.release()
        answer()(connection, request)

    server.pages["/page"] = page
    with PoliteFetcher(allow_private=True, delay_s=0.0) as fetcher:
        threads = [threading.Thread(target=fetcher.fetch, args=(f"{server.url}/page",)) for _ in range(6)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert not clashes
    assert server.targets().count("/robots.txt") == 1


@pytest.mark.covers("R1")
def test_retry_after_is_waited_for(server: BadServer, clock: HandClock) -> None:
    later = email.utils.formatdate(clock.time + 40, usegmt=True)
    server.pages["/page"] = [
        answer("429 Too Many Requests", Retry_After="7"),
        answer("503 Service Unavailable", Retry_After=later),
        answer("503 Service Unavailable", Retry_After="in a while"),
        answer(body=b"at last"),
    ]
    with fetching(clock) as fetcher:
        assert fetcher.fetch(f"{server.url}/page").body == b"at last"
    assert clock.slept == [7.0, 33.0, 8.0]  # the date counts from the beginning; the last is our own back-off


@pytest.mark.covers("R1", "R2")
def test_a_long_wait_is_told(server: BadServer, clock: HandClock) -> None:
    server.pages["/page"] = answer("503 Service Unavailable", Retry_After="86400")
    with fetching(clock) as fetcher, pytest.raises(FetchFailed, match="24 hours") as caught:
        fetcher.fetch(f"{server.url}/page")
    assert caught.value.details["status"] == 503
    assert clock.slept == []


@pytest.mark.covers("R1", "R2")
@pytest.mark.parametrize("status", ["500 Oops", "502 Bad Gateway", "429 Too Many Requests", "599 Strange"])
def test_back_off(server: BadServer, clock: HandClock, status: str) -> None:
    server.pages["/page"] = answer(status)
    with fetching(clock) as fetcher, pytest.raises(FetchFailed, match=status[:3]):
        fetcher.fetch(f"{server.url}/page")
    assert clock.slept == [2.0, 4.0, 8.0]
    assert server.targets().count("/page") == 4


@pytest.mark.covers("R2")
@pytest.mark.parametrize("status", [200, 203, 204, 400, 401, 403, 404, 410, 418, 451])
def test_other_answers_are_answers(server: BadServer, clock: HandClock, status: int) -> None:
    server.pages["/page"] = answer(f"{status} X", b"" if status == 204 else b"words")
    with fetching(clock) as fetcher:
        assert fetcher.fetch(f"{server.url}/page").status == status
    assert server.targets().count("/page") == 1


# robots.txt


@pytest.mark.covers("R1")
def test_forbidden_by_robots(server: BadServer, clock: HandClock) -> None:
    server.pages["/robots.txt"] = answer(body=b"User-agent: doublet\nDisallow: /private\n")
    server.pages |= {"/private": answer(), "/to-private": answer("302 Found", Location="/private")}
    with fetching(clock) as fetcher:
        for path in ("/private", "/to-private", "/%70rivate"):
            with pytest.raises(NotAllowed, match="robots"):
                fetcher.fetch(server.url + path)
        assert fetcher.fetch(f"{server.url}/private", robots=False).status == 200
    assert server.targets() == ["/robots.txt", "/to-private", "/private"]


@pytest.mark.covers("R1")
def test_no_robots_txt_allows_everything(server: BadServer, clock: HandClock) -> None:
    server.pages["/page"] = answer()
    for status in ("404 X", "401 X", "403 X", "410 X"):
        server.pages["/robots.txt"] = answer(status, b"User-agent: *\nDisallow: /")
        with fetching(clock) as fetcher:
            assert fetcher.fetch(f"{server.url}/page").status == 200


@pytest.mark.covers("R1")
def test_a_robots_txt_that_fails_allows_nothing_for_a_while(server: BadServer, clock: HandClock) -> None:
    server.pages |= {"/robots.txt": answer("503 X"), "/page": answer()}
    with fetching(clock, retries=0) as fetcher:
        for _ in range(3):
            with pytest.raises(NotAllowed, match=r"robots\.txt answers 503"):
                fetcher.fetch(f"{server.url}/page")
        assert server.targets() == ["/robots.txt"]  # remembered
        clock.time += 601
        server.pages["/robots.txt"] = answer(body=b"")
        assert fetcher.fetch(f"{server.url}/page").status == 200
        clock.time += 23 * 3600
        server.pages["/robots.txt"] = answer("500 X")
        fetcher.fetch(f"{server.url}/page")
        clock.time += (
            2 * 3600
        )  # the old one is asked for again after a day, and counts on while there is no new one
        assert fetcher.fetch(f"{server.url}/page").status == 200
    assert server.targets().count("/robots.txt") == 3


@pytest.mark.covers("R1")
def test_robots_txt_may_move(server: BadServer, clock: HandClock) -> None:
    server.pages |= {"/page": answer(), "/moved": answer(body=b"User-agent: *\nDisallow: /page\n")}
    server.pages["/robots.txt"] = answer("301 Moved", Location="/moved")
    with fetching(clock) as fetcher, pytest.raises(NotAllowed):
        fetcher.fetch(f"{server.url}/page")
    server.pages["/robots.txt"] = answer(
        "301 Moved", Location="/robots.txt"
    )  # lost in circles: as if there were none
    with fetching(clock) as fetcher:
        assert fetcher.fetch(f"{server.url}/page").status == 200


@pytest.mark.covers("R1")
def test_of_a_huge_robots_txt_the_beginning_counts(server: BadServer, clock: HandClock) -> None:
    body = b"User-agent: *\nDisallow: /early\n" + b"# filler\n" * 200_000 + b"Disallow: /late\n"
    server.pages |= {"/robots.txt": answer(body=body), "/late": answer()}
    with fetching(clock) as fetcher:
        assert fetcher.fetch(f"{server.url}/late").status == 200
        with pytest.raises(NotAllowed):
            fetcher.fetch(f"{server.url}/early")


# Redirects


@pytest.mark.covers("R2")
@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_redirects_are_followed(server: BadServer, clock: HandClock, status: int) -> None:
    server.pages |= {"/a/from": answer(f"{status} X", Location="../to?x=1"), "/to": answer(body=b"here")}
    with fetching(clock) as fetcher:
        found = fetcher.fetch(f"{server.url}/a/from")
    assert (found.address, found.body) == (f"{server.url}/to?x=1", b"here")


@pytest.mark.covers("R2")
def test_circles_chains_and_dead_ends(server: BadServer, clock: HandClock) -> None:
    def onward(connection: socket.socket, request: Request) -> None:
        number = int(request.target.rpartition("=")[2])
        answer("302 Found", Location=f"/chain?n={number + 1}")(connection, request)

    server.pages |= {
        "/loop": answer("302 Found", Location="/loop2"),
        "/loop2": answer("302 Found", Location="/loop"),
    }
    server.pages |= {
        "/self": answer("302 Found", Location="/self"),
        "/chain": onward,
        "/none": answer("302 Found"),
    }
    with fetching(clock) as fetcher:
        for path, words in (
            ("/loop", "circle"),
            ("/self", "circle"),
            ("/chain?n=0", "more than 10"),
            ("/none", "where to"),
        ):
            with pytest.raises(FetchFailed, match=words):
                fetcher.fetch(server.url + path)
    assert sum(target.startswith("/chain") for target in server.targets()) == 11


# Limits


@pytest.mark.covers("R2", "R10")
def test_sizes_count_after_unpacking(server: BadServer, clock: HandClock) -> None:
    server.pages["/bomb"] = answer(body=gzip.compress(b"\0" * 30_000_000), Content_Encoding="gzip")
    server.pages["/long"] = answer(body=b"x" * 100_001)
    server.pages["/endless"] = raw(b"HTTP/1.1 200 OK\r\n\r\n" + b"x" * 200_000)
    server.pages["/just"] = answer(body=b"x" * 100_000)
    with fetching(clock, size_bytes=100_000) as fetcher:
        for path in ("/bomb", "/long", "/endless"):
            with pytest.raises(TooLarge, match="100,000"):
                fetcher.fetch(server.url + path)
            assert server.targets().count(path) == 1  # no second try
        assert len(fetcher.fetch(f"{server.url}/just").body) == 100_000


@pytest.mark.covers("R2", "R10")
def test_a_slow_drip_is_given_up(server: BadServer, clock: HandClock) -> None:
    def drip(head: bytes) -> Page:
        def page(connection: socket.socket, request: Request) -> None:
            connection.sendall(head)
            for _ in range(100):
                connection.sendall(b"a")
                time.sleep(0.05)

        return page

    server.pages["/body"] = drip(b"HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n")
    server.pages["/head"] = drip(b"HTTP/1.1 200 OK\r\nX: ")
    server.pages["/kept"] = answer()
    with fetching(clock, timeout_s=0.4) as fetcher:
        for path in ("/body", "/head"):
            fetcher.fetch(f"{server.url}/kept")  # so that the connection is one that was kept open
            began = time.monotonic()
            with pytest.raises(TooSlow, match=r"0\.4 seconds"):
                fetcher.fetch(server.url + path)
            assert time.monotonic() - began < 3


def test_silence(server: BadServer, clock: HandClock) -> None:
    server.pages["/silent"] = lambda connection, request: time.sleep(0.4)
    with (
        fetching(clock, idle_s=0.1, retries=1) as fetcher,
        pytest.raises(FetchFailed, match="does not answer"),
    ):
        fetcher.fetch(f"{server.url}/silent")


@pytest.mark.covers("R2")
@pytest.mark.parametrize(
    "data",
    [
        b"HTTP/1.1 200 OK\r\nContent-Length: 50\r\n\r\nshort",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n10\r\nshort",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nshort\r\n",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\nshort\r\n0\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 20\r\n\r\n"
        + gzip.compress(b"x" * 999, mtime=0)[:20],
        b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 5\r\n\r\nplain",
        b"HTTP/1.1 200 OK\r\nContent-Encoding: rot13\r\nContent-Length: 5\r\n\r\nplain",
        b"HTTP/1.1 200 OK\r\nContent-Length: 5, 7\r\n\r\nplain",
        b"HTTP/1.1 200",
        b"rubbish\r\n\r\n",
        b"",
        b"HTTP/1.1 200 OK\r\n" + b"X: y\r\n" * 500 + b"\r\n",
        b"HTTP/1.1 200 OK\r\nX: " + b"y" * 100_000 + b"\r\n\r\n",
    ],
)
def test_broken_answers(server: BadServer, clock: HandClock, data: bytes) -> None:
    server.pages["/page"] = raw(data)
    with fetching(clock, retries=1) as fetcher, pytest.raises(FetchFailed) as caught:
        fetcher.fetch(f"{server.url}/page")
    assert f"{server.url}/page" in caught.value.message
    assert server.targets().count("/page") == 2


def test_a_broken_answer_may_pass(server: BadServer, clock: HandClock) -> None:
    server.pages["/page"] = [
        raw(b"HTTP/1.1 200 OK\r\nContent-Length: 50\r\n\r\nshort"),
        answer(body=b"whole"),
    ]
    with fetching(clock) as fetcher:
        assert fetcher.fetch(f"{server.url}/page").body == b"whole"


@pytest.mark.parametrize(
    "data",
    [
        b"HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nwhole",
        b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nwhole\r\n0\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 5\r\n\r\nwhole",
        b"HTTP/1.0 200 OK\nX: a\n b\n\nwhole",
    ],
)
def test_odd_answers(server: BadServer, clock: HandClock, data: bytes) -> None:
    server.pages["/page"] = raw(data)
    with fetching(clock) as fetcher:
        found = fetcher.fetch(f"{server.url}/page")
    assert (found.status, found.body) == (200, b"whole")


def test_one_connection_serves_many_requests(server: BadServer, clock: HandClock) -> None:
    """Also after a redirect, a page that did not change, and one that is not there; a body without an end is not read
    to its end."""
    server.pages |= {
        "/old": answer("301 Moved", body=b"<a href=/new>moved</a>", Location="/new"),
        "/new": answer(body=b"text", ETag='"1"'),
        "/same": raw_and_go_on(b"HTTP/1.1 304 Not Modified\r\nTransfer-Encoding: chunked\r\n\r\n"),
        "/endless": answer("302 Found", body=b"x" * 5_000_000, Location="/new"),
    }
    with fetching(clock) as fetcher:
        for path in ("old", "same", "new", "nowhere", "old"):
            fetcher.fetch(f"{server.url}/{path}", validators=Validators('"1"', ""))
        assert len(server._open) == 1
        assert fetcher.fetch(f"{server.url}/endless").body == b"text"
        assert len(server._open) == 2


def raw_and_go_on(data: bytes) -> Page:
    return lambda connection, request: connection.sendall(data)


def test_nobody_listens(clock: HandClock) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    with fetching(clock, retries=1) as fetcher:
        with pytest.raises(FetchFailed, match="refused"):
            fetcher.fetch(f"http://127.0.0.1:{port}/")
        with pytest.raises(FetchFailed, match="cannot be found"):
            fetcher.fetch("http://no-such-host.invalid/")


# Whom we do not ask


@pytest.mark.covers("R10")
@pytest.mark.parametrize(
    "host", ["127.0.0.1", "localhost", "0x7f.1", "2130706433", "[::ffff:127.0.0.1]", "0177.1", "①②⑦.0.0.1"]
)
def test_private_machines_are_not_asked(server: BadServer, clock: HandClock, host: str) -> None:
    server.pages["/page"] = answer()
    for robots in (True, False):
        with (
            fetching(clock, allow_private=False) as fetcher,
            pytest.raises(NotAllowed, match="this computer") as caught,
        ):
            fetcher.fetch(f"http://{host}:{server.port}/page", robots=robots)
        assert "--allow-private" in caught.value.message
    assert server.seen == []


@pytest.mark.covers("R10")
def test_not_by_redirect_either(server: BadServer, clock: HandClock) -> None:
    """A public host leads to a private one, by name and by number. (The "public" one is reached by a connection that
    the test makes itself.)"""
    targets = {
        "/name": f"http://inside.example:{server.port}/secret",
        "/number": "http://169.254.169.254/latest/meta-data/",
        "/odd": f"http://0x7f000001:{server.port}/secret",
        "/file": "file:///etc/passwd",
    }
    server.pages |= {path: answer("302 Found", Location=to) for path, to in targets.items()}
    server.pages["/secret"] = answer(body=b"secret")
    names = {"public.example": ["8.8.8.8"], "inside.example": ["10.0.0.7"]}
    with fetching(clock, allow_private=False, resolve=lambda host, port: names.get(host, [host])) as fetcher:
        requester = fetcher._requester
        connect = requester._connect

        def reach(port: int, timeout: float) -> socket.socket:
            if requester._own.numbers == ["8.8.8.8"]:
                return socket.create_connection(("127.0.0.1", server.port), timeout)
            return connect(port, timeout)

        requester._connect = reach  # type: ignore[method-assign]
        for path in targets:
            with pytest.raises(NotAllowed):
                fetcher.fetch(f"http://public.example:{server.port}{path}")
    assert "/secret" not in server.targets()
    assert {"/name", "/number", "/odd", "/file"} <= set(server.targets())


@pytest.mark.covers("R10")
def test_the_number_that_was_judged_is_connected_to(server: BadServer, clock: HandClock) -> None:
    """A name that answers with a public number first and with a private one afterwards (DNS rebinding)."""
    answers = iter([["8.8.8.8"], ["127.0.0.1"], ["127.0.0.1"]])
    asked = []

    def resolve(host: str, port: int) -> list[str]:
        asked.append(host)
        return next(answers)

    with fetching(clock, allow_private=False, retries=0, resolve=resolve) as fetcher:
        connected = []

        def open_socket(family: int, kind: int) -> Any:
            class Never:
                def settimeout(self, _: float) -> None: ...
                def setsockopt(self, *_: object) -> None: ...
                def close(self) -> None: ...
                def connect(self, place: tuple[str, int]) -> None:
                    connected.append(place[0])
                    raise OSError("not in a test")

            return Never()

        original, socket.socket = socket.socket, open_socket  # type: ignore[assignment,misc]
        try:
            with pytest.raises(FetchFailed):
                fetcher.fetch(f"http://rebind.example:{server.port}/page", robots=False)
        finally:
            socket.socket = original  # type: ignore[misc]
    assert connected == ["8.8.8.8"]
    assert asked == ["rebind.example"]
    assert server.seen == []


@pytest.mark.covers("R10")
def test_of_several_numbers_only_public_ones_are_used(server: BadServer, clock: HandClock) -> None:
    with (
        fetching(clock, allow_private=False, resolve=lambda host, port: ["127.0.0.1", "10.0.0.1"]) as fetcher,
        pytest.raises(NotAllowed),
    ):
        fetcher.fetch(f"http://mixed.example:{server.port}/page")
    assert server.seen == []


def test_certificates_are_checked(clock: HandClock, tmp_path: pathlib.Path) -> None:
    key, chain = tmp_path / "key.pem", tmp_path / "chain.pem"
    subprocess.run(
        [
            *(
                "openssl",
                "req",
                "-x509",
                "-newkey",
                "rsa:2048",
                "-nodes",
                "-days",
                "2",
                "-subj",
                "/CN=localhost",
            ),
            *("-keyout", str(key), "-out", str(chain), "-addext", "subjectAltName=DNS:localhost"),
        ],
        check=True,
        capture_output=True,
    )
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(chain, key)
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]

        def serve() -> None:
            with contextlib.suppress(OSError):
                while True:
                    connection, _ = listener.accept()
                    with (
                        contextlib.suppress(OSError),
                        context.wrap_socket(connection, server_side=True) as tls,
                    ):
                        tls.recv(65536)
                        tls.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\nConnection: close\r\n\r\nsafe")

        threading.Thread(target=serve, daemon=True).start()
        with fetching(clock) as fetcher, pytest.raises(FetchFailed, match="certificate"):
            fetcher.fetch(f"https://localhost:{port}/", robots=False)
        trusted = ssl.create_default_context(cafile=str(chain))
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("doublet.crawl.request.ssl.create_default_context", lambda: trusted)
            with fetching(clock) as fetcher:
                assert fetcher.fetch(f"https://localhost:{port}/", robots=False).body == b"safe"
            with fetching(clock) as fetcher, pytest.raises(FetchFailed, match="certificate"):
                fetcher.fetch(f"https://127.0.0.1:{port}/", robots=False)  # not the name on it


def test_one_tls_context_for_all_hosts(clock: HandClock, monkeypatch: pytest.MonkeyPatch) -> None:
    """Reading the certificates of all authorities for each host took 25 ms a page."""
    made = []
    original = ssl.create_default_context

    def create() -> ssl.SSLContext:
        made.append(1)
        return original()

    monkeypatch.setattr("doublet.crawl.request.ssl.create_default_context", create)
    with fetching(clock, retries=0, resolve=lambda host, port: ["127.0.0.1"]) as fetcher:
        for number in range(40):
            with pytest.raises(FetchFailed):
                fetcher.fetch(f"https://host{number}.example:2/", robots=False)
    assert made == [1]


def test_one_thread_watches_all_requests(server: BadServer, clock: HandClock) -> None:
    server.pages["/page"] = answer(body=b"text")
    with fetching(clock) as fetcher:
        for _ in range(20):
            fetcher.fetch(f"{server.url}/page")
        names = [thread.name for thread in threading.enumerate()]
    assert names.count("doublet-watcher") == 1
    assert not [name for name in names if name.startswith("Timer")]


@pytest.mark.covers("R1")
def test_an_attempt_never_waits(server: BadServer, clock: HandClock) -> None:
    server.pages["/robots.txt"] = answer(body=b"User-agent: *\nDisallow: /private\nCrawl-delay: 5\n")
    server.pages["/page"] = answer(body=b"text")
    server.pages["/moved"] = answer("301 Moved", Location="/page")
    server.pages["/busy"] = answer("429 Slow down", Retry_After="600")
    page, moved, busy, private, lost = (
        parse_address(f"{server.url}/{name}") for name in ("page", "moved", "busy", "private", "lost")
    )
    with fetching(clock, delay_s=1.0) as fetcher:
        first = fetcher.attempt(page)
        assert (first.answer, first.error, first.asked, first.ready_in_s) == (None, None, True, 5.0)
        assert fetcher.attempt(page).ready_in_s == 5.0  # not its turn yet
        assert server.targets() == ["/robots.txt"]
        clock.time += 5
        got = fetcher.attempt(page)
        assert got.answer is not None and got.answer.body == b"text" and got.place == "127.0.0.1"
        clock.time += 5
        refused = fetcher.attempt(private)
        assert isinstance(refused.error, NotAllowed) and not refused.asked and not refused.passing
        assert fetcher.attempt(moved).redirect == f"{server.url}/page"
        clock.time += 5
        missing = fetcher.attempt(lost)
        assert missing.answer is not None and missing.answer.status == 404
        clock.time += 5
        held = fetcher.attempt(busy)
        assert isinstance(held.error, FetchFailed) and held.passing and held.ready_in_s == 600
        assert 590 < fetcher.attempt(page).ready_in_s <= 600
    assert clock.slept == []
    assert server.targets() == ["/robots.txt", "/page", "/moved", "/lost", "/busy"]


@pytest.mark.covers("R1")
@pytest.mark.parametrize(("status", "allowed"), [("404 X", True), ("403 X", True), ("503 X", False)])
def test_an_attempt_keeps_to_answers_instead_of_robots(
    server: BadServer, clock: HandClock, status: str, allowed: bool
) -> None:
    server.pages["/robots.txt"] = answer(status)
    server.pages["/page"] = answer(body=b"text")
    page = parse_address(f"{server.url}/page")
    with fetching(clock) as fetcher:
        fetcher.attempt(page)
        got = fetcher.attempt(page)
        assert (got.answer is not None) is allowed
        assert isinstance(got.error, NotAllowed) is not allowed


def test_a_stop_ends_waiting_and_reading(server: BadServer) -> None:
    server.pages["/silent"] = lambda connection, request: time.sleep(2)
    server.pages["/busy"] = answer("503 X", Retry_After="60")
    for path in ("/silent", "/busy"):
        with PoliteFetcher(allow_private=True, delay_s=0.0) as fetcher:
            threading.Timer(0.3, fetcher.stop).start()
            began = time.monotonic()
            with pytest.raises(Cancelled):
                fetcher.fetch(server.url + path)
            assert time.monotonic() - began < 1.8


# A real server (the fixture is in conftest.py)


@pytest.fixture
def polite() -> Iterator[PoliteFetcher]:
    options: dict[str, Any] = {"size_bytes": 5_000_000, "timeout_s": 2.0, "longest_wait_s": 3.0, "retries": 1}
    with PoliteFetcher(allow_private=True, delay_s=0.0, **options) as fetcher:
        yield fetcher


@pytest.mark.shared
@pytest.mark.covers("R2")
def test_site_redirects(site: str, polite: PoliteFetcher) -> None:
    for path in ("301", "302", "303", "307", "308", "relative", "chain/5"):
        found = polite.fetch(f"{site}/redirect/{path}")
        assert (found.status, found.address) == (200, f"{site}/redirect/target.html")
    assert polite.fetch(f"{site}/redirect/dead").status == 404
    with pytest.raises(FetchFailed, match="circle"):
        polite.fetch(f"{site}/redirect/loop")


@pytest.mark.shared
@pytest.mark.covers("R1", "R2", "R10")
def test_site_answers(site: str, polite: PoliteFetcher) -> None:
    for status in (401, 403, 404, 410):
        assert polite.fetch(f"{site}/status/{status}").status == status
    began = time.monotonic()
    with pytest.raises(FetchFailed, match="429"):
        polite.fetch(f"{site}/status/429")
    assert 2 <= time.monotonic() - began < 10  # as it asks
    with pytest.raises(FetchFailed, match="days"):
        polite.fetch(f"{site}/status/503")
    with pytest.raises(FetchFailed, match="without an answer"):
        polite.fetch(f"{site}/status/drop")
    with pytest.raises(TooLarge):
        polite.fetch(f"{site}/comp/bomb.html")
    with pytest.raises(TooSlow):
        polite.fetch(f"{site}/slow/drip.html")
    with pytest.raises(NotAllowed):
        polite.fetch(f"{site}/private/secret.html")
    with PoliteFetcher(delay_s=0.0) as public, pytest.raises(NotAllowed):
        public.fetch(f"{site}/")


@pytest.mark.shared
@pytest.mark.covers("R2")
def test_site_packed_and_unchanged(site: str, polite: PoliteFetcher) -> None:
    for path in ("big", "precompressed"):
        found = polite.fetch(f"{site}/comp/{path}.html")
        assert found.headers["content-encoding"] in ("gzip", "br")
        assert found.body.endswith(b"</html>")
    first = polite.fetch(f"{site}/cond/static.html")
    assert first.validators.etag
    assert first.validators.modified
    assert polite.fetch(f"{site}/cond/static.html", validators=first.validators).unchanged
    assert not polite.fetch(f"{site}/cond/novalidators.html").validators.etag


@pytest.mark.shared
@pytest.mark.covers("T2")
@pytest.mark.parametrize("name", ["cp1251", "koi8r", "cp866", "utf16", "utf8bom"])
@pytest.mark.parametrize("how", ["header-{}", "meta", "none"])
def test_site_encodings(site: str, polite: PoliteFetcher, name: str, how: str) -> None:
    found = polite.fetch(f"{site}/enc/{how.format(name)}/{name}.html")
    text = read_document(
        found.body, name=f"{name}.html", declared_type=found.headers["content-type"], frame=False
    ).text
    assert "Электронная библиотека хранит оцифрованные рукописи" in text
