"""Writes what the program knows about its methods into docs/reference/methods, between the two marks.

    python tools/make_method_pages.py           write
    python tools/make_method_pages.py --check   only say whether a page is out of date

The rest of each page is written by hand. Run it after a parameter, a default or a summary has changed.
"""

from __future__ import annotations

import pathlib
import sys

from doublet.signatures import MethodInfo, ParameterInfo, methods

FOLDER = pathlib.Path(__file__).resolve().parents[1] / "docs" / "reference" / "methods"
BEGIN = "<!-- begin: written by tools/make_method_pages.py -->"
END = "<!-- end -->"


def facts(info: MethodInfo) -> str:
    """Summary, what it needs and shows, and the table of parameters, as Markdown."""
    statistics = "needs the statistics of a collection" if info.needs_statistics else "needs no collection"
    fragments = "shows the passages" if info.shows_fragments else "says how alike, not where"
    rows = [
        f"| `{p.name}` | {default(p)} | {p.allowed} | {p.about} | {'yes' if p.signs else 'no'} |"
        for p in info.parameters
    ]
    return "\n".join(
        [
            BEGIN,
            info.summary,
            "",
            f"The least that a text must have: {info.minimum}. The method {statistics} and {fragments}.",
            "",
            "| parameter | default | allowed | meaning | in the recipe |",
            "|---|---|---|---|---|",
            *rows,
            END,
        ]
    )


def overview(infos: list[MethodInfo]) -> str:
    rows = [f"| [`{i.name}`]({i.name}.md) | {i.title} | {i.summary} |" for i in infos]
    return "\n".join([BEGIN, "| name | method | what it is good for |", "|---|---|---|", *rows, END])


def default(info: ParameterInfo) -> str:
    value = info.default
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, tuple):
        return ", ".join(value) or "none"
    return str(value) or "empty"


def renewed(page: str, made: str) -> str:
    """The page with *made* between its marks."""
    before, begin, rest = page.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end:
        raise SystemExit(f"a page of {FOLDER} has lost its marks: {BEGIN} … {END}")
    return before + made + after


def outdated() -> dict[pathlib.Path, str]:
    """Pages that are not as they should be, with what should stand there."""
    known = methods(others=False)
    wanted = {FOLDER / f"{info.name}.md": facts(info) for info in known} | {
        FOLDER / "README.md": overview(known)
    }
    pages = {path: renewed(path.read_text(encoding="utf-8"), made) for path, made in wanted.items()}
    return {path: page for path, page in pages.items() if page != path.read_text(encoding="utf-8")}


def main() -> None:
    found = outdated()
    if "--check" in sys.argv[1:]:
        for path in found:
            print(f"{path.name} is out of date: run python tools/make_method_pages.py")
        raise SystemExit(1 if found else 0)
    for path, page in found.items():
        path.write_text(page, encoding="utf-8")
        print(f"wrote {path.name}")


if __name__ == "__main__":
    main()
