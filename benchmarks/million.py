"""A million documents of 200 words on two cores: time, and memory as seen from outside, free and under
`--memory`.

    python benchmarks/corpus.py million
    python benchmarks/million.py

Every run must write the same bytes, whatever the memory; whether it did is shown.
"""

from __future__ import annotations

import argparse
import hashlib
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from dedupe import our_command
from measure import best, corpus_path, run, save, table

BUDGETS_GB = (0.5, 1.0, 2.0)


@dataclass(frozen=True)
class Row:
    documents: int
    workers: int
    containment: str
    memory: str  #: the budget given
    wall_s: float
    cpu_s: float
    peak_mb: float
    within: bool | None  #: whether the memory stayed below the budget
    same: bool | None  #: whether the groups equal those of the first run with the same containment


def measure(path: Path, documents: int, *, budgets: tuple[float, ...] = BUDGETS_GB) -> list[Row]:
    plans: list[tuple[int, str, float | None]] = [(2, "off", None), (1, "off", None), (2, "0.9", None)]
    plans += [(2, containment, budget) for containment in ("off", "0.9") for budget in budgets]
    out: list[Row] = []
    digests: dict[str, str] = {}
    with tempfile.TemporaryDirectory() as folder:
        groups = Path(folder) / "groups.jsonl"
        for workers, containment, budget in plans:
            options = ["--containment", containment, "--quiet"]
            if budget is not None:
                options += ["--memory", f"{budget:g}GB"]
            done = best([run(our_command(path, groups, workers, *options), on_cores=workers)])
            digest = hashlib.sha256(groups.read_bytes()).hexdigest()
            out.append(
                Row(
                    documents,
                    workers,
                    containment,
                    f"{budget:g} GB" if budget is not None else "–",
                    done.wall_s,
                    done.cpu_s,
                    done.peak_mb,
                    done.peak_mb <= budget * 1000 if budget is not None else None,
                    digest == digests[containment] if containment in digests else None,
                )
            )
            digests.setdefault(containment, digest)
            print(f"  {out[-1]}", file=sys.stderr)
    return out


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n")[0])
    parser.add_argument("name", nargs="?", default="million", help="million, or the path of a JSONL file")
    path = corpus_path(parser.parse_args().name)
    with path.open("rb") as file:
        documents = sum(chunk.count(b"\n") for chunk in iter(lambda: file.read(1 << 20), b""))
    rows = measure(path, documents)
    head = [
        "documents",
        "workers",
        "containment",
        "--memory",
        "wall s",
        "CPU s",
        "peak MB",
        "within",
        "same groups",
    ]
    print(table(head, [list(vars(row).values()) for row in rows]))
    save("million", rows)


if __name__ == "__main__":
    main()
