"""Curves as inline SVG: no outside links, readable without colour (marks and dashes differ) and by a screen reader."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from doublet.reports.page import escape

Point = tuple[float, float | None]
MARKS = ("circle", "square", "triangle", "diamond", "cross", "ring", "bar", "star")
DASHES = ("", "6 3", "2 3", "8 3 2 3", "", "6 3", "2 3", "8 3 2 3")
WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM = 560, 300, 52, 16, 14, 46


@dataclass(frozen=True)
class Series:
    """A line. Points without a value (nothing was found, so there is no precision) are left out."""

    name: str
    points: Sequence[Point]


def line_chart(
    series: Sequence[Series], *, title: str, x_label: str, y_label: str, unit: bool = True, strong: str = ""
) -> str:
    """*unit*: the scale of y is 0 to 1. *strong* names the line that is drawn boldest.

    Labels are HTML that is safe already; *title* is plain text.
    """
    xs = [x for one in series for x, y in one.points if y is not None]
    ys = [y for one in series for _, y in one.points if y is not None]
    if not xs:
        return '<p class="soft">—</p>'
    low_x, high_x = min(xs), max(xs)
    high_y = 1.0 if unit else _nice(max(ys))
    span_x = (high_x - low_x) or 1.0
    inner_w, inner_h = WIDTH - LEFT - RIGHT, HEIGHT - TOP - BOTTOM

    def at(x: float, y: float) -> tuple[float, float]:
        return LEFT + (x - low_x) / span_x * inner_w, TOP + (1 - y / high_y) * inner_h

    parts = [
        f'<svg class="chart" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{escape(title)}">',
        f"<title>{escape(title)}</title>",
    ]
    for i in range(6):
        y = high_y * i / 5
        _, place = at(low_x, y)
        parts.append(f'<path class="grid" d="M{LEFT} {place:.1f}H{WIDTH - RIGHT}"/>')
        parts.append(f'<text x="{LEFT - 8}" y="{place + 4:.1f}" text-anchor="end">{_number(y)}</text>')
    for x in _ticks(sorted(set(xs))):
        place, _ = at(x, 0)
        parts.append(
            f'<text x="{place:.1f}" y="{HEIGHT - BOTTOM + 18}" text-anchor="middle">{_number(x)}</text>'
        )
    parts.append(
        f'<text class="axis" x="{LEFT + inner_w / 2:.0f}" y="{HEIGHT - 8}" text-anchor="middle">{x_label}</text>'
    )
    parts.append(
        f'<text class="axis" x="14" y="{TOP + inner_h / 2:.0f}" text-anchor="middle" '
        f'transform="rotate(-90 14 {TOP + inner_h / 2:.0f})">{y_label}</text>'
    )
    for number, one in enumerate(series):
        colour, dash = f"s{number % 8}", DASHES[number % 8]
        points = [at(x, y) for x, y in one.points if y is not None]
        if not points:
            continue
        line = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
        bold = " strong" if one.name == strong else ""
        dashed = f' stroke-dasharray="{dash}"' if dash else ""
        parts.append(f'<g class="{colour}{bold}"><polyline points="{line}"{dashed}/>')
        every = max(1, math.ceil(len(points) / 10))
        parts += [_mark(MARKS[number % 8], x, y) for x, y in points[::every]]
        parts.append(f"<title>{escape(one.name)}</title></g>")
    parts.append("</svg>")
    return "".join(parts) + legend([one.name for one in series])


def legend(names: Sequence[str]) -> str:
    if len(names) < 2:
        return ""
    rows = []
    for number, name in enumerate(names):
        mark = _mark(MARKS[number % 8], 12, 7)
        dash = f' stroke-dasharray="{DASHES[number % 8]}"' if DASHES[number % 8] else ""
        rows.append(
            f'<li><svg width="26" height="14" aria-hidden="true"><g class="s{number % 8}">'
            f'<polyline points="0,7 26,7"{dash}/>{mark}</g></svg>{escape(name)}</li>'
        )
    return f'<ul class="legend">{"".join(rows)}</ul>'


def bars(rows: Sequence[tuple[str, float, str]], *, title: str) -> str:
    """Horizontal bars: name, value from 0 to 1, what stands below the bar (HTML)."""
    out = []
    for name, value, text in rows:
        width = max(0.5, 100 * value)
        out.append(
            f'<li><b>{escape(name)}</b><span class="track" aria-hidden="true"><span class="fill" '
            f'style="width:{width:.1f}%"></span></span><span class="value">{value:.2f}</span>'
            f"<small>{text}</small></li>"
        )
    return f'<ol class="bars" aria-label="{escape(title)}">{"".join(out)}</ol>'


def _mark(kind: str, x: float, y: float) -> str:
    shapes = {
        "circle": f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3.4"/>',
        "ring": f'<circle class="open" cx="{x:.1f}" cy="{y:.1f}" r="3.6"/>',
        "square": f'<rect x="{x - 3:.1f}" y="{y - 3:.1f}" width="6" height="6"/>',
        "triangle": f'<path d="M{x:.1f} {y - 4:.1f}l4 7h-8z"/>',
        "diamond": f'<path d="M{x:.1f} {y - 4.5:.1f}l4.5 4.5l-4.5 4.5l-4.5 -4.5z"/>',
        "cross": f'<path class="open" d="M{x - 3.5:.1f} {y - 3.5:.1f}l7 7m0 -7l-7 7"/>',
        "bar": f'<path class="open" d="M{x:.1f} {y - 4.5:.1f}v9"/>',
        "star": f'<path class="open" d="M{x - 4:.1f} {y:.1f}h8m-4 -4v8"/>',
    }
    return shapes[kind]


def _nice(value: float) -> float:
    if value <= 0:
        return 1.0
    power = 10 ** math.floor(math.log10(value))
    for step in (1, 2, 2.5, 5, 10):
        if value <= step * power:
            return float(step * power)
    return float(10 * power)


def _ticks(values: list[float]) -> list[float]:
    every = max(1, math.ceil(len(values) / 9))
    return values[::every]


def _number(value: float) -> str:
    return f"{value:,.0f}" if value >= 10 and value == round(value) else f"{value:g}" if value else "0"
