"""A server on this machine that speaks the embedding APIs of OpenAI and of Ollama, and misbehaves when told to."""

import asyncio
from typing import Any, Self

from aiohttp import web

from kenobot_testing.embedder import WordEmbedder


class EmbeddingStandIn:
    """Use as `async with`. requests: path, headers and content of each. script: what to do with the next ones:
    a status, a status with headers, or a JSON content to answer; "hang" never answers.
    """

    def __init__(self) -> None:
        self.requests: list[tuple[str, dict[str, str], dict[str, Any]]] = []
        self.script: list[int | tuple[int, dict[str, str]] | dict[str, Any] | str] = []
        self.usage: dict[str, Any] = {}  # as the server reports it
        self._model = WordEmbedder()
        self._runner: web.AppRunner | None = None
        self.url = ""

    async def __aenter__(self) -> Self:
        app = web.Application(client_max_size=64_000_000)
        app.router.add_post("/v1/embeddings", self._openai)
        app.router.add_post("/api/embed", self._ollama)
        self._runner = web.AppRunner(app, shutdown_timeout=0.1)
        await self._runner.setup()
        site = web.TCPSite(self._runner, "127.0.0.1", 0)
        await site.start()
        server = site._server
        assert isinstance(server, asyncio.Server)
        self.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
        return self

    async def __aexit__(self, *_: object) -> None:
        assert self._runner is not None
        await self._runner.cleanup()

    async def _asked(self, request: web.Request) -> tuple[list[str], web.Response | None]:
        content = await request.json()
        headers = {name.lower(): value for name, value in request.headers.items()}
        self.requests.append((request.path, headers, content))
        if not self.script:
            return content["input"], None
        step = self.script.pop(0)
        if step == "hang":
            await asyncio.Event().wait()
        if isinstance(step, dict):
            return [], web.json_response(step)
        status, headers = step if isinstance(step, tuple) else (step, {})
        return [], web.json_response({"error": "told to"}, status=int(status), headers=headers)

    async def _openai(self, request: web.Request) -> web.Response:
        texts, other = await self._asked(request)
        if other is not None:
            return other
        rows = [[3 * number for number in row] for row in await self._model.embed(texts)]  # not of length 1
        items = [{"object": "embedding", "index": at, "embedding": row} for at, row in enumerate(rows)]
        return web.json_response({"object": "list", "data": items[::-1], "model": "m", **self.usage})  # in no order

    async def _ollama(self, request: web.Request) -> web.Response:
        texts, other = await self._asked(request)
        if other is not None:
            return other
        rows = [list(row) for row in await self._model.embed(texts)]
        return web.json_response({"model": "m", "embeddings": rows})
