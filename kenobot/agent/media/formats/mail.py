"""Read e-mails that are stored as files, and pages that browsers store as such."""

import email
import email.policy
from collections.abc import Iterator
from contextlib import suppress
from email.message import EmailMessage, MIMEPart
from typing import Final

from kenobot.agent.media.formats.calendar import EVENT, invitation_lines
from kenobot.core.flowed_text import join_flowed
from kenobot.core.web_page import page_lines

_HEADERS: Final = ("From", "To", "Cc", "Date", "Subject")
_MOST_NESTED: Final = 5


def mail_lines(raw: bytes) -> Iterator[str]:
    """Yield the heads of a message, its text, and the names of its attachments."""
    message = email.message_from_bytes(raw, policy=email.policy.default)
    yield from _lines(message, 0)


def _lines(message: EmailMessage, depth: int) -> Iterator[str]:
    for name in _HEADERS:
        if value := _header(message, name):
            yield f"{name}: {value}"
    body = message.get_body(("html", "plain"))
    if body is not None:
        yield from _body(body)
    forms = _find_within(message, "multipart/alternative")
    inner = _find_within(message, "message/rfc822")
    parts = [part for part in message.walk() if part is not body and id(part) not in inner]
    calendars = [part for part in parts if _is_calendar(part)]
    for lines in dict.fromkeys(map(_read_calendar, calendars)):  # some send the same again as a file
        yield from lines
    for part in parts:
        if part.get_content_type() == "message/rfc822" and part is not message and depth < _MOST_NESTED:
            yield "[attached message]"
            for each in part.iter_parts():
                if isinstance(each, EmailMessage):
                    yield from _lines(each, depth + 1)
        elif part.get_content_maintype() != "multipart":
            yield from _iterate_beside(part, is_form=id(part) in forms or part in calendars)


def _iterate_beside(part: MIMEPart, *, is_form: bool) -> Iterator[str]:
    """Yield what a reader shows of a part beside the body. is_form: as another form of it, or already."""
    if file := part.get_filename():
        if part.is_attachment() or "Content-ID" not in part:
            yield f"[attached file: {file}]"
    elif part.get_content_maintype() == "text" and not part.is_attachment() and not is_form:
        yield from _body(part)


def _is_calendar(part: MIMEPart) -> bool:
    return part.get_content_type() in ("text/calendar", "application/ics")


def _read_calendar(part: MIMEPart) -> tuple[str, ...]:
    """Return the lines of an invitation; as it is written where it cannot be read."""
    text = _text(part)
    with suppress(ImportError, ValueError, LookupError, AttributeError, TypeError):  # the package is an extra
        lines = tuple(invitation_lines(text.encode()))
        if any(map(EVENT.fullmatch, lines)):
            return lines
    return tuple(text.splitlines())


def _find_within(message: EmailMessage, kind: str) -> set[int]:
    """Return which parts are within those of a kind."""
    outer = [part for part in message.walk() if part is not message or kind.startswith("multipart")]
    kinds = [part for part in outer if part.get_content_type() == kind]
    return {id(each) for part in kinds for each in part.walk() if each is not part}


def _header(message: EmailMessage, name: str) -> str:
    try:
        value = str(message.get(name, ""))
    except Exception:  # of whatever kind the parser raises for a head that is malformed
        value = next((str(raw) for key, raw in message.raw_items() if key.lower() == name.lower()), "")
    return " ".join(value.split())


def _body(body: MIMEPart) -> Iterator[str]:
    if _is_calendar(body):
        yield from _read_calendar(body)
        return
    if body.get_content_type() == "text/html":
        yield from page_lines(_text(body), is_mail=True)
        return
    text = _text(body)
    if body.get_param("format") == "flowed":
        text = join_flowed("\n".join(text.splitlines()), delsp=body.get_param("delsp") == "yes")
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
