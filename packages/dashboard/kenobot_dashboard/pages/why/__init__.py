"""The page *why*: how a reply came about, and why something was not remembered."""

from typing import Annotated, Final

from fastapi import APIRouter, Path, Query, Response
from starlette.exceptions import HTTPException

from kenobot_dashboard.names import read_names
from kenobot_dashboard.viewer import View
from kenobot_http.api import conversations, replies
from kenobot_http.api.paging import LARGEST_ID

router = APIRouter(prefix="/why")

_SHOWN: Final = 20
_CHATS: Final = 50
_LONGEST: Final = 2000

Session = Annotated[str, Query(pattern=r"^[A-Za-z0-9_-]{0,128}$")]


@router.get("")
async def list_replies(
    view: View,
    session: Session = "",
    q: Annotated[str, Query(max_length=_LONGEST)] = "",
    cursor: Annotated[str, Query(pattern=r"^([1-9][0-9]{0,14})?$")] = "",
) -> Response:
    """List the last replies; with a question, explain why the last one did not remember it."""
    caller, absence = view.caller, None
    if wanted := q.strip():
        try:
            absence = await replies.explain_absence(caller, wanted, view.request, session)
        except HTTPException as error:
            if error.status_code != 404:
                raise
    shown = await replies.list_replies(caller, session, _SHOWN, cursor)
    chats = await conversations.list_conversations(caller, _CHATS)
    sessions = [chat.session for chat in chats.items]
    return view.page(
        "why",
        replies=shown.items,
        next=shown.next,
        sessions=sessions,
        names=await read_names(view, [*sessions, *(each.session for each in shown.items)]),
        session=session,
        q=q,
        wanted=wanted,
        absence=absence,
    )


@router.get("/{turn}")
async def show_reply(view: View, turn: Annotated[int, Path(ge=1, le=LARGEST_ID)]) -> Response:
    """Show all that is known of how a reply was made."""
    reply = await replies.get_reply(view.caller, turn, view.request)
    at_once = {each.memory for each in reply.changes}
    return view.page(
        "why",
        "reply.html",
        reply=reply,
        names=await read_names(view, [reply.session]),
        later=[each for each in reply.remembered if each.memory not in at_once],
        behind=[each for each in reply.memories if each.behind],
        beside=[each for each in reply.memories if not each.behind],
        prompt_tokens=sum(part.tokens for part in reply.prompt),
        most_tokens=max((part.tokens for part in reply.prompt), default=0) or 1,
    )
