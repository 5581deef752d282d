"""Making a method by its name: names, parameters, statistics, methods of other packages."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import pytest

from doublet.errors import ConfigError, InvalidParameter, UnknownMethod
from doublet.signatures import METHODS, CollectionStatistics, gather_statistics, method, method_names, methods
from doublet.signatures.parameters import WordParameters
from doublet.signatures.shingles import Shingles


def test_it_works() -> None:
    made = method("shingles", shingle_words=3)
    assert made.name == "shingles"
    assert made.parameters.shingle_words == 3
    assert made.parameters.threshold == 0.5


def test_the_order_of_methods_is_fixed() -> None:
    assert list(METHODS) == [
        *("shingles", "multiples", "smallest", "minhash", "supershingles", "megashingles", "simhash"),
        *("longsent", "tf", "tfidf", "tfridf", "imatch", "pivot", "meaning", "auto"),
    ]


def test_the_defaults_of_the_sources() -> None:
    """A changed default changes what users get: say so in the changelog."""
    defaults = {info.name: {p.name: p.default for p in info.parameters} for info in methods(others=False)}
    assert defaults["shingles"]["shingle_words"] == 4
    assert defaults["shingles"]["threshold"] == 0.5
    assert defaults["multiples"]["modulus"] == 25
    assert defaults["smallest"]["count"] == 160
    assert defaults["minhash"]["functions"] == 128
    for name in ("supershingles", "megashingles"):
        assert defaults[name]["shingle_words"] == 5
        assert (defaults[name]["groups"], defaults[name]["group_size"], defaults[name]["required"]) == (
            6,
            14,
            2,
        )
    assert defaults["simhash"]["bits"] == 64
    assert defaults["longsent"]["sentences"] == 2
    for name in ("tf", "tfidf", "tfridf"):
        assert defaults[name]["words"] == 6
    assert (defaults["tfidf"]["weighting"], defaults["tfidf"]["k1"], defaults["tfidf"]["b"]) == (
        "tfidf",
        2.0,
        0.75,
    )
    imatch = defaults["imatch"]
    assert (imatch["idf_width"], imatch["lexicons"], imatch["left_out"]) == (0.8, 10, 0.33)
    assert defaults["pivot"]["pivots"] == 3000
    for name in ("tf", "tfidf", "tfridf", "imatch", "pivot"):
        assert (defaults[name]["stop_words"], defaults[name]["min_letters"], defaults[name]["reduce"]) == (
            True,
            3,
            "stem",
        )
    for name in ("shingles", "multiples", "smallest", "minhash", "supershingles", "megashingles", "longsent"):
        assert (defaults[name]["stop_words"], defaults[name]["min_letters"], defaults[name]["reduce"]) == (
            False,
            1,
            "none",
        )


def test_unknown_method() -> None:
    with pytest.raises(UnknownMethod, match="did you mean 'tfidf'") as caught:
        method("tf-idf")
    assert list(caught.value.details["known"]) == method_names()


@pytest.mark.parametrize(
    ("name", "given", "message"),
    [
        ("shingles", {"shingle_words": 0}, "shingle_words is 0: it must be a whole number from 1 to 1000"),
        (
            "shingles",
            {"shingle_words": "4"},
            "shingle_words is '4': it must be a whole number from 1 to 1000",
        ),
        ("shingles", {"shingle_words": 4.0}, "whole number"),
        ("shingles", {"shingle_words": True}, "whole number"),
        ("shingles", {"threshold": 0}, "threshold is 0: it must be a number above 0, up to 1"),
        ("shingles", {"threshold": 1.01}, "above 0, up to 1"),
        ("shingles", {"threshold": math.nan}, "above 0, up to 1"),
        ("shingles", {"stop_words": 1}, "true or false"),
        ("shingles", {"extra_stop_words": "слово"}, "a list of words"),
        ("shingles", {"extra_stop_words": [1]}, "a list of words"),
        ("shingles", {"reduce": "stems"}, "reduce is 'stems': it must be one of none, stem, lemma"),
        ("shingles", {"min_letters": 2}, "one of 1, 3"),
        ("simhash", {"bits": 48}, "one of 32, 64"),
        ("simhash", {"bits": 32, "max_distance": 16}, "even unrelated texts differ in about 16"),
        ("minhash", {"functions": 8, "bands": 9}, "more than the 8 functions"),
        ("meaning", {"thesaurus": 5}, "thesaurus is 5: it must be a text"),
        ("minhash", {"seed": -1}, "seed is -1: it must be a whole number from 0 to 9223372036854775807"),
        ("supershingles", {"required": 7}, "more than the 6 groups"),
        ("megashingles", {"groups": 200, "required": 3}, "at most 10000"),
        ("shingles", {"shingle_word": 3}, "has no parameter 'shingle_word', did you mean 'shingle_words'"),
    ],
)
def test_bad_parameters(name: str, given: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidParameter, match=message):
        method(name, **given)


def test_numbers_of_numpy_become_plain() -> None:
    made = method("shingles", shingle_words=np.int64(3), threshold=np.float32(0.5))
    assert type(made.parameters.shingle_words) is int
    assert type(made.parameters.threshold) is float


def test_stop_words_in_any_order_make_the_same_recipe() -> None:
    one = method("shingles", extra_stop_words=["б", "а", "б"])
    two = method("shingles", extra_stop_words=("а", "б"))
    assert one.recipe == two.recipe


def test_what_only_compares_is_no_part_of_the_recipe() -> None:
    """Stored signatures stay good when a user tries another threshold."""
    assert method("shingles", threshold=0.9).recipe == method("shingles").recipe
    assert method("minhash", threshold=0.9, bands=8).recipe == method("minhash").recipe
    assert method("simhash", max_distance=5).recipe == method("simhash").recipe
    assert method("supershingles", required=3).recipe == method("supershingles").recipe
    assert method("megashingles", required=3).recipe != method("megashingles").recipe


def test_what_keys_depend_on_is_told() -> None:
    assert method("shingles", threshold=0.9).key_settings != method("shingles").key_settings
    assert (
        method("shingles", containment=0.9).key_settings
        == method("shingles", containment=0.8, threshold=0.3).key_settings
    )
    assert dict(method("minhash", bands=8).key_settings) == {"bands": 8, "rows": 16}
    assert method("megashingles").key_settings == ()


def test_missing_statistics() -> None:
    with pytest.raises(
        InvalidParameter, match=r"needs its statistics: make them with gather_statistics\('tfidf', texts\)"
    ):
        method("tfidf")


def test_statistics_of_another_kind() -> None:
    with pytest.raises(InvalidParameter, match="CollectionStatistics are others"):
        method("pivot", statistics=CollectionStatistics())


def test_methods_without_statistics_leave_them_alone() -> None:
    assert gather_statistics("shingles", ["текст"]) is None
    assert method("shingles", statistics=CollectionStatistics()).recipe == method("shingles").recipe


def test_how_words_are_made_comes_with_the_statistics() -> None:
    statistics = gather_statistics(
        "tfidf", ["один текст", "другой текст"], reduce="none", extra_stop_words=["текст"]
    )
    made = method("tfidf", statistics=statistics)
    assert made.parameters.reduce == "none"
    assert made.parameters.extra_stop_words == ("текст",)
    with pytest.raises(
        InvalidParameter, match="reduce is 'stem', but these statistics were made with 'none'"
    ):
        method("tfidf", statistics=statistics, reduce="stem")


def test_settings_of_the_choice_come_with_the_pivot_words() -> None:
    words = gather_statistics("pivot", ["текст о маяке", "ещё один текст"], depth=2)
    assert method("pivot", statistics=words).parameters.depth == 2
    with pytest.raises(InvalidParameter, match="depth is 3, but these statistics were made with 2"):
        method("pivot", statistics=words, depth=3)


def test_unknown_parameter_of_the_statistics() -> None:
    with pytest.raises(InvalidParameter, match="did you mean 'reduce'"):
        gather_statistics("tfidf", [], reduc="none")


class Reversed(Shingles):
    """A method as another package would bring it."""

    name = "reversed"


class _Point:
    def __init__(self, name: str, loaded: Any) -> None:
        self.name, self.value, self._loaded = name, "other.package:Class", loaded

    def load(self) -> Any:
        if isinstance(self._loaded, Exception):
            raise self._loaded
        return self._loaded


def _with(monkeypatch: pytest.MonkeyPatch, **points: Any) -> list[str]:
    asked: list[str] = []

    def entry_points(*, group: str) -> list[_Point]:
        asked.append(group)
        return [_Point(name, loaded) for name, loaded in points.items()]

    monkeypatch.setattr("importlib.metadata.entry_points", entry_points)
    return asked


def test_a_method_of_another_package(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = _with(monkeypatch, reversed=Reversed)
    made = method("reversed", shingle_words=2)
    assert made.recipe.method == "reversed"
    assert set(asked) == {"doublet.methods"}
    assert method_names()[-1] == "reversed"
    assert methods()[-1].name == "reversed"


def test_other_packages_are_not_asked_for_our_methods(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = _with(monkeypatch, shingles=RuntimeError("must not be loaded"))
    method("shingles")
    methods(others=False)
    assert asked == []


def test_a_broken_package(monkeypatch: pytest.MonkeyPatch) -> None:
    _with(monkeypatch, broken=ImportError("no module named other"))
    with pytest.raises(ConfigError, match=r"'broken' comes from another package .* no module named other"):
        method("broken")


def test_a_method_need_not_use_our_base(monkeypatch: pytest.MonkeyPatch) -> None:
    class Own:
        name: ClassVar[str] = "own"
        title: ClassVar[str] = "Own"
        summary: ClassVar[str] = "Own."
        minimum: ClassVar[str] = "nothing"
        shows_fragments: ClassVar[bool] = False
        needs_statistics: ClassVar[bool] = False
        parameters_type: ClassVar[type[WordParameters]] = WordParameters

        def __init__(self, parameters: Any, statistics: Any = None) -> None:
            self.parameters = parameters

    _with(monkeypatch, own=Own)
    assert method("own", reduce="stem").parameters.reduce == "stem"
    with pytest.raises(InvalidParameter, match="Its parameters: stop_words"):
        method("own", size=1)


def test_a_parameter_without_a_default_is_a_mistake_of_the_author() -> None:
    @dataclass(frozen=True, kw_only=True)
    class Wrong(WordParameters):
        size: int

    with pytest.raises(TypeError, match="parameter size has no default"):
        Wrong(size=1)
