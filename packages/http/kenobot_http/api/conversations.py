"""Routes of conversations and their messages: write, wait for the answer or follow it while it is written, read."""

import json
import secrets
from collections.abc import AsyncIterator, Sequence
from functools import partial
from itertools import islice
from typing import Annotated

from fastapi import APIRouter, Header, Path, Query, Response
from fastapi.responses import StreamingResponse
from pydantic import BaseModel, Field
from starlette.exceptions import HTTPException

from kenobot.ports.errors import Unavailable
from kenobot.ports.identity import is_session_id
from kenobot.ports.messages import Attachment, Inbound
from kenobot.ports.sentences import Sentence
from kenobot.storage import conversation, message_rows, message_status
from kenobot.storage.connection import Connection
from kenobot.storage.message_rows import ConversationRow, MessageRow
from kenobot.storage.message_status import MessageState, MessageStatus
from kenobot.storage.scopes import scope_names
from kenobot_http.api.auth import Messenger
from kenobot_http.api.idempotency import REUSED, IdempotencyKey
from kenobot_http.api.paging import LARGEST_ID, Cursor, Limit, Page, page_of, read_cursor
from kenobot_http.api.services import Caller
from kenobot_http.calls import Call
from kenobot_http.settings import CHANNEL
from kenobot_http.uploads import FIELD, MOST_FILES
from kenobot_http.webhook import CONVERSATION

router = APIRouter(prefix="/v1", tags=["conversations"])

LONGEST_TEXT, LONGEST_NAME = 100_000, 128
FORM_SCHEMA = {
    "type": "object",
    "properties": {
        "text": {"type": "string", "maxLength": LONGEST_TEXT},
        "name": {"type": "string", "maxLength": LONGEST_NAME, "description": "What the sender is called"},
        FIELD: {
            "type": "array",
            "maxItems": MOST_FILES,
            "items": {"type": "string", "format": "binary"},
            "description": "Pictures, voice messages, documents; a message may be files alone",
        },
    },
    "anyOf": [
        {"required": ["text"], "properties": {"text": {"pattern": r"\S"}}},
        {"required": [FIELD], "properties": {FIELD: {"minItems": 1}}},
    ],
}
_LOOK_SECONDS = 5.0  # between two looks at what was stored: a stopped turn sends no word
_PING_SECONDS = 15.0
_EVENTS = "text/event-stream"

ConversationId = Annotated[str, Path(pattern=CONVERSATION, description="A name of your own for the conversation")]
ReadableId = Annotated[str, Path(pattern=r"^[A-Za-z0-9_-]{1,128}$", description="Your own name, or a `session`")]
Wait = Annotated[float | None, Query(ge=0, le=300, description="Seconds to wait for the answer")]


class NewMessage(BaseModel, extra="forbid"):
    """A message to the bot."""

    text: str = Field(min_length=1, max_length=LONGEST_TEXT)
    name: str = Field("", max_length=LONGEST_NAME, description="What the sender is called")


class Message(BaseModel):
    """A message to the bot, and its answer once there is one."""

    id: int
    session: str
    state: MessageState = Field(description="pending and deferred may still be answered")
    answer: str = Field(description="Markdown; where there is no answer, the sentence that says so")
    received_at: str

    @property
    def is_over(self) -> bool:
        """Return whether nothing more is to come."""
        return self.state not in ("pending", "deferred")


class Conversation(BaseModel):
    """A conversation on any channel."""

    session: str
    messages: int
    last_at: str


class Line(BaseModel):
    """One line of a conversation. turn: the message that it is, or answers, as replies name it; 0 for none.

    pictures: the SHA-256 of each picture that it shows. trust: whose words it is, "owner" or "guest" of people.
    sender: what who wrote it is called, for the week in which that is kept.
    """

    id: int
    role: str
    text: str
    at: str
    turn: int
    pictures: list[str]
    trust: str
    sender: str


class Notice(BaseModel):
    """A message of the bot's own accord. conversation: your own name of the one that it belongs to."""

    id: int
    conversation: str
    text: str
    at: str


@router.get("/conversations")
async def list_conversations(caller: Messenger, limit: Limit = 20, cursor: Cursor = "") -> Page[Conversation]:
    """List conversations, the latest first: the owner's key sees those of all channels, another its own."""
    before, scopes = read_cursor(cursor), scope_names(caller.reach)
    rows = await caller.services.database.read_long(
        lambda connection: message_rows.page_of_conversations(connection, scopes, before, limit + 1)
    )

    def render_row(row: ConversationRow) -> Conversation:
        return Conversation(session=row.session, messages=row.messages, last_at=row.at)

    return page_of(rows, limit, lambda row: row.newest, render_row)


