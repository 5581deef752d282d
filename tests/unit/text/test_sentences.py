"""Where sentences end. In the table ¦ stands where the text is to be cut (and is not part of the text)."""

from __future__ import annotations

import time

import pytest

from doublet.text.sentences import sentences

RUSSIAN = [
    "Он пришёл.¦ Она ушла.",
    "Он пришёл!¦ Она ушла?¦ Да.",
    "Это был, т. е. мог быть, другой дом.¦ Но нет.",
    "Он опоздал, т.к. шёл дождь.¦ Все ждали.",
    "Яблоки, груши и т. д. лежат на столе.",
    "Яблоки, груши и т. д.¦ На столе пусто.",
    "Купили хлеб, соль и т. п.¦ Потом ушли домой.",
    "Были Иванов, Петров и др.¦ Все согласились.",
    "Это случилось в 1990 г.¦ Он тогда учился.",
    "Он живёт в г. Москве на ул. Ленина, д. 5, кв. 10.",
    "В 1941–1945 гг. шла война.",
    "Это было в 1941–1945 гг.¦ Потом наступил мир.",
    "В XIX в. жили иначе.",
    "Так было в XIX в.¦ Теперь не так.",
    "В XIX в. Россия росла.¦ Росли и города.",
    "В 1812 г. Наполеон вошёл в Москву.¦ Город горел.",
    "К концу XVIII–XIX вв. Европа изменилась.",
    "Уже в мае 1945 г. Германия сдалась.",
    "9 мая 1945 г. Германия сдалась.",
    "Он умер в 1837 г.¦ Россия его помнит.",
    "До 1917 г. Петербург был столицей.¦ В 1918 г. столицей стала Москва.",
    "Рост 5 см.¦ Вес 3 кг.¦ Высота 10 м.",
    "Рост указан выше (см. Введение).",
    "Было −5 °C.¦ Давление 760 мм рт. ст.¦ Влажность 60 %.",
    "Поезд до ст. Сокол ушёл.",
    "Библиотека им. В. И. Ленина открыта.",
    "Завод им. Кирова закрыт.¦ Он старый.",
    "См. рис. 3 и табл. 4 на стр. 17.¦ Там всё есть.",
    "А. С. Пушкин родился в Москве.¦ Его знают все.",
    "Автор — Л. Н. Толстой.¦ Это известно.",
    "Пушкин А. С. писал стихи.",
    "Роман написал Толстой Л. Н.¦ Он же написал повесть.",
    "Число π равно 3.14 с точностью до сотых.¦ Этого хватит.",
    "Версия 1.2.3 вышла вчера.¦ Обновите её.",
    "Адрес: www.example.ru/index.html?page=1 или почта ivan.petrov@mail.ru.¦ Пишите!",
    "Откройте файл config.yaml и прочтите readme.txt.¦ Потом закройте.",
    "«Стой!» — закричал он.¦ Никто не ответил.",
    "Он сказал: «Я приду».¦ И не пришёл.",
    "«Я приду.»¦ Он ушёл.",
    "— Ты придёшь? — спросила она.¦ — Да, — ответил он.¦ — Завтра.",
    "— Привет!¦ — Он обернулся.",
    "Что?!¦ Не может быть!!!¦ Да…",
    "Я… не знаю, что сказать...¦ Простите.",
    "Ну... ладно.",
    "...и тогда он ушёл.¦ Навсегда.",
    "Он (так говорят!) уехал.¦ Давно.",
    "Правда (?) ли это?¦ Нет.",
    "Он встал.¦ (Никто не заметил.)¦ Дверь закрылась.",
    "Так написано в книге.[12]¦ Проверьте.",
    "Цена 5 тыс. руб. за штуку.",
    "Цена 5 тыс. руб.¦ Дорого.",
    "Население — 3 млн. чел.¦ Город растёт.",
    "Проф. Иванов и акад. Петров пришли.¦ Доц. Сидоров — нет.",
    "Напр., так.¦ Или иначе.",
    "В V в. до н. э. жил Сократ.",
    "Это V в. до н. э.¦ Сократ жил тогда.",
    "к. т. н. Иванов выступил.¦ Его слушали.",
    "Рис. 1. Схема установки.¦ Здесь показан насос.",
    "1. Первый пункт.¦ Продолжение.",
    "Глава 2. Начало пути.",
    "Он выпил витамин С.¦ Это помогло.",
    "Конец.¦Начало нового.",
    "Обратитесь в г.Москва, ул.Мира.",
    "Это п. 5 ст. 12 закона.¦ Читайте.",
    "Вышло 25 мая.¦ 26 мая пришёл ответ.",
    "Ёлка упала.¦ Ёжик убежал.",
    "Он сказал «да».¦ «Нет», — сказала она.",
    "Слово .NET пишут с точкой.¦ Да.",
    "5! = 120, а 3! = 6.",
    "эй!¦ ты где?¦ я тут.",  # no capitals at all: a chat, where every mark counts
    "англ. Duplicate, фр. double, лат. duplex.",
    "Никто не виноват, кроме того, что там был я.¦ Например, так.",
    "Всё сказано.¦ #дубликаты #тексты",
    "Температура -10… -12°, ночью холоднее.",
    "он ушёл, и др. вопросы",
    "Об этом писали в СССР.¦ В США — нет.",
]

