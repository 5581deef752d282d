"""The plan to billions: its tables are made from figures that were measured, and follow from them."""

from __future__ import annotations

import copy
import json
import pathlib
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "benchmarks"))
import scale

FIGURES = json.loads(scale.FIGURES.read_text(encoding="utf-8"))


@pytest.mark.covers("D3")
def test_the_page_has_the_tables_that_the_figures_give() -> None:
    page = scale.PAGE.read_text(encoding="utf-8")
    assert scale.with_tables(page, scale.tables(FIGURES)) == page, "run benchmarks/scale.py"


@pytest.mark.covers("D3")
def test_the_sizes_that_were_measured_reach_a_million() -> None:
    assert [one["documents"] for one in FIGURES["sizes"]] == [1000, 10_000, 100_000, 1_000_000]
    for one in FIGURES["sizes"]:
        assert 0 < one["java_cpu_s"] < one["cpu_s"] and one["one_machine_cpu_s"] > 0
        assert one["sent_bytes"] > 0 and one["stored_bytes"] > 0
        assert one["removed"] <= one["pairs"] <= one["candidates"]


@pytest.mark.covers("D3")
def test_the_plan_follows_from_the_figures() -> None:
    fitted = scale.curve(FIGURES)
    plans = {n: scale.plan(fitted, n, machines) for n, machines in scale.PLANNED.items()}
    assert list(plans) == [10**7, 10**8, 10**9, 10**11]
    # The line through the measured sizes: what it says of a million is what a million took, and little else.
    last = FIGURES["sizes"][-1]
    told = fitted["fixed_cpu_s"] + fitted["cpu_s_of_document"] * last["documents"]
    assert told == pytest.approx(last["cpu_s"], rel=0.1)
    # By hand: ten million documents, chance 3·10⁻⁸·n for each.
    chance = fitted["chance_of_pair"] * 10**7 / 2
    seconds = 10**7 * (fitted["cpu_s_of_document"] + 6e-6 * (chance + fitted["near_of_document"]))
    assert plans[10**7]["cpu_hours"] == pytest.approx(1.2 * seconds / 3600)
    assert plans[10**7]["stored"] == pytest.approx(10 * last["stored_bytes"])
    # Chance grows with the square, so the largest collection costs more than its share.
    assert plans[10**11]["sent"] > 1000 * plans[10**9]["sent"]
    # Twice the cost of a document is twice the hours where candidates do not count.
    dear = copy.deepcopy(FIGURES)
    for one in dear["sizes"]:
        one["cpu_s"] *= 2
    ratio = scale.plan(scale.curve(dear), 10**7, 1)["cpu_hours"] / plans[10**7]["cpu_hours"]
    assert 1.7 < ratio <= 2.0
    assert scale.tables(dear) != scale.tables(FIGURES)
