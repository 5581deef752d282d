"""Writes src/doublet/kernels/fold_table.bin: what every code point becomes in the canonical form.

The table decides what a word is and how it is spelt after folding, so signatures depend on it. It is therefore made
once, kept in the repository and pinned to one version of Unicode (that of the Python that ran this: 3.11, Unicode 14),
whatever Python reads it later. After a change here raise `TEXT_VERSION` in doublet/kernels/data.py: old signatures
must not be compared with new ones.

Entry, 32 bits: 0-20 folded code point (for a dropped one: its kind), 21 WORD, 22 DROP, 23-26 script present
(Latin, Cyrillic, Greek, other), 27-30 the same for *anchors* (letters that have no twin in another script),
31 SPECIAL (several letters, or jamo: the slow path).
"""

from __future__ import annotations

import pathlib
import re
import struct
import sys
import unicodedata
import zlib

WORD, DROP, SPECIAL = 1 << 21, 1 << 22, 1 << 31
LATIN, CYRILLIC, GREEK, OTHER = 1, 2, 4, 8
INVISIBLE, MARK, SILENT, BREAK = 1, 2, 3, 4

# Letters that look the same, one column a script. Case matters: Н and H are twins, н and h are not.
TWINS = """
a а .   c с .   e е .   o о ο   p р ρ   x х χ   y у .   i і ι
A А Α   B В Β   C С .   E Е Ε   H Н Η   I І Ι   K К Κ   M М Μ
O О Ο   P Р Ρ   T Т Τ   X Х Χ   Y У Υ   Z . Ζ   N . Ν   v . ν
""".split()

