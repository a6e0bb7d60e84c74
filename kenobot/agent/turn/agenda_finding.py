"""Find what answers a question for an agenda or a log: for the report of memory, and for a model that is asked it."""

from dataclasses import replace
from datetime import datetime
from zoneinfo import ZoneInfo

from kenobot.agenda import answers
from kenobot.agenda.day_question import read_question
from kenobot.agenda.zones import zone_in_force
from kenobot.agent.prompt.prompt_context import PromptContext
from kenobot.agent.prompt.runtime_block import escape_runtime_block, runtime_block
from kenobot.cognitive.memory import MemoryReader, SearchReport
from kenobot.core.attachment_words import without_attachments
from kenobot.core.i18n import Language
from kenobot.ports.frozen import dataclass
from kenobot.ports.identity import Principal
from kenobot.ports.provider import Block
from kenobot.ports.records import Record
from kenobot.storage.connection import Connection
from kenobot.storage.database import Database
from kenobot.storage.inbox_rows import PendingMessage

AGENDA = "### What the agenda says"


@dataclass(frozen=True, slots=True)
class AgendaFinding:
    """Answer a question for days. text: "" for plans of which there are none. records: the memories in it.

    of_others: it holds words of others than the person.
    """

    text: str
    records: tuple[Record, ...] = ()
    of_others: bool = False

    def report(self, zone: ZoneInfo) -> SearchReport:
        """Return the memories as a search shows them."""
        return SearchReport(
            level="high", shown=tuple(MemoryReader.as_recalled(record, zone) for record in self.records)
        )


@dataclass(frozen=True, slots=True)
class AgendaAsker:
    """Describe the asker: who, where, when, and in which language. zone: of the settings."""

    pending: PendingMessage
    principal: Principal
    language: Language
    now: datetime
    zone: ZoneInfo

    def find(self, connection: Connection, text: str) -> AgendaFinding | None:
        """Find what answers a text; None where it asks for no days."""
        zone = zone_in_force(connection, self.zone, self.now, self.principal.role)
        inbound = self.pending.inbound
        account = "" if inbound.private else inbound.user
        asker = answers.Asker(self.principal.read_scopes, self.pending.session, account, self.now, zone)
        question = read_question(text, asker.today)
        if question is None:
            return None
        answer = answers.answer_question(connection, question, asker)
        records = tuple(entry.record for entry in answer.entries if entry.record is not None)
        of_others = any("of_others" in entry.marks or (entry.record and entry.record.by) for entry in answer.entries)
        return AgendaFinding(answers.render_answer(answer, self.language, asker.today), records, of_others)


async def add_agenda(context: PromptContext, database: Database, asker: AgendaAsker) -> PromptContext:
    """Show a model what answers the person's question for days."""
    text = without_attachments(asker.pending.inbound.text).strip()
    if not asker.principal.read_scopes:
        return context
    found = await database.read(lambda connection: asker.find(connection, text))
    if found is None or not found.text:
        return context
    last = context.request.messages[-1]
    block = Block(runtime_block(escape_runtime_block(f"{AGENDA}\n{found.text}")))
    messages = (*context.request.messages[:-1], replace(last, blocks=(*last.blocks, block)))
    request = replace(context.request, messages=messages)
    return context.with_agenda(
        request, found.text, MemoryReader.pack(found.report(asker.zone)), of_others=found.of_others
    )
