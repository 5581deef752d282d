"""Wikis: which pages, in which revision, and what of a page is text."""

from __future__ import annotations

import pytest

from doublet.errors import ConfigError, InputUnreadable
from doublet.sources import wiki as wikis
from doublet.sources.protocol import Complete, Failed, Found, Gone, Unchanged
from doublet.sources.wiki import WikiSource, article_text, find_api, title_of
from source_shelf import NoAnswer, Page, Shelf, Web, of, page, told
from wiki_site import API, FRONT, Article, Wiki, wiki

pytestmark = pytest.mark.covers("L7")

SCRIPT = "https://wiki.test/w/index.php"


def site(there: Wiki) -> Web:
    head = f'<link rel="EditURI" type="application/rsd+xml" href="{API}?action=rsd">'
    return Web({f"{API}?*": there, FRONT: page(f"<html><head>{head}</head><body>Wiki</body></html>")})


def source(**more: object) -> WikiSource:
    return WikiSource(API, pause=lambda _: None, **more)  # type: ignore[arg-type]


def test_it_works() -> None:
    there = wiki()
    there.articles[3].redirect = True
    shelf = Shelf()
    items = shelf.fill(source(), site(there))
    assert len(shelf.documents) == 6
    found = shelf.documents[f"{SCRIPT}?curid=2"]
    assert (found.title, found.version) == ("Page 2", "200")
    assert found.address == "https://wiki.test/wiki/Page%202"
    assert found.text == "Статья Page 2 рассказывает о библиотеках."
    assert found.time == "2026-02-01T00:00:00Z"
    assert isinstance(items[-1], Complete)


def test_any_page_of_the_wiki_will_do() -> None:
    web = site(wiki())
    web.forbidden = ("https://wiki.test/w/",)  # for robots; the API is for programs
    assert find_api(web, FRONT) == API
    assert len(of(Found, Shelf().fill(WikiSource(FRONT), web))) == 7


def test_an_api_that_no_page_names() -> None:
    web = Web({"https://wiki.test/api.php?*": wiki(), "https://wiki.test/x": NoAnswer("closed")})
    assert find_api(web, "https://wiki.test/x") == "https://wiki.test/api.php"
    inside = Web(
        {"https://wiki.test/my/api.php?*": wiki(), "https://wiki.test/my/index.php/A": page("<p>A page.")}
    )
    assert find_api(inside, "https://wiki.test/my/index.php/A") == "https://wiki.test/my/api.php"
    assert (
        find_api(Web({"https://site.test/": page("<html><body>A site.</body></html>")}), "https://site.test/")
        == ""
    )


def test_a_second_walk_asks_for_changes() -> None:
    there, shelf = wiki(), Shelf()
    web = site(there)
    shelf.fill(source(), web)
    there.now = "2026-03-02T00:00:00Z"
    there.articles[2].revision = 999
    there.articles[9] = Article(9, "Page 9")
    there.articles[4].redirect = True
    del there.articles[5]
    there.changes = [{"pageid": n, "timestamp": "2026-03-01T12:00:00Z"} for n in (2, 9, 4, 0)]
    there.changes.append({"pageid": 6, "timestamp": "2026-02-28T12:00:00Z"})  # before the first walk
    there.log = [{"pageid": 0, "logpage": 5, "type": "delete", "timestamp": "2026-03-01T12:00:00Z"}]
    there.asked.clear()
    items = shelf.fill(source(), web)
    assert {one.id for one in of(Found, items)} == {f"{SCRIPT}?curid={n}" for n in (2, 9)}
    assert {one.id for one in of(Gone, items)} == {f"{SCRIPT}?curid={n}" for n in (4, 5)}
    assert not any("generator" in asked for asked in there.asked)
    assert not of(Complete, items)
    assert len(shelf.documents) == 6


def test_nothing_changed() -> None:
    there, shelf = wiki(), Shelf()
    shelf.fill(source(), site(there))
    assert list(told(shelf.fill(source(), site(there)))) == []


@pytest.mark.parametrize("reason", ["long ago", "too many", "no log"])
def test_when_changes_do_not_help_the_list_is_read(reason: str, monkeypatch: pytest.MonkeyPatch) -> None:
    there, shelf = wiki(), Shelf()
    shelf.fill(source(), site(there))
    there.now = "2026-09-01T00:00:00Z" if reason == "long ago" else there.now
    there.changes = [{"pageid": n, "timestamp": there.now} for n in range(1, 8)]
    if reason == "too many":
        monkeypatch.setattr(wikis, "MAX_CHANGES", 3)
    if reason == "no log":
        plain = there.answer
        there.answer = lambda asked: (
            {"error": {"code": "readapidenied"}} if asked.get("list") else plain(asked)
        )  # type: ignore[method-assign]
    del there.articles[5]
    items = shelf.fill(source(), site(there))
    assert {type(one) for one in told(items)} == {Unchanged}
    assert isinstance(items[-1], Complete)
    assert len(shelf.documents) == 6  # the deleted page is gone with it


