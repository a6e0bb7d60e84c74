"""Messages that are edited: the last one is answered anew in place of the old answer, of others the history tells."""

import asyncio
from collections.abc import AsyncIterator
from datetime import timedelta
from pathlib import Path

import pytest

from kenobot.ports.messages import Attachment
from kenobot.ports.provider import Delta, Request
from kenobot.providers.offline import OfflineProvider
from kenobot_testing.scripted import ScriptedProvider
from tests.scene import Scene


class Slow(ScriptedProvider):
    """Never answers the first request."""

    def __init__(self, replies: list[str]) -> None:
        super().__init__(list(replies))
        self.asked = asyncio.Event()

    async def stream(self, request: Request) -> AsyncIterator[Delta]:
        if not self.asked.is_set():
            self.asked.set()
            await asyncio.Event().wait()
        async for delta in super().stream(request):
            yield delta


class Held(ScriptedProvider):
    """Answers once it may."""

    def __init__(self, replies: list[str]) -> None:
        super().__init__(list(replies))
        self.asked = asyncio.Event()
        self.go_on = asyncio.Event()

    async def stream(self, request: Request) -> AsyncIterator[Delta]:
        self.asked.set()
        await self.go_on.wait()
        async for delta in super().stream(request):
            yield delta


async def edit(scene: Scene, target: str, text: str, user: str = "1", attachments: tuple[Attachment, ...] = ()) -> str:
    more = {"kind": "edit", "target": target, "platform_id": target, "attachments": attachments}
    return await scene.say(text, "1", user, **more)


async def history(scene: Scene) -> list[tuple[object, ...]]:
    return await scene.rows("SELECT role, text FROM message ORDER BY id")


async def test_the_last_message_is_answered_anew_in_place(tmp_path: Path) -> None:
    """The conversation has the new words only, and the old answer is replaced; so is that by a second edit."""
    async with Scene(tmp_path, ["Madrid, sunny", "Malaga, rain", "Merida, fog", "bye"]) as scene:
        await scene.say("weather in Madrid?", platform_id="10")
        old = scene.channel.sent[-1]
        assert await edit(scene, "10", "weather in Malaga?") == "Malaga, rain"
        assert scene.channel.sent[-1].replaces == str(old.id)
        assert await edit(scene, "10", "weather in Merida?") == "Merida, fog"
        assert await history(scene) == [("user", "weather in Merida?"), ("assistant", "Merida, fog")]
        assert "Madrid" not in scene.requests[-1]
        assert "Malaga" not in scene.requests[-1]
        assert await scene.say("thanks", platform_id="12") == "bye"


async def test_what_the_old_words_taught_is_taken_back(tmp_path: Path) -> None:
    """What they replaced is believed again, unless the new words say otherwise; what was known before stays."""
    replies = [
        "ok <memory>The gate code is 1111</memory>",
        "ok <memory>The dentist is on Monday</memory>",
        "ok <memory>The dentist is on Tuesday</memory>",
    ]
    async with Scene(tmp_path, replies) as scene:
        await scene.say("the gate code is 1111", platform_id="10")
        await scene.say("dentist on Monday", platform_id="11")
        await edit(scene, "11", "dentist on Tuesday")
        active = await scene.rows("SELECT text FROM record WHERE status = 'active' AND form = 'note' ORDER BY id")
        assert active == [("The gate code is 1111",), ("The dentist is on Tuesday",)]


async def test_what_the_new_words_repeat_is_believed_again(tmp_path: Path) -> None:
    """Also where memory reads it out of the words, and the edit was made a while before it came in."""
    async with Scene(tmp_path, provider=OfflineProvider(), extraction=True) as scene:
        await scene.say("Mi gata se llama Luna. Vivo en Lugo", platform_id="10")
        made = scene.clock.now() + timedelta(seconds=1)
        await scene.clock.sleep(5.0)
        await scene.say("Mi gata se llama Luna. Vivo en Vigo", kind="edit", target="10", platform_id="10", sent_at=made)
        told = await scene.rows("SELECT text FROM record WHERE status = 'active' AND text LIKE '%Luna%'")
        assert told == [("Mi gata se llama Luna",)]


