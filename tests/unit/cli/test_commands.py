"""The command line without its jobs: help, settings, methods, curves, suggestions, exit codes."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

import doublet
from doublet import config
from doublet.cli import run
from doublet.cli.base import read_value, use_colour
from doublet.cli.progress import PlainLines, describe
from doublet.cli.root import COMMANDS
from doublet.errors import InvalidParameter, UsageError
from doublet.model import Note
from doublet.progress import Event


def call(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    code = run(arguments)
    out, err = capsys.readouterr()
    return code, out, err


def test_it_works(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = call(capsys, "--version")
    assert code == 0
    assert re.fullmatch(r"doublet \d+\.\d+\.\d+\n", out)


@pytest.mark.parametrize("command", ["", *COMMANDS, "config show"])
def test_help_begins_with_an_example_that_names_the_command(
    capsys: pytest.CaptureFixture[str], command: str
) -> None:
    code, out, err = call(capsys, *command.split(), "--help")
    assert (code, err) == (0, "")
    assert re.match(r"Examples?:\n +(eval \"\$\()?doublet", out)
    assert f"doublet {command}".rstrip() in out.split("Usage:")[0]
    assert all(len(line) <= 100 for line in out.splitlines())


def test_the_list_of_commands_says_what_their_own_help_says(capsys: pytest.CaptureFixture[str]) -> None:
    _, out, _ = call(capsys, "--help")
    for name, (_, text) in COMMANDS.items():
        assert re.search(rf"^  {name} +{re.escape(text[:30])}", out, re.MULTILINE)
    for code in (0, 1, 2, 3, 4, 130):
        assert re.search(rf"^  {code} ", out, re.MULTILINE)


@pytest.mark.parametrize(
    ("arguments", "hint"),
    [
        (["dedup"], "did you mean 'dedupe'"),
        (["zzz"], "Known: check, compare"),
        (["compare", "a", "b", "--shingle-word", "4"], "--shingle-words"),
        (["dedupe", "x", "--format", "yaml"], "table"),
        (["dedupe"], "Missing argument 'INPUT...'"),
        (["compare", "a"], "Missing argument 'B'"),
        (["config", "shwo"], "did you mean 'show'"),
        (["methods", "minhahs"], "did you mean 'minhash'"),
        (["compare", "a", "b", "--method", "shingels"], "did you mean 'shingles'"),
        (["compare", "a", "b", "--threshold", "80"], "0.8 or 80%"),
        (["compare", "a", "b", "--fail-above", "lots"], "--fail-above"),
        (["compare", "a", "b", "--parameter", "functions"], "name=value"),
        (["compare", "-", "-"], "both standard input"),
        (["compare", "a", "b", "--alike", "3"], "--alike"),
        (["compare", "a", "b", "--alike", "0"], "--alike"),
        (["dedupe", "x", "--views", "strct"], "did you mean 'strict'"),
        (["dedupe", "x", "--prefer", "a"], "--keep best-source"),
        (["dedupe", "x", "--keep", "oldest"], "longest"),
        (["dedupe", "x", "--groups", "x.xlsx"], ".jsonl"),
        (["dedupe", "x", "--groups", "same", "--kept", "same"], "its own file"),
        (["dedupe", "x", "--config", "no.toml"], "no settings file"),
        (["curve", "simhash"], "There is one for"),
        (["curve", "-p", "groups=x"], "groups is 'x'"),
        (["completion", "tcsh"], "bash"),
    ],
)
def test_wrong_usage_is_exit_2_with_a_hint(
    capsys: pytest.CaptureFixture[str], arguments: list[str], hint: str
) -> None:
    code, out, err = call(capsys, *arguments)
    assert (code, out) == (2, "")
    assert err.startswith("doublet: ")
    assert hint in err
    assert "Traceback" not in err


def test_info_tells_the_kernels_in_use(capsys: pytest.CaptureFixture[str]) -> None:
    from doublet import kernels

    code, out, _ = call(capsys, "info", "--format", "json")
    known = json.loads(out)
    assert code == 0
    assert known["kernels"] == kernels.BACKEND
    assert known["processors"] >= 1
    documents = {"PyStemmer", "pymorphy3", "pyarrow", "zstandard", "lxml", "pypdfium2"}
    assert set(known["optional"]) == documents | {"urllib3", "can_ada", "brotli"}
    assert "Kernels" in call(capsys, "info")[1]


def test_methods_lists_all_and_one_with_its_parameters(capsys: pytest.CaptureFixture[str]) -> None:
    from doublet.signatures import METHODS

    _, out, _ = call(capsys, "methods")
    assert all(re.search(rf"^{name}  ", out, re.MULTILINE) for name in METHODS)
    for name, kind in METHODS.items():
        _, out, _ = call(capsys, "methods", name)
        assert all(f"  {info.name}=" in out for info in kind.parameters_type.infos())
        known = json.loads(call(capsys, "methods", name, "--format", "json")[1])
        assert known["name"] == name
        assert known["parameters"]


def test_config_show_tells_where_values_come_from(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    (tmp_path / "doublet.toml").write_text('keep = "first"\n')
    monkeypatch.setenv("DOUBLET_WORKERS", "2")
    code, out, _ = call(capsys, "config", "show", "--threshold", "70%", "--format", "json")
    settings = json.loads(out)["settings"]
    assert code == 0
    assert settings["keep"] == {"value": "first", "from": str(tmp_path / "doublet.toml")}
    assert settings["workers"] == {"value": 2, "from": "DOUBLET_WORKERS"}
    assert settings["threshold"] == {"value": 0.7, "from": "--threshold"}
    assert set(settings) == set(config.NAMES)
    table = call(capsys, "config", "show")[1]
    assert re.search(r"workers +2 +DOUBLET_WORKERS", table)


def test_curve_in_every_form(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    points = json.loads(call(capsys, "curve", "--format", "json", "--points", "21")[1])["points"]
    assert points[19][0] == pytest.approx(0.95)
    assert points[19][1] == pytest.approx(0.8786, abs=1e-4)
    rows = call(capsys, "curve", "minhash", "-p", "bands=16", "--format", "csv")[1].splitlines()
    assert rows[0] == "resemblance,chance"
    assert len(rows) == 102
    assert "0.95         0.8786" in call(capsys, "curve")[1]
    code, out, _ = call(capsys, "curve", "--format", "svg", "--out", str(tmp_path / "c.svg"))
    assert (code, out) == (0, "")
    assert ET.parse(tmp_path / "c.svg").getroot().tag.endswith("svg")


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion(capsys: pytest.CaptureFixture[str], shell: str) -> None:
    code, out, _ = call(capsys, "completion", shell)
    assert code == 0
    assert "_DOUBLET_COMPLETE" in out


@pytest.mark.parametrize(
    ("text", "default", "value"),
    [
        ("5", 4, 5),
        ("80%", 0.5, 0.8),
        ("0.7", 0.5, 0.7),
        ("yes", False, True),
        ("FALSE", True, False),
        ("a, b", (), ("a", "b")),
        ("stem", "none", "stem"),
        ("many", 4, "many"),
        ("5", None, "5"),
    ],
)
def test_parameters_are_read_as_what_they_are(text: str, default: object, value: object) -> None:
    assert read_value(text, default) == value


def test_settings_go_to_methods_that_have_them_flags_to_all(monkeypatch: pytest.MonkeyPatch) -> None:
    from doublet.cli.base import method_parameters

    quiet = config.resolve({"method": "tf"}, environ={"DOUBLET_SHINGLE_WORDS": "5"}, directory=Path("/"))
    assert method_parameters(quiet, []) == {}
    loud = config.resolve({"method": "tf", "shingle_words": "5"}, environ={}, directory=Path("/"))
    assert method_parameters(loud, []) == {"shingle_words": 5}
    with pytest.raises(UsageError, match="name=value"):
        method_parameters(quiet, ["bits"])
    assert method_parameters(quiet, ["words=32", "min-letters=1"]) == {"words": 32, "min_letters": 1}
    assert method_parameters(quiet, ["gap=3"], also={"gap": 1}) == {"gap": 3}
    with pytest.raises(InvalidParameter, match="no parameter 'top_words', did you mean"):
        method_parameters(quiet, ["top-words=32"])
    shingled = config.resolve({}, environ={"DOUBLET_SHINGLE_WORDS": "5"}, directory=Path("/"))
    assert method_parameters(shingled, ["shingle-words=7"]) == {"shingle_words": 7}


def test_colour_is_for_terminals_only(monkeypatch: pytest.MonkeyPatch) -> None:
    class Terminal:
        def isatty(self) -> bool:
            return True

    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm")
    assert use_colour("auto", Terminal())
    assert use_colour("always", object())
    assert not use_colour("never", Terminal())
    assert not use_colour("auto", object())
    monkeypatch.setenv("NO_COLOR", "1")
    assert not use_colour("auto", Terminal())
    assert use_colour("always", Terminal())


def test_progress_in_words() -> None:
    assert describe(Event("reading", 50_000_000, 200_000_000, "bytes"), 5.0) == (
        "Reading: 50.0 MB of 200 MB (25%), 10.0 MB/s, 15 s left"
    )
    assert describe(Event("joining", 10, None, "documents"), 0.1) == "Finding duplicates: 10 documents"
    figures = Note(
        "crawl_figures", found=9, stored=3, failed=1, rate=2.5, left=Note("time_left", seconds=4), waits=None
    )
    assert describe(Event("crawling", 5, 15, "pages", figures), 5.0) == (
        "Crawling: 5 of 15 pages (33%), 9 found, 3 stored, 1 failed, 2.5 pages a second, 4 s left"
    )
    assert (
        describe(Event("changing", 1, 8, "changes"), 4.0) == "Changing texts: 1 of 8 changes (12%), 28 s left"
    )
    assert describe(Event("evaluating", 20, 80, "runs"), 5.0) == (
        "Testing methods: 20 of 80 runs (25%), 4 runs/s, 15 s left"
    )


def test_a_table_is_compared_as_one_text_and_the_user_is_told(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    table, text = tmp_path / "library.jsonl", tmp_path / "work.txt"
    table.write_text('{"id": "a", "text": "boats were locked in the ice until March"}\n')
    text.write_text("boats were locked in the ice until March")
    code, out, err = call(capsys, "compare", str(text), str(table))
    assert code == 0
    assert "of it is in B" in out
    assert f"doublet check {text} --against {table}" in err
    assert call(capsys, "compare", str(text), str(table), "--quiet")[2] == ""


def test_plain_progress_speaks_seldom(capsys: pytest.CaptureFixture[str]) -> None:
    now = [0.0]
    lines = PlainLines(sys.stdout, clock=lambda: now[0])
    for second in range(12):
        now[0] = float(second)
        lines(Event("reading", second, 12, "documents"))
    assert len(capsys.readouterr().out.splitlines()) == 2


def imported_by(code: str) -> set[str]:
    program = f"{code}\nimport sys; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, encoding="utf-8")
    return {name.split(".")[0] for name in done.stdout.splitlines()[-1].split()}


def test_importing_the_package_is_light() -> None:
    assert imported_by("import doublet").isdisjoint({"numpy", "click", "rich", "orjson", "tomllib", "csv"})


def test_help_is_light() -> None:
    code = "from doublet.cli import run; run(['--help'])"
    assert imported_by(code).isdisjoint({"numpy", "rich", "orjson", "pyarrow"})


def test_public_names_are_all_there() -> None:
    import doublet

    assert len(set(doublet.__all__)) == len(doublet.__all__)
    for name in doublet.__all__:
        assert getattr(doublet, name) is not None, name
    assert {name for name in dir(doublet) if not name.startswith("__")} == {
        name for name in doublet.__all__ if not name.startswith("__")
    }
    with pytest.raises(AttributeError, match="no attribute 'copmare'"):
        _ = doublet.copmare


def test_the_version_is_that_of_the_project(root: Path) -> None:
    import tomllib

    import doublet

    assert tomllib.loads((root / "pyproject.toml").read_text())["project"]["version"] == doublet.__version__


def test_every_error_is_public() -> None:
    import doublet
    from doublet import errors

    known = {
        name
        for name, value in vars(errors).items()
        if isinstance(value, type) and issubclass(value, Exception)
    }
    assert known <= set(doublet.__all__)


def test_everything_public_says_what_it_is() -> None:
    bare = [name for name in doublet.__all__ if not (getattr(doublet, name).__doc__ or "").strip()]
    assert bare == []
