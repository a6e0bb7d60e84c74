"""An error of a server's is told apart from the loss of a session."""

from dataclasses import dataclass
from typing import Any

import pytest

pytest.importorskip("mcp")

from mcp.shared.exceptions import MCPError

from kenobot.core.settings.mcp import McpServerSettings
from kenobot.ports.errors import ToolFailed
from kenobot.tools.mcp.connection import ConnectionLost, _losing, _Redaction


@dataclass
class _Wire:
    has_sessions: bool
    forgot: bool = False
    complaint: str = ""
    wants_sign_in: bool = False
    secrets: tuple[str, ...] = ()

    def open(self) -> Any:
        raise NotImplementedError


@pytest.mark.parametrize(
    ("wire", "words", "error"),
    [
        (_Wire(False), "Paid, but unknown session 7 in the shop", ToolFailed),
        (_Wire(False), "Session not found", ToolFailed),
        (_Wire(True), "Paid, but unknown session 7 in the shop", ToolFailed),
        (_Wire(True), "Session terminated", ConnectionLost),
        (_Wire(True, forgot=True), "HTTP 404", ConnectionLost),
    ],
)
def test_a_tool_that_speaks_of_sessions_is_not_run_again(wire: _Wire, words: str, error: type[Exception]) -> None:
    """It has run; only a server over HTTP forgets a session, and says nothing else then."""
    with pytest.raises(error), _losing(wire, _Redaction(McpServerSettings(command="shop"), wire)):
        raise MCPError(-32603, words)
