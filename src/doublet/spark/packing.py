"""The environment that executors need, as one archive: Doublet, the libraries it uses, and a Python that finds them.

The archive holds ``bin/python``, a small script that runs the Python of the machine (of the same version) with the
libraries of the archive. Spark unpacks it beside the task: see `command`.
"""

from __future__ import annotations

import importlib.util
import io
import re
import sys
import tarfile
from importlib import metadata
from pathlib import Path

import doublet
from doublet.errors import OutputFailed

NEEDED = (
    "doublet",
    "pyarrow",
    "pandas",
    "fsspec",
    "requests",
    "zstandard",
    "lxml",
    "markdown-it-py",
    "pypdfium2",
    "PyStemmer",
    "pymorphy3",
)
_NAME = re.compile(r"[A-Za-z0-9._-]+")
_SCRIPT = """#!/bin/sh
here=$(cd "$(dirname "$0")/.." && pwd)
PYTHONPATH="$here/site${PYTHONPATH:+:$PYTHONPATH}" exec "${DOUBLET_PYTHON:-python%d.%d}" "$@"
"""
ENTRY = """from doublet.cli import main
import sys

sys.argv.insert(1, "spark")
main()
"""


def pack(out: Path) -> dict[str, object]:
    """Write the archive; gives what is in it. Raises `OutputFailed`."""
    found = _distributions()
    script = (_SCRIPT % sys.version_info[:2]).encode()
    under = out.with_name(f".{out.name}.part")
    try:
        with tarfile.open(under, "w:gz", compresslevel=1) as archive:
            _add(archive, "bin/python", script, executable=True)
            _add(archive, "submit.py", ENTRY.encode())
            for path, name in _files(found):
                archive.add(path, f"site/{name}", recursive=False)
        under.replace(out)
    except OSError as error:
        under.unlink(missing_ok=True)
        raise OutputFailed("archive_not_written", path=str(out), why=error.strerror or str(error)) from error
    return {
        "archive": str(out),
        "size_bytes": out.stat().st_size,
        "python": f"{sys.version_info[0]}.{sys.version_info[1]}",
        "packages": {name: one.version for name, one in sorted(found.items())},
        "use": f"spark-submit --archives {out.name}#environment --conf spark.pyspark.python=./environment/bin/python",
    }


def _distributions() -> dict[str, metadata.Distribution]:
    """The packages that are needed, with all that they need, as far as they are installed. Spark brings its own."""
    out: dict[str, metadata.Distribution] = {}
    waiting = list(NEEDED)
    while waiting:
        name = waiting.pop()
        key = name.lower().replace("_", "-")
        if key in out or key in ("pyspark", "py4j"):
            continue
        try:
            found = metadata.distribution(name)
        except metadata.PackageNotFoundError:
            continue
        out[key] = found
        for line in found.requires or ():
            wanted = _NAME.match(line)
            if wanted and "extra ==" not in line:
                waiting.append(wanted.group())
    return out


def _files(found: dict[str, metadata.Distribution]) -> list[tuple[Path, str]]:
    rows = {}
    package = Path(doublet.__file__).parent
    for path in sorted(package.rglob("*")):
        if path.is_file() and "__pycache__" not in path.parts:
            rows[f"doublet/{path.relative_to(package).as_posix()}"] = path
    native = _native()
    if native is not None:  # of a package that is used from its sources it is elsewhere
        rows[f"doublet/kernels/{native.name}"] = native
    for key, one in sorted(found.items()):
        for file in one.files or ():
            name = file.as_posix()
            path = Path(str(one.locate_file(file)))
            plain = (
                not name.startswith(("..", "/")) and "__pycache__" not in name and not name.endswith(".pth")
            )
            if plain and path.is_file() and not (key == "doublet" and not name.startswith("doublet-")):
                rows.setdefault(name, path)
    return [(path, name) for name, path in rows.items()]


def _native() -> Path | None:
    """The compiled kernels, where there are any."""
    found = importlib.util.find_spec("doublet.kernels._native")
    return Path(found.origin) if found is not None and found.origin else None


def _add(archive: tarfile.TarFile, name: str, content: bytes, *, executable: bool = False) -> None:
    info = tarfile.TarInfo(name)
    info.size = len(content)
    info.mode = 0o755 if executable else 0o644
    archive.addfile(info, io.BytesIO(content))
