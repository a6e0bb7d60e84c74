"""The signals by name and meaning, and the bus as plugins see it.

A signal announces: workers wake on it and observers watch. What must not be lost is in the database before the signal
is sent. Names exist only here.
"""

from collections.abc import Awaitable, Callable, Iterable, Mapping
from datetime import datetime
from typing import Protocol

from kenobot.ports.frozen import dataclass
from kenobot.ports.memory import Candidate, Decision

PayloadValue = str | int | float | bool | None


@dataclass(frozen=True, slots=True)
class Signal:
    """A kind of signal.

    `text_keys` names the payload keys that hold people's words: the audit keeps only their length.
    """

    name: str
    meaning: str
    text_keys: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Envelope:
    """One signal sent: what, with what, from where, because of which message, when."""

    signal: Signal
    payload: Mapping[str, PayloadValue]
    source: str
    trace: str
    at: datetime


Subscriber = Callable[[Envelope], Awaitable[None]]
Middleware = Callable[[Envelope], Awaitable[Envelope | None]]
Unsubscribe = Callable[[], None]


class Signals(Protocol):
    """The signal bus, as plugins and observers see it."""

    def subscribe(self, signals: Signal | Iterable[Signal], receiver: Subscriber) -> Unsubscribe:
        """Call `receiver`, an `async def`, with every envelope of `signals`; `ALL_SIGNALS.values()` for all of them.

        A receiver has a queue and a few seconds a signal: a slow or failing one costs only itself.
        """
        ...

    def add_middleware(self, middleware: Middleware) -> None:
        """Pass every envelope through `middleware`, an `async def` that returns it, a changed one, or None to stop it.

        For `message:in` this happens before the message is stored, so a changed text is what is remembered.
        """
        ...


class NoSignals:
    """A bus on which nothing is sent, for plugins that are built outside a running bot."""

    def subscribe(self, signals: Signal | Iterable[Signal], receiver: Subscriber) -> Unsubscribe:
        return lambda: None

    def add_middleware(self, middleware: Middleware) -> None: ...


_TEXT = frozenset({"text"})