# Letters of other alphabets, and rare letters of these three, used as look-alikes. Those of other alphabets are no
# anchors of anything; Latin ones (small capitals, phonetic letters) fold to the plain letter wherever they stand.
FOREIGN = """
ѕ s .   Ѕ S .   ј j .   Ј J .   ԁ d .   һ h .   ԛ q .   Ԛ Q .   ԝ w .   Ԝ W .   ӏ l .   Ӏ I .   Ԍ G .   ց g .
ɑ a а   ɡ g .   ı i і   ɩ i і   ɪ i і   ʏ y у   ᴀ a а   ʙ b в   ᴄ c с   ᴅ d .   ᴇ e е   ɢ g .   ʜ h н   ᴊ j .
ᴋ k к   ʟ l .   ᴍ m м   ɴ n .   ᴏ o о   ᴘ p р   ʀ r .   ꜱ s .   ᴛ t т   ᴜ u .   ᴠ v .   ᴡ w .   ᴢ z .   ᴦ . г
ᴧ . л   ᴨ . п   օ o о   Օ O О   ո n п   հ h .   ս u .   Ս U .   Տ S .   Լ L .   Ꭺ A А   Ᏼ B В   Ꮯ C С   Ꭼ E Е
Ꮋ H Н   Ꭻ J .   Ꮶ K К   Ꮇ M М   Ꮲ P Р   Ꭱ R .   Ꮪ S .   Ꭲ T Т   Ꮩ V .   Ꮤ W .   Ꮓ Z .   Ꮐ G .   Ꮮ L .   Ꭰ D .
ⲟ o о   ⲣ p р   ⲥ c с   Ⲟ O О   Ⲣ P Р   Ⲥ C С   Ⲁ A А   Ⲃ B В   Ⲉ E Е   Ⲏ H Н   Ⲓ I І   Ⲕ K К   Ⲙ M М   Ⲛ N .
Ⲧ T Т   Ⲭ X Х   Ⲩ Y У   ꓐ B В   ꓑ P Р   ꓓ D .   ꓔ T Т   ꓖ G .   ꓗ K К   ꓙ J .   ꓚ C С   ꓜ Z .   ꓝ F .   ꓟ M М
ꓠ N .   ꓡ L .   ꓢ S .   ꓣ R .   ꓦ V .   ꓧ H Н   ꓪ W .   ꓫ X Х   ꓬ Y У   ꓮ A А   ꓰ E Е   ꓲ I І   ꓳ O О   ꓴ U .
ꓒ d .   ꭺ a а   ꭼ e е   ꮋ h н   ꭻ j .   ꮶ k к   ꮇ m м   ꮲ p р   ꭱ r .   ꮪ s .   ꭲ t т   ꮩ v .   ꮤ w .   ꮓ z .
ꮐ g .   ꮮ l .   ꭰ d .   ꮯ c с   Ꭵ i і   ꭵ i і   Ꭹ Y У   ꭹ y у   Ꮃ W .   ꮃ w .   Ꮍ Y У   ꮍ y у   Ꮒ h .   Ꮟ b ь
Ꮢ R .   ꮢ r .   Ꮥ S .   Ꮷ d .   Ᏻ G .   ꮁ r г   ĸ k к   Ƅ b Ь   ƅ b ь   Ʀ R .   ƽ s .   Ʌ . Л
ᴎ . и   ᴑ o о   ᴙ . я   ᴫ . л   ꬲ e е   ꬵ f .   ꬽ o о   ꭇ r г   ꭎ u .   ꭒ u .
ꭚ y у   Ʝ J .   Ꭓ X Х   Ꞵ B В   ү y .   Ү Y .   ѵ v .   Ѵ V .   ҽ e .   ѡ w .   ꙇ i .   ա w .   գ q .   զ q .
ռ n .   ք f .   ס o о   ه o о   ഠ o о   ဝ o о   ଠ O О   ყ y у   ჿ o о   ሀ U .   ዐ O О   ᐯ V .   ᑌ U .   ᑭ P Р
ᑯ d .   ᑲ b .   ᒍ J .   ᒪ L .   ᕁ x х   ᕼ H Н   ᕽ x х   ᖇ R .   ᖯ b .   ᖴ F .   ᗅ A А   ᗞ D .   ᗪ D .   ᗰ M М
ᗷ B В   ᚷ X Х   ᛕ K К   ᛖ M М   ⲅ r г   Ⲽ . Ш   ⲽ . ш   Ⳑ L .   ⲁ a а   ⲕ k к   ⲙ m м   ⲛ n .   ⲧ t т   ⲭ x х
ⲩ y у   ⲏ h н   ⲓ i і   ⴸ V .   ⴹ E Е   ⵏ l .   ⵔ O О   ⵕ Q .   ⵝ X Х   ꛟ V .   ꚡ . И   𐊂 B В   𐊆 E Е
𐊇 F .   𐊐 X Х   𐊒 O О   𐊕 P Р   𐊖 S .   𐊗 T Т   𐊠 A А   𐊡 B В   𐊢 C С   𐊥 F .   𐊫 O О   𐊰 M М   𐊱 T Т   𐊲 Y У
𐊴 X Х   𐋏 H Н   𐌁 B В   𐌂 C С   𐌑 M М   𐌕 T Т   𐌗 X Х   𐐄 O О   𐐕 C С   𐐛 L .   𐐠 S .   𐐥 . И   𐐬 o о   𐐽 c с
𐑈 s .   𐒴 R .   𐓂 O О   𐓎 U .   𐓪 o о   𐓶 u .   𐔓 N .   𐔖 O О   𐔘 K К   𐔜 C С   𐔝 V .   𐔥 F .   𐔦 L .   𐔧 X Х
𑢠 V .   𑢢 F .   𑢣 L .   𑢤 Y У   𑢦 E Е   𑢩 Z .   𑢮 E Е   𑢲 L .   𑢵 O О   𑢸 U .   𑢼 T Т   𑣀 v .   𑣁 s .   𑣃 i і
𑣄 z .   𑣈 o о   𑣗 o о   𑣘 u .   𑣜 y у   𖼈 V .   𖼊 T Т   𖼖 L .   𖼵 R .   𖼺 S .   𖽀 A А   𖽂 U .   𖽃 Y У
""".split()

# Greek letters that look like others without being in a row above. They are no anchors either: a Greek word stays
# Greek whatever it is made of, and a stray one yields to its word.
GREEKS = """
α a а   γ y у   ε e .   η n .   κ k к   π . п   σ o о   τ t т   υ u .   φ . ф   ω w .   Γ . Г   Π . П   Φ . Ф   Λ . Л
ϲ c с   Ϲ C С   ϳ j .   Ϳ J .   Ϝ F .   Ϻ M М   ͷ . и   Ͷ . И
""".split()

# Alike enough to fool a reader in some type faces. They stay anchors; they yield only to a firmer script in their word.
WEAK = """
k к   m м   t т   h н   b в   n п   r г   u и
""".split()

