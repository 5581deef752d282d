"""Does the gate of `doublet repeats --fail-on-new` cry wolf? Random edits of real trees of documentation.

    python benchmarks/repeats_gate.py --edits 200 --copies 200
    python benchmarks/repeats_gate.py --edits 20 --copies 20 --algorithm exact --tree git=/usr/share/doc/git

An edit inserts a sentence that is nowhere else, deletes a stretch of words, or moves one; none of them may raise an
alarm. A copy puts one to three sentences of the tree into another place; each must raise one. Trees: the current pages
of mdn-ru-revisions (Russian), the manual of Subversion, our own documentation (Markdown), and any named by `--tree`.
"""

from __future__ import annotations

import argparse
import collections
import json
import lzma
import random
import re
from pathlib import Path

import doublet
import repeats_truth as truth
from measure import HERE

DATA = HERE.parent.parent / "shared" / "data"
Tree = dict[str, str]


def trees(data: Path, named: list[str]) -> dict[str, Tree]:
    out: dict[str, Tree] = {}
    if data.exists():
        with lzma.open(data / "mdn-ru-revisions" / "docs.jsonl.xz", "rt", encoding="utf-8") as stream:
            rows = [json.loads(line) for line in stream]
        out["mdn-ru"] = {f"{row['page']}.txt": row["text"] for row in rows if row["version"] != "old"}
        out["svnbook"] = {"svnbook.txt": truth.manual(data / "doc-repeats-spbu", "svnbook")}
    out["doublet"] = own_docs()
    for one in named:
        name, _, folder = one.partition("=")
        paths = [
            path
            for path in sorted(Path(folder).rglob("*"))
            if path.suffix in (".md", ".rst", ".txt", ".html")
        ]
        out[name] = {str(path): path.read_text(encoding="utf-8", errors="replace") for path in paths}
    return out


def own_docs() -> Tree:
    docs = HERE.parent / "docs"
    paths = sorted(docs.rglob("*.md"))
    return {path.relative_to(docs).as_posix(): path.read_text(encoding="utf-8") for path in paths}


def pick(rng: random.Random, tree: Tree) -> str:
    """A file; longer ones are picked more often."""
    names = sorted(tree)
    return rng.choices(names, [len(tree[name]) + 1 for name in names])[0]


def gap(rng: random.Random, text: str) -> int:
    """A place between two words."""
    places = [match.start() for match in re.finditer(r"\s+", text)]
    return rng.choice(places) if places else len(text)


def nonsense(rng: random.Random, tree: Tree) -> str:
    """A sentence that is nowhere else: of made-up words, or of words of the tree in a random order."""
    size = rng.randint(6, 30)
    if rng.random() < 0.5:
        words = ["".join(rng.choices("bdfgklmnprstaeiou", k=rng.randint(3, 9))) for _ in range(size)]
    else:
        words = rng.choices(re.findall(r"[^\W\d_]+", tree[pick(rng, tree)]) or ["word"], k=size)
    return " ".join(words).capitalize() + "."


def stretch(rng: random.Random, text: str) -> tuple[int, int]:
    """5 to 60 words."""
    words = [match.span() for match in re.finditer(r"\S+", text)]
    if len(words) < 80:
        return 0, 0
    first = rng.randrange(len(words) - 61)
    return words[first][0], words[first + rng.randint(4, 60)][1]


def edited(rng: random.Random, tree: Tree) -> tuple[str, Tree]:
    """The tree with one harmless change, and what it is."""
    what = rng.choice(["insert", "delete", "move"])
    name = pick(rng, tree)
    text = tree[name]
    if what == "insert":
        at = gap(rng, text)
        own = nonsense(rng, tree)
        return what, {
            **tree,
            name: f"{text[:at]} {own} {text[at:]}"
            if rng.random() < 0.5
            else f"{text[:at]}\n\n{own}\n\n{text[at:]}",
        }
    start, end = stretch(rng, text)
    rest = {**tree, name: text[:start] + text[end:]}
    if what == "delete" or start == end:
        return what, rest
    other = pick(rng, rest)
    at = gap(rng, rest[other])
    return what, {**rest, other: f"{rest[other][:at]}\n\n{text[start:end]}\n\n{rest[other][at:]}"}


def copied(rng: random.Random, tree: Tree) -> Tree:
    """The tree with one to three whole sentences, 15 to 80 words, put into another place too."""
    while True:
        text = tree[pick(rng, tree)]
        found = list(re.finditer(r"(?:(?<=[.!?]\s)|(?<=\n))[A-ZА-ЯЁ][^.!?]{20,}[.!?](?=\s)", text))
        if not found:
            continue
        first = rng.randrange(len(found))
        last = min(first + rng.randrange(3), len(found) - 1)
        passage = text[found[first].start() : found[last].end()]
        if 15 <= len(re.findall(r"[^\W_]+", passage)) <= 80:
            break
    other = pick(rng, tree)
    at = gap(rng, tree[other])
    return {**tree, other: f"{tree[other][:at]}\n\n{passage}\n\n{tree[other][at:]}"}


def trial(tree: Tree, algorithm: str, edits: int, copies: int, seed: int = 1) -> dict[str, int | list[str]]:
    """How many of the edits and of the copies raised an alarm; and what the wrong alarms said."""
    known = doublet.find_repeats(tree, algorithm=algorithm).to_dict()
    rng = random.Random(seed)
    alarms = caught = 0
    wrong: list[str] = []
    for _ in range(edits):
        what, after = edited(rng, tree)
        new = doublet.find_repeats(after, algorithm=algorithm, baseline=known).new_groups
        alarms += bool(new)
        wrong += [f"{what}: {group.reason}: {group.fragments[0].text[:200]!r}" for group in new]
    for _ in range(copies):
        caught += bool(
            doublet.find_repeats(copied(rng, tree), algorithm=algorithm, baseline=known).new_groups
        )
    return {"alarms": alarms, "caught": caught, "wrong": wrong}


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--edits", type=int, default=200)
    parser.add_argument("--copies", type=int, default=200)
    parser.add_argument("--algorithm", nargs="*", default=["auto"])
    parser.add_argument("--tree", nargs="*", default=[], metavar="NAME=FOLDER")
    parser.add_argument("--only", nargs="*", help="names of trees")
    parser.add_argument("--data", type=Path, default=DATA)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    total: collections.Counter[str] = collections.Counter()
    for name, tree in trees(given.data, given.tree).items():
        if given.only and name not in given.only:
            continue
        for algorithm in given.algorithm:
            found = trial(tree, algorithm, given.edits, given.copies, given.seed)
            print(
                f"{name:10} {algorithm:7} alarms {found['alarms']} of {given.edits}, "
                f"copies caught {found['caught']} of {given.copies}",
                flush=True,
            )
            for line in found["wrong"]:  # type: ignore[union-attr]
                print("   ", line)
            total.update(alarms=found["alarms"], caught=found["caught"])  # type: ignore[arg-type]
    print(dict(total))


if __name__ == "__main__":
    main()
