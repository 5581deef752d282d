"""Reports of repeats: the page, the tables, SARIF, the schema."""

from __future__ import annotations

import csv
import dataclasses
import html.parser
import io
import json
import pathlib
import random
import re
from typing import Any

import pytest

import doublet
from doublet.repeats.model import KINDS
from doublet.reports.page import escape as page_text
from doublet.reports.repeats_html import repeats_page
from doublet.reports.repeats_tables import REPEAT_COLUMNS, SCHEMA, repeat_rows, sarif
from doublet.reports.repeats_terminal import repeats_report
from repeat_texts import sentence, words

pytestmark = pytest.mark.covers("P7")
ROOT = pathlib.Path(__file__).resolve().parents[3]
ONE = "Press the green button on the left side of the panel & wait until the lamp goes out."
TWO = ONE.replace("green", "yellow")
TEXTS = {
    "guide one.md": f"# Guide\n\n{ONE}\n\nRivers freeze late here, because the current is strong.\n\n{TWO}\n",
    "привет.txt": f"Boats.\n\n{ONE}\n",
}


@pytest.fixture(scope="module")
def result() -> doublet.Repeats:
    return doublet.find_repeats(TEXTS)


def check(value: Any, schema: dict[str, Any], path: str = "$") -> None:
    """The parts of JSON Schema that ours uses."""
    kinds = {
        "object": dict,
        "array": list,
        "string": str,
        "boolean": bool,
        "integer": int,
        "number": (int, float),
    }
    if "anyOf" in schema:
        if value is None:
            assert {"type": "null"} in schema["anyOf"], path
        else:
            check(value, schema["anyOf"][0], path)
        return
    if "const" in schema:
        assert value == schema["const"], path
    if "enum" in schema:
        assert value in schema["enum"], path
    if "type" in schema:
        assert isinstance(value, kinds[schema["type"]]), path
        assert schema["type"] in ("boolean",) or not isinstance(value, bool), path
    if "minimum" in schema:
        assert value >= schema["minimum"], path
    if "maximum" in schema:
        assert value <= schema["maximum"], path
    if "pattern" in schema:
        assert re.search(schema["pattern"], value), path
    for name in schema.get("required", ()):
        assert name in value, f"{path}.{name}"
    for name, inner in schema.get("properties", {}).items():
        if name in value:
            check(value[name], inner, f"{path}.{name}")
    if "items" in schema:
        assert len(value) >= schema.get("minItems", 0), path
        for number, item in enumerate(value):
            check(item, schema["items"], f"{path}[{number}]")


def test_it_works(result):
    assert len(result.groups) == 1
    assert len(result.groups[0].fragments) == 3
    check(json.loads(json.dumps(result.to_dict())), SCHEMA)


def test_the_schema_refuses_what_is_wrong(result):
    wrong = result.to_dict()
    wrong["groups"][0]["fragments"] = wrong["groups"][0]["fragments"][:1]
    with pytest.raises(AssertionError):
        check(wrong, SCHEMA)


def test_the_schema_knows_every_field(result):
    decided = {"group": result.groups[0].id, "decision": "keep", "fragments": [{}] * 3}
    decisions = {"format": 1, "decisions": [decided]}
    shape = doublet.find_repeats(TEXTS, baseline=result.to_dict(), decisions=decisions).to_dict()
    group = SCHEMA["properties"]["groups"]["items"]["properties"]
    assert set(shape) == set(SCHEMA["properties"])
    assert set(shape["groups"][0]) == set(group)
    assert set(shape["groups"][0]["fragments"][0]) == set(group["fragments"]["items"]["properties"])
    assert set(shape["files"][0]) == set(SCHEMA["properties"]["files"]["items"]["properties"])


def test_the_schema_is_in_the_documentation():
    kept = json.loads((ROOT / "docs" / "reference" / "repeats.schema.json").read_text(encoding="utf-8"))
    assert kept == SCHEMA


class Page(html.parser.HTMLParser):
    """Balanced tags, ids, links and outside addresses."""

    VOID = frozenset(["meta", "link", "br", "img", "input", "hr"])

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.ids: list[str] = []
        self.links: list[str] = []
        self.said = ""
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag not in self.VOID:
            self.open.append(tag)
        for name, value in attrs:
            if name == "id":
                self.ids.append(value or "")
            if name in ("href", "src"):
                self.links.append(value or "")

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.said += data


