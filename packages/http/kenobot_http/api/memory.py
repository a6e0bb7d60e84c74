"""Routes of memory: see, search with the reasons, remember, correct, forget, undo, and why an answer came out so."""

import json
from collections.abc import Callable
from dataclasses import asdict
from datetime import datetime
from typing import Annotated, Any, Literal, TypeVar

from fastapi import APIRouter, Depends, Path, Query
from pydantic import BaseModel, Field
from starlette.exceptions import HTTPException

from kenobot.agent import search_report
from kenobot.cognitive.memory import Inspection, MemoryQuery, SearchReport
from kenobot.cognitive.memory import Memory as Store
from kenobot.language.confidences import tags_of_confidence
from kenobot.ports.explanations import UsedMemory
from kenobot.ports.memory import Candidate
from kenobot.ports.memory_changes import ForgetResult, UndoError
from kenobot.ports.records import HistoryStep, Record
from kenobot.ports.sentences import Sentence
from kenobot.storage.connection import Connection
from kenobot_http.api.auth import MemoryReader, MemoryWriter
from kenobot_http.api.browsing import MemoryFilter, list_filtered
from kenobot_http.api.conversations import ReadableId, readable_session
from kenobot_http.api.idempotency import IdempotencyKey, do_once
from kenobot_http.api.moments import Moment, to_utc
from kenobot_http.api.paging import LARGEST_ID, Cursor, Limit, Page, page_of, read_cursor
from kenobot_http.api.services import Caller

router = APIRouter(prefix="/v1", tags=["memory"])

M = TypeVar("M", bound=BaseModel)
Status = Literal["active", "superseded", "expired", "archived", "forgotten", "invalidated", "all"]
MemoryId = Annotated[int, Path(ge=1, le=LARGEST_ID)]
_LONGEST_TEXT, LONGEST_QUESTION = 4000, 2000
_LINKS = 20


class Memory(BaseModel):
    """A memory. confidence: from 0 to 1. valid_to: when it ceased to be so, where it did. source: by which door it came
    in. origin: whose making its words are: the source, but "chat" for a chat's summary, and "edit" for a page of the
    bot's that its owner wrote over."""

    id: int
    text: str
    form: str
    category: str
    scope: str
    subject: str
    status: str
    trust: str
    source: str
    origin: str
    confidence: float
    importance: float
    mentions: int
    created: str
    updated: str
    valid_from: str
    valid_to: str | None
    last_used: str | None
    attributes: dict[str, str]
    tags: list[str]


class Quotation(BaseModel):
    """A message that told a memory."""

    turn: int
    trust: str
    at: str
    session: str
    text: str


class Confidence(BaseModel):
    """The confidence of a memory, 0 to 1, from a moment on. kind: of the event that set it."""

    at: str
    value: float
    kind: str


class Neighbour(BaseModel):
    """A memory that another is linked to, in its own words."""

    to: int
    text: str
    type: str
    confidence: float


class MemoryInFull(Memory):
    """A memory, what it is linked to, and the messages that told it. strength: its confidence now, less what time took.

    confidences: how sure it was, from its making on.
    """

    strength: float
    confidences: list[Confidence]
    links: list[Neighbour]
    said: list[Quotation]


class NamedMemory(BaseModel):
    """A memory by its number, in its own words."""

    record: int
    text: str


class Change(BaseModel):
    """Something that happened to a memory.

    undone: a later event took it back. undoable: an undo would, as it is. former: the memories that it took the place
    of, in their words. current: the one that took its place.
    """

    event: int
    at: str
    actor: str
    kind: str
    reason: str
    undone: bool
    undoable: bool
    changes: list[tuple[str, Any, Any]]
    former: list[NamedMemory]
    current: NamedMemory | None


class UsedInReply(BaseModel):
    """A memory that a reply was shown. behind: it shares words with the exchange. because: why it was recalled."""

    memory: int
    text: str = Field(description="Empty where it was forgotten, or is not to be shown")
    behind: bool
    because: str


class ReplyOrigin(BaseModel):
    """The last reply of a conversation, and the memories that it was shown."""

    session: str
    turn: int
    at: str
    question: str
    answer: str
    memories: list[UsedInReply]


class NewMemory(BaseModel, extra="forbid"):
    text: str = Field(min_length=1, max_length=_LONGEST_TEXT)


class Decided(BaseModel):
    """Report a change of memory. memory: the one there is now. event: the id that undo takes."""

    action: str
    memory: int
    event: int


class Undo(BaseModel, extra="forbid"):
    """Name the event to take back; None takes the newest decision."""

    event: int | None = Field(None, ge=1, le=LARGEST_ID)


# ── see ──────────────────────────────────────────────────────────────────────────────────────────────────────────────


