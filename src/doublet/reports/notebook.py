"""What a notebook shows of a result: a piece of a page, made with the escaper of all pages."""

from __future__ import annotations

from doublet.model import Deduplication
from doublet.reports.page import escape
from doublet.reports.wording import wording

SHOWN_GROUPS = 10  #: and so many members of each


def draw_groups(result: Deduplication) -> str:
    """The numbers, the rule, and the largest groups."""
    words = wording()
    head = words("result_numbers", documents=result.documents, kept=len(result.kept), removed=result.removed)
    largest = sorted(result.groups, key=lambda group: (-len(group.members), str(group.keep)))[:SHOWN_GROUPS]
    rows = []
    for group in largest:
        ids = ", ".join(str(member.id) for member in group.members[:SHOWN_GROUPS])
        more = " …" if len(group.members) > SHOWN_GROUPS else ""
        rows.append(f"<tr><td>{escape(group.keep)}</td><td>{escape(ids)}{more}</td></tr>")
    table = ""
    if rows:
        names = "".join(f"<th>{escape(words(code))}</th>" for code in ("result_keep", "result_remove"))
        table = f"<table><thead><tr>{names}</tr></thead><tbody>{''.join(rows)}</tbody></table>"
    left = len(result.groups) - len(largest)
    rest = f"<p>{escape(words('more', number=left))}</p>" if left else ""
    return f"<p><b>{escape(head)}</b></p><p>{escape(words.say(result.rule))}</p>{table}{rest}"
