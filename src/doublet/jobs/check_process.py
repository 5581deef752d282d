"""One process of the pool of checks (`doublet.jobs.check_pool`): takes texts from a socket, answers checks.

It ends when the other side does, so none is left behind by a service that was killed.
"""

from __future__ import annotations

import pickle
import signal
import sys
from multiprocessing.connection import Connection
from typing import Any

from doublet.errors import DoubletError

CACHE_KB = 16_384  #: of SQLite; the pages of a database are in the memory of the system anyway, once for all processes
WARM_UP = "слово и дело the word and the deed " * 40


def serve(connection: Connection, address: str) -> None:
    """Answer until the other side is gone."""
    from doublet.jobs.check_library import check_library
    from doublet.store.database import Store

    try:
        store = Store(address, create=False)
        if store.database.vendor == "sqlite":
            store.database.rows(f"PRAGMA cache_size=-{CACHE_KB}")
        check_library(store, WARM_UP)  # imports what a check needs
    except Exception as error:
        connection.send_bytes(_told(error))
        return
    with store:
        connection.send(("ready", None))
        while True:
            try:
                text, options = connection.recv()
            except (EOFError, OSError):
                return
            try:
                answer = pickle.dumps(
                    ("check", check_library(store, text, **options)), protocol=pickle.HIGHEST_PROTOCOL
                )
            except Exception as error:
                answer = _told(error)
            connection.send_bytes(answer)


def _told(error: Exception) -> bytes:
    """An error for the other side; one that cannot be sent as it is goes as its message."""
    try:
        data = pickle.dumps(("error", error))
        pickle.loads(data)
        return data
    except Exception:
        plain: Any = DoubletError(str(error))
        plain.code = error.code if isinstance(error, DoubletError) else "error"
        return pickle.dumps(("error", plain))


def main() -> None:
    signal.signal(
        signal.SIGINT, signal.SIG_IGN
    )  # Ctrl-C is for the service, which ends this process in order
    with Connection(int(sys.argv[1])) as connection:
        serve(connection, connection.recv())


if __name__ == "__main__":
    main()
