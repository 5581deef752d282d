"""Evaluation: changes made on purpose, measures, tables and plots. One command makes the whole report (E1–E4).

    changes/      what people do to a text so that it is not found, each with a map of what came from where
    metrics.py    precision, recall, F1, PAN's plagdet, the adjusted Rand index, intervals
    sets/         labelled data of other people, recognised by its files
    problem.py    a collection and its changed copies as one problem; worker.py runs a method over it
    evaluate.py   the whole run → `Evaluation`;  advisor.py  method and threshold from pairs that a user marked
    differ.py     two methods on the user's own documents, where they differ
    report.py, charts.py, page.py   the page

Explained in docs/how-to/evaluate.md and docs/explanation/accuracy.md.
"""
