"""Where paragraphs end. In the table ¦ stands where the text is to be cut (and is not part of the text)."""

from __future__ import annotations

import time

import pytest

from doublet.text.paragraphs import WRAP_WIDTH, paragraphs

LONG = "Это длинная строка, в которой стоит целый абзац, и никто её не переносил. " * 3

CASES = {
    "one line": "Один абзац.",
    "blank line": "Первый абзац.\n\n¦Второй абзац.",
    "blank line with blanks": "Первый.\n \t \n\n¦Второй.",
    "windows line ends": "Первый.\r\n\r\n¦Второй\r\nи его конец.",
    "old mac line ends": "Первый.\r\r¦Второй.",
    "paragraph separator": "Первый\u2029¦Второй",
    "hard-wrapped": (
        "Этот текст набран так, что каждая строка\n"
        "кончается там, где кончилось место на\n"
        "бумаге, а не там, где кончилась мысль.\n\n"
        "¦Второй абзац набран точно так же, как\n"
        "и первый."
    ),
    "indented first lines": (
        "    Первый абзац начинается с отступа\n"
        "и продолжается на второй строке.\n"
        "¦    Второй абзац тоже начинается с\n"
        "отступа."
    ),
    "a line for each paragraph": f"{LONG}\n¦{LONG}\n¦{LONG}",
    "a line for each paragraph, short lines": (
        "Первое предложение кончилось здесь.\n¦Второе тоже.\n¦Третье подлиннее других.\n¦Четвёртое.\n¦Пятое."
    ),
    "heading": "Введение\n¦Этот раздел рассказывает о том, что будет дальше, и о том,\nчто было раньше.",
    "short last line": (
        "The first paragraph of this letter is wrapped by\n"
        "hand and ends soon.\n"
        "¦The second one begins on the next line and goes\n"
        "on and on."
    ),
    "list": "Нужно взять:\n¦- хлеб;\n¦- соль;\n¦- спички.",
    "list with long items": (
        "* первый пункт, который не поместился\n  на одной строке\n¦* второй пункт\n¦* третий пункт"
    ),
    "numbered list": "Порядок:\n¦1. открыть\n¦2. прочесть\n¦3. закрыть",
    "bracketed numbers": "Порядок:\n¦1) открыть;\n¦2) закрыть.",
    "dialogue": "— Ты придёшь?\n¦— Приду.\n¦— Когда?",
    "dash that was wrapped": "Москва, как всем давно известно,\n— столица России.",
    "a year at the start of a line": "Он родился задолго до войны, говорят, зимой\n1913. года.",
    "continued in small letters": "Короткая\nстрока, а за нею вторая, намного длиннее первой.",
    "a line that ends with a comma": "Дорогой друг,\nПишу тебе из далёкого города, в котором давно не был.",
}


def cut(case: str) -> tuple[str, list[str]]:
    return case.replace("¦", ""), [part.strip() for part in case.split("¦")]


def split(text: str) -> list[str]:
    return [text[start:end] for start, end in paragraphs(text)]


@pytest.mark.covers("T7")
@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_it_works(case: str) -> None:
    text, expected = cut(case)
    assert split(text) == expected


@pytest.mark.parametrize("text", ["", " ", "\n\n \t\n", "\u2029\u2028\x0b\u00a0"])
def test_blank_text_has_no_paragraph(text: str) -> None:
    assert paragraphs(text) == []


@pytest.mark.parametrize("text", ["a", ".", "\x00", "\ud800", "\u200b", "-"])
def test_one_character(text: str) -> None:
    assert split(f"\n {text}\t\n") == [text]


def test_exactly_the_widest_wrapped_line() -> None:
    """At the limit a line may have been wrapped, one character more and it was not."""
    words = "слово " * 100
    assert len(split(words[: WRAP_WIDTH - 2] + "да\nНо")) == 1
    assert len(split(words[: WRAP_WIDTH - 1] + "да\nНо")) == 2


def test_no_quadratic_time() -> None:
    size = 30_000
    hostile = [
        "\n" * size,
        " " * size + "a",
        "a\n" * size,
        "- \n" * size,
        "\ud800\r" * size,
        "(" * size,
        "1.\n" * size,
    ]
    for text in hostile:
        began = time.perf_counter()
        paragraphs(text)
        assert time.perf_counter() - began < 10, text[:20]
