"""The frozen beginning of each chat's prompt, and where the conversation that prompts show began."""

from dataclasses import astuple

from kenobot.ports.frozen import dataclass
from kenobot.storage.connection import Connection
from kenobot.storage.message_rows import newest_message_id
from kenobot.storage.state import read_state, write_state

_BEGUN = "begun:"  # and the session: a key of the table `key_value`
_PREFIX_COLUMNS = (
    "session, scopes, text, day, last_event, last_record, first_message, last_message, omitted, preferences, "
    "known_preferences, later, made_event, made_record"
)


@dataclass(frozen=True, slots=True)
class PromptPrefix:
    """The frozen beginning of a session's prompt; see the table of this name.

    preferences: those that it shows; known_preferences: the same with what was noted since. later: what became known
    before the log began anew, and its summary. made_event, made_record: last_event and last_record when it was made.
    """

    session: str
    scopes: str
    text: str
    day: str
    last_event: int
    last_record: int
    first_message: int
    last_message: int
    omitted: int = 0
    preferences: str = ""
    known_preferences: str = ""
    later: str = ""
    made_event: int = 0
    made_record: int = 0

    @property
    def shown_text(self) -> str:
        """All that it shows of memory."""
        return "\n\n".join(part for part in (self.text, self.later) if part)


def load_prefix(connection: Connection, session: str) -> PromptPrefix | None:
    """Return the session's prompt prefix, if it has one."""
    row = connection.execute(f"SELECT {_PREFIX_COLUMNS} FROM prompt_prefix WHERE session = ?", (session,)).fetchone()
    return PromptPrefix(*row) if row else None


def save_prefix(connection: Connection, frame: PromptPrefix, before: PromptPrefix | None) -> None:
    """Store a session's prompt prefix where it differs from what was stored `before`, inside a transaction."""
    if frame is before:
        return
    if before is not None and frame.text is before.text and frame.last_message == before.last_message:
        connection.execute(
            "UPDATE prompt_prefix SET last_event = ?, last_record = ?, known_preferences = ? WHERE session = ?",
            (frame.last_event, frame.last_record, frame.known_preferences, frame.session),
        )
        return
    connection.execute(
        f"INSERT OR REPLACE INTO prompt_prefix ({_PREFIX_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        astuple(frame),
    )


def begin_anew(connection: Connection, session: str) -> None:
    """End what prompts show of a session's conversation here: its next message is the first one shown."""
    write_state(connection, _BEGUN + session, str(newest_message_id(connection, session)))
    connection.execute("DELETE FROM prompt_prefix WHERE session = ?", (session,))


def find_beginning(connection: Connection, session: str) -> int:
    """Return the message of a session after which its conversation began; 0 for one that never began anew."""
    return int(read_state(connection, _BEGUN + session) or 0)


def is_only_author(connection: Connection, session: str, account: str) -> bool:
    """Return whether, since the conversation of a group began, all that people wrote is certainly this account's."""
    others = connection.execute(
        "SELECT 1 FROM message LEFT JOIN author ON author.inbox_id = message.inbox_id WHERE message.session = ? "
        "AND message.id > ? AND message.role = 'user' AND coalesce(author.account, '') != ? LIMIT 1",
        (session, find_beginning(connection, session), account),
    )
    return others.fetchone() is None
