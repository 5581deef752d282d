"""The quick walk over a page against the plain one: an event for each beginning and end of an element."""

from __future__ import annotations

import re
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from lxml import etree

from doublet import addresses
from doublet.text.formats import html
from doublet.text.formats.protocol import Builder

_BLANKS = re.compile(r"[ \t\r\n\f]+")
_CELL = re.compile(" ?\x1f ?")


def blocks_plainly(root: Any) -> list[tuple[str, Any, int]]:
    out: list[tuple[str, Any, int]] = []
    pieces: list[str] = []
    owner, row = root, None
    verbatim = links = linked = 0
    skipped: set[Any] = set()

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
        block = tag not in html.INLINE and tag not in html.SILENT and tag != "br"
        link = tag == "a" and element.get("href") is not None
        if event == "start":
            if tag in html.SILENT or (tag in ("sup", "a") and html._is_note_mark(element)):
                walker.skip_subtree()
                skipped.add(element)
                continue
            if tag == "br":
                pieces.append("\v")
            elif tag == "tr" and row is None and html._flat(element):
                finish()
                row = owner = element
            elif tag in ("td", "th") and row is not None:
                pieces.append("\x1f")
            elif block and row is None:
                finish()
                owner = element
                verbatim += tag in html.VERBATIM
            elif block:
                pieces.append(" ")
            links += link
            words = element.text
        else:
            if block and (row is None or element is row):
                finish()
                row = None
                verbatim -= tag in html.VERBATIM
                owner = element.getparent() if element is not root else root
            elif block:
                pieces.append(" ")
            links -= link and element not in skipped
            words = element.tail if element is not root else None
        if words:
            pieces.append(words)
            linked += len(words.strip()) if links else 0
    finish()
    return out


def hidden_plainly(page: Any) -> list[Any]:
    rules = html._hiding_rules(page)
    out = []
    for item in page.iter():
        seen = item.tag in ("html", "body", "head") or any(above in out for above in item.iterancestors())
        if not seen and html._reason(item, rules):
            out.append(item)
    return out


WORDS = st.sampled_from(
    ["Снег ", "a", " snow\n falls ", "\xa0", " ", "\n", "12", "*", "x\u00ady", " \t ", "конец."]
)
TAGS = st.sampled_from(
    "p div span a a sup b br ul li table tr tr td td th pre h1 section nav script select svg font em".split()
)
MARKS = st.sampled_from(
    ["", "", ' href="/a"', ' hidden=""', ' style="display:none"', ' style="color:white"', ' class="noteref"',
     ' class="veil"', ' id="veil"', ' color="white"', ' class="menu"', ' role="doc-noteref" href="#n"']
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
