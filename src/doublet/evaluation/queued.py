"""The evaluation as a job of the queue (`doublet.jobs.queue.kinds`)."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from doublet.jobs.queue.kinds import Work


def evaluate(
    work: Work, *, data: str | None = None, options: Mapping[str, Any] | None = None, out: str | None = None
) -> dict[str, Any]:
    """Every method against documents changed on purpose. *options* are those of `evaluation.evaluate.evaluate`; with
    *out* the report is written to that folder or file too."""
    from doublet.evaluation import evaluate as evaluation

    chosen = dict(options or {})
    if chosen.get("thesaurus") is not None:
        chosen["thesaurus"] = Path(chosen["thesaurus"])
    result = evaluation.evaluate(Path(data) if data else None, progress=work.progress, **chosen)
    written: list[str] = []
    if out:
        from doublet.evaluation.report import write_report

        written = [str(path) for path in write_report(result, Path(out))]
    return {**result.to_dict(), "written": written}
