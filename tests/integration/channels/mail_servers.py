"""A dovecot with one mailbox, and an SMTP server that keeps what it takes; both with TLS where a test wants it."""

import asyncio
import getpass
import imaplib
import os
import secrets
import shutil
import ssl
import subprocess
import tempfile
import textwrap
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from email import message_from_bytes, policy
from email.message import EmailMessage
from functools import partial
from pathlib import Path
from typing import Any, Literal

from aiosmtpd.controller import Controller
from aiosmtpd.smtp import SMTP, AuthResult, Envelope, LoginPassword, Session

from tests.integration.channels.processes import answers, free_port, program, running

BOT, PASSWORD = "bot@example.net", "hunter2"
_CONFIG = """
base_dir = {folder}/run
state_dir = {folder}/run
log_path = /dev/stderr
protocols = imap
listen = 127.0.0.1
{ssl}
disable_plaintext_auth = no
auth_failure_delay = 0
default_internal_user = {user}
default_internal_group = {group}
default_login_user = {user}
first_valid_uid = 1
mail_location = maildir:{folder}/mail
passdb {{
  driver = static
  args = password={password}
}}
userdb {{
  driver = static
  args = uid={uid} gid={gid} home={folder}/mail
}}
service imap-login {{
  chroot =
  inet_listener imap {{
    port = {port}
  }}
  inet_listener imaps {{
    port = {tls_port}
    ssl = yes
  }}
}}
service anvil {{
  chroot =
  unix_listener anvil-auth-penalty {{
    mode = 0
  }}
}}
service stats {{
  chroot =
}}
"""


def long_id() -> str:
    """Make an id of 85 characters, as those of Exchange Online are."""
    return f"<VI1PR0402MB2815{secrets.token_hex(13).upper()}@VI1PR0402MB2815.eurprd04.prod.outlook.com>"


def wrap(message: EmailMessage, text: str, width: int = 72) -> None:
    """Set what a mail says, in lines as Thunderbird wraps them (RFC 3676)."""
    lines = (" \n".join(textwrap.wrap(line, width)) for line in text.split("\n"))
    message.set_content("\n".join(lines), params={"format": "flowed"})


@dataclass(frozen=True, slots=True)
class Certificate:
    """A certificate of our own, in files. It is its own authority."""

    file: Path
    key: Path

    @classmethod
    def make(cls, folder: Path, name: str) -> "Certificate":
        """Make one for the host `name`."""
        made = cls(folder / f"{name}.pem", folder / f"{name}.key")
        command = [program("openssl"), "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2"]
        command += ["-subj", f"/CN={name}", "-addext", f"subjectAltName=DNS:{name}"]
        subprocess.run([*command, "-keyout", made.key, "-out", made.file], check=True, capture_output=True)
        return made

    @property
    def context(self) -> ssl.SSLContext:
        """For a server that shows it."""
        context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
        context.load_cert_chain(self.file, self.key)
        return context


@contextmanager
def _open_folder() -> Iterator[Path]:
    """A folder that dovecot's own user may enter, as it may not enter pytest's, which every session shuts anew."""
    folder = Path(tempfile.mkdtemp(prefix="kenobot-dovecot-"))
    try:
        folder.chmod(0o755)
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def dovecot(certificate: Certificate | None = None, tls_port: int = 0) -> Iterator[int]:
    """A server whose every user has the one mailbox; yields its port, with STARTTLS where there is a certificate.

    tls_port: where it speaks TLS from the beginning.
    """
    with _open_folder() as folder, _dovecot(folder, certificate, tls_port) as port:
        yield port


@contextmanager
def _dovecot(folder: Path, certificate: Certificate | None, tls_port: int) -> Iterator[int]:
    port, root = free_port(), os.getuid() == 0
    shown = f"ssl_cert = <{certificate.file}\nssl_key = <{certificate.key}" if certificate is not None else ""
    user = "nobody" if root else getpass.getuser()
    uid, gid = (65534, 65534) if root else (os.getuid(), os.getgid())
    (folder / "mail").mkdir()
    if root:
        os.chown(folder / "mail", uid, gid)
    config = folder / "dovecot.conf"
    group = "nogroup" if root else _group(gid)
    config.write_text(
        _CONFIG.format(
            folder=folder,
            user=user,
            group=group,
            uid=uid,
            gid=gid,
            port=port,
            password=PASSWORD,
            ssl=f"ssl = {'yes' if shown else 'no'}\n{shown}",
            tls_port=tls_port,
        )
    )
    with running([program("dovecot"), "-F", "-c", str(config)], folder, lambda: answers(port)):
        yield port


def _group(number: int) -> str:
    import grp

    return grp.getgrgid(number).gr_name


