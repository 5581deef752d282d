"""Old Word documents (.doc) through LibreOffice, where it is installed.

The document is converted to .docx in a folder of its own, with a profile of its own, within a time limit; macros do not
run. What comes out is read like any other .docx.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
import tempfile
from pathlib import Path

from doublet.errors import Encrypted, ReadFailed

TIMEOUT_S = 120.0
_OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_WORD = "WordDocument".encode("utf-16-le")
_ENCRYPTED = "EncryptedPackage".encode("utf-16-le")


def program() -> str | None:
    return shutil.which("soffice") or shutil.which("libreoffice")


def is_old_word(data: bytes) -> bool:
    return data.startswith(_OLE) and _WORD in data


def to_docx(data: bytes) -> bytes:
    """The same document as .docx. Raises `ReadFailed` or `Encrypted`; call it only where there is a `program`."""
    if _ENCRYPTED in data:
        raise Encrypted("save_without_password")
    office = program()
    if office is None:
        raise ReadFailed("old_word_failed")
    with tempfile.TemporaryDirectory(prefix="doublet-doc-") as name:
        folder = Path(name)
        (folder / "work.doc").write_bytes(data)
        process = subprocess.Popen(
            [
                *(
                    office,
                    f"-env:UserInstallation={(folder / 'profile').as_uri()}",
                    "--headless",
                    "--norestore",
                ),
                *("--convert-to", "docx", "--outdir", str(folder), str(folder / "work.doc")),
            ],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,  # it starts programs of its own, which end with it
        )
        try:
            process.wait(TIMEOUT_S)
        except subprocess.TimeoutExpired as error:
            raise ReadFailed("read_too_slow", timeout_s=TIMEOUT_S) from error
        finally:
            with contextlib.suppress(OSError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        try:
            return (folder / "work.docx").read_bytes()
        except OSError as error:
            raise ReadFailed("old_word_failed") from error
