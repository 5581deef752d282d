"""One suite for every method: what `Method` promises, whatever the method."""

from __future__ import annotations

import dataclasses
import functools
import pathlib
import pickle

import numpy as np
import pytest

from doublet.errors import IncompatibleSignatures, InvalidParameter
from doublet.model import Signature
from doublet.signatures import (
    METHODS,
    Method,
    from_bytes,
    gather_statistics,
    method,
    methods,
    sign_read,
    to_bytes,
)
from doublet.text.tokens import read_words

TEXTS = pathlib.Path(__file__).resolve().parents[1] / "golden" / "texts"
RU, EN, MIXED = (TEXTS.joinpath(f"{name}.txt").read_text(encoding="utf-8") for name in ("ru", "en", "mixed"))
COLLECTION = [RU, EN, MIXED, *RU.split("\n\n"), *EN.split("\n\n"), *MIXED.split("\n\n")]
LATIN_LOOKS = str.maketrans("аеорсухАВЕКМНОРСТУХ", "aeopcyxABEKMHOPCTYX")
CYRILLIC_LOOKS = str.maketrans("aeopcyxABEKMHOPCTYX", "аеорсухАВЕКМНОРСТУХ")

COVERS = {
    "shingles": "M1",
    "multiples": "M2",
    "smallest": "M3",
    "minhash": "M4",
    "supershingles": "M5",
    "megashingles": "M5",
    "simhash": "M6",
    "longsent": "M7",
    "tf": "M8",
    "tfidf": "M9",
    "tfridf": "M10",
    "imatch": "M12",
    "pivot": "M13",
    "meaning": "M14",
    "auto": "M15",
}
EVERY_METHOD = pytest.mark.parametrize(
    "name", [pytest.param(name, marks=pytest.mark.covers(COVERS[name])) for name in METHODS]
)


@functools.cache
def made(name: str) -> Method:
    return method(name, statistics=gather_statistics(name, COLLECTION))


def signed(name: str, text: str) -> Signature:
    signature = made(name).sign(text)
    assert signature is not None
    return signature


def equal(a: Signature | None, b: Signature | None) -> bool:
    if a is None or b is None:
        return a is b
    return a.recipe == b.recipe and a.size == b.size and np.array_equal(a.values, b.values)


@EVERY_METHOD
@pytest.mark.parametrize("canon", [{}, {"stop_words": True, "min_letters": 3}, {"reduce": "lemma"}])
def test_words_that_were_read_for_other_purposes_too_are_signed_alike(
    name: str, canon: dict[str, object]
) -> None:
    texts = ["", "Снег", "Снег, снег и Cнег: the roads were closed.", RU, EN, MIXED]
    chosen = method(name, statistics=gather_statistics(name, COLLECTION, **canon), **canon)
    for one, other in zip(sign_read(chosen, read_words(texts), texts), chosen.sign_texts(texts), strict=True):
        assert equal(one, other)


def test_every_method_is_covered() -> None:
    assert list(COVERS) == list(METHODS)


@EVERY_METHOD
def test_it_works(name: str) -> None:
    a, b = signed(name, RU), signed(name, RU)
    assert equal(a, b)
    assert a.values.dtype == np.uint64
    assert a.size > 0
    assert a.recipe.method == name


@EVERY_METHOD
@pytest.mark.parametrize("text", [RU, EN, MIXED], ids=["ru", "en", "mixed"])
def test_a_text_resembles_itself_wholly(name: str, text: str) -> None:
    signature = signed(name, text)
    measures = made(name).compare(signature, signature)
    assert measures.resemblance == 1.0
    assert measures.similar
    assert measures.containment in (None, (1.0, 1.0))


@EVERY_METHOD
def test_different_texts_are_not_similar(name: str) -> None:
    measures = made(name).compare(signed(name, RU), signed(name, EN))
    assert not measures.similar
    assert 0.0 <= measures.resemblance < 0.5


@EVERY_METHOD
def test_compare_is_symmetric(name: str) -> None:
    changed = RU.replace("гранита", "песчаника").replace("Смотритель", "Сторож")
    a, b = signed(name, RU), signed(name, changed)
    there, back = made(name).compare(a, b), made(name).compare(b, a)
    assert there.resemblance == back.resemblance
    assert there.similar == back.similar
    assert (there.containment or ()) == (back.containment or ())[::-1]


