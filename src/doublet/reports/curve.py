"""Curves of chance against resemblance (M5, and the bands of M4): for a terminal and as SVG."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

from doublet.reports.page import escape
from doublet.reports.wording import wording

Points = Sequence[tuple[float, float]]

_DOTS = ((0x01, 0x08), (0x02, 0x10), (0x04, 0x20), (0x40, 0x80))  # of a braille character: [row][column]


def plot(points: Points, *, width: int = 72, height: int = 16, language: str = "en") -> str:
    """The curve in braille dots between axes from 0 to 1. The points must be sorted by resemblance."""
    along = wording(language)("curve_resemblance")
    columns, rows = max(20, width - 8), max(6, height)
    grid = [[0] * columns for _ in range(rows)]
    fine, before = 2 * columns, None
    for x in range(fine):
        y = round((1.0 - _at(points, x / (fine - 1))) * (4 * rows - 1))
        first, last = sorted((y, y if before is None else before))
        for row in range(first, last + 1):  # steep parts stay one line
            grid[row // 4][x // 2] |= _DOTS[row % 4][x % 2]
        before = y
    labels = {0: "1.0", rows // 2: "0.5", rows - 1: "0.0"}
    lines = [
        f"{labels.get(i, ''):>4} ┤" + "".join(chr(0x2800 + dots) if dots else " " for dots in row).rstrip()
        for i, row in enumerate(grid)
    ]
    lines.append("     └" + "─" * columns)
    lines.append("      0" + along.center(columns - 2) + "1")
    return "\n".join(lines) + "\n"


def svg(points: Points, *, title: str, language: str = "en") -> str:
    """The curve as a picture of its own: no outside links, readable in print and by a screen reader."""
    words = wording(language)
    left, top, side_x, side_y = 60, 40, 520, 320
    path = " ".join(f"{left + x * side_x:.1f},{top + (1 - y) * side_y:.1f}" for x, y in points)
    grid, labels = [], []
    for i in range(11):
        share = i / 10
        x, y = left + share * side_x, top + (1 - share) * side_y
        grid.append(f'<path d="M{x:.0f} {top}V{top + side_y}M{left} {y:.0f}H{left + side_x}"/>')
        labels.append(f'<text x="{x:.0f}" y="{top + side_y + 18}" text-anchor="middle">{share:.1f}</text>')
        labels.append(f'<text x="{left - 8}" y="{y + 4:.0f}" text-anchor="end">{share:.1f}</text>')
    middle = left + side_x // 2
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {left + side_x + 20} {top + side_y + 50}" '
            'role="img" font-family="sans-serif" font-size="12">',
            f"<title>{escape(title)}</title>",
            '<rect width="100%" height="100%" fill="#fff"/>',
            '<g stroke="#ddd" fill="none">',
            *grid,
            "</g>",
            f'<polyline points="{path}" fill="none" stroke="#0b57a4" stroke-width="2"/>',
            '<g fill="#222">',
            *labels,
            f'<text x="{middle}" y="24" text-anchor="middle" font-size="14">{escape(title)}</text>',
            f'<text x="{middle}" y="{top + side_y + 40}" text-anchor="middle">'
            f"{escape(words('curve_resemblance'))}</text>",
            f'<text x="16" y="{top + side_y // 2}" text-anchor="middle" '
            f'transform="rotate(-90 16 {top + side_y // 2})">{escape(words("curve_chance_found"))}</text>',
            "</g>",
            "</svg>",
            "",
        ]
    )


def _at(points: Points, x: float) -> float:
    """The curve at *x*, straight between its points."""
    for (x0, y0), (x1, y1) in itertools.pairwise(points):
        if x <= x1:
            return y0 + (y1 - y0) * (x - x0) / (x1 - x0) if x1 > x0 else y1
    return points[-1][1]
