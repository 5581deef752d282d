"""Essays put together from texts of several authors, in which it is known what was borrowed, how it was reworded, and
what is the author's own: the material of two questions of benchmarks/unseen.py.

An essay takes sentences from three sources, runs of one to four of them, and has own sentences in between: those of
another document about the same things (the most alike of another family). Borrowed sentences are as they were, or
reworded by rules:

- *light*: some words replaced by synonyms, a word dropped;
- *heavy*: 40 % of the content words replaced (by synonyms, or by other words where there is none), some in another
  form or derived (решить → решение), clauses in another order, words dropped and added;
- *heaviest*: the same with 70 %, small words changed as well, and sentences joined.

`make_retold` makes the simplest case of all: sentences in a row of one document, with short own ones in between (the
first clauses of sentences of other documents, three to eight words).

Everything follows from the seed. Sentences are of natural prose: lines of six words and more that end as sentences do.
"""

from __future__ import annotations

import json
import lzma
import math
import random
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from doublet.evaluation.words import WORD, Language, language_of, make_language
from doublet.model import Span
from doublet.text.read import read_document
from doublet.text.sentences import sentences
from doublet.text.stopwords import stop_words

LEVELS = ("verbatim", "light", "heavy", "heaviest")
#: shares of content words that are replaced, changed in form, dropped and added
RULES = {
    "light": (0.15, 0.05, 0.05, 0.0),
    "heavy": (0.40, 0.15, 0.10, 0.10),
    "heaviest": (0.70, 0.15, 0.20, 0.20),
}
SMALL = 0.3  #: share of small words that become others in the heaviest rewording
SMALL_WORDS = {
    "ru": "и в на с по к за из от для о у же как при".split(),
    "en": "the of and to in a for on with by as at from".split(),
}
OWN_WORDS = (6, 25)
SHORT_WORDS = (3, 8)
RETOLD = 8  #: sentences of a document in a row …
BETWEEN = 0.6  #: … and the chance that an own one follows each of them
SOURCES = 3
MOST = 900  #: English documents that are used


@dataclass(frozen=True)
class Prose:
    """A document of which only the sentences of prose are kept, as one text."""

    language: str
    family: str
    text: str
    places: tuple[Span, ...]
    stems: frozenset[str]

    def sentence(self, number: int) -> str:
        return self.text[self.places[number].start : self.places[number].end]


@dataclass(frozen=True)
class Borrowed:
    """A sentence of an essay that came from a source: which one, from where, and how it was reworded."""

    span: Span
    source: int
    originals: tuple[Span, ...]
    level: str


@dataclass
class Essay:
    text: str = ""
    sources: list[Prose] = field(default_factory=list)
    borrowed: list[Borrowed] = field(default_factory=list)
    own: list[Span] = field(default_factory=list)


def prose(language: str, family: str, text: str) -> Prose | None:
    kept = []
    for line in text.splitlines():
        for span in sentences(line):
            one = line[span.start : span.end].strip()
            if len(one.split()) >= OWN_WORDS[0] and one[-1:] in ".!?…" and not re.search(r"[{}<>=;|]", one):
                kept.append(one)
    kept = list(dict.fromkeys(kept))
    if len(kept) < 12:
        return None
    places, whole = [], ""
    for one in kept:
        whole += " " if whole else ""
        places.append(Span(len(whole), len(whole) + len(one)))
        whole += one
    return Prose(language, family, whole, tuple(places), frozenset(_stems(whole)))


def _stems(text: str) -> Iterator[str]:
    for match in WORD.finditer(text.lower()):
        if len(match[0]) > 3 and match[0] not in stop_words():
            yield match[0][:5]


def read_pools(data: Path) -> list[Prose]:
    """Prose in both languages. Families: a page of MDN, a chapter of a manual, a pair of news, a source of PAN."""

    def rows(path: str) -> Iterator[dict[str, Any]]:
        with lzma.open(data / path, "rt", encoding="utf-8") as stream:
            yield from map(json.loads, stream)

    ru = [
        prose("ru", "/".join(row["page"].split("/")[:4]), row["text"])
        for row in rows("mdn-ru-revisions/docs.jsonl.xz")
        if row["version"] != "old"
    ]
    for row in rows("site-dump-ru/pages.jsonl.xz"):
        read = read_document(row["html"].encode(), name="page.html")
        ru.append(prose("ru", f"{row['site']}/{row['path'][:4]}", read.text))
    for number, row in enumerate(rows("tg-news-pairs/pairs.jsonl.xz")):
        if row["lang"] == "ru":
            ru += [prose("ru", f"news {number}", row[side]["text"]) for side in ("first", "second")]
    en = [
        prose("en", row["id"], row["text"])
        for row in rows("pan13-text-alignment-train/docs.jsonl.xz")
        if row["id"].startswith("source")
    ]
    found = [*(one for one in ru if one), *[one for one in en if one][:MOST]]
    return list({one.text: one for one in found}.values())


