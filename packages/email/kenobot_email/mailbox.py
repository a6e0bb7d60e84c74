"""Talk to a mail server, in the calling thread: read a folder by IMAP, and hand over a mail by SMTP."""

import imaplib
import re
import smtplib
import socket
import ssl
from collections.abc import Callable, Collection
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from email.message import EmailMessage
from itertools import islice
from typing import Any, Final, Literal

from kenobot.ports.errors import Rejected, Unavailable
from kenobot.ports.sentences import Sentence
from kenobot_email.settings import EmailSettings, Security

_BY_PASSWORD: Final = frozenset({"CRAM-MD5", "PLAIN", "LOGIN"})  # the ways to log in that smtplib knows


@dataclass(frozen=True, slots=True)
class StoredMail:
    """A mail of the folder. handle: stays the same as long as the mail is there. size: of the whole, in bytes."""

    handle: str
    raw: bytes
    size: int
    arrived: datetime


class MailRefused(Unavailable):
    """The server hands over, or marks, others and not this one."""

    def __init__(self) -> None:
        super().__init__("email.mail_stuck")


class Mailbox:
    """One connection to the folder. What the server answers badly raises OSError or imaplib's own error."""

    def __init__(self, settings: EmailSettings) -> None:
        self._settings = settings
        self._most = int(settings.most_mb * 1_000_000)
        self._imap: imaplib.IMAP4
        self._closed = False
        self._validity = ""

    def open(self) -> None:
        """Connect, log in and open the folder. Raises Rejected when a person must fix a setting."""
        settings = self._settings
        try:
            self._connect()
        except ssl.SSLError as error:
            raise Rejected(tls_problem(error, "imap")) from None
        try:
            self._imap.login(settings.username or settings.address, settings.password.get_secret_value())
        except imaplib.IMAP4.abort:
            raise
        except imaplib.IMAP4.error:
            raise Rejected("email.login_refused") from None
        state, _ = self._imap.select(f'"{settings.folder}"')
        if state != "OK":
            raise Rejected("email.no_such_folder")
        self._validity = str((self._imap.response("UIDVALIDITY")[1] or [b"0"])[0], "ascii", "replace")

    def _connect(self) -> None:
        settings = self._settings
        host, port, seconds = settings.imap_server, settings.imap_port, settings.request_seconds
        if settings.imap_security == "tls":
            self._imap = imaplib.IMAP4_SSL(host, port, ssl_context=ssl.create_default_context(), timeout=seconds)
        else:
            self._imap = imaplib.IMAP4(host, port, timeout=seconds)
        if self._closed:  # meanwhile, by another thread
            self.close()
            raise ConnectionAbortedError
        if settings.imap_security == "starttls":
            if "STARTTLS" not in self._imap.capabilities:
                raise Rejected(_no_tls("imap"))
            self._imap.starttls(ssl.create_default_context())

    def list_unread(self, passed_over: Collection[str] = (), most: int = 20) -> list[str]:
        """Return the handles of the oldest unread mails but those passed over."""
        self._imap.noop()
        found = self._ask("SEARCH", "UNSEEN")
        handles = (f"{self._validity}.{uid.decode()}" for uid in (found[0] or b"").split())
        return list(islice((handle for handle in handles if handle not in passed_over), most))

    def load(self, handle: str, *, whole: bool = False) -> StoredMail:
        """Load a mail, its first part where it is very long. Raises Rejected when it is not there any more.

        Raises MailRefused.
        """
        part = "" if whole else f"<0.{self._most}>"
        found = self._ask_about(handle, "FETCH", f"(UID INTERNALDATE RFC822.SIZE BODY.PEEK[]{part})")
        for item in found:
            if isinstance(item, tuple) and (size := re.search(rb"RFC822\.SIZE (\d+)", item[0])):
                return StoredMail(handle, item[1], int(size[1]), _read_arrival(item[0]))
        raise Rejected("email.gone")

    def mark_read(self, handle: str) -> None:
        """Mark a mail as read: it does not come again. Raises MailRefused."""
        self._ask_about(handle, "STORE", r"+FLAGS.SILENT (\Seen)")

    def close(self) -> None:
        """End the connection at once, from whatever thread; what waits for the server raises."""
        self._closed = True
        imap = getattr(self, "_imap", None)
        if imap is not None:
            with suppress(OSError):
                imap.socket().shutdown(socket.SHUT_RDWR)
            with suppress(OSError):
                imap.shutdown()

    def _uid(self, handle: str) -> str:
        validity, _, uid = handle.partition(".")
        if validity != self._validity:
            raise Rejected("email.gone")
        return uid

    def _ask_about(self, handle: str, command: str, arguments: str) -> list[Any]:
        uid = self._uid(handle)
        try:
            return self._ask(command, uid, arguments)
        except imaplib.IMAP4.abort:
            raise
        except imaplib.IMAP4.error:
            raise MailRefused from None

    def _ask(self, command: str, *arguments: str) -> list[Any]:
        state, found = self._imap.uid(command, *arguments)
        if state != "OK":
            raise imaplib.IMAP4.error(f"{command} was refused")
        return found


