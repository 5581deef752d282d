"""compare: measures, fragments, disguise in one answer."""

from __future__ import annotations

import json

import pytest

import doublet
from doublet.errors import InvalidParameter, UnknownMethod
from doublet.jobs.compare import compare

A = (
    "Насос, который подавал воду из реки, работал неровно: днём его не хватало, ночью он гнал лишнее. "
    "Бак, поднятый над крышами, сглаживал эту разницу. Пока город спал, бак наполнялся."
)


@pytest.mark.covers("K1", "K2")
def test_it_works():
    result = doublet.compare(A, "Предисловие. " + A)
    assert result.share == 1.0
    assert result.containment_a == 1.0
    assert 0.8 < result.resemblance < 1
    assert result.similar
    (fragment,) = result.fragments
    assert A[fragment.a.start : fragment.a.end] == A[:-1]


@pytest.mark.covers("K2")
def test_the_json_has_what_was_promised():
    data = json.loads(json.dumps(compare(A, A).to_dict()))
    assert data["resemblance"] == 1.0
    assert data["containment"] == {"a_in_b": 1.0, "b_in_a": 1.0}
    assert data["share"] == 1.0
    assert set(data["fragments"][0]) >= {"a", "b", "kind", "score"}
    assert data["disguise"]["a"]["alarm"] is False
    assert data["recipe"]["method"] == "auto"
    assert data["possible"] == []
    assert data["fragments"][0]["strength"] in ("strong", "weak")
    assert data["fragments"][0]["reason"]


@pytest.mark.covers("T5")
def test_swapped_letters_change_nothing_and_are_reported():
    swapped = A.translate(str.maketrans("аеорсух", "aeopcyx"))
    result = compare(swapped, A)
    assert (result.resemblance, result.share, len(result.fragments)) == (1.0, 1.0, 1)
    assert result.disguise_a.alarm
    assert not result.disguise_b.alarm
    (finding,) = result.disguise_a.findings
    changed = sum(x != y for x, y in zip(swapped, A, strict=True))
    assert (
        0.9 * changed <= finding.characters <= changed
    )  # «его» as «eгo» cannot be told from an honest word by itself


@pytest.mark.parametrize("method", [m.name for m in doublet.methods()])
def test_every_method_compares(method):
    result = compare(A * 3, A * 3, method=method)
    assert result.method == method
    assert result.resemblance == 1.0 or result.notes
    assert result.share == 1.0


@pytest.mark.parametrize(("a", "b"), [("", ""), ("", A), (A, ""), ("—", "…"), ("\x00", "\ud800")])
def test_empty_texts_are_like_nothing(a, b):
    result = compare(a, b)
    assert not result.similar
    assert (result.resemblance, result.share, result.fragments) == (0.0, 0.0, ())
    assert result.notes


def test_unknown_names_are_refused_with_a_suggestion():
    with pytest.raises(UnknownMethod, match="did you mean 'shingles'"):
        compare(A, A, method="shingle")
    with pytest.raises(InvalidParameter, match="shingle_words"):
        compare(A, A, shingel_words=3)
    with pytest.raises(InvalidParameter):
        compare(A, A, seed_words=0)


def test_methods_without_containment_say_how_it_was_measured():
    result = compare(A, A, method="minhash")
    assert result.containment_a == 1.0
    assert any("containment" in str(note) for note in result.notes)


SHORT = (
    "Снег в городе занимает место, и его вывозят за окраину каждую ночь, пока улицы пусты.",
    "Снег в столице занимает площадь, и его увозят за окраину всякую ночь, пока дороги пусты.",
)


@pytest.mark.covers("M15", "K2")
@pytest.mark.parametrize("method", ["auto", "meaning"])
def test_a_reworded_copy_has_a_share_and_nothing_in_doubt(method):
    result = compare(*SHORT, method=method)
    assert (result.similar, result.step) == (True, "meaning")
    assert result.share > 0.9
    assert result.share_b > 0.9
    assert result.possible == ()
    (fragment,) = result.fragments
    assert (fragment.kind, fragment.strength) == ("edited", "weak")  # 12 of 16 words are equal
    assert any("150 words" in str(note) for note in result.notes)


