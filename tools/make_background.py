"""Makes src/doublet/text/background.bin: how common words are in Russian and English texts.

    python tools/make_background.py benchmarks/data/ru.jsonl benchmarks/data/en.jsonl

Counted are stems in the collections of benchmarks/corpus.py, which come from Debian documentation packages; only the
half of the documents whose id has an even checksum is read, so that the other half can test what uses the table.
Written are counts alone, as hashes of stems: no text of the packages is in the file. The layout is in
`doublet.text.background`.
"""

from __future__ import annotations

import json
import sys
import zlib
from collections import Counter
from pathlib import Path

from doublet.text.background import Row, write
from doublet.text.tokens import Canon

WORDS_PER_LANGUAGE = 12_000
STOP_STEMS = 120  #: the most frequent stems of a language say nothing about which text it is
OUT = Path(__file__).resolve().parents[1] / "src" / "doublet" / "text" / "background.bin"


def cyrillic(word: str) -> bool:
    return any("а" <= letter <= "я" for letter in word)


def rows_of(path: Path, russian: bool) -> list[Row]:
    total: Counter[int] = Counter()
    documents: Counter[int] = Counter()
    count = 0
    canon = Canon(reduce="stem")
    with path.open(encoding="utf-8") as lines:
        for line in lines:
            record = json.loads(line)
            if zlib.crc32(record["id"].encode()) % 2:
                continue
            batch = canon.tokens([record["text"]], words=True)
            pairs = zip(batch.words(0), batch.hashes.tolist(), strict=True)
            words = [value for word, value in pairs if cyrillic(word) == russian]
            total.update(words)
            documents.update(set(words))
            count += 1
    all_words = total.total()
    best = sorted(total, key=lambda word: (-total[word], word))[:WORDS_PER_LANGUAGE]
    return [
        Row(word, total[word] / all_words, documents[word] / count, place < STOP_STEMS)
        for place, word in enumerate(best)
    ]


def main() -> None:
    russian, english = map(Path, sys.argv[1:3])
    rows = rows_of(russian, True) + rows_of(english, False)
    OUT.write_bytes(write(rows))
    print(f"{len(rows)} stems, {OUT.stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
