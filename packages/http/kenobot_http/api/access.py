"""Routes of access: who may talk to the bot, who waits to be let in, and the keys of this API."""

from typing import Annotated, Literal

from fastapi import APIRouter, Path
from pydantic import BaseModel, Field
from starlette.exceptions import HTTPException

from kenobot.agent.commands.command import Change
from kenobot.gateway import pairing
from kenobot.gateway.pairing import PairingResult
from kenobot.ports.sentences import Sentence
from kenobot.storage import api_keys, approved_people
from kenobot.storage.connection import Connection
from kenobot_http.api.auth import AccessKeeper

_PEOPLE_CHANGED: tuple[Change, ...] = ("people",)
router = APIRouter(prefix="/v1", tags=["access"])

ChannelName = Annotated[str, Path(min_length=1, max_length=64)]
UserId = Annotated[str, Path(min_length=1, max_length=300)]


class Person(BaseModel):
    """Somebody who may talk to the bot, or a chat in which everybody may. by: of what right.

    since: empty for those of the configuration, who are taken out there.
    """

    channel: str
    kind: Literal["owner", "guest", "chat"]
    id: str
    name: str
    by: Literal["configuration", "approval"]
    since: str


class Waiting(BaseModel):
    """A stranger who was given a code, which is good until then."""

    channel: str
    id: str
    name: str
    since: str
    until: str


class Key(BaseModel):
    """A key of this API. user: for whom it speaks. own: this request came with it."""

    name: str
    user: str
    scopes: list[str]
    since: str
    own: bool


class AccessTable(BaseModel):
    """List people with access, those who wait for it, and the keys of this API. locked: until when no code counts."""

    people: list[Person]
    waiting: list[Waiting]
    locked: str | None
    keys: list[Key]


class Code(BaseModel, extra="forbid"):
    """The code that a stranger was given and has told the owner."""

    code: str = Field(min_length=1, max_length=64)


class LetIn(BaseModel):
    """Somebody who was let in."""

    channel: str
    id: str
    name: str


@router.get("/access")
async def list_access(caller: AccessKeeper) -> AccessTable:
    """Return who may talk to the bot, who waits to be let in, and the keys of this API."""
    services = caller.services

    def read(connection: Connection) -> AccessTable:
        at = services.clock.now()
        locked = pairing.find_lock_end(connection, at)
        people = [
            Person(channel=channel, kind=kind, id=number, name="", by="configuration", since="")
            for channel, kind, number in services.access.list_configured()
        ]
        approved = approved_people.list_people(connection)
        return AccessTable(
            people=people
            + [
                Person(channel=p.channel, kind="guest", id=p.user, name=p.name, by="approval", since=p.since)
                for p in approved
            ],
            waiting=[
                Waiting(channel=each.channel, id=each.user, name=each.name, since=each.created, until=each.expires)
                for each in pairing.open_pairings(connection, at)
            ],
            locked=locked.isoformat() if locked is not None else None,
            keys=[
                Key(
                    name=key.name,
                    user=key.user,
                    scopes=sorted(key.scopes),
                    since=key.created,
                    own=key.id == caller.key.id,
                )
                for key in api_keys.list_keys(connection)
            ],
        )

    return await services.database.read(read)


@router.post("/access/people")
async def let_in(caller: AccessKeeper, given: Code) -> LetIn:
    """Let in the stranger who was given a code, and tell them."""
    services = caller.services
    result = await services.database.write(
        lambda connection: pairing.approve(connection, given.code, services.clock.now(), services.access.is_owner)
    )
    services.note_changes(_PEOPLE_CHANGED)
    return _render_result(result)


@router.delete("/access/people/{channel}/{user:path}", status_code=204)
async def put_out(caller: AccessKeeper, channel: ChannelName, user: UserId) -> None:
    """Make somebody who was let in a stranger again. Those of the configuration are taken out of kenobot.toml."""
    services = caller.services
    gone = await services.database.write(lambda connection: approved_people.revoke_person(connection, channel, user))
    if not gone:
        is_configured = services.access.lets_in(channel, user)
        raise HTTPException(409, Sentence("api.configured_person")) if is_configured else HTTPException(404)
    services.note_changes(_PEOPLE_CHANGED)


@router.delete("/access/waiting/{channel}/{user:path}", status_code=204)
async def turn_away(caller: AccessKeeper, channel: ChannelName, user: UserId) -> None:
    """Void the code of a stranger who waits."""
    services = caller.services

    def write(connection: Connection) -> None:
        waiting = pairing.open_pairings(connection, services.clock.now())
        if not any((each.channel, each.user) == (channel, user) for each in waiting):
            raise HTTPException(404)
        pairing.void_code(connection, channel, user)

    await services.database.write(write)


@router.delete("/access/keys/{name:path}", status_code=204)
async def revoke_key(caller: AccessKeeper, name: Annotated[str, Path(min_length=1, max_length=64)]) -> None:
    """End a key of this API at once; new ones are made by `kenobot http key add` alone."""
    if not await caller.services.database.write(lambda connection: api_keys.revoke_key(connection, name)):
        raise HTTPException(404)


def _render_result(result: PairingResult) -> LetIn:
    match result.kind:
        case "approved":
            assert result.person is not None
            return LetIn(channel=result.person.channel, id=result.person.user, name=result.person.name)
        case "nothing":
            raise HTTPException(404, Sentence("api.no_code"))
        case "wrong":
            raise HTTPException(409, Sentence("api.wrong_code", left=result.tries_left))
        case "locked":
            raise HTTPException(409, Sentence("api.codes_locked"))
