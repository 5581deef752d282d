"""Kinds of sites, made up: addresses of their documents, and of everything else that is linked there.

`RULED` are those that the rules for patterns were made on; `FRESH` were written afterwards.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass

WORDS = (
    "snow city river night bread letter winter road light stone garden market window silver forest history method "
    "signal border engine harbour cloud paper music theory number field water bridge summer"
).split()
RUSSIAN = (
    "снег город река ночь хлеб письмо зима дорога свет камень сад рынок окно лес история метод сигнал".split()
)


@dataclass
class Kind:
    documents: list[str]
    others: list[str]
    only: str


def slug(draw: random.Random, least: int = 2, most: int = 6, joint: str = "-") -> str:
    return joint.join(draw.choice(WORDS) for _ in range(draw.randint(least, most)))


def escaped(draw: random.Random) -> str:
    from urllib.parse import quote

    return quote("_".join(draw.choice(RUSSIAN) for _ in range(draw.randint(1, 4))).capitalize())


def distinct(make: Callable[[], str], many: int) -> list[str]:
    found: dict[str, None] = {}
    for _ in range(many * 40):
        found[make()] = None
        if len(found) >= many:
            break
    return list(found)


def frame(draw: random.Random, host: str) -> list[str]:
    """What every site has."""
    fixed = ["/", "/about", "/contact", "/login", "/rss", "/search", "/help/", "/terms"]
    tags = [f"/tag/{draw.choice(WORDS)}" for _ in range(20)]
    users = [f"/users/{draw.choice(WORDS)}{draw.randrange(99)}" for _ in range(60)]
    return [host + path for path in dict.fromkeys(fixed + tags + users)]


def post(draw: random.Random, many: int) -> Kind:
    host = "https://posts.example"
    ids = distinct(lambda: str(draw.randrange(100_000, 460_000)), many)
    others = frame(draw, host) + [f"{host}/post/{one}/comments/" for one in ids[: many // 3]]
    return Kind([f"{host}/post/{one}/" for one in ids], others, "post")


def item_asp(draw: random.Random, many: int) -> Kind:
    host = "https://elibrary.example"
    ids = distinct(lambda: str(draw.randrange(20_000_000, 28_000_000)), many)
    others = frame(draw, host) + [
        f"{host}/author_items.asp?authorid={draw.randrange(9999)}" for _ in range(80)
    ]
    return Kind([f"{host}/item.asp?id={one}" for one in ids], others, "item.asp")


def dated(draw: random.Random, many: int) -> Kind:
    host = "https://news.example"

    def make() -> str:
        return f"{host}/{draw.randint(2009, 2024)}/{draw.randint(1, 12):02}/{draw.randint(1, 28):02}/{slug(draw)}/"

    docs = distinct(make, many)
    others = frame(draw, host) + [f"{host}/{y}/{m:02}/" for y in range(2015, 2024) for m in range(1, 13)]
    return Kind(docs, others, "20")


def abstracts(draw: random.Random, many: int) -> Kind:
    host = "https://preprints.example"
    docs = distinct(
        lambda: f"{host}/abs/{draw.randint(9, 24):02}{draw.randint(1, 12):02}.{draw.randrange(20000):05}",
        many,
    )
    others = frame(draw, host) + [one.replace("/abs/", "/pdf/") for one in docs[: many // 3]]
    return Kind(docs, others, "abs")


def wiki(draw: random.Random, many: int) -> Kind:
    host = "https://wiki.example"
    docs = distinct(lambda: f"{host}/wiki/{escaped(draw)}", many)
    others = frame(draw, host)
    others += [f"{host}/wiki/{p}:{escaped(draw)}" for p in ("Talk", "User", "Category") for _ in range(40)]
    others += [f"{host}/w/index.php?title={escaped(draw)}&action=edit" for _ in range(60)]
    return Kind(docs, others, "/wiki/")


def html_slug(draw: random.Random, many: int) -> Kind:
    host = "https://stories.example"
    docs = distinct(lambda: f"{host}/article/{slug(draw, 3)}.html", many)
    others = frame(draw, host) + [f"{host}/category/{word}.html" for word in WORDS[:20]]
    return Kind(docs, others, "article")


def number_slug(draw: random.Random, many: int) -> Kind:
    host = "https://q.example"
    docs = distinct(lambda: f"{host}/questions/{draw.randrange(10**6)}/{slug(draw, 3)}", many)
    others = frame(draw, host) + [f"{host}/questions/tagged/{word}" for word in WORDS]
    return Kind(docs, others, "questions")


def handles(draw: random.Random, many: int) -> Kind:
    host = "https://repository.example"
    docs = distinct(lambda: f"{host}/handle/123456789/{draw.randrange(60_000)}", many)
    others = frame(draw, host) + [f"{host}/handle/123456789/{n}/browse?type=title" for n in range(40)]
    return Kind(docs, others, "handle")


def two_schemes(draw: random.Random, many: int) -> Kind:
    host = "https://old-and-new.example"
    new = distinct(lambda: f"{host}/read/{draw.randrange(90_000)}", many // 2)
    old = distinct(lambda: f"{host}/read.php?text={draw.randrange(4_000)}", many // 2)
    return Kind(new + old, frame(draw, host) + [f"{host}/genre/{word}" for word in WORDS], "read")


def padded(draw: random.Random, many: int) -> Kind:
    host = "https://archive.example"
    docs = distinct(lambda: f"{host}/docs/{draw.randrange(40_000):06}.html", many)
    return Kind(docs, frame(draw, host) + [f"{host}/docs/index{n}.html" for n in range(40)], "docs")


# Written afterwards


def law(draw: random.Random, many: int) -> Kind:
    host = "https://law.example"
    docs = distinct(lambda: f"{host}/document/cons_doc_LAW_{draw.randrange(400_000)}/", many)
    others = frame(draw, host) + [
        f"{host}/document/cons_doc_LAW_{draw.randrange(400_000)}/{draw.randrange(16**12):012x}/"
        for _ in range(60)
    ]
    return Kind(docs, others, "document")


def journal(draw: random.Random, many: int) -> Kind:
    host = "https://journal.example"
    docs = distinct(
        lambda: f"{host}/index.php/{draw.choice(['ling', 'hist'])}/article/view/{draw.randrange(9000)}", many
    )
    others = frame(draw, host)
    others += [f"{one}/{draw.randrange(9000)}" for one in docs[: many // 4]]
    others += [f"{host}/index.php/{j}/issue/view/{n}" for j in ("ling", "hist") for n in range(60)]
    return Kind(docs, others, "article")


def uuids(draw: random.Random, many: int) -> Kind:
    host = "https://objects.example"

    def make() -> str:
        raw = f"{draw.randrange(16**32):032x}"
        return f"{host}/items/{raw[:8]}-{raw[8:12]}-{raw[12:16]}-{raw[16:20]}-{raw[20:]}"

    docs = distinct(make, many)
    others = frame(draw, host) + [one + "/full" for one in docs[: many // 4]]
    others += [one.replace("/items/", "/communities/") for one in distinct(make, 60)]
    return Kind(docs, others, "items")


def blog_authors(draw: random.Random, many: int) -> Kind:
    host = "https://pens.example"
    names = distinct(lambda: f"{draw.choice(WORDS)}-{draw.choice(WORDS)}", 120)
    docs = distinct(lambda: f"{host}/blog/{draw.choice(names)}/{slug(draw, 3)}", many)
    others = frame(draw, host) + [f"{host}/blog/{name}" for name in names]
    return Kind(docs, others, "blog")


def slug_number(draw: random.Random, many: int) -> Kind:
    host = "https://daily.example"
    docs = distinct(
        lambda: (
            f"{host}/{draw.choice(['politics', 'sport', 'culture'])}/{slug(draw, 3)}-{draw.randrange(10**6)}"
        ),
        many,
    )
    others = frame(draw, host) + [
        f"{host}/{s}?page={n}" for s in ("politics", "sport", "culture") for n in range(2, 20)
    ]
    return Kind(docs, others, "-")


def topic_query(draw: random.Random, many: int) -> Kind:
    host = "https://forum.example"
    docs = distinct(lambda: f"{host}/viewtopic.php?f={draw.randint(1, 9)}&t={draw.randrange(50_000)}", many)
    others = frame(draw, host) + [f"{host}/viewforum.php?f={n}" for n in range(1, 10)]
    others += [f"{one}&start={draw.randrange(1, 9) * 20}" for one in docs[: many // 3]]
    others += [f"{host}/memberlist.php?mode=viewprofile&u={draw.randrange(900)}" for _ in range(60)]
    return Kind(docs, others, "viewtopic")


def book_chapters(draw: random.Random, many: int) -> Kind:
    host = "https://books.example"
    docs = distinct(lambda: f"{host}/b/{draw.randrange(9000)}/read/{draw.randint(1, 40)}", many)
    others = frame(draw, host) + [f"{host}/b/{n}" for n in range(80)] + [f"{host}/a/{n}" for n in range(60)]
    return Kind(docs, others, "read")


def year_number(draw: random.Random, many: int) -> Kind:
    host = "https://press.example"
    docs = distinct(lambda: f"{host}/release/{draw.randint(2001, 2024)}/{draw.randrange(900)}.shtml", many)
    others = frame(draw, host) + [f"{host}/release/{y}/" for y in range(2001, 2025)]
    return Kind(docs, others, "release")


RULED = (post, item_asp, dated, abstracts, wiki, html_slug, number_slug, handles, two_schemes, padded)
FRESH = (law, journal, uuids, blog_authors, slug_number, topic_query, book_chapters, year_number)
