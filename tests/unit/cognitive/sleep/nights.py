"""A night of one pass, in a memory of its own: planned, carried out, planned again."""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from zoneinfo import ZoneInfo

from kenobot.cognitive.remember.admit import admit
from kenobot.cognitive.remember.admit_context import AdmitContext
from kenobot.cognitive.sleep.apply_change import PassContext, apply_change
from kenobot.cognitive.sleep.plan.changes import Change
from kenobot.cognitive.sleep.plan.passes import NightView, Pass
from kenobot.language.calendar import local_day
from kenobot.ports.identity import Trust
from kenobot.ports.memory import Candidate, Form, Source
from kenobot.ports.records import Record
from kenobot.storage.connection import Connection
from kenobot_testing.clock import START
from tests.memory_rows import get

UTC = ZoneInfo("UTC")
THEN = START + timedelta(hours=14)
"""When sleep runs, unless a test says otherwise."""


def view_of(
    connection: Connection, now: datetime = THEN, answers: Mapping[str, str] | None = None, *, asked: bool = False
) -> NightView:
    return NightView(connection, now, UTC, answers=answers or {}, model_available=asked or bool(answers))


def sleep(
    connection: Connection,
    one: Pass,
    now: datetime = THEN,
    answers: Mapping[str, str] | None = None,
    *,
    asked: bool = False,
) -> list[Change]:
    """Run one pass as a night does; its changes. What was carried out is not planned again."""
    view = view_of(connection, now, answers, asked=asked)
    planned = list(one.plan(view))
    for change in planned:
        apply_change(connection, change, PassContext(1, one.name, now, UTC))
    assert list(one.plan(view)) == []
    return planned


def told(changes: Sequence[Change]) -> list[Change]:
    """The changes but for the note of how far a pass has come."""
    return [change for change in changes if change.kind != "judged"]


def tell(
    connection: Connection,
    text: str,
    scope: str = "owner",
    *,
    form: Form = "note",
    trust: Trust = "model",
    source: Source = "tag",
    at: datetime = START,
    evidence: int | None = None,
    category: str = "fact",
) -> Record:
    """Let memory take in what a turn told."""
    candidate = Candidate(form, scope, text, category, source, trust)
    occasion = AdmitContext(at, local_day(at, UTC), "model", evidence=evidence)
    decision = admit(connection, candidate, occasion)
    assert decision.record is not None, decision.reason
    return get(connection, decision.record)
