"""`Evaluation` → one offline HTML page, with JSON and CSV beside it.

The style is in page.py, the words are those of `evaluation_page` in doublet.reports.wording.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from doublet.errors import OutputFailed
from doublet.evaluation.charts import Series, bars, line_chart
from doublet.evaluation.evaluate import TABLES, Evaluation
from doublet.evaluation.page import Words, page, switch
from doublet.reports.output import open_output
from doublet.reports.page import escape as safe

SHOWN_FAILURES = 60
STRONG = "auto"  #: the line that is drawn boldest
Rows = Sequence[Mapping[str, Any]]


def write_report(result: Evaluation, folder: Path, *, language: str = "en") -> list[Path]:
    """index.html, evaluation.json and a CSV for every table. Raises `OutputFailed`."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise OutputFailed("folder_not_made", why=error.strerror or error, path=str(folder)) from error
    shape = result.to_dict()
    files = {
        "index.html": report_page(shape, language=language),
        "evaluation.json": json.dumps(shape, ensure_ascii=False, indent=1) + "\n",
    }
    for name in TABLES:
        if shape[name]:
            files[f"{name}.csv"] = as_csv(shape[name])
    written = []
    for name, content in files.items():
        path = folder / name
        with open_output(path) as stream:
            stream.write(content.encode())
        written.append(path)
    return written


def as_csv(rows: Rows) -> str:
    """A table with all columns that any row has; lists and tables inside a cell are JSON."""
    columns = list(dict.fromkeys(key for row in rows for key in row))
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(columns)
    for row in rows:
        writer.writerow(
            [
                json.dumps(v, ensure_ascii=False) if isinstance(v := row.get(c), list | dict) else v
                for c in columns
            ]
        )
    return out.getvalue()


def report_page(shape: Mapping[str, Any], *, language: str = "en") -> str:
    """The page of an evaluation given as its dictionary (`Evaluation.to_dict`, or the JSON read again)."""
    w = Words(language)
    sections = [
        ("short", _short(shape, w)),
        ("documents", _documents(shape, w)),
        ("passages", _passages(shape, w)),
        ("published", _published(shape, w)),
        ("curves", _curves(shape, w)),
        ("clusters", _clusters(shape, w)),
        ("costs", _costs(shape, w)),
        ("labelled", _labelled(shape, w)),
        ("failures", _failures(shape, w)),
        ("settings", _settings(shape, w)),
    ]
    shown = [(name, body) for name, body in sections if body]
    links = "".join(f'<li><a href="#{name}">{w(name)}</a></li>' for name, _ in shown)
    parts = "\n".join(
        f'<section id="{name}" aria-labelledby="{name}-t"><h2 id="{name}-t">{w(name)}</h2>\n{body}</section>'
        for name, body in shown
    )
    body = f"""<a class="skip" href="#short">{w("short")}</a>
<header><div class="top"><div><h1>{w("title")}</h1><p class="lead">{w("lead")}</p></div>{switch(w)}</div>
{_facts(shape, w)}<nav aria-label="{safe(w.plain("contents"))}"><ul>{links}</ul></nav></header>
<main>
{parts}
</main>
<footer>{w("made_by")} {safe(shape["settings"].get("version", ""))}</footer>"""
    return page(w.plain("title"), body, w)


def _facts(shape: Mapping[str, Any], w: Words) -> str:
    sets = shape["sets"]
    settings = shape["settings"]
    facts = [
        (len(settings["methods"]), w.both("methods", "методов")),
        (len(settings["changes"]), w.both("changes", "видов изменений")),
        (sum(row.get("documents", 0) for row in sets), w("library")),
        (sum(row.get("queries", 0) for row in sets), w("queries")),
        (settings["seed"], w.both("seed", "зерно")),
    ]
    return f"""<ul class="facts">{"".join(f"<li><b>{v:,}</b>{name}</li>" for v, name in facts if v)}</ul>"""


def _names(rows: Rows, key: str) -> list[str]:
    return list(dict.fromkeys(row[key] for row in rows))


