"""`kenobot setup`."""

import argparse
import os
import sys
from functools import partial
from pathlib import Path

from kenobot.cli import options
from kenobot.cli.context import CommandContext
from kenobot.cli.deployment import find_deployment, require_deployment
from kenobot.cli.language import say
from kenobot.cli.setup import live_checks
from kenobot.cli.setup.changes import SetupChanges
from kenobot.cli.setup.channel_step import (
    ChannelStep,
    is_secret,
    lacking_one_beside,
    set_value,
    with_those_beside,
)
from kenobot.cli.setup.credential_repair import find_bad_credentials, left_out
from kenobot.cli.setup.dialog import Dialog
from kenobot.cli.setup.embedded import can_install
from kenobot.cli.setup.repair import find_repair
from kenobot.cli.setup.service_check import find_local_servers
from kenobot.cli.setup.telegram_step import CODE_SECONDS, TelegramStep
from kenobot.cli.setup.time_zone import note_guess
from kenobot.cli.setup.unasked import settle
from kenobot.cli.setup.wizard import Wizard
from kenobot.cli.setup.write import close_credentials, write_changes
from kenobot.core.plugins import unknown_plugin
from kenobot.core.settings.home import AlreadyLocked, Home
from kenobot.core.settings.load import load_settings
from kenobot.ports.errors import ConfigError
from kenobot.providers.openai_compatible import PRESETS


def setup(context: CommandContext) -> int:
    """Ask, or take the flags; check; write. Returns 0, FAILED when something is refused, NOT_FOUND without a person."""
    home, args = context.home, context.args
    if args.service:
        require_deployment().require_manager()
    close_credentials(home)
    bad = find_bad_credentials(home)
    credentials = left_out(each.path.name for each in bad)
    repair = find_repair(home, credentials)
    if repair or bad:
        text = repair.text if repair else None
        context.loaded = load_settings(home, os.environ, text=text, new_credentials=credentials)
    changes = _from_flags(context)
    changes.repair, changes.bad = repair, bad
    if args.yes or args.json:
        _take_environment(changes)
        if (zone := note_guess(changes)) and not args.json:
            print(say("Time zone: {zone}, as on this machine. --timezone sets another.", zone=zone))
        return settle(context, changes, runs=_runs(home))
    if not sys.stdin.isatty():
        return options.print_failure("Nobody is here to answer questions: add --yes to ask none.")
    try:
        if not _ask_to_repair(changes):
            return options.print_failure("Nothing was changed.", 1)
        _ask(context, changes)
    except (EOFError, KeyboardInterrupt) as left:
        print(file=sys.stderr)
        code = 130 if isinstance(left, KeyboardInterrupt) else options.NOT_FOUND
        return options.print_failure("Nothing was changed.", code)
    _take_environment(changes)
    return write_changes(context, changes)


def _ask_to_repair(changes: SetupChanges) -> bool:
    if changes.repair is None and not changes.bad:
        return True
    dialog = Dialog(changes)
    dialog.show_repair()
    dialog.show_bad_credentials()
    return dialog.agreed("broken_on", default=True)


def _ask(context: CommandContext, changes: SetupChanges) -> None:
    """Let the wizard ask. Raises EOFError and KeyboardInterrupt when the person leaves, ConfigError."""
    is_new = not context.home.config_file.exists()
    dialog, deployment = Dialog(changes), find_deployment()
    telegram = TelegramStep(
        dialog, context.clock, lambda: _runs(context.home), is_new, float(context.args.wait or CODE_SECONDS)
    )
    Wizard(
        dialog,
        telegram,
        ChannelStep(dialog, partial(_try_channel, context, changes)),
        lambda: live_checks.check_model(changes.after(), context),
        context.now,
        has_home=not is_new,
        installable=can_install(changes.loaded, context.plugin_context),
        find_servers=lambda: find_local_servers(changes.loaded),
        offers_service=deployment.offer_service(context.home) if deployment else "no",
    ).run()


def _try_channel(context: CommandContext, changes: SetupChanges, name: str) -> live_checks.LiveCheck | None:
    """Try a channel out, unless the bot runs: a platform may end its session for another."""
    if _runs(context.home):
        return None
    return live_checks.check_channel(changes.after(), name, context.plugin_context)


def _from_flags(context: CommandContext) -> SetupChanges:
    args, loaded = context.args, context.loaded
    changes = SetupChanges(context.home, loaded, install=args.embedded, service=True if args.service else None)
    provider, enable = args.provider, list(args.enable)
    if args.anthropic_key_file:
        changes.secrets["anthropic_api_key"] = _secret(args.anthropic_key_file)
        provider = provider or "anthropic"
    table = f"providers.{provider or loaded.settings.provider.name}"
    if args.key_file:
        changes.secrets[f"{table}.api_key"] = _secret(args.key_file)
    for key, value in (("model", args.model), ("base_url", args.base_url)):
        if value:
            changes.values[table, key] = value
    if args.telegram_token_file:
        changes.secrets["telegram_token"] = _secret(args.telegram_token_file)
        enable.append("telegram")
    _note_settings(changes, args, provider)
    _note_channels(changes, args)
    before = list(loaded.settings.channels.enabled)
    channels = [
        name for name in dict.fromkeys((*before, *with_those_beside(loaded, enable))) if name not in args.disable
    ]
    known = list(dict.fromkeys((*loaded.catalogue.names("kenobot.channels"), *before)))
    if unknown := next((name for name in args.disable if name not in known), None):
        raise ConfigError(unknown_plugin("kenobot.channels", unknown, known))
    if args.disable and (lame := lacking_one_beside(loaded, channels)):
        raise ConfigError(lame)
    if channels != before:
        changes.values["channels", "enabled"] = channels
    if args.owner and args.owner != changes.owners:
        changes.values["channels.telegram", "owners"] = args.owner
    return changes


def _note_settings(changes: SetupChanges, args: argparse.Namespace, provider: str | None) -> None:
    for section, key, wanted in (
        ("bot", "name", args.name),
        ("bot", "language", args.language),
        ("bot", "timezone", args.timezone),
        ("provider", "name", provider),
    ):
        if wanted is not None and wanted != getattr(getattr(changes.loaded.settings, section), key):
            changes.values[section, key] = wanted


def _note_channels(changes: SetupChanges, args: argparse.Namespace) -> None:
    """Note the settings and secrets of channels. Raises ConfigError for one that will not do."""
    given = [(option, option.partition("=")[2]) for option in args.set]
    given += [(option, _secret(option.partition("=")[2])) for option in args.secret_file]
    known = changes.loaded.catalogue.names("kenobot.channels")
    for option, value in given:
        channel, _, key = option.partition("=")[0].partition(".")
        if channel not in known or not key or "=" not in option:
            raise ConfigError("setup.no_channel_setting", option=option)
        if option in args.set and is_secret(changes.loaded, channel, key):
            raise ConfigError("setup.secret_in_command_line", channel=channel, setting=key)
        if why := set_value(changes, channel, key, value):
            raise ConfigError("setup.unfit_value", channel=channel, setting=key, reason=why)


def _take_environment(changes: SetupChanges) -> None:
    """Keep secrets that only the environment of this moment knows, if the parts they are for are in use."""
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
        raise ConfigError("files.unreadable", path=path, reason=error) from error
    if not value or "\n" in value:
        raise ConfigError("setup.not_one_secret", path=path)
    return value


def _runs(home: Home) -> bool:
    """Return whether a bot runs in the home."""
    if not (home.path / "kenobot.lock").exists():
        return False
    try:
        with home.lock():
            return False
    except AlreadyLocked:
        return True
