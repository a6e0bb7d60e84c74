"""Rows of standing wishes."""

from collections.abc import Collection
from datetime import datetime

from kenobot.agenda.job import Place
from kenobot.agenda.job_rows import stamp
from kenobot.core.i18n import Language
from kenobot.ports.frozen import dataclass
from kenobot.storage.connection import Connection

_WISH = "id, text, cue, scope, person, channel, chat, language, cooldown_hours, times_left, ends, last_fired"


@dataclass(frozen=True, slots=True)
class Wish:
    """A wish to be told `text` when a message mentions `cue`: so many times more, and until `ends`."""

    id: int
    text: str
    cue: str
    scope: str
    person: str
    channel: str
    chat: str
    language: Language
    cooldown_hours: int
    times_left: int
    ends: str
    last_fired: str


def insert(connection: Connection, text: str, cue: str, place: Place, ends: datetime, at: datetime) -> int:
    """Insert a wish; return its id."""
    cursor = connection.execute(
        "INSERT INTO wish (text, cue, scope, person, channel, chat, language, ends, created) "
        "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (text, cue, place.scope, place.person, place.channel, place.chat, place.language, stamp(ends), stamp(at)),
    )
    assert cursor.lastrowid is not None
    return cursor.lastrowid


def get(connection: Connection, wish: int) -> Wish | None:
    """Return a wish that is not over, by its id."""
    row = connection.execute(f"SELECT {_WISH} FROM wish WHERE id = ? AND state = 'active'", (wish,)).fetchone()
    return Wish(*row) if row is not None else None


def select(connection: Connection, scopes: Collection[str], at: datetime) -> list[Wish]:
    """Return the wishes of these scopes that are not over."""
    marks = ", ".join("?" * len(scopes))
    rows = connection.execute(
        f"SELECT {_WISH} FROM wish WHERE scope IN ({marks}) AND state = 'active' AND ends > ? ORDER BY id",
        (*scopes, stamp(at)),
    )
    return [Wish(*row) for row in rows]


def set_state(connection: Connection, wish: int, state: str) -> None:
    """Set the state of a wish."""
    connection.execute("UPDATE wish SET state = ? WHERE id = ?", (state, wish))


def note_fired(connection: Connection, wish: Wish, at: datetime) -> None:
    """Note that a wish was fulfilled; after the last time it is over."""
    state = "done" if wish.times_left <= 1 else "active"
    connection.execute(
        "UPDATE wish SET last_fired = ?, times_left = times_left - 1, state = ? WHERE id = ?",
        (stamp(at), state, wish.id),
    )
