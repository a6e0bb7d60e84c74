"""An MCP server made with the SDK, as a program: it writes down what it is told, and takes its time to answer."""

import sys
import time
from pathlib import Path

from mcp.server.mcpserver import MCPServer

SECONDS = 0.3
server = MCPServer("notes")


@server.tool()
def note(tag: str) -> str:
    """Write a tag down."""
    with Path(sys.argv[1]).open("a", encoding="utf-8") as file:
        file.write(f"{tag}\n")
    time.sleep(SECONDS)
    return f"noted {tag}"


if __name__ == "__main__":
    server.run("stdio")
