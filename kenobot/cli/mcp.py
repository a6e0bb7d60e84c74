"""`kenobot mcp`: add, list, try out, trust and remove the MCP servers whose tools the model may call."""

import asyncio
import getpass
import os
import shlex
import sys
from collections.abc import Iterator, Mapping

from kenobot.cli import options
from kenobot.cli.context import CommandContext
from kenobot.cli.language import say
from kenobot.cli.mcp_trust import ask_trust, name_effects, render_tools
from kenobot.core import lazy
from kenobot.core.redaction import escape_controls
from kenobot.core.settings import toml_edit
from kenobot.core.settings.config_text import current_text
from kenobot.core.settings.load import load_settings, require_no_more_left_out
from kenobot.core.settings.mcp import McpServerSettings, check_server_name
from kenobot.ports.errors import ConfigError
from kenobot.ports.frozen import dataclass
from kenobot.ports.sentences import Sentence
from kenobot.storage import disk
from kenobot.tools.mcp.connection import ConnectionLost, Hooks, connect
from kenobot.tools.mcp.declared import DeclaredTool, choose_tool_name, effects_of, read_tools
from kenobot.tools.mcp.kept_list import KeptList
from kenobot.tools.mcp.token_file import SIGN_IN, TokenFile
from kenobot.tools.mcp.trust import TrustFile, hash_list, pick_wanted

_SECRET = lazy.regex(r"[A-Za-z0-9_-]{1,64}")
_SECONDS = 90.0  # a program may have to be fetched first


@dataclass(frozen=True, slots=True)
class _Seen:
    """Hold what a server lists now. tools: those that the settings want. left_out: why others cannot be used."""

    title: str
    tools: list[DeclaredTool]
    left_out: tuple[str, ...]


def add(context: CommandContext) -> int:
    """Write a server into kenobot.toml and its secrets into files, if the settings hold together with it.

    In a terminal its tools are shown then, and the owner is asked whether they are trusted.
    """
    args, home = context.args, context.home
    name = _check_name(args.name)
    if name in context.loaded.settings.mcp:
        raise ConfigError("mcp.server_exists", name=name)
    text = current_text(home)
    for section, key, value in _list_edits(name, args.program, args.url, args.env, args.header):
        text = toml_edit.set_value(text, section, key, value)
    if SIGN_IN in args.secret:
        raise ConfigError("mcp.name_reserved", sign_in=SIGN_IN, name=name)
    if strange := [secret for secret in args.secret if not _SECRET.fullmatch(secret)]:
        raise ConfigError("mcp.bad_secret_name", name=strange[0])
    secrets = {f"mcp.{name}.{secret}": ask_secret(secret) for secret in args.secret}
    loaded = load_settings(home, os.environ, text=text, new_credentials=secrets)
    require_no_more_left_out(context.loaded, loaded)
    home.prepare()
    for file, value in secrets.items():
        disk.replace_text(home.credentials / file, value + "\n")
    disk.replace_text(home.config_file, text)
    lines = [say("Saved credentials/{name}, readable by you only.", name=file) for file in secrets]
    lines += [
        say("The MCP server {name} is added. Its tools: kenobot mcp test {name}", name=name),
        say("A bot that is running takes it in with its next start."),
    ]
    code = options.print_row({"name": name, "added": True}, args.json, "\n".join(lines))
    if sys.stdin.isatty() and not args.json and name in loaded.settings.mcp:
        _show_and_ask(context, name, loaded.settings.mcp[name])
    return code


def list_(context: CommandContext) -> int:
    """Print the servers of the settings, and why others are left out."""
    for section, why in context.loaded.left_out.items():
        if section.startswith("mcp."):
            print(escape_controls(say("{name} is off: {why}", name=section, why=why)), file=sys.stderr)
    rows = []
    for name, server in sorted(context.loaded.settings.mcp.items()):
        trusted, others = divide_kept(context, name, server)
        reach = server.url or shlex.join((server.command, *server.args))
        counts = {"tools": len(trusted), "untrusted": len(others)}
        rows.append({"name": name, "enabled": server.enabled, "reach": reach, **counts})
    return options.print_rows(
        rows, context.args.json, _list_line, "There are no MCP servers: `kenobot mcp add` adds one."
    )


def test(context: CommandContext) -> int:
    """Connect with a server and print its tools, with the effects that they are taken to have."""
    name, server = find_server(context)
    if not context.args.json:
        return _show_and_ask(context, name, server)
    if (seen := _see(context, name, server)) is None:
        return options.FAILED
    file, digest = TrustFile(context.home.mcp, name), hash_list(seen.tools)
    for tool in seen.tools:
        row = {
            "name": choose_tool_name(name, tool.name, ()),
            "tool": tool.name,
            "description": tool.description,
            "parameters": tool.schema,
            "effects": name_effects(effects_of(tool, server)),
            "trust": file.judge(tool),
            "hash": digest,
        }
        options.print_row(row, True, "")
    return 0


def trust(context: CommandContext) -> int:
    """Show the tools of a server that are new or changed, and ask whether they are trusted."""
    name, server = find_server(context)
    if context.args.yes is None:
        return _show_and_ask(context, name, server, must_trust=True)
    seen, file = _see(context, name, server), TrustFile(context.home.mcp, name)
    return options.FAILED if seen is None else ask_trust(context, name, seen.tools, file, context.args.yes)


