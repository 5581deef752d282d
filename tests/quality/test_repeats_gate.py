"""The gate of the linter on real manuals: harmless edits raise no alarm, copies do."""

from __future__ import annotations

import pathlib
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "benchmarks"))

import repeats_gate
import repeats_truth


@pytest.mark.shared
@pytest.mark.covers("P7", "P9")
@pytest.mark.parametrize(
    ("algorithm", "manual"),
    [
        ("auto", "linux-kernel-doc"),
        ("exact", "linux-kernel-doc"),
        ("edit", "python-requests"),
        ("ngrams", "python-requests"),
    ],
)
def test_the_gate_does_not_cry_wolf(shared: pathlib.Path, algorithm: str, manual: str) -> None:
    """The full number of trials, in three trees: ``python benchmarks/repeats_gate.py``."""
    text = repeats_truth.manual(shared / "data" / "doc-repeats-spbu", manual)
    half = text.index("\n", len(text) // 2)
    tree = {"one.txt": text[:half], "two.txt": text[half:]}
    copies = 8 if algorithm in ("auto", "exact") else 0  # edit and ngrams do not find every copy
    found = repeats_gate.trial(tree, algorithm, 12, copies, seed=1)
    assert found["wrong"] == []
    assert found["caught"] == copies
