"""Admit the candidates of a turn one by one: an error costs one candidate, not the transaction."""

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
    """Run `work` in a savepoint; an error is rolled back, logged under `name` and turned into a result by `failed`.

    The error of a failing disk is raised.
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
    """Admit one candidate; one that cannot be written is discarded."""
    return in_savepoint(
        connection,
        "memory",
        lambda: admit(connection, candidate, occasion),
        lambda error: Decision("discarded", f"{type(error).__name__}: {error}"),
    )


def memory_written_payload(candidate: Candidate, decision: Decision) -> dict[str, PayloadValue]:
    """Build the payload of MEMORY_WRITTEN."""
    return {
        "action": decision.action,
        "reason": decision.reason,
        "record": decision.record,
        "form": candidate.form,
        "scope": candidate.scope,
        "text": candidate.text,
    }
