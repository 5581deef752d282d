"""What no file of the project may hold, and links that lead somewhere."""

from __future__ import annotations

import pathlib
import re
import subprocess
import sys
from urllib.parse import unquote

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from fenced import ROOT, pages

# Written in parts, so that this file does not hold what it looks for.
HOSTS = [
    "py" + "pi.org",
    "python" + "hosted.org",
    "ana" + "conda.org",
    "conda" + "-forge.org",
    "npm" + "js.org",
]
PLACES = [
    r"/" + r"work/(?:main|shared)",
    r"/" + r"root/",
    r"/" + r"home/[a-z]",
    r"/" + r"Users/[A-Za-z]",
    r"/" + r"tmp/v/",
]
TEXT = {
    "",
    ".py",
    ".md",
    ".txt",
    ".toml",
    ".cpp",
    ".hpp",
    ".h",
    ".sh",
    ".jsonl",
    ".json",
    ".cfg",
    ".yml",
    ".svg",
    ".html",
}


def tracked() -> list[pathlib.Path]:
    if not (ROOT / ".git").exists():
        pytest.fail("run from a checkout: the list of files comes from git")
    names = subprocess.run(
        ["git", "ls-files", "-z"], cwd=ROOT, check=True, capture_output=True, text=True
    ).stdout
    return [ROOT / name for name in names.split("\0") if name and (ROOT / name).is_file()]


def test_no_registry_and_no_machine_is_named() -> None:
    pattern = re.compile("|".join([*map(re.escape, HOSTS), *PLACES]))
    found = []
    for path in tracked():
        if path.suffix in TEXT:
            for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
                hit = pattern.search(line)
                if hit:
                    found.append(f"{path.relative_to(ROOT)}:{number}: {hit.group()}")
    assert not found, "\n".join(found)


def test_text_files_are_tidy() -> None:
    """UTF-8, one newline at the end, no tabs or blanks at line ends (Makefiles need tabs at the start)."""
    untidy = []
    for path in tracked():
        if path.suffix not in TEXT or path.is_symlink() or "golden" in path.parts:
            continue
        text = path.read_text(encoding="utf-8")
        if text and (not text.endswith("\n") or text.endswith("\n\n") or "\r" in text):
            untidy.append(f"{path.relative_to(ROOT)}: the end of the file or of its lines")
        untidy += [
            f"{path.relative_to(ROOT)}:{number}: a blank at the end"
            for number, line in enumerate(text.splitlines(), 1)
            if line != line.rstrip()
        ]
    assert not untidy, "\n".join(untidy)


def anchors(page: pathlib.Path) -> set[str]:
    """The names under which the headings of a page can be linked to."""
    headings = re.findall(r"^#+ +(.*)$", page.read_text(encoding="utf-8"), re.M)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("page", pages(), ids=[str(p.relative_to(ROOT)) for p in pages()])
def test_links_lead_somewhere(page: pathlib.Path) -> None:
    text = re.sub(r"^```.*?^```", "", page.read_text(encoding="utf-8"), flags=re.M | re.S)
    for target in re.findall(r"\]\(([^)\s]+)\)", text):
        if re.match(r"[a-z]+:", target):
            continue
        path, _, anchor = unquote(target).partition("#")
        linked = (page.parent / path).resolve() if path else page
        assert linked.exists(), f"{target} does not exist"
        if anchor and linked.suffix == ".md":
            assert anchor in anchors(linked), f"{target}: no such heading"


def test_every_page_can_be_reached() -> None:
    """From docs/README.md, by links: a page nobody can find is not documentation."""
    seen: set[pathlib.Path] = set()
    queue = [ROOT / "README.md", ROOT / "docs" / "README.md"]
    while queue:
        page = queue.pop()
        if page in seen or not page.is_file():
            continue
        seen.add(page)
        targets = re.findall(r"\]\(([^)#\s]+\.md)", page.read_text(encoding="utf-8"))
        queue += [(page.parent / target).resolve() for target in targets if not re.match(r"[a-z]+:", target)]
    unseen = {page for page in pages() if "docs" in page.relative_to(ROOT).parts} - seen
    assert not unseen, sorted(str(page.relative_to(ROOT)) for page in unseen)
