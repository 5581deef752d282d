"""The built package in a clean place: source archive, native wheel, and the wheel without a compiler."""

from __future__ import annotations

import json
import os
import pathlib
import shutil
import subprocess
import sys
import tarfile
import venv
import zipfile

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
DATA = {
    "doublet/py.typed",
    "doublet/kernels/fold_table.bin",
    "doublet/reports/assets/check.css",
    "doublet/reports/assets/check.js",
    "doublet/reports/schemas/check.json",
    "doublet/samples/library.jsonl",
    "doublet/samples/work.txt",
    "doublet/web/static/doublet/style.css",
    "doublet/web/templates/doublet/base.html",
}
HIDDEN = ("DOUBLET_", "PYTHON", "CMAKE", "SKBUILD", "CC", "CXX")


def call(*command: object, **environment: str) -> str:
    """Run a command in a plain environment; its output, or a failure that shows all it said."""
    plain = {name: value for name, value in os.environ.items() if not name.startswith(HIDDEN)}
    done = subprocess.run(
        [str(part) for part in command],
        check=False,
        env={**plain, **environment},
        cwd=ROOT.anchor,  # not the checkout: nothing may be imported from there
        capture_output=True,
        encoding="utf-8",
        timeout=600,
    )
    assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"
    return done.stdout


def make_sdist(folder: pathlib.Path) -> pathlib.Path:
    code = "import os, sys, scikit_build_core.build as b; os.chdir(sys.argv[1]); b.build_sdist(sys.argv[2])"
    folder.mkdir(exist_ok=True)
    call(sys.executable, "-c", code, ROOT, folder)
    (archive,) = folder.glob("doublet-*.tar.gz")
    return archive


def make_wheel(source: pathlib.Path, folder: pathlib.Path, **environment: str) -> pathlib.Path:
    """From the source archive, as pip does for someone who has no wheel, or from the project's folder."""
    # The compiler that Python was built with need not be here; `make setup` looks for any in the same way.
    compilers = [os.environ.get("CXX"), *map(shutil.which, ("c++", "g++", "clang++"))]
    environment = {"CXX": next(filter(None, compilers), "c++"), **environment}
    pip = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--no-build-isolation", "--no-index"]
    call(*pip, "--wheel-dir", folder, source, **environment)
    (wheel,) = folder.glob("doublet-*.whl")
    return wheel


def clean_place(folder: pathlib.Path) -> pathlib.Path:
    """A new virtual environment; its folder of commands."""
    venv.create(folder, with_pip=True)
    return folder / "bin"


def borrow_libraries(commands: pathlib.Path) -> None:
    """Let the place see the libraries that the tests run with (not the package under test): no downloads."""
    (target,) = commands.parent.glob("lib/python*/site-packages")
    import numpy

    libraries = pathlib.Path(numpy.__file__).parents[1]
    (target / "libraries.pth").write_text(f"{libraries}\n", encoding="utf-8")


def exercise(commands: pathlib.Path, folder: pathlib.Path) -> dict[str, object]:
    """From one command to a report, three times. What came out, to be compared between wheels."""
    doublet = commands / "doublet"
    assert "compare" in call(doublet, "--help")
    samples = pathlib.Path(
        call(commands / "python", "-c", "import doublet.samples as s; print(s.LIBRARY.parent)").strip()
    )
    assert ROOT not in samples.parents
    first, second = folder / "a.txt", folder / "b.txt"
    first.write_text("Рано утром рыбак вышел к реке и увидел на том берегу огонь.", encoding="utf-8")
    second.write_text(
        "Говорят, рыбак вышел к реке и увидел на том берегу огонь, но не удивился.", encoding="utf-8"
    )
    comparison = json.loads(call(doublet, "compare", first, second, "--format", "json"))
    assert comparison["fragments"]
    assert 0 < comparison["share"] <= 1
    groups = json.loads(
        call(doublet, "dedupe", samples / "library.jsonl", "--threshold", "0.5", "--format", "json")
    )
    assert {group["keep"] for group in groups["groups"]} >= {"tide-tables"}
    return {"compare": comparison, "dedupe": groups}


def kernels(commands: pathlib.Path) -> str:
    told = json.loads(call(commands / "doublet", "info", "--format", "json"))
    return str(told["kernels"])


def contents(wheel: pathlib.Path) -> set[str]:
    return set(zipfile.ZipFile(wheel).namelist())


def test_sdist_holds_what_a_build_needs(tmp_path: pathlib.Path) -> None:
    with tarfile.open(make_sdist(tmp_path)) as archive:
        names = {name.split("/", 1)[-1] for name in archive.getnames()}
    assert {
        "pyproject.toml",
        "CMakeLists.txt",
        "README.md",
        "LICENSE",
        "NOTICE",
        "native/module.cpp",
    } <= names
    assert {str(path.relative_to(ROOT)) for path in ROOT.glob("native/*.[ch]pp")} <= names
    assert {f"src/{name}" for name in DATA} <= names
    assert not [
        name for name in names if name.endswith((".so", ".pyc")) or name.startswith(("build/", ".venv/"))
    ]


def test_what_is_published(tmp_path: pathlib.Path) -> None:
    """`make dist`: a source archive, and a wheel that it has tried where there is no compiler, with the libraries that
    the package itself asks for. What `make setup` compiled is used."""
    call("sh", ROOT / "tools" / "dist.sh", sys.executable, tmp_path / "dist")
    (wheel,) = (tmp_path / "dist").glob("doublet-*.whl")
    assert "-manylinux_" in wheel.name
    assert list((tmp_path / "dist").glob("doublet-*.tar.gz"))
    assert contents(wheel) >= DATA
    assert [name for name in contents(wheel) if name.startswith("doublet/kernels/_native.")]
    licences = {pathlib.PurePosixPath(name).name for name in contents(wheel) if "/licenses/" in name}
    assert {"LICENSE", "NOTICE"} <= licences, "the wheel holds code whose licences must come with it"
    commands = clean_place(tmp_path / "place")
    borrow_libraries(commands)
    call(commands / "python", "-m", "pip", "install", "--quiet", "--no-deps", "--no-index", wheel)
    assert kernels(commands) == "native"
    exercise(commands, tmp_path)


def test_wheel_without_a_compiler_works_and_says_so(tmp_path: pathlib.Path) -> None:
    no_compiler = shutil.which("false") or "false"
    wheel = make_wheel(make_sdist(tmp_path / "sdist"), tmp_path / "wheel", CC=no_compiler, CXX=no_compiler)
    assert wheel.name.endswith("-py3-none-any.whl")
    assert contents(wheel) >= DATA
    assert not [name for name in contents(wheel) if name.endswith(".so")]
    commands = clean_place(tmp_path / "place")
    borrow_libraries(commands)
    call(commands / "python", "-m", "pip", "install", "--quiet", "--no-deps", "--no-index", wheel)
    assert kernels(commands) == "python"
    assert "slow" in call(commands / "doublet", "info")
    pure = exercise(commands, tmp_path)
    from doublet import kernels as here

    if here.BACKEND == "native":
        from doublet import compare

        texts = [(tmp_path / name).read_text(encoding="utf-8") for name in ("a.txt", "b.txt")]
        assert pure["compare"] == json.loads(json.dumps(compare(*texts).to_dict())), (
            "the two kernels disagree"
        )


@pytest.mark.parametrize("name", ["library.jsonl", "work.txt"])
def test_examples_are_the_packaged_samples(name: str) -> None:
    packaged = ROOT / "src" / "doublet" / "samples" / name
    assert (ROOT / "examples" / name).read_bytes() == packaged.read_bytes()