def test_the_page_is_whole_and_offline(result):
    page = Page(repeats_page(result))
    assert page.open == []
    assert len(page.ids) == len(set(page.ids))
    assert all(link.startswith("#") and link[1:] in page.ids for link in page.links)
    assert "http" not in "".join(page.links)
    assert "guide one.md:3:1 § 1 Guide" in page.said
    assert "panel & wait" in page.said


def test_a_short_page_has_no_dead_links():
    parts = [
        "Boats are tied to the second pier from the bridge.",
        "Press the green button and wait until the lamp goes out.",
        "Maps that fold badly were sold in autumn for next to nothing.",
    ]
    text = "\n\n".join([*parts, "Between.", parts[1], "And then.", parts[0], "At last.", parts[2]])
    result = doublet.find_repeats(text, algorithm="exact", min_tokens=8)
    assert len(result.groups) == 3
    page = Page(repeats_page(result, limit=1))
    assert all(link[1:] in page.ids for link in page.links)
    assert "2 less significant groups not shown" in page.said


def test_the_page_marks_differences_and_shows_the_archetype(result):
    text = repeats_page(result)
    assert "<mark>yellow</mark>" in text
    assert 'class="archetype"' in text
    assert all(f'data-decision="{name}"' in text for name in ("merge", "keep", "ignore"))


def test_the_page_is_safe_from_its_text():
    evil = '<script>alert(1)</script> "quoted" \x1b[31m \u202e and enough words to be a repeat of some length here'
    result = doublet.find_repeats({'a"b<i>.txt': f"{evil}\n\nNothing else.\n\n{evil}"}, algorithm="exact")
    text = repeats_page(result)
    assert "<script>alert" not in text
    assert "\x1b" not in text
    assert "\u202e" not in text
    assert Page(text).open == []


def test_no_groups_is_a_page_too():
    page = Page(repeats_page(doublet.find_repeats("")))
    assert "No repeat was found." in page.said
    assert "No repeat was found." in repeats_report(doublet.find_repeats(""))


def test_rows(result):
    rows = list(csv.DictReader(io.StringIO(b"".join(repeat_rows(result)).decode())))
    assert list(rows[0]) == list(REPEAT_COLUMNS)
    assert len(rows) == 3
    assert {row["group"] for row in rows} == {result.groups[0].id}
    assert rows[0]["text"] == ONE


def test_sarif(result):
    log = sarif(doublet.find_repeats(TEXTS, baseline=result.to_dict()), version="1.2.3")
    assert log["version"] == "2.1.0"
    run = log["runs"][0]
    assert run["tool"]["driver"]["version"] == "1.2.3"
    found = run["results"][0]
    assert found["baselineState"] == "unchanged"
    place = found["locations"][0]["physicalLocation"]
    assert place["artifactLocation"]["uri"] == "guide%20one.md"
    assert place["region"] == {"startLine": 3, "startColumn": 1, "endLine": 3, "endColumn": len(ONE) + 1}
    assert len(found["relatedLocations"]) == 2
    assert found["relatedLocations"][1]["physicalLocation"]["artifactLocation"]["uri"].endswith(".txt")
    assert found["ruleId"] == run["tool"]["driver"]["rules"][0]["id"]


def test_terminal(result):
    text = repeats_report(result, width=60)
    assert "1 group of repeats" in text
    assert "guide one.md:3:1" in text
    assert "[…]" in text
    assert "\x1b" not in text
    assert "\x1b" in repeats_report(result, colour=True)


@pytest.mark.parametrize(
    ("given", "shown"),
    [
        ("a\u00a0b\u2009c", "a\u00a0b\u2009c"),  # fixed and thin blanks
        ("\U0001f468\u200d\U0001f469", "\U0001f468\u200d\U0001f469"),  # joined emoji
        ("\u0645\u06cc\u200c\u062e", "\u0645\u06cc\u200c\u062e"),  # Persian needs its non-joiner
        ("Zeile\r\nZeile\rZeile\u2028Zeile", "Zeile\nZeile\nZeile\nZeile"),
        ("a\u00adb\ue000", "a\u00adb\ue000"),  # soft hyphen, private use
        ("\u202eab\u2066\x1b\x00\x9b", "\ufffdab\ufffd␛␀\ufffd"),
        ("\ud83d half", "\ufffd half"),
        ("<&\"'>", "&lt;&amp;&quot;&#x27;&gt;"),
    ],
)
def test_what_the_page_shows_of_a_character(given, shown):
    assert page_text(given) == shown
    page_text(given).encode("utf-8")


