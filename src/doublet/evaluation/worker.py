"""The process that runs the tasks of one method: reads them from standard input, writes results to standard output."""

from __future__ import annotations

import sys

from doublet.evaluation.tasks import main

if __name__ == "__main__":
    main(sys.stdin.buffer, sys.stdout.buffer)