@EVERY_METHOD
@pytest.mark.parametrize("text", ["", "   \n\t ", "... !!! —", "\u200b\u00ad", "\ud800"])
def test_a_text_without_words_has_no_signature(name: str, text: str) -> None:
    assert made(name).sign(text) is None


@EVERY_METHOD
def test_one_word(name: str) -> None:
    """Methods that need more than a word say so; the others sign it."""
    signature = made(name).sign("гранит")
    enough = {"shingles", "smallest", "minhash", "supershingles", "megashingles", "simhash", "auto"}
    assert (signature is not None) == (name in enough)
    assert METHODS[name].minimum.startswith("one word") == (name in enough)


@EVERY_METHOD
def test_nothing_is_a_duplicate_of_nothing(name: str) -> None:
    assert made(name).sign_texts(["", "", ""]) == [None, None, None]
    assert made(name).sign_texts([]) == []


@EVERY_METHOD
@pytest.mark.covers("T5")
@pytest.mark.parametrize(
    ("text", "looks"),
    [(RU, LATIN_LOOKS), (EN, CYRILLIC_LOOKS), (MIXED, LATIN_LOOKS)],
    ids=["ru", "en", "mixed"],
)
def test_look_alike_letters_change_nothing(name: str, text: str, looks: dict[int, int]) -> None:
    swapped = text.translate(looks)
    assert swapped != text
    assert equal(signed(name, text), made(name).sign(swapped))


@EVERY_METHOD
@pytest.mark.covers("T4")
def test_case_punctuation_and_yo_change_nothing(name: str) -> None:
    if name == "longsent":  # where a sentence ends is read from the punctuation and the capitals
        changed = RU.replace("ё", "е").replace(",", " ,")
    else:
        changed = RU.upper().replace("Ё", "Е").replace(",", ";").replace("\n\n", "  ")
    assert equal(signed(name, RU), made(name).sign(changed))


@EVERY_METHOD
def test_many_at_once_are_the_same_as_one_by_one(name: str) -> None:
    texts = [RU, "", EN, "слово", MIXED, RU[:300], "\U0001f600 " + EN]
    one_by_one = [made(name).sign(text) for text in texts]
    batch = made(name).tokens(texts)
    for many in (
        made(name).sign_texts(texts),
        made(name).sign_texts(texts, threads=2),
        made(name).sign_many(batch, texts),
    ):
        assert all(equal(a, b) for a, b in zip(one_by_one, many, strict=True))


@EVERY_METHOD
def test_order_does_not_matter(name: str) -> None:
    texts = [*COLLECTION]
    there = made(name).sign_texts(texts)
    back = made(name).sign_texts(texts[::-1])[::-1]
    assert all(equal(a, b) for a, b in zip(there, back, strict=True))


@EVERY_METHOD
def test_order_of_the_collection_does_not_matter(name: str) -> None:
    backwards = method(name, statistics=gather_statistics(name, COLLECTION[::-1]))
    assert backwards.recipe == made(name).recipe
    assert equal(backwards.sign(RU), signed(name, RU))


@EVERY_METHOD
def test_words_and_texts_must_go_together(name: str) -> None:
    with pytest.raises(InvalidParameter, match="texts"):
        made(name).sign_many(made(name).tokens([RU, EN]), [RU])


@EVERY_METHOD
def test_similar_texts_share_a_key(name: str) -> None:
    keys = made(name).keys(signed(name, RU))
    assert keys.dtype == np.uint64
    assert len(keys) > 0
    assert set(keys.tolist()) == set(made(name).keys(signed(name, RU + "\n\n…")).tolist())


@EVERY_METHOD
def test_keys_of_many_are_those_of_each(name: str) -> None:
    rows = getattr(made(name), "key_rows", lambda _: None)([signed(name, text) for text in (RU, EN)])
    if rows is not None:
        for row, text in zip(rows, (RU, EN), strict=True):
            assert sorted(row.tolist()) == sorted(made(name).keys(signed(name, text)).tolist())


