"""A check as one offline HTML page: the document on the left, its sources on the right, each passage in both.

`check_page` draws the values of `check_view`. Python cuts the texts, so places stay in characters and nothing has to be
converted for JavaScript. Without JavaScript a passage is a link to its place in the source, which the style sheet then
shows; the script adds filters, keys and the choice among sources of the same words. A fragment has the same id here, in
the JSON and in the address bar. Nothing is loaded from outside: a content policy in the page forbids it.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable, Mapping, Sequence
from importlib import resources

from doublet.model import Check
from doublet.reports.check_view import (
    Alarm,
    CheckView,
    Passage,
    ShownSource,
    SideBySide,
    Stretch,
    ViewPiece,
    source_pieces,
    view_check,
)
from doublet.reports.page import escape, shell
from doublet.reports.wording import Wording, wording

SHOWN_PASSAGE = 4_000  #: characters of a passage in the list at the end
SHOWN_CHIPS = 12  #: passages of a source that are listed with it


def check_page(
    result: Check,
    text: str,
    sources: Mapping[str, str | Sequence[tuple[int, str]]] | None = None,
    *,
    name: str = "",
    language: str = "en",
    author: str = "",
    reviewer: str = "",
    work_title: str = "",
    limit: float | None = None,
    paper: str = "A4",
) -> str:
    """The whole page. *text* is the checked one; *sources* has the texts of sources (by id) that do not carry theirs,
    whole or as excerpts with the places where they begin.

    *name* is what the file is called and *work_title* the work in it, *author* wrote it and *reviewer* checks it;
    *limit* is the share that was allowed; *paper* is the size of printed pages ("A4" or "letter"); *language* is "en" or "ru". Raises `InvalidParameter` for another language.
    """
    words = wording(language)
    view = view_check(result, text, sources, name=name, words=words)
    title = words("check_title", name=work_title or view.name)
    body = f"""<a class="skip" href="#document">{escape(words("check_skip"))}</a>
{_summary(view, title, _about(view, author, reviewer, work_title, limit))}
<main>
<div class="panes">
<section class="document" id="document" tabindex="-1" aria-labelledby="document-title">
<h2 id="document-title">{escape(words("check_text"))}</h2>
{_steps(view)}
<div class="text" dir="auto">{_document(view)}</div>
</section>
{_side(view)}
</div>
{_passages(view)}
{_possible(view)}
</main>
<footer>{escape(words("check_made"))}</footer>
<div id="live" class="vh" role="status" aria-live="polite" data-filtered="{escape(words("check_filtered"))}"></div>"""
    return shell(
        title,
        body,
        language=language,
        style=f"{_asset('check.css')}@page{{size:{escape(paper)}}}",
        script=_asset("check.js"),
    )


@functools.cache
def _asset(name: str) -> str:
    return resources.files("doublet.reports").joinpath("assets", name).read_text(encoding="utf-8")


def _listed(rows: Iterable[str], tag: str = "ul") -> str:
    """Rows of HTML as a list."""
    return f"<{tag}>{''.join(f'<li>{row}</li>' for row in rows)}</{tag}>"


# The first part: what was checked, what came out, what to look at


def _about(view: CheckView, author: str, reviewer: str, title: str, limit: float | None) -> str:
    """Who wrote it, who checks it, when and with what, and how much was allowed."""
    words, check = view.words, view.check
    over = limit is not None and check.share > limit
    kept = words("check_limit_over" if over else "check_limit_kept", limit=limit)
    rows = [
        (words("check_file"), view.name if title and title != view.name else ""),
        (words("check_author"), author),
        (words("check_reviewer"), reviewer),
        (words("check_created"), words("check_created_at", date=check.created) if check.created else ""),
        (words("check_version"), f"Doublet {check.version}" if check.version else ""),
        (words("check_limit"), kept if limit is not None else ""),
    ]
    told = "".join(
        f"<div><dt>{escape(label)}</dt><dd><bdi>{escape(value)}</bdi></dd></div>"
        for label, value in rows
        if value
    )
    return f'<dl class="settings">{told}</dl>' if told else ""


def _summary(view: CheckView, title: str, about: str) -> str:
    words = view.words
    bar = "".join(
        f'<i class="c{one.colour}" style="width:{one.source.added * 100:.2f}%"></i>'
        for one in view.sources
        if one.source.added > 0
    )
    figures = "".join(
        f'<div class="figure {kind}"><dt>{escape(words.name("figure", kind))}</dt>'
        f"<dd>{escape(words.percent(share / 100))}</dd></div>"
        for kind, share in zip(("borrowed", "quoted", "original"), view.figures.percents(), strict=True)
    )
    return f"""<header class="top">
