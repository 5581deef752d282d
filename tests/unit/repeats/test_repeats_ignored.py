"""What is left out of a search: by comments in the text, by patterns, by ignore files; and by decisions."""

from __future__ import annotations

import pathlib

import pytest

import doublet
from doublet.errors import InvalidParameter, UsageError
from doublet.repeats.ignored import ignored_spans

ONE = "Press the green button on the left side of the panel and wait until the lamp goes out."
OTHER = "Maps that fold badly were sold off in autumn for next to nothing."
pytestmark = pytest.mark.covers("P7")


@pytest.mark.parametrize(
    ("name", "comment"),
    [
        ("a.md", "<!-- doublet-ignore -->"),
        ("a.md", "[//]: # (doublet-ignore)"),
        ("a.mdx", "{/* doublet-ignore */}"),
        ("a.html", "<!--doublet-ignore-->"),
        ("a.rst", ".. doublet-ignore"),
        ("a.tex", "% doublet-ignore"),
        ("a.adoc", "// doublet-ignore"),
    ],
)
def test_the_next_paragraph_is_ignored(name, comment):
    texts = {"b.md": ONE, name: f"{OTHER}\n\n{comment}\n\n{ONE}\n\nThe end."}
    assert not doublet.find_repeats(texts).groups
    assert doublet.find_repeats(texts | {"c.md": ONE}).groups[0].fragments[1].file == "c.md"


def test_a_stretch_and_a_whole_file():
    text = f"One.\n\n<!-- doublet-ignore-start -->\n\n{ONE}\n\n{OTHER}\n\n<!-- doublet-ignore-end -->\n\nTwo."
    assert [text[span.start : span.end].split(maxsplit=1)[0] for span in ignored_spans(text)] == ["<!--"]
    assert not doublet.find_repeats({"a.md": text, "b.md": f"{ONE}\n\n{OTHER}"}).groups
    open_end = text.replace("<!-- doublet-ignore-end -->", "")
    assert ignored_spans(open_end)[0].end == len(open_end)
    whole = f"{ONE}\n\n<!-- doublet-ignore-file -->\n"
    assert not doublet.find_repeats({"a.md": whole, "b.md": ONE}).groups


def test_a_sentence_about_the_comment_ignores_nothing():
    text = f"Write `doublet-ignore` into a comment.\n\n{ONE}"
    assert ignored_spans(text) == []


@pytest.fixture
def tree(tmp_path):
    for name in ("a.md", "drafts/b.md", "drafts/keep.md", "build/c.md", "deep/er/d.md"):
        path = tmp_path / "docs" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(ONE)
    return tmp_path / "docs"


def read(tree: pathlib.Path, **options) -> set[str]:
    found = doublet.find_repeats(tree, **options)
    return {pathlib.Path(file.file).relative_to(tree).as_posix() for file in found.files}


def test_patterns_leave_files_out(tree):
    assert len(read(tree)) == 5
    assert read(tree, exclude=["drafts/", "d.md"]) == {"a.md", "build/c.md"}
    assert read(tree, exclude=["/build", "**/er"]) == {"a.md", "drafts/b.md", "drafts/keep.md"}
    note = next(
        n for n in doublet.find_repeats(tree, exclude=["build"]).notes if n.code == "ignored_left_out"
    )
    assert note.values["ignored"] == 1
    with pytest.raises(InvalidParameter, match="list of patterns"):
        doublet.find_repeats(tree, exclude="build")


def test_ignore_files_of_the_tree(tree):
    (tree / ".gitignore").write_text("build/\ndrafts/*\n!drafts/keep.md\n")
    (tree / "deep" / ".doubletignore").write_text("# none of it\n*\n")
    assert read(tree) == {"a.md", "drafts/keep.md"}
    assert len(read(tree, ignore_files=False)) == 5
    assert read(tree, exclude=["keep.md"]) == {"a.md"}
    named = doublet.find_repeats([tree / "build" / "c.md", tree])
    assert len(named.files) == 3, "a file that is named itself is read"


def test_an_ignore_file_above_counts_inside_its_repository_only(tree):
    (tree.parent / ".gitignore").write_text("docs/build\n")
    assert "build/c.md" in read(tree)
    (tree.parent / ".git").mkdir()
    assert "build/c.md" not in read(tree)


def decisions(found: doublet.Repeats, *what: str) -> dict:
    rows = [
        {"group": group.id, "decision": one, "fragments": [{"file": f.file} for f in group.fragments]}
        for group, one in zip(found.groups, what, strict=True)
    ]
    return {"format": 1, "decisions": rows}


def test_decisions_are_read_back():
    texts = {"a.md": f"{ONE}\n\n{OTHER}", "b.md": f"{OTHER}\n\nBetween.\n\n{ONE}"}
    found = doublet.find_repeats(texts)
    assert len(found.groups) == 2
    decided = doublet.find_repeats(texts, decisions=decisions(found, "ignore", "keep"))
    assert [group.decision for group in decided.groups] == ["keep", "ignore"]
    assert "1 group is ignored by decision" in [str(note) for note in decided.notes]
    gone = doublet.find_repeats(OTHER, decisions=decisions(found, "merge", "merge"))
    assert "2 decisions belong to groups that are no longer found" in [str(note) for note in gone.notes]


def test_a_decision_to_keep_is_open_again_with_one_more_copy():
    texts = {"a.md": ONE, "b.md": ONE}
    first = doublet.find_repeats(texts)
    known = first.to_dict()
    more = texts | {"c.md": ONE}
    for what, new in (("keep", 1), ("merge", 1), ("ignore", 0)):
        after = doublet.find_repeats(more, baseline=known, decisions=decisions(first, what))
        assert len(after.new_groups) == new, what


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({}, "no list of decisions"),
        ({"decisions": []}, "format"),
        ({"format": None, "decisions": []}, "format is None"),
        ({"format": "1", "decisions": []}, "format is '1'"),
        ({"format": 3, "decisions": []}, "format is 3"),
        ({"format": 1, "decisions": [{"group": "r1"}]}, "lacks"),
        ({"format": 1, "decisions": [{"group": "r1", "decision": "burn", "fragments": []}]}, "merge, keep"),
    ],
)
def test_what_is_no_file_of_decisions_is_refused(given, says):
    with pytest.raises(UsageError, match=says):
        doublet.find_repeats(ONE, decisions=given)
