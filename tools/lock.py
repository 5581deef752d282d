"""Writes constraints.txt: one exact version of everything that `make setup` and `make bench` install.

Asks pip's own resolver (nothing is installed), so it follows the index pip is set up with and names none. Run
it with the oldest Python that Doublet supports: what installs there installs on the newer ones too.
"""

from __future__ import annotations

import json
import pathlib
import re
import subprocess
import sys
import tomllib

ROOT = pathlib.Path(__file__).resolve().parent.parent
TOOLS = ["pip", "cmake", "setuptools"]  # besides the build requirements in pyproject.toml
EXTRAS = ["dev", "bench"]


def wanted() -> list[str]:
    """Every requirement of the project, its extras and its build, without the project itself."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    name = project["project"]["name"]
    extras: dict[str, list[str]] = project["project"]["optional-dependencies"]
    out = list(project["project"]["dependencies"]) + list(project["build-system"]["requires"]) + TOOLS
    queue = list(EXTRAS)
    while queue:
        for requirement in extras[queue.pop()]:
            own = re.fullmatch(rf"{name}\[(.*)\]", requirement)
            if own:
                queue += own.group(1).split(",")
            else:
                out.append(requirement)
    return sorted(set(out))


def resolve(requirements: list[str]) -> dict[str, str]:
    pip = [sys.executable, "-m", "pip", "install", "--dry-run", "--ignore-installed", "--quiet"]
    done = subprocess.run([*pip, "--report", "-", *requirements], check=True, capture_output=True, text=True)
    found = [item["metadata"] for item in json.loads(done.stdout)["install"]]
    return {re.sub(r"[-_.]+", "-", item["name"]).lower(): item["version"] for item in found}


def main() -> None:
    if sys.version_info[:2] != (3, 11):
        sys.exit("Lock with Python 3.11, the oldest that Doublet supports: newer ones pick newer versions.")
    versions = resolve(wanted())
    lines = ["# Exact versions of all that `make setup` and `make bench` install. Written by `make lock`.\n"]
    lines += [f"{name}=={version}\n" for name, version in sorted(versions.items())]
    (ROOT / "constraints.txt").write_text("".join(lines), encoding="utf-8")
    print(f"constraints.txt: {len(versions)} packages")


if __name__ == "__main__":
    main()
