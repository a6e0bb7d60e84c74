"""What concerns one person of a group is shown to that person alone where the server can, and nothing is lost."""

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from kenobot.agent.commands.menus import command_menus
from kenobot.channels.telegram.channel import TelegramChannel
from kenobot.cognitive.control import missing_files
from kenobot.ports.errors import RateLimited, Unavailable
from kenobot.ports.messages import Button, MessagePart, Outbound
from kenobot_testing.clock import START, EagerClock
from tests import waiting
from tests.integration.telegram.group_standin import GroupTelegram
from tests.integration.telegram.standin import HTML, Answer, Box, channel_at, press, until_idle, update
from tests.scene import Scene

GROUP, OWNER, GUEST = "-5", "1", "9"
ASKED = Outbound(1, "telegram", GROUP, MessagePart("of you"), "t", reader=OWNER)
SECRET = replace(ASKED, part=MessagePart("of the owner", buttons=((Button("Yes", "1.0.mac"),),)), secret=True)


@pytest.fixture
def bot(groups: GroupTelegram, clock: EagerClock) -> TelegramChannel:
    return channel_at(groups.base_url, clock)


def _older(groups: GroupTelegram) -> None:
    groups.knows_ephemeral = False


def _stricter(groups: GroupTelegram) -> None:
    groups.knows_ephemeral, groups.strict = False, True


def _without_rights(groups: GroupTelegram) -> None:
    groups.administered = set()


async def _pressed(bot: TelegramChannel, groups: GroupTelegram, number: int = 1) -> None:
    """Have the owner press a button in the group, and the bot hear of it."""
    groups.happens(f"query {number}", GROUP, OWNER)
    groups.answers("getUpdates", Answer([press(number, id=int(GROUP), type="supergroup")]))
    groups.idle.clear()
    await until_idle(bot, groups, Box())


async def test_an_anonymous_administrator_is_nobody_to_be_reached_alone(
    bot: TelegramChannel, groups: GroupTelegram
) -> None:
    """What concerns one goes to the group, and a secret of theirs nowhere (Bot API 5.0, Message.sender_chat)."""
    groups.administered = {GROUP}
    await bot.send(replace(ASKED, reader=GROUP))
    await bot.send(replace(SECRET, reader=GROUP))
    seen = groups.seen_by(GUEST, GROUP)
    assert seen[0] == "of you"
    assert len(seen) == 2 and "of the owner" not in seen[1]


async def test_an_administrator_shows_it_to_one_person(bot: TelegramChannel, groups: GroupTelegram) -> None:
    """At any time; nobody else sees it, and an answer to it takes its place."""
    groups.administered = {GROUP}
    sent = await bot.send(ASKED)
    assert (groups.seen_by(OWNER, GROUP), groups.seen_by(GUEST, GROUP)) == (["of you"], [])
    assert await bot.send(replace(ASKED, part=MessagePart("changed"), replaces=sent)) == sent
    assert (groups.seen_by(OWNER, GROUP), groups.seen_by(GUEST, GROUP)) == (["changed"], [])
    assert groups.asked == 1


async def test_a_press_lets_any_bot_answer_for_fifteen_seconds(
    bot: TelegramChannel, groups: GroupTelegram, clock: EagerClock
) -> None:
    """To whoever pressed; after that the group gets the answer at once."""
    await _pressed(bot, groups)
    clock.advance(14)
    await bot.send(ASKED)
    await bot.send(replace(ASKED, reader=GUEST, part=MessagePart("of the guest")))
    assert groups.seen_by(GUEST, GROUP) == ["of the guest"]
    clock.advance(2)
    await bot.send(replace(ASKED, part=MessagePart("late")))
    assert groups.seen_by(GUEST, GROUP) == ["of the guest", "late"]
    assert groups.seen_by(OWNER, GROUP) == ["of you", "of the guest", "late"]


async def test_a_press_that_came_in_late_is_answered_in_the_group(
    bot: TelegramChannel, groups: GroupTelegram, clock: EagerClock
) -> None:
    """The server refuses it by its own time, and the answer goes out once; the next press is tried again."""
    groups.happens("query 1", GROUP, OWNER)
    clock.advance(60)
    groups.answers("getUpdates", Answer([press(1, id=int(GROUP), type="supergroup")]))
    await until_idle(bot, groups, Box())
    await bot.send(ASKED)
    assert groups.seen_by(GUEST, GROUP) == ["of you"]
    await _pressed(bot, groups, 2)
    await bot.send(replace(ASKED, part=MessagePart("in time")))
    assert (groups.seen_by(GUEST, GROUP), len(groups.messages)) == (["of you"], 2)


