"""What channels share: Markdown for platforms with marks in the text, names of the bot, lists of people, the intake."""

import asyncio
import importlib.util
from datetime import timedelta, timezone
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

import kenobot_xmpp
from kenobot.channels.intake import Intake, read_time
from kenobot.channels.markup import as_html, mark_up, plain_marks, render_parts, split_lines
from kenobot.channels.mention import strip_name
from kenobot.channels.people import ChatSettings, check_people
from kenobot.ports.clock import SystemClock
from kenobot.ports.errors import ConfigError
from kenobot.ports.messages import Inbound, MessagePart, TextEntity
from kenobot.ports.plugin import PluginContext
from kenobot_email.settings import EmailSettings
from kenobot_irc.settings import IrcSettings
from kenobot_matrix.settings import MatrixSettings
from kenobot_testing.clock import START, EagerClock, ManualClock
from kenobot_testing.fake_channel import RecordingSink
from kenobot_xmpp.settings import XmppSettings


def test_marks_stand_around_what_they_format_also_within_each_other() -> None:
    """A link tells where it leads."""
    link = TextEntity("text_link", 9, 4, "https://example.org/x")
    part = MessagePart("bold ñ👩 here", (TextEntity("bold", 0, 8), TextEntity("italic", 5, 1), link))
    marks = plain_marks({"bold": "*", "italic": "_"})
    assert mark_up(part, marks) == "*bold _ñ_👩* here (https://example.org/x)"
    assert as_html(part) == '<strong>bold <em>ñ</em>👩</strong> <a href="https://example.org/x">here</a>'


def test_html_shows_what_was_written_and_nothing_else() -> None:
    """Characters of HTML are escaped, line breaks kept, and those of code are not doubled."""
    (part,) = render_parts("a <b> & c\n\n```py\nx = 1\ny < 2\n```\nend", 1000)
    html = as_html(part)
    assert "a &lt;b&gt; &amp; c<br>" in html
    assert '<pre><code class="language-py">x = 1\ny &lt; 2\n</code></pre>' in html


@settings(max_examples=40)
@given(st.text("ab ñ你👩\n", max_size=200), st.integers(10, 60))
def test_no_word_is_lost_by_cutting(text: str, limit: int) -> None:
    """Whatever the text: in parts, or line by line."""
    whole = "".join(part.text for part in render_parts(text, 100_000))
    parts = render_parts(text, limit)
    assert "".join("".join(part.text for part in parts).split()) == "".join(whole.split())
    lines = "".join(line.text for line in split_lines(parts))
    assert "".join(lines.split()) == "".join(whole.split())


@pytest.mark.parametrize(
    ("text", "named", "rest"),
    [
        ("keno: hi", True, "hi"),
        ("@Keno, hi", True, "hi"),
        ("@keno:example.org hi", True, "hi"),
        ("what does keno say?", True, "what does keno say?"),
        ("kenobots are nice", False, "kenobots are nice"),
        ("mail keno@example.com", False, "mail keno@example.com"),
        ("keno", True, "keno"),
        ("", False, ""),
    ],
)
def test_a_name_calls_the_bot_and_no_longer_word_does(text: str, named: bool, rest: str) -> None:
    """At the beginning it is taken away."""
    assert strip_name(text, ("keno", "@keno:example.org", "")) == (named, rest)


def test_nobody_on_the_lists_is_an_error_that_says_what_to_do() -> None:
    """With what an id looks like."""
    with pytest.raises(ConfigError, match=r"ana@example\.org.*`owners`.*channels\.email"):
        check_people(ChatSettings(), "email", "ana@example.org")


@pytest.mark.parametrize(
    ("model", "owner"),
    [
        (IrcSettings, "ana"),
        (EmailSettings, "ana"),
        (EmailSettings, "Ana <ana@example.org>"),
        (MatrixSettings, "ana@example.org"),
        (XmppSettings, "ana@example.org/phone"),
    ],
)
def test_what_cannot_be_an_id_is_refused(model: type[ChatSettings], owner: str) -> None:
    """An owner whom nobody can be would be let in by mistake, or never."""
    with pytest.raises(ValidationError):
        model.model_validate({"owners": [owner]})


def test_a_channel_whose_package_is_missing_says_which(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Its settings are checked first."""
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    account = XmppSettings.model_validate({"account": "k@example.org", "password": "x", "owners": ["ana@example.org"]})
    with pytest.raises(ConfigError, match=r"pip install 'kenobot\[xmpp\]'"):
        kenobot_xmpp.build(account, PluginContext(home=tmp_path, clock=SystemClock(), bot_name="Keno"))


async def test_the_intake_waits_while_it_is_full_and_keeps_the_order() -> None:
    """A sink that is slow slows the platform down, and loses nothing."""
    intake, sink = Intake(EagerClock(), room=2), RecordingSink()
    messages = [Inbound("x", str(number), "1", "1", str(number), START) for number in range(5)]
    assert intake.put_now(messages[0]) and intake.put_now(messages[1])
    assert not intake.put_now(messages[2])
    running = asyncio.create_task(intake.run(sink))
    for message in messages[2:]:
        await intake.put(message)
    await sink.until_accepted(5)
    running.cancel()
    await asyncio.gather(running, return_exceptions=True)
    assert sink.accepted == messages and intake.is_empty


@pytest.mark.parametrize(
    "told", ["", "yesterday", "0001-01-01T00:00:00Z", "9999-12-31T23:59:59Z", -(10**30), 10**30, 0]
)
def test_a_time_that_cannot_be_is_now(told: object) -> None:
    """Senders may write any; computing with the first and last ones of the calendar fails."""
    assert read_time(told, ManualClock()) == START


def test_a_time_that_can_be_is_when_a_message_was_sent() -> None:
    """In whatever zone and form it is told."""
    sent = START - timedelta(hours=5)
    for told in (sent, sent.isoformat(), sent.astimezone(timezone(timedelta(hours=9))), int(sent.timestamp() * 1000)):
        assert read_time(told, ManualClock()) == sent
