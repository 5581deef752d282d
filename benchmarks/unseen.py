"""How good answers are on texts that nothing was chosen on.

    python benchmarks/unseen.py                        the parts that settings may be looked at with: tune, choose
    python benchmarks/unseen.py --part tune --cases 40 --others benchmarks/data/en.jsonl
    python benchmarks/unseen.py --part report          at most once a day; write it down in docs/explanation/accuracy.md
                                                       and unseen-runs.md

For every question its set is cut into three parts by a hash of the document's family (benchmarks/unseen.json holds
the seeds; a family of PAN is a checked text with all its pairs, of news all pairs that share a text, of made news a
kind of report, of web pages a host, of the pages of news that Fundus is tested with a publisher, of the prose that
essays are made of a page or a chapter). Settings are found with "tune",
versions are held against each other with "choose", and "report" is what the page of accuracy tells first.
The Russian essays are too few to be cut, and the bars for single sentences were set after reading them: not unseen.

Measured are: the sources of reworded passages in one library of all PAN sources (and of --others, a JSONL file with
texts, as many as there are); all that `compare` counts and the strong passages alone; whether strong passages are the
same with the texts in the other order; own sentences and reworded ones in essays that were made by rules
(benchmarks/made_essays.py), each source by itself and all in one check, and in essays reworded by hand; short own
sentences between those of a text that is retold sentence by sentence; single sentences with two words dropped; the
essays of people; news of one story, labelled and written by hand, and serial
reports made from templates (benchmarks/made_news.py); the main text of web pages; and what `advise` makes of marked
pairs, judged by pairs that were not marked.
"""

from __future__ import annotations

import argparse
import itertools
import json
import lzma
import math
import random
import re
import statistics
import tempfile
import time
import zlib
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import orjson

import doublet
from doublet.evaluation.advisor import MarkedPair, advise
from doublet.evaluation.metrics import Passage, count_pair, passage_score, score
from doublet.evaluation.specs import read_spec
from doublet.evaluation.tasks import score_pairs
from doublet.jobs.check_library import check_library
from doublet.jobs.index_library import index_library
from doublet.matches.story import same_story
from doublet.model import Check, Comparison, Document, Span
from doublet.store.database import Store
from doublet.text.read import read_document
from made_essays import Essay, Prose, make_essays, make_retold, read_pools
from made_news import make_news
from measure import HERE, save, table
from passages import KINDS, SHARED, Pair, covered, essays, overlap, read_pan
from plain import best_threshold, cosines, overlaps

PAN, NEWS, PAGES = "pan13-text-alignment-train", "tg-news-pairs", "cleaneval-final"
REVISIONS = "mdn-ru-revisions"
ESSAYS = 24  #: that are made in each language
OTHERS = 15  #: documents besides the sources of an essay that it is checked with
QUESTIONS = [
    "retrieval",
    "passages",
    "both ways",
    "own sentences",
    "short own sentences",
    "reworded sentences",
    "essays in checks",
    "single sentences",
    "essays",
    "essays by hand",
    "news",
    "pages",
    "advise",
]
SPLIT = json.loads((HERE / "unseen.json").read_text())
SYNONYMS: dict[str, str] = {}  #: the thesaurus that was asked for, if any


def compare(a: str, b: str) -> Comparison:
    return doublet.compare(a, b, **SYNONYMS)  # type: ignore[arg-type]


def part_of(question: str, family: str) -> str:
    parts: list[str] = SPLIT["parts"]
    return parts[zlib.crc32((SPLIT["seeds"][question] + family).encode()) % len(parts)]


def lines(path: Path) -> Iterator[dict[str, Any]]:
    with lzma.open(path, "rt", encoding="utf-8") as stream:
        yield from map(json.loads, stream)


# Sources of reworded passages in a library


