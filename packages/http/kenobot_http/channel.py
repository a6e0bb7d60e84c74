"""The channel `http`: messages that come by HTTP, and answers that wait for whoever fetches them."""

import hashlib
import logging
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Protocol

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Mount, Route
from starlette.types import ASGIApp

from kenobot.app.bot_services import BotServices
from kenobot.ports.channel import Capabilities, Channel, HookRequest, Sink, TakesRequests
from kenobot.ports.clock import Clock
from kenobot.ports.errors import Unavailable
from kenobot.ports.messages import Inbound, MessagePart, Outbound
from kenobot.ports.sentences import Language
from kenobot.ports.signals import Signals
from kenobot_http.arrivals import Arrivals
from kenobot_http.body_bounds import HOOKS, BodyBounds
from kenobot_http.calls import FOLLOWED, Call, Calls
from kenobot_http.problems import explain_refusal
from kenobot_http.server import Server
from kenobot_http.settings import CHANNEL, HttpSettings
from kenobot_http.webhook import Gate, Webhook

_log = logging.getLogger(__name__)

_DRAFT_SECONDS = 0.1


class Backend(Gate, Protocol):
    """The REST API, which the server mounts at the root."""

    @property
    def app(self) -> ASGIApp: ...

    async def check_exposed(self) -> None:
        """Raise ConfigError unless the server may listen where other machines reach it."""
        ...


class HttpChannel:
    """The HTTP server, and the callers that wait for answers.

    An answer counts as sent at once: the outbox keeps it for a week, and whoever asked fetches it.

    build_backend: builds the API of a bot; None: there is none, as in a channel that only tells its settings.
    others: the channels that run, by name, some of which take requests of their platforms. file_paths: the bytes that
    bodies may have at paths that take files. owner_chat: see `kenobot.ports.channel.Capabilities`. arrivals: wakes
    those who read along.
    language: the owner's, of refusals for callers who name none.
    """

    name = CHANNEL

    def __init__(
        self,
        settings: HttpSettings,
        clock: Clock,
        signals: Signals,
        build_backend: "Callable[[HttpChannel, BotServices], Backend] | None" = None,
    ) -> None:
        self.settings = settings
        self.clock = clock
        self.calls = Calls()
        self.arrivals = Arrivals()
        self.owner_chat = ""
        self.backend: Backend | None = None
        self.others: Mapping[str, Channel] = {}  # bounded: the channels there are; start
        self.file_paths: dict[str, int] = {}  # bounded: the routes that take files; start
        self.server: Server | None = None
        self.language: Callable[[], Language] = lambda: "en"
        self._signals = signals
        self._build_backend = build_backend
        self._sink: Sink | None = None

    @property
    def capabilities(self) -> Capabilities:
        return Capabilities(
            longest=sys.maxsize,
            drafts=self.calls.has_followers,
            draft_seconds=_DRAFT_SECONDS,
            keeps_answers=True,
            owner_chat=self.owner_chat,
        )

    def serve_bot(self, bot: BotServices) -> None:
        """Serve the API of a bot, and hand its other channels the requests of their platforms."""
        self.language = bot.language
        self.others = bot.channels
        if self._build_backend is not None:
            self.backend = self._build_backend(self, bot)

    async def run(self, sink: Sink) -> None:
        """Serve until cancelled. Raises ConfigError where it may not listen, Unavailable when the address is taken."""
        if self.backend is not None and not self.settings.is_loopback:
            await self.backend.check_exposed()
        unsubscribe = self._signals.subscribe(FOLLOWED, self.calls.hear)
        self._sink = sink
        self.calls.begin()
        self.arrivals.begin()
        self.server = Server(self._app(), self.settings.host, self.settings.port)
        try:
            await self.server.serve(self.calls.close, self.arrivals.close)
        finally:
            self._sink = None
            unsubscribe()

    def _app(self) -> ASGIApp:
        routes = [Route("/webhook", Webhook(self)), Route(HOOKS + "{name}", self._hand_over, methods=["GET", "POST"])]
        mounts = [Mount("/", self.backend.app)] if self.backend is not None else []
        app = Starlette(routes=[*routes, *mounts], exception_handlers={HTTPException: explain_refusal})
        app.state.language = self.language
        return BodyBounds(app, self.settings.body_bytes, self.file_paths)

    async def _hand_over(self, request: Request) -> Response:
        """Hand a platform's request to its channel."""
        channel = self.others.get(request.path_params["name"])
        if not isinstance(channel, TakesRequests):
            raise HTTPException(404)
        headers = {name.lower(): value for name, value in request.headers.items()}
        taken = HookRequest(request.method, dict(request.query_params), headers, await request.body())
        answer = await channel.take_request(taken)
        return PlainTextResponse(answer.text, answer.status)

    def trace_of(self, external_id: str, text: str) -> str:
        """Return the trace of a message, the same whenever it comes."""
        return hashlib.sha256(f"{external_id}\0{text}".encode("utf-8", "backslashreplace")).hexdigest()[:16]

    async def take(self, inbound: Inbound, call: Call) -> bool:
        """Hand over the message of a call, which has its trace; return whether it is new.

        Raises StoreError, and Unavailable while the bot stops.
        """
        if self._sink is None or call.is_broken_off:
            raise Unavailable("talk.stopping")
        return await self._sink(inbound)

    def render(self, text: str) -> Sequence[MessagePart]:
        return (MessagePart(text),) if text else ()

    async def send(self, outbound: Outbound) -> str:
        self.arrivals.note(outbound.chat)
        return str(outbound.id)

    async def draft(self, chat: str, draft: str, text: str, thread: str = "") -> None:
        """Show what there is of a reply to the callers that follow it. draft: the inbox row of the message."""
        if draft.isdecimal():
            self.calls.show(int(draft), text)
