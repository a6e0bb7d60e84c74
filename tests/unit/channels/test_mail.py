"""Reading a mail: of somebody hostile, and as mail programs write it; and the headers of an answer."""

import re

import pytest

from kenobot.ports.clock import SystemClock
from kenobot.ports.messages import MessagePart, Outbound
from kenobot_email.channel import EmailChannel
from kenobot_email.mail import (
    attachments_of,
    conversation_of,
    file_bytes,
    files_of,
    header,
    id_of,
    is_automatic,
    is_verified,
    parse_mail,
    read_words,
    sender_of,
)
from kenobot_email.settings import EmailSettings


def verified(*results: str) -> bool:
    """Whether mails with these results of checks are taken to come from example.org."""
    headers = "".join(f"Authentication-Results: {result}\n" for result in results)
    return is_verified(parse_mail(f"{headers}\nx".encode()), "ana@example.org", "mx.example.net")


@pytest.mark.parametrize(
    "result",
    [
        'mx.example.net; spf=pass smtp.mailfrom="x; dmarc=pass header.from=example.org"@evil.example',
        'mx.example.net; spf=pass smtp.mailfrom="x\\"; dmarc=pass header.from=example.org"@evil.example',
        'mx.example.net; spf=pass (of "a); dmarc=pass header.from=example.org; ("@x) smtp.mailfrom=evil.example',
        "mx.example.net; spf=pass smtp.mailfrom==?utf-8?q?x=3B_dmarc=3Dpass_header.from=3Dexample.org_?=@evil.example",
        "mx.example.net; spf=pass (a; dmarc=pass header.from=example.org",
        "mx.example.net; spf=pass smtp.helo=smtp.mailfrom=example.org smtp.mailfrom=eve@evil.example",
        "mx.example.net; dmarc=fail header.from=example.org; x; dmarc=pass header.from=example.org",
    ],
)
def test_the_words_of_a_sender_are_no_results(result: str) -> None:
    """Addresses of envelopes, which a sender chooses, stand within the results, quoted or not."""
    assert not verified(result)


def test_results_that_cannot_be_read_are_not_passed_over() -> None:
    """A sender could spoil the server's own, and have written others below."""
    own = "mx.example.net; dmarc=pass header.from=example.org"
    assert verified(own)
    assert not verified('mx.example.net; spf=pass smtp.mailfrom="a@evil.example', own)


@pytest.mark.parametrize(
    "result",
    [
        'mx.example.net; dkim=pass (2048-bit key; unprotected) header.i=@example.org header.b="a;b("',
        "mx.example.net;\n spf=pass (mx: domain of ana@example.org permits 192.0.2.1)\n smtp.mailfrom=ana@example.org",
        "MX.example.net 1; arc=none; dmarc=pass (p=NONE (sp=none)) header.from=Example.org",
    ],
)
def test_results_are_read_as_servers_write_them(result: str) -> None:
    """With comments, quoted signatures, and line breaks."""
    assert verified(result)


@pytest.mark.parametrize(
    "written",
    ["a b <x@y>", "<a\r\n <b>@y>", "=?utf-8?q?=3Ca=0D=0ABcc:x@y=3E?=", f"<{'m' * 3000}@y>", "<a\x00b@y>", "<ñ@y>"],
)
def test_an_id_that_an_answer_cannot_name_is_none(written: str) -> None:
    """Nothing of it comes into the answer's headers; one between angle brackets does."""
    message = parse_mail(f"Message-ID: {written}\nSubject: =?utf-8?q?a=0D=0ABcc:_x=00?=\n\nx".encode())
    assert (id_of(message), conversation_of(message)) == ("", ("", "a Bcc: x"))
    assert id_of(parse_mail(b"Message-ID: <a+b=c@y.example>\n\nx")) == "<a+b=c@y.example>"


@pytest.mark.parametrize("written", [b"=?utf-8?q?a=0D=0ABcc:x?= <a@b.c>", b"(" * 3000, b"a." * 2000 + b"<a@b.c>"])
def test_a_sender_that_cannot_be_read_is_nobody(written: bytes) -> None:
    """Nothing of such a mail is kept: anybody could fill the disk with them."""
    assert sender_of(parse_mail(b"From: " + written + b"\n\nx")) == ("", "")


