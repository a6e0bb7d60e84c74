"""Menus of commands in Telegram: their scopes and entries."""

from collections.abc import Sequence

from telegram import (
    BotCommand,
    BotCommandScope,
    BotCommandScopeAllGroupChats,
    BotCommandScopeAllPrivateChats,
    BotCommandScopeChat,
)

from kenobot.ports.channel import CommandMenu


def menu_scope(menu: CommandMenu) -> BotCommandScope:
    """Return the scope of a menu. A person's private chat has the number of their account."""
    match menu.audience:
        case "private":
            return BotCommandScopeAllPrivateChats()
        case "groups":
            return BotCommandScopeAllGroupChats()
        case "owner":
            return BotCommandScopeChat(int(menu.user))


def menu_commands(menu: CommandMenu) -> Sequence[BotCommand]:
    """Return the commands of a menu; those that the others of a group need not see are ephemeral from Bot API 10.2 on.

    An older server leaves that field out.
    """
    hidden = {"is_ephemeral": True}
    return [BotCommand(name, what, api_kwargs=hidden if name in menu.unseen else None) for name, what in menu.commands]
