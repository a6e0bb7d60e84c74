"""One turn as a step function over data: what happened → what to do next. No I/O, no clock, no tasks.

    Begun ─▶ BuildContext ─▶ AskModel ─▶ Process ─▶ Commit ─▶ done
      │                        │  ▲         │          │ ▲
      │ too many attempts      ▼  │         ▼          ▼ │
      └▶ Bury                 Wait        Wait        Wait
Whatever goes wrong ends in exactly one of: committed, the person told, or buried with a reason and the person told.
"""

from dataclasses import dataclass, field, replace
from random import Random
from typing import Literal

from kenobot.errors import Fenced, Rejected, RemoteError, StoreError
from kenobot.language import Sentence
from kenobot.ports import Reply
from kenobot.retry import RetryPolicy, delay

_BURIALS = 3  # then the message stays claimed, and the next start tries again

Stage = Literal["claim", "context", "model", "process", "commit", "apology", "burial", "done"]


# ── what happened ────────────────────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True, slots=True)
class Begun:
    """The message was claimed for the `attempt`-th time; `saved` is a reply already paid for."""

    attempt: int
    saved: Reply | None = None


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
class Failed:
    """The last thing to do raised."""

    error: Exception


Happening = Begun | ContextBuilt | Replied | Processed | Committed | Waited | Failed


# ── what to do ───────────────────────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True, slots=True)
class Claim:
    pass


@dataclass(frozen=True, slots=True)
class BuildContext:
    pass


@dataclass(frozen=True, slots=True)
class AskModel:
    pass


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
    """Tell the person in one sentence, keep their message in the history, and be done."""

    sentence: Sentence
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


Effect = Claim | BuildContext | AskModel | Process | Commit | Apologise | Bury | Wait | Stop


@dataclass(frozen=True, slots=True)
class Turn:
    """Where a turn stands. `asked`: calls of the model so far. `stuck`: failures in a row of the present stage.

    burials: how many failed for another reason than our disk.
    """

    stage: Stage = "claim"
    attempt: int = 0
    asked: int = 0
    stuck: int = 0
    burials: int = 0
    reply: Reply | None = None
    fresh: bool = True
    ending: Apologise | Bury | None = None


@dataclass(frozen=True, slots=True)
class TurnPolicy:
    """attempts: claims of one message before it is buried. longest_pause: seconds between tries of our own disk."""

    attempts: int = 5
    retry: RetryPolicy = field(default_factory=RetryPolicy)
    longest_pause: float = 30.0


def step(turn: Turn, happening: Happening, policy: TurnPolicy, jitter: Random | None = None) -> tuple[Turn, Effect]:
    """The next state of `turn` and the one thing to do now. `jitter` spreads the pauses between calls of the model."""
    match happening:
        case Begun(attempt, saved):
            if attempt > policy.attempts:
                return _end(replace(turn, attempt=attempt), Bury(f"{policy.attempts} attempts failed"))
            following = replace(turn, stage="context", attempt=attempt, stuck=0)
            if saved is not None:
                following = replace(following, reply=saved, fresh=False)
            return following, BuildContext()
        case ContextBuilt() if turn.reply is not None:
            return replace(turn, stage="process"), Process(turn.reply, turn.fresh)
        case ContextBuilt():
            return replace(turn, stage="model", asked=turn.asked + 1), AskModel()
        case Replied(reply):
            return replace(turn, stage="process", reply=reply), Process(reply, True)
        case Processed():
            return replace(turn, stage="commit", stuck=0), Commit()
        case Committed():
            return replace(turn, stage="done"), Stop()
        case Waited():
            return _again(turn)
        case Failed(error):
            return _failed(turn, error, policy, jitter)


def _again(turn: Turn) -> tuple[Turn, Effect]:
    """After a pause: the same stage once more."""
    if turn.ending is not None:
        return turn, turn.ending
    if turn.stage == "model":
        return replace(turn, asked=turn.asked + 1), AskModel()
    if turn.stage == "context":
        return turn, BuildContext()
    if turn.stage == "commit":
        return turn, Commit()
    return replace(turn, stage="claim"), Claim()


def _failed(turn: Turn, error: Exception, policy: TurnPolicy, jitter: Random | None) -> tuple[Turn, Effect]:
    if isinstance(error, Fenced):
        return replace(turn, stage="done"), Stop()
    if turn.stage == "model" and isinstance(error, RemoteError):
        pause = delay(turn.asked, error, policy.retry, jitter)
        if pause is not None:
            return turn, Wait(pause)
        sentence: Sentence = "rejected" if isinstance(error, Rejected) else "patience"
        return _end(turn, Apologise(sentence, f"{type(error).__name__}: {error}"))
    stuck = replace(turn, stuck=turn.stuck + 1)
    pause = min(policy.longest_pause, 2.0 ** min(turn.stuck, 10))
    if isinstance(error, StoreError):
        return stuck, Wait(pause)
    if turn.stage == "burial":
        stuck = replace(stuck, burials=turn.burials + 1)
        return (stuck, Wait(pause)) if stuck.burials <= _BURIALS else (replace(stuck, stage="done"), Stop())
    if turn.ending is not None or turn.attempt >= policy.attempts:
        return _end(turn, Bury(f"{type(error).__name__}: {error}"))
    return replace(stuck, stage="claim", reply=None if turn.fresh else turn.reply), Wait(pause)


def _end(turn: Turn, ending: Apologise | Bury) -> tuple[Turn, Effect]:
    stage: Stage = "apology" if isinstance(ending, Apologise) else "burial"
    return replace(turn, stage=stage, ending=ending, stuck=0), ending
