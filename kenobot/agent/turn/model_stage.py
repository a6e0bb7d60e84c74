"""Ask the models of a turn for a reply: with tools where they take them, and shown while it is written."""

import asyncio
import contextlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from datetime import datetime
from functools import partial
from typing import TYPE_CHECKING

from kenobot.agent.prompt.prompt_context import PromptContext
from kenobot.agent.turn.drafts import Drafts
from kenobot.agent.turn.pieces import ToolRound, continue_request, join_text, without_calls
from kenobot.agent.turn.tool_rounds import with_rounds
from kenobot.agent.turn.turn_data import TurnData
from kenobot.agent.turn.turn_services import TurnServices
from kenobot.core import texts
from kenobot.core.attachment_words import without_attachments
from kenobot.core.worker import TextWork
from kenobot.gateway.buttons import Choice
from kenobot.language.recall_need import recall_need
from kenobot.ports.errors import AccountRefused, OverBudget, PromptTooLong, Rejected
from kenobot.ports.provider import Reply, Request, ToolSpec
from kenobot.ports.tool import BACKGROUND
from kenobot.providers.pictures import shows_pictures, without_pictures
from kenobot.providers.tool_calls import without_tools
from kenobot.skills.library import READER
from kenobot.storage.connection import Connection

if TYPE_CHECKING:
    from kenobot.agent.turn.memory_report import MemoryReporter


