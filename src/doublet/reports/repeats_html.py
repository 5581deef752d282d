"""Repeats as one offline HTML page: a heat map, the groups with their variants side by side, and a place to decide.

`repeats_page` makes the page. Its parts (`heat_map`, `group_card`, `STYLE`, `SCRIPT`) stand alone, so that another page
can take them. Nothing is loaded from outside. Decisions stay in the browser until they are exported as JSON.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence

from doublet.repeats.archetype import ArchetypePiece, archetype, fixed_words
from doublet.repeats.decisions import wordings
from doublet.repeats.model import DECISIONS, KINDS, RepeatFile, RepeatGroup, Repeats
from doublet.repeats.overlaps import count_places, shared_places
from doublet.reports.page import escape, shell
from doublet.reports.wording import Wording, wording

CELLS = 120  #: of the heat map of the longest file
SHOWN_FILES = 80
OPEN_FILES = 10  #: of them before a fold
SHOWN_VARIANTS = 8  #: different wordings side by side
SHOWN_PLACES = 40
SHOWN_SHARED = 5  #: groups with the same places
SHOWN_BEGIN = 120  #: characters of a group that is folded
SHOWN_CHARACTERS = 3000  #: of a variant
SHOWN_VALUE = 300  #: characters of what stands in a variable place
LONG_CHARACTERS = 600  #: of a variant that may have to be scrolled, also with the keyboard
_NEW_LINE = "\n"
FOLDED_FROM = 30  #: groups of a page that opens with all of them folded
KEYS = (
    ("j ↓", "next"),
    ("h ↑", "previous"),
    ("m", "merge"),
    ("k", "keep"),
    ("i", "ignore"),
    ("u", "undecided"),
    ("o", "open"),
    ("/", "find"),
    ("e", "export"),
)


def repeats_page(result: Repeats, *, title: str = "", limit: int = 500, language: str = "en") -> str:
    """The whole page. Of more groups than *limit* the most significant are shown, and the others counted. *language* is
    "en" or "ru"."""
    words = wording(language)
    title = title or words("repeats_title")
    most = sorted(result.groups, key=lambda group: -group.significance)[:limit]
    groups = sorted(most, key=lambda group: KINDS.index(group.kind))
    number = {group.id: at for at, group in enumerate(groups, 1)}
    key = hashlib.blake2b("".join(group.id for group in result.groups).encode(), digest_size=8).hexdigest()
    signs = wordings(result, groups)
    folded = len(groups) >= FOLDED_FROM
    cards = [
        group_card(
            at,
            group,
            result,
            signs[at - 1],
            words,
            folded=folded,
            shared=[(n + 1, groups[n]) for n in others],
        )
        for at, (group, others) in enumerate(zip(groups, shared_places(groups), strict=True), 1)
    ]
    before = len(groups)
    ways = []
    for kind in KINDS[:0:-1]:  # each kind but passages under a heading, from behind
        own = sum(group.kind == kind for group in groups)
        before -= own
        if own:
            told = f'<h2 id="{kind}s">{escape(words(f"repeats_{kind}s"))}</h2>'
            cards.insert(before, f"{told}<p>{escape(words(f'repeats_{kind}s_are'))}</p>")
            ways.append(f'<a href="#{kind}s">{escape(words(f"repeats_{kind}s"))} ({words.number(own)})</a>')
    kinds = f"<p>{escape(words('repeats_apart'))} {', '.join(reversed(ways))}</p>" if ways else ""
    hidden = len(result.groups) - len(groups)
    more = f"<p>{escape(words('repeats_more_hidden', groups=hidden))}</p>" if hidden > 0 else ""
    empty = "" if groups else f"<p>{escape(words('repeats_none'))}</p>"
    body = f"""<a class="skip" href="#groups">{escape(words("repeats_skip"))}</a>
