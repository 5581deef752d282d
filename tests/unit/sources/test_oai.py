"""OAI-PMH: lists in pages, what changed since, full texts behind records, and what real servers do wrong."""

from __future__ import annotations

import pytest

from doublet.errors import ConfigError, InputUnreadable, SourceError
from doublet.sources import oai
from doublet.sources.oai import OaiSource, is_repository, parse_page
from doublet.sources.protocol import Failed, Found, Gone, Unchanged
from oai_repository import BASE, Item, Repository, some
from source_shelf import Forbidden, NoAnswer, Page, Shelf, Web, article, of, told

pytestmark = pytest.mark.covers("L7")

PDF = Page(b"%PDF-1.4 the whole thesis", type="application/pdf")
FILES = "https://repo.test/files"


def web(repository: Repository, **pages: Page | Exception) -> Web:
    return Web({f"{BASE}?*": repository} | pages)


def verbs(repository: Repository) -> list[str]:
    return [asked["verb"] for asked in repository.asked]


def test_it_works() -> None:
    repository = Repository(some(8))
    shelf = Shelf()
    items = shelf.fill(OaiSource(BASE), web(repository))
    found = of(Found, items)
    assert [one.id for one in found] == [f"oai:repo.test:{n}" for n in range(8)]
    assert found[3].text == "Документ 3\n\nАннотация документа 3, слово за словом."
    assert found[3].title == "Документ 3"
    assert found[3].version == "2026-01-04T00:00:03Z"
    assert verbs(repository) == ["Identify", "ListRecords", "ListRecords", "ListRecords"]


def test_the_protocol_is_the_permission() -> None:
    there = web(Repository(some(2)))
    there.forbidden = ("https://repo.test/",)
    assert len(of(Found, Shelf().fill(OaiSource(BASE), there))) == 2
    assert all(address.startswith(BASE) for address in there.asked_past_robots)


def test_a_second_walk_asks_for_what_changed() -> None:
    repository, shelf = Repository(some(5)), Shelf()
    there = web(repository)
    shelf.fill(OaiSource(BASE), there)
    repository.items[1] = Item(1, "2026-06-02T00:00:00Z")
    repository.items[2] = Item(2, "2026-06-02T00:00:00Z", deleted=True)
    repository.items.append(Item(9, "2026-06-02T00:00:00Z"))
    repository.asked.clear()
    items = shelf.fill(OaiSource(BASE), there)
    assert (
        repository.asked[1]["from"] == "2026-05-31T12:00:00Z"
    )  # a day before the first walk, by the server's clock
    assert {one.id for one in of(Found, items)} == {"oai:repo.test:1", "oai:repo.test:9"}
    assert [one.id for one in of(Gone, items)] == ["oai:repo.test:2"]
    assert len(shelf.documents) == 5


def test_nothing_new_is_an_answer() -> None:
    repository, shelf = Repository(some(5)), Shelf()
    shelf.fill(OaiSource(BASE), web(repository))
    assert list(told(shelf.fill(OaiSource(BASE), web(repository)))) == []


def test_what_is_listed_again_is_unchanged() -> None:
    repository, shelf = Repository(some(5), date="2026-01-02T00:00:00Z"), Shelf()
    there = web(repository)
    shelf.fill(OaiSource(BASE), there)
    items = shelf.fill(OaiSource(BASE), there)
    assert [type(one) for one in told(items)] == [Unchanged] * 5


def test_deleted_records_that_were_never_here() -> None:
    repository = Repository([Item(1, "2026-01-01T00:00:00Z", deleted=True)])
    assert list(told(Shelf().fill(OaiSource(BASE), web(repository)))) == []


@pytest.mark.parametrize(
    ("granularity", "asked"),
    [("YYYY-MM-DD", "2026-05-31"), ("YYYY-MM-DDThh:mm:ssZ", "2026-05-31T12:00:00Z"), ("", "2026-05-31")],
)
def test_the_granularity_of_the_server(granularity: str, asked: str) -> None:
    repository, shelf = Repository(some(2), granularity=granularity), Shelf()
    shelf.fill(OaiSource(BASE), web(repository))
    shelf.fill(OaiSource(BASE), web(repository))
    assert repository.asked[-1]["from"] == asked