@pytest.mark.parametrize("lacking", [_older, _stricter, _without_rights])
async def test_where_it_cannot_be_the_group_gets_it(
    bot: TelegramChannel, groups: GroupTelegram, lacking: Callable[[GroupTelegram], None]
) -> None:
    """Once, at once, and with its buttons; then neither the server nor the group is asked each time."""
    lacking(groups)
    for _ in range(3):
        await bot.send(ASKED)
    assert groups.seen_by(GUEST, GROUP) == ["of you"] * 3
    refused = [fields for _, fields in groups.calls if "ephemeral_message_parameters" in fields]
    assert (groups.asked, len(refused)) == (1, 1 if lacking is _without_rights else 0)


@pytest.mark.parametrize("lacking", [_older, _stricter, _without_rights])
async def test_a_secret_goes_to_the_private_chat_otherwise(
    bot: TelegramChannel, groups: GroupTelegram, lacking: Callable[[GroupTelegram], None]
) -> None:
    """The group never sees it; its buttons, which belong to the group, stay away."""
    lacking(groups)
    await bot.send(SECRET)
    assert groups.seen_by(GUEST, GROUP) == []
    [shown] = groups.messages.values()
    assert (shown.chat, shown.text, shown.buttons) == (OWNER, "of the owner", {})


async def test_a_server_that_shows_all_of_it_is_found_out_by_a_blank(
    bot: TelegramChannel, groups: GroupTelegram
) -> None:
    """Though it answered as if it knew: nobody but the owner ever saw the secret, and the blank is gone."""
    groups.answers("deleteEphemeralMessage", Answer(status=400, error="Bad Request: message not found"))
    _older(groups)
    await bot.send(SECRET)
    assert [(m.chat, m.text) for m in groups.messages.values()] == [(OWNER, "of the owner")]
    assert not any(fields.get("text") == "of the owner" for _, fields in groups.calls if fields.get("chat_id") == GROUP)


async def test_a_secret_is_shown_to_the_owner_alone(bot: TelegramChannel, groups: GroupTelegram) -> None:
    """In the group, with its buttons, as a single message."""
    groups.administered = {GROUP}
    await bot.send(SECRET)
    [shown] = groups.messages.values()
    assert (shown.chat, shown.reader, shown.text, shown.buttons) == (GROUP, OWNER, "of the owner", {"Yes": "1.0.mac"})


_FAULTS = {
    "502": Answer(status=502, body=HTML),
    "cut": Answer(cut=True),
    "no JSON": Answer(body=b"{"),
    "unknown": Answer(status=400, error="Bad Request: EPHEMERAL_WHATEVER"),
    "gone": Answer(status=400, error="Bad Request: message to edit not found"),
    "no rights": Answer(status=403, error="Forbidden: bot is not a member of the supergroup chat"),
    "no method": Answer(status=404, error="Not Found: method not found"),
    "moved": Answer(status=400, error="Bad Request: group upgraded", parameters={"migrate_to_chat_id": -6}),
}


@pytest.mark.parametrize("method", ["deleteEphemeralMessage", "sendMessage", "editEphemeralMessageText"])
@pytest.mark.parametrize("fault", _FAULTS)
async def test_whatever_the_server_says_a_secret_stays_one(
    bot: TelegramChannel, groups: GroupTelegram, method: str, fault: str
) -> None:
    """Nobody but the owner sees it, the owner does once, and no blank is left behind for each try."""
    groups.administered = {GROUP, "-6"}
    await bot.send(ASKED)
    groups.answers(method, _FAULTS[fault])
    for _ in range(3):
        with contextlib.suppress(Unavailable):
            await bot.send(SECRET)
            break
    shown = [(m.chat, m.reader) for m in groups.messages.values() if m.text == "of the owner"]
    assert shown in ([(GROUP, OWNER)], [("-6", OWNER)], [(OWNER, "")])
    sent = [fields for name, fields in groups.calls if name == "sendMessage" and fields["text"] == "of the owner"]
    assert all(fields["chat_id"] == OWNER for fields in sent)
    assert len([m for m in groups.messages.values() if m.text == "🔒"]) <= 1


async def test_a_server_that_grows_older_while_the_bot_runs_shows_no_secret(
    bot: TelegramChannel, groups: GroupTelegram
) -> None:
    """As when it is put back to an earlier version."""
    groups.administered = {GROUP}
    await bot.send(SECRET)
    _older(groups)
    await bot.send(replace(SECRET, id=2, part=MessagePart("also of the owner")))
    assert groups.seen_by(GUEST, GROUP) == []
    assert groups.seen_by(OWNER, OWNER) == ["also of the owner"]