async def known(scene: Scene) -> list[str]:
    rows = await scene.rows("SELECT text FROM record WHERE status = 'active' AND form IN ('note', 'episode')")
    return [str(text) for (text,) in rows]


async def test_an_earlier_message_is_not_answered_again(tmp_path: Path) -> None:
    """The model is told at the next message; what taught nothing is edited without a word."""
    async with Scene(tmp_path, ["ok", "yes", "I see"]) as scene:
        await scene.say("Ana lives in Rome", platform_id="10")
        await scene.say("is it warm there?", platform_id="11")
        assert await edit(scene, "10", "Ana lives in Paris") == ""
        await scene.say("and now?", platform_id="12")
        assert "[edited an earlier message, which reads now:]\nAna lives in Paris" in scene.requests[-1]
        assert await scene.rows("SELECT DISTINCT state FROM inbox") == [("answered",)]


@pytest.mark.parametrize(
    ("said", "noted", "now", "kept"),
    [
        ("Ana lives in Rome", ["Ana lives in Rome"], "Ana lives in Paris", ["Ana lives in Paris"]),
        ("dentist on Monday", ["The dentist is on Monday"], "dentist on Tuesday", ["The dentist is on Tuesday"]),
        ("gate 1111, ok?", ["The gate code is 1111"], "gate 2222, ok", ["The gate code is 2222"]),
        ("tía Pura viene el lunes", ["Pura viene el lunes"], "tía Pura viene el 4", ["tía Pura viene el 4"]),
        ("Bob is ill. Milk is out.", ["Bob is ill", "Milk is out"], "Bob is ill. Milk is in.",
         ["Bob is ill", "Milk is in"]),
        ("Bob is ill. Milk is out.", ["Bob is ill", "Milk is out"], "Bob is ill.", ["Bob is ill"]),
        ("the car is in the garage", ["The car is in the garage"], "the old car is not in the garage today",
         ["the old car is not in the garage today"]),
        ("/remember The code is 11", [], "/remember The code is 22", ["The code is 22"]),
        ("/recuerda La clave es 11", [], "/olvida La clave es 11", []),
        ("buy bread at Lidl", ["Bread is bought at Lidl"], "forget it", []),
        ("the party is at 8", ["The party is at 8"], "is the party at 9?", []),
    ],
)  # fmt: skip
async def test_memory_follows_the_edit_of_an_earlier_message(
    tmp_path: Path, said: str, noted: list[str], now: str, kept: list[str]
) -> None:
    """What the old words taught gives way at once to what the new ones say, without extraction too, and is told."""
    tags = " ".join(f"<memory>{each}</memory>" for each in noted)
    async with Scene(tmp_path, [f"ok {tags}", "yes", "no"]) as scene:
        await scene.say(said, platform_id="10")
        await scene.say("how are you?", platform_id="11")
        told = await edit(scene, "10", now)
        assert sorted(await known(scene)) == sorted(kept)
        assert all(each in told for each in {*kept, *noted} - ({*kept} & {*noted}))
        assert len(scene.requests) == 1 + bool(noted)
        assert told and await edit(scene, "10", now) == ""


async def test_the_rules_read_the_edit_of_an_earlier_message(tmp_path: Path) -> None:
    """Without a model the new words are remembered too, what stays is left alone, and the word is in their language."""
    async with Scene(tmp_path, provider=OfflineProvider(), extraction=True) as scene:
        await scene.say("Mi gata se llama Luna. Vivo en Lugo", platform_id="10")
        await scene.say("Tengo dos hermanos", platform_id="11")
        told = await edit(scene, "10", "Mi gata se llama Luna. Vivo en Vigo")
        assert "ahora recuerdo: Vivo en Vigo" in told and "Vivo en Lugo" in told and "Luna" not in told
        assert "Vivo en Lugo" not in await known(scene)
        assert [each for each in await known(scene) if "Luna" in each] == ["Mi gata se llama Luna"]


