"""Revisions of pages: docs.jsonl.xz (id, page, version, text, jaccard5_to_other) and similar_different_pages.jsonl."""

from __future__ import annotations

import json
from pathlib import Path

from doublet.evaluation.sets.protocol import LabelledCollection, first, lines
from doublet.model import Document

ASKED_FROM = 0.5  #: 5-word resemblance of two versions from which they are to be found


class Revisions:
    name = "mdn-ru-revisions"

    def recognises(self, folder: Path) -> bool:
        return {"page", "version", "text", "id"} <= set(first(folder / "docs.jsonl.xz"))

    def load(self, folder: Path, *, limit: int | None) -> LabelledCollection:  # noqa: ARG002 - 625 documents are few
        rows = list(lines(folder / "docs.jsonl.xz"))
        pages: dict[str, list[dict[str, object]]] = {}
        for row in rows:
            pages.setdefault(row["page"], []).append(row)
        wanted: set[tuple[str, str]] = set()
        open_pairs: set[tuple[str, str]] = set()
        for versions in pages.values():
            if len(versions) < 2:
                continue
            a, b = sorted(str(v["id"]) for v in versions[:2])
            like = float(versions[0]["jaccard5_to_other"] or 0)  # type: ignore[arg-type]
            (wanted if like >= ASKED_FROM else open_pairs).add((a, b))
        listed = folder / "similar_different_pages.jsonl"
        if listed.is_file():
            for line in listed.read_text("utf-8").splitlines():
                pair = json.loads(line)
                a, b = sorted((pair["a"], pair["b"]))
                open_pairs.add((a, b))
        documents = [Document(str(row["id"]), str(row["text"])) for row in rows]
        about = f"two versions of a page with 5-word resemblance of {ASKED_FROM} or more are to be found"
        return LabelledCollection(
            folder.name, documents, frozenset(wanted), frozenset(open_pairs - wanted), about
        )
