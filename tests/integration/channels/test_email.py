"""The e-mail channel, on a dovecot and an SMTP server."""

import asyncio
import math
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from email.message import EmailMessage
from email.utils import make_msgid

import pytest

from kenobot.ports import sentences
from kenobot.ports.channel import Channel
from kenobot.ports.clock import SystemClock
from kenobot.ports.errors import ConfigError, Rejected, RemoteError, StoreError, Unavailable
from kenobot.ports.messages import Attachment, Inbound, MessagePart, Outbound
from kenobot.ports.plugin import PluginContext
from kenobot_email import build
from kenobot_email import channel as email_channel
from kenobot_email.channel import EmailChannel
from kenobot_email.mailbox import Mailbox as OpenMailbox
from kenobot_email.mailbox import StoredMail
from kenobot_email.settings import EmailSettings
from kenobot_testing.channel import ChannelContract
from kenobot_testing.clock import START
from kenobot_testing.fake_channel import RecordingSink
from tests.constants import with_constants
from tests.integration.channels.mail_servers import (
    BOT,
    PASSWORD,
    Mailbox,
    Post,
    dovecot,
    in_front_of,
    long_id,
    post_office,
    wrap,
)
from tests.integration.channels.processes import free_port

VERIFIED = "mx.example.net; dmarc=pass (policy=none) header.from=example.org"


@dataclass(frozen=True)
class Servers:
    """The ports of both, and what is in them."""

    imap: int
    smtp: int
    mailbox: Mailbox
    post: Post


@pytest.fixture(scope="module")
def running_servers() -> Iterator[Servers]:
    """Both servers, for all tests of this file."""
    with dovecot() as imap, post_office() as (smtp, post):
        yield Servers(imap, smtp, Mailbox(imap), post)


@pytest.fixture
def servers(running_servers: Servers) -> Servers:
    """Both servers, with nothing in them."""
    running_servers.mailbox.empty()
    running_servers.post.taken.clear()
    running_servers.post.refusals.clear()
    running_servers.post.farewells.clear()
    return running_servers


def settings(imap: int, smtp: int, **more: object) -> EmailSettings:
    """Settings of a bot that Ana owns."""
    values: dict[str, object] = {
        "address": BOT,
        "password": PASSWORD,
        "imap_server": "127.0.0.1",
        "imap_port": imap,
        "imap_security": "none",
        "smtp_server": "127.0.0.1",
        "smtp_port": smtp,
        "smtp_security": "none",
        "verified_by": "mx.example.net",
        "owners": ["Ana@example.org"],
        "poll_seconds": 1,
        "request_seconds": 5,
    }
    return with_constants(EmailSettings, **(values | more))


def bot(servers: Servers, **more: object) -> EmailChannel:
    """A channel with a mailbox."""
    return EmailChannel(settings(servers.imap, servers.smtp, **more), SystemClock(), "Keno")


def mail(text: str, sender: str = "Ana <ana@example.org>", **headers: str) -> EmailMessage:
    """A mail to the bot, that its provider has verified."""
    message = EmailMessage()
    named = {"Authentication_Results": VERIFIED, "From": sender, "To": BOT, "Message_ID": make_msgid(), **headers}
    for name, value in named.items():
        if value:
            message[name.replace("_", "-")] = value
    message.set_content(text)
    return message


@asynccontextmanager
async def reading(channel: Channel, *failures: Exception) -> AsyncIterator[RecordingSink]:
    """What a channel hands over while it runs."""
    sink = RecordingSink(*failures)
    running = asyncio.create_task(channel.run(sink))
    try:
        async with asyncio.timeout(60):
            yield sink
    finally:
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)


async def read(servers: Servers, *mails: EmailMessage, **more: object) -> tuple[list[Inbound], RecordingSink]:
    """What comes of some mails, once all of them are dealt with."""
    for each in mails:
        servers.mailbox.deliver(bytes(each))
    async with reading(bot(servers, **more)) as sink:
        while await asyncio.to_thread(servers.mailbox.unread):
            await asyncio.sleep(0.01)
    return sink.accepted, sink


