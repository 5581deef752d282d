"""The method auto on whole documents: changed copies among other documents, real revisions, news, and what it costs.

    python benchmarks/meaning.py ru en               copies of 100 documents changed on purpose, among 1,500
    python benchmarks/meaning.py ru --bases 300      more of them
    python benchmarks/meaning.py collection          the same copies among the documents of a collection: dedupe
    python benchmarks/meaning.py revisions news      ../shared/data/mdn-ru-revisions and tg-news-pairs
    python benchmarks/meaning.py cost                auto against plain shingles in dedupe, CPU seconds

The documents are those of corpus.py whose id has an odd checksum: the table of common words that comes with Doublet was
counted on the other half. Synonyms come from the thesaurus that the evaluation finds; the method uses none. Documents
that share a fifth of their 3-word shingles with the unchanged document are neither right nor wrong.
"""

from __future__ import annotations

import argparse
import itertools
import json
import lzma
import tempfile
import zlib
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np

from doublet import dedupe, same_story
from doublet.evaluation.problem import make_problem
from doublet.index.memory import MemoryIndex
from doublet.matches.story import SAME_STORY
from doublet.model import Document
from doublet.signatures import method
from doublet.signatures.auto import settle
from measure import best, corpus_path, python, run, save, table

SHARED = Path(__file__).resolve().parents[2] / "shared" / "data"
CHANGES = (
    *("synonyms-60", "synonyms-40", "synonyms-20", "synonyms-5"),
    *("processed-60", "processed-40", "processed-20", "processed-5"),
    *("paragraphs-moved", "sentences-moved", "look-alikes", "deletion-20", "insertion-20"),
)
CANDIDATES = 20
LIBRARY = 1_500


def documents(name: str, count: int) -> list[Document]:
    """The first ones of a collection that did not make the table of common words; no copies planted there."""
    labels = corpus_path(name).with_suffix(".labels.jsonl")
    out = []
    with corpus_path(name).open(encoding="utf-8") as lines, labels.open(encoding="utf-8") as told:
        for line, label in zip(lines, told, strict=True):
            kind = json.loads(label)["kind"]
            record = json.loads(line)
            if kind in ("single", "original") and zlib.crc32(record["id"].encode()) % 2:
                out.append(Document(record["id"], record["text"]))
            if len(out) == count:
                break
    return out


def changed_copies(name: str, bases: int, changes: tuple[str, ...], library: int) -> list[dict[str, Any]]:
    problem = make_problem(name, documents(name, library), changes=changes, bases=bases)
    auto = method("auto")
    signed = auto.sign_texts([d.text for d in problem.library])
    index = MemoryIndex(auto)
    index.add_many((str(i), s) for i, s in enumerate(signed) if s is not None)
    rows = []
    for change in changes:
        found = right = wrong = asked = 0
        steps: Counter[str] = Counter()
        for number in problem.of_change(change):
            query = problem.queries[number]
            signature = auto.sign(query.document.text)
            asked += 1
            if signature is None:
                continue
            near = [int(c.id) for c in index.candidates(signature, CANDIDATES)]
            answers = settle([auto.compare(signature, signed[i]) for i in near])  # type: ignore[arg-type]
            measured = dict(zip(near, answers, strict=True))
            similar = [i for i in near if measured[i].similar]
            found += any(i in query.truth for i in similar)
            right += sum(i in query.truth for i in similar)
            wrong += sum(i not in query.truth and i not in query.ignored for i in similar)
            steps.update(measured[i].step for i in similar if i in query.truth)
        rows.append(
            {
                "corpus": name,
                "change": change,
                "queries": asked,
                "library": len(problem.library),
                "recall": found / asked,
                "precision": right / (right + wrong) if right + wrong else 1.0,
                "wrong": wrong,
                "decided_by": dict(steps),
            }
        )
    return rows


def in_collection(bases: int, library: int) -> list[dict[str, Any]]:
    """Copies put among the documents themselves: are they linked with their sources by dedupe?

    A source that is itself a near copy of a kept document is taken out, and its copy is linked with that one: such
    copies are told apart.
    """
    changes = ("synonyms-60", "synonyms-40", "deletion-20")
    rows = []
    for name in ("ru", "en"):
        problem = make_problem(name, documents(name, library), changes=changes, bases=bases)
        ids = [d.id for d in problem.library]
        for change in changes:
            queries = [problem.queries[i] for i in problem.of_change(change)]
            result = dedupe([*problem.library, *(query.document for query in queries)])
            links = {frozenset((r.a, r.b)) for r in result.related or () if r.kind != "shared"}
            links |= {frozenset((g.keep, m.id)) for g in result.groups for m in g.members}
            gone = {m.id for g in result.groups for m in g.members}
            alike = {frozenset((q.document.id, ids[i])) for q in queries for i in q.ignored}
            wanted = {frozenset((q.document.id, ids[q.truth[0]])) for q in queries}
            found = {pair for pair in links - alike if pair & {q.document.id for q in queries}}
            rows.append(
                {
                    "corpus": name,
                    "change": change,
                    "documents": len(ids) + len(queries),
                    "recall": len(found & wanted) / len(wanted),
                    "source_taken_out": sum(bool(pair & gone) for pair in wanted - found) / len(wanted),
                    "precision": len(found & wanted) / max(1, len(found)),
                }
            )
    return rows


