"""Pages that are pictures → text, through Tesseract: only where it is installed, and only when asked for."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Mapping

from doublet.errors import ConfigError

LANGUAGES = "rus+eng"
_DOTS_PER_INCH = 300


def available() -> bool:
    return shutil.which("tesseract") is not None


def require() -> None:
    """Raise `ConfigError`, which says what to install, when there is no Tesseract."""
    if not available():
        raise ConfigError("needs_tesseract")


def recognise_pages(data: bytes, pages: list[int]) -> Mapping[int, str]:
    """Page number → recognised text. Pages are drawn in grey at 300 dots per inch."""
    import pypdfium2

    require()
    out = {}
    document = pypdfium2.PdfDocument(data)
    try:
        for number in pages:
            page = document[number - 1]
            bitmap = page.render(scale=_DOTS_PER_INCH / 72, grayscale=True)
            rows = bytes(bitmap.buffer)
            picture = b"".join(
                rows[at * bitmap.stride : at * bitmap.stride + bitmap.width] for at in range(bitmap.height)
            )
            head = f"P5 {bitmap.width} {bitmap.height} 255\n".encode()
            done = subprocess.run(
                ["tesseract", "stdin", "stdout", "-l", _languages()],
                input=head + picture,
                capture_output=True,
                check=False,
            )
            out[number] = done.stdout.decode("utf-8", "replace").replace("\f", "")
    finally:
        document.close()
    return out


def _languages() -> str:
    """Those of LANGUAGES that are installed."""
    done = subprocess.run(["tesseract", "--list-langs"], capture_output=True, text=True, check=False)
    installed = set(done.stdout.split())
    return "+".join(name for name in LANGUAGES.split("+") if name in installed) or "eng"
