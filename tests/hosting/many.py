"""Many small homes of a few bots, each with a chat, whose mail is put into the table as an ingress does."""

import json
import time
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import psycopg

from kenobot_host import mail_rows
from kenobot_host.mail_rows import Update
from tests.hosting.populate import SETTINGS, new_database

_FIRST_CHAT = 10_000_000


@dataclass
class ManyHomes:
    """The homes of a cell, from 0. accounts: of their bots, which have them in turn. said: messages so far."""

    url: str
    count: int
    accounts: list[str]
    said: int = 0

    @classmethod
    def build(cls, url: str, count: int, folder: Path, platform: str, model: str, bots: int = 1) -> "ManyHomes":
        """Make the tables of a database, and homes in it. platform, model: addresses of what they talk to."""
        with new_database(url, folder) as database:
            accounts = [database.add_bot(number, platform, is_posted=True)[0] for number in range(1, bots + 1)]
            for number in range(count):
                home, chat = database.add_home(f"home-{number}"), cls.chat_of(number)
                database.add_files(home, {"kenobot.toml": SETTINGS.format(model=model, owner=chat, guests=[])})
                database.add_routes(accounts[number % bots], [chat], home)
        return cls(url, count, accounts)

    @staticmethod
    def chat_of(home: int) -> str:
        """Return the chat of a home."""
        return str(_FIRST_CHAT + home)

    async def say(self, homes: Iterable[int], text: str) -> None:
        """Put a message into the mail of each of some homes."""
        updates = defaultdict[str, list[Update]](list)
        for home in homes:
            account = self.accounts[home % len(self.accounts)]
            updates[account].append(self._make_update(self.chat_of(home), text))
        async with await psycopg.AsyncConnection.connect(self.url) as connection:
            for account, found in updates.items():
                await mail_rows.put_mail(connection, account, found)

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
