"""A provider that answers from a script."""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterable

from kenobot.ports.provider import Delta, Reply, Request, Usage

Answer = Callable[[Request], str | Reply]
ScriptedReply = str | Exception | Reply | Answer


class ScriptedProvider:
    """Answers with scripted replies, one a request, and keeps the requests.

    A text is said, an exception raised, a function called with the request; a Reply is given with its own calls, stop
    reason, usage and model, and one whose stop reason is "" ends like a stream that was cut. A used-up script is an
    AssertionError, unless `repeat_last` is set. A single function instead of a list answers every request.

    keep: requests that stay in `requests`, the newest; all by default.
    rule_based: facts are extracted by rules instead of this provider; see `kenobot.ports.provider.is_rule_based`.
    """

    def __init__(
        self,
        replies: Iterable[ScriptedReply] | Answer = (),
        *,
        repeat_last: bool = False,
        rule_based: bool = True,
        name: str = "scripted",
        keep: int | None = None,
    ) -> None:
        self.name = name
        self.rule_based = rule_based
        self.requests: list[Request] = []
        self._replies: list[ScriptedReply] = [replies] if callable(replies) else list(replies)
        self._repeat_last = repeat_last or callable(replies)
        self._keep = keep
        self._asked = 0

    async def stream(self, request: Request) -> AsyncIterator[Delta]:
        """Yield the next reply in two pieces or more, then the end."""
        self.requests.append(request)
        if self._keep is not None:
            del self.requests[: -self._keep or None]
        reply = self._next(request)
        for piece in _halves(reply.text):
            yield Delta(text=piece)
            await asyncio.sleep(0)
        for call in reply.calls:
            yield Delta(call=call)
        if reply.stop_reason:
            yield Delta(stop_reason=reply.stop_reason, usage=reply.usage, model=reply.model)

    def _next(self, request: Request) -> Reply:
        number, self._asked = self._asked, self._asked + 1
        if number >= len(self._replies) and not (self._repeat_last and self._replies):
            text = request.messages[-1].text if request.messages else ""
            raise AssertionError(
                f"The script has {len(self._replies)} replies, and this is request {number + 1}, asking {text[:200]!r}"
                ": add a reply, or build the provider with repeat_last=True."
            )
        scripted = self._replies[min(number, len(self._replies) - 1)]
        if isinstance(scripted, Exception):
            raise scripted
        reply = scripted(request) if callable(scripted) else scripted
        if isinstance(reply, Reply):
            return reply
        return Reply(text=reply, stop_reason="end_turn", model=self.name, usage=Usage(input_tokens=1, output_tokens=1))


def _halves(text: str) -> list[str]:
    middle = (len(text) + 1) // 2
    return [half for half in (text[:middle], text[middle:]) if half]
