"""Two mirrors of one site, each with a frame of its own: all twins are found, and no other pair (T3)."""

from __future__ import annotations

import pathlib
import random

import pytest

import doublet

pytestmark = pytest.mark.covers("T3")
TOPICS = (
    "harbour glacier violin market lantern orchard railway pottery falcon printing weaving compass".split()
)
VERBS = "keeps repairs describes compares measures restores collects follows".split()


def sentence(rng: random.Random, topic: str) -> str:
    pool = [f"{topic}{ending}" for ending in ("", "s", "man", "side")] + TOPICS
    return (
        f"The {rng.choice(pool)} of {rng.choice(TOPICS)} {rng.randrange(100, 999)} {rng.choice(VERBS)} what the "
        f"{rng.choice(pool)} {rng.choice(VERBS)} near {rng.choice(TOPICS)} number {rng.randrange(100, 999)}."
    )


def chapter(rng: random.Random, topic: str) -> str:
    paragraphs = "".join(
        f"<p>{' '.join(sentence(rng, topic) for _ in range(3))}</p>" for _ in range(rng.randrange(1, 5))
    )
    terms = "".join(
        f"<dt>{rng.choice(TOPICS)}</dt><dd>{rng.choice(VERBS)} {rng.choice(TOPICS)}</dd>" for _ in range(3)
    )
    return f"<div class=sect1><h2>About the {topic}</h2>{paragraphs}<dl>{terms}</dl></div>"


def terse(rng: random.Random, topic: str) -> str:
    """A page with less of its own than the mirrors put around it."""
    return f"<div class=sect2><h3>The {topic} {rng.randrange(999)}</h3><p>{sentence(rng, topic)}</p></div>"


def contents(rng: random.Random, topic: str) -> str:
    items = "".join(
        f"<li><a href=p{rng.randrange(9999)}.html>{rng.choice(TOPICS).title()} {rng.choice(VERBS)} the {topic} "
        f"{rng.randrange(100, 999)}</a></li>"
        for _ in range(rng.randrange(5, 12))
    )
    title = f"<h1>Part {rng.randrange(99)}: the {topic}</h1>"
    return f"<div class=chapter>{title}<div class=toc><ul>{items}</ul></div></div>"


FRAMES = {
    "first": (
        "<div class=header><a href=/>Home</a> <a href=/docs>Documents</a> <a href=/news>News</a></div>",
        "<div class=footer><p>These pages belong to the archive of a society of readers. Whoever finds a mistake may "
        "write to the keepers of the archive and say on which page it is and what is wrong there.</p><p>Last changed "
        "2026-03-{day:02d}. Copyright the authors.</p></div>",
    ),
    "second": (
        "<table width='100%'><tr><td><b>Mirror of a university</b></td><td><a href=/pub>pub</a> | "
        "<a href=/help>help</a></td></tr></table><p>You are reading a copy of this page. The place where it came from "
        "may have a newer one, in which its authors put right what was found to be wrong here.</p>",
        "<hr><p>This copy was fetched on 2026-04-{day:02d} by the computing centre. The centre does not answer for "
        "what other people wrote on these pages, and the disks were given by its friends.</p>",
    ),
}


def check(folder: pathlib.Path, bodies: list[str]) -> None:
    """All twins are found, and no other pair."""
    names = [f"page-{number}.html" for number in range(len(bodies))]
    for number, body in enumerate(bodies):
        for side, (top, end) in FRAMES.items():
            (folder / side).mkdir(exist_ok=True)
            page = f"<body>{top}{body}{end.format(day=1 + number % 28)}</body>"
            (folder / side / names[number]).write_text(f"<html>{page}</html>", encoding="utf-8")
    groups = doublet.dedupe(folder).groups
    assert sorted(
        tuple(sorted([group.keep, *(member.id for member in group.members)])) for group in groups
    ) == sorted((f"first/{name}", f"second/{name}") for name in names)


def test_all_twins_and_no_other_pair(tmp_path: pathlib.Path) -> None:
    kinds = (contents, chapter, terse, chapter)
    topics = [(random.Random(number), TOPICS[number % len(TOPICS)]) for number in range(80)]
    check(tmp_path, [kinds[number % 4](*one) for number, one in enumerate(topics)])


def stub(rng: random.Random, topic: str) -> str:
    return f"<p>See <a href=p.html>{topic}-{rng.randrange(9999)}</a></p>"


def index(rng: random.Random, topic: str) -> str:
    """A list of which the first step keeps other pieces on each side."""
    terms = "".join(
        f"<tr><td><a href=p.html#{n}>{rng.choice(TOPICS)}{rng.randrange(9999)}</a>"
        + (f" ({rng.choice(VERBS)} in the {rng.choice(TOPICS)})" if rng.random() < 0.3 else "")
        + "</td></tr>"
        for n in range(300)
    )
    return f"<h1>Index of the {topic}</h1><table>{terms}</table>"


def test_stubs_and_long_indexes(tmp_path: pathlib.Path) -> None:
    kinds = (stub, index, chapter)
    topics = [(random.Random(1000 + number), TOPICS[number % len(TOPICS)]) for number in range(60)]
    check(tmp_path, [kinds[number % 3](*one) for number, one in enumerate(topics)])
