"""Routes of replies: the last ones, all that is known of how one was made, and why something was not remembered."""

from typing import Annotated

from fastapi import APIRouter, Path, Query, Request
from pydantic import BaseModel, Field
from starlette.exceptions import HTTPException

from kenobot.agenda import job_rows
from kenobot.agenda.job import JobState
from kenobot.agent.commands.absence import absence_as_json, find_readers, render_absence
from kenobot.agent.prompt.stored_sections import SectionName, measure_sections
from kenobot.cognitive.memory import Memory as Store
from kenobot.cognitive.memory import MemoryQuery
from kenobot.core.i18n import Language
from kenobot.identity.identity_files import Identity
from kenobot.ledger.prices import PICODOLLARS
from kenobot.ports.browsing import Happening, TimelineItem
from kenobot.ports.explanations import AbsenceOutcome, ReplyExplanation, UsedMemory
from kenobot.ports.sentences import render
from kenobot.storage import conversation, message_rows, model_calls, tool_runs, turn_stats
from kenobot.storage.connection import Connection
from kenobot.storage.message_rows import MessageRow
from kenobot.storage.scopes import scope_names
from kenobot.storage.tool_runs import ToolOutcome
from kenobot_http.api.auth import MemoryReader
from kenobot_http.api.conversations import readable_session
from kenobot_http.api.paging import LARGEST_ID, Cursor, Limit, Page, page_of, read_cursor
from kenobot_http.api.services import Caller
from kenobot_http.problems import choose_language

router = APIRouter(prefix="/v1", tags=["memory"])

_LONGEST, _MADE = 2000, 200
Session = Annotated[str, Query(pattern=r"^[A-Za-z0-9_-]{0,128}$", description="Your own name for it, or a `session`")]


class ReplyLine(BaseModel):
    """A reply of the bot's. turn: the number of the message that it answers; question: that, where it is kept."""

    turn: int
    session: str
    at: str
    question: str
    answer: str


class ShownMemory(BaseModel):
    """A memory that a reply was shown. behind: it shares words with the exchange.

    where: recalled for the message, shown with an earlier one ("earlier"), or part of the frozen beginning ("frame").
    because: why it was recalled. parts: what its score is made of.
    """

    memory: int
    text: str = Field(description="Empty where it was forgotten, or is not to be shown")
    where: str
    behind: bool
    because: str
    score: float | None
    parts: dict[str, float]


class MadeMemory(BaseModel):
    """A memory that is made of an exchange."""

    memory: int
    text: str


class MadeChange(BaseModel):
    """A change that the message or the tags of its reply made to memory. event: what an undo takes back.

    text: empty where it was forgotten since.
    """

    event: int
    happening: Happening
    memory: int
    text: str
    reason: str


class MadeReminder(BaseModel):
    """A reminder that the message asked for."""

    id: int
    text: str
    state: JobState
    next_due: str | None


class PromptPart(BaseModel):
    """A section of the prompt, with its estimated tokens."""

    name: SectionName
    tokens: int


class ModelUse(BaseModel):
    """Count the tokens that models were sent and wrote. cached_share: of what they were sent, from their cache, 0 to 1.

    milliseconds: what the time of the answer went into. usd: what the message cost; null where no price is known of
    it, or its calls are no longer kept.
    """

    model: str
    prompt_tokens: int
    output_tokens: int
    cached_share: float
    milliseconds: dict[str, int]
    usd: float | None


class ToolUse(BaseModel):
    """A call of a tool."""

    tool: str
    call: str
    outcome: ToolOutcome
    seconds: float


class ReplyInFull(BaseModel):
    """All that is known of how a reply was made.

    level, score: of what the search for the message found; empty where it was not searched for. filtered: how many
    candidates were left out, by the reason. prompt: its sections; empty once its frozen beginning was made anew. model:
    null where none answered, or it is no longer kept. changes, reminders: what it did at once. remembered: what is made
    of the exchange, also what was read out of it afterwards.
    """

    turn: int
    session: str
    at: str
    question: str
    answer: str
    level: str
    score: float
    memories: list[ShownMemory]
    filtered: dict[str, int]
    prompt: list[PromptPart]
    model: ModelUse | None
    tools: list[ToolUse]
    changes: list[MadeChange]
    reminders: list[MadeReminder]
    remembered: list[MadeMemory]


class Absence(BaseModel):
    """Why something was not remembered. explanation: the same in words, Markdown.

    outcome: it was never stored, the chat may not be shown it, it was found and not shown, or shown and not used.
    rank, of: its place among what was ranked for the question; 0 for none. before: what was ranked before it. kind, id,
    text, scope: of what was found, where it may be shown.
    """

    outcome: AbsenceOutcome
    reason: str
    question: str
    rank: int
    of: int
    before: list[str]
    kind: str = ""
    id: int | None = None
    text: str = ""
    scope: str = ""
    explanation: str


