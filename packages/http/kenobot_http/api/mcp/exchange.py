"""Answer one HTTP request of an MCP client, of either era of the protocol."""

import logging

from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from starlette.types import Receive, Scope, Send

from kenobot_http.api.mcp.server import build_server
from kenobot_http.api.services import Caller

# It tells of every request that a session starts and ends.
logging.getLogger("mcp.server").setLevel(logging.WARNING)


async def answer(caller: Caller, scope: Scope, receive: Receive, send: Send) -> None:
    """Answer with JSON. No session outlives the request, so a revoked key opens nothing, and no restart ends one."""

    async def find_caller() -> Caller:
        return caller

    manager = StreamableHTTPSessionManager(build_server(find_caller), json_response=True, stateless=True)
    async with manager.run():
        await manager.handle_request(scope, receive, send)
