"""One page, one key (R4): the spelling under which a page is known, whichever link led to it.

On top of `doublet.addresses.clean`: percent-encoding of windows-1251 is turned into that of UTF-8, parameters that only
count visits are dropped, and the others are sorted. What is asked for keeps its own encoding and order: some servers
understand no other. What changes nothing on one site only is learned (`doublet.crawl.variants`).
"""

from __future__ import annotations

import re
from urllib.parse import quote, unquote_to_bytes

_TRACKING = re.compile(
    r"(?:utm|pk|mtm|matomo|hsa|stm|vero|oly|trk|ga)_\w+|(?:fb|g|dcl|wbra|gbra|ms|y|tt|li_fat_|igsh|tw)clid|gclsrc|"
    r"yclid|ysclid|_openstat|openstat_\w+|from_openstat|fb_(?:action_\w+|source|ref)|mc_[ce]id|_hs(?:enc|mi)|igshid|"
    r"_ga|_gl|mkt_tok|ref_src|ref_url|spm|scm|rb_clickid|roistat\w*|frommarket|"
    r"phpsessid|jsessionid|aspsessionid\w+|cfid|cftoken",
    re.IGNORECASE,
)
_PATH_SESSION = re.compile(r";(?:jsessionid|phpsessid|sid)=[^/?;]*", re.IGNORECASE)
_HIGH_ESCAPE = re.compile(r"(?:%[89A-F][0-9A-F]|%[0-7][0-9A-F]|[\w.~!$'()*+,;:@-])+", re.IGNORECASE)
_CYRILLIC = re.compile("[а-яёА-ЯЁ]")
_MIXED = re.compile("[a-z][а-яё]|[а-яё][a-z]", re.IGNORECASE)
_SAFE = "!$'()*+,;:@-._~"


def is_tracking(name: str) -> bool:
    """Whether a parameter of this name counts visits or sessions, and says nothing about the page."""
    return _TRACKING.fullmatch(name) is not None


def without_tracking(address: str) -> str:
    """A clean address without the parameters that count visits: what is asked for."""
    if ";" in address:
        address = _PATH_SESSION.sub("", address)
    head, mark, query = address.partition("?")
    if not mark:
        return address
    kept = [part for part in query.split("&") if part and not is_tracking(part.partition("=")[0])]
    return f"{head}?{'&'.join(kept)}" if kept else head


def page_key(address: str) -> str:
    """The key of a clean address: the id of the document that is there."""
    head, mark, query = without_tracking(address).partition("?")
    if "%" in head:
        origin, path = _split(head)
        head = origin + "/".join(map(in_utf8, path.split("/")))
    if not mark or not query:
        return head
    parts = sorted(part for part in query.split("&") if part)
    if "%" in query:
        parts = sorted("=".join(map(in_utf8, part.split("=", 1))) for part in parts)
    return f"{head}?{'&'.join(dict.fromkeys(parts))}"


def in_utf8(piece: str) -> str:
    """A piece of a path or a query whose escapes are windows-1251, with escapes of UTF-8; any other as it is."""
    if "%" not in piece:
        return piece
    raw = unquote_to_bytes(piece)
    try:
        raw.decode("utf-8")
        return piece
    except UnicodeDecodeError:
        pass
    try:
        text = raw.decode("windows-1251")
    except UnicodeDecodeError:
        return piece
    high = sum(1 for letter in text if ord(letter) > 0x7F)
    # Another encoding, such as that of "café": nothing is gained by guessing.
    if len(_CYRILLIC.findall(text)) * 2 < high or _MIXED.search(text):
        return piece
    return _HIGH_ESCAPE.sub(lambda found: _encoded(found.group()), piece)


def _encoded(run: str) -> str:
    raw = unquote_to_bytes(run)
    try:
        return quote(raw.decode("windows-1251"), safe=_SAFE)
    except UnicodeDecodeError:
        return run


def _split(head: str) -> tuple[str, str]:
    """Scheme and host, and the path."""
    at = head.find("/", head.find("://") + 3)
    return (head[:at], head[at:]) if at >= 0 else (head, "")
