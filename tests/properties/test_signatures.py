"""Laws of the methods, the statistics and the index on generated input."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from doublet.errors import InvalidParameter
from doublet.index import MemoryIndex
from doublet.model import Signature
from doublet.signatures import CollectionStatistics, Method, from_bytes, gather_statistics, method, to_bytes
from doublet.signatures.minhash import choose_bands
from doublet.signatures.mixing import splitmix64
from doublet.signatures.shingled import prefix
from doublet.signatures.supershingles import agreement_probability
from doublet.signatures.tfridf import tfridf_weights
from doublet.text.tokens import Canon

VOCABULARY = [
    "маяк",
    "волна",
    "берег",
    "камень",
    "ветер",
    "lamp",
    "stone",
    "river",
    "tower",
    "light",
    "ok2",
    "дом",
]
WORDS = st.lists(st.sampled_from(VOCABULARY), max_size=30)
FEW_WORDS = st.lists(st.sampled_from(VOCABULARY[:4]), max_size=12)
THRESHOLDS = st.sampled_from([0.01, 0.1, 0.25, 0.3, 1 / 3, 0.5, 0.6, 2 / 3, 0.7, 0.75, 0.8, 0.9, 1.0])
SETS = st.sets(st.integers(0, 40), min_size=1, max_size=30)


def signed(by: Method, words: list[str]) -> Signature | None:
    return by.sign(". ".join(words))


def sets_of(made: Any, sets: list[set[int]]) -> list[Signature]:
    """Signatures of sets of fingerprints, given as small numbers and spread over all 64 bits."""
    spread = splitmix64(3, 64)
    values = np.array([spread[v] for own in sets for v in own], np.uint64)
    offsets = np.cumsum([0, *(len(own) for own in sets)]).astype(np.uint64)
    found: list[Signature] = made.sign_sets(values, offsets)
    return found


@pytest.mark.covers("M1")
@given(WORDS, WORDS, st.integers(1, 6))
def test_shingles_are_what_python_sets_say(a: list[str], b: list[str], size: int) -> None:
    made = method("shingles", shingle_words=size)
    left, right = signed(made, a), signed(made, b)
    if left is None or right is None:
        assert not a or not b
        return

    def runs(words: list[str]) -> set[tuple[str, ...]]:
        return {tuple(words[i : i + size]) for i in range(max(1, len(words) - size + 1))}

    common, union = runs(a) & runs(b), runs(a) | runs(b)
    measures = made.compare(left, right)
    assert measures.resemblance == len(common) / len(union)
    assert measures.containment == (len(common) / len(runs(a)), len(common) / len(runs(b)))


@pytest.mark.covers("M1", "M2")
@given(SETS, SETS, THRESHOLDS, st.sampled_from([0.0, 0.3, 0.5, 1.0]))
@example({1, 2, 3, 4, 5, 6, 7, 8, 9, 10}, {1, 2, 3}, 0.3, 0.0)
def test_similar_sets_share_a_key(a: set[int], b: set[int], threshold: float, containment: float) -> None:
    for made in (
        method("shingles", threshold=threshold, containment=containment),
        method("multiples", threshold=threshold, containment=containment, modulus=2, min_sample=1),
    ):
        left, right = sets_of(made, [a, b])
        if left is None or right is None:
            continue
        if made.compare(left, right).similar:
            assert set(made.keys(left).tolist()) & set(made.keys(right).tolist())


@pytest.mark.covers("M3")
@given(SETS, SETS, THRESHOLDS, st.integers(1, 40))
def test_smallest_by_its_definition(a: set[int], b: set[int], threshold: float, count: int) -> None:
    made = method("smallest", threshold=threshold, count=count)
    left, right = sets_of(made, [a, b])
    spread = splitmix64(3, 64).tolist()
    whole_a, whole_b = {spread[v] for v in a}, {spread[v] for v in b}
    union = sorted(whole_a | whole_b)[:count]  # of the whole texts, not of their samples
    expected = sum(v in whole_a and v in whole_b for v in union) / len(union)
    measures = made.compare(left, right)
    assert measures.resemblance == expected
    if count >= len(a | b):
        assert measures.resemblance == len(a & b) / len(a | b)
    if measures.similar:
        assert set(made.keys(left).tolist()) & set(made.keys(right).tolist())


@given(st.integers(1, 200), st.floats(0.001, 1.0))
def test_prefixes_are_never_empty_and_never_too_long(size: int, threshold: float) -> None:
    found = prefix(np.arange(size, dtype=np.uint64), threshold)
    assert 1 <= len(found) <= size


@pytest.mark.covers("M4")
@given(SETS, SETS)
def test_minhash_and_its_bands(a: set[int], b: set[int]) -> None:
    made = method("minhash", functions=30, bands=10)
    left, right = sets_of(made, [a, b])
    measures = made.compare(left, right)
    assert made.compare(right, left) == measures
    if a == b:
        assert measures.resemblance == 1.0
    if not a & b:
        assert measures.resemblance == 0.0
    shared = len(set(made.keys(left).tolist()) & set(made.keys(right).tolist()))
    assert shared * 3 <= round(measures.resemblance * 30)  # a shared band has three equal positions


@given(st.integers(1, 300), st.floats(0.01, 1.0), st.floats(0.01, 0.999))
def test_bands_fit(functions: int, threshold: float, recall: float) -> None:
    bands, rows = choose_bands(functions, threshold, recall)
    assert bands >= 1
    assert rows >= 1
    assert bands * rows <= functions


@pytest.mark.covers("M5")
@given(SETS, SETS, st.integers(1, 6), st.integers(1, 4), st.data())
def test_megashingles_are_supershingles(
    a: set[int], b: set[int], groups: int, group_size: int, data: st.DataObject
) -> None:
    required = data.draw(st.integers(1, groups))
    settings = {"groups": groups, "group_size": group_size, "required": required}
    supers, megas = method("supershingles", **settings), method("megashingles", **settings)
    one, two = supers.compare(*sets_of(supers, [a, b])), megas.compare(*sets_of(megas, [a, b]))
    assert one.similar == two.similar
    left, right = (set(supers.keys(s).tolist()) for s in sets_of(supers, [a, b]))
    assert bool(left & right) == one.similar


@pytest.mark.covers("M5")
@given(st.floats(0, 1), st.floats(0, 1), st.integers(1, 12), st.integers(1, 20), st.data())
def test_the_chance_grows_with_the_resemblance(
    p: float, q: float, groups: int, group_size: int, data: st.DataObject
) -> None:
    required = data.draw(st.integers(1, groups))
    low, high = (agreement_probability(x, groups, group_size, required) for x in sorted((p, q)))
    assert 0.0 <= low <= high + 1e-12 <= 1.0 + 1e-12


@pytest.mark.covers("M6")
@given(
    st.integers(0, 2**64 - 1),
    st.sets(st.integers(0, 63), max_size=12),
    st.sampled_from([32, 64]),
    st.integers(0, 10),
)
def test_near_simhashes_share_a_block(value: int, flips: set[int], bits: int, max_distance: int) -> None:
    made = method("simhash", bits=bits, max_distance=max_distance)
    value %= 1 << bits
    other = value
    for bit in flips:
        other ^= 1 << (bit % bits)
    a, b = (Signature(made.recipe, np.array([v], np.uint64), 1) for v in (value, other))
    measures = made.compare(a, b)
    assert measures.similar == ((value ^ other).bit_count() <= max_distance)
    if measures.similar:
        assert set(made.keys(a).tolist()) & set(made.keys(b).tolist())


@pytest.mark.covers("M7")
@given(
    st.permutations(
        ["Маяк стоит на северном мысе у пролива.", "Башню сложили из серого гранита.", "Свет видели все."]
    )
)
def test_sentences_in_any_order(sentences: list[str]) -> None:
    made = method("longsent")
    expected = made.sign("Башню сложили из серого гранита. Маяк стоит на северном мысе у пролива.")
    found = made.sign(" ".join(sentences))
    assert expected is not None
    assert found is not None
    assert found.values.tolist() == expected.values.tolist()


@pytest.mark.covers("M8", "M9", "M10", "M12", "M13")
@given(st.lists(WORDS, min_size=1, max_size=6), st.randoms(use_true_random=False))
def test_lexical_methods_do_not_mind_the_order_of_words(documents: list[list[str]], chance: Any) -> None:
    texts = [" ".join(words) for words in documents]
    shuffled = [" ".join(chance.sample(words, len(words))) for words in documents]
    for name, settings in (
        ("tf", {"words": 3}),
        ("tfidf", {"words": 3}),
        ("tfridf", {"words": 3}),
        ("imatch", {"min_words": 2}),
        ("pivot", {"min_pivots": 1}),
    ):
        made = method(name, gather_statistics(name, texts), **settings)
        for a, b in zip(made.sign_texts(texts), made.sign_texts(shuffled), strict=True):
            assert (a is None) == (b is None)
            if a is not None and b is not None:
                assert a.values.tolist() == b.values.tolist()
                assert made.compare(a, b).resemblance == 1.0


@pytest.mark.covers("M8", "M9", "M10", "M12", "M13")
@given(st.lists(FEW_WORDS, min_size=2, max_size=5))
def test_similar_texts_of_lexical_methods_share_a_key(documents: list[list[str]]) -> None:
    texts = [" ".join(words) for words in documents]
    for name in ("tf", "tfidf", "tfridf", "imatch", "pivot"):
        settings = {"imatch": {"min_words": 1}, "pivot": {"min_pivots": 1}}.get(name, {"words": 2})
        made = method(name, gather_statistics(name, texts), **settings)
        signatures = [s for s in made.sign_texts(texts) if s is not None]
        for a in signatures:
            for b in signatures:
                measures = made.compare(a, b)
                assert measures == made.compare(b, a)
                assert 0.0 <= measures.resemblance <= 1.0
                shared = set(made.keys(a).tolist()) & set(made.keys(b).tolist())
                assert measures.similar == bool(shared)


def from_scratch(documents: list[list[str]]) -> dict[str, tuple[int, int]]:
    df = Counter(word for words in documents for word in set(words))
    cf = Counter(word for words in documents for word in words)
    return {word: (df[word], cf[word]) for word in sorted(df)}


@pytest.mark.covers("M11")
@given(st.lists(WORDS, max_size=8), st.data())
def test_statistics_are_what_counting_again_gives(documents: list[list[str]], data: st.DataObject) -> None:
    found = CollectionStatistics(Canon())
    present: list[list[str]] = []
    waiting = list(documents)
    while waiting or present:
        if waiting and (not present or data.draw(st.booleans())):
            words = waiting.pop()
            present.append(words)
            if data.draw(st.booleans()):
                found.add(words)
            else:
                found.add_texts([". ".join(words)])
        else:
            found.remove(present.pop(data.draw(st.integers(0, len(present) - 1))))
        assert found.counts() == from_scratch(present)
        assert found.documents == sum(bool(words) for words in present)
        assert found.words == sum(len(words) for words in present)
        if not waiting and data.draw(st.booleans()):
            break
    again = CollectionStatistics(Canon())
    for words in reversed(present):
        again.add(words)
    assert again.fingerprint() == found.fingerprint()
    assert CollectionStatistics.from_bytes(found.to_bytes()) == found


@pytest.mark.covers("M11")
@given(st.lists(WORDS, max_size=5), st.lists(WORDS, max_size=5))
def test_merging_is_adding(a: list[list[str]], b: list[list[str]]) -> None:
    one, two, both = (CollectionStatistics(Canon()) for _ in range(3))
    one.add_texts([". ".join(words) for words in a])
    two.add_texts([". ".join(words) for words in b])
    both.add_texts([". ".join(words) for words in [*b, *a]])
    one.merge(two)
    assert one == both


@pytest.mark.covers("M11")
@given(st.lists(FEW_WORDS, max_size=4), FEW_WORDS)
def test_a_refused_removal_changes_nothing(documents: list[list[str]], never: list[str]) -> None:
    found = CollectionStatistics(Canon())
    for words in documents:
        found.add(words)
    before = found.to_bytes()
    try:
        found.remove(never)
    except InvalidParameter:
        assert found.to_bytes() == before
        assert sorted(never) not in [sorted(words) for words in documents]
    else:
        counts = found.counts()
        assert all(1 <= df <= min(cf, found.documents) for df, cf in counts.values())


@pytest.mark.covers("M10")
@given(st.integers(1, 50), st.integers(0, 50), st.integers(1, 500), st.integers(0, 1000), st.integers(0, 500))
def test_weights_by_the_formula(tf: int, more: int, df: int, repeats: int, others: int) -> None:
    import math

    documents, cf, tf_max = df + others, df + repeats, tf + more
    assume(cf / documents < 30)  # beyond, 1 − exp(−cf/N) is 1 in floating point
    weight = tfridf_weights(
        np.array([float(tf)]), np.array([float(tf_max)]), np.array([df]), np.array([cf]), documents
    )
    expected = (0.5 + 0.5 * tf / tf_max) * (
        -math.log(df / documents) + math.log(1 - math.exp(-cf / documents))
    )
    assert abs(float(weight[0]) - expected) < 1e-9


@given(
    st.lists(st.integers(0, 2**64 - 1), max_size=20),
    st.integers(0, 2**40),
    st.dictionaries(
        st.text(max_size=8), st.one_of(st.integers(), st.booleans(), st.text(max_size=8)), max_size=4
    ),
)
def test_signatures_survive_being_stored(values: list[int], size: int, parameters: dict[str, Any]) -> None:
    recipe = method("shingles").recipe
    assume(
        all(
            c < "\ud800" or c > "\udfff"
            for text in [*parameters, *map(str, parameters.values())]
            for c in text
        )
    )
    own = type(recipe)("own", tuple(sorted(parameters.items())), 1, 1, "")
    back = from_bytes(to_bytes(Signature(own, np.array(values, np.uint64), size)))
    assert back.recipe == own
    assert back.values.tolist() == values
    assert back.size == size


@given(st.lists(st.tuples(st.sampled_from("abcdef"), SETS | st.none()), max_size=25), SETS)
def test_the_index_is_a_dictionary_of_sets(
    changes: list[tuple[str, set[int] | None]], asked: set[int]
) -> None:
    made = method("shingles", containment=1.0)  # all values are keys
    index = MemoryIndex(made)
    plain: dict[str, set[int]] = {}
    question = sets_of(made, [asked])[0]
    for id, values in changes:
        if values is None:
            assert index.remove(id) == (plain.pop(id, None) is not None)
        else:
            index.replace(id, sets_of(made, [values])[0])
            plain[id] = values
        expected = sorted((-len(asked & own), id) for id, own in plain.items() if asked & own)
        assert [(-c.hits, c.id) for c in index.candidates(question)] == expected
        assert [(-c.hits, c.id) for c in index.candidates(question, limit=1)] == expected[:1]
