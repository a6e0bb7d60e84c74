"""Guess the time zone of the person at this machine."""

from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from pydantic import ValidationError

from kenobot.core.settings.schema import BotSettings


def system_timezone(environ: Mapping[str, str], etc: Path = Path("/etc")) -> str:
    """Return the machine's time zone by name: of TZ, /etc/localtime or /etc/timezone; UTC when none says."""
    _, marker, linked = str((etc / "localtime").resolve()).partition("/zoneinfo/")
    written = ""
    with suppress(OSError, UnicodeDecodeError):  # where localtime is a copy, as in many containers
        written = (etc / "timezone").read_text("utf-8").strip()
    for candidate in (environ.get("TZ", "").removeprefix(":"), linked if marker else "", written):
        with suppress(ValidationError):
            return BotSettings(timezone=candidate).timezone
    return "UTC"
