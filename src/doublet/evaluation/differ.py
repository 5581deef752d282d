"""Two methods on the user's own documents (E4): which pairs each calls duplicates, and where they differ."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import doublet
from doublet.errors import OutputFailed, UsageError
from doublet.evaluation.page import Words, page, switch
from doublet.evaluation.report import as_csv
from doublet.evaluation.specs import Spec, read_spec
from doublet.evaluation.tasks import Failure, FindTask, run_tasks
from doublet.model import FORMAT_VERSION, Document, Fragment, Note
from doublet.progress import Progress
from doublet.reports.output import open_output
from doublet.reports.page import escape as safe

SHOWN = 100  #: pairs on the page; the JSON has all
LONGEST = 20_000  #: characters of a text on the page


@dataclass(frozen=True)
class Difference:
    """A pair of documents that one method calls duplicates. *only*: its label; empty when both do."""

    a: str
    b: str
    only: str
    scores: tuple[float | None, float | None]  #: None where a method did not even look at the pair

    def to_dict(self) -> dict[str, Any]:
        return {"a": self.a, "b": self.b, "only": self.only, "scores": list(self.scores)}


@dataclass(frozen=True)
class Differences:
    methods: tuple[str, str]
    documents: tuple[Document, ...]
    pairs: tuple[Difference, ...]  #: those on which they differ first, closest first
    threshold: float | None
    notes: tuple[Note, ...] = ()

    def counts(self) -> dict[str, int]:
        """How many pairs both found, and each alone."""
        out = {"both": 0, **dict.fromkeys(self.methods, 0)}
        for pair in self.pairs:
            out[pair.only or "both"] += 1
        return out

    def to_dict(self) -> dict[str, Any]:
        return {
            "format": FORMAT_VERSION,
            "kind": "differences",
            "version": doublet.__version__,
            "methods": list(self.methods),
            "threshold": self.threshold,
            "documents": len(self.documents),
            "counts": self.counts(),
            "pairs": [pair.to_dict() for pair in self.pairs],
            "notes": [note.to_dict() for note in self.notes],
        }


def find_differences(
    method_a: str,
    method_b: str,
    documents: Sequence[Document],
    *,
    threshold: float | None = None,
    workers: int = 1,
    isolated: bool = True,
    progress: Progress | None = None,
) -> Differences:
    """All pairs of *documents* that one of two methods (specs) calls duplicates.

    Without a *threshold* each decides by its own rule. Raises `UsageError` when the methods are the same or there are
    fewer than two documents.
    """
    specs = (read_spec(method_a), read_spec(method_b))
    if specs[0].label == specs[1].label:
        raise UsageError("same_methods", label=specs[0].label)
    documents = sorted(documents, key=lambda d: d.id)
    if len(documents) < 2:
        raise UsageError("two_documents_needed")
    thresholds = () if threshold is None else (threshold,)
    outcomes = run_tasks(
        [FindTask(spec, documents, None, thresholds) for spec in specs],
        workers=workers,
        isolated=isolated,
        progress=progress,
    )
    found: list[set[tuple[int, int]]] = []
    scores: list[dict[tuple[int, int], float]] = []
    for spec, outcome in zip(specs, outcomes, strict=True):
        if isinstance(outcome, Failure):
            raise UsageError("method_not_run_here", label=spec.label, why=outcome.reason)
        at = threshold if spec.has_threshold else None
        found.append({(f.query, f.document) for f in outcome.at(at)})
        scores.append({(f.query, f.document): f.score for f in outcome.findings})
    pairs = []
    for key in found[0] | found[1]:
        only = "" if key in found[0] and key in found[1] else specs[0 if key in found[0] else 1].label
        pairs.append(
            Difference(
                documents[key[0]].id, documents[key[1]].id, only, (scores[0].get(key), scores[1].get(key))
            )
        )
    pairs.sort(key=lambda p: (not p.only, -max(s or 0.0 for s in p.scores), p.a, p.b))
    return Differences(
        (specs[0].label, specs[1].label), tuple(documents), tuple(pairs), threshold, _notes(specs, threshold)
    )


def _notes(specs: tuple[Spec, Spec], threshold: float | None) -> tuple[Note, ...]:
    if threshold is None:
        return ()
    return tuple(Note("no_threshold", label=spec.label) for spec in specs if not spec.has_threshold)


def write_differences(result: Differences, folder: Path, *, language: str = "en") -> list[Path]:
    """index.html, differences.json and differences.csv. Raises `OutputFailed`."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise OutputFailed("folder_not_made", why=error.strerror or error, path=str(folder)) from error
    rows = [
        {"a": p.a, "b": p.b, "only": p.only, result.methods[0]: p.scores[0], result.methods[1]: p.scores[1]}
        for p in result.pairs
    ]
    files = {
        "index.html": differences_page(result, language=language),
        "differences.json": json.dumps(result.to_dict(), ensure_ascii=False, indent=1) + "\n",
        "differences.csv": as_csv(rows),
    }
    for name, content in files.items():
        with open_output(folder / name) as stream:
            stream.write(content.encode())
    return [folder / name for name in files]


