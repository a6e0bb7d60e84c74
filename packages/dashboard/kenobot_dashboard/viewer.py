"""The owner at a page: what a request's handler needs to read, to change, and to answer."""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Any
from urllib.parse import urlencode
from zoneinfo import ZoneInfo

from fastapi import Depends, Request
from fastapi.responses import HTMLResponse, RedirectResponse, Response
from starlette.exceptions import HTTPException
from starlette.types import Receive, Scope, Send

from kenobot.app.bot_services import BotServices
from kenobot.ports.sentences import Language, Sentence
from kenobot.storage import browser_sessions
from kenobot.storage.api_keys import ApiKey
from kenobot.storage.connection import Connection
from kenobot_dashboard.formats import Formats
from kenobot_dashboard.guard import check_origin
from kenobot_dashboard.notes import Note, Notes, UndoButton
from kenobot_dashboard.paths import BASE
from kenobot_dashboard.refusals import find_refusal, note_form
from kenobot_dashboard.rendering import render_template
from kenobot_dashboard.sessions import CSRF_FIELD, csrf_token, is_csrf_token, read_cookie
from kenobot_dashboard.wording import Texts
from kenobot_http.api.scopes import SCOPES
from kenobot_http.api.services import Caller
from kenobot_http.channel import HttpChannel
from kenobot_http.problems import choose_language


class LoginNeeded(Exception):
    """A request comes without a session."""


class _PageResponse(Response):
    """A page that is rendered in a thread: turns go on meanwhile."""

    def __init__(self, template: str, values: Mapping[str, Any], code: int) -> None:
        super().__init__(status_code=code)
        self._template, self._values = template, values

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        text = await asyncio.to_thread(render_template, self._template, self._values)
        await HTMLResponse(text, self.status_code)(scope, receive, send)


@dataclass(frozen=True, slots=True)
class Viewer:
    """The owner, at one request. secret: of the session. zone: the owner's, by which pages tell times."""

    request: Request
    channel: HttpChannel
    services: BotServices
    secret: str
    language: Language
    now: datetime
    zone: ZoneInfo

    @property
    def caller(self) -> Caller:
        """Return the owner as functions of the API take them."""
        owners = self.channel.settings.owners
        if not owners:
            raise HTTPException(403, Sentence("http.forbidden"))
        key = ApiKey(0, "dashboard", owners[0], frozenset(SCOPES), "")
        return Caller(key, self.services, self.channel)

    @property
    def formats(self) -> Formats:
        return Formats(self.language, self.zone, self.now)

    def texts(self, page: str) -> Texts:
        return Texts(page, self.language)

    @property
    def is_partial(self) -> bool:
        """Return whether a part of a page is asked for, by htmx."""
        return self.request.headers.get("hx-request") == "true"

    def page(self, name: str, template: str = "page.html", *, code: int = 200, **values: object) -> Response:
        """Render a template of a page."""
        texts = self.texts(name)
        given = dict(values, t=texts, f=self.formats, view=self, page=name, csrf=csrf_token(self.secret))
        refusal = find_refusal(self.request)
        given.setdefault("notice", self._read_notice(texts) if refusal is None else None)
        given["refusal"] = refusal
        return _PageResponse(f"pages/{name}/{template}", given, code)

    def go(self, path: str, *, about: str = "", undo: UndoButton | None = None, **query: object) -> Response:
        """Send the browser on to a page after a change.

        path: below /dashboard. about, undo: what the change was about and how it is taken back, for its banner.
        """
        notes: Notes = self.request.app.state.notes
        note = notes.keep(self.secret, Note(about, undo)) if about or undo is not None else ""
        path, _, place = path.partition("#")
        query = {name: value for name, value in {**query, "note": note}.items() if value not in (None, "")}
        address = f"{BASE}{path}" + (f"?{urlencode(query)}" if query else "")
        return RedirectResponse(f"{address}#{place}" if place else address, 303)

    def _read_notice(self, texts: Texts) -> Mapping[str, Any] | None:
        """Return what was done by the change that led here, what it was about, and the button that takes it back."""
        query, notes = self.request.query_params, self.request.app.state.notes
        done, event = query.get("done", ""), query.get("event", "")
        if not done.isidentifier() or not texts.has(f"done_{done}"):
            return None
        note: Note = notes.find(self.secret, query.get("note", "")) or Note("")
        undo = note.undo
        if undo is None and event.isdecimal() and len(event) < 16 and int(event):
            undo = UndoButton("/memories/undo", {"event": event})
        return {"text": texts(f"done_{done}"), "about": note.about, "undo": undo, "is_undo": done == "undone"}


async def _find_viewer(request: Request, *, is_used: bool) -> Viewer:
    services: BotServices = request.app.state.services
    secret, now = read_cookie(request), services.clock.now()

    def find(connection: Connection) -> tuple[bool, bool]:
        known = browser_sessions.has_session(connection, secret, now)
        return known, known and is_used and browser_sessions.needs_note(connection, secret, now)

    known, is_stale = await services.database.read(find)
    if not known:
        raise LoginNeeded
    if is_stale:
        await services.database.write(lambda connection: browser_sessions.note_use(connection, secret, now))
    return Viewer(request, request.app.state.channel, services, secret, find_language(request), now, services.zone)


async def _let_in(request: Request) -> Viewer:
    """Return the owner; a change has to bring the token of their session. Raises LoginNeeded and HTTPException."""
    viewer = await _find_viewer(request, is_used=True)
    if request.method not in ("GET", "HEAD"):
        check_origin(request)
        form = await request.form()
        given = form.get(CSRF_FIELD, "")
        if not isinstance(given, str) or not is_csrf_token(viewer.secret, given):
            await form.close()
            raise HTTPException(403, Sentence("http.forbidden"))
        note_form(request, form)
    return viewer


async def _let_in_unnoted(request: Request) -> Viewer:
    """Return the owner whose page asks by itself, which keeps no session open. Raises LoginNeeded."""
    if request.method not in ("GET", "HEAD"):
        raise HTTPException(405)
    return await _find_viewer(request, is_used=False)


def find_language(request: Request) -> Language:
    """Return the language that a browser asks for, else the owner's."""
    services: BotServices = request.app.state.services
    return choose_language(request.headers.get("accept-language", ""), services.language())


View = Annotated[Viewer, Depends(_let_in)]
"""The owner, who looks or changes something. Every route of a page takes it, or the following one."""
LiveView = Annotated[Viewer, Depends(_let_in_unnoted)]
"""The owner whose open page asks for news by itself."""
