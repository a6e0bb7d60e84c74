"""One turn as a step function over data: an event gives the next state and effect. No I/O, no clock, no tasks.

                            RunTools ◀─ SavePiece
                                   │   │ ▲ cut, or calls tools
                                   ▼   ▼ │
    MessageClaimed ─▶ BuildContext ─▶ AskModel ─▶ ProcessReply ─▶ CommitTurn ─▶ done
      │                    ▲            │  ▲           │             │ ▲
      │ a command          │ too long   ▼  │           ▼             ▼ │
      ├▶ RunCommand        └─────────  Wait          Wait           Wait
      │ too old                         │ no provider answers
      ├▶ ReportFailure                  ├▶ Defer: asked again when the model is back
      │ too many attempts               └▶ ProbeModel: is it the model, or this message?
      └▶ MoveToDeadLetters
An answer comes in pieces: one that was cut is saved and continued, a few times; what is missing then is said. One that
the model refused to give, or in which there is nothing at a second try either, is reported. A reply that calls tools is
saved, the tools are run, and the model is asked again with what came of it: a round. When the rounds are used up, it is
told so once.
A turn whose claim was withdrawn, because something was purged, goes on from the beginning at once.
Every turn ends in exactly one of: committed, the person told of a failure, moved to the dead letters with a reason and
the person told; or deferred, and then it goes on from the beginning.
"""

from dataclasses import field
from random import Random
from typing import Literal, NamedTuple

from kenobot.agent.turn.pieces import ToolRound
from kenobot.core import texts
from kenobot.core.i18n import Text
from kenobot.core.retry import Backoff, RetryPolicy, retry_delay
from kenobot.ports.errors import (
    AccountRefused,
    ClaimWithdrawn,
    Fenced,
    OverBudget,
    PromptTooLong,
    Rejected,
    RemoteError,
    StoreError,
    describe,
)
from kenobot.ports.frozen import dataclass
from kenobot.ports.provider import Reply, ToolResult
from kenobot.ports.sentences import Sentence

_SHORTAGE = 12  # failures in a row for want of memory, some five minutes; then it may be the message that needs so much
_BURIALS = 3  # then the message stays claimed, and the next sweep tries again
_PARKS_BEFORE_PROBE = 3

Stage = Literal[
    "claim", "order", "context", "shorten", "model", "piece", "tools", "probe", "process", "commit", "ending", "done"
]


# ── events ─────────────────────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True, slots=True)
class MessageClaimed:
    """The message was claimed for the `attempt`-th time.

    pieces: of an answer, already paid for. age: seconds since the message was sent. rounds: of tools, before those.
    """

    attempt: int
    pieces: tuple[Reply, ...] = ()
    age: float = 0.0
    is_command: bool = False
    rounds: tuple[ToolRound, ...] = ()


@dataclass(frozen=True, slots=True)
class EffectDone:
    """An effect that brings nothing back: the prompt is built, the reply processed, or an ending on disk."""


@dataclass(frozen=True, slots=True)
class ModelReplied:
    reply: Reply


@dataclass(frozen=True, slots=True)
class ToolsReturned:
    """The calls of a reply have results, which are stored."""

    results: tuple[ToolResult, ...]


@dataclass(frozen=True, slots=True)
class WaitElapsed:
    pass


@dataclass(frozen=True, slots=True)
class ProbeFinished:
    """Result of asking the model a harmless question."""

    alive: bool


@dataclass(frozen=True, slots=True)
class EffectFailed:
    """The last effect raised. elapsed: seconds since this turn first asked a model."""

    error: Exception
    elapsed: float = 0.0


TurnEvent = MessageClaimed | EffectDone | ModelReplied | ToolsReturned | WaitElapsed | ProbeFinished | EffectFailed


# ── effects ───────────────────────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True, slots=True)
class ClaimMessage:
    pass


@dataclass(frozen=True, slots=True)
class RunCommand:
    """Carry out a command, and answer it."""


@dataclass(frozen=True, slots=True)
class BuildContext:
    """Assemble the prompt; `reduced`: a much smaller one than usual."""

    reduced: bool = False


@dataclass(frozen=True, slots=True)
class AskModel:
    """Ask provider number `level`; 0 is the preferred one.

    pieces: what it has said already, to be continued. rounds: of tools, before those.
    """

    level: int = 0
    pieces: tuple[Reply, ...] = ()
    rounds: tuple[ToolRound, ...] = ()


@dataclass(frozen=True, slots=True)
class SavePiece:
    """Checkpoint the last of `pieces` before it is continued, or its tools are run."""

    pieces: tuple[Reply, ...]
    rounds: tuple[ToolRound, ...] = ()