def differences_page(result: Differences, *, language: str = "en") -> str:
    from doublet.jobs.compare import AUTO, compare

    w = Words(language)
    texts = {d.id: d.text for d in result.documents}
    counts = result.counts()
    facts = [
        (f"{len(result.documents):,}", w("library")),
        (f"{counts['both']:,}", w("both")),
        *((f"{counts[name]:,}", f"{w('only')} {safe(name)}") for name in result.methods),
    ]
    differing = [pair for pair in result.pairs if pair.only]
    cascade = next((spec.options for spec in map(read_spec, result.methods) if spec.method == AUTO), None)
    cards = []
    for number, pair in enumerate(differing[:SHOWN], 1):
        compared = compare(texts[pair.a], texts[pair.b], **(cascade or {}))
        fragments = compared.fragments
        # A cascade may decide by more than the score: its reason is told.
        why = f"<br>auto: {safe(compared.reason)}" if cascade is not None and compared.reason else ""
        scores = " · ".join(
            f"{safe(name)}: {'–' if value is None else f'{value:.2f}'}"
            for name, value in zip(result.methods, pair.scores, strict=True)
        )
        cards.append(
            f'<article class="card" id="pair-{number}" data-of="only" data-value="{safe(pair.only)}"><h3>{number}. '
            f'{safe(pair.a)} · {safe(pair.b)} <span class="tag">{w("only")} {safe(pair.only)}</span></h3>'
            f'<p class="soft">{w("score")}: {scores}{why}</p>'
            f'<div class="pair"><div tabindex="0"><h4>{safe(pair.a)}</h4>'
            f'{_marked(texts[pair.a], fragments, "a")}</div><div tabindex="0"><h4>{safe(pair.b)}</h4>'
            f"{_marked(texts[pair.b], fragments, 'b')}</div></div></article>"
        )
    if not differing:
        cards.append(f"<p>{w('same_answer')}</p>")
    more = f"<p>{len(differing) - SHOWN:,} {w('not_shown')}</p>" if len(differing) > SHOWN else ""
    options = w.option("all_pairs", "*") + "".join(
        f'<option value="{safe(name)}">{safe(w.plain("only"))} {safe(name)}</option>'
        for name in result.methods
    )
    listed = "".join(f"<li>{safe(note)}</li>" for note in result.notes)
    notes = f"<ul class='soft'>{listed}</ul>" if listed else ""
    tools = (
        f'<div class="tools"><label>{w("filter")} <select data-shows="only">{options}</select></label></div>'
    )
    body = f"""<header><div class="top"><div><h1>{w("differ_title")}</h1><p class="lead">{w("differ_lead")}</p></div>
{switch(w)}</div><ul class="facts">{"".join(f"<li><b>{v}</b>{name}</li>" for v, name in facts)}</ul>{notes}</header>
<main>{tools if differing else ""}{"".join(cards)}{more}</main><footer>{w("made_by")} {doublet.__version__}</footer>"""
    return page(w.plain("differ_title"), body, w)


def _marked(text: str, fragments: Sequence[Fragment], side: str) -> str:
    """*text* with the passages that both have marked and numbered."""
    out, at = [], 0
    for number, fragment in sorted(enumerate(fragments, 1), key=lambda item: getattr(item[1], side)):
        start, end = getattr(fragment, side)
        if start < at or start >= LONGEST:
            continue
        out.append(safe(text[at:start]))
        out.append(f'<mark title="{number}">{safe(text[start:end])}</mark>')
        at = end
    out.append(safe(text[at:LONGEST]) + ("…" if len(text) > LONGEST else ""))
    return "".join(out)
