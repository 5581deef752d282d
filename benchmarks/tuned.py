"""What each tuned number does: the figures of the parts "tune" and "choose" with half and with twice its value.

    python benchmarks/tuned.py                             all three questions: an hour of one core
    python benchmarks/tuned.py passages --only matches/own_sentences.py
    python benchmarks/tuned.py repeats news --at-once 2
    python benchmarks/tuned.py --page docs/explanation/numbers.md      what was measured before, as a page

passages: plagdet of all that `compare` counts and of its strong passages with PAN's texts, and of the essays of
written_essays.json how many heavily reworded sentences are found and how many own ones flagged, by `compare` with each
source and by a check. repeats: accepted fragments of the eight labelled manuals that are found, the mean over manuals,
how much text is reported for it, and groups. news: F1 of labelled pairs, of pairs written by hand and of made ones.

Numbers are found as `tools/mutate_numbers.py` finds them; sizes and limits of work are none. A number is changed in
memory, in a process of its own. The part "report" is never looked at. Numbers inside the native kernels are not among
them, but the settings that are handed to kernels are.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import sys
import time
from collections import Counter
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "tools"))

from measure import RESULTS  # noqa: E402
from mutate_numbers import Changed, Number, changes, tuned  # noqa: E402

if TYPE_CHECKING:
    from doublet.model import Span

Figures = dict[str, float]
PARTS = ("tune", "choose")
FILES = {
    "passages": (
        *("matches/align.py", "matches/own_sentences.py", "matches/passages.py"),
        *("matches/sentences.py", "matches/stems.py", "kernels/settings.py:PassageOptions"),
    ),
    "repeats": ("repeats/",),
    "news": ("matches/story.py",),
}
# Of other searches than `auto`, of the linter, or for what is shown of a group.
NOT_MEASURED = ("repeats/model.py", "repeats/baseline.py", "repeats/changed.py", "repeats/runs.py")


def passages() -> Figures:
    import unseen
    from passages import SHARED, read_pan

    out: Figures = {}
    texts, pairs = read_pan(SHARED / unseen.PAN)
    for part in PARTS:
        own = [pair for pair in pairs if unseen.part_of("passages", pair.suspicious) == part]
        for row in unseen.passages(texts, own):
            if row["kind"] == "entire":
                out[f"{row['reported']}, {part}"] = row["plagdet"]
    found = Counter[str]()
    for essay in json.loads((HERE / "written_essays.json").read_text(encoding="utf-8"))["essays"]:
        if essay["part"] in PARTS:
            _add_essay(essay, found)
    for way in ("compare", "check"):
        for level in ("heavy", "own"):
            out[f"{level}, {way}"] = found[f"{level}, {way}"]
    return out


def _add_essay(essay: dict[str, Any], found: Counter[str]) -> None:
    import doublet
    from doublet.model import Span
    from passages import covered

    spans, text = [], ""
    for _, sentence in essay["sentences"]:
        spans.append(Span(len(text), len(text) + len(sentence)))
        text += sentence + " "
    sources: list[str] = essay["texts"]
    together = doublet.check(text, [(str(n), source) for n, source in enumerate(sources)])
    ways: dict[str, list[tuple[int, Span]]] = {
        "compare": [
            (n, f.a) for n, source in enumerate(sources) for f in doublet.compare(text, source).fragments
        ],
        "check": [(int(one.id), f.a) for one in together.sources for f in one.fragments],
    }
    taken = essay.get("from") or [None] * len(spans)
    for (level, _), span, source in zip(essay["sentences"], spans, taken, strict=True):
        named = {"H": "heavy", "O": "own"}.get(level)
        for way, told in ways.items() if named else ():
            right = [a for n, a in told if named == "own" or source in (None, n)]
            found[f"{named}, {way}"] += 2 * covered(span, right) >= span.end - span.start


def repeats() -> Figures:
    from repeats import quality

    rows = {row.what: row.values for row in quality()}
    whole, mean = rows["all fragments"], rows["mean over manuals"]
    return {
        "found": whole["recall"],
        "mean": mean["recall"],
        "text": mean["text ratio"],
        "groups": whole["groups"],
    }


def news() -> Figures:
    import unseen
    from passages import SHARED

    out: Figures = {}
    for part in PARTS:
        for row in unseen.news(SHARED / unseen.NEWS, part):
            if row["set"] in ("labelled", "by hand", "made, ru", "made, en"):
                out[f"{row['set']}, {part}"] = row["F1"]
    return out


QUESTIONS: dict[str, Callable[[], Figures]] = {"passages": passages, "repeats": repeats, "news": news}


def _ask(question: str, number: Number | None, value: float, into: Any) -> None:
    if number is not None:
        sys.meta_path.insert(0, Changed(number, value))
    into.put(QUESTIONS[question]())


def ask(question: str, number: Number | None = None, value: float = 0) -> Figures | None:
    """The figures with a number changed; None: nothing came back (the change made the work fail)."""
    context = multiprocessing.get_context("spawn")
    into = context.SimpleQueue()
    child = context.Process(target=_ask, args=(question, number, value, into))
    child.start()
    child.join()
    return None if into.empty() else into.get()


def rows(question: str, wanted: Sequence[str], at_once: int) -> tuple[Figures, list[dict[str, Any]]]:
    as_it_is = ask(question)
    if as_it_is is None:
        raise SystemExit(f"{question}: nothing was measured")
    numbers = [
        number
        for number in tuned(list(FILES[question]))
        if not number.file.startswith(NOT_MEASURED)
        and (not wanted or f"{number.file}:{number.name}".startswith(tuple(wanted)))
    ]
    asked = [(number, value) for number in numbers for value in changes(number)]
    with ThreadPoolExecutor(at_once) as pool:
        answers = pool.map(lambda one: ask(question, *one), asked)
        out = []
        for (number, value), figures in zip(asked, answers, strict=True):
            row = {
                "file": number.file,
                "name": number.name,
                "value": number.value,
                "changed": value,
                "figures": figures,
            }
            out.append(row)
            print(f"{number.file}:{number.name} {number.value} -> {value}: {figures}", flush=True)
    return as_it_is, out


def table(as_it_is: Figures, found: Sequence[dict[str, Any]]) -> str:
    """One line for each number and value; figures that are the same as without the change are left out."""
    lines = [
        "| number | value | changed to | " + " | ".join(as_it_is) + " |",
        "|---|---|---|" + "---|" * len(as_it_is),
        "| as it is | | | " + " | ".join(map(_short, as_it_is.values())) + " |",
    ]
    for row in found:
        figures = row["figures"]
        cells = (
            ["fails"] + [""] * (len(as_it_is) - 1)
            if figures is None
            else ["" if figures[name] == value else _short(figures[name]) for name, value in as_it_is.items()]
        )
        name = f"`{row['file'].removesuffix('.py').replace('/', '.')}.{row['name']}`"
        lines.append(f"| {name} | {row['value']:g} | {row['changed']:g} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


PAGE = """# What each tuned number does

