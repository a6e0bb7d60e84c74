"""SQL of mail: what platforms brought, until a home has stored it."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Final, LiteralString

from psycopg import AsyncConnection, Connection

from kenobot_host.activation_rows import request_activation

_ROUTE: Final = """
SELECT coalesce((SELECT home FROM kenobot.route WHERE bot = %(bot)s AND chat = %(chat)s),
                (SELECT home FROM kenobot.bot WHERE bot = %(bot)s))
"""
_FOLLOW: Final = """
INSERT INTO kenobot.route (bot, chat, home)
SELECT bot, %(current)s, home FROM kenobot.route WHERE bot = %(bot)s AND chat = %(former)s
ON CONFLICT DO NOTHING
"""


@dataclass(frozen=True, slots=True)
class Update:
    """An update of a bot, in the platform's own words. chat: "" where it names none.

    move: the former and the new id of a chat, where the update tells of such a change.
    """

    number: int
    chat: str
    raw: str
    move: tuple[str, str] | None = None


@dataclass(frozen=True, slots=True)
class Bot:
    """A bot of the host. account: on its platform. home: of chats without a route; None turns them away.

    rests: a home of it moves, and its platform keeps what comes meanwhile.
    """

    account: str
    token: str
    base_url: str
    intake: str
    username: str
    home: int | None
    rests: bool = False


class BotRests(Exception):
    """A bot is gone, or one of its homes moves: what came is not confirmed, and its platform keeps it."""


_BOTS: Final = """
SELECT bot, token, base_url, intake, username, home,
  EXISTS (SELECT 1 FROM kenobot.home WHERE home.home = bot.home AND NOT is_here)
  OR EXISTS (SELECT 1 FROM kenobot.route JOIN kenobot.home USING (home) WHERE route.bot = bot.bot AND NOT is_here)
FROM kenobot.bot
"""
_BOT: Final = _BOTS + " WHERE bot = %s"
_BOT_OF: Final = """
SELECT bot, token, base_url, intake, username, home FROM kenobot.bot
WHERE home = %(home)s OR bot IN (SELECT bot FROM kenobot.route WHERE home = %(home)s) ORDER BY bot LIMIT 1
"""


async def put_mail(connection: AsyncConnection, bot: str, updates: Sequence[Update]) -> int:
    """Put updates into the mail of their homes and have these activated, in the caller's transaction.

    A chat that has another id from now on stays with the home that has it, unless the new id was given to one by name.
    Returns how many belong to no home, and are dropped. Raises BotRests, and then nothing may be confirmed.
    """
    await _require(connection, "SELECT 1 FROM kenobot.bot WHERE bot = %s FOR KEY SHARE", bot)
    homes: set[int] = set()
    dropped = 0
    for update in updates:
        if update.move is not None:
            former, current = update.move
            await connection.execute(_FOLLOW, {"bot": bot, "former": former, "current": current})
        found = await connection.execute(_ROUTE, {"bot": bot, "chat": update.chat})
        row = await found.fetchone()
        if row is None or row[0] is None:
            dropped += 1
            continue
        if row[0] not in homes:  # waits for one that begins to move
            await _require(connection, "SELECT 1 FROM kenobot.home WHERE home = %s AND is_here FOR KEY SHARE", row[0])
        homes.add(row[0])
        await connection.execute(
            "INSERT INTO kenobot.mail (bot, update_id, home, chat, raw) VALUES (%s, %s, %s, %s, %s) "
            "ON CONFLICT DO NOTHING",
            (bot, update.number, row[0], update.chat, update.raw),
        )
    for home in sorted(homes):  # two transactions wait for each other's locks in the same order
        await request_activation(connection, home)
    return dropped


async def _require(connection: AsyncConnection, statement: LiteralString, value: object) -> None:
    """Raise BotRests unless a row is found, which stays as it is until the transaction ends."""
    found = await connection.execute(statement, (value,))
    if await found.fetchone() is None:
        raise BotRests


async def load_mail(connection: AsyncConnection, bot: str, home: int, most: int) -> list[tuple[int, str]]:
    """Return the oldest updates of a home by the platform's numbers: what a sequence of ours numbers is insertion."""
    found = await connection.execute(
        "SELECT update_id, raw FROM kenobot.mail WHERE home = %s AND bot = %s ORDER BY update_id LIMIT %s",
        (home, bot, most),
    )
    return [(number, raw) for number, raw in await found.fetchall()]


