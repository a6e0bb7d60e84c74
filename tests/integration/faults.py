"""Faults of the stand-in for Telegram: outages and late answers."""

import asyncio
from dataclasses import dataclass

from aiohttp import web


@dataclass(slots=True)
class Faults:
    """The faults from the next request on.

    outage: the status of each answer, 0 for none. send_seconds: how long it takes to accept a message. file_seconds:
    how long it takes to hand a file over.
    """

    outage: int = 0
    send_seconds: float = 0.0
    file_seconds: float = 0.0

    async def meet(self, path: str) -> web.Response | None:
        """Refuse a request to `path` while the server is out; otherwise delay it, and return None."""
        if self.outage:
            refusal = {
                "ok": False,
                "error_code": self.outage,
                "description": "Faulty",
                "parameters": {"retry_after": 1},
            }
            return web.json_response(refusal, status=self.outage)
        if path.endswith("/sendMessage"):
            await asyncio.sleep(self.send_seconds)
        if path.startswith("/file/bot"):
            await asyncio.sleep(self.file_seconds)
        return None
