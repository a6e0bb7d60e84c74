"""SQL of homes that move between cells: in good order out of their worker's hands, with their bots and mail."""

from collections.abc import Collection, Mapping
from typing import Final

from psycopg import Connection
from psycopg.errors import UniqueViolation
from psycopg.types.json import Jsonb

from kenobot.ports.frozen import dataclass
from kenobot_host.activation_rows import ACTIVATE, DEFER, WAITING, lock_of


@dataclass(frozen=True, slots=True)
class SharedBot:
    """A bot of a home that speaks for others as well, which are named."""

    bot: str
    others: tuple[str, ...]


def list_own_bots(connection: Connection, homes: Collection[int]) -> list[str]:
    """List the bots that speak for some homes and no others."""
    rows = connection.execute(
        "SELECT bot FROM kenobot.bot "
        "WHERE (home = ANY(%(homes)s) OR bot IN (SELECT bot FROM kenobot.route WHERE home = ANY(%(homes)s))) "
        "AND (home IS NULL OR home = ANY(%(homes)s)) "
        "AND NOT EXISTS (SELECT 1 FROM kenobot.route WHERE route.bot = bot.bot AND NOT route.home = ANY(%(homes)s)) "
        "ORDER BY bot",
        {"homes": list(homes)},
    ).fetchall()
    return [bot for (bot,) in rows]


def list_shared_bots(connection: Connection, homes: Collection[int]) -> list[SharedBot]:
    """List the bots that speak for some homes and for others."""
    rows = connection.execute(
        "WITH served AS (SELECT bot, home FROM kenobot.bot WHERE home IS NOT NULL "
        "  UNION SELECT bot, home FROM kenobot.route), "
        "ours AS (SELECT DISTINCT bot FROM served WHERE home = ANY(%(homes)s)) "
        "SELECT bot, array_agg(name ORDER BY name) FROM ours JOIN served USING (bot) JOIN kenobot.home USING (home) "
        "WHERE NOT home = ANY(%(homes)s) GROUP BY bot ORDER BY bot",
        {"homes": list(homes)},
    ).fetchall()
    return [SharedBot(bot, tuple(others)) for bot, others in rows]


def begin_leaving(connection: Connection, home: int) -> None:
    """Begin to move a home away: it is put away, opened by nobody, and its bots rest. Waits for mail on its way in."""
    with connection.transaction():
        connection.execute("SELECT 1 FROM kenobot.home WHERE home = %s FOR UPDATE", (home,))
        connection.execute("UPDATE kenobot.home SET is_here = false WHERE home = %s", (home,))


def is_held(connection: Connection, home: int) -> bool:
    """Return whether a worker holds a home."""
    found = connection.execute(
        "SELECT 1 FROM procrastinate_jobs WHERE lock = %s AND status = 'doing' LIMIT 1", (lock_of(home),)
    )
    return found.fetchone() is not None


def take_lease(connection: Connection, home: int) -> None:
    """Take a home from its worker, which commits and sends nothing for it from then on."""
    connection.execute(
        "SELECT procrastinate_finish_job_v1(id, 'failed', true) FROM procrastinate_jobs "
        "WHERE lock = %s AND status = 'doing'",
        (lock_of(home),),
    )


def settle(connection: Connection, home: int) -> None:
    """Note that a home is here, with its bots, and request that it is opened: it may have reminders that are due."""
    with connection.transaction():
        connection.execute("UPDATE kenobot.home SET is_here = true, origin = NULL WHERE home = %s", (home,))
        connection.execute(
            "INSERT INTO kenobot.activity (home, is_unfinished) VALUES (%s, true) "
            "ON CONFLICT (home) DO UPDATE SET is_unfinished = true",
            (home,),
        )
        _request_activation(connection, home)


def _request_activation(connection: Connection, home: int) -> None:
    """See `activation_rows.request_activation`."""
    lock = lock_of(home)
    while connection.execute(WAITING, (lock,)).fetchone() is None:
        try:
            with connection.transaction():
                connection.execute(DEFER, ("homes", ACTIVATE, lock, lock, Jsonb({"home": home}), None))
            return
        except UniqueViolation:  # by another transaction, just now
            continue


_BOTS: Final = (
    "SELECT bot, token, base_url, intake, username, home FROM kenobot.bot WHERE bot = ANY(%s) ORDER BY bot",
    "INSERT INTO kenobot.bot (bot, token, base_url, intake, username, home) VALUES (%s, %s, %s, %s, %s, %s)",
)
_ROUTES: Final = (
    "SELECT bot, chat, home FROM kenobot.route WHERE bot = ANY(%s) ORDER BY bot, chat",
    "INSERT INTO kenobot.route (bot, chat, home) VALUES (%s, %s, %s)",
)
_MAIL: Final = (
    "SELECT bot, update_id, chat, raw, came, home FROM kenobot.mail WHERE home = ANY(%s) ORDER BY bot, update_id",
    "INSERT INTO kenobot.mail (bot, update_id, chat, raw, came, home) VALUES (%s, %s, %s, %s, %s, %s)",
)


def copy_bots(here: Connection, there: Connection, bots: Collection[str], numbers: Mapping[int, int]) -> None:
    """Copy bots, their chats, and the mail of homes that waits. numbers: of homes here and there.

    Raises UniqueViolation for a bot that is there.
    """
    for (load, insert), wanted in ((_BOTS, list(bots)), (_ROUTES, list(bots)), (_MAIL, list(numbers))):
        rows = [(*row, home and numbers[home]) for *row, home in here.execute(load, (wanted,)).fetchall()]
        with there.cursor() as cursor:
            cursor.executemany(insert, rows)


def note_departure(connection: Connection, name: str, cell: str) -> None:
    """Note that a home has left for another cell, which may not know yet."""
    connection.execute(
        "INSERT INTO kenobot.departure (name, cell) VALUES (%s, %s) "
        "ON CONFLICT (name) DO UPDATE SET cell = excluded.cell, at = excluded.at",
        (name, cell),
    )


def find_departure(connection: Connection, name: str) -> str | None:
    """Find the cell that a home has left for."""
    row = connection.execute("SELECT cell FROM kenobot.departure WHERE name = %s", (name,)).fetchone()
    return None if row is None else str(row[0])


def forget_departure(connection: Connection, name: str) -> None:
    """Forget that a home has left: the other cell knows."""
    connection.execute("DELETE FROM kenobot.departure WHERE name = %s", (name,))
