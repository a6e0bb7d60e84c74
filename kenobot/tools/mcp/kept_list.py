"""Keep the last good list of a server's tools on disk, so that the prompt stays as it was while the server is down."""

import hashlib
import json
import logging
from pathlib import Path
from typing import Any

from kenobot.core.settings.mcp import McpServerSettings
from kenobot.storage import disk
from kenobot.tools.mcp.declared import MOST_TOOLS, DeclaredTool, read_tools

_log = logging.getLogger(__name__)

_MOST_BYTES = 1_000_000


class KeptList:
    """The list of one server: a file of the cache. It counts only for the server that it is of."""

    def __init__(self, folder: Path, server: str, settings: McpServerSettings) -> None:
        self._server, self._file = server, folder / f"{server}.json"
        reached = json.dumps([settings.command, settings.args, settings.url])
        self._of = hashlib.sha256(reached.encode()).hexdigest()

    def load(self) -> tuple[DeclaredTool, ...]:
        """Return the list; none where there is none that can be read."""
        try:
            stored: Any = disk.load_json(self._file, _MOST_BYTES)
            listed = stored["tools"][:MOST_TOOLS] if stored is not None and stored["of"] == self._of else []
        except (OSError, ValueError, KeyError, TypeError) as error:
            _log.warning("the list of tools of the MCP server %s cannot be read: %s", self._server, error)
            return ()
        return read_tools(listed)[0]

    def save(self, tools: tuple[DeclaredTool, ...]) -> None:
        """Write the list. A disk that cannot store it costs no more than the list at the next start."""
        text = json.dumps({"of": self._of, "tools": [tool.encode() for tool in tools]}, ensure_ascii=False)
        try:
            self._file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            disk.replace_text(self._file, text)
        except (OSError, ValueError) as error:
            _log.warning("the list of tools of the MCP server %s cannot be kept: %s", self._server, error)