# Signs that Unicode calls format characters although they are seen: Arabic and Kaithi marks over numbers.
SEEN = {*range(0x0600, 0x0606), 0x06DD, 0x070F, 0x0890, 0x0891, 0x08E2, 0x110BD, 0x110CD}
BREAKS = [
    0x200B
]  # zero-width space: a word break in Thai and Khmer, a trick between Latin or Cyrillic letters
# Format characters (soft hyphen, joiners, direction marks, tags …), fillers, variation selectors, and what Unicode
# keeps free for more of the kind. Not control characters: in real texts these are dashes of another code page.
INVISIBLES = {
    *(code for code in range(0x110000) if unicodedata.category(chr(code)) == "Cf" and code not in SEEN),
    *(0x034F, 0x115F, 0x1160, 0x17B4, 0x17B5, 0x2065, 0x3164, 0xFFA0),
    *(0x180B, 0x180C, 0x180D, 0x180F),
    *range(0xFE00, 0xFE10),
    *range(0xFFF0, 0xFFF9),
    *range(0xE0000, 0xE1000),
}.difference(BREAKS)
SILENTS = [0x0640]
MARK_RANGES = [
    (0x0300, 0x036F),
    (0x0483, 0x0489),
    (0x0591, 0x05C7),
    (0x0610, 0x061A),
    (0x064B, 0x065F),
    (0x0670, 0x0670),
    (0x1AB0, 0x1AFF),
    (0x1DC0, 0x1DFF),
    (0x20D0, 0x20FF),
    (0x2DE0, 0x2DFF),
    (0xA66F, 0xA672),
    (0xA674, 0xA67D),
    (0xA69E, 0xA69F),
    (0xFE20, 0xFE2F),
]
# Latin letters in circles, squares and parentheses: symbols for Unicode, and the white ones have no plain form there.
DRESSED = {
    chr(first + i): chr(ord(plain) + i)
    for first, plain in (
        *((0x24B6, "A"), (0x24D0, "a"), (0x1F130, "A"), (0x1F150, "A"), (0x1F170, "A")),
        *((0x249C, "a"), (0x1F110, "A")),
    )
    for i in range(26)
}
# Letters with a stroke or a hook, which Unicode does not take apart: ø is o with a mark, like ö. Not those of the
# phonetic alphabet.
STROKED = {
    char: found[2] if found[1] == "CAPITAL" else found[2].lower()
    for code in [*range(0xC0, 0x250), *range(0x2C60, 0x2C80), *range(0xA740, 0xA7C0)]
    if unicodedata.normalize("NFKD", char := chr(code)) == char
    and (found := re.match(r"LATIN (SMALL|CAPITAL) LETTER ([A-Z]) WITH ", unicodedata.name(char, "")))
}
KEPT = {"й": "й", "Й": "й", "ў": "ў", "Ў": "ў", "ї": "ї", "Ї": "ї"}


def is_mark(code: int) -> bool:
    return any(a <= code <= b for a, b in MARK_RANGES) and unicodedata.category(chr(code)) in ("Mn", "Me")


def strip_marks(text: str) -> str:
    return "".join(c for c in unicodedata.normalize("NFD", text) if not is_mark(ord(c)))


def letters_of(char: str) -> str:
    """The folded letters of *char*: compatibility form, case folded, without marks."""
    if char in KEPT:
        return KEPT[char]
    char = DRESSED.get(char) or STROKED.get(char, char)
    if 0xAC00 <= ord(char) <= 0xD7A3 or 0x1100 <= ord(char) <= 0x11FF:
        return char
    wide = unicodedata.normalize("NFKC", char)
    folded = unicodedata.normalize("NFKC", wide.casefold())
    out = "".join(KEPT.get(c) or strip_marks(c) for c in folded)
    out = unicodedata.normalize("NFC", out)
    return "".join(c for c in out if c.isalnum() or c == "_" or unicodedata.category(c) in ("Mc", "Mn"))


def base_of(char: str) -> str:
    """The letter under the marks, in its own case: what decides whether it has a twin."""
    if char in KEPT:
        return char
    wide = unicodedata.normalize("NFKC", DRESSED.get(char, char))
    base = (strip_marks(wide) or wide)[:1]
    return STROKED.get(base, base)


def is_styled(char: str, folded: str) -> bool:
    """True for a letter in another dress: mathematical, script, full-width, raised or lowered, or a Roman numeral."""
    form = unicodedata.decomposition(char).partition(" ")[0]
    if script_of(folded) == OTHER:
        return False
    if form in ("<font>", "<wide>"):
        return True
    roman = "\u2160" <= char <= "\u217f"
    return folded.isalpha() and (roman or form in ("<super>", "<sub>"))


def script_of(char: str) -> int:
    if char.isdigit() or char == "_" or not char.isalpha():
        return 0
    name = unicodedata.name(char, "")
    for start, script in (("LATIN", LATIN), ("CYRILLIC", CYRILLIC), ("GREEK", GREEK)):
        if name.startswith(start):
            return script
    return OTHER


