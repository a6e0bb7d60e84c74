"""The page *chat*: talk with the bot, send it files, see what its answers did, and read the chats of other channels."""

import json
from collections.abc import AsyncIterable, AsyncIterator
from functools import partial
from typing import Annotated, Any, Final, NamedTuple

from fastapi import APIRouter, Header, Path, Query, Response
from fastapi.responses import FileResponse, StreamingResponse
from starlette.exceptions import HTTPException

from kenobot.ports.identity import session_id
from kenobot.ports.sentences import Sentence
from kenobot.storage import conversation, message_status
from kenobot.storage.connection import Connection
from kenobot.storage.media_files import MediaFolder
from kenobot.storage.message_status import Aside
from kenobot.storage.scopes import scope_names
from kenobot_dashboard.names import read_names
from kenobot_dashboard.pages.chat.talk import TalkLine, merge_lines
from kenobot_dashboard.paths import CHAT
from kenobot_dashboard.rendering import render_template
from kenobot_dashboard.viewer import LiveView, View, Viewer
from kenobot_http.api import conversations, replies
from kenobot_http.api.conversations import Line
from kenobot_http.api.paging import LARGEST_ID, Page
from kenobot_http.settings import CHANNEL
from kenobot_http.uploads import MOST_BYTES, MOST_MEGABYTES, find_files, store_files

router = APIRouter(prefix="/chat")


class Limits(NamedTuple):
    """Limits of a message. most_megabytes: of its files together, as people read it."""

    longest: int
    most_bytes: int
    most_megabytes: str


_EVENTS: Final = "text/event-stream"
_SHOWN: Final = 40
_CHATS: Final = 30
_LONGEST: Final = 20_000
_WAIT_SECONDS: Final = 240.0
_LIVE_SECONDS: Final = 20.0  # between two signs that a stream is alive
_LIVE_PERIODS: Final = 15
_LIMITS: Final = Limits(_LONGEST, MOST_BYTES, f"{MOST_MEGABYTES:g}")

Session = Annotated[str, Query(pattern=r"^[A-Za-z0-9_-]{0,128}$")]


@router.get("")
async def show_chat(
    view: View, session: Session = "", cursor: Annotated[str, Query(pattern=r"^([1-9][0-9]{0,14})?$")] = ""
) -> Response:
    """Show the last lines of a chat, and the other chats there are."""
    own = view.caller.session(CHAT)
    shown: Page[Line] = Page(items=[], next="")
    try:
        shown = await conversations.list_messages(view.caller, session or CHAT, _SHOWN, cursor)
    except HTTPException as error:
        if error.status_code != 404:
            raise
    is_own = session in ("", own)
    asides, newest = await _list_asides(view, session or own) if not cursor else ([], None)
    if session and not is_own and not (shown.items or asides):
        raise HTTPException(404)
    chats = await conversations.list_conversations(view.caller, _CHATS)
    return view.page(
        "chat",
        lines=merge_lines(shown, asides),
        next=shown.next,
        chats=chats.items,
        names=await read_names(view, [session, *(chat.session for chat in chats.items)]),
        session=session,
        own=own,
        is_own=is_own,
        is_pending="pending" in view.request.query_params,
        limits=_LIMITS,
        newest=newest if is_own else None,
    )


@router.post("/send")
async def send(view: View) -> Response:
    """Send a message with its files. By htmx its answer is followed while it is written; without it is shown once it is
    there.

    The form is read by hand: a parameter of FastAPI's would have all of it read before it is known who sends it.
    """
    form = await view.request.form()
    try:
        text, files = str(form.get("text") or "").strip(), find_files(form)
        if len(text) > _LONGEST or not (text or files):
            raise HTTPException(422, Sentence("http.wrong_field"))
        attachments = await store_files(view.services.home, files)
    finally:
        await form.close()
    inbound = conversations.make_inbound(view.caller, CHAT, text, files=attachments)
    if not view.is_partial:
        sent = await conversations.deliver_message(view.caller, inbound, view.channel.settings.wait_seconds)
        return view.go("/chat", pending="" if sent.answer else "true")
    events = await conversations.follow_message(view.caller, inbound, _WAIT_SECONDS)
    names = [each.name for each in attachments]
    return StreamingResponse(_render_events(view, events, text, names), media_type=_EVENTS)


