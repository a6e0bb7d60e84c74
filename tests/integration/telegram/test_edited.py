"""Edited messages as Telegram brings them."""

from typing import Any

from kenobot.channels.telegram.channel import TelegramChannel
from kenobot.channels.telegram.updates import BotUser, IgnoredUpdate, parse_update
from kenobot.ports.messages import Inbound
from tests.integration.telegram.standin import Answer, Box, FakeTelegram, until_idle, update

ME = BotUser(7, "KenoBot")


def edited(number: int, text: str, **more: object) -> dict[str, Any]:
    raw = update(number, text)
    return {"update_id": number, "edited_message": raw["message"] | {"edit_date": 1_700_000_100} | more}


async def test_an_edit_comes_behind_the_message_that_it_is_of(telegram: FakeTelegram, channel: TelegramChannel) -> None:
    """Both in one batch, in order; Telegram is asked for edits."""
    box = Box()
    telegram.answers("getUpdates", Answer([update(1, "teh"), edited(2, "the"), update(3, "end")]))
    await until_idle(channel, telegram, box)
    kinds = [(each.kind, each.text, each.target, each.platform_id) for each in box.inbounds]
    assert kinds == [("message", "teh", "", "3"), ("edit", "the", "3", "3"), ("message", "end", "", "3")]
    assert "edited_message" in telegram.calls[1][1]["allowed_updates"]
    assert box.inbounds[1].sent_at > box.inbounds[0].sent_at


def test_an_edit_in_a_group_counts_where_the_bot_is_named() -> None:
    """Also when it is named only now; bots and other talk are ignored as ever."""
    group = {"chat": {"id": -5, "type": "supergroup"}}
    parsed = parse_update(edited(1, "@KenoBot help", **group), ME)
    assert isinstance(parsed, Inbound)
    assert (parsed.kind, parsed.text) == ("edit", "help")
    assert isinstance(parse_update(edited(1, "among us", **group), ME), IgnoredUpdate)
    robot = {"from": {"id": 9, "is_bot": True, "first_name": "R"}}
    assert isinstance(parse_update(edited(1, "@KenoBot help", **group, **robot), ME), IgnoredUpdate)


def test_a_live_location_is_told_once() -> None:
    """Where somebody was in each second since is nothing to keep."""
    place = {"location": {"latitude": 41.4, "longitude": 2.2, "live_period": 900}}
    shared = update(1, "")
    shared["message"] |= place
    assert isinstance(parse_update(shared, ME), Inbound)
    assert isinstance(parse_update(edited(2, "", **place), ME), IgnoredUpdate)
