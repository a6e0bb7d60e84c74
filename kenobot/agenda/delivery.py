"""Delivery of reminders: what is due goes into the outbox in the transaction that settles it, so that it leaves once.

What came due while the bot was away is told late and says so; when it is much, or old, as one summary a chat.
"""

import itertools
import logging
import sqlite3
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from functools import partial
from zoneinfo import ZoneInfo

from kenobot.agenda import job_rows, jobs
from kenobot.agenda.job import OWNER_PERSON, Job, JobKind
from kenobot.agenda.recurrence import count_between, instances, latest_instance, to_local, to_utc
from kenobot.agenda.say_time import say_hour, say_moment
from kenobot.agenda.zones import follow_zone, needs_to_follow, zone_in_force
from kenobot.core import texts
from kenobot.core.i18n import Language
from kenobot.core.redaction import one_line
from kenobot.core.worker import BackgroundTask
from kenobot.gateway.access import Access
from kenobot.gateway.bot_messages import BotMessenger, MessageButtons
from kenobot.gateway.buttons import Choice
from kenobot.gateway.owner_alerts import OwnerChat
from kenobot.ports.clock import Clock
from kenobot.ports.errors import KenobotError, StoreError
from kenobot.ports.frozen import dataclass
from kenobot.ports.messages import Outbound
from kenobot.ports.names import sanitize_name
from kenobot.storage.connection import Connection, savepoint
from kenobot.storage.database import Database
from kenobot.storage.outbox import Destination

_log = logging.getLogger(__name__)

POLL_SECONDS = 5.0
_BATCH = 50  # jobs a transaction
_ON_TIME = timedelta(minutes=3)
_LATE = timedelta(hours=1)  # behind which several are told as one
_MORNING = timedelta(hours=4)  # within which the morning word is still one
_STILL_HELPS = timedelta(hours=24)
_MOST_LATE = 3  # a chat, one by one
_MOST_LINES, _LONGEST_LINE = 30, 200
_MOST_COUNTED = 100
_MOST_WALKED = 1000
_SHORTEST = timedelta(minutes=1)  # between two instances of a rule
_LOOK_AGAIN = timedelta(hours=1)  # for an owner who has written nowhere

Compose = Callable[[Connection, Job, datetime], str | None]
"""Words what a job of a kind says at a moment; None for nothing at all."""


@dataclass(frozen=True, slots=True)
class _Telling:
    """An occurrence to be told. covers: how many, with those that nobody heard before it."""

    job: Job
    due: datetime
    occurrence: int
    covers: int


