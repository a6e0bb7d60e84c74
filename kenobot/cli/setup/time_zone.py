"""Guess the time zone of the person at this machine."""

import os
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from pydantic import ValidationError

from kenobot.cli.setup.changes import SetupChanges
from kenobot.core.settings.schema import BotSettings


def note_guess(changes: SetupChanges) -> str:
    """Note this machine's time zone where nobody has said one; return what was noted, "" for nothing."""
    if changes.loaded.origin("bot.timezone") != "default" or ("bot", "timezone") in changes.values:
        return ""
    here = system_timezone(os.environ)
    if here.removeprefix("Etc/") == changes.loaded.settings.bot.timezone:
        return ""
    changes.values["bot", "timezone"] = here
    return here


def system_timezone(environ: Mapping[str, str], etc: Path = Path("/etc")) -> str:
    """Return the machine's time zone by name: of TZ, /etc/localtime or /etc/timezone; UTC when none says."""
    _, marker, linked = str((etc / "localtime").resolve()).partition("/zoneinfo/")
    written = ""
    with suppress(OSError, UnicodeDecodeError):  # where localtime is a copy, as in many containers
        written = (etc / "timezone").read_text("utf-8").strip()
    said = (environ.get("TZ", "").removeprefix(":"), linked if marker else "", written)
    for candidate in filter(None, said):  # to refuse a name takes a look at all that there are
        with suppress(ValidationError):
            return BotSettings(timezone=candidate).timezone
    return "UTC"
