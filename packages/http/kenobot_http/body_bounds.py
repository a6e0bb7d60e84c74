"""Bound the bodies of requests: how many bytes come in, within what time, and how many long ones at once."""

import asyncio
import re
from collections.abc import Mapping
from types import MappingProxyType

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from kenobot.ports.sentences import Sentence
from kenobot_http.problems import refuse

_BODY_SECONDS = 15.0  # for the whole body of a request to come in
_FILE_SECONDS = 60.0  # for one that brings files
HOOKS = "/hooks/"
"""The path above what platforms post."""
HOOK_BYTES = 4 * 1024 * 1024
"""The most bytes of what a platform posts: Meta batches up to 3 MB."""
LONG_HOOKS = 8
"""How many bodies at once may be above the bound of other requests, as no signature is checked before."""
_RETRY_SECONDS = "5"
_FORM = b"multipart/form-data"
_CLOSE = MappingProxyType({"Connection": "close"})


class BodyBounds:
    """Refuse bodies above `most` bytes, announced or not, and those that do not come in within some seconds.

    files: bounds of the forms at paths that take files, whose handlers read no body before they know who sends it; `*`
    is any name in a path. What platforms post has a bound of its own, too. Few may be above `most` at the same time;
    others come again.
    """

    def __init__(self, app: ASGIApp, most: int, files: Mapping[str, int] = MappingProxyType({})) -> None:
        self._app = app
        self.most = most
        self._takers = [(re.compile(re.escape(path).replace(r"\*", "[^/]+")), bound) for path, bound in files.items()]
        self.long_bodies = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return
        path: str = scope["path"]
        headers = dict(scope["headers"])
        of_form = self._find_bound(path, headers)
        longest = max(self.most, HOOK_BYTES if path.startswith(HOOKS) else of_form or self.most)
        announced = headers.get(b"content-length", b"0")
        is_too_long = not announced.isdigit() or int(announced) > longest
        if is_too_long and of_form is None:
            response = refuse(Request(scope), 413, Sentence("http.body_too_long"), dict(_CLOSE))
            await response(scope, receive, send)
            return
        body = _Body(self, receive, longest, _BODY_SECONDS if of_form is None else _FILE_SECONDS, is_too_long)
        try:
            await self._app(scope, body.receive, send)
        finally:
            self.long_bodies -= body.is_long

    def _find_bound(self, path: str, headers: Mapping[bytes, bytes]) -> int | None:
        """Return how long a form with files may be; None where none is taken."""
        if not headers.get(b"content-type", b"").lower().startswith(_FORM):
            return None
        return next((bound for taker, bound in self._takers if taker.fullmatch(path)), None)


class _Body:
    """The body of a request as it comes in.

    longest: bytes. seconds: for all of it. is_too_long: by what was announced; a handler that takes files reads none of
    it before it knows who sends it, and refuses it then.
    """

    def __init__(self, bounds: BodyBounds, receive: Receive, longest: int, seconds: float, is_too_long: bool) -> None:
        self._bounds = bounds
        self._receive = receive
        self._longest = longest
        self._ends = asyncio.get_running_loop().time() + seconds
        self._is_too_long = is_too_long
        self._size = 0
        self._is_whole = False
        self.is_long = False

    async def receive(self) -> Message:
        """Return the next message of the request. Raises HTTPException where it goes beyond a bound."""
        if self._is_whole:  # what comes now is the end of the connection
            return await self._receive()
        if self._is_too_long:
            raise HTTPException(413, Sentence("http.body_too_long"), _CLOSE)
        try:
            async with asyncio.timeout_at(self._ends):
                message = await self._receive()
        except TimeoutError:
            raise HTTPException(408, Sentence("http.body_too_slow"), _CLOSE) from None
        self._size += len(message.get("body", b""))
        self._is_whole = not message.get("more_body", False)
        if self._size > self._longest:
            raise HTTPException(413, Sentence("http.body_too_long"), _CLOSE)
        if self._size > self._bounds.most and not self.is_long:
            self._count_long()
        return message

    def _count_long(self) -> None:
        """Count the body among the long ones. Raises HTTPException where there are too many."""
        if self._bounds.long_bodies >= LONG_HOOKS:
            raise HTTPException(503, Sentence("http.busy"), {**_CLOSE, "Retry-After": _RETRY_SECONDS})
        self._bounds.long_bodies += 1
        self.is_long = True
