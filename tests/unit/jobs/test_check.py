"""check: sources ranked by what they add, no word counted twice."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from doublet import samples
from doublet.errors import InvalidParameter
from doublet.index.most_shared import MostShared
from doublet.jobs.check import check
from doublet.matches.align import AlignOptions
from doublet.matches.explain import explain, lay_beside
from doublet.model import Document, LeftOut, Span
from doublet.reports.check_html import check_page
from doublet.reports.check_json import read_check
from doublet.reports.check_terminal import check_report
from doublet.sources.open import open_source
from doublet.text import tokens
from doublet.text.tokens import Canon, read_words

WORK = samples.WORK.read_text("utf-8")


@pytest.mark.covers("K1", "K2", "K3")
def test_the_sample_work():
    with open_source([str(samples.LIBRARY)]) as library:
        result = check(WORK, library)
    assert result.documents == 12
    assert [s.id for s in result.sources[:3]] == ["water-towers", "snow", "springs"]
    assert 0.5 < result.share < 0.7
    assert result.share == pytest.approx(sum(s.added for s in result.sources))
    assert result.disguise.alarm
    kinds = {f.kind for s in result.sources for f in s.fragments}
    assert kinds >= {"verbatim", "edited", "moved"}
    ids = [f.id for s in result.sources for f in s.fragments]
    assert len(ids) == len(set(ids))


@pytest.mark.covers("K3")
def test_two_equal_sources_count_once():
    text = "one source says this in exactly these nine words here " * 2
    result = check(text, [Document("a", text), Document("b", text)])
    assert [(s.id, s.share, s.added) for s in result.sources] == [("a", 1.0, 1.0), ("b", 1.0, 0.0)]
    assert result.share == 1.0


@pytest.mark.parametrize("candidates", [200, 5])
def test_the_order_of_the_documents_makes_no_difference(
    monkeypatch: pytest.MonkeyPatch, candidates: int
) -> None:
    """Also where not all copies of a source can be aligned, or looked at for rewording."""
    monkeypatch.setattr("doublet.jobs.check.CANDIDATES", candidates)
    sentences = [
        f"Sentence {i} of the work speaks of thing {i * 7} and of matter {i * 13} besides." for i in range(12)
    ]
    copies = [(f"copy{i:02}", " ".join(s for s in sentences if "7" in s)) for i in range(20)]
    text = " ".join(sentences)
    assert check(text, copies) == check(text, copies[::-1])


def test_no_duplicates_is_an_answer():
    result = check(
        "nothing of this stands anywhere else at all", [("a", "other words entirely, not one in common")]
    )
    assert (result.share, result.sources) == (0.0, ())


def test_empty_text_and_no_documents():
    assert check("", [("a", "text")]).notes
    nothing = check("some text", [])
    assert (nothing.documents, nothing.share) == (0, 0.0)
    assert tuple(map(str, nothing.notes)) == (
        "there are no documents to check against: a share of 0 says nothing",
    )
    assert tuple(map(str, check("", []).notes)) == (
        "the text has no words: there is nothing to check",
        *map(str, nothing.notes),
    )
    assert check("some text", [("a", "other words")]).notes == ()


def test_fragments_are_numbered_as_the_sources_that_stay():
    words = [f"word{i}" for i in range(100)]
    sources = {"most": (0, 60), "bit": (60, 70), "middle": (27, 69)}
    documents = [(name, " ".join(words[a:b])) for name, (a, b) in sources.items()]
    result = check(" ".join(words), documents, min_share=0.2)
    assert [source.id for source in result.sources] == ["most", "middle"]
    assert [source.fragments[0].id for source in result.sources] == ["s1f1", "s2f1"]


def test_min_share_leaves_small_sources_out():
    long = " ".join(f"word{i}" for i in range(200))
    result = check(long, [("whole", long), ("bit", " ".join(f"word{i}" for i in range(10)))], min_share=0.2)
    assert [s.id for s in result.sources] == ["whole"]


def test_an_unknown_parameter_is_refused():
    with pytest.raises(InvalidParameter, match="seed_words"):
        check("a", [], seeds=3)


def test_words_that_were_numbered_anew_change_nothing(monkeypatch):
    work = ABOUT_SOUP + SENTENCE
    others = [("soup", ABOUT_SOUP), ("mirrors", ABOUT_MIRRORS), ("none", "Nothing like it. " * 30)]
    expected = check(work, others).to_dict()
    monkeypatch.setattr(tokens, "VOCABULARY_LIMIT", 1)
    found = check(work, others).to_dict()
    assert {**found, "created": ""} == {**expected, "created": ""}


def test_a_candidate_holds_no_words_but_its_own():
    batch = read_words([f"one two three number{n} " * 50 for n in range(40)])
    shared = MostShared(read_words(["one two three"]), 2).add(batch, 0, lambda i: Document(str(i), ""))
    kept = shared(7).words
    assert kept.words(0) == batch.words(7)
    assert all(column.base is None for column in (kept.hashes, kept.starts, kept.ends, kept.flags, kept.ids))


SENTENCE = "Two mirrors of seven proved cracked from the frost after the crates had been opened. "
ABOUT_MIRRORS = (
    "The observatory stood on the northern ridge above the fishing village. Its first director ordered a refracting "
    "telescope from Munich in 1889 and waited three winters for the lenses to arrive. When the crates were opened, two "
    "of the seven mirrors turned out to be cracked by frost. The director paid for replacements out of his own salary "
    "and catalogued four hundred variable stars before the war. "
) + " ".join(f"Sentence {i} speaks of other matters entirely." for i in range(40))
ABOUT_SOUP = (
    "My grandmother never cared for museums. She preferred markets, where a stranger would shout the price of "
    "plums at her and she would shout back. Every Saturday we carried two baskets home and argued about soup. "
)


def explained(text: str, *texts: str, min_share: float = 0.0, counted: Any = None):
    documents = [Document(f"d{number}", text) for number, text in enumerate(texts)]
    measures = [(0.01, 0.01)] * len(documents)
    words = read_words([text])
    beside = lay_beside(words, documents, AlignOptions(), shingle_words=4, measures=measures)
    return explain(text, words, beside, min_share=min_share, counted=counted)


@pytest.mark.covers("K2")
def test_documents_with_only_possible_places_are_told_apart():
    text = ABOUT_SOUP + SENTENCE + ABOUT_SOUP[::-1]
    answer = explained(text, ABOUT_MIRRORS, "Nothing like it. " * 30, ABOUT_SOUP)
    assert [source.id for source in answer.sources] == ["d2"]
    (one,) = answer.possible
    assert (one.id, one.share, one.added, one.fragments) == ("d0", 0.0, 0.0, ())
    (place,) = one.possible
    assert text[place.a.start : place.a.end].startswith("Two mirrors")
    assert ABOUT_MIRRORS[place.b.start : place.b.end].startswith(("When", "two"))
    assert place.id == "p1p1"
    assert answer.share == sum(source.added for source in answer.sources)


def test_no_possible_places_where_they_were_not_asked_for():
    text = ABOUT_SOUP + SENTENCE + ABOUT_SOUP[::-1]
    assert explained(text, ABOUT_MIRRORS, min_share=0.1).possible == ()
    nothing = np.zeros(len(Canon().tokens([text]).hashes), np.bool_)
    assert explained(text, ABOUT_MIRRORS, counted=nothing).possible == ()
    assert len(explained(text, ABOUT_MIRRORS, counted=~nothing).possible) == 1


def test_possible_places_in_every_report():
    text = ABOUT_SOUP + SENTENCE + ABOUT_SOUP[::-1]
    answer = explained(text, ABOUT_MIRRORS)
    result = replace(check(text, []), possible_sources=answer.possible)
    shown = check_report(result, text, width=60)
    assert "Perhaps reworded, in no share: 1 document with nothing else of the text" in shown
    assert "  ? d0: 1 place" in shown
    assert "    ?   Two mirrors of seven" in shown
    assert "No source was found." in shown
    again = read_check(json.loads(json.dumps(result.to_dict())))
    assert again.to_dict() == result.to_dict()
    assert again.possible_sources[0].possible == answer.possible[0].possible
    for language, told, head in (
        ("en", "Perhaps reworded, in no share: 1 place", "Not a source"),
        ("ru", "Возможно, пересказ, в доли не входит: 1\u00a0место", "Не источник"),
    ):
        page = check_page(result, text, language=language)
        assert f'<a href="#possible-title">{told}</a>' in page
        assert 'id="possible-title"' in page
        assert f'<article class="perhaps" id="p1p1">\n<h3>{head} ' in page
        assert "cracked by frost" in page


def test_the_terminal_says_when_nothing_was_left_out():
    none = LeftOut("bibliography", (), (), 0, 0.4)
    some = LeftOut("quotations", ("quotation",), (Span(0, 3),), 1, 0.5)
    shown = check_report(replace(check("one two", []), left_out=(some, none), share_with_all=0.5), "one two")
    assert "not counted: quotations: 1 word; with them the share would be 50%" in shown
    assert "not counted: list of references: none found\n" in shown
    assert "with all of these counted" not in shown


def test_sources_in_memory_have_titles_and_addresses_as_those_of_files(tmp_path: Path) -> None:
    text = "the boats were locked in the ice until March and nobody in the village minded it much"
    record = {"id": "a", "text": text, "title": "Ice", "address": "https://example.org/ice"}
    found = [check(text, [record]), check(text, [Document(**record)])]
    (tmp_path / "library.jsonl").write_text(json.dumps(record) + "\n")
    with open_source(
        [str(tmp_path / "library.jsonl")], title_field="title", address_field="address"
    ) as source:
        found.append(check(text, source))
    assert [(one.sources[0].title, one.sources[0].address) for one in found] == [
        ("Ice", "https://example.org/ice")
    ] * 3


QUOTED = "the old harbour was filled with sand and the ships had to wait outside for weeks every spring"
LATER = "nobody had counted the bridges before the flood took three of them away in a single night"


@pytest.mark.covers("K4")
def test_what_is_left_out_against_files() -> None:
    text = f"As one book says, «{QUOTED}», and so it was. {LATER}."
    documents = [Document("book", QUOTED), Document("2023/Essay_v1.docx", LATER), Document("other", "x y z")]
    whole = check(text, documents)
    assert whole.share_with_all is None
    assert {source.id for source in whole.sources} == {"book", "2023/Essay_v1.docx"}
    left = check(text, documents, name="essay.txt", leave_out=["quotations", "own"])
    assert left.share == 0
    assert left.share_with_all == pytest.approx(whole.share)
    assert [one.kind for one in left.left_out] == ["quotations", "own"]
    assert left.left_out[1].documents == ("2023/Essay_v1.docx",)
    assert [source.id for source in left.uncounted_sources] == ["book"]
    assert not left.notes
    named = check(text, documents, leave_out=["own"], own=["2023/*", "2022/*"])
    assert [source.id for source in named.sources] == ["book"]
    assert [note.values["pattern"] for note in named.notes] == ["2022/*"]


def test_wording_of_many_files_is_common() -> None:
    form = "ministry of education faculty of history department of general and local history term paper by"
    documents = [Document(f"d{i}", f"{form} author {i} about thing number {i * 7}") for i in range(6)]
    documents.append(Document("book", QUOTED))
    text = f"{form} somebody. {QUOTED}."
    assert check(text, documents).share > 0.8
    left = check(text, documents, leave_out=["common"])
    assert [source.id for source in left.sources] == ["book"]
    assert check(text, documents[2:], leave_out=["common"]).share > 0.8, "four documents are not many"


def test_texts_that_are_hardly_readable() -> None:
    from doublet.matches.readable import readable

    assert readable(check(WORK, []))
    assert not readable(check("", [Document("a", QUOTED)]))
    assert not readable(check("a %%% &&& *** ((( ))) @@@ b ### $$$", [Document("a", QUOTED)]))
    assert not readable(check("wor\ufffds los\ufffd in d\ufffdcoding", [Document("a", QUOTED)]))


def test_five_documents_make_wording_common() -> None:
    form = "ministry of education faculty of history department of general and local history term paper by"
    documents = [Document(f"d{i}", f"{form} author {i} about thing number {i * 7}") for i in range(5)]
    assert check(f"{form} somebody.", documents, leave_out=["common"]).share == 0
    assert check(f"{form} somebody.", documents[1:], leave_out=["common"]).share > 0.8


def test_the_terminal_shows_where_a_source_may_be_reworded_besides() -> None:
    text = SENTENCE + ABOUT_SOUP
    answer = explained(text, ABOUT_MIRRORS).possible[0]
    fragment = replace(answer.possible[0], strength="weak")
    several = replace(answer, fragments=(fragment,), possible=answer.possible * 5)
    shown = check_report(replace(check(text, []), sources=(several,)), text, width=60)
    assert "perhaps reworded, not counted: 5 places" in shown
    assert shown.count("    ?   Two mirrors of seven") == 3
    assert "\n        …\n" in shown
