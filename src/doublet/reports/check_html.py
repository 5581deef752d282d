"""A check as one offline HTML page: the document on the left, its sources on the right, each passage in both.

`check_page` makes the page. Python cuts the texts, so places stay in characters and nothing has to be converted for
JavaScript. Without JavaScript a passage is a link to its place in the source, which the style sheet then shows; the script
adds filters, keys and the choice among sources of the same words. A fragment has the same id here, in the JSON and in the
address bar. Nothing is loaded from outside: a content policy in the page forbids it.
"""

from __future__ import annotations

import functools
import itertools
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib import resources

from doublet.matches.among import CLASS
from doublet.model import DISGUISES_LEFT, FAILED_STATES, Check, Fragment, LeftOut, Note, SourceMatch, Span
from doublet.reports.page import escape, shell
from doublet.reports.wording import Wording, wording

COLOURS = 12  #: after them they come again; the number tells sources apart
WHOLE_SOURCE = 8_000  #: characters: a longer source is shown around its passages only
AROUND = 1_200  #: characters of a long source before and after a passage
SHOWN_PASSAGE = 4_000  #: characters of a passage in the list at the end
SHOWN_OUTCOMES = 20
SHOWN_CHIPS = 12  #: passages of a source that are listed with it


@dataclass(frozen=True, slots=True)
class _Shown:
    """A fragment with what the page says of it."""

    id: str
    number: int  #: of its source
    colour: int
    fragment: Fragment
    source: SourceMatch
    label: str


@dataclass(frozen=True, slots=True)
class _Piece:
    """A run of characters with the same fragments, in the order of their sources, and the same reasons."""

    start: int
    end: int
    fragments: tuple[_Shown, ...]
    left_out: tuple[int, ...]


def check_page(
    result: Check,
    text: str,
    sources: Mapping[str, str] | None = None,
    *,
    name: str = "",
    language: str = "en",
) -> str:
    """The whole page. *text* is the checked one; *sources* has the texts of sources (by id) that do not carry theirs.

    *name* is what the document is called; *language* is "en" or "ru". Raises `InvalidParameter` for another language.
    """
    words = wording(language)
    name = name or result.name or words("check_document")
    shown = _fragments(result, words)
    named = (*result.sources, *result.possible_sources)
    texts = [source.text or (sources or {}).get(source.id, "") for source in named]
    title = words("check_title", name=name)
    body = f"""<a class="skip" href="#document">{escape(words("check_skip"))}</a>
{_summary(result, shown, escape(title), words)}
<main>
<div class="panes">
<section class="document" id="document" tabindex="-1" aria-labelledby="document-title">
<h2 id="document-title">{escape(words("check_text"))}</h2>
{_steps(shown, words)}
<div class="text" dir="auto">{_document(result, text, shown, words)}</div>
</section>
{_side(result, shown, texts[: len(result.sources)], words)}
</div>
{_passages(text, shown, texts, words)}
{_possible(result, text, texts, words)}
</main>
<footer>{escape(words("check_made"))}</footer>
<div id="live" class="vh" role="status" aria-live="polite" data-filtered="{escape(words("check_filtered"))}"></div>"""
    return shell(title, body, language=language, style=_asset("check.css"), script=_asset("check.js"))


@functools.cache
def _asset(name: str) -> str:
    return resources.files("doublet.reports").joinpath("assets", name).read_text(encoding="utf-8")


def _fragments(result: Check, words: Wording) -> list[_Shown]:
    """All fragments in the order of the document."""
    out = []
    for number, source in enumerate(result.sources, 1):
        for fragment in source.fragments:
            label = words(
                "check_passage",
                number=number,
                kind=fragment.kind,
                words=fragment.words,
            )
            out.append(_Shown(fragment.id, number, (number - 1) % COLOURS + 1, fragment, source, label))
    return sorted(out, key=lambda one: (one.fragment.a, one.number, one.id))


# The first part: what was checked, what came out, what to look at


def _summary(result: Check, shown: Sequence[_Shown], title: str, words: Wording) -> str:
    told = words("check_against", documents=result.documents, libraries=result.libraries)
    bar = "".join(
        f'<i class="c{(number - 1) % COLOURS + 1}" style="width:{source.added * 100:.2f}%"></i>'
        for number, source in enumerate(result.sources, 1)
        if source.added > 0
    )
    share = f"""<div class="share"><strong>{escape(words.percent(result.share))}</strong>
<span>{escape(words("check_share", words=result.words))}</span>
<span class="bar" aria-hidden="true">{bar}</span></div>"""
    return f"""<header class="top">
<h1>{title}</h1>
<p class="quiet">{escape(told)}</p>
<div class="facts">
{share}
<section aria-labelledby="first-title"><h2 id="first-title">{escape(words("check_first"))}</h2>{_first(result, shown, words)}</section>
<section aria-labelledby="failed-title"><h2 id="failed-title">{escape(words("check_failed"))}</h2>{_failed(result, words)}{_left_out(result, words)}</section>
</div>
{_settings(result, words)}
</header>"""


