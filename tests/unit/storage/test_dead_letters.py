"""Mail that went wrong is retried or dropped beside a running bot, and ends exactly once."""

from datetime import timedelta
from pathlib import Path

import pytest

from kenobot.core import texts
from kenobot.ports.errors import Rejected
from kenobot.ports.messages import Outbound
from kenobot.ports.provider import Reply
from kenobot.storage import dead_letters, turn_steps
from kenobot.storage.connection import connect
from kenobot.storage.dead_letters import DeadLetterId, LetterOutcome
from kenobot_testing.clock import START, EagerClock
from kenobot_testing.provider import ScriptedProvider
from tests.scene import Scene

REFUSED = Rejected("the model does not like it")


async def elsewhere(scene: Scene, change: str, number: str) -> LetterOutcome:
    """What the command line does from a process of its own; then the bot looks."""
    connection = connect(scene.home.database)
    verdict: LetterOutcome = getattr(dead_letters, change)(connection, DeadLetterId.parse(number), scene.clock.now())
    connection.close()
    await scene.app.check_external_changes()
    await scene.app.wait_drained()
    return verdict


async def states(scene: Scene) -> list[tuple[object, ...]]:
    return await scene.rows("SELECT state, attempts, reason FROM inbox ORDER BY id")


async def test_a_message_that_failed_is_answered_by_a_retry_exactly_once(tmp_path: Path) -> None:
    """Although the person was told already: the apology stays sent, the answer is a new part."""
    async with Scene(tmp_path, [REFUSED, "Here you are."]) as scene:
        assert await scene.say("hello, what is this?") == texts.REJECTED("en")
        assert [state for state, *_ in await states(scene)] == ["failed"]
        assert await elsewhere(scene, "retry", "in-1") == "done"
        assert scene.texts == [texts.REJECTED("en"), "Here you are."]
        assert await states(scene) == [("answered", 1, "")]
        assert await elsewhere(scene, "retry", "in-1") == "missing"
        await scene.app.sweep()
        await scene.app.wait_drained()
        assert len(scene.texts) == 2


async def test_a_retried_message_stands_once_in_the_conversation(tmp_path: Path) -> None:
    """The model is not shown the question twice, and what is said next follows the answer."""
    async with Scene(tmp_path, [REFUSED, "Blue.", "Still blue."]) as scene:
        await scene.say("which colour is it?")
        await elsewhere(scene, "retry", "in-1")
        assert scene.requests[-1].count("which colour is it?") == 1
        await scene.say("and now?")
        assert await scene.rows("SELECT role, text FROM message ORDER BY id") == [
            ("user", "which colour is it?"),
            ("assistant", "Blue."),
            ("user", "and now?"),
            ("assistant", "Still blue."),
        ]


async def test_a_dead_message_that_broke_the_program_is_answered_once_that_is_mended(tmp_path: Path) -> None:
    """A retry starts from the beginning: five tries again, and a reply paid for earlier is asked for anew."""
    provider = ScriptedProvider([RuntimeError("a bug")] * 5 + ["Well again."], repeat_last=True)
    async with Scene(tmp_path, provider=provider) as scene:
        await scene.say("hello, are you there?")
        [(state, attempts, reason)] = await states(scene)
        assert (state, attempts) == ("dead", 5)
        assert "a bug" in str(reason)
        await scene.app.database.write(lambda c: turn_steps.append_step(c, 1, 0, _STALE, START))
        assert await elsewhere(scene, "retry", "in-1") == "done"
        assert scene.texts[-1] == "Well again."
        assert await states(scene) == [("answered", 1, "")]


_STALE = Reply("a stale reply", "end_turn")


async def test_an_expired_message_counts_its_age_anew(tmp_path: Path) -> None:
    """Else a retry would only expire it again; the model still learns how old it is."""
    clock = EagerClock()
    async with Scene(tmp_path, ["Better late."], clock=clock) as scene:
        old = clock.now() - timedelta(days=5)
        assert await scene.say("hello, are you there?", sent_at=old) == texts.EXPIRED("en")
        assert [state for state, *_ in await states(scene)] == ["expired"]
        await elsewhere(scene, "retry", "in-1")
        assert scene.texts[-1] == "Better late."
        assert [state for state, *_ in await states(scene)] == ["answered"]


