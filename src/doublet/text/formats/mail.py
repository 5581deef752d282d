"""Mail: messages (EML), mailboxes (mbox) and pages that a browser saved as a message (MHT).

The text of a message is its plain text where it has one, else its page. Headers are not part of it, attachments are
left out and noted. The messages of a mailbox follow each other.
"""

from __future__ import annotations

import email
import email.errors
import email.header
import email.message
import email.policy
import re
from collections.abc import Iterator

from doublet.errors import Broken, Unreadable
from doublet.text.encoding import decode_page
from doublet.text.formats.protocol import Builder, Hints, Reading

_POSTMARK = re.compile(rb"^From \S[^\n]{0,200}\d{4}[^\n]{0,40}\n(?=[A-Za-z][\w-]*:)", re.M)
_ESCAPED = re.compile(rb"^>(>*From )", re.M)
_PARAGRAPHS = re.compile(r"\n[ \t\r]*\n")
_HEADER_CHARACTERS = 4_000
_SHOWN = 5  # names of attachments in a note


def read(data: bytes, hints: Hints) -> Reading:
    build = Builder(hints.characters)
    if not data.startswith(b"From "):
        _message(_parsed(data), build, hints, "")
        return build.done()
    marks = [found.span() for found in _POSTMARK.finditer(data)]
    if not marks:
        raise Broken("no_message_in_mailbox")
    ends = [*(start for start, _ in marks[1:]), len(data)]
    for number, ((_, start), end) in enumerate(zip(marks, ends, strict=True), 1):
        _message(_parsed(_ESCAPED.sub(rb"\1", data[start:end])), build, hints, f"message {number}")
    if len(marks) > 1:
        build.title = ""  # that of the first message is not that of the mailbox
    return build.done()


class _ShortHeaders(email.policy.Compat32):
    """Headers of a length that no sender needs are cut: their parsers are slow."""

    def header_source_parse(self, sourcelines: list[str]) -> tuple[str, str]:
        name, value = super().header_source_parse(sourcelines)
        return name, value[:_HEADER_CHARACTERS]


def _parsed(data: bytes) -> email.message.Message:
    return email.message_from_bytes(data, policy=_ShortHeaders())


def _message(message: email.message.Message, build: Builder, hints: Hints, element: str) -> None:
    build.offer_title(_words(message.get("Subject", "")))
    saved = message.get_content_type() == "multipart/related"
    attached: list[str] = []
    before = build.empty
    for part in _shown(message, attached):
        _part(part, build, hints, element, page=saved)
    if attached:
        names = ", ".join(attached[:_SHOWN]) + (" …" if len(attached) > _SHOWN else "")
        build.note("attachments_left_out", names=names)
    if build.empty and before and not message.keys():
        raise Broken("no_mail_message")


def _shown(message: email.message.Message, attached: list[str]) -> Iterator[email.message.Message]:
    """The parts that a reader sees, one of several that say the same. Names of others go into *attached*."""
    kind = message.get_content_type()
    if message.get_content_disposition() == "attachment":
        attached.append(_words(message.get_filename() or kind))
    elif kind == "message/rfc822" or (message.is_multipart() and kind != "multipart/alternative"):
        for part in message.get_payload():
            if isinstance(part, email.message.Message):
                yield from _shown(part, attached)
    elif kind == "multipart/alternative":
        parts = [part for part in message.get_payload() if isinstance(part, email.message.Message)]
        kinds = [part.get_content_type() for part in parts]
        # Plain text says the same as the page without its machinery.
        best = kinds.index("text/plain") if "text/plain" in kinds else len(parts) - 1
        if parts:
            yield from _shown(parts[best], attached)
    elif kind in ("text/plain", "text/html"):
        yield message
    elif message.get_filename():
        attached.append(_words(message.get_filename() or ""))


def _part(part: email.message.Message, build: Builder, hints: Hints, element: str, *, page: bool) -> None:
    raw = part.get_payload(decode=True)
    if not isinstance(raw, bytes) or not raw.strip():
        if str(part.get_payload()).strip():
            build.note("mail_part_damaged")
        return
    charset = part.get_content_charset() or ""
    if part.get_content_type() == "text/html":
        from doublet.text.formats.html import parse_page, read_elements
        from doublet.text.frame import useful

        try:
            root, _ = parse_page(raw, charset=charset)
        except Broken as error:
            build.note("part_of_message_why", why=error.note)
            return
        if page and hints.frame:
            useful(root, build)
        else:
            read_elements(root, build, element=element)
        return
    try:
        text, _ = decode_page(raw, header=charset, markup=False)
    except Unreadable as error:
        build.note("part_of_message_why", why=error.note)
        return
    for number, block in enumerate(_PARAGRAPHS.split(text.replace("\r\n", "\n")), 1):
        build.add(block, paragraph=number, element=element)


def _words(value: str) -> str:
    """A header as a person reads it: =?utf-8?b?…?= undone."""
    try:
        return str(email.header.make_header(email.header.decode_header(str(value))))
    except (LookupError, ValueError, email.errors.MessageError):  # a charset not known, or bytes not in it
        return str(value)
