"""The pages that commands write as one file: the report of a check, a class, duplicates of libraries, repeats.

    python tools/file_pages.py                    pictures of all of them in every look, into build/screenshots/

`tools/screenshots.py` calls this for the same command (`make screenshots`).
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from doublet.jobs.check_pdf import NAMES
from doublet.samples import LIBRARY, WORK

ROOT = Path(__file__).resolve().parents[1]


def make_pages(folder: Path, language: str) -> dict[str, Path]:
    """Write the pages in a language into *folder*, as a user would; gives their names and places."""
    works = folder / "works"
    works.mkdir(parents=True)
    work = WORK.read_text(encoding="utf-8")
    middle = len(work) // 2
    (works / "anna.txt").write_text(work, encoding="utf-8")
    (works / "boris.txt").write_text(work[:middle] + _own("boris"), encoding="utf-8")
    (works / "vera.txt").write_text(_own("vera") + work[middle:], encoding="utf-8")
    (works / "Thumbs.db").write_bytes(b"\xd0\xcf\x11\xe0" + bytes(512))
    shutil.copy(LIBRARY, folder / "library.jsonl")
    _doublet(folder, language, "library", "add", "samples", "library.jsonl", "--create", "-q")
    _doublet(folder, language, "library", "add", "shelf", "library.jsonl", "--create", "-q")
    about = ("--author", "Anna Petrova", "--reviewer", "M. Ivanova", "--fail-above", "30%")
    _doublet(
        folder,
        language,
        "check",
        "works/anna.txt",
        "--library",
        "samples",
        *about,
        "--out",
        "report.html",
        ok=(1,),
    )
    _doublet(folder, language, "check", "works", "--library", "samples", "--among", "--out", "class", ok=(3,))
    _doublet(folder, language, "library", "duplicates", "--groups", "duplicates.html", "-q")
    manual = ROOT / "docs" / "how-to"
    _doublet(folder, language, "repeats", str(manual), "--format", "html", "--out", "repeats.html")
    names = ("report.html", "class/index.html", "duplicates.html", "repeats.html")
    return {f"file-{name.partition('.')[0].partition('/')[0]}": folder / name for name in names}


def _own(name: str) -> str:
    return " ".join(
        f"{name} saw {name}{n} where {name}{n * 7 % 31} was {name}{n * 3 % 17}." for n in range(40)
    )


def _doublet(folder: Path, language: str, *arguments: str, ok: tuple[int, ...] = ()) -> None:
    environment = {**os.environ, "DOUBLET_DATABASE": str(folder / "l.db"), "DOUBLET_LANGUAGE": language}
    done = subprocess.run(
        [sys.executable, "-m", "doublet", *arguments],
        cwd=folder,
        env=environment,
        check=False,
        capture_output=True,
    )
    if done.returncode not in (0, *ok):
        sys.exit(f"doublet {' '.join(arguments)}: {done.stderr.decode()}")


def shoot_files(looks: Mapping[str, Mapping[str, Any]], into: Path, names: Iterable[str] = ()) -> list[Path]:
    """A picture of each page in each look (options of a browser's context; "locale" is the language)."""
    from playwright.sync_api import sync_playwright

    program = next(filter(None, map(shutil.which, NAMES)), None)
    if program is None:
        sys.exit("No Chromium is installed: `make system` installs it.")
    into.mkdir(parents=True, exist_ok=True)
    asked, out = tuple(names), []
    with tempfile.TemporaryDirectory(prefix="doublet-pages-") as folder, sync_playwright() as playwright:
        languages = dict.fromkeys(str(look["locale"]) for look in looks.values())
        pages = {language: make_pages(Path(folder) / language, language) for language in languages}
        root = hasattr(os, "geteuid") and os.geteuid() == 0
        browser = playwright.chromium.launch(
            executable_path=program, args=["--no-sandbox"] if root else [], chromium_sandbox=not root
        )
        for look, options in looks.items():
            context = browser.new_context(**options)
            page = context.new_page()
            for name, place in pages[str(options["locale"])].items():
                if not asked or name.startswith(asked):
                    page.goto(place.as_uri())
                    page.screenshot(path=into / f"{name}-{look}.png", full_page=name != "file-repeats")
                    out.append(into / f"{name}-{look}.png")
            context.close()
        browser.close()
    return out


if __name__ == "__main__":
    from screenshots import LOOKS

    for picture in shoot_files(LOOKS, ROOT / "build" / "screenshots", sys.argv[1:]):
        print(picture.relative_to(ROOT))
