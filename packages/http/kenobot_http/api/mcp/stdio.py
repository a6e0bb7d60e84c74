"""Serve one MCP client over the pipes of this process."""

from mcp.server.stdio import stdio_server

from kenobot_http.api.mcp.server import CallerFinder, build_server


async def serve(find_caller: CallerFinder) -> None:
    """Serve until the client closes the pipe. What is printed meanwhile goes to stderr."""
    server = build_server(find_caller)
    async with stdio_server() as (read_stream, write_stream):
        await server.run(read_stream, write_stream, server.create_initialization_options())