class TestEmail(ChannelContract):
    """The suite, run on e-mail."""

    chat = "ana@example.org"

    @pytest.fixture
    def channel(self, servers: Servers) -> Channel:
        self._servers = servers
        return bot(servers)

    @pytest.fixture
    def failing(self) -> Channel:
        """A bot whose server is away."""
        return EmailChannel(settings(free_port(), free_port()), SystemClock(), "Keno")

    async def say(self, channel: Channel, text: str) -> None:
        message = mail("", Message_ID=long_id())
        wrap(message, text)
        self._servers.mailbox.deliver(bytes(message))


async def test_an_answer_stands_in_the_conversation_of_its_mail(servers: Servers) -> None:
    """With subject and references, as text and as HTML; the next mail of it comes from the same session."""
    first = mail("What is due?", Subject="Taxes 2026")
    async with reading(channel := bot(servers)) as sink:
        servers.mailbox.deliver(bytes(first))
        (asked,) = await sink.until_accepted(1)
        (part,) = channel.render("**All** of it,\n\n- today\n- [here](https://example.org/x)")
        sent = await channel.send(Outbound(1, "email", asked.chat, part, "trace", thread=asked.thread))
        (answer,) = servers.post.taken
        again = mail(
            f"Thanks.\n\nOn 23 Nov 2026 at 10:00, Keno <{BOT}> wrote:\n> All of it,\n> - today\n\n-- \nAna\n",
            Subject="RE: Re: Taxes 2026",
            References=f"{first['Message-ID']} {sent}",
            In_Reply_To=sent,
        )
        servers.mailbox.deliver(bytes(again))
        _, thanked = await sink.until_accepted(2)
        await channel.send(Outbound(2, "email", thanked.chat, MessagePart("Bye"), "t", thread=thanked.thread))
    assert asked.text == "Taxes 2026\n\nWhat is due?"
    assert (answer["Subject"], answer["To"], answer["In-Reply-To"]) == ("Re: Taxes 2026", asked.chat, asked.platform_id)
    assert answer["Auto-Submitted"] == "auto-replied"
    plain, html = answer.get_body(("plain",)), answer.get_body(("html",))
    assert plain is not None and "here (https://example.org/x)" in plain.get_content()
    assert html is not None and '<a href="https://example.org/x">here</a>' in html.get_content()
    assert (thanked.text, thanked.quoted, thanked.session) == ("Thanks.", "All of it,\n- today", asked.session)
    assert servers.post.taken[1]["In-Reply-To"] == again["Message-ID"]
    assert servers.post.taken[1]["References"].split() == [first["Message-ID"], again["Message-ID"]]


async def test_an_answer_names_the_long_id_of_exchange_as_it_is(servers: Servers) -> None:
    """Exchange Online gives ids of 84 characters, and CPython 3.11.7 encodes what it folds (email.policy.SMTP)."""
    own = "<VI1PR0402MB2815A1B2C3D4E5F6A7B8C9D0E1F2A@VI1PR0402MB2815.eurprd04.prod.outlook.com>"
    (asked,), _ = await read(servers, mail("Hello", Subject="Hi", Message_ID=own))
    await bot(servers).send(Outbound(1, "email", asked.chat, MessagePart("Hi"), "t", thread=asked.thread))
    (answer,) = servers.post.taken
    written = {name: " ".join(str(value).split()) for name, value in answer.raw_items()}
    assert (written["In-Reply-To"], written["References"]) == (own, own)


