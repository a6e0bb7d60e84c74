"""`kenobot tools`: what tools did, and what they may do without asking again."""

from dataclasses import asdict
from typing import Any

from kenobot.cli import options
from kenobot.cli.context import CommandContext
from kenobot.cli.language import say
from kenobot.cli.table import print_table
from kenobot.core.redaction import escape_controls, one_line
from kenobot.storage import tool_grants, tool_runs

_NO_RUNS = (
    "No tool was called in the last thirty days. `tools.enabled` in kenobot.toml names those that models may call."
)
_OUTCOMES = {"done": "done", "failed": "did not work", "refused": "not run", "begun": "not finished"}
_NO_GRANTS = "No call is allowed for good: “Always for this” below a question does that."


def log(context: CommandContext) -> int:
    with context.read() as connection:
        runs = tool_runs.latest_runs(connection, context.args.limit, context.args.tool)
    rows = [asdict(run) | {"at": run.at.isoformat()} for run in runs]
    if rows and not context.args.json:
        cells = [
            (
                context.local_time(run.at),
                run.session,
                say(_OUTCOMES[run.outcome]),
                f"{run.seconds:.1f}",
                one_line(run.call)[:100],
            )
            for run in runs
        ]
        print_table(("when", "chat", "what", "seconds", "call"), cells)
        return 0
    return options.print_rows(rows, context.args.json, str, _NO_RUNS)


def allowed(context: CommandContext) -> int:
    with context.read() as connection:
        grants = tool_grants.list_grants(connection)
    rows: list[dict[str, Any]] = [asdict(each) | {"created": each.created.isoformat()} for each in grants]
    if rows and not context.args.json:
        print_table(
            ("#", "since", "call"),
            [(each.id, context.local_time(each.created), escape_controls(each.call)) for each in grants],
        )
        return 0
    return options.print_rows(rows, context.args.json, str, _NO_GRANTS)


def withdraw(context: CommandContext) -> int:
    number = context.args.number
    with context.write() as connection:
        if not tool_grants.remove_grant(connection, number):
            return options.print_failure(
                say("No call has the number {number}: `kenobot tools allowed` lists them.", number=number)
            )
    return options.print_row({"withdrawn": number}, context.args.json, f"{number}: {say('withdrawn')}")
