"""XML and HTML have a reader for documents and one for repeats: of well-formed files both see the same words."""

from __future__ import annotations

import pytest

from doublet.text.markup import READERS
from doublet.text.read import read_document

BOOK = (
    '<?xml version="1.0"?><book><title>Snow</title><chapter><title>Town and snow</title>'
    "<para>Snow lies <emphasis>long</emphasis> in the town &amp; melts.</para><!-- nobody reads this -->"
    "<itemizedlist><listitem><para>first item</para></listitem><listitem><para>second item</para></listitem>"
    "</itemizedlist><para>The end.</para></chapter></book>"
)
PAGE = (
    "<!doctype html><html><head><style>p { color: red }</style></head><body>"
    "<h1>Snow in the town</h1><p>Snow lies <b>long</b> in the town, and it is brought away at night to fields.</p>"
    "<ul><li>The first item of a list of things.</li><li>The second item of the same list.</li></ul>"
    "<table><tr><td>One cell of a table</td><td>another cell of it</td></tr></table>"
    "<p>At the end there is one more sentence, which is long enough.</p></body></html>"
)


def words(text: str) -> list[str]:
    return "".join(char if char.isalnum() else " " for char in text).split()


@pytest.mark.covers("T1")
@pytest.mark.parametrize(("kind", "name", "source"), [("xml", "a.xml", BOOK), ("html", "a.html", PAGE)])
def test_both_see_the_same_words(kind: str, name: str, source: str) -> None:
    document = words(read_document(source.encode(), name=name).text)
    assert len(document) > 15
    assert words(READERS[kind](source).masked.replace("&amp;", " ")) == document
