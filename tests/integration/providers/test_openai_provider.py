"""The provider of OpenAI's chat API against real servers on loopback: those that speak it, and those that break it."""

import json
from dataclasses import replace
from typing import Any

import pytest
from pydantic import SecretStr

from kenobot.ports.clock import SystemClock
from kenobot.ports.errors import AccountRefused, PromptTooLong, TruncatedReply
from kenobot.ports.plugin import PluginContext
from kenobot.ports.provider import Block, Delta, Message, Request, Usage
from kenobot.providers.openai_compatible import OpenAIProvider, services
from kenobot_testing.provider import collect_deltas, make_request
from tests.constants import with_constants
from tests.integration.providers.answer_contract import CANARY, Maker, failure_of, text_of
from tests.integration.providers.anthropic_standin import Entry
from tests.integration.providers.openai_standin import OpenAIStandIn
from tests.integration.providers.service_contract import TOOLED, ServiceContract, after_call


def _whole_call(id: str, index: int, at: int) -> Entry:
    return {"index": index, "id": id, "function": {"name": "look", "arguments": f'{{"at": {at}}}'}}


class TestOpenAI(ServiceContract):
    """OpenAI's chat API, as OpenAI and those that speak like it have it."""

    dialect = "openai"
    whole = "stop"
    prefix = "/v1"
    standin = OpenAIStandIn

    def build(self, url: str, service: str = "openai", key: str = CANARY, **settings: Any) -> OpenAIProvider:
        plugin = getattr(services, service)
        given = {"api_key": SecretStr(key), "base_url": url, "model": "some-model", **settings}
        provider: OpenAIProvider = plugin.build(
            with_constants(plugin.settings, **given),
            PluginContext(home=self.home, clock=SystemClock(), bot_name="Kenobot"),
        )
        return provider

    async def test_a_reply_is_streamed_with_its_end_its_cost_and_its_model(self, make: Maker) -> None:
        """Text comes in pieces; tokens read from the cache or written to it are not counted as read in full."""
        details = {"cached_tokens": 100, "cache_write_tokens": 20}
        usage = {"prompt_tokens": 131, "completion_tokens": 7, "total_tokens": 138, "prompt_tokens_details": details}
        async with OpenAIStandIn([{"reply": "Hola, ¿qué tal? 👋", "usage": usage}]) as server:
            deltas = await collect_deltas(make(server.url), make_request("hello"))
        assert text_of(deltas) == "Hola, ¿qué tal? 👋"
        assert len(deltas) >= 3
        assert deltas[-1] == Delta(stop_reason="stop", usage=Usage(11, 7, 100, 20), model="some-model")

    @pytest.mark.parametrize(
        "usage",
        [
            "many",
            {"prompt_tokens": "12", "completion_tokens": 2.0, "prompt_tokens_details": [1]},
            {"prompt_tokens": None, "completion_tokens": 2, "prompt_tokens_details": {"cached_tokens": "three"}},
        ],
    )
    async def test_figures_that_are_none_cost_no_answer(self, make: Maker, usage: object) -> None:
        """Nobody has looked at them before: what is no number counts as nothing."""
        async with OpenAIStandIn([{"reply": "hello", "usage": usage}]) as server:
            deltas = await collect_deltas(make(server.url), make_request("hello"))
        assert deltas[-1].usage == (Usage(0, 2, 0, 0) if isinstance(usage, dict) else Usage())

    @pytest.mark.parametrize(
        "usage", [None, {"prompt_tokens": 5, "completion_tokens": 2, "prompt_cache_hit_tokens": 3}]
    )
    async def test_each_service_counts_in_its_own_way(self, make: Maker, usage: Entry | None) -> None:
        """One names its cached tokens otherwise, another counts nothing at all."""
        async with OpenAIStandIn([{"reply": "hello", "usage": usage}]) as server:
            deltas = await collect_deltas(make(server.url, service="deepseek"), make_request("hello"))
        assert deltas[-1].usage == (Usage(2, 2, 3, 0) if usage else Usage())

    @pytest.mark.parametrize(
        ("usage", "counted"),
        [
            # litellm before Anthropic: 1250 tokens of a prompt, 1000 read from its cache and 200 written to it
            ({"prompt": 1250, "completion": 7, "total": 1257, "cached": 1000, "cache_write": 200}, (50, 7, 1000, 200)),
            ({"prompt": 1250, "completion": 7, "total": 1257, "cached": 0, "cache_creation": 200}, (1050, 7, 0, 200)),
            ({"prompt": 50, "completion": 7, "total": 1257, "cached": 1000, "cache_write": 200}, (50, 7, 1000, 200)),
            ({"prompt": 21, "completion": 0, "total": 81}, (21, 60, 0, 0)),  # Gemini's thinking, and nothing said
            ({"prompt": 279, "completion": 6, "total": 374}, (279, 95, 0, 0)),  # xAI's grok-4-fast-reasoning
            ({"prompt": 279, "completion": 6, "total": 0}, (279, 6, 0, 0)),
        ],
    )
    async def test_each_token_is_counted_once(
        self, make: Maker, usage: dict[str, int], counted: tuple[int, int, int, int]
    ) -> None:
        """Those of a cache are parts of the prompt, or beside it; those of thinking may be in the total alone.

        litellm 1.110.2, PromptTokensDetailsWrapper; router-for-me/CLIProxyAPI issue 5733; sonami-tech/omni-llm-provider
        issue 49.
        """
        whole = {f"{name}_tokens": usage[name] for name in ("prompt", "completion", "total")}
        details = {f"{name}_tokens": usage[name] for name in usage.keys() - {"prompt", "completion", "total"}}
        async with OpenAIStandIn([{"reply": "", "usage": {**whole, "prompt_tokens_details": details}}]) as server:
            deltas = await collect_deltas(make(server.url), make_request("hello"))
        assert deltas[-1].usage == Usage(*counted)

    async def test_the_request_is_what_the_api_expects(self, make: Maker) -> None:
        """One system message, neighbours merged, blank text left out, and no tuning but what is configured."""
        request = Request(
            system=(Block("be kind"), Block("these are the tags", cache=True)),
            messages=(
                Message("user", (Block("hello"), Block(" "))),
                Message("user", (Block("are you there?"),)),
                Message("assistant", (Block("yes"),)),
                Message("user", (Block("good"),)),
            ),
            max_tokens=99,
        )
        async with OpenAIStandIn() as server:
            await collect_deltas(make(server.url), request)
            await collect_deltas(make(server.url, effort="low", extra={"temperature": 0.5}), request)
            await collect_deltas(make(server.url, service="mistral"), request)
            first, second, third = server.requests
            assert server.headers[0]["authorization"] == f"Bearer {CANARY}"
        said = [
            {"role": "system", "content": "be kind\n\nthese are the tags"},
            {"role": "user", "content": "hello\n\nare you there?"},
            {"role": "assistant", "content": "yes"},
            {"role": "user", "content": "good"},
        ]
        same = {"model": "some-model", "stream": True, "messages": said}
        counted = {**same, "max_completion_tokens": 99, "stream_options": {"include_usage": True}}
        assert first == counted
        assert second == {**counted, "reasoning_effort": "low", "temperature": 0.5}
        assert third == {**same, "max_tokens": 99}

    async def test_nothing_of_one_service_reaches_another(self, make: Maker, monkeypatch: pytest.MonkeyPatch) -> None:
        """A server without a key gets none, and no account of OpenAI's that stands in the environment."""
        for name in ("OPENAI_API_KEY", "OPENAI_ORG_ID", "OPENAI_PROJECT_ID", "OPENAI_BASE_URL"):
            monkeypatch.setenv(name, "sk-of-the-environment")
        async with OpenAIStandIn([{"status": 503}]) as server:
            await failure_of(make(server.url, service="ollama", key=""))
            assert "authorization" not in server.headers[0]
            assert "sk-of-the-environment" not in str(server.headers[0])

    async def test_a_thought_that_the_prompt_opened_is_no_answer(self, make: Maker) -> None:
        """Only its end is in the text: what was shown of it is taken back, and of the next reply nothing is shown.

        vLLM 0.11 before a model whose chat template opens the thought (Qwen3-4B-Thinking-2507), without
        --reasoning-parser.
        """
        async with OpenAIStandIn([{"reply": "They greet me.\n</think>\n\nGood morning."}]) as server:
            provider = make(server.url)
            first = await collect_deltas(provider, make_request("hello"))
            at = next(number for number, delta in enumerate(first) if delta.replaces)
            assert text_of(first[at:]) == "Good morning."
            assert text_of(await collect_deltas(provider, make_request("hello"))) == "Good morning."
            own = make(server.url, service="vllm")
            assert text_of(await collect_deltas(own, make_request("hello"))) == "Good morning."

    @pytest.mark.parametrize(
        ("model", "reply", "is_shown"),
        [
            ("llama3.2:3b", {}, True),
            ("default", {"thinking": "hm"}, True),
            ("default", {"reply": "<think>hm</think>One, two, three."}, True),
            ("default", {}, False),
            ("DeepSeek-R1-Distill-Llama-8B", {}, False),
        ],
    )
    async def test_the_first_reply_of_ones_own_server_comes_as_it_is_written(
        self, make: Maker, model: str, reply: dict[str, str], is_shown: bool
    ) -> None:
        """Unless nothing says that the model opens its thoughts: then the next one does."""
        async with OpenAIStandIn([{"reply": "One, two, three.", **reply}]) as server:
            provider = make(server.url, service="llamacpp", model=model)
            first, second = [await collect_deltas(provider, make_request("count")) for _ in range(2)]
        assert [text_of(each) for each in (first, second)] == ["One, two, three."] * 2
        assert (len([each for each in first if each.text]) > 1) == is_shown
        assert len([each for each in second if each.text]) > 1

    @pytest.mark.parametrize(
        ("text", "whole"),
        [
            ("data: {half}\n\ndata: {last}\n\ndata: [DONE]\n\n", True),
            ("data:{half}\r\n\r\ndata:{last}\r\n\r\ndata:[DONE]\r\n\r\n", True),
            ("data: {half}\n\ndata: {thought}\n\ndata: [DONE]", True),
            ("data: {half}\n\ndata: {last}\n\n", False),
            ("data: {quoted}\n\n", False),
            ("data: [DONE]\n\n", False),
            ("data: {usage}\n\ndata: [DONE]\n\n", False),
        ],
    )
    async def test_a_stream_that_says_that_it_is_done_is_whole(self, make: Maker, text: str, whole: bool) -> None:
        """Some servers give no finish_reason, such as MLX's of 2024 and proxies that drop empty fields; one that breaks
        off does not come to the mark of the end, and one with nothing before the mark has not answered.
        """

        def chunk(**delta: str) -> str:
            return json.dumps({"choices": [{"index": 0, "delta": delta, "finish_reason": None}]})

        half, last, quoted = chunk(content="All is "), chunk(content="well."), chunk(content="\ndata: [DONE]\n")
        usage = json.dumps({"choices": [], "usage": {"prompt_tokens": 1, "completion_tokens": 0, "total_tokens": 1}})
        for name, value in {"half": half, "last": last, "quoted": quoted, "usage": usage}.items():
            text = text.replace(f"{{{name}}}", value)
        body = text.replace("{thought}", chunk(reasoning_content="hm")).encode()
        async with OpenAIStandIn([{"body": body, "content_type": "text/event-stream"}]) as server:
            if whole:
                deltas = await collect_deltas(make(server.url), make_request("hello"))
                assert text_of(deltas).startswith("All is ")
                assert deltas[-1].stop_reason == "stop"
            else:
                assert type(await failure_of(make(server.url))) is TruncatedReply

    @pytest.mark.parametrize(
        ("told", "reason"), [("STOP", "stop"), ("eos_token", "stop"), ("LENGTH", "length"), ("novel", "novel")]
    )
    async def test_each_server_spells_its_end_in_its_own_way(self, make: Maker, told: str, reason: str) -> None:
        """Text Generation Inference ends with `eos_token` (3.3.6, FinishReason); proxies write in large letters."""
        async with OpenAIStandIn([{"reply": "All is well.", "stop_reason": told}]) as server:
            assert (await collect_deltas(make(server.url), make_request("hello")))[-1].stop_reason == reason

    async def test_a_call_in_the_text_is_a_call(self, make: Maker) -> None:
        """As of a model whose server has no parser for its calls (vLLM 0.11 without --tool-call-parser): never text.

        Of one that comes in both ways there is one; nor is it a text where no tool was offered.
        """
        said = '<think>I look.</think>I look. <tool_call>\n{"name": "look", "arguments": {"at": 1}}\n</tool_call>'
        both = {"reply": said, "deltas": [_whole_call("a", 0, 2)]}
        async with OpenAIStandIn([{"reply": said, "times": 1}, {**both, "times": 1}, {"reply": said}]) as server:
            provider = make(server.url)
            first, second = [await collect_deltas(provider, TOOLED) for _ in range(2)]
            third = await collect_deltas(provider, make_request("hello"))
        assert [text_of(each) for each in (first, second, third)] == ["I look. "] * 3
        assert [[(c.call.name, c.call.arguments) for c in each if c.call] for each in (first, second, third)] == [
            [("look", {"at": 1})],
            [("look", {"at": 2})],
            [("look", {"at": 1})],
        ]
        assert {first[-1].stop_reason, third[-1].stop_reason} == {"tool_calls"}
        assert [call.call.problem for call in third if call.call] == ["There is no tool called 'look'."]

    @pytest.mark.parametrize(
        "thought", ["<think>secret plans</think>", "\n<think>\nsecret\n</think>\n\n", "<think></think>\n\n"]
    )
    async def test_thoughts_between_tags_are_no_answer(self, make: Maker, thought: str) -> None:
        """Local servers pass them on in the text; the tags may be cut in two."""
        async with OpenAIStandIn([{"reply": f"{thought}Good morning."}]) as server:
            assert text_of(await collect_deltas(make(server.url), make_request("hello"))) == "Good morning."

    @pytest.mark.parametrize("answer", ["<thinking aloud> is fun", "a <think> b </think> c", "<thi", "  <"])
    async def test_what_only_looks_like_a_thought_is_answered(self, make: Maker, answer: str) -> None:
        """Nothing of an answer is lost."""
        async with OpenAIStandIn([{"reply": answer}]) as server:
            assert text_of(await collect_deltas(make(server.url), make_request("hello"))) == answer

    async def test_a_refusal_is_one(self, make: Maker) -> None:
        """OpenAI says it in a field of its own, and ends as if all were well."""
        async with OpenAIStandIn([{"refusal": "I will not."}]) as server:
            deltas = await collect_deltas(make(server.url), make_request("hello"))
        assert (text_of(deltas), deltas[-1].stop_reason) == ("", "refusal")

    @pytest.mark.parametrize(
        "message",
        [
            "This model's maximum context length is 8192 tokens",
            "the request exceeds the available context size, try increasing it",
        ],
    )
    async def test_a_prompt_that_does_not_fit_is_known_as_one(self, make: Maker, message: str) -> None:
        """Each server says it in words of its own, so that the core can try a shorter one."""
        refusal: Entry = {"status": 400, "error": "invalid_request_error", "message": message}
        async with OpenAIStandIn([refusal]) as server:
            assert type(await failure_of(make(server.url))) is PromptTooLong

    async def test_an_empty_account_is_not_a_busy_one(self, make: Maker) -> None:
        """OpenAI says it under the status of a rate limit, and asking again would not help."""
        async with OpenAIStandIn([{"status": 429, "error": "insufficient_quota"}]) as server:
            error = await failure_of(make(server.url))
        assert type(error) is AccountRefused
        assert "add credit" in str(error)

    @pytest.mark.parametrize(
        "pieces",
        [
            [{"id": "a", "function": {"name": "look", "arguments": {"at": 1}}}, _whole_call("b", 0, 2)],
            [_whole_call("a", 0, 1), _whole_call("b", 0, 2)],
            [_whole_call("", 0, 1), _whole_call("", 0, 2)],
            [_whole_call("a", 5, 1), _whole_call("b", 2, 2), {"index": 2, "id": "b", "function": {"arguments": " "}}],
        ],
        ids=["objects without a number", "all of number 0", "without ids", "numbers that jump"],
    )
    async def test_calls_are_told_apart_however_a_server_numbers_them(self, make: Maker, pieces: list[Entry]) -> None:
        """Each keeps its arguments and an id of its own, also where the stop reason does not tell of calls."""
        async with OpenAIStandIn([{"reply": "", "deltas": pieces}]) as server:
            deltas = await collect_deltas(make(server.url), TOOLED)
        calls = [delta.call for delta in deltas if delta.call]
        assert [(call.name, call.arguments, call.problem) for call in calls] == [
            ("look", {"at": 1}, ""),
            ("look", {"at": 2}, ""),
        ]
        assert len({call.id for call in calls}) == 2
        assert deltas[-1].stop_reason == "tool_calls"

    async def test_a_text_in_parts_is_read_without_its_thinking(self, make: Maker) -> None:
        """As models of Mistral that think send it."""
        thought = {"type": "thinking", "thinking": [{"type": "text", "text": "hm"}]}
        delta = {"content": [thought, {"type": "text", "text": "Good "}, {"type": "text", "text": "morning."}]}
        chunk = {"choices": [{"index": 0, "delta": delta, "finish_reason": "stop"}]}
        body = f"data: {json.dumps(chunk)}\n\n".encode()
        async with OpenAIStandIn([{"body": body, "content_type": "text/event-stream"}]) as server:
            assert text_of(await collect_deltas(make(server.url), make_request("hello"))) == "Good morning."

    async def test_the_mark_of_a_call_goes_back_with_it(self, make: Maker) -> None:
        """Gemini refuses a call of its own without one, and takes a fixed one for the calls of others."""
        marked = {**_whole_call("a", 0, 1), "extra_content": {"google": {"thought_signature": "sig"}}}
        async with OpenAIStandIn([{"reply": "", "deltas": [marked], "times": 1}]) as server:
            provider = make(server.url, service="gemini")
            [call] = [delta.call for delta in await collect_deltas(provider, TOOLED) if delta.call]
            for each in (call, replace(call, signature="")):
                await collect_deltas(provider, after_call(each))
            sent = [body["messages"][-3]["tool_calls"][0]["extra_content"] for body in server.requests[1:]]
        assert [each["google"]["thought_signature"] for each in sent] == ["sig", "skip_thought_signature_validator"]

    async def test_the_models_of_a_server_are_listed(self) -> None:
        """In the server's order."""
        async with OpenAIStandIn(models=("llama3.2:3b", "qwen3:8b")) as server:
            provider = self.build(server.url)
            assert await provider.models() == ("llama3.2:3b", "qwen3:8b")
            await provider.aclose()
