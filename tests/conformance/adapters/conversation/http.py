"""The HTTP channel: what the webhook takes, and how its requests are signed."""

import asyncio
import re
from typing import Any

from starlette.routing import Match, Route

from kenobot.core.bus import Bus
from kenobot.ports.messages import Inbound
from kenobot.ports.signals import MESSAGE_OUT
from kenobot_http.api.auth import bearer_secret
from kenobot_http.rate_limit import RateLimiter, peer_address
from kenobot_http.signature import signature
from kenobot_testing.clock import ManualClock
from kenobot_testing.fake_channel import RecordingSink
from tests.conformance.cases import Case, Checked, Compared, NotApplicable, Outcome, compare
from tests.integration.http.served import channel_of, served, signed

_ELSEWHERE = {
    "/health": "/healthz tells whether it serves; figures are behind a key of the REST API",
    "/": "the web page belongs to a later issue",
}


def bearer(case: Case) -> Outcome:
    return compare(case, bearer_secret(case.input["authorization"]) == case.input["apiKey"])


def client_ip(case: Case) -> Outcome:
    """The address is that of the connection: no header names another."""
    peer = case.input["remoteAddress"]
    address = peer_address((peer, 40_000) if peer is not None else None)
    if case.quirk:
        return Checked(address, {"no header is believed": address == (peer or "unknown")})
    return compare(case, address)


def rate_limit(case: Case) -> Outcome:
    limiter = RateLimiter(ManualClock(), case.input["limit"], case.input["windowMs"] / 1000)
    return compare(case, [not limiter.pause("a key") for _ in range(case.input["calls"])])


def route_match(case: Case) -> Outcome:
    """A route matches as the framework's router does it, which serves the API."""
    template = re.sub(r":(\w+)", r"{\1}", case.input["pattern"])
    match, scope = Route(template, lambda _: None).matches(
        {"type": "http", "method": "GET", "path": case.input["path"], "headers": []}
    )
    return compare(case, {"params": scope["path_params"]} if match is Match.FULL else None)


def webhook_signature(case: Case) -> Outcome:
    """The original signs the body alone, which a setting still admits."""
    return compare(case, signature(case.input["secret"], case.input["body"].encode()))


def webhook_status(case: Case) -> Outcome:
    """The answer's words are those of the original's mock provider: only that there is one is compared."""
    path = case.input["path"]
    if path in _ELSEWHERE:
        return NotApplicable(_ELSEWHERE[path])
    expected = case.expected
    actual = asyncio.run(_call(case.input["method"], path, case.input["body"], case.input["signature"] is not None))
    if "response" in expected["body"]:
        expected = {**expected, "body": {**expected["body"], "response": "an answer"}}
    return Compared(actual, expected)


async def _call(method: str, path: str, body: str, is_signed: bool) -> dict[str, Any]:
    clock = ManualClock()
    bus = Bus(clock)
    channel = channel_of(clock, bus, wait_seconds=10)
    request = signed(clock, body.encode()) if is_signed else {"content": body.encode()}
    async with served(channel, _Answering(bus)) as client:
        answer = await client.request(method, path, **request)
    await bus.close()
    return {"status": answer.status_code, "body": answer.json()}


class _Answering(RecordingSink):
    """Answers every message with the same words."""

    def __init__(self, bus: Bus) -> None:
        super().__init__()
        self._bus = bus

    async def __call__(self, inbound: Inbound) -> bool:
        await self._bus.emit(MESSAGE_OUT, "loop", inbound.trace, text="an answer")
        return await super().__call__(inbound)
