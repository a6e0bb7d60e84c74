"""The route of messages with files: a form, at the path where messages without any are JSON."""

from typing import Annotated

from fastapi import APIRouter, Header, Request, Response
from fastapi.routing import APIRoute
from starlette.exceptions import HTTPException
from starlette.routing import Match
from starlette.types import Scope

from kenobot.ports.sentences import Sentence
from kenobot_http.api.auth import Messenger
from kenobot_http.api.conversations import (
    LONGEST_NAME,
    LONGEST_TEXT,
    ConversationId,
    Message,
    Wait,
    answer_message,
    make_inbound,
)
from kenobot_http.api.idempotency import IdempotencyKey
from kenobot_http.uploads import FIELD, MOST_FILES, find_files, store_files

_TEXT_BYTES = 4 * LONGEST_TEXT
_FIELDS = 8


class _FormRoute(APIRoute):
    """A route of forms, beside that of JSON at the same path: its handler reads the body once it knows who sends it."""

    def matches(self, scope: Scope) -> tuple[Match, Scope]:
        if not dict(scope["headers"]).get(b"content-type", b"").lower().startswith(b"multipart/form-data"):
            return Match.NONE, {}
        return super().matches(scope)


router = APIRouter(prefix="/v1", route_class=_FormRoute, include_in_schema=False)


@router.post("/conversations/{name}/messages", response_model=Message)
async def send_form(
    caller: Messenger,
    name: ConversationId,
    request: Request,
    response: Response,
    wait: Wait = None,
    accept: Annotated[str, Header()] = "",
    idempotency_key: IdempotencyKey = "",
) -> Message | Response:
    """Send a message with its files, by a form."""
    async with request.form(max_files=MOST_FILES, max_fields=_FIELDS, max_part_size=_TEXT_BYTES) as form:
        text, user_name, files = str(form.get("text") or ""), str(form.get("name") or ""), find_files(form)
        if any(isinstance(each, str) for each in form.getlist(FIELD)):  # a part without a file's name
            raise HTTPException(422, Sentence("http.wrong_field"))
        if len(text) > LONGEST_TEXT or len(user_name) > LONGEST_NAME or not (text.strip() or files):
            raise HTTPException(422, Sentence("http.wrong_field"))
        attachments = await store_files(caller.services.home, files)
    inbound = make_inbound(caller, name, text, user_name=user_name, key=idempotency_key, files=attachments)
    return await answer_message(caller, inbound, response, wait, accept)
