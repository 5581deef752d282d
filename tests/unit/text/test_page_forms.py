"""What fills in the forms of a site: stubs that differ in a name (T3)."""

from __future__ import annotations

import numpy as np
import pytest

from doublet.text.page_forms import form_rows, without_forms, words_of_forms

pytestmark = pytest.mark.covers("T3")
NAMES = "Author Aliasing Roadmap Files Jobs Prompts Options Widgets Modules Redirection".split()
STUB = "The node you are looking for is at {}."


def told(pages: list[list[str]], folder: int = 3) -> list[list[str]]:
    """The lines of each page without the words of forms."""
    rows = np.concatenate([form_rows(folder, page) for page in pages])
    known = np.sort(words_of_forms(rows))
    return [without_forms(page, folder, known) for page in pages]


def stubs(form: str, count: int = 10) -> list[str]:
    """What is left of pages of one line each."""
    return [line for (line,) in told([[form.format(name)] for name in NAMES[:count]])]


def test_it_works() -> None:
    """The name, with two words of the form around it."""
    assert stubs(STUB) == [f"is at {name}." for name in NAMES]


def test_a_form_may_go_on_after_the_name() -> None:
    line = "This is the complete list of members for {} with all those that it inherits."
    assert stubs(line) == [f"members for {name} with all" for name in NAMES]


def test_or_begin_with_it() -> None:
    assert stubs("{} is documented in another package.") == [f"{name} is documented" for name in NAMES]


@pytest.mark.parametrize(("pages", "is_form"), [(3, False), (4, True)])
def test_what_four_pages_have_is_a_form(pages: int, is_form: bool) -> None:
    assert (stubs(STUB, pages)[0] == "is at Author.") is is_form


@pytest.mark.parametrize(
    ("line", "is_form"),
    [("gone now to {} alas", False), ("has gone now to {}", True), ("{} has gone now away", True)],
)
def test_lines_of_a_form_have_four_words_in_common_at_an_end(line: str, is_form: bool) -> None:
    assert (stubs(line)[0] != line.format("Author")) is is_form


def test_and_no_more_than_four() -> None:
    """The lines go on in several ways; what seven in ten have is of the form."""
    lines = [f"You find it under {name} {n}x, the last {n}y of {n}z" for n, name in enumerate(NAMES)]
    assert [line for (line,) in told([[line] for line in lines])] == [
        f"it under {name} {n}x, the last {n}y of {n}z" for n, name in enumerate(NAMES)
    ]


@pytest.mark.parametrize(("pages", "is_form"), [(6, False), (7, True)])
def test_a_word_that_most_pages_of_a_form_have_is_of_the_form(pages: int, is_form: bool) -> None:
    """Of ten; else it fills the form in."""
    lines = [
        f"You find it under the letter {'here' if n < pages else 'there'} or so, dear reader of {name}"
        for n, name in enumerate(NAMES)
    ]
    left = told([[line] for line in lines])[0][0]
    assert ("here" not in left) is is_form


def test_a_form_on_one_page_is_none() -> None:
    """A list of links is the page's own, however long it is."""
    page = [STUB.format(name) for name in NAMES]
    assert told([page, ["Something else that stands on another page"]])[0] == page


def test_lines_without_a_word_of_their_own_stay() -> None:
    """Each of the words is on most pages of the form."""
    lines = [*(STUB.format(name) for name in NAMES), "The node you are looking for is at"]
    assert told([[line] for line in lines])[-1] == ["The node you are looking for is at"]


def test_numbers_fill_in_a_form() -> None:
    lines = [f"The text of the chapter with number {n} is missing" for n in range(9)]
    assert told([[line] for line in lines])[5] == ["with number 5 is missing"]


def test_forms_of_another_folder() -> None:
    rows = np.concatenate([form_rows(3, [STUB.format(name)]) for name in NAMES])
    page = [STUB.format("Author")]
    assert without_forms(page, 4, words_of_forms(rows)) == page


def test_nothing() -> None:
    assert without_forms(["a line"], 1, np.zeros(0, np.uint64)) == ["a line"]
    assert form_rows(1, []).shape == (0, 2)
    assert form_rows(1, ["four words are few"]).shape == (0, 2)
