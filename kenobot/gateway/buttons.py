"""Buttons below the bot's messages: each gives a command, signed, once, to the people whose decision it is.

A button's value is `id.index.mac`: the row of its keyboard, its place there, and a signature over both, the chat and
the moment, because another row may get the same number after a backup was restored. What a button does stands in the
row alone, so that it works after a restart and an upgrade, and no message can forge it.
"""

import hmac
from base64 import urlsafe_b64encode
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from hashlib import sha256

from kenobot.core import texts
from kenobot.core.i18n import Language
from kenobot.gateway.access import Access
from kenobot.ports.frozen import dataclass
from kenobot.ports.messages import Button, Inbound, MessagePart
from kenobot.storage import keyboards
from kenobot.storage.connection import Connection
from kenobot.storage.keyboards import Keyboard

OWNERS = "owner:"
"""Stands before the command of a button whose answer the owner alone may see, where the command is everybody's."""

_MAC_BYTES = 12


@dataclass(frozen=True, slots=True)
class Choice:
    """A button to be: its label, and the command that it gives."""

    label: str
    command: str
    arguments: str = ""


def choices_of(question: str, language: Language) -> tuple[tuple[Choice, ...], ...]:
    """Return the buttons that settle a question on memory files: "missing", or what was "revived"."""
    forget = Choice(texts.BUTTON_FORGET(language), question, "forget")
    other = {
        "missing": Choice(texts.BUTTON_KEEP(language), question, "keep"),
        "revived": Choice(texts.BUTTON_REMEMBER(language), question, "remember"),
    }
    return ((other[question], forget),)


def for_owner(rows: Sequence[Sequence[Choice]]) -> tuple[tuple[Choice, ...], ...]:
    """Return buttons that give their commands as the owner's, with what stands in the owner's memory."""
    return tuple(tuple(replace(each, command=f"{OWNERS}{each.command}") for each in row) for row in rows)


@dataclass(frozen=True, slots=True)
class Pressers:
    """The chat of a message and the people who may press its buttons: accounts, and the owner if `owner`."""

    channel: str
    chat: str
    accounts: tuple[str, ...]
    owner: bool = False


@dataclass(frozen=True, slots=True)
class PressedButton:
    """A button that was pressed: the command that it gives, the language of its message, and the keyboard's row."""

    command: str
    arguments: str
    language: Language
    keyboard: int


def add_buttons(
    connection: Connection,
    parts: Sequence[MessagePart],
    rows: Sequence[Sequence[Choice]],
    pressers: Pressers,
    language: Language,
    at: datetime,
) -> list[MessagePart]:
    """Put buttons below the last of `parts`, and store what they do, inside a transaction."""
    if not parts or not rows:
        return list(parts)
    key = keyboards.signing_key(connection, make=True)
    choices = tuple((choice.command, choice.arguments) for row in rows for choice in row)
    keyboard = Keyboard(
        pressers.channel, pressers.chat, pressers.accounts, pressers.owner, language, choices, at.isoformat()
    )
    number = keyboards.add_keyboard(connection, keyboard)
    places = iter(range(len(choices)))
    buttons = tuple(
        tuple(Button(choice.label, _value(key, number, next(places), keyboard)) for choice in row) for row in rows
    )
    return [*parts[:-1], replace(parts[-1], buttons=buttons)]


def add_press(connection: Connection, choice: Choice, pressers: Pressers, language: Language, at: datetime) -> str:
    """Store one button that stands below no message, inside a transaction; return the value that a press names it by.

    For who answers a question of the bot's elsewhere than in its chat.
    """
    key, choices = keyboards.signing_key(connection, make=True), ((choice.command, choice.arguments),)
    keyboard = Keyboard(
        pressers.channel, pressers.chat, pressers.accounts, pressers.owner, language, choices, at.isoformat()
    )
    return _value(key, keyboards.add_keyboard(connection, keyboard), 0, keyboard)


def find_button(connection: Connection, inbound: Inbound, access: Access) -> PressedButton | None:
    """Return the button that a press names; None when it is forged, another's to press, or was pressed before.

    Whoever may not talk here any more may press nothing.
    """
    number, _, rest = inbound.value.partition(".")
    index = rest.partition(".")[0]
    if not (_is_number(number) and _is_number(index)):
        return None
    keyboard = keyboards.get_keyboard(connection, int(number))
    if keyboard is None or (keyboard.channel, keyboard.chat) != (inbound.channel, inbound.chat):
        return None
    expected = _value(keyboards.signing_key(connection), int(number), int(index), keyboard)
    if not hmac.compare_digest(inbound.value.encode("utf-8", "replace"), expected.encode()):
        return None
    if int(index) >= len(keyboard.choices) or access.access_level(inbound) == "stranger":
        return None
    is_owner = keyboard.owner and access.is_owner(inbound.channel, inbound.user)
    if inbound.user not in keyboard.accounts and not is_owner:
        return None
    return PressedButton(*keyboard.choices[int(index)], keyboard.language, int(number))


def _is_number(text: str) -> bool:
    return text.isascii() and text.isdecimal() and len(text) <= 18


def _value(key: bytes, number: int, index: int, keyboard: Keyboard) -> str:
    where = f"{keyboard.created}.{keyboard.channel}.{keyboard.chat}"
    signed = f"{number}.{index}.{where}".encode("utf-8", "backslashreplace")
    mac = hmac.digest(key, signed, sha256)[:_MAC_BYTES]
    return f"{number}.{index}.{urlsafe_b64encode(mac).decode()}"
