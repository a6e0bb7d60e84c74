"""The servers of the settings: the tools that they offer, and how each is."""

import asyncio
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from kenobot.core.settings.mcp import McpServerSettings
from kenobot.ports.clock import Clock
from kenobot.ports.tool import Tool
from kenobot.tools.mcp.connection import connect
from kenobot.tools.mcp.declared import choose_tool_name
from kenobot.tools.mcp.kept_list import KeptList
from kenobot.tools.mcp.server import McpServer, ServerState
from kenobot.tools.mcp.token_file import TokenFile
from kenobot.tools.mcp.tool import McpTool
from kenobot.tools.mcp.trust import TrustFile


class McpServers:
    """Offers the tools of several servers, as far as their owner trusts them. It is a `ToolSource`."""

    def __init__(
        self,
        settings: Mapping[str, McpServerSettings],
        cache: Path,
        trusted: Path,
        clock: Clock,
        credentials: Path | None = None,
    ) -> None:
        """Read the lists that were kept; nothing is connected before `begin`, or a call.

        cache, trusted, credentials: folders of the home.
        """
        self._settings = {name: each for name, each in sorted(settings.items()) if each.enabled}
        self._servers = {
            name: McpServer(
                name,
                partial(connect, each, signs_in=TokenFile(credentials, name, each.url) if credentials else None),
                clock,
                KeptList(cache / "mcp", name, each),
                seconds=each.seconds,
                changed=self._note_change,
            )
            for name, each in self._settings.items()
        }
        self._trusted = {name: TrustFile(trusted, name) for name in self._settings}
        self._revision = 0

    def begin(self) -> None:
        """Begin to connect with every server."""
        for server in self._servers.values():
            server.begin()

    async def aclose(self) -> None:
        """End every connection."""
        await asyncio.gather(*(server.aclose() for server in self._servers.values()))

    @property
    def states(self) -> Sequence[ServerState]:
        self._look_at_trust()
        return [self._count(name, server) for name, server in self._servers.items()]

    @property
    def revision(self) -> int:
        """Return how often a list changed, or what the owner trusts of it."""
        self._look_at_trust()
        return self._revision

    def list_tools(self, taken: Collection[str]) -> Sequence[Tool[Any]]:
        """Return the tools of all servers, by server and name."""
        return tuple(self._offer({*taken}))

    def _offer(self, taken: set[str]) -> Iterator[Tool[Any]]:
        for name, server in self._servers.items():
            settings = self._settings[name]
            for tool in self._trusted[name].divide(server.tools, settings)[0]:
                offered = choose_tool_name(name, tool.name, taken)
                taken.add(offered)
                yield McpTool(offered, tool, server, settings)

    def _count(self, name: str, server: McpServer) -> ServerState:
        """Return how a server is, with how many of its tools are offered."""
        trusted, others = self._trusted[name].divide(server.tools, self._settings[name])
        return replace(server.state, tools=len(trusted), untrusted=len(others))

    def _look_at_trust(self) -> None:
        self._revision += sum(file.look() for file in self._trusted.values())

    def _note_change(self) -> None:
        self._revision += 1
