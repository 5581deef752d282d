"""The command line: one file for each command, joined in `root`. Nothing heavy is imported before it is
needed.

`main` runs a command and turns whatever happens into an exit code; `exits` has the table.
"""

from __future__ import annotations

from collections.abc import Sequence

__all__ = ["main", "run"]


def main() -> None:
    """What the command ``doublet`` calls."""
    import sys

    try:
        code = run(sys.argv[1:])
    except KeyboardInterrupt:  # while the modules were still being loaded
        code = 130
    sys.exit(code)


def run(arguments: Sequence[str]) -> int:
    """Run the command line and return its exit code. Messages go to standard error."""
    from doublet.cli.exits import guarded

    return guarded(list(arguments))