@router.get("/conversations/{name}/messages")
async def list_messages(caller: Messenger, name: ReadableId, limit: Limit = 50, cursor: Cursor = "") -> Page[Line]:
    """List what was said in a conversation, the latest first, without what was forgotten."""
    before = read_cursor(cursor)

    def read(connection: Connection) -> tuple[list[MessageRow], dict[int, list[str]]]:
        session = readable_session(connection, caller, name)
        rows = message_rows.iterate_messages(connection, session, before=before, newest_first=True)
        shown = list(islice((row for row in rows if not row.hidden), limit + 1))
        return shown, conversation.load_pictures(connection, session, [row.id for row in shown])

    rows, pictures = await caller.services.database.read(read)

    def render_row(row: MessageRow) -> Line:
        return Line(
            id=row.id,
            role=row.role,
            text=row.text,
            at=row.at,
            turn=row.inbox_id or 0,
            pictures=pictures.get(row.id, []),
            trust=row.trust,
            sender=(row.sender_name or row.sender or "") if row.role == "user" else "",
        )

    return page_of(rows, limit, lambda row: row.id, render_row)


@router.post(
    "/conversations/{name}/messages",
    response_model=Message,
    responses={
        200: {"description": "Answered", "content": {_EVENTS: {"schema": {"type": "string"}}}},
        202: {"model": Message, "description": "Stored; the answer is still to come"},
    },
    openapi_extra={"requestBody": {"content": {"multipart/form-data": {"schema": FORM_SCHEMA}}}},
)
async def send_message(
    caller: Messenger,
    name: ConversationId,
    message: NewMessage,
    response: Response,
    wait: Wait = None,
    accept: Annotated[str, Header()] = "",
    idempotency_key: IdempotencyKey = "",
) -> Message | Response:
    """Send a message, and return it with its answer.

    A form brings files beside the text, at most ten and 20 MB together, which are read as in any chat.

    With `Accept: text/event-stream` the answer is followed while it is written: each `draft` keeps the first `keep`
    characters of what was there and appends `text`; `answer` is the last event, or `pending` after `wait` seconds
    without news.
    """
    inbound = make_inbound(caller, name, message.text, user_name=message.name, key=idempotency_key)
    return await answer_message(caller, inbound, response, wait, accept)


async def answer_message(
    caller: Caller, inbound: Inbound, response: Response, wait: float | None, accept: str
) -> Message | Response:
    """Hand a message over, and return it with its answer, or the stream of that."""
    seconds = caller.channel.settings.wait_seconds if wait is None else wait
    if _EVENTS in accept:
        events = await follow_message(caller, inbound, seconds)
        return StreamingResponse(events, media_type=_EVENTS, headers={"Cache-Control": "no-cache"})
    sent = await deliver_message(caller, inbound, seconds)
    if not sent.is_over:
        response.status_code = 202
    return sent


def make_inbound(
    caller: Caller, name: str, text: str, *, user_name: str = "", key: str = "", files: Sequence[Attachment] = ()
) -> Inbound:
    """Make a message of the caller's to the bot. key: see `IdempotencyKey`. files: that are stored already."""
    external_id = f"api:{caller.key.id}:{key or secrets.token_hex(16)}"
    return Inbound(
        channel=CHANNEL,
        external_id=external_id,
        chat=caller.chat(name),
        user=caller.user,
        user_name=user_name,
        text=text,
        sent_at=caller.services.clock.now(),
        attachments=tuple(files),
        trace=caller.channel.trace_of(external_id, "\0".join([text, *(each.digest for each in files)])),
    )


async def deliver_message(caller: Caller, inbound: Inbound, seconds: float) -> Message:
    """Hand a message over, and return it once it is answered, or after so long. Raises HTTPException."""
    with caller.channel.calls.open(inbound.trace) as call:
        known = await _take(caller, inbound, call)
        if known is None or not known.is_over:
            await _wait_over(caller, inbound, call, seconds)
    return _render_message(await _find_or_refuse(caller, inbound))


async def follow_message(caller: Caller, inbound: Inbound, seconds: float) -> AsyncIterator[bytes]:
    """Hand a message over, and return its events, which bring the answer while it is written. Raises HTTPException."""
    stream = _iterate_events(caller, inbound, seconds)
    first = await anext(stream)
    return _put_event_first(first, stream)


@router.get("/notices")
async def list_notices(caller: Messenger, limit: Limit = 20, cursor: Cursor = "") -> Page[Notice]:
    """List what the bot said of its own accord in your conversations, the latest first.

    Reminders, and alerts for an owner who writes in no other channel. They are kept for a week.
    """
    before, user, at = read_cursor(cursor), "" if caller.is_owner else caller.user, caller.services.clock.now()
    rows = await caller.services.database.read(
        lambda connection: message_status.page_of_notices(
            connection, CHANNEL, at, user=user, before=before, limit=limit + 1
        )
    )

    def render_row(row: message_status.Notice) -> Notice:
        return Notice(id=row.id, conversation=row.chat.rpartition("/")[2], text=row.text, at=row.at)

    return page_of(rows, limit, lambda row: row.id, render_row)


