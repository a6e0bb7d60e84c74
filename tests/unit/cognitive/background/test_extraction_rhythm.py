"""When conversation is read for memories, and what happens when it cannot be."""

from pathlib import Path

import pytest

from kenobot.cognitive.background.per_chat_worker import WaitingChats
from kenobot.cognitive.remember.extract import buffer
from kenobot.ports.errors import ConfigError, PromptTooLong, Unavailable
from kenobot.ports.provider import Reply, Usage
from kenobot.ports.signals import EXTRACTION_DEFERRED, EXTRACTION_FINISHED, Envelope
from kenobot_testing.clock import EagerClock
from tests.scene import Scene
from tests.unit.cognitive.background.extraction_talk import NEUTRAL, Minds, live, lyon, read, tick

_EXTRACTED = "SELECT day, sum(input_tokens + output_tokens) FROM model_day WHERE purpose = 'extraction' GROUP BY day"

# ── when ─────────────────────────────────────────────────────────────────────────────────────────────────────────


async def test_the_reply_has_left_before_anything_is_read(tmp_path: Path) -> None:
    """Nobody waits for their answer because of what is to be remembered."""
    seen: list[int] = []
    provider = Minds(lambda _: "[]")
    async with Scene(tmp_path, provider=provider, extraction=True) as scene:

        def look(_: str) -> str:
            seen.append(len(scene.channel.sent))
            return "[]"

        provider._read = look
        await scene.say("I prefer tea")
    assert seen == [1]


async def test_small_talk_waits_for_company(tmp_path: Path) -> None:
    """Five turns that sound like nothing are one call, and each of them is in it."""
    provider = Minds(lambda _: "[]")
    async with Scene(tmp_path, provider=provider, extraction=True) as scene:
        for text in NEUTRAL[:4]:
            await scene.say(text)
        assert provider.asked == []
        await scene.say(NEUTRAL[4])
        assert len(provider.asked) == 1
        assert all(f"> {text}" in provider.asked[0] for text in NEUTRAL)
        assert await read(scene) == 10


async def test_time_fires_without_another_message(tmp_path: Path) -> None:
    """A turn that nothing follows is read when it has waited a quarter of an hour, by the timer."""
    provider, clock = Minds(lambda _: "[]"), EagerClock()
    async with Scene(tmp_path, provider=provider, extraction=True, clock=clock) as scene:
        await scene.say("rain")
        clock.advance(14 * 60)
        await tick(scene)
        assert provider.asked == []
        clock.advance(60)
        await tick(scene)
        assert len(provider.asked) == 1


async def test_what_waits_is_read_after_a_restart(tmp_path: Path) -> None:
    """What a run left behind is taken up by the next one, without a message."""
    async with Scene(tmp_path, ["ok"]) as scene:  # nobody reads here
        await scene.say("Vivo en Lyon")
        assert await read(scene) == 0
    async with Scene(tmp_path, ["ok"], extraction=True) as scene:
        await scene.app.background.extraction.wait_idle()
        assert await live(scene) == [("owner", "Vivo en Lyon", "owner")]
        assert await read(scene) == 2


async def test_an_owners_pattern_makes_a_turn_urgent(tmp_path: Path) -> None:
    """The settings' patterns decide when."""
    provider = Minds(lambda _: "[]")
    environ = {"KENOBOT_EXTRACTION__PATTERNS": r"bitte\s+merken"}
    async with Scene(tmp_path, provider=provider, extraction=True, environ=environ) as scene:
        await scene.say("rain")
        assert provider.asked == []
        await scene.say("bitte  merken")
        assert len(provider.asked) == 1


async def test_a_pattern_that_cannot_be_used_stops_the_start(tmp_path: Path) -> None:
    """A mistake in the settings is one plain line that names the key."""
    with pytest.raises(ConfigError, match=r'extraction\.patterns = .*"\(a" has a \( without its end'):
        async with Scene(tmp_path, ["ok"], environ={"KENOBOT_EXTRACTION__PATTERNS": "(a"}):
            pass


async def test_a_reader_of_its_own(tmp_path: Path) -> None:
    """`models.cheap` names who reads; "offline" sends nothing anywhere."""
    provider = Minds(lambda _: pytest.fail("it was asked to read"))
    environ = {"KENOBOT_MODELS__CHEAP": "offline"}
    async with Scene(tmp_path, provider=provider, extraction=True, environ=environ) as scene:
        await scene.say("Vivo en Lyon")
        assert await live(scene) == [("owner", "Vivo en Lyon", "owner")]