async def test_a_sender_whom_the_server_did_not_verify_is_nobody(servers: Servers) -> None:
    """Anybody can write any address, and a result of their own below; the owner is told."""
    forged = [
        mail("x", Authentication_Results=""),
        mail("x", Authentication_Results="mx.example.net; dmarc=fail header.from=example.org"),
        mail("x", Authentication_Results="mx.evil.example; dmarc=pass header.from=example.org"),
        mail("x", Authentication_Results="mx.example.net; spf=pass smtp.mailfrom=a@evil.org; dkim=pass header.d=org"),
        mail("x", Authentication_Results="mx.example.net; dmarc=fail (dmarc=pass header.from=example.org)"),
        mail("x", sender="ana@example.org, eve@evil.example"),
        mail(
            "x",
            sender='"ana@example.org" <eve@evil.example>',
            Authentication_Results="mx.example.net; dmarc=pass header.from=evil.example",
        ),
    ]
    twice = mail("x", Authentication_Results="mx.example.net; dmarc=fail header.from=example.org")
    forged.append(EmailMessage())
    forged[-1].set_content("x")
    for name, value in [*twice.items(), ("Authentication-Results", VERIFIED)]:
        if name.lower() not in ("content-type", "content-transfer-encoding", "mime-version"):
            forged[-1].add_header(name, str(value))
    good = mail(
        "I am Ana", Authentication_Results="mx.example.net 1; spf=none; dkim=pass header.d=example.org header.s=a"
    )
    accepted, sink = await read(servers, *forged, good)
    assert [inbound.text for inbound in accepted] == ["I am Ana"]
    assert sink.reports and "verified_by" in sink.reports[0][1]
    assert sentences.render(sink.reports[0][1], "es") != sink.reports[0][1]


async def test_programs_and_strangers_get_no_answer(servers: Servers) -> None:
    """Neither lists, nor replies out of office, nor the bot's own mail: an answer could go round in a loop."""
    accepted, sink = await read(
        servers,
        mail("I am away", Auto_Submitted="auto-replied"),
        mail("News", List_Id="<news.example.org>"),
        mail("News", Precedence="bulk"),
        mail("Hello", sender=BOT, Authentication_Results="mx.example.net; dmarc=pass header.from=example.net"),
        mail("Hi", sender="noreply@example.org"),
        mail("Hi", sender="bob@example.org"),
        mail("Hi", Return_Path="<>"),
    )
    assert (accepted, sink.reports) == ([], [])


async def test_a_stranger_reaches_the_bot_where_that_is_wished(servers: Servers) -> None:
    """But no forged one."""
    accepted, _ = await read(
        servers,
        mail("Hi", sender="Bob <bob@example.org>"),
        mail("Hi", sender="bob@example.org", Authentication_Results=""),
        strangers=True,
    )
    assert [(inbound.user, inbound.user_name) for inbound in accepted] == [("bob@example.org", "Bob")]


async def test_a_mail_that_came_back_is_told_to_the_owner(servers: Servers) -> None:
    """One that the bot has sent; no answer goes to the server that reports it."""
    report = (
        "From: MAILER-DAEMON@example.org\r\nTo: bot@example.net\r\nSubject: Undelivered\r\n"
        'Content-Type: multipart/report; report-type=delivery-status; boundary="b"\r\n\r\n'
        "--b\r\nContent-Type: text/plain\r\n\r\nSorry.\r\n"
        "--b\r\nContent-Type: message/delivery-status\r\n\r\nReporting-MTA: dns; mx\r\n\r\n"
        "Final-Recipient: rfc822; ana@example.org\r\nAction: failed\r\nStatus: 5.1.1\r\n"
        "--b\r\nContent-Type: text/rfc822-headers\r\n\r\nMessage-ID: <kenobot.1@example.net>\r\n\r\n--b--\r\n"
    )
    servers.mailbox.deliver(report.encode())
    accepted, sink = await read(servers)
    assert accepted == []
    assert sink.reports == [("email", "A mail of the bot's was not delivered (5.1.1): check the address")]
    assert sentences.render(sink.reports[0][1], "es") != sink.reports[0][1]


