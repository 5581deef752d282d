"""Every option that shapes an answer is in its parameters: found by looking at the functions themselves."""

from __future__ import annotations

import inspect
import json
import pathlib
from collections.abc import Callable, Iterator
from dataclasses import fields
from typing import Any

import numpy as np
import pytest

import doublet
from doublet.jobs.check_library import check_library
from doublet.jobs.check_many import against_documents, check_many
from doublet.jobs.dedupe.documents import opened
from doublet.jobs.find_pictures import find_pictures
from doublet.jobs.library_duplicates import library_duplicates
from doublet.matches.align import AlignOptions
from doublet.model import LANGUAGES
from doublet.repeats.model import OPTION_NAMES
from doublet.reports.wording import wording
from doublet.signatures import parameters_of

TEXT = "The boats were locked in the ice until March, and nobody in the village minded it much. " * 8
DOCUMENTS = [{"id": "a", "text": TEXT, "source": "s"}, {"id": "b", "text": TEXT + "More.", "source": "t"}]
#: Options that change nothing about the answer: how the work is done, and where it goes.
NO_PART = {
    "build",
    "progress",
    "workers",
    "memory_bytes",
    "spill_folder",
    "groups_out",
    "kept_out",
    "language",
}
#: Options that are told where they were given: by default nobody asks what a field is called.
WHEN_GIVEN = {"id_field": "key", "text_field": "body", "time_field": "when", "source_field": "where"}
#: Options that are input, and stand in the answer elsewhere.
INPUT = {
    "statistics": "recipe",
    "baseline": "groups",
    "decisions": "groups",
    "libraries": "libraries",
    "name": "name",
}
ALIGN = {"seed_words": 5, "max_gap_words": 3, "min_words": 7}


class Model:
    name = "a model"

    def embed(self, sentences: Any) -> Any:
        return np.ones((len(sentences), 3), np.float32)


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    with doublet.open_library(tmp_path_factory.mktemp("library") / "library.db") as library:
        library.add(DOCUMENTS)
        yield library.store


# Of each job: the call, its function, and a value for each option that is not the default.
JOBS: dict[str, tuple[Callable[..., Any], Callable[..., Any], dict[str, Any]]] = {
    "compare": (
        lambda store, **options: doublet.compare(TEXT, TEXT, **options),
        doublet.compare,
        {"method": "shingles", "threshold": 0.7, "embedder": Model(), "alike": 0.6, **ALIGN},
    ),
    "check": (
        lambda store, **options: doublet.check(TEXT, DOCUMENTS, **options),
        doublet.check,
        {
            "shingle_words": 6,
            "min_share": 0.25,
            "leave_out": ["quotations", "own"],
            "own": ["x"],
            "thesaurus": "auto",
            **ALIGN,
        },
    ),
    "check_library": (
        lambda store, **options: check_library(store, TEXT, build=True, **options),
        check_library,
        {
            "method": "minhash",
            "leave_out": ["quotations", "own"],
            "own": ["x"],
            "thesaurus": "auto",
            "min_share": 0.25,
            "candidates": 7,
            **ALIGN,
        },
    ),
    "dedupe": (
        lambda store, **options: doublet.dedupe(DOCUMENTS, **options),
        doublet.dedupe,
        {
            "method": "shingles",
            "threshold": 0.6,
            "containment": 0.8,
            "keep": "best-source",
            "prefer": ["t"],
            "pairs": True,
            "views": ["strict"],
            "candidates": "sketches",
            "reworded": "all",
            "frames": True,
        },
    ),
    "find_repeats": (
        lambda store, **options: doublet.find_repeats(TEXT, **options),
        doublet.find_repeats,
        {"algorithm": "exact", "min_tokens": 9, "exclude": ["x"], "ignore_files": False},
    ),
}
TOGETHER = {
    "keep": {"keep": "best-source", "prefer": ["t"]},
    "prefer": {"keep": "best-source", "prefer": ["t"]},
}
EVERY = [(job, option) for job, (_, _, values) in JOBS.items() for option in values]


