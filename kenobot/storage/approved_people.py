"""The people whom the owner let in at run time, beside those in the configuration: the table `approved_person`."""

from datetime import datetime

from kenobot.ports.frozen import dataclass
from kenobot.ports.identity import Account
from kenobot.storage.connection import Connection


@dataclass(frozen=True, slots=True)
class ApprovedPerson:
    """An approved guest. since: when, as ISO-8601 text in UTC."""

    channel: str
    user: str
    name: str
    since: str

    @property
    def account(self) -> Account:
        return self.channel, self.user


def list_people(connection: Connection) -> list[ApprovedPerson]:
    """Return all approved people, in the order they were let in."""
    rows = connection.execute("SELECT channel, user, name, since FROM approved_person ORDER BY since, channel, user")
    return [ApprovedPerson(*row) for row in rows]


def approve_person(connection: Connection, channel: str, user: str, name: str, at: datetime) -> ApprovedPerson:
    """Add a person, inside a transaction; who is there already stays as they are."""
    connection.execute(
        "INSERT INTO approved_person (channel, user, name, since) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING",
        (channel, user, name, at.isoformat()),
    )
    return ApprovedPerson(channel, user, name, at.isoformat())


def revoke_person(connection: Connection, channel: str, user: str) -> bool:
    """Make an approved person a stranger again, inside a transaction; False when they were not one."""
    return (
        connection.execute("DELETE FROM approved_person WHERE channel = ? AND user = ?", (channel, user)).rowcount > 0
    )