# ── trouble ──────────────────────────────────────────────────────────────────────────────────────────────────────


async def test_an_hour_of_outage_drops_nothing(tmp_path: Path) -> None:
    """While the model is away turns wait, it is left alone for longer and longer, and then all of them are read."""
    clock, waiting = EagerClock(), list[Envelope]()
    down = True

    def answer(_: str) -> str:
        if down:
            raise Unavailable("down")
        return lyon(_)

    provider = Minds(answer)
    async with Scene(tmp_path, provider=provider, extraction=True, clock=clock) as scene:
        scene.app.bus.wake_on(EXTRACTION_DEFERRED, waiting.append)
        await scene.say("Vivo en Lyon")
        for _ in range(180):
            clock.advance(20)
            await tick(scene)
        assert len(provider.asked) <= 10
        assert await read(scene) == 0
        assert len(waiting) == 1
        down = False
        await scene.say("rain")
        clock.advance(900)
        await tick(scene)
        assert await read(scene) == 4
        assert await live(scene) == [("owner", "El usuario vive en Lyon", "owner")]
        assert await scene.rows(_EXTRACTED) == [("2026-02-14", 120)]


async def test_a_spent_budget_waits_for_the_next_day(tmp_path: Path) -> None:
    """No call begins that the day's tokens might not cover; on the owner's next day it goes on."""
    clock, provider = EagerClock(), Minds(lambda _: Reply("[]", "end_turn", usage=Usage(3000, 500)))
    environ = {
        "KENOBOT_BUDGET__PURPOSES__EXTRACTION__DAILY_TOKENS": "5000",
        "KENOBOT_BOT__TIMEZONE": "America/Mexico_City",
    }
    async with Scene(tmp_path, provider=provider, extraction=True, clock=clock, environ=environ) as scene:
        await scene.say("I prefer tea")
        await scene.say("I prefer coffee")
        assert len(provider.asked) == 1
        assert await scene.rows(_EXTRACTED) == [("2026-02-14", 3500)]
        clock.advance(12 * 3600)  # past midnight in Greenwich, not yet where the owner lives
        await tick(scene)
        assert len(provider.asked) == 1
        clock.advance(12 * 3600)
        await tick(scene)
        assert len(provider.asked) == 2
        assert await read(scene) == 4


async def test_turns_that_no_model_can_read_are_left_to_the_rules(tmp_path: Path) -> None:
    """Nonsense for an answer: fewer turns at a time, then rules. None is dropped, and nobody asks for ever."""
    clock, provider = EagerClock(), Minds(lambda _: "I'm sorry, I can't help with that.")
    async with Scene(tmp_path, provider=provider, extraction=True, clock=clock) as scene:
        for text in [*NEUTRAL[:3], "Vivo en Lyon"]:
            await scene.say(text)
        for _ in range(40):
            clock.advance(20 * 60)
            await tick(scene)
        assert await read(scene) == 8
        assert await live(scene) == [("owner", "Vivo en Lyon", "owner")]
        assert len(provider.asked) <= 12


async def test_a_model_that_gives_no_lists_is_left_alone(tmp_path: Path) -> None:
    """Three answers without a list, whatever the chat, and rules read the next ones, also after a restart."""
    provider, clock = Minds(lambda _: "I would rather talk about it."), EagerClock()
    async with Scene(tmp_path, provider=provider, extraction=True, clock=clock) as scene:
        towns = [f"Vivo en {town}" for town in ("Lyon", "Graz", "Oslo", "Bern", "Riga", "Cork")]
        for text in towns:
            await scene.say(text)
            await tick(scene)
        assert len(provider.asked) == 3
        assert [text for _, text, _ in await live(scene)] == towns
    provider = Minds(lyon)
    async with Scene(tmp_path, provider=provider, extraction=True, clock=clock) as scene:
        await scene.say("Vivo en Turku")
        await tick(scene)
        assert provider.asked == []
        clock.advance(600)
        await scene.say("Vivo en Lyon")
        await tick(scene)
        assert len(provider.asked) == 1
        await scene.say("Vivo en Lyon, te digo")
        await tick(scene)
        assert len(provider.asked) == 2


