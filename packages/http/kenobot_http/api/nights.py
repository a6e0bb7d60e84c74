"""Routes of nights: list them, take one back, and decide on what they propose."""

from dataclasses import asdict
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Path, Query
from pydantic import BaseModel
from starlette.exceptions import HTTPException

from kenobot.app.bot_services import BotServices
from kenobot.cognitive.memory import Nights, Proposals
from kenobot.core.settings.home import AlreadyLocked
from kenobot.ports.memory_changes import CannotDecide, DecisionContext, Proposal, ProposalState
from kenobot.ports.nights import NightUndo, SleepRun
from kenobot.ports.sentences import Sentence
from kenobot.storage.connection import Connection
from kenobot_http.api.auth import SleepKeeper
from kenobot_http.api.paging import LARGEST_ID
from kenobot_http.api.services import Caller

router = APIRouter(prefix="/v1", tags=["operations"])

_STATES: tuple[ProposalState, ...] = ("pending", "approved", "rejected", "undone")
_DECISIONS = {"approve": Proposals.approve, "reject": Proposals.reject, "undo": Proposals.undo}

Night = Annotated[int, Path(ge=1, le=LARGEST_ID)]


class NightLine(BaseModel):
    """A night. decisions: that it took. changed: how often they changed a memory. trouble: by pass, why that failed.

    tokens: of models.
    """

    run: int
    at: str
    finished: str | None
    cause: str
    state: str
    passes: int
    decisions: int
    changed: int
    tokens: int
    large: list[str]
    trouble: dict[str, str]


class KeptChange(BaseModel):
    """A decision of a night that could not be taken back, and why."""

    event: int
    what: str
    why: str


class NightTakenBack(BaseModel):
    """A night that was taken back. undone: its decisions. unchanged: how many more changed no memory."""

    run: int
    undone: list[int]
    unchanged: int
    kept: list[KeptChange]


class ProposedChange(BaseModel):
    """A change that a night proposes. kind: of what approving it does."""

    id: int
    run: int | None
    at: str
    kind: str
    title: str
    text: str
    payload: dict[str, Any]
    evidence: dict[str, Any]
    state: ProposalState
    decided: str | None
    by: str


@router.get("/nights")
async def list_nights(
    caller: SleepKeeper, limit: Annotated[int, Query(ge=1, le=100, description="How many at most")] = 30
) -> list[NightLine]:
    """List the nights, the newest first. `GET /v1/sleep?run=` tells each change of one."""
    services = caller.services

    def read(connection: Connection) -> list[NightLine]:
        return [_render_night(connection, services, run) for run in Nights.list_newest(connection, limit)]

    return await services.database.read_long(read)


@router.post("/nights/{number}/undo")
async def undo_night(caller: SleepKeeper, number: Night) -> NightTakenBack:
    """Take back the decisions of a night that still hold, some at a time, so that nobody waits for it."""
    services, outcome, before = caller.services, NightUndo(number), Nights.NEWEST
    run = await services.database.read(lambda connection: Nights.find(connection, number))
    if run is None:
        raise HTTPException(404, Sentence("api.no_such_night"))
    try:
        with services.home.sleep_lock():
            if run.state == "running":
                raise HTTPException(409, Sentence("sleep.night_cut_short", night=number))
            while before:
                before = await services.database.write(_undo_from(caller, outcome, before))
    except AlreadyLocked as error:
        raise HTTPException(409, Sentence("api.asleep")) from error
    services.memory_files.mark_dirty()
    services.embedding.note_news()
    kept = [KeptChange(event=each.event, what=each.kind, why=each.reason) for each in outcome.conflicts]
    return NightTakenBack(run=number, undone=[*outcome.undone], unchanged=outcome.unchanged, kept=kept)


@router.get("/proposals")
async def list_proposals(
    caller: SleepKeeper,
    state: ProposalState | None = "pending",
    limit: Annotated[int, Query(ge=1, le=100, description="How many at most")] = 50,
) -> list[ProposedChange]:
    """List the changes that nights proposed, the newest last."""
    states = _STATES if state is None else (state,)
    found = await caller.services.database.read(lambda connection: Proposals.list_proposals(connection, states, limit))
    return [_render_proposal(each) for each in found]


@router.post("/proposals/{number}/{decision}")
async def decide(caller: SleepKeeper, number: Night, decision: Literal["approve", "reject", "undo"]) -> ProposedChange:
    """Carry out a proposal, turn it down, or take back what an approved one did."""
    services = caller.services
    context = DecisionContext(services.clock.now(), "owner", services.home.identity, services.home.skills)

    def write(connection: Connection) -> Proposal:
        if Proposals.get(connection, number) is None:
            raise HTTPException(404)
        return _DECISIONS[decision](connection, number, context)

    try:
        decided = await services.database.write(write)
    except CannotDecide as error:
        raise HTTPException(409, str(error)) from None
    services.note_changes(("memory", "proposals"))
    services.memory_files.mark_dirty()
    services.embedding.note_news()
    return _render_proposal(decided)


def _undo_from(caller: Caller, outcome: NightUndo, before: int) -> Any:
    return lambda connection: Nights.undo_some(connection, outcome, before, caller.occasion())


def _render_night(connection: Connection, services: BotServices, run: SleepRun) -> NightLine:
    figures = Nights.count(connection, run, services.policy)
    finished = run.finished.isoformat() if run.finished is not None else None
    return NightLine(run=run.id, at=run.at.isoformat(), finished=finished, cause=run.cause, state=run.state, **figures)


def _render_proposal(proposal: Proposal) -> ProposedChange:
    row = asdict(proposal)
    return ProposedChange(**{name: row[name] for name in ProposedChange.model_fields})
