"""Web pages and e-mails are read as a browser and a mail reader show them."""

from email.message import EmailMessage

import pytest

from kenobot.agent.media.formats.mail import mail_lines
from kenobot.core.web_page import decode_page, page_lines


@pytest.mark.parametrize(
    ("page", "shown"),
    [
        ("<table><tr><td>Rent 2026</td><td>950</td></tr></table>", "Rent 2026 | 950"),
        ("<table><tr><td>Phone</td><td>600111222</td><td>3</td></tr></table>", "Phone | 600111222 | 3"),
        ("<table><tr><td rowspan=2>a<td>b<tr><td>c</table>", "a | b\n | c"),
        ("<table><tr><td colspan=2>a<td>b</table>", "a |  | b"),
        ("<table><tr><td>one<br>two<td>3</table>", "one / two | 3"),
        ("<table><tr><td><table><tr><td>a<td>b</table><td>c</table>", "a | b\nc"),
        ("<dl><dt>Term</dt><dd>Def</dd><dt>Other<dd>Thing</dl>", "Term\nDef\nOther\nThing"),
        ("<section>a</section><section>b</section><h5>c</h5><h6>d</h6>e", "a\nb\nc\nd\ne"),
        ("<pre>a  b\n  c</pre>d<blockquote>e</blockquote>f", "a  b\nc\nd\ne\nf"),
        ("<select><option>a<option selected>b</select>", "a\n☒ b"),
        ("<ol start=3><li>a<li><p>b</p></ol><ul><li>c</ul>", "3. a\n4. b\n- c"),
        ("<p>un<b>break</b>able<p>new", "unbreakable\nnew"),
        ("<input value=Ada><input type=checkbox checked>agree<textarea>why</textarea>", "Ada ☒ agree\nwhy"),
        ("10<sup>2</sup> <s>800</s> <del>900</del> 950", "10^2 ~~800~~ ~~900~~ 950"),
        ("<title>Prices</title><h1>Prices</h1>", "Prices"),
        ("<title>Prices</title><h1>All</h1>", "Prices\nAll"),
        ("caf&eacute; &lt;b&gt;", "café <b>"),
    ],
)
def test_a_page_is_read_by_its_lines_and_cells(page: str, shown: str) -> None:
    """No two of them are glued together (HTML Living Standard, 15.3)."""
    assert "\n".join(page_lines(page)) == shown


@pytest.mark.parametrize(
    "hidden",
    [
        "<p hidden>x</p>",
        '<div style="display:none">x<p>x</p></div>',
        '<span style="color:red; DISPLAY : none !important">x</span>',
        '<span style="visibility:hidden">x</span>',
        '<div style="font-size:0px">x</div>',
        '<div style="max-height:0;overflow:hidden">x</div>',
        "<style>p, .pre { display:none }</style><span class='a pre'>x</span>",
        "<style>#gone{visibility:hidden}</style><div id=gone>x</div>",
        "<template>x</template>",
        "<noscript>x</noscript>",
        "<script>x</script>",
        "<input type=hidden value=x>",
        "<dialog>x</dialog>",
        "<svg><title>x</title></svg>",
        "<!-- x -->",
    ],
)
def test_hidden_text_of_a_page_is_left_out(hidden: str) -> None:
    """As a browser with scripts does (HTML Living Standard, 15.3.1)."""
    assert "\n".join(page_lines(f"a {hidden} <b>b</b>")).split() == ["a", "b"]


@pytest.mark.parametrize(
    "shown",
    [
        '<td style="font-size:0px"><div style="font-size:13px">x</div></td>',
        '<p style="display:block">x</p>',
        "<style>@media print { .a { display:none } }</style><p class=a>x</p>",
        "<details><summary>x</summary></details>",
        "<svg><text>x</text></svg>",
        '<div style="opacity:0.9">x</div>',
    ],
)
def test_what_only_looks_hidden_is_read(shown: str) -> None:
    """The first is how MJML 4.15 lays out every e-mail."""
    assert "x" in "\n".join(page_lines(shown))


def test_the_alphabet_of_a_page_is_what_it_says() -> None:
    """And UTF-8 where that can be read."""
    assert decode_page("<meta charset=iso-8859-2>ł".encode("iso-8859-2")).endswith("ł")
    assert decode_page("<meta charset=latin1>ł".encode()).endswith("ł")


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
