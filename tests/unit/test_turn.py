"""The step function of a turn: what happened, and what to do next."""

from dataclasses import replace
from random import Random

import pytest

from kenobot.agent.turn.state_machine import (
    Apologise,
    AskModel,
    Begun,
    BuildContext,
    Bury,
    Claim,
    Commit,
    Committed,
    ContextBuilt,
    Effect,
    Failed,
    Happening,
    Obey,
    Park,
    Probe,
    Probed,
    Process,
    Processed,
    Replied,
    Stop,
    Turn,
    TurnPolicy,
    Wait,
    Waited,
    step,
)
from kenobot.core.retry import RetryPolicy
from kenobot.ports.errors import (
    Fenced,
    PromptTooLong,
    RateLimited,
    Rejected,
    RemoteError,
    Resting,
    StoreError,
    StoreFull,
    TruncatedReply,
    Unavailable,
)
from kenobot.ports.provider import Reply

_POLICY = TurnPolicy(attempts=3, retry=RetryPolicy(attempts=3))
_REPLY = Reply("hello", "end_turn")
_BUG = ValueError("a bug")
_DISK = StoreFull("no space")


def _play(*happenings: Happening, policy: TurnPolicy = _POLICY) -> tuple[Turn, list[Effect]]:
    turn, effects = Turn(), list[Effect]()
    for happening in happenings:
        turn, effect = step(turn, happening, policy)
        effects.append(effect)
    return turn, effects


def test_a_turn_without_trouble() -> None:
    """Context, model, processing, commit, done."""
    turn, effects = _play(Begun(1), ContextBuilt(), Replied(_REPLY), Processed(), Committed())
    assert effects == [BuildContext(), AskModel(), Process(_REPLY, True), Commit(), Stop()]
    assert (turn.stage, turn.asked) == ("done", 1)


def test_a_saved_reply_is_not_asked_for_again() -> None:
    """It was paid for; it is not checkpointed a second time either."""
    _, effects = _play(Begun(2, _REPLY), ContextBuilt(), Processed())
    assert effects == [BuildContext(), Process(_REPLY, False), Commit()]


def test_a_message_that_failed_too_often_is_buried() -> None:
    """Without another call of the model."""
    turn, effects = _play(Begun(4), Committed())
    assert isinstance(effects[0], Bury)
    assert "3 attempts" in effects[0].reason
    assert (effects[1], turn.stage) == (Stop(), "done")


@pytest.mark.parametrize("error", [Unavailable("down"), RateLimited("slow"), TruncatedReply("cut")])
def test_a_model_that_is_down_is_asked_again_a_few_times(error: RemoteError) -> None:
    """Then the message is parked until it is back."""
    _, effects = _play(
        Begun(1), ContextBuilt(), Failed(error), Waited(), Failed(error), Waited(), Failed(error), Committed()
    )
    assert effects[:6] == [BuildContext(), AskModel(), Wait(1), AskModel(), Wait(2), AskModel()]
    assert effects[6] == Park(f"{type(error).__name__}: {error}")
    assert effects[7] == Stop()


def test_a_parked_turn_says_that_it_has_to_be_taken_up_again() -> None:
    """Any other end is the last word on a message."""
    down = (Begun(1), ContextBuilt(), Failed(Resting("leave it")))
    assert _play(*down, Committed())[0].parked
    assert not _play(Begun(1), ContextBuilt(), Failed(Rejected("no")), Committed())[0].parked
    assert not _play(*down, Failed(Fenced("overtaken")))[0].parked


def test_a_provider_that_rests_is_not_waited_for() -> None:
    """Nobody was asked, so asking again in a second would only keep the person waiting."""
    assert _play(Begun(1), ContextBuilt(), Failed(Resting("leave it")))[1][-1] == Park("Resting: leave it")


def test_the_fallback_is_asked_when_the_first_model_cannot_answer() -> None:
    """Also when it refused: another one may take what it would not. Each has tries of its own."""
    two = replace(_POLICY, providers=2)
    for error in (Resting("leave it"), Rejected("no"), RateLimited("slow", 900)):
        assert _play(Begun(1), ContextBuilt(), Failed(error), policy=two)[1][-1] == AskModel(1)
    fallen = (Begun(1), ContextBuilt(), Failed(Resting("leave it")))
    assert _play(*fallen, Failed(Unavailable("down")), policy=two)[1][-1] == Wait(1)
    assert isinstance(_play(*fallen, Failed(Rejected("no")), policy=two)[1][-1], Park), "the first may come back"
    refused = (Begun(1), ContextBuilt(), Failed(Rejected("no")), Failed(Rejected("no")))
    assert _play(*refused, policy=two)[1][-1] == Apologise("rejected", "Rejected: no")


