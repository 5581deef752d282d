"""Pictures that show the same, made and copied with Pillow, found from the command line."""

from __future__ import annotations

import json
import pathlib
import random
import subprocess
import sys

import pytest
from PIL import Image, ImageDraw, ImageEnhance

from doublet.jobs.find_pictures import find_pictures


def drawn(seed: int, size: tuple[int, int] = (640, 480)) -> Image.Image:
    """Shapes on a ground: something like a diagram, different for each seed."""
    draw = random.Random(seed)
    made = Image.new("RGB", size, tuple(draw.randrange(256) for _ in range(3)))
    pen = ImageDraw.Draw(made)
    for _ in range(14):
        left, top = draw.randrange(size[0]), draw.randrange(size[1])
        box = (left, top, left + draw.randrange(40, 300), top + draw.randrange(40, 200))
        shape = pen.ellipse if draw.random() < 0.5 else pen.rectangle
        shape(box, fill=tuple(draw.randrange(256) for _ in range(3)))
    return made


@pytest.fixture
def folder(tmp_path: pathlib.Path) -> pathlib.Path:
    out = tmp_path / "pictures"
    (out / "sub").mkdir(parents=True)
    for seed in range(40):
        drawn(seed).save(out / f"{seed:02}.png")
    for seed in range(10):
        one = drawn(seed)
        one.resize((200, 150)).save(out / "sub" / f"{seed:02}-small.jpg", quality=40)
        ImageEnhance.Brightness(one).enhance(1.15).convert("L").save(out / "sub" / f"{seed:02}-grey.webp")
    Image.new("RGB", (300, 300), "white").save(out / "blank.png")
    Image.new("RGB", (200, 100), "white").save(out / "blank-too.png")
    (out / "broken.jpg").write_bytes(b"\xff\xd8\xff\xe0 and then nothing")
    (out / "notes.txt").write_text("not a picture")
    return out


@pytest.mark.covers("R9")
def test_copies_of_pictures_are_found_and_nothing_else(folder: pathlib.Path) -> None:
    found = find_pictures([folder])
    expected = {
        str(folder / f"{seed:02}.png"): {
            str(folder / "sub" / f"{seed:02}-{how}") for how in ("small.jpg", "grey.webp")
        }
        for seed in range(10)
    }
    assert {group.keep: {copy.name for copy in group.copies} for group in found.groups} == expected
    assert [outcome.state for outcome in found.outcomes] == ["unreadable"]
    files = sorted(folder.rglob("*.*"))
    random.Random(1).shuffle(files)
    again = find_pictures([path for path in files if path.suffix != ".txt"])
    assert again.groups == found.groups, "the same in any order"


@pytest.mark.covers("R9")
def test_the_command(folder: pathlib.Path) -> None:
    run = [sys.executable, "-m", "doublet", "pictures", str(folder)]
    done = subprocess.run([*run, "--format", "json"], capture_output=True, text=True, check=False)
    assert done.returncode == 3, done.stderr
    assert len(json.loads(done.stdout)["groups"]) == 10
    assert "broken.jpg: it cannot be read as a picture" in done.stderr
    shown = subprocess.run(run, capture_output=True, text=True, check=False).stdout
    assert "62 pictures, 10 groups of the same, with 20 copies" in shown
    nothing = subprocess.run([*run[:-1], str(folder / "absent")], capture_output=True, text=True, check=False)
    assert nothing.returncode == 4 and "there is no file or folder" in nothing.stderr
