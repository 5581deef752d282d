"""The robot on real documentation: trees of English and Russian HTML from Debian's packages, each on a loopback address
of its own behind nginx, packed in several ways and in two encodings."""

from __future__ import annotations

import collections
import os
import pathlib
import re
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator
from dataclasses import dataclass

import brotli
import pytest

from doublet.crawl.politeness import PoliteFetcher
from doublet.jobs.crawl import crawl_library, refresh_library
from doublet.store.database import Store

DOCS = pathlib.Path("/usr/share/doc")
#: name → (folder, its front page, encoding in which it is served)
TREES = {
    "english": (DOCS / "debian/FAQ", "index.en.html", "utf-8"),
    "russian": (DOCS / "debian/FAQ/ru", "index.ru.html", "windows-1251"),
    "guide": (DOCS / "maint-guide-ru/html", "index.ru.html", "utf-8"),
}
EXTRA = (
    '<p><a href="private/secret.html">secret</a> <a href="moved.html">moved</a> '
    '<a href="{page}?utm_source=x">again</a></p>'
)


@dataclass
class Served:
    """One tree, as it is served."""

    url: str
    front: str
    chapters: set[str]  #: addresses of all pages but the front page
    log: pathlib.Path

    def asked(self) -> list[tuple[str, str, int]]:
        """Target, status and bytes of every request so far."""
        out = []
        for line in self.log.read_text(encoding="utf-8").splitlines():
            address, target, status, size = line.split(" ")
            if self.url.startswith(f"http://{address}:"):
                out.append((target, status, int(size)))
        return out


@pytest.fixture(scope="module")
def trees(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Served]]:
    program = shutil.which("nginx") or "/usr/sbin/nginx"
    if not pathlib.Path(program).exists():
        pytest.skip("nginx is not here: `make system` installs it")
    for folder, front, _ in TREES.values():
        if not (folder / front).exists():
            pytest.skip(f"{folder} is not here: `make system` installs it")
    place = tmp_path_factory.mktemp("trees")
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    made: dict[str, Served] = {}
    servers = ""
    for number, (name, (folder, front, encoding)) in enumerate(TREES.items(), 1):
        root = place / name
        chapters = copy_tree(folder, root, front, encoding)
        address = f"127.0.3.{number}"
        url = f"http://{address}:{port}"
        made[name] = Served(url, front, {f"{url}/{one}" for one in chapters}, place / "access.log")
        servers += (
            f"server {{ listen {address}:{port}; root {root}; types {{ }}\n"
            f'  default_type "text/html; charset={encoding}";\n'
            f"  rewrite ^/moved.html$ /{sorted(chapters)[0]} permanent;\n"
            f"  location = / {{ return 302 /{front}; }}\n"
            "  location = /robots.txt { default_type text/plain; }\n"
            + (
                "  location ~ html$ { add_header Content-Encoding br; try_files $uri.br =404; }\n"
                if name == "guide"
                else ""
            )
            + "}\n"
        )
    paths = ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    (place / "nginx.conf").write_text(
        f"pid {place}/pid; error_log {place}/error.log; daemon off; worker_processes 1;\n"
        + ("user root;\n" if os.geteuid() == 0 else "")
        + "events { worker_connections 100; }\nhttp {\n"
        + "".join(f"{one}_temp_path {place}/{one};\n" for one in paths)
        + "log_format short '$server_addr $request_uri $status $body_bytes_sent';\n"
        + f"access_log {place}/access.log short; gzip on; gzip_types *;\n{servers}}}\n",
        encoding="utf-8",
    )
    server = subprocess.Popen([program, "-c", str(place / "nginx.conf"), "-p", str(place)])
    try:
        wait_for(made["english"].url, server, place / "error.log")
        yield made
    finally:
        server.terminate()
        server.wait(30)


def copy_tree(folder: pathlib.Path, root: pathlib.Path, front: str, encoding: str) -> set[str]:
    """The pages of a tree, in another encoding; its front page also leads where nobody may go, to a page that has
    moved, and to a page in another spelling. Gives the names of the pages but the front page."""
    root.mkdir()
    names = {path.name for path in folder.glob("*.html") if not path.is_symlink()}
    (root / "robots.txt").write_text("User-agent: *\nDisallow: /private/\n", encoding="ascii")
    for name in names:
        text = (folder / name).read_text(encoding="utf-8")
        text = re.sub(r"charset=utf-8", f"charset={encoding}", text, flags=re.IGNORECASE)
        if name == front:
            text = text.replace("</body>", EXTRA.format(page=sorted(names - {front})[1]) + "</body>")
        data = text.encode(encoding, "xmlcharrefreplace")
        (root / name).write_bytes(data)
        (root / f"{name}.br").write_bytes(brotli.compress(data, quality=4))
    return names - {front}


def wait_for(url: str, server: subprocess.Popen[bytes], errors: pathlib.Path) -> None:
    host, _, port = url.removeprefix("http://").partition(":")
    until = time.monotonic() + 60
    while server.poll() is None and time.monotonic() < until:
        try:
            socket.create_connection((host, int(port)), 1).close()
            return
        except OSError:
            time.sleep(0.05)
    pytest.fail(errors.read_text(encoding="utf-8"))


@pytest.mark.covers("L1", "L3", "R1", "R2", "R6")
@pytest.mark.parametrize("name", TREES)
def test_a_tree_is_crawled_whole(trees: dict[str, Served], name: str, tmp_path: pathlib.Path) -> None:
    tree = trees[name]
    with (
        Store(str(tmp_path / "libraries.db")) as store,
        PoliteFetcher(delay_s=0.0, allow_private=True) as fetcher,
    ):
        store.libraries.create("docs")
        made = crawl_library(store, "docs", f"{tree.url}/{tree.front}", fetcher=fetcher)
        assert (made.waiting, made.notes) == (0, [])
        found = {document.id: document for document in store.documents.all("docs")}
        assert tree.chapters <= set(found)
        assert set(found) <= tree.chapters | {f"{tree.url}/{tree.front}"}
        if name != "english":  # the letters survived
            texts = store.documents.texts([document.number for document in found.values()])
            assert not [
                text for text in texts.values() if "\ufffd" in text or not re.search("[а-яё]{5}", text)
            ]
            letters = re.findall(r"[^\W\d_]", "".join(texts.values()))
            assert sum("а" <= letter.lower() <= "я" for letter in letters) > len(letters) / 2
        asked = tree.asked()
        times = collections.Counter(target for target, _, _ in asked)
        assert [target for target, many in times.items() if many > 1] == []
        assert not [target for target in times if "private" in target or "utm_" in target]
        assert ("/moved.html", "301") in {(target, status) for target, status, _ in asked}
        before = len(asked)
        again = refresh_library(store, "docs", fetcher=fetcher, everything=True)[0]
        assert (again.changed, again.stored) == (0, 0)
        assert again.unchanged == len(found)
        unchanged = {target: size for target, status, size in tree.asked()[before:] if status == "304"}
        assert {tree.url + target for target in unchanged} >= tree.chapters
        assert set(unchanged.values()) == {0}
