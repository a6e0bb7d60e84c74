"""One turn as a step function over data: what happened → what to do next. No I/O, no clock, no tasks.

    Begun ─▶ BuildContext ─▶ AskModel ─▶ Process ─▶ Commit ─▶ done
      │            ▲           │  ▲         │          │ ▲
      │ a command  │ too long  ▼  │         ▼          ▼ │
      ├▶ Obey      └────────  Wait         Wait       Wait
      │ too old                │ nobody answers
      ├▶ Apologise             ├▶ Park: asked again when the model is back
      │ too many attempts      └▶ Probe: is it the model, or this message?
      └▶ Bury
Whatever goes wrong ends in exactly one of: committed, the person told, buried with a reason and the person told; or
parked, and then it goes on from the beginning.
"""

from dataclasses import dataclass, field, replace
from random import Random
from typing import Literal

from kenobot.core.i18n import Sentence
from kenobot.core.retry import RetryPolicy, delay
from kenobot.ports.errors import Fenced, PromptTooLong, Rejected, RemoteError, StoreError
from kenobot.ports.provider import Reply

_SHORTAGE = 12  # failures in a row for want of memory, some five minutes; then it may be the message that needs so much
_BURIALS = 3  # then the message stays claimed, and the next sweep tries again
_PARKS_BEFORE_PROBE = 3

Stage = Literal["claim", "order", "context", "model", "probe", "process", "commit", "ending", "done"]


# ── what happened ────────────────────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True, slots=True)
class Begun:
    """The message was claimed for the `attempt`-th time.

    saved: a reply already paid for. age: seconds since it was sent. order: it is a command for the core itself.
    """

    attempt: int
    saved: Reply | None = None
    age: float = 0.0
    order: bool = False


@dataclass(frozen=True, slots=True)
class ContextBuilt:
    pass


@dataclass(frozen=True, slots=True)
class Replied:
    reply: Reply


@dataclass(frozen=True, slots=True)
class Processed:
    pass


@dataclass(frozen=True, slots=True)
class Committed:
    pass


@dataclass(frozen=True, slots=True)
class Waited:
    pass


@dataclass(frozen=True, slots=True)
class Probed:
    """Whether the model answers a harmless question."""

    alive: bool


@dataclass(frozen=True, slots=True)
class Failed:
    """The last thing to do raised. `elapsed`: seconds since this turn first asked a model."""

    error: Exception
    elapsed: float = 0.0


Happening = Begun | ContextBuilt | Replied | Processed | Committed | Waited | Probed | Failed


# ── what to do ───────────────────────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True, slots=True)
class Claim:
    pass


@dataclass(frozen=True, slots=True)
class Obey:
    """Carry out a command, and answer it."""


@dataclass(frozen=True, slots=True)
class BuildContext:
    """Assemble the prompt; `narrow`: a much smaller one than usual."""

    narrow: bool = False


@dataclass(frozen=True, slots=True)
class AskModel:
    """Ask provider number `level`; 0 is the preferred one."""

    level: int = 0


@dataclass(frozen=True, slots=True)
class Probe:
    """Ask the model something harmless."""


@dataclass(frozen=True, slots=True)
class Process:
    """Run the post-processors over `reply`; `fresh` when it still has to be checkpointed."""

    reply: Reply
    fresh: bool


@dataclass(frozen=True, slots=True)
class Commit:
    pass


@dataclass(frozen=True, slots=True)
class Apologise:
    """Tell the person in one sentence that there is no answer, and be done."""

    sentence: Sentence
    reason: str
    end: Literal["failed", "expired"] = "failed"


@dataclass(frozen=True, slots=True)
class Park:
    """Keep the message for when the model is back, and once ask the person for patience."""

    reason: str


@dataclass(frozen=True, slots=True)
class Bury:
    """Move the message to the dead-letter box, and tell the person."""

    reason: str


@dataclass(frozen=True, slots=True)
class Wait:
    seconds: float


@dataclass(frozen=True, slots=True)
class Stop:
    """Nothing more to do."""


Ending = Apologise | Bury | Park
Effect = Claim | Obey | BuildContext | AskModel | Probe | Process | Commit | Wait | Stop | Ending


@dataclass(frozen=True, slots=True)
class Turn:
    """Where a turn stands. `asked`: calls of the present provider so far. `stuck`: failures in a row of this stage.

    parks: how often this message was parked before. level: the provider that is asked. hope: one of them failed in a
    way that may pass. suspect: the model answers other questions, so it may be this message. narrow: the prompt had to
    be cut. burials: how many endings failed for another reason than our disk.
    """

    parks: int = 0
    stage: Stage = "claim"
    attempt: int = 0
    level: int = 0
    asked: int = 0
    hope: bool = False
    suspect: bool = False
    narrow: bool = False
    stuck: int = 0
    burials: int = 0
    reply: Reply | None = None
    fresh: bool = True
    ending: Ending | None = None

    @property
    def parked(self) -> bool:
        """Whether it ended for now, and the message has to be taken up again."""
        return self.stage == "done" and isinstance(self.ending, Park)


