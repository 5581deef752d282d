"""Builds the collections that the benchmarks run on: real documentation with edited copies planted in it.

    python benchmarks/corpus.py ru en            24 thousand Russian, 60 thousand English documents
    python benchmarks/corpus.py million          1 million documents of 200 words (needs ru and en)
    python benchmarks/corpus.py ru --extra DIR   more Russian text from a folder of your own (txt, md, html)

The text comes from Debian documentation packages, fetched with `apt-get download` and unpacked below
benchmarks/data; nothing is installed. Packages that this release of Debian does not have are skipped and
named. Written are NAME.jsonl (`id`, `text`) and NAME.labels.jsonl (`id`, `group`, `kind`, `rate`: which
documents are edited copies of which). The same packages and the same seed give the same bytes.
"""

from __future__ import annotations

import argparse
import gettext
import gzip
import html
import random
import re
import shutil
import struct
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import orjson

from measure import DATA

SEED = 20250711

# A name with bars lists alternatives: the first one that can be had is taken.
PACKAGES = {
    "ru": """
        libreoffice-help-ru gimp-help-ru manpages-ru manpages-ru-dev kicad-doc-ru debian-handbook
        developers-reference-ru debian-faq-ru maint-guide-ru aptitude-doc-ru installation-guide-amd64
        mplayer-doc doublecmd-help-ru fortunes-ru omegat kate5-data|kate-data kmymoney-common kmail
        konqueror gnome-user-docs evolution-common debmake-doc ubuntu-packaging-guide-html-ru sagemath-doc
        flowblade python-bs4-doc shorewall-doc khelpcenter tellico-doc ufoai-misc libreoffice-l10n-ru
        gcc-12-locales|gcc-14-locales libvirt-l10n mercurial-common binutils-common freeipa-common sympa
        gramps network-manager krita-l10n vlc-l10n kgoldrunner gnucash-common mkvtoolnix git coreutils
        phpmyadmin darktable claws-mail-i18n gnumed-client k3b-i18n ardour-data audacity-data
        gnumeric-common libgtk-3-common kdevelop-l10n gretl gnupg-l10n tortoisehg freedombox gwyddion-common
        cinnamon-l10n wxmaxima pidgin-data kio kleopatra dpkg filezilla-common zypper-common
        wesnoth-1.16-did|wesnoth-1.18-did wesnoth-1.16-dm|wesnoth-1.18-dm wesnoth-1.16-sof|wesnoth-1.18-sof
        wesnoth-1.16-sota|wesnoth-1.18-sota wesnoth-1.16-sotbe|wesnoth-1.18-sotbe
        wesnoth-1.16-dw|wesnoth-1.18-dw
    """,
    "en": """
        linux-doc-6.1|linux-doc-6.12|linux-doc python3.11-doc|python3.13-doc|python3.12-doc
        postgresql-doc-15|postgresql-doc-17|postgresql-doc-16 perl-doc git-doc
        libboost1.74-doc|libboost1.83-doc openjdk-17-doc|openjdk-21-doc gimp-help-en libreoffice-help-en-us
        manpages manpages-dev
    """,
}
DOCUMENTS = {"ru": 24_000, "en": 60_000}
RUSSIAN_PLACE = re.compile(r"(?:^|[/._-])ru(?:$|[/._-]|_RU|-RU)")
LETTERS = {"ru": re.compile(r"[а-яё]", re.I), "en": re.compile(r"[a-z]", re.I)}
WORD = re.compile(r"\w+")

SHORTEST, LONGEST = 170, 1200  # words of a document; with the spread below a document has about 330 words
MEDIAN_LOG, SPREAD = 5.67, 0.45
LONG_PARAGRAPH = 900  # characters; such a paragraph is broken at the ends of sentences