def main() -> None:
    twins: dict[str, tuple[str, str, str]] = {}
    for i in range(0, len(TWINS), 3):
        row = tuple("" if c == "." else c for c in TWINS[i : i + 3])
        for c in row:
            if c:
                twins[c] = row  # type: ignore[assignment]
    foreign: dict[str, tuple[str, str, str]] = {}
    for i in range(0, len(FOREIGN), 3):
        char, latin, cyrillic = ("" if c == "." else c for c in FOREIGN[i : i + 3])
        if "CYRILLIC" in unicodedata.name(char):
            cyrillic = char  # a rare Cyrillic letter is itself in a Cyrillic word
        foreign[char] = (latin, cyrillic, "")
    greeks: dict[str, tuple[str, str, str]] = {}
    for i in range(0, len(GREEKS), 3):
        char, latin, cyrillic = ("" if c == "." else c for c in GREEKS[i : i + 3])
        greeks[char] = (latin, cyrillic, char)

    entries = [0] * 0x110000
    expansions: dict[int, str] = {}
    rows: dict[int, tuple[int, int, int]] = {}
    compat: list[int] = []

    def fold1(c: str) -> int:
        return ord(letters_of(c)) if c else 0

    for code in range(0x110000):
        if 0xD800 <= code <= 0xDFFF:
            continue
        char = chr(code)
        if code in INVISIBLES:
            entries[code] = DROP | INVISIBLE
        elif code in BREAKS:
            entries[code] = DROP | BREAK
        elif code in SILENTS:
            entries[code] = DROP | SILENT
        elif is_mark(code):
            entries[code] = DROP | MARK
        elif char.isalnum() or char == "_" or char in DRESSED or unicodedata.category(char) in ("Mc", "Mn"):
            folded = letters_of(char)
            if folded == "\u0640":  # forms of the Arabic stretching mark vanish like the mark itself
                entries[code] = DROP | SILENT
                continue
            if not folded:
                continue
            base = char if char in greeks else base_of(char)
            if len(folded) > 1:
                entries[code] = WORD | SPECIAL
                expansions[code] = folded
                continue
            entry = WORD | ord(folded)
            phonetic = base in foreign and foreign[base][0] and unicodedata.name(base).startswith("LATIN")
            if (
                phonetic
            ):  # small capitals and the like are Latin letters in another dress: they fold by themselves
                latin, cyrillic, _ = foreign[base]
                entry = WORD | fold1(latin)
                script, anchor = LATIN, 0 if cyrillic else LATIN
                if cyrillic:
                    rows[code] = (fold1(latin), fold1(cyrillic), 0)
            elif base in foreign:
                script, anchor = OTHER, 0
                rows[code] = tuple(fold1(c) for c in foreign[base])  # type: ignore[assignment]
            elif base in greeks:
                script, anchor = GREEK, 0
                rows[code] = tuple(fold1(c) for c in greeks[base])  # type: ignore[assignment]
            else:
                script = script_of(folded)
                anchor = 0 if base in twins else script
                if base in twins:
                    rows[code] = tuple(fold1(c) for c in twins[base])  # type: ignore[assignment]
            entry |= script << 23 | anchor << 27
            if 0x1100 <= code <= 0x11FF:
                entry |= SPECIAL
            if (
                is_styled(char, folded) or char in DRESSED or (phonetic and base != "ı")
            ):  # ı is an honest Turkish letter
                entry |= SPECIAL
                compat.append(code)
            entries[code] = entry

    weak: dict[tuple[int, int], int] = {}
    for i in range(0, len(WEAK), 2):
        latin, cyrillic = WEAK[i : i + 2]
        weak.setdefault((ord(latin), CYRILLIC), fold1(cyrillic))
        weak.setdefault((ord(cyrillic), LATIN), fold1(latin))

    pages: dict[tuple[int, ...], int] = {}
    index = [
        pages.setdefault(tuple(entries[page * 256 : page * 256 + 256]), len(pages)) for page in range(0x1100)
    ]
    out = [struct.pack("<6I", 0x31444644, len(pages), len(rows), len(expansions), len(compat), len(weak))]
    out.append(struct.pack(f"<{len(index)}H", *index))
    out += [struct.pack("<256I", *page) for page in pages]
    out += [struct.pack("<4I", code, *rows[code]) for code in sorted(rows)]
    for code in sorted(expansions):
        letters = [ord(c) for c in expansions[code]][:18]
        out.append(struct.pack("<2I18I", code, len(letters), *letters, *[0] * (18 - len(letters))))
    out += [struct.pack("<I", code) for code in compat]
    out += [struct.pack("<3I", code, script, to) for (code, script), to in sorted(weak.items())]
    target = pathlib.Path(__file__).resolve().parent.parent / "src/doublet/kernels/fold_table.bin"
    target.write_bytes(zlib.compress(b"".join(out), 9))
    print(
        f"Unicode {unicodedata.unidata_version}: {len(pages)} pages, {len(rows)} twins, {len(expansions)} expansions, "
        f"{len(compat)} compatibility letters, {len(weak)} weak twins, {target.stat().st_size} bytes",
        file=sys.stderr,
    )


main()
