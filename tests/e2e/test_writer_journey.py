"""The journey of a documentation writer, on a real manual and as a user: look, decide, draw the line, go on writing."""

from __future__ import annotations

import json
import lzma
import os
import pathlib
import re
import subprocess
import sys

import pytest

UNIQUE = (
    "Ostrich-feathered lanterns, quoth nobody before, outshine marzipan gyroscopes on alternate Wednesdays."
)


class Writer:
    """Runs the command in a folder of its own, with nothing in the environment but a path and a home."""

    def __init__(self, home: pathlib.Path) -> None:
        self.home = home

    def repeats(self, *arguments: str, code: int = 0) -> str:
        done = subprocess.run(
            [sys.executable, "-m", "doublet", "repeats", *arguments],
            cwd=self.home,
            env={"PATH": os.environ["PATH"], "HOME": str(self.home), "LANG": "C.UTF-8"},
            check=False,
            capture_output=True,
            timeout=300,
        )
        assert done.returncode == code, done.stderr.decode() + done.stdout.decode()[-2000:]
        assert b"Traceback" not in done.stderr
        return done.stdout.decode()


@pytest.fixture
def writer(shared: pathlib.Path, tmp_path: pathlib.Path) -> Writer:
    manual = shared / "data" / "doc-repeats-spbu" / "docs" / "linux-kernel-doc.txt.xz"
    with lzma.open(manual, "rt", encoding="utf-8") as stream:
        text = stream.read()[:240_000]
    docs = tmp_path / "docs"
    (docs / "build").mkdir(parents=True)
    cuts = [0, *(text.index("\n", len(text) * n // 6) for n in range(1, 6)), len(text)]
    for number in range(6):
        (docs / f"chapter{number}.md").write_text(text[cuts[number] : cuts[number + 1]], encoding="utf-8")
    (docs / "build" / "all.md").write_text(text, encoding="utf-8")
    (docs / ".gitignore").write_text("build/\n")
    return Writer(tmp_path)


@pytest.mark.shared
@pytest.mark.covers("P7", "P8")
def test_from_the_first_look_to_a_gate_that_holds(writer: Writer) -> None:
    docs = writer.home / "docs"
    # Look. What is built is not looked at; every group says what it would save.
    out = writer.repeats("docs", "--limit", "5")
    assert "excluded or ignored files and folders were left out" in out
    assert "build/all.md" not in out
    assert len(re.findall(r"\d words to save", out)) >= 5
    # The page, with all groups, and what is decided there (the browser exports the same).
    writer.repeats("docs", "--format", "html", "--out", "repeats.html", "--quiet")
    page = (writer.home / "repeats.html").read_text(encoding="utf-8")
    found = json.loads(writer.repeats("docs", "--format", "json", "--quiet"))
    ids = re.findall(r'<article class="group" id="([^"]+)"', page)
    assert ids[0] in {group["id"] for group in found["groups"]}
    # Draw the line, and read it back in another process.
    writer.repeats("docs", "--format", "json", "--out", "known.json", "--quiet")
    gate = ("docs", "--baseline", "known.json", "--fail-on-new")
    assert "Nothing new was found." in writer.repeats(*gate)
    # Write something new, move something old: no alarm.
    one, two = docs / "chapter1.md", docs / "chapter4.md"
    first, other = one.read_text(encoding="utf-8"), two.read_text(encoding="utf-8")
    half = first.index("\n", len(first) // 2)
    one.write_text(f"{first[:half]}\n\n{UNIQUE}\n{first[half:]}", encoding="utf-8")
    writer.repeats(*gate)
    moved = other[:3000]
    two.write_text(other[3000:], encoding="utf-8")
    (docs / "moved.md").write_text(moved, encoding="utf-8")
    writer.repeats(*gate)
    # Copy a sentence: an alarm that names both places.
    copy = docs / "copy.md"
    copy.write_text(f"# Copied\n\n{UNIQUE}\n", encoding="utf-8")
    out = writer.repeats(*gate, code=1)
    assert "docs/copy.md:3:1" in out and "docs/chapter1.md" in out
    # Three ways to say that it must be so: a decision, a comment, a pattern.
    new = json.loads(writer.repeats("docs", "--baseline", "known.json", "--format", "json", "--quiet"))
    rows = [group for group in new["groups"] if group["new"]]
    assert [group["reason"]["code"] for group in rows] == ["new_repeat"]
    decided = [{"group": g["id"], "decision": "keep", "fragments": g["fragments"]} for g in rows]
    (writer.home / "decisions.json").write_text(json.dumps({"format": 1, "decisions": decided}))
    writer.repeats(*gate, "--decisions", "decisions.json")
    writer.repeats(*gate, "--exclude", "copy.md")
    copy.write_text(f"# Copied\n\n<!-- doublet-ignore -->\n\n{UNIQUE}\n", encoding="utf-8")
    writer.repeats(*gate)
    # The code host shows what is new.
    copy.write_text(f"# Copied\n\n{UNIQUE}\n", encoding="utf-8")
    sarif = json.loads(writer.repeats(*gate, "--format", "sarif", "--quiet", code=1))
    states = [result["baselineState"] for result in sarif["runs"][0]["results"]]
    assert states.count("new") == 1
