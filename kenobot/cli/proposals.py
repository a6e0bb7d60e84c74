"""`kenobot proposals`: what sleep has laid before the owner: list, show, approve, reject, undo."""

import argparse
import json
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from kenobot.cli import options

if TYPE_CHECKING:
    from kenobot.cognitive.sleep.proposals import DecisionContext
    from kenobot.cognitive.store.proposals import Proposal, ProposalState
    from kenobot.ports.clock import Clock
    from kenobot.storage.connection import Connection

    Deed = Callable[[Connection, int, DecisionContext], Proposal]

_number = options.id_number("not the number of a proposal")
_STATES: "tuple[ProposalState, ...]" = ("pending", "approved", "rejected", "undone")
_MEANING = """\
kinds:
  rule            approving puts a line into rules.json
  preference      approving puts a line into preferences.md
  merge_entities  approving files what is remembered of one name under another
  setting         advice: the setting is yours to change

exit codes: 0 done · 1 it cannot be done · 2 there is no such proposal
"""


def add(commands: Any, home: argparse.ArgumentParser) -> None:
    parser = commands.add_parser(
        "proposals",
        parents=[home],
        help="what sleep proposes to change: list, show, approve, reject, undo",
        description="What sleep proposes. Nothing changes before you approve it, and what you approved can be undone. "
        "Works while the bot runs and while it does not.",
        epilog=_MEANING,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parts = parser.add_subparsers(metavar="WHAT", required=True)
    listed = parts.add_parser(
        "list", parents=[home], help="what waits for you", description="What waits for you, oldest first."
    )
    listed.add_argument("--state", choices=(*_STATES, "all"), default="pending", help="only these (pending)")
    listed.add_argument("--limit", type=options.positive_int, default=100, metavar="N", help="only the last N (100)")
    options.add_json(listed)
    listed.set_defaults(command=list_)
    shown = parts.add_parser(
        "show", parents=[home], help="one with what speaks for it", description="One with what speaks for it."
    )
    shown.add_argument("number", metavar="NUMBER", type=_number, help="as `kenobot proposals list` gives it")
    options.add_json(shown)
    shown.set_defaults(command=show)
    _add_deed(parts, home, "approve", approve, "have it done")
    _add_deed(parts, home, "reject", reject, "turn it down: it is not proposed again")
    _add_deed(parts, home, "undo", undo, "put back what approving it changed")


def _add_deed(parts: Any, home: argparse.ArgumentParser, name: str, command: Callable[..., int], meaning: str) -> None:
    parser = parts.add_parser(
        name, parents=[home], help=meaning, description=f"{meaning[0].upper()}{meaning[1:]}.", epilog=_codes()
    )
    parser.add_argument("number", metavar="NUMBER", type=_number, help="as `kenobot proposals list` gives it")
    options.add_json(parser)
    parser.set_defaults(command=command)


def _codes() -> str:
    return _MEANING.strip().rpartition("\n")[2]


def list_(arguments: argparse.Namespace, clock: "Clock | None") -> int:
    from kenobot.cli import db_read
    from kenobot.cognitive.store import proposals as proposal_store

    states: Sequence[ProposalState] = _STATES if arguments.state == "all" else (arguments.state,)
    with db_read.open_readonly(options.home_of(arguments)) as connection:
        connection.row_factory = None
        found = proposal_store.list_proposals(connection, states, arguments.limit)
    return options.print_rows([_row(each) for each in found], arguments.json, _line, "There is no such proposal.")


def show(arguments: argparse.Namespace, clock: "Clock | None") -> int:
    from kenobot.cli import db_read
    from kenobot.cognitive.store import proposals as proposal_store

    with db_read.open_readonly(options.home_of(arguments)) as connection:
        connection.row_factory = None
        found = proposal_store.get(connection, arguments.number)
    if found is None:
        return options.print_failure(f"There is no proposal {arguments.number}.")
    return options.print_rows([_row(found)], arguments.json, _whole, "")


def approve(arguments: argparse.Namespace, clock: "Clock | None") -> int:
    from kenobot.cognitive.sleep import proposals

    return _decide(arguments, clock, proposals.approve)


def reject(arguments: argparse.Namespace, clock: "Clock | None") -> int:
    from kenobot.cognitive.sleep import proposals

    return _decide(arguments, clock, proposals.reject)


def undo(arguments: argparse.Namespace, clock: "Clock | None") -> int:
    from kenobot.cognitive.sleep import proposals

    return _decide(arguments, clock, proposals.undo_approval)


def _decide(arguments: argparse.Namespace, clock: "Clock | None", deed: "Deed") -> int:
    from kenobot.cli import db_write
    from kenobot.cognitive.sleep.proposals import CannotDecide, DecisionContext
    from kenobot.cognitive.store import proposals as proposal_store

    home = options.home_of(arguments)
    ruling = DecisionContext(options.clock_of(clock).now(), "owner", home.identity)
    try:
        with db_write.transaction(home) as connection:
            if proposal_store.get(connection, arguments.number) is None:
                return options.print_failure(f"There is no proposal {arguments.number}.")
            done = deed(connection, arguments.number, ruling)
    except CannotDecide as error:
        return options.print_failure(str(error), 1)
    print(json.dumps(_row(done)) if arguments.json else f"{done.id}: {done.state}")
    return 0


def _row(proposal: "Proposal") -> dict[str, Any]:
    from dataclasses import asdict

    row = asdict(proposal)
    del row["undo"]  # it holds whole files
    return row


def _line(row: Mapping[str, Any]) -> str:
    from kenobot.core.terminal import one_line

    parts = (f"{row['id']:>4}", f"{row['state']:<9}", row["at"][:10], f"{row['kind']:<14}", row["title"])
    return one_line("  ".join(parts))


def _whole(row: Mapping[str, Any]) -> str:
    from kenobot.core.terminal import escape_controls, one_line

    names = ("id", "state", "kind", "at", "decided", "by", "title")
    head = [f"{name + ':':<10} {one_line(str(row[name]))}" for name in names if row[name]]
    told = [
        f"{name + ':':<10} {one_line(json.dumps(row[name], ensure_ascii=False))}"
        for name in ("payload", "evidence")
        if row[name]
    ]
    return "\n".join([*head, *told, "", escape_controls(row["text"])])
