"""Every change keeps a true map, does what it says, and does it again for the same seed."""

from __future__ import annotations

import itertools
import random
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from doublet.errors import UsageError
from doublet.evaluation import changes as making
from doublet.evaluation.changes import CHANGES, Changed, Surroundings, cases, compose, unchanged
from doublet.evaluation.changes.order import ParagraphsMoved, SentencesMoved
from doublet.evaluation.changes.rewriting import in_turn
from doublet.evaluation.changes.splice import Splice
from doublet.evaluation.changes.synonyms import Synonyms
from doublet.evaluation.problem import hulls
from doublet.evaluation.sets import bundled
from doublet.evaluation.words import make_language
from doublet.model import Document, Span

pytestmark = pytest.mark.covers("E1")

THESAURUS = {
    "ru": "UTF-8\nдокумент|1\n(синоним)|бумага|грамота\nкоманда|2\n(синоним)|приказ|указание\n(антоним)|просьба\n"
    "новый|1\n(синоним)|свежий|недавний\nделать|1\n(синоним)|выполнять|производить\n",
    "en": "UTF-8\ndocument|1\n(noun)|paper|written document|communication (generic term)\n"
    "use|2\n(verb)|utilize|apply\n(noun)|usage\nparameter|1\n(noun)|argument\n",
}


def surroundings(language: str, folder: Path) -> tuple[list[Document], Surroundings]:
    documents = list(bundled(language).documents)[:40]
    path = folder / f"th_{language}.dat"
    path.write_text(THESAURUS[language], encoding="utf-8")
    made = make_language(language, (d.text for d in documents), thesaurus=path)
    return documents, Surroundings(made, own=documents[30:], others=documents[:30])


@pytest.fixture(scope="module", params=["ru", "en"])
def around(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory):
    return surroundings(request.param, tmp_path_factory.mktemp("thesaurus"))


def check_map(changed: Changed, sources: dict[str, str]) -> None:
    """Sorted, disjoint, inside both texts; what is called equal is equal."""
    reached = 0
    for origin in changed.origins:
        assert reached <= origin.span.start < origin.span.end <= len(changed.text)
        reached = origin.span.end
        source = sources[origin.source]
        assert 0 <= origin.source_span.start < origin.source_span.end <= len(source)
        if origin.equal:
            here = changed.text[origin.span.start : origin.span.end]
            assert here == source[origin.source_span.start : origin.source_span.end]


@pytest.mark.parametrize("name", [*CHANGES, "deletion-20+sentences-moved"])
def test_the_map_is_true(name: str, around) -> None:
    documents, where = around
    texts = {d.id: d.text for d in documents}
    for document in documents[:6]:
        changed = making.apply(making.change(name), document, where, seed=3)
        check_map(changed, texts)
        assert document.id in changed.sources


@pytest.mark.parametrize("name", CHANGES)
def test_the_same_seed_gives_the_same_text(name: str, around) -> None:
    documents, where = around
    one = making.change(name)
    first = making.apply(one, documents[0], where, seed=1)
    assert making.apply(one, documents[0], where, seed=1) == first
    if name not in ("look-alikes", "summary-30") and not name.startswith(
        "processed"
    ):  # those may find no word
        assert any(making.apply(one, documents[0], where, seed=s).text != first.text for s in (2, 3, 4))


@pytest.mark.parametrize("name", CHANGES)
@pytest.mark.parametrize("text", ["", "   \n", "слово", "word", "1 2 3", "…"])
def test_texts_with_nothing_to_change(name: str, text: str, around) -> None:
    _, where = around
    check_map(
        making.apply(making.change(name), Document("x", text), where, seed=1),
        {"x": text, **{d.id: d.text for d in where.others}},
    )


def test_synonyms_replace_the_share_they_say(around) -> None:
    documents, where = around
    for share in (0.05, 0.2, 0.6):
        changed = making.apply(Synonyms(share), documents[0], where, seed=1)
        counts = changed.counts
        assert counts["replaced"] + counts.get("kept", 0) == round(share * counts["content"])
        assert counts["replaced"] == counts.get("from_thesaurus", 0) + counts.get("from_collection", 0)
        assert sum(not origin.equal for origin in changed.origins) >= 0.9 * counts["replaced"]


def test_a_synonym_takes_the_form_of_the_word(tmp_path: Path) -> None:
    pytest.importorskip("pymorphy3")
    documents, where = surroundings("ru", tmp_path)
    rng = random.Random(1)
    found = {where.language.synonym("документами", rng) for _ in range(20)}
    assert found == {"бумагами", "грамотами"}
    assert where.language.synonym("Новую", rng) in ("Свежую", "Недавнюю")
    assert "просьбу" not in {where.language.synonym("команду", rng) for _ in range(20)}
    assert len(documents) == 40


