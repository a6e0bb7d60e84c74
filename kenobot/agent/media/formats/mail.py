"""Read e-mails that are stored as files, and pages that browsers store as such."""

import email
import email.policy
from collections.abc import Iterator
from email.message import EmailMessage, MIMEPart
from typing import Final

from kenobot.agent.media.formats.page import page_lines

_HEADERS: Final = ("From", "To", "Cc", "Date", "Subject")
_MOST_NESTED: Final = 5


def mail_lines(raw: bytes) -> Iterator[str]:
    """Yield the heads of a message, its text, and the names of its attachments."""
    message = email.message_from_bytes(raw, policy=email.policy.default)
    yield from _lines(message, 0)


def _lines(message: EmailMessage, depth: int) -> Iterator[str]:
    for name in _HEADERS:
        if value := " ".join(str(message.get(name, "")).split()):
            yield f"{name}: {value}"
    body = message.get_body(("plain", "html")) if not _is_page(message) else message.get_body(("html", "plain"))
    if body is not None:
        yield from _body(body)
    parts = list(message.walk()) if message.is_multipart() else []
    within = {
        id(each)
        for part in parts
        if part is not message and part.get_content_type() == "message/rfc822"
        for each in part.walk()
        if each is not part
    }
    for part in parts:
        if part is body or id(part) in within or part.get_content_maintype() == "multipart":
            continue
        if part.get_content_type() == "message/rfc822" and depth < _MOST_NESTED:
            yield "[attached message]"
            for inner in part.iter_parts() if part.is_multipart() else ():
                if isinstance(inner, EmailMessage):
                    yield from _lines(inner, depth + 1)
        elif part.get_content_type() == "text/calendar" and not part.is_attachment():
            yield from _text(part).splitlines()
        elif (file := part.get_filename()) and (part.is_attachment() or "Content-ID" not in part):
            yield f"[attached file: {file}]"


def _is_page(message: EmailMessage) -> bool:
    """Return whether a message is a page that a browser stored."""
    return message.get_content_type() == "multipart/related" and "Snapshot-Content-Location" in message


def _body(body: MIMEPart) -> Iterator[str]:
    if body.get_content_type() == "text/html":
        yield from page_lines(_text(body))
        return
    text = _text(body)
    if body.get_param("format") == "flowed":
        text = _unflow(text, is_split=body.get_param("delsp") == "yes")
    yield from text.splitlines()


def _text(part: MIMEPart) -> str:
    raw = part.get_payload(decode=True)
    content = raw if isinstance(raw, bytes) else b""
    for name in (part.get_content_charset() or "utf-8", "utf-8"):
        try:
            return content.decode(name)
        except (UnicodeDecodeError, LookupError):
            continue
    return content.decode("cp1252", "replace")


def _unflow(text: str, *, is_split: bool) -> str:
    """Join the lines of a text that flows (RFC 3676)."""
    lines, goes_on = list[str](), False
    depth = 0
    for line in text.splitlines():
        unquoted = line.lstrip(">")
        before, depth = depth, len(line) - len(unquoted)
        content = unquoted.removeprefix(" ")
        flows = content.endswith(" ") and content != "-- "
        if is_split and flows:
            content = content[:-1]
        if goes_on and depth == before and content != "-- ":
            lines[-1] += content
        else:
            lines.append(f"{'>' * depth} {content}" if depth else content)
        goes_on = flows
    return "\n".join(lines)
