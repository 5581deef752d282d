"""What is raised over a packed file that is damaged, cut off, encrypted, or packed in a way that nobody here knows.

zipfile, tarfile and the libraries below them name each of these differently, and some name them by errors of Python: a
name that is no UTF-8 is a ValueError, an encrypted part a RuntimeError, a way of packing that is not known a
NotImplementedError (which is a RuntimeError: catch it first where it matters), damaged bzip2 an OSError.
"""

from __future__ import annotations

import lzma
import struct
import tarfile
import zipfile
import zlib

DAMAGED: tuple[type[Exception], ...] = (
    zipfile.BadZipFile,
    zipfile.LargeZipFile,
    tarfile.TarError,
    zlib.error,
    lzma.LZMAError,
    struct.error,
    EOFError,
    OSError,
    OverflowError,
    RuntimeError,
    ValueError,
)
