"""A folder of ten thousand mixed files into a library, and the same folder again: documents a second, memory.

    python benchmarks/folder.py [--files N] [--cores N]

The files are made here from two short texts (Russian and English, with lists, tables and footnotes), in a dozen formats
by pandoc and LibreOffice where these are installed; each file gets words of its own. A few in a hundred are broken,
empty or of a kind that cannot be read. Memory is that of the program and all its reader processes together. The second
run finds everything unchanged; in the third one file in a hundred is new, changed or deleted.
"""

from __future__ import annotations

import argparse
import io
import random
import shutil
import sys
import tempfile
import zipfile
from pathlib import Path

from measure import HERE, run, save, table

sys.path.insert(0, str(HERE.parent / "tests" / "integration"))
import formats_made

#: suffix → share of the files
MIX = {
    "html": 34, "txt": 14, "md": 10, "docx": 12, "pdf": 10, "odt": 4, "rtf": 4, "epub": 2, "fb2": 2, "rst": 2,
    "wiki": 2, "xml": 1, "tex": 1, "broken": 1, "png": 0.5, "empty": 0.5,
}  # fmt: skip
_MAIN = {"docx": "word/document.xml", "odt": "content.xml"}
_WORDS = "снег город река мост башня вода лодка зима лес north harbour winter stone boat tower road".split()


def samples(folder: Path) -> dict[str, list[bytes]]:
    """Base documents by suffix; without pandoc only texts and pages."""
    found: dict[str, list[bytes]] = {}
    if formats_made.programs() == ["pandoc", "soffice"]:
        for made in formats_made.make(folder):
            found.setdefault(made.path.suffix[1:], []).append(made.path.read_bytes())
    else:
        for language in formats_made.LANGUAGES:
            text = formats_made.original(language)[0]
            found.setdefault("txt", []).append(text.encode())
            found.setdefault("md", []).append(text.encode())
            page = "".join(f"<p>{part}</p>" for part in text.split("\n\n"))
            found.setdefault("html", []).append(f"<html><body>{page}</body></html>".encode())
    return found


def varied(suffix: str, data: bytes, luck: random.Random) -> bytes:
    """The document with words of its own, where the format lets us put them in."""
    words = " ".join(luck.choices(_WORDS, k=40)) + f" {luck.getrandbits(40):x}"
    if suffix in _MAIN:
        out = io.BytesIO()
        with zipfile.ZipFile(io.BytesIO(data)) as old, zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as new:
            for name in old.namelist():
                part = old.read(name)
                if name == _MAIN[suffix]:
                    mark = b"</w:t>" if suffix == "docx" else b"</text:p>"
                    part = part.replace(mark, f" {words}".encode() + mark, 1)
                new.writestr(name, part)
        return out.getvalue()
    if suffix == "html":
        return data.replace(b"</body>", f"<p>{words}.</p></body>".encode(), 1)
    if suffix in ("txt", "md", "rst", "wiki"):
        return data + f"\n\n{words}.\n".encode()
    if suffix == "tex":
        return data.replace(b"\\end{document}", f"\n{words}.\n\\end{{document}}".encode(), 1)
    return data + f"\n<!-- {words} -->".encode() if suffix in ("xml", "fb2") else data


def fill(folder: Path, files: int, seed: int = 1) -> int:
    """Write so many files; gives their bytes."""
    luck = random.Random(seed)
    with tempfile.TemporaryDirectory() as work:
        bases = samples(Path(work))
    kinds = {
        kind: share for kind, share in MIX.items() if kind in bases or kind in ("broken", "png", "empty")
    }
    size = 0
    for number, kind in enumerate(luck.choices(list(kinds), list(kinds.values()), k=files)):
        if kind == "broken":
            suffix, data = "pdf", b"%PDF-1.7\n" + luck.randbytes(500)
        elif kind == "png":
            suffix, data = "png", b"\x89PNG\r\n\x1a\n" + luck.randbytes(500)
        elif kind == "empty":
            suffix, data = "txt", b""
        else:
            suffix, data = kind, varied(kind, luck.choice(bases[kind]), luck)
        place = folder / f"{number // 500:03}"
        place.mkdir(exist_ok=True)
        (place / f"{number:05}.{suffix}").write_bytes(data)
        size += len(data)
    return size


def disturb(folder: Path, luck: random.Random) -> None:
    files = sorted(file for file in folder.rglob("*") if file.is_file())
    for number, file in enumerate(luck.sample(files, max(3, len(files) // 100))):
        if number % 3 == 0:
            file.unlink()
        elif number % 3 == 1:
            file.write_text(" ".join(luck.choices(_WORDS, k=50)), "utf-8")
        else:
            file.with_name(f"new-{file.stem}.txt").write_text(" ".join(luck.choices(_WORDS, k=50)), "utf-8")


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n")[0])
    parser.add_argument("collections", nargs="*", help="not used: the files are made here")
    parser.add_argument("--files", type=int, default=10_000)
    parser.add_argument("--cores", type=int, default=2)
    parser.add_argument("--runs", type=int, default=1, help="not used")
    given = parser.parse_args()
    work = Path(tempfile.mkdtemp(prefix="doublet-folder-"))
    rows = []
    try:
        folder = work / "files"
        folder.mkdir()
        size = fill(folder, given.files)
        command = [sys.executable, "-m", "doublet", "library", "add", "x", folder, "--create", "--quiet"]
        env = {"DOUBLET_DATABASE": str(work / "library.db")}
        for name in ("first", "again", "1 % changed"):
            if name.startswith("1"):
                disturb(folder, random.Random(2))
            done = run(command, on_cores=given.cores, env=env)
            if done.code:
                sys.exit(done.err)
            states = dict(line.rsplit(None, 1) for line in done.out.splitlines() if line.startswith("  "))
            rows.append(
                {
                    "walk": name,
                    "files": given.files,
                    "MB": size / 1e6,
                    "documents/s": given.files / done.wall_s,
                    "wall s": done.wall_s,
                    "CPU s": done.cpu_s,
                    "cores busy": done.cpu_s / done.wall_s,
                    "peak MB": done.peak_mb,
                    "outcomes": ", ".join(f"{many} {state.strip()}" for state, many in states.items()),
                }
            )
    finally:
        shutil.rmtree(work, ignore_errors=True)
    save("folder", rows)
    print(table(list(rows[0]), [list(row.values()) for row in rows]))


if __name__ == "__main__":
    main()
