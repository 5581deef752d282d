"""What a collection costs on many machines: the tables of docs/explanation/scale.md from the figures in scale.json.

    python benchmarks/spark.py million.jsonl --sizes 1000,10000,100000,1000000 --save benchmarks/scale.json
    python benchmarks/scale.py                                  writes the tables into the page

Nothing of the tables is written by hand; tests/docs/test_scale.py compares them with the figures.
"""

from __future__ import annotations

import argparse
import json
import math
import re
from pathlib import Path
from typing import Any

import numpy as np

HERE = Path(__file__).parent
FIGURES, PAGE = HERE / "scale.json", HERE.parent / "docs" / "explanation" / "scale.md"

PLANNED = {10**7: 1, 10**8: 1, 10**9: 10, 10**11: 1000}  #: documents, and machines for them
CORES, MACHINE_HOUR, GIGABYTE_MONTH = 32, 1.50, 0.02  #: of a machine; prices in any currency
MARGIN = 1.2  #: for waiting and repeated tasks
CANDIDATE_CPU_S, CANDIDATE_BYTES = 6e-6, 300  #: to send the sets of a candidate and compare them


def curve(figures: dict[str, Any]) -> dict[str, float]:
    """What a run costs for itself and for each further document, fitted to the sizes that were measured."""
    sizes = figures["sizes"]
    documents = np.array([one["documents"] for one in sizes], float)
    rows = {}
    for name, key in (("", "cpu_s"), ("one_machine_", "one_machine_cpu_s")):
        slope, fixed = np.polyfit(documents, [one[key] for one in sizes], 1)
        rows |= {f"{name}fixed_cpu_s": max(0.0, float(fixed)), f"{name}cpu_s_of_document": float(slope)}
    sent = [one["sent_bytes"] / one["documents"] for one in sizes]
    growth, first = np.polyfit(np.log10(documents), sent, 1)
    largest = sizes[-1]
    near = [one["near"] / one["documents"] for one in figures["simulated"]]
    chance = [2 * one["chance"] / one["documents"] ** 2 for one in figures["simulated"]]
    return rows | {
        "sent_of_one": float(first),
        "sent_of_tenfold": float(growth),
        "stored_of_document": largest["stored_bytes"] / largest["documents"],
        "text_of_document": largest["text_bytes"] / largest["documents"],
        "near_of_document": near[-1],
        "chance_of_pair": max(chance),
    }


def plan(fitted: dict[str, float], documents: int, machines: int) -> dict[str, float]:
    """What this many documents would cost."""
    chance = fitted["chance_of_pair"] * documents / 2
    candidates = documents * (fitted["near_of_document"] + chance)
    cpu_hours = MARGIN * (fitted["cpu_s_of_document"] * documents + CANDIDATE_CPU_S * candidates) / 3600
    hours = cpu_hours / (CORES * machines)
    sent = documents * (fitted["sent_of_one"] + fitted["sent_of_tenfold"] * math.log10(documents))
    stored = fitted["stored_of_document"] * documents
    return {
        "chance": chance,
        "cpu_hours": cpu_hours,
        "machines": machines,
        "hours": hours,
        "sent": sent + CANDIDATE_BYTES * candidates,
        "stored": stored,
        "machine_cost": machines * hours * MACHINE_HOUR,
        "storage_cost": stored / 1e9 * GIGABYTE_MONTH,
    }


