"""`kenobot setup`."""

import argparse
import importlib
import os
import subprocess
import sys
from pathlib import Path

from kenobot.app.embedder_choice import choose_embedder
from kenobot.cli import options
from kenobot.cli.context import CommandContext
from kenobot.cli.language import say, translate
from kenobot.cli.setup import toml_edit
from kenobot.cli.setup.config_text import current_text
from kenobot.cli.setup.service_check import find_local_servers
from kenobot.cli.setup.wizard import SetupChanges, Wizard
from kenobot.core import plugins
from kenobot.core.redaction import one_line
from kenobot.core.settings.home import Home
from kenobot.core.settings.load import ResolvedSettings, load_settings
from kenobot.ports.errors import ConfigError
from kenobot.ports.plugin import PluginContext
from kenobot.providers.openai_compatible import PRESETS
from kenobot.storage import disk

_INSTALL_SECONDS = 1800.0  # 130 MB over a slow line
_PACKAGE = "kenobot[embedded]"


def setup(context: CommandContext) -> int:
    home, loaded = context.home, context.loaded
    text = current_text(home)
    changes = _from_flags(context.args, loaded)
    plugin = context.plugin_context
    if not context.args.yes and not _ask(changes, plugin):
        return options.NOT_FOUND
    _take_secrets(changes)
    for (section, key), value in changes.values.items():
        text = toml_edit.set_value(text, section, key, value)
    after = load_settings(home, os.environ, text=text, new_credentials=changes.secrets)
    _build_plugins(after, PluginContext(home.path, context.clock, after.settings.bot.name))

    home.prepare()
    for name, value in changes.secrets.items():
        disk.replace_text(home.credentials / name, value + "\n")
    if not home.config_file.exists() or home.config_file.read_bytes().decode() != text:
        disk.replace_text(home.config_file, text)
    home.seed_identity()
    if changes.install:
        print(_install_embedder(after, plugin))
    _print_next_steps(home, after, changes, bool(context.args.home))
    return 0


def _from_flags(args: argparse.Namespace, loaded: ResolvedSettings) -> SetupChanges:
    changes = SetupChanges(loaded, install=args.embedded)
    provider, enable = args.provider, list(args.enable)
    if args.anthropic_key_file:
        changes.secrets["anthropic_api_key"] = _secret(args.anthropic_key_file)
        provider = provider or "anthropic"
    table = f"providers.{provider or loaded.settings.provider.name}"
    if args.key_file:
        changes.secrets[f"{table}.api_key"] = _secret(args.key_file)
    if args.model:
        changes.values[table, "model"] = args.model
    if args.telegram_token_file:
        changes.secrets["telegram_token"] = _secret(args.telegram_token_file)
        enable.append("telegram")
    settings = loaded.settings
    for section, key, wanted in (
        ("bot", "name", args.name),
        ("bot", "language", args.language),
        ("bot", "timezone", args.timezone),
        ("provider", "name", provider),
    ):
        if wanted is not None and wanted != getattr(getattr(settings, section), key):
            changes.values[section, key] = wanted
    before = list(settings.channels.enabled)
    channels = [name for name in dict.fromkeys((*before, *enable)) if name not in args.disable]
    if channels != before:
        changes.values["channels", "enabled"] = channels
    owners = settings.plugin_tables("kenobot.channels").get("telegram", {}).get("owners")
    if args.owner and args.owner != owners:
        changes.values["channels.telegram", "owners"] = args.owner
    return changes


def _ask(changes: SetupChanges, plugin: PluginContext) -> bool:
    """Let the wizard ask. False when there is nobody to answer."""
    if not sys.stdin.isatty():
        options.print_failure("Nobody is here to answer questions: add --yes to ask none.")
        return False
    embedder = changes.loaded.settings.memory.embedder
    installable = embedder == "auto" and choose_embedder(changes.loaded, plugin).embedder is None
    try:
        Wizard(changes, installable, find_local_servers(changes.loaded)).run()
    except EOFError:
        print(file=sys.stderr)
        options.print_failure("Nothing was changed.")
        return False
    return True


def _take_secrets(changes: SetupChanges) -> None:
    """Keep what only the environment of this moment knows, if the parts it is for are in use."""
    provider = changes.provider
    of_service = (f"providers.{provider}.api_key", f"{provider.upper()}_API_KEY", provider in PRESETS)
    for name, variable, used in (
        ("anthropic_api_key", "ANTHROPIC_API_KEY", provider == "anthropic"),
        of_service,
        ("telegram_token", "TELEGRAM_BOT_TOKEN", "telegram" in changes.channels),
    ):
        if used and os.environ.get(variable):
            changes.secrets.setdefault(name, os.environ[variable].strip())


def _secret(path: str) -> str:
    try:
        value = (sys.stdin.read() if path == "-" else Path(path).read_text("utf-8-sig")).strip()
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"{path} cannot be read: {getattr(error, 'strerror', None) or error}.") from error
    if not value or "\n" in value:
        raise ConfigError(f"{path} must hold one secret, on one line.")
    return value


def _build_plugins(loaded: ResolvedSettings, context: PluginContext) -> None:
    """Build the plugins that a start would build, so that their complaints come now. Raises ConfigError."""
    groups: tuple[plugins.PluginGroup, ...] = ("kenobot.channels", "kenobot.providers")
    for group in groups:
        for name in loaded.settings.enabled_plugins(group):
            loaded.build_plugin(group, name, context)
    choose_embedder(loaded, context)


def _install_embedder(loaded: ResolvedSettings, plugin: PluginContext) -> str:
    """Install the model into this Python. Returns the outcome in one plain line; never raises."""
    why = _pip_install()
    importlib.invalidate_caches()
    choice = choose_embedder(loaded, plugin)
    if choice.embedder is not None:
        return say("Memories are found by their meaning, with {model}.", model=choice.embedder.model_id)
    return say("Memories are found by words alone: {why}", why=translate(why or choice.reason))


def _pip_install() -> str:
    """Run pip. Returns its error, "" when it succeeds."""
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", _PACKAGE]
    try:
        done = subprocess.run(  # noqa: S603 - this Python's own pip
            command, capture_output=True, text=True, check=False, timeout=_INSTALL_SECONDS, stdin=subprocess.DEVNULL
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return f"pip did not finish ({type(error).__name__}); run: pip install '{_PACKAGE}'"
    if done.returncode == 0:
        return ""
    said = [line for line in done.stderr.splitlines() if line.startswith("ERROR")] or done.stderr.splitlines()
    return (said[-1] if said else "pip failed").removeprefix("ERROR: ")


def _print_next_steps(home: Home, after: ResolvedSettings, changes: SetupChanges, elsewhere: bool) -> None:
    print(say("KenoBot is set up in {home}.", home=one_line(str(home.path))))
    for name in changes.secrets:
        print(say("Saved credentials/{name}, readable by you only.", name=name))
    for section, key in changes.values:
        origin = after.origin(f"{section}.{key}")
        if origin.startswith("environment "):
            print(say("Note: {name} in the environment overrules it.", name=origin.removeprefix("environment ")))
    option = f" --home {one_line(str(home.path))}" if elsewhere else ""
    print(f"{say('Talk to it here:')}  kenobot chat{option}")
    if after.settings.channels.enabled:
        serve = say("Serve {channels}:", channels=", ".join(after.settings.channels.enabled))
        print(f"{serve}  kenobot run{option}")
