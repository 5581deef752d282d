"""Who works on what: names of owners, and whether an owner on this machine is still alive.

A lease says that somebody works on a job or walks a source until a moment of time, and is renewed meanwhile. When the
owner dies, the lease runs out and somebody else may go on. An owner on the same machine need not be waited for: whether
its process is there can be seen.

Moments are seconds by the clock of the database, so that machines with different clocks agree.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import itertools
import os
import socket
from pathlib import Path

LEASE_S = 30.0  #: how long a lease holds unless it is renewed, which happens every third of that time

#: the moment in SQL, by the kind of database
NOW = {
    "sqlite": "((julianday('now') - 2440587.5) * 86400.0)",
    "postgresql": "extract(epoch FROM clock_timestamp())::float8",
}
_numbers = itertools.count(1)


def new_owner() -> str:
    """A name that no other worker or walk has: host, process, start of the process, a number, and the machine."""
    pid = os.getpid()
    return f"{_host()}:{pid}:{_started(pid)}:{next(_numbers)}:{_machine()}"


def shown(owner: str) -> str:
    """Host and number of the process: "server:1234"."""
    return ":".join(owner.split(":")[:2])


def is_gone(owner: str) -> bool:
    """Whether *owner* was a process of this machine that is no longer there. False when that cannot be told."""
    parts = owner.split(":")
    if len(parts) != 5 or parts[4] != _machine() or not parts[1].isdigit():
        return False
    pid = int(parts[1])
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    except OSError:
        return False
    return _started(pid) != parts[2]  # the number was given to another process meanwhile


def _host() -> str:
    return socket.gethostname().replace(":", "-") or "localhost"


def _started(pid: int) -> str:
    """When a process began, as the system counts; empty where that is not told."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_bytes()
    except OSError:
        return ""
    fields = stat.rpartition(b")")[2].split()
    if fields[0] in (b"Z", b"X"):  # dead, and its parent has not noticed
        return "ended"
    return fields[19].decode()


@functools.cache
def _machine() -> str:
    """Where numbers of processes mean the same: one start of one machine, and not another container of it."""
    facts = [_host()]
    with contextlib.suppress(OSError):
        facts.append(Path("/proc/sys/kernel/random/boot_id").read_text())
        facts.append(str(Path("/proc/self/ns/pid").readlink()))
    return hashlib.blake2b("\n".join(facts).encode("utf-8", "surrogateescape"), digest_size=6).hexdigest()