@dataclass(frozen=True, slots=True)
class RunTools:
    """Run what the last of `pieces` calls. is_last: run nothing, and have the model told that it must answer."""

    pieces: tuple[Reply, ...]
    rounds: tuple[ToolRound, ...] = ()
    is_last: bool = False


@dataclass(frozen=True, slots=True)
class ProbeModel:
    """Ask the model something harmless."""


@dataclass(frozen=True, slots=True)
class ProcessReply:
    """Run the post-processors over the answer that `pieces` make; `fresh` when the last has to be checkpointed.

    rounds: of tools, whose words are not shown, and whose tags count.
    """

    pieces: tuple[Reply, ...]
    fresh: bool
    rounds: tuple[ToolRound, ...] = ()


@dataclass(frozen=True, slots=True)
class CommitTurn:
    pass


@dataclass(frozen=True, slots=True)
class ReportFailure:
    """Tell the person in one sentence that there is no answer, and be done."""

    sentence: Text
    reason: str
    end: Literal["failed", "expired"] = "failed"


@dataclass(frozen=True, slots=True)
class Defer:
    """Keep the message for when the model is back, and once ask the person for patience."""

    reason: str


@dataclass(frozen=True, slots=True)
class MoveToDeadLetters:
    """Move the message to the dead-letter box, and tell the person."""

    reason: str


@dataclass(frozen=True, slots=True)
class Wait:
    seconds: float


@dataclass(frozen=True, slots=True)
class Stop:
    """Nothing more to do."""


Ending = ReportFailure | MoveToDeadLetters | Defer
Effect = (
    ClaimMessage
    | RunCommand
    | BuildContext
    | AskModel
    | SavePiece
    | RunTools
    | ProbeModel
    | ProcessReply
    | CommitTurn
    | Wait
    | Stop
    | Ending
)


class TurnState(NamedTuple):
    """The state of a turn.

    deferrals: how often this message was deferred before.
    level: the number of the provider that is asked.
    provider_calls: calls of that provider for this piece so far.
    may_recover: a provider failed in a way that may pass, or that a person can mend.
    message_suspected: the model answers other questions, so this message may be the reason.
    reduced: the prompt had to be cut.
    stage_failures: failures in a row of this stage.
    dead_letter_failures: failures of this ending for another reason than the disk.
    pieces: of the answer so far.
    fresh: the last of them is not checkpointed.
    was_silent: the model ended without a word, or with the call of no tool, and was asked once more.
    rounds: of tools, before those pieces.
    withdrawn: claims that purges took back, which are no attempts of the message.
    """

    deferrals: int = 0
    stage: Stage = "claim"
    attempt: int = 0
    level: int = 0
    provider_calls: int = 0
    may_recover: bool = False
    message_suspected: bool = False
    reduced: bool = False
    stage_failures: int = 0
    dead_letter_failures: int = 0
    pieces: tuple[Reply, ...] = ()
    fresh: bool = True
    was_silent: bool = False
    rounds: tuple[ToolRound, ...] = ()
    ending: Ending | None = None
    withdrawn: int = 0

    @property
    def deferred(self) -> bool:
        """Return whether the turn ended for now, and the message has to be taken up again."""
        return self.stage == "done" and isinstance(self.ending, Defer)


@dataclass(frozen=True, slots=True)
class TurnPolicy:
    """The limits of a turn.

    attempts: claims of one message before it is a dead letter.
    longest_pause: between retries of the own disk, in seconds.
    expires_after: seconds after which a message is too old to be answered.
    continuations: how often an answer that was cut is continued.
    answer_chars: longest answer; it is not continued beyond.
    tool_rounds: replies of one turn whose tools are run.
    """

    attempts: int = 5
    retry: RetryPolicy = field(default_factory=RetryPolicy)
    longest_pause: float = 30.0
    expires_after: float = 172_800.0
    provider_count: int = 1
    continuations: int = 2
    answer_chars: int = 100_000
    tool_rounds: int = 0