def _short(shape: Mapping[str, Any], w: Words) -> str:
    """A ranking for every set: the mean over changes says how good, the weakest change says how far to trust it."""
    out = [f'<p class="soft">{w("short_about")}</p>'] if shape["documents"] else []
    for name in _names(shape["documents"], "set"):
        rows = [row for row in shape["documents"] if row["set"] == name and row["threshold"] is None]
        table = []
        for method in _names(rows, "method"):
            own = [row for row in rows if row["method"] == method]
            worst = min(own, key=lambda row: row["f1"])
            mean = sum(row["f1"] for row in own) / len(own)
            beside = (
                f"{w('weakest')}: {w.change(worst['change'])}, {worst['f1']:.2f}"
                if worst["f1"] < 0.995
                else ""
            )
            table.append((method, mean, beside))
        table.sort(key=lambda row: (-row[1], row[0]))
        out.append(f"<div><h3>{w.set(name)}</h3>{bars(table, title=name)}</div>")
    return f'{"".join(out[:1])}<div class="sides">{"".join(out[1:])}</div>' if out else ""


def _documents(shape: Mapping[str, Any], w: Words) -> str:
    rows = shape["documents"]
    if not rows:
        return ""
    thresholds = _names(rows, "threshold")
    options = [w.option("own_rule", "own")] + [
        f'<option value="{t:g}">{safe(w.plain("threshold_is"))} {t:g}</option>'
        for t in thresholds
        if t is not None
    ]
    choose = (
        f'<div class="tools"><label>{w("rule")} <select data-shows="rule">{"".join(options)}</select></label></div>'
        if len(options) > 1
        else ""
    )
    out = [f'<p class="soft">{w("documents_about")}</p>{choose}']
    for name in _names(rows, "set"):
        out.append(f"<h3>{w.set(name)}</h3>")
        for threshold in thresholds:
            own = [row for row in rows if row["set"] == name and row["threshold"] == threshold]
            if not own:
                continue
            value = "own" if threshold is None else f"{threshold:g}"
            hidden = "" if threshold is None else " hidden"
            note = "" if threshold is None else f'<p class="soft">{w("only_threshold")}</p>'
            out.append(f'<div data-of="rule" data-value="{value}"{hidden}>{_matrix(own, w)}{note}</div>')
    return "".join(out)


def _matrix(rows: Rows, w: Words) -> str:
    changes = _names(rows, "change")
    head = "".join(f'<th scope="col">{w.change(name)}</th>' for name in changes)
    body = []
    for method in _names(rows, "method"):
        own = {row["change"]: row for row in rows if row["method"] == method}
        mean = sum(row["f1"] for row in own.values()) / len(own)
        cells = "".join(_cell(own[name]) if name in own else "<td></td>" for name in changes)
        body.append(
            f'<tr><th scope="row">{safe(method)}</th><td class="num"><b>{mean:.2f}</b></td>{cells}</tr>'
        )
    return (
        f'<div class="scroll" tabindex="0" role="region" aria-label="{safe(w.plain("documents"))}"><table><thead><tr>'
        f'<th scope="col">{w("method")}</th><th scope="col" class="num">{w("mean")}</th>{head}</tr></thead>'
        f"<tbody>{''.join(body)}</tbody></table></div>"
    )


def _cell(row: Mapping[str, Any]) -> str:
    f1 = row["f1"]
    title = (
        f"{row['method']} · {row['change']}: {row['right']} of {row['right'] + row['missed']} found"
        f"{_interval(row['recall_interval'])}, {row['wrong']} wrong{_interval(row['precision_interval'])}; F1 {f1:.3f}"
    )
    high = " high" if f1 > 0.7 else ""
    return (
        f'<td class="cell{high}" style="--f:{f1:.3f}" title="{safe(title)}"><b>{_share(row["recall"])}</b>'
        f"<small>{_share(row['precision'])}</small></td>"
    )


def _share(value: float | None) -> str:
    """Two digits; never rounded up to 1 or down to 0."""
    if value is None:
        return "–"
    if 0 < value < 0.005:
        return ">0"
    if 0.995 <= value < 1:
        return f"{int(value * 1000) / 1000:.3f}".lstrip("0")
    return "1" if value == 1 else "0" if value == 0 else f"{value:.2f}".lstrip("0")


def _interval(pair: Sequence[float] | None) -> str:
    return f" (95 %: {pair[0]:.2f}–{pair[1]:.2f})" if pair else ""