def retrieval(
    texts: dict[str, str], pairs: Sequence[Pair], others: Path | None, cases: int, method: str
) -> list[dict[str, Any]]:
    """Of each kind of change: the passage in its work is told at the right place of its source; the passage alone, as
    the text, leads to its source."""
    chosen: list[tuple[Pair, Passage]] = []
    for kind in KINDS:
        own = [(pair, case) for pair in pairs if pair.kind == kind for case in pair.cases]
        chosen += random.Random(kind).sample(own, min(cases, len(own)))

    def documents() -> Iterator[Document]:
        for name, text in texts.items():
            if name.startswith("source"):
                yield Document(name, text)
        if others is not None:
            with others.open("rb") as stream:
                for number, line in enumerate(stream):
                    yield Document(f"other {number}", orjson.loads(line)["text"])

    found, alone, count = Counter[str](), Counter[str](), Counter[str]()
    times: list[float] = []
    answers: dict[str, Check] = {}
    with tempfile.TemporaryDirectory() as folder, Store(str(Path(folder) / "library.db")) as store:
        store.libraries.create("all")
        index_library(store, "all", documents())
        info = store.libraries.get("all")
        file = (Path(folder) / "library.db").stat().st_size
        for pair, case in chosen:
            text = texts[pair.suspicious]
            if pair.suspicious not in answers:
                began = time.process_time()
                answers[pair.suspicious] = check_library(store, text, method=method)
                times.append(time.process_time() - began)
            count[pair.kind] += 1
            found[pair.kind] += told(answers[pair.suspicious], pair.source, case)
            passage = check_library(store, text[case.span.start : case.span.end], method=method)
            alone[pair.kind] += any(one.id == pair.source for one in passage.sources)
    rows = [
        {
            "change": KINDS[kind],
            "passages": count[kind],
            "in the work": round(found[kind] / count[kind], 3),
            "alone": round(alone[kind] / count[kind], 3),
        }
        for kind in KINDS
        if count[kind]
    ]
    for row in rows:
        row |= {
            "library": info.documents,
            "file / text": round(file / info.size_bytes, 2),
            "cpu ms of a check": round(1000 * statistics.median(times), 1),
        }
    return rows


def told(answer: Check, source: str, case: Passage) -> bool:
    return any(
        one.id == source
        and any(
            f.a.start < case.span.end
            and case.span.start < f.a.end
            and f.b.start < case.source_span.end
            and case.source_span.start < f.b.end
            for f in one.fragments
        )
        for one in answer.sources
    )


# Passages of pairs


def passages(texts: dict[str, str], pairs: Sequence[Pair]) -> list[dict[str, Any]]:
    found = [compare(texts[pair.suspicious], texts[pair.source]).fragments for pair in pairs]
    rows = []
    for reported in ("counted", "strong"):
        counts = [
            count_pair(
                pair.cases,
                [Passage(f.a, f.b) for f in some if reported == "counted" or f.strength == "strong"],
            )
            for pair, some in zip(pairs, found, strict=True)
        ]
        for kind, name in (*KINDS.items(), (None, "entire")):
            made = passage_score(
                [one for one, pair in zip(counts, pairs, strict=True) if kind in (None, pair.kind)]
            )
            rows.append(
                {
                    "reported": reported,
                    "kind": name,
                    "plagdet": round(made.plagdet, 3),
                    "precision": round(made.precision, 3),
                    "recall": round(made.recall, 3),
                    "granularity": round(made.granularity, 3),
                }
            )
    return rows


def both_ways(texts: dict[str, str], pairs: Sequence[Pair]) -> list[dict[str, Any]]:
    """How many of 600 pairs have the very same strong passages with the texts in the other order, and in how many less
    than a tenth of their characters differs."""
    chosen = random.Random("both ways").sample(pairs, min(600, len(pairs)))
    same = near = 0
    for pair in chosen:
        here, there = texts[pair.suspicious], texts[pair.source]
        one = {(f.a, f.b) for f in compare(here, there).fragments if f.strength == "strong"}
        other = {(f.b, f.a) for f in compare(there, here).fragments if f.strength == "strong"}
        same += one == other
        first, second = (
            {(side, i) for places in some for side in (0, 1) for i in range(*places[side])}
            for some in (one, other)
        )
        near += 10 * len(first ^ second) <= len(first | second)
    return [{"pairs": len(chosen), "the same": same, "nearly": near}]


# Essays made of texts of several authors


