"""The page of duplicates in a real browser: search, filter, take a tick away, save the list; the command takes it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

TEXT = "The water tower of the old town was built of brick and still stands above the market square. " * 3
SNOW = "Снег в городе занимает место, и его вывозят по ночам на большие площадки за рекой зимой. " * 3


def command(folder: Path, *arguments: str) -> str:
    """In a process of its own: a browser's loop runs in this one."""
    environment = {**os.environ, "DOUBLET_DATABASE": str(folder / "l.db"), "DOUBLET_LANGUAGE": "en"}
    done = subprocess.run(
        [sys.executable, "-m", "doublet", "library", *arguments],
        capture_output=True,
        check=False,
        cwd=folder,
        env=environment,
    )
    assert done.returncode == 0, done.stderr.decode()
    return done.stdout.decode()


def fill(folder: Path, name: str, documents: dict[str, str]) -> None:
    lines = [json.dumps({"id": id, "text": text}) for id, text in documents.items()]
    (folder / f"{name}.jsonl").write_text("\n".join(lines), encoding="utf-8")
    command(folder, "add", name, f"{name}.jsonl", "--create", "-q", "--keep-duplicates")


@pytest.mark.covers("L8")
def test_review_and_remove(browser: Any, tmp_path: Path) -> None:
    fill(tmp_path, "a", {"t,1": TEXT, 't"2': TEXT, "s1": SNOW})
    fill(tmp_path, "b", {"s2": SNOW + "Ещё.", "alone <b>": "nobody has these words but this one document"})
    command(tmp_path, "duplicates", "--groups", "review.html", "-q")
    page = browser.new_page(accept_downloads=True)
    errors: list[str] = []
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.on("console", lambda message: errors.append(message.text) if message.type == "error" else None)
    page.goto((tmp_path / "review.html").as_uri())

    def shown() -> list[str]:
        found: list[str] = page.locator(".group:visible").evaluate_all(
            "all => all.map(one => one.dataset.kind)"
        )
        return sorted(found)

    assert shown() == ["between", "within"]
    page.get_by_label("Show").select_option("between")
    assert shown() == ["between"]
    page.get_by_label("Show").select_option("every")
    page.get_by_label("Find in the groups").fill("tower")
    assert shown() == ["within"]
    page.get_by_label("Find in the groups").fill("")
    assert page.locator("#ticked").inner_text() == "ticked: 2"
    page.get_by_label("remove a/s1").uncheck()
    assert page.locator("#ticked").inner_text() == "ticked: 1"
    with page.expect_download() as waiting:
        page.get_by_role("button", name="Save the list").click()
    saved = tmp_path / "reviewed.csv"
    waiting.value.save_as(saved)
    page.close()
    assert not errors
    found = command(tmp_path, "remove", "--duplicates", str(saved), "--yes", "--format", "json")
    (gone,) = json.loads(found)["removed"]
    assert gone["library"] == "a"
    assert gone["id"] in ("t,1", 't"2')
    assert len(json.loads(command(tmp_path, "documents", "a", "--format", "json"))["documents"]) == 2


def test_many_groups_are_folded_and_speak_russian(tmp_path: Path) -> None:
    texts = [f"слово{n} " + " ".join(f"w{n}x{i}" for i in range(20)) for n in range(60)]
    fill(tmp_path, "a", {f"{n}-{copy}": text for n, text in enumerate(texts) for copy in "ab"})
    command(tmp_path, "duplicates", "--groups", "r.html", "-q", "--language", "ru")
    text = (tmp_path / "r.html").read_text(encoding="utf-8")
    assert text.count('<details class="group"') == 60
    assert " open>" not in text
    assert "Сохранить список" in text
