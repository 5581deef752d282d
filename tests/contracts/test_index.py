"""One suite for every index: what `Index` promises. A new index adds itself to `KINDS` and nothing else."""

from __future__ import annotations

import pathlib
from collections.abc import Callable

import pytest

from doublet.errors import IncompatibleSignatures, InvalidParameter, UsageError
from doublet.index import Candidate, Index, MemoryIndex
from doublet.model import Signature
from doublet.signatures import METHODS, Method, gather_statistics, method
from library_databases import VENDORS, new_address

TEXTS = pathlib.Path(__file__).resolve().parents[1] / "golden" / "texts"
RU, EN, MIXED = (TEXTS.joinpath(f"{name}.txt").read_text(encoding="utf-8") for name in ("ru", "en", "mixed"))
COLLECTION = [RU, EN, MIXED, *RU.split("\n\n"), *EN.split("\n\n")]

MakeIndex = Callable[[Method], Index]


def in_database(vendor: str) -> MakeIndex:
    """Makes indexes in databases of their own."""

    def make(method: Method) -> Index:
        from doublet.store.database import Store
        from doublet.store.entries import StoreIndex

        store = Store(new_address(vendor))
        return StoreIndex(store.database, store.libraries.create("library").number, method)

    return make


KINDS: dict[str, MakeIndex] = {"memory": MemoryIndex} | {vendor: in_database(vendor) for vendor in VENDORS}


@pytest.fixture(params=KINDS)
def make_index(request: pytest.FixtureRequest) -> MakeIndex:
    """An empty index over the signatures of a method."""
    return KINDS[request.param]


SHINGLES = method("shingles", shingle_words=2, threshold=0.4)


def signed(text: str, by: Method = SHINGLES) -> Signature:
    signature = by.sign(text)
    assert signature is not None
    return signature


def test_it_works(make_index: MakeIndex) -> None:
    index = make_index(SHINGLES)
    index.add("ru", signed(RU))
    index.add("en", signed(EN))
    assert len(index) == 2
    assert "ru" in index
    assert "de" not in index
    assert index.recipe == SHINGLES.recipe
    assert [candidate.id for candidate in index.candidates(signed(RU))] == ["ru"]


def test_empty(make_index: MakeIndex) -> None:
    index = make_index(SHINGLES)
    assert len(index) == 0
    assert index.candidates(signed(RU)) == []
    assert index.remove("ru") is False


@pytest.mark.parametrize("name", METHODS)
def test_every_method_finds_an_equal_text(make_index: MakeIndex, name: str) -> None:
    made = method(name, statistics=gather_statistics(name, COLLECTION))
    index = make_index(made)
    for id, text in (("ru", RU), ("en", EN), ("mixed", MIXED)):
        index.add(id, signed(text, made))
    for id, text in (("ru", RU), ("en", EN), ("mixed", MIXED)):
        found = index.candidates(signed(f"{text} \U0001f600", made))
        assert found[0].id == id
        assert found[0].hits == len(set(made.keys(signed(text, made)).tolist()))


def test_most_hits_come_first_and_equals_by_id(make_index: MakeIndex) -> None:
    words = method("shingles", shingle_words=1, containment=0.1)  # every word is a key
    index = make_index(words)
    index.add_many(
        (id, signed(text, words)) for id, text in [("c", "a b c"), ("b", "a b x"), ("a", "x b a"), ("d", "q")]
    )
    expected = [Candidate("c", 3), Candidate("a", 2), Candidate("b", 2)]
    assert index.candidates(signed("a b c", words)) == expected
    assert index.candidates(signed("a b c", words), limit=2) == expected[:2]
    assert index.candidates(signed("a b c", words), limit=100) == expected


@pytest.mark.parametrize("limit", [0, -1])
def test_a_limit_below_one_is_refused(make_index: MakeIndex, limit: int) -> None:
    with pytest.raises(InvalidParameter, match="limit"):
        make_index(SHINGLES).candidates(signed(RU), limit=limit)


