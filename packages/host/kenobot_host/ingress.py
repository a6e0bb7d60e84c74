"""Run an ingress of a host: take updates in, by polls or webhooks, store them with an activation, then confirm them.

As many ingresses may run as one likes: polls of a token are a job, of which one runs at a time, and what is posted to
two of them is stored once, by its number.
"""

import asyncio
import json
import logging
from dataclasses import dataclass
from typing import Final

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from kenobot.channels.telegram.webhook import PATH, Webhook
from kenobot.ports.clock import Clock, SystemClock
from kenobot.ports.errors import ConfigError, RemoteError
from kenobot_host import mail_rows
from kenobot_host.activation import BOTS, UNREACHABLE, open_engine, rescue_on, work
from kenobot_host.bot_tokens import BotTokens
from kenobot_host.hosted_telegram import Pool
from kenobot_host.intake import pool_of
from kenobot_host.jobs import add_bot_jobs
from kenobot_host.polling import BotPoller, build_client, read_updates, request_poll, take_in
from kenobot_host.worker import open_pool, run_beside
from kenobot_http.body_bounds import BodyBounds
from kenobot_http.server import Server

_log = logging.getLogger(__name__)

_CONNECTIONS: Final = 16
_BODY_BYTES: Final = 1024 * 1024
_LOOK_SECONDS: Final = 5.0  # between looks for bots that are new, gone or changed
_STORE_SECONDS: Final = 8.0  # that Telegram is kept waiting for


@dataclass(frozen=True, slots=True)
class IngressOptions:
    """url: of the database. address, port: to listen on. public: where platforms reach it; "" where none posts."""

    url: str
    address: str
    port: int
    public: str
    bots: int
    name: str


class WebhookTaker:
    """Takes in what Telegram posts: the secret is checked, the update stored, and then it is confirmed."""

    def __init__(self, pool: Pool, clock: Clock, tokens: BotTokens, public: str) -> None:
        self._pool = pool
        self._tokens = tokens
        self._clock = clock
        self._public = public
        self._hooks: dict[str, tuple[mail_rows.Bot, Webhook]] = {}  # bounded: the bots of the host; start

    def build_app(self) -> Starlette:
        """Build the application that platforms post to."""
        hook = Route(PATH + "/{account}", self._take, methods=["POST"])
        return Starlette(routes=[hook, Route("/healthz", self._tell_health)])

    async def look(self) -> None:
        """Learn which bots there are, have new ones polled, and set the webhooks of the others."""
        async with self._pool.connection() as connection:
            bots = {bot.account: bot for bot in await mail_rows.load_bots(connection)}
        for bot in bots.values():
            if bot.rests:
                continue
            if bot.intake == "poll":
                async with self._pool.connection() as connection:
                    await request_poll(connection, bot.account)
            elif bot.account not in self._hooks or self._hooks[bot.account][0].token != bot.token:
                try:
                    await self._begin_hook(bot)
                except ConfigError as error:
                    _log.error("bot %s takes nothing in: %s", bot.account, error)
        self._hooks = {
            name: hook
            for name, hook in self._hooks.items()
            if name in bots and bots[name].intake == "webhook" and not bots[name].rests
        }

    async def _begin_hook(self, bot: mail_rows.Bot) -> None:
        token = self._tokens.open(bot.account, bot.token)
        client = build_client(bot, token, self._clock)
        hook = Webhook(client, self._clock, self._public, token, f"{PATH}/{bot.account}")
        self._hooks[bot.account] = bot, hook
        if not self._public:
            _log.warning("bot %s waits for webhooks, and no --public address is set: nothing is posted", bot.account)
            return
        try:
            await hook.set()
            if not bot.username:
                me = await client.get_me()
                async with self._pool.connection() as connection:
                    await mail_rows.set_username(connection, bot.account, me.username)
        except RemoteError as error:
            del self._hooks[bot.account]
            _log.warning("the webhook of bot %s is not set: %s", bot.account, error)

    async def _take(self, request: Request) -> Response:
        known = self._hooks.get(request.path_params["account"])
        headers = {name.lower(): value for name, value in request.headers.items()}
        if known is None or not known[1].is_genuine(headers):
            return PlainTextResponse("forbidden", 403)
        try:
            updates = read_updates([json.loads(await request.body())])
        except (ValueError, RecursionError):
            return PlainTextResponse("no update", 400)
        try:
            async with asyncio.timeout(_STORE_SECONDS):
                await take_in(self._pool, known[0].account, updates)
        except (TimeoutError, mail_rows.BotRests, *UNREACHABLE) as error:
            _log.warning("an update is not stored, Telegram keeps it meanwhile: %s", error)
            return PlainTextResponse("not stored", 503)
        return PlainTextResponse("")

    async def _tell_health(self, request: Request) -> Response:
        del request
        return PlainTextResponse("ok")

    async def look_on(self) -> None:
        """Look after the bots until cancelled."""
        while True:
            try:
                await self.look()
            except UNREACHABLE as error:
                _log.debug("no bots are looked for while the database is away: %s", error)
            await asyncio.sleep(_LOOK_SECONDS)


async def run_ingress(options: IngressOptions, tokens: BotTokens, stop: asyncio.Event) -> None:
    """Take updates in until `stop` is set. Raises Unavailable where it cannot begin."""
    engine = open_engine(options.url, _CONNECTIONS)
    async with open_pool(engine):
        pool, clock = pool_of(engine), SystemClock()
        add_bot_jobs(engine, BotPoller(pool, clock, tokens))
        taker = WebhookTaker(pool, clock, tokens, options.public)
        server = Server(BodyBounds(taker.build_app(), _BODY_BYTES), options.address, options.port)
        serving = asyncio.create_task(server.serve(before_closing=lambda: None), name="ingress")
        try:
            listening = asyncio.create_task(server.is_listening.wait())
            await asyncio.wait({listening, serving}, return_when=asyncio.FIRST_COMPLETED)
            listening.cancel()
            if serving.done():
                serving.result()
            _log.info("ready: ingress %s on port %d", options.name, server.port)
            async with run_beside(lambda: rescue_on(engine), taker.look_on):
                await work(engine, [BOTS], options.bots, options.name, stop)
        finally:
            serving.cancel()
            await asyncio.gather(serving, return_exceptions=True)
