"""Thousands of near copies of one text: does the time grow with their number, or with its square?

    python benchmarks/near_copies.py

n copies have n²/2 pairs; an index that lists them all cannot but grow with the square. Shown are the
times of `doublet dedupe`, of gaoya up to 2000 copies, and the exponent from one row to the next: 1 is
linear, 2 quadratic.

The second table is of tiny texts, "Order 100001 was shipped to Ivan on Monday": each is like thousands of others
and hardly any is near enough to go, which is the trap of indexes by signatures.
"""

from __future__ import annotations

import argparse
import json
import math
import random
import tempfile
from dataclasses import dataclass
from pathlib import Path

import orjson

from dedupe import HERE, OURS, our_command
from measure import best, python, run, save, table

SIZES = (1_000, 2_000, 5_000, 10_000, 20_000)
RIVAL_UP_TO = 2_000
WORDS, CHANGED = 330, 2
TINY_SIZES = (20_000, 40_000, 80_000)
TINY_METHODS = ("shingles", "minhash", "smallest", "simhash", "megashingles", "pivot")
NAMES = ("Ivan", "Maria", "Pavel", "Olga", "Anton", "Vera", "Oleg", "Nina", "Igor", "Anna")
DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")


@dataclass(frozen=True)
class Row:
    program: str
    copies: int
    cpu_s: float
    us_per_copy: float
    exponent: float | None
    groups: int | None


def make(path: Path, copies: int) -> None:
    """Copies of one text of random words, each with two words of its own put in."""
    rng = random.Random(11)
    base = [f"word{rng.randrange(5000)}" for _ in range(WORDS)]
    with path.open("wb") as file:
        for number in range(copies):
            words = base.copy()
            for _ in range(CHANGED):
                words[rng.randrange(WORDS)] = f"other{rng.randrange(10**9)}"
            file.write(orjson.dumps({"id": f"c{number:06d}", "text": " ".join(words)}) + b"\n")


def measure(sizes: tuple[int, ...] = SIZES, *, runs: int = 3, rival_up_to: int = RIVAL_UP_TO) -> list[Row]:
    out: list[Row] = []
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        for program in ("doublet", "doublet, containment too", "gaoya"):
            last: tuple[int, float] | None = None
            for copies in sizes:
                if program == "gaoya" and copies > rival_up_to:
                    break
                corpus, groups = folder / f"{copies}.jsonl", folder / "groups.jsonl"
                make(corpus, copies)
                if program == "gaoya":
                    command = [python(), str(HERE / "rivals.py"), "gaoya", str(corpus), str(folder / "p.npy")]
                    done = [run(command) for _ in range(runs)]
                    best(done)
                    cpu = min(json.loads(d.out.splitlines()[-1])["cpu_s"] for d in done)
                    found = None
                else:
                    more = ("--containment", "off") if program == "doublet" else ()
                    cpu = best(
                        [run(our_command(corpus, groups, 1, *more, "--quiet")) for _ in range(runs)]
                    ).cpu_s
                    found = groups.read_bytes().count(b"\n")
                exponent = math.log(cpu / last[1]) / math.log(copies / last[0]) if last else None
                out.append(Row(program, copies, cpu, 1e6 * cpu / copies, exponent, found))
                last = (copies, cpu)
    return out


def make_tiny(path: Path, texts: int) -> None:
    """Texts of eight words: a number of their own, one of ten names and one of seven days."""
    rng = random.Random(12)
    with path.open("wb") as file:
        for number in range(texts):
            text = f"Order {100_000 + number} was shipped to {rng.choice(NAMES)} on {rng.choice(DAYS)}"
            file.write(orjson.dumps({"id": f"t{number:06d}", "text": text}) + b"\n")


def measure_tiny(
    sizes: tuple[int, ...] = TINY_SIZES, methods: tuple[str, ...] = TINY_METHODS, *, runs: int = 3
) -> list[Row]:
    """`doublet dedupe --method` with its own settings."""
    out: list[Row] = []
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        for method in methods:
            last: tuple[int, float] | None = None
            for texts in sizes:
                corpus, groups = folder / f"{texts}.jsonl", folder / "groups.jsonl"
                make_tiny(corpus, texts)
                options = ["--method", method, "--groups", str(groups), "--workers", "1", "--quiet"]
                cpu = best([run([*OURS, "dedupe", str(corpus), *options]) for _ in range(runs)]).cpu_s
                exponent = math.log(cpu / last[1]) / math.log(texts / last[0]) if last else None
                found = groups.read_bytes().count(b"\n")
                out.append(Row(f"{method}, tiny texts", texts, cpu, 1e6 * cpu / texts, exponent, found))
                last = (texts, cpu)
    return out


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n")[0])
    parser.add_argument("--sizes", type=int, nargs="+", default=list(SIZES))
    parser.add_argument("--tiny", type=int, nargs="+", default=list(TINY_SIZES))
    parser.add_argument("--runs", type=int, default=3)
    given = parser.parse_args()
    rows = measure(tuple(given.sizes), runs=given.runs)
    rows += measure_tiny(tuple(given.tiny), runs=given.runs)
    head = ["program", "copies", "CPU s", "µs a copy", "exponent", "groups"]
    print(table(head, [list(vars(row).values()) for row in rows]))
    save("near_copies", rows, runs=given.runs)


if __name__ == "__main__":
    main()
