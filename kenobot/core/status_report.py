"""Report on a running bot for commands and programs. Times are ISO 8601, in UTC."""

from typing import Literal

from pydantic import BaseModel, ConfigDict

from kenobot.core.health import Level, State
from kenobot.core.sentence_text import SentenceText


class _Row(BaseModel):
    # built when used: a bot that starts waits for none of them to be compiled
    model_config = ConfigDict(frozen=True, extra="ignore", defer_build=True)


class CauseRow(_Row):
    """Something that is wrong. values: of the sentence that tells it."""

    check: str
    subject: str
    level: Level
    since: str
    values: dict[str, SentenceText | int] = {}  # bounded: what one sentence tells; turn


class ChatRow(_Row):
    """A chat. since: of a turn under way. waiting: messages without a turn yet. last_answer: "" where none is known."""

    session: str
    state: Literal["idle", "thinking", "waiting", "deferred"]
    since: str = ""
    waiting: int = 0
    last_answer: str = ""


class ChannelStatus(_Row):
    """A channel. silent_seconds: since its platform was heard; None where that is not known."""

    name: str
    state: str
    reason: SentenceText = ""
    silent_seconds: float | None = None


class ProviderStatus(_Row):
    """A provider that answers people. unanswered: calls in a row that came to nothing."""

    name: str
    state: Literal["answering", "failing"]
    unanswered: int = 0


class BudgetStatus(_Row):
    """A budget for models of which nothing is left. when: its day or month. purpose: "" for all. Amounts are texts."""

    when: str
    purpose: str
    spent: str
    budget: str


class QueueStatus(_Row):
    """Queues: messages for an answer, parts for their platform; dead: what was given up. Ages in seconds."""

    waiting: int
    oldest_waiting: float
    undelivered: int
    oldest_undelivered: float
    dead: int


class BackgroundStatus(_Row):
    """The work behind the turns. working: what is under way. Times are "" where there was none, or none is due."""

    working: tuple[str, ...]
    last_night: str
    next_night: str
    last_backup: str


class LastTurn(_Row):
    """The newest answer of a model. millis: from the message to its delivery; None before that. phases: in ms."""

    session: str
    at: str
    model: str
    millis: int | None
    phases: dict[str, int]  # bounded: the phases there are; turn


class StatusReport(_Row):
    """All of it. since: of the state. memory_mb: None where the system does not tell. looked_at: "" before a look."""

    version: str
    process: int
    started: str
    now: str
    state: State
    since: str
    looked_at: str
    causes: tuple[CauseRow, ...]
    chats: tuple[ChatRow, ...]
    queues: QueueStatus
    background: BackgroundStatus
    channels: tuple[ChannelStatus, ...]
    providers: tuple[ProviderStatus, ...]
    used_up: tuple[BudgetStatus, ...] = ()
    last_turn: LastTurn | None
    memory_mb: float | None
