"""What `--data` can name: the bundled texts, the user's documents, a labelled set, or a folder of labelled sets."""

from __future__ import annotations

import json
import lzma
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from doublet.errors import InputNotFound, UsageError
from doublet.evaluation.sets.news import News
from doublet.evaluation.sets.pan import Pan
from doublet.evaluation.sets.paraplag import ParaPlag
from doublet.evaluation.sets.protocol import (
    Adapter,
    Collection,
    DataSet,
    LabelledCollection,
    LabelledPairs,
    LabelledPassages,
)
from doublet.evaluation.sets.revisions import Revisions
from doublet.evaluation.sets.sentences import MSRP, PARAPHRASER, RUPAWS
from doublet.model import Document, Note, Outcome

__all__ = [
    "ADAPTERS",
    "Collection",
    "DataSet",
    "LabelledCollection",
    "LabelledPairs",
    "LabelledPassages",
    "Skipped",
    "bundled",
    "open_data",
    "read_documents",
]

ADAPTERS: tuple[Adapter, ...] = (Pan(), ParaPlag(), Revisions(), News(), PARAPHRASER, MSRP, RUPAWS)
TEXTS = Path(__file__).resolve().parents[1] / "texts"


@dataclass(frozen=True)
class Skipped:
    """A set that was not used, and why."""

    name: str
    reason: Note

    def to_dict(self) -> dict[str, Any]:
        return {"name": self.name, "reason": self.reason.to_dict()}


def bundled(language: str) -> Collection:
    """The texts that come with the program: 160 documents of one manual (MIT licence, see NOTICE)."""
    with lzma.open(TEXTS / f"{language}.jsonl.xz", "rt", encoding="utf-8") as stream:
        rows = [json.loads(line) for line in stream]
    return Collection(f"bundled-{language}", [Document(row["id"], row["text"]) for row in rows])


def open_data(
    path: Path | None,
    *,
    limit: int | None = None,
    id_field: str = "id",
    text_field: str = "text",
) -> tuple[list[DataSet], list[Skipped]]:
    """The sets that *path* names, and those that were looked for and are not there. None: the bundled texts."""
    if path is None:
        return [bundled("ru"), bundled("en")], []
    try:
        path.stat()
    except (OSError, ValueError) as error:
        raise InputNotFound("no_data", path=str(path)) from error
    if path.is_dir():
        for adapter in ADAPTERS:
            if adapter.recognises(path):
                return [adapter.load(path, limit=limit)], []
        found: list[DataSet] = []
        skipped: list[Skipped] = []
        for adapter in ADAPTERS:
            folders = sorted(f for f in path.iterdir() if f.is_dir() and adapter.recognises(f))
            found += [adapter.load(folder, limit=limit) for folder in folders]
            if not folders:
                skipped.append(Skipped(adapter.name, Note("no_folder_holds", path=path)))
        if found:
            return found, skipped
    documents, outcomes = read_documents([path], id_field=id_field, text_field=text_field)
    if not documents:
        raise UsageError(
            "no_words_in_set", path=path, why=outcomes[0].reason if outcomes else Note("set_is_empty")
        )
    notes = tuple(Note("set_note", name=o.place or o.id, note=o.reason) for o in outcomes[:20])
    return [Collection(path.name, documents, notes)], []


def read_documents(
    paths: list[Path], *, id_field: str = "id", text_field: str = "text"
) -> tuple[list[Document], list[Outcome]]:
    """All documents of files, folders and tables, by id; what could not be read is told."""
    from doublet.sources.open import open_source

    documents: dict[str, Document] = {}
    outcomes: list[Outcome] = []
    with open_source([str(path) for path in paths], id_field=id_field, text_field=text_field) as source:
        for batch in source.batches():
            parsed = batch.parse()
            outcomes += parsed.outcomes
            for name, text in zip(parsed.ids, parsed.texts, strict=True):
                if name in documents:
                    outcomes.append(Outcome("duplicate_id", name, "", Note("document_twice")))
                elif text.split():
                    documents[name] = Document(name, text)
    return [documents[name] for name in sorted(documents)], outcomes
