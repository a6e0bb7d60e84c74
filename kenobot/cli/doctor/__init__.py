"""`kenobot doctor`: whether the bot is well, what is not, and what to do about it."""

from collections.abc import Callable, Iterator

from kenobot.cli import options
from kenobot.cli.context import CommandContext
from kenobot.cli.deployment import find_deployment
from kenobot.cli.doctor import home_checks, outside_checks, tool_checks
from kenobot.cli.doctor.findings import Finding, print_findings
from kenobot.cli.language import say, word_error
from kenobot.ports.errors import KenobotError

_Check = Callable[[CommandContext], Iterator[Finding]]


def doctor(context: CommandContext) -> int:
    """Run every check. Returns the exit code, see `print_findings`."""
    args = context.args
    if not context.home.path.is_dir():
        raise options.NoDatabase("home.missing", path=context.home.path)
    findings = list(_all_findings(context, offline=args.offline))
    fixed = [finding.fix() for finding in findings if args.fix and finding.fix is not None]
    if fixed:
        findings = list(_all_findings(context, offline=args.offline))
    return print_findings(findings, fixed, whole=args.all, as_json=args.json)


def _all_findings(context: CommandContext, *, offline: bool) -> Iterator[Finding]:
    settings = list(home_checks.check_settings(context))
    yield from settings
    is_valid = settings[0].severity == "ok"
    is_whole = not context.home.restore_mark.exists()
    has_database = context.home.database.exists() and is_whole
    checks: list[tuple[_Check, bool]] = [
        (home_checks.check_rights, True),
        (home_checks.check_room, True),
        (home_checks.check_database, not is_whole or (is_valid and has_database)),
        (home_checks.check_index, has_database),
        (home_checks.check_files, is_valid and has_database),
        (home_checks.check_messages, is_valid and has_database),
        (home_checks.check_backups, is_valid),
        (home_checks.check_replaced, True),
        (outside_checks.check_plugins, is_valid),
        (tool_checks.check_tools, is_valid),
        (tool_checks.check_skills, is_valid),
        (tool_checks.check_servers, is_valid),
        (outside_checks.check_access, is_valid),
        (outside_checks.check_secrets, is_valid),
        (outside_checks.check_exposure, is_valid),
        (outside_checks.check_services, is_valid and not offline),
        (_check_service, is_valid),
        (outside_checks.check_running, True),
    ]
    for check, applies in checks:
        if applies:
            yield from _run_check(check, context)


def _check_service(context: CommandContext) -> Iterator[Finding]:
    deployment = find_deployment()
    return deployment.check_service(context) if deployment else iter(())


def _run_check(check: _Check, context: CommandContext) -> Iterator[Finding]:
    """Run a check; what it cannot find out is a finding as well."""
    try:
        yield from check(context)
    except (KenobotError, OSError) as error:
        name = check.__name__.lstrip("_").removeprefix("check_")
        advice = say("Mend what else was found, then run `kenobot doctor` again.")
        yield Finding(name, "error", say("This could not be checked: {reason}", reason=word_error(error)), advice)
