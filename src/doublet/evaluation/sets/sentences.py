"""Pairs of sentences that people called paraphrases or not: pairs.jsonl.xz with text_1, text_2 and label or class."""

from __future__ import annotations

from pathlib import Path

from doublet.evaluation.sets.protocol import LabelledPairs, first, lines, spread


class SentencePairs:
    """ParaPhraser (class), MSRP (label), RuPAWS (label and source)."""

    def __init__(self, name: str, field: str, *, by_source: bool, about: str) -> None:
        self.name = name
        self._field, self._by_source, self._about = field, by_source, about

    def recognises(self, folder: Path) -> bool:
        fields = set(first(folder / "pairs.jsonl.xz"))
        return {"text_1", "text_2", self._field} <= fields and ("source" in fields) == self._by_source

    def load(self, folder: Path, *, limit: int | None) -> LabelledPairs:
        rows = spread(list(lines(folder / "pairs.jsonl.xz")), None if limit is None else 4 * limit)
        return LabelledPairs(
            folder.name,
            [(row["text_1"], row["text_2"]) for row in rows],
            # Classes 1 (strict) and 0 (loose) are paraphrases, -1 is none; labels are 1 and 0.
            [int(row[self._field]) >= (0 if self._field == "class" else 1) for row in rows],
            [str(row.get("source", "all")) for row in rows],
            short=True,
            about=self._about,
        )


PARAPHRASER = SentencePairs(
    "ru-paraphraser",
    "class",
    by_source=False,
    about="Russian headlines; F1 .82 in the literature, all positive .784",
)
MSRP = SentencePairs(
    "msrp", "label", by_source=False, about="English sentences; F1 about .86 in the literature"
)
RUPAWS = SentencePairs(
    "rupaws",
    "label",
    by_source=True,
    about="same words, other meaning: a false-alarm test; ROC AUC .761 and .844",
)