def _first(result: Check, shown: Sequence[_Shown], words: Wording) -> str:
    items = []
    if result.disguise.alarm:
        alarms = [one.kind for one in result.disguise.findings if one.alarm]
        for text, kinds in (
            ("check_first_disguise", [kind for kind in alarms if kind not in DISGUISES_LEFT]),
            ("check_first_left", [kind for kind in alarms if kind in DISGUISES_LEFT]),
        ):
            if kinds:
                items.append(f'<span class="alarm">{escape(words(text, kinds=kinds))}</span>')
    for number, source in enumerate(result.sources[:2], 1):
        told = escape(
            words(
                "check_first_source",
                number=number,
                title=source.title or source.id,
                share=source.share,
            )
        )
        link = source.fragments[0].id if source.fragments else ""
        items.append(f'<a href="#{escape(link)}">{told}</a>' if link else told)
    if shown:
        longest = max(shown, key=lambda one: one.fragment.words)
        told = words(
            "check_first_passage",
            words=longest.fragment.words,
            kind=longest.fragment.kind,
        )
        items.append(f'<a href="#{escape(longest.id)}">{escape(told)}</a>')
    weak = sum(len(source.possible) for source in (*result.sources, *result.possible_sources))
    if weak:
        told = words("check_first_possible", places=weak)
        items.append(f'<a href="#possible-title">{escape(told)}</a>')
    if not items:
        return f"<p>{escape(words('check_none'))}</p>"
    listed = "".join(f"<li>{item}</li>" for item in items)
    none = "" if result.sources else f"<p>{escape(words('check_none'))}</p>"
    return f"{none}<ol>{listed}</ol>"


def _failed(result: Check, words: Wording) -> str:
    failed = [one for one in result.outcomes if one.state in FAILED_STATES]
    notes = "".join(f"<p>{escape(words.say(note))}</p>" for note in result.notes)
    if not failed:
        return f"<p>{escape(words('check_failed_none'))}</p>{notes}"
    rows = "".join(
        f"<li><bdi>{escape(one.place or one.id)}</bdi>: {escape(words.say(one.reason))}</li>"
        for one in failed[:SHOWN_OUTCOMES]
    )
    if len(failed) > SHOWN_OUTCOMES:
        rows += f"<li>{escape(words('check_more', number=len(failed) - SHOWN_OUTCOMES))}</li>"
    told = escape(words("check_failed_count", documents=len(failed)))
    return f'<p class="alarm">{told}</p><ul>{rows}</ul>{notes}'


def _left_out(result: Check, words: Wording) -> str:
    if not result.left_out:
        return ""
    rows = []
    for one in result.left_out:
        if not one.words:
            rows.append(f"<li>{escape(words.capital(words('check_left_out_none', kind=one.kind)))}</li>")
            continue
        told = words(
            "check_left_out_row",
            kind=one.kind,
            words=one.words,
            share=one.share_with,
            documents=one.documents,
        )
        rows.append(f"<li>{escape(told)}</li>")
    if sum(one.words > 0 for one in result.left_out) > 1 and result.share_with_all is not None:
        rows.append(f"<li>{escape(words('check_left_out_all', share=result.share_with_all))}</li>")
    return f"<h2>{escape(words('check_left_out'))}</h2><ul>{''.join(rows)}</ul>"


def _settings(result: Check, words: Wording) -> str:
    rows = "".join(
        f"<div><dt>{escape(words.name('setting', key))}</dt><dd>{escape(words.value(value))}</dd></div>"
        for key, value in result.parameters.items()
    )
    return (
        f'<details class="set" open><summary>{escape(words("check_settings"))}</summary>'
        f'<dl class="settings">{rows}</dl></details>'
    )


def _steps(shown: Sequence[_Shown], words: Wording) -> str:
    if not shown:
        return ""
    return f"""<div class="steps jsonly">
<button type="button" data-do="previous" aria-keyshortcuts="p">{escape(words("check_previous"))}</button>
<button type="button" data-do="next" aria-keyshortcuts="n">{escape(words("check_next"))}</button>
<span class="quiet keys">{escape(words("check_keys"))}</span>
</div>
<p class="quiet nojs">{escape(words("check_nojs"))}</p>"""


