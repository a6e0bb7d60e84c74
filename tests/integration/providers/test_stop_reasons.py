"""Why the model stopped decides what becomes of its answer: half of one never passes for a whole one."""

from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest
from pydantic import SecretStr

from kenobot.core import texts
from kenobot.ports.plugin import PluginContext
from kenobot.providers.anthropic import AnthropicProvider, AnthropicSettings, build
from kenobot.providers.openai_compatible import services
from kenobot_testing.clock import EagerClock
from tests.integration.providers.anthropic_standin import Entry, StandIn
from tests.integration.providers.openai_standin import OpenAIStandIn
from tests.scene import Scene

CUT_TAG = "The roses are red. <memory>The garden needs wat"
BEGUN = "The roses are red. "


@pytest.fixture
async def connect() -> AsyncIterator[Callable[[StandIn], AnthropicProvider]]:
    """The real provider, before a stand-in."""
    made: list[AnthropicProvider] = []

    def make(server: StandIn) -> AnthropicProvider:
        settings = AnthropicSettings(api_key=SecretStr("sk-ant-test"), base_url=server.url)
        made.append(build(settings, PluginContext(Path("unused"), EagerClock(), "KenoBot")))
        return made[-1]

    yield make
    for provider in made:
        await provider.aclose()


Connect = Callable[[StandIn], AnthropicProvider]


@pytest.mark.parametrize("reason", ["max_tokens", "pause_turn", "model_context_window_exceeded"])
async def test_the_rest_of_a_cut_answer_is_asked_for(tmp_path: Path, connect: Connect, reason: str) -> None:
    """One answer comes of both pieces; the tag that the cut went through counts once, as the second piece has it."""
    rest = "<memory>The garden needs water</memory>And the violets are blue."
    script: list[Entry] = [{"reply": CUT_TAG, "stop_reason": reason, "times": 1}, {"reply": rest}]
    async with StandIn(script) as server, Scene(tmp_path, provider=connect(server)) as scene:
        assert await scene.say("Tell me of flowers") == BEGUN + "And the violets are blue."
        first, second = server.requests
        *same, so_far, nudge = second["messages"]
        assert same[-1]["content"][0]["text"] == first["messages"][-1]["content"][0]["text"] == "Tell me of flowers"
        assert so_far == {"role": "assistant", "content": [{"type": "text", "text": BEGUN}]}
        assert nudge["role"] == "user"
        assert await scene.rows("SELECT text FROM record WHERE form != 'box'") == [("The garden needs water",)]
        assert await scene.rows("SELECT role, text FROM message") == [
            ("user", "Tell me of flowers"),
            ("assistant", BEGUN + "And the violets are blue."),
        ]
        assert await scene.rows("SELECT stop_reason, output_tokens FROM turn") == [("end_turn", 2)]
        assert await scene.rows("SELECT count(*) FROM turn_step") == [(0,)]


@pytest.mark.parametrize("reason", ["max_tokens", "model_context_window_exceeded", "pause_turn", "tool_use", "novel"])
@pytest.mark.parametrize(("asked", "language"), [("Tell me of the flowers", "en"), ("Háblame de las flores", "es")])
async def test_an_answer_that_stays_cut_says_so(
    tmp_path: Path, connect: Connect, reason: str, asked: str, language: str
) -> None:
    """To the person and in the conversation; nothing of the tag that was cut is shown, kept or remembered."""
    async with (
        StandIn([{"reply": CUT_TAG, "stop_reason": reason}]) as server,
        Scene(tmp_path, provider=connect(server)) as scene,
    ):
        reply = await scene.say(asked)
        assert len(server.requests) <= 3
        assert reply.endswith("\n\n" + texts.CUT("es" if language == "es" else "en"))
        assert BEGUN.strip() in reply
        assert "wat" not in reply
        assert "<" not in reply
        assert await scene.rows("SELECT text FROM message WHERE role = 'assistant'") == [(reply,)]
        assert await scene.rows("SELECT * FROM record") == []


@pytest.mark.parametrize(
    "script",
    [
        [{"reply": "<memory>They asked of poison</memory>I will not say", "stop_reason": "refusal", "times": 1}],
        [{"reply": "", "stop_reason": "refusal", "times": 1}],
        [
            {"reply": "<memory>They asked of poison</memory>Well,", "stop_reason": "max_tokens", "times": 1},
            {"reply": " no.", "stop_reason": "refusal", "times": 1},
        ],
    ],
    ids=["with words", "without a word", "in the second piece"],
)
async def test_what_the_model_declines_stays_out_of_the_conversation(
    tmp_path: Path, connect: Connect, script: list[Entry]
) -> None:
    """The person is told; neither the question nor what was begun is kept, shown again or remembered."""
    async with (
        StandIn([*script, {"match": "and now?", "reply": "fine"}]) as server,
        Scene(tmp_path, provider=connect(server)) as scene,
    ):
        assert await scene.say("the forbidden question") == texts.DECLINED("en")
        assert await scene.rows("SELECT state FROM inbox") == [("failed",)]
        assert await scene.rows("SELECT * FROM message") == []
        assert await scene.rows("SELECT * FROM record") == []
        assert await scene.rows("SELECT * FROM turn_step") == []
        assert await scene.say("and now?") == "fine"
        assert "forbidden" not in str(server.requests[-1])


