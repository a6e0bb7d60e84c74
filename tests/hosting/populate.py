"""Put bots and homes into a new database, as `kenobot host bot` and `kenobot host add` would."""

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psycopg

from kenobot.core.settings.home import Home
from kenobot.storage.migrate import migrate
from kenobot_host.connections import Connections
from kenobot_host.home_store import HomeStore
from kenobot_host.schema_rows import upgrade_schema

SETTINGS = """\
[provider]
name = "anthropic"
[models]
cheap = "offline"
[providers.anthropic]
base_url = "{model}"
[channels]
enabled = ["telegram"]
[channels.telegram]
owners = ["{owner}"]
allowed_users = {guests}
fragment_seconds = 0.0
[memory]
embedder = "none"
[sleep]
enabled = false
"""
"""The kenobot.toml of a home. model: address of its model. owner, guests: who may write."""


@dataclass(frozen=True, slots=True)
class NewDatabase:
    """A database whose tables have just been made."""

    connection: "psycopg.Connection[Any]"
    store: HomeStore
    empty: Path

    def add_bot(self, number: int, base_url: str, *, is_posted: bool) -> tuple[str, str]:
        """Add a bot, which is posted to or polls; returns its account and token."""
        account = str(100_000_000 + number)
        token = f"{account}:{'A' * 35}"
        self.connection.execute(
            "INSERT INTO kenobot.bot (bot, token, base_url, intake, username) VALUES (%s, %s, %s, %s, 'a_bot')",
            (account, token, base_url, "webhook" if is_posted else "poll"),
        )
        return account, token

    def add_home(self, name: str) -> int:
        """Add a home that nothing was said in yet; returns its number."""
        return self.store.add(name, self.empty)

    def add_files(self, home: int, files: Mapping[str, str]) -> None:
        """Add files of a home, by path."""
        for path, text in files.items():
            self.connection.execute(
                "INSERT INTO kenobot.file (home, path, version, mode, sealed, content) "
                "VALUES (%s, %s, 1, 384, false, %s)",
                (home, path, text.encode()),
            )

    def add_routes(self, account: str, chats: Iterable[str], home: int) -> None:
        """Have a bot's chats lead to a home."""
        for chat in chats:
            self.connection.execute("INSERT INTO kenobot.route VALUES (%s, %s, %s)", (account, chat, home))


@contextmanager
def new_database(url: str, folder: Path) -> Iterator[NewDatabase]:
    """Make the tables of a database."""
    empty = Home(folder / "empty")
    empty.prepare()
    migrate(empty.database, empty.backups)
    with psycopg.connect(url, autocommit=True) as connection:
        upgrade_schema(connection)
        store = HomeStore(Connections(url).open())
        try:
            yield NewDatabase(connection, store, empty.database)
        finally:
            store.connections.close()
