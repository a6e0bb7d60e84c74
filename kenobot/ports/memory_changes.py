"""Changes to memory: who makes one, and the results of a forgetting, a purge, an undo and a proposal."""

from collections.abc import Mapping
from datetime import datetime
from pathlib import Path
from typing import Literal

from kenobot.ports.errors import KenobotError
from kenobot.ports.frozen import dataclass
from kenobot.ports.json_value import Json
from kenobot.ports.records import Record

ASKED = "asked"
"""Event of a memory: its owner was asked whether another takes its place."""

NOT_ASKED = "not asked"
"""Event of a memory: the owner was not asked that, because the day had enough questions."""

BOTH_STAND = "both stand"
"""Event of a memory: the owner said no to that question."""


@dataclass(frozen=True, slots=True)
class ForgetResult:
    """Result of a forgetting: the event, the record, its copies, and the turns that told it."""

    event: int
    record: Record
    copies: tuple[Record, ...] = ()
    turns: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class PurgePlan:
    """Rows that a purge would erase, each once. derived: live records that were made of it and may repeat it.

    wordings: every text that goes, the longest first. turns: inbox rows of the turns that told it. resummarized:
    summaries of conversations and weeks that may tell it, with everything that they ever said; they are made anew.
    """

    record: Record
    others: tuple[Record, ...]
    turns: tuple[int, ...]
    wordings: tuple[str, ...]
    derived: tuple[Record, ...]
    resummarized: tuple[Record, ...] = ()

    @property
    def records(self) -> tuple[Record, ...]:
        return (self.record, *self.others)


class UndoError(KenobotError):
    """Something stands in the way; the text says what, and what to do about it."""


@dataclass(frozen=True, slots=True)
class UndoResult:
    """Result of an undo. event: what undoes it again. undone_event: the event that was undone.

    before, after: records.
    """

    event: int
    undone_event: int
    kind: str
    before: tuple[Record, ...]
    after: tuple[Record, ...]


class AmbiguousReference(KenobotError):
    """Reports that a reference names no record, or more than one; the text says which may be meant."""


class CannotDecide(KenobotError):
    """A decision failed; the text says why, and what to do."""


ProposalState = Literal["pending", "approved", "rejected", "undone"]


@dataclass(frozen=True, slots=True)
class Proposal:
    """A proposal as the owner sees it. undo: what approving it overwrote."""

    id: int
    key: str
    run: int | None
    at: str
    kind: str
    title: str
    text: str
    payload: Mapping[str, Json]
    evidence: Mapping[str, Json]
    state: ProposalState
    decided: str | None
    by: str
    undo: Mapping[str, Json]


@dataclass(frozen=True, slots=True)
class ChangeContext:
    """Time, actor, reason and session of a change.

    part_of: the event of the decision that the change belongs to, so that both are undone together.
    """

    at: datetime
    actor: str
    reason: str = ""
    session: str = ""
    part_of: int | None = None


@dataclass(frozen=True, slots=True)
class DecisionContext:
    """Author and time of a decision, and the folders of the identity files and of skills."""

    at: datetime
    by: str
    identity: Path
    skills: Path | None = None

    def change_context(self, reason: str) -> ChangeContext:
        return ChangeContext(self.at, self.by, reason)
