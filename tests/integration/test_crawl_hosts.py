"""Sites of the robot that are more than one plain host: https, hosts below the site, two hosts on one machine."""

from __future__ import annotations

import contextlib
import pathlib
import ssl
import subprocess
import sys
import time
from typing import Any

import pytest
from test_crawl_kill import HERE, environment

from doublet.crawl.politeness import PoliteFetcher
from doublet.errors import FetchFailed
from doublet.jobs.crawl import Wish, crawl_library, preview
from doublet.store.database import Store
from library_databases import new_address
from library_simulator import Library, Site


def certificate(folder: pathlib.Path, host: str) -> tuple[ssl.SSLContext, ssl.SSLContext]:
    """One of our own: for the server, and for whoever trusts it."""
    chain, key = folder / "chain.pem", folder / "key.pem"
    command = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=site"]
    names = ["-addext", f"subjectAltName=IP:{host}", "-keyout", str(key), "-out", str(chain)]
    subprocess.run([*command, *names], check=True, capture_output=True)
    server = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    server.load_cert_chain(chain, key)
    return server, ssl.create_default_context(cafile=str(chain))


@pytest.mark.covers("R1", "R10")
def test_a_site_over_https(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    server, trusted = certificate(tmp_path, "127.0.0.2")
    with Site(Library(30), tls=server) as site, Store(str(tmp_path / "l.db")) as store:
        store.libraries.create("site")
        with (
            PoliteFetcher(delay_s=0, allow_private=True, retries=0) as wary,
            pytest.raises(FetchFailed, match="certificate"),
        ):
            preview(site.url, fetcher=wary)
        monkeypatch.setattr("doublet.crawl.request.ssl.create_default_context", lambda: trusted)
        with PoliteFetcher(delay_s=0, allow_private=True) as fetcher:
            crawl_library(store, "site", site.url, fetcher=fetcher, wish=Wish(only=["post"]))
        assert {document.id for document in store.documents.all("site")} == site.addresses()
        assert all(address.startswith("https://") for address in site.addresses())


@pytest.mark.covers("L1", "R3")
@pytest.mark.parametrize("subdomains", [False, True])
def test_hosts_below_the_site(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch, subdomains: bool
) -> None:
    """blog.library.test belongs to library.test when the user says so; nothing else does."""
    hosts = {"library.test": "127.0.0.2", "blog.library.test": "127.0.0.3", "otherlibrary.test": "127.0.0.4"}

    def resolve(host: str, port: int) -> list[str]:
        return [hosts[host]]

    with contextlib.ExitStack() as stack:
        main = stack.enter_context(Site(Library(8, seed=1)))
        blog, other = (
            stack.enter_context(Site(Library(8, seed=seed), hosts[host], main.port))
            for seed, host in ((2, "blog.library.test"), (3, "otherlibrary.test"))
        )
        links = "".join(f"<a href='http://{host}:{main.port}/'>{host}</a>" for host in hosts)
        plain = main._front()
        monkeypatch.setattr(main, "_front", lambda: plain.replace(b"</main>", links.encode() + b"</main>"))
        store = stack.enter_context(Store(str(tmp_path / "l.db")))
        store.libraries.create("site")
        fetcher = stack.enter_context(
            PoliteFetcher(delay_s=0, allow_private=True, contact="a@b.c", resolve=resolve)
        )
        wish = Wish(only=["post"], subdomains=subdomains)
        crawl_library(store, "site", f"http://library.test:{main.port}/", fetcher=fetcher, wish=wish)
        found = {document.id.split("/")[2].split(":")[0] for document in store.documents.all("site")}
        assert found == ({"library.test", "blog.library.test"} if subdomains else {"library.test"})
        assert bool(blog.seen) is subdomains
        assert not other.seen


@pytest.mark.covers("R1", "D2")
@pytest.mark.parametrize("vendor", ["sqlite", "postgresql"])
def test_two_robots_share_a_machine(tmp_path: pathlib.Path, vendor: str) -> None:
    """Two sites on one IP number, each with a robot of its own: the machine is asked by one of them at a time."""
    address = new_address(vendor)
    with Store(address) as store:
        store.libraries.create("site")
    with contextlib.ExitStack() as stack:
        sites = [stack.enter_context(Site(Library(40, seed=seed), "127.0.0.5")) for seed in (1, 2)]
        robots: list[subprocess.Popen[Any]] = []
        for number, site in enumerate(sites):
            made = tmp_path / str(number)
            made.mkdir()
            places = [str(made / "alive"), str(made / "spool")]
            command = [
                sys.executable,
                str(HERE / "crawl_worker.py"),
                address,
                site.url,
                "post",
                *places,
                "--wish",
            ]
            robot = subprocess.Popen(command, env=environment(), stdout=subprocess.DEVNULL)
            stack.callback(lambda robot=robot: (robot.kill(), robot.wait()))
            robots.append(robot)
        until = time.monotonic() + 120
        while any(robot.poll() is None for robot in robots) and time.monotonic() < until:
            time.sleep(0.05)
        assert [robot.poll() for robot in robots] == [0, 0]
        asked = sorted((site.seen[0][0], site.seen[-1][0]) for site in sites)
    with Store(address) as store:
        assert store.libraries.get("site").documents == 80
    assert asked[0][1] < asked[1][0], "the second robot began when the first was done"
