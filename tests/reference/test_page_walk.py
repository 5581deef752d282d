"""How a page is cut into blocks, against a plain walk over its tree: an event for each beginning and end of an element;
and the native kernels for pages against their twins."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from lxml import etree

from doublet import addresses, kernels
from doublet.kernels import reference
from doublet.kernels.reference.page import INLINE, SILENT, VERBATIM
from doublet.kernels.settings import FrameOptions
from doublet.text import frame
from doublet.text.formats import html
from doublet.text.formats.protocol import Builder
from doublet.text.signs import bits_of

needs_native = pytest.mark.skipif(
    kernels.BACKEND != "native", reason="the native kernels are not built: make setup"
)

_BLANKS = re.compile(r"[ \t\r\n\f]+")
_CELL = re.compile(" ?\x1f ?")


NOTE_MARK = re.compile(r"[\[(]?(?:\d{1,4}|[*†‡]|[ivx]{1,5}|[a-z])[\])]?\Z")
NOTE_LINK = re.compile(r"footnote-(?:ref|back)|doc-(?:noteref|backlink)|sdfootnote|sdendnote|noteref", re.I)


def is_note_mark(element: Any) -> bool:
    text = "".join(element.itertext()).strip()
    if element.tag == "a":
        names = (element.get("class"), element.get("role"), element.get("epub:type"))
        return any(name and NOTE_LINK.search(name) for name in names) and len(text) <= 6
    anchors = (*element.iterancestors("a"), *element.iter("a"))
    return bool(NOTE_MARK.match(text) and anchors)


def is_flat(row: Any) -> bool:
    inside = [item.tag for item in row.iter()][1:]
    return (
        all(tag in INLINE | {"td", "th", "p", "br", "div"} for tag in inside)
        and sum(tag in ("p", "div") for tag in inside) <= 40
        and all(len("".join(cell.itertext())) < 600 for cell in row)
    )


def blocks_plainly(root: Any) -> list[tuple[str, Any, int]]:
    out: list[tuple[str, Any, int]] = []
    pieces: list[str] = []
    owner, row = root, None
    verbatim = links = linked = 0
    skipped: set[Any] = set()
    leading: set[Any] = set()

    def finish() -> None:
        nonlocal pieces, linked
        raw = "".join(pieces)
        pieces = []
        if verbatim:
            text = raw.strip("\n")
        else:
            text = "\n".join(_BLANKS.sub(" ", line).strip() for line in raw.split("\v")).strip()
            if row is not None:
                text = _CELL.sub("\t", text).strip("\t")
        if text.strip():
            out.append((text, owner, linked))
        linked = 0

    walker = etree.iterwalk(root, events=("start", "end"))
    for event, element in walker:
        tag = element.tag
        block = (
            tag not in INLINE and tag not in SILENT - {"button"} and tag != "br" and element not in skipped
        )
        here = (element.get("href") or "").startswith("#") and re.fullmatch("h[1-6]", str(owner.tag))
        link = tag == "a" and element.get("href") is not None and not here
        if event == "start":
            closed = tag != "button" or len(list(element.iter())) <= 31
            if (tag in SILENT and closed) or (tag in ("sup", "a") and is_note_mark(element)):
                walker.skip_subtree()
                skipped.add(element)
                continue
            if tag == "br":
                pieces.append("\v")
            elif tag == "tr" and row is None and is_flat(element):
                finish()
                row = owner = element
            elif tag in ("td", "th") and row is not None:
                pieces.append("\x1f")
            elif block and row is None:
                finish()
                owner = element
                verbatim += tag in VERBATIM
            elif block:
                pieces.append(" ")
            links += link
            if link:
                leading.add(element)
            words = element.text
        else:
            if block and (row is None or element is row):
                finish()
                row = None
                verbatim -= tag in VERBATIM
                owner = element.getparent() if element is not root else root
            elif block:
                pieces.append(" ")
            links -= element in leading
            words = element.tail if element is not root else None
        if words:
            pieces.append(words)
            linked += len(words.strip()) if links else 0
    finish()
    return out


def hidden_plainly(page: Any) -> list[Any]:
    rules = html._hiding_rules(page)
    shown: list[Any] = []
    while True:
        out: list[tuple[Any, str]] = []
        for item in page.iter():
            above = any(one in (gone for gone, _ in out) for one in item.iterancestors())
            if not above and item not in shown and item.tag not in ("html", "body", "head"):
                reason = html._reason(item, rules)
                if reason and (reason != "hidden" or item.get("role") not in ("tabpanel", "region")):
                    out.append((item, reason))
        hidden = [(item, html._letters(item)) for item, reason in out if reason == "hidden"]
        seen = html._letters(page) - sum(letters for _, letters in hidden)
        later = [
            item
            for item, letters in hidden
            if letters >= html.PROSE_LETTERS and letters >= html.SHOWN_LATER * (letters + seen)
        ]
        if not later:
            return [item for item, _ in out]
        shown += later


WORDS = st.sampled_from(
    ["Снег ", "a", " snow\n falls ", "\xa0", " ", "\n", "12", "*", "x\u00ady", " \t ", "конец.", "ВСЁ: ", "\U0001f600",
     "© 2020, all rights reserved", "5 мая", "雪が降る。", "หิมะตก ", "a, b, c &amp; d:", "We use cookies",
     "twelve words of a sentence, more or less. " * 3]
)  # fmt: skip
TAGS = st.sampled_from(
    "p div span a a sup b br ul li table tr tr td td th pre h1 section nav script select button svg font em article "
    "header footer aside main figure".split()
)
MARKS = st.sampled_from(
    ["", "", ' href="/a"', ' href="#a"', ' hidden=""', ' style="display:none"', ' style="color:white"',
     ' class="noteref"', ' class="nav menu"', ' id="comments"', ' role="main"',
     ' epub:type="footnote" class="a&amp;b"',
     ' class="veil"', ' id="veil"', ' role="tabpanel" hidden=""', ' role="region" hidden=""',
     ' color="white"', ' class="menu"', ' role="doc-noteref" href="#n"']
)  # fmt: skip


@st.composite
def pages(draw: st.DrawFn) -> str:
    sheet = "<style>.veil{display:none} #veil, p.menu {opacity:0}</style>" if draw(st.booleans()) else ""

    def inside(depth: int) -> str:
        out = draw(WORDS)
        for _ in range(draw(st.integers(0, 4 if depth < 4 else 0))):
            tag = draw(TAGS)
            out += f"<{tag}{draw(MARKS)}>{inside(depth + 1)}</{tag}>{draw(WORDS)}"
        return out

    return f"<html><head><title>t</title>{sheet}</head><body>{inside(0)}</body></html>"


@pytest.mark.covers("T3")
@settings(max_examples=150)
@given(pages())
def test_the_blocks_of_a_page(text: str) -> None:
    page, _ = html.parse_page(text.encode())
    found: list[tuple[str, Any, int]] = []
    html.gather(page, lambda *block: found.append(block))
    assert found == blocks_plainly(page)


def same(one: Any, other: Any) -> bool:
    if isinstance(one, np.ndarray):
        return bool(one.dtype == other.dtype and one.shape == other.shape and (one == other).all())
    return bool(one == other)


@needs_native
@pytest.mark.covers("T3")
@settings(max_examples=150)
@given(pages())
def test_the_kernels_agree_with_their_twins(text: str) -> None:
    page, _ = html.parse_page(text.encode())
    markup = etree.tostring(page, method="c14n")
    found, expected = kernels.cut_markup(markup), reference.cut_markup(markup)
    assert found is not None and expected is not None
    assert all(map(same, found, expected))
    cut = html.Cut(*found)
    rest = (
        cut.said,
        cut.holders,
        cut.parents,
        np.array([bits_of(key) for key in cut.keys], np.uint32),
        cut.names,
    )
    given_to = cut.texts, cut.words, cut.shares, *rest, FrameOptions(), len(cut.texts) % 2 == 0
    signs = kernels.block_signs(*given_to)
    assert all(map(same, signs, reference.block_signs(*given_to)))
    trees = frame.learned()
    assert same(kernels.tree_scores(signs[0], *trees), reference.tree_scores(signs[0], *trees))
    assert kernels.without_numbers(cut.texts) == reference.without_numbers(cut.texts)


def _row(*cells: str) -> bytes:
    inside = "".join(f"<td>{cell}</td>" for cell in cells)
    return f"<html><body><table><tr>{inside}</tr></table></body></html>".encode()


def _button(elements: int) -> bytes:
    return f"<html><body><button>{'<i>word</i>' * elements}</button><p>end</p></body></html>".encode()


@pytest.mark.parametrize("cut", [kernels.cut_markup, reference.cut_markup])
@pytest.mark.parametrize(
    ("first", "second"),
    [
        (
            _row("a" * 599, "b"),
            _row("a" * 600, "b"),
        ),  # a cell that is longer is no cell of a table of figures
        (_row("<p>a</p>" * 40, "b"), _row("<p>a</p>" * 41, "b")),  # nor one of more paragraphs
        (_button(30), _button(31)),  # a button that holds more was never closed
    ],
)
def test_where_a_page_is_cut_otherwise(cut: Any, first: bytes, second: bytes) -> None:
    few, many = (len(cut(markup)[0]) for markup in (first, second))
    assert few == 1 < many


@pytest.mark.parametrize("cut", [kernels.cut_markup, reference.cut_markup])
@pytest.mark.parametrize(
    "markup",
    [
        b"", b"text", b"<p>", b"<p></q>", b"<p></p><p></p>", b"<p></p>text", b"<p a=1></p>", b'<p a="1"b="2"></p>',
        b'<p {{a}}="1"></p>', b"<p>&nbsp;</p>", b"<p>& </p>", b"<p>\xff</p>", b"<!-- a --><p></p>", b"<p/>",
        b'<p a="<"></p>', b"<p><a></p></a>", b"<a'b></a'b>", b'<p ="1"></p>',
        b"<p>\xed\xa0\x80</p>", b"<p>\xc0\x80</p>",
    ],
)  # fmt: skip
def test_markup_that_is_not_canonical(cut: Any, markup: bytes) -> None:
    assert cut(markup) is None


@pytest.mark.covers("T3")
def test_names_that_no_xml_has() -> None:
    page, _ = html.parse_page(
        b"<html><body><p {{class}} class='a&amp;b' \"x='1'>One <b<c>two</b<c> three.</p>"
        b'<ahref="/x">Four</body></html>'
    )
    cut = html.cut_page(page)
    assert " ".join(cut.texts).split() == ["One", "two", "three.", "Four"]
    assert any(key.startswith("p\0a&b\0") for key in cut.keys)


@pytest.mark.covers("T5")
@settings(max_examples=150)
@given(pages())
def test_what_nobody_sees(text: str) -> None:
    page, _ = html.parse_page(
        text.replace("color:white", "color:black").replace('color="white"', "").encode()
    )
    expected = hidden_plainly(page)
    assert html.take_hidden(page, Builder()) is bool(expected)
    assert list(page.iter("template")) == expected


LINKS = st.text("ab/.~-_?=&#:%\\ 1Ж", max_size=12)


@pytest.mark.covers("R3", "R4")
@settings(max_examples=400)
@given(
    LINKS,
    st.sampled_from(
        ["http://a.ru/", "https://a.ru/b/c?d=/e", "http://127.0.0.2:81/x/y", "http://a.ru/[b]/c"]
    ),
)
def test_the_address_of_a_link(link: str, base: str) -> None:
    spelled = link.strip()
    assert addresses.clean(link, base=base) == (addresses._spell(spelled, base) if spelled else "")
