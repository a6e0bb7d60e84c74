"""A dovecot with one mailbox, and an SMTP server that puts what it takes into it or keeps it."""

import getpass
import imaplib
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from email import message_from_bytes, policy
from email.message import EmailMessage
from pathlib import Path

from aiosmtpd.controller import Controller
from aiosmtpd.smtp import SMTP, Envelope, Session

from tests.integration.channels.processes import answers, free_port, program, running

BOT, PASSWORD = "bot@example.net", "hunter2"
_CONFIG = """
base_dir = {folder}/run
state_dir = {folder}/run
log_path = /dev/stderr
protocols = imap
listen = 127.0.0.1
ssl = no
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
    port = 0
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


@contextmanager
def dovecot(folder: Path) -> Iterator[int]:
    """A server whose every user has the one mailbox; yields its port."""
    port, root = free_port(), os.getuid() == 0
    user = "nobody" if root else getpass.getuser()
    uid, gid = (65534, 65534) if root else (os.getuid(), os.getgid())
    (folder / "mail").mkdir()
    if root:
        os.chown(folder / "mail", uid, gid)
        for above in (folder, *folder.parents):
            with suppress(OSError):
                above.chmod(above.stat().st_mode | 0o111)
    config = folder / "dovecot.conf"
    group = "nogroup" if root else _group(gid)
    config.write_text(
        _CONFIG.format(folder=folder, user=user, group=group, uid=uid, gid=gid, port=port, password=PASSWORD)
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


class Post:
    """An SMTP server that keeps what it takes. refusals: answers to the next recipients."""

    def __init__(self) -> None:
        self.taken: list[EmailMessage] = []
        self.refusals: list[str] = []

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


@contextmanager
def post_office() -> Iterator[tuple[int, Post]]:
    """An SMTP server; yields its port, and what it takes."""
    post, port = Post(), free_port()
    controller = Controller(post, hostname="127.0.0.1", port=port)
    controller.start()
    try:
        yield port, post
    finally:
        controller.stop()
