"""Nights for tests: a pass planned, carried out and planned again, without the cycle around it."""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

from kenobot.cognitive.sleep import run_rows
from kenobot.cognitive.sleep.apply_change import PassContext, apply_change
from kenobot.cognitive.sleep.plan.changes import Change
from kenobot.cognitive.sleep.plan.passes import NightView, Pass
from kenobot.ports.nights import PHASES
from kenobot.storage.connection import Connection

UTC = ZoneInfo("UTC")


def view(connection: Connection, now: datetime, **given: Any) -> NightView:
    """What a pass sees in a night at `now`; the night before was the day before."""
    held: Mapping[str, Any] = {"zone": UTC, "since": now - timedelta(days=1), **given}
    return NightView(connection, now, **held)


def carry_out(connection: Connection, one: Pass, now: datetime, **given: Any) -> list[Change]:
    """Plan a pass, carry its plan out, and check that it then has nothing left to do. Returns what was done."""
    done = play(connection, (one,), now, **given)
    assert list(one.plan(view(connection, now, **given))) == [], f"{one.name} wants something done a second time"
    return done


def play(connection: Connection, night: Sequence[Pass], now: datetime, **given: Any) -> list[Change]:
    """Plan and carry out one pass after the other. Returns what was done."""
    done: list[Change] = []
    run = run_rows.begin_or_resume(connection, now, "command", PHASES)
    for one in night:
        seen = view(connection, now, **given)
        book = PassContext(run.id, one.name, now, seen.zone, seen.policy)
        done += [change for change in list(one.plan(seen)) if apply_change(connection, change, book) is not None]
    run_rows.finish_run(connection, run.id, now, {})
    return done
