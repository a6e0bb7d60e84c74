"""Check what the model may use: tools, skills and MCP servers."""

import contextlib
from collections.abc import Iterator

from kenobot.app.plugin_instances import load_providers
from kenobot.app.plugin_report import try_build
from kenobot.app.tool_report import find_unusable
from kenobot.cli import options
from kenobot.cli.context import CommandContext
from kenobot.cli.doctor.findings import Finding
from kenobot.cli.language import say
from kenobot.ports.errors import KenobotError
from kenobot.ports.provider import calls_tools
from kenobot.skills.library import SkillLibrary, State
from kenobot.skills.trust import Trusted, read_trusted


def check_tools(context: CommandContext) -> Iterator[Finding]:
    """Check which tools are on, and why others are not."""
    loaded = context.loaded
    try_build(loaded, context.plugin_context)
    unusable = dict(find_unusable(loaded))
    for name, why in unusable.items():
        advice = say("The bot runs without it. Correct it in kenobot.toml; `kenobot config` shows what counts.")
        yield Finding("tools", "warning", say("{name} is off: {why}", name=name, why=why), advice)
    names = [name for name in loaded.settings.tools.enabled if name not in unusable]
    if not names:
        yield Finding("tools", "ok", say("No tools are on."))
    elif _calls_tools(context):
        yield Finding("tools", "ok", say("Tools that are on: {names}", names=", ".join(names)))
    else:
        text = say("No tool is used: {name} calls none.", name=loaded.settings.provider.name)
        yield Finding("tools", "ok", text)


def check_skills(context: CommandContext) -> Iterator[Finding]:
    """Check which skills are trusted, and which are read no more."""
    shelf = SkillLibrary(context.home.skills).list_skills(_read_trusted(context))

    def name_those(state: State) -> str:
        return ", ".join(each.name for each in shelf if each.state == state)

    if names := name_those("trusted"):
        yield Finding("skills", "ok", say("Skills that are trusted: {names}", names=names))
    if names := name_those("changed"):
        text = say("Skills that were changed since you trusted them: {names}", names=names)
        yield Finding(
            "skills", "warning", text, say("See `kenobot skills show NAME`, and trust it again or remove it.")
        )
    if names := name_those("untrusted"):
        text = say("Skills that you have not trusted yet: {names}", names=names)
        yield Finding("skills", "note", text, say("`kenobot skills trust NAME` shows one and asks."))
    for each in shelf:
        if each.state == "broken":
            text = say("The skill {name} cannot be used: {why}", name=each.name, why=each.why)
            yield Finding("skills", "warning", text, say("Mend its files, or `kenobot skills remove NAME`."))


def check_servers(context: CommandContext) -> Iterator[Finding]:
    """Check which MCP servers are configured, and what they offered when they answered last."""
    servers = context.loaded.settings.mcp
    if not servers:
        return
    from kenobot.cli.mcp import divide_kept  # noqa: PLC0415 - where there are servers

    for name, server in sorted(servers.items()):
        trusted, others = divide_kept(context, name, server)
        if not server.enabled:
            yield Finding("servers", "ok", say("The MCP server {name} is switched off.", name=name))
        elif others:
            text = say("The MCP server {name} has tools that are new or changed: {count}", name=name, count=len(others))
            advice = say("They are off until you trust them: kenobot mcp trust {name}", name=name)
            yield Finding("servers", "warning", text, advice)
        elif trusted:
            count = len(trusted)
            text = say("The MCP server {name} offered tools when it answered last: {count}", name=name, count=count)
            yield Finding("servers", "ok", text)
        else:
            text = say("The MCP server {name} has not offered any tools yet.", name=name)
            yield Finding("servers", "note", text, say("Try it: kenobot mcp test {name}", name=name))


def _calls_tools(context: CommandContext) -> bool:
    """Return whether a provider calls tools; one that cannot be built is told of elsewhere."""
    try:
        return any(map(calls_tools, load_providers(context.home, context.loaded, context.clock).providers))
    except KenobotError:
        return True


def _read_trusted(context: CommandContext) -> Trusted:
    with contextlib.suppress(options.NoDatabase), context.read() as connection:
        return read_trusted(connection)
    return {}
