"""Keep which tools of a server their owner trusts: a hash of all that a model reads of each, in a file of the home."""

import hashlib
import json
import logging
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Literal

from kenobot.core.settings.mcp import McpServerSettings
from kenobot.storage import disk
from kenobot.tools.mcp.declared import DeclaredTool

_log = logging.getLogger(__name__)

_MOST_BYTES = 1_000_000

Trust = Literal["trusted", "untrusted", "changed"]


class TrustFile:
    """The tools of one server that their owner trusts, by the server's own names."""

    def __init__(self, folder: Path, server: str) -> None:
        """Read the file. folder: `Home.mcp`."""
        self.path, self._server = folder / f"{server}.json", server
        self._stamp: disk.FileStamp | None = None
        self._hashes: Mapping[str, object] = {}  # bounded: a file of 1 MB; process
        self.look()

    def look(self) -> bool:
        """Read the file again if it was changed; returns whether it was."""
        stamp = disk.peek(str(self.path))
        if stamp == self._stamp:
            return False
        self._stamp, self._hashes = stamp, self._read()
        return True

    def judge(self, tool: DeclaredTool) -> Trust:
        """Return whether the owner trusts a tool; "changed": another one of its name."""
        seen = self._hashes.get(tool.name)
        return "untrusted" if seen is None else "trusted" if seen == hash_tool(tool) else "changed"

    def divide(
        self, tools: Iterable[DeclaredTool], settings: McpServerSettings
    ) -> tuple[list[DeclaredTool], list[DeclaredTool]]:
        """Divide the tools that the settings want into those that the owner trusts and the others."""
        judged = [(tool, self.judge(tool) == "trusted") for tool in pick_wanted(tools, settings)]
        return [tool for tool, good in judged if good], [tool for tool, good in judged if not good]

    def save(self, tools: Iterable[DeclaredTool]) -> None:
        """Trust these tools and no others. Raises OSError."""
        self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        disk.replace_text(self.path, json.dumps({tool.name: hash_tool(tool) for tool in tools}) + "\n")
        self.look()

    def _read(self) -> Mapping[str, object]:
        """Return the hashes; none where there is no file that can be read."""
        try:
            stored = disk.load_json(self.path, _MOST_BYTES)
        except (OSError, ValueError) as error:
            _log.warning("the trusted tools of the MCP server %s cannot be read: %s", self._server, error)
            return {}
        return stored if isinstance(stored, dict) else {}


def pick_wanted(tools: Iterable[DeclaredTool], settings: McpServerSettings) -> list[DeclaredTool]:
    """Return the tools that the settings want."""
    return [tool for tool in tools if not settings.tools or tool.name in settings.tools]


def hash_tool(tool: DeclaredTool) -> str:
    """Return the SHA-256 of what a model reads of a tool, and of what the server says of its effects."""
    return _hash(tool.encode())


def hash_list(tools: Sequence[DeclaredTool]) -> str:
    """Return the SHA-256 of a list of tools."""
    return _hash([tool.encode() for tool in tools])


def _hash(stored: object) -> str:
    return hashlib.sha256(json.dumps(stored, sort_keys=True).encode()).hexdigest()
