"""Digital libraries, simulated: what no real site gives on demand. Each site listens on a loopback address of its own
(127.0.0.2 …), so that being polite to each host is real, and counts every request.

    python tests/library_simulator.py '{"documents": 2000}'      prints the address, serves until it is stopped
"""

from __future__ import annotations

import contextlib
import email.utils
import hashlib
import json
import pathlib
import random
import socket
import ssl
import sys
import threading
import time
from collections import Counter
from dataclasses import dataclass, field
from functools import lru_cache
from urllib.parse import parse_qs, urlsplit

WORDS = (
    "snow city river night bread letter winter road light stone garden market window silver forest history method "
    "signal border engine harbour cloud paper music theory number field water bridge summer valley teacher "
    "снег город река ночь хлеб письмо зима дорога свет камень сад рынок окно лес история метод сигнал"
).split()


@dataclass
class Library:
    """*scheme*: "number" (/post/N/), "two" (/post/N/ and /read.php?id=N), "slug" (/article/SECTION/SLUG with lists) or
    "redirect" (/post/N/ leads to /post/N/slug/)."""

    documents: int = 200
    scheme: str = "number"
    holes: float = 0.0
    soft_404: bool = False
    traps: bool = False
    sitemap: bool = False
    feed: bool = False
    robots: str = "User-agent: *\nDisallow: /private/\n"
    twins: int = 0  #: documents with the text of another one
    variants: bool = False  #: links with session numbers, tracking and other spellings
    bad: bool = False  #: some answers are cut, lie about their length, or fail the first time
    banned_after: int | None = None  #: requests after which everything is 403
    delay_s: float = 0.0
    seed: int = 1
    frame: str = "The Simulated Library"
    version: dict[int, int] = field(default_factory=dict)  #: document → how often it was changed
    etag: bool = True
    wall_every: int = 0  #: each so many-th document asks for a password
    linked: bool = True  #: pages have links; without them its documents have to be known by number

    def __post_init__(self) -> None:
        draw = random.Random(self.seed)
        numbers = []
        at = 0
        while len(numbers) < self.documents:
            at += 1
            if draw.random() >= self.holes:
                numbers.append(at)
        self.numbers = set(numbers)
        self.top = at

    def slug(self, number: int) -> str:
        draw = random.Random(f"slug {self.seed} {number}")
        return "-".join(draw.choice(WORDS[:32]) for _ in range(3)) + f"-{number:x}z"

    def text(self, number: int) -> str:
        if self.twins and number % max(2, self.documents // self.twins) == 0 and number > 1:
            number -= 1
        return make_text(self.seed, number, self.version.get(number, 0))

    def path(self, number: int) -> str:
        if self.scheme == "slug":
            return f"/article/{'abc'[number % 3]}/{self.slug(number)}"
        if self.scheme == "two" and number % 2:
            return f"/read.php?id={number}"
        if self.scheme == "redirect":
            return f"/post/{number}/{self.slug(number)}/"
        return f"/post/{number}/"

    def wall(self, number: int) -> bool:
        return bool(self.wall_every) and number % self.wall_every == 0


@lru_cache(50_000)
def make_text(seed: int, number: int, version: int) -> str:
    draw = random.Random(f"{seed} {number}")
    words = [draw.choice(WORDS) + str(draw.randrange(900)) for _ in range(draw.randint(60, 140))]
    if version:
        words += [f"version{version}"] * 9
    return f"Document {number}. " + " ".join(words) + "."


class Site:
    """One library on one loopback address."""

    def __init__(
        self, library: Library, host: str = "127.0.0.2", port: int = 0, *, tls: ssl.SSLContext | None = None
    ) -> None:
        self.library = library
        self.seen: list[tuple[float, str]] = []  #: time and target of every request
        self.sent = 0
        self._failed: Counter[str] = Counter()
        self._socket = socket.create_server((host, port), backlog=200)
        self.port = self._socket.getsockname()[1]
        self._tls = tls
        self.url = f"http{'s' if tls else ''}://{host}:{self.port}"
        self._closed = False
        self._connections: set[socket.socket] = set()
        self._lock = threading.Lock()
        self._slugs = {library.slug(n): n for n in library.numbers} if library.scheme == "slug" else {}
        threading.Thread(target=self._accept, daemon=True).start()

    def __enter__(self) -> Site:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        self._closed = True
        with contextlib.suppress(OSError):
            self._socket.shutdown(socket.SHUT_RDWR)
        self._socket.close()
        for one in list(self._connections):
            with contextlib.suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)

    def targets(self) -> Counter[str]:
        return Counter(target for _, target in self.seen)

    def addresses(self) -> set[str]:
        """Of all documents that everybody may read."""
        library = self.library
        return {self.url + library.path(n) for n in library.numbers if not library.wall(n)}

    # Answers

    def answer(self, target: str, headers: dict[str, str]) -> tuple[int, dict[str, str], bytes]:
        library = self.library
        if library.banned_after is not None and len(self.seen) > library.banned_after:
            return 403, {}, page("Forbidden", "<p>Go away</p>")
        parts = urlsplit(target)
        path, query = parts.path, parse_qs(parts.query)
        if path == "/robots.txt":
            extra = f"Sitemap: {self.url}/sitemap.xml\n" if library.sitemap else ""
            return 200, {"Content-Type": "text/plain"}, (library.robots + extra).encode()
        if path == "/":
            return 200, {}, self._front()
        if path == "/sitemap.xml" and library.sitemap:
            urls = "".join(
                f"<url><loc>{self.url}{escape(library.path(n))}</loc>{self._lastmod(n)}</url>"
                for n in sorted(library.numbers)
            )
            body = f'<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">{urls}</urlset>'
            return 200, {"Content-Type": "application/xml"}, body.encode()
        if path == "/feed.xml" and library.feed:
            newest = sorted(library.numbers)[-10:]
            items = "".join(
                f"<item><title>{n}</title><link>{self.url}{escape(library.path(n))}</link></item>"
                for n in newest
            )
            return (
                200,
                {"Content-Type": "application/rss+xml"},
                f"<rss version='2.0'><channel><title>x</title>{items}</channel></rss>".encode(),
            )
        if path == "/list":
            return 200, {}, self._list(int(query.get("page", ["1"])[0]))
        if path.startswith("/about"):
            return (
                200,
                {},
                page("About", "<p>We keep books and papers of all kinds since 1901.</p><a href='/'>Home</a>"),
            )
        if path.startswith("/user/"):
            return 200, {}, page("User", f"<p>A reader called {path[6:]}</p><a href='/'>Home</a>")
        if path.startswith("/private/"):
            return 200, {}, page("Secret", "<p>Nobody should be here</p>")
        if library.traps:
            trap = self._trap(path, query)
            if trap is not None:
                return 200, {}, trap
        number = self._number(path, query)
        if number is None or number not in library.numbers:
            return self._missing(target)
        if library.scheme == "redirect" and path.strip("/").count("/") != 2:
            return 301, {"Location": library.path(number)}, b""
        return self._document(number, target, headers)

    def _lastmod(self, number: int) -> str:
        return "<lastmod>2999-01-01T00:00:00Z</lastmod>" if self.library.version.get(number) else ""

    def _number(self, path: str, query: dict[str, list[str]]) -> int | None:
        library = self.library
        pieces = path.strip("/").split("/")
        with contextlib.suppress(ValueError, IndexError, KeyError):
            if pieces[0] == "post" and library.scheme in ("number", "two", "redirect"):
                number = int(pieces[1])
                return number if library.scheme != "two" or number % 2 == 0 else None
            if pieces[0] == "read.php" and library.scheme == "two":
                number = int(query["id"][0])
                return number if number % 2 else None
            if pieces[0] == "article" and library.scheme == "slug" and len(pieces) == 3:
                number = self._slugs[pieces[2]]
                return number if "abc"[number % 3] == pieces[1] else None
        return None

    def _missing(self, target: str) -> tuple[int, dict[str, str], bytes]:
        if not self.library.soft_404:
            return 404, {}, page("Not found", "<p>No such page</p>")
        draw = random.Random(len(self.seen))
        popular = "".join(
            f"<li><a href='/post/{draw.randrange(99)}/'>{draw.choice(WORDS)}</a></li>" for _ in range(4)
        )
        body = f"<p>This shelf is empty, we are sorry for that.</p><p>You wanted {escape(target)}</p><ul>{popular}</ul>"
        return 200, {}, page("Empty shelf", body)

    def _document(
        self, number: int, target: str, headers: dict[str, str]
    ) -> tuple[int, dict[str, str], bytes]:
        library = self.library
        if library.wall(number):
            return (
                200,
                {},
                page("Members", "<p>Please log in to read this.</p><form><input type=password></form>"),
            )
        text = library.text(number)
        links = self._links(number)
        canonical = (
            f"<link rel=canonical href='{self.url}{library.path(number)}'>" if library.variants else ""
        )
        body = page(
            text.partition(".")[0],
            f"<h1>{text.partition(chr(46))[0]}</h1><p>{text}</p>{links}",
            canonical,
            library.frame,
        )
        tag = '"' + hashlib.md5(body).hexdigest() + '"'
        extra = {"ETag": tag} if library.etag else {}
        if library.etag and headers.get("if-none-match") == tag:
            return 304, extra, b""
        return 200, extra, body

    def _links(self, number: int) -> str:
        library = self.library
        if not library.linked:
            return ""
        near = [n for n in (number - 1, number + 1, number + 7) if n in library.numbers]
        out = [f"<a href='{escape(library.path(n))}'>{n}</a>" for n in near]
        out += [
            "<a href='/'>Home</a>",
            "<a href='/about'>About</a>",
            f"<a href='/user/u{number % 5}'>Author</a>",
        ]
        if library.variants and near:
            path = library.path(near[0])
            joint = "&" if "?" in path else "?"
            out.append(f"<a href='{escape(path + joint)}utm_source=page&amp;fbclid={number}'>again</a>")
        if library.traps:
            out.append(f"<a href='/calendar/{2000 + number % 20}/{number % 12 + 1:02}/'>Calendar</a>")
            out.append(
                "<a style='display:none' href='/trap/hidden'>x</a><a rel=nofollow href='/vote?d=1'>vote</a>"
            )
            out.append(
                "<a href='/private/x'>private</a><a href='mailto:a@b.c'>mail</a><a href='http://['>broken</a>"
            )
        return "<div class=menu>" + " ".join(out) + "</div>"

    def _front(self) -> bytes:
        library = self.library
        if not library.linked:
            return page("Front", f"<p>Welcome to {library.frame}: ask for the number of your document.</p>")
        newest = sorted(library.numbers)[-12:]
        links = "".join(f"<li><a href='{escape(library.path(n))}'>Document {n}</a></li>" for n in newest)
        more = "<a href='/list?page=1'>All</a>" if library.scheme == "slug" and not library.sitemap else ""
        feed = "<link rel=alternate type='application/rss+xml' href='/feed.xml'>" if library.feed else ""
        users = "".join(f"<a href='/user/u{n}'>u{n}</a> " for n in range(5))
        trap = (
            "<a href='/calendar/2024/05/'>Calendar</a> <a href='/shop?colour=red'>Shop</a>"
            if library.traps
            else ""
        )
        return page(
            "Front",
            f"<p>Welcome to {library.frame}.</p><ul>{links}</ul>{more}{users}<a href='/about'>About</a>{trap}",
            feed,
        )

    def _list(self, number: int) -> bytes:
        library = self.library
        known = sorted(library.numbers)
        part = known[(number - 1) * 20 : number * 20]
        links = "".join(f"<li><a href='{escape(library.path(n))}'>Document {n}</a></li>" for n in part)
        after = f"<a href='/list?page={number + 1}'>Next</a>" if number * 20 < len(known) else ""
        return page(f"List {number}", f"<ul>{links}</ul>{after}<a href='/'>Home</a>")

    def _trap(self, path: str, query: dict[str, list[str]]) -> bytes | None:
        pieces = path.strip("/").split("/")
        if pieces[0] == "calendar" and len(pieces) == 3 and pieces[1].isdecimal() and pieces[2].isdecimal():
            year, month = int(pieces[1]), int(pieces[2]) + 1
            year, month = (year + 1, 1) if month > 12 else (year, month)
            return page(
                "Calendar",
                f"<p>No events in this month.</p><a href='/calendar/{year}/{month:02}/'>Next month</a>",
            )
        if pieces[0] == "shop":
            colours = "".join(
                f"<a href='/shop?colour={c}&amp;size={s}&amp;sort={o}'>{c}</a>"
                for c in ("red", "blue")
                for s in range(9)
                for o in "ab"
            )
            return page(
                "Shop",
                f"<p>{' '.join(query.get('colour', []))}</p>{colours}<a href='{path.rstrip('/')}/deeper/'>deeper</a>",
            )
        if pieces[0] == "trap":
            return page("Trap", f"<p>Endless</p><a href='{path.rstrip('/')}/{len(pieces)}x/'>on</a>")
        return None

    # Connections

    def _accept(self) -> None:
        while not self._closed:
            try:
                connection, _ = self._socket.accept()
            except OSError:
                return
            self._connections.add(connection)
            threading.Thread(target=self._serve, args=(connection,), daemon=True).start()

    def _serve(self, connection: socket.socket) -> None:
        data = b""
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        with contextlib.suppress(OSError), contextlib.ExitStack() as stack:
            if self._tls is not None:
                connection = self._tls.wrap_socket(connection, server_side=True)
            stack.enter_context(connection)
            while True:
                while b"\r\n\r\n" not in data:
                    more = connection.recv(65536)
                    if not more:
                        return
                    data += more
                head, _, data = data.partition(b"\r\n\r\n")
                first, *rest = head.decode("latin-1").split("\r\n")
                headers = {k.lower(): v.strip() for k, _, v in (line.partition(":") for line in rest)}
                target = first.split(" ")[1]
                with self._lock:
                    self.seen.append((time.monotonic(), target))
                if self.library.delay_s:
                    time.sleep(self.library.delay_s)
                if not self._send(connection, target, headers):
                    return
        self._connections.discard(connection)

    def _send(self, connection: socket.socket, target: str, headers: dict[str, str]) -> bool:
        status, extra, body = self.answer(target, headers)
        known = {
            "Content-Type": "text/html; charset=utf-8",
            "Date": email.utils.formatdate(usegmt=True),
            **extra,
        }
        length = len(body)
        fault = self._fault(target)
        if fault == "busy":
            status, body, known, length = 503, b"", {"Retry-After": "0"}, 0
        elif fault == "longer":
            length += 100
        lines = [
            f"HTTP/1.1 {status} X",
            f"Content-Length: {length}",
            *(f"{k}: {v}" for k, v in known.items()),
        ]
        connection.sendall(
            "\r\n".join(lines).encode("latin-1")
            + b"\r\n\r\n"
            + (body[: len(body) // 2] if fault == "cut" else body)
        )
        self.sent += len(body)
        return fault not in ("cut", "longer")

    def _fault(self, target: str) -> str:
        """Each of some addresses fails once."""
        if not self.library.bad or target in ("/", "/robots.txt"):
            return ""
        kind = ["cut", "longer", "busy"][len(target) % 3]
        if hashlib.md5(target.encode()).digest()[0] % 16 or self._failed[target]:
            return ""
        self._failed[target] += 1
        return kind


def escape(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;")


def page(title: str, body: str, head: str = "", frame: str = "The Simulated Library") -> bytes:
    return (
        f"<!doctype html><html><head><meta charset=utf-8><title>{title} | {frame}</title>{head}</head><body>"
        f"<nav><a href='/'>{frame}</a></nav><main>{body}</main><footer>{frame}, open all day</footer></body></html>"
    ).encode()


if __name__ == "__main__":
    given = json.loads(sys.argv[1]) if len(sys.argv) > 1 else {}
    log = given.pop("log", None)
    with Site(Library(**given), *sys.argv[2:3]) as site:
        print(site.url, flush=True)
        written = 0
        with contextlib.ExitStack() as stack:
            out = (
                stack.enter_context(pathlib.Path(log).open("w", encoding="utf-8", buffering=1))
                if log
                else None
            )
            while True:
                time.sleep(0.02)
                if out is not None:
                    fresh = site.seen[written:]
                    out.writelines(f"{target}\n" for _, target in fresh)
                    written += len(fresh)