def test_removing_leaves_no_trace(make_index: MakeIndex) -> None:
    index = make_index(SHINGLES)
    index.add("ru", signed(RU))
    index.add("en", signed(EN))
    assert index.remove("ru") is True
    assert index.remove("ru") is False
    assert len(index) == 1
    assert "ru" not in index
    assert index.candidates(signed(RU)) == []
    index.add("ru", signed(EN))  # another text under the same id
    assert [c.id for c in index.candidates(signed(EN))] == ["en", "ru"]
    assert index.candidates(signed(RU)) == []


def test_removing_before_anything_was_asked(make_index: MakeIndex) -> None:
    index = make_index(SHINGLES)
    index.add("ru", signed(RU))
    index.remove("ru")
    assert index.candidates(signed(RU)) == []
    assert len(index) == 0


def test_removing_most_of_many(make_index: MakeIndex) -> None:
    index = make_index(SHINGLES)
    texts = {f"d{number:03}": f"общие слова здесь и номер {number}" for number in range(200)}
    index.add_many((id, signed(text)) for id, text in texts.items())
    for id in list(texts)[:190]:
        assert index.remove(id)
        texts.pop(id)
    assert len(index) == 10
    assert {c.id for c in index.candidates(signed("общие слова здесь и номер 7"))} == set(texts)


def test_replacing(make_index: MakeIndex) -> None:
    index = make_index(SHINGLES)
    index.replace("x", signed(RU))
    index.replace("x", signed(EN))
    assert len(index) == 1
    assert index.candidates(signed(RU)) == []
    assert [c.id for c in index.candidates(signed(EN))] == ["x"]


def test_an_id_twice_is_refused(make_index: MakeIndex) -> None:
    index = make_index(SHINGLES)
    index.add("ru", signed(RU))
    with pytest.raises(UsageError, match="'ru' is in the index already"):
        index.add("ru", signed(EN))
    assert [c.id for c in index.candidates(signed(RU))] == ["ru"]


def test_all_or_none(make_index: MakeIndex) -> None:
    index = make_index(SHINGLES)
    with pytest.raises(UsageError, match="'x'"):
        index.add_many([("x", signed(RU)), ("y", signed(EN)), ("x", signed(EN))])
    other = method("shingles", shingle_words=3)
    with pytest.raises(IncompatibleSignatures):
        index.add_many([("x", signed(RU)), ("y", signed(EN, other))])
    assert len(index) == 0
    assert index.candidates(signed(RU)) == []


def test_other_recipes_are_refused(make_index: MakeIndex) -> None:
    index = make_index(SHINGLES)
    other = signed(RU, method("shingles", shingle_words=3))
    for ask in (
        lambda: index.add("x", other),
        lambda: index.replace("x", other),
        lambda: index.candidates(other),
    ):
        with pytest.raises(IncompatibleSignatures, match="shingle_words 2 and 3"):
            ask()
    assert len(index) == 0


def test_a_refused_replacement_changes_nothing(make_index: MakeIndex) -> None:
    index = make_index(SHINGLES)
    index.add("x", signed(RU))
    with pytest.raises(IncompatibleSignatures):
        index.replace("x", signed(EN, method("shingles", shingle_words=3)))
    assert [c.id for c in index.candidates(signed(RU))] == ["x"]


def test_order_of_arrival_does_not_matter(make_index: MakeIndex) -> None:
    texts = [f"слово {n % 7} и ещё {n % 5} слова {n % 3} тут" for n in range(60)]
    there, back = make_index(SHINGLES), make_index(SHINGLES)
    there.add_many((str(n), signed(text)) for n, text in enumerate(texts))
    for n in reversed(range(60)):
        back.add(str(n), signed(texts[n]))
        back.candidates(signed(texts[n]), limit=1)  # asked in between: nothing may depend on when
    for text in texts[:10]:
        assert there.candidates(signed(text)) == back.candidates(signed(text))
