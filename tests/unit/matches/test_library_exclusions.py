"""Quotations and lists of references, found by their form (K4)."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from doublet.matches.exclusions import bibliography, looks_like_entry, quotations

pytestmark = pytest.mark.covers("K4")

GOST = [
    "1. Иванов И. И. История города. – М.: Наука, 2010. – 320 с.",
    "2. Петров П.П. О дорогах // Вопросы истории. 1998. № 3. С. 12–25.",
    "Сидорова А. В. Методы поиска [Электронный ресурс]. URL: http://example.org (дата обращения: 01.02.2020).",
    "Словарь русского языка : в 4 т. / под ред. А. П. Евгеньевой. – 4-е изд. – М. : Рус. яз., 1999. – Т. 2. – 736 с.",
    "Кузнецов, С. А. Дис. ... канд. ист. наук. СПб., 2005. 180 с.",
]
ENGLISH = [
    "Smith, J. (2010). The history of towns. Oxford: University Press.",
    "[3] A. Broder, “On the resemblance of documents,” in Proc. Compression, 1997, pp. 21–29.",
    "Manber U. Finding similar files. USENIX Winter 1994, vol. 94, no. 1, 1–10.",
    'Doe, Jane, and R. Roe. "Old Ports." Journal of History 12(3), 2004, pp. 5-40. doi: 10.1000/182',
    "Brown, T. et al. Language models. Retrieved from https://example.org/2020",
]
PROSE = [
    "Город стоит на реке, и в 1912 году здесь построили мост, по которому до сих пор ходят люди.",
    "The town was rebuilt in 1905 and nobody there remembers what it looked like before the fire.",
    "Как мы видели, поиск заимствований состоит из двух шагов: отбора и проверки.",
]


@pytest.mark.parametrize("entry", GOST + ENGLISH)
def test_entries(entry: str) -> None:
    assert looks_like_entry(entry)


@pytest.mark.parametrize("line", PROSE)
def test_prose_is_no_entry(line: str) -> None:
    assert not looks_like_entry(line)


@pytest.mark.parametrize(
    "heading",
    [
        *("Список литературы", "СПИСОК ИСПОЛЬЗОВАННЫХ ИСТОЧНИКОВ", "Библиографический список", "Литература:"),
        *("Список использованной литературы", "## Библиография", "5. Источники и литература", "References"),
        *("BIBLIOGRAPHY", "Works Cited", "VI. References", "**References**"),
    ],
)
def test_headings(heading: str) -> None:
    text = "\n".join([*PROSE, "", heading, "", *GOST, *ENGLISH, "", "Приложение А", PROSE[0]])
    (found,) = bibliography(text)
    assert text[slice(*found.span)].startswith(heading)
    assert text[slice(*found.span)].endswith(ENGLISH[-1])
    assert "list of references" in str(found.reason)


def test_without_a_heading() -> None:
    text = "\n".join([*PROSE, *GOST[:4], *PROSE])
    (found,) = bibliography(text)
    assert text[slice(*found.span)] == "\n".join(GOST[:4])
    assert str(found.reason) == "4 references in a row"
    assert bibliography("\n".join([*PROSE, *GOST[:2], *PROSE])) == []


def test_a_heading_without_a_list_is_a_heading() -> None:
    assert bibliography("\n".join(["Литература", *PROSE])) == []


def test_entries_that_run_over_lines() -> None:
    wrapped = (
        "1. Иванов И. И. История города // Вопросы истории.\n   2010. № 3. С. 12–25, и её\n   продолжение"
    )
    text = f"{PROSE[0]}\n\nСписок литературы\n{wrapped}\n\n{PROSE[1]} {PROSE[1]} {PROSE[1]} {PROSE[1]}"
    (found,) = bibliography(text)
    assert text[slice(*found.span)].endswith("продолжение")


@pytest.mark.parametrize(
    ("text", "inside"),
    [
        ("Он сказал: «мы видели большой город у моря».", ["«мы видели большой город у моря»"]),
        ("He said “we saw a large town”, and left.", ["“we saw a large town”"]),
        ("Er sagte „wir sahen eine große Stadt“.", ["„wir sahen eine große Stadt“"]),
        (
            'He said "we saw a large town" and "it was very old".',
            ['"we saw a large town"', '"it was very old"'],
        ),
        ("«Внешняя «вложенная цитата» и ещё слова»", ["«Внешняя «вложенная цитата» и ещё слова»"]),
        ("роман «Война и мир»", ["«Война и мир»"]),
        ("магазин «Рассвет» и «Новый мир»", []),
        ('a 5" disk and a 3" disk are two of them', []),
        ("«не закрыто ни здесь ни там", []),
        ("ни здесь ни там» закрыто", []),
        ("> Цитата отдельным абзацем, как в письмах.", ["> Цитата отдельным абзацем, как в письмах."]),
        ("", []),
    ],
)
def test_quotations(text: str, inside: list[str]) -> None:
    assert [text[slice(*found.span)] for found in quotations(text)] == inside


def test_a_mark_does_not_reach_into_the_next_paragraph() -> None:
    assert quotations("Он сказал: «мы видели город\n\nи ушли оттуда» домой") == []


def test_a_whole_work_between_marks_is_no_quotation() -> None:
    assert quotations(f"«{'слово ' * 301}»") == []
    assert len(quotations(f"«{'слово ' * 300}»")) == 1


@given(st.text('аб «»“”„"\n.1>', max_size=200))
def test_places_are_inside_in_order_and_apart(text: str) -> None:
    for find in (quotations, bibliography):
        reached = 0
        for found in find(text):
            assert reached <= found.span.start < found.span.end <= len(text)
            reached = found.span.end
