"""Fenced blocks of the pages, and how the runnable ones are run.

A block whose info string holds the word `run` works as it stands: ```sh run``` or ```python run```. The
blocks of a page run in order in one empty folder (with `examples/` in it), as a reader would follow them.
`exit=1` after `run` is the exit code to expect. A block ```text output``` right after one is
what it prints; a line of `…` there stands for any lines, `…` inside a line for any characters.
"""

from __future__ import annotations

import pathlib
import re
from dataclasses import dataclass, field

ROOT = pathlib.Path(__file__).resolve().parents[2]
_FENCE = re.compile(r"^(?P<fence>`{3,})(?P<info>[^`\n]*)\n(?P<body>.*?)^(?P=fence)[ ]*$", re.M | re.S)


@dataclass(frozen=True)
class Block:
    language: str
    words: tuple[str, ...]  #: of the info string, after the language
    body: str
    line: int
    output: str | None = field(default=None)  #: of the `text output` block that follows

    @property
    def runnable(self) -> bool:
        return "run" in self.words

    @property
    def exit_code(self) -> int:
        return next((int(w.removeprefix("exit=")) for w in self.words if w.startswith("exit=")), 0)


def pages() -> list[pathlib.Path]:
    """Every page that people read."""
    tops = [p for p in ROOT.glob("*.md") if p.name != "LICENSE.md"]
    return sorted([*tops, *ROOT.glob("docs/**/*.md"), *ROOT.glob("examples/**/*.md")])


def blocks(page: str) -> list[Block]:
    found: list[Block] = []
    last_end = 0
    for match in _FENCE.finditer(page):
        language, *words = match["info"].split() or [""]
        line = page.count("\n", 0, match.start()) + 1
        if words == ["output"]:
            between = page[last_end : match.start()].strip()
            if not found or between:
                raise AssertionError(
                    f"line {line}: an output block belongs right after the block that prints it"
                )
            before = found[-1]
            found[-1] = Block(before.language, before.words, before.body, before.line, match["body"])
        else:
            found.append(Block(language, tuple(words), match["body"], line))
        last_end = match.end()
    return found


def runnable(page: pathlib.Path) -> list[Block]:
    return [block for block in blocks(page.read_text(encoding="utf-8")) if block.runnable]


def agrees(printed: str, expected: str) -> bool:
    """Whether *printed* is what the page shows. Blanks at the ends of lines do not count."""
    pattern = []
    for line in expected.strip("\n").split("\n"):
        if line.strip() == "…":
            pattern.append(r"(?:[^\n]*\n)*?")
        else:
            pattern.append("[^\n]*?".join(re.escape(part) for part in line.rstrip().split("…")) + r"[ \t]*\n")
    return re.fullmatch("".join(pattern) + r"\s*", printed.strip("\n") + "\n") is not None
