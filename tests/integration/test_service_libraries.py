"""What the service knows of its libraries: search in texts, duplicates inside and between, statistics, evaluation."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator

import pytest

from doublet.store.database import Store
from web_service import Browser, Service, running

pytestmark = pytest.mark.covers("L6", "L8", "S1", "E2")
TEXT = (
    "Синие договоры о поставке воды были подписаны в старом доме на берегу реки, и каждый год их продлевали "
    "после долгих разговоров о цене, качестве и сроках, которые никто из присутствующих не мог назвать точно."
)
OTHER = (
    "The lighthouse keeper wrote down every ship that passed, its flag, its sails and the weather of the day."
)


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    with running(tmp_path_factory.mktemp("libraries"), "--empty", "--checkers", "0") as made:
        for name in ("One", "Two/2"):
            with Store(str(made.folder / "service.db")) as store:
                from doublet.model import Document

                store.libraries.create(name)
                documents = [Document(f"d{n}", text, time="2021") for n, text in enumerate((TEXT, OTHER))]
                store.documents.add(name, documents)
        yield made


@pytest.fixture(scope="module")
def administrator(service: Service) -> Browser:
    return service.administrator()


def until(browser: Browser, path: str, word: str) -> str:
    end = time.monotonic() + 90
    while time.monotonic() < end:
        page = browser.get(path).text
        if word in page:
            return page
        time.sleep(0.3)
    raise AssertionError(f"{path} never says {word}")


@pytest.mark.parametrize(
    ("query", "found"),
    [("договор", ["d0"]), ("SHIPS passing", ["d1"]), ("договор ships", []), ("d1", ["d1"])],
)
def test_documents_are_found_by_their_words(administrator: Browser, query: str, found: list[str]) -> None:
    import urllib.parse

    page = administrator.get(f"/libraries/One/documents/?q={urllib.parse.quote(query)}")
    assert re.findall(r"document/\?id=(\w+)", page.text) == found
    if query == "договор":
        assert "<mark>договоры</mark>" in page.text


def test_words_of_a_document_that_was_added_later(service: Service, administrator: Browser) -> None:
    from doublet.model import Document

    with Store(str(service.folder / "service.db")) as store:
        store.documents.add("One", [Document("late", "Zebras graze beside the quiet observatory at dusk.")])
    assert "id=late" in administrator.get("/libraries/One/documents/?q=zebra").text
    with Store(str(service.folder / "service.db")) as store:
        store.documents.remove("One", ["late"])
    assert "id=late" not in administrator.get("/libraries/One/documents/?q=zebra").text


def test_duplicates_between_libraries_and_decisions_that_stay(
    service: Service, administrator: Browser
) -> None:
    administrator.get("/duplicates/")
    administrator.post("/duplicates/", [("do", "search"), ("libraries", "One"), ("libraries", "Two/2")])
    page = until(administrator, "/duplicates/", "Not duplicates")
    assert page.count('value="different"') == 2
    fields = dict(re.findall(r'name="(a_library|a|b_library|b)" value="([^"]*)"', page)[:4])
    assert {fields["a_library"], fields["b_library"]} == {"One", "Two/2"}
    query = "&".join(f"{name}={value.replace('/', '%2F')}" for name, value in fields.items())
    assert "100%" in administrator.get(f"/duplicates/pair/?{query}").text
    administrator.post("/duplicates/", {**fields, "do": "different"})
    # A new search does not forget it, and somebody else sees who decided.
    administrator.get("/duplicates/")
    administrator.post("/duplicates/", [("do", "search"), ("libraries", "One"), ("libraries", "Two/2")])
    reader = service.browser(*service.invite("reader"))
    seen = until(reader, "/duplicates/", "not duplicates")
    assert "admin" in seen and 'value="different"' not in seen, "a teacher reads"
    administrator.get("/duplicates/")
    administrator.post("/duplicates/", {**fields, "do": "undo"})
    assert "not duplicates</span>" not in administrator.get("/duplicates/").text


def test_statistics_as_pictures(administrator: Browser) -> None:
    administrator.get("/libraries/One/statistics/")
    administrator.post("/libraries/One/statistics/", {})
    page = until(administrator, "/libraries/One/statistics/", "Documents by year")
    assert "2021" in page and "Russian" in page and '<svg class="bar"' in page


def test_an_evaluation_report_is_kept(service: Service, administrator: Browser) -> None:
    from doublet.evaluation.evaluate import evaluate

    assert "no evaluation yet" in administrator.get("/evaluation/").text
    found = evaluate(
        methods=("shingles",), changes=("sentences-moved",), quick=True, curves=False, groups=False
    )
    with Store(str(service.folder / "service.db")) as store:
        number = store.reports.add(found.to_dict(), kind="evaluation").number
    assert f"/evaluation/{number}/" in administrator.get("/evaluation/").text
    report = administrator.get(f"/evaluation/{number}/")
    assert report.status == 200 and "shingles" in report.text
    assert "sandbox" in report.headers["Content-Security-Policy"]


def test_an_evaluation_is_started_on_the_page_and_taken_out(administrator: Browser) -> None:
    """A large one is stopped in the middle; then one of a single method runs to its end."""
    before = set(re.findall(r"/evaluation/(\d+)/", administrator.get("/evaluation/").text))
    administrator.post("/evaluation/", {"size": "full"})
    page = until(administrator, "/evaluation/", "badge running")
    cancel = re.search(r'action="(/queue/\d+/cancel/)"', page)
    assert cancel
    back = administrator.post(cancel.group(1), {"back": "/evaluation/"})
    assert back.address.endswith("/evaluation/")
    until(administrator, "/queue/", "badge cancelled")
    administrator.get("/evaluation/")
    administrator.post("/evaluation/", {"size": "quick", "method": "simhash"})
    end = time.monotonic() + 120
    while not (
        made := set(re.findall(r"/evaluation/(\d+)/", administrator.get("/evaluation/").text)) - before
    ):
        assert time.monotonic() < end
        time.sleep(0.3)
    report = administrator.get(f"/evaluation/{made.pop()}/").text
    assert "simhash" in report


def test_decisions_about_repeats_are_kept(administrator: Browser) -> None:
    administrator.get("/repeats/")
    made = administrator.post("/repeats/", {"algorithm": "auto"}, {"file": ("a.txt", (OTHER * 3).encode())})
    path = made.address
    assert administrator.post(f"{path}decisions/", {"x": "y"}).status == 400
    secret = re.search(r'name="csrfmiddlewaretoken" value="([^"]+)"', administrator.get("/repeats/").text)
    assert secret
    body = b'{"g1": "merge", "g2": "nonsense"}'
    headers = {"Content-Type": "application/json", "X-CSRFToken": secret.group(1)}
    assert administrator.ask("POST", f"{path}decisions/", body, headers).status == 200
    assert administrator.get(f"{path}decisions/").json()["decisions"] == {"g1": "merge"}
    page = until(administrator, path, "iframe")
    assert '"g1": "merge"' in page
