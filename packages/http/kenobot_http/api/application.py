"""Build the application of the REST API, and its OpenAPI document."""

import importlib.util
from collections.abc import Sequence
from functools import lru_cache
from importlib.metadata import entry_points
from typing import Any, Final

from fastapi import APIRouter, FastAPI, Request, Response
from pydantic import BaseModel
from starlette.responses import RedirectResponse
from starlette.routing import BaseRoute, Route
from starlette.types import ASGIApp

from kenobot import __version__
from kenobot.app.bot_services import BotServices
from kenobot.ports.errors import ConfigError
from kenobot.storage import api_keys
from kenobot_http.api import (
    access,
    agenda,
    browsing,
    conversations,
    memory,
    message_forms,
    nights,
    operations,
    replies,
    schedule,
    settings,
    tools,
)
from kenobot_http.api.auth import Authenticator
from kenobot_http.api.errors import Refusal, add_error_handlers
from kenobot_http.api.mcp.endpoint import PATH, McpEndpoint
from kenobot_http.channel import HttpChannel
from kenobot_http.problems import PROBLEM
from kenobot_http.settings import CHANNEL
from kenobot_http.uploads import BODY_BYTES

PAGES: Final = "kenobot.pages"
"""The group of entry points that make pages for browsers: each is called with the channel and the services of the bot,
and mounted by its name."""

_ABOUT = """\
Conversations, memory and the state of one KenoBot. Every request but /healthz brings a key that `kenobot http key add`
made. Lists come in pages: `next` of one is the `cursor` of the following."""
_DESCRIPTIONS: Final = {
    400: "The body cannot be read",
    401: "No key, or a wrong one",
    403: "The key does not open this",
    404: "There is no such thing in reach",
    409: "It cannot be done as things are",
    413: "The body is too long",
    422: "A field is wrong",
    429: "Too many requests; Retry-After says when to come again",
    503: "The bot is stopping, or its disk fails",
}
_SCHEMAS = "#/components/schemas/"
_REFUSALS: dict[int | str, dict[str, Any]] = {
    status: {"description": text, "content": {PROBLEM: {"schema": {"$ref": f"{_SCHEMAS}{Refusal.__name__}"}}}}
    for status, text in _DESCRIPTIONS.items()
}

_PARTS = (
    message_forms,
    conversations,
    memory,
    browsing,
    replies,
    schedule,
    agenda,
    nights,
    operations,
    tools,
    settings,
    access,
)


class Alive(BaseModel):
    status: str = "ok"


async def say_alive(request: Request, response: Response) -> Alive:
    """Tell how the bot is, with 503 where it cannot do its work; needs no key and says no more."""
    state = request.app.state.health()
    if state == "unhealthy":
        response.status_code = 503
    return Alive(status="ok" if state == "healthy" else state)


class Api:
    """The backend of the channel `http`."""

    def __init__(self, channel: HttpChannel, services: BotServices) -> None:
        self._channel, self._services = channel, services
        self._app = build_app(channel, services)

    @property
    def app(self) -> ASGIApp:
        return self._app

    def lets_in(self, user: str, chat: str) -> bool:
        """Return whether a sender may talk to the bot in a chat."""
        return self._services.access.lets_in(CHANNEL, user, chat)

    async def check_exposed(self) -> None:
        """Raise ConfigError where neither a key nor a secret guards a server that other machines reach."""
        if self._channel.settings.webhook_secret.get_secret_value():
            return
        if not await self._services.database.read(api_keys.list_keys):
            raise ConfigError("api.host_is_exposed", host=repr(self._channel.settings.host))


class _Documented(FastAPI):
    """Describes refusals once: as the model of each answer, FastAPI would analyze it some hundred times."""

    def openapi(self) -> dict[str, Any]:
        if self.openapi_schema is None:
            schemas = super().openapi()["components"]["schemas"]
            schemas[Refusal.__name__] = Refusal.model_json_schema(ref_template=f"{_SCHEMAS}{{model}}")
        return super().openapi()


@lru_cache(maxsize=1)
def _list_routes() -> Sequence[BaseRoute]:
    """List the routes of all parts, which all bots of a process share: to analyze them takes a quarter of a second."""
    router = APIRouter()
    for part in _PARTS:
        router.include_router(part.router, responses=_REFUSALS)
    return router.routes


def build_app(channel: HttpChannel, services: BotServices) -> FastAPI:
    """Build the application for one bot."""
    app = _Documented(
        title="KenoBot",
        version=__version__,
        description=_ABOUT,
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,
    )
    app.state.authenticator = authenticator = Authenticator(channel, services)
    add_error_handlers(app)
    channel.file_paths["/v1/conversations/*/messages"] = BODY_BYTES
    app.state.health = services.state
    app.state.language = channel.language
    app.add_api_route("/healthz", say_alive, tags=["operations"], responses={503: {"model": Alive}})
    app.router.routes.extend(_list_routes())
    for entry in entry_points(group=PAGES):
        if entry.name == "dashboard" and not channel.settings.dashboard:
            continue
        app.router.routes.append(Route(f"/{entry.name}", RedirectResponse(f"/{entry.name}/", 303)))
        app.router.routes.append(Route("/", RedirectResponse(f"/{entry.name}/", 303)))  # the address that people type
        app.mount(f"/{entry.name}", entry.load()(channel, services))
    if importlib.util.find_spec("mcp") is not None:
        app.router.routes.append(Route(PATH, McpEndpoint(authenticator, channel.settings)))
    return app
