"""A turn against a world that fails at random: it always comes to exactly one end."""

from dataclasses import dataclass, field

from hypothesis import example, given
from hypothesis import strategies as st

from kenobot.agent.turn.pieces import ToolRound
from kenobot.agent.turn.state_machine import (
    AskModel,
    BuildContext,
    ClaimMessage,
    CommitTurn,
    Defer,
    Effect,
    EffectDone,
    EffectFailed,
    MessageClaimed,
    ModelReplied,
    MoveToDeadLetters,
    ProbeFinished,
    ProbeModel,
    ProcessReply,
    ReportFailure,
    RunCommand,
    RunTools,
    SavePiece,
    Stop,
    ToolsReturned,
    TurnEvent,
    TurnPolicy,
    TurnState,
    Wait,
    WaitElapsed,
    step,
)
from kenobot.core.retry import RetryPolicy
from kenobot.ports.errors import (
    CircuitOpen,
    Fenced,
    PromptTooLong,
    RateLimited,
    Rejected,
    RemoteError,
    StoreError,
    StoreFull,
    TruncatedReply,
    Unavailable,
)
from kenobot.ports.provider import Reply, ToolCall, ToolResult

_STORE = st.sampled_from([StoreFull("full"), StoreError("locked")])
_BUG = st.sampled_from([ValueError("a bug"), KeyError("key"), RecursionError("deep")])
_REMOTE = st.sampled_from(
    [
        Unavailable("down"),
        CircuitOpen("leave it"),
        RateLimited("slow", 5),
        RateLimited("slow", 5000),
        TruncatedReply("cut"),
        Rejected("no"),
        PromptTooLong("too long"),
    ]
)
_ENDS = st.sampled_from(
    ["max_tokens", "pause_turn", "model_context_window_exceeded", "refusal", "tool_use", "answer_chars", "new"]
)
_WRITE = st.none() | _STORE | _BUG
_TROUBLE = st.fixed_dictionaries(
    {
        "claim": st.lists(st.none() | _STORE, max_size=6),
        "context": st.lists(st.none() | _STORE | _BUG, max_size=8),
        "model": st.lists(st.none() | _REMOTE | _BUG, max_size=12),
        "process": st.lists(st.none() | _BUG, max_size=8),
        "piece": st.lists(_WRITE, max_size=8),
        "ends": st.lists(st.none() | _ENDS, max_size=8),
        "tools": st.lists(_WRITE, max_size=8),
        "calls": st.lists(st.booleans(), max_size=8),
        "commit": st.lists(_WRITE, max_size=8),
        "tell": st.lists(_WRITE, max_size=8),
        "checkpoint": st.lists(st.booleans(), max_size=8),
        "crash": st.lists(st.integers(0, 12), max_size=6),
    }
)
_POLICIES = st.builds(
    TurnPolicy,
    attempts=st.integers(1, 5),
    retry=st.builds(RetryPolicy, attempts=st.integers(1, 4)),
    longest_pause=st.just(30.0),
    provider_count=st.integers(1, 3),
    continuations=st.integers(0, 3),
    tool_rounds=st.integers(0, 3),
)


_PLACES = (
    *("claim", "context", "model", "process", "piece", "ends", "tools", "calls"),
    *("commit", "tell", "checkpoint", "crash"),
)


class _Killed(Exception):
    """The process died here; a new one takes over."""