ENGLISH = [
    "He came.¦ She left.",
    "Mr. Smith met Mrs. Jones.¦ They talked.",
    "Dr. J. R. R. Tolkien wrote it.¦ We read it.",
    "See e.g. Smith, i.e. the first one.¦ Then go on.",
    "Bring apples, pears, etc. to the table.",
    "Bring apples, pears, etc.¦ The table is set.",
    "Fig. 2 shows a pump, Eq. 5 its flow.¦ Both matter.",
    "Rome vs. Carthage was No. 1 of the wars.¦ It was long.",
    "He said no.¦ Then he left.",
    "No. 5 is alive.",
    "It costs 3.50 dollars, version 2.0.1.¦ Cheap.",
    "He left at 5 p.m. on Monday.",
    "He left at 5 p.m.¦ Nobody saw him.",
    "She lives in the U.S. Army base.",
    "She lives in the U.S.¦ The weather is fine.",
    "Apple Inc. was founded then.",
    "He works for Apple Inc.¦ The pay is good.",
    "Smith et al. (2010) say so.¦ We do not.",
    "“Stop!” he said.¦ “Why?”¦ She ran.",
    '"Is it you?" asked Ann.¦ "It is."¦ They smiled.',
    "(This is a remark.)¦ This is not.",
    "Wait... what?¦ Really?!¦ Yes.",
    "Visit http://example.com/a.b?c=d.¦ It is free.",
    "Mail to john.smith@example.com.¦ He answers.",
    "We use C++ and C#.¦ Both are fine.",
    "IEEE 754 says so.¦ It is a standard.",
    "Published on Jan. 5 and Feb. 7.¦ Nothing since.",
    "Vol. 3, pp. 12–15, ch. 4.",
    "1. Open the box.¦ Look inside.",
    "Chapter 3. The road.",
    "King Charles I. was tall.¦ He was a king.",
    "Martin Luther King Jr. spoke.",
    "St. Petersburg is a city.¦ It is old.",
    "Was it 5?¦ 6 came later.",
    "the end.¦ of what",
    "Take the value of x.¦ Then add y.",
    "Call the method a.b.¦ The result is c.",
    "It is so.[1][2]¦ Nobody doubts it.¹¦ Nobody.",
]

LINES = [
    "Первая строка текста переносится\nна вторую строку.¦ Вот так.",
    "Заголовок\n¦\nПервое предложение.¦ Второе.",
    "Введение\n¦Эта работа рассказывает о том, как ищут одинаковые тексты.",
    "Список:\n¦- первый пункт\n¦- второй пункт\n¦- третий",
    "Шаги\n¦1) открыть\n¦2) закрыть",
    "— Да, — сказал он.\n¦— Нет.",
    "Москва\n— столица России.",
    "a line that was wrapped\nby a mail program and goes on",
    "One.\r\n\r\n¦Two.\r\n\r\n¦Three.",
    "Первый абзац без точки\n\n¦второй абзац",
]


def cut(case: str) -> tuple[str, list[str]]:
    return case.replace("¦", ""), [part.strip() for part in case.split("¦")]


def split(text: str) -> list[str]:
    return [text[start:end] for start, end in sentences(text)]


@pytest.mark.covers("T7")
@pytest.mark.parametrize("case", RUSSIAN + ENGLISH + LINES)
def test_it_works(case: str) -> None:
    text, expected = cut(case)
    assert split(text) == expected


@pytest.mark.parametrize("text", ["", " ", "\n\n \t\n", "\u2029\u2028\x0b"])
def test_blank_text_has_no_sentence(text: str) -> None:
    assert sentences(text) == []


@pytest.mark.parametrize("text", ["a", ".", "...", "!?", "\x00", "\ud800", "\u200b", ". . ."])
def test_one_piece(text: str) -> None:
    assert split(text) == [text]


def test_marks_alone_are_no_sentence_of_their_own() -> None:
    assert split("... ... Да. !!! Нет.") == ["... ... Да. !!!", "Нет."]


def test_no_quadratic_time() -> None:
    """Each of these is a trap for a splitter that looks back or ahead without a bound."""
    size = 30_000
    hostile = [
        "слово " * (size // 6),
        "." * size,
        ". " * (size // 2),
        "a." * (size // 2),
        "А. " * (size // 3),
        "\n" * size,
        " " * size + "a",
        "a" + " " * size,
        "a. " + "«" * size,
        "!" + '"' * size,
        "\ud800." * (size // 2),
        "\x00\n" * (size // 2),
        "a.\n" * (size // 3),
        "- a\n" * (size // 4),
        "1.2." * (size // 4),
    ]
    for text in hostile:
        began = time.perf_counter()
        spans = sentences(text)
        assert time.perf_counter() - began < 10, text[
            :20
        ]  # a second or so on a busy machine; hours if quadratic
        assert all(start < end for start, end in spans)


SWAPPED = str.maketrans("асеорхуАВСЕНКМОРТХ", "aceopxyABCEHKMOPTX")


@pytest.mark.covers("T5", "T7")
@pytest.mark.parametrize(
    "text",
    [
        "Это видно на рисунке, см. Приложение. Глава II. Начало. Всего 5 кг. Затем ушли.",
        "И т. д. Потом всё, т. е. почти. В с. Сосновка, р. Ока. Ср. ст. 5.",
        "Реку переходили вброд (ок. 3 м). Акад. Орлов, проф. Ерохин и др. Об этом позже.",
    ],
)
def test_letters_that_look_alike_move_no_border(text):
    assert sentences(text.translate(SWAPPED)) == sentences(text)


@pytest.mark.covers("T5", "T7")
def test_foreign_words_stay_what_they_are():
    text = "Сравните fig. 3 и table 5. Смит et al. писали об этом. Всё."
    assert [text[a:b] for a, b in sentences(text)] == [
        "Сравните fig. 3 и table 5.",
        "Смит et al. писали об этом.",
        "Всё.",
    ]
