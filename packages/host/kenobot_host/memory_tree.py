"""Write the Markdown files of a home's memory, which it has none of in a host."""

from zoneinfo import ZoneInfo

from kenobot.cognitive.memory import MemoryFiles, Policy
from kenobot.core.settings.home import Home
from kenobot.core.settings.load import Settings, load_settings
from kenobot.ports.clock import Clock
from kenobot.ports.errors import ConfigError
from kenobot.storage.database import Database


async def write_memory_tree(home: Home, clock: Clock) -> None:
    """Write all memory files of a home in which no bot runs. Raises ConfigError and StoreError."""
    settings = _load_settings(home)
    database = Database.open(home.database, home.backups)
    try:
        zone, policy = ZoneInfo(settings.bot.timezone), Policy.of(settings.sleep)
        files = MemoryFiles(home.memory, database, clock, zone, policy)
        await files.catch_up()
        await files.stop()
    finally:
        await database.close()


def _load_settings(home: Home) -> Settings:
    """Load the settings of a home; those of a new one where they are wrong, for their owner is to mend them there."""
    try:
        return load_settings(home, {}).settings
    except ConfigError:
        return Settings()
