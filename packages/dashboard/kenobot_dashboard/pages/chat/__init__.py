"""The page *chat*: talk with the bot, its answer shown while it is written, and read the chats of other channels."""

import json
from collections.abc import AsyncIterable, AsyncIterator
from typing import Annotated, Any, Final

from fastapi import APIRouter, Form, Query, Response
from fastapi.responses import StreamingResponse
from starlette.exceptions import HTTPException

from kenobot_dashboard.rendering import render_template
from kenobot_dashboard.viewer import View, Viewer
from kenobot_http.api import conversations
from kenobot_http.api.conversations import Line, NewMessage
from kenobot_http.api.paging import Page

router = APIRouter(prefix="/chat")

OWN: Final = "dashboard"
"""The conversation of this page."""

_EVENTS: Final = "text/event-stream"
_SHOWN: Final = 40
_CHATS: Final = 30
_LONGEST: Final = 20_000
_WAIT_SECONDS: Final = 240.0

Session = Annotated[str, Query(pattern=r"^[A-Za-z0-9_-]{0,128}$")]


@router.get("")
async def show_chat(
    view: View, session: Session = "", cursor: Annotated[str, Query(pattern=r"^([1-9][0-9]{0,14})?$")] = ""
) -> Response:
    """Show the last lines of a chat, and the other chats there are."""
    own = view.caller.session(OWN)
    shown: Page[Line] = Page(items=[], next="")
    try:
        shown = await conversations.list_messages(view.caller, session or OWN, _SHOWN, cursor)
    except HTTPException as error:
        if error.status_code != 404 or session:
            raise
    chats = await conversations.list_conversations(view.caller, _CHATS)
    return view.page(
        "chat",
        lines=[*reversed(shown.items)],
        next=shown.next,
        chats=chats.items,
        session=session,
        own=own,
        is_own=session in ("", own),
        longest=_LONGEST,
        is_pending="pending" in view.request.query_params,
    )


@router.post("/send")
async def send(view: View, text: Annotated[str, Form(min_length=1, max_length=_LONGEST)]) -> Response:
    """Send a message. By htmx its answer is followed while it is written; without it is shown once it is there."""
    message, response = NewMessage(text=text), Response()
    if not view.is_partial:
        sent = await conversations.send_message(view.caller, OWN, message, response)
        return view.go("/chat", pending="" if not isinstance(sent, conversations.Message) or sent.answer else "true")
    followed = await conversations.send_message(view.caller, OWN, message, response, _WAIT_SECONDS, _EVENTS)
    assert isinstance(followed, StreamingResponse)
    return StreamingResponse(_render_events(view, followed.body_iterator, text), media_type=_EVENTS)


async def _render_events(view: Viewer, events: AsyncIterable[Any], text: str) -> AsyncIterator[str]:
    """Turn the events of a message into pieces of the page: the message, then its answer as far as it is written."""
    draft, turn = "", 0
    async for event in events:
        name, data = _parse(bytes(event))
        if name == "message":
            turn = data["id"]
            yield _render_piece(view, "begun.html", turn=turn, text=text, longest=_LONGEST)
        elif name == "draft":
            draft = draft[: data["keep"]] + data["text"]
            yield _render_piece(view, "answer.html", turn=turn, answer=draft, state="writing")
        elif name in ("answer", "pending"):
            yield _render_piece(view, "answer.html", turn=turn, answer=data["answer"] or draft, state=name)
        else:
            yield ": waiting\n\n"


def _render_piece(view: Viewer, template: str, **values: object) -> str:
    given = dict(values, t=view.texts("chat"), f=view.formats, now=view.services.clock.now())
    lines = render_template(f"pages/chat/{template}", given).splitlines()
    return "".join(f"data: {line}\n" for line in lines) + "\n"


def _parse(event: bytes) -> tuple[str, dict[str, Any]]:
    """Return name and data of an event; "" for a comment, which keeps the connection open."""
    lines = event.decode("utf-8", "replace").splitlines()
    if not lines or not lines[0].startswith("event: "):
        return "", {}
    return lines[0].removeprefix("event: "), json.loads(lines[1].removeprefix("data: "))
