"""Run a command of the shell in a workspace, confined."""

from pathlib import Path
from typing import ClassVar, Final

from pydantic import BaseModel, Field

from kenobot.ports.plugin import Plugin, PluginContext
from kenobot.ports.tool import ToolContext, ToolEffects
from kenobot.tools.workspace.confined_runner import ConfinedRunner
from kenobot.tools.workspace.sandbox import Confinement
from kenobot.tools.workspace.workspaces import InWorkspace, Workspaces

_MEGABYTE: Final = 1_000_000


class ShellSettings(BaseModel, extra="forbid"):
    """Bounds of a command. seconds: less than any tool may take."""

    memory_mb: int = Field(1000, ge=50, le=1_000_000)
    network: bool = False
    seconds: ClassVar[float] = 25
    processes: ClassVar[int] = 128
    file_mb: ClassVar[int] = 500


class ShellArguments(InWorkspace):
    command: str = Field(min_length=1, max_length=10_000, description="For /bin/sh, in the workspace.")


class Shell:
    """Runs a command by /bin/sh in a sandbox that sees the workspace at /work, and the machine's programs."""

    name = "shell"
    arguments = ShellArguments

    def __init__(self, settings: ShellSettings, workspaces: Workspaces, home: Path) -> None:
        self._settings, self._workspaces, self._home = settings, workspaces, home
        self._runner = ConfinedRunner(home)
        network = "with network" if settings.network else "without network"
        self.description = f"Run a command in a workspace, in a sandbox {network}; ended after {settings.seconds:g} s."

    @property
    def effects(self) -> ToolEffects:
        return ToolEffects(way_out=self._settings.network, asks_first=True, asks_always=True)

    async def run(self, arguments: ShellArguments, turn: ToolContext) -> str:
        """Run it and return its exit status, and what it printed."""
        wanted, folder = self._settings, self._workspaces.choose(arguments.workspace, turn)
        confinement = Confinement(
            folder.workspace.path,
            self._home,
            read_only=folder.workspace.read_only,
            network=wanted.network,
            seconds=wanted.seconds,
            memory=wanted.memory_mb * _MEGABYTE,
            processes=wanted.processes,
            file=wanted.file_mb * _MEGABYTE,
        )
        ended = await self._runner.run(["/bin/sh", "-c", arguments.command], folder, confinement)
        return ended.tell()


def _build(settings: ShellSettings, context: PluginContext) -> Shell:
    return Shell(settings, Workspaces.of(context), context.home)


plugin = Plugin(settings=ShellSettings, build=_build)