@router.get("/memories")
async def list_memories(
    caller: MemoryReader,
    wanted: Annotated[MemoryFilter, Depends()],
    status: Status = "active",
    limit: Limit = 50,
    cursor: Cursor = "",
    as_of: Annotated[Moment | None, Query(description="As they were then, of those that were live; in UTC")] = None,
) -> Page[Memory]:
    """List memories, the newest first: the owner's key sees all of them, another its user's."""
    before, statuses = read_cursor(cursor), () if status == "all" else (status,)
    rows = await list_filtered(caller, wanted, statuses, before, limit + 1, as_of)
    return page_of(rows, limit, lambda row: row.id, _render)


@router.get("/memories/{number}")
async def get_memory(caller: MemoryReader, number: MemoryId) -> MemoryInFull:
    """Return a memory with its links and the messages that told it."""

    def read(connection: Connection) -> MemoryInFull:
        record = find_record(connection, caller, number)
        links = [
            (link, link.dst if link.src == record.id else link.src)
            for link in Store.records.list_links(connection, record.id, caller.reach, _LINKS)
        ]
        others = Store.records.get_all(connection, [other for _, other in links], caller.reach)
        around = [
            Neighbour(to=other, text=others[other].text, type=link.type, confidence=link.confidence)
            for link, other in links
            if other in others
        ]
        sure = Store.history.list_confidence(connection, record.id, caller.reach)
        told = Store.history.list_quotations(connection, record.source_message_ids, caller.reach)
        said = [
            Quotation(turn=turn, trust=message.trust, at=message.at, session=message.session, text=message.text)
            for turn, message in told
        ]
        return MemoryInFull(
            **_render(record).model_dump(),
            strength=Inspection.strength(record, caller.services.clock.now()),
            confidences=[Confidence(at=each.at, value=each.value, kind=each.kind) for each in sure],
            links=around,
            said=said,
        )

    return await caller.services.database.read(read)


@router.get("/memories/{number}/history")
async def get_history(caller: MemoryReader, number: MemoryId) -> list[Change]:
    """Return what happened to a memory, newest first."""

    def read(connection: Connection) -> tuple[list[HistoryStep], frozenset[int]]:
        steps = Store.history.list_steps(connection, find_record(connection, caller, number).id, caller.reach)
        return steps, Store.history.select_undoable(connection, (step.event for step in steps), caller.reach)

    steps, undoable = await caller.services.database.read(read)
    names = Change.model_fields
    return [
        Change(
            **{name: value for name, value in asdict(step).items() if name in names}, undoable=step.event in undoable
        )
        for step in steps
    ]


@router.get("/recall")
async def search_memory(
    caller: MemoryReader,
    q: Annotated[str, Query(min_length=1, max_length=LONGEST_QUESTION, description="What to search for")],
    limit: Annotated[int, Query(ge=0, le=100, description="Memories at most; 0 as many as fit a prompt")] = 0,
    as_of: Annotated[Moment | None, Query(description="Search what was known then")] = None,
) -> dict[str, Any]:
    """Search memory as a turn would, and return each memory with the reasons and the score's parts, and what was left
    out, why."""
    report = await search(caller, q, limit, as_of)
    found: dict[str, Any] = json.loads(json.dumps(search_report.as_json(report, q)))
    return found


async def search(caller: Caller, question: str, limit: int, as_of: datetime | None = None) -> SearchReport:
    """Search the memory in reach of a caller as a turn would. limit: memories at most; 0 as many as fit a prompt."""
    services = caller.services
    moment = to_utc(as_of) if as_of is not None else None
    if moment is None:
        await services.embedding.embed_query(question)
    at = services.clock.now()
    query = MemoryQuery(question, caller.reach, at, services.zone, limit=limit, as_of=moment, force=True)
    return await services.database.read_long(lambda connection: Store(services.index).recall(connection, query))


@router.get("/conversations/{name}/why")
async def explain_reply(caller: MemoryReader, name: ReadableId) -> ReplyOrigin:
    """Return the memories behind the last reply of a conversation, and those that were only in view."""

    def read(connection: Connection) -> ReplyOrigin:
        session = readable_session(connection, caller, name)
        reply = Store.history.explain_reply(connection, session, caller.reach)
        if reply is None:
            raise HTTPException(404)
        behind, others = Store.history.split_used(reply)
        used = [_used(each, behind=True) for each in behind] + [_used(each, behind=False) for each in others]
        return ReplyOrigin(
            session=session,
            turn=reply.turn,
            at=reply.at,
            question=reply.question,
            answer=reply.answer,
            memories=used,
        )

    return await caller.services.database.read(read)


# ── change ───────────────────────────────────────────────────────────────────────────────────────────────────────────


