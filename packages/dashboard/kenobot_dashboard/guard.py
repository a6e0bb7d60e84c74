"""Keep other sites out: under which names the dashboard answers, and which headers its pages go out with."""

import ipaddress
from collections.abc import Collection
from typing import Final
from urllib.parse import urlsplit

from starlette.datastructures import MutableHeaders
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from kenobot.ports.sentences import Sentence
from kenobot_http.settings import HttpSettings

_POLICY: Final = "; ".join(
    (
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "img-src 'self'",
        "font-src 'self'",
        "connect-src 'self'",
        "form-action 'self'",
        "base-uri 'none'",
        "frame-ancestors 'none'",
    )
)
_HEADERS: Final = {
    "Content-Security-Policy": _POLICY,
    "X-Frame-Options": "DENY",
    "X-Content-Type-Options": "nosniff",
    # Not no-referrer: with that, browsers send "null" as the origin of a form, and it could not be checked.
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), microphone=(), geolocation=()",
    "X-Robots-Tag": "noindex",
}


class HeaderGuard:
    """An ASGI application that adds the headers of the dashboard to each answer; without others, it is not stored."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def send_guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in _HEADERS.items():
                    headers[name] = value
                headers.setdefault("Cache-Control", "no-store")
            await send(message)

        await self.app(scope, receive, send_guarded)


def list_names(settings: HttpSettings) -> frozenset[str]:
    """Return the names under which browsers may come: this machine's, and those of the settings."""
    return frozenset({"localhost", *(name.lower() for name in settings.server_names)})


def check_host(request: Request, names: Collection[str]) -> None:
    """Refuse a name that leads here and is not ours, as of a site that has it point to this machine.

    An address is accepted where it is this machine's own; another one only where the settings name it. Raises
    HTTPException.
    """
    name = _host_name(request)
    if name not in names and not _is_loopback(name):
        raise HTTPException(421, Sentence("api.other_name"))


def check_origin(request: Request) -> None:
    """Refuse a change that another site's page asks for. Raises HTTPException."""
    origin = request.headers.get("origin")
    host = request.headers.get("host", "")
    if origin is not None and origin.partition("://")[2].lower() != host.lower():
        raise HTTPException(403, Sentence("api.other_site"))
    if request.headers.get("sec-fetch-site", "same-origin") not in ("same-origin", "none"):
        raise HTTPException(403, Sentence("api.other_site"))


def is_own_machine(request: Request) -> bool:
    """Return whether a browser calls the server by a name of its own machine, also at the end of a tunnel."""
    name = _host_name(request)
    return name == "localhost" or _is_loopback(name)


def _host_name(request: Request) -> str:
    try:
        return (urlsplit(f"//{request.headers.get('host', '')}").hostname or "").removesuffix(".")
    except ValueError:
        return ""


def _is_loopback(name: str) -> bool:
    try:
        return ipaddress.ip_address(name).is_loopback
    except ValueError:
        return False
