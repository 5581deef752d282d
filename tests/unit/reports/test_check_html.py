"""The page of a check: nothing of a text gets out of its place, every fragment has its id, and all words are there."""

from __future__ import annotations

import html.parser
import re
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from doublet.errors import InvalidParameter
from doublet.jobs.check import check
from doublet.model import (
    Check,
    Disguise,
    DisguiseFinding,
    Document,
    Fragment,
    LeftOut,
    Note,
    Outcome,
    SourceMatch,
    Span,
)
from doublet.reports.check_html import check_page
from doublet.reports.check_view import cut, excerpts, to_the_minute
from doublet.reports.page import escape
from doublet.reports.wording import wording

VOID = {"meta", "input", "br"}


class Page(html.parser.HTMLParser):
    """What a reader sees of a page: the text of the document, of each passage, and the ids."""

    def __init__(self, page: str) -> None:
        super().__init__(convert_charrefs=True)
        self.stack: list[dict[str, str]] = []
        self.ids: list[str] = []
        self.scripts = 0
        self.document = ""
        self.marked: dict[str, str] = {}  # fragment → its characters in the document
        self.beside: dict[str, str] = {}  # the same in the source
        self.links: list[str] = []
        self.feed(page)
        self.close()
        assert not self.stack, "an element is left open"

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        known = {"tag": tag} | {key: value or "" for key, value in attrs}
        assert not any(key.startswith("on") for key in known), "a handler inside an element"
        self.scripts += tag == "script"
        if "id" in known:
            self.ids.append(known["id"])
        if "href" in known:
            self.links.append(known["href"])
        if tag not in VOID:
            self.stack.append(known)

    def handle_endtag(self, tag: str) -> None:
        assert self.stack.pop()["tag"] == tag

    def handle_data(self, data: str) -> None:
        classes = [one.get("class", "").split() for one in self.stack]
        if not any("text" in names for names in classes):
            return
        if any({"n", "why", "vh", "gap"} & set(names) for names in classes):
            return
        inside = any(one.get("id") == "document" for one in self.stack)
        if inside:
            self.document += data
        for one in self.stack:
            for fragment in one.get("data-f", "").split():
                where = self.marked if inside else self.beside
                where[fragment] = where.get(fragment, "") + data