def test_a_category_with_those_below_it() -> None:
    there = wiki(6)
    there.articles[1].categories = ("Category:Books",)
    there.articles[2].categories = ("Category:Old books", "Category:Books")
    there.articles[3].categories = ("Category:Very old books",)
    there.articles |= {
        20: Article(20, "Category:Old books", namespace=14, categories=("Category:Books",)),
        21: Article(21, "Category:Very old books", namespace=14, categories=("Category:Old books",)),
        22: Article(22, "Category:Books", namespace=14, categories=("Category:Very old books",)),  # a circle
    }
    for depth, pages in ((0, {1, 2}), (1, {1, 2}), (2, {1, 2, 3}), (9, {1, 2, 3})):
        shelf = Shelf()
        shelf.fill(source(category="Books", depth=depth), site(there))
        assert set(shelf.documents) == {f"{SCRIPT}?curid={n}" for n in pages}
    there.articles[2].categories = ()
    shelf.fill(source(category="Category:Books", depth=9), site(there))
    assert set(shelf.documents) == {f"{SCRIPT}?curid={n}" for n in (1, 3)}  # it left the category


def test_a_category_that_lost_everything_takes_nothing_away() -> None:
    there, shelf = wiki(2), Shelf()
    there.articles[1].categories = ("Category:Books",)
    shelf.fill(source(category="Books"), site(there))
    there.articles[1].categories = ("Category:Volumes",)
    assert list(told(shelf.fill(source(category="Books"), site(there)))) == []
    assert len(shelf.documents) == 1


@pytest.mark.parametrize("knows", [True, False])
def test_a_search_looks_into_the_text(knows: bool) -> None:
    there = wiki(knows_srwhat=knows)
    there.articles[4].html = "<p>Only here are manuscripts.</p>"
    shelf = Shelf()
    items = shelf.fill(source(search="manuscripts"), site(there))
    assert list(shelf.documents) == [f"{SCRIPT}?curid=4"]
    assert not of(Complete, items)


def test_pages_by_title() -> None:
    items = Shelf().fill(source(titles=["Page 3", "Nothing"]), site(wiki()))
    assert [one.title for one in of(Found, items)] == ["Page 3"]
    assert [one.id for one in of(Failed, items)] == ["Nothing"]


def test_the_older_form_of_the_api() -> None:
    there = wiki(modern=False)
    there.articles[2].noindex = True
    items = Shelf().fill(source(), site(there))
    assert len(of(Found, items)) == 6
    assert [one.state for one in of(Failed, items)] == ["refused"]


def test_a_busy_wiki_is_waited_for() -> None:
    waits: list[float] = []
    there = wiki(busy=3)
    shelf = Shelf()
    shelf.fill(WikiSource(API, pause=waits.append), site(there))
    assert len(shelf.documents) == 7
    assert waits == [7.0, 7.0, 7.0]
    assert there.asked[-1]["maxlag"] == "5"
    with pytest.raises(InputUnreadable, match="lagged"):
        Shelf().fill(WikiSource(API, pause=waits.append), site(wiki(busy=99)))


@pytest.mark.covers("R1")
def test_pages_that_forbid_to_be_kept() -> None:
    there, shelf = wiki(2), Shelf()
    there.articles[1].noindex = True
    assert [one.state for one in of(Failed, shelf.fill(source(), site(there)))] == ["refused"]
    there.asked.clear()
    shelf.state.pop("since")
    shelf.fill(source(), site(there))
    assert not [asked for asked in there.asked if asked["action"] == "parse"]
    there.articles[2].noindex, there.articles[2].revision = True, 201
    shelf.state.pop("since")
    assert [type(one) for one in told(shelf.fill(source(), site(there)))][:2] == [Unchanged, Gone]


def test_one_page_that_cannot_be_rendered() -> None:
    there, shelf = wiki(3), Shelf()
    there.broken_pages = {2}
    there.articles[3].html = "<div class='toc'>Contents</div>"
    failed = of(Failed, shelf.fill(source(), site(there)))
    assert [(one.id[-1], one.state) for one in failed] == [("2", "failed"), ("3", "empty")]