@router.get("/replies")
async def list_replies(
    caller: MemoryReader, session: Session = "", limit: Limit = 20, cursor: Cursor = ""
) -> Page[ReplyLine]:
    """List the replies of the bot's, the newest first: the owner's key sees those of all chats."""
    before, scopes = read_cursor(cursor), scope_names(caller.reach)

    def read(connection: Connection) -> tuple[list[MessageRow], dict[tuple[str, int], str]]:
        own = readable_session(connection, caller, session) if session else ""
        found = message_rows.page_of_replies(connection, scopes, own, before, limit + 1)
        said = message_rows.messages_of_turns(connection, [row.inbox_id for row in found if row.inbox_id is not None])
        asked = (row for row in reversed(said) if row.role == "user" and not row.hidden)
        return found, {(row.session, row.inbox_id or 0): row.text for row in asked}

    rows, questions = await caller.services.database.read_long(read)

    def render_row(row: MessageRow) -> ReplyLine:
        turn = row.inbox_id or 0
        question = questions.get((row.session, turn), "")
        return ReplyLine(turn=turn, session=row.session, at=row.at, question=question, answer=row.text)

    return page_of(rows, limit, lambda row: row.id, render_row)


@router.get("/replies/{turn}")
async def get_reply(
    caller: MemoryReader, turn: Annotated[int, Path(ge=1, le=LARGEST_ID)], request: Request
) -> ReplyInFull:
    """Return all that is known of how a reply was made: found, filtered, shown, used, paid for and remembered."""
    language = _language(request, caller)

    def read(connection: Connection) -> ReplyInFull:
        reply = Store.history.explain_reply_to(connection, turn, caller.reach)
        if reply is None:
            raise HTTPException(404)
        return _describe(connection, caller, reply, language)

    return await caller.services.database.read_long(read)


@router.get("/why-not")
async def explain_absence(
    caller: MemoryReader,
    q: Annotated[str, Query(min_length=1, max_length=_LONGEST, description="What was to be remembered")],
    request: Request,
    session: Session = "",
) -> Absence:
    """Explain why the last reply of a conversation did not remember something. Without one, of the last answered."""
    services, language = caller.services, _language(request, caller)
    await services.embedding.embed_query(q)

    def read(connection: Connection) -> Absence:
        if session:
            asked = readable_session(connection, caller, session)
        else:
            asked = (conversation.last_answered_session(connection) or "") if caller.is_owner else ""
        reply = Store.history.explain_reply(connection, asked, caller.reach) if asked else None
        readers = find_readers(connection, asked) if caller.is_owner else (caller.write_scope,)
        query = MemoryQuery(q, readers, services.clock.now(), services.zone, asked)
        found = Store(services.index).explain(connection, q, query, reply, caller.reach)
        return Absence.model_validate(absence_as_json(found) | {"explanation": render_absence(found, q, language)})

    return await services.database.read_long(read)


def _describe(connection: Connection, caller: Caller, reply: ReplyExplanation, language: Language) -> ReplyInFull:
    behind, others = Store.history.split_used(reply)
    use = turn_stats.read_use(connection, reply.turn)
    spent = model_calls.sum_spent_on(connection, reply.turn)
    runs = tool_runs.runs_of_turn(connection, reply.turn) if caller.is_owner else []
    made = Store.records.list_told_by(connection, caller.write_scope, [reply.turn], _MADE)
    records = Store.records.get_all(connection, made, caller.reach)
    changes = Store.history.list_turn_changes(connection, reply.session, reply.turn, caller.reach)
    sections = measure_sections(connection, Identity(caller.services.home.identity), reply)
    return ReplyInFull(
        turn=reply.turn,
        session=reply.session,
        at=reply.at,
        question=reply.question,
        answer=reply.answer,
        level=reply.search.level if reply.search is not None else "",
        score=reply.search.score if reply.search is not None else 0.0,
        memories=[
            *(_render_used(used, language, behind=True) for used in behind),
            *(_render_used(used, language, behind=False) for used in others),
        ],
        filtered=dict(reply.search.dropped) if reply.search is not None else {},
        prompt=[PromptPart(name=each.name, tokens=each.tokens) for each in sections],
        model=None
        if use is None
        else ModelUse(
            model=use.model,
            prompt_tokens=use.prompt_tokens,
            output_tokens=use.output_tokens,
            cached_share=use.cache_read_tokens / use.prompt_tokens if use.prompt_tokens else 0.0,
            milliseconds=dict(use.phases),
            usd=spent.cost / PICODOLLARS if spent.calls and not spent.unpriced_tokens else None,
        ),
        tools=[ToolUse(tool=run.tool, call=run.call, outcome=run.outcome, seconds=run.seconds) for run in runs],
        changes=[_render_change(each, language) for each in changes],
        reminders=[
            MadeReminder(id=job.id, text=job.text, state=job.state, next_due=job_rows.stamp(job.next_due) or None)
            for job in job_rows.list_asked_by(connection, reply.turn, caller.reach)
        ],
        remembered=[MadeMemory(memory=number, text=record.text) for number, record in records.items()],
    )


def _render_change(change: TimelineItem, language: Language) -> MadeChange:
    return MadeChange(
        event=change.decision,
        happening=change.happening,
        memory=change.record,
        text=change.text,
        reason=render(change.reason, language),
    )


def _render_used(used: UsedMemory, language: Language, *, behind: bool) -> ShownMemory:
    reason = used.reason
    return ShownMemory(
        memory=used.record_id,
        text=used.record.text if used.record is not None else "",
        where=used.where,
        behind=behind,
        because=render(reason.sentence(), language) if reason is not None else "",
        score=reason.score if reason is not None else None,
        parts=dict(reason.parts) if reason is not None else {},
    )


def _language(request: Request, caller: Caller) -> Language:
    """Return the language in which a request wants what is said in words."""
    return choose_language(request.headers.get("accept-language", ""), caller.services.language())
