"""Changes every tuned number of the engine in turn, to half and to twice, and says which changes no test notices.

    .venv/bin/python tools/mutate_numbers.py                     all of them: an hour or two of one core
    .venv/bin/python tools/mutate_numbers.py matches/align.py index/ --list
    .venv/bin/python tools/mutate_numbers.py matches/passages.py:SAME --tests tests/unit/matches

A number is tuned when it decides what is found, what it is called, or what is left out. Sizes of batches and buffers,
limits of time and memory, numbers of formats and how much a page shows are not: `UNTUNED` and `SIZES` know them.
Nothing is written: a changed module is compiled in memory, in a process of its own. Exit 1 when a change survived.
"""

from __future__ import annotations

import argparse
import ast
import contextlib
import importlib
import importlib.abc
import importlib.machinery
import importlib.util
import os
import pathlib
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from typing import Any, NamedTuple

ROOT = pathlib.Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "src" / "doublet"
ENGINE = (
    "text",
    "signatures",
    "index",
    "matches",
    "repeats",
    "kernels",
    "crawl",
    "sources",
    "jobs",
    "store",
    "evaluation",
)
UNTUNED = re.compile(
    r"_?(.*(BYTES|_S|_MS|_KB|AT_ONCE|VERSION|FORMAT|MASK|FACTOR|SALT|_BATCH|_BITS|_STEP|MEMORY|LIMIT|CHARACTERS)"
    r"|(MAX|FLAG|LONGEST|LIMIT|BATCH|ROWS|BYTES|LARGEST|_State|_Group|Range|Link|Alignment|Segment).*"
    r"|STEPS?|UNIT|MASK64|MINHASH_PRIME|THREADS|EVERY)"
)
# Sizes, amounts and limits of work, numbers of formats and published figures whose names do not say so.
SIZES = """
crawl/connections.py crawl/decode.py crawl/judge.py:KNOWN_KEYS crawl/judge.py:MOST_ORIGINS
crawl/judge.py:MOST_TARGETS crawl/politeness.py crawl/request.py crawl/traps.py:MOST_SHAPES
crawl/variants.py:MOST_ evaluation/changes/order.py:BLOCK evaluation/charts.py evaluation/differ.py:SHOWN
evaluation/evaluate.py evaluation/metrics.py:RESAMPLES evaluation/published.py
evaluation/report.py:SHOWN_FAILURES index/keeper_join.py index/keys.py index/rarest.py
index/sampled.py:MOST_ jobs/check_p jobs/dedupe/answers.py jobs/dedupe/long_records.py jobs/dedupe/memory.py
jobs/dedupe/outcomes.py jobs/dedupe/signed.py jobs/index_library.py jobs/library kernels/elements.py
kernels/reference/arguments.py kernels/reference/passages.py:LINE kernels/reference/passages.py:SENTENCE
kernels/reference/passages.py:STRONG kernels/reference/passages.py:SUMM kernels/reference/passages.py:HEAVY
kernels/reference/passages.py:NEAREST kernels/reference/passages.py:ROUNDS
kernels/reference/passages.py:RECTANGLES kernels/reference/passages.py:BORDER_WORDS
kernels/reference/spread.py matches/align.py:Passage.parts matches/preference.py:_SHOWN_SOURCES
repeats/__init__.py repeats/archetype.py repeats/auto.py:MEMBERS_READ repeats/by_edit.py
repeats/by_ngrams.py repeats/changed.py:CANDIDATES repeats/edges.py:ROUNDS repeats/exact.py
repeats/tokenise.py:PIECE repeats/tokenise.py:SHARED repeats/tokenise.py:COLON repeats/tokenise.py:SENTENCE
repeats/tokenise.py:LINE repeats/tokenise.py:BLOCK repeats/tokenise.py:WRAP
repeats/tokenise.py:TokenSequence.threads signatures/auto.py:_HEAD signatures/counting.py
signatures/mixing.py signatures/pivot.py:_MOST signatures/pivot.py:_W signatures/statistics.py
signatures/supershingles.py:MOST_KEYS signatures/weighted.py sources/archive.py sources/csv_table.py
sources/folder.py sources/json_stream.py sources/jsonl.py:_SHOWN_FIELDS sources/ocr.py sources/open.py
sources/parquet.py sources/pictures.py sources/streams.py sources/wiki.py:CHANGES_DAYS
sources/wiki.py:LISTED sources/wiki.py:TRIES sources/workers.py sources/works.py store/connection.py
store/dump.py store/entries.py store/frontier.py store/jobs.py store/postings.py store/segments.py
store/sources.py store/stems.py store/texts.py store/verify.py store/weighing.py store/word store/writing.py
text/apart.py:MOST_ text/apart.py:_PART text/disguise.py:_REMEMBERED text/formats/html.py:_ATTRIBUTES
text/formats/mail.py:_SHOWN text/formats/package.py text/formats/rtf.py:_DEPTH
text/formats/rtf.py:_INFO_STARTS text/formats/wikitext.py:_PASSES text/language.py:LOOKED_AT text/limits.py
text/read.py:_SHOWN_HIDDEN text/reduce.py:_CACHE
""".split()
LIMIT_S = 900