@pytest.mark.parametrize(
    ("secret", "hint"), [("What it cost", "Write to me in private first"), ("Lo que costó esto", "Escríbeme primero")]
)
async def test_an_owner_whose_private_chat_is_not_open_reads_what_to_do(
    bot: TelegramChannel, groups: GroupTelegram, secret: str, hint: str
) -> None:
    """In the group, in the language of the answer, and nothing of the answer."""
    groups.blocked = {OWNER}
    assert await bot.send(replace(SECRET, part=MessagePart(secret))) == ""
    [shown] = groups.seen_by(GUEST, GROUP)
    assert hint in shown and secret not in shown


async def test_the_number_of_a_private_message_names_none_of_the_group(
    bot: TelegramChannel, groups: GroupTelegram
) -> None:
    """A later edit would change another message there."""
    assert await bot.send(SECRET) == ""


async def test_a_fault_on_the_way_is_no_refusal(bot: TelegramChannel, groups: GroupTelegram) -> None:
    """The core tries it again, and the one try that arrives is seen by one person."""
    groups.administered = {GROUP}
    groups.answers("deleteEphemeralMessage", Answer(status=429, error="Slow", parameters={"retry_after": 3}))
    groups.answers("sendMessage", Answer(status=429, error="Slow", parameters={"retry_after": 3}))
    for _ in range(2):
        with pytest.raises(RateLimited):
            await bot.send(SECRET)
    await bot.send(SECRET)
    assert (groups.seen_by(OWNER, GROUP), groups.seen_by(GUEST, GROUP)) == (["of the owner"], [])


async def test_refusals_are_forgotten_in_time(bot: TelegramChannel, groups: GroupTelegram, clock: EagerClock) -> None:
    """After an hour, and when the bot becomes an administrator; the group is not asked more often."""
    await bot.send(ASKED)
    groups.administered = {GROUP}
    await bot.send(ASKED)
    clock.advance(3601)
    await bot.send(ASKED)
    assert [shown.reader for shown in groups.messages.values()] == ["", "", OWNER]
    groups.administered = set()
    await bot.send(ASKED)
    groups.administered = {GROUP}
    me = {"user": {"id": 7}}
    change = {"old_chat_member": me | {"status": "member"}, "new_chat_member": me | {"status": "administrator"}}
    made = {"update_id": 9, "my_chat_member": {"chat": {"id": int(GROUP), "type": "supergroup"}, **change}}
    groups.answers("getUpdates", Answer([made]))
    await until_idle(bot, groups, Box())
    await bot.send(ASKED)
    assert [shown.reader for shown in groups.messages.values()] == ["", "", OWNER, "", OWNER]


# ── a whole bot ──────────────────────────────────────────────────────────────────────────────────────────────────


def _command(number: int, text: str, user: str = OWNER, *, unseen: bool = False) -> dict[str, Any]:
    """Write a command in the group; unseen: as one of the menu, which the bot alone sees."""
    name, _, rest = text.partition(" ")
    raw = update(number, text if unseen else f"{name}@KenoBot {rest}".strip(), int(user))
    raw["message"] |= {
        "date": int(START.timestamp()),
        "chat": {"id": int(GROUP), "type": "supergroup"},
        "message_id": 0 if unseen else number,
    }
    if unseen:
        receiver = {"id": 7, "is_bot": True, "first_name": "Keno"}
        raw["message"] |= {"ephemeral_message_id": 500 + number, "receiver_user": receiver}
    return raw


@asynccontextmanager
async def _in_the_group(
    folder: Path, groups: GroupTelegram, clock: EagerClock
) -> AsyncIterator[Callable[[dict[str, Any]], Awaitable[Scene]]]:
    """Run a whole bot, which hears of updates one at a time: each call returns once all that one set off is over."""
    scene = Scene(folder, ["from the model"], clock=clock)
    scene.channel = channel_at(groups.base_url, clock)  # type: ignore[assignment]

    async def hear(raw: dict[str, Any]) -> Scene:
        polls = len(groups.offsets())
        groups.arrivals.put_nowait(raw)
        await waiting.until(lambda: len(groups.offsets()) > polls)
        await scene.app.wait_drained()
        return scene

    async with scene:
        running = asyncio.create_task(scene.channel.run(scene.app.loop))
        await groups.idle.wait()
        try:
            yield hear
        finally:
            running.cancel()
            await asyncio.wait({running})


@pytest.mark.parametrize("is_admin", [True, False])
async def test_the_owner_gives_owner_commands_in_a_group(
    tmp_path: Path, groups: GroupTelegram, clock: EagerClock, is_admin: bool
) -> None:
    """The answer is for the owner alone: in the group where that can be, else in private; a guest gets none of it."""
    groups.administered = {GROUP} if is_admin else set()
    async with _in_the_group(tmp_path, groups, clock) as hear:
        await hear(_command(1, "/cost"))
        assert groups.seen_by(GUEST, GROUP) == []
        [cost] = groups.seen_by(OWNER, GROUP if is_admin else OWNER)
        assert "model" in cost
        await hear(_command(2, "/cost", GUEST))
    assert groups.seen_by(GUEST, GROUP) == ["from the model"]


