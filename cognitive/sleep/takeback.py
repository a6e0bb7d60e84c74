"""Takes a night back: each of its decisions that still stands, the newest first."""

from dataclasses import dataclass

from kenobot.cognitive.control import undo
from kenobot.cognitive.control.forget import Deed
from kenobot.cognitive.store import history, sleep_plans
from kenobot.cognitive.store.scopes import WHOLE_HOME
from kenobot.storage.connection import Connection


@dataclass(frozen=True, slots=True)
class Kept:
    """A decision that could not be taken back, and why."""

    event: int
    kind: str
    why: str


@dataclass(frozen=True, slots=True)
class TakenBack:
    """What became of some decisions. undone: events that were undone. unchanged: decisions that changed no memory.

    last: the oldest decision that was looked at; 0 when none was left.
    """

    undone: tuple[int, ...]
    kept: tuple[Kept, ...]
    unchanged: int
    last: int


def some(connection: Connection, run: int, before: int, limit: int, deed: Deed) -> TakenBack:
    """Take back the newest `limit` decisions of a night before event `before`, inside a transaction.

    What is undone already is left alone.
    """
    undone, kept, unchanged, last = list[int](), list[Kept](), 0, 0
    for last in sleep_plans.decided(connection, run, before, limit):
        happenings = history.decision(connection, last)
        if history.undone_by(connection, last) is not None:
            continue
        if not any(each.was or each.kind == "created" for each in happenings):
            unchanged += 1
            continue
        try:
            undo.undo(connection, last, WHOLE_HOME, deed)
        except undo.CannotUndo as error:
            kept.append(Kept(last, happenings[0].kind, str(error)))
        else:
            undone.append(last)
    return TakenBack(tuple(undone), tuple(kept), unchanged, last)
