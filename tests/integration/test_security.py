"""What tools for security say about the code: Bandit, and Django's own check of a deployment."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

import doublet

pytestmark = pytest.mark.covers("S7")

#: what Bandit may find (medium and high), where, and why it is no weakness there
ACCEPTED = {
    ("B608", "store/"): "the text of a statement is ours alone; values are always parameters",
    ("B608", "web/pages/searching.py"): "one of two statements of ours; the words are a parameter",
    ("B301", "spark/"): "written and read by tasks of one run, on storage that only the run writes to",
    ("B301", "evaluation/tasks.py"): "an answer of our own child process",
    ("B301", "jobs/check_process.py"): "a pipe to our own child process",
    ("B301", "jobs/dedupe/frames.py"): "a temporary file without a name, written by the same process",
    ("B108", "jobs/dedupe/memory.py"): "only measured for room; files are made by tempfile",
    ("B604", "cli/completion.py"): "'shell' is the name of a shell, nothing is run",
    ("B308", "web/words/tags.py"): "what was escaped by the one escaper of the reports",
    ("B703", "web/words/tags.py"): "what was escaped by the one escaper of the reports",
    ("B308", "web/works/drawing.py"): "markup of ours around texts that were escaped piece by piece",
    ("B703", "web/works/drawing.py"): "markup of ours around texts that were escaped piece by piece",
}


def found_by_bandit(place: Path) -> set[tuple[str, str, int]]:
    command = [sys.executable, "-m", "bandit", "-q", "-r", str(place), "-ll", "-f", "json"]
    done = subprocess.run(command, capture_output=True, encoding="utf-8", check=False, timeout=300)
    told = json.loads(done.stdout)
    assert not told["errors"], told["errors"]
    return {
        (one["test_id"], Path(one["filename"]).relative_to(place).as_posix(), one["line_number"])
        for one in told["results"]
    }


def test_bandit_finds_nothing_that_was_not_weighed() -> None:
    found = found_by_bandit(Path(doublet.__file__).parent)
    new = [one for one in found if not any(one[0] == id and one[1].startswith(at) for id, at in ACCEPTED)]
    assert not new, sorted(new)
    idle = [row for row in ACCEPTED if not any(row[0] == id and at.startswith(row[1]) for id, at, _ in found)]
    assert not idle, f"nothing is found there any more: {idle}"


def test_bandit_can_fail(tmp_path: Path) -> None:
    (tmp_path / "bad.py").write_text(
        "import subprocess\ndef run(x):\n    subprocess.run(x, shell=True)\n", encoding="utf-8"
    )
    assert {id for id, _, _ in found_by_bandit(tmp_path)} == {"B602"}


CHECK = """
import sys
from pathlib import Path
from doublet.web.configure import UNFINISHED, ServiceOptions, configure

Path(sys.argv[1], UNFINISHED).mkdir()  # the server makes it when it starts
https = sys.argv[2] == "https"
options = ServiceOptions(
    database=sys.argv[1] + "/x.db", data=Path(sys.argv[1]), hosts=("doublet.example.org",), https=https, proxies=1
)
configure(options)
from django.core.management import call_command

call_command("check", deploy=True, fail_level="WARNING")
"""


@pytest.mark.parametrize(("how", "safe"), [("https", True), ("http", False)])
def test_the_deployment_check_of_django(tmp_path: Path, how: str, safe: bool) -> None:
    command = [sys.executable, "-c", CHECK, str(tmp_path), how]
    done = subprocess.run(command, capture_output=True, encoding="utf-8", check=False, timeout=120)
    assert (done.returncode == 0) is safe, done.stderr
    assert "security.W" in done.stderr or safe