MESSAGE_IN = Signal("message:in", "a message came in", _TEXT)
MESSAGE_OUT = Signal("message:out", "an answer is stored and about to be sent", _TEXT)
MESSAGE_SENT = Signal("message:sent", "a part of an answer was delivered")
MESSAGE_FAILED = Signal("message:failed", "a part of an answer could not be delivered")
MESSAGE_DEFERRED = Signal("message:deferred", "the model is out of reach; the message waits until it is back")
MESSAGE_EXPIRED = Signal("message:expired", "a message waited too long to be answered; the person was told")
MESSAGE_REFUSED = Signal("message:refused", "a message was refused on arrival: a stranger's, or one too many")
MESSAGE_STORE_FAILED = Signal(
    "message:store_failed", "the disk failed; the platform keeps the message until it works again"
)
MESSAGE_QUARANTINED = Signal("message:quarantined", "a message that cannot be read came in and is a dead letter")
MESSAGE_DEAD_LETTERED = Signal("message:dead_lettered", "a message was tried too often and is a dead letter")
THINKING_START = Signal("thinking:start", "a turn began")
THINKING_END = Signal("thinking:end", "a turn ended, well or badly")
TURN_FAILED = Signal("turn:failed", "the person was told that there is no answer")
REPLY_GRADED = Signal("reply:graded", "an answer was graded")
TOOL_RAN = Signal("tool:ran", "a tool that the model called has run, failed, or was refused for safety")
TAG_IGNORED = Signal("tag:ignored", "a tag was ignored, because the message it answers had it too")
PROCESSOR_FAILED = Signal("postprocessor:failed", "a post-processor broke; the reply went out without it")
MEMORY_WRITTEN = Signal("memory:written", "memory stored, changed or refused something", _TEXT)
EXTRACTION_FINISHED = Signal("extraction:finished", "facts were extracted from some turns")
MEMORY_FILES_MISSING = Signal(
    "memory:files_missing", "memory files vanished at once: written again, or forgotten with what they said"
)
MEMORY_INTAKE_STARTED = Signal("memory:intake_started", "many edited lines or files of memory are being taken in")
MEMORY_INTAKE_FINISHED = Signal("memory:intake_finished", "the edited lines or files are taken in")
MEMORY_REVIVED = Signal("memory:revived", "what was forgotten stands in the files again; the owner is asked about it")
EXTRACTION_DEFERRED = Signal(
    "extraction:deferred", "facts cannot be extracted from turns yet: no model, or no tokens left today"
)
SLEEP_STARTED = Signal("sleep:started", "a night of consolidation began, or goes on where it was cut short")
SLEEP_PHASE = Signal("sleep:phase", "sleep has come to its next phase")
SLEEP_FINISHED = Signal("sleep:finished", "a night is over; `kenobot sleep report` tells what it changed")
COMPACTION_FINISHED = Signal("compaction:finished", "what a conversation no longer shows has been summarized")
APPROVAL_PROPOSED = Signal("approval:proposed", "sleep has made a proposal to the owner")
APPROVAL_APPROVED = Signal("approval:approved", "the owner has approved a proposal, and what it says is done")
CONFIG_CHANGED = Signal("config:changed", "what prompts are made of has changed: memory, context or identity")
BOOTSTRAP_DONE = Signal("bootstrap:done", "the first introductions are over in a chat")
SUBSCRIBER_FAILED = Signal("subscriber:failed", "a receiver of a signal raised or ran out of time")
LINK_REMOVED = Signal(
    "link:removed", "an address was held back from a reply: private memory and foreign text met in that turn"
)
PAIRING_REQUESTED = Signal(
    "pairing:requested", "a stranger was given a code that the owner may approve", frozenset({"name"})
)
PAIRING_CLOSED = Signal("pairing:closed", "a person was let in or put out, or too many wrong codes were tried")
BUDGET_NEAR = Signal("budget:near", "a budget for models is nearly, or wholly, used up; the owner is told")
CHANNEL_DOWN = Signal("channel:down", "a channel stopped with an error and will be started again")
HEALTH_DEGRADED = Signal("health:degraded", "something needs the owner's attention")
HEALTH_CHANGED = Signal("health:changed", "something began to be wrong with the bot, or is well again")
UPDATE_FINISHED = Signal("update:finished", "a new version was taken, or the former one put back; the owner is told")
STARTED = Signal("kenobot:started", "the bot started")
STOPPING = Signal("kenobot:stopping", "the bot is stopping: no new messages, running turns finish")

ALL_SIGNALS: Mapping[str, Signal] = {
    signal.name: signal for signal in tuple(globals().values()) if isinstance(signal, Signal)
}

FORMER_NAMES: Mapping[str, str] = {
    "link:cut": "link:removed",
    "memory:compacted": "compaction:finished",
    "memory:extracted": "extraction:finished",
    "memory:lost": "memory:files_missing",
    "memory:waiting": "extraction:deferred",
    "message:aside": "message:quarantined",
    "message:dead": "message:dead_lettered",
    "message:parked": "message:deferred",
    "message:unstored": "message:store_failed",
    "pairing:asked": "pairing:requested",
    "pairing:ended": "pairing:closed",
    "receiver:failed": "subscriber:failed",
    "tag:inert": "tag:ignored",
}
"""Names that signals had before database version 7, and those they have now."""


def describe_written(candidate: Candidate, decision: Decision) -> dict[str, PayloadValue]:
    """Build the payload of MEMORY_WRITTEN; without the words of what was refused, which may be a secret."""
    return {
        "action": decision.action,
        "reason": decision.reason,
        "record": decision.record,
        "form": candidate.form,
        "scope": candidate.scope,
        "text": "" if decision.action == "refused" else candidate.text,
    }
