"""Check the claims of messages, which attempts hold while their turns are under way, and take them back for a purge."""

from kenobot.ports.errors import ClaimWithdrawn, Fenced
from kenobot.storage.connection import Connection


def is_claimed(connection: Connection, message: int, attempt: int) -> bool:
    """Return whether `attempt` is at work on a message."""
    where = "id = ? AND attempts = ? AND state = 'claimed'"
    return connection.execute(f"SELECT 1 FROM inbox WHERE {where}", (message, attempt)).fetchone() is not None


def require_claim(connection: Connection, message: int, attempt: int) -> None:
    """Check, inside the transaction that writes, that `attempt` is at work on a message. Raises Fenced."""
    if not is_claimed(connection, message, attempt):
        raise make_fence(connection, message, attempt)


def make_fence(connection: Connection, message: int, attempt: int) -> Fenced:
    """Make the error of an attempt that no longer holds its claim."""
    row = connection.execute("SELECT state FROM inbox WHERE id = ?", (message,)).fetchone()
    if row == ("pending",):
        return ClaimWithdrawn("database.withdrawn", message=message)
    return Fenced("database.overtaken", attempt=attempt, message=message)


def withdraw_claims(connection: Connection) -> None:
    """Take every claim back, inside the transaction of a purge: no turn under way writes what its prompt still shows.

    The attempt counts: a claim that is made anew has another number, and is not taken for the earlier one.
    """
    connection.execute("UPDATE inbox SET state = 'pending' WHERE state = 'claimed'")