def tables(figures: dict[str, Any]) -> dict[str, str]:
    """The tables of the page by their names."""
    fitted = curve(figures)
    measured = [
        [
            f"{one['documents']:,}",
            short(one["text_bytes"] / 1e6),
            f"{one['cpu_s']:.1f}",
            f"{one['java_cpu_s']:.1f}",
            f"{one['one_machine_cpu_s']:.1f}",
            f"{one['seconds']:.1f}",
            f"{one['sent_bytes'] / one['documents']:,.0f}",
            f"{one['stored_bytes'] / one['documents']:,.0f}",
            f"{one['candidates']:,}",
            f"{one['pairs']:,}",
        ]
        for one in figures["sizes"]
    ]
    first, last = figures["sizes"][0], figures["sizes"][-1]
    text = (last["text_bytes"] - first["text_bytes"]) / 1e6
    rates = [text / (last[key] - first[key]) for key in ("cpu_s", "one_machine_cpu_s")]
    cost = [
        ["CPU seconds of a run for itself", f"{fitted['fixed_cpu_s']:.1f}"],
        ["CPU seconds for a million documents besides", f"{fitted['cpu_s_of_document'] * 1e6:.1f}"],
        ["the same on one machine", f"{fitted['one_machine_cpu_s_of_document'] * 1e6:.1f}"],
        ["megabytes for each further CPU second", f"{rates[0]:.0f}"],
        ["the same on one machine", f"{rates[1]:.0f}"],
        ["rate of a core, of that on one machine", f"{100 * rates[0] / rates[1]:.0f} %"],
        [
            "bytes sent for each document",
            f"{fitted['sent_of_one']:.0f} + {fitted['sent_of_tenfold']:.0f} · log₁₀ n",
        ],
        ["gigabytes stored for a million documents", f"{fitted['stored_of_document'] / 1e3:.1f}"],
    ]
    simulated = [
        [f"{one[name]:,}" for name in ("documents", "candidates", "verified", "near", "chance")]
        for one in figures["simulated"]
    ]
    planned = []
    for documents, machines in PLANNED.items():
        one = plan(fitted, documents, machines)
        planned.append(
            [
                "10" + str(round(math.log10(documents))).translate(str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")),
                short(one["chance"]),
                short(one["cpu_hours"]),
                f"{machines:,}",
                short(one["hours"]),
                in_bytes(one["sent"]),
                in_bytes(one["stored"]),
                short(max(1, one["machine_cost"])),
                short(max(1, one["storage_cost"])),
            ]
        )
    return {
        "measured": table(
            "documents|text MB|CPU s|of these Java|CPU s on one machine|seconds|bytes sent for each document|"
            "bytes stored for each document|candidates|verified pairs",
            measured,
        ),
        "cost": table("what|how much", cost),
        "simulated": table(
            "documents|candidates|verified|near (resemblance 0.3 or more)|by chance", simulated
        ),
        "planned": table(
            "documents|candidates by chance for each|CPU hours|machines|hours|sent|stored|machines cost|"
            "a month of storage",
            planned,
        ),
    }


def table(head: str, rows: list[list[str]]) -> str:
    names = head.split("|")
    lines = [names, ["---"] * len(names), *rows]
    return "\n".join(
        "|" + "|".join(f" {cell} " if cell != "---" else cell for cell in line) + "|" for line in lines
    )


def short(value: float) -> str:
    """Two digits that matter."""
    if value <= 0:
        return "0"
    digits = 1 - math.floor(math.log10(value))
    rounded = round(value, digits)
    return f"{rounded:,.{max(0, digits)}f}".rstrip("0").rstrip(".") if digits > 0 else f"{rounded:,.0f}"


def in_bytes(value: float) -> str:
    for name, size in (("PB", 1e15), ("TB", 1e12)):
        if value >= 0.5 * size:
            return f"{short(value / size)} {name}"
    return f"{short(value / 1e9)} GB"


def with_tables(page: str, made: dict[str, str]) -> str:
    """The page with these tables in their places."""
    for name, text in made.items():
        place = re.compile(rf"(<!-- table: {name} -->\n).*?(\n<!-- end -->)", re.DOTALL)
        page, count = place.subn(lambda found, text=text: found[1] + text + found[2], page)  # type: ignore[misc]
        if count != 1:
            raise SystemExit(f"the page has {count} places for the table {name}")
    return page


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--figures", type=Path, default=FIGURES)
    parser.add_argument("--page", type=Path, default=PAGE)
    given = parser.parse_args()
    figures = json.loads(given.figures.read_text(encoding="utf-8"))
    page = given.page.read_text(encoding="utf-8")
    given.page.write_text(with_tables(page, tables(figures)), encoding="utf-8")


if __name__ == "__main__":
    main()
