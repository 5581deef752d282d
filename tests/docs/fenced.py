"""Fenced blocks of the pages, and a reader who follows them.

A block whose info string holds the word `run` works as it stands: ```sh run``` or ```python run```. The
blocks of a page run in order, as one reader would type them: `cd` lasts, and Python names do too. They begin
in an empty folder with `examples/` in it. `exit=1` after `run` is the exit code to expect. A block
```text output``` right after one is what it prints on standard output. In ```text output elided``` a line of
`…` stands for any lines, and `…` inside a line for any characters. A port of 127.0.0.1 is another, free one for
each reader, so that two may follow a page at the same time; what is printed has the port of the page.

    python tests/docs/fenced.py PAGE…       writes what the blocks print now into their output blocks

Elided blocks are left alone. Look at the difference before you commit it.
"""

from __future__ import annotations

import contextlib
import os
import pathlib
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
from dataclasses import dataclass

ROOT = pathlib.Path(__file__).resolve().parents[2]
#: where a page names a port of its own computer
_PORT = re.compile(r'(?<=http\.server )\d+|(?<=127\.0\.0\.1:)\d+|(?<="127\.0\.0\.1", )\d+')
_FENCE = re.compile(r"^(?P<fence>`{3,})(?P<info>[^`\n]*)\n(?P<body>.*?)^(?P=fence)[ ]*$", re.M | re.S)


@dataclass(frozen=True)
class Block:
    language: str
    words: tuple[str, ...]  #: of the info string, after the language
    body: str
    line: int
    output: str | None = None  #: of the `text output` block that follows
    elided: bool = False  #: that `…` in it stands for anything
    output_span: tuple[int, int] = (0, 0)  #: where that stands in the page

    @property
    def runnable(self) -> bool:
        return "run" in self.words

    @property
    def exit_code(self) -> int:
        return next((int(w.removeprefix("exit=")) for w in self.words if w.startswith("exit=")), 0)


def pages() -> list[pathlib.Path]:
    """Every page that people read."""
    return sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("examples/**/*.md")])


def blocks(page: str) -> list[Block]:
    found: list[Block] = []
    last_end = 0
    for match in _FENCE.finditer(page):
        language, *words = match["info"].split() or [""]
        line = page.count("\n", 0, match.start()) + 1
        if words[:1] == ["output"]:
            between = page[last_end : match.start()].strip()
            assert found and not between, f"line {line}: an output block belongs right after its example"
            before = found[-1]
            found[-1] = Block(
                before.language,
                before.words,
                before.body,
                before.line,
                output=match["body"],
                elided="elided" in words,
                output_span=match.span("body"),
            )
        else:
            found.append(Block(language, tuple(words), match["body"], line))
        last_end = match.end()
    return found


def runnable(page: pathlib.Path) -> list[Block]:
    return [block for block in blocks(page.read_text(encoding="utf-8")) if block.runnable]


def agrees(printed: str, expected: str, *, elided: bool = False) -> bool:
    """Whether *printed* is what the page shows. Blanks at the ends of lines do not count."""
    if not elided:
        return tidy(printed) == tidy(expected)
    pattern = []
    for line in expected.strip("\n").split("\n"):
        if line.strip() == "…":
            pattern.append(r"(?:[^\n]*\n)*?")
        else:
            pattern.append("[^\n]*?".join(re.escape(part) for part in line.rstrip().split("…")) + r"[ \t]*\n")
    return re.fullmatch("".join(pattern) + r"\s*", printed.strip("\n") + "\n") is not None


def tidy(text: str) -> str:
    """*text* without blanks at the ends of lines and empty lines around it."""
    return "".join(f"{line.rstrip()}\n" for line in text.strip("\n").split("\n"))


