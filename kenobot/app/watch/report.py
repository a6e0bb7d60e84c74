"""Put together how the bot is, for commands and programs that ask."""

import os
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from kenobot import __version__
from kenobot.agent.background.sleep import next_sleep_time
from kenobot.agent.ledger.limits import Limit, amount_text, find_used_up
from kenobot.app.running_channels import ChannelState
from kenobot.app.watch.machine_room import resident_bytes
from kenobot.app.watch.probes import is_failing
from kenobot.app.wiring import sleep_policy
from kenobot.cognitive.sleep import run_rows
from kenobot.cognitive.store import sleep_plans
from kenobot.core.frames import Status
from kenobot.core.status_report import (
    BackgroundStatus,
    BudgetStatus,
    CauseRow,
    ChannelStatus,
    ChatRow,
    LastTurn,
    ProviderStatus,
    QueueStatus,
    StatusReport,
)
from kenobot.language.calendar import local_day
from kenobot.ports.channel import ReportsLiveness, heard_at
from kenobot.storage import mail_counts, queue_ages, turn_stats
from kenobot.storage.connection import Connection

if TYPE_CHECKING:
    from kenobot.app.app import App

_CHATS = 50
_MEGA = 1_000_000


@dataclass(frozen=True, slots=True)
class _Stored:
    """What the database tells. answers: when each of the last chats was answered."""

    ages: queue_ages.QueueAges
    mail: mail_counts.MailCounts
    answers: dict[str, str]  # bounded: 50 chats; turn
    last_turn: turn_stats.TurnRow | None
    is_night: bool
    last_night: datetime | None
    used_up: list[tuple[Limit, int]]


async def build_status(app: "App", states: Sequence[ChannelState]) -> StatusReport:
    """Build the report. Raises StoreError."""
    now = app.clock.now()
    limits, day = app.ledger.limits, local_day(now, app.zone)
    stored = await app.database.read(lambda connection: _read(connection, now, limits, day))
    watch, taken = app.watch, resident_bytes()
    causes = () if watch is None else watch.causes
    return StatusReport(
        version=__version__,
        process=os.getpid(),
        started=app.started.isoformat(),
        now=now.isoformat(),
        state="healthy" if watch is None else watch.state,
        since=(app.started if watch is None else watch.since).isoformat(),
        looked_at=_moment(None if watch is None else watch.looked_at),
        causes=tuple(CauseRow(**cause.stored()) for cause in causes),
        chats=_chats(app, stored),
        queues=_queues(stored, now),
        background=_background(app, stored, now),
        channels=tuple(_channel(app, each) for each in states if each.state != "off"),
        providers=tuple(
            ProviderStatus(
                name=name, state="failing" if is_failing(circuit) else "answering", unanswered=circuit.unanswered
            )
            for name, circuit in app.circuits()
        ),
        used_up=tuple(
            BudgetStatus(
                when=limit.name(day),
                purpose=limit.purpose,
                spent=amount_text(limit.unit, spent),
                budget=amount_text(limit.unit, limit.amount),
            )
            for limit, spent in stored.used_up
        ),
        last_turn=_last_turn(stored.last_turn),
        memory_mb=None if taken is None else round(taken / _MEGA, 1),
    )


async def build_frame(app: "App", states: Sequence[ChannelState], stacks: str) -> Status:
    """Build what the socket answers. stacks: the file in which these stand. Raises StoreError."""
    return Status(report=await build_status(app, states), stacks=stacks)


def _read(connection: Connection, now: datetime, limits: Sequence[Limit], day: str) -> _Stored:
    return _Stored(
        queue_ages.read(connection, now),
        mail_counts.count_mail(connection, now),
        turn_stats.last_answers(connection, _CHATS),
        turn_stats.last_turn(connection),
        run_rows.last_run(connection, "running") is not None,
        sleep_plans.last_full_night_at(connection),
        find_used_up(connection, limits, day),
    )


def _chats(app: "App", stored: _Stored) -> tuple[ChatRow, ...]:
    """List the chats with messages, then those that were answered last."""
    rows = [
        ChatRow(
            session=each.session,
            state=each.state,
            since=_moment(each.since),
            waiting=each.waiting,
            last_answer=stored.answers.get(each.session, ""),
        )
        for each in app.loop.activity()
    ]
    busy = {row.session for row in rows}
    rows += [
        ChatRow(session=session, state="idle", last_answer=at)
        for session, at in stored.answers.items()
        if session not in busy
    ]
    return tuple(rows[:_CHATS])


def _queues(stored: _Stored, now: datetime) -> QueueStatus:
    ages = stored.ages
    oldest = min((since for since, _ in ages.undelivered.values()), default=None)
    return QueueStatus(
        waiting=ages.unanswered_count,
        oldest_waiting=_age(ages.unanswered, now),
        undelivered=sum(count for _, count in ages.undelivered.values()),
        oldest_undelivered=_age(oldest, now),
        dead=stored.mail.dead,
    )


def _background(app: "App", stored: _Stored, now: datetime) -> BackgroundStatus:
    settings = app.settings.sleep
    following = next_sleep_time(settings, sleep_policy(settings).sleep, stored.last_night, now, str(app.zone))
    working = ["sleep"] if stored.is_night else []
    if not app.embedding.idle:
        working.append("vectors")
    if not app.indexer.idle:
        working.append("index")
    if app.watch is not None:
        working += [name for name, worker in app.background.workers if not worker.idle]
    return BackgroundStatus(
        working=tuple(working),
        last_night=_moment(stored.last_night),
        next_night=_moment(following),
        last_backup=_moment(None if app.watch is None else app.watch.newest_backup),
    )


def _channel(app: "App", state: ChannelState) -> ChannelStatus:
    channel, silent = app.channels.get(state.name), None
    if state.state == "serving" and isinstance(channel, ReportsLiveness) and (heard := heard_at(channel)) is not None:
        silent = round(max(0.0, app.clock.monotonic() - heard), 1)
    return ChannelStatus(name=state.name, state=state.state, reason=state.reason, silent_seconds=silent)


def _last_turn(turn: turn_stats.TurnRow | None) -> LastTurn | None:
    if turn is None:
        return None
    return LastTurn(
        session=turn.session, at=turn.at.isoformat(), model=turn.model, millis=turn.millis, phases=dict(turn.phases)
    )


def _age(since: datetime | None, now: datetime) -> float:
    return 0.0 if since is None else max(0.0, (now - since).total_seconds())


def _moment(at: datetime | None) -> str:
    return "" if at is None else at.isoformat()
