"""A small server that speaks Anthropic's Messages API, for tests: in this process, or as one of its own.

`python -m tests.integration.anthropic_standin --port 0 --script FILE.json --journal FILE.jsonl` prints `ready PORT`.

The script is a list of entries, read again for every request; the first that matches answers:
match (part of what the person wrote; left out: anything), times (how often the entry may answer), reply, delay
(seconds before it), stop_reason (null: the stream ends without one), usage, thinking, status + error + message +
headers (an HTTP error or a redirect), stream_error (an error event in the middle), ping (seconds between pings after
the first piece, for ever), hang (silence after it, for ever), calls (tool calls after the text: id, name, arguments
as text), drip (seconds between the bytes), linger (the connection stays open after the end), flood (megabytes without
a break, then the end), body + content_type + headers + answer_status (an answer of another kind). Without a match the
reply is `ok: ` and what the person wrote.
"""

import argparse
import asyncio
import json
import re
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from aiohttp import web

Entry = dict[str, Any]

_CONTEXT = "<kenobot-context>"
TIME = re.compile(r"\[(?:\w{3} \d{4}-\d{2}-\d{2} )?\d{2}:\d{2}\]")
"""The time behind the words of a person, a block of its own."""


def last_words(body: Entry) -> str:
    """Return the words of the person or of tools in the last user message, without runtime context and its time."""
    said = [message for message in body.get("messages", []) if message.get("role") in ("user", "tool")]
    content = said[-1]["content"] if said else ""
    if isinstance(content, str):
        return content
    texts = (str(block.get("content" if block["type"] == "tool_result" else "text", "")) for block in content)
    return "\n\n".join(text for text in texts if not text.startswith(_CONTEXT) and not TIME.fullmatch(text))


class StandIn:
    """The server. `requests` holds the bodies it got, `hangups` counts the clients that left before the end.

    seen: requests of any method and path. connections: those that they came by.
    key: the only one that is accepted.
    """

    path = "/v1/messages"

    def __init__(
        self, script: list[Entry] | Path | None = None, journal: Path | None = None, port: int = 0, key: str = ""
    ) -> None:
        self.script = script or []
        self._key = key
        self.requests: list[Entry] = []
        self.headers: list[dict[str, str]] = []
        self.hangups = 0
        self.seen = 0
        self._peers = set[object]()
        self.left = asyncio.Event()
        self._journal = journal
        self._wanted_port = port
        self._answered: dict[int, int] = {}
        app = web.Application(client_max_size=64 * 1024 * 1024, middlewares=[self._count])
        app.router.add_post(self.path, self._messages)
        app.router.add_get("/v1/models", self._models)
        self._runner = web.AppRunner(app, access_log=None, handler_cancellation=True, shutdown_timeout=0.1)

    async def __aenter__(self) -> Self:
        await self._runner.setup()
        await web.TCPSite(self._runner, "127.0.0.1", self._wanted_port).start()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._runner.cleanup()

    @property
    def connections(self) -> int:
        return len(self._peers)

    @property
    def port(self) -> int:
        return int(self._runner.addresses[0][1])

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def _entry(self, said: str) -> Entry:
        script = json.loads(self.script.read_text("utf-8")) if isinstance(self.script, Path) else self.script
        for at, entry in enumerate(script):
            used = self._answered.get(at, 0)
            if entry.get("match", "") in said and used < entry.get("times", used + 1):
                self._answered[at] = used + 1
                return {"reply": f"ok: {said}", **entry}
        return {"reply": f"ok: {said}"}

    @web.middleware
    async def _count(
        self, request: web.Request, handler: Callable[[web.Request], Awaitable[web.StreamResponse]]
    ) -> web.StreamResponse:
        self.seen += 1
        self._peers.add(request.transport.get_extra_info("peername") if request.transport else None)
        return await handler(request)

    async def _models(self, request: web.Request) -> web.Response:
        """What a new key is tried with: any is good unless there is one `key`."""
        if self._key and request.headers.get("x-api-key") != self._key:
            return web.json_response(_error("authentication_error"), status=401)
        return web.json_response({"data": [], "has_more": False})

    async def _messages(self, request: web.Request) -> web.StreamResponse:
        body = await request.json()
        self.requests.append(body)
        self.headers.append({name.lower(): value for name, value in request.headers.items()})
        if self._journal:
            with self._journal.open("a", encoding="utf-8") as journal:
                journal.write(json.dumps(body, ensure_ascii=False) + "\n")
        entry = self._entry(last_words(body))
        try:
            await asyncio.sleep(entry.get("delay", 0))
            key = request.headers.get("authorization") or request.headers.get("x-api-key") or ""
            if not key or self._key not in ("", key.removeprefix("Bearer ")):
                entry = {"status": 401, "error": "authentication_error"}
            if status := entry.get("status"):
                return web.json_response(self.error(entry), status=status, headers=entry.get("headers"))
            if "body" in entry:
                kind, headers = entry.get("content_type", "text/html"), entry.get("headers")
                return web.Response(
                    status=entry.get("answer_status", 200), body=entry["body"], content_type=kind, headers=headers
                )
            if entry.get("flood"):
                return await _flooded(request, entry["flood"])
            return await self.answer(request, entry, body)
        except (asyncio.CancelledError, ConnectionError) as error:
            self.hangups += 1
            self.left.set()
            if isinstance(error, ConnectionError):  # the client was killed: nothing for a log
                return web.Response()
            raise

    def error(self, entry: Entry) -> Entry:
        """The body of an HTTP error."""
        return _error(entry.get("error"), entry.get("message"))

    async def answer(self, request: web.Request, entry: Entry, body: Entry) -> web.StreamResponse:
        """The reply, streamed or whole."""
        if not body.get("stream"):
            return web.json_response(_message(entry, body))
        return await _streamed(request, entry, body)


