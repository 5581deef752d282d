"""Hostile input makes no reader slow: eight times as much takes about eight times as long, whatever is repeated."""

from __future__ import annotations

import contextlib
import gc
import itertools
import random
import time
from collections.abc import Callable

import pytest

from doublet.errors import Unreadable
from doublet.matches import exclusions
from doublet.text import formats, kind
from doublet.text.formats.protocol import Hints
from doublet.text.markup import READERS as MARKUP
from doublet.text.sentences import sentences
from doublet.text.titles import sensible

SHORT, TIMES = 3_000, 8  # characters, and how many times more
SLACK = 3.5  # linear gives 1, quadratic 8
FLOOR_S = 0.004  # shorter times are noise

COMMON = (
    *("a", "a ", " ", "\n", "\t", ".", ":", '"', "'", "(", ")", "[", "]", "{", "}", "<", ">", "/", "\\", "|", "*"),
    *("_", "`", "~", "#", "=", "-", "+", "!", "&", "$", "%", "@", "1", "\r\n", "é"),
)  # fmt: skip
TOKENS = {
    "markdown": "]( ![ [a]( [a]: [^a]: ** *** ~~ ``` >␣ -␣ 1.␣ |␣a␣ |- |---|␤ <a␣ <a> <!-- --> <? &a; ␣␣␣␣a #␣a a** "
    "[a `` &# (( <http: <a@b {#a {:a} \\* __a a_ _a_ ~~a *a* <a␣b=' <a␣b=c` [^a] a*b ␤␤*a ␤␤`",
    "restructuredtext": "..␣ ..␣a:: ..␣a::␣ ..␣[a]␣ ::␤ a::␤ ␤␣␣a `` `a␣< `a`_ :a:` `:a: |a ** *a␣ ===␤ +--+␤ =␣=␤ -␣a "
    "..␤ a_ [1]_ [# ␤␣ ..␣|a \\a :a: :a:␣b␤ *a",
    "latex": "\\begin{ \\end{ \\begin{a} \\begin{verbatim} \\end{verbatim} \\begin{document} \\verb \\verb| \\a "
    "\\a{ \\a[ \\emph{ \\footnote{ \\href{ \\section{ \\title{ \\title[ \\maketitle \\\" \\'{ \\\\[ %␤ "
    "$ $$ \\[ \\] \\newcommand \\item[ {} {{ \\input{ \\section[ {\\a \\par",
    "wikitext": "{{ }} {{{ }}} [[ [[a| [[File: {{a| {| |- |+ |}␤ || !! <ref <ref> <ref/ </ref> <nowiki> <pre> <pre␣ "
    "<math <math> <br [http: [mailto: https://a '' ''' == ==␣a =␣a __ __A ~~~ a= a=\" ␤|a ␤{| "
    "upright [//a <br␣ {{lang|a [[File:a|1",
    "html": "<a␣ <a> </a> <div> </div> <p> <table> <tr><td> <li> <b> <style> <style>{ <style>@ </style> "
    "<script> <!-- <a␣href=x> <sup>1 <font␣color=white> <p␣style=\"color:white\">a <p␣hidden>a</p>b &a "
    "&amp; <svg> <title> <h1> <pre> <nav> <aside> <div␣class=\"nav\"> <select> <form> a=b␣ .a{ /* @a <p␣",
    "xml": "<a> </a> <a/> <a␣b=\" &lt; <!-- <![CDATA[ <? <a>x</a> x<b> <row> <footnote> <title> <a␣b='",
    "rtf": "{ } \\par␣ {\\b␣ \\u1? \\'e1 {\\*\\a␣ {\\footnote␣ \\v␣ \\v␣a\\v0␣b {\\fonttbl {\\info{\\title␣ "
    "\\cell␣ \\row␣ \\f1␣a\\f2␣",
    "mail": "A:␣b␤ ␣a␤ --b␤ =?utf-8?b? =?a?q?b?= ?= Content-Type:␣text/html␤ >From␣ \" ;␣a=b From␣ "
    "a;␣filename*0=a",
    "text": "« » “ ” „ ‹ › \"a ␤> ␤␣␤ 1990␣ A.␣B.␣ И.␣ //␣ References␤ a␣1990␣//␣b␤ №␣1 Aa Аа Aa- http:// т.␣е. "
    "(1 1) —",
}  # fmt: skip
BEFORE = {
    "html": "<html><body>",
    "xml": "<a>",
    "rtf": "{\\rtf1 ",
    "mail": "From: a\nMime-Version: 1\nSubject: ",
}
AFTER = {"xml": "</a>", "rtf": "}"}


