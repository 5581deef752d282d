"""The same story or not, and embedding models that are not there."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

from doublet import load_embedder, same_story
from doublet.errors import ConfigError
from doublet.matches import story

FIRE = "Fire at the Riga sugar mill. A fire broke out at the sugar mill in Riga on Monday. Nobody was hurt, said Ozols."
AGAIN = "Riga: sugar mill burns. On Monday a blaze hit the sugar mill in Riga; no one was hurt, according to Ozols."
OTHER = "Bridge opens in Tartu. The mayor opened a new bridge over the river on Friday. Thousands came to walk on it."


@pytest.mark.covers("M14")
def test_it_works() -> None:
    assert same_story(FIRE, AGAIN).same
    assert not same_story(FIRE, OTHER).same


def test_order_and_self() -> None:
    there, back = same_story(FIRE, AGAIN), same_story(AGAIN, FIRE)
    assert there.score == pytest.approx(back.score)
    assert same_story(FIRE, FIRE).score == pytest.approx(1.0)
    assert same_story(FIRE, FIRE).sentences == 1.0


@pytest.mark.parametrize("text", ["", "и в на", "...", "word"])
def test_texts_that_tell_nothing(text: str) -> None:
    found = same_story(FIRE, text)
    assert found.score == 0
    assert not found.same
    assert found.to_dict()["vectors"] is None


class Letters:
    """Counts letters: enough to be a model."""

    def embed(self, sentences):
        return np.array(
            [[text.lower().count(letter) for letter in "abcdefghij"] for text in sentences], np.float32
        )


def test_a_model_of_the_user() -> None:
    found = same_story(FIRE, AGAIN, embedder=Letters())
    assert found.vectors is not None
    assert 0 < found.vectors <= 1
    assert same_story("", AGAIN, embedder=Letters()).vectors == 0


def test_no_model_there(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="not an embedding model"):
        load_embedder(tmp_path)
    with pytest.raises(ConfigError, match="not downloaded"):
        load_embedder("some-org/some-model")


@pytest.mark.parametrize(
    ("file", "package"), [("modules.json", "sentence-transformers"), ("model.onnx", "onnxruntime")]
)
def test_a_library_that_is_not_installed(
    tmp_path: Path, file: str, package: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / file).write_text("{}")
    monkeypatch.setitem(sys.modules, package.replace("-", "_"), None)
    with pytest.raises(ConfigError, match=f"pip install {package}"):
        load_embedder(tmp_path)


def test_what_counts_as_the_same_story() -> None:
    """Scores a little above and below the limit."""
    news = "Снег засыпал аэропорт Шереметьево. Рейсы задержаны до вечера. Пассажиры ждут в терминале."
    near = "Шереметьево засыпал снег. Пассажиры рейсов ждут вылета."
    far = "Рейсы в Анталью задержаны до вечера из-за забастовки диспетчеров."
    assert same_story(news, near).same
    assert not same_story(news, far).same


@pytest.mark.covers("M14")
def test_serial_reports_are_told_apart_by_names_and_numbers() -> None:
    report = (
        "Центробанк установил курсы валют на {day}. Официальный курс доллара составил {dollar} рубля, сообщил "
        "регулятор. Курс евро на {day} составил {euro} рубля. Днём раньше торги открылись ростом."
    )
    monday = report.format(day="12 мая", dollar="73,88", euro="79,98")
    assert not same_story(monday, report.format(day="29 июня", dollar="69,51", euro="78,46")).same
    assert same_story(
        monday, "Доллар стоит 73,88 рубля. Такие курсы на 12 мая установил Центробанк, евро 79,98."
    ).same


@pytest.mark.covers("M14")
def test_a_retelling_with_another_opening_is_the_same_story() -> None:
    again = "It was a long night for the town. People watched from their windows. " + AGAIN
    assert same_story(FIRE, again).same


@pytest.mark.covers("M14")
@pytest.mark.parametrize(
    ("one", "other", "agrees"),
    [
        ("1 200", "1200", True),
        ("1,200", "1\u00a0200", True),
        ("7,5", "7.5", True),
        ("7,5", "75", False),
        ("3:1", "1:3", False),
        ("12,000", "12", False),
    ],
)
def test_one_number_has_many_spellings(one: str, other: str, agrees: bool) -> None:
    told = "The mill near the river sold {} tonnes of sugar."
    assert same_story(told.format(one), told.format(other)).numbers == float(agrees)


@pytest.mark.covers("M14")
@pytest.mark.parametrize("language", ["ru", "en"])
def test_other_numbers_in_the_same_sentences_are_another_story(language: str) -> None:
    report = {
        "ru": "Прогноз погоды на {0} ноября. По данным метеослужбы, {0} ноября ночью в области до {1} градусов мороза. "
        "Ветер северный, {2} метров в секунду. Днём воздух прогреется до {3} градусов.",
        "en": "Virus: {1} new cases. Health officials confirmed {1} infections in the county on May {0}. The total is "
        "now {3}. Hospitals have {2} patients in care.",
    }[language]
    assert not same_story(report.format(8, 16, 12, 3), report.format(21, 24, 7, 11)).same
    assert same_story(report.format(8, 16, 12, 3), report.format(8, 16, 12, 3)).score == pytest.approx(1.0)


def test_a_name_that_one_text_leaves_out_is_not_the_end_of_a_story() -> None:
    """The only names of these two differ: one says who found it, the other where it was published."""
    one = "Сахар вредит кишечнику. Учёные из Канады выяснили, что сахар повышает риск воспаления кишечника у мышей."
    other = "Чем опасен сахар. Риск воспаления кишечника повышает сахар, показали опыты на мышах в журнале Nature."
    found = same_story(one, other)
    assert found.names == 0.0
    assert found.same


RETOLD = {
    "ru": (
        "Завод в Коряжме отзывает печенье. Фирма «Ладога» изымает 18 тысяч пачек «Зимней сказки» от 7 апреля. "
        "В них нашли крошку металла.",
        "Осторожно, можно сломать зуб. Роспотребнадзор предупредил о сладостях «Зимняя сказка»: восемнадцать тысяч "
        "коробок уже убраны с полок. Деньги обещает вернуть «Ладога».",
    ),
    "en": (
        "Ferry runs aground off Tarbert. The vessel Corran hit a sandbank with 143 passengers aboard. All were taken "
        "ashore by lifeboat. Repairs will cost 2.6 million pounds.",
        "A long wait for breakfast. When the tide went out the Corran stayed where it was, a few hundred yards from "
        "Tarbert. One hundred and forty-three people were carried to land. The bill: 2,600,000 pounds.",
    ),
}


@pytest.mark.covers("M14")
@pytest.mark.parametrize("language", RETOLD)
def test_names_and_numbers_tell_a_story_in_other_words(language: str) -> None:
    one, other = RETOLD[language]
    found = same_story(one, other)
    assert found.same
    assert found.figures > 0.3
    # Without them the same words tell nothing.
    swapped = other.replace("восемнадцать", "сорок").replace("One hundred and forty-three", "Sixty")
    swapped = swapped.replace("2,600,000", "900,000").replace("Ладога", "Онега").replace("Corran", "Iona")
    assert not same_story(one, swapped).same


@pytest.mark.covers("M14")
@pytest.mark.parametrize(
    ("one", "other"),
    [
        (
            "Пожар на складе: погибли двое. Огонь вспыхнул 8 ноября в посёлке Майский. Площадь составила 400 метров.",
            "Пожар на складе: погибли трое. Огонь вспыхнул 17 января в посёлке Заречный. Площадь составила 900 метров.",
        ),
        (
            "Rocket Vega-C lifts off. It carried the satellite Tern on Monday, December 16, at 12:17.",
            "Rocket Vega-C lifts off. It carried the satellite Kestrel on Friday, November 5, at 02:18.",
        ),
    ],
)
def test_equal_titles_do_not_outweigh_other_facts(one: str, other: str) -> None:
    found = same_story(one, other)
    assert found.titles > 0.7
    assert not found.same
    assert found.days is False


@pytest.mark.covers("M14")
@pytest.mark.parametrize("language", RETOLD)
def test_a_text_in_capitals_tells_the_same(language: str) -> None:
    one, other = RETOLD[language]
    assert same_story(one.upper(), other).same
    assert same_story(one, other.lower()).same
    assert same_story(one, one.upper()).score == pytest.approx(1.0)


def test_a_number_may_be_anywhere_in_the_other_text() -> None:
    """The sentence that says the same has another number; the next one has this."""
    one = "The mill near the river sold 114 tonnes of sugar."
    other = "The mill near the river sold 9 tonnes of sugar. In all it was {} tonnes."
    assert (same_story(one, other.format(114)).numbers or 0.0) > 0.5
    assert same_story(one, other.format(115)).numbers == 0.0


@pytest.mark.parametrize(
    "text", ["9" * 5000, "two " + "hundred " * 500, "12.12.12.12", "0", "٣٤ мая", "45 May 99"]
)
def test_odd_numbers_are_no_error(text: str) -> None:
    found = same_story(f"{text} sugar mills in Riga", f"Sugar mills in Riga: {text}")
    assert 0 <= found.score <= 1


MARKED = [
    ("326", "свыше трёхсот", True),
    ("326", "более 300", True),
    ("326", "почти триста", False),  # it is more
    ("326", "около 300", True),
    ("326", "триста", False),  # nothing says that it is rounded
    ("48 тысяч", "почти пятьдесят тысяч", True),
    ("53 тысячи", "почти пятьдесят тысяч", False),
    ("418,6 млрд", "около 420 млрд", True),
    ("2.3 million", "more than two million", True),
    ("at least $2.3 million", "over $2 million", True),
    ("3.3 million", "more than two million", False),
    ("1,300", "well over a thousand", True),
    ("2,450", "nearly 2,500", True),
    ("2,550", "nearly 2,500", False),
    ("95", "almost a hundred", True),
    ("64", "almost a hundred", False),
    ("3:1", "about 3", False),
    ("62", "шесть десятков", True),
    ("62", "шестьдесят", False),
    ("53", "полсотни", True),
    ("1234", "1,2 тысячи с лишним", True),
    ("46", "forty-odd", True),
    ("39", "forty-odd", False),
    ("512 thousand", "half a million", True),
]


@pytest.mark.covers("M14")
@pytest.mark.parametrize(("exact", "rounded", "agrees"), MARKED)
def test_a_number_agrees_with_one_that_is_rounded_from_it(exact: str, rounded: str, agrees: bool) -> None:
    told = "The mill near the river sold {} tonnes of sugar."
    for one, other in ((exact, rounded), (rounded, exact)):
        assert same_story(told.format(one), told.format(other)).numbers == float(agrees)


@pytest.mark.covers("M14")
def test_rounded_numbers_tell_a_story_that_exact_ones_told() -> None:
    one = "Клад нашли под Старой Руссой. Археологи выкопали туесок, в нём 326 монет. Раскопками руководит Верёвкин."
    other = "Сокровище в бересте. {} трёхсот монет лежало в земле у Старой Руссы, рассказал Верёвкин. Их отдадут музею."
    near, far = same_story(one, other.format("Свыше")), same_story(one, other.format("Ровно"))
    assert near.figures > far.figures == 0.0
    assert near.score > far.score


@pytest.mark.covers("M14")
def test_a_rounded_number_proves_less_than_the_exact_one() -> None:
    told = "The mill near the river sold {} tonnes of sugar."
    exact = same_story(told.format("48,731"), told.format("48,731"))
    rounded = same_story(told.format("48,731"), told.format("more than 48,000"))
    rounder = same_story(told.format("48,731"), told.format("more than 40,000"))
    assert exact.figures > rounded.figures > rounder.figures > 0


def test_a_short_report_may_leave_out_the_numbers_of_a_long_one() -> None:
    """What counts is how many of the numbers of either text the other has, wherever they are."""
    long = "Ferry runs aground off Tarbert. It hit a sandbank. Nobody was hurt. All went ashore. "
    long += "It carried 143 people and 27 cars, was built in 1987 and had sailed 61,300 times."
    short = "A long wait. The tide went out. A boat sat still. There was no breakfast. With {} people it lay there."
    found, other = same_story(long, short.format(143)), same_story(long, short.format(144))
    assert found.figures == same_story(short.format(143), long).figures > 0.3
    assert found.score > other.score
    assert other.figures == 0.0


@pytest.mark.covers("M14")
@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Bridge opens in Bulgaria.", "A Bulgarian crossing is ready."),
        ("Мост в Новгороде.", "Новгородский переезд."),
    ],
)
def test_a_name_is_found_in_another_form(one: str, other: str) -> None:
    assert same_story(one, other).titles > 0.3
    assert same_story(one, other.replace("Bulg", "Belg").replace("Новг", "Белг")).titles == 0.0


def test_of_a_long_text_the_beginning_is_read() -> None:
    """A long text has every name somewhere: what is far behind the beginning says nothing about the story."""
    filler = [f"Слово{n} стоит рядом со словом{n + 1}, и больше ничего." for n in range(story.READ)]
    one = "Пароход «Витязь» сел на мель у Лесного. Капитан Лаврентьев вызвал буксир из Приморска."
    other = "Урожай яблок собран. Садоводы Заречья довольны погодой этого года."
    told = same_story(one, " ".join([other, *filler[:300]]))
    assert same_story(one, " ".join([other, *filler[:300], one])).score > told.score
    far = " ".join([other, *filler])
    assert same_story(one, f"{far} {one}") == same_story(one, far)
    assert same_story(f"{far} {one}", one) == same_story(far, one)
