"""`find_repeats` on hand-made texts: each algorithm, each parameter, each edge."""

from __future__ import annotations

import pytest

import doublet
from doublet import kernels
from doublet.errors import InputNotFound, InputUnreadable, InvalidParameter, UsageError
from doublet.repeats.model import ALGORITHMS, RepeatOptions

REPEAT = "Press the green button on the left side of the panel and wait until the lamp goes out."
VARIANT = "Press the yellow button on the left side of the panel and wait until the lamp goes out."
FILLER = (
    "Rivers freeze late here, because the current is strong. Nobody has counted the boats since spring. "
    "In the village people speak of other things: fish, weather, the price of nets, who will marry whom. "
)
OTHER = (
    "A short chapter follows about maps that fold badly, rulers that bend, and ink which never dries at all. "
)
TEXT = f"{REPEAT} {FILLER}{REPEAT} {OTHER}"
SLOWER = 1 if kernels.BACKEND == "native" else 200  # the plain kernels are quadratic


def places(result: doublet.Repeats, text: str) -> list[list[str]]:
    return [[text[f.start : f.end] for f in group.fragments] for group in result.groups]


@pytest.mark.parametrize("algorithm", ALGORITHMS)
@pytest.mark.covers("P1", "P2", "P3", "P4")
def test_it_works(algorithm):
    text = f"{REPEAT}\n\n{FILLER}\n\n{REPEAT}\n\n{OTHER}"
    if algorithm == "edit":  # fragments are cut evenly: let the second copy begin where a fragment does
        filler = " ".join(FILLER.split()[:20]) + "."
        text = f"{' '.join(REPEAT.split()[:10])} {filler} {' '.join(REPEAT.split()[:10])}"
    result = doublet.find_repeats(text, algorithm=algorithm)
    assert result.algorithm == algorithm
    assert len(result.groups) == 1
    group = result.groups[0]
    assert len(group.fragments) == 2
    assert group.equal
    assert len(set(places(result, text)[0])) == 1
    assert group.significance == len(group.fragments) * group.tokens**2
    assert 0 < result.share < 1


def test_places_are_those_of_the_source():
    text = f"# Title\n\n{REPEAT}\n\nSome words between them.\n\n  {REPEAT}\n"
    result = doublet.find_repeats({"guide.md": text}, algorithm="exact")
    first, second = result.groups[0].fragments
    assert (first.file, first.line, first.column) == ("guide.md", 3, 1)
    assert (second.line, second.column) == (7, 3)
    assert first.text == REPEAT == text[first.start : first.end]
    assert (first.end_line, first.end_column) == (3, len(REPEAT) + 1)
    assert first.section == "1 Title"


@pytest.mark.covers("P3", "P5")
def test_signs_that_are_tokens_belong_to_one_fragment():
    text = "one two three four) five six seven\n" * 2
    options = {"fragment_tokens": 4, "min_tokens": 4, "max_edits": 1, "balance": False}
    result = doublet.find_repeats(text, algorithm="edit", tokens="punctuation", **options)
    assert sorted(places(result, text)) == [[") five six seven"] * 2, ["one two three four"] * 2]


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_letters_of_stop_words_are_no_signs(algorithm):
    text = "The lamp, and the panel: it is warm."
    options = {"algorithm": algorithm, "tokens": "punctuation"}
    assert doublet.find_repeats(text, **options).tokens == 11
    assert doublet.find_repeats(text, stop_words=True, **options).tokens == 6  # lamp , panel : warm .


def test_shape_of_the_dictionary():
    shape = doublet.find_repeats(TEXT, algorithm="exact").to_dict()
    assert {
        "format",
        "algorithm",
        "parameters",
        "files",
        "tokens",
        "share",
        "groups",
        "outcomes",
        "notes",
    } == set(shape)
    assert {"id", "significance", "fragments"} <= set(shape["groups"][0])
    assert {"file", "start", "end", "line"} <= set(shape["groups"][0]["fragments"][0])


def test_variants_are_one_group():
    text = f"{REPEAT}\n\n{FILLER}\n\n{VARIANT}\n\n{OTHER}"
    for algorithm in ("auto", "ngrams"):
        result = doublet.find_repeats(text, algorithm=algorithm)
        assert places(result, text) == [[REPEAT, VARIANT]]
        assert not result.groups[0].equal


@pytest.mark.parametrize("algorithm", ALGORITHMS)
@pytest.mark.parametrize(
    "text", ["", " \n ", "word", "...", "One sentence that stands alone here.", "\x00\ud800 x"]
)
def test_nothing_repeats(text, algorithm):
    result = doublet.find_repeats(text, algorithm=algorithm)
    assert result.groups == ()
    assert result.share == 0


