"""Writes docs/check.svg, the picture in the README: what `make demo` shows, as a terminal would show it.

python tools/make_picture.py           write
python tools/make_picture.py --check   only say whether the picture is out of date
"""

from __future__ import annotations

import os
import pathlib
import re
import subprocess
import sys
from html import escape

ROOT = pathlib.Path(__file__).resolve().parents[1]
PICTURE = ROOT / "docs" / "check.svg"
COMMAND = ["check", "examples/work.txt", "--against", "examples/library.jsonl"]
COLUMNS, LINES = 96, 60
COLUMN_PX, LINE_PX, MARGIN_PX = 8.4, 20, 18
GROUND, INK = "#1d1f24", "#d8dbe0"
COLOURS = {
    "31": "#ff7b72",
    "32": "#7ee787",
    "33": "#e3b341",
    "34": "#79c0ff",
    "35": "#d2a8ff",
    "36": "#76e3ea",
}


def printed() -> list[str]:
    code = "import sys; from doublet.cli import run; sys.exit(run(sys.argv[1:]))"
    plain = {name: value for name, value in os.environ.items() if not name.startswith("DOUBLET_")}
    done = subprocess.run(
        [sys.executable, "-c", code, *COMMAND, "--colour", "always"],
        check=True,
        cwd=ROOT,
        env={**plain, "COLUMNS": str(COLUMNS), "PYTHONIOENCODING": "utf-8"},
        capture_output=True,
        encoding="utf-8",
    )
    return done.stdout.rstrip("\n").split("\n")


def style(codes: list[str]) -> str:
    """SVG attributes for codes of a terminal: bold, dim and the six colours are what the reports use."""
    colour = next((COLOURS[code] for code in codes if code in COLOURS), "")
    parts = [f'fill="{colour}"' if colour else "", 'font-weight="bold"' if "1" in codes else ""]
    return " ".join(part for part in [*parts, 'fill-opacity="0.6"' if "2" in codes else ""] if part)


def spans(line: str, codes: list[str]) -> str:
    """One line with its colours; *codes* go on from the line before and are changed."""
    out = []
    for number, part in enumerate(re.split(r"\x1b\[([\d;]*)m", line)):
        if number % 2:
            codes[:] = [] if part in ("", "0") else [*codes, *part.split(";")]
        elif part:
            attributes = style(codes)
            out.append(f"<tspan {attributes}>{escape(part)}</tspan>" if attributes else escape(part))
    return "".join(out)


def picture() -> str:
    lines = printed()
    shown = [*lines[:LINES], "…"] if len(lines) > LINES else lines
    width = round(COLUMNS * COLUMN_PX + 2 * MARGIN_PX)
    height = (len(shown) + 2) * LINE_PX + 2 * MARGIN_PX
    codes: list[str] = []
    prompt = f'<tspan fill="{COLOURS["32"]}">$</tspan> doublet {" ".join(COMMAND)}'
    rows = [prompt, "", *(spans(line, codes) for line in shown)]
    text = "\n".join(
        f'<text x="{MARGIN_PX}" y="{MARGIN_PX + (number + 1) * LINE_PX - 5}">{row}</text>'
        for number, row in enumerate(rows)
        if row
    )
    return f"""\
<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" role="img"
  font-family="ui-monospace, Menlo, Consolas, 'DejaVu Sans Mono', 'Liberation Mono', monospace"
  font-size="14" fill="{INK}" xml:space="preserve">
<title>doublet check in a terminal</title>
<desc>A work is checked against a library. Borrowed passages are coloured and numbered by source.</desc>
<rect width="100%" height="100%" rx="10" fill="{GROUND}"/>
{text}
</svg>
"""


def main() -> None:
    new = picture()
    if "--check" in sys.argv[1:]:
        if not PICTURE.exists() or PICTURE.read_text(encoding="utf-8") != new:
            sys.exit(f"{PICTURE.name} is out of date: run `make docs`")
        return
    PICTURE.write_text(new, encoding="utf-8")


if __name__ == "__main__":
    main()
