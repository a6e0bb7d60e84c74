"""Write what a setup changes: all of it, also when Ctrl-C is pressed meanwhile."""

import asyncio
import contextlib
import os
import signal
import stat
import threading
from collections.abc import Iterator

from kenobot.app.embedder_choice import choose_embedder
from kenobot.cli.context import CommandContext
from kenobot.cli.deployment import find_deployment, require_deployment
from kenobot.cli.language import say
from kenobot.cli.setup.changes import SetupChanges
from kenobot.cli.setup.embedded import install_embedder
from kenobot.cli.setup.repair import Repair
from kenobot.core import plugins
from kenobot.core.redaction import one_line
from kenobot.core.settings.home import Home
from kenobot.core.settings.load import ResolvedSettings
from kenobot.ports.clock import Clock
from kenobot.ports.plugin import PluginContext
from kenobot.ports.provider import calls_tools
from kenobot.storage import disk
from kenobot.storage.database import Database
from kenobot.storage.inbox import Inbox
from kenobot.storage.message_identity import message_digest

_OTHERS = stat.S_IRWXG | stat.S_IRWXO
_FOR_SETUP = "it was for `kenobot setup`"
_TOOLS_ON = (
    "Its model may use tools, as those of the web and the agenda: `enabled = []` under [tools] in kenobot.toml "
    "switches them off."
)


def write_changes(context: CommandContext, changes: SetupChanges) -> int:
    """Write settings, secrets and identity, then do what the person agreed to.

    Returns an exit code: FAILED when the service that was wanted does not start. Raises ConfigError, before anything is
    written, when the bot would not start.
    """
    home, text = context.home, changes.text()
    after = changes.after()
    build_plugins(context, after)
    with _without_interrupts():
        home.prepare()
        for bad in changes.bad:
            bad.path.rename(bad.aside)
        for name, value in changes.secrets.items():
            disk.replace_text(home.credentials / name, value + "\n")
        if changes.repair:
            _keep(changes.repair)
        if not home.config_file.exists() or home.config_file.read_bytes() != text.encode():
            disk.replace_text(home.config_file, text)
        home.seed_identity()
        if changes.codes:
            asyncio.run(_mark_answered(home, changes, context.clock))
    if changes.install:
        print(install_embedder(after, context.plugin_context))
    _print_next_steps(context, after, changes)
    return require_deployment().install_service(home) if changes.service else 0


def close_credentials(home: Home) -> None:
    """Close credential files that others may read: with those, nothing starts."""
    with contextlib.suppress(OSError):
        for path in home.credentials.iterdir():
            mode = path.lstat().st_mode
            if stat.S_ISREG(mode) and mode & _OTHERS:
                path.chmod(stat.S_IMODE(mode) & ~_OTHERS)


def _keep(repair: Repair) -> None:
    """Keep a file as it was, beside the one that takes its place."""
    with repair.copy.open("xb") as copy:
        copy.write(repair.before)
        copy.flush()
        os.fsync(copy.fileno())


async def _mark_answered(home: Home, changes: SetupChanges, clock: Clock) -> None:
    """Put messages into the inbox as done, so that they are known when Telegram brings them to the bot."""
    database = Database.open(home.database, home.backups)
    try:
        inbox = Inbox(database, clock)
        for message in changes.codes:
            await inbox.store(message, "setup", drop_reason=_FOR_SETUP, digest=message_digest(message))
    finally:
        await database.close()


@contextlib.contextmanager
def _without_interrupts() -> Iterator[None]:
    """Put Ctrl-C off until the end."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    pressed: list[int] = []
    before = signal.signal(signal.SIGINT, lambda number, _: pressed.append(number))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
    if pressed:
        raise KeyboardInterrupt


def build_plugins(context: CommandContext, after: ResolvedSettings) -> None:
    """Build the plugins that a start would build, so that their complaints come now. Raises ConfigError."""
    plugin = PluginContext(context.home.path, context.clock, after.settings.bot.name)
    groups: tuple[plugins.PluginGroup, ...] = ("kenobot.channels", "kenobot.providers")
    for group in groups:
        for name in after.settings.list_enabled_plugins(group):
            after.build_plugin(group, name, plugin)
    choose_embedder(after, plugin)


def _print_next_steps(context: CommandContext, after: ResolvedSettings, changes: SetupChanges) -> None:
    home = one_line(str(context.home.path))
    print(say("KenoBot is set up in {home}.", home=home))
    for name in changes.secrets:
        print(say("Saved credentials/{name}, readable by you only.", name=name))
    for section, key in changes.values:
        origin = after.origin(f"{section}.{key}")
        if origin.startswith("environment "):
            print(say("Note: {name} in the environment overrules it.", name=origin.removeprefix("environment ")))
    if after.settings.tools.enabled and _calls_tools(context, after):
        print(say(_TOOLS_ON))
    option = f" --home {home}" if context.args.home else ""
    print(f"{say('Talk to it here:')}  kenobot chat{option}")
    if after.settings.channels.enabled and not changes.service:
        serve = say("Serve {channels}:", channels=", ".join(after.settings.channels.enabled))
        print(f"{serve}  kenobot run{option}")
        if find_deployment() is None:
            print(say("As a service, that starts by itself: run pip install 'kenobot[deploy]', then `kenobot setup`."))


def _calls_tools(context: CommandContext, after: ResolvedSettings) -> bool:
    plugin = PluginContext(context.home.path, context.clock, after.settings.bot.name)
    return calls_tools(after.build_plugin("kenobot.providers", after.settings.provider.name, plugin))
