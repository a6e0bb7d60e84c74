"""Many small homes of one bot, each with a chat, whose mail is put into the table as an ingress does."""

import json
import time
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import psycopg

from kenobot.core.settings.home import Home
from kenobot.storage.migrate import migrate
from kenobot_host import mail_rows
from kenobot_host.connections import Connections
from kenobot_host.home_store import HomeStore
from kenobot_host.mail_rows import Update
from kenobot_host.schema_rows import upgrade_schema

_ACCOUNT = "100000001"
_FIRST_CHAT = 10_000_000
_SETTINGS = """\
[provider]
name = "anthropic"
[models]
cheap = "offline"
[providers.anthropic]
base_url = "{model}"
[channels]
enabled = ["telegram"]
[channels.telegram]
owners = ["{chat}"]
fragment_seconds = 0.0
[memory]
embedder = "none"
[sleep]
enabled = false
"""


@dataclass
class ManyHomes:
    """The homes of a cell, from 0. said: messages so far."""

    url: str
    count: int
    said: int = 0

    @classmethod
    def build(cls, url: str, count: int, folder: Path, platform: str, model: str) -> "ManyHomes":
        """Make the tables of a database, and homes in it. platform, model: addresses of what they talk to."""
        empty = Home(folder / "empty")
        empty.prepare()
        migrate(empty.database, empty.backups)
        connections = Connections(url).open()
        try:
            with psycopg.connect(url, autocommit=True) as connection:
                upgrade_schema(connection)
                connection.execute(
                    "INSERT INTO kenobot.bot (bot, token, base_url, intake, username) "
                    "VALUES (%s, %s, %s, 'webhook', 'many_bot')",
                    (_ACCOUNT, f"{_ACCOUNT}:{'A' * 35}", platform),
                )
                for number in range(count):
                    home = HomeStore(connections).add(f"home-{number}", empty.database)
                    chat = cls.chat_of(number)
                    connection.execute(
                        "INSERT INTO kenobot.file (home, path, version, mode, sealed, content) "
                        "VALUES (%s, 'kenobot.toml', 1, 384, false, %s)",
                        (home, _SETTINGS.format(model=model, chat=chat).encode()),
                    )
                    connection.execute("INSERT INTO kenobot.route VALUES (%s, %s, %s)", (_ACCOUNT, chat, home))
        finally:
            connections.close()
        return cls(url, count)

    @staticmethod
    def chat_of(home: int) -> str:
        """Return the chat of a home."""
        return str(_FIRST_CHAT + home)

    async def say(self, homes: Iterable[int], text: str) -> None:
        """Put a message into the mail of each of some homes."""
        updates = [self._make_update(self.chat_of(home), text) for home in homes]
        async with await psycopg.AsyncConnection.connect(self.url) as connection:
            await mail_rows.put_mail(connection, _ACCOUNT, updates)

    def _make_update(self, chat: str, text: str) -> Update:
        self.said += 1
        message = {
            "message_id": self.said,
            "date": int(time.time()),
            "chat": {"id": int(chat), "type": "private"},
            "from": {"id": int(chat), "is_bot": False, "first_name": "Ana"},
            "text": f"m{self.said:05d} {text}",
        }
        return Update(self.said, chat, json.dumps({"update_id": self.said, "message": message}))