@router.post("/memories")
async def remember(caller: MemoryWriter, new: NewMemory, idempotency_key: IdempotencyKey = "") -> Decided:
    """Remember a text as it stands."""
    tags = tags_of_confidence([new.text])
    candidate = Candidate(
        "note",
        caller.write_scope,
        new.text,
        source="command",
        trust=caller.trust,
        tags=tags,
    )

    def work(connection: Connection) -> Decided:
        decision = Store.remember(connection, candidate, caller.occasion())
        if decision.record is None:
            raise HTTPException(409, Sentence("api.not_remembered", reason=decision.reason))
        return _report_change(connection, caller, decision.action, decision.record)

    return await change_memory(caller, idempotency_key, ("remember", new.text), Decided, work, text=new.text)


@router.put("/memories/{number}")
async def correct(
    caller: MemoryWriter, number: MemoryId, new: NewMemory, idempotency_key: IdempotencyKey = ""
) -> Decided:
    """Put other words in the place of a memory, which stays in its history."""

    def work(connection: Connection) -> Decided:
        find_record(connection, caller, number)
        try:
            decision = Store.correct(connection, number, new.text, caller.reach, caller.occasion(), trust=caller.trust)
        except LookupError:
            raise HTTPException(409, Sentence("api.forgotten")) from None
        except ValueError as error:
            raise HTTPException(409, Sentence("api.not_corrected", reason=str(error))) from None
        if decision.record is None:
            raise HTTPException(409, Sentence("api.not_corrected", reason=decision.reason))
        return _report_change(connection, caller, decision.action, decision.record)

    return await change_memory(caller, idempotency_key, ("correct", number, new.text), Decided, work, text=new.text)


@router.delete("/memories/{number}")
async def forget_memory(caller: MemoryWriter, number: MemoryId, idempotency_key: IdempotencyKey = "") -> Decided:
    """Forget a memory with what repeats it; an undo of the event brings it back."""

    def work(connection: Connection) -> Decided:
        said = Sentence("reasons.owner_said" if caller.is_owner else "reasons.person_said")
        hidden = take_away(connection, caller, number, said)
        return Decided(action="forgotten", memory=number, event=hidden.event)

    return await change_memory(caller, idempotency_key, ("forget", number), Decided, work)


def take_away(connection: Connection, caller: Caller, number: int, reason: str) -> ForgetResult:
    """Forget a memory in reach with what repeats it, inside a transaction. Raises HTTPException."""
    find_record(connection, caller, number)
    hidden = Store.forget(connection, number, caller.reach, caller.occasion(), reason=reason)
    if hidden is None:
        raise HTTPException(409, Sentence("api.forgotten"))
    return hidden


@router.post("/undo")
async def undo(caller: MemoryWriter, what: Undo, idempotency_key: IdempotencyKey = "") -> Decided:
    """Take back a decision about memory: the event that is named, or the newest one of the caller's own memory."""

    def work(connection: Connection) -> Decided:
        event = what.event or Store.history.find_undoable(connection, (caller.write_scope,))
        if event is None:
            raise HTTPException(409, Sentence("api.nothing_to_undo"))
        try:
            done = Store.undo(connection, event, caller.reach, caller.occasion())
        except UndoError as error:
            raise HTTPException(409, str(error)) from None
        first = (*done.after, *done.before)[0].id
        return Decided(action="undone", memory=first, event=done.event)

    return await change_memory(caller, idempotency_key, ("undo", what.event), Decided, work)


async def change_memory(
    caller: Caller,
    name: str,
    request: tuple[object, ...],
    model: type[M],
    work: Callable[[Connection], M],
    *,
    text: str = "",
) -> M:
    """Change memory once, as `do_once` does; then have its files and its index follow. text: what is remembered."""
    services = caller.services
    if text:
        await services.embedding.prepare_statements([text])
    done = await do_once(caller, name, request, model, work)
    services.memory_files.mark_dirty()
    services.embedding.note_news()
    return done


def _report_change(connection: Connection, caller: Caller, action: str, number: int) -> Decided:
    newest = Store.history.list_steps(connection, number, caller.reach)
    return Decided(action=action, memory=number, event=newest[0].event if newest else 0)


def find_record(connection: Connection, caller: Caller, number: int) -> Record:
    """Return a memory in reach. Raises HTTPException with 404."""
    record = Store.records.get(connection, number, caller.reach)
    if record is None:
        raise HTTPException(404)
    return record


def _render(record: Record) -> Memory:
    tags = json.loads(record.tags)
    row = {name: value for name, value in record._asdict().items() if name in Memory.model_fields}
    return Memory(
        **row
        | {"origin": record.origin, "attributes": record.attribute_map, "tags": tags if isinstance(tags, list) else []}
    )


def _used(used: UsedMemory, *, behind: bool) -> UsedInReply:
    text = used.record.text if used.record is not None else ""
    because = used.reason.sentence() if used.reason is not None else ""
    return UsedInReply(memory=used.record_id, text=text, behind=behind, because=because)
