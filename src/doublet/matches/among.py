"""Works of one class against each other: who took from whom (K8).

Every work is explained by the others (`matches.explain`), never by itself and never by another version of its own.
What two works have in common may come from three places, which are told apart:

- *common wording*: the same words are found in many of the works (the task that was set, a form): nobody took them;
- *a common source*: both took them from the same document of a library;
- *copying*: the rest. Only this makes a pair.

The direction is told where the times of the works or containment tell it, and left open where they do not. Nothing here
opens a file or a database. Explained in docs/explanation/classes.md.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import PurePosixPath
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from doublet.index.passage_keys import EVERY_KEY_UP_TO, SHINGLE_WORDS, make_keys
from doublet.index.stem_chunks import BEST, near_documents, read_windows
from doublet.matches.align import AlignOptions
from doublet.matches.explain import explain, lay_beside
from doublet.matches.preference import all_numbers, read_time
from doublet.model import Document, Fragment, SourceMatch, hash_text
from doublet.signatures.statistics import LEXICAL_CANON
from doublet.signatures.thesaurus import Thesaurus
from doublet.text.tokens import TokenBatch, read_words

Mask = NDArray[np.bool_]

CLASS = (
    "(class)"  #: stands for a library where another work of the class is a source; no library has this name
)

#: words are common to a class when so many works have them, and this share of all works
COMMON_LEAST, COMMON_SHARE = 4, 0.5
LEAST_WORDS = 12  #: that one work must have taken from another; fewer are chance
LINKED_SHARE, LINKED_WORDS = 0.03, 30  #: works belong together from this share or so many words on
CONTAINED, CONTAINED_RATIO = (
    0.6,
    2.0,
)  #: one work lies in the other: so much of it, and so many times what lies the other way
_VERSION = re.compile(
    r"(?:[\s._-]+(?:v|ver|version|вер|версия)[\s._-]*\d+|\s*\(\d+\)|[\s._-]+(?:final|финал\w*|copy|копия|испр\w*))$"
)


@dataclass(frozen=True, slots=True)
class Taken:
    """What work *a* has in common with work *b* beyond common sources and common wording."""

    a: str
    b: str
    share: float  #: of the words of a
    words: int
    common_share: float  #: of the words of a that both have from a common source, or that many works have
    direction: (
        str  #: earlier (b is older), later (a is), contained (a lies in b), contains (b lies in a), unknown
    )
    fragments: tuple[Fragment, ...]

    def to_dict(self) -> dict[str, Any]:
        return {
            "a": self.a,
            "b": self.b,
            "share": self.share,
            "words": self.words,
            "common_share": self.common_share,
            "direction": self.direction,
            "fragments": [one.to_dict() for one in self.fragments],
        }


@dataclass(frozen=True, slots=True)
class CommonSource:
    """A document of a library from which several works took."""

    id: str
    title: str
    library: str
    works: tuple[str, ...]

    def to_dict(self) -> dict[str, Any]:
        return {"id": self.id, "title": self.title, "library": self.library, "works": list(self.works)}


@dataclass(frozen=True, slots=True)
class Among:
    """Who took from whom. *shares*: of each work, what it has from other works, every word once."""

    pairs: tuple[Taken, ...]
    shares: Mapping[str, float]
    clusters: tuple[tuple[str, ...], ...]  #: works that are linked, directly or through others; two or more
    common: tuple[CommonSource, ...] = ()
    common_words: Mapping[str, int] = field(default_factory=dict)  #: of each work, words that many works have

    def to_dict(self) -> dict[str, Any]:
        return {
            "pairs": [one.to_dict() for one in self.pairs],
            "shares": dict(self.shares),
            "clusters": [list(one) for one in self.clusters],
            "common": [one.to_dict() for one in self.common],
            "common_words": dict(self.common_words),
        }


def same_work(a: str, b: str) -> bool:
    """Whether two names are versions of one work: "ivanov.docx" and "Ivanov_v2.pdf", "a.docx" and "a (1).docx"."""
    return bare_name(a) == bare_name(b)


def bare_name(name: str) -> str:
    """The name of a file without its folder, its suffix and what tells a version."""
    stem = PurePosixPath(name.replace("\\", "/")).stem.casefold().replace("ё", "е").strip()
    while True:
        shorter = _VERSION.sub("", stem).strip()
        if shorter == stem or not shorter:
            return re.sub(r"[\s._-]+", " ", stem)
        stem = shorter


def telling_names(works: Iterable[tuple[str, str]]) -> set[str]:
    """Of names of works with their authors the bare ones that belong to one author alone: others do not tell whose
    earlier version a document is."""
    authors: dict[str, set[str]] = {}
    for name, author in works:
        authors.setdefault(bare_name(name), set()).add(author.casefold())
    return {name for name, some in authors.items() if len(some) == 1}


def works_as_sources(found: Among, name: str, works: Mapping[str, Document]) -> list[SourceMatch]:
    """The works from which the work *name* has something, as sources of its report. The title of each of *works* is
    what its source is called."""
    out = []
    for number, pair in enumerate((one for one in found.pairs if one.a == name), 1):
        other = works[pair.b]
        back = next((one.share for one in found.pairs if (one.a, one.b) == (pair.b, pair.a)), 0.0)
        out.append(
            SourceMatch(
                pair.b,
                other.title,
                pair.share,
                0.0,
                min(pair.share, back),
                pair.share,
                tuple(replace(part, id=f"w{number}f{k}") for k, part in enumerate(pair.fragments, 1)),
                library=CLASS,
                time=other.time,
                text=other.text,
                text_hash=hash_text(other.text),
            )
        )
    return out


def among(
    works: Sequence[Document],
    *,
    sources: Mapping[str, Sequence[SourceMatch]] | None = None,
    counted: Mapping[str, Mask] | None = None,
    same: Callable[[str, str], bool] | None = None,
    options: AlignOptions | None = None,
    thesaurus: Thesaurus | None = None,
    on_step: Callable[[int, int], None] | None = None,
) -> Among:
    """Who took from whom among *works*, whose ids must differ.

    *sources* are what each work took from libraries; *counted* are masks over its words (quotations that do not count).
    Works for which *same* is true of their ids are versions of one work and are not compared; it is asked once for each
    two works. Without it their bare names tell (`same_work`).
    """
    options = options or AlignOptions()
    read = [read_words([work.text]) for work in works]
    versions = _versions(works, same)
    families = _families(works, versions)
    near = _near(works, read, versions)
    nearest = _nearest(works, read, versions)
    by_id = {work.id: i for i, work in enumerate(works)}
    taken_from = {
        work.id: {
            one.id: _cover(one.fragments, len(read[i].hashes)) for one in (sources or {}).get(work.id, ())
        }
        for i, work in enumerate(works)
    }
    shares, common_words = {}, {}
    direct: list[dict[str, _Direct]] = []
    for i, work in enumerate(works):
        others = sorted({*near[i], *nearest[i]}, key=lambda j: works[j].id)
        beside = lay_beside(
            read[i],
            [works[j] for j in others],
            options,
            shingle_words=SHINGLE_WORDS,
            read=[read[j] for j in others],
        )
        for other, j in zip(beside, others, strict=True):
            other.near = len(nearest[i]) - nearest[i].index(j) if j in nearest[i] else 0
        mask = counted.get(work.id) if counted else None
        found = explain(work.text, read[i], beside, counted=mask, thesaurus=thesaurus).sources
        size = len(read[i].hashes)
        masks = {one.id: _cover(one.fragments, size) for one in found}
        shared = _shared(masks, size, {one: families[by_id[one]] for one in masks}, len(works))
        whole = np.zeros(size, np.bool_)
        own: dict[str, _Direct] = {}
        for one in found:
            words = masks[one.id] & ~shared & ~_from_common(taken_from, work.id, one.id, size)
            if mask is not None:
                words &= mask
            count = int(words.sum())
            if count >= LEAST_WORDS:
                whole |= words
            touched = tuple(f for f in one.fragments if _touches(f, words)) if count >= LEAST_WORDS else ()
            own[one.id] = _Direct(count, int(masks[one.id].sum()), touched)
        direct.append(own)
        shares[work.id] = float(whole.sum() / max(1, size))
        common_words[work.id] = int(shared.sum())
        if on_step is not None:
            on_step(i + 1, len(works))
    moments = _moments(works)
    pairs = []
    for i, work in enumerate(works):
        size = max(1, len(read[i].hashes))
        for id, part in direct[i].items():
            if part.words < LEAST_WORDS:
                continue
            j = by_id[id]
            share, all_of_it = part.words / size, max(1, len(read[j].hashes))
            back = direct[j][work.id].words / all_of_it if work.id in direct[j] else 0.0
            pairs.append(
                Taken(
                    work.id,
                    id,
                    share,
                    part.words,
                    (part.covered - part.words) / size,
                    _direction(moments[i], moments[j], share, back),
                    part.fragments,
                )
            )
    pairs.sort(key=lambda one: (-one.share, one.a, one.b))
    return Among(
        tuple(pairs),
        shares,
        _clusters([work.id for work in works], pairs),
        _common(works, sources or {}),
        common_words,
    )


class _Direct(NamedTuple):
    """What one work has from another by copying: *words* of the *covered* ones, and where they are."""

    words: int
    covered: int
    fragments: tuple[Fragment, ...]


def _versions(works: Sequence[Document], same: Callable[[str, str], bool] | None) -> list[set[int]]:
    """Of each work the others that are versions of it. Every two works are asked about once."""
    found: list[set[int]] = [set() for _ in works]
    if same is None:
        alike: dict[str, set[int]] = {}
        names = [bare_name(work.id) for work in works]
        for i, name in enumerate(names):
            alike.setdefault(name, set()).add(i)
        return [alike[name] - {i} for i, name in enumerate(names)]
    for i, work in enumerate(works):
        for j in range(i):
            if same(works[j].id, work.id):
                found[i].add(j)
                found[j].add(i)
    return found


def _families(works: Sequence[Document], versions: Sequence[set[int]]) -> list[int]:
    """The number of the family of each work. All works of a family are versions of one another: where it is not known
    whose work one is, it may be a version of two that are not versions of each other."""
    number = [-1] * len(works)
    members: list[set[int]] = []
    for i in sorted(range(len(works)), key=lambda i: works[i].id):
        near = sorted({number[j] for j in versions[i] if number[j] >= 0})
        number[i] = next((family for family in near if members[family] <= versions[i]), len(members))
        if number[i] == len(members):
            members.append(set())
        members[number[i]].add(i)
    return number


def _near(
    works: Sequence[Document], read: Sequence[TokenBatch], versions: Sequence[set[int]]
) -> list[list[int]]:
    """Of each work the others that share a key with it, in the order of their ids."""
    filed: dict[int, list[int]] = {}
    keys = []
    for i, words in enumerate(read):
        for key in make_keys([works[i].text], words).values.tolist():
            filed.setdefault(key, []).append(i)
        every = len(words.hashes) <= EVERY_KEY_UP_TO
        keys.append(make_keys([works[i].text], words, every=every).values.tolist())
    found: list[set[int]] = [set() for _ in works]
    for i, own in enumerate(keys):
        for key in own:
            for j in filed.get(key, ()):
                if j != i:
                    found[i].add(j)
                    found[j].add(i)
    return [sorted(some - versions[i], key=lambda j: works[j].id) for i, some in enumerate(found)]


def _nearest(
    works: Sequence[Document], read: Sequence[TokenBatch], versions: Sequence[set[int]]
) -> list[list[int]]:
    """Of each work the others that telling stems lead to, the nearest first: they may be reworded."""
    if not works:
        return []
    content = [LEXICAL_CANON.of(words) for words in read]
    batch = TokenBatch.joined(content)
    out = []
    for i, own in enumerate(content):
        windows = read_windows(own)
        passed = versions[i] | {i}
        best: dict[int, float] = {}
        # The versions of a work are nearest to it and take no places of others.
        for _, j, score in zip(
            *(column.tolist() for column in near_documents(windows, batch, BEST + len(passed))), strict=True
        ):
            if j not in passed:
                best[j] = max(score, best.get(j, 0.0))
        out.append(sorted(best, key=lambda j: (-best[j], works[j].id))[: windows.most])
    return out


def _cover(fragments: Iterable[Fragment], words: int) -> Mask:
    mask = np.zeros(words, np.bool_)
    for one in fragments:
        if one.a_words is not None:
            mask[one.a_words.start : one.a_words.end] = True
    return mask


def _shared(own: Mapping[str, Mask], words: int, families: Mapping[str, int], works: int) -> Mask:
    """Words that so many works have that nobody can have taken them from somebody. Versions of one work are one."""
    counts = np.ones(words, np.int64)
    together: dict[int, Mask] = {}
    for id, mask in own.items():
        family = families[id]
        together[family] = together[family] | mask if family in together else mask
    for mask in together.values():
        counts += mask
    return counts >= max(COMMON_LEAST, int(np.ceil(COMMON_SHARE * works)))


def _from_common(taken: Mapping[str, Mapping[str, Mask]], a: str, b: str, words: int) -> Mask:
    """Words of *a* that come from a document of a library from which *b* took as well."""
    mask = np.zeros(words, np.bool_)
    for source, own in taken.get(a, {}).items():
        if source in taken.get(b, {}):
            mask |= own
    return mask


def _touches(fragment: Fragment, mask: Mask) -> bool:
    return fragment.a_words is None or bool(mask[fragment.a_words.start : fragment.a_words.end].any())


def _moments(works: Sequence[Document]) -> list[float | None]:
    """When each work was written; None where no time is given or where it cannot be read."""
    number = all_numbers(work.time for work in works)
    return [read_time(work.time, number=number) for work in works]


def _direction(a: float | None, b: float | None, share: float, back: float) -> str:
    if a is not None and b is not None and a != b:
        return "earlier" if b < a else "later"
    if share >= CONTAINED and share >= CONTAINED_RATIO * back:
        return "contained"
    if back >= CONTAINED and back >= CONTAINED_RATIO * share:
        return "contains"
    return "unknown"


def _clusters(ids: Sequence[str], pairs: Sequence[Taken]) -> tuple[tuple[str, ...], ...]:
    root = {id: id for id in ids}

    def find(id: str) -> str:
        while root[id] != id:
            root[id] = root[root[id]]
            id = root[id]
        return id

    for one in pairs:
        if one.share >= LINKED_SHARE or one.words >= LINKED_WORDS:
            root[find(one.a)] = find(one.b)
    groups: dict[str, list[str]] = {}
    for id in ids:
        groups.setdefault(find(id), []).append(id)
    found = [tuple(sorted(some)) for some in groups.values() if len(some) > 1]
    return tuple(sorted(found, key=lambda some: (-len(some), some)))


def _common(
    works: Sequence[Document], sources: Mapping[str, Sequence[SourceMatch]]
) -> tuple[CommonSource, ...]:
    users: dict[tuple[str, str], list[str]] = {}
    titles: dict[tuple[str, str], str] = {}
    for work in works:
        for one in sources.get(work.id, ()):
            users.setdefault((one.library, one.id), []).append(work.id)
            titles[one.library, one.id] = one.title
    found = [
        CommonSource(id, titles[library, id], library, tuple(sorted(some)))
        for (library, id), some in users.items()
        if len(some) > 1
    ]
    return tuple(sorted(found, key=lambda one: (-len(one.works), one.library, one.id)))
