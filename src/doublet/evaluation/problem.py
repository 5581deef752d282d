"""A collection as a problem: some documents are changed on purpose and asked for; the whole collection is the library.

Truth is known, because we made it. *Siblings*, documents that share much text with the unchanged document, are neither
right nor wrong: a collection of real texts holds copies that nobody has marked. They are counted and told.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from doublet.errors import UsageError
from doublet.evaluation import changes as making
from doublet.evaluation.changes import Changed, Splice, Surroundings
from doublet.evaluation.metrics import Passage
from doublet.evaluation.words import Language, language_of, make_language
from doublet.index.memory import MemoryIndex
from doublet.model import Document, Note, Span
from doublet.progress import Progress
from doublet.signatures import method as make_method

SIBLING = 0.2  #: share of the 3-word shingles of the unchanged document that a sibling has
SHORTEST = 50  #: words of a document that is worth changing
OWN_SHARE = 0.1  #: of the collection: texts that are in no library, into which passages are spliced
FEWEST = 5  #: documents of that length in a collection


@dataclass(frozen=True)
class Query:
    """A changed text. *truth*: numbers of the documents of the library it came from; *ignored*: their siblings."""

    document: Document
    change: str
    truth: tuple[int, ...]
    ignored: tuple[int, ...]
    base: int


@dataclass(frozen=True)
class PassagePair:
    """A text with borrowed passages beside one of its sources, or beside a text it took nothing from."""

    text: str
    source: str
    cases: tuple[Passage, ...]
    kind: str
    name: str


@dataclass
class Problem:
    name: str
    language: str
    library: list[Document]
    queries: list[Query]
    passages: list[PassagePair]
    counts: dict[str, dict[str, int]] = field(default_factory=dict)  #: by change: what was done in all
    siblings: int = 0  #: documents with a sibling among those that were changed
    notes: list[Note] = field(default_factory=list)

    def of_change(self, name: str) -> list[int]:
        return [i for i, query in enumerate(self.queries) if query.change == name]


def split_languages(documents: Sequence[Document]) -> dict[str, list[Document]]:
    """Documents by language, those of each by id."""
    out: dict[str, list[Document]] = {}
    for document in sorted(documents, key=lambda d: d.id):
        out.setdefault(language_of(document.text), []).append(document)
    return dict(sorted(out.items(), reverse=True))


def make_problem(
    name: str,
    documents: Sequence[Document],
    *,
    changes: Sequence[str],
    passage_changes: Sequence[str] = (),
    bases: int = 100,
    seed: int = 1,
    thesaurus: Path | None = None,
    thesaurus_part: str = "all",
    progress: Progress | None = None,
) -> Problem:
    """Change *bases* documents of a collection of one language in each way. Raises `UsageError` when there are few."""
    progress = progress or Progress()
    documents = sorted(documents, key=lambda d: d.id)
    long_enough = [d for d in documents if len(d.text.split()) >= SHORTEST]
    if len(long_enough) < FEWEST:
        raise UsageError(
            "too_few_long_documents",
            name=name,
            long_enough=len(long_enough),
            shortest=SHORTEST,
            fewest=FEWEST,
        )
    rng = random.Random(f"{seed} {name}")
    own_number = min(40, max(2, round(OWN_SHARE * len(long_enough))))
    own = sorted(rng.sample(long_enough, own_number), key=lambda d: d.id)
    left = {d.id for d in own}
    library = [d for d in documents if d.id not in left]
    candidates = [i for i, d in enumerate(library) if len(d.text.split()) >= SHORTEST]
    chosen = sorted(rng.sample(candidates, min(bases, len(candidates))))
    language_name = language_of("\n".join(d.text[:2000] for d in library[:50]))
    progress.step("changing", 0, len(changes), "changes")
    language = make_language(
        language_name, (d.text for d in documents[:2000]), thesaurus=thesaurus, part=thesaurus_part
    )
    problem = Problem(name, language_name, library, [], [], notes=list(language.notes))
    around = Surroundings(language, own=own, others=[library[i] for i in candidates])
    numbers = {d.id: i for i, d in enumerate(library)}
    alike = _siblings(library, sorted({*chosen, *candidates}) if "splice" in changes else chosen)
    problem.siblings = sum(bool(alike.get(i)) for i in chosen)
    for done, change_name in enumerate(changes):
        one = making.change(change_name)
        total = problem.counts.setdefault(change_name, {})
        for i in chosen:
            changed = making.apply(one, library[i], around, seed=seed)
            for what, number in changed.counts.items():
                total[what] = total.get(what, 0) + number
            truth = tuple(sorted(numbers[source] for source in changed.sources if source in numbers))
            ignored = sorted({other for source in truth for other in alike.get(source, ())} - set(truth))
            name_of = f"{library[i].id} · {change_name}"
            problem.queries.append(
                Query(Document(name_of, changed.text), change_name, truth or (i,), tuple(ignored), i)
            )
        progress.step("changing", done + 1, len(changes), "changes", Note("said", text=change_name))
    for inner in passage_changes:
        problem.passages += _passages(inner, library, chosen, around, seed, alike, numbers)
    return problem


def _passages(
    inner: str,
    library: Sequence[Document],
    chosen: Sequence[int],
    around: Surroundings,
    seed: int,
    alike: dict[int, frozenset[int]],
    numbers: dict[str, int],
) -> list[PassagePair]:
    """Passages spliced into own texts, each beside its sources, and one text that nothing was taken from."""
    splice = Splice(inner=None if inner == "verbatim" else making.change(inner))
    out = []
    for i in chosen:
        changed = making.apply(splice, library[i], around, seed=seed)
        by_source = hulls(changed)
        for source, passage in by_source.items():
            out.append(
                PassagePair(
                    changed.text,
                    library[numbers[source]].text,
                    (passage,),
                    inner,
                    f"{library[i].id} · {source}",
                )
            )
        rng = random.Random(f"{seed} stranger {inner} {library[i].id}")
        taken = {numbers[source] for source in by_source}
        strangers = [
            j for j in range(len(library)) if j not in taken and not any(j in alike.get(t, ()) for t in taken)
        ]
        if strangers:
            stranger = library[rng.choice(strangers)]
            out.append(
                PassagePair(changed.text, stranger.text, (), inner, f"{library[i].id} · {stranger.id}")
            )
    return out


def hulls(changed: Changed) -> dict[str, Passage]:
    """For texts that took one passage from each source: from its first to its last character, in both texts."""
    out: dict[str, Passage] = {}
    for origin in changed.origins:
        known = out.get(origin.source)
        a, b = origin.span, origin.source_span
        if known is not None:
            a = Span(min(known.span.start, a.start), max(known.span.end, a.end))
            b = Span(min(known.source_span.start, b.start), max(known.source_span.end, b.end))
        out[origin.source] = Passage(a, b)
    return out


def _siblings(library: Sequence[Document], of: Sequence[int]) -> dict[int, frozenset[int]]:
    """For each document of *of* those with which it shares much text, whatever anybody did on purpose."""
    method = make_method("shingles", shingle_words=3, containment=SIBLING)
    signatures = method.sign_texts([d.text for d in library])
    index = MemoryIndex(method)
    index.add_many((str(i), s) for i, s in enumerate(signatures) if s is not None)
    out: dict[int, frozenset[int]] = {}
    for i in of:
        signature = signatures[i]
        if signature is None:
            continue
        found = set()
        for candidate in index.candidates(signature):
            other = signatures[int(candidate.id)]
            assert other is not None
            if candidate.hits >= SIBLING * min(len(signature.values), len(other.values)):
                found.add(int(candidate.id))
        found.discard(i)
        if found:
            out[i] = frozenset(found)
    return out


__all__ = [
    "Language",
    "PassagePair",
    "Problem",
    "Query",
    "hulls",
    "make_problem",
    "split_languages",
]