def test_tries_end_with_their_budget() -> None:
    """A pause that would end beyond it is not begun."""
    turn, _ = _play(Begun(1), ContextBuilt())
    assert step(turn, Failed(Unavailable("down"), 88), _POLICY)[1] == Wait(1)
    assert isinstance(step(turn, Failed(Unavailable("down"), 89.5), _POLICY)[1], Park)


def test_a_prompt_that_is_too_long_is_cut_once() -> None:
    """Then the model is told less; if that is too much as well, there is nothing more to be done."""
    too_long = Failed(PromptTooLong("too long"))
    _, effects = _play(Begun(1), ContextBuilt(), too_long, ContextBuilt(), too_long)
    assert effects == [BuildContext(), AskModel(), BuildContext(narrow=True), AskModel(), effects[-1]]
    assert isinstance(effects[-1], Apologise)


def test_a_message_that_was_parked_often_is_told_from_an_outage() -> None:
    """If the model answers something harmless, it is this message that it cannot stand: that one is buried."""
    turn, effect = Turn(parks=3), BuildContext()  # type: tuple[Turn, Effect]
    for happening in (Begun(1), ContextBuilt(), Failed(Resting("leave it"))):
        turn, effect = step(turn, happening, _POLICY)
    assert effect == Probe()
    assert step(turn, Probed(alive=False), _POLICY)[1] == Park("Resting: leave it")
    turn, effect = step(turn, Probed(alive=True), _POLICY)
    assert effect == AskModel(), "the outage may have ended just now"
    buried = step(turn, Failed(Resting("leave it")), _POLICY)[1]
    assert buried == Bury("the model answers others, but not this: Resting: leave it")
    assert step(turn, Replied(_REPLY), _POLICY)[1] == Process(_REPLY, True)


def test_a_message_that_is_too_old_is_not_answered() -> None:
    """The person is told; but an answer that was paid for goes out, however late."""
    policy = replace(_POLICY, expire=3600)
    assert _play(Begun(1, None, 3600), policy=policy)[1] == [BuildContext()]
    assert _play(Begun(1, None, 7300), policy=policy)[1] == [Apologise("expired", "it was 2 hours old", "expired")]
    assert _play(Begun(1, _REPLY, 7300), policy=policy)[1] == [BuildContext()]


def test_a_command_is_obeyed_without_a_model() -> None:
    """One step, and the turn is over."""
    _, effects = _play(Begun(1, None, 0.0, order=True), Committed())
    assert effects == [Obey(), Stop()]


def test_a_refusal_is_told_at_once() -> None:
    """Asking again would not mend it."""
    _, effects = _play(Begun(1), ContextBuilt(), Failed(Rejected("no")))
    assert effects[-1] == Apologise("rejected", "Rejected: no")


def test_the_servers_wish_is_obeyed() -> None:
    """A short one is waited for, one beyond patience is not."""
    assert _play(Begun(1), ContextBuilt(), Failed(RateLimited("slow", 20)))[1][-1] == Wait(20)
    assert isinstance(_play(Begun(1), ContextBuilt(), Failed(RateLimited("slow", 900)))[1][-1], Park)


def test_the_pause_is_spread() -> None:
    """With a source of chance the pauses of many turns do not coincide."""
    turn = _play(Begun(1), ContextBuilt())[0]
    pauses = {step(turn, Failed(Unavailable("down")), _POLICY, Random(seed))[1] for seed in range(20)}
    assert len(pauses) == 20


@pytest.mark.parametrize(
    ("before", "effect"),
    [
        ((), Claim()),
        ((Begun(1),), BuildContext()),
        ((Begun(1), ContextBuilt(), Replied(_REPLY), Processed()), Commit()),
        ((Begun(1), ContextBuilt(), Failed(Rejected("no"))), Apologise("rejected", "Rejected: no")),
        ((Begun(9),), Bury("3 attempts failed")),
    ],
)
def test_a_failing_disk_is_waited_for(before: tuple[Happening, ...], effect: Effect) -> None:
    """However long it takes: the same thing again, with growing pauses, without spending attempts or calls."""
    turn, _ = _play(*before)
    asked, pauses = turn.asked, []
    for _ in range(50):
        turn, wait = step(turn, Failed(_DISK), _POLICY)
        assert isinstance(wait, Wait)
        pauses.append(wait.seconds)
        turn, again = step(turn, Waited(), _POLICY)
        assert again == effect
    assert pauses[:6] == [1, 2, 4, 8, 16, 30]
    assert set(pauses[5:]) == {30}
    assert turn.asked == asked