def make_essays(
    pool: Sequence[Prose],
    name: str,
    levels: Sequence[str],
    count: int,
    seed: str,
    thesaurus: Path | None = None,
) -> list[Essay]:
    """*count* essays in the language *name*; each borrowed sentence has one of the *levels*."""
    language = make_language(name, (one.text for one in pool), thesaurus=thesaurus)
    spread = Counter(stem for one in pool for stem in one.stems)
    rarity = {stem: math.log(len(pool) / times) for stem, times in spread.items()}
    return [
        _make(pool, language, rarity, levels, random.Random(f"{seed}{name}{number}{','.join(levels)}"))
        for number in range(count)
    ]


def make_retold(pool: Sequence[Prose], name: str, level: str, seed: str) -> list[Essay]:
    """Of each document in the language *name* sentences in a row, with short own ones in between."""
    pool = [one for one in pool if one.language == name]
    language = make_language(name, (one.text for one in pool))
    clauses = {
        clause: one.family
        for one in pool
        for number in range(len(one.places))
        if (clause := re.split(r"[,;:.!?—]", one.sentence(number))[0].strip())
        and SHORT_WORDS[0] <= len(clause.split()) <= SHORT_WORDS[1]
    }
    short = sorted(clauses)
    return [
        _retold(one, level, language, short, clauses, random.Random(f"{seed}{number}"))
        for number, one in enumerate(pool)
    ]


def _retold(
    source: Prose,
    level: str,
    language: Language,
    short: Sequence[str],
    families: dict[str, str],
    rng: random.Random,
) -> Essay:
    essay = Essay(sources=[source])

    def put(sentence: str) -> Span:
        essay.text += " " if essay.text else ""
        start = len(essay.text)
        essay.text += sentence
        return Span(start, len(essay.text))

    first = rng.randrange(len(source.places) - RETOLD + 1)
    for number in range(first, first + RETOLD):
        span = put(reword(source.sentence(number), level, language, rng))
        essay.borrowed.append(Borrowed(span, 0, (source.places[number],), level))
        clause = rng.choice(short)
        if number < first + RETOLD - 1 and rng.random() < BETWEEN and families[clause] != source.family:
            essay.own.append(put(f"{clause}."))
    return essay


def _alike(one: Prose, pool: Sequence[Prose], rarity: dict[str, float]) -> list[Prose]:
    """Documents of other families, the most alike first. Copies are left out."""

    def score(other: Prose) -> float:
        both = sum(rarity[stem] for stem in one.stems & other.stems)
        return both / math.sqrt(len(one.stems) * len(other.stems))

    mine = {one.sentence(i) for i in range(len(one.places))}
    others = [
        other
        for other in pool
        if other.family != one.family
        and sum(other.sentence(i) in mine for i in range(len(other.places))) == 0
    ]
    return sorted(others, key=lambda other: (-score(other), other.text))


def _make(
    pool: Sequence[Prose],
    language: Language,
    rarity: dict[str, float],
    levels: Sequence[str],
    rng: random.Random,
) -> Essay:
    first = rng.choice(pool)
    near = _alike(first, pool, rarity)
    essay = Essay(sources=[first, *rng.sample(near[:12], SOURCES - 1)])
    taken = {source.family for source in essay.sources}
    own = [
        sentence
        for other in near[:15]
        if other.family not in taken
        for sentence in (other.sentence(i) for i in range(len(other.places)))
        if OWN_WORDS[0] <= len(sentence.split()) <= OWN_WORDS[1]
    ]
    theirs = {source.sentence(i) for source in essay.sources for i in range(len(source.places))}
    own = [one for one in dict.fromkeys(own) if one not in theirs and language_of(one) == language.name]
    rng.shuffle(own)
    used: set[tuple[int, int]] = set()
    own_share = rng.choice([0.15, 0.3, 0.5])

    def put(sentence: str) -> Span:
        essay.text += (" " if rng.random() < 0.85 else "\n\n") if essay.text else ""
        start = len(essay.text)
        essay.text += sentence
        return Span(start, len(essay.text))

    for _ in range(rng.randint(10, 18)):
        number = rng.randrange(SOURCES)
        source = essay.sources[number]
        length = rng.randint(1, 2 if "heaviest" in levels else 4)
        at = rng.randrange(max(1, len(source.places) - length))
        run = [i for i in range(at, min(at + length, len(source.places))) if (number, i) not in used]
        used |= {(number, i) for i in run}
        while run:
            level = rng.choice(list(levels))
            joined = 2 if level == "heaviest" and len(run) > 1 and rng.random() < 0.25 else 1
            some, run = run[:joined], run[joined:]
            text = " и ".join(reword(source.sentence(i), level, language, rng) for i in some)
            originals = tuple(source.places[i] for i in some)
            essay.borrowed.append(Borrowed(put(text), number, originals, level))
            if own and rng.random() < own_share:
                essay.own.append(put(own.pop()))
        if own and rng.random() < 0.5:
            essay.own.append(put(own.pop()))
    return essay


