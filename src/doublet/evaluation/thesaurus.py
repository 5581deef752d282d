"""Thesauri in MyThes format (as LibreOffice and Debian's ``mythes-ru``, ``mythes-en-us`` have them): lemma → synonyms.

The file is text: its encoding on the first line, then ``headword|N`` and N lines ``(kind)|word|word…``. Antonyms,
broader terms and expressions of several words are left out. A thesaurus can be cut in halves, so that the copies of a
test are made with other words than a method knows.
"""

from __future__ import annotations

import bz2
import functools
import gzip
import hashlib
import lzma
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

from doublet.errors import ConfigError

FOLDERS = ("/usr/share/mythes", "/usr/share/myspell/dicts", "/usr/local/share/mythes")
NAMES = {
    "ru": ("th_ru_RU_v2.dat", "th_ru_RU.dat"),
    "en": ("th_en_US_v2.dat", "th_en_US.dat", "th_en_GB_v2.dat"),
}
PACKAGES = {"ru": "mythes-ru", "en": "mythes-en-us"}
PARTS = ("all", "first", "second")
_NOT_SYNONYMS = ("антоним", "antonym")
_NOT_MARKS = ("antonym", "generic term")
_OPENERS: dict[str, Callable[..., object]] = {".gz": gzip.open, ".xz": lzma.open, ".bz2": bz2.open}


@dataclass(frozen=True)
class Thesaurus:
    """*entries*: lemma → synonyms, all in lower case, each list sorted and without the lemma itself."""

    name: str
    entries: Mapping[str, tuple[str, ...]]
    part: str = "all"

    def synonyms(self, lemma: str) -> tuple[str, ...]:
        return self.entries.get(lemma, ())

    def half(self, part: str) -> Thesaurus:
        """The headwords that fall into one half by a hash of the word: the same on every machine."""
        if part == "all":
            return self
        wanted = PARTS.index(part) - 1
        kept = {
            word: found
            for word, found in self.entries.items()
            if hashlib.blake2b(word.encode(), digest_size=1).digest()[0] % 2 == wanted
        }
        return Thesaurus(self.name, MappingProxyType(kept), part)

    def __len__(self) -> int:
        return len(self.entries)


def find_thesaurus(language: str) -> Path | None:
    """The file of an installed thesaurus of this language, or None."""
    for folder in FOLDERS:
        for name in NAMES.get(language, ()):
            path = Path(folder) / name
            if path.is_file():
                return path
    return None


@functools.lru_cache(maxsize=8)
def load_thesaurus(path: Path) -> Thesaurus:
    """Read a MyThes file (plain, .gz, .bz2 or .xz). Raises `ConfigError` that names the file and says what is wrong."""
    try:
        opener = _OPENERS.get(path.suffix)
        with opener(path, "rb") if opener else path.open("rb") as stream:  # type: ignore[attr-defined]
            raw: bytes = stream.read()
    except (OSError, EOFError, lzma.LZMAError) as error:
        raise ConfigError("thesaurus_unreadable", why=error, path=str(path)) from error
    head, _, body = raw.partition(b"\n")
    encoding = head.decode("ascii", "ignore").strip() or "utf-8"
    try:
        lines = body.decode(encoding).splitlines()
    except (LookupError, UnicodeDecodeError) as error:
        raise ConfigError(
            "thesaurus_encoding",
            encoding=encoding,
            path=str(path),
        ) from error
    entries: dict[str, set[str]] = {}
    at = 0
    while at < len(lines):
        head_word, bar, number = lines[at].rpartition("|")
        if not bar or not number.strip().isdigit():
            raise ConfigError(
                "thesaurus_line",
                path=str(path),
                line=at + 2,
            )
        lemma = head_word.strip().lower()
        if not lemma.isalpha():  # an expression of several words: nothing asks for it
            at += 1 + int(number)
            continue
        found = entries.setdefault(lemma, set())
        for line in lines[at + 1 : at + 1 + int(number)]:
            kind, *words = line.split("|")
            if kind.lstrip("( ").lower().startswith(_NOT_SYNONYMS):
                continue
            for word in words:
                plain, _, mark = word.partition(" (")
                if mark.rstrip(")").strip() in _NOT_MARKS:
                    continue
                plain = plain.strip().lower()
                if plain and plain != lemma and plain.replace("-", "").isalpha():
                    found.add(plain)
        at += 1 + int(number)
    cleaned = {lemma: tuple(sorted(found)) for lemma, found in entries.items() if found}
    return Thesaurus(path.name, MappingProxyType(cleaned))
