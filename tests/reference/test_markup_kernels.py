"""Reading, Markdown, numbers, borders, signs and what can repeat: the native kernels against their plain twins."""

from __future__ import annotations

import itertools
import os

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from doublet.kernels import reference

native = pytest.importorskip("doublet.kernels.native", reason="the native kernels are not built: make setup")

LINES = [
    "",
    " ",
    "\t",
    "a line",
    "Ещё строка",
    "  two blanks",
    "    four blanks",
    "\ttab",
    "# Title #",
    "####### seven",
    "## ",
    "#none",
    "Under",
    "===",
    "---",
    "-- ",
    "   ----",
    "...",
    "```",
    "````py",
    "````py`",
    "```py``` x",
    "``` \t",
    "~~~",
    "  ```",
    "- item",
    "* item",
    "12. item",
    "1234567890. item",
    "1٢) item",
    "> quote",
    ">> > quote",
    "| a | b |",
    "|---|:--:|",
    ":--- | ---",
    "--- | --- |",
    "--- |",
    "[name]: http://x",
    "[name]:http://x",
    "[]: x",
    "see [a](b) and ![c](d(e)f) [g][h] ](",
    "*em* **strong** ***both*** _u_ __uu__ `code` ``two`` ~~s~~ ~",
    "<b>bold</b> <!-- note --> <!-- open",
    "<!-->",
    "-->",
    "[^1]: a note",
    "[^1]:",
    "[^]: [^a b]: [^c][^d]",
    "::: box",
    "***",
    "* * *",
    "- - -",
    "un*believ*able a*b snake_case _name __init__ ___x__ _y_",
    r"\\*a\\_b\\` `c` \\",
    "<http://a/b_c> <me@x.y> <b c=d e='f' /> <i g=\"h\"j> <my-tag> <ftp:> <a:b>",
    "`a <b> ``c` d`` ` [x`](y)`",
    "# T {#id .c} {.x {:y}} {#",
    "[a](b)s x[c](d)[e](f)g h[i] ![j](k)l",
    "caf&eacute; &amp; ____ ~~a~~b ~~~~",
    "a < b <c",
    "emoji 😀 and \u00a0 blank \u2003 [x](http://ü)",
    "end\r",
    "\r",
    "\x85",
    "\u2028",
]
markdown = st.lists(st.sampled_from(LINES) | st.text(max_size=12), max_size=14).map("\n".join)


@settings(max_examples=500)
@given(st.lists(markdown, max_size=4), st.integers(1, 3))
@pytest.mark.covers("P6")
def test_markdown_is_marked_alike(texts, threads):
    assert native.mark_markdown(texts, threads) == reference.mark_markdown(texts)


@given(st.text(alphabet="<!-->[]()*_`~ab\n|:#1. \\^{}@/='\"é", max_size=60))
@settings(max_examples=500)
@pytest.mark.covers("P6")
def test_signs_of_markdown_are_marked_alike(text):
    found = native.mark_markdown([text])
    assert found == reference.mark_markdown([text])
    masked = found[0][0]
    assert masked is None or len(masked) == len(text)
    for old, new in zip(
        text, masked or "", strict=False
    ):  # a line end stays, or its paragraph goes on behind it
        assert old != "\n" or new in "\n\u00a0"


def test_front_matter_ends_within_two_hundred_lines():
    for lines in (0, 1, 199, 200, 201):
        text = "---\n" + "key: value\n" * lines + "---\nText *here*.\n"
        assert native.mark_markdown([text]) == reference.mark_markdown([text])


@given(st.lists(st.integers(0, 5), max_size=60), st.integers(1, 6), st.integers(1, 5))
@settings(max_examples=300)
@pytest.mark.covers("P2")
def test_what_can_repeat(values, length, threads):
    ids = np.array(values, np.uint32)
    assert native.repeated(ids, length, threads).tolist() == reference.repeated(ids, length).tolist()


def test_what_can_repeat_in_a_long_text():
    random = np.random.default_rng(5)
    ids = random.integers(0, 3000, 40_000).astype(np.uint32)
    ids[30_000:30_050] = ids[100:150]
    ids[35_000:36_000] = 7
    plain = reference.repeated(ids, 10)
    for threads in (1, 2, 3):
        assert (native.repeated(ids, 10, threads) == plain).all()


def test_a_run_has_a_token():
    for kernels in (native, reference):
        with pytest.raises(ValueError, match="at least one token"):
            kernels.repeated(np.zeros(3, np.uint32), 0)


@given(st.lists(st.lists(st.integers(0, 2**64 - 1) | st.integers(2, 9), max_size=40), max_size=4))
def test_numbers_in_order_of_first_sight(parts):
    one, two = native.NumberTable(), reference.NumberTable()
    for part in parts:
        hashes = np.array([value or 1 for value in part], np.uint64)
        assert one.number(hashes).tolist() == two.number(hashes).tolist()
        assert len(one) == len(two)