def _passages(shape: Mapping[str, Any], w: Words) -> str:
    rows = shape["passages"]
    if not rows:
        return ""
    made = {row["set"] for row in shape["sets"] if row["kind"] == "changed"}
    out = [f'<p class="soft">{w("passages_about")}</p>'] if made else []
    for name in _names(rows, "set"):
        own = [row for row in rows if row["set"] == name]
        kinds = _names(own, "change")
        head = "".join(f'<th scope="col">{w.change(kind)}</th>' for kind in kinds)
        body = []
        for method in _names(own, "method"):
            mine = {row["change"]: row for row in own if row["method"] == method}
            body.append(
                f'<tr><th scope="row">{safe(method)}</th>'
                + "".join(_passage_cell(mine[kind], w) if kind in mine else "<td></td>" for kind in kinds)
                + "</tr>"
            )
        out.append(
            f'<h3>{w.set(name)}</h3><div class="scroll" tabindex="0" role="region" aria-label="{safe(name)}"><table>'
            f'<thead><tr><th scope="col">{w("method")}</th>{head}</tr></thead><tbody>{"".join(body)}</tbody></table></div>'
        )
    return "".join(out)


def _passage_cell(row: Mapping[str, Any], w: Words) -> str:
    value = row["plagdet"]
    title = w.plain("passages_told").format(**row) + _interval(row["plagdet_interval"])
    own = ""
    if "own" in row:
        own = f"<br>{w('own_flagged')}: {row['own_flagged']}/{row['own']}<br>{w('cases_found')}: {row['found']}/{row['cases']}"
    high = " high" if value > 0.7 else ""
    return (
        f'<td class="cell{high}" style="--f:{value:.3f}" title="{safe(title)}"><b>{value:.3f}</b><small>'
        f"{_share(row['precision'])} · {_share(row['recall'])} · {row['granularity']:.2f}{own}</small></td>"
    )


def _published(shape: Mapping[str, Any], w: Words) -> str:
    rows = shape["published"]
    if not rows:
        return ""
    out = [f'<p class="soft">{w("published_about")}</p>']
    for name in _names(rows, "set"):
        own = [row for row in rows if row["set"] == name]
        columns = _names(own, "column")
        head = "".join(f'<th scope="col">{safe(column)}</th>' for column in columns)
        body = []
        for change_name in _names(own, "change"):
            mine = {row["column"]: row for row in own if row["change"] == change_name}
            cells = "".join(_published_cell(mine[c]) if c in mine else "<td></td>" for c in columns)
            body.append(f'<tr><th scope="row">{w.change(change_name)}</th>{cells}</tr>')
        out.append(
            f'<h3>{w.set(name)}</h3><div class="scroll wrap" tabindex="0" role="region" aria-label="{safe(name)}"><table>'
            f'<thead><tr><th scope="col">{w("change")}</th>{head}</tr></thead><tbody>{"".join(body)}</tbody></table></div>'
        )
    return "".join(out)


def _published_cell(row: Mapping[str, Any]) -> str:
    source = (
        f"<i>{_share(row['source_recall'])} / {_share(row['source_precision'])}</i>"
        if row["source_recall"] is not None
        else "<i>–</i>"
    )
    under = row["source_recall"] is not None and (row["recall"] or 0) < row["source_recall"] - 0.05
    title = f"{row['right']} of {row['right'] + row['missed']} found{_interval(row['recall_interval'])}, {row['wrong']} wrong"
    return (
        f'<td class="pub{" under" if under else ""}" title="{safe(title)}">{source}<b>{_share(row["recall"])} / '
        f"{_share(row['precision'])}</b><small>({_share(row['recall_by_levenshtein'])} / "
        f"{_share(row['precision_by_levenshtein'])})</small></td>"
    )


