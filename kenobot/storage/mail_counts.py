"""Count the mail that still has to be worked on, and read what went wrong lately, for a person who asks."""

import json
from datetime import datetime

from kenobot.ports.frozen import dataclass
from kenobot.ports.sentences import unpack
from kenobot.storage.connection import Connection

_PROBLEM = "health:degraded"


@dataclass(frozen=True, slots=True)
class MailCounts:
    """Messages that wait for an answer, parts of answers that wait for their platform, and both that were given up."""

    waiting: int
    undelivered: int
    dead: int


def count_mail(connection: Connection, at: datetime, of: tuple[str, str] | None = None) -> MailCounts:
    """Count the mail, without what is not to go out yet at this time. of: a channel and chat; None for all chats."""
    where_of, values_of = ("", ()) if of is None else (" AND channel = ? AND chat = ?", of)

    def count(table: str, where: str, *values: str) -> int:
        sql = f"SELECT count(*) FROM {table} WHERE {where}{where_of}"
        return int(connection.execute(sql, (*values, *values_of)).fetchone()[0])

    waiting = count("inbox", "state IN ('pending', 'claimed') AND kind != 'task'")
    undelivered = count("outbox", "state = 'pending' AND not_before <= ?", at.isoformat())
    return MailCounts(waiting, undelivered, count("inbox", "state = 'dead'") + count("outbox", "state = 'dead'"))


def find_next_part(connection: Connection, at: datetime) -> datetime | None:
    """Return when the next part that is held back by the hour may go out; None where none is."""
    (moment,) = connection.execute(
        "SELECT min(not_before) FROM outbox WHERE state = 'pending' AND not_before > ? AND not_before LIKE '2%'",
        (at.isoformat(),),
    ).fetchone()
    return datetime.fromisoformat(moment) if moment else None


def problems_since(connection: Connection, since: datetime, limit: int) -> list[str]:
    """Return the problems that were announced since a time, the newest first, each once."""
    rows = connection.execute(
        "SELECT payload FROM signal WHERE name = ? AND at >= ? ORDER BY id DESC LIMIT 200",
        (_PROBLEM, since.isoformat(timespec="microseconds")),
    )
    payloads = (json.loads(payload) for (payload,) in rows)
    reasons = (unpack(payload.get("said")) or unpack(payload.get("reason")) for payload in payloads)
    return list(dict.fromkeys(filter(None, reasons)))[:limit]
