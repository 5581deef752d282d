"""The page of a class in a real browser: the table is sorted inside the page."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from doublet.matches.among import Among
from doublet.reports.class_html import class_page
from doublet.reports.class_view import ClassRow


def test_the_table_is_sorted(browser: Any, tmp_path: Path) -> None:
    rows = [
        ClassRow("b.txt", share=0.1, figures=(10.0, 0.0, 90.0)),
        ClassRow("a.txt", share=0.02, figures=(2.0, 0.0, 98.0)),
        ClassRow("c.txt", share=0.3, figures=(30.0, 0.0, 70.0)),
        ClassRow("d.pdf", state="broken"),
    ]
    target = tmp_path / "index.html"
    target.write_text(class_page(rows, Among((), {}, ())), encoding="utf-8")
    page = browser.new_page()
    errors: list[str] = []
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.on("console", lambda message: errors.append(message.text) if message.type == "error" else None)
    page.goto(target.as_uri())

    def names() -> list[str]:
        found: list[str] = page.locator(".works tbody tr td:nth-child(2)").all_inner_texts()
        return [one[0] for one in found]

    assert names() == ["c", "b", "a", "d"]
    page.get_by_role("button", name="Work", exact=True).click()
    assert names() == ["a", "b", "c", "d"]
    page.get_by_role("button", name="Found in all").click()
    assert names() == ["c", "b", "a", "d"]
    page.get_by_role("button", name="Found in all").click()
    assert names() == ["d", "a", "b", "c"]
    page.close()
    assert not errors