def source(
    number: int, spans: list[tuple[Span, Span]], text: str, kind: str = "verbatim", **more: str
) -> SourceMatch:
    fragments = tuple(
        Fragment(f"s{number}f{i}", a, b, kind, 1.0, max(1, (a.end - a.start) // 5))
        for i, (a, b) in enumerate(spans, 1)
    )
    return SourceMatch(
        f"doc{number}", more.pop("title", ""), 0.5, 0.25, 0.5, 0.5, fragments, text=text, **more
    )


def made(*sources: SourceMatch, **more: object) -> Check:
    values: dict[str, object] = {
        "words": 10,
        "share": 0.5,
        "sources": sources,
        "documents": 3,
        "parameters": {"shingle_words": 4},
        "disguise": Disguise(),
    }
    return Check(**(values | more))  # type: ignore[arg-type]


TEXT = "One two three four five six seven eight nine ten."


@pytest.mark.covers("K2", "S4")
def test_it_works() -> None:
    other = "Before. two three four five. After."
    a, b = Span(4, 27), Span(8, 27)
    page = check_page(made(source(1, [(a, b)], other, title="Numbers")), TEXT, name="essay.txt")
    read = Page(page)
    assert read.document == TEXT
    assert read.marked == {"s1f1": TEXT[4:27]}
    assert read.beside == {"s1f1": other[8:27]}
    assert read.ids.count("s1f1") == 1
    assert "#s1f1" in read.links
    assert "Check of essay.txt" in page
    assert "50%" in page
    assert "words in a shingle" in page


def test_real_check() -> None:
    text = "Nobody in the village remembered who had built the old stone bridge over the river. My own words follow."
    result = check(text, [("a", f"An old tale. {text[:84]} Then it goes on.")])
    read = Page(check_page(result, text))
    assert read.document == text
    assert set(read.marked) == {one.id for one in result.fragments}
    for one in result.fragments:
        assert read.marked[one.id] == text[one.span.start : one.span.end]
        assert read.beside[one.id] == one.source.text[one.source_span.start : one.source_span.end]


@pytest.mark.covers("K2")
def test_nothing_found() -> None:
    page = check_page(made(share=0.0), TEXT)
    assert "No source was found" in page
    assert Page(page).document == TEXT


def test_empty_text() -> None:
    result = made(words=0, share=0.0, notes=(Note("text_without_words"),))
    assert "в тексте нет слов" in check_page(result, "", language="ru")
    assert Page(check_page(result, "")).document == ""


def test_source_without_fragments_is_listed() -> None:
    page = check_page(made(source(1, [], "", title="Whole work")), TEXT)
    assert "Whole work" in page
    assert not Page(page).marked


HOSTILE = (
    "</script><script>alert(1)</script>",
    "\"' onmouseover='alert(1)' x=\"",
    "<!--",
    "]]>",
    "&lt;&amp;&#0;",
    "nul\x00 bell\x07 escape\x1b[31m",
    "right\u202eto left\u2066",
    "half \ud800 character",
    "</style><img src=x onerror=alert(1)>",
    "{name} %s {0}",
)


@pytest.mark.parametrize("bad", HOSTILE)
@pytest.mark.parametrize("language", ["en", "ru"])
def test_hostile(bad: str, language: str) -> None:
    text = f"{bad} one two {bad} three"
    end = len(bad) + 8
    one = source(1, [(Span(0, end), Span(0, end))], text, title=bad, library=bad, address=bad, time=bad)
    result = made(
        replace(one, id=bad),
        libraries=(bad,),
        notes=(bad,),
        outcomes=(Outcome("invalid", bad, bad, bad),),
        parameters={bad: bad},
        left_out=(LeftOut("own", (bad,), (Span(end, end + 2),), 1, 0.6, (bad,)),),
    )
    page = check_page(result, text, name=bad, language=language)
    page.encode("utf-8")
    assert not re.search("[\x00-\x08\x0b-\x1f\u202a-\u202e\u2066-\u2069]", page)
    read = Page(page)
    assert read.scripts == 1
    assert "<img" not in page
    assert len(read.document) == len(text)
    assert len(read.marked["s1f1"]) == end


@pytest.mark.covers("S4")
def test_places_are_characters() -> None:
    text = "🙂🙂 👩‍👩‍👧 слова 𝒜𝒷 е\u0301щё 🙂 конец"
    start = text.index("слова")
    span = Span(start, start + 8)
    read = Page(check_page(made(source(1, [(span, span)], text)), text))
    assert read.document == text
    assert read.marked["s1f1"] == read.beside["s1f1"] == "слова 𝒜𝒷"


@given(st.data())
def test_any_overlap_keeps_the_text(data: st.DataObject) -> None:
    text = data.draw(st.text("ab 🙂<&\n", min_size=1, max_size=60))
    places = st.integers(0, len(text))
    span = (
        st.tuples(places, places).map(lambda two: Span(min(two), max(two))).filter(lambda s: s.end > s.start)
    )
    sources = [
        source(number, data.draw(st.lists(st.tuples(span, span), max_size=4)), text) for number in range(1, 4)
    ]
    spans = tuple(data.draw(st.lists(span, max_size=3)))
    left = LeftOut("quotations", tuple("quoted" for _ in spans), spans, 1, 0.5)
    read = Page(check_page(made(*sources, left_out=(left,)), text))
    assert read.document == text
    for one in sources:
        for fragment in one.fragments:
            assert read.marked[fragment.id] == text[fragment.a.start : fragment.a.end]
            assert read.beside[fragment.id] == text[fragment.b.start : fragment.b.end]
            assert read.ids.count(fragment.id) == 1


def test_offline() -> None:
    page = check_page(made(source(1, [(Span(0, 3), Span(0, 3))], TEXT, title="t")), TEXT)
    assert not re.search(r"https?:|//\w|@import|url\(", page)
    assert "default-src 'none'" in page
    read = Page(page)
    assert all(link.startswith("#") for link in read.links)
    known = set(read.ids)
    assert all(link[1:] in known for link in read.links)


def test_address_is_no_link() -> None:
    one = source(1, [(Span(0, 3), Span(0, 3))], TEXT, address="https://example.org/a")
    page = check_page(made(one), TEXT)
    assert "https://example.org/a" in page
    assert all(link.startswith("#") for link in Page(page).links)


@pytest.mark.covers("K4")
def test_left_out_is_shown_with_its_reason() -> None:
    left = LeftOut(
        "quotations", (Note("quotation_between", opening="«", closing="»"),), (Span(4, 13),), 2, 0.7
    )
    result = made(left_out=(left,), share_with_all=0.7)
    english, russian = check_page(result, TEXT), check_page(result, TEXT, language="ru")
    assert "not counted: quotation between « and »" in english
    assert "with them the share would be 70%" in english
    assert "не учтено: цитата между « и »" in russian
    assert '<span class="lo">two three</span>' in english


@pytest.mark.covers("K4")
def test_own_words_that_another_source_has_are_counted() -> None:
    left = LeftOut("own", (Note("own_version"),), (Span(0, 13),), 3, 0.7, ("mine",))
    none = LeftOut("bibliography", (), (), 0, 0.5)
    page = check_page(made(source(1, [(Span(0, 7), Span(0, 7))], TEXT), left_out=(left, none)), TEXT)
    assert "List of references: none found" in page
    inside = page[page.index('id="document"') : page.index("<aside")]
    assert " lo" not in inside
    assert '<span class="lo"> three</span>' in inside
    assert inside.count("not counted: is in an own earlier version") == 1


def test_failures_and_disguise_come_first() -> None:
    outcomes = tuple(Outcome("broken", f"d{i}", f"f.jsonl:{i}", "is damaged") for i in range(25))
    disguise = Disguise((DisguiseFinding("lookalike", 9, 12, (Span(0, 3),), True),))
    page = check_page(made(outcomes=outcomes, disguise=disguise), TEXT)
    assert "Signs of disguise: letters of another alphabet" in page
    assert "25 documents could not be used" in page
    assert "and 5 more" in page
    assert page.index("could not be used") < page.index('id="document"')


def test_long_source_is_cut_around_its_passages() -> None:
    text = "word " * 20_000
    at = Span(50_000, 50_100)
    page = check_page(made(source(1, [(Span(0, 20), at)], text)), TEXT)
    assert len(page) < 60_000
    assert "characters not shown" in page
    assert Page(page).beside["s1f1"] == text[at.start : at.end]


def test_windows_join() -> None:
    text = "word " * 4_000
    assert len(excerpts(text, [Span(5000, 5010), Span(5500, 5600), Span(15000, 15010)])) == 2
    assert excerpts(text, [])[0].start == 0


def test_source_text_from_the_mapping_and_without() -> None:
    one = source(1, [(Span(0, 3), Span(0, 3))], "")
    assert Page(check_page(made(one), TEXT, {"doc1": "One else"})).beside["s1f1"] == "One"
    assert "is not in the report" in check_page(made(one), TEXT)


@pytest.mark.covers("S4")
def test_large_work_stays_small() -> None:
    text = " ".join(f"слово{i}" for i in range(10_000))
    step = len(text) // 200
    sources = [
        source(
            n,
            [
                (Span(step * (4 * n + k), step * (4 * n + k) + 400), Span(3000 * k, 3000 * k + 400))
                for k in range(4)
            ],
            text[:60_000],
        )
        for n in range(50)
    ]
    page = check_page(made(*sources), text)
    assert len(page.encode()) < 3_000_000


def test_places_outside_the_text_do_no_harm() -> None:
    read = Page(check_page(made(source(1, [(Span(40, 400), Span(0, 5000))], "short")), TEXT))
    assert read.document == TEXT
    assert read.ids.count("s1f1") == 1


def test_pieces_of_nothing() -> None:
    assert list(cut(0, 0, [])) == []


def test_a_language_that_there_is_not() -> None:
    with pytest.raises(InvalidParameter, match="languages are en, ru"):
        check_page(made(), TEXT, language="de")


@pytest.mark.parametrize(
    ("number", "told"),
    [(1, "1 слово"), (2, "2 слова"), (5, "5 слов"), (11, "11 слов"), (21, "21 слово"), (112, "112 слов")],
)
def test_russian_plurals(number: int, told: str) -> None:
    assert wording("ru").count(number, "word").replace("\u00a0", " ") == told


def test_russian_numbers() -> None:
    assert wording("ru").percent(0.372).replace("\u00a0", " ") == "37,2 %"


def test_escape_keeps_what_is_harmless() -> None:
    assert escape("a\u00a0b\u00adc\u200dd\r\ne") == "a\u00a0b\u00adc\u200dd\ne"
    assert escape("\x00<\u202e") == "␀&lt;\ufffd"


@pytest.mark.parametrize(
    ("given", "shown"),
    [
        ("2026-11-15T14:42:23.071526+00:00", "2026-11-15 14:42 UTC"),
        ("2026-11-15T14:42:23Z", "2026-11-15 14:42 UTC"),
        ("2026-11-15T14:42:23+03:00", "2026-11-15T14:42:23+03:00"),
        ("весна 1998", "весна 1998"),
        ("", ""),
    ],
)
def test_times_of_files_are_told_to_the_minute(given: str, shown: str) -> None:
    assert to_the_minute(given) == shown


def test_what_is_left_out_is_no_passage_to_look_at() -> None:
    quoted = "the old harbour was filled with sand and the ships had to wait outside for weeks every spring"
    plain = "nobody had counted the bridges or measured the depth of the river before the flood of that year"
    between = " ".join(f"word{i} of mine" for i in range(60))
    text = f"As one book says, «{quoted}», and so it was. {between}. Then {plain}."
    other = " ".join(f"other{i} of theirs" for i in range(60))
    result = check(text, [Document("book", f"{quoted}. {other}. {plain}.")], leave_out=["quotations"])
    page = check_page(result, text)
    assert len(result.sources[0].fragments) == 2
    assert "The longest passage: 18 words" in page
    assert page.count('<article class="pair') == 1
    assert "side by side (1)" in page
    figures = [float(one) for one in re.findall(r"<dd>([\d.]+)%</dd>", page)]
    assert len(figures) == 3
    assert sum(figures) == pytest.approx(100)


def test_sources_that_add_nothing_are_folded() -> None:
    text = "one source says this in exactly these nine words here and then it goes on for a while"
    documents = [Document(f"d{i}", text) for i in range(6)]
    page = check_page(check(text, documents), text)
    assert "3 sources that add nothing" in page
    assert page.count('<li class="source') == 6


def test_paper() -> None:
    from doublet.jobs.check_pdf import paper_of

    assert paper_of({}) == paper_of({"LANG": "C.UTF-8"}) == paper_of({"LANG": "ru_RU.UTF-8"}) == "A4"
    assert paper_of({"LANG": "ru_RU.UTF-8", "LC_PAPER": "en_US.UTF-8"}) == "letter"
