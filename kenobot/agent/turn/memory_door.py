"""Explain and forget memories for the tools of a turn, by the rules of the commands."""

from typing import TYPE_CHECKING
from zoneinfo import ZoneInfo

from kenobot.agent.commands.command import one_line, time_ago_text
from kenobot.cognitive.memory import AdmitContext, Memory
from kenobot.language.calendar import local_day
from kenobot.ports.clock import Clock
from kenobot.ports.errors import ToolFailed
from kenobot.ports.frozen import dataclass
from kenobot.ports.recall import Matches
from kenobot.ports.sentences import Sentence
from kenobot.storage.connection import Connection
from kenobot.storage.database import Database

if TYPE_CHECKING:
    from kenobot.agent.turn.turn_data import TurnData

_MOST = 5  # memories that are told
_NONE = "No memory has these words. Search memory first, and use its words."


@dataclass(frozen=True, slots=True)
class TurnMemory:
    """The memory of the speaker of a turn. zone: of the settings."""

    database: Database
    clock: Clock
    zone: ZoneInfo
    data: "TurnData"

    async def explain(self, text: str) -> str:
        """Tell where the memories that a text names come from, and since when they are known."""
        return await self.database.read(lambda connection: self._explain(connection, text))

    async def forget(self, text: str) -> str:
        """Forget the one memory that has these words."""
        return await self.database.write(lambda connection: self._forget(connection, text))

    def _find(self, connection: Connection, text: str) -> Matches:
        found = Matches(Memory().find(connection, text, self.data.principal.read_scopes)[:_MOST])
        if not found:
            raise ToolFailed(_NONE)
        return found

    def _explain(self, connection: Connection, text: str) -> str:
        at = self.clock.now()
        return "\n".join(
            f"- {one_line(record.text)} (memory {record.id}, from {record.origin}, "
            f"{time_ago_text(record.created, at, 'en')}, certain to {record.confidence:.0%})"
            for record in (each.record for each in self._find(connection, text))
        )

    def _forget(self, connection: Connection, text: str) -> str:
        found = self._find(connection, text)
        meant = found.certain
        if meant is None:
            choices = "\n".join(f"- {one_line(each.record.text)}" for each in found)
            raise ToolFailed(f"Several memories may be meant: give the whole words of one.\n{choices}")
        at, session = self.clock.now(), self.data.pending.session
        occasion = AdmitContext(at, local_day(at, self.zone), "model", session, evidence=self.data.pending.id)
        reach = self.data.principal.read_scopes
        done = Memory.forget(connection, meant.id, reach, occasion, reason=Sentence("reasons.tool_did"))
        if done is None:
            raise ToolFailed(_NONE)
        return f"Forgotten: {one_line(meant.text)}. The person can take that back with /undo."
