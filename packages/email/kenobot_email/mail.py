"""Read a mail: by whom, whether a program wrote it, its own words, what it quotes, its files."""

import logging
import re
from collections.abc import Iterator
from dataclasses import dataclass
from email import message_from_bytes, policy
from email.message import EmailMessage, MIMEPart
from itertools import islice
from typing import Final

from kenobot.core import lazy
from kenobot.core.flowed_text import join_flowed
from kenobot.core.web_page import page_lines
from kenobot.ports.messages import Attachment, MediaKind
from kenobot_email.lines import join_filled, join_wrapped

logger = logging.getLogger(__name__)

_MOST_WORDS: Final = 50_000  # characters
_MOST_QUOTED: Final = 4_000
_MOST_HEADER: Final = 4_000
_MOST_REPORTED: Final = 20  # parts of a report
_KINDS: Final[dict[str, MediaKind]] = {"image": "image", "audio": "audio", "video": "video"}  # bounded: as is; start
_INVITATION: Final = "text/calendar"
_FOLD: Final = re.compile(rb"\r?\n[ \t]")  # within a line of a calendar (RFC 5545, 3.1)
_COMMENT = lazy.regex(r"\([^()]*\)")
_CONTROLS = lazy.regex(r"[\x00-\x1f\x7f]+")
_ID = lazy.regex(r"<[!-;=?-~]{1,900}>")
_QUOTED = lazy.regex(r'"(?:[^"\\]|\\.)*"')
_REPLY = lazy.regex(r"(?:(?:re|aw|sv|r|rif|antw|fwd?|rv|wg|tr|enc)\s*(?:\[\d+\])?\s*:\s*)+", re.IGNORECASE)
_FORWARD = lazy.regex(r"(?:fwd?|rv|wg|tr|enc)\s*:", re.IGNORECASE)
_OTHERS_BEGIN = lazy.regex(
    r"^(?:-{2,}[^\n-]{3,60}-{2,}|_{20,}|(?:From|De|Von|Da|Van): [^\n]+\n(?:[^\W\d_][^\n:]{1,20}: [^\n]*\n){2,})[ \t]*",
    re.MULTILINE,
)
_AUTOMATIC = lazy.regex(
    r"list-id|list-unsubscribe|x-(?:mail-)?auto-?(?:generated|reply|respond(?:er)?|response)(?:-from)?"
    r"|x-ms-exchange-generated-message-source|x-fc-machinegenerated|x-cron-env|x-github-reason",
    re.IGNORECASE,
)
_SUPPRESSED = lazy.regex(r"\b(?:all|oof|autoreply)\b", re.IGNORECASE)
_TIME = lazy.regex(r"\d\d?[:.]\d\d")


def _parse_header(name: str, value: str) -> str:
    """Parse the beginning of a header: the library takes a time that grows with the square of its length."""
    parsed: str = policy.default.header_factory(name, value[:_MOST_HEADER])
    return parsed


_POLICY: Final = policy.default.clone(header_factory=_parse_header)


def parse_mail(raw: bytes) -> EmailMessage:
    """Parse a mail, of whatever form."""
    return message_from_bytes(raw, policy=_POLICY)


def header(message: EmailMessage, name: str) -> str:
    """Return a header as one line; "" for one that is not there or cannot be read."""
    try:
        return " ".join(_CONTROLS.sub(" ", str(message.get(name, ""))).split())
    except Exception:  # the library raises anything on hostile headers
        return ""


def sender_of(message: EmailMessage) -> tuple[str, str]:
    """Return name and address of the sender; two empty texts when there is not exactly one."""
    try:
        written = message.get_all("From", [])
    except Exception:  # the library raises anything on hostile headers
        return "", ""
    if len(written) != 1 or written[0].defects or len(written[0].addresses) != 1:
        return "", ""
    name, address = written[0].addresses[0].display_name, written[0].addresses[0].addr_spec
    if not re.fullmatch(r"[^\s@<>\",;()]+@[^\s@<>\",;()]+", address):
        return "", ""
    return " ".join(name.split())[:100], address.lower()


def is_automatic(message: EmailMessage) -> bool:
    """Return whether a program wrote a mail, or sent it to many: an answer could go round in a loop (RFC 3834)."""
    submitted = header(message, "Auto-Submitted").lower() or "no"
    if not submitted.startswith("no") or header(message, "Return-Path") == "<>":
        return True
    if header(message, "Precedence").lower() in ("bulk", "junk", "list", "auto_reply"):
        return True
    if any(_AUTOMATIC.fullmatch(name) for name in message.keys()):  # noqa: SIM118 (a mail is no mapping)
        return True
    if _SUPPRESSED.search(header(message, "X-Auto-Response-Suppress")):
        return True
    local = sender_of(message)[1].partition("@")[0]
    return message.get_content_type() == "multipart/report" or bool(
        re.fullmatch(r"mailer-daemon|postmaster|no-?reply|do-?not-?reply|bounces?", local)
    )


