"""The whole house before a model server that fails in every way there is: told once, answered once, nothing half."""

import asyncio
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest
from llmock.pytest_plugin import LLMock
from pydantic import SecretStr

from kenobot.core import texts
from kenobot.ports import sentences
from kenobot.ports.plugin import PluginContext
from kenobot.providers.anthropic import AnthropicProvider, AnthropicSettings, build
from kenobot_testing.clock import EagerClock
from tests.constants import with_constants
from tests.integration.providers.anthropic_standin import Entry, StandIn
from tests.scene import Scene

TAGGED = "<memory>The garden needs water on Mondays</memory>It is noted, every word of it."
TOLD = "It is noted, every word of it."
PASSING: dict[str, Entry] = {
    "429": {"status": 429, "error": "rate_limit_error", "headers": {"retry-after": "7"}},
    "429, come back tomorrow": {"status": 429, "error": "rate_limit_error", "headers": {"retry-after": "86400"}},
    "500": {"status": 500, "error": "api_error"},
    "502 without a word": {"status": 502},
    "529": {"status": 529, "error": "overloaded_error"},
    "an error in the middle": {"stream_error": "overloaded_error", "reply": TAGGED},
    "cut without a stop reason": {"stop_reason": None, "reply": TAGGED},
    "silence in the middle": {"hang": True, "reply": TAGGED},
    "pings for ever": {"ping": 0.05, "reply": TAGGED},
    "no answer at all": {"delay": 60},
}
LASTING: dict[str, Entry] = {
    "400": {"status": 400, "error": "invalid_request_error"},
    "404": {"status": 404, "error": "not_found_error"},
    "a refusal in the middle": {"stream_error": "invalid_request_error", "reply": TAGGED},
}


@pytest.fixture
async def connect() -> AsyncIterator[Callable[[str], AnthropicProvider]]:
    """The real provider for a server's address, with short patience."""
    made: list[AnthropicProvider] = []

    def make(url: str) -> AnthropicProvider:
        key = SecretStr("sk-ant-test")
        settings = with_constants(AnthropicSettings, api_key=key, base_url=url, idle_seconds=0.2, total_seconds=0.5)
        made.append(build(settings, PluginContext(Path("unused"), EagerClock(), "KenoBot")))
        return made[-1]

    yield make
    for provider in made:
        await provider.aclose()


async def _answered(scene: Scene, count: int = 1) -> list[str]:
    """Wait until `count` messages are done with; what was sent by then."""
    async with asyncio.timeout(60):
        while True:
            await scene.app.wait_drained()
            done = await scene.rows("SELECT count(*) FROM inbox WHERE state NOT IN ('pending', 'claimed')")
            if done == [(count,)]:
                await scene.app.wait_drained()
                return scene.texts
            await asyncio.sleep(0.01)


@pytest.mark.parametrize("times", [1, 4], ids=["once", "longer than we try"])
@pytest.mark.parametrize("fault", PASSING.values(), ids=PASSING)
async def test_a_fault_that_passes_costs_patience_at_most(
    tmp_path: Path, connect: Callable[[str], AnthropicProvider], fault: Entry, times: int
) -> None:
    """The answer comes, once and whole, with its memory; no piece of a broken one is ever kept or shown."""
    script: list[Entry] = [{**fault, "times": times}, {"reply": TAGGED}]
    async with (
        StandIn(script) as server,
        Scene(tmp_path, provider=connect(server.url), environ={"wiring.TURN_SECONDS": 5}) as scene,
    ):
        await scene.put("Remember: the garden needs water on Mondays")
        replies = await _answered(scene)
        assert replies[-1] == TOLD
        assert replies[:-1] in ([], [texts.PATIENCE("en")])
        if times > 3:
            assert replies[:-1], "the person should have been asked for patience"
        assert await scene.rows("SELECT text FROM record WHERE form != 'box'") == [
            ("The garden needs water on Mondays",)
        ]
        assert await scene.rows("SELECT role FROM message ORDER BY id") == [("user",), ("assistant",)]
        assert await scene.rows("SELECT count(*) FROM turn") == [(1,)]


