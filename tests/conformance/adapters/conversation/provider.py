"""Models: what they are asked, what their answers hold, and what becomes of those that fail."""

import asyncio
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pydantic import SecretStr

from kenobot.core.retry import CircuitBreaker, RetryPolicy, retry_delay
from kenobot.language.json_answers import outermost_json_values
from kenobot.ports.errors import RemoteError
from kenobot.ports.plugin import PluginContext
from kenobot.ports.provider import Block, Content, Message, Request, ToolResult, Usage
from kenobot.providers.anthropic import AnthropicSettings, build
from kenobot.providers.command_line import prompt_of
from kenobot.providers.command_line.dialects import CODEX
from kenobot.providers.openai_compatible import chat_messages
from kenobot_testing.clock import ManualClock
from kenobot_testing.provider import collect_deltas, make_request
from tests.conformance.cases import Case, Checked, Compared, Outcome, compare
from tests.integration.providers.anthropic_standin import StandIn


def circuit_breaker(case: Case) -> Outcome:
    """Numbers in the sequence let that many milliseconds pass; each call gives its result, the state, the failures."""
    return compare(case, play_breaker(case.input))


def play_breaker(given: Mapping[str, Any]) -> list[list[str | int]]:
    """Play a recorded sequence of calls and pauses; result, state and failures after each call."""
    clock = ManualClock()
    breaker = CircuitBreaker(clock, given["threshold"], given["cooldownMs"] / 1000)
    seen: list[list[str | int]] = []
    for step in given["sequence"]:
        if isinstance(step, int):
            clock.advance(step / 1000)
            continue
        result = "rejected"
        if breaker.allows_request():
            result = "ok" if step == "ok" else "error"
            (breaker.record_success if step == "ok" else breaker.record_failure)()
        seen.append([result, breaker.state, breaker.failures])
    return seen


def retry(case: Case) -> Outcome:
    """The server's answers in order, each made an error by the Anthropic provider, until one is not asked again."""
    policy = RetryPolicy(attempts=case.input["maxAttempts"])
    pauses: list[int] = []
    told: dict[str, Any] = {"result": "throw", "attempts": len(case.input["responses"]), "delaysMs": pauses}
    for attempt, response in enumerate(case.input["responses"], 1):
        told["attempts"] = attempt
        if response == "ok":
            told["result"] = "ok"
            break
        pause = retry_delay(attempt, asyncio.run(_error(response)), policy)
        if pause is None:
            break
        pauses.append(round(pause * 1000))
    if "not retried" in case.quirk:
        responses = case.input["responses"]
        return Checked(
            told,
            {
                "it is asked again until it answers": told["attempts"] == responses.index("ok") + 1,
                "the answer is taken": told["result"] == "ok",
                "there is a pause after each failure": len(pauses) == told["attempts"] - 1,
            },
        )
    return compare(case, told)


async def _error(response: int | str) -> RemoteError:
    """What the provider makes of a server's status; an error without one is no server's answer."""
    if not isinstance(response, int):
        return RemoteError(response)
    async with StandIn([{"status": response}]) as server:
        settings = AnthropicSettings(api_key=SecretStr("key"), base_url=server.url)
        provider = build(settings, PluginContext(Path("home"), ManualClock(), "KenoBot"))
        try:
            await collect_deltas(provider, make_request("Hello!"))
        except RemoteError as error:
            return error
        finally:
            await provider.aclose()
    raise AssertionError(f"status {response} is no error")


def cli_prompt(case: Case) -> Outcome:
    """A conversation as the one text that a program gets."""
    messages = [Message(each["role"], (Block(each["content"]),)) for each in case.input]
    return compare(case, prompt_of(Request((), tuple(messages)))[1])


def codex_lines(case: Case) -> Outcome:
    """Lines of a program's output; of what they mean, those parts that a text can have."""
    steps = [CODEX.read(json.loads(line)) for line in case.input.splitlines()]
    usage = steps[-1].usage or Usage()
    told = {
        "content": "".join(step.text for step in steps),
        "stopReason": "end_turn" if steps[-1].ended else None,
        "usage": {"input_tokens": usage.input_tokens, "output_tokens": usage.output_tokens},
    }
    return Compared(told, {name: case.expected[name] for name in told})


def openai_messages(case: Case) -> Outcome:
    """The same messages; here calls have names of their own, and blocks stand apart by a blank line."""
    messages = [Message(each["role"], _contents(each["content"])) for each in case.input["messages"]]
    made = [dict(each) for each in chat_messages(Request((Block(case.input["system"]),), tuple(messages)))]
    names = {
        ours["tool_call_id"]: theirs["tool_call_id"]
        for ours, theirs in zip(made, case.expected, strict=True)
        if "tool_call_id" in ours
    }
    told = [
        {**each, "content": str(each["content"]).replace("\n\n", "\n")}
        | ({"tool_call_id": names[str(each["tool_call_id"])]} if "tool_call_id" in each else {})
        for each in made
    ]
    return compare(case, told)


def _contents(content: str | list[dict[str, str]]) -> tuple[Content, ...]:
    if isinstance(content, str):
        return (Block(content),)
    return tuple(
        ToolResult(each["tool_use_id"], each["content"]) if each["type"] == "tool_result" else Block(each["text"])
        for each in content
    )


def json_in(case: Case) -> Outcome:
    """The first JSON value of an answer; where the original gave up, there is one all the same."""
    found = next(iter(outermost_json_values(case.input)), None)
    if isinstance(case.expected, dict) and "error" in case.expected:
        return Checked(found, {"the value that stands in the answer is found": found is not None})
    return compare(case, found)