def test_a_long_hostile_mail_is_read() -> None:
    """Headers, and quotations between lines without a blank one, of a length that a server lets pass."""
    people = b"From: " + b"a@example.org, " * 100_000
    assert sender_of(parse_mail(people + b"\n\nx")) == ("", "")
    assert len(header(parse_mail(b"Subject: " + b"=?utf-8?q?a?= " * 100_000 + b"\n\n"), "Subject")) < 4000
    assert read_words(parse_mail(b"Subject: s\nIn-Reply-To: <a>\n\n" + b"x\n>y\n" * 40_000)).quoted.startswith("y")


def answer(kind: str, text: str) -> bytes:
    """A mail of a conversation with one part."""
    return f"In-Reply-To: <a@b>\nContent-Type: {kind}\n\n{text}".encode()


def answer_both(plain: str, html: str) -> bytes:
    """A mail of a conversation as text and as HTML."""
    parts = f"--b\nContent-Type: text/plain\n\n{plain}\n--b\nContent-Type: text/html\n\n{html}\n--b--\n"
    return answer('multipart/alternative; boundary="b"', parts)


FLOWED = "text/plain; charset=utf-8; format=flowed"


@pytest.mark.parametrize(
    ("kind", "written", "text"),
    [
        (
            FLOWED,
            "The wifi of the cabin near \nGranada is in \nthe book.",
            "The wifi of the cabin near Granada is in the book.",
        ),
        (FLOWED.replace("f", "F"), "la tiene la \nvecina", "la tiene la vecina"),
        (f"{FLOWED}; delsp=yes", "https://x.example/a/that \n/goes/on.pdf", "https://x.example/a/that/goes/on.pdf"),
        (f"{FLOWED}; DelSp=Yes", "日本 \n語です", "日本語です"),
        (FLOWED, "milk\neggs \n\nbread", "milk\neggs \n\nbread"),
        (FLOWED, " From here \n on", "From here on"),
        (FLOWED, "Yours, \n-- \nAna", "Yours,"),
        (FLOWED, "not quoted \n> quoted", "not quoted"),
        ("text/plain", "fixed \nlines", "fixed \nlines"),
    ],
)
def test_flowed_lines_are_joined(kind: str, written: str, text: str) -> None:
    """A line that ends with a space goes on in the next of its quotation (RFC 3676, 4.1 to 4.5; Thunderbird)."""
    assert read_words(parse_mail(answer(kind, written))).text == text


def test_flowed_quotations_are_joined_each_by_itself() -> None:
    """Depths of quotation are told apart (RFC 3676, 4.5)."""
    words = read_words(parse_mail(answer(FLOWED, "Yes.\n> Will you \n> come\n>> It was \n> said")))
    assert (words.text, words.quoted) == ("Yes.", "Will you come\nIt was \nsaid")


WRAPPED = "The spare key of the house in the mountains near Granada where we met is\nwritten on the back of the\ncard."
WHOLE = WRAPPED.replace("\n", " ")


@pytest.mark.parametrize(
    ("plain", "html", "text"),
    [
        (WRAPPED, f'<div dir="ltr">{WHOLE}</div>', WHOLE),
        (f"{WRAPPED}\n\nBye", f"<div>{WRAPPED}</div><p>Bye</p>", f"{WHOLE}\n\nBye"),
        ("- milk\n- eggs", "<ul><li>milk</li><li>eggs</li></ul>", "- milk\n- eggs"),
        ("the *red* key\nis here", "<p>the <b>red</b> key is here</p>", "the *red* key is here"),
        ("one key\ntwo keys", "one key<br>two keys", "one key\ntwo keys"),
        ("def f():\n    pass", "<pre>def f():\n    pass</pre>", "def f():\n    pass"),
        ("first\nsecond", '<span style="white-space: pre-wrap">first\nsecond</span>', "first\nsecond"),
        ("Rent 2026\n950", "<table><tr><td>Rent 2026</td></tr><tr><td>950</td></tr></table>", "Rent 2026\n950"),
    ],
)
def test_a_line_break_counts_where_the_page_has_it_too(plain: str, html: str, text: str) -> None:
    """Gmail wraps the plain part at 75 characters and leaves the HTML part whole, without format=flowed."""
    assert read_words(parse_mail(answer_both(plain, html))).text == text


