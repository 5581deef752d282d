"""Lists of many libraries: tables of registries, OPML, plain lists."""

from __future__ import annotations

import pathlib

import pytest

from doublet.errors import InputUnreadable
from doublet.sources.lists import Entry, read_list


def entries(tmp_path: pathlib.Path, text: str | bytes, name: str = "list.csv") -> list[Entry]:
    path = tmp_path / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return read_list(str(path)).entries


def short(found: list[Entry]) -> list[tuple[str, str, str]]:
    return [(entry.name, entry.address, entry.kind) for entry in found]


@pytest.mark.covers("L9")
def test_it_works(tmp_path: pathlib.Path) -> None:
    found = entries(tmp_path, "name,url\nOne,https://one.example/\nTwo,https://two.example/feed.xml\n")
    assert short(found) == [
        ("One", "https://one.example/", "auto"),
        ("Two", "https://two.example/feed.xml", "auto"),
    ]
    assert found[1].place.endswith("list.csv:3")


@pytest.mark.covers("L9")
@pytest.mark.parametrize(
    "header",
    [
        "Repository Name,Repository URL,OAI-PMH Base URL",  # OpenDOAR-like
        "title,homepage,oai_base_url",
        "repositoryName;repositoryURL;api",  # re3data-like
        "Name\tHome Page URL\tOAI-PMH URL",  # ROAR-like
        "\ufeffНазвание;Адрес;OAI",
    ],
)
def test_registries(tmp_path: pathlib.Path, header: str) -> None:
    cut = ";" if ";" in header else "\t" if "\t" in header else ","
    rows = [
        ("Библиотека", "https://lib.example/", "https://lib.example/oai/request"),
        ("No OAI", "https://site.example/", ""),
        ("", "https://third.example/x", "OAI-PMH: http://third.example/oai?verb=Identify (new)"),
    ]
    found = entries(tmp_path, "\n".join([header, *(cut.join(row) for row in rows), ""]))
    assert short(found) == [
        ("Библиотека", "https://lib.example/oai/request", "oai"),
        ("No OAI", "https://site.example/", "auto"),
        ("third.example", "http://third.example/oai?verb=Identify", "oai"),
    ]


@pytest.mark.covers("L9")
def test_opml(tmp_path: pathlib.Path) -> None:
    text = """<?xml version="1.0"?><opml version="2.0"><head><title>Feeds</title></head><body>
    <outline text="News"><outline type="rss" text="A" title="Alpha" xmlUrl="https://a.example/rss"/></outline>
    <outline text="B &amp; C" xmlUrl="https://b.example/atom.xml" htmlUrl="https://b.example/"/>
    <outline text="Site" htmlUrl="https://c.example/"/><outline text="nothing"/></body></opml>"""
    assert short(entries(tmp_path, text, "feeds.opml")) == [
        ("Alpha", "https://a.example/rss", "feed"),
        ("B & C", "https://b.example/atom.xml", "feed"),
        ("Site", "https://c.example/", "auto"),
    ]


@pytest.mark.covers("L9")
def test_plain_lists(tmp_path: pathlib.Path) -> None:
    text = """# my libraries
https://one.example/
Второй — https://two.example/oai
https://three.example/feed  Third

not an address
https://one.example
"""
    path = tmp_path / "list.txt"
    path.write_bytes(text.encode("cp1251"))
    found = read_list(str(path))
    assert short(found.entries) == [
        ("one.example", "https://one.example/", "auto"),
        ("Второй", "https://two.example/oai", "auto"),
        ("Third", "https://three.example/feed", "auto"),
    ]
    assert "twice" in str(found.notes[0])


def test_names_are_told_apart_and_bad_addresses_named(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "list.csv"
    path.write_text(
        "name,url,kind\nX,https://a.example/,wiki\nx,https://b.example/,nonsense\nY,ftp://c/,\nZ,,\n"
    )
    found = read_list(str(path))
    assert short(found.entries) == [
        ("X", "https://a.example/", "wiki"),
        ("x (2)", "https://b.example/", "auto"),
    ]
    assert len(found.notes) == 2


@pytest.mark.parametrize(
    "text", ["", "nothing here\n", "name,note\na,b\n", "<opml><body/></opml>", "<?xml version='1.0'?><x"]
)
def test_nothing_in_it(tmp_path: pathlib.Path, text: str) -> None:
    with pytest.raises(InputUnreadable):
        entries(tmp_path, text)


def test_no_entity_is_followed(tmp_path: pathlib.Path) -> None:
    (tmp_path / "secret").write_text("https://secret.example/")
    text = (
        f'<!DOCTYPE opml [<!ENTITY x SYSTEM "file://{tmp_path}/secret">]><opml><body>'
        '<outline text="a" xmlUrl="https://a.example/"/><outline>&x;</outline></body></opml>'
    )
    assert [entry.address for entry in entries(tmp_path, text, "x.opml")] == ["https://a.example/"]
