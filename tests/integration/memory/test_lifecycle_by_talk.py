"""Every state that a memory can be in, reached by talking to the bot, and by leaving it alone."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from kenobot.cognitive.sleep.plan.changes import Change
from kenobot.cognitive.sleep.prune import endings
from kenobot.cognitive.store import records
from kenobot.ports.records import Record
from kenobot_testing.clock import ManualClock
from tests.nights import carry_out
from tests.scene import Scene

_LYON = "<memory>Adrian lives in Lyon</memory>"
_VIVE = "<memory>Adrian vive en Lyon</memory>"


async def test_told_a_memory_is_a_candidate(tmp_path: Path) -> None:
    """Nobody has vouched for it yet, though it is not meant to go."""
    async with _talk(tmp_path, [f"Noted. {_LYON}"]) as scene:
        await _say(scene, "I live in Lyon")
        record = await _only(scene)
        assert (record.lifecycle, record.verification, record.policy_class) == ("candidate", "unverified", "durable")


async def test_told_again_it_is_validated_and_then_active(tmp_path: Path) -> None:
    """The owner says it in other turns: each time is one step, and counts as a confirmation."""
    async with _talk(tmp_path, [f"Noted. {_LYON}"]) as scene:
        states = []
        for told in ("I live in Lyon", "As I said, I live in Lyon", "I still live in Lyon"):
            await _say(scene, told)
            states.append((await _only(scene)).lifecycle)
        assert states == ["candidate", "validated", "active"]
        assert (await _only(scene)).verification == "user_confirmed"


@pytest.mark.parametrize(
    ("memory", "asked", "reply", "yes"),
    [
        (_LYON, "Where do I live?", "You live in Lyon.", "Yes, that's right"),
        (_VIVE, "¿Dónde vivo?", "Vives en Lyon.", "Sí, exacto"),
    ],
)
async def test_a_yes_to_a_reply_confirms_what_it_used(
    tmp_path: Path, memory: str, asked: str, reply: str, yes: str
) -> None:
    """Candidate to active, verified by the owner, with the time of the yes."""
    async with _talk(tmp_path, [f"Ok. {memory}", reply, "Ok."]) as scene:
        await _say(scene, "hola, hello")
        await _say(scene, asked)
        await _say(scene, yes)
        record = await _only(scene)
        assert (record.lifecycle, record.verification) == ("active", "user_confirmed")
        assert record.confirmed is not None


@pytest.mark.parametrize(
    ("memory", "asked", "reply", "no"),
    [
        (_LYON, "Where do I live?", "You live in Lyon.", "No, that's wrong"),
        (_VIVE, "¿Dónde vivo?", "Vives en Lyon.", "Eso ya no es así"),
    ],
)
async def test_a_no_to_a_reply_disputes_what_it_used(
    tmp_path: Path, memory: str, asked: str, reply: str, no: str
) -> None:
    """It becomes disputed and stale, less sure, and a later yes makes it good again."""
    async with _talk(tmp_path, [f"Ok. {memory}", reply, "Sorry.", reply, "Ok."]) as scene:
        await _say(scene, "hola, hello")
        before = await _only(scene)
        await _say(scene, asked)
        await _say(scene, no)
        record = await _only(scene)
        assert (record.lifecycle, record.verification) == ("stale", "disputed")
        assert record.confidence < before.confidence
        await _say(scene, asked)
        await _say(scene, "exacto")
        assert ((await _only(scene)).lifecycle, (await _only(scene)).verification) == ("active", "user_confirmed")


async def test_a_yes_in_another_chat_than_it_was_told_in_counts(tmp_path: Path) -> None:
    """What is shown there comes from the frame of that chat, and the reply used it."""
    async with _talk(tmp_path, [f"Ok. {_LYON}", "You live in Lyon.", "Good."]) as scene:
        await _say(scene, "hello")
        await _say(scene, "Where do I live?", chat="7")
        await _say(scene, "exactly", chat="7")
        assert (await _only(scene)).verification == "user_confirmed"


async def test_pinned_it_is_protected(tmp_path: Path) -> None:
    """Right after telling it, with a reply that says nothing of it; ten years later it is where it was."""
    clock = ManualClock()
    async with _talk(tmp_path, ["<memory>Adrian is allergic to peanuts</memory> Noted!", "I will."], clock) as scene:
        await _say(scene, "I am allergic to peanuts")
        await _say(scene, "remember this always")
        assert (await _only(scene)).policy_class == "protected"
        assert await _leave(scene, days=3650) == []
        assert (await _only(scene)).status == "active"


async def test_a_bare_no_disputes_nothing(tmp_path: Path) -> None:
    """It answers the question that the reply ended with."""
    replies = [f"Ok. {_LYON}", "You live in Lyon. Shall I look up the weather there?", "Fine."]
    async with _talk(tmp_path, replies) as scene:
        await _say(scene, "hello")
        await _say(scene, "Where do I live?")
        await _say(scene, "no")
        assert (await _only(scene)).verification == "unverified"


async def test_a_guest_confirms_and_disputes_nothing_of_the_owners(tmp_path: Path) -> None:
    """In a group that the owner is in, somebody else says "that's wrong"."""
    async with _talk(tmp_path, [f"Ok. {_LYON}", "Adrian lives in Lyon.", "Sorry."]) as scene:
        await _say(scene, "hello")
        scene.clock.advance(60)  # type: ignore[attr-defined]
        await scene.say("Where does Adrian live?", chat="-5", user="1", private=False)
        scene.clock.advance(60)  # type: ignore[attr-defined]
        await scene.say("that's wrong", chat="-5", user="2", private=False)
        assert [record.verification for record in await _all(scene)] == ["unverified"]


async def test_left_alone_a_forwarded_claim_goes_stale_and_then_to_the_archive(tmp_path: Path) -> None:
    """Nobody vouched for it and nobody spoke of it for months. It leaves with an event, and nothing is erased."""
    clock = ManualClock()
    async with _talk(tmp_path, ["<memory>The office moves to Berlin</memory> Noted."], clock) as scene:
        await scene.say("The office moves to Berlin", forwarded=True)
        [move] = await _leave(scene, days=120)
        assert move.kind == "cooled"
        assert (await _only(scene)).lifecycle == "stale"
        [move] = await _leave(scene, days=100)
        record = await _only(scene)
        assert (move.kind, record.lifecycle, record.status) == ("faded", "archived", "archived")
        assert await _leave(scene, days=1) == []


async def test_left_alone_what_the_owner_said_stays(tmp_path: Path) -> None:
    """Two years of silence change nothing about it."""
    clock = ManualClock()
    async with _talk(tmp_path, [f"Noted. {_LYON}"], clock) as scene:
        await _say(scene, "I live in Lyon")
        before = await _only(scene)
        assert await _leave(scene, days=730) == []
        assert await _only(scene) == before


def _talk(folder: Path, replies: Sequence[str], clock: ManualClock | None = None) -> Scene:
    return Scene(folder, replies, clock=clock or ManualClock())


async def _say(scene: Scene, text: str, chat: str = "1") -> None:
    """One turn of the owner's, a minute after the last."""
    assert isinstance(scene.clock, ManualClock)
    scene.clock.advance(60)
    await scene.say(text, chat=chat, user="1")


async def _leave(scene: Scene, days: int) -> list[Change]:
    """Nobody says anything for so many days; then what sleep does about it."""
    assert isinstance(scene.clock, ManualClock)
    scene.clock.advance(days=days)
    return await scene.app.database.write(
        lambda connection: carry_out(connection, endings.LIFECYCLE, scene.clock.now())
    )


async def _all(scene: Scene) -> list[Record]:
    ids = [int(str(row[0])) for row in await scene.rows("SELECT id FROM record WHERE form IN ('note', 'episode')")]
    found = await scene.app.database.read(
        lambda connection: records.by_ids(connection, ids, ("owner", "chat:telegram-1", "chat:telegram--5"))
    )
    return [found[number] for number in sorted(found)]


async def _only(scene: Scene) -> Record:
    [record] = await _all(scene)
    return record