async def test_rules_in_the_place_of_a_model_end_what_they_mean(tmp_path: Path) -> None:
    """Not the memory that the model was shown under the number that they use for theirs."""
    provider, clock = Minds(lambda _: "I would rather talk about it."), EagerClock()
    async with Scene(tmp_path, ["ok"], extraction=True, clock=clock) as scene:
        for text in ("Tengo una gata que se llama Nube", "Trabajo en Acme", "Vivo en Lyon"):
            await scene.say(text)
            await tick(scene)
    async with Scene(tmp_path, provider=provider, extraction=True, clock=clock) as scene:
        for _ in range(3):
            await scene.say("Mi gata Nube ronronea mucho, vivo tranquila en Lyon. Ya no trabajo en Acme.")
            await tick(scene)
        kept = [text for _, text, _ in await live(scene)]
        assert "Trabajo en Acme" not in kept
        assert {"Tengo una gata que se llama Nube", "Vivo en Lyon"} <= {*kept}


async def test_a_batch_that_is_too_long_is_halved(tmp_path: Path) -> None:
    """A model that refuses what is too long for it gets less, and reads it all in the end."""
    clock = EagerClock()

    def answer(asked: str) -> str:
        if asked.count("### Turn") > 2:
            raise PromptTooLong("too long")
        return "[]"

    provider = Minds(answer)
    async with Scene(tmp_path, provider=provider, extraction=True, clock=clock) as scene:
        for text in NEUTRAL:
            await scene.say(text)
        for _ in range(9):
            clock.advance(20 * 60)
            await tick(scene)
        assert await read(scene) == 10
        assert scene.app.background.extraction.tracked_chats == 0


async def test_an_answer_that_is_cut_is_asked_for_again_in_parts(tmp_path: Path) -> None:
    """A list that was cut short may lack facts: half the turns fit."""
    clock = EagerClock()

    def answer(asked: str) -> str | Reply:
        if asked.count("### Turn") > 1:
            return Reply('{"facts": [{"text": "It rains", "evidence": [1]}, {"te', "max_tokens")
        return "[]"

    provider = Minds(answer)
    async with Scene(tmp_path, provider=provider, extraction=True, clock=clock) as scene:
        for text in ["rain", "Vivo en Lyon"]:
            await scene.say(text)
        for _ in range(5):
            clock.advance(20 * 60)
            await tick(scene)
        assert await read(scene) == 4
        assert await live(scene) == []


async def test_what_was_read_is_announced(tmp_path: Path) -> None:
    """One signal a batch says where, how many turns, what came of it, by whom, and at what price."""
    heard: list[Envelope] = []
    async with Scene(tmp_path, provider=Minds(lyon), extraction=True) as scene:
        scene.app.bus.wake_on(EXTRACTION_FINISHED, heard.append)
        await scene.say("Vivo en Lyon")
    assert [dict(envelope.payload) for envelope in heard] == [
        {"session": "telegram-1", "by": "model", "turns": 1, "facts": 1, "kept": 1, "tokens": 120}
    ]


async def test_switched_off_it_does_nothing(tmp_path: Path) -> None:
    """Without it turns go on waiting, and nothing is asked."""
    provider = Minds(lyon)
    async with Scene(tmp_path, provider=provider) as scene:
        await scene.say("Vivo en Lyon")
        await tick(scene)
        assert provider.asked == []


async def test_what_was_heard_is_forgotten_with_each_look(tmp_path: Path) -> None:
    """The worker keeps no list of chats: the rows are the list."""
    async with Scene(tmp_path, ["ok"], extraction=True) as scene:
        for chat in range(20):
            await scene.say("rain", chat=str(chat))
        assert scene.app.background.extraction.tracked_chats == 0


def test_what_is_known_of_chats_that_wait_is_bounded() -> None:
    """The chats that were looked at last are known."""
    chats = WaitingChats[int](3)
    for number in (1, 2, 3, 1, 4):
        chats.put(str(number), number)
    assert [chats.get(str(number)) for number in range(1, 5)] == [1, None, 3, 4]
    chats.clear()
    assert len(chats) == 0


async def test_a_turn_is_scanned_for_signs_of_urgency_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """However many turns come after it, until enough of them wait."""
    seen: list[str] = []

    def level(text: str, *_: object) -> str:
        seen.append(text)
        return "none"

    monkeypatch.setattr(buffer, "signal_level", level)
    async with Scene(tmp_path, ["ok"], extraction=True) as scene:
        for number in range(4):
            await scene.say(f"rain {number}")
            await scene.app.background.extraction.wait_idle()
    assert seen == [f"rain {number}" for number in range(4)]


async def test_a_file_shows_what_was_read(tmp_path: Path) -> None:
    """A memory that came by reading stands in the day's log like any other."""
    async with Scene(tmp_path, ["ok"], extraction=True) as scene:
        await scene.say("Vivo en Lyon")
        await scene.app.memory_files.sync_out()
        assert "Vivo en Lyon" in scene.read("2026-02-14.md")
