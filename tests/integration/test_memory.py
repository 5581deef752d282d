"""No method, option or kind of input takes more memory than it was allowed. Each runs in a process of its own.

The limits that Doublet sets for itself are lowered, so that a collection of some megabytes does not fit: keys, sets,
signatures, statistics and the words that are remembered go to disk or begin anew.
"""

from __future__ import annotations

import csv
import json
import random
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from doublet.jobs.dedupe.memory import TABLE_MEMORY
from doublet.signatures import METHODS

ALLOWED = 120_000_000
DOCUMENTS, WORDS, DISTINCT = 8_000, 120, 90_000
COMPARED = (
    "smallest",
    "tfidf",
    "imatch",
    "pivot",
    "meaning",
    "auto",
)  # the answers with much memory are asked for, too

# The least part of the memory, and a batch in hand, are made small; the rest is as it is.
RUN = """
import functools, hashlib, json, sys
from doublet.jobs.dedupe import dedupe_inputs, memory
from doublet.sources.open import open_source
path, method, allowed, options = sys.argv[1], sys.argv[2], int(sys.argv[3]), json.loads(sys.argv[4])
memory.LEAST_MEMORY, memory.BASE_MEMORY, memory.WORKER_MEMORY = 0, 70_000_000, 12_000_000
with open_source([path]) as source:
    if not options.pop("large_batches", False):
        source.batches = functools.partial(source.batches, 300, 400_000)
    result = dedupe_inputs(source, method=method, memory_bytes=allowed, **options)
with open("/proc/self/status") as status:
    peak = next(int(line.split()[1]) * 1024 for line in status if line.startswith("VmHWM"))
shown = json.dumps(result.to_dict(), sort_keys=True).encode()
print(json.dumps({"peak": peak, "digest": hashlib.sha256(shown).hexdigest(), "removed": result.removed}))
"""

pytestmark = [
    pytest.mark.covers("K7"),
    pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="the peak is read from /proc"),
]


def run(path: Path, method: str, allowed: int = ALLOWED, **options: Any) -> dict[str, Any]:
    done = subprocess.run(
        [sys.executable, "-c", RUN, str(path), method, str(allowed), json.dumps(options)],
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    answer: dict[str, Any] = json.loads(done.stdout)
    return answer


@pytest.fixture(scope="module")
def collection(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Documents of made-up words of two alphabets, rare and common; every eighth is a near copy of another one."""
    draw = random.Random(3)
    letters = ["бвгдзклмнпрст", "аеиоуыэя", "bcdfglmnprst", "aeiou"]
    words = []
    for number in range(DISTINCT):
        hard, soft = letters[number % 2 * 2], letters[number % 2 * 2 + 1]
        words.append("".join(draw.choice(hard) + draw.choice(soft) for _ in range(3 + number % 3)))
    path = tmp_path_factory.mktemp("memory") / "collection.jsonl"
    texts: list[list[str]] = []
    with path.open("w", encoding="utf-8") as file:
        for document in range(DOCUMENTS):
            if document % 8 == 7:
                text = [
                    *texts[draw.randrange(len(texts))][: WORDS - 4],
                    *(draw.choice(words) for _ in range(3)),
                ]
            else:
                text = [words[int(DISTINCT * draw.random() ** 3)] for _ in range(WORDS)]
                for place in range(20, WORDS, 21):
                    text[place] += "."
            texts.append(text)
            file.write(json.dumps({"id": f"d{document}", "text": " ".join(text)}, ensure_ascii=False) + "\n")
    return path


@pytest.mark.covers("M9", "M10", "M12", "M13", "M14")
@pytest.mark.parametrize("method", METHODS)
def test_no_method_takes_more_than_it_was_allowed(collection: Path, method: str) -> None:
    workers = 1 + list(METHODS).index(method) % 2
    allowed = ALLOWED + (workers - 1) * 12_000_000
    found = run(collection, method, allowed, workers=workers)
    assert found["peak"] <= allowed
    assert found["removed"] > 0
    if method in COMPARED:
        assert run(collection, method, 2_000_000_000)["digest"] == found["digest"]


@pytest.mark.parametrize(
    "options",
    [
        {"pairs": True, "views": ["strict", "families"]},
        {"reworded": "all"},
        {"reworded": "remove", "workers": 2},
    ],
    ids=str,
)
def test_no_option_takes_more_than_it_was_allowed(collection: Path, options: dict[str, Any]) -> None:
    allowed = ALLOWED + (options.get("workers", 1) - 1) * 12_000_000
    assert run(collection, "auto", allowed, **options)["peak"] <= allowed


def test_tiny_texts_take_no_more_either(tmp_path: Path) -> None:
    """A batch of four megabytes holds fifty thousand of them: their signatures are numbers, not objects."""
    path = tmp_path / "tiny.jsonl"
    with path.open("w", encoding="utf-8") as file:
        for number in range(120_000):
            text = f"Order {number} was shipped to {number % 7} on {number % 5}"
            file.write(json.dumps({"id": f"d{number}", "text": text}) + "\n")
    found = run(path, "minhash", 180_000_000, workers=2, threshold=0.9, large_batches=True)
    assert found["peak"] <= 180_000_000


@pytest.mark.parametrize("form", ["csv", "parquet"])
def test_no_kind_of_input_takes_more_than_it_was_allowed(collection: Path, form: str, tmp_path: Path) -> None:
    with collection.open(encoding="utf-8") as lines:
        records = [json.loads(line) for line in lines]
    path = tmp_path / f"collection.{form}"
    if form == "csv":
        with path.open("w", encoding="utf-8", newline="") as file:
            writer = csv.DictWriter(file, ["id", "text"])
            writer.writeheader()
            writer.writerows(records)
    else:
        arrow = pytest.importorskip("pyarrow")
        parquet = pytest.importorskip("pyarrow.parquet")
        parquet.write_table(arrow.Table.from_pylist(records), path)
    allowed = ALLOWED + (TABLE_MEMORY if form == "parquet" else 0)
    assert run(path, "tfidf", allowed)["peak"] <= allowed
