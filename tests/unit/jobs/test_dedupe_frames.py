"""Pages of a site are compared without what nearly all of them carry, in every way in which they can be given."""

from __future__ import annotations

import json
import random
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import doublet
from doublet.jobs.dedupe import frames, joining, keyed_rows
from doublet.jobs.dedupe.frames import Counted, folders_of
from doublet.text.site_frame import lines_of

pytestmark = pytest.mark.covers("T3", "K7")

NOUNS = (
    "harbour glacier violin market lantern orchard railway pottery falcon printing weaving compass".split()
)
VERBS = "keeps repairs describes compares measures restores collects follows".split()
BANNERS = {
    "north": "These pages belong to the archive of a society of readers. Whoever finds a mistake may write to the "
    "keepers of the archive and say on which page it is and what is wrong there. Changed on {day}.",
    "south": "This copy was fetched on {day} by the computing centre. The centre does not answer for what other people "
    "wrote on these pages, and the disks were given by friends of the centre.",
}


def sentences(seed: int, count: int = 3) -> str:
    rng = random.Random(seed)
    return " ".join(
        f"The {rng.choice(NOUNS)} of {rng.choice(NOUNS)} {rng.choice(VERBS)} the {rng.choice(NOUNS)} number "
        f"{rng.randrange(100, 999)} near {rng.choice(NOUNS)}."
        for _ in range(count)
    )


def page(seed: int, banner: str, own: str | None = None) -> str:
    text = sentences(seed) if own is None else own
    return f"<html><body><p>{text}</p><p>{banner.format(day=1 + seed % 28)}</p></body></html>"


def write_sites(folder: Path, pages: int = 24, under: str = "") -> None:
    for side, banner in BANNERS.items():
        (folder / side / under).mkdir(parents=True, exist_ok=True)
        for number in range(pages):
            (folder / side / under / f"{number}.html").write_text(page(number, banner), encoding="utf-8")


def twins(result: doublet.Deduplication) -> set[str]:
    out = set()
    for group in result.groups:
        names = [group.keep, *(member.id for member in group.members)]
        assert len({name.rpartition("/")[2] for name in names}) == 1, names
        out.add(names[0].rpartition("/")[2])
    return out


def codes(result: doublet.Deduplication) -> dict[str, dict[str, object]]:
    return {note.code: dict(note.values) for note in result.notes}