def read_bounce(message: EmailMessage) -> tuple[str, str] | None:
    """Return the id of the mail that a report says was not delivered, and the status; None for no such report."""
    if message.get_content_type() != "multipart/report":
        return None
    parts = islice(message.walk(), _MOST_REPORTED)
    text = "\n".join(part.as_string() for part in parts if part.get_content_maintype() in ("message", "text"))
    if not re.search(r"^Action:\s*failed", text, re.MULTILINE | re.IGNORECASE):
        return None
    status = re.search(r"^Status:\s*(\d\.\d+\.\d+)", text, re.MULTILINE | re.IGNORECASE)
    ids = re.findall(r"^Message-ID:\s*(<[^>\s]+>)", text, re.MULTILINE | re.IGNORECASE)
    return (ids[-1] if ids else ""), (status[1] if status else "")


def is_verified(message: EmailMessage, address: str, server: str) -> bool:
    """Return whether `server`, the one that took the mail in, found that it comes from the domain of `address`."""
    domain = address.rpartition("@")[2]
    for header_name, value in message.raw_items():  # as written: encoded words of a sender's would become results
        if header_name.lower() != "authentication-results":
            continue
        plain = _plain_results(" ".join(str(value)[:_MOST_HEADER].split()).lower())
        if plain is None:
            return False
        name, *results = plain.split(";")
        if (name.split() or [""])[0] != server.lower():
            continue
        refused = any(re.match(r"\s*dmarc\s*=\s*fail\b", result) for result in results)
        return not refused and any(_passes(result, domain) for result in results)  # the topmost is the server's own
    return False


def _plain_results(value: str) -> str | None:
    """Return results without comments and quotations: there the sender's words may stand. None when one stays open."""
    words = _QUOTED.sub("_", value)
    while (plain := _COMMENT.sub(" ", words)) != words:
        words = plain
    return None if any(sign in words for sign in '"()\\') else words


def _passes(result: str, domain: str) -> bool:
    method = re.match(r"\s*(dmarc|dkim|spf)\s*=\s*pass\b", result)
    if method is None:
        return False
    key = {"dmarc": r"header\.from", "dkim": r"header\.[di]", "spf": r"smtp\.mailfrom"}[method[1]]
    found = re.search(rf"\s{key}\s*=\s*([^\s;]+)", result)
    named = found[1].rpartition("@")[2] if found else ""
    return named == domain or (method[1] != "spf" and "." in named and domain.endswith(f".{named}"))


def id_of(message: EmailMessage) -> str:
    """Return the id of a mail; "" for one that has none which an answer could name."""
    found = _ID.fullmatch(header(message, "Message-ID"))
    return found[0] if found else ""


def conversation_of(message: EmailMessage) -> tuple[str, str]:
    """Return the id of the first mail of a conversation, and its subject: replies keep both."""
    ids = _ID.findall(f"{header(message, 'References')} {header(message, 'In-Reply-To')}")
    subject = header(message, "Subject")
    stem = _REPLY.match(subject)
    return (ids or [id_of(message)])[0], subject[stem.end() if stem else 0 :][:200]


@dataclass(frozen=True, slots=True)
class MailWords:
    """Text of a mail. text: the sender's own words. quoted: those of others below or between them.

    forwarded: there is nothing but others' words, and they are the text.
    """

    text: str
    quoted: str = ""
    forwarded: bool = False


def read_words(message: EmailMessage) -> MailWords:
    """Split the text of a mail into its own words and those of others. The subject of a first mail is read too."""
    body = _body(message)
    subject = header(message, "Subject")
    body, _, _ = body.partition("\n-- \n")
    found = _OTHERS_BEGIN.search(body)
    own, others = (body[: found.start()], body[found.start() :]) if found else (body, "")
    mine: list[str] = []
    theirs: list[str] = []
    for line in own.split("\n"):
        if not line.startswith(">"):
            mine.append(line)
            continue
        while mine and not mine[-1].strip():
            mine.pop()
        _drop_attribution(mine)
        theirs.append(line.lstrip("> "))
    own, quoted = "\n".join(mine).strip(), "\n".join([*theirs, others]).strip()
    if not own and quoted:
        return MailWords(f"{subject}\n\n{quoted}"[:_MOST_WORDS], forwarded=True)
    begins = not header(message, "In-Reply-To") and not _FORWARD.match(subject)
    if begins and subject and not own.startswith("/") and len(own.split()) != 1:
        own = f"{subject}\n\n{own}".strip()
    return MailWords(own[:_MOST_WORDS], quoted[:_MOST_QUOTED])


def _drop_attribution(lines: list[str]) -> None:
    """Drop "On … Ana wrote:" from the end of lines that a quotation follows: up to three, with a time or an address."""
    first = len(lines)
    while first > max(len(lines) - 3, 0) and lines[first - 1].strip():
        first -= 1
    said = " ".join(lines[first:])[-1000:]
    if said.rstrip().endswith(":") and ("@" in said or _TIME.search(said)):
        del lines[first:]