@pytest.mark.parametrize("reason", ["max_tokens", "model_context_window_exceeded"])
async def test_an_answer_without_a_word_is_reported(tmp_path: Path, connect: Connect, reason: str) -> None:
    """When all was spent on thinking, the person hears that there is no answer."""
    async with (
        StandIn([{"thinking": "hm", "reply": "", "stop_reason": reason}]) as server,
        Scene(tmp_path, provider=connect(server)) as scene,
    ):
        assert await scene.say("hello") == texts.NO_ANSWER("en")
        assert await scene.rows("SELECT * FROM message") == []


async def test_a_model_that_says_nothing_is_asked_once_more(tmp_path: Path, connect: Connect) -> None:
    """It may have spent all on thinking and stopped there; then the person hears what happened, and that it failed.

    deepseek-ai/DeepSeek-R1 and small Qwen3 models end so now and then, with the stop reason of a whole answer.
    """
    silent: Entry = {"thinking": "hm", "reply": "", "stop_reason": "end_turn"}
    script = [{**silent, "times": 1}, {"match": "hello", "reply": "Good morning."}, silent]
    async with StandIn(script) as server, Scene(tmp_path, provider=connect(server)) as scene:
        assert await scene.say("hello") == "Good morning."
        assert len(server.requests) == 2
    async with StandIn([silent]) as server, Scene(tmp_path / "two", provider=connect(server)) as scene:
        assert await scene.say("hola, ¿qué tal estás?") == texts.NO_ANSWER("es")
        assert len(server.requests) == 2
        assert await scene.rows("SELECT state FROM inbox") == [("failed",)]
        assert await scene.rows("SELECT * FROM message") == []


@pytest.mark.long
async def test_a_window_that_is_full_is_met_with_a_smaller_prompt(tmp_path: Path, connect: Connect) -> None:
    """There is room for the rest then."""
    files = {"MEMORY.md": "".join(f"- fact {number} about the garden\n" for number in range(1500))}
    script: list[Entry] = [
        {"reply": "One ", "stop_reason": "model_context_window_exceeded", "times": 1},
        {"reply": "two."},
    ]
    async with StandIn(script) as server, Scene(tmp_path, provider=connect(server), files=files) as scene:
        assert await scene.say("hello") == "One two."
        assert len(str(server.requests[1])) < len(str(server.requests[0])) / 2


async def test_half_an_answer_goes_out_when_the_rest_cannot_be_had(tmp_path: Path, connect: Connect) -> None:
    """The provider refuses the second request: what is there is not thrown away."""
    script: list[Entry] = [
        {"reply": BEGUN, "stop_reason": "max_tokens", "times": 1},
        {"status": 400, "error": "invalid_request_error"},
    ]
    async with StandIn(script) as server, Scene(tmp_path, provider=connect(server)) as scene:
        assert await scene.say("hello") == f"{BEGUN}\n\n{texts.CUT('en')}".replace(" \n", "\n")


async def test_continuing_can_be_turned_off(tmp_path: Path, connect: Connect) -> None:
    """Then one request is all that an answer costs."""
    async with (
        StandIn([{"reply": BEGUN, "stop_reason": "max_tokens"}]) as server,
        Scene(tmp_path, provider=connect(server), environ={"TurnPolicy.continuations": 0}) as scene,
    ):
        assert (await scene.say("hello")).endswith(texts.CUT("en"))
        assert len(server.requests) == 1


_CALL = '{"name": "weather", "arguments": {"city": "Oslo"}}'


@pytest.mark.parametrize(
    ("first", "again"),
    [
        (f"I look it up.\n<tool_call>\n{_CALL}\n</tool_call>", True),
        ("<function=weather><parameter=city>Oslo</parameter></function>", True),
        (_CALL, True),
        ("<think>\nThey ask for the weather, and", False),
        ("<scratchpad>They ask", False),
    ],
)
async def test_a_model_that_only_calls_or_thinks_is_asked_once_more(tmp_path: Path, first: str, again: bool) -> None:
    """Where no tool is offered; of a second such answer the person hears what happened, never its markup."""
    scripts: list[list[Entry]] = [[{"reply": first, "times": 1}, {"reply": "It is cold."}], [{"reply": first}]]
    for number, script in enumerate(scripts):
        async with OpenAIStandIn(script) as server:
            settings = services.openai.settings(api_key=SecretStr("k"), base_url=server.url, model="m")
            provider = services.openai.build(settings, PluginContext(Path("unused"), EagerClock(), "KenoBot"))
            async with Scene(tmp_path / str(number), provider=provider) as scene:
                said = await scene.say("what is the weather in Oslo?")
            await provider.aclose()
            assert ("a tool" in str(server.requests[1]["messages"][-1])) == again
            assert len(server.requests) == 2
        if number == 0:
            assert said == "It is cold."
        elif first.startswith("I look"):
            assert said == f"I look it up.\n\n{texts.CUT('en')}"
        else:
            assert said == (texts.NO_TOOL if again else texts.NO_ANSWER)("en")