def test_places_of_the_alignment_are_told_where_passages_are_not(monkeypatch):
    from doublet.matches import compare as job
    from doublet.matches.passages import SharedPassages

    monkeypatch.setattr(job, "find_all", lambda *_, **__: [SharedPassages([], [])])
    result = compare(*SHORT)
    assert result.similar
    assert [SHORT[0][f.a.start : f.a.end] for f in result.fragments] == [SHORT[0][:-1]]
    assert result.share == result.share_b == 1.0
    assert "weight 0" not in str(result.fragments[0].reason)


@pytest.mark.covers("M15")
@pytest.mark.parametrize(
    ("a", "b", "reason"),
    [
        (A, A, "all words are equal"),
        (A, A + " Бак!", "reaches the threshold 0.5"),
        (A[:97], A * 2 + SHORT[0] * 3, "of one text is in the other, and 0.9 is enough"),
        (*SHORT, "place by place, 1.000 of one text lies on the other"),
        ("снег идёт", "бак пуст", "under 8 words are too few"),
        (A, SHORT[0], "and place by place only"),
        ("", A, "too little to compare"),
    ],
)
def test_every_answer_has_its_reason(a, b, reason):
    result = compare(a, b)
    assert reason in str(result.reason)
    assert result.to_dict()["reason"]["message"] == str(result.reason)


def test_other_methods_give_their_resemblance_as_reason():
    assert (
        str(compare(A, A, method="shingles").reason)
        == "the resemblance by shingles is 1.000; texts are similar from 0.5 on"
    )
    assert str(compare(A, A, method="simhash").reason) == "the resemblance by simhash is 1.000"


def test_a_template_is_not_called_similar_and_the_reason_says_so():
    from doublet.model import Measures
    from doublet.signatures import method
    from doublet.signatures.auto import explain

    details = {"aligned": 0.55, "kept": 0.5, "together": 1.05}
    shared = Measures(0.3, (0.4, 0.5), False, "meaning", details)
    assert "in whole passages with other text between them" in str(explain(shared, method("auto").parameters))


def test_a_text_without_words_is_called_so():
    assert tuple(map(str, compare("…", A).notes)) == ("text A has no words: it is like nothing",)
    assert str(compare(A, "снег", method="meaning").notes[0]) == (
        "text B has too little in it for the method 'meaning': it is like nothing"
    )


def page(method: str, thing: str, other: str) -> str:
    """A page of a manual: its siblings are made from the same template, about another thing."""
    return (
        f"The method {method} of the interface changes the {thing} of an element. Call {method} with the new {thing} "
        f"as its only argument. When the {thing} is missing, {method} does nothing and returns null; when the {thing} "
        f"is not valid, {method} throws an error of the type {other}. Syntax: {method} takes the {thing}. Examples: "
        f"here {method} sets the {thing} of the first element. See also: the {thing} and {other}."
    )


@pytest.mark.covers("K1")
def test_sibling_pages_say_why_they_are_not_similar_although_all_is_covered():
    a = page("paint", "colour", "RangeError")
    b = page("turn", "angle", "SyntaxError")
    result = compare(a, b)
    assert (result.share, result.similar) == (1.0, False)
    assert result.verdict == "template"
    assert result.reason is not None and result.reason.code == "below_template"
    (note,) = [one for one in result.notes if one.code == "covered_not_similar"]
    assert note.values["share"] == 1.0
    assert result.to_dict()["verdict"] == "template"


def test_a_verdict_in_a_word():
    assert compare(A, A).verdict == "equal"
    assert compare(A, "Предисловие. " + A).verdict == "similar"
    assert compare(A, "Совсем другие слова о погоде и о дороге.").verdict == "different"
    half = A[: len(A) // 2]
    other = " ".join(f"слово{i}" for i in range(60))
    result = compare(f"{half} {other}", f"{other[::-1]} {half}")
    assert (result.verdict, result.similar) == ("passages", False)
    assert not [note for note in result.notes if note.code == "covered_not_similar"]


@pytest.mark.parametrize("method", ["shingles", "minhash"])
def test_every_method_says_why(method):
    a = page("paint", "colour", "RangeError")
    result = compare(a, page("turn", "angle", "SyntaxError"), method=method)
    assert (result.similar, result.verdict) == (False, "passages")
    assert [note.code for note in result.notes if note.code.startswith("covered")] == ["covered_not_similar"]