class ReminderDelivery(BackgroundTask):
    """Tell jobs when they are due. `begin` it once; `tick` looks at once, for a clock that is moved by hand.

    zone: of the settings. compose: of kinds whose words are made when they are due. find_home: finds the private chat
    in which the owner wrote last.
    """

    def __init__(
        self,
        database: Database,
        clock: Clock,
        zone: ZoneInfo,
        messenger: BotMessenger,
        access: Access,
        compose: Mapping[JobKind, Compose] | None = None,
        find_home: Callable[[Connection], OwnerChat | None] = lambda _: None,
    ) -> None:
        super().__init__("reminders")
        self._database = database
        self._clock = clock
        self._zone = zone
        self._messenger = messenger
        self._access = access
        self._compose = compose or {}
        self._find_home = find_home
        self.seen: datetime | None = None  # when it looked last

    def begin(self) -> None:
        """Look every few seconds, until `stop`: by a clock that runs on while the machine's is set."""
        self._begin(self._run)

    async def prune(self) -> None:
        """Drop what is over for long. Raises StoreError."""
        await job_rows.prune(self._database, self._clock.now())

    async def _run(self) -> None:
        failed = False
        while True:
            try:
                await self.tick()
                failed = False
            except StoreError as error:
                if not failed:
                    _log.warning("reminders have to wait: %s", error)
                failed = True
            except Exception:
                _log.exception("reminders could not be told")
            await self._clock.sleep(POLL_SECONDS)

    async def tick(self) -> None:
        """Tell what is due. Raises StoreError."""
        now, channels = self._clock.now().replace(microsecond=0), tuple(self._messenger.channels)
        was_set_back, is_due = await self._database.read(partial(self.look, now=now, channels=channels))
        more = was_set_back or is_due
        while more:
            tell = partial(self.tell, now=now, channels=channels, was_set_back=was_set_back)
            parts, more = await self._database.write(tell)
            self._messenger.dispatch(parts)
            was_set_back = False
        self.seen = now

    def look(self, connection: Connection, now: datetime, channels: Sequence[str]) -> tuple[bool, bool]:
        """Return whether the clock was set back, since the last look or before the start, and whether a job is due."""
        before = self.seen if self.seen is not None else job_rows.newest_moment(connection)
        was_set_back = before is not None and now < before - timedelta(seconds=1)
        is_due = needs_to_follow(connection, self._zone, now) or job_rows.is_any_due(connection, now, channels)
        return was_set_back, is_due

    def tell(
        self, connection: Connection, now: datetime, channels: Sequence[str], *, was_set_back: bool
    ) -> tuple[list[Outbound], bool]:
        """Put what is due into the outbox, inside a transaction; return its parts, and whether there may be more."""
        follow_zone(connection, self._zone, now)
        zone = zone_in_force(connection, self._zone, now)
        if was_set_back:
            jobs.rewind(connection, zone, now)
        found = job_rows.due_jobs(connection, now, channels, _BATCH)
        by_chat: dict[tuple[str, str, str], list[_Telling]] = defaultdict(list)
        for job in found:
            if (telling := self._take(connection, job, zone, now)) is not None:
                placed = telling.job
                by_chat[placed.channel, placed.chat, placed.thread].append(telling)
        parts: list[Outbound] = []
        for tellings in by_chat.values():
            alone, together = _split(tellings, now)
            for telling in alone:
                parts += self._tell_one(connection, telling, zone, now)
            if together:
                parts += self._summarize(connection, together, zone, now)
        return parts, len(found) == _BATCH

    def _take(self, connection: Connection, job: Job, zone: ZoneInfo, now: datetime) -> _Telling | None:
        """Settle what is due of a job; return what is to be told of it, None for nothing."""
        try:
            with savepoint(connection):
                if not self._may_hear(job):
                    jobs.pause_job(connection, job, now)
                    return None
                placed = self._place_with_owner(connection, job, now)
                return _settle_due(connection, placed, zone, now) if placed is not None else None
        except (KenobotError, ValueError, sqlite3.IntegrityError) as error:  # such as a zone that is no longer known
            _log.error("reminder %d is paused: %s", job.id, error)
            jobs.pause_job(connection, job, now)
            return None

    def _may_hear(self, job: Job) -> bool:
        """Return whether the person of a job may still talk to the bot where it is told."""
        if job.person == OWNER_PERSON:
            return True
        channel, _, user = job.person.partition(":")
        if job.private:
            return self._access.is_owner(channel, user) or self._access.lets_in(channel, user)
        return self._access.lets_in(channel, user, job.chat) or self._access.lists_chat(channel, job.chat)

    def _place_with_owner(self, connection: Connection, job: Job, now: datetime) -> Job | None:
        """Return a job in a chat of its person's: one that is told to a former owner moves to the owner's last chat.

        None where the owner has written nowhere yet: then it waits, and is told late.
        """
        is_private = job.person == OWNER_PERSON and job.private and job.account
        if not is_private or self._access.is_owner(job.channel, job.account):
            return job
        home = self._find_home(connection)
        if home is None:
            job_rows.update_job(connection, job.id, {"next_due": job_rows.stamp(now + _LOOK_AGAIN)})
            return None
        placed = replace(job, channel=home.channel, chat=home.chat, thread="", account=home.user)
        moved = {"channel": placed.channel, "chat": placed.chat, "thread": placed.thread, "account": placed.account}
        job_rows.update_job(connection, job.id, moved)
        return placed

    def _tell_one(self, connection: Connection, telling: _Telling, zone: ZoneInfo, now: datetime) -> list[Outbound]:
        job = telling.job
        words = self._words(connection, telling, zone, now)
        if not words:
            job_rows.set_occurrence(connection, telling.occurrence, "skipped")
            return []
        is_owners = job.person == OWNER_PERSON
        account = "" if is_owners else job.person.partition(":")[2]
        buttons = MessageButtons(_buttons(job, telling.occurrence), account, job.language, owner=is_owners)
        to = Destination(job.channel, job.chat, f"job-{job.id}-{telling.occurrence}", thread=job.thread)
        parts = self._messenger.enqueue(connection, to, words, buttons if job.kind == "reminder" else None)
        job_rows.note_told(connection, telling.occurrence, parts[-1].id, to.trace, now)
        return parts

    def _words(self, connection: Connection, telling: _Telling, zone: ZoneInfo, now: datetime) -> str | None:
        job, language = telling.job, telling.job.language
        if job.kind != "reminder":
            compose = self._compose.get(job.kind) if now - telling.due < _MORNING else None
            return compose(connection, job, now) if compose is not None else None
        words = texts.REMINDER(language, text=_text_of(job))
        if now - telling.due < _ON_TIME:
            return words
        when = _say_due(telling.due, now, zone, language)
        late = texts.REMINDER_LATE if telling.covers == 1 else texts.REMINDER_LATE_SEVERAL
        return f"{words}\n{late(language, when=when, count=telling.covers)}"

    def _summarize(
        self, connection: Connection, tellings: Sequence[_Telling], zone: ZoneInfo, now: datetime
    ) -> list[Outbound]:
        """Tell what was missed for long as one message."""
        first = tellings[0].job
        lines = []
        for telling in tellings[:_MOST_LINES]:
            when = _say_due(telling.due, now, zone, first.language)
            line = texts.REMINDERS_MISSED_LINE if telling.covers == 1 else texts.REMINDERS_MISSED_LINE_SEVERAL
            lines.append(
                line(
                    first.language,
                    when=when,
                    text=one_line(_text_of(telling.job))[:_LONGEST_LINE],
                    count=telling.covers,
                )
            )
        if left := len(tellings) - len(lines):
            lines.append(texts.REMINDERS_MISSED_MORE(first.language, count=left))
        words = texts.REMINDERS_MISSED(first.language, lines="\n".join(lines))
        to = Destination(first.channel, first.chat, f"job-{first.id}", thread=first.thread)
        parts = self._messenger.enqueue(connection, to, words)
        for telling in tellings:
            job_rows.set_occurrence(connection, telling.occurrence, "missed")
            job_rows.note_told(connection, telling.occurrence, parts[0].id, to.trace, now)
        return parts