def test_a_bug_costs_an_attempt() -> None:
    """The message is claimed anew, so that a restart in between counts as well, and the last attempt buries it."""
    begin = (ContextBuilt(), Replied(_REPLY), Processed(), Failed(_BUG))
    _, effects = _play(Begun(1), *begin, Waited(), Begun(2), *begin, Waited(), Begun(3), *begin, Committed())
    assert [type(effect) for effect in effects[4:6]] == [Wait, Claim]
    assert [type(effect) for effect in effects[10:12]] == [Wait, Claim]
    assert effects[-2:] == [Bury("ValueError: a bug"), Stop()]


def test_a_bug_after_a_checkpoint_does_not_pay_again() -> None:
    """The next attempt is given the saved reply."""
    _, effects = _play(
        Begun(1), ContextBuilt(), Replied(_REPLY), Failed(_BUG), Waited(), Begun(2, _REPLY), ContextBuilt()
    )
    assert effects[-1] == Process(_REPLY, False)
    assert effects.count(AskModel()) == 1


def test_a_bug_without_a_checkpoint_asks_again() -> None:
    """A reply that was never stored is gone, and the context is built anew."""
    _, effects = _play(
        Begun(1), ContextBuilt(), Replied(_REPLY), Failed(_BUG), Waited(), Begun(2), ContextBuilt(), Replied(_REPLY)
    )
    assert effects[-2:] == [AskModel(), Process(_REPLY, True)]


def test_an_apology_that_breaks_becomes_a_burial() -> None:
    """Somebody has to be told."""
    _, effects = _play(Begun(1), ContextBuilt(), Failed(Rejected("no")), Failed(_BUG), Committed())
    assert effects[-2:] == [Bury("ValueError: a bug"), Stop()]


def test_a_burial_that_breaks_is_tried_a_few_times() -> None:
    """Then the message stays claimed for the next start."""
    failures: list[Happening] = [Failed(_BUG), Waited()]
    turn, effects = _play(Begun(9), *failures * 3, Failed(_BUG))
    assert [type(effect) for effect in effects] == [Bury, Wait, Bury, Wait, Bury, Wait, Bury, Stop]
    assert turn.stage == "done"


def test_a_failing_disk_does_not_use_up_the_burials() -> None:
    """Only tries that failed for another reason count, or a full disk would leave a message without a word."""
    full: list[Happening] = [Failed(_DISK), Waited()]
    _, effects = _play(Begun(9), *full * 5, Failed(_BUG), Waited(), Committed())
    assert [type(effect) for effect in effects[-3:]] == [Wait, Bury, Stop]


@pytest.mark.parametrize(
    "before",
    [
        (),
        (Begun(1),),
        (Begun(1), ContextBuilt(), Replied(_REPLY), Processed()),
        (Begun(1), ContextBuilt(), Failed(Rejected("no"))),
        (Begun(9),),
    ],
)
def test_an_attempt_that_was_overtaken_stops(before: tuple[Happening, ...]) -> None:
    """Without a word: the later attempt speaks."""
    turn, effects = _play(*before, Failed(Fenced("overtaken")))
    assert (effects[-1], turn.stage) == (Stop(), "done")


def test_a_shortage_of_memory_is_waited_out_before_it_is_held_against_the_message() -> None:
    """The same step is tried again after longer and longer pauses; only when that goes on does it cost an attempt."""
    turn, effect = step(_play(Begun(1), ContextBuilt(), Failed(MemoryError()))[0], Waited(), _POLICY)
    assert (effect, turn.attempt) == (AskModel(0), 1)
    for _ in range(40):
        turn, effect = step(turn, Failed(MemoryError()), _POLICY)
        if turn.stage == "claim":
            break
        turn, effect = step(turn, Waited(), _POLICY)
    assert turn.stage == "claim"


def test_a_step_changes_nothing_but_what_it_returns() -> None:
    """The same turn and happening give the same answer, and the turn given stays as it was."""
    turn = _play(Begun(1), ContextBuilt())[0]
    kept = repr(turn)
    first = step(turn, Failed(StoreError("disk")), _POLICY)
    assert step(turn, Failed(StoreError("disk")), _POLICY) == first
    assert repr(turn) == kept
