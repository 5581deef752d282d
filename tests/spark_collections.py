"""Small collections with every trap of deduplication, for the tests on Spark, and the answer of one machine
to compare with.
"""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

from doublet.jobs.dedupe import dedupe_inputs
from doublet.model import Deduplication
from doublet.sources.open import open_source
from doublet.sources.records import Fields
from doublet.spark.dedupe import Deduped, dedupe

WORDS = [
    f"{a}{b}{c}"
    for a in ("ka", "le", "mo", "ри", "су")
    for b in ("na", "ti", "ро")
    for c in ("s", "m", "к", "l")
]


def text(rng: random.Random, words: int) -> list[str]:
    return [rng.choice(WORDS) + rng.choice(WORDS) for _ in range(words)]


def edited(rng: random.Random, words: list[str], share: float) -> list[str]:
    out = list(words)
    for at in range(len(out)):
        if rng.random() < share:
            out[at] = rng.choice(WORDS)
    return out


def mixed(seed: int, count: int = 240) -> list[dict[str, Any]]:
    """Copies at all distances, texts inside longer ones, equal texts, one footer, empty texts, repeated ids, chains."""
    rng = random.Random(seed)
    footer = text(rng, 25)
    made: list[list[str]] = []
    while len(made) < count:
        chance = rng.random()
        if not made or chance < 0.4:
            words = text(rng, rng.randint(8, 90))
        elif chance < 0.7:
            words = edited(rng, rng.choice(made), rng.choice((0.01, 0.03, 0.06, 0.12)))
        elif chance < 0.8:
            words = list(rng.choice(made))
        elif chance < 0.9:
            longer = rng.choice(made)
            start = rng.randrange(max(1, len(longer) - 8))
            words = longer[start : start + rng.randint(8, 60)]
        else:
            words = rng.choice(made) + text(rng, rng.randint(2, 12))
        if rng.random() < 0.3:
            words = words + footer
        made.append(words)
    rows = [
        {
            "id": f"d{number:03d}" if seed % 2 else str(7 * number % 1000),
            "text": " ".join(words),
            "date": rng.choice(("2024-05-01", "2023-11-30", "01.02.2024", "")),
            "site": rng.choice(("one", "two", "three")),
        }
        for number, words in enumerate(made)
    ]
    rows += [{"id": f"empty{i}" if seed % 2 else str(5000 + i), "text": " … " * i} for i in range(3)]
    again = rng.sample(rows[:count], 6)
    rows += [{**row, "text": row["text"] + (" konec" if i % 2 else "")} for i, row in enumerate(again)]
    rng.shuffle(rows)
    return rows


def chain(seed: int, length: int = 150) -> list[dict[str, Any]]:
    """Each text is like the next and like no other: who stays depends on the one before, all along the chain."""
    rng = random.Random(seed)
    words = text(rng, 60)
    rows = []
    for number in range(length):
        rows.append({"id": f"c{number:04d}", "text": " ".join(words)})
        words = words[9:] + text(rng, 9)
    return rows


def write_lines(path: Path, rows: list[dict[str, Any]], bad: tuple[str, ...] = ()) -> Path:
    lines = [json.dumps(row, ensure_ascii=False) for row in rows]
    for number, line in enumerate(bad):
        lines.insert((number + 1) * len(lines) // (len(bad) + 1), line)
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def on_one_machine(paths: list[Path], fields: dict[str, str] | None = None, **options: Any) -> Deduplication:
    with open_source([str(path) for path in paths], **(fields or {})) as source:
        return dedupe_inputs(source, **options)


Row = tuple[str, str, str, float, float, str | None, str]


def member_rows(result: Deduplication) -> list[Row]:
    return sorted(
        (group.id, group.keep, m.id, m.resemblance, m.containment, m.contained_in, m.step)
        for group in result.groups
        for m in group.members
    )


def table(out: Path, stage: str) -> list[dict[str, Any]]:
    """The rows of a stage, read by another library than the one that wrote them has to be."""
    rows: list[dict[str, Any]] = []
    for path in sorted((out / stage).glob("part-*.parquet")):
        rows += pq.read_table(path).to_pylist()
    return rows


def spark_rows(out: Path) -> list[Row]:
    names = ("group", "keep", "id", "resemblance", "containment", "contained_in", "step")
    return sorted(tuple(row[name] for name in names) for row in table(out, "groups"))


def kept_ids(out: Path) -> list[str]:
    return sorted(row["id"] for row in table(out, "kept"))


def crowded(seed: int) -> list[dict[str, Any]]:
    """Sixty near copies of each of two texts, of several lengths, and others that share a footer with them."""
    rng = random.Random(seed)
    footer = text(rng, 30)
    rows = []
    for number in range(2):
        base = text(rng, 70)
        for copy in range(60):
            words = edited(rng, base, 0.01) + footer
            rows.append({"id": f"n{number}-{copy:02d}", "text": " ".join(words[: len(words) - copy % 7])})
    rows += [{"id": f"o{i:02d}", "text": " ".join(text(rng, rng.randint(5, 20)) + footer)} for i in range(60)]
    rng.shuffle(rows)
    return rows


def with_footer(seed: int, count: int) -> list[dict[str, Any]]:
    """Unlike texts with one long footer."""
    rng = random.Random(seed)
    footer = text(rng, 30)
    return [{"id": f"f{i}", "text": " ".join(text(rng, rng.randint(40, 60)) + footer)} for i in range(count)]


def reworded(seed: int) -> list[dict[str, Any]]:
    """Texts of made-up words, and copies in which every third word or so is another."""
    rng = random.Random(seed)
    rows = []
    for number in range(30):
        base = text(rng, 160)
        rows.append(
            {"id": f"b{number:02d}", "text": " ".join(base), "date": f"2024-01-{1 + number % 28:02d}"}
        )
        for share in (0.05, 0.12, 0.2, 0.3)[: number % 5]:
            words = edited(rng, base, share)
            rows.append(
                {
                    "id": f"r{number:02d}-{share}",
                    "text": " ".join(words),
                    "date": f"2024-02-{1 + number % 28:02d}",
                }
            )
    rng.shuffle(rows)
    return rows


FIELDS = {"newest": {"time": "date"}, "best-source": {"source": "site"}}


def same(
    spark: Any, folder: Path, rows: list[dict[str, Any]], *, cut: tuple[int, int], **options: Any
) -> Deduped:
    """Dedupe the same file on one machine and with the session, and see that the answers agree; *cut*: splits and
    partitions."""
    folder.mkdir(exist_ok=True)
    path = write_lines(folder / "collection.jsonl", rows, ("{broken", "[1]", '{"id": "x"}'))
    fields = FIELDS.get(options.get("keep", "longest"), {})
    local = {name: value for name, value in options.items() if name not in ("crowd_pairs", "pairs_at_once")}
    here = on_one_machine([path], {f"{name}_field": value for name, value in fields.items()}, **local)
    out = folder / "run"
    there = dedupe(
        spark, [str(path)], str(out), fields=Fields(**fields), splits=cut[0], partitions=cut[1], **options
    )
    assert spark_rows(out) == member_rows(here)
    assert kept_ids(out) == sorted(here.kept)
    assert there.documents == here.documents
    assert there.removed == sum(len(group.members) for group in here.groups)
    listed = sorted((row["state"], row["id"], row["place"]) for row in table(out, "errors"))
    assert listed == sorted((o.state, o.id, o.place) for o in here.outcomes)
    return there
