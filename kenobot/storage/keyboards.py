"""Store buttons below messages: a row a message, which the first press takes away."""

import json
import secrets
from datetime import datetime, timedelta

from kenobot.core.i18n import Language
from kenobot.ports.frozen import dataclass
from kenobot.storage.connection import Connection
from kenobot.storage.database import Database
from kenobot.storage.state import read_state, write_state

_KEEP_DAYS = 30
_CHAT_KEEPS = 50  # keyboards; older ones can no longer be pressed
_KEY = "buttons:key"


@dataclass(frozen=True, slots=True)
class Keyboard:
    """The buttons of a message.

    choices: the command that each button gives, as its English name and its arguments. accounts: of `channel` that may
    press one. owner: whether the owner may as well. language: of the message. created: when, to the microsecond.
    """

    channel: str
    chat: str
    accounts: tuple[str, ...]
    owner: bool
    language: Language
    choices: tuple[tuple[str, str], ...]
    created: str


def add_keyboard(connection: Connection, keyboard: Keyboard) -> int:
    """Store a keyboard and return its id; the oldest of a chat that has many goes."""
    cursor = connection.execute(
        "INSERT INTO keyboard (channel, chat, accounts, owner, language, choices, created) "
        "VALUES (?, ?, ?, ?, ?, ?, ?)",
        (
            keyboard.channel,
            keyboard.chat,
            json.dumps(keyboard.accounts),
            keyboard.owner,
            keyboard.language,
            json.dumps(keyboard.choices, ensure_ascii=False),
            keyboard.created,
        ),
    )
    connection.execute(
        "DELETE FROM keyboard WHERE channel = :channel AND chat = :chat AND id <= "
        "(SELECT id FROM keyboard WHERE channel = :channel AND chat = :chat ORDER BY id DESC LIMIT 1 OFFSET :kept)",
        {"channel": keyboard.channel, "chat": keyboard.chat, "kept": _CHAT_KEEPS},
    )
    assert cursor.lastrowid is not None
    return cursor.lastrowid


def get_keyboard(connection: Connection, number: int) -> Keyboard | None:
    """Return the keyboard of this id; None once one of its buttons was pressed."""
    row = connection.execute(
        "SELECT channel, chat, accounts, owner, language, choices, created FROM keyboard WHERE id = ?", (number,)
    ).fetchone()
    if row is None:
        return None
    channel, chat, accounts, owner, language, choices, created = row
    pressable = tuple((str(name), str(arguments)) for name, arguments in json.loads(choices))
    return Keyboard(channel, chat, tuple(json.loads(accounts)), bool(owner), language, pressable, created)


def take_keyboard(connection: Connection, number: int) -> bool:
    """Remove a keyboard; False when another press did so before."""
    return connection.execute("DELETE FROM keyboard WHERE id = ?", (number,)).rowcount == 1


def signing_key(connection: Connection, *, make: bool = False) -> bytes:
    """Return the key that signs buttons; b"" where there is none yet and none is to be made."""
    key = read_state(connection, _KEY)
    if key is None and make:
        write_state(connection, _KEY, key := secrets.token_hex(32))
    return bytes.fromhex(key or "")


def end_all(connection: Connection) -> None:
    """End every keyboard, and every signature: numbers may then be given again."""
    connection.execute("DELETE FROM keyboard")
    connection.execute("DELETE FROM key_value WHERE key = ?", (_KEY,))


async def prune(database: Database, now: datetime) -> None:
    """Drop keyboards a month old."""
    await database.prune("keyboard", "created < ?", (now - timedelta(days=_KEEP_DAYS)).isoformat())