def made(
    pool: Sequence[Prose], levels: Sequence[str], count: int, *, others: int | None = None
) -> list[dict[str, Any]]:
    """Of essays made by rules: borrowed sentences half covered at the right place of the right source, by how they
    were reworded, and own sentences half covered by anything. Each source is compared by itself; or, with a number of
    *others*, the essay is checked with its sources and as many documents that are most like these."""
    rows = []
    for language in ("ru", "en"):
        own = [one for one in pool if one.language == language]
        found, count_of = Counter[str](), Counter[str]()
        for essay in make_essays(own, language, levels, count, SPLIT["seeds"]["essays"]):
            if others is None:
                spans = [
                    [(f.a, f.b) for f in compare(essay.text, source.text).fragments]
                    for source in essay.sources
                ]
            else:
                spans = checked(essay, own, others)
            for one in essay.borrowed:
                right = [
                    a
                    for a, b in spans[one.source]
                    if overlap(one.span, a) and any(overlap(place, b) for place in one.originals)
                ]
                count_of[one.level] += 1
                found[one.level] += 2 * covered(one.span, right) >= one.span.end - one.span.start
            every = [a for some in spans for a, _ in some]
            count_of["own"] += len(essay.own)
            found["own"] += sum(2 * covered(span, every) >= span.end - span.start for span in essay.own)
        rows.append(
            {
                "language": language,
                "essays": count,
                **{f"{level} found": round(found[level] / max(1, count_of[level]), 3) for level in levels},
                "own": count_of["own"],
                "own flagged": round(found["own"] / max(1, count_of["own"]), 3),
            }
        )
    return rows


def retold(pool: Sequence[Prose]) -> list[dict[str, Any]]:
    """Of texts that are retold sentence by sentence: retold sentences half covered, and short own ones in between."""
    rows = []
    for language in ("ru", "en"):
        for level in ("light", "heavy"):
            found, count_of = Counter[str](), Counter[str]()
            for essay in make_retold(pool, language, level, SPLIT["seeds"]["essays"]):
                every = [f.a for f in compare(essay.text, essay.sources[0].text).fragments]
                for name, spans in (("retold", [one.span for one in essay.borrowed]), ("own", essay.own)):
                    count_of[name] += len(spans)
                    found[name] += sum(2 * covered(span, every) >= span.end - span.start for span in spans)
            rows.append(
                {
                    "language": language,
                    "retold": level,
                    "found": round(found["retold"] / max(1, count_of["retold"]), 3),
                    "own": count_of["own"],
                    "own flagged": round(found["own"] / max(1, count_of["own"]), 3),
                }
            )
    return rows


def checked(essay: Essay, pool: Sequence[Prose], others: int) -> list[list[tuple[Span, Span]]]:
    """The fragments of a check: those of each source, then those of each other document. The documents that the own
    sentences come from are left out."""
    sources = [source.text for source in essay.sources]
    own = [essay.text[span.start : span.end] for span in essay.own]
    stems = frozenset[str]().union(*(source.stems for source in essay.sources))
    rest = [
        one for one in pool if one.text not in sources and not any(sentence in one.text for sentence in own)
    ]
    rest.sort(key=lambda one: -len(one.stems & stems) / math.sqrt(1 + len(one.stems)))
    texts = [*sources, *(one.text for one in rest[:others])]
    answer = doublet.check(essay.text, [(str(number), text) for number, text in enumerate(texts)], **SYNONYMS)
    told = {source.id: [(f.a, f.b) for f in source.fragments] for source in answer.sources}
    return [told.get(str(number), []) for number in range(len(texts))]