def test_an_english_synonym_takes_the_ending_of_the_word(tmp_path: Path) -> None:
    _, where = surroundings("en", tmp_path)
    rng = random.Random(1)
    assert {where.language.synonym("used", rng) for _ in range(30)} <= {"utilized", "applied", "usaged"}
    assert where.language.synonym("Parameters", rng) == "Arguments"
    assert "communication" not in {where.language.synonym("document", rng) for _ in range(30)}


def test_a_processed_stretch_leaves_the_rest_alone(around) -> None:
    documents, where = around
    changed = making.apply(Synonyms(0.2, stretch=True), documents[0], where, seed=1)
    touched = [o.source_span for o in changed.origins if not o.equal]
    if touched:
        assert touched[-1].end - touched[0].start <= 0.2 * len(documents[0].text) + 30


def test_moved_sentences_are_the_same_sentences(around) -> None:
    documents, where = around
    changed = making.apply(SentencesMoved(), documents[1], where, seed=1)
    assert sorted(changed.text.split()) == sorted(documents[1].text.split())
    assert changed.text != documents[1].text


def test_headings_do_not_move(around) -> None:
    _, where = around
    text = "Heading without a stop\n\nFirst sentence here. Second sentence there. Third one follows.\n\nAnother heading"
    for seed in range(5):
        changed = making.apply(SentencesMoved(), Document("x", text), where, seed=seed)
        assert changed.text.startswith("Heading without a stop\n\n")
        assert changed.text.endswith("\n\nAnother heading")


def test_short_paragraphs_go_with_what_follows(around) -> None:
    _, where = around
    text = "\n\n".join(f"Title {i}\n\n{' '.join(f'word{i}x{j}' for j in range(50))}." for i in range(5))
    changed = making.apply(ParagraphsMoved(), Document("x", text), where, seed=1)
    for i in range(5):
        assert re.search(rf"Title {i}\n\nword{i}x0 ", changed.text)


def test_passages_of_a_spliced_text_lead_to_their_sources(around) -> None:
    documents, where = around
    texts = {d.id: d.text for d in documents}
    for inner in (
        None,
        making.change("synonyms-60"),
        making.change("rewriting"),
        making.change("look-alikes"),
    ):
        changed = making.apply(Splice(inner=inner), documents[2], where, seed=5)
        check_map(changed, texts)
        found = hulls(changed)
        assert len(found) == 3
        assert documents[2].id in found
        spans = sorted(passage.span for passage in found.values())
        assert all(a.end <= b.start for a, b in itertools.pairwise(spans))
        if inner is None:
            for source, (span, source_span) in found.items():
                assert changed.text[slice(*span)] == texts[source][slice(*source_span)]


def test_an_unknown_change_is_named_with_the_nearest() -> None:
    with pytest.raises(UsageError, match="did you mean 'synonyms-60'"):
        making.change("synonym-60")


def test_cases_join_neighbours_and_keep_moved_ones_apart() -> None:
    text = "aaaa bbbb cccc"
    changed = Changed(
        "aaaa XXXX cccc",
        (
            making.Origin(Span(0, 5), "d", Span(0, 5), True),
            making.Origin(Span(5, 9), "d", Span(5, 9), False),
            making.Origin(Span(9, 14), "d", Span(9, 14), True),
        ),
    )
    assert [tuple(case.span) for case in cases(changed)] == [(0, len(text))]
    moved = Changed(
        "cccc aaaa",
        (
            making.Origin(Span(0, 4), "d", Span(90, 94), True),
            making.Origin(Span(5, 9), "d", Span(0, 4), True),
        ),
    )
    assert len(cases(moved)) == 2
    assert cases(moved, least=5) == ()


WORDS = st.lists(
    st.sampled_from("дом стол new old. Then идёт, время run; 12 — «так»".split()), max_size=60
).map(" ".join)


@given(WORDS, st.integers(0, 5), st.lists(st.sampled_from(sorted(CHANGES)), min_size=1, max_size=4))
def test_any_row_of_changes_keeps_the_map_true(around, text: str, seed: int, names: list[str]) -> None:
    _, where = around
    document = Document("doc", text)
    names = [name for name in names if name != "splice"]
    changed = in_turn(document, [making.change(name) for name in names], where, random.Random(seed))
    reached = 0
    for origin in changed.origins:
        assert reached <= origin.span.start < origin.span.end <= len(changed.text)
        reached = origin.span.end
        assert 0 <= origin.source_span.start < origin.source_span.end <= len(text)
        if origin.equal:
            assert changed.text[slice(*origin.span)] == text[slice(*origin.source_span)]


@given(st.text(min_size=1, max_size=30))
def test_a_change_of_nothing_is_nothing(text: str) -> None:
    document = Document("d", text)
    same = unchanged(document)
    assert compose(same, same) == same
