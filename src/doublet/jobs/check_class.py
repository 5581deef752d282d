"""Check a whole class (K8): every work against libraries or documents, then the works among themselves.

`check_class` does all of it; `compare_works` is the second half, for those who keep their checks themselves (the
service). A work is never compared with itself or with another version of itself, and one that cannot be read stops
nobody. Explained in docs/explanation/classes.md.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from doublet.jobs.check_many import CheckedDocument, Checker, check_many
from doublet.jobs.read import FileContent, GivenText
from doublet.matches.among import Among, among, bare_name, telling_names, works_as_sources
from doublet.matches.figures import figures
from doublet.matches.left_out import words_of
from doublet.matches.rescore import with_sources
from doublet.model import Check, Document, Outcome
from doublet.progress import Progress
from doublet.reports.class_view import ClassRow
from doublet.signatures.thesaurus import find_thesaurus
from doublet.sources.works import WorkFile, same_author


@dataclass(frozen=True, slots=True)
class CheckedWork:
    """A work with its check, or with the *outcome* that says why there is none.

    *alone* is the check against libraries or documents; *check* also has the other works as sources.
    """

    work: WorkFile
    text: str = ""
    alone: Check | None = None
    check: Check | None = None
    outcome: Outcome | None = None
    title: str = ""  #: what the document calls itself, if it does

    @property
    def name(self) -> str:
        return self.work.name


@dataclass(frozen=True, slots=True)
class CheckedClass:
    """All works in the order in which they were given, and who took from whom."""

    works: tuple[CheckedWork, ...]
    among: Among

    @property
    def checked(self) -> tuple[CheckedWork, ...]:
        return tuple(one for one in self.works if one.check is not None)


def leave_out_of_class(kinds: Iterable[str]) -> list[str]:
    """What does not count in the checks of a class: a work is never checked against its own earlier version."""
    return list(dict.fromkeys([*kinds, "own"]))


def check_class(
    works: Sequence[WorkFile],
    checker: Checker,
    *,
    ocr: bool = False,
    whole_page: bool = False,
    on_read: Callable[[str, GivenText], None] | None = None,
    on_work: Callable[[CheckedDocument], None] | None = None,
    progress: Progress | None = None,
) -> CheckedClass:
    """Check *works* (`sources.works.list_works`) with *checker* and among themselves. *on_work* is told of each check
    against the libraries as it is done. What has to do with the checking itself is raised."""
    progress = progress or Progress()
    by_name = {one.name: one for one in works}
    telling = telling_names((one.title or one.name, one.author) for one in works)
    documents = [
        (one.name, one.path if one.path is not None else FileContent(one.title or one.name, one.data))
        for one in works
    ]

    def named(text: str, name: str) -> Check:
        # A name that several authors gave to their works does not tell whose earlier version a document is.
        return checker(text, name if bare_name(name) in telling else "")

    done: list[CheckedWork] = []
    for number, one in enumerate(
        check_many(documents, named, ocr=ocr, whole_page=whole_page, on_read=on_read), 1
    ):
        progress.step("works", number, len(works), "documents")
        if on_work is not None:
            on_work(one)
        check = replace(one.check, name=one.name) if one.check is not None else None
        done.append(CheckedWork(by_name[one.name], one.text, check, check, one.outcome, one.title))
    found = compare_works(
        [one.work for one in done if one.alone is not None],
        {one.name: one.text for one in done},
        {one.name: one.alone for one in done if one.alone is not None},
        on_step=lambda step, total: progress.step("among", step, total, "documents"),
    )
    texts = {one.name: one for one in done}
    return CheckedClass(tuple(with_works(one, texts, found) for one in done), found)


def compare_works(
    works: Sequence[WorkFile],
    texts: Mapping[str, str],
    checks: Mapping[str, Check],
    *,
    on_step: Callable[[int, int], None] | None = None,
) -> Among:
    """Who took from whom among *works*, which were checked before, with the same thesaurus. *texts* and *checks* are
    by name."""
    by_name = {one.name: (bare_name(one.title or one.name), one) for one in works}

    def same(a: str, b: str) -> bool:
        (first, one), (second, other) = by_name[a], by_name[b]
        return first == second and same_author(one, other)

    counted = {
        name: ~words_of(
            (span for one in check.left_out if one.kind != "own" for span in one.ranges), check.words
        )
        for name, check in checks.items()
        if any(one.kind != "own" and one.ranges for one in check.left_out)
    }
    asked = next((str(check.parameters.get("thesaurus", "")) for check in checks.values()), "")
    return among(
        [Document(one.name, texts[one.name], one.title, one.time) for one in works],
        sources={name: check.sources for name, check in checks.items()},
        counted=counted,
        same=same,
        thesaurus=find_thesaurus(asked),
        on_step=on_step,
    )


def class_rows(found: CheckedClass, reports: Mapping[str, str]) -> list[ClassRow]:
    """A row for each work. *reports* has the files of reports, by the names of works."""
    rows = []
    for one in found.works:
        if one.check is None or one.alone is None:
            assert one.outcome is not None
            rows.append(ClassRow(one.name, one.work.author, one.outcome.state, reason=one.outcome.reason))
            continue
        top = max(one.check.sources, key=lambda source: source.share, default=None)
        rows.append(
            ClassRow(
                one.name,
                one.work.author,
                words=one.check.words,
                share=one.check.share,
                libraries=one.alone.share,
                works=found.among.shares.get(one.name, 0.0),
                figures=figures(one.check).percents(),
                alarms=tuple(dict.fromkeys(part.kind for part in one.check.disguise.findings if part.alarm)),
                top_source=(top.title or top.id) if top else "",
                top_share=top.share if top else 0.0,
                report=reports.get(one.name, ""),
            )
        )
    return rows


def with_works(work: CheckedWork, others: Mapping[str, CheckedWork], found: Among) -> CheckedWork:
    """The work with the works from which it has something among its sources."""
    if work.alone is None:
        return work
    documents = {
        name: Document(name, one.text, one.work.author or one.work.title, one.work.time)
        for name, one in others.items()
    }
    return replace(work, check=with_sources(work.alone, works_as_sources(found, work.name, documents)))
