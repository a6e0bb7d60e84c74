"""An MCP server made with the SDK that dies in the middle of a call, and does not come up again.

Run as a program, with a file that says that it died.
"""

import os
import sys
from pathlib import Path

from mcp.server.mcpserver import MCPServer

server = MCPServer("weather")


@server.tool()
def forecast(place: str) -> str:
    """Tell the weather of tomorrow."""
    return f"Sunny in {place}, 24 degrees"


@server.tool()
def history(place: str) -> str:
    """Tell the weather of the past."""
    Path(sys.argv[1]).touch()
    os._exit(1)


if __name__ == "__main__":
    if Path(sys.argv[1]).exists():
        sys.exit("the station is closed")
    server.run("stdio")