@router.get("/acts/{turn}")
async def show_acts(view: View, turn: Annotated[int, Path(ge=1, le=LARGEST_ID)]) -> Response:
    """Show what an answer did: what was stored, changed and scheduled, and which tools ran."""
    reply = await replies.get_reply(view.caller, turn, view.request)
    at_once = {each.memory for each in reply.changes}
    later = [each for each in reply.remembered if each.memory not in at_once]
    return view.page("chat", "acts.html", reply=reply, later=later)


@router.get("/pictures/{digest}")
async def send_picture(view: View, digest: Annotated[str, Path(pattern=r"^[0-9a-f]{64}$")]) -> Response:
    """Send a picture that a message in reach shows, while its file is kept."""
    scopes = scope_names(view.caller.reach)
    mime = await view.services.database.read(lambda connection: conversation.find_picture(connection, scopes, digest))
    file = MediaFolder(view.services.home.media).file(digest)
    if mime is None or not file.is_file():
        raise HTTPException(404)
    return FileResponse(file, media_type=mime)


@router.get("/live")
async def follow_notices(
    view: LiveView,
    after: Annotated[int, Query(ge=0, le=LARGEST_ID)],
    last_event_id: Annotated[str, Header(pattern=r"^([0-9]{1,15})?$")] = "",
) -> Response:
    """Bring what the bot says of its own accord to an open page, after a part of the outbox."""
    headers = {"Cache-Control": "no-cache"}
    return StreamingResponse(_render_notices(view, int(last_event_id or after)), media_type=_EVENTS, headers=headers)


async def _render_notices(view: Viewer, after: int) -> AsyncIterator[str]:
    """Yield each notice as a piece of the page; end after some minutes, so that the session is looked at again."""
    chat, database, clock = view.caller.chat(CHAT), view.services.database, view.services.clock
    with view.channel.arrivals.read(chat) as reader:
        for _ in range(_LIVE_PERIODS):
            at = clock.now()
            found = await database.read(
                partial(message_status.list_notices, channel=CHANNEL, at=at, chat=chat, after=after, limit=_SHOWN)
            )
            for notice in reversed(found):
                after, line = notice.id, TalkLine("assistant", notice.text, notice.at, 0)
                yield f"id: {after}\n" + _render_piece(view, "notice.html", line=line)
            if reader.is_over:
                return
            if not await reader.wait(_LIVE_SECONDS):
                yield ": waiting\n\n"


async def _list_asides(view: Viewer, session: str) -> tuple[list[Aside], int]:
    """List the commands of a chat with their answers, and what the bot said there of its own accord, while it is kept.

    Also returned is the part of the outbox after which more is to come.
    """
    at = view.services.clock.now()

    def read(connection: Connection) -> tuple[list[Aside], int]:
        chats = message_status.list_notice_chats(connection, CHANNEL)
        chat = next((chat for chat in chats if session_id(CHANNEL, chat) == session), "")
        asides = message_status.list_asides(connection, CHANNEL, chat, session, at, _SHOWN)
        return asides, message_status.newest_notice(connection)

    return await view.services.database.read(read)


async def _render_events(view: Viewer, events: AsyncIterable[Any], text: str, files: list[str]) -> AsyncIterator[str]:
    """Turn the events of a message into pieces of the page: the message, then its answer as far as it is written."""
    draft, turn = "", 0
    async for event in events:
        name, data = _parse(bytes(event))
        if name == "message":
            turn = data["id"]
            yield _render_piece(view, "begun.html", turn=turn, text=text, files=files, limits=_LIMITS)
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
