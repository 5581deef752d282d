"""4. Index: signature → candidates, without comparing all pairs. A candidate is not a match: compare it."""

from __future__ import annotations

from doublet.index.memory import MemoryIndex
from doublet.index.protocol import Candidate, Index

__all__ = ["Candidate", "Index", "MemoryIndex"]
