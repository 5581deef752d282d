"""Synonyms as one word: a thesaurus in the MyThes format (M14), where the user has one.

The format of LibreOffice and of the Debian packages ``mythes-*``: the first line names the encoding; an entry is
``headword|n`` and n lines ``(relation)|word|word…``. Two words are one concept when each stands among the synonyms of
the other (or in one chain of such pairs, as long as the group stays small: a long chain ends at another meaning).
Antonyms and related terms are left out. Without a thesaurus the method works on stems alone.
"""

from __future__ import annotations

import functools
import hashlib
import lzma
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from doublet.errors import ConfigError
from doublet.signatures.background import Rates
from doublet.text.tokens import Canon

U64 = NDArray[np.uint64]

INSTALLED = "auto"  #: all thesauri of the languages below that the system has
FOLDERS = ("/usr/share/mythes", "/usr/share/myspell/dicts", "/usr/local/share/mythes")
FILES = ("th_ru_RU_v2.dat", "th_en_US_v2.dat")
MOST_IN_CONCEPT = 8  #: words; chains of synonyms drift away from the first meaning

_OTHER_RELATIONS = ("антоним", "antonym", "related", "родств", "similar", "generic")


_OTHER_TERMS = ("(antonym)", "(generic term)", "(related term)")  # after words of the English thesaurus


class Thesaurus:
    """Stem → concept, by hash. Equal content has the equal fingerprint."""

    def __init__(self, stems: U64, concepts: U64) -> None:
        """*stems* (sorted) and the concept of each."""
        self._stems, self._concepts = stems, concepts
        content = stems.tobytes() + concepts.tobytes()
        self.fingerprint = hashlib.blake2b(content, digest_size=8).hexdigest()

    def __len__(self) -> int:
        return len(self._stems)

    def concepts(self, words: U64) -> U64:
        """Concepts in place of the stems that have one."""
        if not len(self._stems):
            return words
        at = np.minimum(np.searchsorted(self._stems, words), len(self._stems) - 1)
        return np.where(self._stems[at] == words, self._concepts[at], words)


def find_thesaurus(name: str) -> Thesaurus | None:
    """The thesaurus of a file, or of those installed ("auto"; None when there are none), or None for "".

    Raises `ConfigError` when the file cannot be read or is no thesaurus.
    """
    if not name:
        return None
    if name == INSTALLED:
        paths = installed()
        return _load(tuple(map(str, paths))) if paths else None
    return _load((name,))


def tell_thesaurus(name: str, found: Thesaurus | None) -> dict[str, str]:
    """A thesaurus as the parameters of an answer tell it: what was asked for, and the fingerprint of its content."""
    return {"thesaurus": name} | ({"thesaurus_content": found.fingerprint} if found is not None else {})


def installed() -> list[Path]:
    """Files of the system's packages (Debian: mythes-ru, mythes-en-us)."""
    found = []
    for file in FILES:
        places = (Path(folder) / file for folder in FOLDERS)
        found += [next((place for place in places if place.is_file()), None)]
    return [path for path in found if path is not None]


def read_entries(path: Path) -> Iterator[tuple[str, list[str]]]:
    """Headwords with the synonyms of each of their senses. Raises `ConfigError`."""
    try:
        data = path.read_bytes()
        if path.suffix == ".xz":
            data = lzma.decompress(data)
        encoding, _, body = data.removeprefix(b"\xef\xbb\xbf").partition(b"\n")
        lines = body.decode(encoding.decode("ascii").strip() or "utf-8").splitlines()
    except (UnicodeDecodeError, LookupError) as error:
        raise _no_thesaurus(path) from error
    except (OSError, ValueError, lzma.LZMAError) as error:
        why = error.strerror if isinstance(error, OSError) else None
        raise ConfigError("thesaurus_unreadable", why=why or error, path=str(path)) from error
    at = 0
    while at < len(lines):
        head, bar, count = lines[at].rpartition("|")
        if not bar or not count.strip().isdigit():
            raise _no_thesaurus(path)
        for line in lines[at + 1 : at + 1 + int(count)]:
            relation, *words = line.split("|")
            if not relation.strip("( ").lower().startswith(_OTHER_RELATIONS):
                yield head, [word.partition(" (")[0] for word in words if not word.endswith(_OTHER_TERMS)]
        at += 1 + int(count)


def _no_thesaurus(path: Path) -> ConfigError:
    return ConfigError(
        "not_mythes",
        path=str(path),
    )


@functools.lru_cache(maxsize=4)
def _load(paths: tuple[str, ...]) -> Thesaurus:
    entries = [entry for path in paths for entry in read_entries(Path(path))]
    stems = _stems(sorted({word for head, words in entries for word in (head, *words)}))
    told: dict[int, set[int]] = {}
    for head, words in entries:
        if head in stems:
            told.setdefault(stems[head], set()).update(stems[word] for word in words if word in stems)
    group: dict[int, set[int]] = {}
    pairs = sorted((a, b) for a, others in told.items() for b in others if a < b and a in told.get(b, ()))
    for a, b in pairs:
        one, other = group.get(a, {a}), group.get(b, {b})
        joined = one | other
        if one is other or len(joined) > MOST_IN_CONCEPT:
            continue
        for word in joined:
            group[word] = joined
    # The commonest word stands for all, so that a concept is not taken for a rare word.
    words_of: U64 = np.array(sorted(group), np.uint64)
    rarity = dict(zip(words_of.tolist(), Rates().of(words_of)[0].tolist(), strict=True))
    heads = [min(group[word], key=lambda w: (rarity[w], w)) for word in words_of.tolist()]
    return Thesaurus(words_of, np.array(heads, np.uint64))


def _stems(words: list[str]) -> dict[str, int]:
    """Hash of the stem of each word; expressions of several words have none."""
    batch = Canon(reduce="stem").tokens(words)
    single = np.flatnonzero(np.diff(batch.offsets) == 1)
    hashes = batch.hashes[batch.offsets[single].astype(np.int64)].tolist()
    return {words[i]: value for i, value in zip(single.tolist(), hashes, strict=True)}