def _settle_due(connection: Connection, job: Job, zone: ZoneInfo, now: datetime) -> _Telling:
    """Settle all that is due of a job, as one occurrence, and plan its next."""
    waiting = {each.due: each.id for each in job_rows.waiting_occurrences(connection, job.id) if each.due <= now}
    if job.planned_due is None or job.planned_due > now:
        due, local, covers = max(waiting), None, len(waiting)
    else:
        local, due, covers = _latest_due(connection, job, jobs.zone_of(job, zone), now)
        covers += len(waiting.keys() - {due})
    for moment, number in waiting.items():
        if moment != due:
            job_rows.set_occurrence(connection, number, "missed")
    key = "" if local is None else jobs.instance_key(job, local)
    occurrence = job_rows.put_occurrence(connection, job.id, due, "sent", key, covers)
    if local is None:
        jobs.settle(connection, job, now)
    else:
        jobs.advance(connection, job, local, due, zone, now)
    return _Telling(job, due, occurrence, covers)


def _latest_due(connection: Connection, job: Job, zone: ZoneInfo, now: datetime) -> tuple[datetime, datetime, int]:
    """Return the latest instance of a job that is due, as its local time and moment, and how many it stands for."""
    assert job.planned_due is not None
    planned = local = datetime.fromisoformat(job.planned)
    due = job.planned_due
    if now - due < _SHORTEST:
        return local, due, 1
    found = latest_instance(job.rule, job.start_local, zone, now)
    if found is not None and found[1] > due:
        local, due = found
    if job_rows.is_settled(connection, job.id, due, job_rows.stamp_local(local)):  # before a clock was set back
        local, due = _last_unsettled(connection, job, zone, now)
    return local, due, 1 + count_between(job.rule, job.start_local, zone, planned, local, _MOST_COUNTED)


def _last_unsettled(connection: Connection, job: Job, zone: ZoneInfo, now: datetime) -> tuple[datetime, datetime]:
    """Return the latest instance of a job that is due and was not told; of very many, one of the first."""
    assert job.planned_due is not None
    last = planned, _ = datetime.fromisoformat(job.planned), job.planned_due
    for local in itertools.islice(instances(job.rule, job.start_local, zone, planned), _MOST_WALKED):
        if (due := to_utc(local, zone)) > now:
            break
        if not job_rows.is_settled(connection, job.id, due, job_rows.stamp_local(local)):
            last = local, due
    return last


def _split(tellings: Sequence[_Telling], now: datetime) -> tuple[list[_Telling], list[_Telling]]:
    """Split what is due in a chat into what is told one by one, and what as one summary."""
    old = [each for each in tellings if now - each.due > _LATE and each.job.kind == "reminder"]
    if len(old) <= _MOST_LATE:
        old = [each for each in old if each.job.missed == "summary" or now - each.due > _STILL_HELPS]
    return [each for each in tellings if each not in old], old


def _text_of(job: Job) -> str:
    """Return what a job says, with the name of its person where others read along."""
    return f"{sanitize_name(job.name)}: {job.text}" if job.name else job.text


def _say_due(due: datetime, now: datetime, zone: ZoneInfo, language: Language) -> str:
    """Say when something was due: by its hour alone where that was today."""
    local, today = to_local(due, zone), to_local(now, zone).date()
    return say_hour(local) if local.date() == today else say_moment(local, language, today)


def _buttons(job: Job, occurrence: int) -> tuple[tuple[Choice, ...], ...]:
    language = job.language
    done = Choice(texts.BUTTON_DONE(language), "reminder", f"done {occurrence}")
    later = [
        Choice(label(language), "reminder", f"snooze {occurrence} {span}")
        for label, span in (
            (texts.BUTTON_SNOOZE_MINUTES, "10m"),
            (texts.BUTTON_SNOOZE_HOUR, "1h"),
            (texts.BUTTON_SNOOZE_TOMORROW, "tomorrow"),
        )
    ]
    cancel = Choice(texts.BUTTON_CANCEL_REMINDER(language), "reminder", f"cancel {occurrence}")
    return (done, *later[:2]), (later[2], *((cancel,) if job.rule else ()))