<header>
<h1>{escape(title)}</h1>
{summary(result, words)}
</header>
<main>
<section aria-labelledby="map-title">
<h2 id="map-title">{escape(words("repeats_where"))}</h2>
{heat_map(result, words, number)}
</section>
<section id="groups" aria-labelledby="groups-title">
<h2 id="groups-title">{escape(words("repeats_groups"))}</h2>
{toolbar(result, groups, words)}
{kinds}
{_NEW_LINE.join(cards)}{more}{empty}
</section>
</main>"""
    return shell(title, body, language=language, style=STYLE, script=SCRIPT, report=key)


def summary(result: Repeats, words: Wording) -> str:
    """What was looked at, with which settings, and what could not be read."""
    facts = [
        (words.percent(result.share), words("repeats_of_text")),
        *(
            (words.number(number), words.form(number, words.tables.NOUNS[noun]))
            for number, noun in (
                (len(result.groups), "group"),
                (count_places(result.groups), "place"),
                (len(result.files), "file"),
            )
        ),
    ]
    if any(group.new is not None for group in result.groups):
        facts.insert(1, (words.number(len(result.new_groups)), words("repeats_new")))
    shown = "".join(f"<li><b>{escape(value)}</b> {escape(name)}</li>" for value, name in facts)
    settings = ", ".join(
        f"{words.name('setting', name)} {words.value(value)}" for name, value in result.parameters.items()
    )
    notes = "".join(f"<li>{escape(words.say(note))}</li>" for note in result.notes)
    failed = "".join(f"<li>{escape(o.place)}: {escape(words.say(o.reason))}</li>" for o in result.outcomes)
    out = (
        f'<ul class="facts">{shown}</ul><details><summary>{escape(words("repeats_settings"))}</summary>'
        f"<p>{escape(settings)}</p></details>"
    )
    if failed:
        out += f"<h2>{escape(words('repeats_failed'))}</h2><ul>{failed}</ul>"
    return out + (f'<ul class="notes">{notes}</ul>' if notes else "")


def heat_map(result: Repeats, words: Wording, numbers: Mapping[str, int]) -> str:
    """A strip for each file: the higher and darker a bar, the more of that stretch is said elsewhere too.

    Bars lead to the groups that are on the page: *numbers* has their numbers by id.
    """
    longest = max((file.characters for file in result.files), default=0)
    if not longest:
        return f"<p>{escape(words('repeats_no_text'))}</p>"
    repeating = [file for file in result.files if file.share]
    files: Sequence[RepeatFile] = repeating or result.files
    files = sorted(files, key=lambda file: (-file.share * file.tokens, file.file))
    rows = [_strip(file, result.groups, longest, numbers, words) for file in files[:SHOWN_FILES]]
    first, rest = "".join(rows[:OPEN_FILES]), "".join(rows[OPEN_FILES:])
    if rest:
        told = escape(words("repeats_more_files", files=len(rows) - OPEN_FILES))
        folded = f"<summary>{told}</summary><div class='map'>{rest}</div>"
        rest = f"<details>{folded}</details>"
    hidden = len(repeating) - SHOWN_FILES
    more = f"<p>{escape(words('repeats_files_hidden', files=hidden))}</p>" if hidden > 0 else ""
    told = words("repeats_legend") + (f" {words('repeats_legend_files')}" if len(files) > 1 else "")
    legend = f'<p class="legend">{escape(told)}</p>'
    return f"{legend}<div class='map'>{first}</div>{rest}{more}"


def _strip(
    file: RepeatFile, groups: Sequence[RepeatGroup], longest: int, numbers: Mapping[str, int], words: Wording
) -> str:
    cells = max(8, round(CELLS * file.characters / longest))
    size = max(1, -(-file.characters // cells))
    filled = [[0, 0, -1] for _ in range(cells)]  # characters in repeats, most from one group, its number
    places = sorted(
        (f.start, f.end, number)
        for number, group in enumerate(groups)
        for f in group.fragments
        if f.file == file.file
    )
    told = 0  # up to there all places are counted: those of two groups count once
    for start, end, number in places:
        for cell in range(start // size, min(cells - 1, (end - 1) // size) + 1):
            first, stop = max(start, cell * size), min(end, (cell + 1) * size)
            filled[cell][0] += max(0, stop - max(first, told))
            if (stop - first, -number) > (filled[cell][1], -filled[cell][2]):
                filled[cell][1:] = [stop - first, number]
        told = max(told, end)
    bars = []
    for cell, (total, _, number) in enumerate(filled):
        part = min(1.0, total / size)
        level = 0 if number < 0 else 1 + min(3, int(part * 4))
        place = min(1.0, cell * size / max(1, file.characters))
        if number < 0:
            bars.append('<i class="h0"></i>')
        else:
            name = groups[number].id
            label = words("repeats_bar", place=place, share=part, number=numbers.get(name, number + 1))
            tag = f'a href="#{escape(name)}" tabindex="-1"' if name in numbers else "i"
            bars.append(
                f'<{tag} class="h{level}" title="{escape(label)}" aria-label="{escape(label)}" '
                f'style="height:{max(12, round(part * 100))}%"></{tag[0]}>'
            )
    best = next(
        (
            group
            for group in groups
            if group.id in numbers and any(f.file == file.file for f in group.fragments)
        ),
        None,
    )
    name = f'<a href="#{escape(best.id)}">{escape(file.file)}</a>' if best else escape(file.file)
    return (
        f'<div class="file"><span class="name">{name}</span> '
        f'<span class="share">{escape(words.percent(file.share))}</span><div class="strip">{"".join(bars)}</div></div>'
    )


def toolbar(result: Repeats, groups: Sequence[RepeatGroup], words: Wording) -> str:
    """What is shown of *groups*, those on the page, and the decisions."""
    baseline = any(group.new is not None for group in result.groups)
    states = [
        ("all", "repeats_all"),
        ("", "repeats_undecided"),
        *((one, f"repeats_{one}") for one in DECISIONS),
    ]
    if baseline:
        states.insert(1, ("new", "repeats_only_new"))
    options = "".join(f'<option value="{value}">{escape(words(label))}</option>' for value, label in states)
    decided = words("repeats_decided")
    done = sum(bool(group.decision) for group in groups)
    none_decided = decided.replace("{shown}", str(done)).replace("{all}", str(len(groups)))
    keys = ", ".join(
        f"{' '.join(f'<kbd>{key}</kbd>' for key in some.split())} {escape(words(f'repeats_key_{what}'))}"
        for some, what in KEYS
    )
    names = sorted({fragment.file for group in groups for fragment in group.fragments})
    files = "".join(f'<option value="{escape(name)}">{escape(name)}</option>' for name in names)
    choose = f'<option value="">{escape(words("repeats_all_files"))}</option>{files}'
    which = f'<label>{escape(words("repeats_in_file"))} <select id="file">{choose}</select></label>\n'
    return f"""<div class="seek" role="search">