# The texts, cut into pieces


def _pieces(
    length: int, spans: Iterable[tuple[Span, _Shown]], left_out: Sequence[LeftOut] = ()
) -> Iterator[_Piece]:
    """Runs of characters that have the same fragments and are left out for the same reasons, in order."""
    edges: dict[int, list[tuple[bool, _Shown | int]]] = {0: [], length: []}

    def mark(span: Span, what: _Shown | int) -> None:
        start, end = max(0, span.start), min(length, span.end)
        if start < end:
            edges.setdefault(start, []).append((True, what))
            edges.setdefault(end, []).append((False, what))

    for span, shown in spans:
        mark(span, shown)
    for row, one in enumerate(left_out):
        for span in one.spans:
            mark(span, row)
    open_fragments: dict[str, _Shown] = {}
    open_reasons: dict[int, int] = {}
    places = sorted(edges)
    for start, end in itertools.pairwise(places):
        for opens, what in edges[start]:
            if isinstance(what, int):
                open_reasons[what] = open_reasons.get(what, 0) + (1 if opens else -1)
            elif opens:
                open_fragments[what.id] = what
            else:
                open_fragments.pop(what.id, None)
        having = tuple(sorted(open_fragments.values(), key=lambda one: (one.number, one.fragment.a, one.id)))
        yield _Piece(start, end, having, tuple(sorted(row for row, many in open_reasons.items() if many > 0)))


def _document(result: Check, text: str, shown: Sequence[_Shown], words: Wording) -> str:
    out: list[str] = []
    before = ""
    greyed: set[int] = set()  # rows of what is left out that the piece before was grey for
    for piece in _pieces(len(text), [(one.fragment.a, one) for one in shown], result.left_out):
        # An own earlier version is left out as a source; its words count where another source has them.
        rows = [row for row in piece.left_out if not (piece.fragments and result.left_out[row].kind == "own")]
        tags = _reasons(result.left_out, rows, piece.start, greyed)
        greyed = set(rows)
        out += [
            f'<span class="why">{escape(words("check_left_out_tag", reason=reason))}</span>'
            for reason in tags
        ]
        if tags:
            before = ""
        inside = escape(text[piece.start : piece.end])
        grey = " lo" if rows else ""
        if not piece.fragments:
            out.append(f'<span class="lo">{inside}</span>' if grey else inside)
            before = ""
            continue
        owner = piece.fragments[0]
        others = [one for one in piece.fragments[1:] if one.number != owner.number]
        label = owner.label
        if others:
            numbers = dict.fromkeys(f"[{one.number}]" for one in others)
            label += "; " + words("check_also", sources=" ".join(numbers))
        joined = owner.id == before
        hidden = " hidden" if joined else ""
        out.append(
            f'<a class="f c{owner.colour} k-{escape(owner.fragment.kind)}{grey}" href="#{escape(owner.id)}" '
            f'data-f="{escape(" ".join(one.id for one in piece.fragments))}" title="{escape(label)}"'
            f"{' tabindex=-1' if joined else ''}>"
            f'<span class="n"{hidden}>{owner.number}<span class="vh"> {escape(label)}: </span></span>{inside}</a>'
        )
        before = owner.id
    return "".join(out)


def _reasons(left_out: Sequence[LeftOut], rows: Iterable[int], at: int, told: set[int]) -> list[Note]:
    """Why the words from *at* on are left out, where that has not been *told* of the words before them."""
    out = []
    for row in rows:
        for span, reason in zip(left_out[row].spans, left_out[row].reasons, strict=False):
            if span.start <= at < span.end and (row not in told or span.start == at):
                out.append(reason)
                break
    return out


def _source_text(text: str, shown: Sequence[_Shown], words: Wording) -> str:
    """A source with its passages; of a long one only what stands around them."""
    keep = [Span(0, len(text))]
    if len(text) > WHOLE_SOURCE:
        keep = _windows(text, [one.fragment.b for one in shown])
    starts: dict[int, list[str]] = {}
    for one in shown:
        starts.setdefault(min(one.fragment.b.start, len(text)), []).append(one.id)
    out: list[str] = []
    at = 0
    pieces = list(_pieces(len(text), [(one.fragment.b, one) for one in shown]))
    for window in keep:
        out += _gap(window.start - at, words)
        for piece in pieces:
            start, end = max(piece.start, window.start), min(piece.end, window.end)
            if start >= end:
                continue
            if start == piece.start:
                out += [f'<span class="at" id="{escape(one)}"></span>' for one in starts.pop(start, ())]
            inside = escape(text[start:end])
            if piece.fragments:
                first = piece.fragments[0]
                ids = escape(" ".join(one.id for one in piece.fragments))
                kind = escape(first.fragment.kind)
                inside = f'<span class="f c{first.colour} k-{kind}" data-f="{ids}">{inside}</span>'
            out.append(inside)
        at = window.end
    out += _gap(len(text) - at, words)
    out += [f'<span class="at" id="{escape(one)}"></span>' for ids in starts.values() for one in ids]
    return "".join(out)


