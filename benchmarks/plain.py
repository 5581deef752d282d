"""What a few lines reach: plain measures beside ours on the same texts, so that a set can be told hard from easy.

Words are cut to five letters, which is close enough to stems in Russian and English. Sentences end where a sign and a
blank are.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Sequence

SMALL = 3  #: letters: shorter words say little
STEM = 5  #: letters that are left of a word
SHARE = 0.3  #: of the words of a sentence that one sentence of a source must have


def words(text: str) -> list[str]:
    return [word[:STEM] for word in re.findall(r"\w+", text.lower()) if len(word) >= SMALL]


def overlaps(sentences: Sequence[str], source: str) -> list[bool]:
    """Of each sentence whether one sentence of the source has enough of its words."""
    there = [set(words(one)) for one in re.split(r"(?<=[.!?])\s+", source)]
    asked = [set(words(one)) for one in sentences]
    return [any(len(one & other) >= SHARE * len(one) > 0 for other in there) for one in asked]


def cosines(pairs: Sequence[tuple[str, str]]) -> list[float]:
    """TF-IDF of each pair, words weighed by the texts of all pairs."""
    texts = list(dict.fromkeys(text for pair in pairs for text in pair))
    counts = [Counter(words(text)) for text in texts]
    found_in = Counter(word for count in counts for word in count)
    weights = {}
    for text, count in zip(texts, counts, strict=True):
        weighed = {
            word: (1 + math.log(n)) * math.log(len(texts) / found_in[word]) for word, n in count.items()
        }
        length = math.sqrt(sum(value * value for value in weighed.values())) or 1.0
        weights[text] = {word: value / length for word, value in weighed.items()}
    return [
        sum(value * weights[b].get(word, 0.0) for word, value in weights[a].items()) if a != b else 1.0
        for a, b in pairs
    ]


def best_threshold(values: Sequence[float], same: Sequence[bool]) -> float:
    """The one with the best F1."""

    def f1(threshold: float) -> float:
        called = [value >= threshold for value in values]
        both = sum(map(bool.__and__, called, same))
        return 2 * both / max(1, sum(called) + sum(same))

    return max(sorted(set(values)), key=f1, default=0.0)
