"""Routes of what the bot may do: tools and their runs, calls that are allowed, skills, servers, and open questions."""

import secrets
from typing import Annotated, Literal

from fastapi import APIRouter, Path, Query
from pydantic import BaseModel, Field
from starlette.exceptions import HTTPException

from kenobot.agent.commands.command import Change
from kenobot.core.i18n import guess_language
from kenobot.gateway.buttons import Choice, Pressers, add_press
from kenobot.ports.messages import Inbound
from kenobot.ports.sentences import Sentence
from kenobot.skills import trust as trust_rows
from kenobot.skills.library import ShelvedSkill, State
from kenobot.skills.skill import reveal
from kenobot.storage import approvals, inbox_rows, tasks, tool_grants, tool_runs
from kenobot.storage.approvals import Approval
from kenobot.storage.connection import Connection
from kenobot.storage.tasks import TaskState
from kenobot.storage.tool_runs import ToolOutcome
from kenobot_http.api.auth import ToolKeeper
from kenobot_http.api.paging import LARGEST_ID
from kenobot_http.api.services import Caller

_TASKS_CHANGED: tuple[Change, ...] = ("tasks",)
router = APIRouter(prefix="/v1", tags=["tools"])

_MOST_TASKS = 50
Number = Annotated[int, Path(ge=1, le=LARGEST_ID)]
SkillName = Annotated[str, Path(pattern=r"^[^/\\\x00.][^/\\\x00]{0,127}$")]


class OffTool(BaseModel):
    """A tool, a workspace or an MCP server of the settings that is off, and why."""

    name: str
    why: str


class McpServer(BaseModel):
    """An MCP server. since: of its state. untrusted: how many of its tools the owner has not seen as they are."""

    name: str
    state: str
    since: str
    reason: str
    title: str
    tools: int
    untrusted: int


class Grant(BaseModel):
    """A call that needs no further yes."""

    id: int
    tool: str
    call: str
    since: str


class Run(BaseModel):
    """A call of a tool. turn: of which message; told: the beginning of what came back."""

    turn: int
    session: str
    tool: str
    call: str
    outcome: ToolOutcome
    told: str
    seconds: float
    at: str


class Tools(BaseModel):
    """The tools that are on, those that are off, the MCP servers, and the calls that are allowed for good."""

    on: list[str]
    off: list[OffTool]
    servers: list[McpServer]
    grants: list[Grant]


class SkillLine(BaseModel):
    """A skill. state: a model reads those alone that are trusted. hash: of its files as they are. why: it is broken."""

    name: str
    state: State
    description: str
    hash: str
    why: str
    problems: list[str]


class SkillInFull(SkillLine):
    """A skill with its files, by path; null for one that is no text."""

    files: dict[str, str | None]


class Trust(BaseModel, extra="forbid"):
    """The files that were seen."""

    hash: str = Field(max_length=200, description="`hash` of the skill as it was shown")


class OpenQuestion(BaseModel):
    """A question of the bot's that waits for an answer. call: of one whether a tool call may run.

    answers: those that can be given here; without any it is answered in its chat.
    """

    id: int
    session: str
    kind: str
    call: str
    expires: str
    answers: list[str]


class Answer(BaseModel, extra="forbid"):
    """An answer to a question. always: this very call needs no yes any more."""

    answer: Literal["yes", "no", "always"]


class Answered(BaseModel):
    """An answer was given as by the question's button; what comes of it is told in its chat."""

    id: int
    answer: str


class TaskLine(BaseModel):
    """A task in the background."""

    id: int
    title: str
    state: TaskState
    channel: str
    chat: str
    begun: str
    ended: str | None
    is_open: bool


class TaskCancelled(BaseModel):
    id: int
    state: Literal["cancelled"] = "cancelled"


# ── tools ────────────────────────────────────────────────────────────────────────────────────────────────────────────


