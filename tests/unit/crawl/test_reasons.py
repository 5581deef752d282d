"""Why a page gave no document, or a link was not followed, is a code that every language has a name for."""

from __future__ import annotations

import ast
import pathlib
from collections.abc import Iterator

import pytest

import doublet
from doublet import errors
from doublet.errors import Unreadable
from doublet.jobs.crawl.batch import unread
from doublet.model import LANGUAGES, Note
from doublet.reports.wording import wording
from doublet.sources.whole_page import read_whole_page

PACKAGE = pathlib.Path(doublet.__file__).parent
READING = sorted(
    kind.code
    for kind in vars(errors).values()
    if isinstance(kind, type) and issubclass(kind, Unreadable | errors.ConfigError)
)
#: What else a verdict says, as the code has it, and examples of it.
MADE = {
    "str(status)": ["404", "503"],
    "f'robots_{status}'": ["robots_503"],
    "page['error']": READING,
}
#: Functions that give reasons, and where a reason stands in calls.
GIVERS = {"odd_shape", "_vote"}
PLACES = {"Verdict": 1, "drop": 0}


def constants(node: ast.expr) -> Iterator[str]:
    """What an expression can be; that of `MADE` by its examples."""
    if isinstance(node, ast.Constant):
        yield node.value
    elif isinstance(node, ast.IfExp):
        yield from constants(node.body)
        yield from constants(node.orelse)
    else:
        yield from MADE[ast.unparse(node)]


def reasons() -> set[str]:
    """Every reason that the rules and the engine can give, found by looking at them."""
    found: set[str] = set()
    for path in (*(PACKAGE / "crawl").glob("*.py"), *(PACKAGE / "jobs" / "crawl").glob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.FunctionDef) and node.name in GIVERS:
                for one in ast.walk(node):
                    if isinstance(one, ast.Return) and one.value is not None:
                        found |= set(constants(one.value))
            elif isinstance(node, ast.Call):
                name = node.func.id if isinstance(node.func, ast.Name) else getattr(node.func, "attr", "")
                place = PLACES.get(name)
                given = node.args[place] if place is not None and len(node.args) > place else None
                if given is not None and not isinstance(given, ast.Name):  # `why` is assigned, and so below
                    found |= set(constants(given))
            elif isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "why":
                if isinstance(node.value, ast.Constant):
                    found.add(node.value.value)
            elif (
                isinstance(node, ast.Tuple) and len(node.elts) == 2 and ast.unparse(node.elts[0]) == "pattern"
            ):
                last = node.elts[1]
                if isinstance(last, ast.Constant) and isinstance(last.value, str):
                    found.add(last.value)
    return found - {""}


def test_it_works() -> None:
    """The reader of reasons sees what it must: otherwise the tests below could not fail."""
    seen = {"404", "robots", "robots_503", "no_answer", "broken", "budget", "spelling", "too_far", "not_text"}
    assert seen | {"nofollow", "view", "rare", "wall", "login", "like_a_probe"} <= reasons()


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_reason_has_a_name(language: str) -> None:
    tell = wording(language)
    unknown = reasons() - tell.tables.NAMES["page_reason"].keys()
    assert {reason for reason in unknown if tell.name("page_reason", reason) == reason} == set()


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("nothingread", "nothing_read"),
        ("unknownkind", "unknown_kind"),
        ("readfailed", "read_failed"),
        ("robots 503", "robots_503"),
    ],
)
def test_old_spellings_in_databases_are_named(old: str, new: str, language: str) -> None:
    tell = wording(language)
    assert tell.name("page_reason", old) == tell.name("page_reason", new) != new


def test_a_number_in_a_code_is_said() -> None:
    ru, en = wording("ru"), wording("en")
    assert en.say(Note("page_reason", reason="503")) == "the server answered 503"
    assert ru.name("page_reason", "robots_503") == "robots.txt не получить: сервер ответил 503"
    assert ru.name("page_reason", "something_7") == "something_7"  # of a newer version
    assert ru.name("record", "soft_404") == ru.tables.NAMES["record"]["soft_404"]


def test_the_reader_of_pages_gives_the_code_of_an_error_and_no_sentence() -> None:
    page = read_whole_page(b"%PDF-1.7 no more", address="http://x.org/a.pdf", headers={})
    assert page["error"] == "broken"
    assert "message" not in page
    assert unread(errors.ReadFailed("read_too_slow", timeout_s=1))["error"] == "read_failed"
