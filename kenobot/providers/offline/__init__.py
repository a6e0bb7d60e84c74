"""Answer without key, network and model: say what memory took from a message, and what it holds about it."""

import asyncio
from collections.abc import AsyncIterator

from kenobot.core.token_estimate import estimate_tokens
from kenobot.ports.plugin import NoSettings, Plugin
from kenobot.ports.provider import Delta, Request, Usage
from kenobot.providers.offline.answer import answer
from kenobot.providers.offline.request import parse_request

_PIECE = 48  # characters a delta


class OfflineProvider:
    """Answers from the request and the bot's name alone: the same request, the same answer."""

    name = "offline"
    rule_based = True
    sees_pictures = False
    calls_tools = False
    reports_memory = True

    def __init__(self, bot_name: str = "KenoBot") -> None:
        self._bot_name = bot_name

    async def stream(self, request: Request) -> AsyncIterator[Delta]:
        """Yield the answer in pieces. Never raises."""
        reply = answer(parse_request(request, self._bot_name))
        for at in range(0, len(reply), _PIECE):
            yield Delta(text=reply[at : at + _PIECE])
            await asyncio.sleep(0)  # a place to be cancelled at, like any stream
        texts = [block.text for block in request.system] + [message.text for message in request.messages]
        usage = Usage(input_tokens=sum(map(estimate_tokens, texts)), output_tokens=estimate_tokens(reply))
        yield Delta(stop_reason="end_turn", usage=usage, model=self.name)


plugin = Plugin(settings=NoSettings, build=lambda _settings, context: OfflineProvider(context.bot_name))
