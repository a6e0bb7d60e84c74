"""How the database is asked for what people look through: by indexes, so that pages stay quick in a large memory."""

import re
from collections.abc import Callable, Iterator
from contextlib import closing
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from kenobot.agenda.plans import find_plans
from kenobot.cognitive.memory import Inspection, Memory
from kenobot.cognitive.store.events import add_event
from kenobot.language.dates import DateRange
from kenobot.language.question.agenda import AgendaQuestion
from kenobot.ports.browsing import Days, RecordFilter
from kenobot.storage import message_rows
from kenobot.storage.connection import Connection, connect
from kenobot.storage.migrate import migrate
from kenobot.storage.scopes import ALL_SCOPES
from tests.cases import each

_TODAY, _UTC = date(2026, 11, 29), ZoneInfo("UTC")
_NOW = datetime(2026, 11, 29, 12, tzinfo=UTC)
_DAYS = Days(_TODAY - timedelta(days=400), _TODAY, _UTC)
_WHOLE = re.compile(r"SCAN (record|event|message|link)\b(?!.*INDEX)")
_NEWEST = 10**15

_records, _history = Memory.records, Memory.history


def _page(**wanted: object) -> Callable[[Connection], object]:
    chosen = RecordFilter(**{"statuses": ("active",), **wanted})  # type: ignore[arg-type]
    return lambda connection: _records.list_page(connection, ALL_SCOPES, chosen, before=_NEWEST, limit=31)


def _changes(*kinds: str, subject: str = "") -> Callable[[Connection], object]:
    return lambda connection: _history.list_happenings(
        connection,
        ALL_SCOPES,
        _DAYS,
        kinds,  # type: ignore[arg-type]
        before=_NEWEST,
        limit=41,
        subject=subject,
    )


def _periods(by: str, subject: str = "") -> Callable[[Connection], object]:
    return lambda connection: _history.count_by_period(
        connection,
        ALL_SCOPES,
        _DAYS,
        by,  # type: ignore[arg-type]
        subject=subject,
    )


def _plans(undated: bool) -> Callable[[Connection], object]:
    asked = AgendaQuestion(DateRange(_TODAY, _TODAY + timedelta(days=6)), undated=undated)
    return lambda connection: find_plans(connection, ALL_SCOPES, asked, _NOW, _UTC)


_ASKED: dict[str, Callable[[Connection], object]] = {
    "a page": _page(),
    "a page of a form": _page(forms=("procedure",)),
    "a page of an origin": _page(source="import"),
    "a page of a person": _page(subject="Ana"),
    "a page of a day": _page(first_day="2026-01-01", last_day="2026-01-01"),
    "a page of a state": _page(statuses=("forgotten",)),
    "a page of all states": _page(statuses=(), source="import", forms=("note",)),
    "counts by form": lambda connection: _records.count_by_form(connection, ALL_SCOPES),
    "counts by form, told only": lambda connection: _records.count_by_form(connection, ALL_SCOPES, told_only=True),
    "facets": lambda connection: _records.count_facets(connection, ALL_SCOPES),
    "subjects": lambda connection: _records.count_subjects(connection, ALL_SCOPES),
    "days": _periods("day"),
    "months of a person": _periods("month", "Ana"),
    "changes": _changes(),
    "changes of a kind": _changes("forgotten"),
    "changes of a person": _changes(subject="Ana"),
    "topics": lambda connection: Inspection.draw_graph(connection, ALL_SCOPES, "topics", 300),
    "topics of a person": lambda connection: Inspection.draw_graph(
        connection, ALL_SCOPES, "topics", 300, subject="Ana"
    ),
    "plans": _plans(undated=False),
    "plans without a day": _plans(undated=True),
    "conversations": lambda connection: message_rows.page_of_conversations(connection, None, _NEWEST, 31),
    "replies of a chat": lambda connection: message_rows.page_of_replies(connection, None, "a-1", _NEWEST, 21),
}


@pytest.fixture
def connection(tmp_path: Path) -> Iterator[Connection]:
    migrate(tmp_path / "kenobot.db", tmp_path)
    with closing(connect(tmp_path / "kenobot.db")) as writer:
        add_event(writer, _NOW, "owner", "created")  # without any, periods are not asked for
    with closing(connect(tmp_path / "kenobot.db", readonly=True)) as found:
        yield found


@each("name, ask", _ASKED.items())
def test_no_list_or_count_reads_a_whole_table(
    name: str, ask: Callable[[Connection], object], connection: Connection
) -> None:
    """What pages ask for is found by an index, or counted by one."""
    said: list[str] = []
    connection.set_trace_callback(said.append)
    ask(connection)
    connection.set_trace_callback(None)
    queries = [sql for sql in said if sql.startswith(("SELECT", "WITH"))]
    assert queries
    steps = [row[3] for sql in queries for row in connection.execute(f"EXPLAIN QUERY PLAN {sql}")]
    assert [step for step in steps if _WHOLE.search(step)] == [], (name, queries)