@EVERY_METHOD
def test_keys_and_compare_agree(name: str) -> None:
    """Over all pairs of the collection: what is similar shares a key."""
    signatures = [s for s in made(name).sign_texts(COLLECTION) if s is not None]
    for a in signatures:
        for b in signatures:
            if made(name).compare(a, b).similar:
                assert set(made(name).keys(a).tolist()) & set(made(name).keys(b).tolist())


@EVERY_METHOD
def test_other_recipes_are_refused(name: str) -> None:
    signature = signed(name, RU)
    newer = dataclasses.replace(
        signature,
        recipe=dataclasses.replace(signature.recipe, text_version=signature.recipe.text_version + 1),
    )
    for ask in (
        lambda: made(name).compare(signature, newer),
        lambda: made(name).compare(newer, signature),
        lambda: made(name).keys(newer),
    ):
        with pytest.raises(IncompatibleSignatures, match="version of the canonical text"):
            ask()


@EVERY_METHOD
def test_other_words_are_refused(name: str) -> None:
    if made(name).needs_statistics:
        other = method(name, statistics=gather_statistics(name, COLLECTION, extra_stop_words=["маяк"]))
        expected = "extra_stop_words .* and .*маяк.*, collection statistics"
    else:
        other = method(name, extra_stop_words=["маяк"])
        expected = "extra_stop_words .* and .*маяк"
    signature = other.sign(RU)
    assert signature is not None
    with pytest.raises(IncompatibleSignatures, match=expected):
        made(name).compare(signed(name, RU), signature)


@EVERY_METHOD
def test_other_methods_are_refused(name: str) -> None:
    other = signed("simhash" if name != "simhash" else "shingles", RU)
    with pytest.raises(IncompatibleSignatures, match=f"method {name} and "):
        made(name).compare(signed(name, RU), other)


@EVERY_METHOD
def test_bytes_and_back(name: str) -> None:
    signature = signed(name, MIXED)
    back = from_bytes(to_bytes(signature))
    assert equal(signature, back)
    assert made(name).compare(signature, back).resemblance == 1.0


@EVERY_METHOD
def test_a_method_can_be_sent_to_a_worker(name: str) -> None:
    sent: Method = pickle.loads(pickle.dumps(made(name)))
    assert sent.recipe == made(name).recipe
    assert equal(sent.sign(RU), signed(name, RU))


@EVERY_METHOD
def test_unknown_parameter_is_named_with_a_suggestion(name: str) -> None:
    statistics = gather_statistics(name, COLLECTION)
    with pytest.raises(
        InvalidParameter, match=r"has no parameter 'min_leters', did you mean 'min_letters'\?"
    ) as caught:
        method(name, statistics=statistics, min_leters=3)
    assert caught.value.details["known"] == tuple(info.name for info in METHODS[name].parameters_type.infos())


@EVERY_METHOD
def test_every_parameter_is_described_and_checked(name: str) -> None:
    for info in METHODS[name].parameters_type.infos():
        assert info.about
        assert info.allowed
        with pytest.raises(InvalidParameter, match=f"{info.name} is .*: it must be {info.allowed}"):
            method(name, statistics=gather_statistics(name, COLLECTION), **{info.name: object()})


@EVERY_METHOD
def test_the_recipe_has_plain_values_in_a_fixed_order(name: str) -> None:
    names = [key for key, _ in made(name).recipe.parameters]
    assert names == sorted(names)
    assert all(type(value) in (int, float, bool, str, tuple) for _, value in made(name).recipe.parameters)


@EVERY_METHOD
def test_a_huge_text(name: str) -> None:
    words = " ".join(
        f"{word}{number}" for number in range(400) for word in ("маяк", "lamp", "волна.", "Берег")
    )
    signature = made(name).sign(f"{words} {RU} {words}")
    if signature is not None:
        assert made(name).compare(signature, signature).similar


def test_methods_in_words() -> None:
    found = methods(others=False)
    assert [info.name for info in found] == list(METHODS)
    for info in found:
        assert info.title
        assert info.summary.endswith(".")
        assert info.minimum
        assert set(info.to_dict()) >= {"name", "parameters", "needs_statistics"}
    assert [info.name for info in found if info.shows_fragments] == ["shingles", "meaning", "auto"]
    assert [info.name for info in found if info.needs_statistics] == ["tfidf", "tfridf", "imatch", "pivot"]
