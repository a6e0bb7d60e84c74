"""Reserve and settle tokens of a daily budget, by the owner's calendar day.

A reservation that a crash leaves behind counts as used.
"""

from kenobot.storage.connection import Connection

JOB = "extraction"


def tokens_spent(connection: Connection, day: str, job: str = JOB) -> int:
    """Tokens used or reserved on that day, for a job."""
    row = connection.execute("SELECT tokens FROM token_usage WHERE day = ? AND job = ?", (day, job)).fetchone()
    return int(row[0]) if row else 0


def reserve_tokens(connection: Connection, day: str, tokens: int, limit: int, job: str = JOB) -> bool:
    """Set `tokens` aside, inside a transaction; False, and nothing is set aside, when the day's `limit` is too near."""
    if tokens_spent(connection, day, job) + tokens > limit:
        return False
    _add(connection, day, tokens, job)
    return True


def settle_tokens(connection: Connection, day: str, reserved: int, used: int, job: str = JOB) -> None:
    """Put what was really used in the place of what was reserved, inside a transaction."""
    _add(connection, day, max(0, used) - reserved, job)


def _add(connection: Connection, day: str, tokens: int, job: str) -> None:
    connection.execute(
        "INSERT INTO token_usage (day, job, tokens) VALUES (?, ?, ?) "
        "ON CONFLICT (day, job) DO UPDATE SET tokens = max(0, tokens + excluded.tokens)",
        (day, job, tokens),
    )