@pytest.mark.parametrize(
    ("written", "text"),
    [
        ("Recuerda que la llave de la casa de la playa de mi madre la tiene la\nvecina.", None),
        ("Remember that the spare key of the house is under the third pot of the yard.\nthe wifi is blue", ""),
        ("milk\neggs", ""),
        ("a" * 60 + "\nb) the second of two points", ""),
        ("> Recuerda que la llave de la casa de la playa de mi madre la tiene la\nvecina", "vecina"),
    ],
)
def test_a_full_line_goes_on_in_a_small_letter(written: str, text: str | None) -> None:
    """Mutt 2.2 and others wrap a text that stands alone at 72 characters; lists and finished sentences stay lines."""
    expected = written.replace("\n", " ") if text is None else text or written
    assert read_words(parse_mail(answer("text/plain", written))).text == expected


@pytest.mark.parametrize(
    "cite",
    ["<div>On Mon, 2 March at 10:00, Ann wrote:<br></div>", "<p>El lun, 2 mar 2026, Ana (a@x.example) escribió:</p>"],
)
def test_an_answer_of_html_alone_keeps_its_own_words(cite: str) -> None:
    """Only the line that announces a quotation goes (Gmail, Thunderbird 128)."""
    for own in ('<div dir="ltr">Yes.<div>Ann</div></div><br>', "<p>Yes.<br>Ann</p>"):
        page = f"{own}<div class=quote>{cite}<blockquote><div>When?</div></blockquote></div>"
        words = read_words(parse_mail(answer("text/html", page)))
        assert (words.text, words.quoted) == ("Yes.\nAnn", "When?")


EVENT = "BEGIN:VCALENDAR\nMETHOD:REQUEST\nBEGIN:VEVENT\nDTSTART:20261203T100000Z\nLOCATION:Ro\n om 3\nEND:VEVENT\n"
EVENT_KIND = "text/calendar; charset=utf-8; method=REQUEST"


def invitation(*parts: str) -> bytes:
    """An invitation of several parts, each with its headers."""
    written = "".join(f"--b\nContent-Type: {part}\n" for part in ("text/plain\n\nDentist", *parts))
    return answer('multipart/alternative; boundary="b"', f"{written}--b--\n")


@pytest.mark.parametrize(
    "raw",
    [
        answer(EVENT_KIND, EVENT),
        invitation(f"{EVENT_KIND}\n\n{EVENT}"),
        invitation(f"{EVENT_KIND}\n\n{EVENT}", f'application/ics; name="invite.ics"\n\n{EVENT}'),
        invitation(f'{EVENT_KIND}; name="invite.ics"\n\n{EVENT}'),
    ],
)
def test_an_invitation_is_a_file_once(raw: bytes) -> None:
    """A calendar without a file name is read (RFC 6047, 2.4; Exchange); Google Calendar adds the same as a file."""
    message = parse_mail(raw)
    ((name, kind),) = [(each.name, each.kind) for each in attachments_of(message, "1.1", None)]
    assert (name.endswith(".ics"), kind) == (True, "document")
    assert [b"Room 3" in file_bytes(part) for part in files_of(message)] == [True]


@pytest.mark.parametrize(
    ("written", "automatic"),
    [
        ("X-Auto-Response-Suppress: All", True),
        ("X-Auto-Response-Suppress: DR, RN, NRN, OOF, AutoReply", True),
        ("X-AutoGenerated: Reply", True),
        ("X-Autoreply: yes", True),
        ("X-Mail-Autoreply: yes", True),
        ("X-MS-Exchange-Generated-Message-Source: Mailbox Rules Agent", True),
        ("X-FC-MachineGenerated: true", True),
        ("X-Cron-Env: <SHELL=/bin/sh>", True),
        ("X-Auto-Response-Suppress: DR, NDR", False),
        ("X-Auto-Response-Suppress: None", False),
        ("X-Autocrypt: addr=ana@example.org", False),
        ("Auto-Submitted: no", False),
    ],
)
def test_a_mail_of_a_program_is_known_by_its_headers(written: str, *, automatic: bool) -> None:
    """Exchange marks its automatic mails so ([MS-OXCMAIL]); receipts alone say nothing of the writer."""
    assert is_automatic(parse_mail(f"From: ana@example.org\n{written}\n\nx".encode())) == automatic


