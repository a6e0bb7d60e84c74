"""When a failing server is asked again, and when it is not."""

import json
from random import Random
from typing import Any

import pytest

from kenobot.core.retry import RetryPolicy, retry_delay
from kenobot.ports.errors import RateLimited, Rejected, RemoteError, TruncatedReply, Unavailable
from tests.recorded import CONFORMANCE

_CASES = CONFORMANCE / "kenobot.jsonl"
_POLICY = RetryPolicy()


def _error(response: int | str) -> RemoteError:
    """What a provider makes of an HTTP status."""
    if response == 429:
        return RateLimited("slow down")
    if isinstance(response, int) and response >= 500:
        return Unavailable("down")
    return Rejected("no")


def _replay(responses: list[int | str], policy: RetryPolicy) -> dict[str, Any]:
    delays: list[int] = []
    for attempt, response in enumerate(responses, 1):
        if response == "ok":
            return {"result": "ok", "attempts": attempt, "delaysMs": delays}
        wait = retry_delay(attempt, _error(response), policy)
        if wait is None:
            return {"result": "throw", "attempts": attempt, "delaysMs": delays}
        delays.append(round(wait * 1000))
    raise AssertionError("the case asks for more responses than it has")


@pytest.mark.skipif(not _CASES.exists(), reason="the conformance cases are not beside this repository")
def test_the_delays_are_those_of_the_original() -> None:
    """Every recorded case gives the same attempts and pauses, except 529 and 504, which are worth another try."""
    rows = [json.loads(line) for line in _CASES.read_text("utf-8").splitlines()]
    cases = [row for row in rows if row["area"] == "provider.retry"]
    assert len(cases) == 8
    for case in cases:
        expected = case["expected"]
        if "quirk" in case:
            expected = {"result": "ok", "attempts": 2, "delaysMs": [1000]}
        assert _replay(case["input"]["responses"], RetryPolicy(attempts=case["input"]["maxAttempts"])) == expected


def test_the_pause_doubles_up_to_the_cap() -> None:
    """1, 2, 4 … seconds, and 30 however often it failed."""
    policy = RetryPolicy(attempts=5000)
    pauses = [retry_delay(attempt, Unavailable("down"), policy) for attempt in (1, 2, 3, 5, 6, 4999)]
    assert pauses == [1, 2, 4, 16, 30, 30]


def test_three_attempts_are_all_there_is_by_default() -> None:
    """The third failure is the last."""
    assert retry_delay(2, Unavailable("down"), _POLICY) == 2
    assert retry_delay(3, Unavailable("down"), _POLICY) is None


@pytest.mark.parametrize("error", [RateLimited("slow down"), Unavailable("down"), TruncatedReply("cut")])
def test_what_may_pass_is_tried_again(error: RemoteError) -> None:
    """Rate limits, outages and cut replies may be gone a second later."""
    assert retry_delay(1, error, _POLICY) == 1


@pytest.mark.parametrize("error", [Rejected("no"), RemoteError("something")])
def test_what_cannot_pass_is_not_tried_again(error: RemoteError) -> None:
    """A refusal stays a refusal."""
    assert retry_delay(1, error, _POLICY) is None


@pytest.mark.parametrize("kind", [RateLimited, Unavailable])
@pytest.mark.parametrize(("asked", "expected"), [(0.2, 1), (7, 7), (45, 45), (60, 60), (60.1, None), (3600, None)])
def test_the_servers_wish_wins_when_it_is_longer(
    kind: type[RateLimited | Unavailable], asked: float, expected: float | None
) -> None:
    """A longer Retry-After is obeyed, even past the cap; one beyond a minute means giving up now."""
    assert retry_delay(1, kind("later", asked), _POLICY) == expected


def test_jitter_only_ever_adds() -> None:
    """Up to a quarter more, never less, so that a server's own wish is never undercut."""
    random = Random(1)
    pauses = [retry_delay(1, RateLimited("later", 8), _POLICY, random) for _ in range(200)]
    assert all(pause is not None and 8 <= pause <= 10 for pause in pauses)
    assert len(set(pauses)) > 100
