"""Who took from whom in a class: copying, common sources and common wording are told apart."""

from __future__ import annotations

import random
from collections import Counter

import pytest

from doublet.matches import among as module
from doublet.matches.align import AlignOptions
from doublet.matches.among import among, same_work
from doublet.matches.explain import explain, lay_beside
from doublet.model import Document, SourceMatch
from doublet.text.tokens import read_words

TASK = "Write about a town that you know well, name three sources, and say in your own words why you chose them. "
BOOK = (
    "The tower was not built for the view: the pump worked unevenly, by day there was too little water and by night "
    "too much, and the tank above the roofs evened out the difference until the town learned to sleep at night. "
)


def own(seed: int, words: int = 150) -> str:
    return " ".join(f"w{seed}x{place} t{seed}y{place * 7 % 31}" for place in range(words // 2)) + ". "


def taken(text: str, *sources: Document) -> tuple[SourceMatch, ...]:
    words = read_words([text])
    beside = lay_beside(words, sources, AlignOptions(), shingle_words=4)
    return explain(text, words, beside).sources


@pytest.mark.covers("K8")
def test_it_works():
    found = among([Document("a", own(1)), Document("b", own(2) + own(1)), Document("c", own(3))])
    assert {(one.a, one.b) for one in found.pairs} == {("a", "b"), ("b", "a")}
    first = found.pairs[0]
    assert (first.a, first.share, first.direction) == ("a", 1.0, "contained")
    assert found.clusters == (("a", "b"),)
    assert found.shares["c"] == 0


def test_a_reworded_work_is_found_by_its_telling_stems():
    """Each sentence of the copy has its words the other way round: no two words in a row are the same."""
    rng = random.Random(11)
    words = [f"{rng.choice(('ban', 'kol', 'mer', 'tis'))}{rng.choice('aeiou')}{i}" for i in range(700)]

    def text(names: list[str], step: int) -> str:
        sentences = [names[i : i + 12][::step] for i in range(0, len(names), 12)]
        return " ".join(" ".join(one).capitalize() + "." for one in sentences)

    works = [Document("first", text(words[:240], 1)), Document("second", text(words[:240], -1))]
    works += [Document(f"other{i}", text(words[240 + 40 * i : 400 + 40 * i], 1)) for i in range(5)]
    found = among(works, same=lambda a, b: {a, b} <= {f"other{i}" for i in range(5)})
    assert {(one.a, one.b) for one in found.pairs} == {("first", "second"), ("second", "first")}
    assert min(found.shares["first"], found.shares["second"]) > 0.8


def test_nothing_in_common():
    found = among([Document("a", own(1)), Document("b", own(2))])
    assert found.pairs == () and found.clusters == () and found.shares == {"a": 0.0, "b": 0.0}


def test_empty_works_and_no_works():
    assert among([]).pairs == ()
    assert among([Document("a", ""), Document("b", "")]).shares == {"a": 0.0, "b": 0.0}


def test_versions_of_one_work_are_not_compared():
    works = [Document("petrov.docx", own(1)), Document("Petrov_v2.docx", own(1)), Document("x.txt", own(2))]
    assert among(works).pairs == ()


@pytest.mark.parametrize(
    ("a", "b", "same"),
    [
        ("ivanov.docx", "Ivanov_v2.pdf", True),
        ("отчёт.docx", "отчет (1).docx", True),
        ("sub/ivanov final.docx", "ivanov.docx", True),
        ("work 1.docx", "work 2.docx", False),
        ("student12.txt", "student1.txt", False),
        ("v2.docx", "v3.docx", False),
    ],
)
def test_what_counts_as_a_version(a, b, same):
    assert same_work(a, b) is same


def test_the_task_that_everybody_repeats_is_not_copying():
    works = [Document(name, TASK + own(seed)) for seed, name in enumerate("abcdef")]
    found = among(works)
    assert found.pairs == ()
    assert min(found.common_words.values()) >= 18


def test_three_friends_in_a_large_class_are_copying():
    works = [
        Document(name, own(seed) + (BOOK if name in "abc" else "")) for seed, name in enumerate("abcdefghij")
    ]
    assert {one.a for one in among(works).pairs} == {"a", "b", "c"}


def test_a_common_source_is_not_copying():
    book = Document("book", BOOK + own(99))
    works = [Document("a", own(1) + BOOK), Document("b", BOOK + own(2)), Document("c", own(3))]
    assert {one.a for one in among(works).pairs} == {"a", "b"}
    sources = {work.id: taken(work.text, book) for work in works}
    found = among(works, sources=sources)
    assert found.pairs == ()
    assert [(one.id, one.works) for one in found.common] == [("book", ("a", "b"))]


def test_what_is_beyond_the_common_source_counts():
    book = Document("book", BOOK)
    works = [Document("a", own(1) + BOOK + own(7)), Document("b", BOOK + own(7))]
    sources = {work.id: taken(work.text, book) for work in works}
    found = among(works, sources=sources)
    assert {one.a for one in found.pairs} == {"a", "b"}
    assert all(one.common_share > 0 for one in found.pairs)


def test_times_tell_the_direction():
    works = [
        Document("a", own(1) + own(2), time="2026-02-01"),
        Document("b", own(3) + own(1), time="2026-01-01"),
    ]
    found = {one.a: one.direction for one in among(works).pairs}
    assert found == {"a": "earlier", "b": "later"}


@pytest.mark.parametrize(
    ("a", "b", "told"),
    [
        ("2024-06-01T01:00:00+03:00", "2024-05-31T23:00:00Z", ("later", "earlier")),
        ("2024-06-01T03:00:00+03:00", "2024-06-01T00:00:00Z", ("unknown", "unknown")),
        ("11.06.2024", "02.07.2024", ("later", "earlier")),
        ("9", "10", ("later", "earlier")),
        ("2024", "2023-12-31", ("earlier", "later")),
        ("draft", "2024-05-31", ("unknown", "unknown")),
        ("", "2024-05-31", ("unknown", "unknown")),
    ],
)
def test_times_are_compared_as_moments(a, b, told):
    found = among([Document("a", own(1), time=a), Document("b", own(1), time=b)])
    assert [one.direction for one in found.pairs] == list(told)


def test_a_class_with_a_form_asks_about_every_two_works_once():
    works = [Document(f"w{seed:02}", TASK + own(seed, 40)) for seed in range(30)]
    asked = Counter()

    def same(a: str, b: str) -> bool:
        asked[frozenset((a, b))] += 1
        return False

    assert among(works, same=same).pairs == ()
    assert len(asked) == 30 * 29 / 2 and set(asked.values()) == {1}


def test_bare_names_are_read_once(monkeypatch):
    read = Counter()
    bare = module.bare_name

    def counting(name: str) -> str:
        read[name] += 1
        return bare(name)

    monkeypatch.setattr(module, "bare_name", counting)
    assert among([Document(f"w{seed:02}", TASK + own(seed, 40)) for seed in range(30)]).pairs == ()
    assert len(read) == 30 and set(read.values()) == {1}


def test_versions_of_one_work_count_once_for_common_wording():
    """Five versions of one work do not make its words common."""
    works = [Document(f"anna_v{n}", own(n) + BOOK) for n in range(5)] + [Document("boris", own(9) + BOOK)]
    assert {(one.a, one.b) for one in among(works).pairs} >= {("boris", "anna_v0"), ("anna_v0", "boris")}


def test_a_work_of_nobody_does_not_make_one_family_of_a_class():
    """It may be a version of each of the others, which are not versions of each other."""
    works = [Document(name, TASK + own(seed)) for seed, name in enumerate(("?", *"abcdef"))]
    found = among(works, same=lambda a, b: "?" in (a, b))
    assert found.pairs == ()
    assert min(words for name, words in found.common_words.items() if name != "?") >= 18


def test_the_order_of_works_changes_nothing():
    works = [Document(name, own(seed) + own(seed + 1)) for seed, name in enumerate("abcd")]
    assert among(works).to_dict()["pairs"] == among(works[::-1]).to_dict()["pairs"]
