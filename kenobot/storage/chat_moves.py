"""Chats whose platform gave them another id: all of theirs stays stored under the id that they had first."""

from collections.abc import Mapping

from kenobot.ports.identity import session_id
from kenobot.storage.connection import Connection
from kenobot.storage.state import read_json, write_json

_KEY = "chats:moved"

ChatId = tuple[str, str]
"""A channel's name, and the id of a chat there."""


def load_moves(connection: Connection) -> dict[ChatId, str]:
    """Read the first id of every chat that has another one now."""
    stored: dict[str, dict[str, str]] = read_json(connection, _KEY, {})
    return {(channel, chat): first for channel, chats in stored.items() for chat, first in chats.items()}


def add_move(connection: Connection, channel: str, former: str, current: str) -> dict[ChatId, str] | None:
    """Note a chat's new id, inside a transaction; returns all moves, None where nothing is to be noted.

    A chat that has a conversation of its own keeps it.
    """
    moves = load_moves(connection)
    first = moves.get((channel, former), former)
    if current == first or (channel, current) in moves or has_conversation(connection, channel, current):
        return None
    moves[channel, current] = first
    write_json(connection, _KEY, _by_channel(moves))
    return moves


def has_conversation(connection: Connection, channel: str, chat: str) -> bool:
    """Return whether anything was said in a chat, threads aside."""
    session = session_id(channel, chat)
    return connection.execute("SELECT 1 FROM message WHERE session = ? LIMIT 1", (session,)).fetchone() is not None


def _by_channel(moves: Mapping[ChatId, str]) -> dict[str, dict[str, str]]:
    stored: dict[str, dict[str, str]] = {}
    for (channel, chat), first in moves.items():
        stored.setdefault(channel, {})[chat] = first
    return stored
