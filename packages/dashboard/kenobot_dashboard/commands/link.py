"""`kenobot dashboard`: make a link that opens the dashboard once, and open it where there is a browser."""

import getpass
import os
import socket
import sys
import webbrowser
from html import escape
from pathlib import Path
from typing import Final

from kenobot.cli import options
from kenobot.cli.context import CommandContext
from kenobot.cli.language import say
from kenobot.cli.stop import lock_holder
from kenobot.storage import browser_sessions
from kenobot_dashboard.paths import LOGIN
from kenobot_http.settings import CHANNEL, HttpSettings

NOT_RUNNING: Final = 3
_CONNECT_SECONDS: Final = 3.0
_EVERY_ADDRESS: Final = ("0.0.0.0", "::", "")  # noqa: S104 - compared, not bound
_REDIRECT: Final = '<!doctype html><meta charset="utf-8"><meta http-equiv="refresh" content="0; url={url}">\n'


def show_link(context: CommandContext) -> int:
    """Print a link, and the line that brings it to another machine. Returns 3 where the bot does not run."""
    if CHANNEL not in context.loaded.settings.channels.enabled:
        return options.print_failure(
            "The dashboard stands on the channel http, which is off: `kenobot setup --yes --enable http` switches it "
            "on. Then start the bot anew.",
            options.FAILED,
        )
    settings: HttpSettings = context.loaded.plugin_settings("kenobot.channels", CHANNEL, HttpSettings)
    if not settings.dashboard:
        return options.print_failure(
            "channels.http.dashboard is off: `kenobot config set channels.http.dashboard true` switches the dashboard "
            "on. Then start the bot anew.",
            options.FAILED,
        )
    if not settings.port:
        return options.print_failure(
            "channels.http.port is 0, a port that is another one with each start: set one, such as 8765.",
            options.FAILED,
        )
    if lock_holder(context) is None:
        told = say("KenoBot is not running in {home}: start it with `kenobot run`.", home=context.home.path)
        return options.print_failure(told, NOT_RUNNING)
    host = "127.0.0.1" if settings.host in _EVERY_ADDRESS else settings.host
    if not _is_listening(host, settings.port):
        told = say(
            "Nothing listens on {host}, port {port}: start the bot anew, so that it follows its settings.",
            host=host,
            port=settings.port,
        )
        return options.print_failure(told, NOT_RUNNING)
    with context.write() as connection:
        secret = browser_sessions.make_link(connection, context.now)
    return _tell(context, settings, host, secret)


def _tell(context: CommandContext, settings: HttpSettings, host: str, secret: str) -> int:
    place = f"[{host}]" if ":" in host else host
    url = f"http://{place}:{settings.port}{LOGIN}?link={secret}"
    tunnel = f"ssh -L {settings.port}:{place}:{settings.port} {_name_user()}@{_name_machine()}"
    proxied = [f"https://{name}{LOGIN}?link={secret}" for name in settings.server_names]
    if context.args.json:
        row = {"url": url, "ssh": tunnel, "proxied": proxied, "minutes": browser_sessions.LINK_MINUTES}
        return options.print_row(row, True, url)
    print(say("This link opens the dashboard once, within {minutes} minutes:", minutes=browser_sessions.LINK_MINUTES))
    print(f"\n  {url}\n")
    if proxied:
        print(say("By the names of channels.http.server_names, where a server that speaks TLS stands in front:"))
        print("\n" + "".join(f"  {each}\n" for each in proxied))
    if not context.args.print and _has_desktop() and _open(context.home.cache, url):
        print(say("It was opened in your browser."))
    else:
        print(say("From another machine, let this run there first, and open the link there:"))
        print(f"\n  {tunnel}")
    return 0


def _is_listening(host: str, port: int) -> bool:
    try:
        with socket.create_connection((host, port), timeout=_CONNECT_SECONDS):
            return True
    except OSError:
        return False


def _has_desktop() -> bool:
    """Return whether a browser opened here is in front of who typed the command."""
    if not sys.stdout.isatty() or "SSH_CONNECTION" in os.environ:
        return False
    return sys.platform == "darwin" or any(os.environ.get(name) for name in ("DISPLAY", "WAYLAND_DISPLAY"))


def _open(folder: Path, url: str) -> bool:
    """Open a link by a file that leads to it: other users of the machine can read the arguments of programs."""
    page = folder / "dashboard.html"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        page.unlink(missing_ok=True)
        with os.fdopen(os.open(page, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8") as file:
            file.write(_REDIRECT.format(url=escape(url)))
        return webbrowser.open(page.as_uri())
    except (OSError, webbrowser.Error):
        return False


def _name_user() -> str:
    try:
        return getpass.getuser()
    except (OSError, KeyError):
        return "USER"


def _name_machine() -> str:
    """Return the address by which this machine was reached, where that is known; else its name."""
    reached = os.environ.get("SSH_CONNECTION", "").split()
    return reached[2] if len(reached) == 4 else socket.gethostname()
