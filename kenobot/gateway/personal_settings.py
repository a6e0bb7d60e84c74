"""The few settings that are each person's own: the language in which the bot speaks to them, drafts, quiet hours."""

from collections.abc import Mapping
from dataclasses import asdict
from datetime import datetime
from typing import Any
from zoneinfo import ZoneInfo

from kenobot.core.i18n import Language
from kenobot.core.quiet_hours import QuietHours
from kenobot.gateway.refreshed import RefreshedByCommands
from kenobot.ports.frozen import dataclass
from kenobot.ports.identity import Account
from kenobot.ports.messages import Inbound
from kenobot.storage.connection import Connection
from kenobot.storage.database import Database
from kenobot.storage.state import read_json, write_json

_KEY = "settings:people"
_MOST = 1000  # people, of whom those who changed theirs last are kept


@dataclass(frozen=True, slots=True)
class PersonSettings:
    """A person's settings. language: of the bot's own sentences in private; None follows what they write.

    drafts: replies are shown while they are written, where the channel and the bot's settings let them. quiet_hours: of
    what the bot says of its own accord, such as "22:30-08:00"; "" for none, None as the bot's settings have them.
    """

    language: Language | None = None
    drafts: bool = True
    quiet_hours: str | None = None


_DEFAULT = PersonSettings()
_ANY_ZONE = ZoneInfo("UTC")


def load_settings_of(connection: Connection, account: Account) -> PersonSettings:
    """Read a person's settings."""
    return _load_all(connection).get(account, _DEFAULT)


def save_settings_of(connection: Connection, account: Account, settings: PersonSettings) -> None:
    """Store a person's settings, inside a transaction; none where they are as for everybody."""
    rows = {known: each for known, each in _load_all(connection).items() if known != account}
    if settings != _DEFAULT:
        rows[account] = settings
    newest = list(rows.items())[-_MOST:]
    write_json(connection, _KEY, {" ".join(known): asdict(each) for known, each in newest})


class PersonalSettings(RefreshedByCommands):
    """Everybody's settings, in memory. `refresh` it at the start.

    zone: of the quiet hours. quiet: of everybody without any of their own.
    """

    def __init__(self, database: Database, zone: ZoneInfo | None = None, quiet: QuietHours | None = None) -> None:
        super().__init__("settings")
        self._database = database
        self._zone = zone or ZoneInfo("UTC")
        self._quiet = quiet
        # bounded: 1,000 people; test_the_settings_of_many_take_a_bounded_place
        self._known: Mapping[Account, PersonSettings] = {}

    def of(self, inbound: Inbound) -> PersonSettings:
        """Return the settings that hold for a message: the sender's in private, nobody's in a group."""
        return self._known.get((inbound.channel, inbound.user), _DEFAULT) if inbound.private else _DEFAULT

    def language_of(self, channel: str, user: str) -> Language | None:
        """Return the language that a person chose; None when they chose none."""
        return self._known.get((channel, user), _DEFAULT).language

    def quiet_hours_of(self, channel: str, user: str) -> QuietHours | None:
        """Return when the bot says nothing to a person of its own accord."""
        own = self._known.get((channel, user), _DEFAULT).quiet_hours
        return self._quiet if own is None else QuietHours.parse(own, self._zone)

    def say_when(self, at: datetime) -> str:
        """Say day and time of a moment in the owner's zone."""
        return f"{at.astimezone(self._zone):%Y-%m-%d %H:%M}"

    async def refresh(self) -> None:
        """Load the settings. Raises StoreError."""
        self._known = await self._database.read(_load_all)


def _hours(kept: object) -> str | None:
    """Return stored quiet hours; None where they are damaged."""
    try:
        QuietHours.parse(kept if isinstance(kept, str) else "?", _ANY_ZONE)
    except ValueError:
        return None
    return str(kept)


def _load_all(connection: Connection) -> dict[Account, PersonSettings]:
    none: dict[str, Any] = {}
    known: dict[Account, PersonSettings] = {}
    for account, kept in read_json(connection, _KEY, none).items():
        channel, _, user = account.partition(" ")
        if not isinstance(kept, dict):
            continue
        language = kept.get("language") if kept.get("language") in ("en", "es") else None
        known[channel, user] = PersonSettings(language, bool(kept.get("drafts", True)), _hours(kept.get("quiet_hours")))
    return known
