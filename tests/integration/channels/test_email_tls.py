"""E-mail over TLS, from the beginning and by STARTTLS: a certificate that is trusted does, any other is refused."""

import asyncio
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from email.message import EmailMessage
from email.utils import make_msgid
from pathlib import Path

import pytest

from kenobot.ports import sentences
from kenobot.ports.clock import SystemClock
from kenobot.ports.errors import RemoteError, Unavailable
from kenobot.ports.messages import MessagePart, Outbound
from kenobot_email.channel import EmailChannel
from kenobot_email.settings import EmailSettings, Security
from kenobot_testing.fake_channel import RecordingSink
from tests.constants import with_constants
from tests.integration.channels.mail_servers import (
    BOT,
    PASSWORD,
    Certificate,
    Mailbox,
    Post,
    dovecot,
    post_office,
)
from tests.integration.channels.processes import answers, free_port
from tests.waiting import until


@dataclass(frozen=True)
class Servers:
    """Ports by the kind of security; in `imap` both. post: what each took."""

    imap: dict[Security, int]
    smtp: dict[Security, int]
    post: dict[Security, Post]
    certificate: Certificate


@pytest.fixture(scope="module")
def servers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Servers]:
    """A dovecot and two SMTP servers, with a certificate for localhost."""
    folder = tmp_path_factory.mktemp("tls")
    certificate, tls_port = Certificate.make(folder, "localhost"), free_port()
    with (
        dovecot(certificate, tls_port) as imap,
        post_office(certificate, "tls") as (smtps, first),
        post_office(certificate, "starttls") as (smtp, second),
    ):
        assert answers(tls_port)
        yield Servers(
            {"starttls": imap, "tls": tls_port},
            {"starttls": smtp, "tls": smtps},
            {"tls": first, "starttls": second},
            certificate,
        )


def bot(servers: Servers, security: Security, **more: object) -> EmailChannel:
    values: dict[str, object] = {
        "address": BOT,
        "password": PASSWORD,
        "imap_server": "localhost",
        "imap_port": servers.imap[security],
        "imap_security": security,
        "smtp_server": "localhost",
        "smtp_port": servers.smtp[security],
        "smtp_security": security,
        "verified_by": "nobody",
        "owners": ["ana@example.org"],
        "poll_seconds": 1,
        "request_seconds": 10,
    }
    return EmailChannel(with_constants(EmailSettings, **(values | more)), SystemClock(), "Keno")


@pytest.mark.parametrize("security", ["tls", "starttls"])
async def test_mail_comes_and_goes_over_tls(
    servers: Servers, security: Security, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A mail is read and answered."""
    monkeypatch.setenv("SSL_CERT_FILE", str(servers.certificate.file))
    message = EmailMessage()
    message["From"], message["To"], message["Message-ID"] = "ana@example.org", BOT, make_msgid()
    message.set_content(f"Hello by {security}")
    mailbox = Mailbox(servers.imap["starttls"])
    await asyncio.to_thread(mailbox.empty)
    await asyncio.to_thread(mailbox.deliver, message.as_bytes())
    channel, sink = bot(servers, security), RecordingSink()
    running = asyncio.create_task(channel.run(sink))
    try:
        await until(lambda: bool(sink.accepted))
    finally:
        running.cancel()
        with suppress(asyncio.CancelledError):
            await running
    assert sink.accepted[0].text.strip() == f"Hello by {security}"
    to = sink.accepted[0]
    await channel.send(Outbound(1, "email", to.chat, MessagePart("Good morning"), "t", thread=to.thread))
    assert "Good morning" in servers.post[security].taken[-1].as_string()


@pytest.mark.parametrize("security", ["tls", "starttls"])
async def test_a_certificate_that_nobody_vouches_for_is_refused(servers: Servers, security: Security) -> None:
    """The owner is told what to check; nothing is handed over, and a mail waits until that is mended."""
    channel, sink = bot(servers, security), RecordingSink()
    with pytest.raises(RemoteError):
        await channel.run(sink)
    assert "certificate of the mail server cannot be trusted" in sink.reports[0][1]
    assert "check imap_server" in sink.reports[0][1]
    assert sentences.render(sink.reports[0][1], "es") != sink.reports[0][1]
    before = len(servers.post[security].taken)
    with pytest.raises(Unavailable, match="check smtp_server"):
        await channel.send(Outbound(2, "email", "ana@example.org", MessagePart("secret"), "t"))
    assert len(servers.post[security].taken) == before


async def test_another_servers_certificate_is_refused(
    servers: Servers, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is trusted, but for another host: 127.0.0.1 is not in it."""
    monkeypatch.setenv("SSL_CERT_FILE", str(servers.certificate.file))
    sink = RecordingSink()
    with pytest.raises(RemoteError):
        await bot(servers, "tls", imap_server="127.0.0.1").run(sink)
    assert "cannot be trusted" in sink.reports[0][1]


async def test_a_port_without_tls_is_told(servers: Servers) -> None:
    """With the settings to check, in both languages."""
    sink = RecordingSink()
    with pytest.raises(RemoteError):
        await bot(servers, "tls", imap_port=servers.imap["starttls"]).run(sink)
    assert sink.reports[0][1] == "The mail server speaks no TLS there: check imap_port and imap_security"
    assert sentences.render(sink.reports[0][1], "es") != sink.reports[0][1]


@pytest.mark.parametrize("security", ["tls", "starttls"])
async def test_a_relay_without_a_login_is_told_and_can_be_used(
    servers: Servers, security: Security, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A relay over TLS that offers no AUTH says so, and takes mail once the owner has told that it needs none.

    Postfix 3.7 with mynetworks and without smtpd_sasl_auth_enable; aiosmtpd 1.4.6 without mechanisms.
    """
    monkeypatch.setenv("SSL_CERT_FILE", str(servers.certificate.file))
    out = Outbound(3, "email", "ana@example.org", MessagePart("By the relay"), "t")
    with post_office(servers.certificate, security, logs_in=False) as (port, post):
        with pytest.raises(Unavailable, match=r"no login with a password \(AUTH\).*smtp_login") as caught:
            await bot(servers, security, smtp_port=port).send(out)
        await bot(servers, security, smtp_port=port, smtp_login=False).send(out)
    assert caught.value.render("es") != str(caught.value)
    assert len(post.taken) == 1


async def test_a_server_without_starttls_is_told(servers: Servers) -> None:
    """Both servers are named with the settings to check when they do not offer STARTTLS (Dovecot, aiosmtpd 1.4.6)."""
    with dovecot() as imap, post_office() as (smtp, _):
        channel, sink = bot(servers, "starttls", imap_port=imap, smtp_port=smtp), RecordingSink()
        with pytest.raises(RemoteError, match="check smtp_port and smtp_security"):
            await channel.send(Outbound(4, "email", "ana@example.org", MessagePart("x"), "t"))
        with pytest.raises(RemoteError):
            await channel.run(sink)
    assert sink.reports[0][1] == "The mail server speaks no TLS there: check imap_port and imap_security"
