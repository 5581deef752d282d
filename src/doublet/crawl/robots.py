"""robots.txt by RFC 9309: which addresses of a site may be fetched, and how long to wait between requests.

`parse` reads the groups for one robot; `Rules.allows` judges a path. Where real files break the rules they are read as
the large search engines read them: a missing colon, a misspelt "disallow", any kind of line end. What servers answer
instead of a robots.txt is decided in `doublet.crawl.politeness`. Both follow ``docs/explanation/politeness.md``.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from urllib.parse import quote

LIMIT_BYTES = 500 * 1024  #: of a robots.txt; the rest is not read (RFC 9309, 2.5)
_LINE_BYTES = 2_083 * 8  # longer lines are cut: the longest address that anybody used, and then some
_DISALLOW = frozenset(("disallow", "dissallow", "dissalow", "disalow", "diasllow", "disallaw"))
_AGENT = frozenset(("user-agent", "useragent", "user agent"))
_DELAY = frozenset(("crawl-delay", "crawldelay", "crawl delay"))
_SITEMAP = frozenset(("sitemap", "site-map"))
_TOKEN = re.compile(rb"[A-Za-z_-]*")
_ESCAPE = re.compile(r"%([0-9A-Fa-f]{2})")
_UNRESERVED = frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")


@dataclass(frozen=True, slots=True)
class Rule:
    """One line. *pattern* is in comparable form; an empty one matches everything and decides nothing."""

    allow: bool
    pattern: str

    def matches(self, path: str) -> bool:
        *parts, last = self.pattern.split("*")
        anchored = last.endswith("$")
        if anchored:
            last = last[:-1]
        if not parts:
            return path == last if anchored else path.startswith(last)
        if not path.startswith(parts[0]):
            return False
        at = len(parts[0])
        for part in parts[1:]:
            at = path.find(part, at)
            if at < 0:
                return False
            at += len(part)
        if anchored:
            return path.endswith(last) and len(path) - len(last) >= at
        return path.find(last, at) >= 0


@dataclass(frozen=True, slots=True)
class Rules:
    """What a robots.txt says to one robot."""

    rules: tuple[Rule, ...] = ()
    crawl_delay_s: float | None = None
    sitemaps: tuple[str, ...] = ()  #: as written, for every robot

    def allows(self, target: str) -> bool:
        """Judge path and query. The longest rule that matches decides; of two as long, the one that allows."""
        path = comparable(target.partition("#")[0] or "/")
        if not path.startswith("/"):
            path = f"/{path}"
        best = {True: 0, False: 0}
        for rule in self.rules:
            if len(rule.pattern) > best[rule.allow] and rule.matches(path):
                best[rule.allow] = len(rule.pattern)
        return best[True] >= best[False]


ALLOW_ALL = Rules()
ALLOW_NOTHING = Rules((Rule(False, "/"),))


def parse(body: bytes | str, agent: str) -> Rules:
    """The rules for the robot whose product token is *agent*; those for "*" when no group names it.

    Groups that name it several times are one. Never raises: what cannot be read is left out.
    """
    data = body.encode("utf-8", "surrogatepass") if isinstance(body, str) else body
    for size in (3, 2, 1):  # some cut the byte order mark itself
        if data[:size] == b"\xef\xbb\xbf"[:size]:
            data = data[size:]
            break
    name = agent.lower().encode("utf-8", "replace")
    sitemaps: list[str] = []
    groups: list[_Group] = []
    delays: list[_Group] = []  # to whom delays are said: unlike for the rules, a delay ends the list of names
    for key, value in _lines(data[:LIMIT_BYTES]):
        if key in _AGENT:
            for some in (groups, delays):
                if not some or some[-1].ended:
                    some.append(_Group())
                some[-1].name(value, name)
        elif key == "allow" or key in _DISALLOW:
            if groups:
                groups[-1].ended = delays[-1].ended = True
                groups[-1].rules += _rules(key == "allow", _text(value))
        elif key in _DELAY and delays:
            delays[-1].ended = True
            delays[-1].delay = _seconds(value) if delays[-1].delay is None else delays[-1].delay
        elif key in _SITEMAP and value:
            sitemaps.append(_text(value))
    rules = tuple(rule for group in _own(groups) for rule in group.rules)
    asked = [group.delay for group in _own(delays) if group.delay is not None]
    return Rules(rules, max(asked) if asked else None, tuple(dict.fromkeys(sitemaps)))


def _own(groups: list[_Group]) -> list[_Group]:
    """The groups that name us; those for everybody when there is none."""
    return [group for group in groups if group.mine] or [group for group in groups if group.everybody]


class _Group:
    def __init__(self) -> None:
        self.mine = False
        self.everybody = False
        self.ended = False  #: a rule was seen: the next user-agent begins another group
        self.rules: list[Rule] = []
        self.delay: float | None = None

    def name(self, value: bytes, agent: bytes) -> None:
        if value[:1] == b"*" and (len(value) == 1 or value[1:2].isspace()):
            self.everybody = True
            return
        found = _TOKEN.match(value)
        token = found.group().lower() if found else b""
        self.mine = self.mine or bool(token and token == agent)


def _lines(data: bytes) -> list[tuple[str, bytes]]:
    out = []
    for raw in re.split(rb"\r\n|\r|\n", data):
        line = raw[:_LINE_BYTES].partition(b"#")[0].strip()
        key, colon, value = line.partition(b":")
        if not colon:  # "disallow /x": two words and nothing more
            words = line.split()
            if len(words) != 2:
                continue
            key, value = words
        word = " ".join(key.decode("ascii", "replace").lower().split())
        out.append((word, value.strip()))
    return out


def _rules(allow: bool, value: str) -> list[Rule]:
    """A rule for a folder's index page is one for the folder too, as its address is written more often."""
    pattern = comparable(value)
    if not pattern:
        return []
    rules = [Rule(allow, pattern)]
    folder, slash, page = pattern.rpartition("/")
    if allow and slash and page.startswith("index.htm"):
        rules.append(Rule(allow, f"{folder}/$"))
    return rules


def comparable(path: str) -> str:
    """A path or a pattern in the form in which they are compared: letters beyond ASCII percent-encoded, escapes of
    letters and digits undone, other escapes in capitals."""
    encoded = (
        quote(path, safe="".join(map(chr, range(0x21, 0x7F)))) if not path.isascii() or " " in path else path
    )
    if "%" not in encoded:
        return encoded

    def put(found: re.Match[str]) -> str:
        octet = int(found.group(1), 16)
        return chr(octet) if octet in _UNRESERVED else found.group().upper()

    return _ESCAPE.sub(put, encoded)


def _text(value: bytes) -> str:
    """UTF-8 as the rule wants it; bytes of another encoding stay what they are, percent-encoded."""
    try:
        return value.decode("utf-8")
    except UnicodeDecodeError:
        return "".join(chr(b) if b < 0x80 else f"%{b:02X}" for b in value)


def _seconds(value: bytes) -> float | None:
    try:
        seconds = float(value.decode("ascii", "replace").replace(",", "."))
    except ValueError:
        return None
    return seconds if 0 <= seconds < float("inf") else None
