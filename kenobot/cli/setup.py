"""`kenobot setup`."""

import argparse
import os
import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from kenobot.cli import options

if TYPE_CHECKING:
    from kenobot.cli.wizard import SetupChanges
    from kenobot.core.settings.home import Home
    from kenobot.core.settings.load import ResolvedSettings
    from kenobot.ports.clock import Clock

_DESCRIPTION = """\
Ask what is needed and write it to kenobot.toml; secrets go into files of their own under credentials/. Run it again
whenever something changes: Enter keeps what there is, and lines and comments of your own stay as they are.
"""
_EPILOG = """\
For scripts: --yes asks nothing. The API key and the bot token are taken from the files named, or from
ANTHROPIC_API_KEY and TELEGRAM_BOT_TOKEN when the provider is anthropic or the channel telegram is enabled.
Naming a key file chooses the provider, naming a token file enables the channel.
"""


def add(commands: Any, home: argparse.ArgumentParser) -> None:
    parser = commands.add_parser(
        "setup",
        parents=[home],
        help="set the bot up, or change how it is set up",
        description=_DESCRIPTION,
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--yes", action="store_true", help="ask nothing")
    parser.add_argument("--name", metavar="NAME", help="what the bot is called")
    parser.add_argument("--language", choices=("auto", "en", "es"), help="language to answer in")
    parser.add_argument("--timezone", metavar="ZONE", help="your time zone, such as Europe/Madrid")
    parser.add_argument("--provider", metavar="NAME", help="who writes the answers: anthropic, offline, ...")
    parser.add_argument("--anthropic-key-file", metavar="PATH", help="file with the API key; - reads it from stdin")
    parser.add_argument("--telegram-token-file", metavar="PATH", help="file with the bot token; - reads it from stdin")
    parser.add_argument("--owner", action="append", metavar="ID", help="Telegram user id of an owner (repeatable)")
    parser.add_argument("--enable", action="append", default=[], metavar="CHANNEL", help="serve it (repeatable)")
    parser.add_argument("--disable", action="append", default=[], metavar="CHANNEL", help="do not (repeatable)")
    parser.add_argument(
        "--embedded", action="store_true", help="install the model that finds memories by their meaning (130 MB)"
    )
    parser.set_defaults(command=setup)


def setup(arguments: argparse.Namespace, clock: "Clock | None") -> int:
    from kenobot.cli import install_embedder, toml_edit
    from kenobot.core.settings.home import replace_file
    from kenobot.core.settings.load import load_settings
    from kenobot.ports.plugin import PluginContext

    home = options.home_of(arguments)
    loaded = load_settings(home, os.environ)
    text = _current_text(home)
    wishes = _from_flags(arguments, loaded)
    surroundings = PluginContext(home.path, options.clock_of(clock), loaded.settings.bot.name)
    if not arguments.yes and not _ask(loaded, wishes, install_embedder.should_offer(loaded, surroundings)):
        return 2
    _take_secrets(wishes, loaded, os.environ)
    for (section, key), value in wishes.values.items():
        text = toml_edit.set_value(text, section, key, value)
    after = load_settings(home, os.environ, text=text, new_credentials=wishes.secrets)
    _try_out(home, after, options.clock_of(clock))

    home.prepare()
    for name, value in wishes.secrets.items():
        replace_file(home.credentials / name, value + "\n")
    if not home.config_file.exists() or home.config_file.read_bytes().decode() != text:
        replace_file(home.config_file, text)
    home.seed_identity()
    if wishes.install:
        print(install_embedder.install(after, surroundings))
    _say_what_next(home, after, wishes, bool(arguments.home))
    return 0


def _current_text(home: "Home") -> str:
    """kenobot.toml as it is, or the shipped one, in which every key is a comment."""
    from importlib import resources

    if home.config_file.exists():
        return home.config_file.read_bytes().decode("utf-8")
    return resources.files("kenobot").joinpath("config", "kenobot.toml").read_text("utf-8")


def _from_flags(arguments: argparse.Namespace, loaded: "ResolvedSettings") -> "SetupChanges":
    from kenobot.cli.wizard import SetupChanges

    wishes = SetupChanges(install=arguments.embedded)
    provider, enable = arguments.provider, list(arguments.enable)
    if arguments.anthropic_key_file:
        wishes.secrets["anthropic_api_key"] = _secret(arguments.anthropic_key_file)
        provider = provider or "anthropic"
    if arguments.telegram_token_file:
        wishes.secrets["telegram_token"] = _secret(arguments.telegram_token_file)
        enable.append("telegram")
    settings = loaded.settings
    for section, key, given, current in (
        ("bot", "name", arguments.name, settings.bot.name),
        ("bot", "language", arguments.language, settings.bot.language),
        ("bot", "timezone", arguments.timezone, settings.bot.timezone),
        ("provider", "name", provider, settings.provider.name),
    ):
        if given is not None and given != current:
            wishes.values[section, key] = given
    before = list(settings.channels.enabled)
    channels = [name for name in dict.fromkeys((*before, *enable)) if name not in arguments.disable]
    if channels != before:
        wishes.values["channels", "enabled"] = channels
    owners = settings.plugin_tables("kenobot.channels").get("telegram", {}).get("owners")
    if arguments.owner and arguments.owner != owners:
        wishes.values["channels.telegram", "owners"] = arguments.owner
    return wishes


def _ask(loaded: "ResolvedSettings", wishes: "SetupChanges", installable: bool) -> bool:
    """Let the wizard ask. False when there is nobody to answer."""
    from getpass import getpass

    from kenobot.cli.wizard import Wizard

    if not sys.stdin.isatty():
        print("kenobot: nobody is here to answer questions: add --yes to ask none.", file=sys.stderr)
        return False
    try:
        Wizard(loaded, wishes, os.environ, input, getpass, print, installable).run()
    except EOFError:
        print("\nkenobot: nothing was changed.", file=sys.stderr)
        return False
    return True


def _take_secrets(wishes: "SetupChanges", loaded: "ResolvedSettings", environ: Mapping[str, str]) -> None:
    """Keep what only the environment of this moment knows, if the parts it is for are in use."""
    provider = wishes.values.get(("provider", "name"), loaded.settings.provider.name)
    channels = wishes.values.get(("channels", "enabled"), loaded.settings.channels.enabled)
    for name, variable, used in (
        ("anthropic_api_key", "ANTHROPIC_API_KEY", provider == "anthropic"),
        ("telegram_token", "TELEGRAM_BOT_TOKEN", isinstance(channels, list | tuple) and "telegram" in channels),
    ):
        if used and environ.get(variable):
            wishes.secrets.setdefault(name, environ[variable].strip())


def _secret(path: str) -> str:
    from pathlib import Path

    from kenobot.ports.errors import ConfigError

    try:
        value = (sys.stdin.read() if path == "-" else Path(path).read_text("utf-8-sig")).strip()
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"{path} cannot be read: {error}.") from error
    if not value or "\n" in value:
        raise ConfigError(f"{path} must hold one secret, on one line.")
    return value