<h1>{escape(title)}</h1>
<p class="quiet">{escape(view.against)}</p>
{about}
<div class="facts">
<div class="share"><strong>{escape(words.percent(view.figures.borrowed))}</strong>
<span>{escape(words("check_share", words=view.check.words))}</span>
<span class="bar" aria-hidden="true">{bar}</span>
<dl class="figures">{figures}</dl></div>
<section aria-labelledby="first-title"><h2 id="first-title">{escape(words("check_first"))}</h2>{_first(view)}</section>
<section aria-labelledby="failed-title"><h2 id="failed-title">{escape(words("check_failed"))}</h2>{_failed(view)}{_left_out(view)}</section>
</div>
{_settings(view)}
</header>"""


def _first(view: CheckView) -> str:
    items = []
    for one in view.first:
        told = escape(one.text)
        if one.alarms:
            items.append(f'<span class="alarm">{told}</span>{_places(one.alarms)}')
        elif one.fragment:
            items.append(f'<a href="#{escape(one.fragment)}">{told}</a>')
        else:
            items.append(f'<a href="#possible-title">{told}</a>' if one.possible else told)
    none = "" if view.sources else f"<p>{escape(view.words('check_none'))}</p>"
    return none + (_listed(items, "ol") if items else "")


def _places(alarms: Iterable[Alarm]) -> str:
    """The first words of each kind, as links to the first place."""
    rows = [
        f'<a href="#alarm-{escape(one.kind)}">{", ".join(f"<bdi>{escape(word)}</bdi>" for word in one.shown)}</a>'
        for one in alarms
        if one.shown
    ]
    return f'<br><span class="quiet">{"; ".join(rows)}</span>' if rows else ""


def _failed(view: CheckView) -> str:
    words = view.words
    notes = "".join(f"<p>{escape(note)}</p>" for note in view.notes)
    if not view.failed:
        return f"<p>{escape(words('check_failed_none'))}</p>{notes}"
    rows = [f"<bdi>{escape(one.name)}</bdi>: {escape(one.why)}" for one in view.failures]
    if view.failed > len(view.failures):
        rows.append(escape(words("check_more", number=view.failed - len(view.failures))))
    told = escape(words("check_failed_count", documents=view.failed))
    return f'<p class="alarm">{told}</p>{_listed(rows)}{notes}'


def _left_out(view: CheckView) -> str:
    if not view.left_out:
        return ""
    return f"<h2>{escape(view.words('check_left_out'))}</h2>{_listed(map(escape, view.left_out))}"


def _settings(view: CheckView) -> str:
    rows = "".join(
        f"<div><dt>{escape(one.name)}</dt><dd>{escape(one.value)}</dd></div>" for one in view.settings
    )
    return (
        f'<details class="set"><summary>{escape(view.words("check_settings"))}</summary>'
        f'<dl class="settings">{rows}</dl></details>'
    )


def _steps(view: CheckView) -> str:
    words = view.words
    if not view.passages:
        return ""
    return f"""<div class="slim"><b>{escape(words.percent(view.figures.borrowed))}</b><bdi>{escape(view.name)}</bdi>
