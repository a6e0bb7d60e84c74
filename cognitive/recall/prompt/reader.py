"""Read memory for a prompt: the full load of its beginning, updates, procedures, and a search for the message."""

from kenobot.cognitive.recall.index.index import SideIndex
from kenobot.cognitive.recall.prompt.full_load import FullLoader
from kenobot.cognitive.recall.prompt.procedures import read_procedures
from kenobot.cognitive.recall.prompt.updates import read_updates
from kenobot.cognitive.recall.results.memory import PREFIX_SECTIONS, LoadMode, MemoryPack, MemoryQuery
from kenobot.cognitive.recall.results.render import search_pack
from kenobot.cognitive.recall.search.recall import recall
from kenobot.storage.connection import Connection


class MemoryReader:
    """Answer memory queries. For several threads."""

    def __init__(self, index: SideIndex | None = None) -> None:
        """index: where a search looks; without one, nothing is searched for."""
        self._index = index
        self._loader = FullLoader()

    def searches(self, mode: LoadMode, omitted: int) -> bool:
        """Return whether each message is searched for, since a full load of this mode omits some of memory."""
        return self._index is not None and (mode == "selective" or (mode == "auto" and omitted > 0))

    def read(self, connection: Connection, query: MemoryQuery) -> MemoryPack:
        """The sections that `query` asks for."""
        pack = MemoryPack()
        if PREFIX_SECTIONS & query.sections:
            pack += self._loader.load(connection, query, searchable=self._index is not None)
        if "updates" in query.sections and query.prefix is not None:
            searched = self.searches(query.mode, query.prefix.omitted)
            pack += read_updates(connection, query, query.prefix, searched=searched)
        if "procedures" in query.sections:
            pack += read_procedures(connection, query)
        if "recalled" in query.sections and self._index is not None:
            pack += search_pack(recall(connection, self._index, query))
        return pack