async def test_files_are_described_and_fetched_when_they_are_wanted(servers: Servers) -> None:
    """A picture that decorates a signature is none."""
    message = mail("Here they are", Subject="Files")
    message.add_alternative("<p>Here they are <img src='cid:x'></p>", subtype="html")
    message.add_attachment(b"%PDF-1.4 x", "application", "pdf", filename="año.pdf")
    message.add_attachment(b"\x89PNG", "image", "png", filename="a.png")
    message.add_attachment(b"\x89PNG", "image", "png", filename="logo.png", disposition="inline", cid="<x>")
    (inbound,), _ = await read(servers, message)
    assert [(each.kind, each.mime, each.name, each.size) for each in inbound.attachments] == [
        ("document", "application/pdf", "año.pdf", 10),
        ("image", "image/png", "a.png", 4),
    ]
    assert b"".join([piece async for piece in bot(servers).fetch(inbound.attachments[0])]) == b"%PDF-1.4 x"
    with pytest.raises(Rejected):
        [_ async for _ in bot(servers).fetch(Attachment("document", handle="1.99999.0"))]


async def test_a_very_long_mail_is_read_to_where_it_may_and_says_so(servers: Servers) -> None:
    """Its files then count as larger than any that is read."""
    message = mail("A large file", Subject="Large")
    message.add_attachment(b"x" * 2_000_000, "application", "pdf", filename="a.pdf")
    (inbound,), _ = await read(servers, message, most_mb=0.5)
    assert inbound.text == "Large\n\nA large file"
    assert [(each.size or 0) > 2_000_000 for each in inbound.attachments] == [True]


async def test_others_words_are_told_from_the_senders(servers: Servers) -> None:
    """Quotations wherever they stand, what Outlook puts below, and what was forwarded."""
    inside = "> Who comes?\nBoth of us.\n> When?\nAt 8:"
    outlook = "Sí.\n\nDe: Bob <bob@x.org>\nEnviado: lunes\nPara: Ana\nAsunto: Cena\n\n¿Vienes?"
    forwarded = "---------- Forwarded message ---------\nFrom: Bob\n\nBuy my shares"
    html = mail("")
    html.set_content("<p>Yes, <b>I</b> do.</p><blockquote>Do you?</blockquote><style>p{}</style>", subtype="html")
    accepted, _ = await read(
        servers, mail(inside), mail(outlook), mail(forwarded, Subject="Fwd: Shares"), html, mail("/help", Subject="Hi")
    )
    read_as = [(inbound.text, inbound.quoted, inbound.forwarded) for inbound in accepted]
    assert read_as[0] == ("Both of us.\nAt 8:", "Who comes?\nWhen?", False)
    assert read_as[1][0] == "Sí." and "¿Vienes?" in read_as[1][1]
    assert read_as[2][2] and "Buy my shares" in read_as[2][0]
    assert read_as[3] == ("Yes, I do.", "Do you?", False)
    assert read_as[4][0] == "/help"


async def test_a_mail_is_marked_as_read_only_once_it_is_stored(servers: Servers) -> None:
    """Until then the server keeps it as new, and the next look brings it again."""
    servers.mailbox.deliver(bytes(mail("precious")))
    async with reading(bot(servers), StoreError("the disk is full")) as sink:
        while not sink.refused:
            await asyncio.sleep(0.01)
        assert servers.mailbox.unread() == 1
        await sink.until_accepted(1)
        while await asyncio.to_thread(servers.mailbox.unread):
            await asyncio.sleep(0.01)
    assert sink.refused == sink.accepted


async def test_a_mail_that_another_program_moved_meanwhile_is_left_alone(servers: Servers) -> None:
    """The others are read."""
    servers.mailbox.deliver(bytes(mail("still here")))
    mailbox, sink, channel = OpenMailbox(settings(servers.imap, servers.smtp)), RecordingSink(), bot(servers)
    await asyncio.to_thread(mailbox.open)
    (handle,) = await asyncio.to_thread(mailbox.list_unread)
    await channel._take_from(mailbox, f"{handle}999", sink)
    await channel._take_from(mailbox, handle, sink)
    mailbox.close()
    assert [inbound.text for inbound in sink.accepted] == ["still here"]