def divide_kept(
    context: CommandContext, name: str, server: McpServerSettings
) -> tuple[list[DeclaredTool], list[DeclaredTool]]:
    """Divide the tools that a server listed last into those that the owner trusts and the others."""
    kept = KeptList(context.home.cache / "mcp", name, server)
    return TrustFile(context.home.mcp, name).divide(kept.load(), server)


def _show_and_ask(context: CommandContext, name: str, server: McpServerSettings, must_trust: bool = False) -> int:
    """Show the tools of a server, and ask about those that the owner does not trust as they are.

    must_trust: a no is a failure, and what is trusted already is not shown again.
    """
    seen, file = _see(context, name, server), TrustFile(context.home.mcp, name)
    if seen is None:
        return options.FAILED
    count = len(seen.tools)
    print(escape_controls(say("{name} answers: {title}. Tools: {count}", name=name, title=seen.title, count=count)))
    others = file.divide(seen.tools, server)[1]
    for line in render_tools(name, others if must_trust else seen.tools, server, file):
        print(line)
    for why in seen.left_out:
        print(escape_controls(say("Left out: {why}", why=why)), file=sys.stderr)
    if not others:
        print(say("You trust all of them as they are."))
        return 0
    print(f"{say('hash')}: {hash_list(seen.tools)}")
    code = ask_trust(context, name, seen.tools, file)
    return code if must_trust else 0


def _see(context: CommandContext, name: str, server: McpServerSettings) -> _Seen | None:
    """Connect with a server; returns what it lists, None and says why where it cannot be used."""
    try:
        title, declared = asyncio.run(_look(context, name, server))
    except ConnectionLost as error:
        options.print_failure(
            say('The MCP server "{name}" cannot be used: {reason}.', name=name, reason=escape_controls(str(error)))
        )
        return None
    tools, left_out = read_tools(declared)
    return _Seen(title, pick_wanted(tools, server), left_out)


def remove(context: CommandContext) -> int:
    """Take a server out of kenobot.toml, with its secrets and its list of tools; also one that is left out."""
    name, home = context.args.name, context.home
    if name not in context.loaded.settings.mcp and f"mcp.{name}" not in context.loaded.left_out:
        raise options.NothingFound("mcp.no_such_server", name=name)
    text = toml_edit.remove_table(current_text(home), f"mcp.{name}")
    files = [path.name for path in home.credentials.glob(f"mcp.{name}.*")]
    load_settings(home, os.environ, text=text, new_credentials=dict.fromkeys(files))
    disk.replace_text(home.config_file, text)
    lists = home.cache / "mcp" / f"{name}.json", home.mcp / f"{name}.json"
    for path in (*(home.credentials / file for file in files), *lists):
        path.unlink(missing_ok=True)
    said = say("The MCP server {name} is removed, with its secrets.", name=name)
    again = say("A bot that is running takes it in with its next start.")
    return options.print_row({"name": name, "removed": True}, context.args.json, f"{said}\n{again}")


def _list_edits(
    name: str, program: str, url: str, env: list[str], headers: list[str]
) -> Iterator[tuple[str, str, toml_edit.Value]]:
    """Yield what is written of a server: section, key and value."""
    section = f"mcp.{name}"
    if url:
        yield section, "url", url
    else:
        try:
            command, *rest = shlex.split(program)
        except ValueError as error:  # a quotation without an end, or nothing
            raise ConfigError("mcp.unreadable_command", reason=error) from error
        yield section, "command", command
        if rest:
            yield section, "args", rest
    for table, pairs, sign in (("env", env, "="), ("headers", headers, ":")):
        for pair in pairs:
            key, found, value = pair.partition(sign)
            if not found or not key.strip():
                raise ConfigError("mcp.pair_without_sign", pair=pair, sign=sign)
            yield f"{section}.{table}", key.strip(), value.strip()


def ask_secret(secret: str) -> str:
    """Read a secret: unseen in a terminal, else a line of the input."""
    seen = not sys.stdin.isatty()
    value = sys.stdin.readline() if seen else getpass.getpass(say("The secret {name}: ", name=secret))
    if not value.strip():
        raise ConfigError("mcp.empty_secret", secret=secret)
    return value.strip()


def _check_name(name: str) -> str:
    try:
        return check_server_name(name)
    except ValueError as error:
        raise ConfigError("mcp.wrong_settings", name=name, reason=error) from error


def find_server(context: CommandContext) -> tuple[str, McpServerSettings]:
    """Return the server that a command names. Raises NothingFound."""
    name = context.args.name
    server = context.loaded.settings.mcp.get(name)
    if why := context.loaded.left_out.get(f"mcp.{name}"):
        raise ConfigError(why)
    if server is None:
        raise options.NothingFound("mcp.no_such_server", name=name)
    return name, server


async def _look(context: CommandContext, name: str, server: McpServerSettings) -> tuple[str, list[object]]:
    """Return what a server calls itself, and its tools. Raises ConnectionLost."""
    tokens = TokenFile(context.home.credentials, name, server.url)
    try:
        async with asyncio.timeout(_SECONDS), connect(server, Hooks(), tokens) as connection:
            return connection.title, await connection.list_tools()
    except TimeoutError:
        raise ConnectionLost(Sentence("mcp.silent")) from None


def _list_line(row: Mapping[str, object]) -> str:
    state = say("enabled") if row["enabled"] else say("off")
    line = f"{row['name']}  {state}  {row['reach']}  {say('tools: {count}', count=str(row['tools']))}"
    told = say("new or changed: {count}, kenobot mcp trust {name}", count=row["untrusted"], name=row["name"])
    return escape_controls(f"{line}  {told}" if row["untrusted"] else line)
