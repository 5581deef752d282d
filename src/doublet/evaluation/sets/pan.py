"""PAN's text alignment corpora, packed: docs.jsonl.xz (id, text) and pairs.jsonl.xz (susp, src, type, cases)."""

from __future__ import annotations

from pathlib import Path

from doublet.evaluation.metrics import Passage
from doublet.evaluation.problem import PassagePair
from doublet.evaluation.sets.protocol import LabelledPassages, first, lines, spread
from doublet.model import Span


class Pan:
    name = "pan13-text-alignment-train"

    def recognises(self, folder: Path) -> bool:
        return (folder / "docs.jsonl.xz").is_file() and {"susp", "src", "cases"} <= set(
            first(folder / "pairs.jsonl.xz")
        )

    def load(self, folder: Path, *, limit: int | None) -> LabelledPassages:
        kinds: dict[str, list[dict[str, object]]] = {}
        for row in lines(folder / "pairs.jsonl.xz"):
            kinds.setdefault(row["type"], []).append(row)
        chosen = [row for kind in sorted(kinds) for row in spread(kinds[kind], limit)]
        wanted = {str(row[side]) for row in chosen for side in ("susp", "src")}
        texts = {r["id"]: r["text"] for r in lines(folder / "docs.jsonl.xz") if r["id"] in wanted}
        pairs = []
        for row in chosen:
            found: list[Passage] = []
            for case in row["cases"]:
                a, b = case["this_offset"], case["source_offset"]
                found.append(Passage(Span(a, a + case["this_length"]), Span(b, b + case["source_length"])))
            susp, src = str(row["susp"]), str(row["src"])
            pairs.append(
                PassagePair(texts[susp], texts[src], tuple(found), str(row["type"]), f"{susp} · {src}")
            )
        about = "PAN 2013 text alignment; published plagdet of the 2014 winner: .877 entire"
        return LabelledPassages(folder.name, pairs, about=about)