def step(
    turn: TurnState, event: TurnEvent, policy: TurnPolicy, jitter: Random | None = None
) -> tuple[TurnState, Effect]:
    """Return the next state of `turn` and the effect to perform. jitter: spreads the pauses between model calls."""
    match event:
        case MessageClaimed():
            return _on_begun(turn._replace(attempt=event.attempt, stage_failures=0), event, policy)
        case EffectDone():
            return _advance(turn, policy)
        case ModelReplied(reply):
            return _on_answered(turn._replace(pieces=(*turn.pieces, reply), fresh=True), policy)
        case ToolsReturned(results):
            rounds = (*turn.rounds, ToolRound(turn.pieces, results))
            return _ask(turn._replace(rounds=rounds, pieces=(), provider_calls=0, stage_failures=0))
        case WaitElapsed():
            return _repeat_stage(turn, policy)
        case ProbeFinished(True):
            return _ask(turn._replace(ending=None, message_suspected=True, level=0, provider_calls=0))
        case ProbeFinished():
            return _end(turn, turn.ending or Defer(""))
        case EffectFailed():
            return _on_failed(turn, event, policy, jitter)


def _on_begun(turn: TurnState, begun: MessageClaimed, policy: TurnPolicy) -> tuple[TurnState, Effect]:
    if turn.attempt - turn.withdrawn > policy.attempts:
        return _end(turn, MoveToDeadLetters(f"{policy.attempts} attempts failed"))
    if begun.is_command:
        return turn._replace(stage="order"), RunCommand()
    if begun.pieces or begun.rounds:
        turn = turn._replace(pieces=begun.pieces, fresh=False, rounds=begun.rounds)
    elif begun.age > policy.expires_after:
        return _end(turn, ReportFailure(texts.EXPIRED, f"it was {begun.age / 3600:.0f} hours old", "expired"))
    return turn._replace(stage="context"), BuildContext(turn.reduced)


def _advance(turn: TurnState, policy: TurnPolicy) -> tuple[TurnState, Effect]:
    """Go on from a stage whose effect is done."""
    if turn.stage == "piece":
        return _on_answered(turn._replace(fresh=False, stage_failures=0), policy)
    if turn.stage == "context" and turn.pieces:
        return _on_answered(turn, policy)
    if turn.stage in ("context", "shorten"):
        return _ask(turn)
    if turn.stage == "process":
        return turn._replace(stage="commit", stage_failures=0), CommitTurn()
    return turn._replace(stage="done"), Stop()


def _on_answered(turn: TurnState, policy: TurnPolicy) -> tuple[TurnState, Effect]:
    """Take what the model said so far: have it go on, process it, or report that it is no answer."""
    last = turn.pieces[-1]
    if last.end == "refused":
        return _end(turn, ReportFailure(texts.DECLINED, "the model declined to answer"))
    if _calls_tools(turn, policy):
        if turn.fresh:
            return turn._replace(stage="piece"), SavePiece(turn.pieces, turn.rounds)
        return _run_tools(turn, policy)
    if _goes_on(turn, policy):
        if turn.fresh:
            return turn._replace(stage="piece"), SavePiece(turn.pieces, turn.rounds)
        turn = turn._replace(provider_calls=0)
        return _shorten(turn) if last.end == "crowded" else _ask(turn)
    if last.end == "calls" and not last.calls and not turn.was_silent:  # of a tool that nobody offered
        return _ask(turn._replace(was_silent=True, pieces=turn.pieces[:-1], provider_calls=0))
    said = (*turn.pieces, *(piece for each in turn.rounds for piece in each.pieces))
    if not any(piece.text.strip() for piece in said):
        if last.whole and not turn.was_silent:  # it may have spent all on thinking
            return _ask(turn._replace(was_silent=True, pieces=(), provider_calls=0))
        if not last.whole or not turn.rounds:
            sentence = texts.NO_TOOL if last.end == "calls" else texts.NO_ANSWER
            return _end(turn, ReportFailure(sentence, Sentence("talk.ended_early", reason=last.stop_reason)))
    return _process(turn)


def _calls_tools(turn: TurnState, policy: TurnPolicy) -> bool:
    """Return whether tools are called, and the model was not told already that it must answer."""
    return policy.tool_rounds > 0 and bool(turn.pieces[-1].calls) and len(turn.rounds) <= policy.tool_rounds


def _run_tools(turn: TurnState, policy: TurnPolicy) -> tuple[TurnState, Effect]:
    is_last = len(turn.rounds) >= policy.tool_rounds
    return turn._replace(stage="tools"), RunTools(turn.pieces, turn.rounds, is_last)


def _goes_on(turn: TurnState, policy: TurnPolicy) -> bool:
    """Return whether to ask for the rest of an answer: there is more, and asking is likely to bring it."""
    last = turn.pieces[-1]
    if last.calls:
        return False
    if len(turn.pieces) > policy.continuations or sum(len(piece.text) for piece in turn.pieces) >= policy.answer_chars:
        return False
    if last.end == "crowded":
        return not turn.reduced
    return last.end == "paused" or (last.end == "cut" and bool(last.text.strip()))


