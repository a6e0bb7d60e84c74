"""Explanations of replies: the memories behind one, and why something was not remembered."""

from collections.abc import Mapping
from typing import Literal

from kenobot.ports.frozen import dataclass
from kenobot.ports.recall import MatchExplanation, SourceKind
from kenobot.ports.records import Record


@dataclass(frozen=True, slots=True)
class UsedMemory:
    """A memory behind a reply. record: None when it is gone or out of reach.

    where: recalled for the message, shown with an earlier message, or part of the prefix.
    """

    record_id: int
    record: Record | None
    where: Literal["message", "earlier", "frame"]
    reason: MatchExplanation | None = None


@dataclass(frozen=True, slots=True)
class SearchSummary:
    """The search for a message. level, score: of what it found. dropped: how many candidates, by the reason."""

    level: str
    score: float
    dropped: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class ReplyExplanation:
    """A reply, and what its prompt showed of memory: what was recalled for it first. turn: the inbox row.

    search: None where the message was not searched for.
    """

    session: str
    turn: int
    at: str
    question: str
    answer: str
    used_memories: tuple[UsedMemory, ...]
    search: SearchSummary | None = None


AbsenceOutcome = Literal["never_stored", "not_eligible", "not_shown", "unused"]


@dataclass(frozen=True, slots=True)
class FoundItem:
    """A record or a message that matches a text. scope: whose memory it belongs to. session: of a message."""

    kind: SourceKind
    number: int
    text: str
    scope: str
    at: str
    overlap: float
    record: Record | None = None
    session: str = ""
    hidden: bool = False

    @property
    def is_live(self) -> bool:
        """Return whether the record is active, or the message not hidden."""
        return self.record.status == "active" if self.record is not None else not self.hidden


@dataclass(frozen=True, slots=True)
class AbsenceExplanation:
    """Why something was not remembered.

    reason: as filters name it, such as "out of reach", or a status. rank: among its kind for the question, from 1; 0
    for none. looked_at: how many of its kind were ranked. before: what was ranked before it.
    """

    outcome: AbsenceOutcome
    item: FoundItem | None = None
    reason: str = ""
    question: str = ""
    rank: int = 0
    looked_at: int = 0
    before: tuple[str, ...] = ()
