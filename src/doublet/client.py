"""A client of the service (`doublet serve`): the REST interface as Python, with and without asyncio.

    from doublet.client import Client

    with Client("https://doublet.example.org", token) as client:
        work = client.wait(client.check("The text to check", libraries=["theses"]))
        print(work["borrowed"], client.report(work["id"]).sources)

Values are those of the interface (``/api/v1/docs``) as dictionaries; a report is a `doublet.Check`, the same that
`doublet.check` gives. What the service refuses is raised as `ServerRefused`, with its code and its sentence.
Requests that failed on their way are tried again, which is safe: each carries a key, and the service does it once.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import time
import uuid
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, TypeVar
from urllib.parse import quote, urlencode

from doublet.errors import FetchFailed, NotAllowed, SourceError, UsageError

if TYPE_CHECKING:
    from doublet.model import Check
    from doublet.repeats.model import Repeats

P = ParamSpec("P")
R = TypeVar("R")
OVER = ("done", "failed", "cancelled")  #: states in which nothing happens any more
TRIES = 3


class ServerRefused(SourceError):
    """The service answered, and the answer is no. *details* has its status, code and sentence."""

    code = "server_refused"


def read_hook(
    secret: str, signature: str, body: bytes, *, tolerance_s: float = 300.0, now: float | None = None
) -> dict[str, Any]:
    """The message of a web hook, if it was signed with *secret* (header ``Doublet-Signature``) not long ago.

    Raises `NotAllowed` for any other: do not look into such a body.
    """
    import hashlib
    import hmac

    parts = dict(part.partition("=")[::2] for part in signature.split(","))
    at = parts.get("t", "")
    made = hmac.new(secret.encode(), f"{at}.".encode() + body, hashlib.sha256).hexdigest()
    if not hmac.compare_digest(made, parts.get("v1", "")) or not at.isdecimal():
        raise NotAllowed("hook_not_signed")
    if abs((time.time() if now is None else now) - int(at)) > tolerance_s:
        raise NotAllowed("hook_too_old", seconds=int(tolerance_s))
    found: dict[str, Any] = json.loads(body)
    return found


class Client:
    """Asks one service as one person. Safe to share between threads."""

    def __init__(self, server: str, token: str = "", *, timeout_s: float = 120.0) -> None:
        import urllib3

        if not server.startswith(("http://", "https://")):
            raise UsageError("not_a_web_address", value=server[:80])
        self.server = server.rstrip("/")
        headers = {"User-Agent": "doublet-client", "Accept": "application/json"}
        if token:
            headers["Authorization"] = f"Bearer {token}"
        retries = urllib3.Retry(
            TRIES,
            status_forcelist=(429, 503),
            allowed_methods=None,
            backoff_factor=0.2,
            raise_on_status=False,
        )
        self._pool = urllib3.PoolManager(
            headers=headers, retries=retries, timeout=urllib3.Timeout(timeout_s), maxsize=8
        )

    def __enter__(self) -> Client:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        self._pool.clear()

    def ask(
        self,
        method: str,
        path: str,
        *,
        query: Mapping[str, Any] | None = None,
        value: Any = None,
        fields: Iterable[tuple[str, Any]] | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> bytes:
        """Any operation: the body of its answer. Raises `ServerRefused`, `NotAllowed`, `FetchFailed`."""
        import urllib3

        chosen = {name: one for name, one in (query or {}).items() if one is not None}
        address = f"{self.server}/api/v1{path}" + (f"?{urlencode(chosen, doseq=True)}" if chosen else "")
        given: dict[str, Any] = {"headers": {**self._pool.headers, **(headers or {})}, "redirect": False}
        if method not in ("GET", "HEAD"):  # one that is tried again counts once
            given["headers"].setdefault("Idempotency-Key", uuid.uuid4().hex)
        if fields is not None:
            given["fields"] = list(fields)
        elif value is not None:
            given["body"] = json.dumps(value).encode()
            given["headers"]["Content-Type"] = "application/json"
        try:
            answer = self._pool.request(method, address, **given)
        except urllib3.exceptions.HTTPError as error:
            raise FetchFailed("server_unreachable", address=self.server, why=type(error).__name__) from error
        if answer.status < 300:
            return bytes(answer.data)
        raise self._refusal(answer.status, answer.data)

    def stream(self, path: str) -> Iterator[bytes]:
        """The body of an answer as it comes. Raises what `ask` raises, and `FetchFailed` where it breaks off."""
        import urllib3

        try:
            answer = self._pool.request(
                "GET", f"{self.server}/api/v1{path}", redirect=False, preload_content=False
            )
            with contextlib.closing(answer):
                if answer.status >= 300:
                    raise self._refusal(answer.status, answer.read())
                yield from answer.stream(1 << 16, decode_content=True)
                answer.release_conn()
        except urllib3.exceptions.HTTPError as error:
            raise FetchFailed("server_unreachable", address=self.server, why=type(error).__name__) from error

    def _refusal(self, status: int, body: bytes) -> SourceError:
        try:
            problem = json.loads(body)
            code, message = str(problem["code"]), str(problem["message"])
        except (ValueError, KeyError, TypeError):
            code, message = "http", f"HTTP {status}"
        if status in (401, 403):
            return NotAllowed("server_forbids_that", address=self.server, why=message, status=status)
        return ServerRefused("server_said", address=self.server, why=message, status=status, problem=code)

    def _value(self, method: str, path: str, **given: Any) -> Any:
        return json.loads(self.ask(method, path, **given) or b"null")

    def _all(self, path: str, **query: Any) -> Iterator[dict[str, Any]]:
        """Everything of a list that comes in parts."""
        cursor = None
        while True:
            found = self._value("GET", path, query={**query, "cursor": cursor})
            yield from found["items"]
            cursor = found["next"]
            if cursor is None:
                return

    # checks

    def me(self) -> dict[str, Any]:
        return dict(self._value("GET", "/me"))

    def check(
        self,
        text: str | os.PathLike[str],
        *,
        title: str = "",
        author: str = "",
        libraries: Iterable[str] | None = None,
        method: str = "auto",
        leave_out: Iterable[str] = (),
        own: Iterable[str] = (),
        key: str | None = None,
    ) -> dict[str, Any]:
        """Begin to check a text, or the file at a path. Its *state* is "done" at once for short texts; see `wait`."""
        options: dict[str, Any] = {"title": title, "author": author, "method": method}
        options |= {"leave_out": list(leave_out), "own": list(own)}
        options["libraries"] = None if libraries is None else list(libraries)
        headers = {"Idempotency-Key": key or uuid.uuid4().hex}
        if isinstance(text, str):
            return dict(self._value("POST", "/checks", value={**options, "text": text}, headers=headers))
        from pathlib import Path

        path = Path(text)
        parts = [(name, one) for name in ("leave_out", "own", "libraries") for one in options.pop(name) or ()]
        fields = [*options.items(), *parts, ("file", (path.name, path.read_bytes()))]
        return dict(json.loads(self.ask("POST", "/checks/file", fields=fields, headers=headers)))

    def get_check(self, id: str) -> dict[str, Any]:
        return dict(self._value("GET", f"/checks/{quote(id)}"))

    def wait(self, work: Mapping[str, Any], *, timeout_s: float = 3600.0) -> dict[str, Any]:
        """The check when it is over. Raises `ServerRefused` when it failed, `FetchFailed` when the time is over."""
        until, pause = time.monotonic() + timeout_s, 0.1
        now = dict(work)
        while now["state"] not in OVER:
            if time.monotonic() > until:
                raise FetchFailed("server_unreachable", address=self.server, why="TimeoutError")
            time.sleep(pause)
            pause = min(2.0, pause * 1.5)
            now = self.get_check(str(now["id"]))
        if now["state"] != "done":
            why = (now.get("problem") or {}).get("message") or now["state"]
            raise ServerRefused("server_said", address=self.server, why=why, status=200, problem=now["state"])
        return now

    def report(self, id: str) -> Check:
        """The report of a check that is done, with what people decided about it."""
        from doublet.reports.check_json import read_check

        return read_check(self._value("GET", f"/checks/{quote(id)}/report"))

    def export(self, id: str, form: str, language: str = "en") -> bytes:
        """The report as "html", "pdf" or "json"."""
        return self.ask("GET", f"/checks/{quote(id)}/report.{quote(form)}", query={"language": language})

    def checks(self, state: str | None = None) -> list[dict[str, Any]]:
        return list(self._all("/checks", state=state, limit=200))

    def delete_check(self, id: str) -> None:
        self.ask("DELETE", f"/checks/{quote(id)}")

    def decide(self, id: str, target: str, which: str, reason: str = "") -> dict[str, Any]:
        """Take a "source", a "fragment" or a "kind" of a report out of its figures; gives the new ones."""
        value = {"target": target, "which": which, "reason": reason}
        return dict(self._value("POST", f"/checks/{quote(id)}/decisions", value=value))

    def decisions(self, id: str) -> list[dict[str, Any]]:
        return list(self._value("GET", f"/checks/{quote(id)}/decisions"))

    def undo_decision(self, id: str, number: int) -> dict[str, Any]:
        """Count it again; gives the new figures."""
        return dict(self._value("DELETE", f"/checks/{quote(id)}/decisions/{number}"))

    def comment(self, id: str, text: str, fragment: str = "") -> dict[str, Any]:
        """On a fragment of a report, or on all of it."""
        value = {"text": text, "fragment": fragment}
        return dict(self._value("POST", f"/checks/{quote(id)}/comments", value=value))

    def delete_comment(self, id: str, number: int) -> None:
        self.ask("DELETE", f"/checks/{quote(id)}/comments/{number}")

    def share(self, id: str) -> dict[str, Any]:
        """A link under which anybody reads the report; its *address* is told once."""
        return dict(self._value("POST", f"/checks/{quote(id)}/links"))

    def links(self, id: str) -> list[dict[str, Any]]:
        return list(self._value("GET", f"/checks/{quote(id)}/links"))

    def revoke_link(self, id: str, number: int) -> None:
        self.ask("DELETE", f"/checks/{quote(id)}/links/{number}")

    def compare_checks(self, id: str, other: str) -> dict[str, Any]:
        """Two checks of one work: what became of the figures and of each source."""
        return dict(self._value("GET", f"/checks/{quote(id)}/compare", query={"other": other}))

    # classes

    def check_class(
        self,
        paths: Iterable[os.PathLike[str]],
        *,
        title: str = "",
        libraries: Iterable[str] | None = None,
        among: bool = True,
    ) -> dict[str, Any]:
        """Begin to check several works, or archives of them, against libraries and among themselves."""
        from pathlib import Path

        fields: list[tuple[str, Any]] = [("title", title), ("among", str(among).lower())]
        fields += [("libraries", name) for name in libraries or ()]
        fields += [("files", (Path(one).name, Path(one).read_bytes())) for one in paths]
        return dict(self._value("POST", "/classes", fields=fields))

    def get_class(self, id: str) -> dict[str, Any]:
        """All works of a class, and who took from whom."""
        return dict(self._value("GET", f"/classes/{quote(id)}"))

    def compare_works(self, id: str, a: str, b: str) -> dict[str, Any]:
        """What two works of a class have in common."""
        return dict(self._value("GET", f"/classes/{quote(id)}/pair", query={"a": a, "b": b}))

    def export_class(self, id: str, form: str) -> bytes:
        """The table ("csv"), or all reports in one archive ("zip")."""
        return self.ask("GET", f"/classes/{quote(id)}/class.{quote(form)}")

    def delete_class(self, id: str) -> None:
        self.ask("DELETE", f"/classes/{quote(id)}")

    # libraries, jobs, repeats

    def libraries(self) -> list[dict[str, Any]]:
        return list(self._value("GET", "/libraries"))

    def make_library(self, name: str, *, address: str = "", note: str = "") -> dict[str, Any]:
        return dict(self._value("POST", "/libraries", value={"name": name, "address": address, "note": note}))

    def library(self, name: str) -> dict[str, Any]:
        return dict(self._value("GET", _library(name)))

    def rename_library(self, name: str, new: str) -> dict[str, Any]:
        return dict(self._value("PATCH", _library(name), value={"name": new}))

    def delete_library(self, name: str) -> dict[str, Any]:
        """Begin to remove a library with everything in it; gives the job."""
        return dict(self._value("DELETE", _library(name)))

    def export_library(self, name: str) -> Iterator[bytes]:
        """All documents as JSON lines, as they come: pieces of any size."""
        return self.stream(f"{_library(name)}/export")

    def remove_documents(self, library: str, ids: Iterable[str]) -> list[str]:
        """Take documents out; gives the ids that were there."""
        wanted, gone = list(ids), list[str]()
        for start in range(0, len(wanted), 1_000):
            value = {"ids": wanted[start : start + 1_000]}
            gone += self._value("POST", f"{_library(library)}/documents/remove", value=value)["removed"]
        return gone

    def remove_source(self, library: str, number: int, *, documents: bool = False) -> dict[str, Any]:
        """Begin to forget a source, with its *documents* or without; gives the job."""
        path, query = f"{_library(library)}/sources/{number}", {"documents": str(documents).lower()}
        return dict(self._value("DELETE", path, query=query))

    def update(self, /, library: str, *, sources: Iterable[int] = (), **filling: Any) -> dict[str, Any]:
        """Begin to walk the sources of a library again (none named: all); gives the job."""
        value = {"sources": list(sources), "filling": filling}
        return dict(self._value("POST", f"{_library(library)}/update", value=value))

    def preview_site(self, /, address: str, **wish: Any) -> dict[str, Any]:
        """Begin to look at a site; gives the job, whose result is the plan."""
        return dict(self._value("POST", "/sites/preview", value={"address": address, **wish}))

    def crawl(
        self, /, library: str, address: str, *, limit: int | None = None, **wish: Any
    ) -> dict[str, Any]:
        """Begin to index a site into a library; gives the job."""
        value = {"address": address, "limit": limit, **wish}
        return dict(self._value("POST", f"{_library(library)}/crawl", value=value))

    def refresh(self, library: str, *, everything: bool = False, limit: int | None = None) -> dict[str, Any]:
        """Begin to ask again for the pages of its sites that are due; gives the job."""
        value = {"everything": everything, "limit": limit}
        return dict(self._value("POST", f"{_library(library)}/refresh", value=value))

    def pages(self, library: str) -> list[dict[str, Any]]:
        """What became of the addresses that the robot met, for each site of the library."""
        return list(self._value("GET", f"{_library(library)}/pages"))

    def page_log(self, library: str, states: Iterable[str] = ()) -> Iterator[dict[str, Any]]:
        """Every address that the robot met, with what became of it."""
        return self._all(f"{_library(library)}/pages/log", state=list(states), limit=1_000)

    def add_list(self, path: os.PathLike[str], *, prefix: str = "", fill: bool = True) -> dict[str, Any]:
        """Begin to make a library of each entry of a list; gives the job."""
        from pathlib import Path

        file = Path(path)
        fields = [("prefix", prefix), ("fill", str(fill).lower()), ("file", (file.name, file.read_bytes()))]
        return dict(self._value("POST", "/lists", fields=fields))

    def verify(self, libraries: Iterable[str] = (), *, repair: bool = False) -> dict[str, Any]:
        """Begin to see whether the index agrees with the documents; gives the job."""
        value = {"libraries": list(libraries), "repair": repair}
        return dict(self._value("POST", "/verify", value=value))

    def sources(self, library: str) -> list[dict[str, Any]]:
        return list(self._value("GET", f"{_library(library)}/sources"))

    def fill(self, library: str, address: str, *, kind: str = "auto") -> dict[str, Any]:
        """Begin to fill a library from an address, or from a folder of the server; gives the job."""
        value = {"address": address, "kind": kind}
        return dict(self._value("POST", f"{_library(library)}/fill", value=value))

    def upload(self, library: str, path: os.PathLike[str]) -> dict[str, Any]:
        """Begin to add the documents of a file, an archive or a table; gives the job."""
        from pathlib import Path

        file = Path(path)
        fields = [("file", (file.name, file.read_bytes()))]
        return dict(self._value("POST", f"{_library(library)}/upload", fields=fields))

    def documents(self, library: str) -> list[dict[str, Any]]:
        return list(self._all(f"{_library(library)}/documents", limit=500))

    def document(self, library: str, id: str) -> dict[str, Any]:
        """One document with its text."""
        return dict(self._value("GET", f"{_library(library)}/document", query={"id": id}))

    def search_documents(self, library: str, query: str, *, limit: int = 50) -> dict[str, Any]:
        """Documents whose title, id or words have what is asked for."""
        return dict(self._value("GET", f"{_library(library)}/search", query={"q": query, "limit": limit}))

    def find_duplicates(self, library: str) -> dict[str, Any]:
        """Begin to look for duplicates; gives the job."""
        return dict(self._value("POST", f"{_library(library)}/duplicates"))

    def duplicates(self, library: str) -> dict[str, Any]:
        """What the last search for duplicates found."""
        return dict(self._value("GET", f"{_library(library)}/duplicates"))

    def search_duplicates(self, libraries: Iterable[str], *, between: bool = False) -> dict[str, Any]:
        """Begin to look for duplicates in several libraries; gives the job, whose result has the groups."""
        value = {"libraries": list(libraries), "between": between}
        return dict(self._value("POST", "/libraries/duplicates/search", value=value))

    def count_library(self, library: str) -> dict[str, Any]:
        """Begin to count the documents and words of a library; gives the job, whose result has the numbers."""
        return dict(self._value("POST", f"{_library(library)}/statistics"))

    def jobs(self) -> list[dict[str, Any]]:
        return list(self._all("/jobs", limit=200))

    def wait_job(
        self,
        number: int,
        *,
        told: Callable[[dict[str, Any]], None] | None = None,
        timeout_s: float = 24 * 3600.0,
    ) -> dict[str, Any]:
        """The job when it is over, whatever came of it; *told* hears of it meanwhile."""
        until, pause = time.monotonic() + timeout_s, 0.1
        while True:
            now = self.job(number)
            if told is not None:
                told(now)
            if now["state"] in OVER:
                return now
            if time.monotonic() > until:
                raise FetchFailed("server_unreachable", address=self.server, why="TimeoutError")
            time.sleep(pause)
            pause = min(2.0, pause * 1.5)

    def list_jobs(
        self, states: Iterable[str] = (), *, library: str | None = None, limit: int = 50
    ) -> dict[str, Any]:
        """The newest jobs (*items*), and how many there are in each state (*counts*)."""
        query = {"state": list(states), "library": library, "limit": limit}
        return dict(self._value("GET", "/jobs", query=query))

    def job(self, number: int) -> dict[str, Any]:
        return dict(self._value("GET", f"/jobs/{number}"))

    def cancel_job(self, number: int) -> dict[str, Any]:
        return dict(self._value("POST", f"/jobs/{number}/cancel"))

    def retry_job(self, number: int) -> dict[str, Any]:
        return dict(self._value("POST", f"/jobs/{number}/retry"))

    def pause_job(self, number: int) -> dict[str, Any]:
        return dict(self._value("POST", f"/jobs/{number}/pause"))

    def resume_job(self, number: int) -> dict[str, Any]:
        return dict(self._value("POST", f"/jobs/{number}/resume"))

    def find_repeats(
        self,
        /,
        path: os.PathLike[str] | tuple[str, bytes],
        *,
        algorithm: str = "auto",
        language: str | None = None,
        **options: Any,
    ) -> dict[str, Any]:
        """Begin to search the document at *path*, or a file of this name and content, for what it repeats. *options*
        are those of `doublet.find_repeats`."""
        from pathlib import Path

        name, content = path if isinstance(path, tuple) else (Path(path).name, Path(path).read_bytes())
        fields = [("algorithm", algorithm), ("options", json.dumps(options)), ("file", (name, content))]
        headers = {"Accept-Language": language} if language else {}
        return dict(self._value("POST", "/repeats", fields=fields, headers=headers))

    def repeats_result(self, id: str) -> Repeats:
        """All that a search found."""
        from doublet.reports.repeats_kept import read_repeats

        return read_repeats(self._value("GET", f"/repeats/{quote(id)}/result"))

    def repeats(self, id: str) -> dict[str, Any]:
        return dict(self._value("GET", f"/repeats/{quote(id)}"))

    def repeats_page(self, id: str) -> bytes:
        """The page of a search that is done, as one HTML file."""
        return self.ask("GET", f"/repeats/{quote(id)}/page")


def _library(name: str) -> str:
    return f"/libraries/{quote(name, safe='')}"


def _later(
    method: Callable[Concatenate[Client, P], R],
) -> Callable[Concatenate[AsyncClient, P], Awaitable[R]]:
    """The same method, waited for in a thread."""

    async def call(self: AsyncClient, /, *args: P.args, **options: P.kwargs) -> R:
        return await asyncio.to_thread(method, self._client, *args, **options)

    call.__name__, call.__doc__ = method.__name__, method.__doc__
    return call


class AsyncClient:
    """`Client` for asyncio: the same methods, to be awaited."""

    def __init__(self, server: str, token: str = "", *, timeout_s: float = 120.0) -> None:
        self._client = Client(server, token, timeout_s=timeout_s)

    async def __aenter__(self) -> AsyncClient:
        return self

    async def __aexit__(self, *_: object) -> None:
        self._client.close()

    ask = _later(Client.ask)
    me = _later(Client.me)
    check = _later(Client.check)
    get_check = _later(Client.get_check)
    wait = _later(Client.wait)
    report = _later(Client.report)
    export = _later(Client.export)
    checks = _later(Client.checks)
    delete_check = _later(Client.delete_check)
    decide = _later(Client.decide)
    decisions = _later(Client.decisions)
    undo_decision = _later(Client.undo_decision)
    comment = _later(Client.comment)
    delete_comment = _later(Client.delete_comment)
    share = _later(Client.share)
    links = _later(Client.links)
    revoke_link = _later(Client.revoke_link)
    compare_checks = _later(Client.compare_checks)
    check_class = _later(Client.check_class)
    get_class = _later(Client.get_class)
    compare_works = _later(Client.compare_works)
    export_class = _later(Client.export_class)
    delete_class = _later(Client.delete_class)
    search_documents = _later(Client.search_documents)
    libraries = _later(Client.libraries)
    make_library = _later(Client.make_library)
    sources = _later(Client.sources)
    library = _later(Client.library)
    rename_library = _later(Client.rename_library)
    delete_library = _later(Client.delete_library)
    remove_documents = _later(Client.remove_documents)
    remove_source = _later(Client.remove_source)
    update = _later(Client.update)
    preview_site = _later(Client.preview_site)
    crawl = _later(Client.crawl)
    refresh = _later(Client.refresh)
    pages = _later(Client.pages)
    add_list = _later(Client.add_list)
    verify = _later(Client.verify)
    repeats_result = _later(Client.repeats_result)
    list_jobs = _later(Client.list_jobs)
    document = _later(Client.document)
    fill = _later(Client.fill)
    upload = _later(Client.upload)
    search_duplicates = _later(Client.search_duplicates)
    wait_job = _later(Client.wait_job)
    retry_job = _later(Client.retry_job)
    pause_job = _later(Client.pause_job)
    resume_job = _later(Client.resume_job)
    documents = _later(Client.documents)
    find_duplicates = _later(Client.find_duplicates)
    duplicates = _later(Client.duplicates)
    jobs = _later(Client.jobs)
    job = _later(Client.job)
    cancel_job = _later(Client.cancel_job)
    count_library = _later(Client.count_library)
    find_repeats = _later(Client.find_repeats)
    repeats = _later(Client.repeats)
    repeats_page = _later(Client.repeats_page)

    async def export_library(self, name: str) -> AsyncIterator[bytes]:
        """All documents as JSON lines, as they come: pieces of any size."""
        async for piece in _each(self._client.export_library(name)):
            yield piece

    async def page_log(self, library: str, states: Iterable[str] = ()) -> AsyncIterator[dict[str, Any]]:
        """Every address that the robot met, with what became of it."""
        async for page in _each(self._client.page_log(library, states)):
            yield page


async def _each(items: Iterator[R]) -> AsyncIterator[R]:
    """Items that are waited for in a thread."""
    end = object()
    while (item := await asyncio.to_thread(next, items, end)) is not end:
        yield item  # type: ignore[misc]
