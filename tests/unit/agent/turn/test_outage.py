"""When no model answers: the person is told once, nothing is lost, and the talk goes on where it stood."""

import asyncio
from collections.abc import AsyncIterator, Callable
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from kenobot.core import texts
from kenobot.ports.errors import PromptTooLong, RateLimited, Rejected, RemoteError, Unavailable
from kenobot.ports.provider import Delta, Request
from kenobot_testing.clock import EagerClock, ManualClock
from tests import waiting
from tests.scene import Scene

DOWN = Unavailable("the model is down")
_ALL = 1_000_000


class Flaky:
    """Answers what a person said, unless `error` is set; `refuses` names words that break it."""

    name = "flaky"

    def __init__(self, error: RemoteError | None = None, refuses: str = "") -> None:
        self.error = error
        self.refuses = refuses
        self.asked: list[Request] = []

    async def stream(self, request: Request) -> AsyncIterator[Delta]:
        self.asked.append(request)
        said = request.messages[-1].text_blocks[0].text
        if self.error is not None:
            raise self.error
        if self.refuses and any(self.refuses in message.text for message in request.messages):
            raise DOWN
        yield Delta(text=f"re: {said}")
        yield Delta(stop_reason="end_turn")


async def until(scene: Scene, clock: ManualClock, come: Callable[[], bool]) -> None:
    """Let the clock run, a second at a time, until something has come about."""
    async with asyncio.timeout(60):
        while not come():
            clock.advance(1)
            await scene.app.bus.drain()
            await asyncio.sleep(0)


async def test_an_outage_is_told_once_and_everything_is_answered_afterwards_in_order(tmp_path: Path) -> None:
    """One plea for patience a message at the head of its chat; what came meanwhile waits its turn."""
    clock, model = ManualClock(), Flaky(DOWN)
    async with Scene(tmp_path, provider=model, clock=clock) as scene:
        await scene.put("uno, por favor, cuando puedas")
        await until(scene, clock, lambda: len(scene.texts) == 1)
        await scene.put("two")
        tried = len(model.asked)
        await until(scene, clock, lambda: len(model.asked) > tried + 3)
        await until(scene, clock, lambda: scene.app.loop.idle)
        assert scene.texts == [texts.PATIENCE("es")]
        assert await scene.rows("SELECT state, attempts, patience_sent FROM inbox") == [
            ("pending", 0, 1),
            ("pending", 0, 0),
        ]
        assert await scene.rows("SELECT count(*) FROM message") == [(0,)], "an apology is no part of the talk"

        model.error = None
        await until(scene, clock, lambda: len(scene.texts) == 3)
        assert scene.texts[1:] == ["re: uno, por favor, cuando puedas", "re: two"]
        assert await scene.rows("SELECT DISTINCT state, attempts FROM inbox") == [("answered", 1)]
        said = [row[0] for row in await scene.rows("SELECT text FROM message ORDER BY id")]
        assert said == ["uno, por favor, cuando puedas", "re: uno, por favor, cuando puedas", "two", "re: two"]


async def test_a_server_that_asks_for_a_day_is_asked_again_after_an_hour(tmp_path: Path) -> None:
    """The message waits meanwhile, and looking whether the hour is over costs the server nothing."""

    class Limited(Flaky):
        async def stream(self, request: Request) -> AsyncIterator[Delta]:
            self.error = None if self.asked else RateLimited("come back tomorrow", 86_400)
            async for delta in super().stream(request):
                yield delta

    clock, model = EagerClock(), Limited()
    async with Scene(tmp_path, provider=model, clock=clock) as scene:
        await scene.put("are you there?")
        await waiting.until(lambda: len(scene.texts) >= 2)
        assert scene.texts == [texts.PATIENCE("en"), "re: are you there?"]
    assert len(model.asked) == 2
    assert clock.monotonic() >= 3600


async def test_a_chat_whose_message_breaks_the_model_is_not_held_up_for_ever(tmp_path: Path) -> None:
    """The model answers others, so this message is the poison: it is buried, told, and the next one answered."""
    clock, model = ManualClock(), Flaky(refuses="poison")
    async with Scene(tmp_path, provider=model, clock=clock) as scene:
        await scene.put("poison", chat="2")
        await scene.put("hello", chat="2")
        await until(scene, clock, lambda: len(scene.texts) == 3)
        assert scene.texts == [texts.PATIENCE("en"), texts.BROKEN("en"), "re: hello"]
        assert await scene.rows("SELECT state FROM inbox ORDER BY id") == [("dead",), ("answered",)]


async def test_a_restart_takes_a_parked_message_up_again(tmp_path: Path) -> None:
    """Without a second plea for patience, and without an attempt lost."""
    clock = ManualClock()
    async with Scene(tmp_path, provider=Flaky(DOWN), clock=clock) as scene:
        await scene.put("are you there?")
        await until(scene, clock, lambda: len(scene.texts) == 1)
        assert scene.texts == [texts.PATIENCE("en")]
    again = Flaky(DOWN)
    async with Scene(tmp_path, provider=again, clock=clock) as scene:
        await until(scene, clock, lambda: len(again.asked) >= 4)
        await until(scene, clock, lambda: scene.app.loop.idle)
        assert scene.texts == []
    async with Scene(tmp_path, provider=Flaky(), clock=clock) as scene:
        await until(scene, clock, lambda: bool(scene.texts))
        assert scene.texts == ["re: are you there?"]