def revisions() -> list[dict[str, Any]]:
    """Pairs of versions of one page among 625 documents; the listed sibling pages are left out."""
    folder = SHARED / "mdn-ru-revisions"
    with lzma.open(folder / "docs.jsonl.xz", "rt", encoding="utf-8") as lines:
        docs = [json.loads(line) for line in lines]
    with (folder / "similar_different_pages.jsonl").open(encoding="utf-8") as lines:
        listed = {frozenset((row["a"], row["b"])) for row in map(json.loads, lines)}
    auto = method("auto")
    signed = auto.sign_texts([d["text"] for d in docs])
    holders: dict[int, list[int]] = {}
    for i, signature in enumerate(signed):
        for key in auto.keys(signature).tolist() if signature is not None else ():
            holders.setdefault(key, []).append(i)
    shared: Counter[tuple[int, int]] = Counter()
    for some in holders.values():
        if len(some) <= 60:
            shared.update(itertools.combinations(some, 2))
    steps: dict[str, list[tuple[int, int]]] = {"shingles": [], "all": []}
    for (i, j), count in shared.items():
        if count < 3:
            continue
        measured = auto.compare(signed[i], signed[j])  # type: ignore[arg-type]
        if measured.similar:
            steps["all"].append((i, j))
            if measured.step != "meaning":
                steps["shingles"].append((i, j))
    close = {d["page"] for d in docs if (d.get("jaccard5_to_other") or 0) >= 0.5}
    rows = []
    for name, pairs in steps.items():
        right = [(i, j) for i, j in pairs if docs[i]["page"] == docs[j]["page"]]
        wrong = [
            (i, j)
            for i, j in pairs
            if docs[i]["page"] != docs[j]["page"] and frozenset((docs[i]["id"], docs[j]["id"])) not in listed
        ]
        rows.append(
            {
                "decided_by": "exact and shingles" if name == "shingles" else "all three steps",
                "recall_close": len({docs[i]["page"] for i, _ in right} & close) / len(close),
                "recall_all": len(right) / 191,
                "precision": len(right) / (len(right) + len(wrong)),
                "wrong": len(wrong),
            }
        )
    return rows


def news() -> list[dict[str, Any]]:
    """Same story or not: F1 with a threshold from all pairs but the one that is judged."""
    with lzma.open(SHARED / "tg-news-pairs" / "pairs.jsonl.xz", "rt", encoding="utf-8") as lines:
        pairs = [json.loads(line) for line in lines]

    def told(article: dict[str, str]) -> str:
        return f"{article['title']}.\n\n{article['text']}"

    scores = np.array([same_story(told(p["first"]), told(p["second"])).score for p in pairs])
    truth = np.array([p["label"] == "OK" for p in pairs])
    languages = np.array([p["lang"] for p in pairs])
    rows = []
    for name, mask in (("ru", languages == "ru"), ("en", languages == "en"), ("both", languages != "")):
        x, y = scores[mask], truth[mask]
        rows.append(
            {
                "language": name,
                "pairs": len(x),
                "f1_cross_validated": left_one_out(x, y),
                "f1_at_default": f1(x >= SAME_STORY, y),
            }
        )
    return rows


def f1(found: Any, truth: Any) -> float:
    return float(2 * (found & truth).sum() / max(1, found.sum() + truth.sum()))


def left_one_out(scores: Any, truth: Any) -> float:
    found = np.zeros(len(scores), bool)
    for i in range(len(scores)):
        rest = np.arange(len(scores)) != i
        limits = np.sort(scores[rest])
        limits = (limits[1:] + limits[:-1]) / 2
        values = np.array([f1(scores[rest] >= limit, truth[rest]) for limit in limits])
        found[i] = scores[i] >= np.median(limits[values >= values.max() - 1e-9])
    return f1(found, truth)


def cost(names: list[str], runs: int) -> list[dict[str, Any]]:
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for name in names:
            seconds = {}
            for chosen in ("shingles", "auto"):
                command = [
                    python(),
                    "-c",
                    "from doublet.cli import main; main()",
                    "dedupe",
                    str(corpus_path(name)),
                ]
                command += ["--method", chosen, "--shingle-words", "5", "--threshold", "0.8", "--quiet"]
                command += ["--workers", "1", "--groups", f"{folder}/groups.jsonl"]
                seconds[chosen] = best([run(command) for _ in range(runs)]).cpu_s
            rows.append({"corpus": name, **seconds, "times": seconds["auto"] / seconds["shingles"]})
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("what", nargs="+", choices=["ru", "en", "collection", "revisions", "news", "cost"])
    parser.add_argument("--bases", type=int, default=100)
    parser.add_argument("--library", type=int, default=LIBRARY)
    parser.add_argument("--changes", nargs="+", default=list(CHANGES))
    parser.add_argument("--runs", type=int, default=3)
    given = parser.parse_args()
    out: dict[str, Any] = {}
    for what in given.what:
        if what in ("revisions", "news") and not SHARED.is_dir():
            print(f"{what}: skipped, {SHARED} is not there")
            continue
        if what in ("ru", "en"):
            out[what] = changed_copies(what, given.bases, tuple(given.changes), given.library)
        elif what == "collection":
            out[what] = in_collection(given.bases, given.library)
        elif what == "revisions":
            out[what] = revisions()
        elif what == "news":
            out[what] = news()
        else:
            out[what] = cost(["ru", "en"], given.runs)
        head = list(out[what][0])
        print(table(head, [[_shown(row[column]) for column in head] for row in out[what]]), flush=True)
    save("meaning", out)


def _shown(value: Any) -> str:
    return f"{value:.3f}" if isinstance(value, float) else str(value)


if __name__ == "__main__":
    main()
