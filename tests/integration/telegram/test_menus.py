"""The menu of commands on Telegram: set by the bot, by audience and language, and only when it changes."""

import json
from pathlib import Path

from kenobot.app.menu_setter import MenuSetter
from kenobot.gateway.access import Roster
from kenobot_testing.clock import EagerClock
from tests.integration.telegram.standin import Answer, FakeTelegram, channel_at
from tests.scene import Scene

ROSTERS = {"telegram": Roster.of(["1"])}


def _menus(telegram: FakeTelegram) -> dict[tuple[str, str], list[str]]:
    """Return the names in each menu that was set, by scope and language."""
    return {
        (json.loads(fields["scope"])["type"], fields.get("language_code", "")): [
            each["command"] for each in json.loads(fields["commands"])
        ]
        for method, fields in telegram.calls
        if method == "setMyCommands"
    }


async def test_each_audience_has_its_commands_in_its_language(tmp_path: Path, telegram: FakeTelegram) -> None:
    """The owner is offered all commands, others those that they may give, and Spanish people the Spanish names."""
    channel = channel_at(telegram.base_url, EagerClock())
    async with Scene(tmp_path, ["ok"]) as scene:
        await MenuSetter(scene.app.database, {"telegram": channel}, ROSTERS).refresh()
    menus = _menus(telegram)
    assert menus.keys() == {
        (scope, language) for scope in ("all_private_chats", "all_group_chats", "chat") for language in ("", "es")
    }
    assert {"help", "memory", "forget", "undo", "why", "stop"} <= set(menus["all_private_chats", ""])
    assert {"ayuda", "memoria", "olvida", "deshacer", "porque"} <= set(menus["all_group_chats", "es"])
    assert "proposals" in menus["chat", ""]
    assert "gasto" in menus["chat", "es"]
    assert not {"proposals", "cost", "pair"} & {*menus["all_private_chats", ""], *menus["all_group_chats", ""]}


async def test_only_what_is_not_set_yet_is_set_again(tmp_path: Path, telegram: FakeTelegram) -> None:
    """A menu that was refused is tried again; one that stands is left alone, also after a restart."""
    telegram.answers("setMyCommands", Answer(status=400, error="Bad Request: chat not found"))
    channel = channel_at(telegram.base_url, EagerClock())
    for expected in (6, 7, 7):
        async with Scene(tmp_path, ["ok"]) as scene:
            await MenuSetter(scene.app.database, {"telegram": channel}, ROSTERS).refresh()
        assert sum(method == "setMyCommands" for method, _ in telegram.calls) == expected


async def test_another_bot_gets_menus_of_its_own(tmp_path: Path, telegram: FakeTelegram) -> None:
    """What was set for one account says nothing of another's."""
    channel = channel_at(telegram.base_url, EagerClock())
    async with Scene(tmp_path, ["ok"]) as scene:
        setter = MenuSetter(scene.app.database, {"telegram": channel}, ROSTERS, "es")
        await setter.refresh()
        channel.account = "another"
        await setter.refresh()
    assert sum(method == "setMyCommands" for method, _ in telegram.calls) == 12
    assert "memoria" in _menus(telegram)["all_private_chats", ""]