def _try_out(home: "Home", loaded: "ResolvedSettings", clock: "Clock") -> None:
    """Build what would be started, so that its own complaints come now. Raises ConfigError."""
    from kenobot.app.embedder_choice import choose_embedder
    from kenobot.core import plugins
    from kenobot.ports.plugin import PluginContext

    surroundings = PluginContext(home.path, clock, loaded.settings.bot.name)
    groups: tuple[plugins.PluginGroup, ...] = ("kenobot.channels", "kenobot.providers")
    for group in groups:
        for name in loaded.settings.enabled_plugins(group):
            plugin = plugins.load(group, name)
            plugin.build(loaded.plugin_settings(group, name, plugin.settings), surroundings)
    choose_embedder(loaded, surroundings)


def _say_what_next(home: "Home", after: "ResolvedSettings", wishes: "SetupChanges", elsewhere: bool) -> None:
    from kenobot.core.terminal import one_line

    print(f"KenoBot is set up in {one_line(str(home.path))}.")
    for name in wishes.secrets:
        print(f"Saved credentials/{name}, readable by you only.")
    for section, key in wishes.values:
        origin = after.origin(f"{section}.{key}")
        if origin.startswith("environment "):
            print(f"Note: {section}.{key} is overruled by {origin.removeprefix('environment ')} in the environment.")
    option = f" --home {one_line(str(home.path))}" if elsewhere else ""
    print(f"Talk to it here:  kenobot chat{option}")
    if after.settings.channels.enabled:
        print(f"Serve {', '.join(after.settings.channels.enabled)}:  kenobot run{option}")
