"""`/settings`: show and change a person's own settings."""

import re
from collections.abc import Mapping
from dataclasses import replace
from datetime import time
from zoneinfo import ZoneInfo

from kenobot.agenda.morning import find_morning_hour, set_morning
from kenobot.agent.commands.command import CommandAnswer, CommandCall, CommandContext
from kenobot.agent.commands.reminders import describe_place
from kenobot.core import lazy, texts
from kenobot.core.i18n import Language, Text
from kenobot.core.quiet_hours import QuietHours
from kenobot.gateway.buttons import Choice
from kenobot.gateway.personal_settings import PersonSettings, load_settings_of, save_settings_of
from kenobot.ports.identity import OWNER_SCOPE
from kenobot.storage.connection import Connection

_LANGUAGES: Mapping[str, Language | None] = {
    **dict.fromkeys(("en", "english", "inglés", "ingles"), "en"),
    **dict.fromkeys(("es", "spanish", "español", "espanol"), "es"),
    "auto": None,
}
_ON = frozenset({"on", "yes", "sí", "si"})
_OFF = frozenset({"off", "no"})
_MORNING = lazy.regex(r"(?:morning|mañana|manana)\s+(off|no|([01]?\d|2[0-3])(?:[:.]([0-5]\d))?)", re.IGNORECASE)
_NAMES: Mapping[Language | None, Text] = {
    "en": texts.SETTINGS_ENGLISH,
    "es": texts.SETTINGS_SPANISH,
    None: texts.SETTINGS_AUTO,
}


def show_settings(connection: Connection, call: CommandCall, context: CommandContext) -> str | CommandAnswer:
    """`/settings`: list the person's settings; `/settings NAME VALUE`: change one."""
    account = call.inbound.channel, call.inbound.user
    settings = load_settings_of(connection, account)
    owner = OWNER_SCOPE in call.principal.read_scopes
    if owner and (wanted := _MORNING.fullmatch(call.arguments.strip())) is not None:
        hour = None if wanted[1].lower() in _OFF else time(int(wanted[2]), int(wanted[3] or 0))
        set_morning(
            connection,
            hour,
            describe_place(call),
            context.find_zone(connection, call),
            call.at,
        )
    elif call.arguments:
        changed = _change(settings, call.arguments.lower().split(maxsplit=1), owner=owner)
        if changed is None:
            return texts.SETTINGS_HOW(call.language)
        save_settings_of(connection, account, settings := changed)
    language = context.language or settings.language or call.language
    lines = _lines(settings, language)
    if owner:
        lines.append(_quiet_line(settings, language))
        hour = find_morning_hour(connection)
        value = texts.SETTINGS_OFF(language) if hour is None else f"{hour:%H:%M}"
        lines.append(texts.SETTINGS_MORNING(language, value=value))
    text = texts.SETTINGS(language, lines="\n".join(lines))
    return CommandAnswer(text, _buttons(settings, language))


def _change(settings: PersonSettings, words: list[str], *, owner: bool) -> PersonSettings | None:
    """Return the settings after a change; None where the words name none."""
    match words:
        case ["language" | "idioma", name] if name in _LANGUAGES:
            return replace(settings, language=_LANGUAGES[name])
        case ["drafts" | "borradores", value] if value in _ON | _OFF:
            return replace(settings, drafts=value in _ON)
        case ["quiet" | "silencio", hours] if owner:
            return _set_quiet(settings, hours)
    return None


def _set_quiet(settings: PersonSettings, hours: str) -> PersonSettings | None:
    if hours == "auto":
        return replace(settings, quiet_hours=None)
    wanted = "" if hours in _OFF else hours
    try:
        QuietHours.parse(wanted, ZoneInfo("UTC"))
    except ValueError:
        return None
    return replace(settings, quiet_hours=wanted)


def _quiet_line(settings: PersonSettings, language: Language) -> str:
    """Word when the owner is told nothing of the bot's own accord: only they are told anything."""
    if settings.quiet_hours is None:
        return texts.SETTINGS_QUIET(language, value=texts.SETTINGS_AS_CONFIGURED(language))
    return texts.SETTINGS_QUIET(language, value=settings.quiet_hours or texts.SETTINGS_OFF(language))


def _lines(settings: PersonSettings, language: Language) -> list[str]:
    shown = texts.SETTINGS_ON if settings.drafts else texts.SETTINGS_OFF
    return [
        texts.SETTINGS_LANGUAGE(language, value=_NAMES[settings.language](language)),
        texts.SETTINGS_DRAFTS(language, value=shown(language)),
    ]


def _buttons(settings: PersonSettings, language: Language) -> tuple[tuple[Choice, ...], ...]:
    """Return a button for each other value."""
    languages = tuple(
        Choice(_NAMES[other](language), "settings", f"language {other or 'auto'}")
        for other in _NAMES
        if other != settings.language
    )
    other = texts.BUTTON_NO_DRAFTS if settings.drafts else texts.BUTTON_DRAFTS
    return (languages, (Choice(other(language), "settings", f"drafts {'off' if settings.drafts else 'on'}"),))
