"""A small server that speaks OpenAI's chat API, for tests, with the script of its Anthropic sibling.

Further entries: refusal (a refusal in place of a reply), deltas
(pieces of tool calls, as they are). `usage` replaces the token figures; null leaves them out. The payloads are made by
hand from the services' documentation.
"""

import asyncio
import json
from collections.abc import Iterable, Iterator
from typing import Any

from aiohttp import web

from tests.integration.providers.anthropic_standin import Entry, StandIn, drip, in_pieces, split_reply


class OpenAIStandIn(StandIn):
    """The server. models: the names it lists."""

    path = "/v1/chat/completions"

    def __init__(self, script: list[Entry] | None = None, models: tuple[str, ...] = ("one", "two")) -> None:
        super().__init__(script)
        self.models = models

    @property
    def url(self) -> str:
        return f"{super().url}/v1"

    async def _models(self, request: web.Request) -> web.Response:
        listed = [{"id": name, "object": "model", "created": 1, "owned_by": "x"} for name in self.models]
        return web.json_response({"object": "list", "data": listed})

    def error(self, entry: Entry) -> Entry:
        name = entry.get("error")
        message = entry.get("message", "the stand-in was told to fail")
        return {"error": {"message": message, "type": name, "param": None, "code": name}}

    async def answer(self, request: web.Request, entry: Entry, body: Entry) -> web.StreamResponse:
        response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
        await response.prepare(request)

        async def send(**parts: Any) -> None:
            chunk = {"id": "chunk", "object": "chat.completion.chunk", "created": 1, "model": body["model"], **parts}
            await drip(response, entry, f"data: {json.dumps(chunk)}\n\n")

        async def say(delta: Entry, reason: str | None = None) -> None:
            await send(choices=[{"index": 0, "delta": delta, "finish_reason": reason}])

        await say({"role": "assistant", "content": ""})
        for ours, theirs in (("thinking", "reasoning_content"), ("refusal", "refusal")):
            if entry.get(ours):
                await say({theirs: entry[ours]})
        for number, piece in enumerate([] if entry.get("refusal") else split_reply(entry)):
            await say({"content": piece})
            if number:
                continue
            if entry.get("stream_error"):
                await response.write(f"data: {json.dumps(self.error({'error': entry['stream_error']}))}\n\n".encode())
                return response
            while entry.get("ping"):
                await asyncio.sleep(entry["ping"])
                await response.write(b": still here\n\n")
            if entry.get("hang"):
                await asyncio.Event().wait()
        for piece in [*_call_pieces(entry.get("calls", ())), *entry.get("deltas", ())]:
            await say({"tool_calls": [piece]})
        if reason := entry.get("stop_reason", "tool_calls" if entry.get("calls") else "stop"):
            await say({}, reason)
            usage = entry.get("usage", {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2})
            if usage:
                await send(choices=[], usage=usage)
            await response.write(b"data: [DONE]\n\n")
            if entry.get("linger"):
                await asyncio.Event().wait()
        await response.write_eof()
        return response


def _call_pieces(calls: Iterable[Entry]) -> Iterator[Entry]:
    """The first piece of a call has its id and name, and the rest pieces of its arguments."""
    for number, call in enumerate(calls):
        function = {"name": call["name"], "arguments": ""}
        yield {"index": number, "id": call["id"], "type": "function", "function": function}
        for piece in in_pieces(call["arguments"]):
            yield {"index": number, "function": {"arguments": piece}}
