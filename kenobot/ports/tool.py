"""The seam to tools that a model may call: entry points of the group `kenobot.tools`."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

from kenobot.ports.identity import Principal
from kenobot.ports.provider import Json, ToolResult, ToolSpec


@dataclass(frozen=True, slots=True)
class ToolEffects:
    """Effects of running a tool, as the guard against the lethal trifecta needs to know.

    A tool that declares nothing is taken for one that does all of it.
    """

    reads_private: bool = True
    brings_untrusted: bool = True
    way_out: bool = True
    changes_outside: bool = True


@dataclass(frozen=True, slots=True)
class ToolContext:
    """The turn in which a tool runs. call: names this run; a second run of the same id must change nothing more."""

    session: str
    principal: Principal
    call: str
    trace: str


class Tool(Protocol):
    """A function that a model may call."""

    @property
    def spec(self) -> ToolSpec: ...

    @property
    def effects(self) -> ToolEffects: ...

    async def run(self, arguments: Mapping[str, Json], turn: ToolContext) -> ToolResult:
        """Run once. A failure that the model may mend is a result with `failed`; raises RemoteError."""
        ...
