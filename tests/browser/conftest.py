"""The browser that all tests of pages share."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from typing import Any

import pytest

from doublet.jobs.check_pdf import NAMES


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    sync = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    program = next(filter(None, map(shutil.which, NAMES)), None)
    if program is None:
        pytest.skip("no Chromium is installed: `make system` installs it")
    with sync.sync_playwright() as playwright:
        root = hasattr(os, "geteuid") and os.geteuid() == 0
        opened = playwright.chromium.launch(
            executable_path=program, args=["--no-sandbox"] if root else [], chromium_sandbox=not root
        )
        yield opened
        opened.close()
