"""What servers answer, taken apart in a process with limits on time and memory when it is large.

A sitemap, a feed, an answer of a repository and a rendered wiki page come from strangers, as documents do, and a few
megabytes of hostile XML keep a parser busy for minutes. Small ones, which no parser can spend much time on, are read
where they are. A parser is a function of bytes and options that gives what JSON can hold; `PARSERS` names them.
"""

from __future__ import annotations

import importlib
from typing import Any

from doublet.errors import InputUnreadable, Oversized, ReadFailed

#: what → (module, function)
PARSERS = {
    "sitemap": ("doublet.sources.sitemap", "read_sitemap"),
    "feed": ("doublet.sources.feed", "read_feed"),
    "oai": ("doublet.sources.oai", "read_page"),
    "article": ("doublet.sources.wiki", "read_article"),
    "page": ("doublet.sources.whole_page", "read_whole_page"),
}
# The worst that was found takes each a second for so many bytes (docs/decisions/0045-answers-apart.md).
SMALL_BYTES = {"sitemap": 1 << 20, "feed": 1 << 16, "oai": 1 << 20, "article": 1 << 17, "page": 0}


def take_apart(what: str, data: bytes, address: str, **options: Any) -> Any:
    """What the parser *what* gives for an answer of *address*. Raises `InputUnreadable`."""
    from doublet.sources import workers

    options["address"] = address
    try:
        if len(data) <= SMALL_BYTES[what]:
            return run(what, data, options)
        return workers.shared().parse(what, data, options)
    except InputUnreadable as error:
        raise InputUnreadable(error.note, address=address) from error
    except (ReadFailed, Oversized) as error:
        raise InputUnreadable("address_why", why=error.note, address=address) from error


def run(what: str, data: bytes, options: dict[str, Any]) -> Any:
    """Call the parser here and now."""
    module, function = PARSERS[what]
    return getattr(importlib.import_module(module), function)(data, **options)