@pytest.fixture(scope="module")
def sites(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("sites")
    write_sites(folder)
    return folder


def test_it_works(sites: Path) -> None:
    result = doublet.dedupe(sites)
    assert twins(result) == {f"{number}.html" for number in range(24)}
    assert result.parameters["frames"] is True
    assert codes(result)["frames_left_out"] == {"lines": 2, "pages": 48}
    assert min(member.resemblance for group in result.groups for member in group.members) == 1


def test_as_it_was_without(sites: Path) -> None:
    result = doublet.dedupe(sites, frames=False)
    assert result.parameters["frames"] is False
    assert "frames_left_out" not in codes(result)
    assert result.groups == (), "a page has more of its banner than of its own"


@pytest.mark.parametrize("method", ["shingles", "minhash", "tfidf"])
def test_with_any_method(sites: Path, method: str) -> None:
    assert len(twins(doublet.dedupe(sites, method=method))) == 24


def test_the_same_with_any_workers_and_batches(sites: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    one = doublet.dedupe(sites).to_dict()
    assert doublet.dedupe(sites, workers=3).to_dict() == one
    monkeypatch.setattr(frames, "MAX_BATCH_RECORDS", 5)
    monkeypatch.setattr(keyed_rows, "COUNTED_BYTES", 500)
    assert doublet.dedupe(sites, workers=2).to_dict() == one


def test_in_folders_below(tmp_path: Path) -> None:
    """Neither of the folders of a site has many pages, the site has."""
    write_sites(tmp_path, pages=12, under="a")
    for side, banner in BANNERS.items():
        (tmp_path / side / "b").mkdir()
        for number in range(12, 24):
            (tmp_path / side / "b" / f"{number}.html").write_text(page(number, banner))
    assert len(twins(doublet.dedupe(tmp_path))) == 24


def test_files_by_their_names(sites: Path) -> None:
    """As a shell gives them for ``north/*.html south/*.html``: each is an input of its own."""
    result = doublet.dedupe(sorted(sites.rglob("*.html")))
    assert len(twins(result)) == 24
    assert result.parameters["frames"] is True
    assert codes(result)["frames_left_out"] == {"lines": 2, "pages": 48}


def test_in_an_archive(tmp_path: Path, sites: Path) -> None:
    packed = tmp_path / "sites.zip"
    with zipfile.ZipFile(packed, "w") as out:
        for path in sorted(sites.rglob("*.html")):
            out.write(path, path.relative_to(sites).as_posix())
    result = doublet.dedupe(packed)
    assert len(twins(result)) == 24
    assert codes(result)["frames_left_out"] == {"lines": 2, "pages": 48}


def warc_record(address: str, body: str) -> bytes:
    answer = b"HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\n\r\n" + body.encode()
    head = (
        f"WARC/1.0\r\nWARC-Type: response\r\nWARC-Target-URI: {address}\r\nContent-Type: application/http\r\n"
        f"Content-Length: {len(answer)}\r\n\r\n"
    )
    return head.encode() + answer + b"\r\n\r\n"


def test_by_host_in_a_crawl(tmp_path: Path) -> None:
    crawl = tmp_path / "crawl.warc"
    with crawl.open("wb") as out:
        for number in range(24):
            for side, banner in BANNERS.items():
                out.write(warc_record(f"https://{side}.example/d{number % 7}/{number}", page(number, banner)))
    result = doublet.dedupe(crawl)
    assert len(twins(result)) == 24
    assert codes(result)["frames_left_out"] == {"lines": 2, "pages": 48}


def test_few_pages_only_where_it_is_asked_for(tmp_path: Path) -> None:
    write_sites(tmp_path, pages=8)
    assert doublet.dedupe(tmp_path).parameters["frames"] is False
    assert len(twins(doublet.dedupe(tmp_path, frames=True))) == 8


@pytest.mark.parametrize(("pages", "left_out"), [(4, False), (5, True)])
def test_five_pages_are_a_site_where_it_is_asked_for(tmp_path: Path, pages: int, left_out: bool) -> None:
    """Of four it is not clear what they have in common by chance."""
    write_sites(tmp_path, pages=pages)
    assert ("frames_left_out" in codes(doublet.dedupe(tmp_path, frames=True))) is left_out


def test_the_root_of_a_site_may_be_some_folders_above_its_pages(tmp_path: Path) -> None:
    """Each page is in folders of its own: only the seventh above it holds the others, too."""
    for side, banner in BANNERS.items():
        for number in range(24):
            folder = tmp_path / side / f"{number}" / "a" / "b" / "c" / "d" / "e"
            folder.mkdir(parents=True)
            (folder / f"{number}.html").write_text(page(number, banner), encoding="utf-8")
    assert len(twins(doublet.dedupe(tmp_path))) == 24


def test_asked_for_in_vain() -> None:
    result = doublet.dedupe([("a", "one two three four five"), ("b", "six seven eight nine")], frames=True)
    assert "frames_without_pages" in codes(result)
    with pytest.raises(doublet.InvalidParameter, match="frames"):
        doublet.dedupe([("a", "one two")], frames="yes")  # type: ignore[arg-type]


def test_copies_of_one_page_are_no_site(tmp_path: Path) -> None:
    """A page that was saved every day: what its copies have in common is their content."""
    text = [sentences(number, 1) for number in range(40)]
    for day in range(30):
        changed = [f"<p>{one}</p>" for one in text]
        for n in range(4):  # more than a word or two: a page has something of its own
            changed[(day + 10 * n) % 40] = f"<p>{sentences(1000 + 10 * day + n, 1)}</p>"
        (tmp_path / f"{day}.html").write_text(f"<html><body>{''.join(changed)}</body></html>")
    result = doublet.dedupe(tmp_path)
    assert (len(result.groups), result.removed) == (1, 29)
    assert "frames_left_out" not in codes(result)


def test_copies_among_longer_pages_are_no_site(tmp_path: Path) -> None:
    """Most pages are copies of one, but the others have more text: what the copies share is no frame."""
    text = "".join(f"<p>{sentences(number, 1)}</p>" for number in range(40))
    for day in range(25):
        name = "".join(random.Random(day).choices("abcdefgh", k=6))
        (tmp_path / f"copy-{day}.html").write_text(f"<html><body>{text}<p>Seen by {name}</p></body></html>")
    for number in range(5):
        other = "".join(f"<p>{sentences(1000 * number + n, 1)}</p>" for n in range(100, 400))
        (tmp_path / f"other-{number}.html").write_text(f"<html><body>{other}</body></html>")
    result = doublet.dedupe(tmp_path)
    assert [(len(group.members), group.keep[:4]) for group in result.groups] == [(24, "copy")]


def test_a_page_of_nothing_but_frame_stays_a_document(tmp_path: Path) -> None:
    banner = BANNERS["north"]
    for number in range(28):
        (tmp_path / f"{number}.html").write_text(page(number, banner))
    for name in ("bare", "bare-too"):
        (tmp_path / f"{name}.html").write_text(f"<html><body><p>{banner.format(day=9)}</p></body></html>")
    result = doublet.dedupe(tmp_path)
    assert result.documents == 30
    assert result.outcomes == ()
    assert [{group.keep, *(one.id for one in group.members)} for group in result.groups] == [
        {"bare.html", "bare-too.html"}
    ]


def test_other_files_beside_pages(tmp_path: Path, sites: Path) -> None:
    """Texts, tables and what cannot be read go their usual way."""
    for path in sites.rglob("*.html"):
        copy = tmp_path / path.relative_to(sites)
        copy.parent.mkdir(exist_ok=True)
        copy.write_bytes(path.read_bytes())
    (tmp_path / "north" / "note.txt").write_text(sentences(900))
    (tmp_path / "south" / "note.txt").write_text(sentences(900))
    (tmp_path / "south" / "broken.pdf").write_bytes(b"%PDF-1.4 nothing")
    (tmp_path / "table.jsonl").write_text(json.dumps({"id": "row", "text": sentences(901)}) + "\n")
    result = doublet.dedupe(tmp_path)
    assert twins(result) == {f"{number}.html" for number in range(24)} | {"note.txt"}
    assert result.documents == 48 + 2 + 1
    assert [one.id for one in result.outcomes] == ["south/broken.pdf"]
    assert "row" in result.kept


def test_what_stays_is_written_whole(tmp_path: Path, sites: Path) -> None:
    from doublet.jobs.dedupe import dedupe_inputs
    from doublet.sources.open import open_source

    out = tmp_path / "kept.jsonl"
    with open_source([str(sites)]) as source:
        dedupe_inputs(source, kept_out=out)
    lines = out.read_text().splitlines()
    assert len(lines) == 24
    assert all("archive of a society" in line or "computing centre" in line for line in lines)


@pytest.mark.parametrize(
    ("id", "folders"),
    [
        ("x.html", [""]),
        ("a/x.html", ["a", ""]),
        ("a/b/x.html", ["a/b", "a", ""]),
        ("https://a.example/x", ["https://a.example"]),
        ("https://a.example", ["https://a.example"]),
        ("https://a.example/", ["https://a.example"]),
        (
            "https://a.example/2026/05/title/",
            ["https://a.example/2026/05", "https://a.example/2026", "https://a.example"],
        ),
        ("https://a.example/p/x?page=a/b", ["https://a.example/p", "https://a.example"]),
    ],
)
def test_folders(id: str, folders: list[str]) -> None:
    assert folders_of(id) == folders


def test_folders_without_end() -> None:
    """A page deeper than the deepest folder that is looked at counts there."""
    names = folders_of("a/" * 500 + "x.html")
    assert (len(names), names[0], names[-1]) == (25, "/".join("a" * 24), "")


def test_counts_do_not_depend_on_order(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nor on what waits on disk, and in how many parts."""
    pages = [
        (f"{folder}/{number}.html", lines_of(f"banner of {folder}\n{sentences(number)}\n{number}", ()))
        for folder in ("p", "q")
        for number in range(30)
    ]
    for seed in range(4):
        random.Random(seed).shuffle(pages)
        monkeypatch.setattr(keyed_rows, "COUNTED_BYTES", (1 << 20, 1 << 20, 0, 1000)[seed])
        monkeypatch.setattr(keyed_rows, "PARTS", (128, 1, 7, 128)[seed])
        counted = Counted(None)
        numbers = {id.partition("/")[0]: counted.add(id, lines) for id, lines in pages}
        found = counted.find(20)
        assert (
            found.frame.tolist()
            == found.common.tolist()
            == sorted(
                int(
                    frames.in_folders(lines_of(f"banner of {name}", ()).keys, np.array([number], np.uint64))[
                        0
                    ]
                )
                for name, number in numbers.items()
            )
        )
        counted.close()


def frame_of(pages: list[tuple[str, list[str]]], least_pages: int = 20) -> dict[tuple[str, str], int]:
    """The lines that are frame in a folder, counted plainly."""
    folders: dict[str, list[list[str]]] = {}
    for id, lines in pages:
        for folder in folders_of(id):
            folders.setdefault(folder, []).append(lines)
    out = {}
    for folder, own in folders.items():
        counts = {line: sum(line in lines for lines in own) for lines in own for line in lines}
        frame = {line: n for line, n in counts.items() if len(own) >= least_pages and n >= 0.7 * len(own)}
        words = sum(len(line.split()) for lines in own for line in lines)
        if sum(len(line.split()) for lines in own for line in lines if line in frame) <= 0.6 * words:
            out |= {(folder, line): n for line, n in frame.items()}
    return out


@pytest.mark.parametrize("seed", range(6))
def test_counts_of_folders_in_folders(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """As plain counting gives them, in every folder above a page."""
    rng = random.Random(seed)
    pages = []
    for number in range(200):
        depth = rng.randrange(4)
        path = [f"d{rng.randrange(2)}" for _ in range(depth)]
        lines = [f"own {chr(97 + number % 26)}{chr(97 + number // 26)} words of this page"]
        levels = [level for level in range(depth + 1) if rng.random() < 0.75]
        lines += ["banner " + "-".join(["of", *path[:level]]) for level in levels]
        pages.append(("/".join([*path, f"{number}.html"]), lines))
    monkeypatch.setattr(keyed_rows, "COUNTED_BYTES", rng.choice([0, 2000, 1 << 20]))
    counted = Counted(None)
    numbers = {}
    for id, lines in pages:
        number = counted.add(id, lines_of("\n".join(lines), ()))
        numbers |= dict(zip(folders_of(id), counted.large_folders(number, 0), strict=True))
    expected = [
        int(frames.in_folders(lines_of(line, ()).keys, np.array([numbers[folder]], np.uint64))[0])
        for folder, line in frame_of(pages)
    ]
    assert counted.find(20).frame.tolist() == sorted(expected)
    counted.close()
    assert expected


ADS = [
    f"Buy the {noun} that {verb} itself, now for {verb[:-1]}ing {noun}s!" for noun in NOUNS for verb in VERBS
]


def write_pages(folder: Path, pages: dict[str, list[str]]) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for name, lines in pages.items():
        text = "".join(f"<p>{line}</p>" for line in lines)
        (folder / f"{name}.html").write_text(f"<html><body>{text}</body></html>", encoding="utf-8")


def test_advertisements_that_change_from_page_to_page(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """None of them is on most pages; together they outweigh what the page says. Each mirror has its own."""
    for at, side in enumerate(BANNERS):
        pool = ADS[20 * at : 20 * at + 8]
        pages = {
            f"{number}": [*random.Random(f"{side}{number}").sample(pool, 3), sentences(number, 2)]
            for number in range(60)
        }
        write_pages(tmp_path / side, pages)
    result = doublet.dedupe(tmp_path)
    assert len(twins(result)) == 60
    monkeypatch.setattr(frames, "MAX_BATCH_RECORDS", 7)
    monkeypatch.setattr(keyed_rows, "COUNTED_BYTES", 500)
    assert doublet.dedupe(tmp_path, workers=2).to_dict() == result.to_dict()


@pytest.mark.parametrize(("pages", "found"), [(3, True), (4, False)])
def test_a_list_that_several_pages_have_makes_them_no_duplicates(
    tmp_path: Path, pages: int, found: bool
) -> None:
    """What three pages have in common may be their content; what four have is no page's own."""
    listed = "See also " + sentences(5000, 3)
    write_pages(tmp_path, {f"other-{number}": [sentences(number)] for number in range(30)})
    write_pages(
        tmp_path, {f"short-{number}": [sentences(900 + number, 1), listed] for number in range(pages)}
    )
    assert bool(doublet.dedupe(tmp_path).removed) is found


def test_versions_of_a_short_page_among_others_are_copies(tmp_path: Path) -> None:
    """Six versions, a sentence of ten changed in each: what they have in common is on the same pages."""
    write_pages(tmp_path, {f"other-{number}": [sentences(number)] for number in range(60)})
    text = [sentences(5000 + number, 1) for number in range(10)]
    for version in range(6):
        changed = list(text)
        changed[version] = sentences(9000 + version, 1)
        write_pages(tmp_path, {f"version-{version}": changed})
    result = doublet.dedupe(tmp_path)
    assert [(len(group.members), group.keep[:7]) for group in result.groups] == [(5, "version")]


@pytest.mark.parametrize(("pages", "removed"), [(19, 18), (20, 0)])
def test_a_note_on_rights_above_many_files_makes_them_no_copies(
    tmp_path: Path, pages: int, removed: int
) -> None:
    """Each says two sentences of its own below ten lines that the others have. Nineteen may be versions of a page."""
    write_pages(tmp_path, {f"other-{number}": [sentences(number, 8)] for number in range(60)})
    note = [sentences(5000 + number, 2) for number in range(10)]
    files = {f"file-{number}": [*note, sentences(9000 + number, 2)] for number in range(pages)}
    write_pages(tmp_path, files)
    assert doublet.dedupe(tmp_path).removed == removed


def test_versions_of_short_pages_are_no_site(tmp_path: Path) -> None:
    """Five pages that were saved thirty times: each of their lines is on a fifth of all pages."""
    for number in range(5):
        text = [sentences(1000 * number + n, 1) for n in range(4)]
        pages = {f"{number}-{day}": [*text, sentences(10_000 + 100 * number + day, 1)] for day in range(30)}
        write_pages(tmp_path, pages)
    assert doublet.dedupe(tmp_path).removed == 145


def test_common_lines_are_counted_in_the_nearest_folder(tmp_path: Path) -> None:
    """Four mirrors in one input: a page's own lines are on four pages of it, and stay its own."""
    for mirror in range(4):
        pages = {f"{number}": [sentences(number), *ADS[mirror : mirror + 2]] for number in range(24)}
        write_pages(tmp_path / f"mirror-{mirror}", pages)
    result = doublet.dedupe(tmp_path)
    assert (len(twins(result)), result.removed) == (24, 72)


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("a/x/boat.html", "b/boat.html", True),
        ("https://a.example/x/boat?utm_source=feed", "https://b.example/boat/", True),
        ("a/viewtopic.php?f=2&t=1", "b/viewtopic.php?t=1&f=2", True),
        ("a/viewtopic.php?t=1", "a/viewtopic.php?t=2", False),
        ("a/index.php?title=Boat", "a/index.php?title=Coat", False),
        ("a/boat.html", "a/coat.html", False),
        ("a/boat/index.html", "b/boat/index.html", True),
        ("a/boat/index.html", "a/coat/index.html", False),
    ],
)
def test_numbers_of_pages(one: str, other: str, same: bool) -> None:
    assert (frames.page_number(one) == frames.page_number(other)) is same


NAMES = [f"{noun} {verb}" for noun in NOUNS for verb in VERBS][:40]


def write_stubs(folder: Path, banner: str, count: int = 40) -> None:
    """Stubs that differ in a name, among other pages."""
    write_pages(folder, {f"other-{number}": [banner, sentences(number, 12)] for number in range(24)})
    stub = "The chapter that you were looking for is now to be found under {}."
    write_pages(folder, {f"stub-{n}": [banner, stub.format(name)] for n, name in enumerate(NAMES[:count])})


@pytest.mark.parametrize("banner", ["", BANNERS["north"].format(day=3)])
def test_stubs_that_differ_in_a_name(tmp_path: Path, banner: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """No two of one site are duplicates, and their twins on a mirror are found; with a frame and without one."""
    write_stubs(tmp_path / "north", banner)
    assert doublet.dedupe(tmp_path).groups == ()
    write_stubs(tmp_path / "south", BANNERS["south"].format(day=4))
    result = doublet.dedupe(tmp_path)
    assert (len(twins(result)), result.removed) == (64, 64)
    monkeypatch.setattr(frames, "MAX_BATCH_RECORDS", 7)
    monkeypatch.setattr(keyed_rows, "COUNTED_BYTES", 500)
    monkeypatch.setattr(keyed_rows, "PARTS", 7)
    assert doublet.dedupe(tmp_path, workers=2).to_dict() == result.to_dict()


@pytest.mark.parametrize(("count", "removed"), [(3, 2), (4, 0)])
def test_three_stubs_may_be_versions_of_a_page(tmp_path: Path, count: int, removed: int) -> None:
    write_stubs(tmp_path, "", count)
    assert doublet.dedupe(tmp_path).removed == removed


def test_forms_are_those_of_a_folder_with_many_pages(tmp_path: Path) -> None:
    """Four pages in four small folders of different hosts have no form in common."""
    crawl = tmp_path / "crawl.warc"
    stub = (
        "<html><body><p>The chapter that you were looking for is now to be found under {}.</p></body></html>"
    )
    with crawl.open("wb") as out:
        for n in range(4):
            out.write(warc_record(f"https://host-{n}.example/stub", stub.format(NAMES[n])))
        for n in range(24):
            out.write(warc_record(f"https://site.example/{n}", page(n, BANNERS["north"])))
    assert doublet.dedupe(crawl).removed == 3


RIGHTS = [sentences(7000 + number, 2) for number in range(4)]  # much more than a page says


def write_titled(folder: Path, pages: dict[str, tuple[str, list[str]]]) -> None:
    """Pages by their names: a title and lines."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, (title, lines) in pages.items():
        text = "".join(f"<p>{line}</p>" for line in lines)
        page = f"<html><head><title>{title}</title></head><body>{text}</body></html>"
        (folder / f"{name}.html").write_text(page, encoding="utf-8")


def reference(title: str = "{} by hand", count: int = 24) -> dict[str, tuple[str, list[str]]]:
    """Pages of which more than three fifths are what all of them have."""
    return {f"{n}": (title.format(name), [sentences(n, 2), *RIGHTS]) for n, name in enumerate(NAMES[:count])}


def test_pages_with_titles_of_their_own_are_no_copies(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A reference: most of each page is notes that all have, yet each is about something else."""
    write_titled(tmp_path / "north", reference())
    assert doublet.dedupe(tmp_path).groups == ()
    write_titled(tmp_path / "south", reference())
    result = doublet.dedupe(tmp_path)
    assert (len(twins(result)), result.removed) == (24, 24)
    monkeypatch.setattr(frames, "MAX_BATCH_RECORDS", 7)
    monkeypatch.setattr(keyed_rows, "COUNTED_BYTES", 500)
    assert doublet.dedupe(tmp_path, workers=2).to_dict() == result.to_dict()


@pytest.mark.parametrize("title", ["", "The same page", "The page of day {}"])
def test_without_such_titles_they_are_copies(tmp_path: Path, title: str) -> None:
    pages = {name: (title.format(name), lines) for name, (_, lines) in reference().items()}
    write_titled(tmp_path, pages)
    assert doublet.dedupe(tmp_path).removed == 23


@pytest.mark.parametrize(("pages", "removed"), [(1, 0), (2, 1), (4, 3)])
def test_a_title_that_two_pages_have_is_not_their_own(tmp_path: Path, pages: int, removed: int) -> None:
    """They are taken for copies, those around them are not."""
    several = reference(count=24 + pages)
    for n in range(24, 24 + pages):
        several[f"{n}"] = ("Saved again", several[f"{n}"][1])
    write_titled(tmp_path, several)
    assert doublet.dedupe(tmp_path).removed == removed


def test_titles_of_packed_pages(tmp_path: Path) -> None:
    write_titled(tmp_path / "site", reference())
    packed = tmp_path / "site.zip"
    with zipfile.ZipFile(packed, "w") as out:
        for path in sorted((tmp_path / "site").iterdir()):
            out.write(path, path.name)
    assert doublet.dedupe(packed).groups == ()


@pytest.mark.parametrize(("pages", "left_out"), [(19, False), (20, True)])
def test_the_menu_of_a_part_of_a_site(tmp_path: Path, pages: int, left_out: bool) -> None:
    """It is on too few pages to be frame of the site. A page of it that is long is compared without it, too."""
    menu = [sentences(6000 + n, 1) for n in range(8)]
    lines = [[sentences(100 * n + k, 1) for k in range(60)] for n in range(pages)]
    write_titled(tmp_path, {f"part-{n}": (NAMES[n], [*menu, *some]) for n, some in enumerate(lines)})
    others = {f"other-{n}": (f"Other {NAMES[n]}", [sentences(4000 + n, 60)]) for n in range(30)}
    write_titled(tmp_path, others)
    told = [note for note in doublet.dedupe(tmp_path).notes if note.code == "frames_left_out"]
    assert bool(told) is left_out


def test_titles_on_mirrors_with_few_pages(tmp_path: Path) -> None:
    """Each line is on four pages of both: a chapter and the whole book. It is the text of the chapter nevertheless."""
    chapters = {f"{n}": [sentences(100 * n + k, 2) for k in range(12)] for n in range(12)}
    for at, side in enumerate(BANNERS):
        pages = {
            name: (NAMES[int(name)], [ADS[12 * at + int(name)], *text]) for name, text in chapters.items()
        }
        write_titled(tmp_path / side, pages)
        write_titled(
            tmp_path / side, {"book": ("The book", [line for text in chapters.values() for line in text])}
        )
    result = doublet.dedupe(tmp_path)
    assert (len(result.groups), result.removed) == (1, 25)


def test_one_article_under_several_titles_is_found(tmp_path: Path) -> None:
    """Eight near copies among other pages of a site, each with a title and a paragraph of its own."""

    def write(name: str, title: str, paragraphs: list[str]) -> None:
        body = "".join(f"<p>{one}</p>" for one in paragraphs)
        text = f"<html><head><title>{title}</title></head><body><article>{body}</article></body></html>"
        (tmp_path / f"{name}.html").write_text(text, encoding="utf-8")

    for n in range(30):
        write(f"other-{n}", f"On {NAMES[n]}", [sentences(1000 + 10 * n + k, 3) for k in range(6)])
    article = [sentences(k, 3) for k in range(8)]
    for n in range(8):
        write(f"copy-{n}", NAMES[30 + n], [*article[:3], sentences(500 + n, 3), *article[4:]])
    (group,) = doublet.dedupe(tmp_path).groups
    assert len(group.members) == 7


def siblings(name: str) -> list[str]:
    """A page about a thing, in words that the pages about other things have, too."""
    return [f"The {name} of a library {line}" for line in (sentences(8000 + n, 2) for n in range(4))]


def write_siblings(folder: Path, names: list[str], title: str = "{}") -> None:
    others = {f"other-{n}": (title.format(NAMES[n]), [sentences(n, 8)]) for n in range(24)}
    pages = {name: (title.format(name), siblings(name)) for name in names}
    write_titled(folder, others | pages)


def test_pages_about_two_things_stay(tmp_path: Path) -> None:
    """The pages about a catalogue and a register differ in these words; each has a copy on the other mirror."""
    names = ["Catalogue", "Register", "Inventory"]
    for side in BANNERS:
        write_siblings(tmp_path / side, names)
    result = doublet.dedupe(tmp_path, pairs=True, views=["families"])
    assert twins(result) == {f"other-{n}.html" for n in range(24)} | {f"{name}.html" for name in names}
    assert codes(result)["siblings_parted"] == {"pairs": 12}
    assert result.pairs is not None
    assert {one.a.rpartition("/")[2] == one.b.rpartition("/")[2] for one in result.pairs} == {True}
    assert {len(family) for family in result.families or ()} == {2}
    related = {
        name.rpartition("/")[2].partition(".")[0] for one in result.related or () for name in (one.a, one.b)
    }
    assert related.isdisjoint(names)
    assert doublet.dedupe(tmp_path, pairs=True, views=["families"], workers=2).to_dict() == result.to_dict()
    bare = doublet.dedupe(tmp_path, frames=False)
    assert "siblings_parted" not in codes(bare)
    assert bare.removed > result.removed


@pytest.mark.parametrize("headed", [True, False])
def test_pages_of_one_title_are_told_apart_by_their_first_lines(tmp_path: Path, headed: bool) -> None:
    """As lists of members are that a generator writes: one title, and the name in the first line."""
    names = ["Catalogue", "Register", "Inventory"]
    for side in BANNERS:
        others = {f"other-{n}": [f"{NAMES[n]} in the list", sentences(n, 8)] for n in range(24)}
        lists = {name: [f"{name if headed else 'Thing'} in the list", *siblings(name)] for name in names}
        write_titled(tmp_path / side, {name: ("List", text) for name, text in (others | lists).items()})
    result = doublet.dedupe(tmp_path)
    assert len(result.groups) == 24 + (3 if headed else 1)
    assert ("siblings_parted" in codes(result)) is headed
    if headed:
        assert len(twins(result)) == 27


@pytest.mark.parametrize(
    ("above", "parted"),
    [
        ("12.05.2024 13:01", True),
        ("{name}s", True),  # one word
        ("A list of all things", True),  # on every page
        ("{name} {name} of the house", True),
        ("{name} " + " ".join(f"word{n}" for n in range(19)), True),
        ("{name} " + " ".join(f"word{n}" for n in range(20)), False),  # a paragraph
    ],
)
def test_which_line_stands_for_a_title(tmp_path: Path, above: str, parted: bool) -> None:
    """A page that has one title with all others; what is above the line that tells its name makes no difference."""
    for side in BANNERS:
        pages = {
            name: ("List", [above.format(name=name.lower()), f"{name} in the list", *text])
            for name, text in [
                *((f"other-{n}", [sentences(n, 8)]) for n in range(24)),
                *((name, siblings(name)) for name in ("Catalogue", "Register")),
            ]
        }
        write_titled(tmp_path / side, pages)
    assert ("siblings_parted" in codes(doublet.dedupe(tmp_path))) is parted


def test_what_the_first_line_alone_says_parts_no_copies(tmp_path: Path) -> None:
    """Such as an advertisement that one of two mirrors shows."""
    for side, word in zip(BANNERS, ("sofa", "lamp"), strict=True):
        pages = {
            f"{n}": (
                "List",
                [
                    f"Whoever has {one} will buy {one} again, and the {one} is said to be good for all of them.",
                    sentences(n, 8),
                ],
            )
            for n, one in enumerate(f"{name.replace(' ', '')}{word}" for name in NAMES[:30])
        }
        write_titled(tmp_path / side, pages)
    assert len(twins(doublet.dedupe(tmp_path))) == 30


def test_a_page_that_covers_its_sibling_is_not_in_the_way_of_copies(tmp_path: Path) -> None:
    """The longest page of a register comes first, and its sibling is kept for the sibling's copy."""
    write_siblings(tmp_path / "north", ["Catalogue", "Register"])
    longer = [*siblings("Register"), sentences(8500, 2)]
    write_titled(tmp_path / "north", {"Register": ("Register", longer)})
    write_siblings(tmp_path / "south", ["Catalogue"])
    groups = doublet.dedupe(tmp_path).groups
    found = {group.keep: [one.id for one in group.members] for group in groups}
    assert found["north/Catalogue.html"] == ["south/Catalogue.html"]
    assert not any("Register" in name for group in found.items() for name in (group[0], *group[1]))


def test_names_of_sites_in_titles_tell_no_pages_apart(tmp_path: Path) -> None:
    """Each mirror says its name three times on every page, and in every title."""
    for side in ("Northern", "Southern"):
        pages = {
            f"{n}": (f"{NAMES[n]} - {side} archive", [sentences(n, 6), f"{side}, {side}: {side} {n}"])
            for n in range(30)
        }
        write_titled(tmp_path / side, pages)
    assert len(twins(doublet.dedupe(tmp_path))) == 30


def forms(line: str, names: list[str], more: str = "") -> dict[str, tuple[str, list[str]]]:
    """Pages that say the same, and each once what its title names."""
    text = [sentences(8600 + n, 2) for n in range(4)]
    return {f"page-{n}": (name, [*text, line.format(name), more]) for n, name in enumerate(names)}


def others(title: str = "{}") -> dict[str, tuple[str, list[str]]]:
    return {f"other-{n}": (title.format(NAMES[n]), [sentences(n, 8)]) for n in range(24)}


@pytest.mark.parametrize(
    ("line", "names", "parted"),
    [
        ("Readers ask for a {} at the desk", ["Catalogue", "Register", "Inventory"], True),
        ("Читатели спрашивают «{}» у стойки", ["Каталог", "Реестр", "Опись"], True),
        ("Readers ask for a list at the desk", ["Catalogue", "Register", "Inventory"], False),
        ("Readers ask for {} at the desk", ["Catalogue 1", "Catalogue 1.2", "Catalogue 1.2.3"], False),
    ],
    ids=["names", "Cyrillic", "copies", "versions"],
)
def test_pages_that_say_one_line_of_two_things_stay(
    tmp_path: Path, line: str, names: list[str], parted: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each has a copy on the other mirror. Copies under several titles and versions are still copies."""
    for side in BANNERS:
        write_titled(tmp_path / side, others() | forms(line, names))
    result = doublet.dedupe(tmp_path, pairs=True)
    assert result.removed == (27 if parted else 29)
    assert ("siblings_parted" in codes(result)) is parted
    if parted:
        assert len(twins(result)) == 27
    monkeypatch.setattr(frames, "MAX_BATCH_RECORDS", 7)
    assert doublet.dedupe(tmp_path, pairs=True, workers=3).to_dict() == result.to_dict()


def test_a_line_that_is_the_first_of_the_page_names_it(tmp_path: Path) -> None:
    """In lists under one title the first lines stand for titles, and are no lines of the page."""
    for side in BANNERS:
        pages = {name: ("List", [f"All of {title}", *text]) for name, (title, text) in others().items()}
        pages |= {
            f"page-{name}": ("List", [f"All of {name}", *(sentences(8600 + n, 2) for n in range(4)), line])
            for name, line in (
                ("Fl_Button", "activate of Fl_Button inline"),
                ("Fl_Box", "activate of Fl_Box inline"),
            )
        }
        write_titled(tmp_path / side, pages)
    assert len(twins(doublet.dedupe(tmp_path))) == 26


def test_a_chapter_inside_its_book_is_still_removed(tmp_path: Path) -> None:
    chapter = forms("Readers ask for a {} at the desk", ["Catalogue"])["page-0"][1]
    write_titled(tmp_path, others())
    write_titled(
        tmp_path,
        {
            "chapter": ("Catalogue", chapter),
            "book": ("Handbook", [*chapter, "Readers ask for a handbook at the gate", sentences(8700, 1)]),
        },
    )
    (group,) = doublet.dedupe(tmp_path).groups
    assert (group.keep, [one.id for one in group.members]) == ("book.html", ["chapter.html"])


def test_names_of_sites_in_lines_tell_no_pages_apart(tmp_path: Path) -> None:
    """Each mirror says once on every page where that is, and has its name in every title."""
    for side in ("Northern", "Southern"):
        pages = {
            f"{n}": (
                f"{NAMES[n]} - {side} archive",
                [sentences(n, 6), f"{NAMES[n]} is kept in the {side} house"],
            )
            for n in range(30)
        }
        write_titled(tmp_path / side, pages)
    assert len(twins(doublet.dedupe(tmp_path))) == 30


@pytest.mark.parametrize(
    "options", [{"candidates": "sketches"}, {"method": "minhash"}, {"method": "shingles"}, {}], ids=str
)
@pytest.mark.parametrize("most", [5, 500])
def test_what_is_grouped_is_among_the_pairs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, options: dict[str, Any], most: int
) -> None:
    """Where siblings are not told apart, the list of pairs has them, too."""
    monkeypatch.setattr(joining, "SIBLING_PAIRS", most)
    for side in BANNERS:
        write_siblings(tmp_path / side, ["Catalogue", "Register", "Inventory"])
    result = doublet.dedupe(tmp_path, pairs=True, **options)
    assert result.pairs is not None
    pairs = {frozenset((one.a, one.b)) for one in result.pairs}
    grouped = {frozenset((group.keep, member.id)) for group in result.groups for member in group.members}
    assert grouped
    assert grouped <= pairs


def test_of_very_many_near_copies_siblings_are_not_looked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(joining, "SIBLING_PAIRS", 5)
    write_siblings(tmp_path, ["Catalogue", "Register", "Inventory", "Index"])
    result = doublet.dedupe(tmp_path)
    assert result.removed == 3
    assert codes(result)["siblings_not_parted"] == {"pairs": 5}
