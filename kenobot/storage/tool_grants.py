"""Store the tool calls that the owner allowed for good."""

from datetime import datetime

from kenobot.ports.frozen import dataclass
from kenobot.storage.connection import Connection


@dataclass(frozen=True, slots=True)
class ToolGrant:
    """A call that needs no further yes. call: the tool's name and its arguments, as the owner was shown them."""

    id: int
    tool: str
    call: str
    account: str
    created: datetime


def add_grant(connection: Connection, tool: str, call: str, account: str, at: datetime) -> None:
    """Allow a call for good; one that is allowed already stays as it is."""
    connection.execute(
        "INSERT INTO tool_grant (tool, call, account, created) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING",
        (tool, call, account, at.isoformat()),
    )


def has_grant(connection: Connection, call: str) -> bool:
    """Return whether a call is allowed for good."""
    return connection.execute("SELECT 1 FROM tool_grant WHERE call = ?", (call,)).fetchone() is not None


def list_grants(connection: Connection) -> list[ToolGrant]:
    """Return the calls that are allowed for good, oldest first."""
    rows = connection.execute("SELECT id, tool, call, account, created FROM tool_grant ORDER BY id")
    return [ToolGrant(number, tool, call, who, datetime.fromisoformat(at)) for number, tool, call, who, at in rows]


def remove_grant(connection: Connection, number: int) -> bool:
    """Withdraw a grant; False where there is none of this number."""
    return connection.execute("DELETE FROM tool_grant WHERE id = ?", (number,)).rowcount == 1
