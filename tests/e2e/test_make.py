"""What `make setup` does again, and what it does not."""

from __future__ import annotations

import importlib.util
import pathlib
import shutil
import subprocess


def test_files_that_come_and_go_make_the_installation_new(root: pathlib.Path, tmp_path: pathlib.Path) -> None:
    """An installation knows which modules there were: after a pull that made a package of one it is made again."""
    project = tmp_path / "a folder"
    package = project / "src/doublet"
    package.mkdir(parents=True)
    (project / "tools").mkdir()
    (project / ".venv").mkdir()
    for name in ("Makefile", "constraints.txt", "tools/venv.sh"):
        shutil.copy(root / name, project / name)
    (package / "one.py").touch()
    (project / ".venv/.tools").touch()
    listed = project / ".venv/.modules"

    def make() -> tuple[str, int]:
        subprocess.run(["make", "--silent", ".venv/.modules"], cwd=project, check=True)
        return listed.read_text(), listed.stat().st_mtime_ns

    first = make()
    assert first[0] == "src/doublet/one.py\n"
    assert make() == first
    (package / "one.py").write_text("changed = True\n")
    assert make() == first
    (package / "one.py").unlink()
    (package / "one").mkdir()
    (package / "one/__init__.py").touch()
    assert make()[0] == "src/doublet/one/__init__.py\n"


def test_run_starts_the_service_and_demo_shows_the_sample(root: pathlib.Path) -> None:
    """What the two words of the README would do; `setup` has been made where the tests run."""

    def said(target: str, *more: str) -> str:
        command = ["make", "--dry-run", "--assume-old=setup", target, *more]
        return subprocess.run(command, cwd=root, check=True, capture_output=True, text=True).stdout

    assert "doublet serve --port 8123" in said("run", "ARGS=--port 8123")
    assert "doublet check examples/work.txt --against examples/library.jsonl" in said("demo")


def test_what_comes_as_a_source_archive_can_be_built(root: pathlib.Path) -> None:
    """Spark is built where no wheel of it has been kept, without an isolated build: the setuptools that Python 3.11
    brings along cannot do that, and later Pythons bring none."""
    assert importlib.util.find_spec("setuptools.command.bdist_wheel") is not None
    pinned = {line.partition("==")[0] for line in (root / "constraints.txt").read_text().splitlines()}
    (tools,) = [line for line in (root / "Makefile").read_text().splitlines() if "scikit-build-core" in line]
    assert set(tools.partition("constraints.txt ")[2].split()) <= pinned
