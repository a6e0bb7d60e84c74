"""Show the page of a form again that was refused: with what was typed into it, and what is wrong beside the field."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import unquote

from starlette.datastructures import MutableHeaders
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.types import ASGIApp, Message

from kenobot_dashboard.paths import BASE, LOGIN

FORM_FIELD: Final = "form"
"""Names the form of a page, in each that has fields to be typed into."""
_STATUSES: Final = (404, 409, 413, 422, 429)


@dataclass(frozen=True, slots=True)
class Refusal:
    """Fault of a form that was sent. form: which of its page, "" for a button. key: of the sentence, "" without one.

    typed: its fields, by name.
    """

    text: str
    key: str
    form: str
    typed: Mapping[str, str]


def note_form(request: Request, fields: Mapping[str, Any]) -> None:
    """Note the fields of a form that the owner sent, for the page that shows it again."""
    request.state.sent = {name: value for name, value in fields.items() if isinstance(value, str)}


async def show_again(request: Request, status: int, text: str, key: str) -> Response | None:
    """Answer a refused form by the page that it is on; None where there is no such page."""
    sent: Mapping[str, str] | None = getattr(request.state, "sent", None)
    if sent is None or status not in _STATUSES or request.headers.get("hx-request") == "true":
        return None
    refusal = Refusal(text, key, sent.get(FORM_FIELD, ""), sent)
    page = request.url.path.removeprefix(BASE).split("/")[1]
    for path in (_read_referer(request), f"{BASE}/{page}"):
        if path and (body := await _render(request.app, request, path, refusal)):
            return HTMLResponse(body, status)
    return None


def find_refusal(request: Request) -> Refusal | None:
    """Return what was wrong with the form whose page is shown again."""
    return getattr(request.state, "refusal", None)


def find_way_back(request: Request) -> str:
    """Return the path of the page that led here; "" where that is not ours."""
    path = _read_referer(request)
    return path if path.partition("?")[0] != request.url.path else ""


async def _render(app: ASGIApp, request: Request, path: str, refusal: Refusal) -> bytes:
    """Render a page within this request; b"" where it cannot be."""
    name, _, query = path.partition("?")
    scope = {
        **request.scope,
        "method": "GET",
        "path": unquote(name),
        "raw_path": name.encode(),
        "query_string": query.encode(),
        "state": {"refusal": refusal},
        "headers": [pair for pair in request.scope["headers"] if not pair[0].startswith((b"content-", b"transfer-"))],
    }
    parts, ok = list[bytes](), False

    async def receive() -> Message:
        return {"type": "http.request", "body": b"", "more_body": False}

    async def keep(message: Message) -> None:
        nonlocal ok
        if message["type"] == "http.response.start":
            kind = MutableHeaders(scope=message).get("content-type", "")
            ok = message["status"] == 200 and kind.startswith("text/html")
        elif ok:
            parts.append(message.get("body", b""))

    await app(scope, receive, keep)
    return b"".join(parts)


def _read_referer(request: Request) -> str:
    """Return the path of the page that a request comes from, with its query; "" where that is not ours."""
    referer, host = request.headers.get("referer", ""), request.headers.get("host", "")
    for scheme in ("http://", "https://"):
        if referer.startswith(f"{scheme}{host}{BASE}/"):
            path = referer.removeprefix(f"{scheme}{host}").partition("#")[0]
            return path if path.isascii() and not path.startswith(LOGIN) else ""
    return ""
