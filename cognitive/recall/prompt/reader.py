"""Read memory for a prompt: the full load of its beginning, updates, procedures, and a search for the message."""

from collections.abc import Callable

from kenobot.cognitive.recall.index.index import SideIndex
from kenobot.cognitive.recall.prompt.full_load import FullLoader
from kenobot.cognitive.recall.prompt.procedures import read_procedures
from kenobot.cognitive.recall.prompt.updates import read_updates
from kenobot.cognitive.recall.results.memory import NO_MEMORY, LoadMode, MemoryPack, MemoryQuery
from kenobot.cognitive.recall.results.render import search_pack
from kenobot.cognitive.recall.search.recall import recall
from kenobot.storage.connection import Connection
from kenobot.storage.conversation import PromptPrefix


class MemoryReader:
    """Answer memory queries. For several threads."""

    def __init__(self, index: SideIndex | None = None) -> None:
        """index: where a search looks; without one, nothing is searched for."""
        self._index = index
        self._loader = FullLoader()

    def searches(self, mode: LoadMode, omitted: int) -> bool:
        """Return whether each message is searched for, since a full load of this mode omits some of memory."""
        return self._index is not None and (mode == "selective" or (mode == "auto" and omitted > 0))

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
        """Search for the message; nothing without an index."""
        return NO_MEMORY if self._index is None else search_pack(recall(connection, self._index, query))