def single(pool: Sequence[Prose], cases: int) -> list[dict[str, Any]]:
    """One sentence of 15 to 28 words, two of them dropped, among eight sentences of another document: whether half of
    it is told beside its source alone, and in a library of all documents but the other one."""
    rows = []
    for language in ("ru", "en"):
        own = [one for one in pool if one.language == language and len(one.places) >= 8]
        rng = random.Random(f"single {language}")
        hosts = rng.sample(own, len(own) // 4)
        stored = {f"{number}": one for number, one in enumerate(own) if one not in hosts}
        asked: list[tuple[str, str, Span]] = []
        for name in rng.sample(sorted(stored), len(stored)):
            one = stored[name]
            fit = [
                number for number in range(len(one.places)) if 15 <= len(one.sentence(number).split()) <= 28
            ]
            if not fit or len(asked) == cases:
                continue
            words = one.sentence(rng.choice(fit)).split()
            del words[2 * len(words) // 3], words[len(words) // 3]
            sentence, host = " ".join(words), rng.choice(hosts)
            before = " ".join(map(host.sentence, range(4)))
            after = " ".join(map(host.sentence, range(4, 8)))
            place = Span(len(before) + 1, len(before) + 1 + len(sentence))
            asked.append((name, f"{before} {sentence} {after}", place))

        def found(answer: Check, place: Span) -> bool:
            told = [f.a for source in answer.sources for f in source.fragments]
            return 2 * covered(place, told) >= place.end - place.start

        alone = sum(
            found(doublet.check(text, [(name, stored[name].text)]), place) for name, text, place in asked
        )
        with tempfile.TemporaryDirectory() as folder, Store(str(Path(folder) / "library.db")) as store:
            store.libraries.create("all")
            index_library(store, "all", (Document(name, one.text) for name, one in stored.items()))
            there = sum(found(check_library(store, text), place) for _, text, place in asked)
        count = max(1, len(asked))
        row = {"language": language, "sentences": len(asked), "documents": len(stored)}
        rows.append(
            {**row, "beside the source": round(alone / count, 3), "in the library": round(there / count, 3)}
        )
    return rows


HAND = [
    essay
    for name in ("hand_essays.json", "written_essays.json")
    for essay in json.loads((HERE / name).read_text(encoding="utf-8"))["essays"]
]


def hand_essays(part: str, prose: Sequence[Prose]) -> list[dict[str, Any]]:
    """Sentences that somebody reworded, each covered by half at any place of the sources, or of the source it was taken
    from where that is known; and own ones covered by anything. Essays that came with their texts are also checked with
    a library of all of these and other *prose*."""
    rows = []
    every: dict[str, Counter[str]] = {}
    with tempfile.TemporaryDirectory() as made, Store(str(Path(made) / "library.db")) as store:
        store.libraries.create("all")
        texts = [
            (f"{n}/{i}", text) for n, one in enumerate(HAND) for i, text in enumerate(one.get("texts", []))
        ]
        others = ((f"prose/{n}", one.text) for n, one in enumerate(prose))
        index_library(store, "all", (Document(name, text) for name, text in [*texts, *others]))
        for number, essay in enumerate(HAND):
            if essay["part"] == part:
                named = essay.get("name") or ", ".join(essay["sources"])
                for told_as, counts in hand_essay(essay, number, store):
                    rows.append((named, told_as, counts))
                    every.setdefault(told_as, Counter()).update(counts)
    rows += [("all", told_as, counts) for told_as, counts in every.items()]
    return [
        {
            "sources": named,
            "read": told_as,
            **{level: f"{counts[level]} of {counts['of ' + level]}" for level in LEVELS.values()},
        }
        for named, told_as, counts in rows
    ]


OTHER = -1  #: another document of the library
LEVELS = {"L": "light", "H": "heavy", "X": "heaviest", "O": "own flagged"}


def hand_essay(essay: dict[str, Any], number: int, store: Store) -> Iterator[tuple[str, Counter[str]]]:
    """Of each way to read an essay how many sentences of a level there are ("of heavy") and were found ("heavy")."""
    folder = Path(essay.get("folder", ""))
    if "texts" not in essay and not (folder / essay["sources"][0]).is_file():
        print(f"an essay by hand is not measured: install the Debian package {essay['package']}")
        return
    spans, text = [], ""
    for level, sentence in essay["sentences"]:
        spans.append((LEVELS[level], Span(len(text), len(text) + len(sentence))))
        text += sentence + " "
    sources = essay.get("texts") or [
        read_document((folder / name).read_bytes(), name=name).text for name in essay["sources"]
    ]
    together = doublet.check(text, [(str(n), source) for n, source in enumerate(sources)], **SYNONYMS)
    whole = "\n\n".join(sources)
    ways: dict[str, list[tuple[int | None, Span]]] = {
        "each for itself": [
            (n, f.a) for n, source in enumerate(sources) for f in compare(text, source).fragments
        ],
        "as one text": [(None, f.a) for f in compare(text, whole).fragments],
        "in one check": [(int(one.id), f.a) for one in together.sources for f in one.fragments],
        "plain overlap of words": [
            (n, span)
            for n, source in enumerate(sources)
            for (_, span), there in zip(
                spans, overlaps([one for _, one in essay["sentences"]], source), strict=True
            )
            if there
        ],
    }
    if "texts" in essay:
        names = {f"{number}/{n}": n for n in range(len(sources))}
        stored = check_library(store, text, **SYNONYMS)
        ways["in a library"] = [
            (names.get(one.id, OTHER), f.a) for one in stored.sources for f in one.fragments
        ]
    taken = essay.get("from") or [None] * len(spans)
    for told_as, every in ways.items():
        counts = Counter[str]()
        for (level, span), source in zip(spans, taken, strict=True):
            wanted = range(OTHER + 1, len(sources)) if source is None else [source]
            right = [a for n, a in every if level == "own flagged" or n is None or n in wanted]
            counts[f"of {level}"] += 1
            counts[level] += 2 * covered(span, right) >= span.end - span.start
        yield told_as, counts


# News and pages

HAND_NEWS = json.loads((HERE / "hand_news.json").read_text(encoding="utf-8"))


def news_pairs(data: Path, part: str) -> list[tuple[str, MarkedPair]]:
    """The labelled pairs of a part, with their language. Pairs that share a text are one family, which belongs to the
    first part (tune before choose before report) that any of its pairs is in by itself."""
    rows = list(lines(data / "pairs.jsonl.xz"))
    pairs = [
        MarkedPair(
            *(f"{row[side]['title']}.\n\n{row[side]['text']}" for side in ("first", "second")),
            row["label"] == "OK",
        )
        for row in rows
    ]
    places = [
        SPLIT["parts"].index(part_of("news", " ".join(sorted((pair.text_a, pair.text_b))))) for pair in pairs
    ]
    first: dict[str, int] = {}  # of each text
    while True:
        before = list(places)
        for number, pair in enumerate(pairs):
            for text in (pair.text_a, pair.text_b):
                first[text] = places[number] = min(places[number], first.get(text, places[number]))
        if before == places:
            break
    wanted = SPLIT["parts"].index(part)
    return [
        (row["lang"], pair) for row, pair, place in zip(rows, pairs, places, strict=True) if place == wanted
    ]


def news(data: Path, part: str) -> list[dict[str, Any]]:
    """F1 at the default threshold: of labelled pairs, of pairs written by hand, and of serial reports that are made by
    templates. Beside it that of plain TF-IDF, with the threshold that is best for the labelled pairs of "tune"."""
    real = [pair for _, pair in news_pairs(data, "tune")]
    bar = best_threshold(cosines([(one.text_a, one.text_b) for one in real]), [one.duplicate for one in real])
    sets: dict[str, list[MarkedPair]] = {}
    for one in HAND_NEWS["pairs"]:
        if one["part"] == part:
            language = one["id"].partition("-")[0]
            hand = one.get("hand", "by hand")
            for name in (hand, f"{hand}, {language}"):
                sets.setdefault(name, []).append(MarkedPair(one["a"], one["b"], one["same"]))
    for language, pair in news_pairs(data, part):
        sets.setdefault(f"labelled, {language}", []).append(pair)
        sets.setdefault("labelled", []).append(pair)
    for language in ("ru", "en"):
        for one in make_news(language, SPLIT["seeds"]["serial reports"]):
            if part_of("serial reports", one.kind) == part:
                pair = MarkedPair(one.text_a, one.text_b, one.same)
                sets.setdefault(f"made, {language}", []).append(pair)
                sets.setdefault(f"made, {language}, {one.sort}", []).append(pair)
    rows = []
    for name, pairs in sorted(sets.items()):
        called = [same_story(pair.text_a, pair.text_b).same for pair in pairs]
        right = sum(pair.duplicate for pair in pairs)
        plain = [value >= bar for value in cosines([(pair.text_a, pair.text_b) for pair in pairs])]
        f1, plain_f1 = (
            round(2 * sum(pair.duplicate and yes for pair, yes in zip(pairs, said, strict=True)) / told, 3)
            if (told := right + sum(said))
            else ""
            for said in (called, plain)
        )
        rows.append(
            {
                "set": name,
                "pairs": len(pairs),
                "the same": right,
                "called the same": sum(called),
                "F1": f1 if right else "",
                "F1 of plain TF-IDF": plain_f1 if right else "",
            }
        )
    return rows


def pages(data: Path, part: str) -> list[dict[str, Any]]:
    """Ours and, where it is installed, trafilatura's, on the same pages."""
    try:
        import trafilatura
    except ImportError:
        trafilatura = None
    scores, theirs, seconds, their_seconds = [], [], 0.0, 0.0
    for row in lines(data / "pages.jsonl.xz"):
        gold = re.sub(r"<[a-z]+>", " ", re.sub(r"^\ufeff?URL:[^\n]*", "", row["gold"]))
        address = re.search(r'id="([^"]*)"', row["html"][:500])
        host = urlsplit(address[1]).netloc if address else row["id"]
        if part_of("pages", host) != part:
            continue
        began = time.process_time()
        read = read_document(row["html"].encode(), name="page.html")
        seconds += time.process_time() - began
        scores.append(shingle_f1(gold, read.text))
        if trafilatura is not None:
            began = time.process_time()
            found = trafilatura.extract(row["html"], include_comments=False) or ""
            their_seconds += time.process_time() - began
            theirs.append(shingle_f1(gold, found))
    rows = [("doublet", scores, seconds), ("trafilatura", theirs, their_seconds)]
    return [
        {
            "reader": name,
            "pages": len(some),
            "F1 of 4-word shingles": round(statistics.mean(some), 3),
            "cpu ms a page": round(1000 * spent / len(some), 1),
        }
        for name, some, spent in rows
        if some
    ]


# Marked pairs


def marked_pairs(data: Path, part: str) -> dict[str, list[MarkedPair]]:
    """Of each set the pairs of a part: versions of pages and siblings of these; news."""
    documents = list(lines(data / REVISIONS / "docs.jsonl.xz"))
    own = [row for row in documents if part_of("advise", row["page"]) == part]
    by_page: dict[str, list[dict[str, Any]]] = {}
    for row in own:
        by_page.setdefault(row["page"], []).append(row)
    revisions = [
        MarkedPair(some[0]["text"], some[1]["text"], True) for some in by_page.values() if len(some) > 1
    ]
    heads = [some[0] for _, some in sorted(by_page.items())]
    revisions += [
        MarkedPair(a["text"], b["text"], False) for a, b in itertools.pairwise(heads)
    ]  # by name: siblings
    stories = [pair for _, pair in news_pairs(data / NEWS, part)]
    return {"revisions": revisions, "news": stories}


def advice(data: Path, part: str, markings: int) -> list[dict[str, Any]]:
    """Half of the pairs, at most thirty, are marked; what is proposed judges the rest, beside the default."""
    rows = []
    for name, pairs in marked_pairs(data, part).items():
        for number in range(markings):
            drawn = random.Random(f"{name} {number}").sample(pairs, len(pairs))
            half = min(30, len(pairs) // 2)
            proposed = advise(drawn[:half]).best
            rest = drawn[half:][:100]
            wanted = ";".join(f"{key}={value}" for key, value in proposed.parameters.items())
            measure = "@containment" if proposed.measure == "containment" else ""
            judged = {}
            for who, spec in (
                ("proposed", f"{proposed.method}{measure}:{wanted}".rstrip(":")),
                ("default", "auto"),
            ):
                told = score_pairs(read_spec(spec), [(pair.text_a, pair.text_b) for pair in rest])
                bar = proposed.threshold if who == "proposed" else None
                judged[who] = score(
                    [
                        (
                            int(vote and pair.duplicate),
                            int(vote and not pair.duplicate),
                            int(pair.duplicate and not vote),
                        )
                        for pair, (value, yes) in zip(rest, told, strict=True)
                        for vote in (yes if bar is None else value >= bar,)
                    ],
                    seed=1,
                )
            rows.append(
                {
                    "set": name,
                    "marking": number + 1,
                    "proposed": proposed.command(),
                    "F1": round(judged["proposed"].f1, 3),
                    "F1 of the default": round(judged["default"].f1, 3),
                    "precision expected": round(proposed.expected.precision or 0, 3),
                    "precision": round(judged["proposed"].precision or 0, 3),
                }
            )
    return rows


def shingle_f1(gold: str, text: str) -> float:
    bags = []
    for one in (gold, text):
        words = re.findall(r"\w+", one.lower())
        bags.append(Counter(tuple(words[i : i + 4]) for i in range(max(0, len(words) - 3))))
    both = (bags[0] & bags[1]).total()
    return 2 * both / max(1, bags[0].total() + bags[1].total())


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path, default=SHARED)
    parser.add_argument("--part", choices=SPLIT["parts"], action="append")
    parser.add_argument("--only", choices=QUESTIONS, action="append")
    parser.add_argument("--cases", type=int, default=60, help="passages of each kind that are looked for")
    parser.add_argument("--markings", type=int, default=5, help="times that pairs are marked for `advise`")
    parser.add_argument("--others", type=Path, help="JSONL with texts that lie in the library, too")
    parser.add_argument("--method", default="auto")
    parser.add_argument(
        "--thesaurus",
        help="FILE|auto: passages and essays with synonyms as one word, as with doublet compare",
    )
    asked = parser.parse_args()
    if asked.thesaurus:
        SYNONYMS["thesaurus"] = asked.thesaurus
    if not (asked.data / PAN).is_dir():
        print(f"{asked.data}: the labelled texts are not there, so nothing is measured")
        return
    only = asked.only or QUESTIONS
    texts, pairs = (
        read_pan(asked.data / PAN) if {"retrieval", "passages", "both ways"} & set(only) else ({}, [])
    )
    pool: dict[str, list[Prose]] = {part: [] for part in SPLIT["parts"]}
    if {
        "own sentences",
        "short own sentences",
        "reworded sentences",
        "essays in checks",
        "single sentences",
        "essays by hand",
    } & set(only):
        for one in read_pools(asked.data):
            pool[part_of("essays", one.family)].append(one)
    results: list[dict[str, Any]] = []

    def show(name: str, rows: list[dict[str, Any]]) -> None:
        if not rows:
            return
        print(f"\n{name}\n\n{table(list(rows[0]), [list(row.values()) for row in rows])}", flush=True)
        results.extend({"measured": name, **row} for row in rows)

    for part in asked.part or ["tune", "choose"]:
        own = {
            question: [pair for pair in pairs if part_of(question, pair.suspicious) == part]
            for question in ("retrieval", "passages")
        }
        answers = {
            "retrieval": lambda own=own: retrieval(
                texts, own["retrieval"], asked.others, asked.cases, asked.method
            ),
            "passages": lambda own=own: passages(texts, own["passages"]),
            "both ways": lambda own=own: both_ways(texts, own["passages"]),
            "own sentences": lambda part=part: made(pool[part], ("verbatim", "light"), ESSAYS),
            "short own sentences": lambda part=part: retold(pool[part]),
            "reworded sentences": lambda part=part: made(pool[part], ("heavy", "heaviest"), ESSAYS),
            "essays in checks": lambda part=part: made(
                pool[part], ("heavy", "heaviest"), ESSAYS, others=OTHERS
            ),
            "single sentences": lambda part=part: single(pool[part], 2 * asked.cases),
            "essays by hand": lambda part=part: hand_essays(part, [*itertools.chain(*pool.values())]),
            "news": lambda part=part: news(asked.data / NEWS, part),
            "pages": lambda part=part: pages(asked.data / PAGES, part),
            "advise": lambda part=part: advice(asked.data, part, asked.markings),
        }
        for name in only:
            if name in answers:
                show(f"{part}: {name}", answers[name]())
    if "essays" in only:
        show("essays", essays(asked.data / "paraplag-essays"))
    save("unseen", results, date=time.strftime("%Y-%m-%d"))


if __name__ == "__main__":
    main()
