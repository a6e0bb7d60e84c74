"""Set up without questions: check what the flags gave, and tell a script of each step."""

import contextlib
import json
import sys
from collections.abc import Iterator

from kenobot.channels.telegram.owner_code import OwnerUnknown
from kenobot.cli import options
from kenobot.cli.context import CommandContext
from kenobot.cli.language import translate
from kenobot.cli.setup import live_checks
from kenobot.cli.setup.changes import SetupChanges
from kenobot.cli.setup.channel_step import list_offered
from kenobot.cli.setup.dialog import MARKS, Dialog
from kenobot.cli.setup.live_checks import LiveCheck
from kenobot.cli.setup.telegram_step import CODE_SECONDS, claim_owner
from kenobot.cli.setup.write import build_plugins, write_changes
from kenobot.core.redaction import one_line
from kenobot.ports.errors import ConfigError
from kenobot.ports.sentences import Sentence

_BAD = ("refused", "held")


def settle(context: CommandContext, changes: SetupChanges, *, runs: bool) -> int:
    """Check and write. Returns FAILED when something is refused; nothing is written then if the flags brought it.

    runs: whether the bot of this home runs. Raises ConfigError.
    """
    args, is_bad = context.args, False
    _report_repairs(args.json, changes)
    if not args.find_owner:  # without one, the bot cannot be built yet
        build_plugins(context, changes.after())
    for step, is_new, check in () if args.no_check else _checks(context, changes, runs):
        _report(args.json, step, check)
        if check.state in _BAD:
            if is_new:
                return options.print_failure("Nothing was changed; --no-check would write it all the same.", 1)
            is_bad = True
    if args.find_owner and not _find_owner(context, changes, runs):
        return options.FAILED
    after = changes.after()
    with _on_stderr(args.json):
        code = write_changes(context, changes)
    if args.json:
        row = {"step": "home", "state": "ok", "path": str(context.home.path), "saved": [*changes.secrets]}
        changed = [f"{section}.{key}" for section, key in changes.values]
        print(json.dumps(row | {"changed": changed, "channels": [*after.settings.channels.enabled]}))
    return options.FAILED if is_bad else code


def _checks(context: CommandContext, changes: SetupChanges, runs: bool) -> Iterator[tuple[str, bool, LiveCheck]]:
    """Yield the result of each check with its step, and whether it is of something that changes."""
    after = changes.after()
    provider = after.settings.provider.name
    if provider != "offline":
        is_new = changes.touches("kenobot.providers", provider)
        yield "model", is_new, live_checks.check_model(after, context)
    if "telegram" in after.settings.channels.enabled:
        check = live_checks.check_telegram(after, context.clock, runs=runs)
        if check.state == "held" and context.args.remove_webhook:
            failed = live_checks.remove_webhook(after, context.clock)
            check = failed or live_checks.check_telegram(after, context.clock, runs=runs)
        yield "telegram", changes.touches("kenobot.channels", "telegram"), check
    for name in list_offered(after):
        if name in after.settings.channels.enabled and not runs:
            found = live_checks.check_channel(after, name, context.plugin_context)
            if found is not None:
                yield name, changes.touches("kenobot.channels", name), found


def _find_owner(context: CommandContext, changes: SetupChanges, runs: bool) -> bool:
    """Ask the owner to send a code to the bot. Returns whether they did."""
    as_json = context.args.json
    if "telegram" not in changes.channels:
        raise ConfigError("setup.find_owner_needs_telegram")
    if runs:
        raise ConfigError("setup.bot_runs")
    dialog, seconds = Dialog(changes), float(context.args.wait or CODE_SECONDS)

    def announce(code: str, name: str) -> None:
        if as_json:
            link = f"https://t.me/{name}?start={code}"
            print(json.dumps({"step": "owner", "state": "waiting", "code": code, "bot": name, "link": link}))
        else:
            dialog.tell("owner_code", code=code, bot=name, minutes=f"{seconds / 60:.0f}")
        sys.stdout.flush()

    try:
        user, name = claim_owner(dialog, context.clock, announce, seconds)
    except (OwnerUnknown, ConfigError) as error:
        _report(as_json, "owner", LiveCheck("refused", str(error)))
        return False
    _report(
        as_json,
        "owner",
        LiveCheck("ok", Sentence("The owner is {name}, with the id {user}.", name=name, user=user), user),
    )
    return True


def _report_repairs(as_json: bool, changes: SetupChanges) -> None:
    if not as_json:
        dialog = Dialog(changes)
        dialog.show_repair()
        dialog.show_bad_credentials()
        return
    if repair := changes.repair:
        lines = [line for line, _ in repair.lines]
        row = {"step": "settings", "state": "repaired", "text": "\n".join(repair.mistakes), "lines": lines}
        print(json.dumps(row | {"copy": str(repair.copy)}))
    for bad in changes.bad:
        row = {"step": "credentials", "state": "repaired", "name": bad.path.name, "text": "\n".join(bad.mistakes)}
        print(json.dumps(row | {"copy": str(bad.aside)}))


def _report(as_json: bool, step: str, check: LiveCheck) -> None:
    if as_json:
        print(json.dumps({"step": step, "state": check.state, "name": check.name, "text": check.text}))
    else:
        print(f"{MARKS[check.state]} {one_line(translate(check.text))}")


@contextlib.contextmanager
def _on_stderr(wanted: bool) -> Iterator[None]:
    """Print what is for people on stderr."""
    with contextlib.redirect_stdout(sys.stderr) if wanted else contextlib.nullcontext():
        yield