def _error(kind: str | None, message: str | None = None) -> Entry:
    words = message or "the stand-in was told to fail"
    return {"type": "error", "error": {"type": kind or "api_error", "message": words}}


def _message(entry: Entry, body: Entry) -> Entry:
    return {
        "id": "msg_standin",
        "type": "message",
        "role": "assistant",
        "model": body.get("model", ""),
        "content": [{"type": "text", "text": entry["reply"]}],
        "stop_reason": entry.get("stop_reason", "tool_use" if entry.get("calls") else "end_turn"),
        "stop_sequence": None,
        "usage": {"input_tokens": 1, "output_tokens": 1, **entry.get("usage", {})},
    }


async def _streamed(request: web.Request, entry: Entry, body: Entry) -> web.StreamResponse:
    response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
    await response.prepare(request)
    async for event in _events(entry, body):
        await drip(response, entry, f"event: {event['type']}\ndata: {json.dumps(event)}\n\n")
    if entry.get("linger"):
        await asyncio.Event().wait()
    await response.write_eof()
    return response


async def drip(response: web.StreamResponse, entry: Entry, text: str) -> None:
    """Write at once, or byte by byte where the entry wants it so."""
    pause, content = entry.get("drip"), text.encode()
    for piece in [content[at : at + 1] for at in range(len(content))] if pause else [content]:
        await response.write(piece)
        if pause:
            await asyncio.sleep(pause)


async def _flooded(request: web.Request, megabytes: int) -> web.StreamResponse:
    response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
    await response.prepare(request)
    await response.write(b"data: ")
    for _ in range(megabytes * 16):
        await response.write(b"x" * 65536)
    await response.write(b"\n\n")
    return response


async def _events(entry: Entry, body: Entry) -> AsyncIterator[Entry]:
    whole = _message(entry, body)
    usage = whole["usage"]
    yield {"type": "message_start", "message": {**whole, "content": [], "stop_reason": None}}
    index = 0
    if thinking := entry.get("thinking"):
        for event in _block(index, {"type": "thinking", "thinking": "", "signature": ""}, "thinking", [thinking]):
            yield event
        index += 1
    pieces = split_reply(entry)
    for number, event in enumerate(_block(index, {"type": "text", "text": ""}, "text", pieces)):
        yield event
        if number != 1:  # 0 opens the block, 1 is the first piece
            continue
        if entry.get("stream_error"):
            yield _error(entry["stream_error"])
            return
        while entry.get("ping"):
            await asyncio.sleep(entry["ping"])
            yield {"type": "ping"}
        if entry.get("hang"):
            await asyncio.Event().wait()
    for number, call in enumerate(entry.get("calls", ()), index + 1):
        start = {"type": "tool_use", "id": call["id"], "name": call["name"], "input": {}}
        for event in _block(number, start, "input_json", in_pieces(call["arguments"]), "partial_json"):
            yield event
    if whole["stop_reason"]:
        end = {"stop_reason": whole["stop_reason"], "stop_sequence": None}
        yield {"type": "message_delta", "delta": end, "usage": {"output_tokens": usage["output_tokens"]}}
        yield {"type": "message_stop"}


def split_reply(entry: Entry) -> list[str]:
    """The reply in three pieces or four."""
    return in_pieces(entry["reply"])


def in_pieces(text: str) -> list[str]:
    """A text in three pieces or four."""
    cut = max(1, len(text) // 3)
    return [text[at : at + cut] for at in range(0, len(text), cut)]


def _block(index: int, start: Entry, kind: str, pieces: list[str], field: str = "") -> list[Entry]:
    deltas = [{"type": f"{kind}_delta", field or kind: piece} for piece in pieces]
    return [
        {"type": "content_block_start", "index": index, "content_block": start},
        *({"type": "content_block_delta", "index": index, "delta": delta} for delta in deltas),
        {"type": "content_block_stop", "index": index},
    ]


async def _serve(options: argparse.Namespace) -> None:
    async with StandIn(options.script, options.journal, options.port) as standin:
        print(f"ready {standin.port}", flush=True)
        await asyncio.Event().wait()


def main() -> None:
    """Serve until killed."""
    parser = argparse.ArgumentParser(description="A stand-in for Anthropic's Messages API.")
    parser.add_argument("--port", type=int, default=0, help="0 takes a free one")
    parser.add_argument("--script", type=Path, help="a JSON file, read again for every request")
    parser.add_argument("--journal", type=Path, help="takes each request body as one line of JSON")
    asyncio.run(_serve(parser.parse_args()))


if __name__ == "__main__":
    main()
