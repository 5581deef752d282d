"""Parts that the evaluation's pages share: words in two languages with a switch, the style, the script."""

from __future__ import annotations

from collections.abc import Mapping

from doublet.evaluation.changes import CHANGES, change
from doublet.reports.page import escape as safe
from doublet.reports.page import shell
from doublet.reports.wording.en import evaluation_page as english
from doublet.reports.wording.ru import evaluation_page as russian

LANGUAGES = ("en", "ru")
#: labels and names of sets in English and Russian: a page holds both and can be switched
WORDS = {key: (label, russian.LABELS[key]) for key, label in english.LABELS.items()}
SET_NAMES = {key: (name, russian.SETS[key]) for key, name in english.SETS.items()}


class Words:
    """Words of a page in its first language, with the other one at hand for the switch."""

    def __init__(self, language: str) -> None:
        self.language = language

    def __call__(self, key: str) -> str:
        """An element with the words of *key*."""
        return self.both(*WORDS[key])

    def plain(self, key: str) -> str:
        return WORDS[key][LANGUAGES.index(self.language)]

    def both(self, told: str, translated: str, tag: str = "span") -> str:
        shown = told if self.language == "en" else translated
        return f'<{tag} data-en="{safe(told)}" data-ru="{safe(translated)}">{safe(shown)}</{tag}>'

    def svg(self, key: str) -> str:
        """The same inside a picture."""
        return self.both(*WORDS[key], tag="tspan")

    def option(self, key: str, value: str) -> str:
        told, translated = WORDS[key]
        shown = told if self.language == "en" else translated
        return f'<option value="{safe(value)}" data-en="{safe(told)}" data-ru="{safe(translated)}">{safe(shown)}</option>'

    def change(self, name: str) -> str:
        if name == "verbatim":
            return self.both("word for word", "дословно")
        if name == "entire":
            return self.both("all together", "всё вместе")
        titles: Mapping[str, str]
        if name in CHANGES:
            titles = CHANGES[name].title
        else:
            try:
                titles = change(name).title if "+" not in name else {}
            except Exception:  # a kind of a labelled set, or a change whose package has gone
                titles = {}
        return self.both(titles["en"], titles.get("ru", titles["en"])) if "en" in titles else safe(name)

    def set(self, name: str) -> str:
        return self.both(*SET_NAMES[name]) if name in SET_NAMES else safe(name)


def page(title: str, body: str, words: Words) -> str:
    """A whole page around *body*. Nothing is loaded from outside, and no script runs but ours."""
    return shell(title, body, language=words.language, style=STYLE, script=SCRIPT)


def switch(words: Words) -> str:
    """Two buttons: the language of the labels."""
    buttons = "".join(
        f'<button type="button" data-language="{code}" lang="{code}" aria-pressed="{str(code == words.language).lower()}">'
        f"{name}</button>"
        for code, name in (("en", "English"), ("ru", "Русский"))
    )
    return f'<div class="switch" role="group" aria-label="Language · Язык">{buttons}</div>'


