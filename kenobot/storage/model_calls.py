"""Store what calls of models used and cost: a row a call, and the sums of each day, written in the same transaction.

Days are the owner's. Costs are integers, in picodollars, so that no sum is rounded.
"""

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Literal, NamedTuple

from kenobot.storage.connection import Connection
from kenobot.storage.database import Database

Grouping = Literal["purpose", "model", "day", "chat"]

_KEEP_DAYS = 30
_LAST = 1000  # calls among which one that was just written is found
_TOKENS = ("input_tokens", "output_tokens", "cache_read_tokens", "cache_write_tokens")
_KEY = ("day", "purpose", "provider", "model", "session")
_FIGURES = ("calls", "unsettled", *_TOKENS, "cost", "unpriced_tokens")
_GROUPS: Mapping[Grouping, str] = {
    "purpose": "purpose",
    "model": "provider || CASE WHEN model = '' THEN '' ELSE ':' || model END",
    "day": "day",
    "chat": "session",
}


class CallRow(NamedTuple):
    """One call. cost: picodollars; None where the price is not known. settled: its figures are final."""

    at: str
    day: str
    purpose: str
    provider: str
    model: str
    session: str
    inbox_id: int
    settled: bool
    input_tokens: int
    output_tokens: int
    cache_read_tokens: int
    cache_write_tokens: int
    cost: int | None


class Spending(NamedTuple):
    """Sum of what calls used. cost: picodollars, of those with a known price; unpriced_tokens: of the others."""

    calls: int = 0
    unsettled: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cache_read_tokens: int = 0
    cache_write_tokens: int = 0
    cost: int = 0
    unpriced_tokens: int = 0

    @property
    def tokens(self) -> int:
        """Return the tokens of all kinds."""
        return self.input_tokens + self.output_tokens + self.cache_read_tokens + self.cache_write_tokens


_COLUMNS = ", ".join(CallRow._fields)
_INSERT = f"INSERT INTO model_call ({_COLUMNS}) VALUES ({', '.join('?' * len(CallRow._fields))})"
_SUM = ", ".join(f"coalesce(sum({name}), 0)" for name in _FIGURES)
_ADD = (
    f"INSERT INTO model_day ({', '.join((*_KEY, *_FIGURES))}) VALUES ({', '.join('?' * len((*_KEY, *_FIGURES)))}) "
    f"ON CONFLICT DO UPDATE SET {', '.join(f'{name} = {name} + excluded.{name}' for name in _FIGURES)}"
)


def add_call(connection: Connection, row: CallRow) -> int:
    """Store a call, inside a transaction; returns its number."""
    number = connection.execute(_INSERT, row).lastrowid
    assert number is not None
    _add(connection, row, 1)
    return number


def replace_call(connection: Connection, number: int, row: CallRow | None) -> None:
    """Put `row` in the place of a reserved call, inside a transaction; None: nothing was used.

    A call that upkeep has dropped meanwhile stays as it was reserved.
    """
    found = connection.execute(f"SELECT {_COLUMNS} FROM model_call WHERE id = ?", (number,)).fetchone()
    if found is None:
        return
    _add(connection, CallRow(*found), -1)
    if row is None:
        connection.execute("DELETE FROM model_call WHERE id = ?", (number,))
    else:
        values = ", ".join(f"{name} = ?" for name in CallRow._fields)
        connection.execute(f"UPDATE model_call SET {values} WHERE id = ?", (*row, number))
        _add(connection, row, 1)
    connection.execute("DELETE FROM model_day WHERE day = ? AND calls = 0 AND provider != ''", (CallRow(*found).day,))


def is_stored(connection: Connection, row: CallRow) -> bool:
    """Return whether a call of this message and moment is among the last ones."""
    sql = f"SELECT 1 FROM model_call WHERE id > (SELECT max(id) FROM model_call) - {_LAST} AND inbox_id = ? AND at = ?"
    return connection.execute(sql, (row.inbox_id, row.at)).fetchone() is not None


def sum_spent_on(connection: Connection, inbox_id: int) -> Spending:
    """Sum what the calls for one message used, those of the last weeks, whose rows are kept."""
    figures = "count(*), coalesce(sum(1 - settled), 0), " + ", ".join(f"coalesce(sum({name}), 0)" for name in _TOKENS)
    unpriced = f"coalesce(sum(CASE WHEN cost IS NULL THEN {' + '.join(_TOKENS)} ELSE 0 END), 0)"
    sql = f"SELECT {figures}, coalesce(sum(cost), 0), {unpriced} FROM model_call WHERE inbox_id = ?"
    return Spending(*connection.execute(sql, (inbox_id,)).fetchone())


def sum_spent_between(connection: Connection, first: str, last: str, purpose: str = "") -> Spending:
    """Sum what was used from the day `first` to the day `last`, for one purpose or, with "", for all."""
    condition, values = ("AND purpose = ?", (first, last, purpose)) if purpose else ("", (first, last))
    sql = f"SELECT {_SUM} FROM model_day WHERE day BETWEEN ? AND ? {condition}"
    return Spending(*connection.execute(sql, values).fetchone())


def spending_by(connection: Connection, group: Grouping, first: str, last: str) -> list[tuple[str, Spending]]:
    """Sum what was used from day `first` to day `last` by group: days in their order, else the dearest first."""
    order = "1" if group == "day" else "sum(cost) DESC, sum(input_tokens + output_tokens) DESC, 1"
    sql = f"SELECT {_GROUPS[group]}, {_SUM} FROM model_day WHERE day BETWEEN ? AND ? GROUP BY 1 ORDER BY {order}"
    return [(name, Spending(*figures)) for name, *figures in connection.execute(sql, (first, last))]


def count_under_way(connection: Connection) -> int:
    """Count the messages that are being answered, or were when a crash came: their calls have no row yet."""
    return int(connection.execute("SELECT count(*) FROM inbox WHERE state = 'claimed'").fetchone()[0])


async def prune(database: Database, now: datetime) -> None:
    """Drop the calls of a month ago; the sums of their days stay."""
    await database.prune("model_call", "at < ?", (now - timedelta(days=_KEEP_DAYS)).isoformat())


def _add(connection: Connection, row: CallRow, sign: int) -> None:
    """Add a call to the sums of its day, or with -1 take it out."""
    tokens = row[8:12]
    unpriced = sum(tokens) if row.cost is None else 0
    figures = (1, int(not row.settled), *tokens, row.cost or 0, unpriced)
    connection.execute(_ADD, (row.day, row.purpose, row.provider, row.model, row.session, *(sign * n for n in figures)))