@router.get("/tools")
async def list_tools(caller: ToolKeeper) -> Tools:
    """Return what `/tools` tells: which tools are on and off, how the MCP servers are, and what is always allowed."""
    context = caller.services.commands
    grants = await caller.services.database.read(tool_grants.list_grants)
    return Tools(
        on=[*context.tools],
        off=[OffTool(name=name, why=why) for name, why in context.tools_off()],
        servers=[
            McpServer(
                name=each.name,
                state=each.state,
                since=each.since.isoformat(),
                reason=each.reason,
                title=each.title,
                tools=each.tools,
                untrusted=each.untrusted,
            )
            for each in context.servers()
        ],
        grants=[Grant(id=each.id, tool=each.tool, call=each.call, since=each.created.isoformat()) for each in grants],
    )


@router.get("/tools/runs")
async def list_runs(
    caller: ToolKeeper,
    tool: Annotated[str, Query(max_length=200, description="Of this tool alone")] = "",
    limit: Annotated[int, Query(ge=1, le=1000, description="How many at most")] = 50,
) -> list[Run]:
    """List the latest calls of tools, the newest first; they are kept for thirty days."""
    runs = await caller.services.database.read(lambda connection: tool_runs.latest_runs(connection, limit, tool))
    return [
        Run(
            turn=run.inbox_id,
            session=run.session,
            tool=run.tool,
            call=run.call,
            outcome=run.outcome,
            told=run.told,
            seconds=run.seconds,
            at=run.at.isoformat(),
        )
        for run in runs
    ]


@router.delete("/tools/grants/{number}", status_code=204)
async def withdraw_grant(caller: ToolKeeper, number: Number) -> None:
    """Ask again about a call that was allowed for good."""
    if not await caller.services.database.write(lambda connection: tool_grants.remove_grant(connection, number)):
        raise HTTPException(404)


# ── skills ───────────────────────────────────────────────────────────────────────────────────────────────────────────


@router.get("/skills")
async def list_skills(caller: ToolKeeper) -> list[SkillLine]:
    """List the skills with their states, by name."""
    library = caller.services.commands.skills
    if library is None:
        return []
    shelf = await caller.services.database.read_long(
        lambda connection: library.list_skills(trust_rows.read_trusted(connection))
    )
    return [SkillLine(**_skill_row(each)) for each in shelf]


@router.get("/skills/{name}")
async def get_skill(caller: ToolKeeper, name: SkillName) -> SkillInFull:
    """Return a skill with its files, which are to be read before it is trusted."""
    found = await caller.services.database.read_long(lambda connection: _find_skill(connection, caller, name))
    files: dict[str, str | None] = {}
    if found.skill is not None:
        texts = ((path, found.skill.files.text(path)) for path in found.skill.files.contents)
        files = {path: reveal(text) if text is not None else None for path, text in texts}
    return SkillInFull(**_skill_row(found), files=files)


@router.put("/skills/{name}/trust")
async def trust_skill(caller: ToolKeeper, name: SkillName, seen: Trust) -> SkillLine:
    """Trust a skill whose files are still those that were seen."""
    services = caller.services

    def write(connection: Connection) -> ShelvedSkill:
        found = _find_skill(connection, caller, name)
        if found.skill is None or found.skill.digest != seen.hash:
            raise HTTPException(409, Sentence("api.skill_changed"))
        trust_rows.trust(connection, found.name, seen.hash, services.clock.now())
        return _find_skill(connection, caller, name)

    return SkillLine(**_skill_row(await services.database.write(write)))


@router.delete("/skills/{name}/trust", status_code=204)
async def withdraw_trust(caller: ToolKeeper, name: SkillName) -> None:
    """Withdraw the trust in a skill: no model reads it any more; its files stay."""
    if not await caller.services.database.write(lambda connection: trust_rows.withdraw(connection, name)):
        raise HTTPException(404)


def _find_skill(connection: Connection, caller: Caller, name: str) -> ShelvedSkill:
    library = caller.services.commands.skills
    found = library.find(name, trust_rows.read_trusted(connection)) if library is not None else None
    if found is None:
        raise HTTPException(404)
    return found


