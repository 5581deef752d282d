"""The process that runs the tasks of one method: reads them from standard input, writes results to standard output.

It ends with the process that started it, even when that one is killed: nobody is left to read the results.
"""

from __future__ import annotations

import os
import sys
import threading
import time

from doublet.evaluation.tasks import main

LOOK_S = 1.0


def end_with(parent: int) -> None:
    """Look now and then whether the parent is still there."""
    while os.getppid() == parent:
        time.sleep(LOOK_S)
    os._exit(1)


if __name__ == "__main__":
    threading.Thread(target=end_with, args=(os.getppid(),), daemon=True).start()
    main(sys.stdin.buffer, sys.stdout.buffer)