<span class="steps jsonly"><button type="button" data-do="previous" aria-keyshortcuts="p">{escape(words("check_previous"))}</button>
<button type="button" data-do="next" aria-keyshortcuts="n">{escape(words("check_next"))}</button>
</span></div>
<p class="quiet keys jsonly">{escape(words("check_keys"))}</p>
<p class="quiet nojs">{escape(words("check_nojs"))}</p>"""


# The texts


def _document(view: CheckView) -> str:
    out: list[str] = []
    for piece in view.pieces():
        out += [f'<span class="at" id="alarm-{escape(kind)}"></span>' for kind in piece.alarms]
        out += [
            f'<span class="why">{escape(view.words("check_left_out_tag", reason=reason))}</span>'
            for reason in piece.reasons
        ]
        out += [_hidden(text, view.words) for text in piece.hidden]
        out.append(_piece(piece, view.words))
    return "".join(out)


def _hidden(text: str, words: Wording) -> str:
    """What the document hides here, to be unfolded."""
    label = words("check_hidden_here", words=len(text.split()))
    return (
        f'<details class="hid"><summary>{escape(label)}</summary><bdi>{escape(text)}</bdi></details>'
        if text
        else ""
    )


def _piece(piece: ViewPiece, words: Wording) -> str:
    inside = escape(piece.text)
    if piece.disguised:
        kinds = ", ".join(words.name("disguise", kind) for kind in piece.disguised)
        inside = f'<span class="ds" title="{escape(kinds)}">{inside}</span>'
    grey = " lo" if piece.left_out else ""
    owner = piece.owner
    if owner is None:
        return f'<span class="lo">{inside}</span>' if grey else inside
    others = [one for one in piece.passages if one.number != owner.number]
    label = owner.label
    if others:
        numbers = dict.fromkeys(f"[{one.number}]" for one in others)
        label += "; " + words("check_also", sources=" ".join(numbers))
    hidden = " hidden" if piece.joined else ""
    return (
        f'<a class="f c{owner.colour} k-{escape(owner.fragment.kind)}{grey}" href="#{escape(owner.id)}" '
        f'data-f="{escape(" ".join(one.id for one in piece.passages))}" title="{escape(label)}"'
        f"{' tabindex=-1' if piece.joined else ''}>"
        f'<span class="n"{hidden}>{owner.number}<span class="vh"> {escape(label)}: </span></span>{inside}</a>'
    )


def _source_text(source: ShownSource, words: Wording) -> str:
    """A source with its passages; of a long one only what stands around them."""
    starts: dict[int, list[str]] = {}
    for one in source.passages:
        starts.setdefault(one.fragment.b.start, []).append(one.id)
    out: list[str] = []
    at = 0
    for excerpt in source.excerpts:
        out += _gap(excerpt.start - at, words)
        for start, text, passages in source_pieces(source, excerpt):
            out += [_anchor(one) for one in starts.pop(start, ())]
            inside = escape(text)
            if passages:
                first = passages[0]
                ids = escape(" ".join(one.id for one in passages))
                kind = escape(first.fragment.kind)
                inside = f'<span class="f c{first.colour} k-{kind}" data-f="{ids}">{inside}</span>'
            out.append(inside)
        at = excerpt.start + len(excerpt.text)
    if source.length is not None:
        out += _gap(source.length - at, words)
    out += [_anchor(one) for ids in starts.values() for one in ids]
    if not source.excerpts:
        out.append(_quiet(words("check_no_text")))
    return "".join(out)


def _anchor(fragment: str) -> str:
    return f'<span class="at" id="{escape(fragment)}"></span>'


def _quiet(text: str) -> str:
    return f'<span class="quiet">{escape(text)}</span>'


def _gap(characters: int, words: Wording) -> list[str]:
    if characters <= 0:
        return []
    return [f'<span class="gap">{escape(words("check_gap", characters=characters))}</span>']


# The side: sources, filters, and the text of the chosen one


def _side(view: CheckView) -> str:
    words = view.words
    rows = "".join(_source(source, words) for source in view.sources if not source.folded)
    folded = [source for source in view.sources if source.folded]
    if folded:
        told = escape(words("check_folded", sources=len(folded)))
        inside = "".join(_source(source, words) for source in folded)
        rows += f'<li><details class="folded"><summary>{told}</summary><ol>{inside}</ol></details></li>'
    listed = f"<ol>{rows}</ol>" if rows else f"<p>{escape(words('check_none'))}</p>"
    kinds = list(dict.fromkeys(one.fragment.kind for one in view.passages))
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
    beside = "".join(_beside(source, words) for source in view.sources if source.passages)
    return f"""<aside aria-labelledby="sources-title">
