"""What the owner decides about a proposal, and what then happens. Nothing happens by itself.

kind: what approving does. "rule" puts a line into rules.json, "preference" one into preferences.md; "merge_entities"
files what is remembered of one name under another; "setting" is advice, which the owner follows by hand.
"""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from kenobot.cognitive.control.undo import UndoError, undo
from kenobot.cognitive.identity import amend
from kenobot.cognitive.identity.amend import AmendError
from kenobot.cognitive.store import events, proposals
from kenobot.cognitive.store import records as store
from kenobot.cognitive.store.change import ChangeContext, change
from kenobot.cognitive.store.proposals import Proposal, ProposalState
from kenobot.cognitive.store.records import Json
from kenobot.ports.errors import KenobotError
from kenobot.ports.identity import OWNER_SCOPE
from kenobot.storage.connection import Connection, savepoint

PROPOSAL_KINDS = ("rule", "preference", "merge_entities", "setting")
_FILES = {"rule": "rules.json", "preference": "preferences.md"}
_MOST = 5000  # records that one merge files anew


class CannotDecide(KenobotError):
    """It is not done; the text says why, and what to do."""


@dataclass(frozen=True, slots=True)
class DecisionContext:
    """Who decides, when, and where the identity files are."""

    at: datetime
    by: str
    identity: Path

    def change_context(self, reason: str) -> ChangeContext:
        return ChangeContext(self.at, self.by, reason)


def approve(connection: Connection, number: int, ruling: DecisionContext) -> Proposal:
    """Do what a proposal says, inside a transaction. Raises CannotDecide, and then nothing is done.

    A file is written before the transaction is on disk. Should that fail, the proposal waits on, and approving it
    another time finds its line in the file and leaves that as it is.
    """
    known = _demand(connection, number, "pending")
    with savepoint(connection, "approve"):
        root = events.add_event(
            connection,
            ruling.at,
            ruling.by,
            proposals.APPROVED,
            data={"proposal": number, "kind": known.kind, "reason": known.key},
        )
        kept = _carry_out(connection, known, ruling, root)
        proposals.set_state(connection, number, "pending", "approved", ruling.at, ruling.by, kept)
    return _now(connection, number)


def reject(connection: Connection, number: int, ruling: DecisionContext) -> Proposal:
    """Turn a proposal down, inside a transaction: it is not made another time. Raises CannotDecide."""
    _demand(connection, number, "pending")
    proposals.set_state(connection, number, "pending", "rejected", ruling.at, ruling.by, {})
    events.add_event(connection, ruling.at, ruling.by, "rejected", data={"proposal": number})
    return _now(connection, number)


def undo_approval(connection: Connection, number: int, ruling: DecisionContext) -> Proposal:
    """Put back what approving a proposal overwrote, inside a transaction. Raises CannotDecide."""
    known = _demand(connection, number, "approved")
    with savepoint(connection, "takeback"):
        event = known.undo.get("event")
        if isinstance(event, int):
            try:
                undo(connection, event, (OWNER_SCOPE, str(known.payload.get("scope", OWNER_SCOPE))), ruling)
            except UndoError as error:
                raise CannotDecide(str(error)) from error
        if known.kind in _FILES:
            _restore(known, ruling)
        proposals.set_state(connection, number, "approved", "undone", ruling.at, ruling.by, {})
        events.add_event(connection, ruling.at, ruling.by, "taken back", data={"proposal": number})
    return _now(connection, number)


def _demand(connection: Connection, number: int, state: ProposalState) -> Proposal:
    known = proposals.get(connection, number)
    if known is None:
        raise CannotDecide(f"There is no proposal {number}.")
    if known.state != state:
        raise CannotDecide(f"Proposal {number} is {known.state}, not {state}.")
    return known


def _now(connection: Connection, number: int) -> Proposal:
    found = proposals.get(connection, number)
    assert found is not None
    return found


def _carry_out(connection: Connection, known: Proposal, ruling: DecisionContext, root: int) -> dict[str, Json]:
    """Do it; returns what is needed to take it back."""
    match known.kind:
        case "rule" | "preference":
            return _amend(known, ruling)
        case "merge_entities":
            return _merge(connection, known, ruling, root)
        case "setting":
            return {}
        case _:
            raise CannotDecide(f"Nobody knows how to carry out a proposal of the kind {known.kind}.")


# ── identity files ───────────────────────────────────────────────────────────────────────────────────────────────


def _amend(known: Proposal, ruling: DecisionContext) -> dict[str, Json]:
    path = ruling.identity / _FILES[known.kind]
    try:
        before = amend.read_text(path)
        if known.kind == "rule":
            amended = amend.add_rule(before, _rule(known.payload))
        else:
            amended = amend.add_preference(before, str(known.payload.get("text") or known.text))
        if amended.inserted:
            amend.replace_text(path, before, amended.text)
    except AmendError as error:
        raise CannotDecide(str(error)) from error
    return {"before": before, "after": _digest(amended.text), "piece": amended.inserted}


def _restore(known: Proposal, ruling: DecisionContext) -> None:
    before, piece = known.undo.get("before"), known.undo.get("piece")
    if not isinstance(before, str) or not isinstance(piece, str):
        raise CannotDecide(f"What proposal {known.id} overwrote is no longer known: change the file by hand.")
    if not piece:
        return  # it stood there already
    path = ruling.identity / _FILES[known.kind]
    try:
        now = amend.read_text(path)
        after = now if _digest(now) == known.undo.get("after") else ""
        restored = amend.revert_amendment(now, before, after, piece)
        if known.kind == "rule" and restored.strip():
            amend.require_rules(restored)
        amend.replace_text(path, now, restored)
    except AmendError as error:
        raise CannotDecide(f"{path.name}: {error}") from error


def _rule(payload: Mapping[str, Json]) -> dict[str, Json]:
    instruction = payload.get("instruction")
    if not isinstance(instruction, str) or not instruction.strip():
        raise CannotDecide("The proposal holds no rule.")
    return {"category": str(payload.get("category") or "general"), "instruction": " ".join(instruction.split())}


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8")).hexdigest()


# ── names ────────────────────────────────────────────────────────────────────────────────────────────────────────


def _merge(connection: Connection, known: Proposal, ruling: DecisionContext, root: int) -> dict[str, Json]:
    """File what is remembered of one subject under another's name."""
    scope, old, new = (known.payload.get(name) for name in ("scope", "from", "into"))
    if not (isinstance(scope, str) and isinstance(old, str) and isinstance(new, str) and old and new and old != new):
        raise CannotDecide("The proposal does not say which names are one.")
    act = ChangeContext(ruling.at, ruling.by, f"{old} and {new} are one", part_of=root)
    records = store.newest_about(connection, scope, old, _MOST)
    if not records:
        raise CannotDecide("Nothing is remembered under that name any more.")
    for record in records:
        change(connection, record, "merged", {"subject": new, "updated": store.stamp(ruling.at)}, act)
    return {"event": root}
