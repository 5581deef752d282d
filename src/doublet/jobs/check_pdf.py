"""A check as PDF: the page of `check_page` printed by a browser of the Chromium family that is installed.

Why a browser: docs/decisions/0021-pdf-by-browser.md.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path

from doublet.errors import ConfigError, OutputFailed
from doublet.model import Check, Note
from doublet.reports.check_html import check_page

NAMES = (
    *("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome"),
    *("microsoft-edge", "microsoft-edge-stable", "msedge", "brave-browser"),
)
_MAC = (
    "/Applications/Chromium.app/Contents/MacOS/Chromium",
    "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
    "/Applications/Microsoft Edge.app/Contents/MacOS/Microsoft Edge",
)
_WINDOWS = (r"Google\Chrome\Application\chrome.exe", r"Microsoft\Edge\Application\msedge.exe")
SECONDS = 180
LETTER = ("US", "CA", "MX", "PH", "CL", "CO", "VE", "CR", "GT", "PA", "DO", "PR", "SV", "NI")


def check_pdf(
    result: Check,
    text: str,
    sources: Mapping[str, str] | None = None,
    *,
    name: str = "",
    language: str = "en",
    author: str = "",
    reviewer: str = "",
    work_title: str = "",
    limit: float | None = None,
    browser: str | os.PathLike[str] | None = None,
) -> bytes:
    """The PDF. Arguments as of `check_page`; *browser* is the program to print with instead of the one that is found.

    Raises `ConfigError` when there is no browser, `OutputFailed` when it does not print.
    """
    program = find_browser(browser)
    page = check_page(
        *(result, text, sources),
        name=name,
        language=language,
        author=author,
        reviewer=reviewer,
        work_title=work_title,
        limit=limit,
        paper=paper_of(os.environ),
    )
    with tempfile.TemporaryDirectory(prefix="doublet-pdf-", ignore_cleanup_errors=True) as folder:
        return print_page(page, program, Path(folder))


def paper_of(environ: Mapping[str, str]) -> str:
    """The size of paper that the locale uses: letter in North America, A4 everywhere else."""
    name = next((environ[key] for key in ("LC_ALL", "LC_PAPER", "LANG") if environ.get(key)), "")
    return "letter" if name.partition(".")[0].partition("_")[2] in LETTER else "A4"


def find_browser(browser: str | os.PathLike[str] | None = None) -> str:
    """The browser to print with: *browser*, else the first that is installed."""
    for candidate in [os.fspath(browser)] if browser else _candidates():
        found = shutil.which(candidate)
        if found:
            return found
    raise ConfigError("no_browser_for_pdf", browser=os.fspath(browser) if browser else "", library="chromium")


def _candidates() -> Iterator[str]:
    yield from NAMES
    if sys.platform == "darwin":
        yield from _MAC
    for variable in ("PROGRAMFILES", "PROGRAMFILES(X86)", "LOCALAPPDATA"):
        folder = os.environ.get(variable)
        if folder:
            yield from (str(Path(folder) / place) for place in _WINDOWS)


def print_page(page: str, program: str, folder: Path) -> bytes:
    """*page* printed inside *folder*, with a profile of its own and without any network."""
    source, target = folder / "report.html", folder / "report.pdf"
    source.write_text(page, encoding="utf-8")
    command = [
        program,
        "--headless",
        "--disable-gpu",
        "--disable-extensions",
        "--disable-background-networking",
        "--disable-dev-shm-usage",
        "--host-resolver-rules=MAP * ~NOTFOUND",
        "--no-first-run",
        "--no-pdf-header-footer",
        f"--user-data-dir={folder / 'profile'}",
        f"--print-to-pdf={target}",
        source.as_uri(),
    ]
    if hasattr(os, "geteuid") and os.geteuid() == 0:
        command.insert(1, "--no-sandbox")  # Chromium refuses to run as root with it
    try:
        done = subprocess.run(command, capture_output=True, timeout=SECONDS, check=False)
    except subprocess.TimeoutExpired as error:
        raise OutputFailed(
            "pdf_too_slow",
            seconds=SECONDS,
            program=program,
        ) from error
    except OSError as error:
        raise OutputFailed("program_not_started", why=error.strerror or error, program=program) from error
    content = target.read_bytes() if target.is_file() else b""
    if not content.startswith(b"%PDF"):
        said = done.stderr.decode("utf-8", "replace").strip().splitlines()
        raise OutputFailed(
            "pdf_not_printed",
            said=said[-1] if said else Note("by_exit", number=done.returncode),
            program=program,
        )
    return content
