"""The one shell of all pages, and the one way to put a text into them.

A page is one file: style and script are inside, a content policy forbids everything from outside, and only our own
script runs. `shell` takes a body that was made with `escape`.
"""

from __future__ import annotations

import base64
import hashlib
import html
import re

# What a page must not hold raw: controls, marks that turn the direction of what follows, halves of characters.
_UNSAFE = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff\ufdd0-\ufdef\ufffe\uffff]"
)
_LINE_ENDS = re.compile("\r\n?|[\x0b\x0c\u2028\u2029]")


def escape(value: object) -> str:
    """Safe inside an element and an attribute. What would change the page around it is shown as a sign."""
    plain = _LINE_ENDS.sub("\n", str(value))
    return html.escape(_UNSAFE.sub(_sign, plain), quote=True)


def shell(
    title: str, body: str, *, language: str, style: str = "", script: str = "", report: str = ""
) -> str:
    """A whole page around *body*. *report* is the key under which a page may remember what its reader marked."""
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    policy = (
        f"default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{digest}'; "
        "base-uri 'none'; form-action 'none'"
    )
    key = f' data-report="{escape(report)}"' if report else ""
    return f"""<!DOCTYPE html>
<html lang="{escape(language)}">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="generator" content="doublet">
<meta name="referrer" content="no-referrer">
<title>{escape(title)}</title>
{f"<style>{style}</style>" if style else ""}
</head>
<body{key}>
{body}
{f"<script>{script}</script>" if script else ""}
</body>
</html>
"""


def _sign(found: re.Match[str]) -> str:
    code = ord(found.group())
    return chr(0x2400 + code) if code < 0x20 else "\u2421" if code == 0x7F else "\ufffd"