class Mailbox:
    """The bot's mailbox, as its provider sees it."""

    def __init__(self, port: int) -> None:
        self._port = port

    def deliver(self, raw: bytes) -> None:
        """Put a mail in."""
        with self._open() as imap:
            imap.append("INBOX", "", "", raw)

    def list_uids(self) -> list[str]:
        """The server's own number of each mail, oldest first."""
        with self._open() as imap:
            imap.select("INBOX")
            return [str(each, "ascii") for each in imap.uid("SEARCH", "ALL")[1][0].split()]

    def unread(self) -> int:
        """Count what is not marked as read."""
        with self._open() as imap:
            imap.select("INBOX")
            return len(imap.search(None, "UNSEEN")[1][0].split())

    def empty(self) -> None:
        """Take everything out."""
        with self._open() as imap:
            if imap.select("INBOX")[1] == [b"0"]:
                return
            imap.store("1:*", "+FLAGS", r"(\Deleted)")
            imap.expunge()

    @contextmanager
    def _open(self) -> Iterator[imaplib.IMAP4]:
        imap = imaplib.IMAP4("127.0.0.1", self._port)
        imap.login(BOT, PASSWORD)
        try:
            yield imap
        finally:
            imap.logout()


class Trouble:
    """What a server in front of the mail server does. refusals: its answer to a command that begins so, with "" an end.

    changes: of what the mail server itself says.
    """

    def __init__(self) -> None:
        self.refusals: dict[str, str] = {}
        self.changes: dict[bytes, bytes] = {}

    def answer(self, line: bytes) -> str | None:
        """Return what is answered to a command in the mail server's place; None has that answer."""
        _, _, command = line.decode("utf-8", "replace").partition(" ")
        return next((told for begin, told in self.refusals.items() if command.startswith(begin)), None)

    async def pass_on(self, port: int, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Pass a connection on to the mail server at `port`."""
        inner, outer = await asyncio.open_connection("127.0.0.1", port)
        back = asyncio.create_task(self._pass_back(inner, writer))
        try:
            while line := await reader.readline():
                told = self.answer(line)
                if told is None:
                    outer.write(line)
                elif told:
                    writer.write(b"%s %s\r\n" % (line.partition(b" ")[0], told.encode()))
                else:
                    break
        finally:
            back.cancel()
            for each in (outer, writer):
                each.close()
            await asyncio.gather(back, return_exceptions=True)

    async def _pass_back(self, inner: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while piece := await inner.read(65_536):
            for former, now in self.changes.items():
                piece = piece.replace(former, now)
            writer.write(piece)
        writer.close()


@asynccontextmanager
async def in_front_of(port: int) -> AsyncIterator[tuple[int, Trouble]]:
    """A server that passes on what is said to the mail server at `port`, with trouble; yields its own port."""
    trouble = Trouble()
    server = await asyncio.start_server(partial(trouble.pass_on, port), "127.0.0.1", 0)
    async with server:
        yield server.sockets[0].getsockname()[1], trouble


class Post:
    """An SMTP server that keeps what it takes. refusals: answers to the next recipients. farewells: to the next QUITs."""

    def __init__(self) -> None:
        self.taken: list[EmailMessage] = []
        self.refusals: list[str] = []
        self.farewells: list[str] = []

    async def handle_QUIT(self, server: SMTP, session: Session, envelope: Envelope) -> str:  # noqa: N802
        return self.farewells.pop(0) if self.farewells else "221 Bye"

    async def handle_RCPT(  # noqa: N802
        self, server: SMTP, session: Session, envelope: Envelope, address: str, options: list[str]
    ) -> str:
        if self.refusals:
            return self.refusals.pop(0)
        envelope.rcpt_tos.append(address)
        return "250 OK"

    async def handle_DATA(self, server: SMTP, session: Session, envelope: Envelope) -> str:  # noqa: N802
        assert isinstance(envelope.content, bytes)
        self.taken.append(message_from_bytes(envelope.content, policy=policy.default))
        return "250 OK"


def _knows(server: SMTP, session: Session, envelope: Envelope, mechanism: str, given: object) -> AuthResult:
    good = isinstance(given, LoginPassword) and (given.login, given.password) == (BOT.encode(), PASSWORD.encode())
    return AuthResult(success=good)


@contextmanager
def post_office(
    certificate: Certificate | None = None,
    security: Literal["tls", "starttls", "none"] = "none",
    *,
    logs_in: bool = True,
) -> Iterator[tuple[int, Post]]:
    """An SMTP server; yields its port, and what it takes. With TLS it wants a password too.

    logs_in: False has it know its clients by their address, and offer no AUTH.
    """
    post, port = Post(), free_port()
    more: dict[str, Any] = {}
    if certificate is not None:
        # Behind TLS that is there from the beginning it does not know of it, and takes a password all the same.
        starts = security == "starttls"
        more = {
            "authenticator": _knows,
            "auth_required": starts and logs_in,
            "auth_exclude_mechanism": [] if logs_in else ["LOGIN", "PLAIN"],
            "auth_require_tls": starts,
            "require_starttls": starts,
        }
        more["tls_context" if starts else "ssl_context"] = certificate.context
    controller = Controller(post, hostname="127.0.0.1", port=port, **more)
    controller.start()
    try:
        yield port, post
    finally:
        controller.stop()
