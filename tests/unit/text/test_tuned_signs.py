"""Tuned numbers of the signs of blocks, from both sides: one that is halved or doubled changes a sign here."""

from __future__ import annotations

import numpy as np
import pytest

from doublet import kernels
from doublet.kernels.elements import COMMENT_LIST, FRAME, LAST
from doublet.kernels.settings import FrameOptions
from doublet.text.signs import NAMES, names_frame

pytestmark = pytest.mark.covers("T3")

# A page with two parts (1 and 2) and a paragraph in each (3 and 4); block 0 is in the first of them.
PARENTS = [0, 0, 0, 1, 2]


def signs(
    words: list[int], bits: int = 0, holders: tuple[int, ...] = (3, 4)
) -> tuple[dict[str, list[float]], list[int]]:
    """The signs of blocks by name, and what is said of them; the first part has these *bits*."""
    count = len(words)
    rows, flags = kernels.block_signs(
        ["text"] * count,
        np.array(words, np.uint32),
        np.zeros(count),
        np.zeros(count, np.uint8),
        np.array(holders, np.uint32),
        np.array(PARENTS, np.uint32),
        np.array([0, bits, 0, 0, 0], np.uint32),
        np.zeros(5, np.uint32),
        FrameOptions(),
        False,
    )
    return dict(zip(NAMES, rows.T.tolist(), strict=True)), flags.tolist()


@pytest.mark.parametrize(("words", "counted"), [(6, 0.3 * 6), (10, 10)])
def test_short_blocks_count_as_less_text(words: int, counted: float) -> None:
    assert signs([words, 100])[0]["share of parent"][0] == pytest.approx(counted / (counted + 100))


@pytest.mark.parametrize(("words", "inside"), [(75, 1.0), (85, 0.0)])
def test_the_centre_of_a_page_holds_four_fifths_of_it(words: int, inside: float) -> None:
    assert signs([words, 100 - words])[0]["in the centre"][1] == inside


@pytest.mark.parametrize(("beside", "share"), [(25, 1.0), (40, 0.5)])
def test_a_block_belongs_where_there_is_other_text(beside: int, share: float) -> None:
    found, _ = signs([10, beside, 10 + beside], holders=(3, 1, 4))
    assert found["share around"][0] == pytest.approx(share)


@pytest.mark.parametrize(
    ("bits", "inside", "outside", "framed"),
    [
        (FRAME, 35, 65, True),
        (FRAME, 45, 55, False),
        (FRAME | COMMENT_LIST, 1000, 50, False),
        (FRAME | COMMENT_LIST, 1000, 70, True),
        (FRAME | LAST, 1000, 8, False),
        (FRAME | LAST, 1000, 12, True),
    ],
)
def test_what_is_called_frame_and_holds_most_of_a_page(
    bits: int, inside: int, outside: int, framed: bool
) -> None:
    """It is none, unless it is comments or a footer and there is something beside it."""
    assert bool(signs([inside, outside], bits)[1][0]) is framed


@pytest.mark.parametrize(
    ("name", "framed"),
    [("widget", True), ("widget_text", True), ("elementor-widget", False), ("hidden", True), ("hidden-print", False),
     ("hide-from-toc", False), ("toc", True)],
)  # fmt: skip
def test_names_of_the_layout_make_no_frame(name: str, framed: bool) -> None:
    assert names_frame(name) is framed
