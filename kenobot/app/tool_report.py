"""Report which tools, workspaces and MCP servers of the settings are off, and why."""

from collections.abc import Iterator

from kenobot.core.settings.load import ResolvedSettings
from kenobot.core.settings.workspaces import resolve_workspaces
from kenobot.ports.sentences import Sentence, join_lines


def find_unusable(loaded: ResolvedSettings) -> Iterator[tuple[str, str]]:
    """Yield what is off and why, each by its name or its section. Looks at the folders of workspaces.

    Of tools, those that could not be built so far.
    """
    for section, why in loaded.left_out.items():
        if section.startswith(("mcp.", "tools.workspaces.")):
            yield section, join_lines(why)
    for (group, name), why in loaded.catalogue.broken.items():
        if group == "kenobot.tools" and name in loaded.settings.tools.enabled:
            yield name, join_lines(why)
    for each in resolve_workspaces(loaded.settings.tools.workspaces):
        if not each.path.is_dir():
            section = f"tools.workspaces.{each.name}"
            yield section, Sentence("tools.no_workspace_folder", path=each.path)
