"""Writes src/doublet/evaluation/texts/ru.jsonl.xz and en.jsonl.xz, the texts that `doublet evaluate` brings along.

    python tools/make_evaluation_texts.py FOLDER

FOLDER is a checkout of FastAPI's repository (MIT licence, see NOTICE): its manual exists in Russian and in English,
so both languages get documents of one theme. Markup and program text are taken out and pages are cut into
documents of some 250 to 500 words at paragraph ends. Once made, the texts stay as they are: figures, tests and golden
reports depend on them.
"""

from __future__ import annotations

import html
import json
import lzma
import pathlib
import re
import sys

TARGET = pathlib.Path(__file__).resolve().parents[1] / "src" / "doublet" / "evaluation" / "texts"
LEFT_OUT = (
    "release-notes.md",
    "newsletter.md",
    "fastapi-people.md",
    "external-links.md",
    "translation-banner.md",
)
SHORTEST, ENOUGH, LONGEST = 200, 280, 500  # words
DOCUMENTS = 160
LETTERS = {"ru": re.compile("[а-яё]", re.I), "en": re.compile("[a-z]", re.I)}


def plain(page: str) -> list[str]:
    """Paragraphs of prose."""
    page = re.sub(r"(?ms)^( *)(`{3,4}|~{3,4})[^\n]*\n.*?^\1\2 *$", "\n", page)
    page = re.sub(r"(?s)<(script|style|table|div)\b.*?</\1>", "\n", page)
    page = re.sub(r"(?m)^(?:[ \t]*///.*|---+|\{[*!].*|!\[.*|[ \t]*<img.*)$", "", page)
    page = re.sub(r"\{[*!].*?[*!]\}", "", page)
    page = re.sub(r"\{ *#[\w-]+ *\}", "", page)
    page = re.sub(r"!\[[^\]]*\]\([^)]*\)", "", page)
    page = re.sub(r"\[([^\]]*)\]\([^)]*\)(?:\{[^}]*\})?", r"\1", page)
    page = html.unescape(re.sub(r"<[^>\n]+>", "", page))
    page = re.sub(r"[*`]+", "", page)
    page = re.sub(r"(?m)^[ \t]*(?:#+|>|[-+]|\d+\.)\s+", "", page)
    page = re.sub(r":[a-z_]+:|[\U0001F000-\U0001FAFF\u2600-\u27BF\uFE0F\u200d]", "", page)
    out = []
    for part in re.split(r"\n\s*\n", page):
        text = re.sub(r"\s+", " ", part).strip()
        if len(text.split()) > 1:
            out.append(text)
    return out


def documents(language: str, folder: pathlib.Path) -> list[dict[str, str]]:
    found = []
    for path in sorted((folder / "docs" / language / "docs").rglob("*.md")):
        if path.name in LEFT_OUT or path.name.startswith("_"):  # pages for translators
            continue
        name = str(path.relative_to(folder / "docs" / language / "docs").with_suffix(""))
        part: list[str] = []
        number = 0
        for paragraph in [*plain(path.read_text("utf-8")), None]:
            words = sum(len(text.split()) for text in part)
            full = words >= ENOUGH or (paragraph is not None and words + len(paragraph.split()) > LONGEST)
            if paragraph is None or full:
                body = "\n\n".join(part)
                letters = len(LETTERS[language].findall(body))
                if words >= SHORTEST and letters > 0.6 * sum(c.isalpha() for c in body):
                    number += 1
                    found.append({"id": f"{language}/{name}/{number}", "text": body})
                part = []
            if paragraph is not None:
                part.append(paragraph)
    step = max(1.0, len(found) / DOCUMENTS)
    return [found[int(i * step)] for i in range(min(DOCUMENTS, len(found)))]


def main() -> None:
    folder = pathlib.Path(sys.argv[1])
    TARGET.mkdir(parents=True, exist_ok=True)
    for language in LETTERS:
        rows = documents(language, folder)
        body = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows).encode()
        (TARGET / f"{language}.jsonl.xz").write_bytes(lzma.compress(body, preset=9 | lzma.PRESET_EXTREME))
        words = sum(len(row["text"].split()) for row in rows)
        print(f"{language}: {len(rows)} documents, {words:,} words")


if __name__ == "__main__":
    main()
