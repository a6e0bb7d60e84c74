"""A small home, what a newer version would do to it, and what of it has to survive."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager

import pytest

from kenobot.core.settings.home import Home
from kenobot.storage import migrate

FIRST, LATER = "before the update", "while the new version was on trial"
NEWEST = migrate.migrations()[-1][0]

_SHIPPED = migrate.migrations
_MORE = "ALTER TABLE inbox ADD COLUMN later TEXT NOT NULL DEFAULT '';"


def make_home(home: Home) -> None:
    home.prepare()
    migrate.migrate(home.database, home.backups)
    store_message(home, FIRST)


def store_message(home: Home, text: str) -> None:
    """Store a message as a channel brings it."""
    with closing(sqlite3.connect(home.database)) as connection:
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute(
            "INSERT OR IGNORE INTO inbox (channel, external_id, chat, session, sender, text, sent_at, received_at, "
            "trace, state) VALUES ('fake', ?, 'c', 'fake:c', 'u', ?, '2026-01-01', '2026-01-01', 't', 'pending')",
            (text, text),
        )
        connection.commit()


@contextmanager
def newer_version() -> Iterator[None]:
    """Be a version with one more migration."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(migrate, "migrations", lambda: [*_SHIPPED(), (NEWEST + 1, _MORE)])
        yield


def migrate_further(home: Home) -> None:
    """Do what the start of a newer version does."""
    with newer_version():
        migrate.migrate(home.database, home.backups)


def state(home: Home) -> tuple[int, list[str]]:
    """Return the schema and the messages of a home, and check that its database is whole."""
    with closing(sqlite3.connect(home.database)) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        version = connection.execute("PRAGMA user_version").fetchone()[0]
        return version, [row[0] for row in connection.execute("SELECT text FROM inbox ORDER BY id")]
