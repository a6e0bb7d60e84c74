"""The way in and out: a link that `kenobot dashboard` makes opens a session once."""

from typing import Annotated, Final

from fastapi import APIRouter, Form, Query, Request
from fastapi.responses import HTMLResponse, RedirectResponse, Response
from starlette.exceptions import HTTPException

from kenobot.app.bot_services import BotServices
from kenobot.ports.clock import Clock
from kenobot.ports.sentences import Sentence
from kenobot.storage import browser_sessions
from kenobot.storage.connection import Connection
from kenobot_dashboard.guard import check_origin
from kenobot_dashboard.paths import BASE, LOGIN
from kenobot_dashboard.rendering import render_template
from kenobot_dashboard.sessions import drop_cookie, read_cookie, set_cookie
from kenobot_dashboard.viewer import View, find_language
from kenobot_dashboard.wording import Texts
from kenobot_http.rate_limit import RateLimiter, peer_address

router = APIRouter()

_TRIES_A_MINUTE: Final = 10  # from one address
_LONGEST: Final = 200

Link = Annotated[str, Query(max_length=_LONGEST)]


class LoginLimits:
    """Counts the tries to open a session."""

    def __init__(self, clock: Clock) -> None:
        self._tries = RateLimiter(clock, _TRIES_A_MINUTE)

    def check(self, request: Request) -> None:
        """Count a try. Raises HTTPException with 429 after too many."""
        if pause := self._tries.pause(peer_address(request.scope.get("client"))):
            raise HTTPException(429, Sentence("api.too_many"), {"Retry-After": str(max(1, round(pause)))})


@router.get("/login")
async def show_login(request: Request, link: Link = "", failed: bool = False) -> Response:
    """Show the way in. A link is used up by its button, so that nothing that only looks at it uses it up."""
    values = {
        "t": Texts("", find_language(request)),
        "link": link,
        "failed": failed,
        "minutes": browser_sessions.LINK_MINUTES,
    }
    return HTMLResponse(render_template("templates/login.html", values))


@router.post("/login")
async def log_in(request: Request, link: Annotated[str, Form(max_length=_LONGEST)] = "") -> Response:
    """Open a session by a link, always under a new secret; one that the browser brings is ended."""
    check_origin(request)
    request.app.state.login.check(request)
    services: BotServices = request.app.state.services
    former, now = read_cookie(request), services.clock.now()

    def work(connection: Connection) -> str | None:
        secret = browser_sessions.open_session(connection, link, now)
        if secret is not None and former:
            browser_sessions.end_session(connection, former, now)
        return secret

    secret = await services.database.write(work)
    if secret is None:
        return RedirectResponse(f"{LOGIN}?failed=true", 303)
    response = RedirectResponse(f"{BASE}/", 303)
    set_cookie(request, response, secret)
    return response


@router.post("/logout")
async def log_out(view: View, everywhere: Annotated[bool, Form()] = False) -> Response:
    """End the session, or all of them, and have the browser drop what it holds of it."""

    def work(connection: Connection) -> None:
        if everywhere:
            browser_sessions.end_all(connection)
        else:
            browser_sessions.end_session(connection, view.secret, view.now)

    await view.services.database.write(work)
    response = RedirectResponse(LOGIN, 303)
    drop_cookie(view.request, response)
    response.headers["Clear-Site-Data"] = '"cache", "storage"'
    return response
