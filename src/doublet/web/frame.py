"""What every page shows around its content: words, navigation, the name of the installation."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest
from django.urls import reverse

import doublet
from doublet.web import installation, rights
from doublet.web.words import LANGUAGES, words_of

#: pages in the navigation, each with the beginnings of the names that belong to it
NAVIGATION = (
    ("home", ("home",)),
    ("check", ("check",)),
    ("works", ("work", "works", "group", "groups")),
    ("libraries", ("librar",)),
    ("repeats", ("repeats",)),
    ("queue", ("queue",)),
    ("users", ("user", "invitation")),
    ("audit", ("audit",)),
    ("installation", ("installation",)),
)


def context(request: HttpRequest) -> dict[str, Any]:
    words = words_of(request)
    user = getattr(request, "user", None)
    here = request.resolver_match.view_name if request.resolver_match else ""
    shown = []
    if user is not None and user.is_authenticated:
        for name, beginnings in NAVIGATION:
            if rights.allows(name, "GET", user) == "yes":
                shown.append(
                    {
                        "name": words(f"nav.{name}"),
                        "address": reverse(name),
                        "current": here.startswith(beginnings) and (name != "check" or here == "check"),
                    }
                )
    return {
        "w": words,
        "language": words.language,
        "languages": LANGUAGES,
        "navigation": shown,
        "installation": installation.read(request),
        "version": doublet.__version__,
    }
