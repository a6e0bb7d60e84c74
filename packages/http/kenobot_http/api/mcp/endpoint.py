"""The place at which the HTTP server takes requests of MCP clients, behind the keys of the REST API."""

import asyncio
import importlib
import ipaddress
from collections.abc import Collection
from urllib.parse import urlsplit

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.types import Receive, Scope, Send

from kenobot.ports.sentences import Sentence
from kenobot_http.api.auth import Authenticator
from kenobot_http.problems import refuse
from kenobot_http.settings import HttpSettings

PATH = "/mcp"


class McpEndpoint:
    """An ASGI application that lets in who brings a key and comes by a name of this server."""

    def __init__(self, authenticator: Authenticator, settings: HttpSettings) -> None:
        self._authenticator = authenticator
        self._names = frozenset({"localhost", settings.host.lower(), *(name.lower() for name in settings.server_names)})

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request. Raises HTTPException."""
        request = Request(scope, receive)
        check_origin(request.headers.get("host", ""), request.headers.get("origin"), self._names)
        caller = await self._authenticator.admit(request, ())
        if request.method != "POST":  # there is no session to listen to, or to end
            refusal = refuse(request, 405, Sentence("api.mcp_posts"), {"Allow": "POST"})
            await refusal(scope, receive, send)
            return
        # The SDK takes a while to import, for which no other request waits.
        exchange = await asyncio.to_thread(importlib.import_module, "kenobot_http.api.mcp.exchange")
        await exchange.answer(caller, scope, receive, send)


def check_origin(host: str, origin: str | None, names: Collection[str]) -> None:
    """Refuse what a page in a browser may send under a name that leads here. Raises HTTPException.

    An address in the place of a name is no other site's, so it needs no listing.
    """
    name = _name(host)
    if name not in names and not _is_address(name):
        raise HTTPException(421, Sentence("api.other_name"))
    if origin is not None and origin.partition("://")[2].lower() != host.lower():
        raise HTTPException(403, Sentence("api.other_site"))


def _name(host: str) -> str:
    try:
        return (urlsplit(f"//{host}").hostname or "").removesuffix(".")
    except ValueError:
        return ""


def _is_address(name: str) -> bool:
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True