A number is tuned when it decides what is found or what it is called. Each was halved and doubled, and the figures of
the parts *tune* and *choose* were measured again (`benchmarks/tuned.py`, {date}). The part *report* is never looked at.
An empty cell means that nothing changed; *fails* means that the program refuses the value. A number that changes
nothing here has another reason: a bound on work, or texts that these sets do not have (code, tables, other languages).
`tools/mutate_numbers.py` says which test notices a change.

The numbers inside the native kernels are not listed. Those of the frames of web pages, of methods and of the robot have
their figures beside them in the code. Works of a class (`matches.among`) and the linter (`repeats.changed`,
`repeats.baseline`) are not measured here: no labelled set asks about them.
"""
TITLES = {
    "passages": """## Passages

*counted* and *strong* are plagdet of PAN 2013. *heavy* is how many of the heavily reworded sentences of the written
essays are found, and *own* how many own ones are flagged, by `compare` with each source and by a check.""",
    "repeats": """## Repeats

The eight labelled manuals: accepted fragments that are found, the mean over manuals, how much text is reported for it,
and groups.""",
    "news": """## Same story

F1 of labelled pairs, of pairs written by hand and of pairs made from templates.""",
}


def page(known: dict[str, Any], date: str) -> str:
    parts = [PAGE.format(date=date)]
    for question, title in TITLES.items():
        if question in known:
            found = known[question]
            parts.append(f"{title}\n\n{table(found['as it is'], found['changed'])}\n")
    return "\n".join(parts)


def _short(value: float) -> str:
    return f"{value:.3f}".lstrip("0") if isinstance(value, float) and value < 1 else f"{value:g}"


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("questions", nargs="*", metavar="question", help=", ".join(QUESTIONS))
    parser.add_argument("--only", nargs="+", default=[], help="files of src/doublet, or file:NAME")
    parser.add_argument("--at-once", type=int, default=1, help="numbers that are changed at the same time")
    parser.add_argument("--page", type=Path, help="write what was measured before as a page")
    parser.add_argument("--out", type=Path, default=RESULTS / "tuned.json")
    options = parser.parse_args()
    options.out.parent.mkdir(parents=True, exist_ok=True)
    known = json.loads(options.out.read_text()) if options.out.is_file() else {}
    if options.page:
        date = time.strftime("%Y-%m-%d", time.localtime(options.out.stat().st_mtime))
        options.page.write_text(page(known, date), encoding="utf-8")
        return
    for question in options.questions or QUESTIONS:
        if question not in QUESTIONS:
            parser.error(f"{question}: not a question; there are {', '.join(QUESTIONS)}")
        as_it_is, found = rows(question, options.only, options.at_once)
        known[question] = {"as it is": as_it_is, "changed": found}
        options.out.write_text(json.dumps(known, indent=1) + "\n")
        print(f"\n**{question}**\n\n{table(as_it_is, found)}\n")


if __name__ == "__main__":
    main()
