"""Run the tool calls of a reply, in their order, each once however often the turn is taken up again."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import partial
from zoneinfo import ZoneInfo

from pydantic import BaseModel

from kenobot.agent.commands.command import Command
from kenobot.agent.media.fetched import read_fetched
from kenobot.agent.prompt.prompt_context import PromptContext
from kenobot.agent.safety.trifecta import limit_exposure
from kenobot.agent.turn import tool_consent, tool_input, tool_policy
from kenobot.agent.turn.agenda_door import TurnAgenda
from kenobot.agent.turn.background import MOST_OPEN, TaskWaits
from kenobot.agent.turn.given_address import is_given
from kenobot.agent.turn.memory_door import TurnMemory
from kenobot.agent.turn.more_tools import unwrap_call
from kenobot.agent.turn.pieces import ToolRound
from kenobot.agent.turn.skill_door import TurnSkills
from kenobot.agent.turn.tool_refusals import (
    ASKS_FIRST,
    CANNOT_ASK,
    DENIED,
    HELD,
    HELD_BACK,
    INTERRUPTED,
    NO_WAY_OUT,
    NOT_RUN,
    RULE_ASKS,
)
from kenobot.agent.turn.tool_rounds import first_number, with_rounds
from kenobot.agent.turn.toolbox import PreparedTool, Toolbox, bound_call, make_failure, validate_arguments
from kenobot.agent.turn.turn_data import TurnData
from kenobot.cognitive.memory import MemoryPack
from kenobot.core.bus import Bus
from kenobot.core.redaction import Redactor, escape_controls
from kenobot.core.settings.schema import ToolRule
from kenobot.gateway.buttons import Choice
from kenobot.ports.channel import Channel, capabilities_of
from kenobot.ports.clock import Clock
from kenobot.ports.identity import Principal
from kenobot.ports.provider import Reply, ToolCall, ToolResult, ToolSpec
from kenobot.ports.signals import TOOL_RAN
from kenobot.ports.tool import BACKGROUND, NoSkills, ToolContext, ToolEffects
from kenobot.ports.tool_input import GivenInput, InputWanted
from kenobot.skills.library import SkillLibrary
from kenobot.storage import approvals, claims, tasks, tool_grants, tool_runs, turn_steps
from kenobot.storage.connection import Connection
from kenobot.storage.database import Database
from kenobot.storage.tool_runs import ToolOutcome, ToolRun

_log = logging.getLogger(__name__)

_UNKNOWN = "There is no tool called {name!r}."
_TOO_MANY = "No more than {most} tools may be called at once."
_LAST = "No more tools may be called for this answer: give it with what is known, and say what could not be done."
_NO_TIME = "The time for tools of one answer is used up."
_USED_UP = "Not run: {most} tool calls were made today, and the owner's settings allow no more. Tell the person."
_NO_NESTING = "This is a task in the background already: do it here."
_NO_ROOM = f"Not begun: the person has {MOST_OPEN} tasks that are not over. Tell them; `/tasks` lists and cancels them."
_MOST_BESIDE = 4  # calls that run beside each other
_LOGGED_CALL, _LOGGED_RESULT = 2000, 300  # characters
_REFUSED_SECONDS = 3600.0  # for which a model that refused tools is offered none

SearchMemory = Callable[[str, Principal, str], Awaitable[MemoryPack]]


@dataclass(slots=True)
class ToolStage:
    """Offer the tools of a turn, and run those that are called. search_memory: of a query, speaker and session.

    rules: the owner's, the first that matches counts. skills: those that a tool may read. channels: tell by their
    capabilities where buttons can be pressed.
    """

    toolbox: Toolbox
    database: Database
    bus: Bus
    clock: Clock
    zone: ZoneInfo
    redact: Redactor
    search_memory: SearchMemory
    rules: Sequence[ToolRule] = ()
    skills: SkillLibrary | None = None
    channels: Mapping[str, Channel] = field(default_factory=dict)  # bounded: those that are enabled; start
    # bounded: one a provider; test_a_model_without_tools_answers_without_them
    _refused: dict[int, float] = field(default_factory=dict)
    _asked_in: approvals.OpenSessions = field(default_factory=lambda: approvals.OpenSessions(approvals.TOOL_CALL))
    _today: datetime | None = None
    _ran_today: int = 0

    def list_offered(self, principal: Principal, level: int) -> tuple[ToolSpec, ...]:
        """Return the tools for provider number `level`; none while it is known to take none."""
        until = self._refused.get(level)
        return () if until is not None and self.clock.monotonic() < until else self.toolbox.list_offered(principal)

    def unwrap(self, reply: Reply) -> Reply:
        """Return a reply with its calls bounded; those of tools that were found on demand name these."""
        calls = tuple(unwrap_call(bound_call(call)) for call in reply.calls)
        return replace(reply, calls=calls) if calls else reply

    def find_refusal(self, level: int) -> None:
        """Note that a provider takes requests without tools only."""
        _log.warning("the model of provider %d takes no tools: it is offered none for an hour", level)
        self._refused[level] = self.clock.monotonic() + _REFUSED_SECONDS

    def note_held_back(self, data: TurnData, rounds: Sequence[ToolRound]) -> None:
        """Note which call of a turn the owner has to be asked about, and of which calls nobody knows what they did."""
        if data.task is None:  # that of a task is asked about when the call is made
            data.held_back = tool_consent.find_wanted_call(rounds)
            data.form = tool_input.find_wanted(rounds) if data.held_back is None else None
        ended = ((call.name, result) for each in rounds for call, result in zip(each.calls, each.results, strict=True))
        data.interrupted = tuple(dict.fromkeys(name for name, result in ended if result.text == INTERRUPTED))

    def question(self, data: TurnData) -> str:
        """Word the question whether it may run, or what a tool wants to know; "" where there is none."""
        if data.form is not None:
            return tool_input.word_question(data.form, data.language)
        return tool_consent.question(data) if data.held_back is not None else ""

    def ask(self, connection: Connection, data: TurnData, at: datetime) -> tuple[Choice, ...]:
        """Open that question, in the transaction that commits the turn; return its buttons."""
        if data.form is not None:
            self._asked_in.note(data.pending.session)
            return tool_input.ask(connection, data, data.form, at)
        return tool_consent.ask(connection, data, at)

    async def resume(self, data: TurnData) -> tuple[Reply, ...] | Command:
        """Return a piece that makes the call to which the message of a turn says yes, or what it answered a tool.

        Returns the command that puts the next question of a tool, if there is one; () where it is no such answer.
        """
        answer = tool_consent.read_answer(data)
        if answer is not None and (piece := await self._allow(data, answer)):
            return piece
        now = self.clock.now()
        if not await self._asked_in.may_hold(self.database, data.pending.session):
            return ()
        if not await self.database.read(lambda connection: tool_input.is_asked(connection, data, now)):
            return ()
        going_on = await self.database.write(lambda connection: tool_input.go_on(connection, data, now))
        return (going_on,) if isinstance(going_on, Reply) else going_on or ()

    async def _allow(self, data: TurnData, answer: tool_consent.ConsentAnswer) -> tuple[Reply, ...]:
        now, message = self.clock.now(), data.pending.id

        def write(connection: Connection) -> Reply | None:
            call = tool_consent.answer_question(connection, data, answer, now)
            if call is None:
                return None
            piece = Reply("", "tool_use", calls=(call,))
            turn_steps.append_step(connection, message, 0, piece, now, attempt=data.attempt)
            return piece

        piece = await self.database.write(write)
        return () if piece is None else (piece,)

    @property
    def effects(self) -> Mapping[str, ToolEffects]:
        """Return the effects of each tool by its name."""
        return self.toolbox.effects

    async def run_round(
        self, data: TurnData, rounds: Sequence[ToolRound], pieces: Sequence[Reply], *, is_last: bool
    ) -> tuple[ToolResult, ...]:
        """Return the results of the calls of the last piece. is_last: run none, the rounds are used up.

        What an earlier attempt stored is not run again; what it may have done is not done again. Calls that only read
        run beside each other, the others in the order of the model.
        """
        calls, number = pieces[-1].calls, first_number(rounds) + len(pieces)
        is_last = is_last or (data.task is not None and data.task.ends_soon())
        for group in self._group(data, calls):
            runs = (self._settle(data, rounds, calls[at], number + 2 * at, at, is_last=is_last) for at in group)
            ended = await asyncio.gather(*runs, return_exceptions=True)
            for error in filter(None, ended):
                raise error
        return tuple(data.tools.results[number + 2 * place + 1] for place in range(len(calls)))

    def _group(self, data: TurnData, calls: Sequence[ToolCall]) -> Iterator[list[int]]:
        """Iterate over the places of calls that may run beside each other."""
        group: list[int] = []
        for place, call in enumerate(calls):
            found = self.toolbox.find(call.name, data.principal)
            reads = found is not None and not found.effects.changes_outside
            if group and not (reads and len(group) < _MOST_BESIDE):
                yield group
                group = []
            group.append(place)
            if not reads:
                yield group
                group = []
        if group:
            yield group

    async def _settle(
        self, data: TurnData, rounds: Sequence[ToolRound], call: ToolCall, at: int, place: int, *, is_last: bool
    ) -> None:
        """Run the call of step `at`, unless it has a result, and store that. place: of the call in its reply."""
        journal = data.tools
        if at + 1 not in journal.results:
            if is_last or place >= self.toolbox.limits.calls:
                result = make_failure(call.id, _LAST if is_last else _TOO_MANY.format(most=self.toolbox.limits.calls))
            else:
                result = await self._run_call(data, rounds, call, at)
            journal.results[at + 1] = result
        if at + 1 not in journal.stored:
            await self._store_result(data, at + 1, call)
            journal.stored.add(at + 1)

    async def _run_call(self, data: TurnData, rounds: Sequence[ToolRound], call: ToolCall, at: int) -> ToolResult:
        """Run one call, or say why not."""
        if call.problem:
            return make_failure(call.id, call.problem)
        prepared = self.toolbox.find(call.name, data.principal)
        if at in data.tools.begun and (prepared is None or prepared.effects.changes_outside):
            data.tools.took[at + 1] = 0.0
            return make_failure(call.id, INTERRUPTED)
        if prepared is None:
            return make_failure(call.id, _UNKNOWN.format(name=call.name[:80]))
        arguments = validate_arguments(prepared, call)
        if isinstance(arguments, str):
            return make_failure(call.id, arguments)
        if call.name == BACKGROUND and (problem := await self._find_background_problem(data)):
            return make_failure(call.id, problem)
        limits = self.toolbox.limits
        left = (limits.total_seconds if data.task is None else 60 * data.task.limits.minutes) - data.tools.seconds
        if left <= 0:
            return make_failure(call.id, _NO_TIME)
        if await self._count_today() >= limits.calls_a_day:
            return make_failure(call.id, _USED_UP.format(most=limits.calls_a_day))
        refusal = await self._find_refusal(data, prepared, call, rounds, at)
        if refusal is not None:
            if data.task is not None and refusal in HELD:
                raise TaskWaits(call, refusal, at)
            await self._announce(data, call, "refused", 0.0)
            return make_failure(call.id, refusal)
        if at not in data.tools.begun:
            await self._store_beginning(data, at, call, prepared.effects)
        context = ToolContext(
            data.pending.session,
            data.principal,
            call.id,
            data.pending.trace,
            self.clock.now().astimezone(self.zone),
            lambda query: self._search(data, prepared, query),
            TurnAgenda(self.database, self.clock, self.zone, data),
            TurnMemory(self.database, self.clock, self.zone, data),
            partial(read_fetched, now=self.clock.now()),
            limits.result_chars,
            NoSkills() if self.skills is None else TurnSkills(self.database, self.skills, data.principal),
            may_ask=tool_input.may_ask(data),
            given=tool_input.read_given(call),
        )
        if data.task is not None:
            await data.task.note(call.name)
        self._ran_today += 1
        began = self.clock.monotonic()
        result = await self._run(prepared, arguments, call, context, min(limits.seconds, left))
        took = self.clock.monotonic() - began
        data.tools.seconds += took
        data.tools.took[at + 1] = took
        await self._announce(data, call, "failed" if result.failed else "done", took)
        text = self.redact(result.text)
        if text in NOT_RUN or text == INTERRUPTED:  # a server's words: this call was run to its end
            text = f"It said: {text}"
        return replace(result, id=call.id, text=text)

    async def _run(
        self, prepared: PreparedTool, arguments: BaseModel, call: ToolCall, context: ToolContext, seconds: float
    ) -> ToolResult:
        """Run a tool; where it wants to know something of the owner, it waits, or goes on without a secret."""
        try:
            return await self.toolbox.run(prepared, arguments, context, seconds)
        except InputWanted as wanting:
            if not tool_input.asks_secret(wanting.wanted):
                return tool_input.suspend(call, wanting.wanted)
            declined = replace(context, may_ask=False, given=GivenInput(wanting.wanted.state, {}, declined=True))
        result = await self.toolbox.run(prepared, arguments, declined, seconds)
        return replace(result, text=f"{tool_input.DECLINED}\n{result.text}")

    async def _find_refusal(
        self, data: TurnData, prepared: PreparedTool, call: ToolCall, rounds: Sequence[ToolRound], at: int
    ) -> str | None:
        """Return why a call is not run now, by the owner's rules and what the model was shown; None to run it."""
        assert data.context is not None
        decision = tool_policy.decide(self.rules, call, prepared.effects, private=data.pending.inbound.private)
        if decision == "deny":
            return DENIED  # also of a call that the owner said yes to before they changed the rules
        if call.given or await self._has_consent(data, call, at):  # what is given answers a call that was allowed
            return None
        context = with_rounds(data.context, rounds, self.effects)
        may_ask, shown = self._may_ask(data, call, context), context.exposure
        leads_out = prepared.effects.way_out and not is_given(call, prepared.effects, data, rounds)
        if leads_out and not limit_exposure(replace(shown, way_out=True)).way_out:
            return HELD_BACK if may_ask else NO_WAY_OUT
        if prepared.effects.asks_first and shown.untrusted:
            return ASKS_FIRST if may_ask else CANNOT_ASK
        if decision == "allow" or await self._has_grant(data, call):
            return None
        return RULE_ASKS if may_ask else CANNOT_ASK

    def _may_ask(self, data: TurnData, call: ToolCall, context: PromptContext) -> bool:
        """Return whether the owner can be asked where they speak: others of a group read the question as well."""
        inbound, shown = data.pending.inbound, tool_consent.describe_call(call)
        channel = self.channels.get(inbound.channel)
        has_buttons = channel is not None and capabilities_of(channel).buttons
        if not inbound.private and (context.private_results or not has_buttons):
            return False
        return tool_consent.may_ask(data, call) and self.redact.redact_known(shown) == shown

    async def _has_grant(self, data: TurnData, call: ToolCall) -> bool:
        """Return whether the owner, who speaks, allowed this very call for good."""
        if data.principal.role != "owner":
            return False
        described = tool_consent.describe_call(call)
        return await self.database.read(lambda connection: tool_grants.has_grant(connection, described))

    async def _has_consent(self, data: TurnData, call: ToolCall, at: int) -> bool:
        """Return whether the owner said yes to this very call; that is used up, and the call begun, at once."""
        if at in data.tools.begun:  # before a crash, of a call that may be run again
            return True
        if data.task is not None:
            return await self._has_consent_for_task(data, data.task.task.id, call, at)
        if tool_consent.read_answer(data) not in ("yes", "always"):
            return False
        now = self.clock.now()

        def write(connection: Connection) -> bool:
            given = tool_consent.take_consent(connection, data, call, now)
            if given:
                self._write_beginning(connection, data, at, call, now)
            return given

        given = await self.database.write(write)
        if given:
            data.tools.begun.add(at)
        return given

    async def _has_consent_for_task(self, data: TurnData, task: int, call: ToolCall, at: int) -> bool:
        """Return whether the owner said yes to this very call of a task; that is used up, and the call begun."""
        described, now = tool_consent.describe_call(call), self.clock.now()

        def write(connection: Connection) -> bool:
            given = tasks.take_consent(connection, task, described)
            if given:
                self._write_beginning(connection, data, at, call, now)
            return given

        found = await self.database.read(lambda connection: tasks.get_task(connection, task))
        if found is None or found.consent != described or not await self.database.write(write):
            return False
        data.tools.begun.add(at)
        return True

    async def _find_background_problem(self, data: TurnData) -> str:
        """Return why no task may be begun by this turn; "" where one may."""
        if data.task is not None:
            return _NO_NESTING
        account = data.pending.inbound.user
        open_tasks = await self.database.read(lambda connection: tasks.count_open(connection, account))
        return _NO_ROOM if open_tasks >= MOST_OPEN else ""

    async def _search(self, data: TurnData, prepared: PreparedTool, query: str) -> str:
        if not prepared.effects.reads_private:
            raise PermissionError(f"{prepared.spec.name} reads memory and does not declare it")
        found = await self.search_memory(query, data.principal, data.pending.session)
        assert data.context is not None
        shown = MemoryPack({}, found.texts, found.entries)  # by the result of the tool, not beside the message
        data.context = replace(data.context, plan=data.context.plan.add_memory(shown))
        return found["recalled"]

    async def _store_beginning(self, data: TurnData, at: int, call: ToolCall, effects: ToolEffects) -> None:
        """Store that a call begins: one that changes something is not run again, one that leads out is told."""
        now = self.clock.now()
        if effects.changes_outside:
            await self.database.write(lambda connection: self._write_beginning(connection, data, at, call, now))
            data.tools.begun.add(at)
        elif effects.way_out:
            run = self._describe_run(data, at + 1, call, "begun", now)

            def write(connection: Connection) -> None:
                claims.require_claim(connection, data.pending.id, data.attempt)
                tool_runs.add_run(connection, run)

            await self.database.write(write)

    def _write_beginning(self, connection: Connection, data: TurnData, at: int, call: ToolCall, now: datetime) -> None:
        """Write down that a call begins, also for the owner: a turn that is stopped stores no result."""
        turn_steps.append_step(connection, data.pending.id, at, call, now, attempt=data.attempt)
        tool_runs.add_run(connection, self._describe_run(data, at + 1, call, "begun", now))

    def _describe_run(
        self, data: TurnData, number: int, call: ToolCall, outcome: ToolOutcome, now: datetime, told: str = ""
    ) -> ToolRun:
        pending, took = data.pending, data.tools.took.get(number, 0.0)
        described = self.redact(tool_consent.describe_call(call) + tool_input.describe_given(call))[:_LOGGED_CALL]
        told = escape_controls(told[:_LOGGED_RESULT])
        return ToolRun(pending.id, number, pending.session, call.name[:64], described, outcome, told, took, now)

    async def _store_result(self, data: TurnData, number: int, call: ToolCall) -> None:
        """Store the result of a call, and the call itself for the owner to read later."""
        result, pending, now = data.tools.results[number], data.pending, self.clock.now()
        outcome: ToolOutcome = "done" if not result.failed else "failed" if number in data.tools.took else "refused"
        run = self._describe_run(data, number, call, outcome, now, result.text)

        def write(connection: Connection) -> None:
            turn_steps.append_step(connection, pending.id, number, result, now, attempt=data.attempt)
            tool_runs.add_run(connection, run)

        await self.database.write(write)

    async def _count_today(self) -> int:
        """Count the calls since midnight in the owner's zone: what is stored once a day, then those of every turn."""
        today = self.clock.now().astimezone(self.zone).replace(hour=0, minute=0, second=0, microsecond=0)
        if self._today != today:
            since = today.astimezone(UTC)
            counted = await self.database.read(lambda connection: tool_runs.count_runs(connection, since))
            if self._today != today:  # no other call has counted meanwhile
                self._today, self._ran_today = today, counted
        return self._ran_today

    async def _announce(self, data: TurnData, call: ToolCall, end: str, took: float) -> None:
        seconds = round(took, 3)
        await self.bus.emit(TOOL_RAN, "loop", data.pending.trace, tool=call.name, result=end, seconds=seconds)
