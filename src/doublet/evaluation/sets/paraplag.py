"""ParaPlag essays: essays.jsonl.xz, one record per essay with fragments (types, originals) and its sources."""

from __future__ import annotations

from pathlib import Path

from doublet.evaluation.metrics import Passage
from doublet.evaluation.problem import PassagePair
from doublet.evaluation.sets.protocol import LabelledPassages, first, lines
from doublet.model import Span

HEAVY = "HPR"


class ParaPlag:
    name = "paraplag-essays"

    def recognises(self, folder: Path) -> bool:
        return {"essay", "fragments", "sources"} <= set(first(folder / "essays.jsonl.xz"))

    def load(self, folder: Path, *, limit: int | None) -> LabelledPassages:  # noqa: ARG002 - two essays are few
        pairs: list[PassagePair] = []
        own: dict[str, tuple[Span, ...]] = {}
        for row in lines(folder / "essays.jsonl.xz"):
            essay = row["essay"]
            own[essay] = tuple(Span(f["start"], f["end"]) for f in row["fragments"] if not f.get("originals"))
            for name, text in sorted(row["sources"].items()):
                by_kind: dict[str, list[Passage]] = {}
                for fragment in row["fragments"]:
                    originals = fragment.get("originals") or []
                    if fragment.get("source") != name or not originals:
                        continue
                    kind = "heavy paraphrase" if HEAVY in fragment["types"] else "light and medium"
                    where = Span(min(o["start"] for o in originals), max(o["end"] for o in originals))
                    by_kind.setdefault(kind, []).append(
                        Passage(Span(fragment["start"], fragment["end"]), where)
                    )
                cases = tuple(sorted(c for found in by_kind.values() for c in found))
                pairs.append(PassagePair(row["text"], text, cases, essay, f"{essay} · {name}"))
        about = "Russian essays rewritten by people; an aim of .90 of the borrowed fragments found"
        return LabelledPassages(folder.name, pairs, own, about)