class Number(NamedTuple):
    """A number of a module: its name (`Class.field` in a class), and where another value is put."""

    file: str
    name: str
    value: float
    line: int
    indent: int


def numbers(path: pathlib.Path) -> Iterator[Number]:
    file = path.relative_to(PACKAGE).as_posix()
    known: dict[str, float] = {}

    def of(body: list[ast.stmt], owner: str) -> Iterator[Number]:
        for node in body:
            if isinstance(node, ast.ClassDef) and not owner:
                yield from of(node.body, node.name + ".")
            if isinstance(node, ast.Assign) and len(node.targets) == 1:
                target, value = node.targets[0], node.value
            elif isinstance(node, ast.AnnAssign) and node.value is not None:
                target, value = node.target, node.value
            else:
                continue
            several = isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple)
            for name, right in zip(target.elts, value.elts, strict=True) if several else [(target, value)]:  # type: ignore[attr-defined]
                parts = (ast.Constant, ast.BinOp, ast.UnaryOp, ast.operator, ast.unaryop, ast.Name, ast.Load)
                if not isinstance(name, ast.Name) or not all(
                    isinstance(part, parts) for part in ast.walk(right)
                ):
                    continue
                with contextlib.suppress(NameError, TypeError, SyntaxError):
                    number = eval(ast.unparse(right), {"__builtins__": {}}, dict(known))
                    if type(number) in (int, float):
                        known[name.id] = number
                        yield Number(file, owner + name.id, number, node.end_lineno or 0, node.col_offset)

    yield from of(ast.parse(path.read_text()).body, "")


def tuned(wanted: list[str]) -> list[Number]:
    found = []
    for path in sorted(PACKAGE.rglob("*.py")):
        file = path.relative_to(PACKAGE)
        if file.parts[0] not in ENGINE or "migrations" in file.parts:
            continue
        for number in numbers(path):
            full = f"{number.file}:{number.name}"
            if wanted and not any(full.startswith(one) for one in wanted):
                continue
            plain = number.name.rsplit(".", 1)[-1]
            size = UNTUNED.fullmatch(plain) or UNTUNED.fullmatch(number.name) or full.startswith(tuple(SIZES))
            size = size or (
                number.file == "kernels/data.py" and plain not in ("NEAR", "SPACED_RUN", "SPACED_RUN_AFTER")
            )
            if full in wanted or not (size or number.value == 0):
                found.append(number)
    return found


