"""Sites of many designs, made up: pages of documents, and what they answer with 200 to addresses that do not exist."""

from __future__ import annotations

import random
from dataclasses import dataclass

SENTENCES = (
    "The road leads over the hill to a village nobody remembers.",
    "Снег лежал на крышах до самого апреля, и река не двигалась.",
    "A method that measures two texts must not care about their order.",
    "В библиотеке хранились письма, которые никто не открывал.",
    "The harbour was quiet, and the lamps went out one after another.",
    "Каждый документ получает число, по которому его находят снова.",
    "Bread was baked twice a week in the oven behind the school.",
    "Учёный сравнил рукописи и нашёл в них одну и ту же ошибку.",
)
MESSAGES = (
    "Sorry, the page you are looking for does not exist.",
    "Страница не найдена. Возможно, она была удалена или перенесена.",
    "Oops! Nothing lives at this address any more.",
    "Здесь ничего нет. Вернитесь на главную и попробуйте ещё раз.",
    "We looked everywhere and came back with empty hands.",
    "Этот материал недоступен. Попробуйте воспользоваться поиском.",
    "The record is gone. Our archivists have been told about it.",
    "Пользователь с таким именем у нас не зарегистрирован.",
)


@dataclass
class Theme:
    draw: random.Random
    name: str
    message: str
    echo: bool
    lists: bool
    advice: list[str]
    menu: list[str]
    footer: str


def make_theme(seed: int) -> Theme:
    draw = random.Random(f"theme {seed}")
    first = draw.choice(["Silver", "North", "River", "Белый", "Старый"])
    name = f"{first} {draw.choice(['Press', 'Library', 'Архив', 'Herald'])}"
    return Theme(
        draw,
        name,
        f"{draw.choice(MESSAGES)} {draw.choice(SENTENCES) if draw.random() < 0.3 else ''}".strip(),
        draw.random() < 0.5,
        draw.random() < 0.5,
        draw.sample(SENTENCES, draw.randint(0, 2)),
        [f"section {number}" for number in range(draw.randint(3, 9))],
        f"© {draw.randint(1995, 2024)} {name}, all rights reserved",
    )


def _frame(theme: Theme, title: str, body: str) -> bytes:
    menu = "".join(f'<li><a href="/s{number}">{item}</a></li>' for number, item in enumerate(theme.menu))
    return (
        f"<!doctype html><html><head><meta charset=utf-8><title>{title} — {theme.name}</title></head><body>"
        f"<nav><ul>{menu}</ul></nav><div class=main>{body}</div><footer>{theme.footer}</footer></body></html>"
    ).encode()


def document(theme: Theme, number: int, words: int | None = None) -> bytes:
    draw = random.Random(f"{theme.name} {number}")
    text = f"Document {number} begins here. " + " ".join(
        f"{draw.choice(SENTENCES)} {draw.randrange(10**6)}." for _ in range(draw.randint(2, 12))
    )
    if words is not None:
        text = " ".join(text.split()[:words])
    if number % 20 == 7:
        text += " The old server answered 404 whenever a page was not found, and nobody minded."
    popular = "".join(
        f'<li><a href="/d/{draw.randrange(999)}">{draw.choice(SENTENCES)}</a></li>' for _ in range(4)
    )
    extra = f"<ul>{popular}</ul>" if theme.lists else ""
    return _frame(theme, f"Document number {number}", f"<h1>Document {number}</h1><p>{text}</p>{extra}")


def missing(theme: Theme, address: str) -> bytes:
    draw = theme.draw
    parts = [f"<h1>{theme.name}</h1>" if draw.random() < 0 else "", f"<p>{theme.message}</p>"]
    if theme.echo:
        parts.append(f"<p>You asked for {address}</p>")
    parts += [f"<p>{line}</p>" for line in theme.advice]
    if theme.lists:
        parts.append(
            "<ul>"
            + "".join(
                f'<li><a href="/d/{draw.randrange(999)}">{draw.choice(SENTENCES)}</a></li>' for _ in range(5)
            )
            + "</ul>"
        )
    return _frame(theme, "Sorry", "".join(parts))
