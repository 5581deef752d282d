"""Sources against real servers on loopback: a MediaWiki, an OAI-PMH provider, a web site on nginx with bad manners.

`../shared/components` starts them. Where a program is missing the tests say so; with ``CI=true`` that is a failure.
"""

from __future__ import annotations

import fcntl
import json
import os
import pathlib
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import urllib.parse
import urllib.request
from collections.abc import Iterator
from http.cookiejar import CookieJar
from typing import Any

import pytest

import doublet
from doublet.crawl.politeness import PoliteFetcher
from doublet.jobs.add_source import Filling
from doublet.jobs.crawl import Crawling, Wish, crawl_library
from doublet.sources.kinds import tell_source
from doublet.sources.oai import OaiSource
from doublet.sources.protocol import Complete, Failed, Found, Gone, Unchanged
from doublet.sources.sitemap import SitemapSource
from doublet.sources.wiki import WikiSource
from doublet.store.database import Store
from doublet.text.read import read_document
from source_shelf import Shelf, of, told

COMPONENTS = pathlib.Path(__file__).resolve().parents[3] / "shared" / "components"
pytestmark = [pytest.mark.shared, pytest.mark.covers("L7")]
MISSING = 69  # what the scripts answer when a package is not installed


@pytest.fixture(scope="module")
def states() -> Iterator[pathlib.Path]:
    """A folder that servers under other accounts can look into."""
    folder = pathlib.Path(tempfile.mkdtemp(prefix="doublet-servers-"))
    folder.chmod(0o755)
    yield folder
    shutil.rmtree(folder, ignore_errors=True)


def running(name: str, states: pathlib.Path, **more: str) -> Iterator[str]:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
    path = f"{os.environ.get('PATH', '')}:/usr/sbin:/sbin"
    environment = os.environ | {"STATE_DIR": str(states), "PATH": path} | more
    script = str(COMPONENTS / name)
    done = subprocess.run(
        [script, "start", port], text=True, stdout=subprocess.PIPE, env=environment, check=False
    )
    if done.returncode == MISSING:
        pytest.skip(f"what {name} needs is not installed: `make system` installs it")
    assert done.returncode == 0
    yield done.stdout.strip()
    subprocess.run([script, "stop", port], check=True, env=environment)


@pytest.fixture(scope="module")
def mediawiki(states: pathlib.Path) -> Iterator[str]:
    yield from running("start-mediawiki", states)


@pytest.fixture(scope="module")
def site(states: pathlib.Path) -> Iterator[str]:
    yield from (address.rstrip("/") for address in running("start-site", states))