def told(answer: Any, option: str) -> Any:
    """What the answer says about an option; the method and the algorithm stand beside the parameters in some."""
    value = answer.to_dict()
    return value["parameters"].get(option, value.get(option, "not told"))


@pytest.mark.parametrize(("job", "option"), EVERY, ids=[f"{job}-{option}" for job, option in EVERY])
def test_an_option_is_told_with_its_value(job: str, option: str, store: Any) -> None:
    call, _, values = JOBS[job]
    answer = call(store, **TOGETHER.get(option, {option: values[option]}))
    expected = "a model" if option == "embedder" else values[option]
    assert told(answer, option) == expected
    assert told(call(store), option) not in (expected, "not told")
    json.dumps(answer.to_dict())


@pytest.mark.parametrize("job", JOBS)
def test_no_option_is_forgotten(job: str, store: Any) -> None:
    """An option that is added to a job has to be added to the table above, and so to the parameters."""
    call, function, values = JOBS[job]
    signature = inspect.signature(function).parameters.values()
    options = {one.name for one in signature if one.kind is one.KEYWORD_ONLY} - NO_PART - INPUT.keys()
    options -= WHEN_GIVEN.keys()
    options -= {"parameters"}  # those of the method: below
    assert options <= values.keys()
    answer = call(store)
    assert {option for option in options if told(answer, option) == "not told"} == set()
    for option, where in INPUT.items():
        if any(one.name == option for one in signature):
            assert where in answer.to_dict()


@pytest.mark.parametrize("option", WHEN_GIVEN)
def test_a_field_is_told_where_it_was_named(option: str, tmp_path: pathlib.Path) -> None:
    usual = {"id_field": "id", "text_field": "text", "time_field": "time", "source_field": "source"}
    name = WHEN_GIVEN[option]
    records = [
        {
            name if field == option else of: value
            for (field, of), value in zip(usual.items(), row, strict=True)
        }
        for row in (("a", TEXT, "2026-01-01", "s"), ("b", TEXT, "2026-01-02", "t"))
    ]
    file = tmp_path / "documents.jsonl"
    file.write_text("".join(json.dumps(one) + "\n" for one in records), encoding="utf-8")
    for documents in (records, file):
        parameters = doublet.dedupe(documents, **{option: name}).parameters
        assert {one: parameters.get(one) for one in usual} == {**dict.fromkeys(usual), option: name}
    with opened(file, **{option: name}) as source:
        (one,) = check_many([("a", TEXT)], against_documents(source))
    assert one.check is not None and one.check.parameters[option] == name
    assert usual.keys().isdisjoint(doublet.dedupe(DOCUMENTS).parameters)


def test_a_table_without_ids_names_no_field() -> None:
    pandas = pytest.importorskip("pandas")
    table = pandas.DataFrame({"text": [TEXT, TEXT]})
    assert "id_field" not in doublet.dedupe(table).parameters


def test_everything_that_the_alignment_knows(store: Any) -> None:
    assert {item.name for item in fields(AlignOptions)} == ALIGN.keys()
    for job in ("compare", "check", "check_library"):
        answer = JOBS[job][0](store, **ALIGN)
        assert {name: told(answer, name) for name in ALIGN} == ALIGN


@pytest.mark.parametrize("method", [info.name for info in doublet.methods(others=False)])
def test_every_parameter_of_every_method(method: str, store: Any) -> None:
    known = parameters_of(method)
    assert known.keys() <= doublet.compare(TEXT, TEXT, method=method).parameters.keys()
    assert known.keys() <= doublet.dedupe(DOCUMENTS, method=method).parameters.keys() | {"containment"}
    if method != "auto":
        assert known.keys() <= check_library(store, TEXT, method=method, build=True).parameters.keys()


def test_parameters_of_a_method_are_those_that_were_used(store: Any) -> None:
    found = check_library(store, TEXT, method="shingles", parameters={"shingle_words": 7}, build=True)
    assert (found.parameters["shingle_words"], found.parameters["method"]) == (7, "shingles")
    with pytest.raises(doublet.InvalidParameter, match="shingle_words"):
        check_library(store, TEXT, parameters={"shingle_words": 7})