def test_a_group_without_common_words_shows_an_example(result):
    """In a chain of likenesses the ends may share nothing: three empty brackets would say nothing."""
    group = result.groups[0]
    wordings = ("one two three four", "three four five six", "five six seven eight")
    fragments = tuple(
        fragment._replace(text=text) for fragment, text in zip(group.fragments, wordings, strict=True)
    )
    changed = dataclasses.replace(group, fragments=fragments, equal=False)
    odd = dataclasses.replace(result, files=(), groups=(changed,))
    assert "for example: one two three four" in repeats_report(odd, width=60)
    page = repeats_page(odd)
    assert "none with all" in page
    assert "variable place" not in page


def test_repeats_in_russian() -> None:
    part = "Press the green button and wait until the lamp goes out."
    result = doublet.find_repeats(f"{part}\n\nBetween.\n\n{part}", algorithm="exact", min_tokens=8)
    page = repeats_page(result, language="ru")
    assert '<html lang="ru">' in page and "Группы, начиная с самых значимых" in page
    assert "Решено: 0 из 1" in page and "2\u00a0места" in page
    told = repeats_report(result, language="ru")
    assert "дословно" in told and "алгоритм exact" in told
    assert "Повторов не найдено." in repeats_report(doublet.find_repeats(""), language="ru")


def test_markup_is_no_difference() -> None:
    texts = {
        "a.html": "<p>Press the <b>green</b> button on the left side and wait until the lamp goes out.</p>",
        "b.html": "<p>Press the green button on the <i>left side</i> and wait until the lamp goes out.</p>",
    }
    found = doublet.find_repeats(texts)
    page = repeats_page(found)
    assert page.count('class="variant"') == 1, "two places of one wording"
    assert "<mark" not in page and "&lt;b&gt;" not in page
    assert "[…]" not in repeats_report(found)
    spaced = {name: text.replace("<p>", "<p>\n  <!-- x -->\n  <i></i>\n\n") for name, text in texts.items()}
    assert "\n\n\n" not in repeats_page(doublet.find_repeats(spaced))
    assert "<b>green</b>" in found.groups[0].fragments[0].text, "the source stays as it is in the JSON"


def test_words_are_told_that_can_be_saved(result) -> None:
    group = result.groups[0]
    assert group.words_saved == sum(f.tokens for f in group.fragments) - max(
        f.tokens for f in group.fragments
    )
    assert f"{group.words_saved} words to save" in repeats_report(result)
    assert f"{group.words_saved} words to save" in repeats_page(result)


def test_a_page_of_many_groups_opens_folded() -> None:
    rng = random.Random(3)
    parts = [" ".join("".join(rng.choices("abcdefgh", k=6)) for _ in range(15)) + "." for _ in range(40)]
    found = doublet.find_repeats("\n\n".join(parts + parts[::-1]), algorithm="exact", balance=False)
    assert len(found.groups) >= 30
    page = repeats_page(found)
    assert page.count('<details class="body">') == len(found.groups)
    assert '<details class="body" open>' in repeats_page(found, limit=5)


def test_of_many_groups_the_page_shows_the_most_significant_of_every_kind():
    option = f"{sentence(12, 'same')[:-1]} in case {{}}.\n\n"
    text = "".join(option.format(name) for name in ("one", "two")) + "".join(
        f"{sentence(30, f'o{letter}')}\n\n{sentence(10, f'p{letter // 2}')}\n\n" for letter in range(8)
    )
    result = doublet.find_repeats({"page.md": text})
    near = [group for group in result.groups if group.kind == "neighbour"]
    assert result.groups[0] in near
    assert len(result.groups) > 3
    page = repeats_page(result, limit=2)
    assert f'id="{near[0].id}"' in page
    assert page.count('<details class="body"') == 2


