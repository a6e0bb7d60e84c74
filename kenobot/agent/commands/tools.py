"""`/tools`: tell the owner which tools are on, and how the MCP servers are."""

from datetime import timedelta
from typing import TYPE_CHECKING

from kenobot.agent.commands.command import CommandCall, CommandContext, duration_text
from kenobot.core import texts
from kenobot.core.i18n import Language
from kenobot.storage.connection import Connection

if TYPE_CHECKING:
    from kenobot.tools.mcp.server import ServerState


def show_tools(connection: Connection, call: CommandCall, context: CommandContext) -> str:
    """`/tools`: list the tools by name, then those that are off, with the reason, then each server with its state."""
    servers, unusable, language = context.servers(), context.tools_off(), call.language
    if not context.tools and not servers and not unusable:
        return texts.TOOLS_NONE(language)
    lines = [texts.TOOLS_ON(language, names=", ".join(f"`{name}`" for name in context.tools))] if context.tools else []
    lines += [f"- {texts.TOOL_OFF(language, name=name, why=why)}" for name, why in unusable]
    for server in servers:
        lines.append(f"- {_line(server, call.at - server.since, language)}")
        if server.untrusted:
            lines.append(f"  {texts.SERVER_UNTRUSTED(language, name=server.name, count=server.untrusted)}")
    return "\n".join(lines)


def _line(server: "ServerState", span: timedelta, language: Language) -> str:
    values = {"name": server.name, "count": server.tools, "span": duration_text(span, language)}
    match server.state:
        case "up":
            return texts.SERVER_UP(language, **values)
        case "down":
            return texts.SERVER_DOWN(language, reason=server.reason, **values)
        case _:
            return texts.SERVER_STARTING(language, **values)