def _gap(characters: int, words: Wording) -> list[str]:
    if characters <= 0:
        return []
    return [f'<span class="gap">{escape(words("check_gap", characters=characters))}</span>']


def _windows(text: str, spans: Iterable[Span]) -> list[Span]:
    """What to show of a long text: all *spans* with something around them, cut between words."""
    out: list[Span] = []
    for start, end in sorted(spans):
        first, last = max(0, start - AROUND), min(len(text), end + AROUND)
        space = text.find(" ", first, start)
        first = space + 1 if first and space >= 0 else first
        space = text.rfind(" ", end, last)
        last = space if last < len(text) and space >= 0 else last
        if out and first <= out[-1].end:
            out[-1] = Span(out[-1].start, max(last, out[-1].end))
        else:
            out.append(Span(first, last))
    return out or [Span(0, min(len(text), WHOLE_SOURCE))]


# The side: sources, filters, and the text of the chosen one


def _side(result: Check, shown: Sequence[_Shown], texts: Sequence[str], words: Wording) -> str:
    rows = [_source(number, source, words) for number, source in enumerate(result.sources, 1)]
    listed = f"<ol>{''.join(rows)}</ol>" if rows else f"<p>{escape(words('check_none'))}</p>"
    kinds = list(dict.fromkeys(one.fragment.kind for one in shown))
    boxes = "".join(
        f'<label><input type="checkbox" name="kind" value="{escape(kind)}" checked>'
        f'<span class="swatch k-{escape(kind)}">{escape(words.name("fragment", kind))}</span></label>'
        for kind in kinds
    )
    legend = " · ".join(
        f'<span class="swatch k-{escape(kind)}">{escape(words.name("fragment", kind))}</span>'
        for kind in kinds
    )
    filters = (
        f'<fieldset class="jsonly"><legend>{escape(words("check_kinds"))}</legend>{boxes}</fieldset>'
        f'<p class="nojs legend">{escape(words("check_legend"))}: {legend}</p>'
        if kinds
        else ""
    )
    beside = "".join(
        _beside(number, source, text, [one for one in shown if one.number == number], words)
        for number, (source, text) in enumerate(zip(result.sources, texts, strict=True), 1)
        if source.fragments
    )
    return f"""<aside aria-labelledby="sources-title">
<div class="sources" tabindex="0" role="region" aria-labelledby="sources-title">
<h2 id="sources-title">{escape(words("check_sources"))} ({len(result.sources)})</h2>
{filters}
{listed}
</div>
<div class="beside" role="region" aria-label="{escape(words("check_beside"))}">{beside}</div>
</aside>"""


def _when(time: str) -> str:
    """A time of a file to the minute; anything else as it was given."""
    return re.sub(r"^(\d{4}-\d\d-\d\d)T(\d\d:\d\d):[\d.]+(?:Z|\+00:00)$", r"\1 \2 UTC", time)


def _source(number: int, source: SourceMatch, words: Wording) -> str:
    colour = f"c{(number - 1) % COLOURS + 1}"
    box = (
        f'<input class="jsonly i" type="checkbox" name="source" id="source-{number}" value="{number}" checked '
        f'aria-label="{escape(words("check_show_source", number=number))}">'
        if source.fragments
        else ""
    )
    about = [words("check_like", resemblance=source.resemblance, containment=source.containment)]
    if abs(source.added - source.share) >= 0.0005:
        told = words("check_added", share=source.added) if source.added else words("check_added_none")
        about.insert(0, told)
    known = [source.id] if source.title else []
    if source.library == CLASS:
        known.append(words("class_library"))
    elif source.library:
        known.append(words("check_library", library=source.library))
    known += [one for one in (_when(source.time), source.address) if one]
    chips = "".join(
        f'<a class="{colour} k-{escape(one.kind)}" data-id="{escape(one.id)}" href="#{escape(one.id)}">'
        f"{escape(words.name('fragment', one.kind))}, {escape(words.count(one.words, 'word'))}</a>"
        for one in source.fragments[:SHOWN_CHIPS]
    )
    if len(source.fragments) > SHOWN_CHIPS:
        more = words("check_more_passages", number=len(source.fragments) - SHOWN_CHIPS)
        chips += f'<span class="quiet">{escape(more)}</span>'
    details = f'<p class="sub"><bdi>{escape(" · ".join(known))}</bdi></p>' if known else ""
    return f"""<li class="source {colour}" data-number="{number}">
<div class="head">{box}<span class="n">{number}</span><label for="source-{number}"><bdi>{escape(source.title or source.id)}</bdi></label><b>{escape(words.percent(source.share))}</b></div>
{details}<p class="sub">{escape("; ".join(about))}</p>
<div class="chips">{chips}</div></li>"""


