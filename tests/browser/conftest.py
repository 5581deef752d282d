"""The browser that all tests of pages share."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from typing import Any

import pytest

from doublet.jobs.check_pdf import NAMES

PATIENCE_MS = 60_000


@pytest.fixture(scope="session")
def playwright_door() -> Any:
    return pytest.importorskip("playwright.sync_api", reason="playwright is not installed")


@pytest.fixture
def expect(playwright_door: Any) -> Any:
    """Asserts that wait, also while a click loads the page again: expressions of our own may meet half a page then."""
    playwright_door.expect.set_options(timeout=PATIENCE_MS)
    return playwright_door.expect


@pytest.fixture(scope="module")
def browser(playwright_door: Any) -> Iterator[Any]:
    program = next(filter(None, map(shutil.which, NAMES)), None)
    if program is None:
        pytest.skip("no Chromium is installed: `make system` installs it")
    with playwright_door.sync_playwright() as playwright:
        root = hasattr(os, "geteuid") and os.geteuid() == 0
        opened = playwright.chromium.launch(
            executable_path=program, args=["--no-sandbox"] if root else [], chromium_sandbox=not root
        )
        yield opened
        opened.close()
