"""Turns as memory reads them, and the grades of replies."""

from datetime import datetime
from typing import Literal

from kenobot.ports.frozen import dataclass
from kenobot.ports.identity import Trust
from kenobot.ports.names import name_person


@dataclass(frozen=True, slots=True)
class ConversationTurn:
    """A message of a person and the bot's answer.

    last_message: its newest message row, for the cursor. inbox_id: None for an imported turn. scope: of its memories.
    speaker: name in a group. speaker_id: as `label_id` writes it, "" where it is not known. hidden: forgotten or
    erased, so not to be extracted. answer_trust: "tool" for an answer that may tell what a tool brought.
    """

    last_message: int
    inbox_id: int | None
    text: str
    answer: str
    at: datetime
    trust: Trust
    scope: str
    speaker: str = ""
    speaker_id: str = ""
    hidden: bool = False
    answer_trust: Trust = "model"

    @property
    def account(self) -> str:
        """Return what tells its speaker from the others of the chat, as well as is known."""
        return self.speaker_id or self.speaker

    @property
    def label(self) -> str:
        """Return the speaker's name and, where it is known, the id; "" in private."""
        return name_person(self.speaker, self.speaker_id)


@dataclass(frozen=True, slots=True)
class UnextractedTurn:
    """A turn that is not extracted yet, the sentences of it that are meant, and their share of the request's words."""

    turn: ConversationTurn
    text: str
    overlap: float

    @property
    def certain(self) -> bool:
        """Return whether it says all that was asked for."""
        return self.overlap >= 1


Quality = Literal["good", "fair", "poor"]


GradeSignal = Literal[
    "response_too_short",
    "response_shorter_than_expected",
    "excessive_hedging",
    "mild_hedging",
    "high_repetition",
    "unused_memory",
]


@dataclass(frozen=True, slots=True)
class ReplyGrade:
    """A reply's score from 0 to 1, and the signals behind it."""

    quality: Quality
    score: float
    signals: tuple[GradeSignal, ...] = ()


@dataclass(frozen=True, slots=True)
class EditedWords:
    """A message before and after an edit, and its new form as a turn; None where that is not the sender's own word."""

    before: str
    after: str
    turn: ConversationTurn | None
