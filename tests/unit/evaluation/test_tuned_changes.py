"""Degrees of the changes and of the problems made from them: one that is halved or doubled changes a count here."""

from __future__ import annotations

import importlib
import json
import lzma
import random
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from doublet.errors import UsageError
from doublet.evaluation import changes as making
from doublet.evaluation import finding
from doublet.evaluation.changes import Changed, Origin, Surroundings, cases
from doublet.evaluation.metrics import score
from doublet.evaluation.problem import _siblings, make_problem
from doublet.evaluation.russian import RussianForms
from doublet.evaluation.sets.revisions import Revisions
from doublet.evaluation.specs import read_spec
from doublet.model import Document, Span

pytestmark = pytest.mark.covers("E1")


class Drawn(random.Random):
    """Draws the same number every time, and the last of a range."""

    def __init__(self, value: float = 0.0) -> None:
        super().__init__(1)
        self.value = value

    def random(self) -> float:
        return self.value

    def randint(self, a: int, b: int) -> int:
        return b


def around(*others: Document) -> Surroundings:
    forms: Any = SimpleNamespace(other_number_or_tense=lambda word: word + "s", lemma=lambda word: word)
    language: Any = SimpleNamespace(name="en", forms=forms, is_content=lambda _word: True)
    return Surroundings(language, others=others)


def changed(name: str, text: str, drawn: float) -> Changed:
    return making.change(name).apply(Document("a", text), around(), Drawn(drawn))


def sentences_of(number: int, words: int = 5) -> str:
    """Sentences whose words are all different."""
    letters = "abcdefghijklmnopqrstuvwxyz"
    return " ".join(
        "Word " + " ".join(letters[n // 26] + letters[n % 26] + letters[k] for k in range(words - 1)) + "."
        for n in range(number)
    )


@pytest.mark.parametrize(
    ("name", "what", "share"),
    [("tense-number", "changed", 0.5), ("ocr-noise", "misread", 0.1), ("word-order", "moved", 0.3)],
)
def test_the_share_of_words_that_are_changed(name: str, what: str, share: float) -> None:
    text = "One common sentence contains several common words."
    assert changed(name, text, share - 0.01).counts.get(what, 0)
    assert not changed(name, text, share + 0.01).counts.get(what, 0)


def test_words_change_places_with_one_of_the_next_three() -> None:
    words = changed("word-order", "zero one two three four five six.", 0.0).text.rstrip(".").split()
    assert words[0] == "three"


def test_a_summary_holds_three_tenths_of_the_words() -> None:
    found = making.apply(making.change("summary-30"), Document("a", sentences_of(20)), around(), seed=1)
    assert found.counts == {"sentences": 20, "chosen": 6}


@pytest.mark.parametrize(("paragraphs", "words", "moved"), [(8, 30, 4), (3, 45, 3), (2, 45, 5)])
def test_paragraphs_of_forty_words_are_moved_when_there_are_three(
    paragraphs: int, words: int, moved: int
) -> None:
    """Two short ones go together; of a text with two paragraphs blocks of four sentences move (eighteen in all)."""
    text = "\n\n".join(sentences_of(words // 5) for _ in range(paragraphs))
    assert changed("paragraphs-moved", text, 0.5).counts["paragraphs"] == moved


def test_passages_of_sixty_words_from_three_sources_are_spliced() -> None:
    documents = [Document(f"d{n}", sentences_of(40)) for n in range(9)]
    found = making.apply(making.change("splice"), documents[0], around(*documents), seed=1)
    assert len(found.sources) == 3
    assert [len(found.text[o.span.start : o.span.end].split()) for o in found.origins] == [60] * 3


@pytest.mark.parametrize(("gap", "number"), [(35, 1), (45, 2)])
def test_forty_characters_part_two_passages(gap: int, number: int) -> None:
    spans = (Span(0, 100), Span(100 + gap, 200 + gap))
    origins = tuple(Origin(span, "source", span, True) for span in spans)
    assert len(cases(Changed("x" * 300, origins))) == number


def library(*lengths: int) -> list[Document]:
    return [
        Document(f"d{n:03}", " ".join(f"{chr(97 + n % 26)}{n}w{k}" for k in range(length)))
        for n, length in enumerate(lengths)
    ]


def test_five_documents_of_fifty_words_make_a_problem() -> None:
    with pytest.raises(UsageError):
        make_problem("few", library(*[50] * 4, 49), changes=["look-alikes"])
    found = make_problem("enough", library(*[50] * 5), changes=["look-alikes"])
    assert len(found.queries) == 3  # two stay out of the library


def test_a_tenth_of_the_documents_stays_out_of_the_library() -> None:
    assert len(make_problem("many", library(*[50] * 60), changes=[]).library) == 54


@pytest.mark.parametrize(("shared", "siblings"), [(25, True), (18, False)])
def test_siblings_share_a_fifth_of_their_text(shared: int, siblings: bool) -> None:
    first, second = (document.text.split() for document in library(100, 100))
    pair = [Document("a", " ".join(first)), Document("b", " ".join(first[:shared] + second[shared:]))]
    assert bool(_siblings(pair, [0])) is siblings


def test_pairs_with_a_score_of_a_tenth_are_kept() -> None:
    """Of a hundred words each, of which the first are the same: 15 and 28 give 0.07 and 0.15."""
    first = library(100)[0].text.split()
    others = [
        Document(f"o{n}", " ".join([*first[:shared], *(f"o{n}w{k}" for k in range(shared, 100))]))
        for n, shared in enumerate((15, 28))
    ]
    found = finding.find(read_spec("shingles:shingle_words=1"), others, [Document("q", " ".join(first))])
    assert [(one.document, round(one.score, 2)) for one in found.findings] == [(1, 0.16)]


def test_a_hundred_documents_are_compared_for_each_query() -> None:
    text = library(30)[0].text
    same = [Document(f"d{n}", f"{text} only{n}") for n in range(130)]
    found = finding.find(read_spec("shingles"), same, [Document("q", text)])
    assert found.cost.compared == 100


@pytest.mark.parametrize(("like", "wanted"), [(0.45, 0), (0.55, 1)])
def test_versions_that_are_half_alike_are_asked_for(tmp_path: Path, like: float, wanted: int) -> None:
    rows = [
        {"id": f"v{n}", "page": "p", "version": n, "text": "words", "jaccard5_to_other": like} for n in (1, 2)
    ]
    content = "".join(json.dumps(row) + "\n" for row in rows)
    (tmp_path / "docs.jsonl.xz").write_bytes(lzma.compress(content.encode()))
    assert len(Revisions().load(tmp_path, limit=None).wanted) == wanted


def test_intervals_hold_nineteen_of_twenty() -> None:
    low, high = score([(1, 0, 0), (0, 0, 1)] * 50).recall_interval or (0.0, 0.0)
    assert 0.37 < low < 0.43
    assert 0.57 < high < 0.63


def test_three_letters_stand_for_the_form_where_there_is_no_dictionary(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def missing(name: str) -> Any:
        raise ImportError(name)

    monkeypatch.setattr(importlib, "import_module", missing)
    assert RussianForms().form("дороги") == "-оги"
    assert RussianForms().form("день") == ""
