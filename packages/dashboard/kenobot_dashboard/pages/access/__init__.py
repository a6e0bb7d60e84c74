"""The page *access*: who may talk to the bot, who waits to be let in, and the keys of the API."""

from typing import Annotated

from fastapi import APIRouter, Form, Response

from kenobot_dashboard.viewer import View
from kenobot_http.api import access
from kenobot_http.api.access import Code
from kenobot_http.api.scopes import SCOPES

router = APIRouter(prefix="/access")

ChannelName = Annotated[str, Form(min_length=1, max_length=64)]
UserId = Annotated[str, Form(min_length=1, max_length=300)]


@router.get("")
async def list_access(view: View) -> Response:
    """List people, strangers who wait, and keys."""
    return view.page("access", table=await access.list_access(view.caller), all_scopes=len(SCOPES))


@router.post("/people")
async def let_in(view: View, code: Annotated[str, Form(min_length=1, max_length=64)]) -> Response:
    """Let in the stranger who was given a code."""
    done = await access.let_in(view.caller, Code(code=code))
    return view.go("/access", done="let_in", about=done.name or done.id)


@router.post("/people/put-out")
async def put_out(view: View, channel: ChannelName, user: UserId) -> Response:
    """Make somebody who was let in a stranger again."""
    people = (await access.list_access(view.caller)).people
    name = next((each.name for each in people if (each.channel, each.id) == (channel, user)), "")
    await access.put_out(view.caller, channel, user)
    return view.go("/access", done="put_out", about=name or user)


@router.post("/waiting/turn-away")
async def turn_away(view: View, channel: ChannelName, user: UserId) -> Response:
    """Void the code of a stranger who waits."""
    waiting = (await access.list_access(view.caller)).waiting
    name = next((each.name for each in waiting if (each.channel, each.id) == (channel, user)), "")
    await access.turn_away(view.caller, channel, user)
    return view.go("/access", done="turned_away", about=name or user)


@router.post("/keys/revoke")
async def revoke_key(view: View, name: Annotated[str, Form(min_length=1, max_length=64)]) -> Response:
    """End a key at once."""
    await access.revoke_key(view.caller, name)
    return view.go("/access", done="revoked", about=name)