@router.get("/messages/{number}")
async def get_message(caller: Messenger, number: Annotated[int, Path(ge=1, le=LARGEST_ID)]) -> Message:
    """Return one of your messages with its answer; both are kept for a week."""
    status = await caller.services.database.read(
        lambda connection: message_status.find_by_number(connection, CHANNEL, number)
    )
    if status is None or not (caller.is_owner or status.user == caller.user):
        raise HTTPException(404)
    return _render_message(status)


def readable_session(connection: Connection, caller: Caller, name: str) -> str:
    """Return the session of the caller's own conversation of this name, or that session where it is in reach.

    Raises HTTPException with 404 for one without any message.
    """
    own = caller.session(name)
    if message_rows.newest_message_id(connection, own):
        return own
    if is_session_id(name) and message_rows.newest_message_id(connection, name):
        scopes = scope_names(caller.reach)
        if scopes is None or conversation.last_scope(connection, name) in scopes:
            return name
    raise HTTPException(404)


# ── a message on its way ─────────────────────────────────────────────────────────────────────────────────────────────


async def _take(caller: Caller, inbound: Inbound, call: Call) -> MessageStatus | None:
    """Hand a message to the bot; return what became of it where the bot has it already.

    Raises HTTPException where it is not taken.
    """
    try:
        new = await caller.channel.take(inbound, call)
    except Unavailable as error:
        raise HTTPException(503, Sentence("api.try_again", reason=error), {"Retry-After": "5"}) from error
    if new:
        return None
    known = await _find(caller, inbound)
    if known is None:
        raise HTTPException(429, Sentence("api.too_many_wait"), {"Retry-After": "5"})
    if (known.trace, known.chat) != (call.trace, inbound.chat):
        raise HTTPException(409, Sentence(REUSED))
    return known


async def _find(caller: Caller, inbound: Inbound) -> MessageStatus | None:
    find = partial(message_status.find_by_external_id, channel=inbound.channel, external_id=inbound.external_id)
    return await caller.services.database.read(find)


async def _find_or_refuse(caller: Caller, inbound: Inbound) -> MessageStatus:
    status = await _find(caller, inbound)
    if status is None:
        raise HTTPException(404)
    return status


async def _wait_over(caller: Caller, inbound: Inbound, call: Call, seconds: float) -> None:
    """Return when a message is answered, or after so long."""
    while not call.is_over and seconds > 0:
        await call.wait_over(min(seconds, _LOOK_SECONDS))
        seconds -= _LOOK_SECONDS
        if not call.is_over and (await _find_or_refuse(caller, inbound)).is_over:
            return


def _render_message(status: MessageStatus) -> Message:
    return Message(
        id=status.id,
        session=status.session,
        state=status.state,
        answer=status.answer,
        received_at=status.received_at,
    )


# ── an answer while it is written ────────────────────────────────────────────────────────────────────────────────────


async def _put_event_first(first: bytes, rest: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    yield first
    async for event in rest:
        yield event


async def _iterate_events(caller: Caller, inbound: Inbound, seconds: float) -> AsyncIterator[bytes]:
    """Yield the events of a message: that it is stored, what there is of the answer, and in the end all of it."""
    with caller.channel.calls.open(inbound.trace, follows=True) as call:
        await _take(caller, inbound, call)
        status = await _find_or_refuse(caller, inbound)
        call.number = status.id
        yield _event("message", _render_message(status).model_dump())
        shown, silent = "", 0.0
        while not call.is_over and not status.is_over and seconds > 0:
            pause = min(seconds, _LOOK_SECONDS)
            if await call.wait_changed(pause):
                silent = 0.0
            else:
                seconds, silent = seconds - pause, silent + pause
                status = await _find_or_refuse(caller, inbound)
            if call.draft != shown and not call.is_over:
                keep = _measure_common(shown, call.draft)
                yield _event("draft", {"keep": keep, "text": call.draft[keep:]})
                shown = call.draft
            if silent >= _PING_SECONDS:
                silent = 0.0
                yield b": waiting\n\n"
        status = await _find_or_refuse(caller, inbound)
        yield _event("answer" if status.is_over else "pending", _render_message(status).model_dump())


def _event(name: str, data: object) -> bytes:
    return f"event: {name}\ndata: {json.dumps(data, ensure_ascii=False)}\n\n".encode("utf-8", "replace")


def _measure_common(one: str, other: str) -> int:
    """Return how many characters two texts begin with in common."""
    if other.startswith(one):
        return len(one)
    return next((at for at, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))
