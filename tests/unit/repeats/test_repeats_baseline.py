"""The linter: what is known, what is new, and one more copy."""

from __future__ import annotations

import numpy as np
import pytest

import doublet
from doublet.errors import UsageError
from doublet.repeats.changed import aligned, packed_words, read_source, unpacked_words

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
        ({"format": None, "groups": []}, "format is None"),
        ({"format": "1", "groups": []}, "format is '1'"),
        ({"format": [1], "groups": []}, "format is"),
        ({"format": True, "groups": []}, "format is True"),
        ({"format": 0, "groups": []}, "format is 0"),
        ({"format": 1, "groups": []}, "words of its files are missing"),
        (
            {"format": 1, "groups": [], "files": [{"words": "eJx"}]},
            "words of its files are missing or damaged",
        ),
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


def test_copies_that_were_changed_alike_are_known():
    """Who keeps two copies and changes both has made no new repeat; a third one is."""
    changed = ONE.replace("wait until the lamp goes out", "count slowly up to eleven")
    assert compare(joined(ONE, ONE), joined(changed, changed), "auto") == [(False, "")]
    assert compare(joined(ONE, ONE), joined(changed, changed, changed), "auto") == [
        (True, "1 more copy of a known repeat")
    ]


def test_unchanged_text_is_never_new_however_it_is_grouped():
    """The baseline knows the words, not only the groups: what a looser search finds more was there before."""
    text = joined(ONE, TWO, ONE, TWO)
    known = doublet.find_repeats(text, algorithm="exact", min_tokens=50).to_dict()
    assert not known["groups"]
    result = doublet.find_repeats(text, algorithm="auto", baseline=known)
    assert result.groups
    assert not any(group.new for group in result.groups)


def test_a_move_to_another_file_is_known_and_a_copy_is_not():
    page = joined(ONE, TWO)
    before = {"a.md": page, "b.md": FILLERS[3]}
    known = doublet.find_repeats(before).to_dict()
    moved = {"a.md": page.replace(TWO, ""), "b.md": f"{FILLERS[3]}\n\n{TWO}"}
    assert not doublet.find_repeats(moved, baseline=known).new_groups
    copied = {"a.md": page, "b.md": f"{FILLERS[3]}\n\n{TWO}"}
    assert doublet.find_repeats(copied, baseline=known).new_groups
    renamed = {"c.md": page, "d.md": FILLERS[3]}
    assert not doublet.find_repeats(renamed, baseline=known).new_groups


def test_changed_markup_makes_no_text_new():
    """A fence that is opened by mistake turns a page into code and back; its words are the same."""
    page = joined(ONE, ONE)
    known = doublet.find_repeats({"a.md": page}, code=False).to_dict()
    for after in (f"```\n{page}\n```\n", page.replace(ONE, f"**{ONE}**", 1)):
        assert not doublet.find_repeats({"a.md": after}, baseline=known).new_groups


@pytest.mark.parametrize("seed", range(4))
def test_words_come_back_as_they_were_packed(seed):
    rng = np.random.default_rng(seed)
    texts = [" ".join(f"w{n}" for n in rng.integers(0, 50, size)) for size in (0, 1, 200)]
    state = unpacked_words(packed_words(texts))
    assert np.array_equal(state.words, read_source(texts).state.words)
    assert state.offsets.tolist() == [0, 0, 1, 201]


@pytest.mark.parametrize("seed", range(8))
def test_no_old_word_stands_for_two(seed):
    """On texts of few words, where nearly everything repeats: equal words only, and each old one at most once."""
    rng = np.random.default_rng(seed)
    old, new = (
        read_source(
            [" ".join(f"w{n}" for n in rng.integers(0, 3, rng.integers(0, 80))) for _ in range(3)]
        ).state
        for _ in range(2)
    )
    found = aligned(old, new)
    taken = found[found >= 0]
    assert len(set(taken.tolist())) == len(taken)
    assert np.array_equal(old.words[taken], new.words[found >= 0])
