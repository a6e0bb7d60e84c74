"""Choose the workspace of a call, for the owner in private alone."""

from pydantic import Field

from kenobot.ports.errors import ConfigError, ToolFailed
from kenobot.ports.frozen import dataclass
from kenobot.ports.identity import OWNER_SCOPE
from kenobot.ports.plugin import PluginContext
from kenobot.ports.tool import ToolArguments, ToolContext
from kenobot.tools.workspace.folder import WorkspaceFolder

_NONE = "tools.no_workspace"
_PRIVATE = "The workspaces are the owner's, and are shown in their private chat alone."


class InWorkspace(ToolArguments):
    workspace: str = Field("", max_length=64, description="Which of several.")


@dataclass(frozen=True, slots=True)
class Workspaces:
    """The workspaces of the settings by name."""

    folders: dict[str, WorkspaceFolder]  # bounded: the settings; start

    @classmethod
    def of(cls, context: PluginContext) -> "Workspaces":
        """Open none yet: a folder may come later, on a disk that is not there at the start.

        Raises ConfigError where there is none.
        """
        if not context.workspaces:
            raise ConfigError(_NONE)
        try:
            home = context.home.stat()
        except OSError:
            guarded = frozenset[tuple[int, int]]()
        else:
            guarded = frozenset({(home.st_dev, home.st_ino)})
        return cls({each.name: WorkspaceFolder(each, guarded) for each in context.workspaces})

    def choose(self, name: str, turn: ToolContext) -> WorkspaceFolder:
        """Return the workspace of a name, or the only one there is. Raises ToolFailed."""
        if turn.principal.role != "owner" or OWNER_SCOPE not in turn.principal.read_scopes:
            raise ToolFailed(_PRIVATE)
        if not name and len(self.folders) == 1:
            return next(iter(self.folders.values()))
        if name in self.folders:
            return self.folders[name]
        asked = f'There is no workspace "{name}"' if name else "Name the workspace"
        raise ToolFailed(f"{asked}: there are {', '.join(self.folders)}.")

    def describe(self) -> str:
        """Name the workspaces, for a description; "" without any."""
        read_only = {name for name, each in self.folders.items() if each.workspace.read_only}
        names = (f"{name} (read-only)" if name in read_only else name for name in self.folders)
        return f" Workspaces: {', '.join(names)}." if self.folders else ""
