"""E-mails that are stored as files are read as a mail reader shows them."""

from email.message import EmailMessage

from kenobot.agent.media.formats.mail import mail_lines


def _mail() -> EmailMessage:
    message = EmailMessage()
    message["From"], message["Subject"] = "Ana <ana@example.org>", "Reunión"
    message.set_content("Es el jueves.", cte="base64")
    message.add_alternative("<p>Es el <b>jueves</b>.</p>", subtype="html", cte="base64")
    message.add_attachment(b"%PDF", maintype="application", subtype="pdf", filename="año.pdf")
    return message


def test_a_stored_mail_is_read_decoded() -> None:
    """Its text comes once, and its attachments by name."""
    expected = ["From: Ana <ana@example.org>", "Subject: Reunión", "Es el jueves.", "[attached file: año.pdf]"]
    assert list(mail_lines(_mail().as_bytes())) == expected


def test_text_between_attachments_is_read() -> None:
    """Apple Mail 16 sends a part of text before and behind each."""
    message = EmailMessage()
    message.set_content("Before.")
    message.add_attachment(b"%PDF", maintype="application", subtype="pdf", filename="a.pdf", disposition="inline")
    message.add_attachment("Behind.", disposition="inline")
    assert list(mail_lines(message.as_bytes())) == ["Before.", "[attached file: a.pdf]", "Behind."]


def test_a_mail_within_a_mail_is_read_once() -> None:
    """With its own heads."""
    outer = EmailMessage()
    outer["Subject"] = "Fwd"
    outer.set_content("See below.")
    outer.add_attachment(_mail())
    lines = list(mail_lines(outer.as_bytes()))
    assert lines[:3] == ["Subject: Fwd", "See below.", "[attached message]"] and lines.count("Es el jueves.") == 1


def test_a_mail_of_html_alone_is_read_as_a_page() -> None:
    """With its cells."""
    message = EmailMessage()
    message.set_content("<table><tr><td>Rent<td>950</table>", subtype="html")
    assert list(mail_lines(message.as_bytes())) == ["Rent | 950"]


def test_lines_that_flow_are_joined() -> None:
    """Thunderbird 128 wraps what it sends so (RFC 3676)."""
    raw = b"Content-Type: text/plain; format=flowed\n\nA long \nline.\n> quoted \n> flows\n-- \nAna\n"
    assert list(mail_lines(raw)) == ["A long line.", "> quoted flows", "-- ", "Ana"]
