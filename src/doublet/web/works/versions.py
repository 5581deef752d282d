"""Two checks of the same work: what became of the figures and of each source since the earlier one."""

from __future__ import annotations

from typing import Any

from doublet.reports.check_view import CheckView
from doublet.web.words import Words
from doublet.web.works import kept
from doublet.web.works.models import Work
from doublet.web.works.side import shared_words


def versions(before: Work, after: Work, words: Words) -> dict[str, Any]:
    """Figures and sources of both, and how much of the text is the same. Both have a report."""
    views: list[CheckView] = []
    texts: list[str] = []
    for one in (before, after):
        assert one.report is not None
        report = kept.load(one.report)
        views.append(report.view(kept.switched_off(one.decisions.all()), words, one.title))
        texts.append(report.text)
    then, now = views
    shares: dict[str, dict[str, Any]] = {}
    for name, view in (("then", then), ("now", now)):
        for source in view.sources:
            row = shares.setdefault(source.source.id, {"title": source.title, "then": None, "now": None})
            row[name] = source.share
    rows = sorted(shares.values(), key=lambda row: -max(row["then"] or 0.0, row["now"] or 0.0))
    for row in rows:
        row["state"] = "gone" if row["now"] is None else "new" if row["then"] is None else "same"
        row["change"] = (row["now"] or 0.0) - (row["then"] or 0.0)
    figures = [
        {"name": name, "then": getattr(then.figures, name), "now": getattr(now.figures, name)}
        for name in ("original", "borrowed", "quoted")
    ]
    return {
        "before": before,
        "after": after,
        "figures": figures,
        "sources": rows,
        "kept": shared_words(*texts),
    }
