"""A check without some of what it found, from its report alone (K3, K4): the same numbers as a check without those.

A report holds the words of every fragment and of everything that was left out, so the sources can be ranked again: no
text and no database is needed. Ids stay what they were; shares are counted anew, and no word counts twice.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from doublet.errors import InputUnreadable, InvalidParameter, nearest, one_or_more
from doublet.matches.align import Passage
from doublet.matches.explain import rank
from doublet.matches.left_out import shares_with, words_of
from doublet.model import Check, Fragment, SourceMatch

KINDS = ("verbatim", "edited", "reworded", "moved")  #: of fragments


def rescore(check: Check, without: Iterable[str]) -> Check:
    """*check* as it would be without some fragments (by their ids), sources (by their ids, or ``library/id``) and kinds
    of fragments.

    The sources are ranked anew, and what others explain goes to them. A source that loses all its fragments goes; where
    it has possible places, it is told among the possible ones. Raises `InvalidParameter` for what is not in the report,
    and `InputUnreadable` for a report of a version that did not keep the words of fragments.
    """
    given = one_or_more("without", without)
    sources = [*check.sources, *check.uncounted_sources, *check.possible_sources]
    chosen = _Choice.make(given, sources)
    left: list[SourceMatch] = []
    for source in sources:
        if source.id in chosen.sources or f"{source.library}/{source.id}" in chosen.sources:
            continue
        fragments = tuple(f for f in source.fragments if chosen.keeps(f))
        possible = tuple(f for f in source.possible if chosen.keeps(f))
        if fragments or possible:
            left.append(replace(source, fragments=fragments, possible=possible))
    told = [source for source in left if source.fragments]
    passages = [[_passage(fragment) for fragment in source.fragments] for source in told]
    masks = {one.kind: words_of(one.ranges, check.words) for one in check.left_out if one.kind != "own"}
    counted = None
    if masks:
        counted = ~words_of(
            (span for one in check.left_out if one.kind != "own" for span in one.ranges), check.words
        )
    least = check.parameters.get("min_share", 0.0)
    # Names decide between sources that explain the same words: the order in which they were looked at.
    names = [f"{source.order:012}" for source in told]
    ranked = [
        row
        for row in rank(passages, names, check.words, min_share=least, counted=counted)
        if row.share >= least
    ]
    shared = [replace(told[row.candidate], share=row.share, added=row.added) for row in ranked]
    only = [source for source in left if not source.fragments and not least]
    only.sort(key=lambda source: (-sum(f.words for f in source.possible), source.order))
    borrowed = words_of((_words(f) for source in shared for f in source.fragments), check.words)
    taken = words_of(
        (span for one in check.left_out if one.kind == "own" for span in one.ranges), check.words
    )
    shares = shares_with(masks, borrowed, taken)
    whole = check.share_with_all
    if whole is not None:
        whole = float((borrowed | taken).mean()) if check.words else 0.0
    before = check.parameters.get("without", [])
    # Against files every source is told; against libraries those of words that are left out come apart.
    return replace(
        check,
        share=min(sum((row.added for row in ranked), 0.0), 1.0),
        sources=tuple(source for source in shared if source.share > 0),
        uncounted_sources=tuple(source for source in shared if not source.share > 0),
        possible_sources=tuple(replace(source, share=0.0, added=0.0) for source in only),
        left_out=tuple(replace(one, share_with=shares[one.kind]) for one in check.left_out),
        share_with_all=whole,
        parameters={**check.parameters, "without": [*before, *given]},
    )


def with_sources(check: Check, more: Sequence[SourceMatch]) -> Check:
    """*check* with more sources, all ranked anew. They are looked at after those that it has."""
    if not more:
        return check
    known = [*check.sources, *check.uncounted_sources, *check.possible_sources]
    after = 1 + max((source.order for source in known), default=-1)
    added = tuple(replace(source, order=after + place) for place, source in enumerate(more))
    counted = rescore(replace(check, sources=(*check.sources, *added)), ())
    return replace(counted, parameters=check.parameters)


@dataclass(frozen=True, slots=True)
class _Choice:
    """What is to go, told apart."""

    fragments: frozenset[str]
    sources: frozenset[str]
    kinds: frozenset[str]

    @staticmethod
    def make(given: Sequence[str], sources: Sequence[SourceMatch]) -> _Choice:
        fragments = {f.id for source in sources for f in (*source.fragments, *source.possible)}
        names = {name for source in sources for name in (source.id, f"{source.library}/{source.id}")}
        for one in given:
            if one not in fragments and one not in names and one not in KINDS:
                known = [*KINDS, *sorted(fragments), *sorted(names)]
                raise InvalidParameter(
                    "without_unknown",
                    value=one,
                    nearest=nearest(one, known),
                    kinds=list(KINDS),
                    name="without",
                )
        wanted = frozenset(given)
        return _Choice(wanted & fragments, wanted & names, wanted & frozenset(KINDS))

    def keeps(self, fragment: Fragment) -> bool:
        return fragment.id not in self.fragments and fragment.kind not in self.kinds


def _words(fragment: Fragment) -> tuple[int, int]:
    if fragment.a_words is None:
        raise InputUnreadable("report_without_words")
    return fragment.a_words


def _passage(fragment: Fragment) -> Passage:
    start, end = _words(fragment)
    there = fragment.b_words or (0, 0)
    return Passage(start, end, there[0], there[1], 0, fragment.kind)
