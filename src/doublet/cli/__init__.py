"""The command line: one file for each command, joined in `root`. Nothing heavy is imported before it is
needed.

`main` runs a command and turns whatever happens into an exit code; `exits` has the table.
"""

from __future__ import annotations

from collections.abc import Sequence

__all__ = ["main", "run"]


def main() -> None:
    """What the command ``doublet`` calls."""
    import gc
    import os
    import sys

    # Neither changes a result. numpy's linear algebra is not used, and its threads cost a tenth of a second; the
    # collector of cycles walks all modules again and again while they are being loaded.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    gc.set_threshold(50_000, 20, 50)
    try:
        code = run(sys.argv[1:])
    except KeyboardInterrupt:  # while the modules were still being loaded
        code = 130
    sys.exit(code)


def run(arguments: Sequence[str]) -> int:
    """Run the command line and return its exit code. Messages go to standard error."""
    from doublet.cli.exits import guarded

    return guarded(list(arguments))
