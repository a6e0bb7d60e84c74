"""The menus of commands that a channel shows: for guests and the owner in private, and for groups, by language."""

from collections.abc import Iterable

from kenobot.agent.commands.registry import COMMANDS
from kenobot.core.i18n import Language
from kenobot.ports.channel import CommandMenu

_LANGUAGES: tuple[tuple[str, Language], ...] = (("", "en"), ("es", "es"))


def command_menus(owners: Iterable[str], language: Language | None = None) -> list[CommandMenu]:
    """Build the menus. owners: accounts with a menu of their own. language: the only one; None is English and Spanish.

    A menu without a language of its own is English, as most platforms take it for everybody else.
    """
    menus = []
    for code, spoken in _LANGUAGES:
        chosen = language or spoken
        everyone, all_of_them = _entries(chosen, owner=False), _entries(chosen, owner=True)
        unseen = frozenset(command.name(chosen) for command in COMMANDS if not command.openly)
        in_groups = CommandMenu("groups", code, everyone, unseen=unseen.intersection(name for name, _ in everyone))
        menus += [CommandMenu("private", code, everyone), in_groups]
        menus += [CommandMenu("owner", code, all_of_them, user) for user in sorted(owners)]
    return menus


def _entries(language: Language, *, owner: bool) -> tuple[tuple[str, str], ...]:
    return tuple(
        (command.name(language), command.help(language))
        for command in COMMANDS
        if command.help is not None and (owner or not command.owner_only)
    )