def test_no_repeat_goes_over_the_border_of_files():
    """The second half of one file and the first of the next, together, stand in a third."""
    one, two = " ".join(REPEAT.split()[:9]), " ".join(REPEAT.split()[9:])
    texts = {"a.txt": f"{OTHER}{one}", "b.txt": f"{two} {FILLER}", "c.txt": REPEAT}
    result = doublet.find_repeats(texts, algorithm="exact", min_tokens=5)
    assert sorted(f.text for group in result.groups for f in group.fragments) == sorted([one, one, two, two])
    assert doublet.find_repeats(texts, algorithm="exact", min_tokens=10).groups == ()


def test_exactly_at_the_shortest_length():
    words = len(REPEAT.split())
    assert doublet.find_repeats(TEXT, algorithm="exact", min_tokens=words).groups
    assert not doublet.find_repeats(TEXT, algorithm="exact", min_tokens=words + 1).groups


@pytest.mark.parametrize("algorithm", ["exact", "auto"])
def test_code_and_tables_can_be_left_out(algorithm):
    code = "```\nfor river in rivers: print river and boats and nets and fish and all the rest\n```\n"
    row = "| a cell with many words | that are the same | in both of the tables | of this text |\n|---|---|---|---|\n"
    text = f"# One\n\n{code}\n{FILLER}\n\n{row}\n{OTHER}\n\n{code}\nend of it\n\n{row}"
    every = doublet.find_repeats({"x.md": text}, algorithm=algorithm, min_tokens=8)
    without = doublet.find_repeats(
        {"x.md": text}, algorithm=algorithm, min_tokens=8, code=False, tables=False
    )
    assert len(every.groups) == 2
    assert without.groups == ()
    assert without.tokens < every.tokens


def test_a_hole_cuts_a_repeat():
    """Words before and after code that is left out are no neighbours."""
    half, rest = "one two three four five six", "seven eight nine ten eleven twelve"
    text = f"{half}\n\n```\ncode\n```\n\n{rest}\n\nsomething else\n\n{half} {rest}\n"
    result = doublet.find_repeats({"x.md": text}, algorithm="exact", code=False, min_tokens=6)
    assert sorted(g.tokens for g in result.groups) == [6, 6]


@pytest.mark.parametrize("tokens", ["line", "sentence", "punctuation"])
@pytest.mark.covers("P1")
def test_other_tokens(tokens):
    text = f"{REPEAT}\n{OTHER}\n{REPEAT}\n"
    result = doublet.find_repeats(text, algorithm="exact", tokens=tokens)
    assert [f.text.rstrip(".") for f in result.groups[0].fragments] == [REPEAT.rstrip(".")] * 2


def test_signs_are_tokens_when_asked_for():
    text = "a, b, c, d, e, f. And then. a b c d e f"
    assert not doublet.find_repeats("x " + text, algorithm="exact", min_tokens=6, tokens="punctuation").groups


def test_filters():
    one, two = "The lamps of the old houses were burning", "A lamp of an old house was burning"
    text = f"{one}. {FILLER} {two}."
    assert not doublet.find_repeats(text, algorithm="ngrams", ngram=2).groups
    assert doublet.find_repeats(text, algorithm="ngrams", ngram=2, stop_words=True, reduce="stem").groups


def test_numbers_can_be_masked():
    chapter = "Chapter {} begins on page {} of volume {} and ends there. "
    text = chapter.format(12, 340, 3) + FILLER + chapter.format(7, 99, 1)
    assert doublet.find_repeats(text, algorithm="exact", mask_numbers=True).groups
    assert not doublet.find_repeats(text, algorithm="exact").groups


def test_cliques_are_stricter():
    chain = ["a b c d e f g h", "a b c d e f x y", "a b z w e f x y"]
    text = "1 ".join(" ".join(chain).split()) + "1"
    options = {
        "algorithm": "edit",
        "fragment_tokens": 8,
        "max_edits": 2,
        "hash_distance": 32,
        "balance": False,
    }
    loose = doublet.find_repeats(text, **options)
    strict = doublet.find_repeats(text, **options, link="cliques")
    assert [len(g.fragments) for g in loose.groups] == [3]
    assert [len(g.fragments) for g in strict.groups] == [2]


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"min_tokens": 0}, "at least 1"),
        ({"min_tokens": "5"}, "whole number"),
        ({"algorithm": "exakt"}, "did you mean 'exact'"),
        ({"tokens": "letters"}, "word, punctuation"),
        ({"reduce": "stem", "algorithm": "exact"}, "words as they are"),
        ({"max_edits": 10}, "any two would be alike"),
        ({"ngram": 0}, "at least 1"),
        ({"min_common_share": 2}, "between 0 and 1"),
        ({"level": -1}, "between 0"),
        ({"link": "stars"}, "components, cliques"),
        ({"min_token": 4}, "did you mean 'min_tokens'"),
    ],
)
def test_wrong_parameters_are_named(options, says):
    with pytest.raises(InvalidParameter, match=says):
        doublet.find_repeats("text", **options)


