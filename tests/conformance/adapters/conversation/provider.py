"""Failing models: what is asked again, after how long, and when nobody asks any more."""

import asyncio
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pydantic import SecretStr

from kenobot.core.retry import CircuitBreaker, RetryPolicy, retry_delay
from kenobot.ports.errors import RemoteError
from kenobot.ports.plugin import PluginContext
from kenobot.providers.anthropic import AnthropicSettings, build
from kenobot.testing.clock import ManualClock
from kenobot.testing.provider import collect_deltas, make_request
from tests.conformance.cases import Case, Checked, Outcome, compare
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