def _curves(shape: Mapping[str, Any], w: Words) -> str:
    rows = shape["curves"]
    out = []
    for name in _names(rows, "set"):
        figures = []
        own = [row for row in rows if row["set"] == name]
        by_threshold = [row for row in own if row["curve"] == "threshold"]
        for key, column in (("curve_recall", 2), ("curve_precision", 1)):
            lines = [
                Series(row["method"], [(p[0], p[column]) for p in row["points"]]) for row in by_threshold
            ]
            label = "recall" if column == 2 else "precision"
            figures.append(_figure(lines, key, "threshold", label, w))
        pairs = [
            Series(r["method"], [(p[0], p[1]) for p in r["points"]]) for r in own if r["curve"] == "pairs"
        ]
        figures.append(_figure(pairs, "curve_pairs", "threshold", "pairs", w, unit=False))
        for curve, key in (("shingle_words", "curve_length"), ("idf_width", "curve_width")):
            found = [row for row in own if row["curve"] == curve]
            lines = []
            for row in found:
                lines.append(
                    Series(f"{row['method']} · {w.plain('recall')}", [(p[0], p[2]) for p in row["points"]])
                )
                lines.append(
                    Series(f"{row['method']} · {w.plain('precision')}", [(p[0], p[1]) for p in row["points"]])
                )
            figures.append(_figure(lines, key, curve, "f1", w) if lines else "")
        out.append(f'<h3>{w.set(name)}</h3><div class="charts">{"".join(figures)}</div>')
    return "".join(out)


def _figure(lines: Sequence[Series], key: str, x: str, y: str, w: Words, *, unit: bool = True) -> str:
    if not any(line.points for line in lines):
        return ""
    label = w.both("share", "доля", tag="tspan") if y == "f1" else w.svg(y)
    chart = line_chart(lines, title=w.plain(key), x_label=w.svg(x), y_label=label, unit=unit, strong=STRONG)
    return f"<figure><figcaption>{w(key)}</figcaption>{chart}</figure>"


def _clusters(shape: Mapping[str, Any], w: Words) -> str:
    rows = shape["clusters"]
    if not rows:
        return ""
    out = [f'<p class="soft">{w("clusters_about")}</p>']
    for name in _names(rows, "set"):
        own = sorted(
            (row for row in rows if row["set"] == name), key=lambda row: (-row["ari"], row["method"])
        )
        table = [
            (
                row["method"],
                max(0.0, row["ari"]),
                f"{w('groups_found')}: {row['clusters']}, {w('in_truth')} {row['clusters_true']}; "
                f"{w('right_of')}: {row['right_pairs']} {w('of')} {row['pairs']}",
            )
            for row in own
        ]
        out.append(f"<div><h3>{w.set(name)}</h3>{bars(table, title=name)}</div>")
    return f'{out[0]}<div class="sides">{"".join(out[1:])}</div>'


def _costs(shape: Mapping[str, Any], w: Words) -> str:
    rows = shape["costs"]
    if not rows:
        return ""
    heads = "".join(
        f'<th scope="col" class="num">{w(key)}</th>'
        for key in ("signing", "query", "compared", "bytes", "peak")
    )
    out = [f'<p class="soft">{w("costs_about")}</p>']
    for name in _names(rows, "set"):
        body = []
        for row in (r for r in rows if r["set"] == name):
            peak = f"{row['peak_bytes'] / 1e6:.1f}" if row["peak_bytes"] else "–"
            compared = row["compared"] / max(1, row["queries"])
            body.append(
                f'<tr><th scope="row">{safe(row["method"])}</th><td class="num">{row["signing_ms"]:.2f}</td>'
                f'<td class="num">{row["query_ms"]:.2f}</td><td class="num">{compared:.1f}</td>'
                f'<td class="num">{row["bytes"]:,.0f}</td><td class="num">{peak}</td></tr>'
            )
        out.append(
            f'<h3>{w.set(name)}</h3><div class="scroll" tabindex="0" role="region" aria-label="{safe(name)}"><table>'
            f'<thead><tr><th scope="col">{w("method")}</th>{heads}</tr></thead><tbody>{"".join(body)}</tbody></table></div>'
        )
    return "".join(out)


def _labelled(shape: Mapping[str, Any], w: Words) -> str:
    rows = shape["labelled"]
    if not rows:
        return ""
    abouts = {row["set"]: row.get("about", "") for row in shape["sets"]}
    out = [f'<p class="soft">{w("labelled_about")}</p>']
    heads = "".join(
        f'<th scope="col" class="num">{w(k)}</th>' for k in ("threshold", "f1", "precision", "recall", "auc")
    )
    for name in _names(rows, "set"):
        body = []
        for row in (r for r in rows if r["set"] == name):
            at = w("own_rule") if row["threshold"] is None else f"{row['threshold']:g}"
            auc = f"{row['auc']:.3f}" if row.get("auc") is not None else "–"
            interval = _interval(row["f1_interval"])
            body.append(
                f'<tr><th scope="row">{safe(row["method"])}</th><td>{safe(row["kind"])}</td><td class="num">{at}</td>'
                f'<td class="num" title="{safe(interval.strip())}"><b>{row["f1"]:.3f}</b></td>'
                f'<td class="num">{_share(row["precision"])}</td><td class="num">{_share(row["recall"])}</td>'
                f'<td class="num">{auc}</td></tr>'
            )
        out.append(
            f'<h3>{w.set(name)}</h3><p class="soft">{safe(abouts.get(name, ""))}</p>'
            f'<div class="scroll" tabindex="0" role="region" aria-label="{safe(name)}"><table><thead><tr>'
            f'<th scope="col">{w("method")}</th><th scope="col">{w("kind")}</th>{heads}</tr></thead>'
            f"<tbody>{''.join(body)}</tbody></table></div>"
        )
    return "".join(out)