def test_a_response_date_with_an_offset() -> None:
    repository, shelf = Repository(some(2), date="2026-06-01T15:00:00.123456+03:00"), Shelf()
    shelf.fill(OaiSource(BASE), web(repository))
    assert shelf.state["since"][""] == "2026-05-31T12:00:00Z"


def test_a_response_date_that_is_none() -> None:
    repository, shelf = Repository(some(3), date="today"), Shelf()
    shelf.fill(OaiSource(BASE), web(repository))
    assert shelf.state["since"][""] == "2026-01-03T00:00:02Z"  # the latest record


def test_since_and_until() -> None:
    repository = Repository(some(20))
    items = Shelf().fill(OaiSource(BASE, since="2026-01-05", until="2026-01-07"), web(repository))
    assert [one.id for one in of(Found, items)] == [f"oai:repo.test:{n}" for n in (4, 5, 6)]
    with pytest.raises(ConfigError, match="2024-01-31"):
        OaiSource(BASE, since="yesterday")


def test_sets_and_a_server_that_forgets_them() -> None:
    items = [
        Item(n, f"2026-01-{n + 1:02d}T00:00:00Z", set="theses" if n % 2 else "papers") for n in range(20)
    ]
    for forgets in (False, True):
        repository = Repository(items, forgets_set=forgets)
        shelf = Shelf()
        items_given = shelf.fill(OaiSource(BASE, sets=["theses"]), web(repository))
        assert len(shelf.documents) == 10
        assert len(list(told(items_given))) == 10  # each once, though pages overlap then
        assert all(int(id.rsplit(":", 1)[-1]) % 2 for id in shelf.documents)
    both = Shelf()
    both.fill(OaiSource(BASE, sets=["theses", "papers"]), web(Repository(items)))
    assert len(both.documents) == 20
    assert set(both.state["since"]) == {"theses", "papers"}


def test_a_subset_belongs_to_its_set() -> None:
    repository = Repository([Item(1, "2026-01-01T00:00:00Z", set="theses:law")])
    repository.chosen = lambda asked, ignore_set: repository.items  # type: ignore[method-assign]
    assert len(of(Found, Shelf().fill(OaiSource(BASE, sets=["theses"]), web(repository)))) == 1
    assert len(of(Found, Shelf().fill(OaiSource(BASE, sets=["these"]), web(repository)))) == 0