STYLE = """
:root{--ink:#1b1d22;--soft:#5a5e6a;--line:#d9dce3;--paper:#fff;--card:#f6f7f9;--accent:#0b57a4;--mark:#ffe9a8;
--heat:11,87,164;--warn:#a33b00;
--c0:#0b57a4;--c1:#b3470b;--c2:#1c7a4a;--c3:#7b3fa0;--c4:#8a6d00;--c5:#b02a5b;--c6:#2b7f8c;--c7:#5d5f66}
@media (prefers-color-scheme:dark){:root{--ink:#e9ebf0;--soft:#a9aebb;--line:#3a3e49;--paper:#15171b;--card:#1e2127;
--accent:#8ec1ff;--mark:#5a4708;--heat:96,165,250;--warn:#ffab7a;
--c0:#7db6ff;--c1:#ffa66b;--c2:#6fd39d;--c3:#cf9cf0;--c4:#e6c65a;--c5:#ff8fb5;--c6:#7ad4e2;--c7:#b9bcc6}}
*{box-sizing:border-box}
html{scroll-behavior:smooth}
body{margin:0 auto;max-width:84rem;padding:1rem 1.25rem 4rem;font:16px/1.55 system-ui,"Segoe UI",Roboto,sans-serif;
color:var(--ink);background:var(--paper)}
h1{font-size:1.9rem;line-height:1.2;margin:.3rem 0 .4rem;letter-spacing:-.01em}
h2{font-size:1.35rem;margin:2.6rem 0 .4rem;padding-top:.6rem;border-top:1px solid var(--line)}
h3{font-size:1.05rem;margin:1.4rem 0 .4rem}
p{margin:.4rem 0;max-width:60rem}
a{color:var(--accent)}
.soft,.lead{color:var(--soft)}.lead{font-size:1.05rem}
.hidden{position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%)}
.skip{position:absolute;left:-99rem}.skip:focus{left:1rem;top:.5rem;background:var(--paper);padding:.3rem .6rem}
.top{display:flex;flex-wrap:wrap;gap:.5rem 1.5rem;align-items:flex-start;justify-content:space-between}
.switch{display:inline-flex;border:1px solid var(--soft);border-radius:.45rem;overflow:hidden}
button,select{font:inherit;font-size:.92rem;color:inherit;background:var(--paper);border:1px solid var(--soft);
border-radius:.4rem;padding:.3rem .75rem;min-height:2.2rem;cursor:pointer;max-width:100%}
.switch button{border:0;border-radius:0}
button[aria-pressed=true]{background:var(--accent);color:var(--paper);font-weight:600}
:focus-visible{outline:3px solid var(--accent);outline-offset:2px}
nav ul{display:flex;flex-wrap:wrap;gap:.3rem 1.1rem;list-style:none;padding:0;margin:.8rem 0}
.facts{display:flex;flex-wrap:wrap;gap:.4rem 2rem;list-style:none;padding:0;margin:1rem 0}
.facts b{font-size:1.5rem;display:block;line-height:1.1;font-variant-numeric:tabular-nums}
.facts li{color:var(--soft);font-size:.92rem}.facts b{color:var(--ink)}
.scroll{overflow-x:auto;margin:.6rem 0;border:1px solid var(--line);border-radius:.5rem;background:var(--paper)}
table{border-collapse:collapse;font-size:.9rem;font-variant-numeric:tabular-nums}
.scroll table{min-width:100%}
th,td{padding:.35rem .6rem;text-align:left;border-bottom:1px solid var(--line);vertical-align:middle}
tr:last-child>*{border-bottom:0}
thead th{font-weight:600;font-size:.8rem;line-height:1.25;color:var(--soft);vertical-align:bottom;background:var(--card);
min-width:5.2rem;max-width:8rem}
tbody th{font-weight:600;white-space:nowrap;position:sticky;left:0;background:var(--paper);z-index:1;
border-right:1px solid var(--line)}
thead th:first-child{position:sticky;left:0;z-index:2}
td.num,th.num{text-align:right}
td.cell{text-align:center;background:rgba(var(--heat),calc(var(--f) * .5));min-width:4.6rem;line-height:1.2}
td.cell b{display:block;font-size:1.02rem}td.cell small{font-size:.76rem;color:var(--soft)}
td.cell.high small{color:inherit}
td.pub{text-align:center;line-height:1.3;white-space:nowrap}td.pub i{color:var(--soft);font-style:normal;font-size:.8rem;
display:block}td.pub small{display:block;color:var(--soft);font-size:.74rem}td.pub.under b{color:var(--warn)}
.tools{display:flex;flex-wrap:wrap;gap:.5rem 1rem;align-items:center;margin:.6rem 0}
.bars{list-style:none;padding:0;margin:.4rem 0;font-variant-numeric:tabular-nums}
.bars li{display:grid;grid-template-columns:8.5rem 1fr 2.6rem;gap:0 .7rem;align-items:center;padding:.28rem 0}
.bars small{grid-column:2/4;color:var(--soft);font-size:.78rem;line-height:1.3}.bars small:empty{display:none}
.bars .value{text-align:right}.bars b{overflow-wrap:anywhere;font-size:.95rem}
.track{display:block;background:var(--card);border:1px solid var(--line);border-radius:.3rem;height:1rem;overflow:hidden}
.fill{display:block;background:var(--accent);height:100%}
.sides{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,28rem),1fr));gap:0 2.5rem}
.charts{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,25rem),1fr));gap:1.2rem}
figure{margin:0;background:var(--card);border:1px solid var(--line);border-radius:.6rem;padding:.8rem}
figcaption{font-weight:600;font-size:.95rem;margin-bottom:.3rem}
.chart{width:100%;height:auto;display:block}.chart text{fill:var(--soft);font-size:12px}.chart .axis{fill:var(--ink)}
.grid{stroke:var(--line);fill:none}
.chart polyline,.legend polyline{fill:none;stroke-width:1.8}.chart .strong polyline{stroke-width:3.6}
.chart .open,.legend .open{fill:none;stroke-width:1.8}
.s0{stroke:var(--c0);fill:var(--c0)}.s1{stroke:var(--c1);fill:var(--c1)}.s2{stroke:var(--c2);fill:var(--c2)}
.s3{stroke:var(--c3);fill:var(--c3)}.s4{stroke:var(--c4);fill:var(--c4)}.s5{stroke:var(--c5);fill:var(--c5)}
.s6{stroke:var(--c6);fill:var(--c6)}.s7{stroke:var(--c7);fill:var(--c7)}
.legend{display:flex;flex-wrap:wrap;gap:.2rem 1rem;list-style:none;padding:0;margin:.5rem 0 0;font-size:.85rem}
.legend li{display:flex;gap:.4rem;align-items:center}
details{margin:.5rem 0}summary{cursor:pointer;color:var(--accent)}
.pair{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,22rem),1fr));gap:.8rem;margin:.5rem 0 1rem}
.pair>div{background:var(--card);border:1px solid var(--line);border-radius:.5rem;padding:.6rem .8rem;font-size:.9rem;
max-height:24rem;overflow:auto;white-space:pre-wrap;overflow-wrap:anywhere}
.pair h4{margin:0 0 .3rem;font-size:.82rem;color:var(--soft);overflow-wrap:anywhere;white-space:normal}
.card{border:1px solid var(--line);border-radius:.6rem;padding:.7rem 1rem;margin:.9rem 0}
.card h3{margin:0 0 .3rem;overflow-wrap:anywhere}
.tag{display:inline-block;border:1px solid currentColor;border-radius:.3rem;padding:0 .4rem;font-size:.8rem;
color:var(--warn)}
mark{background:var(--mark);color:inherit;border-bottom:2px dotted}
dl{display:grid;grid-template-columns:max-content 1fr;gap:.15rem 1rem;font-size:.92rem}dt{color:var(--soft)}
dd{margin:0;overflow-wrap:anywhere}
footer{margin-top:3rem;color:var(--soft);font-size:.85rem}
@media (max-width:40rem){body{padding:.75rem .75rem 3rem}h1{font-size:1.5rem}h2{font-size:1.2rem}
th,td{padding:.3rem .4rem}tbody th{font-size:.82rem}.wrap tbody th{max-width:7.5rem;white-space:normal}
.bars li{grid-template-columns:7.6rem 1fr 2.4rem}.bars b{font-size:.88rem}
dl{grid-template-columns:1fr}dd{margin-bottom:.4rem}}
@media print{.tools,.switch,nav,.skip{display:none}.scroll{overflow:visible;border:0}details{display:block}}
"""

SCRIPT = """
(function(){
"use strict";
function all(selector,root){return [].slice.call((root||document).querySelectorAll(selector))}
function speak(code){
  document.documentElement.lang=code;
  all("[data-en]").forEach(function(e){e.textContent=e.getAttribute("data-"+code)});
  all("[data-language]").forEach(function(b){b.setAttribute("aria-pressed",String(b.dataset.language===code))});
  try{localStorage.setItem("doublet-language",code)}catch(e){}
}
all("[data-language]").forEach(function(b){b.addEventListener("click",function(){speak(b.dataset.language)})});
try{var known=localStorage.getItem("doublet-language");if(known&&known!==document.documentElement.lang)speak(known)}catch(e){}
all("select[data-shows]").forEach(function(s){
  function show(){all("[data-of='"+s.dataset.shows+"']").forEach(function(e){
    e.hidden=!(s.value==="*"||e.dataset.value===s.value)})}
  s.addEventListener("change",show);show();
});
})();
"""
