"""`kenobot mcp serve`: memory and agenda as tools for a program of the owner's, over the pipes of this process."""

import asyncio
import importlib.util
import signal

from kenobot.cli.context import CommandContext
from kenobot.cli.memory.sync_files import make_home
from kenobot.ports.errors import ConfigError


def serve(context: CommandContext) -> int:
    if importlib.util.find_spec("mcp") is None:
        raise ConfigError("mcp.serve_packages_missing", missing="mcp")
    from kenobot_http.api.mcp.stdio import serve as serve_pipes
    from kenobot_http.commands.mcp_home import OpenHome

    make_home(context)
    context.require_current_schema()
    # A thread waits for the client's next line, and would hold up an orderly end.
    signal.signal(signal.SIGINT, signal.SIG_DFL)

    async def run() -> None:
        home = OpenHome(context)
        try:
            await serve_pipes(home.find_caller)
        finally:
            await home.close()

    asyncio.run(run())
    return 0
