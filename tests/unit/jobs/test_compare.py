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
    assert any("containment" in note for note in result.notes)
