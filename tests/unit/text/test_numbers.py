"""Numbers in digits and in words, and days."""

from __future__ import annotations

import pytest

from doublet.text.dates import Days, days, disagree
from doublet.text.numbers import ABOUT, ABOVE, BELOW, Said, numbers


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("12 тысяч бутылок", ["12000"]),
        ("12 000 упаковок", ["12000"]),
        ("12\u00a0000, 12,000 and 12.000", ["12000", "12000", "12000"]),
        ("12 млн 300 тыс", ["12000000", "300000"]),
        ("2,3 тысячи гектаров", ["2300"]),
        ("1 200 300,5", ["1200300.5"]),
        ("погибли двое, ранены ТРОЕ", ["2", "3"]),
        ("двадцати девяти лет", ["29"]),
        ("29-летнего", ["29"]),
        ("сто сорок два миллиона", ["142000000"]),
        ("три тысячи двести пять", ["3205"]),
        ("двум сотням", ["200"]),
        ("четвёртого числа", ["4"]),
        ("six thousand volumes", ["6000"]),
        ("two hundred and ten men", ["210"]),
        ("two hundred and they left", ["200"]),
        ("twenty-nine", ["29"]),
        ("two million three hundred thousand", ["2300000"]),
        ("two dozen", ["24"]),
        ("twenty nineteen", ["20", "19"]),
        ("two or three", ["2", "3"]),
        ("3, 4 and 5", ["3", "4", "5"]),
        ("2020 03:00", ["2020", "03:00"]),
        ("3:1", ["3:1"]),
        ("7,50 and 7.5", ["7.5", "7.5"]),
        ("12.05.2020", ["12.05.2020"]),
        ("83rd minute", ["83"]),
        ("семь с половиной очков", ["7.5"]),
        ("два с половиной миллиона", ["2500000"]),
        ("two and a half million", ["2500000"]),
        ("two and a man", ["2"]),
        ("полтора миллиона", ["1500000"]),
        ("почти четырьмястами голосами", ["400"]),
        ("девятнадцатилетняя, пятиэтажный, трёхмесячный", ["19", "5", "3"]),
        ("восьмидесятидвухлетняя, двадцатилетний, двухсотлетие", ["82", "20"]),
        ("пятиэтажка, стометровый, сорокапятитонный", ["5", "100", "45"]),
        ("шесть десятков, два десятка, полтора десятка, две дюжины", ["60", "20", "15", "24"]),
        ("к двум десяткам, о трёх десятках", ["20", "30"]),
        ("два десятка тысяч, five hundred dozen, сто десятков", ["20000", "6000", "1000"]),
        ("сто два десятка", ["102", "10"]),
        ("десяток, сотня, дюжина, a dozen", ["10", "100", "12", "12"]),
        ("полсотни, полтораста, полмиллиона, полдюжины", ["50", "150", "500000", "6"]),
        ("полторы сотни", ["150"]),
        ("half a dozen, half a million people, half a day", ["6", "500000"]),
        ("сто с лишним тысяч, сто с чем-то", ["100000", "100"]),
        ("десятки, сотни, дюжины, dozens of men", []),
        ("over a thousand, почти миллион, больше сотни", ["1000", "1000000", "100"]),
        ("over a hundred thousand two hundred", ["100200"]),
        ("a thousand, over thousands, более тысяч", []),
        # No numbers
        ("Бе-200, М-5, A321, Союз-2.1б", []),
        ("one man, один человек", []),
        ("one million, одна тысяча", ["1000000", "1000"]),
        ("thousands of people, сотни людей", []),
        ("", []),
    ],
)
def test_numbers(text: str, values: list[str]) -> None:
    found = list(numbers(text))
    assert [number.value for number in found] == values


def test_places() -> None:
    text = "About twenty-nine of 1 200."
    assert [text[number.start : number.end] for number in numbers(text)] == ["twenty-nine", "1 200"]


