"""E-mails that are stored as files are read as a mail reader shows them."""

from email.message import EmailMessage

import pytest

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


_INVITATION = """BEGIN:VCALENDAR
VERSION:2.0
PRODID:x
METHOD:{method}
BEGIN:VEVENT
UID:1
ORGANIZER;CN=Ana Ruiz:mailto:ana@example.org
ATTENDEE;PARTSTAT=ACCEPTED:mailto:luis@example.org
SUMMARY:Budget
DTSTART;TZID=Romance Standard Time:20261203T100000
{end}
LOCATION:Room 3
END:VEVENT
END:VCALENDAR
"""


@pytest.mark.parametrize(
    ("method", "end", "told"),
    [
        ("REQUEST", "DTEND;TZID=Romance Standard Time:20261203T113000", ("Invitation", "11:30", "")),
        ("REQUEST", "DURATION:PT1H", ("Invitation", "11:00", "")),
        ("CANCEL", "DURATION:PT1H", ("Cancelled", "11:00", "")),
        ("REPLY", "DURATION:PT1H", ("Answer to an invitation", "11:00", " accepts")),
    ],
)
def test_an_invitation_in_a_mail_is_read(method: str, end: str, told: tuple[str, str, str]) -> None:
    """Outlook sends it beside the text, in its own zones; Google Calendar adds the same as a file."""
    pytest.importorskip("icalendar", reason="the extra `calendar` is not installed")
    message, written = EmailMessage(), _INVITATION.format(method=method, end=end)
    message.set_content("See you.")
    message.add_alternative(written, subtype="calendar")
    message.add_attachment(written.encode(), maintype="application", subtype="ics", filename="invite.ics")
    kind, until, answer = told
    assert list(mail_lines(message.as_bytes())) == [
        "See you.",
        f"[{kind}]",
        "- 2026-12-03 10:00 (Europe/Paris): Budget — Room 3",
        f"  until 2026-12-03 {until}",
        "  organiser: Ana Ruiz <ana@example.org>",
        f"  invited: luis@example.org{answer}",
        "[attached file: invite.ics]",
    ]


def test_an_invitation_that_is_damaged_is_read_as_it_is_written() -> None:
    """Nothing of it is lost."""
    message = EmailMessage()
    message.set_content("BEGIN:VCALENDAR\nSUMMARY:Budget\n", subtype="calendar")
    assert list(mail_lines(message.as_bytes())) == ["BEGIN:VCALENDAR", "SUMMARY:Budget"]
