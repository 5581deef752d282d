"""A note of any length is kept as a code with values, so that every reader gets it in their language."""

from __future__ import annotations

import pytest

from doublet.model import Note
from doublet.reports.wording import wording
from doublet.store.sources import KEPT_REASON, kept_note

LONG = "http://x.org/" + "a" * 5_000


def kept(note: Note) -> Note:
    text = kept_note(note)
    assert len(text) <= KEPT_REASON
    found = Note.from_text(text)
    assert found is not None
    return found


def test_it_works() -> None:
    note = Note("too_few_words", words=3, wanted=10)
    assert kept(note) == note
    assert kept_note(None) == ""


def test_a_long_value_is_cut_and_the_code_stays() -> None:
    found = kept(Note("robots_forbid", address=LONG, origin="http://x.org"))
    assert (found.code, found.values["origin"]) == ("robots_forbid", "http://x.org")
    assert found.values["address"].startswith("http://x.org/aaa") and found.values["address"].endswith("…")
    assert "запрещ" in wording("ru").say(found)


def test_a_note_inside_a_note() -> None:
    found = kept(
        Note("robots_forbid", address=Note("said", text=LONG), origin=Note("page_reason", reason="robots"))
    )
    inner = found.values["address"]
    assert (inner.code, inner.values["text"][-1]) == ("said", "…")
    assert found.values["origin"] == Note("page_reason", reason="robots")


@pytest.mark.parametrize(
    "value",
    [
        tuple(f"name {n}" for n in range(3_000)),
        {f"name {n}": n for n in range(3_000)},
        "\\" * 3_000,
        "\n" * 1_500,
    ],
    ids=["list", "table", "signs that JSON writes twice", "lines"],
)
def test_values_of_every_kind(value: object) -> None:
    found = kept(Note("said_of", name="a", what=value))
    assert (found.code, found.values["name"]) == ("said_of", "a")
    assert len(found.values["what"]) > 10


def test_what_cannot_be_cut_still_leaves_the_code() -> None:
    assert kept(Note("said", text=10**4_000)).code == "said"
    deep = Note("said", text="x" * 90)
    for _ in range(40):
        deep = Note("said", text=deep)
    assert kept(deep).code == "said"
