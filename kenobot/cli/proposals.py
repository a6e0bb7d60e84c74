"""`kenobot proposals`: changes proposed by consolidation, for the owner to decide."""

import json
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from kenobot.cli import options
from kenobot.cli.context import CommandContext
from kenobot.cognitive.sleep import proposals as decisions
from kenobot.cognitive.sleep.proposals import CannotDecide, DecisionContext
from kenobot.cognitive.store import proposals as proposal_rows
from kenobot.cognitive.store.proposals import Proposal, ProposalState
from kenobot.core.redaction import escape_controls, one_line

_STATES: tuple[ProposalState, ...] = ("pending", "approved", "rejected", "undone")
_DECISIONS = {"approve": decisions.approve, "reject": decisions.reject, "undo": decisions.undo_approval}


def list_(context: CommandContext) -> int:
    states = _STATES if context.args.state == "all" else (context.args.state,)
    with context.read() as connection:
        rows = [_row(each) for each in proposal_rows.list_proposals(connection, states, context.args.limit)]
    named = "" if context.args.state == "all" else f" {context.args.state}"
    return options.print_rows(rows, context.args.json, _line, f"There are no{named} proposals.")


def show(context: CommandContext) -> int:
    with context.read() as connection:
        proposal = proposal_rows.get(connection, context.args.number)
    if proposal is None:
        return options.print_failure(f"There is no proposal {context.args.number}.")
    return options.print_rows([_row(proposal)], context.args.json, _whole)


def decide(context: CommandContext) -> int:
    number = context.args.number
    apply = _DECISIONS[context.args.command]
    try:
        with context.write() as connection:
            if proposal_rows.get(connection, number) is None:
                return options.print_failure(f"There is no proposal {number}.")
            decided = apply(connection, number, DecisionContext(context.now, "owner", context.home.identity))
    except CannotDecide as error:
        return options.print_failure(str(error), options.FAILED)
    return options.print_row(_row(decided), context.args.json, f"{decided.id}: {decided.state}")


def _row(proposal: Proposal) -> dict[str, Any]:
    row = asdict(proposal)
    del row["undo"]  # it holds whole files
    return row


def _line(row: Mapping[str, Any]) -> str:
    parts = (f"{row['id']:>4}", f"{row['state']:<9}", row["at"][:10], f"{row['kind']:<14}", row["title"])
    return one_line("  ".join(parts))


def _whole(row: Mapping[str, Any]) -> str:
    names = ("id", "state", "kind", "at", "decided", "by", "title")
    head = [f"{name + ':':<10} {one_line(str(row[name]))}" for name in names if row[name]]
    told = [
        f"{name + ':':<10} {one_line(json.dumps(row[name], ensure_ascii=False))}"
        for name in ("payload", "evidence")
        if row[name]
    ]
    return "\n".join([*head, *told, "", escape_controls(row["text"])])