HIDDEN = re.compile(r"<!--.*?-->|<(script|style|head|nav|footer)\b.*?</\1\s*>", re.S | re.I)
BLOCK = re.compile(
    r"</?(?:p|div|li|[uod]l|h[1-6]|t[rdh]|table|br|hr|pre|dd|dt|section|article|blockquote|title|para|"
    r"simpara|page|listitem|varlistentry|term|programlisting|screen|chapter|sect[1-5]|note|item)\b[^>]*>",
    re.I,
)
TAG = re.compile(r"<[^<>]*>")
SENTENCE_END = re.compile(r"(?<=[.!?…])\s+|\n")
ROFF_TEXT = {
    "B",
    "I",
    "R",
    "BR",
    "BI",
    "IB",
    "IR",
    "RB",
    "RI",
    "SB",
    "SM",
    "SH",
    "SS",
    "Nm",
    "Fl",
    "Ar",
    "Xr",
    "Sh",
    "Nd",
}
ROFF_ESCAPE = re.compile(r"\\f(?:\[\w*\]|\(..|.)|\\[&|/,^%:]|\\s[-+]?\d+|\\\*\(..|\\\[\w+\]|\\\(..")


# ------------------------------------------------------------------------------------------ getting the files


def fetch(names: str, folder: Path) -> list[Path]:
    """Downloads and unpacks the packages, unless they are there already; gives the folder of each."""
    if shutil.which("apt-get") is None or shutil.which("dpkg-deb") is None:
        raise SystemExit("the collections are made from Debian packages: apt-get and dpkg-deb are needed")
    folder.mkdir(parents=True, exist_ok=True)
    out = []
    for alternatives in names.split():
        for name in alternatives.split("|"):
            place = folder / name
            if (place / "complete").exists() or _unpack(name, place):
                out.append(place)
                break
        else:
            print(f"  skipped, not to be had here: {alternatives}")
    if not out:
        raise SystemExit("no package could be downloaded: try `apt-get update`, or check the network")
    return out


def _unpack(name: str, place: Path) -> bool:
    shutil.rmtree(place, ignore_errors=True)
    place.mkdir()
    done = subprocess.run(["apt-get", "download", name], cwd=place, capture_output=True, check=False)
    packed = sorted(place.glob("*.deb"))
    if done.returncode or not packed:
        shutil.rmtree(place)
        return False
    subprocess.run(["dpkg-deb", "-x", packed[-1], place / "files"], check=True)
    for file in packed:
        file.unlink()
    (place / "complete").touch()
    print(f"  {name}")
    return True


# ---------------------------------------------------------------------------------------- files to paragraphs


def read(path: Path) -> str:
    raw = path.read_bytes()
    return (gzip.decompress(raw) if path.suffix == ".gz" else raw).decode("utf-8", "replace")


def from_markup(path: Path) -> str:
    text = re.sub(r"\s+", " ", HIDDEN.sub(" ", read(path)))
    return html.unescape(TAG.sub("", BLOCK.sub("\n\n", text)))


def from_roff(path: Path) -> str:
    out = []
    for line in read(path).splitlines():
        if line[:1] in ".'":
            macro, _, rest = line[1:].strip().partition(" ")
            if macro.upper() in ("SH", "SS", "PP", "P", "TP", "IP", "LP"):
                out.append("")
            out.append(rest.replace('"', "") if macro in ROFF_TEXT else "")
        else:
            out.append(line)
    return ROFF_ESCAPE.sub("", "\n".join(out)).replace("\\-", "-").replace("\\", "")


def from_catalogue(path: Path) -> str:
    """The translations of a message catalogue, those of four words and more, in the order of the
    originals."""
    with path.open("rb") as file:
        messages: dict[object, str] = vars(gettext.GNUTranslations(file))["_catalog"]
    ordered = sorted((str(key), text) for key, text in messages.items() if key)
    lines = (re.sub(r"[_&~](?=\w)", "", text) for _, text in ordered)
    return "\n\n".join(line for line in lines if len(WORD.findall(line)) > 3)


def from_fortunes(path: Path) -> str:
    return re.sub(r"^%+\s*$", "\n", read(path), flags=re.M)


