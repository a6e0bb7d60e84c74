"""`kenobot mcp login`: sign in with an MCP server in a browser, and keep the tokens."""

import asyncio
import sys
import threading
from contextlib import suppress
from ipaddress import ip_address
from urllib.parse import urlsplit

from kenobot.cli import options
from kenobot.cli.context import CommandContext
from kenobot.cli.language import say
from kenobot.cli.mcp import ask_secret, find_server
from kenobot.core.redaction import escape_controls
from kenobot.core.settings.mcp import McpServerSettings
from kenobot.ports.errors import ConfigError
from kenobot.tools.mcp.connection import ConnectionLost, Hooks, connect
from kenobot.tools.mcp.token_file import TokenFile

_SECONDS = 600.0  # for the person to sign in
_PAGE = "<!doctype html><meta charset=utf-8><title>KenoBot</title><p>{}"


def login(context: CommandContext) -> int:
    """Sign in with a server whose address is in the settings."""
    name, server = find_server(context)
    if not server.url or not _is_private(server.url):
        raise ConfigError("mcp.login_needs_https", name=name)
    if any(header.lower() == "authorization" for header in server.headers):
        raise ConfigError("mcp.has_authorization", name=name)
    context.home.prepare()
    file = TokenFile(context.home.credentials, name, server.url)
    secret = ask_secret("client_secret") if context.args.ask_secret else ""
    try:
        title = asyncio.run(_sign_in(context, server, file, secret))
    except ConnectionLost as error:
        return options.print_failure(say("No sign-in: {reason}.", reason=escape_controls(str(error))), options.FAILED)
    if not file.path.exists():
        return options.print_failure(
            say("{name} answers without a sign-in: {title}.", name=name, title=escape_controls(title)), options.FAILED
        )
    said = say("Signed in with {name}: {title}.", name=name, title=escape_controls(title))
    kept = say("Saved credentials/{name}, readable by you only.", name=file.path.name)
    return options.print_row({"name": name, "signed_in": True}, context.args.json, f"{said}\n{kept}")


async def _sign_in(context: CommandContext, server: McpServerSettings, file: TokenFile, secret: str) -> str:
    """Connect, and sign in when the server wants that; returns what it calls itself. Raises ConnectionLost."""
    try:
        from kenobot.tools.mcp.sign_in import StoredSignIn  # noqa: PLC0415 - where the package is there
    except ImportError as error:
        raise ConfigError("mcp.package_missing") from error
    ended: asyncio.Future[str] = asyncio.get_running_loop().create_future()
    listening = await _listen(ended, context.args.port)
    port = listening.sockets[0].getsockname()[1]
    redirect = f"http://127.0.0.1:{port}/callback"

    async def show(address: str) -> None:
        print(say("Open this address in a browser and sign in:"), address, "", sep="\n", file=sys.stderr)
        print(
            say("If the browser then cannot open {redirect}, paste the address that it shows here:", redirect=redirect),
            file=sys.stderr,
        )
        _read_pasted(ended)

    async def hear() -> str:
        return await ended

    signer = StoredSignIn(
        server.url,
        file,
        redirect=redirect,
        show=show,
        hear=hear,
        client_id=context.args.client_id,
        client_secret=secret,
    )
    try:
        async with asyncio.timeout(_SECONDS), connect(server, Hooks(), signer) as connection:
            return connection.title
    except TimeoutError:
        raise ConnectionLost("nobody signed in in time") from None
    finally:
        listening.close()


async def _listen(ended: "asyncio.Future[str]", port: int) -> asyncio.Server:
    """Wait on this machine for the browser to come back."""

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(OSError, ValueError, TimeoutError):
            async with asyncio.timeout(10):
                method, target, *_ = (await reader.readline()).decode("latin-1").split()
                is_end = method == "GET" and urlsplit(target).path == "/callback"
                if is_end and not ended.done():
                    ended.set_result(target)
                said = say("You can close this window.") if is_end else ""
                body = _PAGE.format(said).encode()
                head = f"HTTP/1.1 {200 if is_end else 404} -\r\nContent-Type: text/html\r\nContent-Length: {len(body)}"
                writer.write(f"{head}\r\nConnection: close\r\n\r\n".encode() + body)
                await writer.drain()
        writer.close()

    try:
        return await asyncio.start_server(answer, "127.0.0.1", port, limit=65_536)
    except OSError as error:
        raise ConfigError("mcp.port_unusable", port=port, reason=error) from error


def _read_pasted(ended: "asyncio.Future[str]") -> None:
    """Wait for an address in the terminal as well. The thread ends with the process."""
    loop = asyncio.get_running_loop()

    def settle(line: str) -> None:
        if line.strip() and not ended.done():
            ended.set_result(line)

    def read() -> None:
        with suppress(OSError, ValueError, RuntimeError):
            line = sys.stdin.readline()
            loop.call_soon_threadsafe(settle, line)

    threading.Thread(target=read, name="pasted address", daemon=True).start()


def _is_private(url: str) -> bool:
    """Return whether nobody on the way can read what goes to an address."""
    parts = urlsplit(url)
    if parts.scheme == "https":
        return True
    with suppress(ValueError):
        return ip_address(parts.hostname or "").is_loopback
    return parts.hostname == "localhost"