def test_each_other_kind_is_shown_apart_from_passages():
    option = f"{sentence(12, 'same')[:-1]} in case {{}}.\n\n"
    text = "".join(option.format(name) for name in ("one", "two")) + "".join(
        f"{sentence(30, f'o{letter}')}\n\nCalled in one of the following ways:\n\n- {sentence(9, letter)}\n\n"
        f"{sentence(30, f'p{letter}')}\n\n```\n{words(20, 'c')}\n```\n\n"
        f"{sentence(30, f'q{letter}')}\n\n{sentence(30, 'said')}\n\n"
        for letter in "abcd"
    )
    result = doublet.find_repeats({"page.md": text})
    assert {group.kind for group in result.groups} == set(KINDS)
    for language, *names_of_kinds in (
        ("en", "Side by side", "Listings", "Formulas"),
        ("ru", "По соседству", "Листинги", "Формулы"),
    ):
        names = dict(zip(KINDS[1:], names_of_kinds, strict=True))
        page = repeats_page(result, language=language)
        heads = [page.index(f'<h2 id="{kind}s">{name}</h2>') for kind, name in names.items()]
        for kind, name in names.items():
            number = sum(group.kind == kind for group in result.groups)
            assert f'<a href="#{kind}s">{name} ({number})</a>' in page
        order = sorted(result.groups, key=lambda group: KINDS.index(group.kind))
        cards = [page.index(f'id="{group.id}"') for group in order]
        assert cards == sorted(cards)
        firsts = [
            next(at for at, group in zip(cards, order, strict=True) if group.kind == kind) for kind in names
        ]
        assert all(head < first for head, first in zip(heads, firsts, strict=True))
        assert all(
            max(at for at in cards if at < first) < head for head, first in zip(heads, firsts, strict=True)
        )
        told = repeats_report(result, language=language)
        assert (
            0 < told.index(names["neighbour"]) < told.index(names["listing"]) < told.index(names["formula"])
        )


def test_files_with_the_most_repeated_words_come_first():
    """Not those of which the largest part repeats; those without repeats are not there."""
    long, short = sentence(60, "l"), sentence(20, "s")
    own = {name: sentence(200, f"o{name}") for name in "abcd"}
    texts = {
        "short.md": short,
        "other.md": f"{own['a']}\n\n{short}",
        "large.md": f"{own['b']}\n\n{long}",
        "third.md": f"{own['c']}\n\n{long}",
        "none.md": own["d"],
    }
    page = repeats_page(doublet.find_repeats(texts))
    assert re.findall(r'<span class="name"><a [^>]*>(.*?)</a>', page) == [
        *("large.md", "third.md", "other.md", "short.md")
    ]
    assert "none.md" not in page


def test_files_that_are_not_shown_are_counted_if_they_repeat():
    texts = {f"{number:03}.md": sentence(30, "same") for number in range(83)}
    texts |= {f"own{letter}.md": sentence(30, f"o{letter}") for letter in "abcdefgh"}
    page = Page(repeats_page(doublet.find_repeats(texts)))
    assert "3 files with fewer repeated words not shown." in page.said


def test_a_bar_counts_the_words_of_two_groups_once(result):
    """The longer place has six of the ten characters of a bar, and the shorter one lies inside it."""
    [group] = result.groups
    text = "x" * 1200
    places = [(0, 6), (1, 6)]
    groups = tuple(
        dataclasses.replace(
            group,
            id=f"r{number}",
            fragments=tuple(group.fragments[0]._replace(file="a", start=s, end=e) for s, e in (place, place)),
        )
        for number, place in enumerate(places)
    )
    file = dataclasses.replace(result.files[0], file="a", characters=1200, source=text, masked=text)
    page = repeats_page(dataclasses.replace(result, files=(file,), groups=groups))
    assert page.count("0% in: 60% repeats, group 1") == 2  # a title and a label


def test_a_group_tells_which_others_have_its_places():
    said, more = sentence(25, "s"), sentence(30, "m")
    texts = {
        f"{name}.md": f"{said}\n\n{more if name in 'abc' else sentence(30, 'n' + name)}\n" for name in "abcde"
    }
    result = doublet.find_repeats(texts)
    first = max(result.groups, key=lambda group: group.significance)
    told = f'shares places with group <a href="#{first.id}">1</a>'
    assert repeats_page(result).count(told) == 1
    assert repeats_report(result, width=200).count("shares places with group 1") == 1
    assert "есть общие места с группой 1" in repeats_report(result, language="ru")
    assert "<b>5</b> places" in repeats_page(result)
