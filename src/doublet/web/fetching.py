"""Pages from the web for the service: polite, limited, and never from private networks unless the owner said so."""

from __future__ import annotations

from django.conf import settings

from doublet.crawl.politeness import polite_fetcher
from doublet.jobs.read import read_address
from doublet.text.read import ReadDocument
from doublet.web.configure import program_settings


def read_page(address: str) -> ReadDocument:
    """The document at an address. Raises `SourceError`. Whether private networks may be asked is decided when the
    service is started, never by a person who uses it."""
    with polite_fetcher(program_settings(settings.DOUBLET)) as fetcher:
        return read_address(address, fetcher)
