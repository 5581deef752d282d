"""What goes wrong around a run: streams that are closed, readers that go away, signals, inputs that change."""

from __future__ import annotations

import json
import os
import pathlib
import signal
import subprocess
import sys

import pytest

ENV = {
    name: value
    for name, value in os.environ.items()
    if not name.startswith("DOUBLET_") or name == "DOUBLET_KERNELS"
}
TEXT = "The boats were locked in the ice until March, and nobody in the village minded it much."
COMMAND = f"{sys.executable} -m doublet"


@pytest.fixture
def corpus(tmp_path: pathlib.Path) -> pathlib.Path:
    path = tmp_path / "corpus.jsonl"
    rows = ({"id": f"{i}", "text": f"{TEXT} {i} {i % 100}"} for i in range(3000))
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def shell(line: str, folder: pathlib.Path) -> subprocess.CompletedProcess[str]:
    done = subprocess.run(
        ["bash", "-c", line], capture_output=True, text=True, env=ENV, cwd=folder, timeout=60, check=False
    )
    assert "Traceback" not in done.stderr
    return done


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("dedupe - <&-", "standard input is closed"),
        ("dedupe corpus.jsonl -q >&-", "Bad file descriptor"),
        ("dedupe corpus.jsonl -q --kept - >&-", "standard output could not be written"),
        (
            "dedupe corpus.jsonl -q --kept - >/dev/full",
            "standard output could not be written: there is no space",
        ),
        ("dedupe corpus.jsonl --kept /dev/full --groups g.jsonl", "/dev/full could not be written"),
    ],
)
def test_streams_that_cannot_be_used(corpus: pathlib.Path, line: str, words: str) -> None:
    done = shell(f"{COMMAND} {line}", corpus.parent)
    assert done.returncode == 4
    assert words in done.stderr
    assert [path.name for path in corpus.parent.iterdir()] == ["corpus.jsonl"]


def test_nobody_listens_to_what_is_told(corpus: pathlib.Path) -> None:
    done = shell(f"{COMMAND} dedupe corpus.jsonl --kept kept.jsonl 2>&-", corpus.parent)
    assert done.returncode == 0
    assert (corpus.parent / "kept.jsonl").exists()


@pytest.mark.parametrize("options", ["--kept -", "--format json", "--groups - --kept kept.jsonl"])
def test_a_reader_that_goes_away_is_141_and_no_limit_that_was_passed(
    corpus: pathlib.Path, options: str
) -> None:
    done = shell(f"{COMMAND} dedupe corpus.jsonl -q {options} | true; echo ${{PIPESTATUS[0]}}", corpus.parent)
    assert done.stdout == "141\n"
    assert done.stderr == ""
    assert [path.name for path in corpus.parent.iterdir()] == ["corpus.jsonl"]


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
@pytest.mark.parametrize("ignored", [False, True])
def test_signals(tmp_path: pathlib.Path, how: signal.Signals, ignored: bool) -> None:
    """A closed terminal is like Ctrl-C; what a shell told the program to ignore (nohup) is ignored."""
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    before = signal.signal(how, signal.SIG_IGN) if ignored else None  # what is ignored here is ignored there
    process = subprocess.Popen(
        [sys.executable, "-m", "doublet", "dedupe", str(pipe), "-q", "--kept", str(tmp_path / "k.jsonl")],
        env={**ENV, "TMPDIR": str(tmp_path)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    if ignored:
        signal.signal(how, before)
    with pipe.open("wb") as file:  # the command is now reading, and waits for more
        file.write(json.dumps({"id": "a", "text": TEXT}).encode() + b"\n")
        file.flush()
        process.send_signal(how)
        if not ignored:
            assert process.wait(timeout=60) in (130, -signal.SIGINT)  # both are 130 to a shell
    _, errors = process.communicate(timeout=60)
    assert b"Traceback" not in errors
    assert process.returncode in ((0,) if ignored else (130, -signal.SIGINT))
    assert sorted(path.name for path in tmp_path.iterdir()) == (["k.jsonl", "pipe"] if ignored else ["pipe"])
