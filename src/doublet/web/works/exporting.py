"""Reports to take away: the same page and JSON as the command line writes, with what people decided."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict
from urllib.parse import quote

from doublet.jobs.check_pdf import find_browser, print_page
from doublet.matches.figures import figures
from doublet.reports.check_html import check_page
from doublet.web.words import Words
from doublet.web.works.kept import Report, switched_off
from doublet.web.works.models import Decision, Work


def file_name(title: str, form: str) -> str:
    """A name for a download, percent-encoded: nothing of a title can break a header."""
    plain = "".join(c if c.isalnum() or c in " ._-" else "_" for c in title)[:80].strip() or "report"
    return quote(f"{plain}.{form}", safe="")


def export(
    work: Work, report: Report, decisions: Sequence[Decision], form: str, words: Words
) -> tuple[bytes, str]:
    """The content and its type. Raises `ConfigError` when a PDF is asked for and no browser is installed."""
    scored = switched_off(decisions).score(report.check)
    if form == "json":
        value = {
            **scored.to_dict(),
            "figures": asdict(figures(scored)),
            "title": work.title,
            "author": work.author,
            "verdict": work.verdict,
            "decisions": [
                {
                    "target": one.target,
                    "which": one.which,
                    "reason": one.reason,
                    "by": one.by.get_username() if one.by else "",
                    "at": one.at.isoformat(),
                    "undone": one.undone_at.isoformat() if one.undone_at else None,
                }
                for one in decisions
            ],
            "comments": [
                {"fragment": one.fragment, "text": one.text, "by": one.by.get_username() if one.by else ""}
                for one in work.comments.select_related("by")
            ],
        }
        return json.dumps(value, ensure_ascii=False, indent=1).encode(), "application/json"
    page = check_page(
        scored,
        report.text,
        report.excerpts,
        name=work.title,
        language=words.language,
    )
    if form == "html":
        return page.encode("utf-8", "replace"), "text/html; charset=utf-8"
    return _pdf(page), "application/pdf"


def _pdf(page: str) -> bytes:
    import tempfile
    from pathlib import Path

    with tempfile.TemporaryDirectory(prefix="doublet-pdf-", ignore_cleanup_errors=True) as folder:
        return print_page(page, find_browser(), Path(folder))