def test_options_have_defaults_by_algorithm():
    assert [RepeatOptions(algorithm=a).least for a in ALGORITHMS] == [5, 10, 10, 4]
    assert RepeatOptions(tokens="line").least == 1


def test_files_and_folders(tmp_path):
    (tmp_path / "deep").mkdir()
    (tmp_path / "one.md").write_text(f"# One\n\n{REPEAT}\n")
    (tmp_path / "deep" / "two.rst").write_text(f"Two\n===\n\n{REPEAT}\n")
    (tmp_path / "image.png").write_bytes(b"\x89PNG\r\n\x1a\n\x00\x00")
    (tmp_path / "broken.txt").write_bytes(b"\x00\x01\x02" * 100)
    result = doublet.find_repeats(tmp_path, algorithm="exact")
    assert [file.kind for file in result.files] == ["rst", "markdown"]
    assert {f.section for f in result.groups[0].fragments} == {"1 One", "1 Two"}
    assert [outcome.state for outcome in result.outcomes] == ["unknown_kind"]
    assert any("not documentation by their names" in str(note) for note in result.notes)


def test_encodings_may_differ(tmp_path):
    russian = "Нажмите зелёную кнопку на левой стороне панели и ждите, пока не погаснет лампа над дверью."
    (tmp_path / "a.txt").write_text(russian, encoding="utf-8")
    (tmp_path / "b.txt").write_text(russian, encoding="windows-1251")
    result = doublet.find_repeats(tmp_path, algorithm="exact")
    assert [f.text for f in result.groups[0].fragments] == [russian, russian]
    assert any("windows-1251" in str(note) for note in result.notes)


def test_files_that_are_not_there(tmp_path, monkeypatch):
    with pytest.raises(InputNotFound):
        doublet.find_repeats([tmp_path / "no.md"])
    with pytest.raises(UsageError):
        doublet.find_repeats([])
    binary = tmp_path / "x.bin"
    binary.write_bytes(b"\x7fELF" + bytes(200))
    with pytest.raises(InputUnreadable):
        doublet.find_repeats([binary])
    # One that disappears between the listing and the reading becomes an outcome.
    from doublet.jobs import find_repeats as job

    gone = tmp_path / "gone.md"
    there = tmp_path / "there.md"
    there.write_text(TEXT)
    monkeypatch.setattr(job, "list_files", lambda paths, *rest, **options: ([str(gone), str(there)], []))
    result = doublet.find_repeats([there])
    assert [outcome.id for outcome in result.outcomes] == [gone.as_posix()]
    assert len(result.files) == 1


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_a_sentence_again_and_again(algorithm):
    copies = 30_000 // SLOWER
    sentence = "The lazy dog sleeps near the old river bank now. "
    result = doublet.find_repeats(sentence * copies, algorithm=algorithm)
    assert len(result.groups) == 1
    assert result.share > 0.99
    assert len(result.groups[0].fragments) >= copies // 6


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_one_word_a_million_times(algorithm):
    result = doublet.find_repeats("word " * (1_000_000 // SLOWER), algorithm=algorithm)
    assert len(result.groups) == 1
    assert result.share > 0.99


def test_ids_stay_when_a_copy_is_added_elsewhere():
    one = doublet.find_repeats(TEXT, algorithm="exact").groups[0].id
    two = doublet.find_repeats(f"Before it. {TEXT} After it: {REPEAT}", algorithm="exact").groups[0].id
    assert one == two


def test_progress_can_stop_the_work():
    progress = doublet.Progress()
    progress.cancel()
    with pytest.raises(doublet.Cancelled):
        doublet.find_repeats(TEXT, progress=progress)


@pytest.mark.parametrize(
    ("before", "after", "begin", "end"),
    [
        ("", ".", "", "."),
        ("(", ").", "(", ")."),
        ("$ ", "", "$ ", ""),
        ("\t# ", " # ", "# ", ""),
        ("“ ", " ”", "“ ", ""),
        ("WORD, “", "”, WORD", "“", "”,"),
        ("WORD-", "-WORD", "", ""),
        ("WORD ", ", WORD", "", ""),
        ("WORD ", " – WORD", "", ""),
        ("WORD - ", "", "", ""),
        ("WORD/>", "</WORD", "", ""),
    ],
)
def test_signs_of_the_first_and_last_word_belong_to_a_fragment(before, after, begin, end):
    words = "green buttons open every door of this house without any key at all"
    one, two = (f"{before}{words}{after}".replace("WORD", other) for other in ("alpha", "beta"))
    result = doublet.find_repeats(f"{one}\nNothing of this is said twice here\n{two}", algorithm="exact")
    assert {f.text for f in result.groups[0].fragments} == {f"{begin}{words}{end}"}