@pytest.mark.parametrize("fault", LASTING.values(), ids=LASTING)
async def test_a_fault_that_lasts_is_told_and_kept_for_the_owner(
    tmp_path: Path, connect: Callable[[str], AnthropicProvider], fault: Entry
) -> None:
    """Asking again would not help: the message ends as failed with its reason, and the next one is free."""
    async with (
        StandIn([{**fault, "times": 1}, {"reply": "fine"}]) as server,
        Scene(tmp_path, provider=connect(server.url)) as scene,
    ):
        reply = await scene.say("hello?")
        if fault.get("status") == 404:
            assert reply.startswith(
                "I could not answer: Anthropic does not know the model claude-sonnet-5-5: set another"
            )
        else:
            assert reply == texts.REJECTED("en")
        [(state, reason)] = await scene.rows("SELECT state, reason FROM inbox")
        assert state == "failed"
        assert sentences.unpack_text(str(reason)).startswith("Rejected: ")
        assert await scene.rows("SELECT * FROM record") == []
        assert await scene.say("and now?") == "fine"
        assert await scene.rows("SELECT text FROM message") == [("and now?",), ("fine",)]


@pytest.mark.parametrize(
    ("status", "name", "asked", "why"),
    [
        (401, "authentication_error", "hello there, are you up?", "Anthropic refused the API key: check it with"),
        (402, "billing_error", "hello there, are you up?", "Anthropic wants to be paid first: add credit to"),
        (403, "permission_error", "hola, ¿estás ahí?", "Anthropic ha rechazado la clave de la API: revísala con"),
    ],
)
async def test_what_an_account_is_refused_waits(
    tmp_path: Path, connect: Callable[[str], AnthropicProvider], status: int, name: str, asked: str, why: str
) -> None:
    """The owner is told at once why, and what to do; the message is answered once that is mended, and nothing is lost.

    The statuses of docs.anthropic.com/en/api/errors.
    """
    fault: Entry = {"status": status, "error": name, "times": 3}
    async with StandIn([fault, {"reply": "fine"}]) as server, Scene(tmp_path, provider=connect(server.url)) as scene:
        await scene.put(asked)
        told, reply = await _answered(scene)
        assert why in told
        assert ("Your message is kept" in told) or ("Tu mensaje está guardado" in told)
        assert reply == "fine"
        assert len(server.requests) == 4, "one that is refused is not asked again at once"
        assert await scene.rows("SELECT state FROM inbox") == [("answered",)]


async def test_the_owner_is_told_of_a_refused_account_where_a_fallback_answers(
    tmp_path: Path, connect: Callable[[str], AnthropicProvider]
) -> None:
    """Else nobody would notice who answers; by a notice of its own, and once."""
    fault: Entry = {"status": 401, "error": "authentication_error"}
    async with StandIn([fault]) as first, StandIn([]) as second:
        fallbacks = [connect(second.url)]
        async with Scene(tmp_path, provider=connect(first.url), fallbacks=fallbacks) as scene:
            await scene.put("one")
            await _answered(scene)
            await scene.put("two")
            replies = await _answered(scene, 2)
    notices = [reply for reply in replies if "Anthropic refused the API key: check it with `kenobot setup`. " in reply]
    assert len(notices) == 1
    assert [reply for reply in replies if reply not in notices] == ["ok: one", "ok: two"]


@pytest.mark.long
async def test_a_prompt_that_does_not_fit_is_cut_and_answered(
    tmp_path: Path, llmock: LLMock, connect: Callable[[str], AnthropicProvider]
) -> None:
    """A server nobody here wrote says that the prompt is too long; the second, shorter one is answered."""
    llmock.reply("It fits now.", times=None)
    llmock.context_overflow()
    files = {"MEMORY.md": "".join(f"- fact {number} about the garden\n" for number in range(1500))}
    async with Scene(tmp_path, provider=connect(llmock.base_url("anthropic")), files=files) as scene:
        assert await scene.say("hello") == "It fits now."
    llmock.assert_resilient()


async def test_the_second_server_answers_while_the_first_is_down(
    tmp_path: Path, connect: Callable[[str], AnthropicProvider]
) -> None:
    """And the first one is asked again when its rest is over."""
    async with StandIn([{"status": 503, "times": 3}]) as first, StandIn([]) as second:
        fallbacks = [connect(second.url)]
        async with Scene(tmp_path, provider=connect(first.url), fallbacks=fallbacks) as scene:
            assert await scene.say("one") == "ok: one"
            assert (len(first.requests), len(second.requests)) == (3, 1)
            assert await scene.say("two") == "ok: two"
            assert (len(first.requests), len(second.requests)) == (4, 1)