def test_a_list_that_breaks_off_goes_on_next_time() -> None:
    there, shelf = wiki(9), Shelf()
    plain = there.answer
    there.answer = lambda asked: {"error": {"code": "x"}} if asked.get("start") == "6" else plain(asked)  # type: ignore[method-assign]
    items = shelf.fill(source(), site(there))
    assert "goes on" in str(of(Failed, items)[0].reason)
    assert not of(Complete, items)
    assert len(shelf.documents) == 6
    there.answer = plain  # type: ignore[method-assign]
    there.asked.clear()
    shelf.fill(source(), site(there))
    assert len(shelf.documents) == 9
    assert len([asked for asked in there.asked if asked["action"] == "parse"]) == 3


def test_a_limit_is_told_and_takes_nothing_away() -> None:
    items = Shelf().fill(source(max_documents=2), site(wiki()))
    assert len(of(Found, items)) == 2
    assert [one.state for one in of(Failed, items)] == ["too_large"]
    assert not of(Complete, items)


@pytest.mark.parametrize(
    "body", [b"", b"<html>", b"[]", b'{"error": {"code": "readapidenied", "info": "members only"}}', b"{}"]
)
def test_what_is_no_wiki(body: bytes) -> None:
    with pytest.raises(InputUnreadable, match=r"wiki\.test"):
        Shelf().fill(source(), Web({f"{API}?*": Page(body, type="application/json")}))


def test_wrong_use() -> None:
    with pytest.raises(ConfigError, match="exclude"):
        WikiSource(API, category="a", search="b")
    with pytest.raises(InputUnreadable):
        WikiSource("wiki")
    assert title_of("https://w.test/wiki/A_b%20c", "/wiki/$1") == "A b c"
    assert title_of("https://w.test/w/index.php?title=A_b", "/wiki/$1") == "A b"
    assert title_of("https://w.test/", "/wiki/$1") == ""


ARTICLE = """
<div class="hatnote">О городе см. другую статью.</div>
<table class="ambox metadata"><tr><td>В статье не хватает ссылок.</td></tr></table>
<table class="infobox"><tr><th>Основана</th><td>1795</td></tr></table>
<p><b>Библиотека</b> основана в 1795 году<sup id="cite_ref-1" class="reference"><a href="#cite_note-1">[1]</a></sup>
и хранит <a href="/wiki/Рукопись" title="Рукопись">рукописи</a><span class="mw-editsection">[<a>править</a>]</span>.</p>
<div id="toc" class="toc"><h2>Содержание</h2><ul><li><a href="#История">1 История</a></li></ul></div>
<h2><span class="mw-headline" id="История">История</span><span class="mw-editsection">[<a>править</a>]</span></h2>
<h3>Начало</h3>
<p>Первая коллекция, <math>x^2</math><span class="mwe-math-mathml-inline" style="display: none;">x^2</span> томов.</p>
<ul><li>Первый зал</li><li>Второй зал</li></ul>
<table class="wikitable"><tr><th>Год</th><th>Тома</th></tr><tr><td>1800</td><td>300</td></tr></table>
<p><a class="new" title="Шаблон:Нет (страница не существует)">Шаблон:Нет</a></p>
<div class="thumbinner"><a title="Файл:Нет.png">Файл:Нет.png</a></div>
<div class="thumb"><div class="thumbcaption"><div class="magnify"><a>x</a></div>Читальный зал</div></div>
<h2>См. также</h2><div role="navigation"><a>Порталы</a></div>
<h2>Примечания</h2>
<div class="reflist"><ol class="references"><li><span class="mw-cite-backlink">↑</span> Каталог, 5.</li></ol></div>
<table class="navbox"><tr><td>Библиотеки мира</td></tr></table>
<style>.x{}</style>
"""


@pytest.mark.covers("T3")
def test_of_a_page_only_the_article_remains() -> None:
    assert article_text(ARTICLE) == "\n\n".join(
        [
            "Библиотека основана в 1795 году и хранит рукописи.",
            "История",
            "Начало",
            "Первая коллекция, томов.",
            "Первый зал",
            "Второй зал",
            "Год\tТома",
            "1800\t300",
            "Читальный зал",
        ]
    )


@pytest.mark.parametrize("html", ["", "   ", "<div></div>", "<h2>Only a heading</h2>"])
def test_a_page_without_an_article(html: str) -> None:
    assert article_text(html) == ""
