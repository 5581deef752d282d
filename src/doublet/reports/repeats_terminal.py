"""Repeats for a terminal: the totals, then the groups with their places and what they have in common."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence

from doublet.repeats.archetype import archetype, fixed_words, template
from doublet.repeats.model import KINDS, RepeatGroup, Repeats
from doublet.repeats.overlaps import shared_places
from doublet.reports.terminal import Painter, harmless
from doublet.reports.wording import Wording, wording

SHOWN_PLACES = 6
SHOWN_SHARED = 5  #: groups with the same places
VARIANTS_READ = 12
LEAST_FIXED = 3  #: words that a template must have in common to say more than an example


def repeats_report(
    result: Repeats, *, limit: int = 20, width: int = 80, colour: bool = False, language: str = "en"
) -> str:
    """The first *limit* groups; only new ones when a baseline was given."""
    paint, words = Painter(colour), wording(language)
    head = words(
        "repeats_line",
        share=result.share,
        tokens=result.tokens,
        files=len(result.files),
        groups=len(result.groups),
    )
    algorithm = words("repeats_algorithm", algorithm=result.algorithm)
    lines = [paint(head, "title"), paint(algorithm, "dim"), ""]
    groups = tuple(group for group in result.groups if group.decision != "ignore")
    if any(group.new is not None for group in groups):
        groups = result.new_groups
        lines[1] = paint(
            words("repeats_algorithm_new", algorithm=result.algorithm, groups=len(groups)), "dim"
        )
    kinds = {kind: [group for group in groups if group.kind == kind] for kind in KINDS}
    most_of = {kind: limit if kind == KINDS[0] else max(1, limit // 2) for kind in KINDS}
    shared = shared_places([group for kind, some in kinds.items() for group in some[: most_of[kind]]])
    number = 0
    for kind, some in kinds.items():
        most = most_of[kind]
        if some and kind != KINDS[0]:
            told = textwrap.wrap(words(f"repeats_{kind}s_are"), width)
            lines += [paint(words(f"repeats_{kind}s"), "title"), *(paint(line, "dim") for line in told), ""]
        for group in some[:most]:
            number += 1
            others = [other + 1 for other in shared[number - 1]]
            lines += [*_group(number, group, result, width, paint, words, others), ""]
        if len(some) > most:
            lines += [words("repeats_more_groups", groups=len(some) - most), ""]
    if not groups:
        lines.append(words("repeats_nothing_new" if result.groups else "repeats_none"))
    lines += [harmless(words("note_line", note=note)) for note in result.notes]
    return "\n".join(lines).rstrip("\n") + "\n"


def _group(
    number: int,
    group: RepeatGroup,
    result: Repeats,
    width: int,
    paint: Painter,
    words: Wording,
    shared: Sequence[int] = (),
) -> list[str]:
    head = words(
        "repeats_group",
        number=number,
        places=len(group.fragments),
        tokens=round(group.tokens),
        how=words("repeats_equal" if group.equal else "repeats_different"),
    )
    head += ", " + words("repeats_saved", words=group.words_saved)
    if shared:
        head += f", {words('repeats_shared')} {', '.join(map(str, shared[:SHOWN_SHARED]))}"
    why = f": {words.say(group.reason)}" if group.reason else ""
    why += f", {words(f'repeats_{group.decision}')}" if group.decision else ""
    lines = [paint(head, "title") + paint(f"  {group.id}{why}", "dim")]
    variants = list(dict.fromkeys(result.plain(fragment) for fragment in group.fragments))[:VARIANTS_READ]
    pieces = archetype(variants)
    told = (
        template(pieces) if fixed_words(pieces) >= LEAST_FIXED else words("repeats_example", text=variants[0])
    )
    lines += ["   " + line for line in _folded(harmless(told), width - 3)]
    for fragment in group.fragments[:SHOWN_PLACES]:
        section = f"  {harmless(fragment.section)}" if fragment.section else ""
        lines.append(f"   {harmless(fragment.where)}" + paint(section, "dim"))
    if len(group.fragments) > SHOWN_PLACES:
        lines.append(f"   {words('repeats_more_places', places=len(group.fragments) - SHOWN_PLACES)}")
    return lines


def _folded(text: str, width: int, most: int = 4) -> list[str]:
    """At most *most* lines of *text*; a cut is shown."""
    lines: list[str] = []
    line = ""
    for word in text.split():
        if line and len(line) + 1 + len(word) > width:
            lines.append(line)
            line = ""
            if len(lines) == most:
                lines[-1] = lines[-1][: max(0, width - 2)] + " …"
                return lines
        line = f"{line} {word}".strip()
    return [*lines, line] if line else lines
