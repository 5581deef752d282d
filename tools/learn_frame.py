"""Learn from labelled pages how to tell the content of a page from its frame: src/doublet/text/frame_trees.json.

    pip install lightgbm==4.7.0
    python benchmarks/content.py CLONES --learn pages.jsonl
    python tools/learn_frame.py pages.jsonl

Each line has "html", "gold" (the text of the content) and perhaps "weight" (1 unless given). A block is content when
half of its words are in runs of four words that the gold text has, too. Small decision trees are grown one after the
other, each on what the ones before got wrong (gradient boosting). Every page counts alike, and its blocks by their
words. The library that grows them is needed here and nowhere else. The pages themselves are not part of the project.
"""

from __future__ import annotations

import argparse
import json
import re
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from doublet.errors import DoubletError
from doublet.text.formats.html import cut_page, parse_page, take_hidden
from doublet.text.formats.protocol import Builder
from doublet.text.frame import OPTIONS, is_article
from doublet.text.signs import NAMES, signs

F64 = NDArray[np.float64]
OUT = Path(__file__).resolve().parents[1] / "src" / "doublet" / "text" / "frame_trees.json"
WORD = re.compile(r"\w+")
LONGEST = 200  # words of a block that count
SMALLEST = 50  # words: no page counts as if it had fewer
SEEN = 0.3  # of the gold text must be among the blocks, else page and label do not belong together
TREES = 120
SETTINGS = {
    "objective": "binary", "num_leaves": 12, "learning_rate": 0.1, "lambda_l2": 10.0, "feature_fraction": 0.3,
    "bagging_fraction": 0.7, "bagging_freq": 1, "min_data_in_leaf": 100, "min_sum_hessian_in_leaf": 5.0, "max_bin": 63,
    "seed": 1, "deterministic": True, "force_row_wise": True, "verbose": -1,
}  # fmt: skip


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
    if not runs or found.sum() < SEEN * len(told):
        return None
    where = np.array(owners, dtype=np.int64)
    count = np.bincount(where, minlength=len(blocks.texts)).astype(np.float64)
    right = np.bincount(where, weights=found, minlength=len(blocks.texts)) >= 0.5 * np.maximum(count, 1)
    rows = signs(blocks, OPTIONS, article=is_article(page)).rows
    return rows, right, np.minimum(count, LONGEST) / max(SMALLEST, float(count.sum()))


def grow(rows: F64, labels: NDArray[np.bool_], weights: F64) -> list[list[Any]]:
    """The trees, each as a list of its nodes (`doublet.text.frame.trees_of`)."""
    import lightgbm

    told = lightgbm.Dataset(rows, labels.astype(np.float64), weight=weights * len(weights) / weights.sum())
    model = lightgbm.train(SETTINGS, told, TREES)
    return [written(tree["tree_structure"]) for tree in model.dump_model()["tree_info"]]


def written(node: dict[str, Any]) -> list[Any]:
    if "leaf_value" in node:
        return [float(f"{node['leaf_value']:.4g}")]
    bound = node["threshold"]
    bound = float(f"{bound:.6g}") if abs(bound) > 1e-30 else 0.0
    return [[node["split_feature"], bound], *written(node["left_child"]), *written(node["right_child"])]


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
    trees = grow(rows, labels, weights)
    table = {"pages": len(made), "blocks": len(rows), "signs": list(NAMES)}
    start = json.dumps(table, ensure_ascii=False)[:-1]
    lines = ",\n".join(json.dumps(tree, separators=(",", ":")) for tree in trees)
    OUT.write_text(f'{start}, "trees": [\n{lines}\n]}}\n', "utf-8")
    print(f"{OUT}: {len(trees)} trees from {len(rows)} blocks of {len(made)} pages")


if __name__ == "__main__":
    main()
