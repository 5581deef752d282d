"""What all tests share: where things are, and the rule that a build server skips nothing it should have run.

With ``CI=true`` a skipped test is a failure, unless it is marked ``shared`` and the labelled data next to the
project is not there; plain kernels where native ones should have been built are a failure too.
"""

from __future__ import annotations

import os
import pathlib
import sys
from collections.abc import Generator
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

ROOT = pathlib.Path(__file__).resolve().parent.parent
SHARED = ROOT.parent / "shared"
STRICT = os.environ.get("CI", "").lower() in ("1", "true", "yes")

# The machine may be busy: no deadlines. A build server must say the same twice: no random seed there.
settings.register_profile("doublet", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("ci", parent=settings.get_profile("doublet"), derandomize=True, database=None)
settings.load_profile("ci" if STRICT else "doublet")


@pytest.fixture(scope="session")
def root() -> pathlib.Path:
    """The top folder of the project."""
    return ROOT


@pytest.fixture(scope="session")
def shared() -> pathlib.Path:
    """The folder of labelled data next to the project. Tests that use it are marked `shared`."""
    return SHARED


def pytest_sessionstart(session: pytest.Session) -> None:
    from doublet import kernels

    if STRICT and kernels.BACKEND != "native" and os.environ.get("DOUBLET_KERNELS") != "python":
        pytest.exit("the native kernels were not built: `make clean setup QUIET=-v` shows why", 1)


def pytest_unconfigure() -> None:
    databases: Any = sys.modules.get("library_databases")
    if databases is not None:
        databases.stop()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    if SHARED.is_dir():
        return
    absent = pytest.mark.skip(reason="the labelled data (../shared) is not next to the project")
    for item in items:
        if item.get_closest_marker("shared"):
            item.add_marker(absent)


def _fail_if_skipped(report: Any) -> None:
    if STRICT and report.skipped and not hasattr(report, "wasxfail"):
        reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else report.longrepr
        report.outcome = "failed"
        report.longrepr = f"CI=true, and this could not run: {reason}"


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, Any, Any]:
    report: Any = yield
    if SHARED.is_dir() or not item.get_closest_marker("shared"):
        _fail_if_skipped(report)
    return report


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report() -> Generator[None, Any, Any]:
    report: Any = yield
    _fail_if_skipped(report)
    return report