async def test_a_part_that_could_not_be_delivered_is_sent_by_a_retry(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """To its chat, once."""
    async with Scene(tmp_path, ["Hi!"]) as scene:
        original, blocked = scene.channel.send, [Rejected("blocked by the user")]

        async def send(outbound: Outbound) -> str:
            if outbound.chat == "2" and blocked:
                raise blocked.pop()
            return await original(outbound)

        monkeypatch.setattr(scene.channel, "send", send)
        await scene.say("hello", chat="2")
        assert [sent for sent in scene.channel.sent if sent.chat == "2"] == []
        assert await elsewhere(scene, "retry", "out-1") == "done"
        assert [sent.part.text for sent in scene.channel.sent if sent.chat == "2"] == ["Hi!"]
        assert await scene.rows("SELECT state FROM outbox WHERE id = 1") == [("sent",)]


async def test_what_is_dropped_is_gone_but_known_again(tmp_path: Path) -> None:
    """Its words are deleted; the platform's repeat of it is still no new message."""
    async with Scene(tmp_path, [REFUSED, "Hi!"]) as scene:
        await scene.say("my words")
        assert await elsewhere(scene, "drop", "in-1") == "done"
        assert await scene.rows("SELECT state, text, reason FROM inbox") == [("dropped", "", "dropped by the owner")]
        assert await elsewhere(scene, "drop", "in-1") == "missing"
        assert await scene.app.loop(scene.inbounds[-1]) is False
        await scene.app.wait_drained()
        assert len(scene.texts) == 1


async def test_what_could_not_be_understood_can_only_be_dropped(tmp_path: Path) -> None:
    """There is no chat to answer it in."""
    async with Scene(tmp_path, ["Hi!"]) as scene:
        await scene.app.loop.dead_letter("telegram", "9", "{broken", "no message")
        assert await elsewhere(scene, "retry", "in-1") == "unreadable"
        assert await states(scene) == [("dead", 0, "no message")]
        assert await elsewhere(scene, "drop", "in-1") == "done"
        assert [state for state, *_ in await states(scene)] == ["dropped"]


@pytest.mark.parametrize("change", ["retry", "drop"])
async def test_what_is_on_its_way_is_left_alone(tmp_path: Path, change: str) -> None:
    """Somebody works on it; and what went well is no letter at all."""
    async with Scene(tmp_path, ["Hi!"]) as scene:
        await scene.say("hello")
        await scene.app.database.write(
            lambda connection: connection.execute("UPDATE outbox SET state = 'pending', channel = 'nowhere'")
        )
        assert await elsewhere(scene, change, "out-1") == "busy"
        assert await elsewhere(scene, change, "in-1") == "missing"
        assert await elsewhere(scene, change, "in-99") == "missing"


@pytest.mark.parametrize("text", ["", "12", "in", "in-", "in-0", "in-01", "in-1x", "on-1", "IN-1", "in-" + "9" * 40])
def test_what_is_no_number_of_a_letter(text: str) -> None:
    """Refused, not guessed at."""
    with pytest.raises(ValueError, match="is not the number of a letter"):
        DeadLetterId.parse(text)


async def test_the_bot_takes_up_by_itself_what_nobody_works_on(tmp_path: Path) -> None:
    """A message left over by a turn that broke is answered by the next sweep, without a restart."""
    async with Scene(tmp_path, ["Hi!"]) as scene:
        await scene.say("hello")
        await scene.app.database.write(
            lambda c: c.execute(
                "INSERT INTO inbox (channel, external_id, chat, session, sender, text, sent_at, received_at, trace) "
                "SELECT channel, 'left over', chat, session, sender, text, sent_at, received_at, trace FROM inbox"
            )
        )
        await scene.app.sweep()
        await scene.app.wait_drained()
        assert len(scene.texts) == 2
