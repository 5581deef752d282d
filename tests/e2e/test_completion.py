"""Completion in real shells: a line is begun, the tab key is pressed, and the shell itself says what became of it."""

from __future__ import annotations

import os
import pathlib
import pty
import select
import shutil
import subprocess
import sys
import time

import pytest

BIN = pathlib.Path(sys.executable).parent
#: what is typed before the tab key, and how the line has to go on
LINES = {
    "check --library the": "check --library theses",
    "check es": "check essay.txt",
    "dedupe --method minh": "dedupe --method minhash",
    "check --leave-out quotations,bib": "check --leave-out quotations,bibliography",
    "dedupe --keep new": "dedupe --keep newest",
    "library ren": "library rename",
    "methods simh": "methods simhash",
    "check --out repo": "check --out reports/",
}
DEADLINE_S = 120.0


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> pathlib.Path:
    folder = tmp_path_factory.mktemp("completion")
    (folder / "essay.txt").write_text("words")
    (folder / "reports").mkdir()
    subprocess.run(
        [sys.executable, "-m", "doublet", "library", "create", "theses", "-q"],
        check=True,
        env=environment(folder),
    )
    return folder


def environment(folder: pathlib.Path) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("DOUBLET", "_DOUBLET"))}
    return {
        **kept,
        "PATH": f"{BIN}{os.pathsep}{os.environ['PATH']}",
        "DOUBLET_DATABASE": str(folder / "l.db"),
        "HOME": str(folder),
        "TERM": "dumb",
        "LC_ALL": "C.UTF-8",
    }


class Terminal:
    """A shell in a terminal of its own."""

    def __init__(self, command: list[str], folder: pathlib.Path) -> None:
        self.pid, self._handle = pty.fork()
        if self.pid == 0:  # pragma: no cover - the child
            os.chdir(folder)
            os.execvpe(command[0], command, environment(folder))
        self.seen = ""

    def type(self, keys: str) -> None:
        os.write(self._handle, keys.encode())

    def wait_for(self, text: str) -> str | None:
        """The line that ends with *text*, without it, or None when it is not shown before the deadline."""
        until = time.monotonic() + DEADLINE_S
        while text not in self.seen:
            if time.monotonic() > until:
                return None
            ready, _, _ = select.select([self._handle], [], [], 0.2)
            if ready:
                try:
                    self.seen += os.read(self._handle, 4096).decode("utf-8", "replace")
                except OSError:
                    return None
        before, _, self.seen = self.seen.partition(text)
        return before.splitlines()[-1] if before else ""

    def close(self) -> None:
        os.close(self._handle)
        os.kill(self.pid, 9)
        os.waitpid(self.pid, 0)


@pytest.mark.covers("S6")
@pytest.mark.parametrize("shell", ["bash", "zsh"])
def test_lines_are_completed(shell: str, place: pathlib.Path) -> None:
    program = shutil.which(shell)
    if program is None:
        pytest.skip(f"{shell} is not installed: `make system` installs it")
    terminal = Terminal([program, *(["--norc"] if shell == "bash" else ["-f"])], place)
    try:
        begin = (
            "autoload -U compinit; compinit -u; unsetopt auto_menu; bindkey -e; " if shell == "zsh" else ""
        )
        terminal.type(f"{begin}PS1='> '; eval \"$(doublet completion {shell})\"; echo rea''dy\n")
        assert terminal.wait_for("ready") is not None, terminal.seen
        for number, (begun, expected) in enumerate(LINES.items()):
            # The shell completes the line and then shows it: "echo" is put before it.
            terminal.type(f"doublet {begun}\t")
            terminal.type(f"\x01echo \x05 en''d{number}\n")
            shown = terminal.wait_for(f"end{number}")
            assert shown is not None, terminal.seen
            # Some shells take the slash of a folder away again.
            assert " ".join(shown.split()).rstrip("/") == f"doublet {expected}".rstrip("/")
    finally:
        terminal.close()


@pytest.mark.covers("S6")
def test_fish_completes(place: pathlib.Path) -> None:
    if shutil.which("fish") is None:
        pytest.skip("fish is not installed: `make system` installs it")
    script = "doublet completion fish | source\n" + "\n".join(
        f'echo "{number}:"; complete -C "doublet {begun}"' for number, begun in enumerate(LINES)
    )
    done = subprocess.run(
        ["fish", "--no-config", "-c", script],
        capture_output=True,
        check=True,
        cwd=place,
        env=environment(place),
    )
    found: dict[int, list[str]] = {}
    for line in done.stdout.decode().splitlines():
        if line.rstrip(":").isdecimal():
            found[int(line.rstrip(":"))] = []
        else:
            found[max(found)].append(line.partition("\t")[0])
    for number, expected in enumerate(LINES.values()):
        assert expected.rpartition(" ")[2] in found[number], (expected, found[number])
