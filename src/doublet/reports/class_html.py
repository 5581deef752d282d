"""A checked class as one offline page: the table of works, who took from whom as a matrix and as a graph, clusters, and
the sources that several works share.

The table is sorted by a script of a few lines inside the page; without JavaScript it is in the order of the shares.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Mapping, Sequence
from importlib import resources

from doublet.matches.among import Among
from doublet.reports.class_view import ClassRow, Link, links
from doublet.reports.page import escape, shell
from doublet.reports.wording import Wording, wording

HEAT = (0.0, 0.05, 0.15, 0.3)  #: shares from which on a cell of the matrix is darker
MATRIX = 80  #: works that a matrix can show; of a larger class the pairs are listed only
SHOWN_PAIRS = 200
SIZE, MARGIN = 640, 90  #: of the graph


def class_page(
    rows: Sequence[ClassRow], found: Among, *, title: str = "", created: str = "", language: str = "en"
) -> str:
    """The whole page. *rows* link to the reports beside it."""
    words = wording(language)
    heading = words("class_title", name=title) if title else words("class_title_plain")
    ordered = sorted(rows, key=lambda row: (not row.checked, -row.share, row.work))
    numbers = {row.work: number for number, row in enumerate(ordered, 1)}
    by_name = {row.work: row for row in ordered}
    told = links(found)
    unread = sum(not row.checked for row in rows)
    facts = words("class_facts", works=len(rows), pairs=len(told), date=created, unread=unread)
    body = f"""<a class="skip" href="#works">{escape(words("class_works"))}</a>
