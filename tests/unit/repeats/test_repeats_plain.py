"""What a reader sees of a place: no markup, and no blanks that it leaves behind."""

from __future__ import annotations

import pytest

import doublet
from doublet.repeats.plain import plain_text
from doublet.text.markup import read_markup
from repeat_texts import sentence

pytestmark = pytest.mark.covers("P7")


@pytest.mark.parametrize(
    ("text", "seen"),
    [
        ("in <code>saa7134-oss</code>. Then", "in saa7134-oss. Then"),
        ("a <b>pier</b> , and", "a pier , and"),  # the blank is there
        ("the (<b>first</b>) one", "the (first) one"),
        ("the&nbsp;&lt;<i>first</i>&gt; one", "the <first> one"),
        ("a &ldquo;copyright disclaimer&rdquo; is", "a “copyright disclaimer” is"),
        ("first<sup>2</sup> and 10&nbsp;%", "first 2 and 10 %"),  # two words to the search are two words here
        ("<b>File</b><i>Open</i>", "File Open"),
        ("left[<span>the first</span> one]", "left[the first one]"),
    ],
)
def test_marks_leave_no_blanks(text: str, seen: str):
    assert plain_text(text, read_markup(f"{text}", name="a.html").masked) == seen


def test_a_blank_inside_a_mark_is_none_of_the_text():
    text = "see `the pier <boats>`_. Then go"
    assert plain_text(text, read_markup(text, name="a.rst").masked) == "see the pier. Then go"


def test_text_without_markup_stays_as_it_is():
    assert plain_text("a  b ,\n   c", "a  b ,\n   c") == "a  b ,\n   c"
    assert plain_text("", "") == ""


def test_all_lines_lose_the_indent_of_the_first():
    assert (
        plain_text("run\n    it\n      now\n  and", "run\n    it\n      now\n  and", 4)
        == "run\nit\n  now\nand"
    )


@pytest.mark.parametrize("name", ["a.rst", "a.html"])
def test_commands_keep_their_shape(name: str):
    command = "    restore boats --all \\\n      --target pier --second \\\n      --wait noon --verify"
    marks = ("::\n\n", "\n\n") if name == "a.rst" else ("<pre>\n", "</pre><p>")
    text = "".join(f"{sentence(30, own)}\n\n{marks[0]}{command}{marks[1]}" for own in "pq")
    result = doublet.find_repeats({name: text})
    [group] = result.groups
    shown = result.plain(group.fragments[0])
    assert [len(line) - len(line.lstrip()) for line in shown.splitlines()] == [0, 2, 2]
    assert group.kind == "listing"