@pytest.fixture(scope="module")
def repository(states: pathlib.Path) -> Iterator[str]:
    """Its Python packages are installed once and kept, in a place of their own: they are nothing of ours."""
    kept = pathlib.Path(tempfile.gettempdir()) / f"doublet-tests-oai-{os.getuid()}"
    with pathlib.Path(f"{kept}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        python = kept / "bin" / "python"
        if not (kept / "ready").exists():
            subprocess.run([sys.executable, "-m", "venv", "--clear", str(kept)], check=True)
            pip = [str(python), "-m", "pip", "--disable-pip-version-check", "--quiet", "install"]
            subprocess.run([*pip, "pyoai==2.5.0", "waitress==3.0.2"], check=True)
            (kept / "ready").touch()
        servers = running("start-oai", states, OAI_IMPL="pyoai", PYTHON=str(python))
        address = next(servers)
    yield address
    yield from servers


@pytest.fixture
def polite() -> Iterator[PoliteFetcher]:
    with PoliteFetcher(
        allow_private=True, delay_s=0.0, timeout_s=3.0, retries=0, longest_wait_s=1.0
    ) as fetcher:
        yield fetcher


# The wiki


class Editor:
    """Somebody who writes in the wiki."""

    def __init__(self, api: str) -> None:
        self.api = api
        self.open = urllib.request.build_opener(urllib.request.HTTPCookieProcessor(CookieJar())).open
        token = self.ask(action="query", meta="tokens", type="login")["query"]["tokens"]["logintoken"]
        self.ask(action="login", lgname="Admin", lgpassword="testadminpass1", lgtoken=token)
        self.token = self.ask(action="query", meta="tokens")["query"]["tokens"]["csrftoken"]

    def ask(self, **asked: str) -> Any:
        data = urllib.parse.urlencode(asked | {"format": "json"}).encode()
        with self.open(self.api, data, timeout=30) as answer:
            return json.loads(answer.read())

    def do(self, action: str, **asked: str) -> None:
        got = self.ask(action=action, token=self.token, bot="1", **asked)
        assert "error" not in got, got

    def write(self, title: str, text: str) -> None:
        self.do("edit", title=title, text=text)


WIKITEXT = """{{Карточка|год=1795}}
'''Библиотека''' основана в [[1795 год|1795 году]] и хранит ''рукописи''<ref>Каталог, с. 5.</ref>.
== История ==
Коллекция {{#if:да|собрана|потеряна}} в Петербурге; см. [https://example.org сайт] и [[Файл:Нет.png|thumb|подпись]].
* Первый зал
* Второй зал
{| class="wikitable"
! Год !! Тома
|-
| 1800 || 300
|}
<!-- заметка редактора -->
== Примечания ==
<references />
{{Навигация}} {{Нет такого шаблона}}
[[Категория:Библиотеки]]"""
REMAINS = re.compile(
    r"\[\[|\]\]|\{\{|\}\}|'''|<ref|</|&[a-z]+;|==|\{\||\|\}|\[править|править код|↑|Категория:|заметка"
)


@pytest.fixture(scope="module")
def editor(mediawiki: str) -> Editor:
    editor = Editor(mediawiki)
    editor.write(
        "Шаблон:Карточка", '<table class="infobox"><tr><th>Основана</th><td>{{{год}}}</td></tr></table>'
    )
    editor.write("Шаблон:Навигация", '<div class="navbox">[[Статья 1]] [[Статья 2]]</div>')
    editor.write("Библиотека", WIKITEXT)
    for n in (1, 2, 3):
        editor.write(
            f"Статья {n}", f"Статья {n} описывает собрание манускриптов номер {n}. [[Категория:Собрания]]"
        )
    editor.write("Категория:Собрания", "[[Категория:Библиотеки]]")
    editor.write("Категория:Библиотеки", "Всё о библиотеках. [[Категория:Собрания]]")  # a circle
    editor.write("Старое имя", "#REDIRECT [[Библиотека]]")
    editor.write("Скрытая", "Эту страницу просят не хранить. __NOINDEX__")
    return editor


def titles(shelf: Shelf) -> set[str]:
    return {one.title for one in shelf.documents.values()}


@pytest.mark.covers("T3")
def test_all_pages_of_a_wiki_without_remains(mediawiki: str, editor: Editor, polite: PoliteFetcher) -> None:
    shelf = Shelf()
    items = shelf.fill(WikiSource(mediawiki), polite)
    assert {"Библиотека", "Статья 1", "Статья 2", "Статья 3"} <= titles(shelf)
    assert "Старое имя" not in titles(shelf)
    for one in shelf.documents.values():
        assert one.text and not REMAINS.search(one.text), one.text
    (library,) = (one for one in shelf.documents.values() if one.title == "Библиотека")
    assert library.text == "\n\n".join(
        [
            "Библиотека основана в 1795 году и хранит рукописи.",
            "История",
            "Коллекция собрана в Петербурге; см. сайт и",
            "подпись",
            ".",
            "Первый зал",
            "Второй зал",
            "Год\tТома",
            "1800\t300",
        ]
    )
    assert [one.state for one in of(Failed, items)] == ["refused"]  # the page that asks not to be kept
    assert isinstance(items[-1], Complete)


def test_a_wiki_that_changes(mediawiki: str, editor: Editor, polite: PoliteFetcher) -> None:
    editor.write("Недолгая", "Эту страницу скоро удалят, но пока она здесь.")
    editor.write("Прежняя", "Эту страницу скоро переименуют, а слова останутся.")
    shelf = Shelf()
    shelf.fill(WikiSource(mediawiki), polite)
    before = polite.requests
    assert {type(one) for one in told(shelf.fill(WikiSource(mediawiki), polite))} <= {Unchanged}
    assert polite.requests - before <= 6  # questions about changes, none for a page
    editor.write("Статья 1", "Статья 1 теперь другая, и слов в ней больше, чем было.")
    editor.write("Новая", "Этой страницы раньше не было в библиотеке вовсе.")
    editor.do("delete", title="Недолгая")
    editor.do("move", **{"from": "Прежняя", "to": "Нынешняя"})
    editor.write("Статья 3", "#REDIRECT [[Статья 2]]")
    items = shelf.fill(WikiSource(mediawiki), polite)
    assert {one.title for one in of(Found, items)} == {"Статья 1", "Новая", "Нынешняя"}
    assert len(of(Gone, items)) == 2
    assert not {"Недолгая", "Прежняя", "Статья 3"} & titles(shelf)
    again = Shelf()
    again.fill(WikiSource(mediawiki), polite)
    assert set(again.documents) == set(shelf.documents)
    editor.write("Статья 3", "Статья 3 описывает собрание манускриптов номер 3. [[Категория:Собрания]]")


def test_a_category_and_a_search(mediawiki: str, editor: Editor, polite: PoliteFetcher) -> None:
    for depth, wanted in ((0, {"Библиотека"}), (3, {"Библиотека", "Статья 2", "Статья 3"})):
        shelf = Shelf()
        shelf.fill(WikiSource(mediawiki, category="Категория:Библиотеки", depth=depth), polite)
        assert wanted <= titles(shelf) <= wanted | {"Статья 1"}
    shelf = Shelf()
    shelf.fill(WikiSource(mediawiki, search="рукописи"), polite)
    assert titles(shelf) == {"Библиотека"}


def test_the_front_page_tells_of_the_wiki(mediawiki: str, editor: Editor, polite: PoliteFetcher) -> None:
    host = mediawiki.removesuffix("/w/api.php")
    assert tell_source(f"{host}/", polite).kind == "wiki"
    one = tell_source(f"{host}/wiki/Библиотека", polite)
    assert titles_of(one, polite) == {"Библиотека"}
    category = tell_source(f"{host}/wiki/Категория:Собрания", polite)
    assert {"Статья 2"} <= titles_of(category, polite) <= {"Статья 1", "Статья 2", "Статья 3"}


def titles_of(source: Any, fetcher: PoliteFetcher) -> set[str]:
    shelf = Shelf()
    shelf.fill(source, fetcher)
    return titles(shelf)


# The repository


def test_a_repository_whole_by_set_and_again(repository: str, polite: PoliteFetcher) -> None:
    shelf = Shelf()
    shelf.fill(OaiSource(repository), polite)
    assert len(shelf.documents) == 245  # 250, of which 5 are deleted
    one = shelf.documents["oai:library.test:1"]
    assert one.text == "Документ 1: цифровая библиотека\n\nАннотация документа 1."
    assert list(told(shelf.fill(OaiSource(repository), polite))) == []
    theses = Shelf()
    theses.fill(OaiSource(repository, sets=["theses"], full_text=False), polite)
    assert len(theses.documents) == 120
    assert all(int(id.rsplit(":", 1)[-1]) % 2 for id in theses.documents)
    part = Shelf()
    part.fill(OaiSource(repository, since="2020-01-10", until="2020-01-10", full_text=False), polite)
    assert {one.version[:10] for one in part.documents.values()} == {"2020-01-10"}


def test_a_repository_in_pieces(repository: str, polite: PoliteFetcher) -> None:
    assert tell_source(repository, polite).kind == "oai"
    straight, pieces = Shelf(), Shelf()
    source = OaiSource(repository, full_text=False)
    straight.fill(source, polite)
    for checkpoints in (1, 3, 7):
        pieces.fill(source, polite, kill_after=checkpoints)
    pieces.fill(source, polite)
    assert pieces.documents == straight.documents


# Into a library


def test_a_library_of_a_wiki_and_a_repository(
    mediawiki: str, editor: Editor, repository: str, polite: PoliteFetcher, tmp_path: pathlib.Path
) -> None:
    with doublet.open_library(tmp_path / "both.db", "both") as library:
        first = library.add_source(
            doublet.WebAddress(mediawiki),
            fetcher=polite,
            category="Категория:Собрания",
            filling=Filling(min_words=3),
        )
        second = library.add_source(
            doublet.WebAddress(repository), fetcher=polite, full_text=False, filling=Filling(min_words=3)
        )
        assert (first.kind, second.kind) == ("wiki", "oai")
        assert first.stored >= 1
        assert second.stored == 245
        again = library.update(fetcher=polite, filling=Filling(min_words=3))
        assert [(one.stored, one.message) for one in again] == [(0, None), (0, None)]
        wiki_page = next(one for one in library.documents() if "curid=" in one.id)
        assert wiki_page.title.startswith("Статья")
        assert wiki_page.address.startswith(mediawiki.removesuffix("/w/api.php"))


# The site


def test_the_sitemap_of_a_site(site: str, states: pathlib.Path, polite: PoliteFetcher) -> None:
    source = tell_source(f"{site}/", polite)
    assert source.kind == "sitemap"
    shelf = Shelf()
    items = shelf.fill(source, polite)
    failed = {one.id.removeprefix(site): one.state for one in of(Failed, items)}
    assert failed == {
        "/slow/drip.html": "failed",
        "/links/noindex.html": "refused",
        "/links/xrobots.html": "refused",
        "/odd/empty.html": "empty",
        "/dup/print/copy0.html": "duplicate",
    }
    assert len(shelf.documents) == 56
    for name in ("cp1251", "koi8r", "cp866", "utf8bom"):
        for place in (f"enc/header-{name}", "enc/meta", "enc/none"):
            found = shelf.documents[f"{site}/{place}/{name}.html"]
            declared = f"{found.media_type}; charset={found.charset}" if found.charset else found.media_type
            text = read_document(found.data, name=found.name, declared_type=declared).text
            assert "Электронная библиотека хранит оцифрованные рукописи" in text, (place, name)


def test_a_site_again(site: str, states: pathlib.Path, polite: PoliteFetcher) -> None:
    only = ["/cond/", "/changing/"]
    shelf = Shelf()
    source = SitemapSource(f"{site}/sitemap.xml", only=only, trust_dates=False)
    shelf.fill(source, polite)
    assert len(shelf.documents) == 5
    log = next(states.glob("site-*/access.log"))
    before = log.read_text().count("\n")
    items = shelf.fill(source, polite)
    assert {type(one) for one in told(items)} == {Unchanged}
    lines = log.read_text().splitlines()[before:]
    answers = {line.split('"')[1].split()[1]: line.split('"')[2].split()[0] for line in lines}
    assert answers["/cond/static.html"] == "304"
    assert answers["/cond/novalidators.html"] == "200"  # the same bytes
    trusting = SitemapSource(f"{site}/sitemap.xml", only=only)
    trusted = Shelf()
    trusted.fill(trusting, polite)
    before = log.read_text().count("\n")
    trusted.fill(trusting, polite)
    asked = [line.split('"')[1].split()[1] for line in log.read_text().splitlines()[before:]]
    assert set(asked) <= {"/sitemap.xml", "/sitemap-pages.xml.gz", "/robots.txt"}


# The robot


@pytest.mark.covers("L1", "L3", "R1", "R2")
def test_the_robot_reads_a_wiki(
    mediawiki: str, editor: Editor, polite: PoliteFetcher, tmp_path: pathlib.Path
) -> None:
    """From link to link, as anybody who does not know that it is a wiki."""
    names = [f"Опись {n}" for n in range(1, 13)]
    for n, name in enumerate(names):
        words = " ".join(f"лист{n}и{place} хранится в ящике{n * place % 17}" for place in range(20))
        editor.write(name, f"Эта опись перечисляет бумаги. {words}. Дальше: [[Опись {n + 2}]].")
    editor.write("Указатель", "\n".join(f"* [[{name}]]" for name in names))
    host = mediawiki.removesuffix("/w/api.php")
    with Store(str(tmp_path / "libraries.db")) as store:
        store.libraries.create("wiki")
        made = crawl_library(
            store, "wiki", f"{host}/wiki/Указатель", fetcher=polite, wish=Wish(only=["Опись"])
        )
        found = {document.title: document.address for document in store.documents.all("wiki")}
    assert {title.partition(" — ")[0] for title in found} == set(names)
    assert not [address for address in found.values() if "index.php" in address]
    assert made.waiting == 0


@pytest.mark.covers("L3", "R1", "R2", "R5")
def test_the_robot_on_a_site_with_bad_manners(
    site: str,
    states: pathlib.Path,
    polite: PoliteFetcher,
    tmp_path: pathlib.Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("doublet.crawl.standing.BACK_OFF_S", 0.01)
    log = next(states.glob("site-*/access.log"))
    before = len(log.read_text(encoding="utf-8").splitlines())
    with Store(str(tmp_path / "libraries.db")) as store:
        store.libraries.create("site")
        made = crawl_library(
            store,
            "site",
            f"{site}/",
            fetcher=polite,
            wish=Wish(skip=["/trap/", "/slow/", "/docs/"]),
            crawling=Crawling(limit=400),
        )
        found = {
            document.id.removeprefix(site): text
            for batch in store.documents.batches("site")
            for document, text in batch
        }
    assert made.fetched < 400, "the site has an end"
    asked = [
        line.split('"')[1].split(" ")[1] for line in log.read_text(encoding="utf-8").splitlines()[before:]
    ]
    assert not [target for target in asked if target.startswith(("/private/", "/trap/", "/slow/"))]
    encodings = [text for path, text in found.items() if path.startswith("/enc/")]
    assert encodings and all("оцифрованные рукописи" in text for text in encodings)
