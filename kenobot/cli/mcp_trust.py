"""Show the tools of an MCP server as a model would read them, and ask their owner whether it may."""

import json
import textwrap
from collections.abc import Iterable, Iterator, Sequence

from kenobot.cli import options
from kenobot.cli.context import CommandContext
from kenobot.cli.language import say
from kenobot.core.settings.mcp import McpServerSettings
from kenobot.ports.tool import ToolEffects
from kenobot.skills.skill import reveal
from kenobot.tools.mcp.declared import DeclaredTool, choose_tool_name, effects_of
from kenobot.tools.mcp.trust import TrustFile, hash_list

_WIDTH = 76  # columns: a terminal that wraps a line itself would begin the next one without its mark
_MARK = "│ "
_OFF = "Its tools are off until you trust them: `kenobot mcp trust {name}` shows them and asks."
_QUESTION = "Do you trust these? A model reads them with every message. [y/N] "
_NOBODY = "Nobody can be asked here: use --yes HASH."


def render_tools(name: str, tools: Iterable[DeclaredTool], server: McpServerSettings, file: TrustFile) -> Iterator[str]:
    """Render tools with all that a model reads of them, so that no text can pass for the program's own."""
    for tool in tools:
        effects = ", ".join(name_effects(effects_of(tool, server))) or say("no effects")
        yield f"── {choose_tool_name(name, tool.name, ())} ({say(file.judge(tool))}; {effects})"
        for text in (tool.description, *_list_parameters(tool)):
            lines = textwrap.wrap(_show_unseen(text), _WIDTH, break_on_hyphens=False)
            yield from (f"{_MARK}{line}" for line in lines)


def name_effects(effects: ToolEffects) -> list[str]:
    """Return the names of effects, as the settings have them."""
    names = ("reads_private", "brings_untrusted", "way_out", "changes_outside", "asks_first")
    return [name for name in names if getattr(effects, name)]


def ask_trust(
    context: CommandContext, name: str, tools: Sequence[DeclaredTool], file: TrustFile, given: str | None = None
) -> int:
    """Ask the owner to trust a list of tools that was shown. given: the hash of it, in the place of an answer."""
    digest = hash_list(tools)
    if given is None and not options.confirm(_QUESTION, _NOBODY):
        options.print_failure(say(_OFF, name=name))
        return options.FAILED
    if given not in (None, digest):
        return options.print_failure(say("Its hash is another one: {digest}", digest=digest), options.FAILED)
    context.home.prepare()
    file.save(tools)
    row = {"name": name, "tools": [tool.name for tool in tools], "hash": digest}
    return options.print_row(row, context.args.json, say("Trusted: {name}", name=name))


def _show_unseen(text: str) -> str:
    """Show as escapes whatever has no width or no ink, or changes how the rest is shown."""
    return "".join(each if each.isprintable() else ascii(each)[1:-1] for each in reveal(text))


def _list_parameters(tool: DeclaredTool) -> Iterator[str]:
    properties, required = tool.schema.get("properties"), tool.schema.get("required")
    for name, schema in properties.items() if isinstance(properties, dict) else ():
        optional = "" if isinstance(required, list) and name in required else "?"
        yield f"  {name}{optional}: {json.dumps(schema, ensure_ascii=False)}"
