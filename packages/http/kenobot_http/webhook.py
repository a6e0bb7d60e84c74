"""Take signed messages in by POST /webhook, and answer them in the response."""

import json
import logging
from typing import Protocol

from pydantic import BaseModel, Field, ValidationError
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response
from starlette.types import Receive, Scope, Send

from kenobot.ports.clock import Clock
from kenobot.ports.errors import StoreError, Unavailable
from kenobot.ports.messages import Inbound
from kenobot_http.calls import Call, Calls
from kenobot_http.rate_limit import RateLimiter, peer_address
from kenobot_http.settings import CHANNEL, HttpSettings
from kenobot_http.signature import is_current, is_signed

_log = logging.getLogger(__name__)

SIGNATURE, STAMP = "x-webhook-signature", "x-webhook-timestamp"
NAME = r"^[A-Za-z0-9_.@+-]{1,64}$"
CONVERSATION = r"^[A-Za-z0-9_-]{1,64}$"
_WRONG_A_MINUTE = 30  # signatures, from one address
_RETRY_SECONDS = "5"


class Gate(Protocol):
    """Admission of callers."""

    def lets_in(self, user: str, chat: str) -> bool:
        """Return whether a sender may talk to the bot in a chat."""
        ...


class MessageTaker(Protocol):
    """The channel behind the webhook. backend: None lets everybody in."""

    settings: HttpSettings
    clock: Clock
    calls: Calls

    @property
    def backend(self) -> Gate | None: ...

    def trace_of(self, external_id: str, text: str) -> str:
        """Return the trace of a message, the same whenever it comes."""
        ...

    async def take(self, inbound: Inbound, call: Call) -> bool:
        """Hand over the message of a call; return whether it is new. Raises StoreError and Unavailable."""
        ...


class WebhookMessage(BaseModel):
    """The body of a webhook's request.

    id: the sender's own, the same whenever it sends the message again; else its signature is. group: others read along.
    """

    message: str = Field(min_length=1, max_length=100_000)
    chat_id: str = Field("default", pattern=CONVERSATION)
    user: str = Field("", pattern=rf"{NAME}|^$")
    name: str = Field("", max_length=128)
    id: str = Field("", max_length=200)
    group: bool = False


class Webhook:
    """The ASGI application of the webhook.

    A message is taken in once, by its id. Sent again it is refused: the answer goes to the first caller alone.
    """

    def __init__(self, channel: MessageTaker) -> None:
        self._channel = channel
        self._secret = channel.settings.webhook_secret.get_secret_value()
        self._wrong = RateLimiter(channel.clock, _WRONG_A_MINUTE)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        request = Request(scope, receive)
        try:
            response = await self._answer(request)
        except ClientDisconnect:
            return
        await response(scope, receive, send)

    async def _answer(self, request: Request) -> Response:
        if not self._secret or request.method != "POST" or request.scope["query_string"]:  # which no signature covers
            return _error(404, "not found")
        body = await request.body()
        given, stamp = request.headers.get(SIGNATURE, ""), request.headers.get(STAMP, "")
        may_lack = self._channel.settings.webhook_unstamped
        if not is_signed(self._secret, body, stamp, given) or not (stamp or may_lack):
            if self._wrong.pause(peer_address(request.scope.get("client"))):
                return _error(429, "too many wrong signatures")
            return _error(401, "invalid signature")
        if stamp and not is_current(stamp, self._channel.clock.now().timestamp()):
            return _error(401, "stale timestamp: sign the message anew")
        try:
            data = json.loads(body)
        except (ValueError, RecursionError):
            return _error(400, "invalid json")
        try:
            message = WebhookMessage.model_validate(data, strict=True)
        except ValidationError as error:
            return _error(400, _complaint(error))
        return await self._take(message, given)

    async def _take(self, message: WebhookMessage, given: str) -> Response:
        channel, settings = self._channel, self._channel.settings
        user = message.user or settings.webhook_user
        chat = chat_of(settings.owners, user, message.chat_id, group=message.group)
        if channel.backend is not None and not channel.backend.lets_in(user, chat):
            return _error(403, "its sender may not talk here: put them into channels.http.allowed_users")
        external_id = f"webhook:{message.id or given}"
        trace = channel.trace_of(external_id, message.message)
        inbound = Inbound(
            channel=CHANNEL,
            external_id=external_id,
            chat=chat,
            user=user,
            user_name=message.name,
            text=message.message,
            sent_at=channel.clock.now(),
            private=not message.group,
            trace=trace,
        )
        with channel.calls.open(trace) as call:
            try:
                new = await channel.take(inbound, call)
            except (StoreError, Unavailable) as error:
                _log.warning("a message of the webhook was not taken in: %s", error)
                return _error(503, "the message is not stored: send it again", {"Retry-After": _RETRY_SECONDS})
            if not new:
                return _error(409, "refused: it was received before, or too many of this conversation wait")
            await call.wait_over(settings.wait_seconds)
            if call.answer is None:
                return JSONResponse({"status": "pending", "id": call.trace}, 202)
            return JSONResponse({"response": call.answer, "status": "failed" if call.is_failed else "ok"})


def chat_of(owners: tuple[str, ...], user: str, conversation: str, *, group: bool = False) -> str:
    """Return the chat of a conversation: none can be opened under another user's name."""
    if group:
        return f"#{conversation}"
    return conversation if user in owners else f"{user}/{conversation}"


def _complaint(error: ValidationError) -> str:
    """Name the first field that is wrong."""
    detail = error.errors(include_input=False, include_url=False)[0]
    if not detail["loc"]:
        return "the body must be an object"
    field = str(detail["loc"][0])
    missing = field == "message" and detail["type"] in ("missing", "string_too_short")
    return "missing message field" if missing else f"{field}: {detail['msg']}"


def _error(status: int, why: str, headers: dict[str, str] | None = None) -> Response:
    return JSONResponse({"error": why}, status, headers=headers)
