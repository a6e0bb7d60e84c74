"""Reactions as Telegram brings them."""

from typing import Any

import pytest

from kenobot.channels.telegram.channel import TelegramChannel
from tests.integration.telegram.standin import Answer, Box, FakeTelegram, until_idle


def reaction(number: int, *emoji: str, **more: object) -> dict[str, Any]:
    new = [{"type": "emoji", "emoji": each} for each in emoji]
    chat, user = {"id": 1, "type": "private"}, {"id": 1, "is_bot": False, "first_name": "Alice"}
    body = {
        "chat": chat,
        "user": user,
        "message_id": 77,
        "date": 1_700_000_000,
        "old_reaction": [],
        "new_reaction": new,
    }
    return {"update_id": number, "message_reaction": body | more}


async def test_reactions_come_in_by_person_and_message(telegram: FakeTelegram, channel: TelegramChannel) -> None:
    """Telegram is asked for them; one that was taken away is empty, and a group's own or a bot's is nobody's."""
    box = Box()
    custom = {"new_reaction": [{"type": "custom_emoji", "custom_emoji_id": "5"}]}
    anonymous = {"user": None, "actor_chat": {"id": -5, "type": "supergroup"}}
    robot = {"user": {"id": 9, "is_bot": True, "first_name": "R"}}
    updates = [
        reaction(5, "👎", **robot),
        reaction(1, "👍"),
        reaction(2),
        reaction(3, **custom),
        reaction(4, "👎", **anonymous),
    ]
    telegram.answers("getUpdates", Answer(updates))
    await until_idle(channel, telegram, box)
    assert [(each.kind, each.value, each.target, each.user) for each in box.inbounds] == [
        ("reaction", "👍", "77", "1"),
        ("reaction", "", "77", "1"),
        ("reaction", "", "77", "1"),
    ]
    assert "message_reaction" in telegram.calls[1][1]["allowed_updates"]


@pytest.mark.parametrize("more", [{"message_id": "x"}, {"chat": None}, {"new_reaction": 3}, {"date": -1}])
async def test_a_reaction_of_an_unexpected_form_is_kept_aside(
    telegram: FakeTelegram, channel: TelegramChannel, more: dict[str, object]
) -> None:
    """It holds up nothing else."""
    box = Box()
    telegram.answers("getUpdates", Answer([reaction(1, "👍", **more), reaction(2, "👍")]))
    await until_idle(channel, telegram, box)
    assert [number for number, _ in box.aside] == ["1"]
    assert box.ids == ["2"]