def reword(sentence: str, level: str, language: Language, rng: random.Random) -> str:
    if level == "verbatim":
        return sentence
    replaced, changed, dropped, added = RULES[level]
    if level != "light":
        sentence = _reorder(sentence, rng)
    out: list[str] = []
    end = 0
    for match in WORD.finditer(sentence):
        out.append(sentence[end : match.start()])
        end = match.end()
        word = match[0]
        if not language.is_content(word):
            small = level == "heaviest" and word.islower() and rng.random() < SMALL
            out.append(rng.choice(SMALL_WORDS[language.name]) if small else word)
            continue
        if rng.random() < dropped:
            continue
        out.append(_other(word, replaced, changed, level, language, rng))
        if rng.random() < added:
            out.append(" " + language.any_word(rng))
    text = re.sub(r"\s+", " ", "".join(out)).strip() + sentence[end:].strip()
    return text[:1].upper() + text[1:]


def _other(
    word: str, replaced: float, changed: float, level: str, language: Language, rng: random.Random
) -> str:
    dice = rng.random()
    if dice < replaced:
        found = language.synonym(word, rng)
        if found is None and level != "light":
            found = derived(word, language) if rng.random() < 0.3 else None
            found = found or language.stranger(word, rng)
        return found or word
    if dice < replaced + changed:
        return language.forms.other_number_or_tense(word.lower()) or derived(word, language) or word
    return word


def derived(word: str, language: Language) -> str | None:
    """A verb for a noun of action, or the noun for the verb, where the collection has such a word."""
    lemma = language.forms.lemma(word.lower())
    known = _known(language)
    for ends, others in DERIVED.get(language.name, ()):
        for end in ends:
            if lemma.endswith(end):
                for other in others:
                    if lemma[: -len(end)] + other in known:
                        return lemma[: -len(end)] + other
    return None


DERIVED = {
    "ru": (
        (("ать",), ("ание", "ация", "")),
        (("ять",), ("яние", "ение")),
        (("ить", "еть"), ("ение", "ание", "ка")),
        (("ание", "ация"), ("ать", "ировать")),
        (("ение",), ("ить", "еть")),
        (("ость",), ("ый", "ной")),
        (("ный",), ("ность", "но")),
    ),
    "en": (
        (("ation",), ("ate", "e", "")),
        (("ate",), ("ation",)),
        (("e",), ("ation", "ion", "er")),
        (("ment",), ("",)),
        (("ly",), ("",)),
        (("ness",), ("",)),
    ),
}
_LEMMAS: dict[int, set[str]] = {}


def _known(language: Language) -> set[str]:
    if id(language) not in _LEMMAS:
        _LEMMAS[id(language)] = {
            language.forms.lemma(word) for words in language.bank.values() for word in words
        }
    return _LEMMAS[id(language)]


def _reorder(sentence: str, rng: random.Random) -> str:
    """Clauses in another order; a sentence of one clause turns about its middle."""
    body, end = sentence.rstrip(".!?… "), sentence[len(sentence.rstrip(".!?… ")) :] or "."
    clauses = [one.strip() for one in re.split(r"[,;:—]\s|\s[—–-]\s", body) if one.strip()]
    if len(clauses) > 1:
        rng.shuffle(clauses)
        return ", ".join(clauses) + end
    words = body.split()
    at = rng.randint(1, max(1, len(words) - 1))
    return " ".join(words[at:] + words[:at]) + end
