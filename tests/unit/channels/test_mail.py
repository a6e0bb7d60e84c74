"""Reading a mail that somebody hostile wrote."""

import pytest

from kenobot.channels.email.mail import (
    conversation_of,
    header,
    id_of,
    is_verified,
    parse_mail,
    read_html,
    read_words,
    sender_of,
)


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


def test_a_page_is_read_with_its_quotations() -> None:
    """Without what is not seen; a tag that stays open is text."""
    page = '<head><title>t</title></head><p title="x">1 &lt; 2<!-- no <b> --> yes</p><blockquote>q<br>r</blockquote>end'
    assert read_html(page) == "\n1 < 2 yes\n> q\n> r\nend"
    assert read_html("a < b <c") == "a < b <c"


@pytest.mark.parametrize("piece", ["<a ", "<a b='", "<!--", "<![", "<a b='>", "<script>", "</", "&#", "<blockquote>"])
def test_a_long_hostile_page_is_read(piece: str) -> None:
    """In a time that grows with its length: any power of that would not end."""
    read_html(piece * 50_000)


def test_a_long_hostile_mail_is_read() -> None:
    """Headers, and quotations between lines without a blank one, of a length that a server lets pass."""
    people = b"From: " + b"a@example.org, " * 100_000
    assert sender_of(parse_mail(people + b"\n\nx")) == ("", "")
    assert len(header(parse_mail(b"Subject: " + b"=?utf-8?q?a?= " * 100_000 + b"\n\n"), "Subject")) < 4000
    assert read_words(parse_mail(b"Subject: s\nIn-Reply-To: <a>\n\n" + b"x\n>y\n" * 40_000)).quoted.startswith("y")