@dataclass(frozen=True, slots=True)
class TurnPolicy:
    """attempts: claims of one message before it is buried. longest_pause: seconds between tries of our own disk.

    expire: seconds after which a message is too old to be answered. providers: how many there are to ask.
    """

    attempts: int = 5
    retry: RetryPolicy = field(default_factory=RetryPolicy)
    longest_pause: float = 30.0
    expire: float = 172_800.0
    providers: int = 1


def step(turn: Turn, happening: Happening, policy: TurnPolicy, jitter: Random | None = None) -> tuple[Turn, Effect]:
    """The next state of `turn` and the one thing to do now. `jitter` spreads the pauses between calls of the model."""
    match happening:
        case Begun():
            return _begun(replace(turn, attempt=happening.attempt, stuck=0), happening, policy)
        case ContextBuilt() if turn.reply is not None:
            return replace(turn, stage="process"), Process(turn.reply, turn.fresh)
        case ContextBuilt():
            return _ask(turn)
        case Replied(reply):
            return replace(turn, stage="process", reply=reply), Process(reply, True)
        case Processed():
            return replace(turn, stage="commit", stuck=0), Commit()
        case Committed():
            return replace(turn, stage="done"), Stop()
        case Waited():
            return _again(turn)
        case Probed(True):
            return _ask(replace(turn, ending=None, suspect=True, level=0, asked=0))
        case Probed():
            return _end(turn, turn.ending or Park(""))
        case Failed():
            return _failed(turn, happening, policy, jitter)


def _begun(turn: Turn, begun: Begun, policy: TurnPolicy) -> tuple[Turn, Effect]:
    if turn.attempt > policy.attempts:
        return _end(turn, Bury(f"{policy.attempts} attempts failed"))
    if begun.order:
        return replace(turn, stage="order"), Obey()
    if begun.saved is not None:
        turn = replace(turn, reply=begun.saved, fresh=False)
    elif begun.age > policy.expire:
        return _end(turn, Apologise("expired", f"it was {begun.age / 3600:.0f} hours old", "expired"))
    return replace(turn, stage="context"), BuildContext(turn.narrow)


def _ask(turn: Turn) -> tuple[Turn, Effect]:
    return replace(turn, stage="model", asked=turn.asked + 1), AskModel(turn.level)


def _again(turn: Turn) -> tuple[Turn, Effect]:
    """After a pause: the same stage once more."""
    if turn.ending is not None:
        return turn, turn.ending
    if turn.stage == "model":
        return _ask(turn)
    if turn.stage == "context":
        return turn, BuildContext(turn.narrow)
    if turn.stage == "order":
        return turn, Obey()
    if turn.stage == "commit":
        return turn, Commit()
    return replace(turn, stage="claim"), Claim()


def _failed(turn: Turn, failed: Failed, policy: TurnPolicy, jitter: Random | None) -> tuple[Turn, Effect]:
    error = failed.error
    if isinstance(error, Fenced):
        return replace(turn, stage="done", ending=None), Stop()
    if turn.stage == "model" and isinstance(error, RemoteError):
        return _unanswered(turn, error, failed.elapsed, policy, jitter)
    stuck = replace(turn, stuck=turn.stuck + 1)
    pause = min(policy.longest_pause, 2.0 ** min(turn.stuck, 10))
    if isinstance(error, StoreError) or (isinstance(error, MemoryError) and turn.stuck < _SHORTAGE):
        return stuck, Wait(pause)  # our own machine's trouble, not this message's
    if isinstance(turn.ending, Bury):
        stuck = replace(stuck, burials=turn.burials + 1)
        return (stuck, Wait(pause)) if stuck.burials <= _BURIALS else (replace(stuck, stage="done"), Stop())
    if turn.ending is not None or turn.attempt >= policy.attempts:
        return _end(turn, Bury(_reason(error)))
    return replace(stuck, stage="claim", reply=None if turn.fresh else turn.reply), Wait(pause)


def _unanswered(
    turn: Turn, error: RemoteError, elapsed: float, policy: TurnPolicy, jitter: Random | None
) -> tuple[Turn, Effect]:
    """A model did not answer: the same again, with less to read, somebody else, or later."""
    if isinstance(error, PromptTooLong) and not turn.narrow:
        return replace(turn, stage="context", narrow=True), BuildContext(narrow=True)
    turn = replace(turn, hope=turn.hope or not isinstance(error, Rejected))
    pause = delay(turn.asked, error, policy.retry, jitter, elapsed)
    if pause is not None:
        return turn, Wait(pause)
    if turn.level + 1 < policy.providers:
        return _ask(replace(turn, level=turn.level + 1, asked=0))
    if not turn.hope:
        return _end(turn, Apologise("rejected", _reason(error)))
    if turn.suspect:
        return _end(turn, Bury(f"the model answers others, but not this: {_reason(error)}"))
    if turn.parks < _PARKS_BEFORE_PROBE:
        return _end(turn, Park(_reason(error)))
    return replace(turn, stage="probe", ending=Park(_reason(error))), Probe()


def _end(turn: Turn, ending: Ending) -> tuple[Turn, Effect]:
    return replace(turn, stage="ending", ending=ending, stuck=0), ending


def _reason(error: Exception) -> str:
    return f"{type(error).__name__}: {error}"