def _read_arrival(told: bytes) -> datetime:
    """Return when the server says that a mail came; now where it says that in no way of IMAP's."""
    found = re.search(rb'INTERNALDATE "([^"]+)"', told)
    try:
        arrived = datetime.strptime(str(found[1], "ascii").strip(), "%d-%b-%Y %H:%M:%S %z") if found else None
    except ValueError:
        arrived = None
    return (arrived or datetime.now(UTC)).astimezone(UTC)


def tls_problem(error: ssl.SSLError, server: Literal["imap", "smtp"]) -> str:
    """Say in one sentence why a connection is not safe, and what to check."""
    if isinstance(error, ssl.SSLCertVerificationError):
        reason = error.verify_message.strip(". ") or Sentence("email.invalid")
        return Sentence("email.bad_certificate", reason=reason, server=server)
    return _no_tls(server)


def _no_tls(server: Literal["imap", "smtp"]) -> str:
    return Sentence("email.no_tls", server=server)


def _connect(settings: EmailSettings, security: Security) -> smtplib.SMTP:
    host, port, seconds = settings.smtp_server, settings.smtp_port, settings.request_seconds
    if security == "tls":
        return smtplib.SMTP_SSL(host, port, timeout=seconds, context=ssl.create_default_context())
    smtp = smtplib.SMTP(host, port, timeout=seconds)
    if security == "starttls":
        try:
            smtp.ehlo_or_helo_if_needed()
            if not smtp.has_extn("starttls"):
                raise Unavailable(_no_tls("smtp"), 300)
            smtp.starttls(context=ssl.create_default_context())
        except BaseException:
            smtp.close()
            raise
    return smtp


def greet(settings: EmailSettings) -> None:
    """Log in where mail is sent, and send none. Raises Unavailable or Rejected."""
    _use(settings, lambda smtp: None)


def post(settings: EmailSettings, message: EmailMessage, to: str) -> None:
    """Hand a mail to the server. Raises Unavailable (it may have been taken) or Rejected."""
    _use(settings, lambda smtp: smtp.send_message(message, settings.address, [to]))


def _use(settings: EmailSettings, use: Callable[[smtplib.SMTP], object]) -> None:
    try:
        smtp = _connect(settings, settings.smtp_security)
        try:
            smtp.ehlo_or_helo_if_needed()
            _log_in(smtp, settings)
            use(smtp)
        finally:
            _leave(smtp)
    except smtplib.SMTPAuthenticationError:
        raise Unavailable("email.message_refused", retry_after=300) from None
    except smtplib.SMTPRecipientsRefused as error:
        code = min((code for code, _ in error.recipients.values()), default=550)
        _refuse(code)
    except smtplib.SMTPResponseException as error:
        _refuse(error.smtp_code)
    except ssl.SSLError as error:
        raise Unavailable(tls_problem(error, "smtp"), 300) from None
    except (smtplib.SMTPException, OSError) as error:
        raise Unavailable("email.not_handed_over", kind=type(error).__name__) from None


def _leave(smtp: smtplib.SMTP) -> None:
    """End a connection, whatever the server answers to that: what was taken before is taken."""
    with suppress(smtplib.SMTPException, OSError):
        smtp.quit()
    smtp.close()


def _log_in(smtp: smtplib.SMTP, settings: EmailSettings) -> None:
    password = settings.password.get_secret_value()
    offers = _BY_PASSWORD.intersection(smtp.esmtp_features.get("auth", "").upper().split())
    if not settings.smtp_login or (settings.smtp_security == "none" and not (password and offers)):
        return
    if not offers:
        raise Unavailable("email.no_login_offered", retry_after=300)
    smtp.login(settings.username or settings.address, password)


def _refuse(code: int) -> None:
    if 500 <= code < 600:
        raise Rejected("email.not_taken", code=code)
    raise Unavailable("email.not_taken_now", code=code)