def reader(name: str) -> Callable[[str], object]:
    read = formats.reader(name).read
    return lambda text: read(f"{BEFORE.get(name, '')}{text}{AFTER.get(name, '')}".encode(), Hints(kind=name))


CASES: dict[str, tuple[Callable[[str], object], str]] = {
    **{name: (reader(name), name) for name in ("plain", *TOKENS) if name in formats.READERS},
    "css": (lambda text: reader("html")(f"<style>{text}</style><p>a"), "html"),
    "mail body": (lambda text: reader("mail")(f"a\n\n{text}"), "mail"),
    "kind of markup": (
        lambda text: kind.tell(text.encode()),
        "markdown restructuredtext latex wikitext mail",
    ),
    "kind of a page": (lambda text: kind.tell(f"<x{text}".encode()), "html xml"),
    "quotations": (exclusions.quotations, "text"),
    "quotations in paragraphs": (lambda text: exclusions.quotations(f"a\n\n{text}"), "text"),
    "bibliography": (exclusions.bibliography, "text"),
    "sentences": (sentences, "text"),
    "title": (sensible, "text"),
    **{f"repeats in {name}": (read, name) for name, read in MARKUP.items()},
}
ALIAS = {"plain": "text", "rst": "restructuredtext"}


def hostile(names: str) -> list[tuple[str, ...]]:
    """One token over and over, two in turn, and one before many of another: all of the first, some of the others."""
    tokens = [*COMMON]
    for name in names.split():
        tokens += [t.replace("␣", " ").replace("␤", "\n") for t in TOKENS[ALIAS.get(name, name)].split()]
    pairs = list(itertools.permutations(dict.fromkeys(tokens), 2))
    some = random.Random(names).sample(pairs, 24)
    return [*((token,) for token in dict.fromkeys(tokens)), *some]


def repeated(tokens: tuple[str, ...], characters: int) -> list[str]:
    whole = "".join(tokens)
    turns = whole * (characters // len(whole))
    if len(tokens) == 1:
        return [turns]
    first, second = tokens
    half = characters // 2
    runs = first * (half // len(first)) + second * (half // len(second))
    return [turns, first + second * (characters // len(second)), runs]


def seconds(work: Callable[[str], object], text: str) -> float:
    """CPU of one run. Without the garbage collector: it goes through all objects of the process, those of other tests
    too, as soon as a text is long enough to make many."""
    gc.disable()
    try:
        before = time.process_time()
        with contextlib.suppress(Unreadable):
            work(text)
        return time.process_time() - before
    finally:
        gc.enable()


@pytest.mark.covers("T1")
@pytest.mark.parametrize("case", CASES)
def test_eight_times_the_input_takes_about_eight_times_as_long(case: str) -> None:
    work, names = CASES[case]
    work("a")  # what is loaded the first time does not count
    slow = []
    for tokens in hostile(names):
        for small, large in zip(repeated(tokens, SHORT), repeated(tokens, TIMES * SHORT), strict=True):
            allowed = TIMES * SLACK
            if (took := seconds(work, large)) <= allowed * FLOOR_S:
                continue
            base = max(FLOOR_S, *(seconds(work, small) for _ in range(3)))
            # Four times in a row is not the noise of a busy machine.
            if took > allowed * base and all(seconds(work, large) > allowed * base for _ in range(3)):
                slow.append((tokens, round(took / base)))
    assert not slow


@pytest.mark.covers("T1")
def test_a_text_of_colons_is_told_at_once() -> None:
    """Half a minute, once: each colon began a role that might end at any later one."""
    small, large = b":a" * 2_048, b":a" * 32_768
    base = max(FLOOR_S, seconds(lambda _: kind.tell(small), ""))
    assert seconds(lambda _: kind.tell(large), "") <= 16 * SLACK * base


@pytest.mark.covers("T1")
@pytest.mark.parametrize("shape", ["beside", "inside"])
def test_texts_for_readers_without_scripts_are_counted_once(shape: str) -> None:
    """Each was compared with the text of the whole page: a megabyte of them took minutes."""
    part = "word " * 60

    def page(parts: int) -> str:
        if shape == "beside":
            return f"<noscript>{part}</noscript>" * parts
        return f"<noscript>{part}" * parts + "</noscript>" * parts

    work, (small, large) = reader("html"), (100, 800)
    work("a")
    base = max(FLOOR_S, *(seconds(work, page(small)) for _ in range(3)))
    assert min(seconds(work, page(large)) for _ in range(3)) <= large // small * SLACK * base