<header class="top"><h1>{escape(heading)}</h1><p class="quiet">{escape(facts)}</p></header>
<main>
<section id="works" tabindex="-1"><h2>{escape(words("class_works"))}</h2>{_table(ordered, words)}</section>
<section><h2>{escape(words("class_among"))}</h2>{_among(told, numbers, by_name, found, words)}</section>
<section><h2>{escape(words("class_clusters"))}</h2>{_clusters(found, by_name, words)}</section>
<section><h2>{escape(words("class_common"))}</h2>{_common(found, by_name, words)}</section>
</main>
<footer>{escape(words("check_made"))}</footer>"""
    return shell(heading, body, language=language, style=_asset("class.css"), script=_asset("class.js"))


@functools.cache
def _asset(name: str) -> str:
    return resources.files("doublet.reports").joinpath("assets", name).read_text(encoding="utf-8")


def _label(row: ClassRow) -> str:
    return f"{row.author}: {row.work}" if row.author and row.author not in row.work else row.work


def _link(row: ClassRow, text: str) -> str:
    inside = f"<bdi>{escape(text)}</bdi>"
    return f'<a href="{escape(_address(row.report))}">{inside}</a>' if row.report else inside


def _address(file: str) -> str:
    """A file beside the page, as a link: what has a meaning in addresses is written as its bytes."""
    return "".join(
        c if c.isalnum() or c in "._-~()" else "".join(f"%{byte:02X}" for byte in c.encode()) for c in file
    )


def _table(rows: Sequence[ClassRow], words: Wording) -> str:
    names = (
        "class_number",
        "class_work",
        "class_author",
        "class_share",
        "class_from_libraries",
        "class_from_works",
    )
    columns = [(name, words(name)) for name in names]
    columns += [(kind, words.name("figure", kind)) for kind in ("original", "quoted")]
    columns += [(name, words(name)) for name in ("class_alarms", "class_top")]
    head = "".join(
        f'<th scope="col"{" aria-sort=descending" if name == "class_share" else ""}>'
        f'<button type="button">{escape(told)}</button></th>'
        for name, told in columns
    )
    lines = []
    for number, row in enumerate(rows, 1):
        cells = [f'<td data-v="{number}" class="r">{number}</td>', f"<td>{_link(row, row.work)}</td>"]
        cells.append(f"<td><bdi>{escape(row.author)}</bdi></td>")
        if row.figures is None:
            reason = escape(words.say(row.reason))
            empty = '<td data-v="-1"></td>' * 6
            lines.append(f'<tr class="bad">{"".join(cells)}{empty}<td>{reason}</td></tr>')
            continue
        shares = (row.share, row.libraries, row.works, row.figures[2] / 100, row.figures[1] / 100)
        cells += [f'<td data-v="{one:.6f}" class="r">{escape(words.percent(one))}</td>' for one in shares]
        alarms = ", ".join(words.name("disguise", kind) for kind in row.alarms)
        cells.append(f'<td data-v="{len(row.alarms)}" class="alarm">{escape(alarms)}</td>')
        top = (
            f"<bdi>{escape(row.top_source)}</bdi>, {escape(words.percent(row.top_share))}"
            if row.top_source
            else ""
        )
        cells.append(f'<td data-v="{row.top_share:.6f}">{top}</td>')
        lines.append(f"<tr>{''.join(cells)}</tr>")
    return (
        f'<div class="wide"><table class="works"><thead><tr>{head}</tr></thead>'
        f"<tbody>{''.join(lines)}</tbody></table></div>"
    )


def _among(
    told: Sequence[Link],
    numbers: Mapping[str, int],
    rows: Mapping[str, ClassRow],
    found: Among,
    words: Wording,
) -> str:
    if not told:
        return f"<p>{escape(words('class_none'))}</p>"
    involved = sorted(
        {name for one in told for name in (one.origin, one.taker)}, key=lambda name: numbers[name]
    )
    items = "".join(f"<li>{_pair(one, rows, words)}</li>" for one in told[:SHOWN_PAIRS])
    more = (
        f"<p>{escape(words('check_more', number=len(told) - SHOWN_PAIRS))}</p>"
        if len(told) > SHOWN_PAIRS
        else ""
    )
    drawn = ""
    if len(involved) <= MATRIX:
        drawn = _matrix(involved, numbers, rows, found, words) + _graph(involved, told, numbers, rows, words)
    return f"<p>{escape(words('class_among_about'))}</p><ol>{items}</ol>{more}{drawn}"


def _pair(one: Link, rows: Mapping[str, ClassRow], words: Wording) -> str:
    origin, taker = (
        _link(rows[one.origin], _label(rows[one.origin])),
        _link(rows[one.taker], _label(rows[one.taker])),
    )
    sign = "→" if one.directed else "↔"
    why = words(f"class_direction_{one.reason}")
    share = words("class_pair", share=one.share, words=one.words)
    return (
        f'{origin} <b aria-hidden="true">{sign}</b> {taker}: {escape(share)} '
        f'<span class="quiet">{escape(why)}</span>'
    )


def _matrix(
    involved: Sequence[str],
    numbers: Mapping[str, int],
    rows: Mapping[str, ClassRow],
    found: Among,
    words: Wording,
) -> str:
    shares = {(one.a, one.b): one.share for one in found.pairs}
    head = "".join(
        f'<th scope="col" title="{escape(_label(rows[name]))}">{numbers[name]}</th>' for name in involved
    )
    lines = []
    for name in involved:
        cells = []
        for other in involved:
            share = shares.get((name, other), 0.0)
            if name == other:
                cells.append('<td class="self"></td>')
            elif share:
                heat = sum(share > limit for limit in HEAT)
                cells.append(f'<td class="h{heat} r">{escape(words.percent(share))}</td>')
            else:
                cells.append("<td></td>")
        label = f"{numbers[name]} {_link(rows[name], _label(rows[name]))}"
        lines.append(f'<tr><th scope="row">{label}</th>{"".join(cells)}</tr>')
    return (
        f'<h3>{escape(words("class_matrix"))}</h3><p class="quiet">{escape(words("class_matrix_about"))}</p>'
        f'<div class="wide"><table class="matrix"><thead><tr><td></td>{head}</tr></thead>'
        f"<tbody>{''.join(lines)}</tbody></table></div>"
    )


def _graph(
    involved: Sequence[str],
    told: Sequence[Link],
    numbers: Mapping[str, int],
    rows: Mapping[str, ClassRow],
    words: Wording,
) -> str:
    """Works on a circle; a line for each pair, with an arrow where the direction is known."""
    middle, radius = SIZE / 2, SIZE / 2 - MARGIN
    places = {}
    for place, name in enumerate(involved):
        angle = 2 * math.pi * place / len(involved) - math.pi / 2
        places[name] = (middle + radius * math.cos(angle), middle + radius * math.sin(angle))
    lines = []
    for one in told:
        (x1, y1), (x2, y2) = places[one.origin], places[one.taker]
        length = math.hypot(x2 - x1, y2 - y1) or 1.0
        x, y = (x2 - x1) / length * 16, (y2 - y1) / length * 16
        arrow = ' marker-end="url(#arrow)"' if one.directed else ' stroke-dasharray="6 4"'
        sign = "→" if one.directed else "↔"
        label = f"{rows[one.origin].work} {sign} {rows[one.taker].work}: {words.percent(one.share)}"
        lines.append(
            f'<line x1="{x1 + x:.1f}" y1="{y1 + y:.1f}" x2="{x2 - x:.1f}" y2="{y2 - y:.1f}" '
            f'stroke-width="{1 + 5 * one.share:.1f}"{arrow}><title>{escape(label)}</title></line>'
        )
    dots = []
    for name in involved:
        x, y = places[name]
        anchor = "middle" if abs(x - middle) < 20 else "start" if x > middle else "end"
        dy = (-20 if y < middle else 30) if anchor == "middle" else 5
        dx = 0 if anchor == "middle" else 18 if anchor == "start" else -18
        shown = rows[name].author or rows[name].work.rpartition("/")[2]
        shown = shown if len(shown) <= 16 else f"{shown[:15]}…"
        dots.append(
            f'<g><title>{escape(_label(rows[name]))}</title><circle cx="{x:.1f}" cy="{y:.1f}" r="13"/>'
            f'<text class="n" x="{x:.1f}" y="{y + 4:.1f}">{numbers[name]}</text>'
            f'<text x="{x + dx:.1f}" y="{y + dy:.1f}" text-anchor="{anchor}">{escape(shown)}</text></g>'
        )
    return (
        f'<h3>{escape(words("class_graph"))}</h3><p class="quiet">{escape(words("class_graph_about"))}</p>'
        f'<svg style="max-width:{min(46, 16 + 3 * len(involved))}rem" '
        f'viewBox="{-MARGIN} 0 {SIZE + 2 * MARGIN} {SIZE}" role="img" aria-label="{escape(words("class_graph"))}">'
        '<defs><marker id="arrow" viewBox="0 0 10 10" refX="9" refY="5" markerWidth="11" markerHeight="11" '
        'markerUnits="userSpaceOnUse" orient="auto"><path d="M0 0L10 5L0 10z"/></marker></defs>'
        f"{''.join(lines)}{''.join(dots)}</svg>"
    )


def _clusters(found: Among, rows: Mapping[str, ClassRow], words: Wording) -> str:
    if not found.clusters:
        return f"<p>{escape(words('class_clusters_none'))}</p>"
    items = "".join(
        f"<li>{', '.join(_link(rows[name], _label(rows[name])) for name in one)}</li>"
        for one in found.clusters
    )
    return f"<p>{escape(words('class_clusters_about'))}</p><ol>{items}</ol>"


def _common(found: Among, rows: Mapping[str, ClassRow], words: Wording) -> str:
    if not found.common:
        return f"<p>{escape(words('class_common_none'))}</p>"
    items = []
    for one in found.common:
        where = f"{one.library}/{one.id}" if one.library else one.id
        named = ", ".join(_link(rows[name], _label(rows[name])) for name in one.works)
        title = f"<bdi>{escape(one.title)}</bdi> " if one.title and one.title != one.id else ""
        items.append(f'<li>{title}<span class="quiet"><bdi>{escape(where)}</bdi></span>: {named}</li>')
    return f"<p>{escape(words('class_common_about'))}</p><ul>{''.join(items)}</ul>"
