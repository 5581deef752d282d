"""The words of a text are read once on its way through a job, whoever needs them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import doublet
from doublet import kernels
from doublet.jobs.check import check
from doublet.jobs.compare import compare
from doublet.matches.among import among
from doublet.model import Document
from doublet.text.tokens import Canon, TokenBatch, read_words

TEXTS = Path(__file__).resolve().parents[2] / "golden" / "texts"
RU, EN = (TEXTS.joinpath(f"{name}.txt").read_text(encoding="utf-8") for name in ("ru", "en"))
WORK = f"{RU[:1500]} «{RU[1500:1700]}» Some words of our own stand here. {EN[:800]}"


@pytest.fixture
def read(monkeypatch: pytest.MonkeyPatch) -> Iterator[Counter[str]]:
    """How often each text was cut into words."""
    counts: Counter[str] = Counter()

    def counting(function: Any) -> Any:
        def inner(texts: Any, *rest: Any, **options: Any) -> Any:
            counts.update(texts)
            return function(texts, *rest, **options)

        return inner

    for name in ("tokenize", "shingle_sets"):
        monkeypatch.setattr(kernels, name, counting(getattr(kernels, name)))
    yield counts


@pytest.mark.parametrize("options", [{}, {"stop_words": True}, {"reduce": "lemma"}])
@pytest.mark.parametrize("method", [info.name for info in doublet.methods(others=False)])
def test_compare(read: Counter[str], method: str, options: dict[str, Any]) -> None:
    result = compare(WORK, RU, method=method, **options)
    assert result.words_a > 200
    assert (read[WORK], read[RU]) == (1, 1)


def test_check_of_documents(read: Counter[str]) -> None:
    others = [("ru", RU), ("en", EN), ("far", "nothing of the kind"), ("mine", RU[:900])]
    result = check(WORK, others, leave_out=["own"], own=["mine"])
    assert {source.id for source in result.sources} == {"ru", "en"}
    assert result.left_out
    assert [read[text] for text in (WORK, *(text for _, text in others))] == [1] * 5


def test_works_among_themselves(read: Counter[str]) -> None:
    works = [Document("one", WORK), Document("two", RU), Document("three", EN), Document("four", RU[:900])]
    assert among(works).pairs
    assert [read[work.text] for work in works] == [1] * 4


@pytest.mark.parametrize("method", ["auto", "passages", "shingles", "minhash", "meaning", "tfidf"])
def test_check_of_a_library(read: Counter[str], tmp_path: Path, method: str) -> None:
    with doublet.open_library(tmp_path / "library.db") as library:
        library.add([("ru", RU), ("en", EN), ("mine", RU[:900]), *((f"c{i}", f"{RU} {i}") for i in range(9))])
        library.check(RU, method=method, build=True)  # signatures of documents are made here
        read.clear()
        result = library.check(
            WORK, method=method, leave_out=["quotations", "bibliography", "common", "own"], own=["mine"]
        )
        assert result.left_out
    assert read[WORK] == 1
    assert {text: times for text, times in read.items() if times > 1} == {}


CANONS = [
    Canon(),
    Canon(stop_words=True),
    Canon(extra_stop_words=("снег",), min_letters=3),
    Canon(reduce="stem"),
    Canon(reduce="lemma", stop_words=True, min_letters=3),
]


def same(one: TokenBatch, other: TokenBatch) -> None:
    for name in ("hashes", "starts", "ends", "offsets"):
        assert getattr(one, name).tolist() == getattr(other, name).tolist(), name


@pytest.mark.parametrize("canon", CANONS)
def test_every_form_of_the_words_can_be_made_from_those_that_were_read(canon: Canon) -> None:
    texts = [RU, "", EN, "Снег и снег"]
    own = canon.of(read_words(texts))
    same(own, canon.tokens(texts, words=True))
    if canon.plain:
        same(own, canon.tokens(texts))  # straight from the text, without spelling
    assert own.words(3) == canon.tokens(["Снег и снег"], words=True).words(0)


def test_batches_can_be_joined_and_taken_apart() -> None:
    one = read_words([RU, EN])
    other = read_words(["Снег", ""], one.spelling)
    both = TokenBatch.joined([one, other.one(0), other.one(1)])
    same(both, read_words([RU, EN, "Снег", ""]))
    assert both.words(2) == ["снег"]
    same(both.one(1), read_words([EN]))


def test_what_does_not_go_together_is_refused() -> None:
    from doublet.text.tokens import Vocabulary

    with pytest.raises(doublet.InvalidParameter, match="vocabular"):
        TokenBatch.joined([read_words(["a"]), read_words(["b"], Vocabulary())])
    with pytest.raises(doublet.InvalidParameter, match="spelling"):
        Canon(reduce="stem").of(Canon().tokens(["a"]))