<label>{escape(words("repeats_find"))} <input type="search" id="find"></label>
{which if len(names) > 1 else ""}<button type="button" id="fold" data-other="{escape(words("repeats_fold"))}">\
{escape(words("repeats_unfold"))}</button>
</div>
<div class="tools" role="toolbar" aria-label="{escape(words("repeats_toolbar"))}">
<label>{escape(words("repeats_show"))} <select id="show">{options}</select></label>
<button type="button" id="export">{escape(words("repeats_export"))}</button>
<span id="done" role="status" data-told="{escape(decided)}">{escape(none_decided)}</span>
<details><summary>{escape(words("repeats_keys"))}</summary><p>{keys}.</p></details>
</div>"""


def group_card(
    number: int,
    group: RepeatGroup,
    result: Repeats,
    signs: Sequence[str],
    words: Wording,
    *,
    folded: bool = False,
    shared: Sequence[tuple[int, RepeatGroup]] = (),
) -> str:
    """One group: what all have in common, the variants side by side, all places, and the buttons. *signs* tell the
    wordings of its places, and *shared* which groups before it, with their numbers, have some of them too."""
    variants: dict[str, list[str]] = {}
    for fragment in group.fragments:
        section = f" § {fragment.section}" if fragment.section else ""
        variants.setdefault(result.plain(fragment), []).append(fragment.where + section)
    shown = list(variants)[:SHOWN_VARIANTS]
    pieces = archetype([variant[:SHOWN_CHARACTERS] for variant in shown])
    buttons = "".join(
        f'<button type="button" data-decision="{one}" aria-pressed="{"true" if group.decision == one else "false"}">'
        f"{escape(words(f'repeats_{one}'))}</button>"
        for one in DECISIONS
    )
    told = words("repeats_equal") if group.equal else words("repeats_wordings", wordings=len(variants))
    new = (
        f'<span class="new">{escape(words("repeats_new_why", why=group.reason))}</span>' if group.new else ""
    )
    sides = "".join(_variant(n, variants[variant], pieces, words) for n, variant in enumerate(shown))
    hidden = len(variants) - len(shown)
    more = f"<p>{escape(words('repeats_more_wordings', wordings=hidden))}</p>" if hidden > 0 else ""
    common = ""
    if len(shown) > 1 and not fixed_words(pieces):
        common = f"<p>{escape(words('repeats_chain'))}</p>"
    elif len(shown) > 1:
        common = (
            f'<h4>{escape(words("repeats_common"))}</h4><p class="archetype">{_archetype(pieces)}</p>'
            f"{_slots(pieces, words)}"
        )
    head = words(
        "repeats_group", number=number, places=len(group.fragments), tokens=round(group.tokens), how=told
    )
    places = json.dumps(
        [[f.file, f.line, f.start, f.end, sign] for f, sign in zip(group.fragments, signs, strict=True)]
    )
    begin = " ".join(shown[0][:300].split())
    begin = begin if len(begin) <= SHOWN_BEGIN else begin[:SHOWN_BEGIN].rsplit(" ", 1)[0] + " …"
    ways = [f'<a href="#{escape(other.id)}">{at}</a>' for at, other in shared[:SHOWN_SHARED]]
    also = f", {escape(words('repeats_shared'))} {', '.join(ways)}" if ways else ""
    return f"""<article class="group" id="{escape(group.id)}" tabindex="0" data-new="{"yes" if group.new else ""}" \
