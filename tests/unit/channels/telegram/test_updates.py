"""What the channel makes of one raw update."""

from datetime import UTC, datetime
from typing import Any

import pytest

from kenobot.channels.telegram.updates import (
    BotUser,
    IgnoredUpdate,
    MalformedUpdate,
    parse_update,
    strip_mention,
    update_id,
)
from kenobot.ports.messages import Inbound
from tests.unit.channels.telegram.cases import conformance

ME = BotUser(7, "KenoBot")
ALICE = {"id": 1, "is_bot": False, "first_name": "Alice", "last_name": "Li\nddell\u2028"}
GROUP = {"chat": {"id": -200, "type": "supergroup"}}


def update(**fields: object) -> dict[str, Any]:
    message = {"message_id": 3, "date": 1_700_000_000, "chat": {"id": 1, "type": "private"}, "from": ALICE}
    return {"update_id": 42, "message": message | fields}


def inbound(**fields: object) -> Inbound:
    result = parse_update(update(**fields), ME)
    assert isinstance(result, Inbound)
    return result


def ignored(raw: dict[str, Any]) -> str:
    result = parse_update(raw, ME)
    assert isinstance(result, IgnoredUpdate)
    return result.reason


def test_a_private_message_becomes_an_inbound() -> None:
    """Every field is where the core expects it, the name on one line, the time in UTC."""
    assert inbound(text="hola") == Inbound(
        channel="telegram",
        external_id="42",
        chat="1",
        user="1",
        text="hola",
        sent_at=datetime(2023, 11, 14, 22, 13, 20, tzinfo=UTC),
        user_name="Alice Li ddell",
        platform_id="3",
    )


def test_a_caption_is_the_text_of_a_picture() -> None:
    """Words that came with a picture count like any others."""
    assert inbound(photo=[{}], caption="what is this?").text == "what is this?"


@pytest.mark.parametrize(
    ("fields", "note"),
    [
        ({"photo": [{}]}, "[sent a photo that I cannot see yet]"),
        ({"voice": {}}, "[sent a voice message that I cannot hear yet]"),
        ({"animation": {}, "document": {}}, "[sent an animation that I cannot see yet]"),
        ({"venue": {}, "location": {}}, "[sent a place that I cannot read yet]"),
        ({"sticker": {}}, "[sent a sticker that I cannot see yet]"),
        ({"document": {}}, "[sent a file that I cannot read yet]"),
    ],
)
def test_what_cannot_be_read_is_named(fields: dict[str, object], note: str) -> None:
    """Nobody who sends a picture or a voice message is left without an answer."""
    assert inbound(**fields).text == note


@pytest.mark.parametrize(
    ("raw", "reason"),
    [
        ({"update_id": 1, "edited_message": {}}, "edited_message"),
        ({"update_id": 1, "channel_post": {}}, "channel_post"),
        ({"update_id": 1, "something_new": {"a": 1}}, "something_new"),
        ({"update_id": 1}, "nothing"),
        (update(text="x", **{"from": {"id": 1, "is_bot": True}}), "a bot"),
        (update(text="x", **{"from": None}), "name of a chat"),
        (update(text="x", sender_chat={"id": -200, "type": "supergroup"}), "name of a chat"),
        (update(text="x", chat={"id": -3, "type": "channel"}), "neither"),
        (update(migrate_to_chat_id=-1005, **GROUP), "service"),
        (update(new_chat_members=[{"id": 7}], **GROUP), "service"),
        (update(text="talk among us", **GROUP), "not for the bot"),
        (update(text="@KenoBot2 hi", **GROUP), "not for the bot"),
        (update(text="yes", reply_to_message={"from": {"id": 8, "is_bot": True}}, **GROUP), "not for the bot"),
    ],
)
def test_what_wants_no_answer_is_ignored_with_a_reason(raw: dict[str, Any], reason: str) -> None:
    """Edits, channel posts, bots, anonymous admins, service messages and other people's talk are left alone."""
    assert reason in ignored(raw)


def test_a_group_message_that_mentions_the_bot_is_for_it() -> None:
    """The mention is cut out, in any case of letters, and the message is marked as not private."""
    message = inbound(text="@kenobot hi", **GROUP)
    assert (message.text, message.private, message.chat) == ("hi", False, "-200")
    assert inbound(text="/start@kenobot now", **GROUP).text == "/start now"
    assert inbound(caption="@kenobot look", photo=[{}], **GROUP).text == "look"
    assert inbound(text="@kenobot", **GROUP).text == "@kenobot"


def test_a_reply_to_the_bot_is_for_it() -> None:
    """Answering one of its messages needs no mention."""
    assert inbound(text="why?", reply_to_message={"from": {"id": 7, "is_bot": True}}, **GROUP).text == "why?"


@conformance("telegram.strip_mention")
def test_strips_mentions(case: dict[str, Any]) -> None:
    """The original strips in any case of letters but recognises only the exact one; ours does both in any."""
    mentioned, text = strip_mention(case["input"]["text"], case["input"]["botUsername"])
    assert text == case["expected"]["stripped"]
    assert mentioned


def test_without_a_username_nothing_is_a_mention() -> None:
    """A bot that has no name yet is not mentioned by a bare at-sign."""
    assert strip_mention("@ hi", "") == (False, "@ hi")


@pytest.mark.parametrize("mark", ["forward_origin", "forward_from", "forward_sender_name"])
def test_forwarded_words_are_marked(mark: str) -> None:
    """What somebody else wrote is not taken for the sender's own words."""
    assert inbound(text="x", **{mark: {}}).forwarded
    assert not inbound(text="x").forwarded


def test_who_may_talk_is_not_for_the_channel_to_say() -> None:
    """Everybody's message is handed in; the core knows who may talk."""
    mallory = {"id": 9, "is_bot": False, "first_name": "M"}
    message = inbound(text="hi", chat={"id": 9, "type": "private"}, **{"from": mallory})
    assert (message.user, message.chat, message.private) == ("9", "9", True)
    assert inbound(text="@kenobot hi", **GROUP, **{"from": mallory}).user == "9"


@pytest.mark.parametrize(
    ("raw", "complaint"),
    [
        (None, "no number"),
        ([], "no number"),
        ({"message": {}}, "no number"),
        ({"update_id": "5", "message": {}}, "no number"),
        ({"update_id": True}, "no number"),
        ({"update_id": 2**70}, "no number"),
        ({"update_id": 1, "message": "secret words"}, "message"),
        ({"update_id": 1, "message": {}}, "chat, date"),
        (update(text=["secret words"]), "text"),
        (update(date=2**60), "date"),
        (update(**{"from": {"id": "secret words"}}), "from.id"),
    ],
)
def test_a_malformed_update_is_named_without_its_words(raw: object, complaint: str) -> None:
    """The reason names the fields at fault and quotes nobody."""
    with pytest.raises(MalformedUpdate, match=complaint) as refused:
        parse_update(raw, ME)
    assert "secret" not in str(refused.value)


def test_text_that_no_database_takes_is_mended() -> None:
    """NULs go and lone surrogates become replacement characters."""
    assert inbound(text="a\0b\ud800c😀").text == "ab\ufffdc😀"


@pytest.mark.parametrize(("raw", "number"), [({"update_id": 0}, 0), ({"update_id": -1}, None), ("x", None)])
def test_the_number_of_an_update(raw: object, number: int | None) -> None:
    """Only a whole number that can be confirmed counts."""
    assert update_id(raw) == number