@dataclass
class _World:
    """One message in a database, and whatever goes wrong around it. Every list of troubles ends, then all is well."""

    trouble: dict[str, list[object]]
    providers: int = 1
    tool_rounds: int = 0
    state: str = "pending"
    attempts: int = 0
    saved: tuple[Reply, ...] = ()
    rounds: tuple[ToolRound, ...] = ()
    calls: int = 0
    claims: int = 0
    parks: int = 0
    steps: int = 0
    asked_although_saved: int = 0
    ends: list[str] = field(default_factory=list)
    fresh: tuple[Reply, ...] = ()
    answer: tuple[Reply, ...] = ()

    def perform(self, effect: Effect, attempt: int) -> TurnEvent:  # noqa: PLR0911, PLR0912 - an effect a case
        match effect:
            case ClaimMessage():
                self._fail("claim")
                if self.state not in ("pending", "claimed"):
                    raise Fenced("done already")
                self.claims += 1
                self.attempts += 1
                self.state = "claimed"
                return MessageClaimed(self.attempts, self.saved, rounds=self.rounds)
            case BuildContext():
                self._fail("context")
                return EffectDone()
            case AskModel(level, pieces, rounds):
                assert level < self.providers
                assert rounds == self.rounds, "what a tool returned is lost, or was never stored"
                assert pieces == self.saved, "a piece is continued that is not on disk, or one is asked for again"
                self.calls += 1
                self.asked_although_saved += bool(pieces) and pieces[-1].whole
                self._fail("model")
                reason = self.trouble["ends"].pop(0) if self.trouble["ends"] else None
                wants_tool = bool(self.trouble["calls"]) and self.trouble["calls"].pop(0)
                calls = (ToolCall(f"c{self.calls}", "do", {}),) if wants_tool else ()
                return ModelReplied(Reply(f"reply {self.calls}", str(reason or "end_turn"), calls=calls))
            case SavePiece(pieces):
                self._fail("piece")
                self.saved = pieces
                return EffectDone()
            case RunTools(pieces, rounds, is_last):
                assert pieces == self.saved
                assert pieces[-1].calls
                assert rounds == self.rounds
                assert is_last == (len(rounds) >= self.tool_rounds)
                self._fail("tools")
                results = tuple(ToolResult(call.id, "done") for call in pieces[-1].calls)
                self.rounds, self.saved = (*rounds, ToolRound(pieces, results)), ()
                return ToolsReturned(results)
            case ProcessReply(pieces, fresh, rounds):
                assert rounds == self.rounds
                self.fresh, self.answer = pieces if fresh else (), pieces
                assert not any(piece.end == "refused" for piece in pieces)
                assert fresh or pieces == self.saved
                self._fail("process")
                return EffectDone()
            case CommitTurn():
                self._checkpoint()
                self._fail("commit")
                self._finish("answered", attempt)
                return EffectDone()
            case ReportFailure() | MoveToDeadLetters() | Defer():
                self._fail("tell")
                self._end(effect, attempt)
                return EffectDone()
            case ProbeModel():
                try:
                    self._fail("model")
                except RemoteError:
                    return ProbeFinished(False)
                return ProbeFinished(True)
            case Wait(seconds):
                assert 0 <= seconds <= 60
                return WaitElapsed()
            case RunCommand() | Stop():
                raise AssertionError("nobody gave an order, and nothing follows a stop")

    def _end(self, ending: Effect, attempt: int) -> None:
        if not isinstance(ending, Defer):
            self._finish("failed" if isinstance(ending, ReportFailure) else "dead", attempt)
            return
        if self.state != "claimed" or attempt != self.attempts:
            raise Fenced("overtaken")
        self.state, self.attempts, self.parks = "pending", self.attempts - 1, self.parks + 1

    def _checkpoint(self) -> None:
        """Goes ahead of the commit and stays when that fails, unless it fails itself."""
        works = self.trouble["checkpoint"].pop(0) if self.trouble["checkpoint"] else True
        if len(self.fresh) > len(self.saved) and works:
            self.saved = self.fresh

    def _finish(self, end: str, attempt: int) -> None:
        if self.state != "claimed" or attempt != self.attempts:
            raise Fenced("overtaken")
        self.state = end
        self.ends.append(end)

    def _fail(self, where: str) -> None:
        error = self.trouble[where].pop(0) if self.trouble[where] else None
        if isinstance(error, Exception):
            raise error


def _drive(world: _World, policy: TurnPolicy, life: int | None) -> None:
    """As loop and runner do: again and again while it is parked. Dies after `life` steps, if that is given."""
    world.providers, world.tool_rounds, done, turn = policy.provider_count, policy.tool_rounds, 0, TurnState()
    while done == 0 or turn.deferred:
        turn, done = _drive_once(world, policy, life, done)