data-given="{group.decision}" data-places="{escape(places)}" aria-labelledby="{escape(group.id)}-t">
<div class="head"><h3 id="{escape(group.id)}-t">{escape(head)}</h3>{new}
<span class="saved">{escape(words("repeats_saved", words=group.words_saved))}{also}</span>
<span class="decide" role="group" aria-label="{escape(words("repeats_decision"))}">{buttons}</span></div>
<details class="body"{"" if folded else " open"}><summary>{escape(begin)}</summary>
{common}<div class="variants">{sides}</div>{more}</details>
</article>"""


def _archetype(pieces: Sequence[ArchetypePiece]) -> str:
    """The template: fixed text, and a numbered mark for each variable place."""
    out = []
    slots = 0
    for piece in pieces:
        if piece.fixed:
            out.append(escape(piece.texts[0]))
        else:
            slots += 1
            own = next((value for value in piece.texts if value.strip()), "")
            blank = own[: len(own) - len(own.lstrip())]
            title = " | ".join(value[:120] for value in _values(piece)[:6])
            out.append(f'{escape(blank)}<span class="slot" title="{escape(title)}">[{slots}]</span>')
    return "".join(out).strip()


def _values(piece: ArchetypePiece) -> list[str]:
    """What stands in a variable place, each wording once."""
    return list(dict.fromkeys(" ".join(value.split()) for value in piece.texts))


def _slots(pieces: Sequence[ArchetypePiece], words: Wording) -> str:
    """What the variants have in each variable place."""
    rows = []
    either = escape(words("repeats_or"))
    for piece in pieces:
        if piece.fixed:
            continue
        values = [
            f"<mark>{escape(value[:SHOWN_VALUE])}{'…' if len(value) > SHOWN_VALUE else ''}</mark>"
            if value
            else f"<i>{escape(words('repeats_empty'))}</i>"
            for value in _values(piece)
        ]
        rows.append(f"<li>{f' {either} '.join(values)}</li>")
    told = escape(words("repeats_slots", places=len(rows)))
    return (
        f'<details class="slots"><summary>{told}</summary><ol>{"".join(rows)}</ol></details>' if rows else ""
    )


def _variant(number: int, places: Sequence[str], pieces: Sequence[ArchetypePiece], words: Wording) -> str:
    parts = []
    for piece in pieces:
        value = piece.texts[number]
        own = value.strip()
        if piece.fixed:
            parts.append(escape(value))
        elif own:
            blank = value[: len(value) - len(value.lstrip())]
            parts.append(f"{escape(blank)}<mark>{escape(own)}</mark>")
        else:
            space = "" if parts else " "  # what follows brings its own blank, but for the beginning
            parts.append(f'<mark class="gap" title="{escape(words("repeats_left_out"))}">∅</mark>{space}')
    listed = "".join(f"<li>{escape(place)}</li>" for place in places[:SHOWN_PLACES])
    if len(places) > SHOWN_PLACES:
        listed += f"<li>{escape(words('repeats_more_places', places=len(places) - SHOWN_PLACES))}</li>"
    head = f"<ul class='places'>{listed}</ul>"
    if len(places) > 3:
        head = f"<details><summary>{escape(words.count(len(places), 'place'))}</summary>{head}</details>"
    long = sum(len(piece.texts[number]) for piece in pieces) > LONG_CHARACTERS
    scroll = (
        f' tabindex="0" role="region" aria-label="{escape(words("repeats_wording", number=number + 1))}"'
        if long
        else ""
    )
    return f'<div class="variant"{scroll}>{head}<p class="text">{"".join(parts)}</p></div>'


STYLE = """
:root{--ink:#1c1d21;--soft:#5b5e68;--line:#d5d7de;--paper:#fff;--card:#f7f8fa;--mark:#ffe9a8;--accent:#0b5cad;
--h1:#f6cf9a;--h2:#e8974d;--h3:#c45a1c;--h4:#7c2d0c}
@media (prefers-color-scheme:dark){:root{--ink:#e9eaee;--soft:#a8acb8;--line:#3b3e48;--paper:#17181c;--card:#1f2127;
--mark:#5a4708;--accent:#8ec1ff;--h1:#5c3a1c;--h2:#96592a;--h3:#d98345;--h4:#ffbd87}}
*{box-sizing:border-box}
body{margin:0 auto;max-width:78rem;padding:1rem 1.25rem 4rem;font:16px/1.5 system-ui,sans-serif;color:var(--ink);
background:var(--paper)}
h1{font-size:1.6rem;margin:.5rem 0}h2{font-size:1.2rem;margin:1.6rem 0 .5rem}h3{font-size:1rem;margin:0}
h4{font-size:.85rem;margin:.75rem 0 .2rem;color:var(--soft);font-weight:600}
.skip{position:absolute;left:-99rem}.skip:focus{left:1rem;top:.5rem;background:var(--paper);padding:.3rem .6rem}
.facts{display:flex;flex-wrap:wrap;gap:.25rem 1.75rem;list-style:none;padding:0;margin:.5rem 0}
a{color:var(--accent)}.facts b{font-size:1.3rem}.notes,.legend,.saved{color:var(--soft);font-size:.875rem}
summary{cursor:pointer;color:var(--accent)}details:not(.body)>p{margin:.3rem 0;color:var(--soft);font-size:.875rem;
overflow-wrap:anywhere}
.map{display:grid;gap:.4rem}.file .name{font-size:.85rem;overflow-wrap:anywhere}.file .share{font-size:.85rem;
color:var(--soft)}
.strip{display:flex;align-items:flex-end;height:2rem;border-bottom:1px solid var(--line);gap:1px;overflow:hidden}
.strip>*{flex:1 1 0;min-width:0;max-width:1.2rem;display:block}.h0{height:2px;background:var(--line)}
.h1{background:var(--h1)}.h2{background:var(--h2)}.h3{background:var(--h3)}.h4{background:var(--h4)}
.seek{display:flex;flex-wrap:wrap;gap:.5rem 1rem;align-items:center}.seek select,.seek input{max-width:100%}
.tools{position:sticky;top:0;background:var(--paper);display:flex;flex-wrap:wrap;gap:.5rem 1rem;align-items:center;
padding:.5rem 0;border-bottom:1px solid var(--line);z-index:1}
button,select,input{font:inherit;font-size:.9rem;color:inherit;background:var(--paper);border:1px solid var(--soft);
border-radius:.35rem;padding:.25rem .7rem;cursor:pointer;min-height:2rem}
button[aria-pressed=true]{background:var(--accent);border-color:var(--accent);color:var(--paper);font-weight:600}
button[aria-pressed=true]::before{content:"✓ "}
:focus-visible{outline:3px solid var(--accent);outline-offset:2px}
.group{background:var(--card);border:1px solid var(--line);border-radius:.5rem;padding:.75rem 1rem;margin:.9rem 0;
scroll-margin-top:4rem}#groups h2{scroll-margin-top:4rem}
.group[hidden]{display:none}.body>summary{margin-top:.3rem;overflow-wrap:anywhere}.body[open]>summary{color:var(--soft);
font-size:.8rem}.head{display:flex;flex-wrap:wrap;gap:.3rem 1rem;align-items:center}
.decide{margin-left:auto;display:flex;gap:.4rem;flex-wrap:wrap}.new{background:var(--mark);border-radius:.3rem;
padding:0 .4rem;font-size:.85rem}
.archetype,.text{white-space:pre-wrap;overflow-wrap:anywhere;margin:.2rem 0}
.archetype{border-left:3px solid var(--accent);padding-left:.7rem;max-height:20rem;overflow:auto}
.slots ol{margin:.3rem 0;padding-left:1.6rem;font-size:.9rem;overflow-wrap:anywhere}.slots i{color:var(--soft)}
.slot{background:var(--mark);border-bottom:2px dotted;padding:0 .2rem;border-radius:.2rem;white-space:nowrap}
mark{background:var(--mark);color:inherit;border-bottom:2px dotted;border-radius:.2rem}
.variants{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,20rem),1fr));gap:.75rem;margin-top:.6rem}
.variant{background:var(--paper);border:1px solid var(--line);border-radius:.4rem;padding:.5rem .75rem;font-size:.92rem;
max-height:26rem;overflow:auto}
.places{list-style:none;margin:0;padding:0;color:var(--soft);font-size:.8rem;overflow-wrap:anywhere}
kbd{border:1px solid var(--line);border-radius:.25rem;padding:0 .3rem;font-size:.8rem}
@media (max-width:40rem){.group,#groups h2{scroll-margin-top:6.5rem}}
@media print{.tools,.decide,.skip{display:none}.variant{max-height:none}}
"""

SCRIPT = """
(function(){
"use strict";
var cards=[].slice.call(document.querySelectorAll(".group")),show=document.getElementById("show"),
done=document.getElementById("done"),key="doublet-repeats-"+document.body.dataset.report,state={};
cards.forEach(function(c){if(c.dataset.given)state[c.id]=c.dataset.given});
try{state=Object.assign(state,JSON.parse(localStorage.getItem(key)||"{}"))}catch(e){}
var find=document.getElementById("find"),file=document.getElementById("file"),fold=document.getElementById("fold");
function body(card){return card.querySelector("details.body")}
function save(){
  try{localStorage.setItem(key,JSON.stringify(state))}catch(e){}
  if(window.parent!==window)window.parent.postMessage({doublet:"decisions",state:state},"*");
}
window.addEventListener("message",function(e){
  if(e.source!==window.parent||!e.data||e.data.doublet!=="decided")return;
  Object.assign(state,e.data.state||{});cards.forEach(paint);count();
});
function paint(card){
  var value=state[card.id]||"";
  card.dataset.decision=value;
  [].forEach.call(card.querySelectorAll("[data-decision]"),function(b){
    b.setAttribute("aria-pressed",String(b.dataset.decision===value))});
}
function count(){
  var n=cards.filter(function(c){return state[c.id]}).length;
  done.textContent=done.dataset.told.replace("{shown}",n).replace("{all}",cards.length);
}
function filter(){
  var wanted=show.value,text=find.value.trim().toLowerCase(),name=file?file.value:"";
  cards.forEach(function(c){
    var value=state[c.id]||"";
    c.hidden=!(wanted==="all"||(wanted==="new"?c.dataset.new==="yes":value===wanted))
      ||text&&c.textContent.toLowerCase().indexOf(text)<0
      ||name&&!JSON.parse(c.dataset.places).some(function(p){return p[0]===name});
  });
}
function decide(card,value){
  if(!card)return;
  state[card.id]=state[card.id]!==value?value:"";
  save();paint(card);count();
}
function current(){return document.activeElement?document.activeElement.closest(".group"):null}
function move(step){
  var open=cards.filter(function(c){return !c.hidden}),at=open.indexOf(current());
  var next=open[at<0?(step>0?0:open.length-1):Math.max(0,Math.min(open.length-1,at+step))];
  if(next){next.focus();next.scrollIntoView({block:"start"})}
}
function download(){
  var rows=cards.filter(function(c){return state[c.id]}).map(function(c){
    return {group:c.id,decision:state[c.id],fragments:JSON.parse(c.dataset.places).map(function(p){
      return {file:p[0],line:p[1],start:p[2],end:p[3],wording:p[4]}})}});
  var link=document.createElement("a");
  var body=JSON.stringify({format:1,decisions:rows},null,2)+"\\n";
  link.href=URL.createObjectURL(new Blob([body],{type:"application/json"}));
  link.download="decisions.json";document.body.appendChild(link);link.click();link.remove();
  setTimeout(function(){URL.revokeObjectURL(link.href)},1000);
}
cards.forEach(function(card){
  paint(card);
  card.addEventListener("click",function(e){
    var b=e.target.closest("button[data-decision]");if(b)decide(card,b.dataset.decision)});
});
document.getElementById("export").addEventListener("click",download);
show.addEventListener("change",filter);
find.addEventListener("input",filter);
if(file)file.addEventListener("change",filter);
function folding(){
  var open=cards.some(function(c){return body(c).open});
  fold.textContent=open?fold.dataset.close:fold.dataset.open;
  return open;
}
fold.dataset.open=fold.textContent;fold.dataset.close=fold.dataset.other;
fold.addEventListener("click",function(){
  var open=folding();
  cards.forEach(function(c){body(c).open=!open});
  folding();
});
function arrive(){
  var card=document.getElementById(decodeURIComponent(location.hash.slice(1)));
  if(card&&cards.indexOf(card)>=0){body(card).open=true;card.hidden=false;card.scrollIntoView({block:"start"})}
}
addEventListener("hashchange",arrive);
document.addEventListener("keydown",function(e){
  if(e.ctrlKey||e.metaKey||e.altKey||/^(INPUT|SELECT|TEXTAREA)$/.test(e.target.tagName))return;
  var keys={m:"merge",k:"keep",i:"ignore",u:""};
  if(e.key==="o"){if(current()){body(current()).open=!body(current()).open;folding();e.preventDefault()}}
  else if(e.key==="/"){find.focus();e.preventDefault()}
  else if(e.key in keys){if(current()){decide(current(),keys[e.key]);e.preventDefault()}}
  else if(e.key==="j"||e.key==="ArrowDown"&&current()){move(1);e.preventDefault()}
  else if(e.key==="h"||e.key==="ArrowUp"&&current()){move(-1);e.preventDefault()}
  else if(e.key==="e"){download();e.preventDefault()}
});
count();folding();arrive();
if(window.parent!==window)window.parent.postMessage({doublet:"ready"},"*");
})();
"""