async def test_a_refused_address_is_final_and_a_busy_server_is_not(servers: Servers) -> None:
    """The core decides about trying again by that; the mail has the same id then."""
    channel, out = bot(servers), Outbound(1, "email", "ana@example.org", MessagePart("hi \ud83d"), "trace")
    servers.post.refusals[:] = ["550 no such user", "451 later"]
    with pytest.raises(Rejected, match="550"):
        await channel.send(out)
    with pytest.raises(Unavailable, match="451"):
        await channel.send(out)
    assert await channel.send(out) == await channel.send(out) == servers.post.taken[0]["Message-ID"]
    with pytest.raises(Rejected):
        await channel.send(Outbound(2, "email", "ana@example.org\r\nBcc: eve@evil.example", MessagePart("x"), "t"))


async def test_a_mail_that_was_taken_counts_as_sent_whatever_the_server_says_to_the_end(servers: Servers) -> None:
    """It is not sent again for that; and what it was refused for is told as it was."""
    channel, out = bot(servers), Outbound(1, "email", "ana@example.org", MessagePart("hi"), "trace")
    servers.post.farewells[:] = ["451 busy", "500 what?", "250 as you like", "451 busy"]
    for _ in range(3):
        assert await channel.send(out)
    assert len(servers.post.taken) == 3
    servers.post.refusals[:] = ["550 no such user"]
    with pytest.raises(Rejected, match="550"):
        await channel.send(out)
    assert not servers.post.farewells


@pytest.mark.parametrize("told", ["NO [SERVERBUG] Internal error occurred", "BAD Internal error"])
async def test_a_mail_that_the_server_does_not_hand_over_holds_up_no_other(
    servers: Servers, monkeypatch: pytest.MonkeyPatch, told: str
) -> None:
    """However many they are; the owner is told once of each, and it is tried again later."""
    monkeypatch.setattr(email_channel, "_AGAIN_SECONDS", math.inf)
    for number in range(21):
        servers.mailbox.deliver(bytes(mail(f"stuck {number}")))
    stuck = servers.mailbox.list_uids()
    servers.mailbox.deliver(bytes(mail("fine")))
    async with in_front_of(servers.imap) as (port, trouble):
        trouble.refusals = {f"UID FETCH {uid} ": told for uid in stuck}
        channel = EmailChannel(settings(port, servers.smtp), SystemClock(), "Keno")
        async with reading(channel) as sink:
            assert [each.text for each in await sink.until_accepted(1)] == ["fine"]
            while await asyncio.to_thread(servers.mailbox.unread) > 21:
                await asyncio.sleep(0.01)
            servers.mailbox.deliver(bytes(mail("fine again")))
            await sink.until_accepted(2)
            assert len(sink.reports) == 21
            assert "look at it in a mail program" in sink.reports[0][1]
            assert sentences.render(sink.reports[0][1], "es") != sink.reports[0][1]
            trouble.refusals.clear()
            channel._passed_over = dict.fromkeys(channel._passed_over, -math.inf)
            await sink.until_accepted(23)


