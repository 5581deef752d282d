"""Duplicates inside libraries and between them as one offline page, to be reviewed.

Each group has the document that stays and those that would go, with a tick that can be taken away. What is ticked is
saved as a list, which ``doublet library remove --duplicates`` takes. Without JavaScript the page can still be read.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from importlib import resources

from doublet.model import Deduplication
from doublet.reports.duplicates_view import Described, DuplicateGroup, DuplicateRow
from doublet.reports.page import escape, shell
from doublet.reports.terminal import cleaned
from doublet.reports.wording import Wording, wording

OPEN = 50  #: groups that are unfolded when the page opens; of more, none


def duplicates_page(
    result: Deduplication,
    groups: Sequence[DuplicateGroup],
    *,
    libraries: Sequence[str],
    created: str = "",
    language: str = "en",
) -> str:
    """The whole page."""
    words = wording(language)
    heading = words("duplicates_title", libraries=list(libraries))
    several = len(libraries) > 1
    unfolded = len(groups) <= OPEN
    body = f"""<a class="skip" href="#groups">{escape(words("duplicates_groups"))}</a>
<header class="top"><h1>{escape(heading)}</h1>
<p>{escape(cleaned(result, words))}</p>
<p class="quiet">{escape(words.say(result.rule))} {escape(words("duplicates_made", date=created))}</p></header>
<main>
<section class="tools" aria-label="{escape(words("duplicates_tools"))}">{_tools(several, words)}</section>
<section id="groups" tabindex="-1"><h2>{escape(words("duplicates_groups"))}</h2>
{"".join(_group(one, unfolded, words) for one in groups) or f"<p>{escape(words('no_duplicates'))}</p>"}
</section>
</main>
<footer>{escape(words("check_made"))}</footer>"""
    return shell(
        heading,
        body,
        language=language,
        style=_asset("class.css") + _asset("duplicates.css"),
        script=_asset("duplicates.js"),
    )


@functools.cache
def _asset(name: str) -> str:
    return resources.files("doublet.reports").joinpath("assets", name).read_text(encoding="utf-8")


def _tools(several: bool, words: Wording) -> str:
    kinds = ""
    if several:
        options = "".join(
            f'<option value="{code}">{escape(words(f"duplicates_{code}"))}</option>'
            for code in ("every", "within", "between")
        )
        kinds = f'<label>{escape(words("duplicates_show"))} <select id="kind">{options}</select></label>'
    return (
        f'<p>{escape(words("duplicates_how"))}</p><p class="row">'
        f'<label>{escape(words("duplicates_search"))} <input id="search" type="search"></label>{kinds}'
        f'<button type="button" id="save">{escape(words("duplicates_save"))}</button>'
        f'<output id="ticked" data-text="{escape(words("duplicates_ticked"))}"></output></p>'
    )


def _group(group: DuplicateGroup, unfolded: bool, words: Wording) -> str:
    head = words("duplicates_group", documents=len(group.members))
    kind = "between" if group.between else "within"
    rows = "".join(_row(one, group, words) for one in group.members)
    columns = "".join(
        f'<th scope="col">{escape(name)}</th>'
        for name in (
            words("duplicates_remove"),
            words.name("head", "title"),
            words("duplicates_alike"),
            words.name("head", "words"),
            words.name("head", "time"),
        )
    )
    return (
        f'<details class="group" data-kind="{kind}" id="{escape(group.id)}"{" open" if unfolded else ""}>'
        f'<summary>{_named(group.keep)} <span class="quiet">{escape(head)}</span></summary>'
        f"<p><b>{escape(words('duplicates_keep'))}</b> {_about(group.keep.about, words)}</p>"
        f'<div class="wide"><table><thead><tr>{columns}</tr></thead><tbody>{rows}</tbody></table></div></details>'
    )


def _row(row: DuplicateRow, group: DuplicateGroup, words: Wording) -> str:
    label = words("duplicates_remove_one", id=row.id)
    tick = (
        f'<input type="checkbox" checked data-keep="{escape(group.keep.id)}" data-id="{escape(row.id)}" '
        f'aria-label="{escape(label)}">'
    )
    alike = words("duplicates_measures", resemblance=row.resemblance, containment=row.containment)
    return (
        f"<tr><td>{tick}</td><td>{_named(row)}<br>{_opening(row.about)}</td><td>{escape(alike)}</td>"
        f'<td class="r">{escape(words.number(row.about.words))}</td><td>{escape(row.about.time)}</td></tr>'
    )


def _named(row: DuplicateRow) -> str:
    """The title of a document, if it has one, and its id."""
    title = f"<bdi>{escape(row.about.title)}</bdi> " if row.about.title else ""
    return f'{title}<span class="quiet"><bdi>{escape(row.id)}</bdi></span>'


def _about(about: Described, words: Wording) -> str:
    facts = [words.count(about.words, "word"), about.time, about.address]
    return f"{escape(', '.join(filter(None, facts)))}<br>{_opening(about)}"


def _opening(about: Described) -> str:
    return f'<span class="opening"><bdi>{escape(about.opening)}</bdi></span>' if about.opening else ""