<div class="sources" tabindex="0" role="region" aria-labelledby="sources-title">
<h2 id="sources-title">{escape(words("check_sources"))} ({len(view.sources)})</h2>
{filters}
{listed}
</div>
<div class="beside" role="region" aria-label="{escape(words("check_beside"))}">{beside}</div>
</aside>"""


def _source(source: ShownSource, words: Wording) -> str:
    number, colour = source.number, f"c{source.colour}"
    box = (
        f'<input class="jsonly i" type="checkbox" name="source" id="source-{number}" value="{number}" checked '
        f'aria-label="{escape(words("check_show_source", number=number))}">'
        if source.passages
        else ""
    )
    chips = "".join(
        f'<a class="{colour} k-{escape(one.fragment.kind)}" data-id="{escape(one.id)}" href="#{escape(one.id)}">'
        f"{escape(words.name('fragment', one.fragment.kind))}, {escape(words.count(one.fragment.words, 'word'))}</a>"
        for one in source.passages[:SHOWN_CHIPS]
    )
    if len(source.passages) > SHOWN_CHIPS:
        chips += _quiet(words("check_more_passages", number=len(source.passages) - SHOWN_CHIPS))
    known = f'<p class="sub"><bdi>{escape(source.known)}</bdi></p>' if source.known else ""
    return f"""<li class="source {colour}" data-number="{number}">
<div class="head">{box}<span class="n">{number}</span><label for="source-{number}"><bdi>{escape(source.title)}</bdi></label><b>{escape(words.percent(source.share))}</b></div>
{known}<p class="sub">{escape(source.about)}</p>
<div class="chips">{chips}</div></li>"""


def _beside(source: ShownSource, words: Wording) -> str:
    return f"""<article class="c{source.colour}" data-source="{source.number}" aria-label="{escape(words("check_source", number=source.number))}">
<header><span class="n">{source.number}</span><h3><bdi>{escape(source.title)}</bdi></h3><button type="button" class="jsonly i" data-do="close">{escape(words("check_close"))}</button></header>
<div class="text" dir="auto" tabindex="0">{_source_text(source, words)}</div></article>
"""


# All passages side by side: for print, for readers of tables, and where the script reads the fragments from


def _passages(view: CheckView) -> str:
    if not view.passages:
        return ""
    rows = []
    counted = 0
    for one in view.passages:
        a = one.fragment.a
        data = (
            f'data-id="{escape(one.id)}" data-source="{one.number}" data-colour="{one.colour}" data-from="{a.start}" '
            f'data-to="{a.end}" data-kind="{escape(one.fragment.kind)}" data-label="{escape(one.label)}"'
        )
        if one.left_out:  # the text shows it in grey, with the reason; the script needs it for its colours
            rows.append(f'<i class="pair left" {data}></i>')
            continue
        counted += 1
        head = f'<span class="n">{one.number}</span><a href="#{escape(one.id)}">{escape(one.label)}</a>'
        rows.append(f"""<article class="pair c{one.colour}" {data}>
{_two(view.beside(one, longest=SHOWN_PASSAGE), head, view.words)}</article>
""")
    return f"""<section class="passages" aria-labelledby="passages-title">
<h2 id="passages-title">{escape(view.words("check_passages"))} ({counted})</h2>
<p class="quiet">{escape(view.words("check_differ"))}</p>
{"".join(rows)}</section>"""


def _possible(view: CheckView) -> str:
    """Reworded places too short to be sure of: apart from the passages, because they are in no share."""
    rows = [
        f"""<article class="perhaps" id="{escape(one.id)}">
{_two(view.beside(one, longest=SHOWN_PASSAGE), escape(one.label), view.words)}</article>
"""
        for one in view.possible
    ]
    if not rows:
        return ""
    return f"""<section class="passages" aria-labelledby="possible-title">
<h2 id="possible-title">{escape(view.words("check_possible"))} ({len(rows)})</h2>
<p class="quiet">{escape(view.words("check_possible_about"))}</p>
{"".join(rows)}</section>"""


def _two(both: SideBySide, head: str, words: Wording) -> str:
    one: Passage = both.passage
    title = escape(one.source.title or one.source.id)
    more = " …" if both.cut else ""
    there = stretches(both.there, "del") + more if both.there else _quiet(words("check_no_text"))
    return f"""<h3>{head} <span class="quiet">· {escape(both.equal)} · <bdi>{title}</bdi> · {escape(one.id)}</span></h3>
<div class="two"><div><h4>{escape(words("check_passage_here"))}</h4><div class="text" dir="auto">{stretches(both.here, "ins")}{more}</div></div>
<div><h4>{escape(words("check_passage_there"))}</h4><div class="text" dir="auto">{there}</div></div></div>"""


def stretches(some: Iterable[Stretch], tag: str) -> str:
    """A passage as HTML, the words that differ inside elements *tag*."""
    return "".join(f"<{tag}>{escape(text)}</{tag}>" if differs else escape(text) for text, differs in some)
