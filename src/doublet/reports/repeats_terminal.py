"""Repeats for a terminal: the totals, then the groups with their places and what they have in common."""

from __future__ import annotations

from doublet.repeats.archetype import archetype, fixed_words, template
from doublet.repeats.model import RepeatGroup, Repeats
from doublet.reports.terminal import Painter, harmless
from doublet.reports.wording import count, percent

SHOWN_PLACES = 6
VARIANTS_READ = 12
LEAST_FIXED = 3  #: words that a template must have in common to say more than an example


def repeats_report(result: Repeats, *, limit: int = 20, width: int = 80, colour: bool = False) -> str:
    """The first *limit* groups; only new ones when a baseline was given."""
    paint = Painter(colour)
    files = count(len(result.files), "file")
    lines = [
        paint(
            f"{percent(result.share)} of {count(result.tokens, 'token')} in {files} stand in "
            f"{count(len(result.groups), 'group')} of repeats",
            "title",
        ),
        paint(f"algorithm {result.algorithm}", "dim"),
        "",
    ]
    groups = result.groups
    if any(group.new is not None for group in groups):
        groups = result.new_groups
        lines[1] = paint(
            f"algorithm {result.algorithm}, {count(len(groups), 'new group')} against the baseline", "dim"
        )
    for number, group in enumerate(groups[:limit], 1):
        lines += [*_group(number, group, width, paint), ""]
    if len(groups) > limit:
        lines.append(
            f"and {count(len(groups) - limit, 'more group')}: --limit shows more, --format html and json all"
        )
    if not groups:
        lines.append("No repeat was found." if not result.groups else "Nothing new was found.")
    lines += [f"Note: {harmless(str(note))}" for note in result.notes]
    return "\n".join(lines).rstrip("\n") + "\n"


def _group(number: int, group: RepeatGroup, width: int, paint: Painter) -> list[str]:
    told = "word for word" if group.equal else "with differences"
    head = (
        f"{number}. {count(len(group.fragments), 'place')}, {group.tokens:.0f} tokens, {told}, "
        f"significance {group.significance:,.0f}"
    )
    lines = [
        paint(head, "title") + paint(f"  {group.id}{f': {group.reason}' if group.reason else ''}", "dim")
    ]
    variants = list(dict.fromkeys(fragment.text for fragment in group.fragments))[:VARIANTS_READ]
    pieces = archetype(variants)
    told = template(pieces) if fixed_words(pieces) >= LEAST_FIXED else f"for example: {variants[0]}"
    lines += ["   " + line for line in _folded(harmless(told), width - 3)]
    for fragment in group.fragments[:SHOWN_PLACES]:
        section = f"  {harmless(fragment.section)}" if fragment.section else ""
        lines.append(f"   {harmless(fragment.where)}" + paint(section, "dim"))
    if len(group.fragments) > SHOWN_PLACES:
        lines.append(f"   and {count(len(group.fragments) - SHOWN_PLACES, 'more place')}")
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
