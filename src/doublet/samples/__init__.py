"""Texts to try Doublet on: a small library and a work that borrows from it. Written for this, free to use.

`LIBRARY` is JSONL with `id`, `title`, `time` and `text`: twelve short articles, Russian and English, among
them a lightly edited reprint (`snow-reprint`) and a passage of a longer text (`tide-summary`). `WORK` is a
plain text file that takes one paragraph word for word, one edited, one with its sentences moved and one
behind look-alike letters.
"""

from __future__ import annotations

from pathlib import Path

LIBRARY = Path(__file__).parent / "library.jsonl"
WORK = Path(__file__).parent / "work.txt"
