"""``doublet evaluate`` and ``doublet advise`` in a process of their own."""

from __future__ import annotations

import json
import os
import pathlib
import signal
import subprocess
import sys
import time

import pytest

ENV = {k: v for k, v in os.environ.items() if not k.startswith("DOUBLET_") or k == "DOUBLET_KERNELS"}


def doublet(
    *arguments: object, cwd: pathlib.Path | None = None, code: int = 0
) -> subprocess.CompletedProcess[str]:
    done = subprocess.run(
        [sys.executable, "-m", "doublet", *map(str, arguments)],
        check=False,
        capture_output=True,
        encoding="utf-8",
        cwd=cwd,
        env=ENV,
        timeout=300,
    )
    assert done.returncode == code, done.stderr + done.stdout[-2000:]
    assert "Traceback" not in done.stderr, done.stderr
    return done


@pytest.mark.covers("E1", "E2", "E3")
def test_a_quick_evaluation_of_the_bundled_texts(tmp_path: pathlib.Path) -> None:
    """Both languages, as a newcomer runs it, with fewer methods."""
    report = tmp_path / "report"
    done = doublet(
        *(
            "evaluate",
            "--quick",
            "--bases",
            3,
            "--workers",
            2,
            "--out",
            report,
            "--quiet",
            "--language",
            "ru",
        ),
        *("--methods", "shingles,imatch,longsent", "--no-curves"),
    )
    assert "bundled-ru: F1" in done.stdout
    page = (report / "index.html").read_text("utf-8")
    assert '<html lang="ru">' in page
    shape = json.loads((report / "evaluation.json").read_text("utf-8"))
    assert {row["set"] for row in shape["documents"]} == {"bundled-ru", "bundled-en"}
    assert shape["settings"]["seed"] == 1
    found = {(r["set"], r["method"], r["change"]): r for r in shape["documents"] if r["threshold"] is None}
    for language in ("ru", "en"):
        # T5: look-alike letters are undone before any method sees them.
        assert found[f"bundled-{language}", "shingles", "look-alikes"]["recall"] == 1
        assert found[f"bundled-{language}", "shingles", "look-alikes"]["precision"] == 1
    assert (report / "documents.csv").is_file()


@pytest.mark.covers("E4")
def test_two_methods_on_my_documents(root: pathlib.Path, tmp_path: pathlib.Path) -> None:
    library = root / "examples" / "library.jsonl"
    done = doublet(
        "evaluate", "--compare", "shingles", "tfidf", library, "--out", tmp_path / "out", "--format", "json"
    )
    shape = json.loads(done.stdout)
    assert shape["counts"]["shingles"] == 1
    assert "snow-reprint" in (tmp_path / "out" / "index.html").read_text("utf-8")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("evaluate", "nowhere"), "nowhere"),
        (("evaluate", "--methods", "shingels"), "did you mean"),
        (("evaluate", "--changes", "synonims-60"), "did you mean"),
        (("evaluate", "--threshold", "7"), "share"),
        (("evaluate", "--compare", "tf", "tf"), "DATA"),
        (("evaluate", "--thesaurus", "none.dat", "--quick"), "none.dat"),
        (("advise", "nowhere.csv"), "nowhere.csv"),
    ],
)
def test_what_is_wrong_is_told(arguments: tuple[str, ...], message: str) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "doublet", *arguments],
        check=False,
        capture_output=True,
        encoding="utf-8",
        env=ENV,
        timeout=120,
    )
    assert done.returncode in (2, 4)
    assert message in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.covers("C5")
def test_advice_on_marked_pairs(root: pathlib.Path, tmp_path: pathlib.Path) -> None:
    lines = (root / "examples" / "library.jsonl").read_text("utf-8").splitlines()
    rows = [json.loads(line)["text"] for line in lines]
    with (tmp_path / "pairs.jsonl").open("w", encoding="utf-8") as out:
        for i, text in enumerate(rows):
            copy = " ".join(word for n, word in enumerate(text.split()) if n % 9 != i % 9)
            out.write(json.dumps({"text_a": text, "text_b": copy, "label": "duplicate"}) + "\n")
            out.write(json.dumps({"text_a": text, "text_b": rows[i - 3], "label": "not"}) + "\n")
    done = doublet("advise", tmp_path / "pairs.jsonl", "--format", "json", "--quiet")
    advice = json.loads(done.stdout)
    assert advice["pairs"] == 24
    assert advice["best"]["expected"]["f1"] > 0.9
    assert advice["best"]["options"].startswith("--method ")


def test_ctrl_c_leaves_nothing_behind(tmp_path: pathlib.Path) -> None:
    process = subprocess.Popen(
        [
            sys.executable,
            "-m",
            "doublet",
            "evaluate",
            "--out",
            str(tmp_path / "report"),
            "--methods",
            "shingles,pivot",
        ],
        stderr=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env=ENV,
        start_new_session=True,
    )
    time.sleep(2.5)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=60)
    assert process.returncode == 130, err.decode()
    assert not (tmp_path / "report").exists()


def test_a_killed_evaluation_leaves_no_worker_behind(tmp_path: pathlib.Path) -> None:
    process = subprocess.Popen(
        [sys.executable, "-m", "doublet", "evaluate", "--quiet", "--methods", "meaning", "--quick"],
        stdout=subprocess.DEVNULL,
        env=ENV,
    )
    children = pathlib.Path(f"/proc/{process.pid}/task/{process.pid}/children")
    deadline = time.monotonic() + 300
    workers: list[str] = []
    while not workers and time.monotonic() < deadline and process.poll() is None:
        workers = [
            child
            for thread in children.parent.parent.glob("*/children")
            for child in thread.read_text().split()
        ]
        time.sleep(0.1)
    process.kill()
    process.wait()
    assert workers, "no worker was started in time"
    while pathlib.Path(f"/proc/{workers[0]}").exists() and time.monotonic() < deadline + 30:
        time.sleep(0.2)
    assert not pathlib.Path(f"/proc/{workers[0]}").exists()
