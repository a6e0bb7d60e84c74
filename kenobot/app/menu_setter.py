"""Set the menus of commands of the channels that show any, where they differ from what was set last."""

import hashlib
import logging
from collections.abc import Mapping

from kenobot.agent.commands.menus import command_menus
from kenobot.core.i18n import Language
from kenobot.gateway.access import Roster
from kenobot.ports.channel import Channel, CommandMenu, ShowsMenus
from kenobot.ports.errors import RemoteError, StoreError
from kenobot.storage.database import Database
from kenobot.storage.state import read_json, write_json

_log = logging.getLogger(__name__)

_KEY = "menus:"  # and the channel: what was set, as digests by menu


class MenuSetter:
    """Set menus. language: of the bot's own sentences; None is every language there is."""

    def __init__(
        self,
        database: Database,
        channels: Mapping[str, Channel],
        rosters: Mapping[str, Roster],
        language: Language | None = None,
    ) -> None:
        self._database = database
        self._channels = channels
        self._rosters = rosters
        self._language = language

    async def refresh(self) -> None:
        """Set every menu that changed. One that is refused is tried again the next time; never raises."""
        for name, channel in tuple(self._channels.items()):
            if isinstance(channel, ShowsMenus):
                try:
                    await self._refresh(name, channel)
                except StoreError as error:
                    _log.warning("the menus of %s could not be noted: %s", name, error)

    async def _refresh(self, name: str, channel: ShowsMenus) -> None:
        none: dict[str, str] = {}
        known = await self._database.read(lambda connection: read_json(connection, _KEY + name, none))
        owners = self._rosters[name].owners if name in self._rosters else ()
        menus = {f"{m.audience}:{m.user}:{m.language}": m for m in command_menus(owners, self._language)}
        kept = {key: digest for key, digest in known.items() if key in menus}
        for key, menu in menus.items():
            digest = _digest(channel.account, menu)
            if kept.get(key) == digest:
                continue
            try:
                await channel.set_menu(menu)
            except RemoteError as error:  # an owner who has not written yet has no chat to set it in
                _log.info("a menu of %s (%s) was not set: %s", name, menu.audience, error)
            else:
                kept[key] = digest
        if kept != known:
            await self._database.write(lambda connection: write_json(connection, _KEY + name, kept))


def _digest(account: str, menu: CommandMenu) -> str:
    written = (account, menu.audience, menu.language, menu.commands, menu.user, sorted(menu.unseen))
    return hashlib.sha256(repr(written).encode()).hexdigest()[:16]
