"""Every example that a page marks as runnable runs, and prints what the page says it prints."""

from __future__ import annotations

import pathlib
import socket
import sys
import time

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from fenced import ROOT, Reader, agrees, blocks, pages, runnable

PAGES = [page for page in pages() if runnable(page)]


@pytest.mark.parametrize("page", PAGES, ids=[str(p.relative_to(ROOT)) for p in PAGES])
def test_runnable_examples_run(page: pathlib.Path, tmp_path: pathlib.Path) -> None:
    with Reader(tmp_path) as reader:
        for block in runnable(page):
            printed = reader.follow(block)
            if block.output is not None:
                shown = f"line {block.line} shows\n{block.output}\nbut prints\n{printed}"
                assert agrees(printed, block.output, elided=block.elided), shown


def test_the_pages_that_are_followed_word_for_word_run() -> None:
    followed = {str(page.relative_to(ROOT)) for page in PAGES}
    assert {"README.md", "docs/tutorial/first-steps.md"} <= followed
    assert {str(page.relative_to(ROOT)) for page in ROOT.glob("docs/how-to/*.md")} <= followed


def test_a_wrong_example_is_noticed(tmp_path: pathlib.Path) -> None:
    first = "```sh run\nmkdir x\ncd x\necho one\n```\n```text output\none\n```\n"
    good, bad = blocks(first + "\n```sh run exit=3\nfalse\n```\n")
    with Reader(tmp_path) as reader:
        assert agrees(reader.follow(good), good.output or "")
        assert reader.folder.name == "x"
        with pytest.raises(AssertionError, match="ended with 1, not 3"):
            reader.follow(bad)


def test_what_a_page_leaves_running_is_stopped(tmp_path: pathlib.Path) -> None:
    (left,) = blocks("```sh run\ntimeout 300 sleep 300 > /dev/null 2>&1 &\necho $!\n```\n")
    with Reader(tmp_path) as reader:
        number = int(reader.follow(left))
        assert pathlib.Path(f"/proc/{number}").exists()
    for _ in range(100):
        if not running(number):
            return
        time.sleep(0.05)
    pytest.fail(f"process {number} still runs")


def test_a_port_of_a_page_may_be_taken(tmp_path: pathlib.Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:  # by another reader of the page
        port = taken.getsockname()[1]
        address = f"http://127.0.0.1:{port}/examples/work.txt"
        page = f"""
```sh run
python -m http.server {port} --bind 127.0.0.1 > /dev/null 2>&1 &
until python -c 'import socket; socket.create_connection(("127.0.0.1", {port}))' 2> /dev/null; do sleep 0.1; done
```
```python run
from urllib.request import urlopen
print(urlopen("{address}", timeout=20).url)
```
```text output
{address}
```
"""
        serve, ask = blocks(page)
        with Reader(tmp_path) as reader:
            reader.follow(serve)
            assert agrees(reader.follow(ask), ask.output or "")


def running(number: int) -> bool:
    """False for a process that has ended, also when nobody has asked for its end yet."""
    try:
        return pathlib.Path(f"/proc/{number}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


@pytest.mark.parametrize(
    ("printed", "expected", "exact", "elided"),
    [
        ("a\nb\n", "a\nb\n", True, True),
        ("a  \nb", "a\nb\n", True, True),
        ("a\nx\ny\nb\n", "a\n…\nb\n", False, True),
        ("took 3 s\n", "took … s\n", False, True),
        ("cut…\n", "cut…\n", True, True),
        ("a\nb\nc\n", "a\nb\n", False, False),
        ("a.b\n", "axb\n", False, False),
    ],
)
def test_agrees(printed: str, expected: str, exact: bool, elided: bool) -> None:
    assert agrees(printed, expected) is exact
    assert agrees(printed, expected, elided=True) is elided