def test_many_numbers():
    hashes = np.random.default_rng(1).integers(1, 2**63, 50_000, np.uint64)
    table = native.NumberTable()
    assert table.number(hashes).tolist() == list(range(50_000))
    assert table.number(hashes[::-1]).tolist() == list(range(50_000))[::-1]


pieces = st.lists(
    st.sampled_from(
        [
            *'.!…:;"”)]{/|→«_é😀²a7 \t\n',
            "word",
            "Слово",
            "  ",
            "\n\n",
            "\r\n",
            "\u00a0",
            "\u2003",
            "e\u0301",
            "\u00ad",
        ]
    ),
    max_size=40,
).map("".join)


@given(st.lists(pieces, max_size=3), st.integers(1, 2))
@settings(max_examples=400)
def test_edges_of_words(texts, threads):
    _, starts, ends, _, offsets, _ = reference.tokenize(texts)
    expected = reference.word_edges(texts, starts, ends, offsets)
    for left, right in zip(native.word_edges(texts, starts, ends, offsets, threads), expected, strict=True):
        assert left.dtype == right.dtype
        assert left.tolist() == right.tolist()


def test_edges_refuse_words_outside_their_text():
    offsets = np.array([0, 2], np.uint64)
    wrong = (([0, 9], [1, 12]), ([3, 0], [4, 1]), ([2, 4], [1, 5]), ([2, 4], [2, 5]))
    for kernel, (starts, ends) in itertools.product((native, reference), wrong):
        with pytest.raises(ValueError, match="after the word before it"):
            kernel.word_edges(["short text"], np.array(starts, np.uint32), np.array(ends, np.uint32), offsets)


@pytest.mark.covers("P6")
def test_files_are_read_alike(tmp_path):
    contents = {
        "plain": b"Words.\r\n\tMore",
        "empty": b"",
        "utf8": "Слова 😀".encode(),
        "mark": "\ufeffmarked".encode(),
        "latin": "é".encode("latin-1"),
        "surrogate": b"\xed\xa0\x80",
        "nul": b"a\0b",
        "feed": b"a\x0cb",
        "delete": b"a\x7fb",
        "pdf": b"%PDF-1.4",
        "rtf": b"{\\rtf1 x}",
        "bzip": b"BZh9 words",
        "almost": b"BZ words",
        "gif": b"GIF89a",
        "long": b"x" * 101,
        "limit": b"x" * 100,
    }
    for name, data in contents.items():
        (tmp_path / name).write_bytes(data)
    (tmp_path / "folder").mkdir()
    (tmp_path / "link").symlink_to("plain")
    os.mkfifo(tmp_path / "pipe")
    names = [*contents, "folder", "link", "pipe", "missing"]
    paths = [os.fsencode(tmp_path / name) for name in names] + [b"", b"a\0b"]
    found = native.read_texts(paths, 100, 2)
    assert found == reference.read_texts(paths, 100)
    read = {name for name, text in zip(names, found, strict=False) if text is not None}
    assert read == {"plain", "empty", "utf8", "almost", "limit", "link"}


tokens = st.one_of(
    st.lists(st.integers(0, 2), max_size=60),
    st.lists(
        st.sampled_from([[1, 2, 3, 4, 5, 6], [1, 2, 3, 4], [7], [8, 9], [2, 3, 4, 5], list(range(10, 22))]),
        max_size=16,
    ).map(lambda parts: list(itertools.chain(*parts))),
)


@settings(max_examples=400)
@given(tokens, st.integers(1, 6))
@pytest.mark.covers("P2")
def test_the_sieve_changes_no_group(values, least):
    """Groups of the tokens that can repeat are those of all tokens."""
    ids = np.array(values, np.uint32)
    kept = reference.repeated(ids, least) != 0
    gaps = ~kept
    gaps[1:] &= kept[:-1]
    places = np.flatnonzero(kept | gaps).astype(np.uint32)
    fewer = ids[places]
    holes = np.flatnonzero(gaps[places])
    fewer[holes] = np.arange(1000, 1000 + len(holes))
    for kernels in (native, reference):
        whole = kernels.exact_groups(*_sorted(kernels, ids), least, 10**9)
        sieved = kernels.exact_groups(*_sorted(kernels, fewer), least, 10**9, places)
        assert places[sieved[1]].tolist() == whole[1].tolist()
        assert [part.tolist() for part in sieved[::2]] == [part.tolist() for part in whole[::2]]


def _sorted(kernels, ids):
    order = kernels.suffix_array(ids)
    return ids, order, kernels.common_prefixes(ids, order)
