"""Run commands in workspaces by the sandbox of the machine, which is looked for once."""

import asyncio
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from kenobot.ports.errors import ToolFailed
from kenobot.tools.workspace.folder import WorkspaceFolder
from kenobot.tools.workspace.run import Ended, run_confined
from kenobot.tools.workspace.sandbox import Confinement, Sandbox, find_sandbox

_LONGEST: Final = 30_000  # characters; Linux takes 128 KiB an argument


class ConfinedRunner:
    """Runs commands confined, or not at all."""

    def __init__(self, home: Path) -> None:
        self._home = home
        self._sandbox: Sandbox | None = None

    async def run(self, command: Sequence[str], folder: WorkspaceFolder, confinement: Confinement) -> Ended:
        """Run a command in a workspace that is there. Raises ToolFailed."""
        if any("\0" in part for part in command):
            raise ToolFailed("The command holds a NUL, which no program can be given.")
        if sum(map(len, command)) > _LONGEST:
            raise ToolFailed("The command is too long: do it in parts.")
        await asyncio.to_thread(folder.require_root)
        if self._sandbox is None:
            self._sandbox = await find_sandbox(Path(tempfile.gettempdir()))
        return await run_confined(command, self._sandbox, confinement)
