"""Undo a night: each of its decisions that still stands, the newest first."""

from dataclasses import dataclass

from kenobot.cognitive.control import undo
from kenobot.cognitive.control.forget import Actor
from kenobot.cognitive.store import events, sleep_plans
from kenobot.cognitive.store.scopes import ALL_SCOPES
from kenobot.storage.connection import Connection


@dataclass(frozen=True, slots=True)
class UndoConflict:
    """A decision that could not be undone, and why."""

    event: int
    kind: str
    reason: str


@dataclass(frozen=True, slots=True)
class UndoBatch:
    """The outcome for some decisions. undone: events. unchanged: decisions that changed no memory.

    oldest_event: the oldest decision of the batch; 0 when none was left.
    """

    undone: tuple[int, ...]
    conflicts: tuple[UndoConflict, ...]
    unchanged: int
    oldest_event: int


def undo_decisions(connection: Connection, run: int, before: int, limit: int, actor: Actor) -> UndoBatch:
    """Undo the newest `limit` decisions of a night before event `before`, inside a transaction."""
    undone, conflicts, unchanged, last = list[int](), list[UndoConflict](), 0, 0
    for last in sleep_plans.night_decisions(connection, run, before, limit):
        steps = events.decision_events(connection, last)
        if events.undone_by(connection, last) is not None:
            continue
        if not any(step.previous_values or step.kind == "created" for step in steps):
            unchanged += 1
            continue
        try:
            undo.undo(connection, last, ALL_SCOPES, actor)
        except undo.UndoError as error:
            conflicts.append(UndoConflict(last, steps[0].kind, str(error)))
        else:
            undone.append(last)
    return UndoBatch(tuple(undone), tuple(conflicts), unchanged, last)
