"""Write docs/reference/messages.md from the tables of sentences. With --check, only say whether it is up to date."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path

from doublet.reports.wording import placeholders, wording

PAGE = Path(__file__).resolve().parents[1] / "docs" / "reference" / "messages.md"
NOTE = "<!-- Written by tools/make_message_pages.py: change the tables, then run `make docs`. -->"
PARTS = {
    "notes": "Results: reasons, notes and events",
    "errors": "Errors of usage, settings and work",
    "reading": "Reading documents",
    "sources": "Sources of documents",
    "store": "The database of libraries",
    "evaluation": "The evaluation and the advisor",
}
INTRODUCTION = """\
Everything that Doublet says of its results, and every error, is a code with values; the sentences are made of them at
the edge, in English or Russian. In JSON a note has `code`, `values` and, for people, the English `message`; an error
has its `code` ([errors](errors.md)), the code of its message as `reason`, `message` and `details`. Codes stay;
sentences may change.
Names in braces are values; what follows a colon says how they are shown (`src/doublet/reports/wording/__init__.py`)."""


def page() -> str:
    russian = wording("ru").tables.MESSAGES
    lines = ["# Messages", "", NOTE, "", INTRODUCTION, ""]
    for part, title in PARTS.items():
        lines += [f"## {title}", "", "| code | values | English | по-русски |", "|---|---|---|---|"]
        table = importlib.import_module(f"doublet.reports.wording.en.{part}").MESSAGES
        for code in sorted(table):
            values = ", ".join(sorted(placeholders(table[code])))
            cells = [f"`{code}`", values, table[code], russian[code]]
            lines.append("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |")
        lines.append("")
    return "\n".join(lines).rstrip() + "\n"


def main() -> int:
    made = page()
    if "--check" in sys.argv:
        if not PAGE.exists() or PAGE.read_text(encoding="utf-8") != made:
            print(f"{PAGE.name} is out of date: run `make docs`", file=sys.stderr)
            return 1
        return 0
    PAGE.write_text(made, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
