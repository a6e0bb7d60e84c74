"""Read memory for a prompt: the full load of its beginning, updates, procedures, and a search for the message."""

from collections.abc import Callable, Mapping, Sequence
from zoneinfo import ZoneInfo

from kenobot.cognitive.compact.shown_summary import (
    SUMMARY_HEADING,
    ConversationSummary,
    load_summary,
    summary_tokens_in,
)
from kenobot.cognitive.recall.index.index import SideIndex
from kenobot.cognitive.recall.prompt import usage
from kenobot.cognitive.recall.prompt.full_load import FullLoader, Scratchpad, read_scratchpad
from kenobot.cognitive.recall.prompt.procedures import read_procedures
from kenobot.cognitive.recall.prompt.updates import read_updates
from kenobot.cognitive.recall.results import render
from kenobot.cognitive.recall.results.memory import (
    NO_MEMORY,
    FormerMemory,
    MemoryPack,
    MemoryQuery,
    RecalledMemory,
    SearchReport,
)
from kenobot.cognitive.recall.results.render import search_pack
from kenobot.cognitive.store import events, records
from kenobot.language.question.question import parse_question
from kenobot.language.recall_need import is_question
from kenobot.ports.recall import Score
from kenobot.ports.records import Record
from kenobot.storage.connection import Connection
from kenobot.storage.conversation import has_other_talk
from kenobot.storage.prompt_prefix import PromptPrefix
from kenobot.storage.scopes import Scopes


class MemoryReader:
    """Answer memory queries. For several threads."""

    def __init__(self, index: SideIndex | None = None) -> None:
        """index: where a search looks; without one, nothing is searched for."""
        self._index = index
        self._loader = FullLoader()

    def searches(self, omitted: int, text: str = "") -> bool:
        """Return whether a message is searched for: the full load omits some of memory, or it asks.

        What is asked may have been said and not remembered, or have been replaced.
        """
        return self._index is not None and (omitted > 0 or is_question(text) or _asks_past(text))

    def load(self, connection: Connection, query: MemoryQuery) -> MemoryPack:
        """Load what the frozen beginning of a prompt shows."""
        return self._loader.load(connection, query, searchable=self._index is not None)

    def updates(self, connection: Connection, query: MemoryQuery, prefix: PromptPrefix) -> MemoryPack:
        """Read what became known since `prefix` was made."""
        return read_updates(connection, query, prefix, searched=self.searches(prefix.omitted))

    def procedures(self, connection: Connection, query: MemoryQuery, on_show: Callable[[], str]) -> MemoryPack:
        """Read the procedures that fit the message. on_show: makes the text of memory that the prompt shows already."""
        return read_procedures(connection, query, on_show)

    def search(self, connection: Connection, query: MemoryQuery) -> MemoryPack:
        """Search for the message; nothing without an index, nor where the prompt shows all that there is.

        A message that asks for nothing is told of no failure.
        """
        if self._index is None or _shows_everything(connection, query):
            return NO_MEMORY
        from kenobot.cognitive.recall.search.recall import recall_with_queries  # noqa: PLC0415 - not needed to start

        report = recall_with_queries(connection, self._index, query)
        tells = report.shown or report.former or (query.question.asks and not query.all_shown)
        return search_pack(report) if tells else NO_MEMORY

    def judge(self, query: MemoryQuery, memories: Sequence[RecalledMemory]) -> Mapping[int, float] | None:
        """Estimate how likely each memory that a search found answers its question; None where that is not known."""
        if self._index is None:
            return None
        from kenobot.cognitive.recall.search.judge import judge_memories  # noqa: PLC0415 - not needed to start

        return judge_memories(self._index, query, memories)

    # ── the summary of what is no longer shown ───────────────────────────────────────────────────────────────────────

    @staticmethod
    def load_summary(connection: Connection, session: str, tokens: int, reads: Sequence[str]) -> ConversationSummary:
        """Load the summary of a conversation within so many tokens, for a reader of these scopes."""
        return load_summary(connection, session, tokens, reads)

    @staticmethod
    def has_summary(text: str) -> bool:
        """Return whether a text of a prompt has the summary of a conversation."""
        return SUMMARY_HEADING in text

    @staticmethod
    def count_summary(text: str) -> int:
        """Count the tokens that the summary takes in a text of a prompt."""
        return summary_tokens_in(text)

    # ── what a prompt shows, and showed ──────────────────────────────────────────────────────────────────────────────

    @staticmethod
    def read_scratchpad(connection: Connection, chat: str) -> Scratchpad | None:
        """Read the working memory of a chat."""
        return read_scratchpad(connection, chat)

    @staticmethod
    def list_in_prefix(connection: Connection, session: str) -> list[int] | None:
        """List the records that a chat's prompt prefix shows; None when the log does not reach back to it."""
        return usage.prefix_records(connection, session)

    @staticmethod
    def last_numbers(connection: Connection) -> tuple[int, int]:
        """Return the numbers of the newest event and record: what a prompt made now knows of."""
        return events.last_event(connection), records.last_record(connection)

    @staticmethod
    def knows_anything(connection: Connection, reach: Scopes) -> bool:
        """Return whether there is a live memory within reach."""
        return any(records.iterate_newest_live(connection, reach, 1))

    @staticmethod
    def render_record(record: Record) -> str:
        """Render the text of a record, quoted where it is untrusted."""
        return render.render_record(record)

    @staticmethod
    def pack(report: SearchReport) -> MemoryPack:
        """Make the section of a prompt that shows a search."""
        return search_pack(report)

    @staticmethod
    def find_former(
        connection: Connection, found: Sequence[RecalledMemory], query: MemoryQuery
    ) -> tuple[FormerMemory, ...]:
        """Find what these memories took the place of, in the room they leave; for what was so before alone."""
        from kenobot.cognitive.recall.search.former import find_former  # noqa: PLC0415 - seldom needed

        room = (query.budget or query.policy.recall.budget) - sum(each.tokens for each in found)
        return find_former(connection, [each.record for each in found], query, room)

    @staticmethod
    def as_recalled(record: Record, zone: ZoneInfo) -> RecalledMemory:
        """Return a record as a search shows what it found by its subject."""
        line = render.render_memory(record, record.confidence, zone)
        return RecalledMemory(record, Score(1.0, {}), 1.0, ("subject",), line=line)


def _asks_past(text: str) -> bool:
    question = parse_question(text)
    return question.asks_past and question.asks


def _shows_everything(connection: Connection, query: MemoryQuery) -> bool:
    """Return whether the prompt shows all memories and all talk, as in a home that is new; not what was replaced."""
    first = query.from_message
    if not query.all_shown or first is None or query.asks_past:
        return False
    return not has_other_talk(connection, query.session, first)
