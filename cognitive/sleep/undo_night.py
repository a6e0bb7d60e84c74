"""Takes a night back: each of its decisions that still stands, the newest first."""

from dataclasses import dataclass

from kenobot.cognitive.control import undo
from kenobot.cognitive.control.forget import Actor
from kenobot.cognitive.store import events, sleep_plans
from kenobot.cognitive.store.scopes import ALL_SCOPES
from kenobot.storage.connection import Connection


@dataclass(frozen=True, slots=True)
class UndoConflict:
    """A decision that could not be taken back, and why."""

    event: int
    kind: str
    reason: str


@dataclass(frozen=True, slots=True)
class UndoBatch:
    """What became of some decisions. undone: events that were undone. unchanged: decisions that changed no memory.

    oldest_event: the oldest decision that was looked at; 0 when none was left.
    """

    undone: tuple[int, ...]
    conflicts: tuple[UndoConflict, ...]
    unchanged: int
    oldest_event: int


def undo_decisions(connection: Connection, run: int, before: int, limit: int, deed: Actor) -> UndoBatch:
    """Take back the newest `limit` decisions of a night before event `before`, inside a transaction.

    What is undone already is left alone.
    """
    undone, kept, unchanged, last = list[int](), list[UndoConflict](), 0, 0
    for last in sleep_plans.night_decisions(connection, run, before, limit):
        happenings = events.decision_events(connection, last)
        if events.undone_by(connection, last) is not None:
            continue
        if not any(each.previous_values or each.kind == "created" for each in happenings):
            unchanged += 1
            continue
        try:
            undo.undo(connection, last, ALL_SCOPES, deed)
        except undo.UndoError as error:
            kept.append(UndoConflict(last, happenings[0].kind, str(error)))
        else:
            undone.append(last)
    return UndoBatch(tuple(undone), tuple(kept), unchanged, last)