EXCHANGE_ID = "<VI1PR0402MB2815A1B2C3D4E5F6A7B8C9D0E1F2A@VI1PR0402MB2815.eurprd04.prod.outlook.com>"


@pytest.mark.parametrize("own", [EXCHANGE_ID, "<a@b.example>", f"<{'m' * 400}@y.example>"])
@pytest.mark.parametrize("first", ["", "<first@b.example>", EXCHANGE_ID.replace("VI1", "VI2")])
def test_an_id_of_any_length_is_answered_as_it_is(own: str, first: str) -> None:
    """CPython 3.11.7 folds an id of 78 characters, as of Exchange Online, into encoded words that no program finds."""
    channel = EmailChannel(EmailSettings(address="bot@example.net"), SystemClock(), "Keno")
    raw = f"From: ana@example.org\nSubject: Año {'nuevo ' * 30}\nMessage-ID:\n {own}\n"
    message = parse_mail(f"{raw}{f'References: {first}' + chr(10) if first else ''}\nx".encode())
    ids, subject = conversation_of(message)
    out = Outbound(1, "email", "ana@example.org", MessagePart("Hi"), "t", thread=f"{ids} {subject}", reply_to=own)
    written = bytes(channel._compose(out)).split(b"\r\n\r\n")[0]
    fields = dict(line.split(b":", 1) for line in re.sub(rb"\r\n[ \t]+", b" ", written).split(b"\r\n"))
    assert id_of(message) == own
    assert fields[b"In-Reply-To"].split() == [own.encode()]
    assert fields[b"References"].decode().split() == list(dict.fromkeys([first or own, own]))
    assert max(map(len, written.split(b"\r\n"))) < 998
    assert header(parse_mail(written + b"\r\n\r\n"), "Subject") == f"Re: {subject}"


def test_an_invitation_brings_its_place_beside_a_named_one() -> None:
    """A named file of another kind does not stand for the invitation."""
    message = parse_mail(invitation(f"{EVENT_KIND}\n\n{EVENT}", 'text/plain; name="agenda.txt"\n\nx'))
    assert [each.name for each in attachments_of(message, "1.1", None)] == ["invitation.ics", "agenda.txt"]


def test_a_mail_attached_as_a_whole_is_a_file() -> None:
    """What was forwarded so is a document of its own, beside the files in it (RFC 2046, 5.2.1; Outlook)."""
    inner = 'Subject: The rent\nContent-Type: multipart/mixed; boundary="i"\n\n--i\n\nIt is 950.\n'
    inner += '--i\nContent-Type: application/pdf; name="a.pdf"\n\nx\n--i--\n'
    raw = answer('multipart/mixed; boundary="b"', f"--b\n\nLook\n--b\nContent-Type: message/rfc822\n\n{inner}\n--b--\n")
    message = parse_mail(raw)
    assert [each.name for each in attachments_of(message, "1.1", None)] == ["The rent.eml", "a.pdf"]
    assert b"It is 950." in file_bytes(next(files_of(message)))
    assert read_words(message).text == "Look"


def test_text_behind_a_picture_is_read() -> None:
    """Apple Mail writes text, a picture and text as three parts; a text with a name is a file."""
    parts = ("text/plain\n\nBefore", 'image/png; name="a.png"\n\nx', "text/plain\n\nAfter", 'text/plain; name="b"\n\nb')
    written = "".join(f"--b\nContent-Type: {part}\n" for part in parts)
    message = parse_mail(answer('multipart/mixed; boundary="b"', f"{written}--b--\n"))
    assert read_words(message).text.split() == ["Before", "After"]
    assert [each.name for each in attachments_of(message, "1.1", None)] == ["a.png", "b"]


@pytest.mark.parametrize("encoding", ["utf-8", "cp1252"])
@pytest.mark.parametrize("kind", ["", "Content-Type: text/plain; format=flowed\n", "Content-Type: text/html\n"])
def test_a_text_whose_writer_names_no_encoding_is_read(encoding: str, kind: str) -> None:
    """As scripts send it, against RFC 2045, 5.2, by which it would be ASCII."""
    raw = f"From: ana@example.org\n{kind}Content-Transfer-Encoding: 8bit\n\nVivo en A Coruña — 5 €\n".encode(encoding)
    assert read_words(parse_mail(raw)).text == "Vivo en A Coruña — 5 €"
