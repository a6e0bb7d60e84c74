"""Read since when messages wait for their answer, and answers for being delivered."""

from collections.abc import Mapping
from datetime import datetime

from kenobot.ports.frozen import dataclass
from kenobot.storage.connection import Connection


@dataclass(frozen=True, slots=True)
class QueueAges:
    """unanswered: since when the oldest open message waits; None without any. undelivered: by channel, since when the
    oldest part waits that may go out, and how many do.
    """

    unanswered: datetime | None
    unanswered_count: int
    undelivered: Mapping[str, tuple[datetime, int]]


def read(connection: Connection, now: datetime) -> QueueAges:
    """Read both; what is to go out later does not wait yet."""
    oldest, count = connection.execute(
        "SELECT min(coalesce(retried_at, received_at)), count(*) FROM inbox "
        "WHERE state IN ('pending', 'claimed') AND kind != 'task'"
    ).fetchone()
    rows = connection.execute(
        "SELECT channel, min(max(created_at, not_before)), count(*) FROM outbox "
        "WHERE state = 'pending' AND not_before <= ? GROUP BY channel",
        (now.isoformat(),),
    )
    undelivered = {channel: (datetime.fromisoformat(since), number) for channel, since, number in rows}
    return QueueAges(datetime.fromisoformat(oldest) if oldest else None, count, undelivered)
