"""The commands of `kenobot memory` as functions, and what they leave on disk."""

import json
import sqlite3
from typing import Any

from kenobot.core.settings.home import Home

from .conftest import Cli


def remember(cli: Cli, *texts: str, scope: str = "owner") -> list[int]:
    numbers = []
    for text in texts:
        code, out, err = cli("memory", "remember", text, "--scope", scope, "--json")
        assert code == 0, err
        numbers.append(json.loads(out)["id"])
    return numbers


def rows(cli: Cli, *arguments: str) -> list[dict[str, Any]]:
    code, out, _ = cli("memory", *arguments, "--json")
    assert code in (0, 2)
    return [json.loads(line) for line in out.splitlines()]


def texts(cli: Cli, *arguments: str) -> list[str]:
    return [row["text"] for row in rows(cli, "list", *arguments)]


def files(home: Home) -> str:
    """Every file of the live tree: what was forgotten is kept in the archive alone, until it is purged."""
    paths = (path for path in sorted(home.memory.rglob("*.md")) if home.memory / "archive" not in path.parents)
    return "\n".join(path.read_text("utf-8") for path in paths)


def told(connection: sqlite3.Connection, turn: int, said: str, answer: str, session: str = "telegram-1") -> None:
    """A turn of a conversation, as the bot leaves it behind."""
    at = f"2026-02-14T14:{turn:02d}:00+00:00"
    connection.execute(
        "INSERT INTO inbox (id, channel, external_id, chat, session, sender, text, sent_at, received_at, trace, state, "
        "done_at) VALUES (?, 'telegram', ?, '1', ?, '1', ?, ?, ?, 't', 'answered', ?)",
        (turn, str(turn), session, said, at, at, at),
    )
    connection.execute(
        "INSERT INTO turn (inbox_id, session, trace, stop_reason, model, replied_at) "
        "VALUES (?, ?, 't', 'end_turn', 'm', ?)",
        (turn, session, at),
    )
    for role, text, trust in (("user", said, "owner"), ("assistant", answer, "model")):
        connection.execute(
            "INSERT INTO message (session, role, text, context, at, inbox_id, trust, scope) "
            "VALUES (?, ?, ?, ?, ?, ?, ?, 'owner')",
            (session, role, text, "", at, turn, trust),
        )


def every_byte(home: Home) -> bytes:
    """All that a home holds, backups excepted."""
    paths = [path for path in home.path.rglob("*") if path.is_file() and home.backups not in path.parents]
    return b"\n".join(path.read_bytes() for path in sorted(paths))
