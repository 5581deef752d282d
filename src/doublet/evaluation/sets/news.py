"""Pairs of news: pairs.jsonl.xz with first, second (title, text), label OK or BAD, lang."""

from __future__ import annotations

from pathlib import Path

from doublet.evaluation.sets.protocol import LabelledPairs, first, lines


class News:
    name = "tg-news-pairs"

    def recognises(self, folder: Path) -> bool:
        return {"first", "second", "label", "lang"} <= set(first(folder / "pairs.jsonl.xz"))

    def load(self, folder: Path, *, limit: int | None) -> LabelledPairs:  # noqa: ARG002 - 75 pairs are few
        rows = list(lines(folder / "pairs.jsonl.xz"))

        def text(article: dict[str, str]) -> str:
            return f"{article['title']}\n\n{article['text']}"

        return LabelledPairs(
            folder.name,
            [(text(row["first"]), text(row["second"])) for row in rows],
            [row["label"] == "OK" for row in rows],
            [row["lang"] for row in rows],
            about="the same event or not; F1 .831 for TF-IDF in the literature (other pairs)",
            stories=True,
        )
