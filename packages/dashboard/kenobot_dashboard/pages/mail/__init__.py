"""The page *mail*: messages on their way in and out, and those that came to no good end."""

from typing import Annotated, Final, Literal

from fastapi import APIRouter, Path, Query, Response

from kenobot.storage import message_status
from kenobot.storage.dead_letters import ENDED, STATES, LetterState
from kenobot_dashboard.viewer import View
from kenobot_http.api import operations

router = APIRouter(prefix="/mail")

_MOST: Final = 100

LetterId = Annotated[str, Path(pattern=r"^(in|out)-[1-9][0-9]{0,17}$")]


@router.get("")
async def list_mail(view: View, state: Annotated[LetterState | Literal[""], Query()] = "") -> Response:
    """List messages that wait or failed, the newest first, and count the others."""
    letters = await operations.list_mail(view.caller, state or None, _MOST)
    counts = dict(await view.services.database.read(message_status.state_counts))
    every = await operations.list_mail(view.caller, None, _MOST) if state else letters
    present = {each.state for each in every} | ({state} if state else set())
    return view.page(
        "mail",
        letters=letters[::-1],
        state=state,
        states=[each for each in STATES if each in present],
        ended=ENDED,
        counts=counts,
        most=_MOST,
    )


@router.post("/{number}/retry")
async def retry_letter(view: View, number: LetterId) -> Response:
    """Answer a message, or send a part, once more."""
    await operations.retry_mail(view.caller, number)
    return view.go("/mail", done="retried")


@router.post("/{number}/drop")
async def drop_letter(view: View, number: LetterId) -> Response:
    """Delete a message that came to no good end."""
    await operations.drop_mail(view.caller, number)
    return view.go("/mail", done="dropped")
