"""Pictures in files and folders, as shades of grey. Needs Pillow (``doublet[pictures]``)."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator
from pathlib import Path

import numpy as np

from doublet.errors import ConfigError, InputUnreadable
from doublet.matches.pictures import SIDE, Picture, perceptual_hash
from doublet.model import Note, Outcome

SUFFIXES = frozenset(".jpg .jpeg .jpe .png .gif .webp .bmp .tif .tiff .ico .ppm .pgm .avif".split())
MOST_PIXELS = 100_000_000  #: a larger one may be made to fill the memory


def picture_files(paths: Iterable[Path]) -> Iterator[Path]:
    """The files that were named, and those with the names of pictures in the folders. Raises `InputUnreadable`."""
    for path in paths:
        if path.is_dir():
            yield from sorted(
                one for one in path.rglob("*") if one.suffix.lower() in SUFFIXES and one.is_file()
            )
        elif path.is_file():
            yield path
        else:
            raise InputUnreadable("pictures_not_there", path=str(path))


def read_picture(path: Path) -> Picture | Outcome:
    """A picture, turned as its camera says; of an animated one the first. An outcome when it cannot be read."""
    try:
        from PIL import Image, ImageOps
    except ImportError as error:
        raise ConfigError("needs_pillow", library="pillow") from error
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            with Image.open(path) as opened:
                width, height = opened.size
                if width * height > MOST_PIXELS:
                    return Outcome(
                        "too_large", str(path), str(path), Note("picture_too_large", pixels=MOST_PIXELS)
                    )
                opened.draft("L", (SIDE * 8, SIDE * 8))  # a JPEG is unpacked no larger than it is looked at
                upright = ImageOps.exif_transpose(opened)
                if upright.mode in ("RGBA", "LA", "PA", "P"):
                    ground = Image.new("RGBA", upright.size, "white")
                    upright = Image.alpha_composite(ground, upright.convert("RGBA"))
                small = upright.convert("L").resize((SIDE, SIDE), Image.Resampling.LANCZOS)
    except (OSError, ValueError, SyntaxError, Image.DecompressionBombError) as error:
        return Outcome("unreadable", str(path), str(path), Note("picture_unreadable", why=str(error)))
    shades = np.asarray(small, np.float64)
    return Picture(str(path), width, height, shades, perceptual_hash(shades))
