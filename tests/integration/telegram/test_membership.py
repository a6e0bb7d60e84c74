"""The owner knows when the bot was removed from a group or made its administrator."""

import pytest

from kenobot.channels.telegram.channel import TelegramChannel
from kenobot.channels.telegram.membership import membership_problem
from kenobot.ports import sentences
from tests.integration.telegram.standin import Answer, Box, FakeTelegram, until_idle, update


def change(number: int, before: str, after: str, kind: str = "supergroup", chat: int = -5) -> dict[str, object]:
    members = {"old_chat_member": {"status": before}, "new_chat_member": {"status": after}}
    return {"update_id": number, "my_chat_member": {"chat": {"id": chat, "type": kind}, "date": 1, **members}}


async def test_the_owner_is_told_once_that_it_was_removed(telegram: FakeTelegram, channel: TelegramChannel) -> None:
    """It is asked for, it holds up no message, and the offset goes past it."""
    telegram.answers("getUpdates", Answer([change(1, "member", "kicked"), update(2), change(3, "member", "kicked")]))
    box = Box()
    await until_idle(channel, telegram, box)
    assert box.ids == ["2"]
    assert len(box.reports) == 1
    assert "removed from the Telegram group -5" in box.reports[0]
    asked = [fields["allowed_updates"] for method, fields in telegram.calls if method == "getUpdates"]
    assert "my_chat_member" in asked[0]
    assert telegram.offsets()[-1] == "4"


@pytest.mark.parametrize(
    "raw",
    [
        change(1, "left", "member"),
        change(1, "administrator", "administrator"),
        change(1, "member", "kicked", "private", 9),
        change(1, "left", "kicked"),
        {"update_id": 1, "my_chat_member": "?"},
        update(1),
    ],
)
def test_what_needs_nobody_is_not_told(raw: object) -> None:
    """Being invited, being blocked by a stranger, and anything of another form."""
    assert membership_problem(raw) == ""


def test_it_is_told_in_spanish() -> None:
    """With the group's number in it."""
    for after in ("kicked", "administrator"):
        problem = membership_problem(change(1, "member", after))
        assert "-5" in sentences.render(problem, "es")
        assert sentences.render(problem, "es") != problem