def _body(message: EmailMessage) -> str:
    """Return the text of a mail, with its sentences on one line each where a program has wrapped them."""
    plain, html = _find_body(message, "plain"), _find_body(message, "html")
    page = "\n".join(page_lines(_read_content(html), is_mail=True))[: 4 * _MOST_WORDS]
    text = _read_plain(plain, page)
    if not text.strip():
        return page
    pieces = list(message.iter_parts()) if message.get_content_type() == "multipart/mixed" else []
    later = (part for part in pieces if part is not plain and _is_text(part))  # Apple Mail puts pictures between them
    return "\n".join([text, *(_read_plain(part, "") for part in later)])[: 4 * _MOST_WORDS]


def _read_plain(part: MIMEPart | None, page: str) -> str:
    text = _read_content(part)[: 4 * _MOST_WORDS]
    form, delsp = (str(part.get_param(name, "")).lower() if part is not None else "" for name in ("format", "delsp"))
    if form == "flowed":
        text = join_flowed(text, delsp=delsp == "yes")
    elif not page:
        text = join_filled(text)
    return join_wrapped(text, page) if page else text


def _is_text(part: MIMEPart) -> bool:
    return part.get_content_type() == "text/plain" and not part.is_attachment() and not part.get_filename()


def _find_body(message: EmailMessage, kind: str) -> MIMEPart | None:
    try:
        return message.get_body((kind,))
    except Exception:  # the library raises anything on hostile mails: the other body may do
        logger.debug("a body of a mail cannot be found", exc_info=True)
        return None


def _read_content(part: MIMEPart | None) -> str:
    try:
        return _decode(part).replace("\r\n", "\n").replace("\0", "") if part is not None else ""
    except Exception:  # the library raises anything on hostile mails: the other body may do
        logger.debug("a body of a mail cannot be read", exc_info=True)
        return ""


def _decode(part: MIMEPart) -> str:
    """Decode the text of a part, also of one whose writer did not say how: as UTF-8 or else Windows-1252."""
    content = part.get_payload(decode=True)
    if part.get_content_charset() or not isinstance(content, bytes):
        return str(part.get_content())
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError:
        return content.decode("cp1252", "replace")


def files_of(message: EmailMessage) -> Iterator[EmailMessage]:
    """Yield the files of a mail, and no picture that only decorates its text.

    An invitation is one, which many programs give no name; the same one with a name stands for both. So is a mail that
    was attached as a whole; the files in it follow.
    """
    mails = [part for part in message.walk() if _find_inner_mail(part) is not None]
    within = {id(part) for mail in mails for part in mail.walk() if part is not mail}
    whole = {id(mail) for mail in mails}.difference(within)  # what is in one of these has been told by it
    parts = [part for part in message.walk() if not part.is_multipart() or id(part) in whole]
    is_attached = any((part.get_filename() or "").lower().endswith(".ics") for part in parts)
    for part in parts:
        decorates = part.get("Content-ID") is not None and part.get_content_disposition() != "attachment"
        named = part.get_content_disposition() == "attachment" or part.get_filename()
        invites = part.get_content_type() == _INVITATION and not is_attached
        if not decorates and (named or invites or part.get_content_maintype() != "text"):
            yield part


def attachments_of(message: EmailMessage, handle: str, size: int | None) -> tuple[Attachment, ...]:
    """Describe the files of a mail. size: of the mail, where it was cut off and so no file is certainly whole."""
    found = []
    for number, part in enumerate(files_of(message)):
        kind = _KINDS.get(part.get_content_maintype(), "document")
        length = size if size is not None else len(file_bytes(part))
        name = " ".join((part.get_filename() or _choose_name(part)).split())[:200]
        found.append(Attachment(kind, part.get_content_type(), name, length, f"{handle}.{number}"))
    return tuple(found[:50])


def _find_inner_mail(part: EmailMessage) -> EmailMessage | None:
    """Return the mail that a part is as a whole; None for any other part."""
    inner = part.get_payload() if part.get_content_type() == "message/rfc822" else None
    return inner[0] if isinstance(inner, list) and inner and isinstance(inner[0], EmailMessage) else None


def _choose_name(part: EmailMessage) -> str:
    """Return a name for a file that has none, where its kind is known."""
    if (inner := _find_inner_mail(part)) is not None:
        return f"{header(inner, 'Subject')[:100] or 'mail'}.eml"
    return "invitation.ics" if part.get_content_type() == _INVITATION else ""


def file_bytes(part: EmailMessage) -> bytes:
    """Return the bytes of a file of a mail."""
    if (inner := _find_inner_mail(part)) is not None:
        try:
            return bytes(inner)
        except Exception:  # the library raises anything on hostile mails
            return b""
    content = part.get_payload(decode=True)
    if not isinstance(content, bytes):
        return b""
    is_calendar = part.get_content_type() == _INVITATION or (part.get_filename() or "").lower().endswith(".ics")
    return _FOLD.sub(b"", content) if is_calendar else content
