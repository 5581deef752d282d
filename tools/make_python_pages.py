"""Writes docs/reference/python.md: every public name, from its signature, docstring and fields.

    python tools/make_python_pages.py           write
    python tools/make_python_pages.py --check   only say whether the page is out of date

The text is that of the docstrings: change it there.
"""

from __future__ import annotations

import dataclasses
import inspect
import json
import pathlib
import re
import sys
from collections.abc import Iterator
from typing import Any

import doublet

PAGE = pathlib.Path(__file__).resolve().parents[1] / "docs" / "reference" / "python.md"
HEAD = """\
# Python

<!-- Written by tools/make_python_pages.py from the docstrings; `make docs` writes it again. -->

Everything in `doublet.__all__`: the names that are kept. Examples are in
[how to use it from Python](../how-to/use-it-from-python.md); errors have [a page of their own](errors.md).
Spans are half-open and count characters of the text as it was given; shares are 0 to 1.
"""


def docstring(thing: Any) -> str:
    """The docstring as Markdown: *names* in italics stay, literal blocks become code."""
    text = inspect.getdoc(thing) or ""
    if text.startswith(f"{getattr(thing, '__name__', '')}("):  # dataclasses without one of their own
        return ""
    lines: list[str] = []
    code = False
    for line in text.split("\n"):
        if not code and line.startswith("    "):
            lines.append("```python")
            code = True
        elif code and line and not line.startswith("    "):
            lines[-1:] = ["```", ""] if not lines[-1] else [lines[-1], "```"]
            code = False
        lines.append(line.removeprefix("    ") if code else re.sub(r"::$", ":", line))
    if code:
        lines.append("```")
    return "\n".join(lines).strip()


def comments(kind: type) -> dict[str, str]:
    """What stands after `#:` behind the fields of a class."""
    source = inspect.getsource(kind)
    return dict(re.findall(r"^    (\w+):(?:[^#\n]|\n(?!    \w+:))*?#: ?(.*)$", source, re.M))


def fields(kind: type) -> Iterator[tuple[str, str]]:
    if dataclasses.is_dataclass(kind):
        yield from ((item.name, str(item.type)) for item in dataclasses.fields(kind))
    elif hasattr(kind, "_fields"):
        yield from ((name, kind.__annotations__[name].__forward_arg__) for name in kind._fields)


def methods(kind: type) -> Iterator[tuple[str, Any]]:
    """Those of our classes that it is made from, and its own."""
    found: dict[str, Any] = {}
    for one in reversed(kind.__mro__):
        if one.__module__.partition(".")[0] == "doublet":
            found |= vars(one)
    for name, thing in found.items():
        if not name.startswith("_") and (
            inspect.isfunction(thing) or isinstance(thing, (property, classmethod))
        ):
            yield name, thing


def argument(parameter: inspect.Parameter) -> str:
    stars = {inspect.Parameter.VAR_POSITIONAL: "*", inspect.Parameter.VAR_KEYWORD: "**"}
    text = f"{stars.get(parameter.kind, '')}{parameter.name}: {parameter.annotation}"
    if parameter.default is parameter.empty:
        return text
    shown = json.dumps(parameter.default) if isinstance(parameter.default, str) else repr(parameter.default)
    return f"{text} = {shown}"


def signature(name: str, thing: Any) -> str:
    """As one would write it, on one line where it fits. Annotations are strings everywhere in the package."""
    found = inspect.signature(thing)
    parameters = [p for p in found.parameters.values() if p.name not in ("self", "cls")]
    arguments = [argument(p) for p in parameters]
    kinds = [p.kind for p in parameters]
    if inspect.Parameter.KEYWORD_ONLY in kinds and inspect.Parameter.VAR_POSITIONAL not in kinds:
        arguments.insert(kinds.index(inspect.Parameter.KEYWORD_ONLY), "*")
    whole = f"{name}({', '.join(arguments)}) -> {found.return_annotation}"
    if len(whole) <= 100:
        return whole
    return f"{name}(\n" + "".join(f"    {text},\n" for text in arguments) + f") -> {found.return_annotation}"


def of_function(name: str, thing: Any) -> str:
    parts = [f"### `{name}`", f"```python\n{signature('doublet.' + name, thing)}\n```", docstring(thing)]
    return "\n\n".join(parts) + "\n"


def of_class(name: str, kind: type) -> str:
    parts = [f"### `{name}`", docstring(kind)]
    said = comments(kind)
    rows = [f"| `{field}` | `{kind_of}` | {said.get(field, '')} |" for field, kind_of in fields(kind)]
    if rows:
        parts.append(
            "\n".join(
                [
                    "| field | type | |",
                    "|---|---|---|",
                    *(row.replace(" | None`", r" \| None`") for row in rows),
                ]
            )
        )
    lines = []
    for method, thing in methods(kind):
        if isinstance(thing, property):
            heading = f"`{method}`"
        else:
            function = thing.__func__ if isinstance(thing, classmethod) else thing
            heading = (
                "`"
                + re.sub(r"\s+", " ", signature(method, function)).replace("( ", "(").replace(", )", ")")
                + "`"
            )
        about = docstring(thing).split("\n\n")[0].replace("\n", " ")
        lines.append(f"- {heading}" + (f": {about}" if about else ""))
    if lines:
        parts.append("\n".join(lines))
    return "\n\n".join(part for part in parts if part) + "\n"


def page() -> str:
    functions, values, progress = [], [], []
    for name in doublet.__all__:
        thing = getattr(doublet, name)
        if name.startswith("_") or (inspect.isclass(thing) and issubclass(thing, doublet.DoubletError)):
            continue
        if inspect.isfunction(thing):
            functions.append(of_function(name, thing))
        elif thing.__module__ == "doublet.progress":
            progress.append(of_class(name, thing))
        else:
            values.append(of_class(name, thing))
    return "\n".join([HEAD, "## Functions\n", *functions, "## Values\n", *values, "## Progress\n", *progress])


def main() -> None:
    new = page()
    if "--check" in sys.argv[1:]:
        if not PAGE.exists() or PAGE.read_text(encoding="utf-8") != new:
            sys.exit(f"{PAGE.name} is out of date: run `make docs`")
        return
    PAGE.write_text(new, encoding="utf-8")


if __name__ == "__main__":
    main()
