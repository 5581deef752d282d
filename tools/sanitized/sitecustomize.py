"""Loads the sanitized kernels in place of the installed ones, in every process that `make test-sanitized` starts.

Python imports a module of this name by itself when it finds one; tools/sanitized.sh shows it the way here.
"""

from __future__ import annotations

import importlib.machinery
import importlib.util
import os
import pathlib
import sys
from typing import Any


class SanitizedKernels:
    """Finds the one module; all others are found as always."""

    def __init__(self, folder: pathlib.Path) -> None:
        (self.file,) = folder.glob("_native.*.so")

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> Any:  # noqa: ARG002 - as Python asks
        if name != "doublet.kernels._native":
            return None
        loader = importlib.machinery.ExtensionFileLoader(name, str(self.file))
        return importlib.util.spec_from_file_location(name, self.file, loader=loader)


if "DOUBLET_SANITIZED" in os.environ:
    sys.meta_path.insert(0, SanitizedKernels(pathlib.Path(os.environ["DOUBLET_SANITIZED"])))