def _drive_once(world: _World, policy: TurnPolicy, life: int | None, done: int) -> tuple[TurnState, int]:
    turn, effect = TurnState(deferrals=world.parks), ClaimMessage()  # type: tuple[TurnState, Effect]
    while not isinstance(effect, Stop):
        if done == life:
            raise _Killed
        done += 1
        world.steps += 1
        assert world.steps < 1000, "it never ends"
        happening: TurnEvent
        try:
            happening = world.perform(effect, turn.attempt)
        except Exception as error:
            happening = EffectFailed(error)
        turn, effect = step(turn, happening, policy)
    assert turn.stage == "done"
    return turn, done


@given(_TROUBLE, _POLICIES)
@example(
    {name: [] for name in _PLACES},
    TurnPolicy(),
)
@example(
    {name: [] for name in _PLACES}
    | {"context": [StoreFull("full")] * 8, "commit": [StoreError("locked")] * 8, "checkpoint": [False]},
    TurnPolicy(attempts=1),
)
def test_every_message_comes_to_exactly_one_end(trouble: dict[str, list[object]], policy: TurnPolicy) -> None:
    """Answered, apologised for, buried, or parked after burials that failed; and nothing of it without bounds."""
    bugs = sum(isinstance(error, Exception) and not isinstance(error, StoreError) for error in trouble["tell"])
    world = _World({name: list(errors) for name, errors in trouble.items()})
    lives: list[int | None] = [*(life for life in trouble["crash"] if isinstance(life, int)), None]
    for life in lives:
        try:
            _drive(world, policy, life)
        except _Killed:
            continue
        break
    assert len(world.ends) <= 1, "it ended twice"
    if world.ends:
        assert world.state == world.ends[0]
    else:
        assert world.state == "claimed", "it ended without a word"
        assert bugs >= 4, "it was parked before the burial had failed often enough"
    assert len(world.rounds) <= policy.tool_rounds + 1, "tools were called for ever"
    assert world.asked_although_saved == 0, "a reply that was paid for was asked for again"
    rounds = len(lives) + world.parks
    assert world.claims <= policy.attempts + rounds, "too many claims"
    pieces = 1 + policy.continuations
    most = (
        2
        * pieces
        * (policy.tool_rounds + 2)
        * (policy.retry.attempts * policy.provider_count + 1 + policy.attempts)
        * rounds
    )
    assert len(world.answer) <= pieces
    assert world.calls <= most, "too many calls of the model"


@given(_TROUBLE, _POLICIES)
def test_a_failing_disk_alone_never_costs_an_answer(trouble: dict[str, list[object]], policy: TurnPolicy) -> None:
    """When nothing but our own disk fails, however often, the message is answered with one call and one claim."""
    only: dict[str, list[object]] = {
        name: [error for error in errors if error is None or isinstance(error, StoreError)]
        for name, errors in trouble.items()
    }
    world = _World({**only, "model": [], "process": [], "ends": [], "calls": [], "crash": []})
    _drive(world, policy, None)
    assert world.ends == ["answered"]
    assert (world.calls, world.claims) == (1, 1)


@given(_TROUBLE, _POLICIES)
def test_a_committed_turn_is_never_committed_again(trouble: dict[str, list[object]], policy: TurnPolicy) -> None:
    """A second runner of the same message, before or after the end, is fenced off."""
    world = _World({name: list(errors) for name, errors in trouble.items()})
    _drive(world, policy, None)
    before = (list(world.ends), world.calls)
    if world.ends:
        _drive(world, policy, None)
        assert (world.ends, world.calls) == before


@given(_TROUBLE, _POLICIES)
def test_only_a_whole_answer_passes_for_one(trouble: dict[str, list[object]], policy: TurnPolicy) -> None:
    """With a model that is well: what is committed ends whole, or as often as may be it was asked to go on."""
    world = _World({**{name: list(errors) for name, errors in trouble.items()}, "model": [], "crash": []})
    _drive(world, policy, None)
    if world.ends != ["answered"] or world.answer[-1].whole:
        return
    cut = world.answer[-1]
    assert cut.text.strip()
    # Of a reply that ends with a call, and has none or too many, the words are the answer.
    assert (
        cut.calls or cut.end in ("unknown", "overlong", "crowded", "calls") or len(world.answer) > policy.continuations
    )