async def test_the_fallback_answers_while_the_first_model_cannot(tmp_path: Path) -> None:
    """Nobody notices but the one who reads which model wrote it."""
    first, second = Flaky(Rejected("no such model")), Flaky()
    async with Scene(tmp_path, provider=first, fallbacks=[second]) as scene:
        assert await scene.say("hello") == "re: hello"
        assert (len(first.asked), len(second.asked)) == (1, 1)


async def test_a_prompt_that_is_too_long_is_sent_again_much_shorter(tmp_path: Path) -> None:
    """Memory and history are cut before the person is troubled."""

    class Small(Flaky):
        async def stream(self, request: Request) -> AsyncIterator[Delta]:
            size = sum(len(message.text) for message in request.messages) + sum(len(b.text) for b in request.system)
            self.error = PromptTooLong("too long") if size > 12_000 else None
            async for delta in super().stream(request):
                yield delta

    model = Small()
    files = {"MEMORY.md": "".join(f"- fact number {number} about the garden\n" for number in range(500))}
    async with Scene(tmp_path, provider=model, files=files) as scene:
        assert await scene.say("hello") == "re: hello"
        assert len(model.asked) == 2


async def test_a_late_message_is_answered_with_its_age_in_mind(tmp_path: Path) -> None:
    """The model is told how long it waited; after the limit nobody is asked, and the person is told."""
    async with Scene(tmp_path, ["Fine."]) as scene:
        await scene.say("now")
        assert "could not be answered before" not in scene.requests[-1]
        hours = timedelta(hours=3)
        await scene.say("Shall we meet in ten minutes?", sent_at=scene.clock.now() - hours)
        assert "sent 3 hours ago (on Saturday 2026-02-14 at 11:30)" in scene.requests[-1]
        asked = len(scene.requests)
        assert await scene.say("¿Quedamos hoy?", sent_at=scene.clock.now() - timedelta(hours=49)) == texts.EXPIRED("es")
        assert len(scene.requests) == asked
        assert await scene.rows("SELECT state FROM inbox ORDER BY id DESC LIMIT 1") == [("expired",)]


async def test_a_flood_of_one_chat_is_turned_away_and_told_once(tmp_path: Path) -> None:
    """What was accepted is answered; what was not costs nothing, and the chat knows."""
    clock, model = ManualClock(), Flaky(DOWN)
    async with Scene(tmp_path, provider=model, clock=clock, environ={"IntakePolicy.chat_backlog": 5}) as scene:
        taken = [await scene.put(f"message {number}") for number in range(20)]
        assert taken == [True] * 5 + [False] * 15
        repeated = replace(scene.inbounds[0])
        assert await scene.app.loop(repeated) is False, "the platform repeating itself"
        assert await scene.put("hello", chat="2")
        model.error = None
        await until(scene, clock, lambda: sum(text.startswith("re:") for text in scene.texts) == 6)
        mine = [sent.part.text for sent in scene.channel.sent if sent.chat == "1"]
        assert mine.count(texts.TOO_MANY("en")) == 1
        assert [text for text in mine if text.startswith("re:")] == [f"re: message {number}" for number in range(5)]
        assert await scene.put("and now?")


@pytest.mark.parametrize(
    ("hello", "why", "then"),
    [
        (
            "hello, are you there?",
            "Anthropic refused the API key: check it with `kenobot setup`.",
            "restart me, and send",
        ),
        ("hola, ¿estás ahí?", "Anthropic ha rechazado la clave de la API", "reiníciame y vuelve a enviar"),
    ],
)
async def test_the_owner_is_told_what_to_mend(tmp_path: Path, hello: str, why: str, then: str) -> None:
    """In their language; a cause that nobody can mend is not spelled out."""
    refused = Rejected("providers.key_refused", service="Anthropic", mark=" (401)")
    async with Scene(tmp_path, [refused]) as scene:
        said = await scene.say(hello)
    assert why in said
    assert then in said


async def test_a_sweep_takes_up_what_nobody_works_on(tmp_path: Path) -> None:
    """A message that was put back from outside the process is answered without a restart."""
    async with Scene(tmp_path, [Rejected("no"), "Here I am."]) as scene:
        assert await scene.say("hello?") == texts.REJECTED("en")
        await scene.app.database.write(
            lambda connection: connection.execute("UPDATE inbox SET state = 'pending', attempts = 0, external_id = 'x'")
        )
        await scene.app.database.write(lambda connection: connection.execute("DELETE FROM outbox"))
        await scene.app.loop.sweep()
        await scene.app.wait_drained()
        assert scene.texts[-1] == "Here I am."
