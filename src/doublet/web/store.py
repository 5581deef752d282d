"""The store on the service's own database connection: a page's transaction and the store's are one."""

from __future__ import annotations

import functools

from doublet.store.database import Store


@functools.cache
def store() -> Store:
    """One door for the whole process; every thread has its own connection behind it."""
    return Store(alias="default")
