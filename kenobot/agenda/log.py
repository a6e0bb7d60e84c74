"""Find what was done, what happened and what was said on days that are over, in memories and in what people wrote."""

from collections.abc import Iterator, Sequence
from datetime import date, datetime, timedelta
from itertools import chain
from zoneinfo import ZoneInfo

from kenobot.agenda.entry import Entry, in_order
from kenobot.agenda.past_question import days_over, tells_done
from kenobot.agenda.plans import find_told_reminders, memory_entry, moments_of
from kenobot.cognitive.memory import Promises
from kenobot.language.calendar import local_day, local_time
from kenobot.language.dates import DateRange
from kenobot.language.question.agenda import agenda_question
from kenobot.language.sentences import split_sentences
from kenobot.language.statements.sentence_core import asks, read_core
from kenobot.language.told_secrets import find_told_secret
from kenobot.language.words import fold
from kenobot.ports.frozen import dataclass
from kenobot.ports.records import Record
from kenobot.storage import message_rows
from kenobot.storage.connection import Connection
from kenobot.storage.message_rows import MessageRow
from kenobot.storage.times import stamp

_LATER = timedelta(days=31)  # within which people still tell of a day as "last Friday"
_MOST_READ = 2000  # messages and memories of a range of days
_LEAST_WORDS = 2
_ANY_DAY = date(2024, 1, 1)  # where only whether it asks counts
_LONGEST = 240  # characters of what was said


@dataclass(frozen=True, slots=True)
class LogReach:
    """Bounds of a log. scopes: of memory. account: whose messages alone, "" for all in these scopes."""

    scopes: tuple[str, ...]
    account: str
    now: datetime
    zone: ZoneInfo


def find_done(connection: Connection, reach: LogReach, days: DateRange) -> list[Entry]:
    """Find what was planned for these days, what is told of them, and what people wrote of what happened on them.

    Without any of it: what they wrote on these days.
    """
    planned = [memory_entry(record, reach.now, reach.zone) for record in _list_planned(connection, reach, days)]
    known = {entry.record.id for entry in planned if entry.record is not None}
    told = [entry for entry in _iterate_told_memories(connection, reach, days) if _id_of(entry) not in known]
    turns = {turn for each in (*planned, *told) if each.record for turn in each.record.source_message_ids}
    said = _messages(connection, reach, DateRange(days.first, days.last + _LATER))
    done = [entry for row in said if row.inbox_id not in turns for entry in _of_days(row, days, reach.zone)]
    reminders = find_told_reminders(connection, reach.scopes, days, reach.zone)
    return in_order([*planned, *told, *done, *reminders]) or find_told(connection, reach, days)


def find_told(connection: Connection, reach: LogReach, days: DateRange) -> list[Entry]:
    """Find what people wrote on these days, but for mere questions where they wrote anything else."""
    rows = _messages(connection, reach, days)
    found = [entry for row in rows if (entry := _make_entry(row, _telling(row.line.text), reach.zone)) is not None]
    whole = (_make_entry(row, row.line.text, reach.zone) for row in rows)
    return found or [entry for entry in whole if entry is not None]


def find_last_said(connection: Connection, session: str, account: str) -> MessageRow | None:
    """Return the last message of a person in a conversation; None for none. account: theirs, "" for anybody's."""
    for row in message_rows.iterate_messages(connection, session, newest_first=True):
        if row.role == "user" and not row.hidden and (not account or row.sender == account):
            return row
    return None


def _list_planned(connection: Connection, reach: LogReach, days: DateRange) -> list[Record]:
    return Promises.list_planned(connection, days.first.isoformat(), days.last.isoformat(), reach.scopes)


def _iterate_told_memories(connection: Connection, reach: LogReach, days: DateRange) -> Iterator[Entry]:
    """Iterate over the memories that tell of these days, by a day that they name, or told on one of them."""
    later = days.last + _LATER
    lately = Promises.list_told(connection, days.first.isoformat(), later.isoformat(), reach.scopes, limit=_MOST_READ)
    naming: Sequence[Record] = ()
    if days.first == days.last:
        naming = Promises.list_naming(
            connection, days.first.day, after=later.isoformat(), reach=reach.scopes, limit=_MOST_READ
        )
    for record in chain(lately, naming):
        day = _day_of(record.text, _date(record.day), days)
        if day is not None:
            yield memory_entry(record, reach.now, reach.zone, day.isoformat())


def _of_days(row: MessageRow, days: DateRange, zone: ZoneInfo) -> Iterator[Entry]:
    """Iterate over the entry of a message that tells of one of these days."""
    text = _telling(row.line.text)
    said = _date(local_day(datetime.fromisoformat(row.at), zone))
    day = _day_of(text, said, days)
    entry = _make_entry(row, text, zone) if day is not None else None
    if day is not None and entry is not None:
        yield entry if day == said else Entry("message", entry.text, day.isoformat())


def _day_of(text: str, said: date, days: DateRange) -> date | None:
    """Return which of these days a text tells of, as something that has happened; None for none of them."""
    if not tells_done(text):
        return None
    named = days_over(fold(text), said)
    if named:
        return next((max(each.first, days.first) for each in named if _overlap(each, days)), None)
    return said if days.first <= said <= days.last else None


def _overlap(one: DateRange, other: DateRange) -> bool:
    return one.first <= other.last and other.first <= one.last


def _messages(connection: Connection, reach: LogReach, days: DateRange) -> list[MessageRow]:
    begin, end = map(stamp, moments_of(days, reach.zone))
    rows = message_rows.list_said(connection, reach.scopes, begin, end, _MOST_READ)
    return [row for row in rows if not reach.account or row.sender == reach.account]


def _make_entry(row: MessageRow, text: str, zone: ZoneInfo) -> Entry | None:
    """Return what somebody wrote as an entry; None for too little, and for a secret."""
    if len(text.split()) < _LEAST_WORDS or find_told_secret(text) is not None:
        return None
    at = datetime.fromisoformat(row.at)
    return Entry("message", text[:_LONGEST], local_day(at, zone), local_time(at, zone))


def _telling(text: str) -> str:
    """Return the sentences of a text that ask nothing, not even for an agenda without a mark."""
    sentences = (part.strip() for part in split_sentences(text))
    told = (each for each in sentences if each and not asks(each, read_core(each)))
    return " ".join(each for each in told if agenda_question(each, _ANY_DAY) is None)


def _date(day: str) -> date:
    return date.fromisoformat(day[:10])


def _id_of(entry: Entry) -> int | None:
    return entry.record.id if entry.record is not None else None