def changes(number: Number) -> list[float]:
    if isinstance(number.value, float):
        return [number.value / 2, number.value * 2]
    return [changed for changed in (number.value // 2, number.value * 2) if changed > 0 or number.value < 0]


class Changed(importlib.abc.MetaPathFinder):
    """Finds one module, with one number changed; all others are found as always."""

    def __init__(self, number: Number, value: float) -> None:
        self.module = "doublet." + number.file.removesuffix(".py").removesuffix("/__init__").replace("/", ".")
        self.path = PACKAGE / number.file
        lines = self.path.read_text().splitlines()
        lines.insert(number.line, f"{' ' * number.indent}{number.name.rsplit('.', 1)[-1]} = {value!r}")
        self.source = "\n".join(lines)

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> Any:  # noqa: ARG002 - as Python asks
        if name != self.module:
            return None
        source = self.source

        class Loader(importlib.machinery.SourceFileLoader):
            def get_code(self, fullname: str) -> Any:  # noqa: ARG002 - as Python asks
                return compile(source, self.path, "exec")

        return importlib.util.spec_from_file_location(name, self.path, loader=Loader(name, str(self.path)))


def tests_of(number: Number) -> list[str]:
    """Test files that may notice, the likeliest first: those that speak of the number, then of its module."""
    folder, stem = number.file.split("/")[0], pathlib.Path(number.file).stem
    stem = pathlib.Path(number.file).parent.name if stem == "__init__" else stem
    places = {
        "kernels": ["reference", "unit/matches", "unit/repeats"],
        "store": ["unit/store", "unit/jobs"],
        "evaluation": ["unit/evaluation"],
        "repeats": ["unit/repeats", "reference"],
        "crawl": ["unit/crawl", "unit/jobs"],
        "sources": ["unit/sources", "unit/text", "unit/jobs"],
    }.get(folder, [f"unit/{folder}", "unit/jobs", "unit/matches", "golden"])
    ranked = []
    for at, place in enumerate(places):
        for path in sorted((ROOT / "tests" / place).glob("test_*.py")):
            if re.search("linear|spark|memory|kill|old_versions|hostile|store_sched", path.name):
                continue
            text = path.read_text()
            says = number.name.lstrip("_").split(".")[-1] in text and stem in text
            tuning = "tuned" in path.name and at == 0
            mentions = re.search(rf"\b{re.escape(stem)}\b", text) is not None
            if says or tuning or (mentions and (at == 0 or place in ("golden", "reference"))):
                ranked.append((not says, not tuning, not mentions, at, str(path)))
    return [path for *_, path in sorted(ranked)]


def run(number: Number, value: float, tests: list[str]) -> str:
    """ "" when a change survives, otherwise the test that noticed."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        os.setpgid(0, 0)
        quiet = os.open(os.devnull, os.O_WRONLY)
        os.dup2(quiet, 1)
        os.dup2(quiet, 2)
        sys.meta_path.insert(0, Changed(number, value))
        import pytest

        class Tell:
            def pytest_runtest_logreport(self, report: Any) -> None:
                if report.failed:
                    os.write(writer, report.nodeid.encode() + b"\n")

            def pytest_collectreport(self, report: Any) -> None:
                if report.failed:
                    os.write(writer, b"import of " + report.nodeid.encode() + b"\n")

        code = 3
        try:
            plain = ["-x", "-q", "--assert=plain", "-p", "no:cacheprovider", "-p", "no:xdist"]
            code = int(pytest.main([*plain, *tests], plugins=[Tell()]))
        finally:
            if code > 1:
                os.write(writer, f"exit {code}\n".encode())
            os._exit(0)
    os.close(writer)
    until = time.monotonic() + LIMIT_S
    while (ended := os.waitpid(child, os.WNOHANG)) == (0, 0):
        if time.monotonic() > until:
            os.killpg(child, signal.SIGKILL)
            os.waitpid(child, 0)
            os.close(reader)
            return "time limit"
        time.sleep(0.05)
    with os.fdopen(reader, "rb") as answers:
        return (answers.read().decode().splitlines() or ["crashed" if ended[1] else ""])[0]


def libraries() -> list[str]:
    """What Doublet and its tests import of others: loaded once, so that each change starts quickly."""
    code = (
        "import sys, pytest, hypothesis, doublet.jobs.check, doublet.store, doublet.text.read, lxml.html, orjson;"
        "print('\\n'.join(n for n in sys.modules if not n.startswith(('doublet', '__', '_editable'))))"
    )
    return subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    ).stdout.split()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("wanted", nargs="*", help="files or folders of src/doublet, or file:NAME")
    parser.add_argument("--list", action="store_true", help="only the numbers")
    parser.add_argument("--tests", nargs="*", help="these instead of those that are likely to notice")
    options = parser.parse_args()
    found = tuned(options.wanted)
    if options.list:
        print("\n".join(f"{number.file}:{number.name} {number.value}" for number in found))
        return 0
    os.chdir(ROOT)
    os.environ["CI"] = "true"
    for name in libraries():
        with contextlib.suppress(Exception):
            importlib.import_module(name)
    survived = []
    for number in found:
        for value in changes(number):
            began = time.monotonic()
            by = run(number, value, options.tests or tests_of(number))
            took = f"({time.monotonic() - began:.0f} s)"
            print(
                f"{number.file}:{number.name} {number.value} -> {value}: {by or 'SURVIVED'} {took}",
                flush=True,
            )
            if not by:
                survived.append((number, value))
    print(f"{len(found)} numbers, {len(survived)} changes survived")
    return 1 if survived else 0


if __name__ == "__main__":
    sys.exit(main())
