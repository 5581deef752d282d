"""Learn from labelled pages how to tell the content of a page from its frame: src/doublet/text/frame_weights.json.

    python tools/learn_frame.py pages.jsonl

Each line has "html", "gold" (the text of the content) and perhaps "weight" (1 unless given). A block is content when
half of its words are in runs of four words that the gold text has, too. The weights are those of a logistic regression
in which every page counts alike, and its blocks by their words. The pages themselves are not part of the project.
"""

from __future__ import annotations

import argparse
import json
import re
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from doublet.errors import DoubletError
from doublet.text.formats.html import cut_page, parse_page, take_hidden
from doublet.text.formats.protocol import Builder
from doublet.text.frame import OPTIONS
from doublet.text.signs import NAMES, signs

F64 = NDArray[np.float64]
OUT = Path(__file__).resolve().parents[1] / "src" / "doublet" / "text" / "frame_weights.json"
WORD = re.compile(r"\w+")
LONGEST = 200  # words of a block that count
SMALLEST = 50  # words: no page counts as if it had fewer
SEEN = 0.3  # of the gold text must be among the blocks, else page and label do not belong together
RIDGE = 1.0


def labelled(html: str, gold: str) -> tuple[F64, NDArray[np.bool_], F64] | None:
    """Signs, labels and weights of the blocks of a page."""
    page, _ = parse_page(html.encode("utf-8", "replace"))
    take_hidden(page, Builder())
    blocks = cut_page(page)
    if not blocks.texts:
        return None
    told = WORD.findall(gold.lower())
    runs = {tuple(told[place : place + 4]) for place in range(len(told) - 3)}
    words: list[str] = []
    owners: list[int] = []
    for number, text in enumerate(blocks.texts):
        own = WORD.findall(text.lower())
        words += own
        owners += [number] * len(own)
    found = np.zeros(len(words))
    for place in range(len(words) - 3):
        if tuple(words[place : place + 4]) in runs:
            found[place : place + 4] = 1
    if found.sum() < SEEN * len(told):
        return None
    where = np.array(owners, dtype=np.int64)
    count = np.bincount(where, minlength=len(blocks.texts)).astype(np.float64)
    right = np.bincount(where, weights=found, minlength=len(blocks.texts)) >= 0.5 * np.maximum(count, 1)
    rows = signs(blocks, OPTIONS).rows
    return rows, right, np.minimum(count, LONGEST) / max(SMALLEST, float(count.sum()))


def fit(rows: F64, labels: NDArray[np.bool_], weights: F64) -> tuple[F64, float]:
    """Weights and start of a logistic regression, by Newton's method."""
    mean = np.average(rows, axis=0, weights=weights)
    spread = np.sqrt(np.average((rows - mean) ** 2, axis=0, weights=weights))
    spread[spread < 1e-9] = 1
    scaled = np.column_stack([(rows - mean) / spread, np.ones(len(rows))])
    weights = weights * len(weights) / weights.sum()
    found = np.zeros(scaled.shape[1])
    ridge = np.full(len(found), RIDGE)
    ridge[-1] = 0
    for _ in range(20):
        chance = 1 / (1 + np.exp(-np.clip(scaled @ found, -30, 30)))
        slope = scaled.T @ (weights * (chance - labels)) + ridge * found
        curve = (scaled * (weights * np.maximum(chance * (1 - chance), 1e-6))[:, None]).T @ scaled
        step = np.linalg.solve(curve + np.diag(ridge), slope)
        found -= step
        if abs(step).max() < 1e-3:
            break
    raw = found[:-1] / spread
    return raw, float(found[-1] - raw @ mean)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("pages", type=Path, nargs="+")
    asked = parser.parse_args()
    made = []
    for path in asked.pages:
        with path.open(encoding="utf-8") as lines:
            for row in map(json.loads, lines):
                try:
                    one = labelled(row["html"], row["gold"])
                except DoubletError:
                    continue
                if one is not None:
                    made.append((one[0], one[1], one[2] * row.get("weight", 1.0)))
    rows, labels, weights = (np.concatenate(part) for part in zip(*made, strict=True))
    found, start = fit(rows, labels, weights)
    table = {"pages": len(made), "blocks": len(rows), "start": round(start, 4)}
    named = {name: round(float(weight), 4) for name, weight in zip(NAMES, found, strict=True)}
    OUT.write_text(json.dumps(table | {"weights": named}, indent=1, ensure_ascii=False) + "\n", "utf-8")
    print(f"{OUT}: {len(NAMES)} weights from {len(rows)} blocks of {len(made)} pages")


if __name__ == "__main__":
    main()