@pytest.mark.parametrize(
    ("text", "mark"),
    [
        ("свыше трёхсот", ABOVE),
        ("более чем на 23", ABOVE),
        ("не менее 12", ABOVE),
        ("превысило 3,9 млн", ABOVE),
        ("More than\n300", ABOVE),
        ("at least $2", ABOVE),
        ("no fewer than 40", ABOVE),
        ("почти на 23", BELOW),
        ("не более 40", BELOW),
        ("no more than 40", BELOW),
        ("nearly €40", BELOW),
        ("около 40", ABOUT),
        ("some 40", ABOUT),
        ("approximately forty", ABOUT),
        ("~40", ABOUT),
        ("сорок с лишним", ABOVE),
        ("сто с лишним тысяч", ABOVE),
        ("10 с небольшим", ABOVE),
        ("40 и более", ABOVE),
        ("forty-odd", ABOVE),
        ("40 or more", ABOVE),
        ("40 or less", ""),
        ("шесть десятков", ABOUT),
        ("полторы сотни", ABOUT),
        ("полсотни", ABOUT),
        ("half a million", ABOUT),
        ("two dozen", ABOUT),
        ("почти полсотни", BELOW),
        ("больше десятка", ABOVE),
        ("две тысячи", ""),
        ("two hundred", ""),
        ("handsome 40", ""),
        ("более или менее все 40", ""),
        ("moreover 40", ""),
        ("40", ""),
    ],
)
def test_marks_of_rounded_numbers(text: str, mark: str) -> None:
    assert [number.mark for number in numbers(text)] == [mark]


def agree(one: str, other: str) -> bool:
    here, there = list(numbers(one)), list(numbers(other))
    found = [Said(there).agrees(here[0]), Said(here).agrees(there[0])]
    assert found[0] == found[1]  # the rounder of both
    return found[0] is not None


def test_numbers_that_are_rounded_agree() -> None:
    assert agree("48731", "more than 48,700")
    assert not agree("48731", "more than 48,730")  # four digits are hardly rounded
    assert agree("0.053", "about 0.05")
    assert agree("about 300", "more than 300")
    assert not agree("330", "326")
    assert not agree("about 330", "326000")
    assert not agree("9" * 16, "more than 9" + "0" * 15)


@pytest.mark.parametrize(
    ("text", "dates", "weekdays"),
    [
        ("16 декабря", {(12, 16)}, set()),
        ("July 18th, 2020", {(7, 18)}, set()),
        ("the 3rd of March", {(3, 3)}, set()),
        ("12.05.2020", {(5, 12)}, set()),
        ("В СРЕДУ, 5-го мая", {(5, 5)}, {3}),
        ("on Friday, Nov. 5", {(11, 5)}, {5}),
        ("понедельник и воскресенье", set(), {1, 7}),
        ("May 2020, в мае, окружающую среду, 45 мая, 10.45.2020, may 7.5", set(), set()),
    ],
)
def test_days(text: str, dates: set[tuple[int, int]], weekdays: set[int]) -> None:
    assert days(text) == Days(frozenset(dates), frozenset(weekdays))


@pytest.mark.parametrize(
    ("here", "there", "disagrees"),
    [
        ("5 мая", "July 5", True),
        ("5 мая, 6 мая", "May 5", False),
        ("5 мая, в среду", "5 мая, во вторник", True),
        ("5 мая", "во вторник", None),
    ],
)
def test_days_that_disagree(here: str, there: str, disagrees: bool | None) -> None:
    assert disagree(days(here), days(there), days(here), days(there)) is disagrees


def test_a_day_that_the_other_text_names_further_down_agrees() -> None:
    voted, reopened = "Teachers voted on Sunday.", "Schools open on Tuesday."
    assert disagree(days(voted), days(reopened), days(voted), days(reopened)) is True
    assert disagree(days(voted), days(reopened), days(f"{voted} {reopened}"), days(reopened)) is False
    assert disagree(days(reopened), days(voted), days(reopened), days(f"{voted} {reopened}")) is False