def test_every_option_of_repeats() -> None:
    assert set(OPTION_NAMES) <= doublet.find_repeats(TEXT).parameters.keys() | {"algorithm"}


def test_a_model_without_a_name_is_told_by_its_class() -> None:
    class Plain:
        def embed(self, sentences: Any) -> Any:
            return np.ones((len(sentences), 3), np.float32)

    assert str(doublet.compare(TEXT, TEXT, embedder=Plain()).parameters["embedder"]).endswith("Plain")


def test_how_the_documents_of_a_check_were_read(tmp_path: pathlib.Path) -> None:
    (tmp_path / "page.html").write_text(
        f"<nav>menu of the page</nav><main><p>{TEXT}</p></main>", encoding="utf-8"
    )
    for whole in (False, True):
        with opened(DOCUMENTS) as source:
            page = ("page", tmp_path / "page.html")
            (one,) = check_many([page], against_documents(source), whole_page=whole)
        assert one.check is not None
        assert (one.check.parameters["whole_page"], one.check.parameters["ocr"]) == (whole, False)


def test_what_was_asked_of_pictures_of_a_library_and_of_advice(store: Any) -> None:
    assert find_pictures([], distance=7).to_dict()["parameters"] == {"distance": 7}
    for between in (False, True):
        assert library_duplicates(store, between=between).parameters["between"] is between
    pairs = [(TEXT, TEXT, True), (TEXT, f"Something else was said on day {TEXT[::-1]}", False)] * 3
    found = doublet.advise(pairs, methods=["shingles", "tf"], seed=7).to_dict()["parameters"]
    assert (len(found["methods"]), found["seed"]) == (2, 7)


def test_every_parameter_has_a_name_in_every_language(store: Any) -> None:
    """Reports show what was asked for: not as the program spells it."""
    known = {name for call, _, _ in JOBS.values() for name in call(store).parameters}
    known |= {name for info in doublet.methods(others=False) for name in parameters_of(info.name)}
    known |= {"without", "ocr", "whole_page", "between", *WHEN_GIVEN}
    for language in LANGUAGES:
        assert known <= wording(language).tables.NAMES["setting"].keys()


@pytest.mark.parametrize(
    "options",
    [
        {"min_share": "x"},
        {"min_share": float("nan")},
        {"min_share": 2},
        {"candidates": "many"},
        {"candidates": 2.5},
        {"candidates": True},
        {"own": None},
        {"own": [5]},
        {"leave_out": 5},
        {"name": 5},
    ],
    ids=str,
)
def test_an_option_that_cannot_be_used_is_refused_by_its_name(options: dict[str, Any], store: Any) -> None:
    (name,) = options
    with pytest.raises(doublet.InvalidParameter, match=name):
        check_library(store, TEXT, **options)
    if name != "candidates":
        with pytest.raises(doublet.InvalidParameter, match=name):
            doublet.check(TEXT, DOCUMENTS, **options)


def test_other_functions_refuse_what_cannot_be_used() -> None:
    for options in ({"name": None}, {"declared_type": 5}, {"as_kind": 10**30}):
        with pytest.raises(doublet.InvalidParameter, match=next(iter(options))):
            doublet.read_document(b"a text", **options)  # type: ignore[arg-type]
    with pytest.raises(doublet.InvalidParameter, match="exclude"):
        doublet.find_repeats(TEXT, exclude=None)  # type: ignore[arg-type]
    with pytest.raises(doublet.InvalidParameter, match="without"):
        doublet.rescore(doublet.check(TEXT, DOCUMENTS), without=5)  # type: ignore[arg-type]


@pytest.mark.parametrize("name", ["name", "threads", "within", "texts"])
def test_a_name_that_only_the_inside_knows_is_refused_by_its_name(name: str) -> None:
    """Else it would meet an argument of a function further in."""
    texts = [("a", "one two three four"), ("b", "one two three four")]
    with pytest.raises(doublet.InvalidParameter, match=name):
        doublet.dedupe(texts, method="tfidf", **{name: 3})
    with pytest.raises(doublet.InvalidParameter, match=name):
        doublet.compare("one two three four", "one two three", method="tfidf", **{name: 3})