class ModelStage:
    """Asks the models of turns. drafts: None shows no reply early. work: of the text that was cut."""

    def __init__(self, services: TurnServices, drafts: Drafts | None, work: TextWork) -> None:
        self._s = services
        self._drafts = drafts
        self._work = work
        self._reporter: MemoryReporter | None = None

    async def ask(self, data: TurnData, level: int, pieces: Sequence[Reply], rounds: Sequence[ToolRound]) -> Reply:
        """Ask for an answer, or for the rest of one. Of a piece that is cut, what the cut went through is dropped."""
        if data.first_call_at is None:
            data.first_call_at = self._s.clock.monotonic()
        await self._report_memory(data, level)
        await self._add_agenda(data, level)
        said, context = join_text(pieces), self.with_rounds(data, rounds)
        offered = self._select_tools(data, level)
        request = continue_request(context.request, said)
        request = replace(request, language=data.language, tools=offered or request.tools)
        listener = self._listener(data, context, said)
        if rounds and not offered:
            request = without_tools(request)
        if data.called_nothing and not offered:
            request = without_calls(request)
        if data.cut_short:
            data.cut_short = False
            await self._s.model.count_lost(request, data.calls)
        try:
            reply = await self._ask_for(data, request, level, len(said), self._time_first_word(data, listener))
        finally:
            if data.draft is not None:
                data.draft.stop()
        data.first_call_at = None  # the next piece has tries of its own
        if reply.whole:
            return reply
        answer = said + reply.text
        kept = await self._work.run(len(answer), lambda: self._s.pipeline.drop_cut(answer))
        return replace(reply, text=kept[len(said) :])

    async def _ask_for(
        self, data: TurnData, request: Request, level: int, said: int, listener: Callable[[str], None] | None
    ) -> Reply:
        """Ask a model; without what it refuses to take with the request, pictures or tools, and from then on."""
        data.sees_pictures = self._s.model.sees_pictures(level)
        if data.pictures_refused:
            request = without_pictures(request)

        async def ask(request: Request) -> Reply:
            reply = await self._s.model.ask(request, data.calls, level, said=said, on_text=listener)
            if request.tools:
                return reply if self._s.tools is None else self._s.tools.unwrap(reply)
            data.called_nothing = data.called_nothing or bool(reply.calls)
            return replace(reply, calls=())

        try:
            return await ask(request)
        except (OverBudget, PromptTooLong, AccountRefused) as error:
            data.over_budget = data.over_budget or isinstance(error, OverBudget)
            raise
        except Rejected:
            for simpler, note_refusal in self._simpler(data, request, level):
                with contextlib.suppress(Rejected):
                    reply = await ask(simpler)
                    note_refusal()
                    return reply
            raise

    def _simpler(self, data: TurnData, request: Request, level: int) -> Iterator[tuple[Request, Callable[[], None]]]:
        """Iterate over a request without each thing that a model may not take, and how to note that it does not."""

        def note_pictures() -> None:
            data.pictures_refused = True  # one of them may be damaged: shown again, it would cost every further answer

        if shows_pictures(request):
            yield without_pictures(request), note_pictures
        if request.tools and self._s.tools is not None:
            yield without_tools(request), partial(self._s.tools.find_refusal, level)

    def _select_tools(self, data: TurnData, level: int) -> tuple[ToolSpec, ...]:
        """Return the tools that provider number `level` is offered."""
        if self._s.tools is None or not self._s.model.calls_tools(level):
            return ()
        offered = self._s.tools.list_offered(data.principal, level)
        if self._s.tasks is None or not self._s.tasks.may_begin(data):
            offered = tuple(each for each in offered if each.name != BACKGROUND)
        if data.context is not None and data.context.shows_skills:
            return offered
        return tuple(each for each in offered if each.name != READER)

    def with_rounds(self, data: TurnData, rounds: Sequence[ToolRound]) -> PromptContext:
        """Return the prompt with the tool calls so far and what came of them."""
        assert data.context is not None
        effects = {} if self._s.tools is None or not rounds else self._s.tools.effects
        return with_rounds(data.context, rounds, effects, reduced=data.reduced)

    def _listener(self, data: TurnData, context: PromptContext, said: str) -> Callable[[str], None] | None:
        """Return what shows the reply while it is written; None where nothing does."""
        wanted = self._s.personal.of(data.pending.inbound).drafts and not data.as_file
        if self._drafts is None or data.renews is not None or data.task is not None or not wanted:
            return None
        data.draft = data.draft or self._drafts.open(data.pending, data.attempt)
        return None if data.draft is None else data.draft.listen(context, said, texts.HELD_BACK(data.language))

    def _time_first_word(self, data: TurnData, listener: Callable[[str], None] | None) -> Callable[[str], None]:
        """Return `listener`, which notes when the first word comes."""
        clock, began = self._s.clock, self._s.clock.monotonic()
        heard = False

        def hear(text: str) -> None:
            nonlocal heard
            if not heard:
                heard = True
                data.times.note_first_word(clock.monotonic() - began)
            if listener is not None:
                listener(text)

        return hear

    async def _report_memory(self, data: TurnData, level: int) -> None:
        """Add a report of memory to the request, once, for a provider that answers from one."""
        context, text = data.context, data.pending.inbound.text
        if self._s.memory_reporter is None or context is None or not self._s.model.reports_memory(level):
            return
        if data.task is not None:  # the message did to memory what it does when it came in
            return
        if data.report is None and recall_need(text) != "no_recall":
            if self._reporter is None:
                self._reporter = await asyncio.to_thread(self._s.memory_reporter)
            said = [line.text for line in context.plan.history if line.role == "user"]
            data.report = await self._reporter.report(data.pending, data.principal, "".join(said[-1:]), data.language)
        if data.report is not None and data.report.text and not context.reported:
            request = data.report.add_to(context.request)
            data.context = context.with_report(request, data.report.text, data.report.found)

    async def _add_agenda(self, data: TurnData, level: int) -> None:
        """Show a model what answers a question for days, once; the report of memory tells it to the others."""
        if data.context is None or data.context.has_agenda or self._s.model.reports_memory(level):
            return
        if recall_need(data.pending.inbound.text) == "no_recall":
            return
        from kenobot.agenda.day_question import asks_for_days  # noqa: PLC0415 - not needed to start

        now = self._s.clock.now()
        if not asks_for_days(without_attachments(data.pending.inbound.text).strip(), now.date()):
            return
        from kenobot.agent.turn.agenda_finding import AgendaAsker, add_agenda  # noqa: PLC0415 - few messages ask

        asker = AgendaAsker(data.pending, data.principal, data.language, now, self._s.zone)
        data.context = await add_agenda(data.context, self._s.database, asker)

    def settle_report(self, connection: Connection, data: TurnData, at: datetime) -> tuple[Choice, ...]:
        """Settle what a report told, in the transaction that commits the turn; return the buttons of its question."""
        if data.report is None or self._reporter is None:
            return ()
        return self._reporter.settle(connection, data, at)