async def test_an_edit_of_anothers_words_teaches_nothing(tmp_path: Path) -> None:
    """What a forwarded message taught goes, and what it says now is nobody's own word."""
    async with Scene(tmp_path, ["ok <memory>The rent is 950</memory>", "yes"]) as scene:
        await scene.say("The rent is 950", platform_id="10", forwarded=True)
        await scene.say("thanks", platform_id="11")
        await scene.say("The rent is 990", kind="edit", target="10", platform_id="10", forwarded=True)
        assert "The rent is 990" not in await known(scene)


async def test_an_earlier_message_gets_another_file(tmp_path: Path) -> None:
    """Its caption is followed as any words are, and the conversation tells of it."""
    one, other = (Attachment("document", name="a.txt", handle=handle) for handle in "ab")
    async with Scene(tmp_path, ["ok <memory>The rent is 950</memory>", "yes"]) as scene:
        await scene.say("The rent is 950", platform_id="10", attachments=(one,))
        await scene.say("thanks", platform_id="11")
        assert "The rent is 990" in await edit(scene, "10", "The rent is 990", attachments=(other,))
        assert "The rent is 990" in str(await history(scene))


async def test_an_edited_group_message_is_told_to_the_group(tmp_path: Path) -> None:
    """The word of what changed is a reply to the message that was edited."""
    async with Scene(tmp_path, ["ok <chat-memory>The match is on Friday</chat-memory>", "yes"]) as scene:
        await scene.say("The match is on Friday", "-5", "9", private=False, platform_id="10")
        await scene.say("fine", "-5", "8", private=False, platform_id="11")
        told = await scene.say(
            "The match is on Sunday", "-5", "9", kind="edit", target="10", platform_id="10", private=False
        )
        assert "The match is on Sunday" in told
        assert (scene.channel.sent[-1].reply_to, scene.channel.sent[-1].reader) == ("10", "")


async def test_an_edit_that_changes_nothing_is_nothing(tmp_path: Path) -> None:
    """As when a platform adds a preview of a link; a platform's repeat of the edit is nothing either."""
    async with Scene(tmp_path, ["one", "two"]) as scene:
        await scene.say("see example.org", platform_id="10")
        assert await edit(scene, "10", "see example.org") == ""
        assert len(scene.requests) == 1


async def test_an_edit_of_an_unknown_message_is_a_message(tmp_path: Path) -> None:
    """Such as one in a group that names the bot only now, or another person's of the same number."""
    async with Scene(tmp_path, ["hello"]) as scene:
        assert await edit(scene, "10", "are you there?") == "hello"
        assert await edit(scene, "10", "mine", user="2") == "hello"


async def test_an_unknown_message_that_is_edited_again_is_answered_once(tmp_path: Path) -> None:
    """Its first edit stands for it: a repeat of that is nothing, and new words replace the answer."""
    async with Scene(tmp_path, ["hello", "goodbye"]) as scene:
        await edit(scene, "10", "are you there?")
        first = scene.channel.sent[-1]
        assert await edit(scene, "10", "are you there?") == ""
        assert await edit(scene, "10", "are you gone?") == "goodbye"
        assert scene.channel.sent[-1].replaces == str(first.id)


async def test_what_is_edited_while_its_answer_is_written_is_answered_once(tmp_path: Path) -> None:
    """The model is broken off, and the new words are answered."""
    slow = Slow(["for five"])
    async with Scene(tmp_path, provider=slow) as scene:
        await scene.put("a table for four", platform_id="10")
        async with asyncio.timeout(60):
            await slow.asked.wait()
        assert await edit(scene, "10", "a table for five") == "for five"
        assert scene.texts == ["for five"]
        assert await history(scene) == [("user", "a table for five"), ("assistant", "for five")]
        assert await scene.rows("SELECT state FROM inbox ORDER BY id") == [("dropped",), ("answered",)]


