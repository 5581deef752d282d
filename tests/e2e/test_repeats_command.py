"""`doublet repeats` as a process of its own: reports, the linter, bad input."""

from __future__ import annotations

import csv
import io
import json
import os
import pathlib
import subprocess
import sys

import pytest

ONE = "Press the green button on the left side of the panel and wait until the lamp goes out."
TWO = (
    "Boats are tied to the second pier from the bridge, never to the first, which belongs to the post office."
)


def doublet(*arguments: object, code: int = 0, stdin: bytes = b"") -> subprocess.CompletedProcess[bytes]:
    env = {n: v for n, v in os.environ.items() if not n.startswith("DOUBLET_") or n == "DOUBLET_KERNELS"}
    done = subprocess.run(
        [sys.executable, "-m", "doublet", "repeats", *map(str, arguments)],
        check=False,
        capture_output=True,
        input=stdin,
        env=env,
        timeout=120,
    )
    assert done.returncode == code, done.stderr.decode() + done.stdout.decode()[-1000:]
    assert b"Traceback" not in done.stderr
    return done


@pytest.fixture
def docs(tmp_path: pathlib.Path) -> pathlib.Path:
    folder = tmp_path / "docs"
    folder.mkdir()
    (folder / "one.md").write_text(f"# One\n\n{ONE}\n\nRivers freeze late here.\n")
    (folder / "two.rst").write_text(f"Two\n===\n\n{ONE}\n\nMaps that fold badly.\n")
    return folder


def test_it_works(docs):
    out = doublet(docs).stdout.decode()
    assert "1 group of repeats" in out
    assert f"{docs.as_posix()}/one.md:3:1" in out


@pytest.mark.parametrize("form", ["json", "html", "sarif", "csv"])
@pytest.mark.covers("P7")
def test_every_format(docs, form, tmp_path):
    out = doublet(docs, "--format", form, "--algorithm", "exact", "--quiet").stdout
    assert ONE.encode() in out or form == "sarif"
    if form in ("json", "sarif"):
        json.loads(out)
    if form == "csv":
        assert len(list(csv.DictReader(io.StringIO(out.decode())))) == 2
    file = tmp_path / f"out.{form}"
    assert doublet(docs, "--format", form, "--algorithm", "exact", "--out", file, "-q").stdout == b""
    assert file.read_bytes() == out


def test_the_linter(docs, tmp_path):
    known = tmp_path / "known.json"
    known.write_bytes(doublet(docs, "--format", "json", "-q").stdout)
    doublet(docs, "--baseline", known, "--fail-on-new")
    (docs / "three.md").write_text(f"Something else is said here first.\n\n{ONE}\n")
    done = doublet(docs, "--baseline", known, "--fail-on-new", code=1)
    assert b"1 more copy of a known repeat" in done.stdout
    assert b"1 new repeat against" in done.stderr
    (docs / "three.md").write_text(f"{TWO}\n\nIn between.\n\n{TWO}\n")
    done = doublet(docs, "--baseline", known, "--fail-on-new", code=1)
    assert b"a new repeat" in done.stdout
    doublet(docs, "--baseline", known)  # without --fail-on-new it only tells


def test_every_parameter_is_in_both_doors():
    from doublet.cli.repeats import command
    from doublet.repeats.model import OPTION_NAMES, RepeatOptions

    given = command.make_context("repeats", ["x"]).params
    assert set(OPTION_NAMES) <= set(given)
    for name in OPTION_NAMES:
        value = float(given[name]) if name == "min_common_share" else given[name]
        assert value == getattr(RepeatOptions(), name), name


def test_standard_input():
    out = doublet(
        "-", "--algorithm", "exact", "--format", "json", "-q", stdin=f"{ONE} And so. {ONE}".encode()
    ).stdout
    assert json.loads(out)["groups"][0]["fragments"][0]["file"] == "standard input"


def test_bad_input(docs, tmp_path):
    assert b"at least 1" in doublet(docs, "--min-tokens", "0", code=2).stderr
    assert b"did you mean 'exact'" in doublet(docs, "--algorithm", "exat", code=2).stderr
    assert b"needs --baseline" in doublet(docs, "--fail-on-new", code=2).stderr
    assert b"cannot be read" in doublet(docs, "--baseline", tmp_path / "no.json", code=4).stderr
    (tmp_path / "bad.json").write_text("[1, 2")
    assert b"not JSON" in doublet(docs, "--baseline", tmp_path / "bad.json", code=2).stderr
    (tmp_path / "bad.json").write_text("[1, 2]")
    assert b"not a baseline" in doublet(docs, "--baseline", tmp_path / "bad.json", code=2).stderr
    doublet(tmp_path / "nothing.md", code=4)
    (docs / "bad.txt").write_bytes(b"\x7fELF" + bytes(500))
    assert b"bad.txt" in doublet(docs, code=3).stderr
    (tmp_path / "empty.md").write_text("")
    assert b"No repeat was found" in doublet(tmp_path / "empty.md").stdout
    doublet(docs, "--out", tmp_path / "no" / "file.html", code=4)


def test_the_same_bytes_twice(docs):
    assert doublet(docs, "--format", "html", "-q").stdout == doublet(docs, "--format", "html", "-q").stdout
