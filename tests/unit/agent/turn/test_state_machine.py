"""The step function of a turn: what happened, and what to do next."""

from dataclasses import replace
from random import Random

import pytest

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
from kenobot.core import texts
from kenobot.core.retry import RetryPolicy
from kenobot.ports.errors import (
    AccountRefused,
    CircuitOpen,
    ClaimWithdrawn,
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

_POLICY = TurnPolicy(attempts=3, retry=RetryPolicy(attempts=3))
_REPLY = Reply("hello", "end_turn")
_BUG = ValueError("a bug")
_DISK = StoreFull("no space")


def _play(*happenings: TurnEvent, policy: TurnPolicy = _POLICY) -> tuple[TurnState, list[Effect]]:
    turn, effects = TurnState(), list[Effect]()
    for happening in happenings:
        turn, effect = step(turn, happening, policy)
        effects.append(effect)
    return turn, effects


def test_a_turn_without_trouble() -> None:
    """Context, model, processing, commit, done."""
    turn, effects = _play(MessageClaimed(1), EffectDone(), ModelReplied(_REPLY), EffectDone(), EffectDone())
    assert effects == [BuildContext(), AskModel(), ProcessReply((_REPLY,), True), CommitTurn(), Stop()]
    assert (turn.stage, turn.provider_calls) == ("done", 1)


def test_a_saved_reply_is_not_asked_for_again() -> None:
    """It was paid for; it is not checkpointed a second time either."""
    _, effects = _play(MessageClaimed(2, (_REPLY,)), EffectDone(), EffectDone())
    assert effects == [BuildContext(), ProcessReply((_REPLY,), False), CommitTurn()]


_HALF = Reply("hel", "max_tokens")
_REST = Reply("lo", "end_turn")


def test_an_answer_that_was_cut_is_continued() -> None:
    """What is there is saved first, and the rest has tries of its own."""
    turn, effects = _play(
        MessageClaimed(1),
        EffectDone(),
        EffectFailed(Unavailable("down")),
        WaitElapsed(),
        ModelReplied(_HALF),
        EffectDone(),
        ModelReplied(_REST),
        EffectDone(),
        EffectDone(),
    )
    assert effects[4:7] == [SavePiece((_HALF,)), AskModel(0, (_HALF,)), ProcessReply((_HALF, _REST), True)]
    assert (turn.stage, turn.provider_calls) == ("done", 1)


_CALLS = Reply("Let me see. ", "tool_use", calls=(ToolCall("c", "look", {}),))
_FOUND = (ToolResult("c", "found"),)
_ROUND = ToolRound((_CALLS,), _FOUND)
_WITH_TOOLS = replace(_POLICY, tool_rounds=1)


def test_tools_are_run_between_replies() -> None:
    """The reply is saved before, and the model asked anew with what came of it; each reply has tries of its own."""
    turn, effects = _play(
        MessageClaimed(1),
        EffectDone(),
        ModelReplied(_CALLS),
        EffectDone(),
        ToolsReturned(_FOUND),
        EffectFailed(Unavailable("down")),
        WaitElapsed(),
        ModelReplied(_REPLY),
        policy=_WITH_TOOLS,
    )
    assert effects[2:5] == [SavePiece((_CALLS,)), RunTools((_CALLS,)), AskModel(0, (), (_ROUND,))]
    assert effects[6:] == [AskModel(0, (), (_ROUND,)), ProcessReply((_REPLY,), True, (_ROUND,))]
    assert turn.provider_calls == 2


@pytest.mark.parametrize("reason", ["tool_use", "stop", "max_tokens", "unheard of"])
def test_calls_count_however_the_reply_ends(reason: str) -> None:
    """Servers differ; a reply that was cut behind a call is not continued but answered."""
    calls = replace(_CALLS, stop_reason=reason)
    _, effects = _play(MessageClaimed(1), EffectDone(), ModelReplied(calls), EffectDone(), policy=_WITH_TOOLS)
    assert effects[-1] == RunTools((calls,))


def test_rounds_of_tools_are_counted() -> None:
    """One more is answered by a refusal to run anything; then the words are the answer."""
    again = (ModelReplied(_CALLS), EffectDone())
    _, effects = _play(
        MessageClaimed(1),
        EffectDone(),
        *again,
        ToolsReturned(_FOUND),
        *again,
        ToolsReturned(_FOUND),
        ModelReplied(_CALLS),
        policy=_WITH_TOOLS,
    )
    assert [effect.is_last for effect in effects if isinstance(effect, RunTools)] == [False, True]
    assert effects[-1] == ProcessReply((_CALLS,), True, (_ROUND, _ROUND))


def test_a_turn_goes_on_from_its_rounds_after_a_restart() -> None:
    """Nothing that is stored is asked for or run again."""
    _, effects = _play(MessageClaimed(2, (), rounds=(_ROUND,)), EffectDone(), policy=_WITH_TOOLS)
    assert effects[-1] == AskModel(0, (), (_ROUND,))
    _, effects = _play(MessageClaimed(2, (_CALLS,)), EffectDone(), policy=_WITH_TOOLS)
    assert effects[-1] == RunTools((_CALLS,))


def test_a_failing_disk_is_waited_for_by_tools_too() -> None:
    """The same calls, with the results that are there already."""
    before = (MessageClaimed(1), EffectDone(), ModelReplied(_CALLS), EffectDone())
    _, effects = _play(*before, EffectFailed(_DISK), WaitElapsed(), policy=_WITH_TOOLS)
    assert effects[-1] == RunTools((_CALLS,))


@pytest.mark.parametrize("reason", ["max_tokens", "length", "pause_turn"])
def test_an_answer_is_continued_a_few_times(reason: str) -> None:
    """Then what there is goes through, as it is."""
    piece = Reply("more ", reason)
    _, effects = _play(MessageClaimed(1), EffectDone(), *(ModelReplied(piece), EffectDone()) * 2, ModelReplied(piece))
    assert effects[-1] == ProcessReply((piece,) * 3, True)
    never = replace(_POLICY, continuations=0)
    assert _play(MessageClaimed(1), EffectDone(), ModelReplied(piece), policy=never)[1][-1] == ProcessReply(
        (piece,), True
    )


def test_an_answer_that_filled_the_window_goes_on_with_a_smaller_prompt() -> None:
    """Once: what does not fit then never will."""
    full = Reply("hel", "model_context_window_exceeded")
    _, effects = _play(
        MessageClaimed(1), EffectDone(), ModelReplied(full), EffectDone(), EffectDone(), ModelReplied(full)
    )
    assert effects[2:] == [
        SavePiece((full,)),
        BuildContext(reduced=True),
        AskModel(0, (full,)),
        ProcessReply((full, full), True),
    ]


@pytest.mark.parametrize("before", [(), (ModelReplied(_HALF), EffectDone())])
def test_an_answer_that_the_model_declines_is_none(before: tuple[TurnEvent, ...]) -> None:
    """Whatever it had begun to say, nothing of it is processed."""
    _, effects = _play(MessageClaimed(1), EffectDone(), *before, ModelReplied(Reply("I", "refusal")), EffectDone())
    assert effects[-2:] == [ReportFailure(texts.DECLINED, "the model declined to answer"), Stop()]


def test_a_model_that_calls_a_tool_nobody_offered_is_asked_once_more() -> None:
    """Its words announced the call alone; then the person hears what happened."""
    call, answer = ModelReplied(Reply("I look it up.", "tool_calls")), ModelReplied(Reply("It is five.", "stop"))
    turn, effects = _play(MessageClaimed(1), EffectDone(), call)
    assert (effects[-1], turn.pieces) == (AskModel(0), ())
    _, effects = _play(MessageClaimed(1), EffectDone(), call, answer)
    assert effects[-1] == ProcessReply((answer.reply,), True)
    silent = ModelReplied(Reply("", "tool_calls"))
    _, effects = _play(MessageClaimed(1), EffectDone(), call, silent)
    assert effects[-1] == ReportFailure(texts.NO_TOOL, "the reply ended before it began: tool_calls")


@pytest.mark.parametrize("reason", ["max_tokens", "something new"])
def test_an_answer_cut_before_its_first_word_is_none(reason: str) -> None:
    """The person is told instead of shown a blank; asking for the rest of nothing would end the same way."""
    _, effects = _play(MessageClaimed(1), EffectDone(), ModelReplied(Reply(" \n", reason)))
    assert isinstance(effects[-1], ReportFailure)
    assert effects[-1].sentence == texts.NO_ANSWER


@pytest.mark.parametrize("error", [Rejected("no"), CircuitOpen("leave it"), RateLimited("slow", 900)])
def test_half_an_answer_is_better_than_none(error: RemoteError) -> None:
    """When the rest cannot be had, what was paid for goes out."""
    _, effects = _play(MessageClaimed(1), EffectDone(), ModelReplied(_HALF), EffectDone(), EffectFailed(error))
    assert effects[-1] == ProcessReply((_HALF,), False)


def test_a_saved_piece_is_continued_after_a_restart() -> None:
    """It was paid for, too."""
    _, effects = _play(MessageClaimed(2, (_HALF,)), EffectDone())
    assert effects[-1] == AskModel(0, (_HALF,))


def test_a_message_that_failed_too_often_is_buried() -> None:
    """Without another call of the model."""
    turn, effects = _play(MessageClaimed(4), EffectDone())
    assert isinstance(effects[0], MoveToDeadLetters)
    assert "3 attempts" in effects[0].reason
    assert (effects[1], turn.stage) == (Stop(), "done")


@pytest.mark.parametrize("error", [Unavailable("down"), RateLimited("slow"), TruncatedReply("cut")])
def test_a_model_that_is_down_is_asked_again_a_few_times(error: RemoteError) -> None:
    """Then the message is parked until it is back."""
    _, effects = _play(
        MessageClaimed(1),
        EffectDone(),
        EffectFailed(error),
        WaitElapsed(),
        EffectFailed(error),
        WaitElapsed(),
        EffectFailed(error),
        EffectDone(),
    )
    assert effects[:6] == [BuildContext(), AskModel(), Wait(1), AskModel(), Wait(2), AskModel()]
    assert effects[6] == Defer(f"{type(error).__name__}: {error}")
    assert effects[7] == Stop()


def test_a_parked_turn_says_that_it_has_to_be_taken_up_again() -> None:
    """Any other end is the last word on a message."""
    down = (MessageClaimed(1), EffectDone(), EffectFailed(CircuitOpen("leave it")))
    assert _play(*down, EffectDone())[0].deferred
    assert not _play(MessageClaimed(1), EffectDone(), EffectFailed(Rejected("no")), EffectDone())[0].deferred
    assert not _play(*down, EffectFailed(Fenced("overtaken")))[0].deferred


def test_a_provider_that_rests_is_not_waited_for() -> None:
    """Nobody was asked, so asking again in a second would only keep the person waiting."""
    assert _play(MessageClaimed(1), EffectDone(), EffectFailed(CircuitOpen("leave it")))[1][-1] == Defer(
        "CircuitOpen: leave it"
    )


def test_the_fallback_is_asked_when_the_first_model_cannot_answer() -> None:
    """Also when it refused: another one may take what it would not. Each has tries of its own."""
    two = replace(_POLICY, provider_count=2)
    for error in (CircuitOpen("leave it"), Rejected("no"), RateLimited("slow", 900)):
        assert _play(MessageClaimed(1), EffectDone(), EffectFailed(error), policy=two)[1][-1] == AskModel(1)
    fallen = (MessageClaimed(1), EffectDone(), EffectFailed(CircuitOpen("leave it")))
    assert _play(*fallen, EffectFailed(Unavailable("down")), policy=two)[1][-1] == Wait(1)
    assert isinstance(_play(*fallen, EffectFailed(Rejected("no")), policy=two)[1][-1], Defer), "the first may come back"
    refused = (MessageClaimed(1), EffectDone(), EffectFailed(Rejected("no")), EffectFailed(Rejected("no")))
    assert _play(*refused, policy=two)[1][-1] == ReportFailure(texts.REJECTED, "Rejected: no")


def test_tries_end_with_their_budget() -> None:
    """A pause that would end beyond it is not begun."""
    turn, _ = _play(MessageClaimed(1), EffectDone())
    assert step(turn, EffectFailed(Unavailable("down"), 88), _POLICY)[1] == Wait(1)
    assert isinstance(step(turn, EffectFailed(Unavailable("down"), 89.5), _POLICY)[1], Defer)


def test_a_prompt_that_is_too_long_is_cut_once() -> None:
    """Then the model is told less; if that is too much as well, there is nothing more to be done."""
    too_long = EffectFailed(PromptTooLong("too long"))
    _, effects = _play(MessageClaimed(1), EffectDone(), too_long, EffectDone(), too_long)
    assert effects == [BuildContext(), AskModel(), BuildContext(reduced=True), AskModel(), effects[-1]]
    assert isinstance(effects[-1], ReportFailure)


def test_a_message_that_was_parked_often_is_told_from_an_outage() -> None:
    """If the model answers something harmless, it is this message that it cannot stand: that one is buried."""
    turn, effect = TurnState(deferrals=3), BuildContext()  # type: tuple[TurnState, Effect]
    for happening in (MessageClaimed(1), EffectDone(), EffectFailed(CircuitOpen("leave it"))):
        turn, effect = step(turn, happening, _POLICY)
    assert effect == ProbeModel()
    assert step(turn, ProbeFinished(alive=False), _POLICY)[1] == Defer("CircuitOpen: leave it")
    turn, effect = step(turn, ProbeFinished(alive=True), _POLICY)
    assert effect == AskModel(), "the outage may have ended just now"
    buried = step(turn, EffectFailed(CircuitOpen("leave it")), _POLICY)[1]
    assert buried == MoveToDeadLetters("the model answers others, but not this: CircuitOpen: leave it")
    assert step(turn, ModelReplied(_REPLY), _POLICY)[1] == ProcessReply((_REPLY,), True)


def test_a_message_that_is_too_old_is_not_answered() -> None:
    """The person is told; but an answer that was paid for goes out, however late."""
    policy = replace(_POLICY, expires_after=3600)
    assert _play(MessageClaimed(1, (), 3600), policy=policy)[1] == [BuildContext()]
    assert _play(MessageClaimed(1, (), 7300), policy=policy)[1] == [
        ReportFailure(texts.EXPIRED, "it was 2 hours old", "expired")
    ]
    assert _play(MessageClaimed(1, (_REPLY,), 7300), policy=policy)[1] == [BuildContext()]


def test_a_command_is_obeyed_without_a_model() -> None:
    """One step, and the turn is over."""
    _, effects = _play(MessageClaimed(1, (), 0.0, is_command=True), EffectDone())
    assert effects == [RunCommand(), Stop()]


def test_a_refusal_is_told_at_once() -> None:
    """Asking again would not mend it."""
    _, effects = _play(MessageClaimed(1), EffectDone(), EffectFailed(Rejected("no")))
    assert effects[-1] == ReportFailure(texts.REJECTED, "Rejected: no")


def test_the_servers_wish_is_obeyed() -> None:
    """A short one is waited for, one beyond patience is not."""
    assert _play(MessageClaimed(1), EffectDone(), EffectFailed(RateLimited("slow", 20)))[1][-1] == Wait(20)
    assert isinstance(_play(MessageClaimed(1), EffectDone(), EffectFailed(RateLimited("slow", 900)))[1][-1], Defer)


def test_the_pause_is_spread() -> None:
    """With a source of chance the pauses of many turns do not coincide."""
    turn = _play(MessageClaimed(1), EffectDone())[0]
    pauses = {step(turn, EffectFailed(Unavailable("down")), _POLICY, Random(seed))[1] for seed in range(20)}
    assert len(pauses) == 20


@pytest.mark.parametrize(
    ("before", "effect"),
    [
        ((), ClaimMessage()),
        ((MessageClaimed(1),), BuildContext()),
        ((MessageClaimed(1), EffectDone(), ModelReplied(_REPLY), EffectDone()), CommitTurn()),
        (
            (MessageClaimed(1), EffectDone(), EffectFailed(Rejected("no"))),
            ReportFailure(texts.REJECTED, "Rejected: no"),
        ),
        ((MessageClaimed(9),), MoveToDeadLetters("3 attempts failed")),
    ],
)
def test_a_failing_disk_is_waited_for(before: tuple[TurnEvent, ...], effect: Effect) -> None:
    """However long it takes: the same thing again, with growing pauses, without spending attempts or calls."""
    turn, _ = _play(*before)
    asked, pauses = turn.provider_calls, []
    for _ in range(50):
        turn, wait = step(turn, EffectFailed(_DISK), _POLICY)
        assert isinstance(wait, Wait)
        pauses.append(wait.seconds)
        turn, again = step(turn, WaitElapsed(), _POLICY)
        assert again == effect
    assert pauses[:6] == [1, 2, 4, 8, 16, 30]
    assert set(pauses[5:]) == {30}
    assert turn.provider_calls == asked


def test_a_bug_costs_an_attempt() -> None:
    """The message is claimed anew, so that a restart in between counts as well, and the last attempt buries it."""
    begin = (EffectDone(), ModelReplied(_REPLY), EffectDone(), EffectFailed(_BUG))
    _, effects = _play(
        MessageClaimed(1),
        *begin,
        WaitElapsed(),
        MessageClaimed(2),
        *begin,
        WaitElapsed(),
        MessageClaimed(3),
        *begin,
        EffectDone(),
    )
    assert [type(effect) for effect in effects[4:6]] == [Wait, ClaimMessage]
    assert [type(effect) for effect in effects[10:12]] == [Wait, ClaimMessage]
    assert effects[-2:] == [MoveToDeadLetters("ValueError: a bug"), Stop()]


def test_a_bug_after_a_checkpoint_does_not_pay_again() -> None:
    """The next attempt is given the saved reply."""
    _, effects = _play(
        MessageClaimed(1),
        EffectDone(),
        ModelReplied(_REPLY),
        EffectFailed(_BUG),
        WaitElapsed(),
        MessageClaimed(2, (_REPLY,)),
        EffectDone(),
    )
    assert effects[-1] == ProcessReply((_REPLY,), False)
    assert effects.count(AskModel()) == 1


def test_a_bug_without_a_checkpoint_asks_again() -> None:
    """A reply that was never stored is gone, and the context is built anew."""
    _, effects = _play(
        MessageClaimed(1),
        EffectDone(),
        ModelReplied(_REPLY),
        EffectFailed(_BUG),
        WaitElapsed(),
        MessageClaimed(2),
        EffectDone(),
        ModelReplied(_REPLY),
    )
    assert effects[-2:] == [AskModel(), ProcessReply((_REPLY,), True)]


def test_an_apology_that_breaks_becomes_a_burial() -> None:
    """Somebody has to be told."""
    _, effects = _play(MessageClaimed(1), EffectDone(), EffectFailed(Rejected("no")), EffectFailed(_BUG), EffectDone())
    assert effects[-2:] == [MoveToDeadLetters("ValueError: a bug"), Stop()]


def test_a_burial_that_breaks_is_tried_a_few_times() -> None:
    """Then the message stays claimed for the next start."""
    failures: list[TurnEvent] = [EffectFailed(_BUG), WaitElapsed()]
    turn, effects = _play(MessageClaimed(9), *failures * 3, EffectFailed(_BUG))
    assert [type(effect) for effect in effects] == [
        MoveToDeadLetters,
        Wait,
        MoveToDeadLetters,
        Wait,
        MoveToDeadLetters,
        Wait,
        MoveToDeadLetters,
        Stop,
    ]
    assert turn.stage == "done"


def test_a_failing_disk_does_not_use_up_the_burials() -> None:
    """Only tries that failed for another reason count, or a full disk would leave a message without a word."""
    full: list[TurnEvent] = [EffectFailed(_DISK), WaitElapsed()]
    _, effects = _play(MessageClaimed(9), *full * 5, EffectFailed(_BUG), WaitElapsed(), EffectDone())
    assert [type(effect) for effect in effects[-3:]] == [Wait, MoveToDeadLetters, Stop]


@pytest.mark.parametrize(
    "before",
    [
        (),
        (MessageClaimed(1),),
        (MessageClaimed(1), EffectDone(), ModelReplied(_REPLY), EffectDone()),
        (MessageClaimed(1), EffectDone(), EffectFailed(Rejected("no"))),
        (MessageClaimed(9),),
    ],
)
def test_an_attempt_that_was_overtaken_stops(before: tuple[TurnEvent, ...]) -> None:
    """Without a word: the later attempt speaks."""
    turn, effects = _play(*before, EffectFailed(Fenced("overtaken")))
    assert (effects[-1], turn.stage) == (Stop(), "done")


def test_a_shortage_of_memory_is_waited_out_before_it_is_held_against_the_message() -> None:
    """The same step is tried again after longer and longer pauses; only when that goes on does it cost an attempt."""
    turn, effect = step(_play(MessageClaimed(1), EffectDone(), EffectFailed(MemoryError()))[0], WaitElapsed(), _POLICY)
    assert (effect, turn.attempt) == (AskModel(0), 1)
    for _ in range(40):
        turn, effect = step(turn, EffectFailed(MemoryError()), _POLICY)
        if turn.stage == "claim":
            break
        turn, effect = step(turn, WaitElapsed(), _POLICY)
    assert turn.stage == "claim"


def test_a_step_changes_nothing_but_what_it_returns() -> None:
    """The same turn and happening give the same answer, and the turn given stays as it was."""
    turn = _play(MessageClaimed(1), EffectDone())[0]
    kept = repr(turn)
    first = step(turn, EffectFailed(StoreError("disk")), _POLICY)
    assert step(turn, EffectFailed(StoreError("disk")), _POLICY) == first
    assert repr(turn) == kept


def test_a_refused_account_defers_the_message() -> None:
    """At once, for asking again would not help; the next provider is asked before, and a pause ends in the same."""
    refused = EffectFailed(AccountRefused("pay first"))
    turn, effects = _play(MessageClaimed(1), EffectDone(), refused)
    assert effects[-1] == Defer("AccountRefused: pay first")
    assert turn.provider_calls == 1
    two = TurnPolicy(provider_count=2)
    assert _play(MessageClaimed(1), EffectDone(), refused, policy=two)[1][-1] == AskModel(1)
    both = _play(MessageClaimed(1), EffectDone(), refused, EffectFailed(Rejected("no")), policy=two)[1]
    assert isinstance(both[-1], Defer)


def test_a_silent_model_is_asked_once_more() -> None:
    """Then the person hears that there is no answer; what it said before it called a tool is one."""
    silent = ModelReplied(Reply(" \n", "stop"))
    _, effects = _play(MessageClaimed(1), EffectDone(), silent, silent)
    assert effects[:3] == [BuildContext(), AskModel(), AskModel()]
    assert effects[-1] == ReportFailure(texts.NO_ANSWER, "the reply ended before it began: stop")
    assert isinstance(_play(MessageClaimed(1), EffectDone(), silent, ModelReplied(_REPLY))[1][-1], ProcessReply)


def test_claims_that_a_purge_takes_back_are_no_attempts() -> None:
    """Somebody may purge one memory after another while a slow model answers."""
    turn, _ = _play(MessageClaimed(1), EffectDone())
    for claim in range(2, 9):
        turn, again = step(turn, EffectFailed(ClaimWithdrawn("gone")), _POLICY)
        assert again == ClaimMessage()
        turn, begun = step(turn, MessageClaimed(claim), _POLICY)
        assert begun == BuildContext()
        turn, _ = step(turn, EffectDone(), _POLICY)
    assert turn.attempt == 8
