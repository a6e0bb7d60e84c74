"""Put together how the bot is, for commands and programs that ask."""

import os
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING

from kenobot import __version__
from kenobot.agent.snapshot import Snapshot, take_snapshot
from kenobot.app.running_channels import ChannelState
from kenobot.app.watch.machine_room import resident_bytes
from kenobot.app.watch.probes import is_failing
from kenobot.cognitive.memory import Nights
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
from kenobot.ledger.limits import amount_text
from kenobot.ports.channel import ReportsLiveness, find_last_heard
from kenobot.storage import turn_stats
from kenobot.storage.connection import Connection

if TYPE_CHECKING:
    from kenobot.app.app import App

_CHATS = 50
_MEGA = 1_000_000


async def build_status(app: "App", states: Sequence[ChannelState]) -> StatusReport:
    """Build the report. Raises StoreError."""
    now = app.clock.now()
    limits, day = app.ledger.limits, local_day(now, app.zone)

    def read(connection: Connection) -> tuple[Snapshot, dict[str, str]]:
        return take_snapshot(connection, now, limits, day), turn_stats.last_answers(connection, _CHATS)

    snapshot, answers = await app.database.read(read)
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
        causes=tuple(CauseRow(**cause.encode()) for cause in causes),
        chats=_chats(app, answers),
        queues=_queues(snapshot, now),
        background=_report_background(app, snapshot, now),
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
            for limit, spent in snapshot.used_up
        ),
        last_turn=_last_turn(snapshot.last_turn),
        memory_mb=None if taken is None else round(taken / _MEGA, 1),
    )


async def build_frame(app: "App", states: Sequence[ChannelState], stacks: str) -> Status:
    """Build what the socket answers. stacks: the file in which these stand. Raises StoreError."""
    return Status(report=await build_status(app, states), stacks=stacks)


def _chats(app: "App", answers: Mapping[str, str]) -> tuple[ChatRow, ...]:
    """List the chats with messages, then those that were answered last. answers: when each was."""
    rows = [
        ChatRow(
            session=each.session,
            state=each.state,
            since=_moment(each.since),
            waiting=each.waiting,
            last_answer=answers.get(each.session, ""),
        )
        for each in app.loop.activity()
    ]
    busy = {row.session for row in rows}
    rows += [
        ChatRow(session=session, state="idle", last_answer=at) for session, at in answers.items() if session not in busy
    ]
    return tuple(rows[:_CHATS])


def _queues(snapshot: Snapshot, now: datetime) -> QueueStatus:
    return QueueStatus(
        waiting=snapshot.mail.waiting,
        oldest_waiting=_age(snapshot.ages.unanswered, now),
        undelivered=snapshot.mail.undelivered,
        oldest_undelivered=_age(snapshot.undelivered_since, now),
        dead=snapshot.mail.dead,
    )


def _report_background(app: "App", snapshot: Snapshot, now: datetime) -> BackgroundStatus:
    settings = app.settings.sleep
    following = Nights.next_time(settings, snapshot.last_night, now, str(app.zone))
    working = ["sleep"] if snapshot.is_night else []
    if not app.embedding.idle:
        working.append("vectors")
    if not app.indexer.idle:
        working.append("index")
    if app.watch is not None:
        working += [name for name, worker in app.background.workers if not worker.idle]
    return BackgroundStatus(
        working=tuple(working),
        last_night=_moment(snapshot.last_night),
        next_night=_moment(following),
        last_backup=_moment(None if app.watch is None else app.watch.newest_backup),
    )


def _channel(app: "App", state: ChannelState) -> ChannelStatus:
    channel, silent = app.channels.get(state.name), None
    if (
        state.state == "serving"
        and isinstance(channel, ReportsLiveness)
        and (heard := find_last_heard(channel)) is not None
    ):
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
