"""A small server that speaks OpenAI's transcription API, for tests: a recording holds as text what is said in it."""

import asyncio
from typing import Any, Self

from aiohttp import web

SPOKEN = b"OggS "  # the beginning of a recording


class TranscriptionStandIn:
    """Writes down what the recording holds as text, after `pause` seconds; `answer` is given instead, once."""

    def __init__(self) -> None:
        self.requests: list[tuple[dict[str, str], dict[str, Any]]] = []
        self.answer: web.Response | None = None
        self.hangs = False
        self.pause = 0.0
        self.url = ""
        app = web.Application()
        app.router.add_post("/v1/audio/transcriptions", self._handle)
        self._runner = web.AppRunner(app, access_log=None, handler_cancellation=True, shutdown_timeout=0.1)

    async def __aenter__(self) -> Self:
        await self._runner.setup()
        await web.TCPSite(self._runner, "127.0.0.1", 0).start()
        self.url = f"http://127.0.0.1:{self._runner.addresses[0][1]}/v1/"
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._runner.cleanup()

    async def _handle(self, request: web.Request) -> web.Response:
        posted = await request.post()
        fields = {name: value for name, value in posted.items() if isinstance(value, str)}
        file = posted["file"]
        assert isinstance(file, web.FileField)
        with file.file as opened:
            content = opened.read()
        self.requests.append((dict(request.headers), {**fields, "name": file.filename, "content": content}))
        await asyncio.sleep(self.pause)
        if self.hangs:
            await asyncio.Event().wait()
        if self.answer is not None:
            answer, self.answer = self.answer, None
            return answer
        if not content.startswith(SPOKEN):
            return web.json_response({"error": {"message": "Invalid file format."}}, status=400)
        told = content.removeprefix(SPOKEN).decode()
        return web.json_response({"text": told, "usage": {"type": "duration", "seconds": 3}})