async def test_a_mail_that_cannot_be_marked_holds_up_no_other(
    servers: Servers, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is taken once, and not again when others that were passed over are."""
    monkeypatch.setattr("kenobot_email.channel._AGAIN_SECONDS", 0.0)
    servers.mailbox.deliver(bytes(mail("stuck")))
    (stuck,) = servers.mailbox.list_uids()
    servers.mailbox.deliver(bytes(mail("fine")))
    async with in_front_of(servers.imap) as (port, trouble):
        trouble.refusals = {f"UID STORE {stuck} ": "NO [CANNOT] Not here"}
        async with reading(EmailChannel(settings(port, servers.smtp), SystemClock(), "Keno")) as sink:
            await sink.until_accepted(2)
            servers.mailbox.deliver(bytes(mail("fine again")))
            texts = [each.text for each in await sink.until_accepted(3)]
    assert texts == ["stuck", "fine", "fine again"]
    assert len(sink.reports) == 1


async def test_a_mail_at_which_the_connection_breaks_twice_holds_up_no_other(servers: Servers) -> None:
    """As where the server itself breaks at it."""
    servers.mailbox.deliver(bytes(mail("stuck")))
    (stuck,) = servers.mailbox.list_uids()
    servers.mailbox.deliver(bytes(mail("fine")))
    async with in_front_of(servers.imap) as (port, trouble):
        trouble.refusals = {f"UID FETCH {stuck} ": ""}
        channel, sink = EmailChannel(settings(port, servers.smtp), SystemClock(), "Keno"), RecordingSink()
        for _ in range(2):
            with pytest.raises(Unavailable):
                await channel.run(sink)
        async with reading(channel) as later:
            assert [each.text for each in await later.until_accepted(1)] == ["fine"]
    assert [len(each.reports) for each in (sink, later)] == [1, 0]


async def test_a_mail_with_an_odd_date_of_arrival_is_read(servers: Servers) -> None:
    """As one that came now."""
    servers.mailbox.deliver(bytes(mail("when?")))
    async with in_front_of(servers.imap) as (port, trouble):
        trouble.changes = {b'INTERNALDATE "': b'INTERNALDATE "?'}
        async with reading(EmailChannel(settings(port, servers.smtp), SystemClock(), "Keno")) as sink:
            (inbound,) = await sink.until_accepted(1)
    assert inbound.text == "when?"
    assert abs(datetime.now(UTC) - inbound.sent_at) < timedelta(minutes=10)


async def test_so_many_mails_are_passed_over(servers: Servers, monkeypatch: pytest.MonkeyPatch) -> None:
    """The one passed over for the longest time is tried again."""
    monkeypatch.setattr(email_channel, "_PASSED_OVER", 1)
    mailbox, sink, channel = OpenMailbox(settings(servers.imap, servers.smtp)), RecordingSink(), bot(servers)
    for handle in ("0.1", "0.2"):
        await channel._take_from(mailbox, handle, sink)
    assert list(channel._passed_over) == ["0.2"]
    assert not sink.reports


async def test_hostile_mails_harm_nothing(servers: Servers) -> None:
    """Whatever their form; the one behind them is read."""
    for raw in (
        b"\r\n",
        b"\xff\xfe\0",
        b"From: =?x?q?=\r\nSubject: =?utf-8?b?//8=?=\r\n\r\n",
        b"From: ana@example.org\r\n" * 3,
    ):
        servers.mailbox.deliver(raw)
    broken = bytes(mail("x")).replace(b'charset="utf-8"', b'charset="nonsense"')
    servers.mailbox.deliver(broken)
    accepted, _ = await read(servers, mail("still here"))
    assert accepted[-1].text == "still here"


async def test_a_wrong_password_is_told_to_the_owner(servers: Servers) -> None:
    """With what to check."""
    sink = RecordingSink()
    with pytest.raises(RemoteError):
        await bot(servers, password="wrong").run(sink)
    assert "check username and password" in sink.reports[0][1]
    assert sentences.render(sink.reports[0][1], "es") != sink.reports[0][1]


async def test_the_last_mail_of_each_conversation_is_known_for_so_many(
    servers: Servers, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An answer of an older one refers to its first mail."""
    monkeypatch.setattr("kenobot_email.channel._LAST_ONES", 3)
    channel, sink = bot(servers), RecordingSink()
    for number in range(5):
        await channel._take(StoredMail(f"1.{number}", bytes(mail(f"no {number}")), 10, START), sink)
    assert list(channel._last.values()) == [inbound.platform_id for inbound in sink.accepted[2:]]


def test_whoever_verifies_senders_must_be_named(tmp_path: object) -> None:
    """The error says where to find it."""
    context = PluginContext(home=tmp_path, clock=SystemClock(), bot_name="Keno")  # type: ignore[arg-type]
    with pytest.raises(ConfigError, match="Authentication-Results"):
        build(settings(1, 2, verified_by=""), context)
    assert build(settings(1, 2), context).name == "email"
