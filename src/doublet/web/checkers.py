"""Quick checks while somebody waits: a bounded pool of processes in the process that answers requests.

Elsewhere (in workers, at the first start) there is no pool, and a check is made where it is asked for.
"""

from __future__ import annotations

from typing import Any

from django.conf import settings

from doublet.jobs.check_library import check_library
from doublet.jobs.check_pool import CheckPool
from doublet.jobs.compare import compare as compare_texts
from doublet.model import Check, Comparison
from doublet.progress import Progress
from doublet.web.configure import program_settings
from doublet.web.store import store

_pools: list[CheckPool] = []  # of this process: none or one


def use(pool: CheckPool | None) -> None:
    """From now on quick checks go to *pool*; None: they are made in this process."""
    _pools[:] = [pool] if pool is not None else []


def at_once() -> int:
    """Requests for checks that are worth answering at the same time: some for each process, so that none of them waits
    for the next text, and some that wait for their turn to write."""
    return 16 + 4 * (_pools[0].processes if _pools else 1)


def check(text: str, progress: Progress, **options: Any) -> Check:
    """As `check_library`, in the pool where there is one, with the thesaurus of the installation. Raises `PoolBusy`
    when too many wait."""
    options = {**_synonyms(), **options}
    if _pools:
        return _pools[0].check(text, **options)
    return check_library(store(), text, progress=progress, **options)


def compare(a: str, b: str) -> Comparison:
    """Two texts beside each other, with the thesaurus of the installation."""
    return compare_texts(a, b, **_synonyms())


def _synonyms() -> dict[str, Any]:
    thesaurus = program_settings(settings.DOUBLET).thesaurus
    return {"thesaurus": thesaurus} if thesaurus else {}