def _beside(number: int, source: SourceMatch, text: str, shown: Sequence[_Shown], words: Wording) -> str:
    colour = f"c{(number - 1) % COLOURS + 1}"
    if text:
        inside = _source_text(text, shown, words)
    else:
        anchors = "".join(f'<span class="at" id="{escape(one.id)}"></span>' for one in shown)
        inside = f'{anchors}<span class="quiet">{escape(words("check_no_text"))}</span>'
    title = escape(source.title or source.id)
    return f"""<article class="{colour}" data-source="{number}" aria-label="{escape(words("check_source", number=number))}">
<header><span class="n">{number}</span><h3><bdi>{title}</bdi></h3><button type="button" class="jsonly i" data-do="close">{escape(words("check_close"))}</button></header>
<div class="text" dir="auto" tabindex="0">{inside}</div></article>
"""


def _passages(text: str, shown: Sequence[_Shown], texts: Sequence[str], words: Wording) -> str:
    """All passages side by side: for print, for readers of tables, and where the script reads the fragments from."""
    if not shown:
        return ""
    rows = []
    for one in shown:
        fragment = one.fragment
        other = texts[one.number - 1]
        there = (
            _cut(other, fragment.b)
            if other
            else f'<span class="quiet">{escape(words("check_no_text"))}</span>'
        )
        equal = words("check_equal", share=fragment.score)
        rows.append(f"""<article class="pair c{one.colour}" data-id="{escape(one.id)}" data-source="{one.number}" data-colour="{one.colour}" data-kind="{escape(fragment.kind)}" data-label="{escape(one.label)}">
<h3><span class="n">{one.number}</span><a href="#{escape(one.id)}">{escape(one.label)}</a> <span class="quiet">· {escape(equal)} · <bdi>{escape(one.source.title or one.source.id)}</bdi> · {escape(one.id)}</span></h3>
<div class="two"><div><h4>{escape(words("check_passage_here"))}</h4><div class="text" dir="auto">{_cut(text, fragment.a)}</div></div>
<div><h4>{escape(words("check_passage_there"))}</h4><div class="text" dir="auto">{there}</div></div></div></article>
""")
    return f"""<section class="passages" aria-labelledby="passages-title">
<h2 id="passages-title">{escape(words("check_passages"))} ({len(shown)})</h2>
{"".join(rows)}</section>"""


def _possible(result: Check, text: str, texts: Sequence[str], words: Wording) -> str:
    """Reworded places too short to be sure of: apart from the passages, because they are in no share."""
    rows = []
    named = [words("check_source", number=number) for number in range(1, len(result.sources) + 1)]
    named += [words("check_possible_only")] * len(result.possible_sources)
    for head, source, other in zip(named, (*result.sources, *result.possible_sources), texts, strict=True):
        for one in source.possible:
            there = (
                _cut(other, one.b)
                if other
                else f'<span class="quiet">{escape(words("check_no_text"))}</span>'
            )
            equal = words("check_equal", share=one.score)
            rows.append(f"""<article class="perhaps" id="{escape(one.id)}">
<h3>{escape(head)} <span class="quiet">· {escape(equal)} · <bdi>{escape(source.title or source.id)}</bdi> · {escape(one.id)}</span></h3>
<div class="two"><div><h4>{escape(words("check_passage_here"))}</h4><div class="text" dir="auto">{_cut(text, one.a)}</div></div>
<div><h4>{escape(words("check_passage_there"))}</h4><div class="text" dir="auto">{there}</div></div></div></article>
""")
    if not rows:
        return ""
    return f"""<section class="passages" aria-labelledby="possible-title">
<h2 id="possible-title">{escape(words("check_possible"))} ({len(rows)})</h2>
<p class="quiet">{escape(words("check_possible_about"))}</p>
{"".join(rows)}</section>"""


def _cut(text: str, span: Span) -> str:
    inside = text[span.start : min(span.end, span.start + SHOWN_PASSAGE)]
    return escape(inside) + (" …" if span.end - span.start > SHOWN_PASSAGE else "")