def _shorten(turn: TurnState) -> tuple[TurnState, Effect]:
    return turn._replace(stage="shorten", reduced=True), BuildContext(reduced=True)


def _process(turn: TurnState) -> tuple[TurnState, Effect]:
    return turn._replace(stage="process"), ProcessReply(turn.pieces, turn.fresh, turn.rounds)


def _ask(turn: TurnState) -> tuple[TurnState, Effect]:
    effect = AskModel(turn.level, turn.pieces, turn.rounds)
    return turn._replace(stage="model", provider_calls=turn.provider_calls + 1), effect


def _repeat_stage(turn: TurnState, policy: TurnPolicy) -> tuple[TurnState, Effect]:
    """Repeat a stage after a pause."""
    if turn.ending is not None:
        return turn, turn.ending
    if turn.stage == "model":
        return _ask(turn)
    if turn.stage in ("context", "shorten"):
        return turn, BuildContext(turn.reduced)
    if turn.stage == "order":
        return turn, RunCommand()
    if turn.stage == "piece":
        return turn, SavePiece(turn.pieces, turn.rounds)
    if turn.stage == "tools":
        return _run_tools(turn, policy)
    if turn.stage == "commit":
        return turn, CommitTurn()
    return turn._replace(stage="claim"), ClaimMessage()


def _on_failed(
    turn: TurnState, failed: EffectFailed, policy: TurnPolicy, jitter: Random | None
) -> tuple[TurnState, Effect]:
    error = failed.error
    if isinstance(error, ClaimWithdrawn):
        return TurnState(turn.deferrals, withdrawn=turn.withdrawn + 1), ClaimMessage()
    if isinstance(error, Fenced):
        return turn._replace(stage="done", ending=None), Stop()
    if turn.stage == "model" and isinstance(error, RemoteError):
        return _on_unanswered(turn, error, failed.elapsed, policy, jitter)
    stuck = turn._replace(stage_failures=turn.stage_failures + 1)
    pause = Backoff(1.0, policy.longest_pause).pause(turn.stage_failures)
    if isinstance(error, StoreError) or (isinstance(error, MemoryError) and turn.stage_failures < _SHORTAGE):
        return stuck, Wait(pause)  # the machine's trouble, not this message's
    if isinstance(turn.ending, MoveToDeadLetters):
        stuck = stuck._replace(dead_letter_failures=turn.dead_letter_failures + 1)
        return (
            (stuck, Wait(pause)) if stuck.dead_letter_failures <= _BURIALS else (stuck._replace(stage="done"), Stop())
        )
    if turn.ending is not None or turn.attempt - turn.withdrawn >= policy.attempts:
        return _end(turn, MoveToDeadLetters(describe(error)))
    return stuck._replace(stage="claim", pieces=turn.pieces[:-1] if turn.fresh else turn.pieces), Wait(pause)


def _on_unanswered(
    turn: TurnState, error: RemoteError, elapsed: float, policy: TurnPolicy, jitter: Random | None
) -> tuple[TurnState, Effect]:
    """Retry a model that did not answer, shorten the prompt, ask the next provider, or end."""
    if isinstance(error, PromptTooLong) and not turn.reduced:
        return _shorten(turn)
    passes = isinstance(error, AccountRefused) or not isinstance(error, Rejected)
    turn = turn._replace(may_recover=turn.may_recover or passes)
    pause = retry_delay(turn.provider_calls, error, policy.retry, jitter, elapsed)
    if pause is not None:
        return turn, Wait(pause)
    if turn.level + 1 < policy.provider_count:
        return _ask(turn._replace(level=turn.level + 1, provider_calls=0))
    if any(piece.text.strip() for piece in turn.pieces):
        return _process(turn)  # what is there goes out, marked as cut
    if not turn.may_recover:
        sentence = texts.OVER_BUDGET if isinstance(error, OverBudget) else texts.REJECTED
        return _end(turn, ReportFailure(sentence, describe(error)))
    if turn.message_suspected:
        return _end(turn, MoveToDeadLetters(Sentence("talk.only_this_fails", reason=describe(error))))
    if turn.deferrals < _PARKS_BEFORE_PROBE:
        return _end(turn, Defer(describe(error)))
    return turn._replace(stage="probe", ending=Defer(describe(error))), ProbeModel()


def _end(turn: TurnState, ending: Ending) -> tuple[TurnState, Effect]:
    return turn._replace(stage="ending", ending=ending, stage_failures=0), ending
