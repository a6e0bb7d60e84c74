"""Build the application of the dashboard: its pages, its way in, and how it answers what goes wrong."""

import importlib
import logging
import mimetypes
from collections.abc import Sequence
from functools import lru_cache
from importlib import resources
from typing import Final

from fastapi import APIRouter, Depends, FastAPI
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.routing import BaseRoute
from starlette.types import ASGIApp

from kenobot.app.bot_services import BotServices
from kenobot.ports.errors import StoreError
from kenobot.ports.sentences import Sentence
from kenobot.storage import browser_sessions
from kenobot_dashboard import login
from kenobot_dashboard.guard import HeaderGuard, check_host, list_names
from kenobot_dashboard.navigation import PAGES
from kenobot_dashboard.notes import Notes
from kenobot_dashboard.paths import BASE, CHAT, LOGIN
from kenobot_dashboard.refusals import find_way_back, show_again
from kenobot_dashboard.rendering import render_template, static_path
from kenobot_dashboard.sessions import csrf_token, read_cookie
from kenobot_dashboard.viewer import LoginNeeded, find_language
from kenobot_dashboard.wording import Texts
from kenobot_http.channel import HttpChannel
from kenobot_http.problems import describe_problem
from kenobot_http.uploads import BODY_BYTES

_log = logging.getLogger(__name__)

_FOR_EVER: Final = "public, max-age=31536000, immutable"


def build_dashboard(channel: HttpChannel, services: BotServices) -> ASGIApp:
    """Build the dashboard of a bot, to be mounted at `paths.BASE`."""
    app = FastAPI(openapi_url=None, docs_url=None, redoc_url=None, redirect_slashes=False)
    channel.file_paths[f"{BASE}/chat/send"] = BODY_BYTES
    channel.owner_chat = CHAT
    app.state.channel, app.state.services, app.state.names = channel, services, list_names(channel.settings)
    app.state.login = login.LoginLimits(services.clock)
    app.state.notes = Notes()
    app.add_exception_handler(LoginNeeded, _ask_for_login)
    app.add_exception_handler(HTTPException, _explain)
    app.add_exception_handler(RequestValidationError, _explain_field)
    app.add_exception_handler(StoreError, _explain_store)
    app.add_exception_handler(Exception, _explain_fault)
    app.router.routes.extend(_list_routes())
    return HeaderGuard(app)


@lru_cache(maxsize=1)
def _list_routes() -> Sequence[BaseRoute]:
    """List the routes of all pages, which all bots of a process share: to analyze them takes a quarter of a second."""
    router, guard = APIRouter(), [Depends(_check_name)]
    router.add_api_route("/static/{digest}/{name}", send_static, methods=["GET"], dependencies=guard)
    for pages in (login, *(importlib.import_module(f"kenobot_dashboard.pages.{page.name}") for page in PAGES)):
        router.include_router(pages.router, dependencies=guard)
    return router.routes


async def _check_name(request: Request) -> None:
    check_host(request, request.app.state.names)


async def send_static(digest: str, name: str) -> Response:
    """Send a script, a style or a picture of this package."""
    folder = resources.files(__package__).joinpath("static")
    if name not in {each.name for each in folder.iterdir()} or static_path(name).split("/")[-2] != digest:
        raise HTTPException(404)
    kind = mimetypes.guess_type(name)[0] or "application/octet-stream"
    return Response(folder.joinpath(name).read_bytes(), media_type=kind, headers={"Cache-Control": _FOR_EVER})


async def _ask_for_login(request: Request, error: Exception) -> Response:
    """Send a browser without a session to the way in; a part of an open page has it loaded anew."""
    if request.headers.get("hx-request") == "true":
        return Response(status_code=401, headers={"HX-Refresh": "true"})
    if request.method not in ("GET", "HEAD"):
        return await _explain(request, HTTPException(401, Sentence("http.no_key")))
    return RedirectResponse(LOGIN, 303)


async def _explain(request: Request, error: Exception) -> Response:
    """Answer a refusal by a page that says why, and where to go on."""
    assert isinstance(error, HTTPException)
    language = find_language(request)
    problem = describe_problem(error.status_code, error.detail, language)
    page = await show_again(request, error.status_code, problem["detail"], problem.get("key", ""))
    if page is not None:
        return page
    values = {
        "t": Texts("", language),
        "title": problem["title"],
        "detail": problem["detail"] if problem["detail"] != problem["title"] else "",
        "status": error.status_code,
        "csrf": csrf_token(read_cookie(request)),
        "back": find_way_back(request),
        "page": request.url.path.removeprefix(BASE).split("/")[1],
        "notice": None,
        "refusal": None,
    }
    is_part = request.headers.get("hx-request") == "true"
    name = "problem_part" if is_part else "problem" if await _has_session(request) else "problem_outside"
    return HTMLResponse(render_template(f"templates/{name}.html", values), error.status_code, headers=error.headers)


async def _explain_field(request: Request, error: Exception) -> Response:
    return await _explain(request, HTTPException(422, Sentence("http.wrong_field")))


async def _explain_store(request: Request, error: Exception) -> Response:
    _log.warning("a page could not be answered: %s", error)
    return await _explain(request, HTTPException(503, Sentence("api.store_fails"), {"Retry-After": "5"}))


async def _explain_fault(request: Request, error: Exception) -> Response:
    """Answer a mistake of ours; the server logs it."""
    return await _explain(request, HTTPException(500))


async def _has_session(request: Request) -> bool:
    services: BotServices = request.app.state.services
    secret, now = read_cookie(request), services.clock.now()
    try:
        return await services.database.read(lambda connection: browser_sessions.has_session(connection, secret, now))
    except StoreError:
        return False