async def test_a_command_of_the_menu_is_seen_by_nobody_else(
    tmp_path: Path, groups: GroupTelegram, clock: EagerClock
) -> None:
    """Nor is its answer, by a bot without rights; a press below that is answered in its place."""
    async with _in_the_group(tmp_path, groups, clock) as hear:
        await hear(_command(1, "/remember the gate code is 4711"))
        groups.happens(502, GROUP, GUEST)
        await hear(_command(2, "/memory", GUEST, unseen=True))
        [learned, listed] = groups.seen_by(GUEST, GROUP)
        assert "4711" in listed
        assert groups.seen_by(OWNER, GROUP) == [learned]
        [(number, shown)] = [(number, each) for number, each in groups.messages.items() if each.reader]
        clock.advance(60)
        value = next(iter(shown.buttons.values()))
        pressed = press(3, value, 0, int(GUEST), id=int(GROUP), type="supergroup")
        pressed["callback_query"]["message"] |= {"ephemeral_message_id": number}
        groups.happens("query 3", GROUP, GUEST)
        await hear(pressed)
    assert groups.seen_by(OWNER, GROUP) == [learned]
    assert len(groups.seen_by(GUEST, GROUP)) == 2
    assert groups.seen_by(GUEST, GROUP)[1] != listed


async def test_a_button_below_what_is_the_owners_is_the_owners_too(
    tmp_path: Path, groups: GroupTelegram, clock: EagerClock
) -> None:
    """Undo brings the owner's memories back, and whoever else is in the group reads nothing of them."""
    groups.administered = {GROUP}
    async with _in_the_group(tmp_path, groups, clock) as hear:
        scene = await hear(update(1, "/remember my locker is 4711"))
        [(record,)] = await scene.rows("SELECT id FROM record")
        lost = (int(str(record)),)
        await scene.app.database.write(lambda c: missing_files.record_loss(c, START, "memory", lost))
        await hear(_command(2, "/missing forget"))
        [(number, shown)] = [(number, each) for number, each in groups.messages.items() if each.chat == GROUP]
        assert await scene.rows("SELECT status FROM record") != [("active",)]
        pressed = press(3, next(iter(shown.buttons.values())), 0, id=int(GROUP), type="supergroup")
        pressed["callback_query"]["message"] |= {"ephemeral_message_id": number}
        await hear(pressed)
        assert await scene.rows("SELECT status FROM record") == [("active",)]
    assert groups.seen_by(GUEST, GROUP) == []
    assert "4711" in groups.seen_by(OWNER, GROUP)[-1]


async def test_a_question_put_to_others_is_seen_by_them(
    tmp_path: Path, groups: GroupTelegram, clock: EagerClock
) -> None:
    """A guest wants forgotten what the owner said: the owner is asked, who would see nothing otherwise."""
    groups.administered = {GROUP}
    async with _in_the_group(tmp_path, groups, clock) as hear:
        await hear(_command(1, "/remember the gate code is 4711"))
        await hear(_command(2, "/forget gate code", GUEST))
    assert "4711" in groups.seen_by(OWNER, GROUP)[-1]
    assert len(groups.seen_by(OWNER, GROUP)) == 2


async def test_what_everybody_should_know_is_said_to_everybody(
    tmp_path: Path, groups: GroupTelegram, clock: EagerClock
) -> None:
    """What the bot remembers from now on, and that it stopped."""
    groups.administered = {GROUP}
    async with _in_the_group(tmp_path, groups, clock) as hear:
        await hear(_command(1, "/remember the gate code is 4711"))
        await hear(_command(2, "/stop"))
        await hear(_command(3, "/status"))
    assert len(groups.seen_by(GUEST, GROUP)) == 2
    assert len(groups.seen_by(OWNER, GROUP)) == 3


async def test_the_menu_of_groups_hides_what_need_not_be_seen(groups: GroupTelegram, bot: TelegramChannel) -> None:
    """A command that concerns whoever gives it; in private nothing is hidden."""
    for menu in command_menus([OWNER]):
        await bot.set_menu(menu)
    hidden = {
        json.loads(fields["scope"])["type"]: {
            each["command"] for each in json.loads(fields["commands"]) if each.get("is_ephemeral")
        }
        for method, fields in groups.calls
        if method == "setMyCommands" and not fields.get("language_code")
    }
    assert {"memory", "why", "status", "settings", "forget", "undo"} <= hidden["all_group_chats"]
    assert not {"stop", "new", "remember", "start", "cost"} & hidden["all_group_chats"]
    assert not hidden["all_private_chats"] | hidden["chat"]
