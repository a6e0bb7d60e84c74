"""Where Telegram shows a menu of commands."""

from telegram import (
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
