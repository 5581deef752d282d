"""The linter: what is known, what is new, and one more copy."""

from __future__ import annotations

import pytest

import doublet
from doublet.errors import UsageError

ONE = "Press the green button on the left side of the panel and wait until the lamp goes out."
TWO = (
    "Boats are tied to the second pier from the bridge, never to the first, which belongs to the post office."
)
FILLERS = [
    "Rivers freeze late here, because the current is strong.",
    "Nobody has counted sheep since spring; a ledger went missing.",
    "Maps that fold badly were sold off in autumn for next to nothing.",
    "Ink never dries in rain, said an old printer, and he was right.",
]


def joined(*parts: str) -> str:
    return "\n\n".join(text for pair in zip(parts, FILLERS, strict=False) for text in pair)


def compare(before: str, after: str, algorithm: str) -> list[tuple[bool | None, str]]:
    known = doublet.find_repeats(before, algorithm=algorithm, min_tokens=8).to_dict()
    result = doublet.find_repeats(after, algorithm=algorithm, baseline=known, min_tokens=8)
    return [(group.new, str(group.reason or "")) for group in result.groups]


@pytest.mark.parametrize("algorithm", ["exact", "auto"])
def test_it_works(algorithm):
    assert compare(joined(ONE, ONE), joined(ONE, ONE), algorithm) == [(False, "")]
    assert (True, "a new repeat") in compare(joined(ONE, ONE), joined(ONE, ONE, TWO, TWO), algorithm)


@pytest.mark.parametrize("algorithm", ["exact", "auto"])
def test_one_more_copy_is_new(algorithm):
    assert compare(joined(ONE, ONE), joined(ONE, ONE, ONE), algorithm) == [
        (True, "1 more copy of a known repeat")
    ]


@pytest.mark.parametrize("algorithm", ["exact", "auto"])
def test_fewer_copies_are_known(algorithm):
    assert compare(joined(ONE, ONE, ONE), joined(ONE, ONE), algorithm) == [(False, "")]


def test_a_small_change_of_wording_is_known():
    changed = ONE.replace("green", "yellow")
    assert compare(joined(ONE, ONE), joined(ONE, changed), "auto") == [(False, "")]


def test_moving_a_repeat_is_known():
    assert compare(joined(ONE, TWO, ONE), joined(TWO, ONE, ONE), "exact") == [(False, "")]


def test_without_a_baseline_nothing_is_said():
    result = doublet.find_repeats(joined(ONE, ONE), algorithm="exact")
    assert result.groups[0].new is None
    assert result.new_groups == ()
    assert "new" not in result.groups[0].to_dict()


@pytest.mark.parametrize(
    ("baseline", "says"),
    [
        ({}, "no list of groups"),
        ({"groups": []}, "format"),
        ({"format": 3, "groups": []}, "format is 3"),
        ({"format": 1, "groups": [{"id": "x"}]}, "no fragments"),
    ],
)
def test_what_is_no_baseline_is_refused(baseline, says):
    with pytest.raises(UsageError, match=says):
        doublet.find_repeats("text", baseline=baseline)


def test_a_fragment_that_came_apart_is_no_copy():
    """Edges may fall otherwise after a change elsewhere: two halves of a known fragment are no more text than it."""
    whole = " ".join(f"word{n}" for n in range(24))
    halves = " ".join(whole.split()[:12]), " ".join(whole.split()[12:])
    both = doublet.find_repeats({"a.txt": whole, "b.txt": whole}, algorithm="exact").to_dict()
    known = {**both, "groups": [{**both["groups"][0], "fragments": both["groups"][0]["fragments"]}]}
    after = doublet.find_repeats(
        {"a.txt": f"{halves[0]}. Now. {halves[1]}", "b.txt": f"{halves[0]}. Then. {halves[1]}"},
        algorithm="exact",
        baseline=known,
    )
    assert [group.new for group in after.groups] == [False, False]


def test_one_more_copy_is_new_though_the_others_are_shorter():
    known = doublet.find_repeats(joined(ONE, ONE), algorithm="exact", min_tokens=8).to_dict()
    shorter = ONE.replace("Press the ", "")
    after = joined(shorter, shorter, shorter)
    result = doublet.find_repeats(after, algorithm="exact", baseline=known, min_tokens=8)
    assert [(group.new, str(group.reason)) for group in result.groups] == [
        (True, "1 more copy of a known repeat")
    ]