async def delete_mail(connection: AsyncConnection, bot: str, numbers: Collection[int]) -> None:
    """Delete updates that are stored: these, and no others below them, which may have come in late."""
    await connection.execute("DELETE FROM kenobot.mail WHERE bot = %s AND update_id = ANY(%s)", (bot, list(numbers)))


async def find_homes_with_mail(connection: AsyncConnection, homes: Collection[int]) -> set[int]:
    """Return which of some homes have mail."""
    found = await connection.execute(
        "SELECT home FROM unnest(%s::bigint[]) AS wanted (home) "
        "WHERE EXISTS (SELECT 1 FROM kenobot.mail WHERE mail.home = wanted.home)",
        (list(homes),),
    )
    return {home for (home,) in await found.fetchall()}


async def load_bots(connection: AsyncConnection) -> list[Bot]:
    """Return every bot of the host."""
    found = await connection.execute(_BOTS + " ORDER BY bot")
    return [Bot(*row) for row in await found.fetchall()]


async def load_bot(connection: AsyncConnection, account: str) -> Bot | None:
    """Return a bot by its account."""
    found = await connection.execute(_BOT, (account,))
    row = await found.fetchone()
    return Bot(*row) if row else None


def load_tokens(connection: Connection) -> list[tuple[str, str]]:
    """Return the tokens of all bots as they are stored, by account."""
    return connection.execute("SELECT bot, token FROM kenobot.bot ORDER BY bot").fetchall()


async def set_username(connection: AsyncConnection, account: str, username: str) -> None:
    """Note the name that a bot has on its platform."""
    await connection.execute("UPDATE kenobot.bot SET username = %s WHERE bot = %s", (username, account))


async def take_pace(connection: AsyncConnection, bot: str, seconds: float) -> float:
    """Take a bot's next place among its messages; return in how many seconds it comes.

    seconds: between two messages of the bot, whichever worker sends them.
    """
    await connection.execute("SET LOCAL synchronous_commit = off")
    found = await connection.execute(
        "INSERT INTO kenobot.pace (bot, free_at) VALUES (%(bot)s, clock_timestamp() + %(step)s * interval '1 s') "
        "ON CONFLICT (bot) DO UPDATE SET "
        "free_at = greatest(pace.free_at, clock_timestamp()) + %(step)s * interval '1 s' "
        "RETURNING extract(epoch FROM free_at - clock_timestamp()) - %(step)s",
        {"bot": bot, "step": seconds},
    )
    row = await found.fetchone()
    return max(0.0, float(row[0])) if row else 0.0


async def find_bot_of(connection: AsyncConnection, home: int) -> Bot | None:
    """Return the bot that speaks for a home: whose chats it has, or that sends it the rest."""
    found = await connection.execute(_BOT_OF, {"home": home})
    row = await found.fetchone()
    return Bot(*row) if row else None


async def find_home_number(connection: AsyncConnection, name: str) -> int | None:
    """Return the number of a home by its name; None where there is none, or it moves. It stays until the end."""
    found = await connection.execute("SELECT home FROM kenobot.home WHERE name = %s AND is_here FOR KEY SHARE", (name,))
    row = await found.fetchone()
    return int(row[0]) if row else None


async def set_bot(connection: AsyncConnection, bot: Bot) -> None:
    """Add a bot, or change it. The home of its other chats stays where the bot names none."""
    await connection.execute(
        "INSERT INTO kenobot.bot (bot, token, base_url, intake, home) VALUES (%s, %s, %s, %s, %s) "
        "ON CONFLICT (bot) DO UPDATE SET token = excluded.token, base_url = excluded.base_url, "
        "intake = excluded.intake, home = coalesce(excluded.home, bot.home)",
        (bot.account, bot.token, bot.base_url, bot.intake, bot.home),
    )


async def set_routes(connection: AsyncConnection, bot: str, home: int, chats: Collection[str]) -> None:
    """Route chats of a bot to a home."""
    for chat in chats:
        await connection.execute(
            "INSERT INTO kenobot.route (bot, chat, home) VALUES (%s, %s, %s) "
            "ON CONFLICT (bot, chat) DO UPDATE SET home = excluded.home",
            (bot, chat, home),
        )


async def delete_bot(connection: AsyncConnection, account: str) -> bool:
    """Delete a bot with its routes; return whether there was one."""
    done = await connection.execute("DELETE FROM kenobot.bot WHERE bot = %s", (account,))
    return done.rowcount > 0
