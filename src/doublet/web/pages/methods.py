"""Methods explained, each with its parameters and, where it has one, the curve of finding a pair."""

from __future__ import annotations

import functools
from typing import Any

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render

from doublet.signatures import curve as supershingle_curve
from doublet.signatures import method as make_method
from doublet.signatures import methods as known_methods
from doublet.signatures.minhash import MinHash, band_probability
from doublet.signatures.supershingles import Supershingles
from doublet.web.words import Words, words_of

POINTS = 61
WIDTH, HEIGHT, LEFT, TOP = 560, 240, 44, 12


def methods(request: HttpRequest) -> HttpResponse:
    words = words_of(request)
    rows = [
        {
            "name": info.name,
            "title": words.method_title(info.name, info.title),
            "summary": words.method(info.name, info.summary),
            "info": info,
        }
        for info in sorted(known_methods(), key=lambda info: info.name != "auto")
    ]
    return render(request, "doublet/pages/methods.html", {"methods": rows})


def method(request: HttpRequest, name: str) -> HttpResponse:
    info = next((one for one in known_methods() if one.name == name), None)
    if info is None:
        raise Http404
    words = words_of(request)
    return render(
        request,
        "doublet/pages/method.html",
        {
            "info": info,
            "title": words.method_title(info.name, info.title),
            "summary": words.method(info.name, info.summary),
            "parameters": [
                {
                    "name": one.name,
                    "default": _plain(one.default, words),
                    "about": words.parameter(info.name, one.name, one.about),
                    "allowed": words.say(one.allowed),
                }
                for one in info.parameters
            ],
            "curve": _curve(name),
        },
    )


def _plain(value: Any, words: Words) -> Any:
    """A default as people write it."""
    if isinstance(value, bool):
        return words("yes" if value else "no")
    return words("none") if value is None or value == () else value


@functools.cache
def _curve(name: str) -> dict[str, Any] | None:
    """The chance of finding a pair against its resemblance, as the points of a picture."""
    info = next(one for one in known_methods() if one.name == name)
    if info.needs_statistics:
        return None
    made = make_method(name)
    if isinstance(made, MinHash):
        at = [i / (POINTS - 1) for i in range(POINTS)]
        points = [(p, band_probability(p, made.bands, made.rows)) for p in at]
    elif isinstance(made, Supershingles):
        shape = {one: int(getattr(made.parameters, one)) for one in ("groups", "group_size", "required")}
        points = supershingle_curve(**shape, points=POINTS)
    else:
        return None
    line = " ".join(f"{LEFT + x * WIDTH:.1f},{TOP + (1 - y) * HEIGHT:.1f}" for x, y in points)
    ticks = [
        {"x": LEFT + i * WIDTH / 5, "y": TOP + HEIGHT - i * HEIGHT / 5, "label": f"{i / 5:.1f}"}
        for i in range(6)
    ]
    return {
        "line": line,
        "ticks": ticks,
        "left": LEFT,
        "top": TOP,
        "bottom": TOP + HEIGHT,
        "right": LEFT + WIDTH,
        "shown": [(f"{x:.2f}", f"{y:.2f}") for x, y in points if round(x * 60) % 6 == 0],
    }
