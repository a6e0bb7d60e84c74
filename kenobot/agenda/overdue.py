"""Ask the owner whether a promise is kept whose day has passed: by day, seldom, and not again once they leave it."""

import logging
from collections.abc import Iterator
from datetime import date, datetime, timedelta
from functools import partial
from zoneinfo import ZoneInfo

from kenobot.agenda.say_time import say_day
from kenobot.agenda.zones import zone_in_force
from kenobot.cognitive.memory import Memory, Promises
from kenobot.core import texts
from kenobot.core.redaction import one_line
from kenobot.gateway.bot_messages import BotMessenger, MessageButtons
from kenobot.gateway.buttons import Choice
from kenobot.gateway.owner_alerts import OwnerAlerts, OwnerChat
from kenobot.language.facts.clause_rules import is_duty
from kenobot.ports.clock import Clock
from kenobot.ports.errors import StoreError
from kenobot.ports.frozen import dataclass
from kenobot.ports.identity import OWNER_SCOPE, QUOTED_TRUST, session_id
from kenobot.ports.messages import Outbound
from kenobot.ports.records import Record
from kenobot.storage import approvals, message_rows
from kenobot.storage.approvals import Approval
from kenobot.storage.connection import Connection
from kenobot.storage.database import Database
from kenobot.storage.outbox import Destination
from kenobot.storage.state import read_json, write_json

_log = logging.getLogger(__name__)

KIND = "promise"
"""The kind of these questions among approvals."""

ASKED, LEFT = "asked_whether_done", "left_alone"
"""The kinds of the events that a promise was asked about, and that it is not to be again."""

_WAKING = range(9, 21)  # hours in which it is asked
_MOST_A_DAY, _MOST_TIMES = 2, 3
_AGAIN = timedelta(days=7)
_BETWEEN = timedelta(hours=2)
_OLDEST = timedelta(days=90)
_ANSWER_WITHIN = timedelta(hours=12)
_COUNT = "promise questions of the day"


@dataclass(frozen=True, slots=True)
class _Asked:
    """The questions of a day. last: the moment of the last."""

    day: str
    count: int
    last: str

    def allows(self, day: str, at: datetime) -> bool:
        """Return whether another question may be put."""
        if self.last and at - datetime.fromisoformat(self.last) < _BETWEEN:
            return False
        return self.day != day or self.count < _MOST_A_DAY


class OverdueAsker:
    """Ask about promises that are overdue, in the owner's private chat. zone: of the settings."""

    def __init__(
        self, database: Database, clock: Clock, zone: ZoneInfo, messenger: BotMessenger, alerts: OwnerAlerts
    ) -> None:
        self._database = database
        self._clock = clock
        self._zone = zone
        self._messenger = messenger
        self._alerts = alerts

    async def ask(self) -> None:
        """Ask about one promise, if it is time to. A failure can wait."""
        at = self._clock.now()
        try:
            if await self._database.read(partial(self._next, at=at)) is None:
                return
            parts = await self._database.write(partial(self._put, at=at))
        except StoreError as error:
            _log.warning("promises cannot be asked about now: %s", error)
            return
        self._messenger.dispatch(parts)

    def _next(self, connection: Connection, at: datetime) -> tuple[Record, OwnerChat] | None:
        """Return the promise to ask about now, and where; None for none."""
        zone = zone_in_force(connection, self._zone, at)
        local = at.astimezone(zone)
        if local.hour not in _WAKING or not _load_asked(connection).allows(local.date().isoformat(), at):
            return None
        record = next(_iterate_overdue(connection, local.date(), zone, at), None)
        home = self._alerts.reach_owner(connection, at) if record is not None else None
        if record is None or home is None:
            return None
        is_asked = approvals.find_approval(connection, session_id(home.channel, home.chat), at) is not None
        return None if is_asked else (record, home)

    def _put(self, connection: Connection, at: datetime) -> list[Outbound]:
        found = self._next(connection, at)
        if found is None:
            return []
        record, home = found
        today = at.astimezone(zone_in_force(connection, self._zone, at)).date()
        day, before = today.isoformat(), _load_asked(connection)
        count = before.count + 1 if before.day == day else 1
        write_json(connection, _COUNT, {"day": day, "count": count, "last": at.isoformat()})
        session = session_id(home.channel, home.chat)
        Promises.note(connection, record, ASKED, at, "sleep", session)
        newest = message_rows.newest_message_id(connection, session)
        payload = {"record": record.id, "after": newest}
        approvals.open_approval(connection, Approval(session, home.user, KIND, payload, at + _ANSWER_WITHIN))
        due, language = Promises.due_on(record) or today, home.language
        words = texts.PROMISE_QUESTION(language, what=one_line(record.text), day=say_day(due, language, today))
        choices = tuple(
            Choice(label(language), KIND, f"{word} {record.id}")
            for label, word in (
                (texts.BUTTON_DONE, "done"),
                (texts.BUTTON_NOT_YET, "later"),
                (texts.BUTTON_LEAVE_IT, "leave"),
            )
        )
        buttons = MessageButtons((choices,), home.user, language)
        return self._messenger.enqueue(connection, Destination(home.channel, home.chat), words, buttons)


def _load_asked(connection: Connection) -> _Asked:
    none: dict[str, str | int] = {}
    stored = read_json(connection, _COUNT, none)
    return _Asked(str(stored.get("day", "")), int(stored.get("count", 0)), str(stored.get("last", "")))


def _iterate_overdue(connection: Connection, today: date, zone: ZoneInfo, at: datetime) -> Iterator[Record]:
    """Iterate over the owner's promises to be asked about, the one due last first; what took place is none."""
    for record in reversed(Promises.list_overdue(connection, today.isoformat(), (OWNER_SCOPE,))):
        due = Promises.due_on(record)
        if due is None or today - due > _OLDEST:
            return
        is_open = record.trust not in QUOTED_TRUST and Promises.find_resolution_day(record, today, zone) is None
        if is_open and is_duty(record.text) and _may_ask(connection, record, at):
            yield record


def _may_ask(connection: Connection, record: Record, at: datetime) -> bool:
    happened = Memory.history.list_events(connection, record.id)
    asked = [each for each in happened if each.kind == ASKED]
    if len(asked) >= _MOST_TIMES or any(each.kind == LEFT for each in happened):
        return False
    return not asked or at - datetime.fromisoformat(asked[-1].at) >= _AGAIN
