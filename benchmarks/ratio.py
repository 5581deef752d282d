"""This checkout against another one: how much CPU compare, dedupe, check and filling take, as ratios.

    python benchmarks/ratio.py ../before                   the same made-up input for both, five rounds
    python benchmarks/ratio.py ../before --documents 20000 --rounds 9
    python benchmarks/ratio.py ../before --texts real.jsonl the first documents of a file instead: {"id": …, "text": …}

Both checkouts were set up (`make setup` in each). Rounds alternate between the two, each in a
process of its own, so that a busy machine is as busy for both; CPU seconds are those of the process with all of its
threads. The ratio is the median of those of each round; above 1 this checkout needs less CPU than the other.
"""

from __future__ import annotations

import argparse
import itertools
import json
import random
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
SEED = 7
COMPARISONS, CHECKS = 30, 60


def made_up(count: int, path: Path) -> None:
    """Documents of about 400 words; every tenth has a near copy."""
    luck = random.Random(SEED)
    syllables = [c + v for c in "бвгдзклмнпрст" for v in "аеиоуы"]
    words = ["".join(luck.choices(syllables, k=luck.randint(1, 5))) for _ in range(40_000)]
    chances = list(itertools.accumulate(1 / (rank + 3) for rank in range(len(words))))
    pool = [" ".join(luck.choices(words, cum_weights=chances, k=luck.randint(8, 30))) for _ in range(5_000)]
    with path.open("w", encoding="utf-8") as out:
        last = ""
        for number in range(count):
            parts = [*luck.choices(pool, k=4), " ".join(luck.choices(words, k=320))]
            text = f"{last} {luck.choice(pool)}" if last and number % 10 == 0 else ". ".join(parts)
            out.write(json.dumps({"id": f"d{number:07}", "text": text}, ensure_ascii=False) + "\n")
            last = text


def cpu_s() -> float:
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def work(path: Path, source: Path) -> dict[str, float]:
    """One round, in a process of its own; only with what both checkouts have."""
    import doublet
    from doublet import kernels

    if Path(doublet.__file__).parents[1] != source:
        raise SystemExit(f"{doublet.__file__} is not in {source}")
    if kernels.BACKEND != "native":
        raise SystemExit(f"{source} has no native kernels: run `make setup` in that checkout")
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    luck = random.Random(SEED)
    pages = [" ".join(row["text"] for row in luck.choices(rows, k=10)) for _ in range(COMPARISONS + 5)]
    half = [
        f"{a[: len(a) // 2]} {b[: len(b) // 2]}" for a, b in zip(pages, pages[1:] + pages[:1], strict=True)
    ]
    essays = [
        " ".join(
            [
                *row["text"].split()[50:110],
                *luck.choice(half).split()[:800],
                *luck.choice(rows)["text"].split()[:60],
            ]
        )
        for row in luck.choices(rows, k=CHECKS + 10)
    ]
    out: dict[str, float] = {}

    def timed(name: str, do: Callable[[], Any]) -> None:
        began, wall = cpu_s(), time.perf_counter()
        do()
        out[name] = cpu_s() - began
        out[f"{name}, wall"] = time.perf_counter() - wall

    for place in range(COMPARISONS, COMPARISONS + 5):  # what is made at the first use
        doublet.compare(pages[place], half[place])
    timed("compare", lambda: [doublet.compare(pages[i], half[i]) for i in range(COMPARISONS)])
    doublet.dedupe([{"id": "a", "text": pages[-1]}, {"id": "b", "text": half[-1]}])
    timed("dedupe", lambda: doublet.dedupe(rows))
    with (
        tempfile.TemporaryDirectory() as folder,
        doublet.open_library(Path(folder) / "ratio.db") as library,
    ):
        library.add([("first", "the words of a first document")])
        timed("fill", lambda: library.add((row["id"], row["text"]) for row in rows))
        for text in essays[CHECKS:]:
            library.check(text)
        timed("check", lambda: [library.check(text) for text in essays[:CHECKS]])
    return out


def main() -> None:
    if sys.argv[1:2] == ["--work"]:
        print(json.dumps(work(Path(sys.argv[2]), Path(sys.argv[3]))))
        return
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("other", type=Path, help="checkout to compare with")
    parser.add_argument("--documents", type=int, default=10_000)
    parser.add_argument(
        "--texts", type=Path, help="JSONL file to take them from; without it they are made up"
    )
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "documents.jsonl"
        if options.texts is None:
            made_up(options.documents, path)
        else:
            with options.texts.open(encoding="utf-8") as lines:
                path.write_text("".join(itertools.islice(lines, options.documents)), encoding="utf-8")
        found: dict[str, list[dict[str, float]]] = {"other": [], "this": []}
        sides = [("other", options.other.resolve()), ("this", HERE.parent)]
        for number in range(options.rounds):
            for name, checkout in sides if number % 2 else reversed(sides):
                done = subprocess.run(
                    # The Python of the checkout itself: only it knows the native module that was built there.
                    [
                        checkout / ".venv" / "bin" / "python",
                        *(HERE / "ratio.py", "--work", path, checkout / "src"),
                    ],
                    stdout=subprocess.PIPE,
                    check=True,
                    text=True,
                )
                found[name].append(json.loads(done.stdout))
    print("| work | other, best CPU s | this, best CPU s | median of ratios |\n| --- | --- | --- | --- |")
    for name in found["this"][0]:
        if name.endswith(", wall"):
            continue
        other, this = ([row[name] for row in found[side]] for side in ("other", "this"))
        ratio = statistics.median(a / b for a, b in zip(other, this, strict=True))
        print(f"| {name} | {min(other):.3f} | {min(this):.3f} | {ratio:.2f} |")


if __name__ == "__main__":
    main()
