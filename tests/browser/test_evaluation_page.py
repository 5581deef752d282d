"""The page of an evaluation in a real browser: languages, tables by rule, failures by method, phone width."""

from __future__ import annotations

import json
import pathlib
from typing import Any

import pytest

from doublet.evaluation.report import report_page

pytestmark = pytest.mark.covers("E2")
GOLDEN = pathlib.Path(__file__).resolve().parents[1] / "golden" / "reports" / "evaluation-1.json"


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> str:
    path = tmp_path_factory.mktemp("page") / "index.html"
    path.write_text(report_page(json.loads(GOLDEN.read_text("utf-8"))), encoding="utf-8")
    return path.as_uri()


@pytest.mark.parametrize("width", [1280, 390])
def test_the_page(browser: Any, address: str, width: int) -> None:
    page = browser.new_page(viewport={"width": width, "height": 800})
    errors: list[str] = []
    asked: list[str] = []
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.on("request", lambda request: asked.append(request.url))
    page.goto(address)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert page.inner_text("h1") == "Evaluation"
    page.click("text=Русский")
    assert page.inner_text("h1") == "Оценка качества"
    assert page.evaluate("document.documentElement.lang") == "ru"
    assert "порог" in page.inner_html("#curves svg")
    assert "похожие буквы" in page.inner_text("#documents")
    tables = page.locator("#documents [data-of=rule]")
    shown = [tables.nth(i).is_visible() for i in range(tables.count())]
    assert shown == [True, False, False]
    page.select_option("#documents select", "0.7")
    assert [tables.nth(i).is_visible() for i in range(tables.count())] == [False, False, True]
    page.select_option("#failures select", "longsent")
    first = page.locator("#failures [data-value=longsent] summary").first
    first.focus()
    page.keyboard.press("Enter")
    assert page.locator("#failures [data-value=longsent] .pair").first.is_visible()
    assert errors == []
    assert asked == [address]
    page.close()
