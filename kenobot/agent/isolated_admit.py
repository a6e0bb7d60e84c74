"""What is taken into memory out of a turn: each piece by itself, and what is announced of it."""

import logging
import sqlite3
from collections.abc import Callable
from typing import TypeVar

from kenobot.cognitive.remember.admit import admit
from kenobot.cognitive.remember.admit_context import AdmitContext
from kenobot.ports.memory import Candidate, Decision
from kenobot.ports.signals import PayloadValue
from kenobot.storage.connection import Connection, savepoint

_log = logging.getLogger(__name__)

T = TypeVar("T")


def in_savepoint(connection: Connection, name: str, work: Callable[[], T], failed: Callable[[Exception], T]) -> T:
    """`work`, whose mistake costs itself and not what else its transaction writes: then what `failed` says of it.

    A failing disk costs the whole transaction: that is raised. name: for the log, in one word.
    """
    try:
        with savepoint(connection, name):
            return work()
    except Exception as error:
        if type(error) in (sqlite3.DatabaseError, sqlite3.OperationalError):  # damaged, or failing
            raise
        _log.exception("a %s could not be taken in", name)
        return failed(error)


def admit_isolated(connection: Connection, candidate: Candidate, occasion: AdmitContext) -> Decision:
    """Let memory decide on one candidate. One that cannot be written is discarded."""
    return in_savepoint(
        connection,
        "memory",
        lambda: admit(connection, candidate, occasion),
        lambda error: Decision("discarded", f"{type(error).__name__}: {error}"),
    )


def memory_written_payload(candidate: Candidate, decision: Decision) -> dict[str, PayloadValue]:
    """What MEMORY_WRITTEN tells of a decision."""
    return {
        "action": decision.action,
        "reason": decision.reason,
        "record": decision.record,
        "form": candidate.form,
        "scope": candidate.scope,
        "text": candidate.text,
    }
