"""The picture in docs/architecture.md is true: imports go downwards, and the core keeps to itself."""

from __future__ import annotations

import ast
import pathlib
import subprocess
import sys
from collections.abc import Iterator

import pytest

PACKAGE = pathlib.Path(__file__).resolve().parents[2] / "src" / "doublet"

# The tables of sentences lie in reports/, and everything may have a note said: they are part of the base.
BASE = {"model", "errors", "config", "progress", "addresses", "samples", "wording"}
CORE = ["kernels", "text", "signatures", "index", "matches", "reports"]  # each may import those before it
EDGES = {"sources", "crawl", "providers", "store"}
FACES = {"cli", "web", "spark", "evaluation"}


def _allowed() -> dict[str, set[str]]:
    """For each part of the package the other parts it may import."""
    allowed = {part: BASE - {part} for part in BASE}
    below = set(BASE)
    for part in CORE:
        allowed[part] = set(below)
        below.add(part)
    allowed["repeats"] = BASE | {"kernels", "text", "signatures"}
    allowed["reports"] |= {"repeats"}
    core = below | {"repeats"}
    allowed |= {part: set(core) for part in EDGES}
    allowed["jobs"] = core | EDGES
    allowed |= {part: core | EDGES | {"jobs"} for part in FACES}
    allowed["client"] = set(core)  # of the service: it asks, and reads reports
    allowed["cli"] |= {"evaluation", "spark", "web", "client"}  # `serve` starts the service
    allowed["web"] |= {"evaluation"}
    return allowed


ALLOWED = _allowed()
# Where neighbours meet: value types and protocols, which import nothing themselves.
PROTOCOLS = {"doublet.sources.protocol", "doublet.crawl.protocol"}
# The rules of the robot: `jobs/crawl` joins them with a fetcher, readers and a store, and they run without.
RULES = {
    *("judge", "keys", "mirrors", "patterns", "plan", "protocol", "ranges", "refresh", "soft404"),
    *("standing", "survey", "traps", "variants"),
}
PURE = [*CORE, "repeats", *sorted(BASE)]
# Network, databases, frameworks, other processes and the clock: nothing of the core's business.
OUTSIDE = {
    *("socket", "ssl", "http", "urllib", "ftplib", "smtplib", "asyncio", "requests", "httpx", "aiohttp"),
    *("sqlite3", "dbm", "psycopg", "psycopg2", "duckdb", "django", "ninja", "scrapy", "twisted", "pyspark"),
    *("subprocess", "multiprocessing", "time", "click"),
}
HOMES = {
    "django": {"store", "web"},
    "ninja": {"web"},
    "pyspark": {"spark"},
    "scrapy": {"crawl"},
    "click": {"cli"},
    "uvicorn": {"web"},
}


def modules() -> list[pathlib.Path]:
    return sorted(PACKAGE.rglob("*.py"))


def part_of(path: pathlib.Path) -> str:
    parts = path.relative_to(PACKAGE).parts
    return "wording" if parts[:2] == ("reports", "wording") else parts[0].removesuffix(".py")


def part_named(module: str) -> str:
    return "wording" if module.startswith("doublet.reports.wording") else module.split(".")[1]


def imports(path: pathlib.Path) -> Iterator[tuple[int, str]]:
    """The modules a file imports, also inside functions, with its line; relative ones made absolute."""
    package = ["doublet", *path.relative_to(PACKAGE).parts[:-1]]
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else []
            module = ".".join([*base, *([node.module] if node.module else [])])
            if module == "doublet":
                yield from ((node.lineno, f"doublet.{alias.name}") for alias in node.names)
            else:
                yield node.lineno, module


def names(paths: list[pathlib.Path]) -> list[str]:
    return [str(path.relative_to(PACKAGE)) for path in paths]


def test_it_works() -> None:
    """The reader of imports sees what it must: otherwise the tests below could not fail."""
    seen = {module for _, module in imports(PACKAGE / "kernels" / "__init__.py")}
    assert {"os", "doublet.errors", "doublet.kernels", "doublet.kernels.reference"} <= seen


def test_every_part_has_a_place_in_the_picture() -> None:
    assert {part_of(path) for path in modules()} - set(ALLOWED) <= {"__init__", "__main__"}


@pytest.mark.parametrize("path", modules(), ids=names(modules()))
def test_imports_go_downwards(path: pathlib.Path) -> None:
    part = part_of(path)
    if part in ("__init__", "__main__"):  # the public door looks at everything
        return
    wrong = [
        f"line {line}: {part} imports {module}"
        for line, module in imports(path)
        if module.startswith("doublet.") and part_named(module) not in ALLOWED[part] | {part}
        if not (part in EDGES and module in PROTOCOLS)
    ]
    assert not wrong, "\n".join(wrong)


def test_protocols_import_nothing() -> None:
    for module in PROTOCOLS:
        path = PACKAGE.joinpath(*module.split(".")[1:]).with_suffix(".py")
        assert {found for _, found in imports(path) if found.startswith("doublet")} <= {"doublet.model"}


@pytest.mark.parametrize("rule", sorted(RULES))
def test_the_rules_of_the_robot_need_no_network_and_no_database(rule: str) -> None:
    allowed = PROTOCOLS | {"doublet.crawl"} | {f"doublet.crawl.{one}" for one in RULES}
    for line, module in imports(PACKAGE / "crawl" / f"{rule}.py"):
        if module.startswith("doublet."):
            assert part_named(module) in BASE.union(CORE) or module in allowed, (
                f"line {line}: {module} is no rule"
            )
        else:
            outside = module.split(".")[0] in OUTSIDE and module != "urllib.parse"  # which reads addresses
            assert not outside, f"line {line}: {module}"


@pytest.mark.parametrize("path", modules(), ids=names(modules()))
def test_the_core_stays_inside(path: pathlib.Path) -> None:
    part = part_of(path)
    for line, module in imports(path):
        top = module.split(".")[0]
        assert part not in PURE or top not in OUTSIDE, f"line {line}: {part} is core and imports {module}"
        assert part in HOMES.get(top, {part}), f"line {line}: {module} lives in {HOMES[top]}, not in {part}"


@pytest.mark.parametrize("path", [p for p in modules() if part_of(p) in PURE])
def test_the_core_does_not_look_at_the_clock(path: pathlib.Path) -> None:
    calls = (n.func for n in ast.walk(ast.parse(path.read_text(encoding="utf-8"))) if isinstance(n, ast.Call))
    clock = [c.attr for c in calls if isinstance(c, ast.Attribute) and c.attr in ("now", "utcnow", "today")]
    assert not clock


def test_importing_the_package_is_light() -> None:
    code = "import doublet, sys; print(*sorted({m.split('.')[0] for m in sys.modules}))"
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert not {"numpy", "click", "rich", "orjson", "pyarrow", "snowballstemmer"} & set(done.stdout.split())
