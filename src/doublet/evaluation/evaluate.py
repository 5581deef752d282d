"""The whole run (E1–E3): sets → changed copies → every method → tables, curves, failures, in one `Evaluation`.

The same data, methods, changes and seed give the same tables, whatever the number of workers; only the costs vary.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

import doublet
from doublet.errors import UsageError, wrong_type
from doublet.evaluation import published
from doublet.evaluation.changes import change
from doublet.evaluation.finding import Finding, MethodFindings
from doublet.evaluation.metrics import (
    PairCounts,
    adjusted_rand_index,
    best_threshold,
    clusters,
    passage_score,
    roc_auc,
    score,
)
from doublet.evaluation.problem import FEWEST, Problem, make_problem, split_languages
from doublet.evaluation.sets import (
    Collection,
    DataSet,
    LabelledCollection,
    LabelledPairs,
    LabelledPassages,
    Skipped,
    open_data,
)
from doublet.evaluation.specs import Spec, known_methods, read_spec
from doublet.evaluation.tasks import Failure, FindTask, PassageTask, ScoreTask, Task, covered, run_tasks
from doublet.matches.story import same_story
from doublet.model import FORMAT_VERSION, Document, Note, Span
from doublet.progress import Progress

CHANGES = (
    *("synonyms-60", "synonyms-40", "synonyms-20", "synonyms-5", "paragraphs-moved", "sentences-moved"),
    *("look-alikes", "deletion-20", "insertion-20", "ocr-noise", "word-order", "tense-number"),
    *("summary-30", "rewriting"),
)  #: not "splice": a text that took passages is no duplicate of their sources, the table of passages is for that
QUICK_CHANGES = (
    *("synonyms-60", "synonyms-20", "paragraphs-moved", "sentences-moved", "look-alikes"),
    *("deletion-20", "insertion-20", "rewriting"),
)
PASSAGE_CHANGES = (
    *("verbatim", "look-alikes", "synonyms-20", "synonyms-60", "deletion-20", "insertion-20"),
    *("word-order", "tense-number", "sentences-moved", "rewriting"),
)
QUICK_PASSAGES = ("verbatim", "synonyms-20", "synonyms-60", "rewriting")
CLUSTER_CHANGES = ("synonyms-20", "paragraphs-moved", "sentences-moved", "look-alikes", "deletion-20")
SAME_STORY = "same_story"  #: stands among the methods where stories are to be told apart
LENGTHS = (1, 2, 3, 4, 6, 9, 12, 15)  #: words in a shingle; the source's are 3, 6, 9, 12, 15
WIDTHS = (0.2, 0.4, 0.8, 1.2, 1.6, 2.4, 3.2)  #: of the I-Match range of IDF; the source's is 0.8
GRID = tuple(round(0.1 + 0.05 * i, 2) for i in range(19))
BASES, QUICK_BASES = 100, 12
QUICK_WORKS = 8  #: long texts beside the source's table
QUICK_CLUSTERED = 60  #: documents of the library among which groups are looked for
EXAMPLES = 3  #: of failures for each method and change
EXCERPT = 600
FOLDS = 5


@dataclass
class Evaluation:
    """All tables of a run as rows. See docs/reference/evaluation.md for what each row holds."""

    settings: dict[str, Any]
    sets: list[dict[str, Any]] = field(default_factory=list)
    documents: list[dict[str, Any]] = field(default_factory=list)
    passages: list[dict[str, Any]] = field(default_factory=list)
    clusters: list[dict[str, Any]] = field(default_factory=list)
    costs: list[dict[str, Any]] = field(default_factory=list)
    curves: list[dict[str, Any]] = field(default_factory=list)
    published: list[dict[str, Any]] = field(default_factory=list)
    labelled: list[dict[str, Any]] = field(default_factory=list)
    failures: list[dict[str, Any]] = field(default_factory=list)
    skipped: list[Skipped] = field(default_factory=list)
    notes: list[Note] = field(default_factory=list)

    def to_dict(self) -> dict[str, Any]:
        out = {"format": FORMAT_VERSION, "kind": "evaluation", "settings": self.settings}
        for name in TABLES:
            out[name] = getattr(self, name)
        out["failures"] = self.failures
        out["skipped"] = [one.to_dict() for one in self.skipped]
        out["notes"] = [note.to_dict() for note in self.notes]
        return out


TABLES = ("sets", "documents", "passages", "clusters", "costs", "curves", "published", "labelled")


@dataclass(frozen=True)
class EvaluationOptions:
    """What was asked for, checked."""

    specs: tuple[Spec, ...]
    changes: tuple[str, ...]
    passage_changes: tuple[str, ...]
    thresholds: tuple[float, ...]
    seed: int
    bases: int
    quick: bool
    thesaurus: Path | None
    thesaurus_part: str
    curves: bool
    groups: bool
    beside_source: bool


def evaluate(
    data: Path | Sequence[DataSet] | None = None,
    *,
    methods: Sequence[str] = (),
    changes: Sequence[str] = (),
    thresholds: Sequence[float] = (0.5, 0.7),
    shingle_words: int | None = None,
    seed: int = 1,
    bases: int | None = None,
    quick: bool = False,
    curves: bool = True,
    groups: bool = True,
    beside_source: bool | None = None,
    thesaurus: Path | None = None,
    thesaurus_part: str = "all",
    id_field: str = "id",
    text_field: str = "text",
    workers: int = 1,
    isolated: bool = True,
    progress: Progress | None = None,
) -> Evaluation:
    """Every method against every change on *data* (a file, a folder, sets at hand; None: the bundled texts).

    *methods* are specs ("minhash", "shingles@containment:shingle_words=3"), by default all there are; *changes*
    names of changes. *bases*: so many documents are changed. *thesaurus* makes the synonyms; methods have their own.
    *curves*, *groups* and *beside_source* (the source's table; by default when no methods were named) can be left out.
    *isolated*: each method in a process of its own, so that its memory can be measured. Raises `UsageError`,
    `SourceError`, `Cancelled`.
    """
    progress = Progress.of(progress)
    plan = _plan(methods, changes, thresholds, shingle_words, seed, bases, quick, thesaurus, thesaurus_part)
    plan = replace(
        plan,
        curves=curves,
        groups=groups,
        beside_source=not methods if beside_source is None else beside_source,
    )
    if isinstance(data, str) or (data is not None and not isinstance(data, Path | Sequence)):
        raise wrong_type("data", data, "wanted_sets")
    if data is None or isinstance(data, Path):
        sets, skipped = open_data(
            data,
            limit=40 if quick else None,
            id_field=id_field,
            text_field=text_field,
        )
    else:
        sets, skipped = list(data), []
    result = Evaluation(
        settings={
            "version": doublet.__version__,
            "data": str(data) if isinstance(data, Path) else "bundled" if data is None else "given",
            "methods": [spec.label for spec in plan.specs],
            "changes": list(plan.changes),
            "passage_changes": list(plan.passage_changes),
            "thresholds": list(plan.thresholds),
            "shingle_words": shingle_words,
            "seed": seed,
            "changed_documents": plan.bases,
            "quick": quick,
            "thesaurus": str(thesaurus) if thesaurus else "installed",
            "thesaurus_part": thesaurus_part,
            "workers": workers,
        },
        skipped=skipped,
    )
    run = _Run(plan, result, workers, isolated, progress)
    for one in sets:
        if isinstance(one, Collection):
            run.collection(one)
        elif isinstance(one, LabelledCollection):
            run.labelled_collection(one)
        elif isinstance(one, LabelledPairs):
            run.labelled_pairs(one)
        else:
            run.labelled_passages(one)
    run.finish()
    if not result.sets:
        reasons = [Note("set_note", name=one.name, note=one.reason) for one in result.skipped]
        raise UsageError("nothing_evaluated", reasons=reasons)
    return result


def _plan(
    methods: Sequence[str],
    changes: Sequence[str],
    thresholds: Sequence[float],
    shingle_words: int | None,
    seed: int,
    bases: int | None,
    quick: bool,
    thesaurus: Path | None,
    thesaurus_part: str,
) -> EvaluationOptions:
    specs = [read_spec(text) for text in (methods or known_methods())]
    if shingle_words is not None:
        specs = [
            spec if "shingle_words" in spec.options else spec.with_parameters(shingle_words=shingle_words)
            for spec in specs
        ]
    labels = [spec.label for spec in specs]
    if len(set(labels)) < len(labels):
        twice = next(label for label in labels if labels.count(label) > 1)
        raise UsageError("method_twice", twice=twice)
    for threshold in thresholds:
        if not 0 < threshold <= 1:
            raise UsageError("threshold_range", threshold=threshold)
    chosen = tuple(changes) or (QUICK_CHANGES if quick else CHANGES)
    for name in chosen:
        change(name)
    if bases is not None and bases < 1:
        raise UsageError("bases_needed")
    passages: tuple[str, ...] = QUICK_PASSAGES if quick else PASSAGE_CHANGES
    if changes:
        passages = ("verbatim", *(name for name in chosen if name in PASSAGE_CHANGES))
    return EvaluationOptions(
        tuple(specs),
        chosen,
        passages,
        tuple(sorted(set(thresholds))),
        seed,
        bases or (QUICK_BASES if quick else BASES),
        quick,
        thesaurus,
        thesaurus_part,
        curves=True,
        groups=True,
        beside_source=True,
    )


class _Run:
    """One run: adds to the tables of `result` set by set."""

    def __init__(
        self, plan: EvaluationOptions, result: Evaluation, workers: int, isolated: bool, progress: Progress
    ) -> None:
        self.plan, self.result = plan, result
        self._workers, self._isolated, self._progress = workers, isolated, progress
        self._waiting: list[tuple[Callable[[Any], None], Task]] = []

    def _tasks(self, tasks: Sequence[Task]) -> list[Any]:
        return run_tasks(tasks, workers=self._workers, isolated=self._isolated, progress=self._progress)

    def _failed(self, name: str, outcome: Any) -> bool:
        if isinstance(outcome, Failure):
            self.result.notes.append(
                Note("method_not_run", name=name, label=outcome.label, why=outcome.reason)
            )
            return True
        return False

    # --- collections that are changed on purpose ---------------------------------------------------------------

    def collection(self, one: Collection) -> None:
        languages = split_languages(one.documents)
        largest = max(len(documents) for documents in languages.values()) if languages else 0
        for language, documents in languages.items():
            name = one.name if len(languages) == 1 else f"{one.name}-{language}"
            if len(documents) < FEWEST and largest >= FEWEST:
                self.result.skipped.append(
                    Skipped(name, Note("too_few_documents_of_language", documents=len(documents)))
                )
                continue
            self._language(name, documents)
        self.result.notes += [Note("set_note", name=one.name, note=note) for note in one.notes]

    def _language(self, name: str, documents: Sequence[Document]) -> None:
        plan = self.plan
        table = tuple(published.STUDENT_WORKS) if plan.beside_source else ()
        needed = dict.fromkeys(plan.changes)
        if plan.curves:
            needed |= dict.fromkeys(["synonyms-20", "sentences-moved"])
        problem = make_problem(
            name,
            documents,
            changes=tuple(needed),
            passage_changes=plan.passage_changes,
            bases=plan.bases,
            seed=plan.seed,
            thesaurus=plan.thesaurus,
            thesaurus_part=plan.thesaurus_part,
            progress=self._progress,
        )
        self.result.notes += [Note("set_note", name=name, note=note) for note in problem.notes]
        self.result.sets.append(_set_row(problem))
        tasks = _Labelled()
        queries = [query.document for query in problem.queries]
        asked = [i for i, query in enumerate(problem.queries) if query.change in plan.changes]
        for spec in plan.specs:
            tasks.add(
                ("documents", spec),
                FindTask(spec, problem.library, [queries[i] for i in asked], plan.thresholds),
            )
        together, truth = _cluster_problem(problem, plan.changes, QUICK_CLUSTERED if plan.quick else None)
        for spec in plan.specs if plan.groups else ():
            tasks.add(("clusters", spec), FindTask(spec, together, None))
        for spec in plan.specs:
            if spec.info.shows_fragments:
                tasks.add(("passages", spec), PassageTask(spec, problem.passages))
        works = self._works(problem, documents, table) if table else problem
        if table:
            for column, spec in _columns(plan.specs).items():
                asked_works = [query.document for query in works.queries]
                tasks.add(
                    ("published", column), FindTask(spec, works.library, asked_works, (published.THRESHOLD,))
                )
        if plan.curves:
            for spec, change_name in _curve_specs():
                rows_of = [queries[i] for i in problem.of_change(change_name)]
                tasks.add(("curve", spec), FindTask(spec, problem.library, rows_of, plan.thresholds))

        def take(what: str, key: Any, outcome: Any) -> None:
            if self._failed(name, outcome):
                return
            if what == "documents":
                self._documents(problem, key, outcome, asked)
            elif what == "clusters":
                self._clusters(problem, key, outcome, together, truth)
            elif what == "passages":
                self._passages(name, key, outcome, [(pair.kind, pair.name) for pair in problem.passages])
            elif what == "published":
                self._published(works, key, outcome, table)
            else:
                self._curve(problem, key, outcome)

        self._waiting += [
            (partial(take, *label), task) for label, task in zip(tasks.labels, tasks.tasks, strict=True)
        ]

    def finish(self) -> None:
        """Run what the collections have asked for, all at once: starting a process for each method takes its time."""
        outcomes = self._tasks([task for _, task in self._waiting])
        for (take, _), outcome in zip(self._waiting, outcomes, strict=True):
            take(outcome)
        self._waiting = []

    def _works(self, problem: Problem, documents: Sequence[Document], table: Sequence[str]) -> Problem:
        """Texts as long as student works: short documents are joined, because the length decides much here."""
        plan = self.plan
        return make_problem(
            problem.name,
            join_documents(documents, published.WORK_WORDS),
            changes=table,
            bases=QUICK_WORKS if plan.quick else plan.bases,
            seed=plan.seed,
            thesaurus=plan.thesaurus,
            thesaurus_part=plan.thesaurus_part,
            progress=self._progress,
        )

    def _documents(self, problem: Problem, spec: Spec, found: MethodFindings, asked: Sequence[int]) -> None:
        plan, name = self.plan, problem.name
        places = {i: place for place, i in enumerate(asked)}
        grid: list[float | None] = [None, *(plan.thresholds if spec.has_threshold else ())]
        for threshold in grid:
            by_query = _by_query(found.at(threshold), len(asked))
            for change_name in plan.changes:
                members = [i for i in problem.of_change(change_name) if i in places]
                rows = [_row(problem, i, by_query[places[i]]) for i in members]
                self.result.documents.append(
                    {
                        "set": name,
                        "method": spec.label,
                        "change": change_name,
                        "threshold": threshold,
                        **score(rows, seed=plan.seed).to_dict(),
                    }
                )
                if threshold is None:
                    self._examples(
                        problem, spec, change_name, members, [by_query[places[i]] for i in members]
                    )
        self.result.costs.append({"set": name, "method": spec.label, **found.cost.to_dict()})
        if plan.curves and spec.has_threshold:
            points, pairs = [], []
            for threshold in GRID:
                by_query = _by_query(found.over(threshold), len(asked))
                total = score([_row(problem, i, by_query[places[i]]) for i in asked], resamples=1)
                points.append([threshold, total.precision, total.recall])
                pairs.append([threshold, sum(len(row) for row in by_query)])
            base = {"set": name, "method": spec.label, "change": "all"}
            self.result.curves.append({**base, "curve": "threshold", "points": points})
            self.result.curves.append({**base, "curve": "pairs", "points": pairs})

    def _examples(
        self,
        problem: Problem,
        spec: Spec,
        change_name: str,
        members: Sequence[int],
        found: Sequence[list[int]],
    ) -> None:
        """A few of what went wrong, to be read."""
        shown = 0
        for i, documents in zip(members, found, strict=True):
            query = problem.queries[i]
            missed = [t for t in query.truth if t not in documents]
            wrong = [d for d in documents if d not in query.truth and d not in query.ignored]
            for kind, others in (("missed", missed), ("wrong", wrong)):
                if not others or shown >= EXAMPLES:
                    continue
                other = problem.library[others[0]]
                self.result.failures.append(
                    {
                        "set": problem.name,
                        "method": spec.label,
                        "change": change_name,
                        "kind": kind,
                        "query": query.document.id,
                        "document": other.id,
                        "query_text": query.document.text[:EXCERPT],
                        "document_text": other.text[:EXCERPT],
                    }
                )
                shown += 1

    def _clusters(
        self,
        problem: Problem,
        spec: Spec,
        found: MethodFindings,
        together: Sequence[Document],
        truth: Mapping[str, str],
    ) -> None:
        pairs = [(together[f.query].id, together[f.document].id) for f in found.at(None)]
        made = clusters((d.id for d in together), pairs)
        right = sum(truth[a] == truth[b] for a, b in pairs)
        self.result.clusters.append(
            {
                "set": problem.name,
                "method": spec.label,
                "documents": len(together),
                "clusters_true": len(set(truth.values())),
                "clusters": len(set(made.values())),
                "ari": round(adjusted_rand_index(truth, made), 6),
                "pairs": len(pairs),
                "right_pairs": right,
            }
        )

    def _passages(self, name: str, spec: Spec, outcome: Any, kinds: Sequence[tuple[str, str]]) -> None:
        by_kind: dict[str, list[int]] = {}
        for i, (kind, _) in enumerate(kinds):
            by_kind.setdefault(kind, []).append(i)
        for kind, members in [*by_kind.items(), ("entire", list(range(len(kinds))))]:
            rows: list[PairCounts] = [outcome.rows[i] for i in members]
            halves = [half for i in members for half in outcome.found[i]]
            self.result.passages.append(
                {
                    "set": name,
                    "method": spec.label,
                    "change": kind,
                    "pairs": len(members),
                    **passage_score(rows, seed=self.plan.seed, resamples=300).to_dict(),
                    "found": sum(halves),
                    "ms_a_pair": round(1000 * outcome.seconds / max(1, len(kinds)), 3),
                }
            )

    def _published(self, problem: Problem, column: str, found: MethodFindings, table: Sequence[str]) -> None:
        """Our figures beside the source's: by origin, and by the source's own measure of what is a duplicate."""
        from rapidfuzz.distance import Levenshtein

        members = [i for name in table for i in problem.of_change(name)]
        spec = _columns(self.plan.specs)[column]
        threshold = published.THRESHOLD if spec.has_threshold else None
        if column not in published.COLUMNS:  # ours: as it is by default
            threshold = None
        by_query = dict(zip(members, _by_query(found.at(threshold), len(members)), strict=True))
        for name in table:
            rows, theirs, close = [], [], 0
            for i in problem.of_change(name):
                query = problem.queries[i]
                right, wrong, missed = _row(problem, i, by_query[i])
                rows.append((right, wrong, missed))
                like = Levenshtein.normalized_similarity(
                    query.document.text, problem.library[query.base].text
                )
                close += like >= published.LEVENSHTEIN
                if like >= published.LEVENSHTEIN:
                    theirs.append((right, wrong, missed))
                else:
                    theirs.append((0, wrong + right, 0))
            ours, measured = score(rows, seed=self.plan.seed), score(theirs, seed=self.plan.seed)
            cell = published.STUDENT_WORKS[name].get(column)
            self.result.published.append(
                {
                    "set": problem.name,
                    "change": name,
                    "column": column,
                    "method": spec.label,
                    "threshold": threshold,
                    "source_recall": cell[0] if cell else None,
                    "source_precision": cell[1] if cell else None,
                    **ours.to_dict(),
                    "levenshtein_close": close,
                    "recall_by_levenshtein": measured.recall,
                    "precision_by_levenshtein": measured.precision,
                }
            )

    def _curve(self, problem: Problem, spec: Spec, found: MethodFindings) -> None:
        change_name = "sentences-moved" if spec.method == "imatch" else "synonyms-20"
        members = problem.of_change(change_name)
        name = "idf_width" if spec.method == "imatch" else "shingle_words"
        value = spec.options[name]
        thresholds: list[float | None] = [None] if spec.method == "imatch" else list(self.plan.thresholds)
        for threshold in thresholds:
            by_query = _by_query(found.at(threshold), len(members))
            total = score([_row(problem, i, by_query[at]) for at, i in enumerate(members)], resamples=1)
            label = spec.method if threshold is None else f"{spec.method}, {threshold:g}"
            known = next(
                (
                    row
                    for row in self.result.curves
                    if (row["set"], row["method"], row["curve"]) == (problem.name, label, name)
                ),
                None,
            )
            if known is None:
                known = {
                    "set": problem.name,
                    "method": label,
                    "change": change_name,
                    "curve": name,
                    "points": [],
                }
                self.result.curves.append(known)
            known["points"].append([value, total.precision, total.recall])

    # --- labelled sets -----------------------------------------------------------------------------------------

    def labelled_collection(self, one: LabelledCollection) -> None:
        specs = self.plan.specs
        outcomes = self._tasks([FindTask(spec, one.documents, None, self.plan.thresholds) for spec in specs])
        self.result.sets.append(
            {"set": one.name, "kind": "collection", "documents": len(one.documents), "about": one.about}
        )
        for spec, found in zip(specs, outcomes, strict=True):
            if self._failed(one.name, found):
                continue
            for threshold in [None, *(self.plan.thresholds if spec.has_threshold else ())]:
                pairs = {
                    tuple(sorted((one.documents[f.query].id, one.documents[f.document].id)))
                    for f in found.at(threshold)
                }
                rows = [(int(pair in pairs), 0, int(pair not in pairs)) for pair in sorted(one.wanted)]
                rows += [(0, 1, 0)] * len(pairs - one.wanted - one.open)
                self.result.labelled.append(
                    {
                        "set": one.name,
                        "method": spec.label,
                        "kind": "all",
                        "threshold": threshold,
                        **score(rows, seed=self.plan.seed).to_dict(),
                    }
                )
            self.result.costs.append({"set": one.name, "method": spec.label, **found.cost.to_dict()})

    def labelled_pairs(self, one: LabelledPairs) -> None:
        specs = [
            spec.with_parameters(shingle_words=1)
            if one.short and "shingle_words" not in spec.options
            else spec
            for spec in self.plan.specs
        ]
        self.result.sets.append(
            {"set": one.name, "kind": "pairs", "pairs": len(one.pairs), "about": one.about}
        )
        if one.short:
            self.result.notes.append(Note("shingles_of_one_word", name=one.name))
        outcomes = self._tasks([ScoreTask(spec, one.pairs) for spec in specs])
        named = [(spec.label, scored) for spec, scored in zip(specs, outcomes, strict=True)]
        if one.stories:
            stories = (same_story(a, b) for a, b in one.pairs)
            named.insert(0, (SAME_STORY, [(story.score, story.same) for story in stories]))
        kinds = sorted(set(one.kinds))
        for label, scored in named:
            if self._failed(one.name, scored):
                continue
            for kind in [*(kinds if len(kinds) > 1 else []), "all"]:
                members = [i for i, k in enumerate(one.kinds) if kind in (k, "all")]
                scores, labels = [scored[i][0] for i in members], [one.labels[i] for i in members]
                decided = cross_validated(scores, labels, seed=self.plan.seed)
                rows = [
                    (int(yes and label), int(yes and not label), int(label and not yes))
                    for yes, label in zip(decided, labels, strict=True)
                ]
                self.result.labelled.append(
                    {
                        "set": one.name,
                        "method": label,
                        "kind": kind,
                        "threshold": round(best_threshold(scores, labels)[0], 4),
                        **score(rows, seed=self.plan.seed).to_dict(),
                        "accuracy": round(
                            sum(y == x for y, x in zip(decided, labels, strict=True)) / len(labels), 6
                        ),
                        "auc": roc_auc(scores, labels),
                    }
                )

    def labelled_passages(self, one: LabelledPassages) -> None:
        specs = [spec for spec in self.plan.specs if spec.info.shows_fragments]
        self.result.sets.append(
            {"set": one.name, "kind": "passages", "pairs": len(one.pairs), "about": one.about}
        )
        if not specs:
            self.result.notes.append(Note("no_method_shows_passages", name=one.name))
        outcomes = self._tasks([PassageTask(spec, one.pairs) for spec in specs])
        for spec, outcome in zip(specs, outcomes, strict=True):
            if self._failed(one.name, outcome):
                continue
            self._passages(one.name, spec, outcome, [(pair.kind, pair.name) for pair in one.pairs])
            for text, own in one.own.items():
                spans = sorted(
                    d.span
                    for pair, found in zip(one.pairs, outcome.detections, strict=True)
                    if pair.kind == text
                    for d in found
                )
                flagged = sum(covered(Span(*s), spans) * 2 >= s.end - s.start for s in own)
                for row in self.result.passages:
                    if (row["set"], row["method"], row["change"]) == (one.name, spec.label, text):
                        row |= {"own": len(own), "own_flagged": flagged}


def join_documents(documents: Sequence[Document], words: int) -> list[Document]:
    """Neighbours (by id) put together until each has so many words; as they are when too few would be left."""
    out: list[Document] = []
    parts: list[Document] = []
    for document in sorted(documents, key=lambda d: d.id):
        parts.append(document)
        if sum(len(part.text.split()) for part in parts) >= words:
            out.append(Document(parts[0].id, "\n\n".join(part.text for part in parts)))
            parts = []
    return out if len(out) >= FEWEST + 2 else list(documents)


class _Labelled:
    """Tasks with what each is for."""

    def __init__(self) -> None:
        self.labels: list[tuple[str, Any]] = []
        self.tasks: list[Task] = []

    def add(self, label: tuple[str, Any], task: Task) -> None:
        self.labels.append(label)
        self.tasks.append(task)


def _by_query(findings: Iterable[Finding], queries: int) -> list[list[int]]:
    out: list[list[int]] = [[] for _ in range(queries)]
    for f in findings:
        out[f.query].append(f.document)
    return out


def _row(problem: Problem, query: int, found: Sequence[int]) -> tuple[int, int, int]:
    one = problem.queries[query]
    right = sum(t in found for t in one.truth)
    wrong = sum(d not in one.truth and d not in one.ignored for d in found)
    return right, wrong, len(one.truth) - right


def _set_row(problem: Problem) -> dict[str, Any]:
    replaced = {}
    for name, counts in problem.counts.items():
        if counts.get("replaced"):
            replaced[name] = {
                key: counts.get(key, 0)
                for key in ("words", "content", "replaced", "from_thesaurus", "from_collection")
            }
    return {
        "set": problem.name,
        "kind": "changed",
        "language": problem.language,
        "documents": len(problem.library),
        "changed": len({query.base for query in problem.queries}),
        "queries": len(problem.queries),
        "siblings": problem.siblings,
        "replaced": replaced,
    }


def _cluster_problem(
    problem: Problem, asked: Sequence[str], limit: int | None
) -> tuple[list[Document], dict[str, str]]:
    """The library with some changed copies in it, and for each document the name of its true cluster."""
    chosen = [name for name in CLUSTER_CHANGES if name in asked] or list(asked[:3])
    bases = {query.base for query in problem.queries}
    others = [i for i in range(len(problem.library)) if i not in bases]
    together = [problem.library[i] for i in sorted([*bases, *others[:limit]])]
    truth = {d.id: d.id for d in together}
    for query in problem.queries:
        if query.change in chosen and len(query.truth) == 1:
            together.append(query.document)
            truth[query.document.id] = problem.library[query.truth[0]].id
    return together, truth


def _columns(specs: Sequence[Spec]) -> dict[str, Spec]:
    """Columns of the table beside the source's: its six methods, then ours that it does not have."""
    out = {column: read_spec(text) for column, text in published.COLUMNS.items()}
    for spec in specs:
        if spec.method in ("meaning", "auto") and spec.label not in out:
            out[spec.label] = spec
    return out


def _curve_specs() -> list[tuple[Spec, str]]:
    out = [(read_spec(f"shingles:shingle_words={length}"), "synonyms-20") for length in LENGTHS]
    return out + [(read_spec(f"imatch:idf_width={width}"), "sentences-moved") for width in WIDTHS]


def cross_validated(
    scores: Sequence[float], labels: Sequence[bool], *, seed: int, folds: int = FOLDS
) -> list[bool]:
    """For each pair what a threshold says that was chosen on the other pairs (folds with both kinds in each)."""
    rng = random.Random(f"{seed} folds")
    fold = [0] * len(labels)
    for wanted in (True, False):
        members = [i for i, label in enumerate(labels) if bool(label) == wanted]
        rng.shuffle(members)
        for place, i in enumerate(members):
            fold[i] = place % folds
    out = [False] * len(labels)
    for number in range(folds):
        train = [i for i in range(len(labels)) if fold[i] != number]
        if not train:
            continue
        threshold, _ = best_threshold([scores[i] for i in train], [labels[i] for i in train])
        for i in range(len(labels)):
            if fold[i] == number:
                out[i] = scores[i] >= threshold
    return out
