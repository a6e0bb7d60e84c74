"""`kenobot proposals`: changes proposed by consolidation, for the owner to decide."""

import json
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from kenobot.cli import options
from kenobot.cli.context import CommandContext
from kenobot.cli.language import say
from kenobot.cli.table import print_table
from kenobot.cognitive.memory import Proposals
from kenobot.core.redaction import escape_controls, one_line
from kenobot.ports.memory_changes import CannotDecide, DecisionContext, Proposal, ProposalState

_STATES: tuple[ProposalState, ...] = ("pending", "approved", "rejected", "undone")
_DECIDED: tuple[ProposalState, ...] = ("approved", "rejected", "undone")
_NONE = "There are no proposals yet: sleep makes them, `kenobot sleep run` starts it."
_DECISIONS = {"approve": Proposals.approve, "reject": Proposals.reject, "undo": Proposals.undo}


def list_(context: CommandContext) -> int:
    states = _STATES if context.args.state == "all" else (context.args.state,)
    with context.read() as connection:
        rows = [_row(each) for each in Proposals.list_proposals(connection, states, context.args.limit)]
        decided = len(Proposals.list_proposals(connection, _DECIDED)) if not rows else 0
    if rows and not context.args.json:
        print_table(("#", "state", "date", "decided", "kind", "proposal"), [_cells(context, row) for row in rows])
        return 0
    if context.args.state == "pending" and decided:
        nothing = say(
            "No proposal waits for you. {decided} were decided: `kenobot proposals list --state all` shows them.",
            decided=decided,
        )
    else:
        fit = options.find_filters(context.args, "--state")
        nothing = say("No proposal fits {fit}.", fit=fit) if fit and context.args.state != "all" else _NONE
    return options.print_rows(rows, context.args.json, str, nothing)


def show(context: CommandContext) -> int:
    with context.read() as connection:
        proposal = Proposals.get(connection, context.args.number)
    if proposal is None:
        return options.print_failure(CannotDecide("proposals.no_such_proposal", number=context.args.number))
    return options.print_rows([_row(proposal)], context.args.json, lambda row: _render_whole(context, row))


def decide(context: CommandContext) -> int:
    number = context.args.number
    apply = _DECISIONS[context.args.command]
    try:
        with context.write() as connection:
            if Proposals.get(connection, number) is None:
                return options.print_failure(CannotDecide("proposals.no_such_proposal", number=number))
            decided = apply(
                connection, number, DecisionContext(context.now, "owner", context.home.identity, context.home.skills)
            )
    except CannotDecide as error:
        return options.print_failure(error, options.FAILED)
    return options.print_row(_row(decided), context.args.json, f"{decided.id}: {say(decided.state)}")


def _row(proposal: Proposal) -> dict[str, Any]:
    row = asdict(proposal)
    del row["undo"]  # it holds whole files
    return row


def _cells(context: CommandContext, row: Mapping[str, Any]) -> tuple[object, ...]:
    decided = context.local_time(row["decided"]) if row["decided"] else "-"
    return row["id"], say(row["state"]), context.local_time(row["at"])[:10], decided, row["kind"], row["title"]


def _render_whole(context: CommandContext, row: Mapping[str, Any]) -> str:
    shown = dict(row) | {"state": say(row["state"]), "at": context.local_time(row["at"])}
    shown["decided"] = context.local_time(row["decided"]) if row["decided"] else ""
    names = ("id", "state", "kind", "at", "decided", "by", "title")
    head = [f"{say(name) + ':':<10} {one_line(str(shown[name]))}" for name in names if shown[name]]
    told = [
        f"{say(name) + ':':<10} {one_line(json.dumps(row[name], ensure_ascii=False))}"
        for name in ("payload", "evidence")
        if row[name]
    ]
    return "\n".join([*head, *told, "", escape_controls(row["text"])])