async def test_what_an_edit_broke_off_is_answered_whatever_was_said_since(tmp_path: Path) -> None:
    """Its other words stand nowhere else."""
    slow = Slow(["to the second", "to the first"])
    async with Scene(tmp_path, provider=slow) as scene:
        await scene.put("a table for four", platform_id="10")
        async with asyncio.timeout(60):
            await slow.asked.wait()
        await scene.put("and a taxi", platform_id="11")
        assert await edit(scene, "10", "a table for five") == "to the second\nto the first"
        told = [text for role, text in await history(scene) if role == "user"]
        assert told == ["and a taxi", "a table for five"]


async def test_one_of_several_fragments_may_be_edited(tmp_path: Path) -> None:
    """The others keep their words."""
    async with Scene(tmp_path, ["ok", "renewed"]) as scene:
        await scene.say("buy milk", platform_id="10")
        await scene.app.database.write(
            lambda c: c.execute(
                "INSERT INTO inbox (channel, external_id, chat, session, sender, text, sent_at, received_at, trace, "
                "state, done_at, platform_id, joined_to) SELECT channel, 'x', chat, session, sender, 'and bread', "
                "sent_at, received_at, 'x', 'answered', done_at, '11', id FROM inbox"
            )
        )
        assert await edit(scene, "11", "and tea") == "renewed"
        assert (await history(scene))[0] == ("user", "buy milk\nand tea")


async def test_a_caption_is_edited_and_its_file_stays(tmp_path: Path) -> None:
    """The attachments that were read are shown beside the new words."""
    place = Attachment("location", text="41.4, 2.2")
    async with Scene(tmp_path, ["Barcelona", "a hotel"]) as scene:
        await scene.say("where is this?", platform_id="10", attachments=(place,))
        assert await edit(scene, "10", "a hotel here?", attachments=(place,)) == "a hotel"
        assert "a hotel here?\n\n[sent a location: 41.4, 2.2]" in scene.requests[-1]


async def test_an_edit_that_changes_nothing_breaks_nothing_off(tmp_path: Path) -> None:
    """As when a platform tells of a link's preview, or where somebody is now, while the answer is written."""
    place = Attachment("location", text="41.4, 2.2")
    held = Held(["far from here"])
    async with Scene(tmp_path, provider=held) as scene:
        await scene.put("how far am I?", platform_id="10", attachments=(place,))
        async with asyncio.timeout(60):
            await held.asked.wait()
        moved = Attachment("location", text="41.5, 2.2")
        await scene.put("how far am I?", kind="edit", target="10", platform_id="10", attachments=(moved,))
        held.go_on.set()
        await scene.app.wait_drained()
        assert scene.texts == ["far from here"]
        assert len(held.requests) == 1


async def test_an_edit_that_is_taken_back_leaves_an_answer(tmp_path: Path) -> None:
    """The words are as they were, and the answer to them was broken off."""
    slow = Slow(["for four"])
    async with Scene(tmp_path, provider=slow) as scene:
        await scene.put("a table for four", platform_id="10")
        async with asyncio.timeout(60):
            await slow.asked.wait()
        await scene.put("a table for five", kind="edit", target="10", platform_id="10")
        await scene.put("a table for four", kind="edit", target="10", platform_id="10")
        await scene.app.wait_drained()
        assert scene.texts == ["for four"]
        assert await history(scene) == [("user", "a table for four"), ("assistant", "for four")]


async def test_nobody_breaks_off_the_answer_to_another(tmp_path: Path) -> None:
    """A platform may let a person claim that they edit what another wrote: that is a message of their own."""
    held = Held(["for Ana", "for Eva"])
    async with Scene(tmp_path, provider=held) as scene:
        await scene.put("from Ana", "1", "1", platform_id="10")
        async with asyncio.timeout(60):
            await held.asked.wait()
        await scene.put("from Eva", "1", "2", kind="edit", target="10", platform_id="10")
        held.go_on.set()
        await scene.app.wait_drained()
        assert scene.texts == ["for Ana", "for Eva"]