def _skill_row(found: ShelvedSkill) -> dict[str, object]:
    skill = found.skill
    return {
        "name": found.name,
        "state": found.state,
        "why": found.why,
        "description": skill.description if skill is not None else "",
        "hash": skill.digest if skill is not None else "",
        "problems": [*skill.problems] if skill is not None else [],
    }


# ── what waits for the owner ─────────────────────────────────────────────────────────────────────────────────────────


@router.get("/questions")
async def list_questions(caller: ToolKeeper) -> list[OpenQuestion]:
    """List the questions of the bot's that wait for an answer, the newest first."""
    at = caller.services.clock.now()
    found = await caller.services.database.read(lambda connection: approvals.list_open(connection, at))
    return [_render_question(each) for each in found]


@router.post("/questions/{number}")
async def answer_question(caller: ToolKeeper, number: Number, given: Answer) -> Answered:
    """Answer whether a tool call may run, as the question's button in its chat would, where the call is then made."""
    services, at = caller.services, caller.services.clock.now()

    def write(connection: Connection) -> Inbound:
        asked = next((each for each in approvals.list_open(connection, at) if each.id == number), None)
        if asked is None:
            raise HTTPException(404)
        if given.answer not in _find_answers(asked):
            raise HTTPException(409, Sentence("api.answered_in_chat"))
        mail = inbox_rows.load_pending(connection, "id = ?", int(str(asked.payload["asked"])))
        if not mail:
            raise HTTPException(409, Sentence("api.answered_in_chat"))
        origin = mail[0].inbound
        choice = Choice("", approvals.TOOL_CALL, f"{given.answer} {number}")
        pressers = Pressers(origin.channel, origin.chat, (asked.account,))
        value = add_press(connection, choice, pressers, guess_language(origin.text), at)
        return Inbound(
            channel=origin.channel,
            external_id=f"press:{secrets.token_hex(16)}",
            chat=origin.chat,
            user=asked.account,
            user_name=origin.user_name,
            text="",
            sent_at=at,
            private=origin.private,
            kind="action",
            value=value,
            thread=origin.thread,
        )

    if not await services.take(await services.database.write(write)):
        raise HTTPException(409, Sentence("api.answered_in_chat"))
    return Answered(id=number, answer=given.answer)


def _find_answers(asked: Approval) -> list[str]:
    """Return the answers that can be given to a question without its chat."""
    payload = asked.payload
    if asked.kind != approvals.TOOL_CALL or "name" not in payload or "wanted" in payload:
        return []
    return ["yes", "no", *(["always"] if payload.get("by_rule") else [])]


def _render_question(asked: Approval) -> OpenQuestion:
    return OpenQuestion(
        id=asked.id,
        session=asked.session,
        kind=asked.kind,
        call=str(asked.payload.get("call") or ""),
        expires=asked.expires.isoformat(),
        answers=_find_answers(asked),
    )


@router.get("/tasks")
async def list_tasks(caller: ToolKeeper) -> list[TaskLine]:
    """List the newest tasks in the background, the newest first."""
    found = await caller.services.database.read(lambda connection: tasks.newest_tasks(connection, _MOST_TASKS))
    return [
        TaskLine(
            id=each.id,
            title=each.title,
            state=each.state,
            channel=each.channel,
            chat=each.chat,
            begun=each.begun.isoformat(),
            ended=each.ended.isoformat() if each.ended is not None else None,
            is_open=each.is_open,
        )
        for each in found
    ]


@router.delete("/tasks/{number}")
async def cancel_task(caller: ToolKeeper, number: Number) -> TaskCancelled:
    """Cancel a task that is not over."""
    services, at = caller.services, caller.services.clock.now()

    def write(connection: Connection) -> None:
        task = tasks.get_task(connection, number)
        if task is None:
            raise HTTPException(404)
        if not tasks.cancel(connection, task, at):
            raise HTTPException(409, Sentence("api.not_open"))

    await services.database.write(write)
    services.note_changes(_TASKS_CHANGED)
    return TaskCancelled(id=number)