def reader_of(path: Path) -> Callable[[Path], str] | None:
    name = path.name.removesuffix(".gz").lower()
    if name.endswith((".html", ".htm", ".xhtml", ".docbook", ".page", ".xml")):
        return from_markup
    if name.endswith((".txt", ".rst", ".md", ".pod", ".adoc")):
        return read
    if name.endswith(".mo"):
        return from_catalogue
    if re.search(r"\.[1-9][a-z]{0,5}$", name):
        return from_roff
    return from_fortunes if "fortunes" in path.parts and "." not in path.name else None


def paragraphs(text: str) -> Iterator[str]:
    for raw in re.split(r"\n\s*\n|\n(?=\s{2,}\S)", text.replace("\r", "")):
        block = re.sub(r"\s+", " ", raw).strip()
        if len(block) <= LONG_PARAGRAPH:
            if len(block) > 1:
                yield block
            continue
        part = ""
        for sentence in re.split(r"(?<=[.!?])\s+", block):
            part = f"{part} {sentence}" if part else sentence
            if len(part) > LONG_PARAGRAPH // 2:
                yield part
                part = ""
        if part:
            yield part


def pieces(text: str, rng: random.Random) -> Iterator[str]:
    """Documents of a few hundred words, cut at paragraphs. A short rest is left out."""
    held: list[str] = []
    words = 0
    goal = 0
    for paragraph in paragraphs(text):
        goal = goal or min(LONGEST, max(SHORTEST, int(rng.lognormvariate(MEDIAN_LOG, SPREAD))))
        held.append(paragraph)
        words += len(WORD.findall(paragraph))
        if words >= goal:
            yield "\n".join(held)
            held, words, goal = [], 0, 0
    if words >= SHORTEST:
        yield "\n".join(held)


def documents(roots: list[Path], language: str, rng: random.Random) -> list[str]:
    """All documents below the folders that are in the language, without exact repeats."""
    out: dict[str, None] = {}
    for root in roots:
        before = len(out)
        for path in sorted(p for p in root.rglob("*") if p.is_file() and not p.is_symlink()):
            make = reader_of(path)
            inside = path.relative_to(root).as_posix()
            if make is None or (language == "ru" and not _russian(inside, root)):
                continue
            try:
                text = make(path)
            except (OSError, EOFError, UnicodeDecodeError, ValueError, IndexError, struct.error):
                continue  # a damaged file of a package is none of our business here
            for piece in pieces(text, rng):
                if len(LETTERS[language].findall(piece)) >= 0.45 * len(piece):
                    out.setdefault(piece)
        print(f"  {root.name}: {len(out) - before} documents")
    return list(out)


def _russian(inside: str, root: Path) -> bool:
    """Packages hold many languages: read what stands in a place marked as Russian, and all of other
    folders."""
    return not (root / "complete").exists() or "-ru" in root.name or RUSSIAN_PLACE.search(inside) is not None


# ---------------------------------------------------------------------------------------------- edited copies


@dataclass(frozen=True)
class Copy:
    text: str
    kind: str
    rate: float