class Reader:
    """Types the examples of one page in a folder of its own; `doublet` and `python` are the tested ones."""

    def __init__(self, home: pathlib.Path) -> None:
        self.home = home
        self.folder = home / "reader"
        tools = home / "bin"
        self.folder.mkdir()
        tools.mkdir()
        shutil.copytree(ROOT / "examples", self.folder / "examples", symlinks=False)
        for name, start in (("python", ""), ("doublet", '-c "from doublet.cli import main; main()"')):
            tool = tools / name
            tool.write_text(f'#!/bin/sh\nexec "{sys.executable}" {start} "$@"\n', encoding="utf-8")
            tool.chmod(0o755)
        sources = os.environ.get("PYTHONPATH", "").split(os.pathsep)
        self.environment = {
            **{name: value for name, value in os.environ.items() if not name.startswith("DOUBLET_")},
            "PATH": f"{tools}{os.pathsep}{os.environ['PATH']}",
            "PYTHONPATH": os.pathsep.join(str(pathlib.Path(p).resolve()) for p in sources if p),
            "HOME": str(home),
            "XDG_CONFIG_HOME": str(home / "config"),
            "COLUMNS": "90",
            "NO_COLOR": "1",
            "PYTHONIOENCODING": "utf-8",
            "LC_ALL": "C.UTF-8",
        }
        self.python: list[str] = []  # what earlier Python blocks said
        self.sessions: list[int] = []  # of the blocks, for what they leave running
        self.ports: dict[str, str] = {}  # free ones for those of the page

    def __enter__(self) -> Reader:
        return self

    def __exit__(self, *_: object) -> None:
        """Stops what the blocks left running, such as a server when a later block failed."""
        for status in pathlib.Path("/proc").glob("[0-9]*/stat"):
            with contextlib.suppress(OSError):
                behind_the_name = (
                    status.read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()
                )
                if int(behind_the_name[3]) in self.sessions:
                    os.kill(int(status.parent.name), signal.SIGKILL)

    def follow(self, block: Block) -> str:
        """What the block prints. Fails when it does not end as the page says."""
        place, marker = self.home / "place", "--- this block ---"
        body = _PORT.sub(self._free_port, block.body)
        if block.language == "python":
            source = "".join(f"{code}\n" for code in self.python) + f"print({marker!r})\n{body}"
            command = [sys.executable, "-c", source]
        else:
            command = ["sh", "-eu", "-c", f"trap 'pwd > \"{place}\"' EXIT\n{body}"]
        done = subprocess.Popen(
            command,
            cwd=self.folder,
            env=self.environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            encoding="utf-8",
            start_new_session=True,
        )
        self.sessions.append(done.pid)
        out, err = done.communicate(timeout=120)
        ended = f"line {block.line} ended with {done.returncode}, not {block.exit_code}"
        assert done.returncode == block.exit_code, f"{ended}:\n{block.body}\n{out}\n{err}"
        for written, free in self.ports.items():
            out = out.replace(f"127.0.0.1:{free}", f"127.0.0.1:{written}")
        if block.language == "python":
            self.python.append(body)
            return out.partition(f"{marker}\n")[2]
        self.folder = pathlib.Path(place.read_text(encoding="utf-8").strip())
        return out

    def _free_port(self, written: re.Match[str]) -> str:
        if written[0] not in self.ports:
            with socket.create_server(("127.0.0.1", 0)) as free:
                self.ports[written[0]] = str(free.getsockname()[1])
        return self.ports[written[0]]


def refill(page: pathlib.Path) -> None:
    """Write what the blocks of *page* print now into their output blocks."""
    text = page.read_text(encoding="utf-8")
    changes = []
    with tempfile.TemporaryDirectory() as home, Reader(pathlib.Path(home)) as reader:
        for block in blocks(text):
            if block.runnable:
                printed = reader.follow(block)
                if block.output is not None and not block.elided:
                    changes.append((block.output_span, tidy(printed)))
    for (start, end), printed in reversed(changes):
        text = text[:start] + printed + text[end:]
    page.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    for name in sys.argv[1:]:
        refill(pathlib.Path(name).resolve())
