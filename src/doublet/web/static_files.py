"""Static files as the service hands them out: names with hashes, compressed once when they are collected."""

from __future__ import annotations

from typing import Any

from whitenoise.compress import Compressor
from whitenoise.storage import CompressedManifestStaticFilesStorage


class Storage(CompressedManifestStaticFilesStorage):
    """With gzip alone: the strongest brotli takes half a minute of the first start for a few saved kilobytes."""

    def create_compressor(self, **kwargs: Any) -> Compressor:
        return Compressor(use_brotli=False, **kwargs)