def edited(text: str, rng: random.Random, vocabulary: list[str]) -> Copy:
    """A copy with 2–20 % of the words dropped or replaced, sentences moved, or hardly any change at all."""
    kind = rng.choice(("dropped", "dropped", "replaced", "replaced", "both", "moved", "touched"))
    rate = {"moved": 0.0, "touched": 0.002}.get(kind, rng.uniform(0.02, 0.20))
    sentences = [s for s in SENTENCE_END.split(text) if s]
    if kind == "moved":
        rng.shuffle(sentences)
    elif kind == "both" and len(sentences) > 3:
        places = rng.sample(range(len(sentences)), max(2, len(sentences) // 4))
        turned = [*places[1:], places[0]]
        moved = {to: sentences[origin] for to, origin in zip(places, turned, strict=True)}
        sentences = [moved.get(i, s) for i, s in enumerate(sentences)]
    out = []
    for sentence in sentences:
        words = []
        for word in sentence.split(" "):
            if rng.random() >= rate:
                words.append(word)
            elif kind == "replaced" or (kind != "dropped" and rng.random() < 0.5):
                words.append(rng.choice(vocabulary))
        out.append(" ".join(words))
    return Copy("\n".join(out), kind, round(rate, 3))


def plant(base: list[str], rng: random.Random) -> list[tuple[Copy, int]]:
    """One document in ten gets one to three edited copies. Gives (document, its group or 0), shuffled."""
    sample = rng.sample(base, min(500, len(base)))
    vocabulary = sorted({word for text in sample for word in text.split() if len(word) > 3})
    out = []
    group = 0
    for text in base:
        if rng.random() >= 0.10:
            out.append((Copy(text, "single", 0.0), 0))
            continue
        group += 1
        out.append((Copy(text, "original", 0.0), group))
        out.extend((edited(text, rng, vocabulary), group) for _ in range(rng.randint(1, 3)))
    rng.shuffle(out)
    return out


def write(name: str, records: list[tuple[Copy, int]], folder: Path) -> Path:
    target = folder / f"{name}.jsonl"
    size = words = 0
    with target.open("wb") as texts, (folder / f"{name}.labels.jsonl").open("wb") as labels:
        for number, (copy, group) in enumerate(records):
            id_ = f"{name}-{number:06d}"
            texts.write(orjson.dumps({"id": id_, "text": copy.text}) + b"\n")
            labels.write(
                orjson.dumps({"id": id_, "group": group, "kind": copy.kind, "rate": copy.rate}) + b"\n"
            )
            size += len(copy.text.encode())
            words += len(WORD.findall(copy.text))
    groups = max((g for _, g in records), default=0)
    print(
        f"{target.name}: {len(records)} documents, {size / 1e6:.1f} MB of UTF-8, {words / 1e6:.2f} M words,"
        f" {words / max(1, len(records)):.0f} a document, {groups} groups planted"
    )
    return target


def build(language: str, *, count: int = 0, extra: list[Path] | None = None, folder: Path = DATA) -> Path:
    """NAME.jsonl of one language. *extra* folders are read before the packages; *count* 0: the usual
    number."""
    rng = random.Random(f"{SEED}-{language}")
    print(f"{language}: fetching packages")
    roots = [*(extra or []), *fetch(PACKAGES[language], DATA / "packages" / language)]
    base = documents(roots, language, rng)
    rng.shuffle(base)
    # One base document in ten gets two copies on average: 1.2 documents for each base document.
    return write(language, plant(base[: round((count or DOCUMENTS[language]) / 1.2)], rng), folder)


def made_up(language: str, count: int, folder: Path) -> Path:
    """A small collection of made-up words with edited copies: for a quick look and for tests, without
    packages.

    Words are drawn as in real text: a few very often, most of them seldom.
    """
    rng = random.Random(f"{SEED}-made-up-{language}")
    vowels, consonants = ("аеиоуы", "бвгдзклмнпрст") if language == "ru" else ("aeiou", "bcdfgklmnprst")
    syllables = [c + v for c in consonants for v in vowels]
    words = ["".join(rng.choices(syllables, k=rng.randint(1, 4))) for _ in range(5000)]
    chances = [1 / (rank + 3) for rank in range(len(words))]
    base = []
    for _ in range(round(count / 1.2)):
        drawn = rng.choices(words, chances, k=rng.randint(SHORTEST, 2 * SHORTEST))
        sentences = (" ".join(drawn[i : i + 12]).capitalize() + "." for i in range(0, len(drawn), 12))
        base.append(" ".join(sentences))
    return write(language, plant(base, rng), folder)


# ---------------------------------------------------------------------------------------- a million documents

MILLION_WORDS = 200
EDIT_LEVELS = (0.005, 0.01, 0.02, 0.05, 0.10, 0.20)
FOOTER = (
    "This text is part of a collection that was put together for measuring. It may be copied and changed by "
    "anybody, in whole or in part, with or without changes, as long as this notice is kept. It comes with no "
    "promise of any kind, and nobody who wrote, gathered or handed it on can be made to answer for what is "
    "done with it."
)


def sentences_of(path: Path, limit: int, rng: random.Random) -> list[list[str]]:
    found: dict[str, None] = {}
    for line in path.read_bytes().splitlines():
        for sentence in SENTENCE_END.split(orjson.loads(line)["text"]):
            if 8 <= sentence.count(" ") < 40:
                found.setdefault(sentence)
    out = [s.split() for s in found]
    rng.shuffle(out)
    return out[:limit]


def million(count: int = 1_000_000, *, sources: tuple[Path, ...] = (), folder: Path = DATA) -> Path:
    """Documents of 200 words from real sentences, half of which are made unique by putting other words in.

    One in ten is a copy of an earlier one at one of `EDIT_LEVELS`, one in twenty ends in the same footer,
    one in a thousand is an exact copy. Half of the texts are Russian, half English.
    """
    rng = random.Random(f"{SEED}-million")
    pools = [sentences_of(path, 200_000, rng) for path in sources or (DATA / "ru.jsonl", DATA / "en.jsonl")]
    vocabularies = [sorted({w for s in pool[:20_000] for w in s if len(w) > 3}) for pool in pools]
    target = folder / "million.jsonl"
    recent: list[tuple[list[str], int]] = []
    written = 0
    with target.open("wb", buffering=1 << 20) as file:
        for number in range(count):
            chance = rng.random()
            if recent and chance < 0.101:
                words, which = recent[int(rng.random() * len(recent))]
                if chance < 0.10:
                    words = _touched(words, EDIT_LEVELS[number % len(EDIT_LEVELS)], vocabularies[which], rng)
            else:
                which = number % len(pools)
                words = _recombined(pools[which], vocabularies[which], rng)
                if len(recent) < 50_000:
                    recent.append((words, which))
                else:
                    recent[int(rng.random() * len(recent))] = (words, which)
            text = " ".join(words)
            if 0.101 <= chance < 0.151:
                text = f"{text}\n{FOOTER}"
            written += file.write(orjson.dumps({"id": f"m{number:07d}", "text": text}) + b"\n")
    print(f"{target.name}: {count} documents, {written / 1e9:.2f} GB")
    return target


def _recombined(pool: list[list[str]], vocabulary: list[str], rng: random.Random) -> list[str]:
    words: list[str] = []
    random_, size, choices = rng.random, len(pool), len(vocabulary)
    while len(words) < MILLION_WORDS:
        sentence = pool[int(random_() * size)]
        if random_() < 0.5:  # every run of five words gets a word of its own
            sentence = sentence.copy()
            for at in range(int(random_() * 4), len(sentence), 4):
                sentence[at] = vocabulary[int(random_() * choices)]
        words += sentence
    return words[:MILLION_WORDS]


def _touched(words: list[str], rate: float, vocabulary: list[str], rng: random.Random) -> list[str]:
    out = words.copy()
    for _ in range(max(1, round(rate * len(words)))):
        out[int(rng.random() * len(out))] = vocabulary[int(rng.random() * len(vocabulary))]
    return out


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n")[0])
    parser.add_argument("names", nargs="+", choices=["ru", "en", "million"])
    parser.add_argument(
        "--documents", type=int, default=0, help="how many documents (default 24 000, 60 000, 1 000 000)"
    )
    parser.add_argument(
        "--extra", type=Path, action="append", help="read this folder too; may be given several times"
    )
    parser.add_argument("--out", type=Path, default=DATA, help="where to write (default benchmarks/data)")
    given = parser.parse_args()
    given.out.mkdir(parents=True, exist_ok=True)
    for name in given.names:
        if name == "million":
            million(
                given.documents or 1_000_000,
                folder=given.out,
                sources=(given.out / "ru.jsonl", given.out / "en.jsonl"),
            )
        else:
            build(name, count=given.documents, extra=given.extra, folder=given.out)


if __name__ == "__main__":
    main()