@pytest.mark.parametrize("order", ["by date", "by chance", "by date at first"])
def test_tokens_that_expire(order: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(oai, "IN_ORDER", 10**6 if order == "by chance" else 3)
    items = some(20)
    if order != "by date":
        items = items[7:] + items[:7]
    repository = Repository(items, in_order=order == "by date")
    shelf = Shelf()
    shelf.fill(OaiSource(BASE), web(repository), kill_after=2)
    repository.given.clear()  # the server was started anew and knows no tokens
    repository.asked.clear()
    shelf.fill(OaiSource(BASE), web(repository))
    restarted = repository.asked[2]
    assert "resumptionToken" not in restarted
    begin = {"by date": "2026-01-06T00:00:05Z", "by chance": "", "by date at first": "2026-01-13T00:00:12Z"}[
        order
    ]
    assert restarted.get("from", "") == begin
    if order == "by date at first":  # something was passed over, and the next walk finds it
        assert len(shelf.documents) == 13
        repository.asked.clear()
        shelf.fill(OaiSource(BASE), web(repository))
    assert len(shelf.documents) == 20
    shelf.fill(OaiSource(BASE), web(repository))
    shelf.fill(OaiSource(BASE), web(repository))
    assert repository.asked[-1]["from"] == "2026-05-31T12:00:00Z"


def test_tokens_that_never_work() -> None:
    class Forgetful(Repository):
        def listed(self, verb: str, asked: dict[str, str]) -> Page:
            self.given.clear()
            return super().listed(verb, asked)

    repository = Forgetful([Item(n, "2026-01-01T00:00:00Z") for n in range(9)])
    items = Shelf().fill(OaiSource(BASE), web(repository))
    assert [one.state for one in of(Failed, items)] == ["failed"]
    assert len(repository.asked) < 40


def test_the_same_token_again_and_again() -> None:
    class Stuck(Repository):
        def listed(self, verb: str, asked: dict[str, str]) -> Page:
            return self.page(
                f"<ListRecords>{self.record(self.items[0])}<resumptionToken>x</resumptionToken></ListRecords>"
            )

    items = Shelf().fill(OaiSource(BASE), web(Stuck(some(1))))
    assert "again and again" in str(of(Failed, items)[0].reason)


def test_pages_that_cannot_be_read_are_asked_for_by_name() -> None:
    repository = Repository(some(5), breaks_records=True)
    shelf = Shelf()
    shelf.fill(OaiSource(BASE), web(repository))
    assert len(shelf.documents) == 5
    assert verbs(repository).count("GetRecord") == 5
    repository.asked.clear()
    shelf.state.clear()
    shelf.fill(OaiSource(BASE), web(repository))
    assert verbs(repository).count("GetRecord") == 0  # dates are enough


def test_a_list_that_breaks_off_goes_on_next_time() -> None:
    class Breaking(Repository):
        broken = True

        def listed(self, verb: str, asked: dict[str, str]) -> Page:
            if self.broken and "resumptionToken" in asked and len(self.asked) > 3:
                raise NoAnswer("the server answered 500")
            return super().listed(verb, asked)

    repository, shelf = Breaking(some(12)), Shelf()
    there = web(repository)
    assert "goes on from there" in str(of(Failed, shelf.fill(OaiSource(BASE), there))[0].reason)
    assert len(shelf.documents) == 6
    repository.broken = False
    repository.asked.clear()
    shelf.fill(OaiSource(BASE), there)
    assert len(shelf.documents) == 12
    assert "resumptionToken" in repository.asked[1]


# Full texts


def thesis(*links: str, name: str = "identifier") -> Repository:
    fields = {
        "title": ["Диссертация"],
        "description": ["О библиотеках."],
        name: list(links),
        "date": ["2019"],
    }
    return Repository([Item(1, "2026-01-01T00:00:00Z", fields=fields)])


def test_the_pdf_behind_a_record() -> None:
    there = web(thesis("ISBN 5-02", "https://doi.org/10.1/x", f"{FILES}/1.pdf"), **{f"{FILES}/1.pdf": PDF})
    (found,) = of(Found, Shelf().fill(OaiSource(BASE), there))
    assert (found.data, found.text, found.media_type) == (PDF.body, None, "application/pdf")
    assert (found.title, found.time, found.name) == ("Диссертация", "2019", "1.pdf")
    assert there.asked[-1] == f"{FILES}/1.pdf"  # the file first, not the landing page


def test_the_pdf_behind_a_landing_page() -> None:
    head = f'<meta name="citation_pdf_url" content="{FILES}/1.pdf">'
    landing = "https://repo.test/handle/1"
    there = web(thesis(landing), **{landing: article("Landing", head=head), f"{FILES}/1.pdf": PDF})
    (found,) = of(Found, Shelf().fill(OaiSource(BASE), there))
    assert found.data == PDF.body
    assert found.address == f"{FILES}/1.pdf"


def test_signposting() -> None:
    landing = "https://repo.test/handle/1"
    page = article("Landing")
    page.headers["link"] = (
        f'<{landing}/meta>; rel="describedby", <{FILES}/1.pdf>; rel="item"; type="application/pdf"'
    )
    there = web(thesis(landing), **{landing: page, f"{FILES}/1.pdf": PDF})
    assert of(Found, Shelf().fill(OaiSource(BASE), there))[0].data == PDF.body


def test_a_page_that_is_the_article() -> None:
    where = "https://repo.test/article/1"
    long = article("Article", "Предложение статьи, в котором есть слова и точка. " * 80)
    there = web(thesis(where), **{where: long})
    (found,) = of(Found, Shelf().fill(OaiSource(BASE), there))
    assert (found.media_type, found.data) == ("text/html", long.body)


def test_a_landing_page_is_not_the_full_text() -> None:
    where = "https://repo.test/handle/1"
    (found,) = of(Found, Shelf().fill(OaiSource(BASE), web(thesis(where), **{where: article("Landing")})))
    assert found.text == "Диссертация\n\nО библиотеках."
    assert found.address == where


@pytest.mark.parametrize(
    "there", [Page(b"x", status=404), Page(b"x", status=403), Page(b""), Forbidden("robots.txt")]
)
def test_a_link_that_leads_nowhere(there: Page | Exception) -> None:
    shelf = Shelf()
    (found,) = of(
        Found, shelf.fill(OaiSource(BASE), web(thesis(f"{FILES}/1.pdf"), **{f"{FILES}/1.pdf": there}))
    )
    assert found.text
    assert shelf.state["again"] == {}


def test_a_full_text_that_failed_is_tried_again() -> None:
    repository, shelf = thesis(f"{FILES}/1.pdf"), Shelf()
    there = web(repository, **{f"{FILES}/1.pdf": NoAnswer("cut")})
    assert of(Found, shelf.fill(OaiSource(BASE), there))[0].text
    assert list(shelf.state["again"]) == ["oai:repo.test:1"]
    there.pages[f"{FILES}/1.pdf"] = PDF
    assert of(Found, shelf.fill(OaiSource(BASE), there))[0].data == PDF.body
    assert shelf.state["again"] == {}


def test_it_is_not_tried_for_ever() -> None:
    shelf = Shelf()
    there = web(thesis(f"{FILES}/1.pdf"), **{f"{FILES}/1.pdf": NoAnswer("cut")})
    for _ in range(oai.ATTEMPTS + 1):
        shelf.fill(OaiSource(BASE), there)
    assert shelf.state["again"] == {}


def test_relations_are_other_works_unless_they_are_files() -> None:
    other = "https://elsewhere.test/cited-work"
    there = web(thesis(other, name="relation"), **{other: PDF})
    assert of(Found, Shelf().fill(OaiSource(BASE), there))[0].text
    assert other not in there.asked
    there = web(thesis(f"{FILES}/galley.pdf", name="relation"), **{f"{FILES}/galley.pdf": PDF})
    assert of(Found, Shelf().fill(OaiSource(BASE), there))[0].data == PDF.body


def test_links_can_be_left_alone() -> None:
    there = web(thesis(f"{FILES}/1.pdf"), **{f"{FILES}/1.pdf": PDF})
    assert of(Found, Shelf().fill(OaiSource(BASE, full_text=False), there))[0].text
    assert f"{FILES}/1.pdf" not in there.asked


def test_a_record_with_nothing_in_it() -> None:
    repository = Repository([Item(1, "2026-01-01T00:00:00Z", fields={"creator": ["A"]})])
    assert [one.state for one in of(Failed, Shelf().fill(OaiSource(BASE), web(repository)))] == ["empty"]


# Answers


def test_no_namespace_and_what_xml_does_not_allow() -> None:
    repository = Repository(some(2), namespace=False)
    body = repository({}.get("x", f"{BASE}?verb=ListRecords&metadataPrefix=oai_dc")).body
    spoiled = body.replace("Аннотация".encode(), b"R&D \x0b \xff\xfe ")
    page = parse_page(spoiled, BASE)
    assert len(page.records) == 2
    assert "R&D" in (page.records[0].metadata or {})["description"][0]


@pytest.mark.parametrize("cut", [5, 40, 300])
def test_an_answer_that_was_cut_short_is_refused(cut: int) -> None:
    body = Repository(some(2))(f"{BASE}?verb=ListRecords&metadataPrefix=oai_dc").body
    with pytest.raises(InputUnreadable, match="cut short"):
        parse_page(body[:-cut], BASE)


@pytest.mark.parametrize("body", [b"", b"<html><body>x</body></html>", b"<rss/>", b"{}", b"\x00\x01"])
def test_what_is_no_repository(body: bytes) -> None:
    assert not is_repository(body)
    with pytest.raises(SourceError, match=r"repo\.test"):
        Shelf().fill(OaiSource(BASE), Web({f"{BASE}?*": Page(body, type="text/xml")}))


def test_an_entity_bomb_and_an_external_entity(tmp_path) -> None:  # type: ignore[no-untyped-def]
    secret = tmp_path / "secret"
    secret.write_text("password")
    laughs = "".join(f'<!ENTITY l{n} "{f"&l{n - 1};" * 10}">' for n in range(1, 10))
    body = Repository(some(1))(f"{BASE}?verb=ListRecords&metadataPrefix=oai_dc").body.decode()
    for declared, use in (
        (f'<!ENTITY l0 "lol">{laughs}', "&l9;"),
        (f'<!ENTITY x SYSTEM "file://{secret}">', "&x;"),
    ):
        hostile = body.replace("<OAI-PMH", f"<!DOCTYPE r [{declared}]><OAI-PMH", 1).replace("Аннотация", use)
        try:
            page = parse_page(hostile.encode(), BASE)
        except InputUnreadable:
            continue
        assert "password" not in str(page)
        assert len(str(page)) < 100_000


def test_a_format_that_the_repository_has_not() -> None:
    with pytest.raises(InputUnreadable, match="it has: oai_dc"):
        Shelf().fill(OaiSource(BASE, prefix="mods"), web(Repository(some(1))))


def test_other_formats() -> None:
    body = """<OAI-PMH><GetRecord><record><header><identifier>1</identifier><datestamp>2026-01-01</datestamp></header>
      <metadata><mods:mods xmlns:mods="http://m" xmlns:xlink="http://x"><mods:titleInfo><mods:title>T</mods:title>
      </mods:titleInfo><mods:abstract>About</mods:abstract><mods:location><mods:url>https://repo.test/1.pdf</mods:url>
      </mods:location></mods:mods></metadata></record></GetRecord></OAI-PMH>"""
    (record,) = parse_page(body.encode(), BASE).records
    assert record.metadata is not None
    assert (record.metadata["title"], record.metadata["description"]) == (["T"], ["About"])
    assert record.metadata["url"] == ["https://repo.test/1.pdf"]


def test_identifiers_that_mean_something_here_only() -> None:
    class Plain(Repository):
        def header(self, item: Item) -> str:
            return super().header(item).replace("oai:repo.test:", "")

    (found,) = of(Found, Shelf().fill(OaiSource(BASE), web(Plain(some(1)))))
    assert found.id == f"{BASE}#0"


def test_an_address_with_a_verb_in_it() -> None:
    assert OaiSource(f"{BASE}?verb=Identify").address == BASE
    assert OaiSource("https://repo.test/index.php?page=oai").address == "https://repo.test/index.php?page=oai"


def test_seconds_that_are_announced_and_not_taken() -> None:
    class Days(Repository):
        def listed(self, verb: str, asked: dict[str, str]) -> Page:
            return self.error("badArgument") if "T" in asked.get("from", "") else super().listed(verb, asked)

    repository, shelf = Days(some(2)), Shelf()
    shelf.fill(OaiSource(BASE), web(repository))
    shelf.fill(OaiSource(BASE), web(repository))
    assert repository.asked[-1]["from"] == "2026-05-31"


def test_other_sets_than_last_time() -> None:
    items = [Item(n, "2026-01-01T00:00:00Z", set="theses" if n % 2 else "papers") for n in range(20)]
    repository, shelf = Repository(items), Shelf()
    shelf.fill(OaiSource(BASE, sets=["theses"]), web(repository), kill_after=1)
    shelf.fill(OaiSource(BASE, sets=["papers"]), web(repository))
    assert set(range(0, 20, 2)) <= {int(id.rsplit(":", 1)[-1]) for id in shelf.documents}
