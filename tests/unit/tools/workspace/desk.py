"""A workspace beside the home of a bot, and the tools that work in it."""

import shutil
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from kenobot.agent.media.fetched import read_fetched
from kenobot.agent.turn.toolbox import PreparedTool, validate_arguments
from kenobot.ports.errors import ToolFailed
from kenobot.ports.json_value import Json
from kenobot.ports.plugin import PluginContext
from kenobot.ports.provider import ToolCall
from kenobot.ports.workspace import Workspace
from kenobot.tools.workspace import files, git, shell
from kenobot.tools.workspace.sandbox import find_sandbox
from kenobot_testing.clock import ManualClock
from kenobot_testing.tool import AnyTool, tool_context
from tests.constants import with_constants

SECRET = "sk-of-the-bot-itself"

no_bubblewrap = pytest.mark.skipif(shutil.which("bwrap") is None, reason="bubblewrap is not installed")
no_git = pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")


async def require_sandbox(folder: Path) -> None:
    """Skip where the machine lets nothing make namespaces."""
    try:
        await find_sandbox(folder)
    except ToolFailed as error:
        pytest.skip(str(error))


@dataclass(frozen=True)
class Desk:
    """A folder that is the workspace "desk", and beside it the home, with a secret."""

    work: Path
    home: Path
    context: PluginContext

    @classmethod
    def make(cls, folder: Path, *, read_only: bool = False) -> "Desk":
        work, home = folder / "work", folder / "home"
        work.mkdir()
        home.mkdir()
        (home / "kenobot.toml").write_text(SECRET)
        workspaces = (Workspace("desk", work.resolve(), read_only),)
        return cls(work, home, PluginContext(home, ManualClock(), "KenoBot", workspaces=workspaces))

    def tool(self, name: str, **settings: Any) -> AnyTool:
        """Build a tool as the bot does."""
        match name:
            case "shell":
                return shell.plugin.build(with_constants(shell.ShellSettings, **settings), self.context)
            case "git":
                return git.plugin.build(with_constants(git.GitSettings, **settings), self.context)
        plugin = getattr(files, name)
        built: AnyTool = plugin.build(plugin.settings(), self.context)
        return built

    async def call(self, name: str, tool: AnyTool | None = None, **arguments: Json) -> str:
        """Call a tool as a model does; what it is refused is told as "failed: …"."""
        used = tool or self.tool(name)
        parsed = validate_arguments(PreparedTool.of(used), ToolCall("call-1", name, arguments))
        if isinstance(parsed, str):
            return f"failed: {parsed}"
        try:
            return await used.run(parsed, replace(tool_context(), read_document=read_fetched))
        except ToolFailed as error:
            return f"failed: {error}"