def _failures(shape: Mapping[str, Any], w: Words) -> str:
    if not shape["documents"]:
        return ""
    rows = shape["failures"]
    if not rows:
        return f"<p>{w('no_failures')}</p>"
    methods = _names(rows, "method")
    first = STRONG if STRONG in methods else methods[0]
    options = "".join(
        f'<option value="{safe(name)}"{" selected" if name == first else ""}>{safe(name)}</option>'
        for name in methods
    )
    out = [
        f'<p class="soft">{w("failures_about")}</p><div class="tools"><label>{w("method")} '
        f'<select data-shows="failures">{options}</select></label></div>'
    ]
    for method in methods:
        cards = []
        for row in [r for r in rows if r["method"] == method][:SHOWN_FAILURES]:
            second = "original" if row["kind"] == "missed" else "other"
            cards.append(
                f"<details><summary>{w.change(row['change'])}: {safe(row['document'])} "
                f'<span class="tag">{w(row["kind"])}</span></summary><div class="pair"><div><h4>{w("copy")}: '
                f"{safe(row['query'])}</h4>{safe(row['query_text'])}…</div><div><h4>{w(second)}: {safe(row['document'])}"
                f"</h4>{safe(row['document_text'])}…</div></div></details>"
            )
        hidden = "" if method == first else " hidden"
        out.append(f'<div data-of="failures" data-value="{safe(method)}"{hidden}>{"".join(cards)}</div>')
    return "".join(out)


def _value(value: Any, w: Words) -> str:
    """A setting for people: what was not set is a dash."""
    if value is None or value in ("", []):
        return "–"
    if isinstance(value, bool):
        return w("yes" if value else "no")
    return safe(", ".join(map(str, value)) if isinstance(value, list) else value)


def _settings(shape: Mapping[str, Any], w: Words) -> str:
    settings = "".join(
        f"<dt>{safe(name)}</dt><dd>{_value(value, w)}</dd>" for name, value in shape["settings"].items()
    )
    out = [f"<dl>{settings}</dl>"]
    for row in shape["sets"]:
        if row["kind"] != "changed":
            out.append(f"<h3>{w.set(row['set'])}</h3><p class='soft'>{safe(row.get('about', ''))}</p>")
            continue
        replaced = []
        for name, counts in row["replaced"].items():
            share = counts["replaced"] / counts["words"] if counts["words"] else 0
            replaced.append(
                f"<li>{w.change(name)}: {counts['replaced']:,} ({share:.0%} {w('of_all_words')}); "
                f"{counts['from_thesaurus']:,} {w('from_thesaurus')}, {counts['from_collection']:,} "
                f"{w('from_collection')}</li>"
            )
        out.append(
            f"<h3>{w.set(row['set'])}</h3><p>{row['documents']:,} {w('library')}, {row['changed']:,} {w('changed')}, "
            f"{row['queries']:,} {w('queries')}; {row['siblings']:,} {w('siblings')}.</p>"
            + (f"<p>{w('replaced')}</p><ul>{''.join(replaced)}</ul>" if replaced else "")
        )
    if shape["notes"]:
        out.append(
            f"<h3>{w('notes')}</h3><ul>{''.join(f'<li>{safe(note)}</li>' for note in shape['notes'])}</ul>"
        )
    if shape["skipped"]:
        listed = "".join(f"<li>{safe(one['name'])}: {safe(one['reason'])}</li>" for one in shape["skipped"])
        out.append(f"<h3>{w('skipped')}</h3><ul>{listed}</ul>")
    return "".join(out)
