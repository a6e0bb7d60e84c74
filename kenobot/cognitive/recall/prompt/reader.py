"""Read memory for a prompt: the full load of its beginning, updates, procedures, and a search for the message."""

from collections.abc import Callable

from kenobot.cognitive.recall.index.index import SideIndex
from kenobot.cognitive.recall.prompt.full_load import FullLoader
from kenobot.cognitive.recall.prompt.procedures import read_procedures
from kenobot.cognitive.recall.prompt.updates import read_updates
from kenobot.cognitive.recall.question.asking import asks
from kenobot.cognitive.recall.results.memory import NO_MEMORY, LoadMode, MemoryPack, MemoryQuery
from kenobot.cognitive.recall.results.render import search_pack
from kenobot.cognitive.recall.search.fusion import recall_with_queries
from kenobot.language.recall_need import is_question
from kenobot.storage.connection import Connection
from kenobot.storage.conversation import PromptPrefix


class MemoryReader:
    """Answer memory queries. For several threads."""

    def __init__(self, index: SideIndex | None = None) -> None:
        """index: where a search looks; without one, nothing is searched for."""
        self._index = index
        self._loader = FullLoader()

    def searches(self, mode: LoadMode, omitted: int, text: str = "") -> bool:
        """Return whether a message is searched for: a full load of this mode omits some of memory, or it asks.

        What is asked may have been said and not remembered.
        """
        return self._index is not None and (
            mode == "selective" or (mode == "auto" and (omitted > 0 or is_question(text)))
        )

    def load(self, connection: Connection, query: MemoryQuery) -> MemoryPack:
        """Load what the frozen beginning of a prompt shows."""
        return self._loader.load(connection, query, searchable=self._index is not None)

    def updates(self, connection: Connection, query: MemoryQuery, prefix: PromptPrefix) -> MemoryPack:
        """Read what became known since `prefix` was made."""
        return read_updates(connection, query, prefix, searched=self.searches(query.mode, prefix.omitted))

    def procedures(self, connection: Connection, query: MemoryQuery, on_show: Callable[[], str]) -> MemoryPack:
        """Read the procedures that fit the message. on_show: makes the text of memory that the prompt shows already."""
        return read_procedures(connection, query, on_show)

    def search(self, connection: Connection, query: MemoryQuery) -> MemoryPack:
        """Search for the message; nothing without an index. A message that asks for nothing is told of no failure."""
        if self._index is None:
            return NO_MEMORY
        report = recall_with_queries(connection, self._index, query)
        return search_pack(report) if report.shown or (asks(query.text) and not query.all_shown) else NO_MEMORY
