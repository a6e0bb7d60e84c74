"""Approve, reject and undo proposals: what approving one does is told by its kind.

"rule" adds a line to rules.json, "preference" one to preferences.md; "merge_entities" files what is remembered of one
name under another; "skill" writes a folder below skills/, trusted as it was approved; "setting" is advice, which the
owner follows by hand.
"""

import hashlib
from collections.abc import Mapping

from kenobot.cognitive.control.undo import undo
from kenobot.cognitive.store import events, proposals
from kenobot.cognitive.store import records as store
from kenobot.cognitive.store.change import change
from kenobot.identity import amend
from kenobot.identity.amend import AmendError
from kenobot.ports.identity import OWNER_SCOPE
from kenobot.ports.json_value import Json
from kenobot.ports.memory_changes import (
    CannotDecide,
    ChangeContext,
    DecisionContext,
    Proposal,
    ProposalState,
    UndoError,
)
from kenobot.ports.sentences import Sentence
from kenobot.skills import files, intake, trust
from kenobot.skills.front_matter import UnusableSkill
from kenobot.skills.written import render_skill
from kenobot.storage.connection import Connection, savepoint
from kenobot.storage.times import stamp

_FILES = {"rule": "rules.json", "preference": "preferences.md"}
_MOST = 5000  # records of one merge


def approve(connection: Connection, number: int, context: DecisionContext) -> Proposal:
    """Do what a proposal says, inside a transaction. Raises CannotDecide, and then nothing is done.

    A file is written before the transaction is on disk. Should that fail, the proposal stays pending, and approving it
    again finds its line in the file and leaves that as it is.
    """
    proposal = _require(connection, number, "pending")
    with savepoint(connection, "approve"):
        data: dict[str, Json] = {"proposal": number, "kind": proposal.kind, "reason": proposal.key}
        root = events.add_event(connection, context.at, context.by, proposals.APPROVED, data=data)
        undo_data = _carry_out(connection, proposal, context, root)
        proposals.set_state(connection, number, "pending", "approved", context.at, context.by, undo_data)
    return _reload(connection, number)


def reject(connection: Connection, number: int, context: DecisionContext) -> Proposal:
    """Reject a proposal, inside a transaction: it is not made another time. Raises CannotDecide."""
    _require(connection, number, "pending")
    proposals.set_state(connection, number, "pending", "rejected", context.at, context.by, {})
    events.add_event(connection, context.at, context.by, "rejected", data={"proposal": number})
    return _reload(connection, number)


def undo_approval(connection: Connection, number: int, context: DecisionContext) -> Proposal:
    """Restore what approving a proposal overwrote, inside a transaction. Raises CannotDecide."""
    proposal = _require(connection, number, "approved")
    with savepoint(connection, "takeback"):
        event = proposal.undo.get("event")
        if isinstance(event, int):
            try:
                undo(connection, event, (OWNER_SCOPE, str(proposal.payload.get("scope", OWNER_SCOPE))), context)
            except UndoError as error:
                raise CannotDecide(str(error)) from error
        if proposal.kind in _FILES:
            _restore(proposal, context)
        if proposal.kind == "skill":
            _remove_skill(connection, proposal, context)
        proposals.set_state(connection, number, "approved", "undone", context.at, context.by, {})
        events.add_event(connection, context.at, context.by, "taken back", data={"proposal": number})
    return _reload(connection, number)


def _require(connection: Connection, number: int, state: ProposalState) -> Proposal:
    proposal = proposals.get(connection, number)
    if proposal is None:
        raise CannotDecide("proposals.no_such_proposal", number=number)
    if proposal.state != state:
        raise CannotDecide("proposals.wrong_state", number=number, state=proposal.state, wanted=state)
    return proposal


def _reload(connection: Connection, number: int) -> Proposal:
    proposal = proposals.get(connection, number)
    assert proposal is not None
    return proposal


def _carry_out(connection: Connection, proposal: Proposal, context: DecisionContext, root: int) -> dict[str, Json]:
    """Do what a proposal says; returns the data that undoing it needs."""
    match proposal.kind:
        case "rule" | "preference":
            return _amend(proposal, context)
        case "merge_entities":
            return _merge(connection, proposal, context, root)
        case "skill":
            return _write_skill(connection, proposal, context)
        case "setting":
            return {}
        case _:
            raise CannotDecide("proposals.unknown_kind", kind=proposal.kind)


# ── identity files ───────────────────────────────────────────────────────────────────────────────────────────────


def _amend(proposal: Proposal, context: DecisionContext) -> dict[str, Json]:
    path = context.identity / _FILES[proposal.kind]
    try:
        before = amend.read_text(path)
        if proposal.kind == "rule":
            amended = amend.add_rule(before, _rule(proposal.payload))
        else:
            amended = amend.add_preference(before, str(proposal.payload.get("text") or proposal.text))
        if amended.inserted:
            amend.replace_text(path, before, amended.text)
    except AmendError as error:
        raise CannotDecide(str(error)) from error
    return {"before": before, "after": _digest(amended.text), "piece": amended.inserted}


def _restore(proposal: Proposal, context: DecisionContext) -> None:
    before, piece = proposal.undo.get("before"), proposal.undo.get("piece")
    if not isinstance(before, str) or not isinstance(piece, str):
        raise CannotDecide("proposals.overwritten_lost", number=proposal.id)
    if not piece:
        return  # it stood there already
    path = context.identity / _FILES[proposal.kind]
    try:
        current = amend.read_text(path)
        after = current if _digest(current) == proposal.undo.get("after") else ""
        restored = amend.revert_amendment(current, before, after, piece)
        if proposal.kind == "rule" and restored.strip():
            amend.require_rules(restored)
        amend.replace_text(path, current, restored)
    except AmendError as error:
        raise CannotDecide("proposals.unwritable", name=path.name, reason=error) from error


def _rule(payload: Mapping[str, Json]) -> dict[str, Json]:
    instruction = payload.get("instruction")
    if not isinstance(instruction, str) or not instruction.strip():
        raise CannotDecide("proposals.no_rule")
    return {"category": str(payload.get("category") or "general"), "instruction": " ".join(instruction.split())}


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8")).hexdigest()


# ── skills ───────────────────────────────────────────────────────────────────────────────────────────────────────────


def _write_skill(connection: Connection, proposal: Proposal, context: DecisionContext) -> dict[str, Json]:
    """Write a skill, and trust it: its words are those that the owner was shown."""
    name, description, body = (proposal.payload.get(part) for part in ("name", "description", "body"))
    if not (isinstance(name, str) and isinstance(description, str) and isinstance(body, str)):
        raise CannotDecide("proposals.no_skill")
    if context.skills is None:
        raise CannotDecide("proposals.no_skills_folder")
    written = render_skill(name, description, body)
    try:
        intake.write_again(context.skills, name, written)
    except UnusableSkill as error:
        raise CannotDecide(str(error)) from error
    trust.trust(connection, name, written.digest, context.at)
    return {"skill": name, "hash": written.digest}


def _remove_skill(connection: Connection, proposal: Proposal, context: DecisionContext) -> None:
    """Remove a skill that nobody has changed since."""
    name, digest = proposal.undo.get("skill"), proposal.undo.get("hash")
    if context.skills is None or not isinstance(name, str):
        raise CannotDecide("proposals.overwritten_lost", number=proposal.id)
    folder = context.skills / name
    try:
        if folder.exists():
            if files.read(folder).digest != digest:
                raise CannotDecide("proposals.skill_changed", name=name)
            intake.remove_skill(context.skills, name)
    except UnusableSkill as error:
        raise CannotDecide(str(error)) from error
    trust.withdraw(connection, name)


# ── names ────────────────────────────────────────────────────────────────────────────────────────────────────────


def _merge(connection: Connection, proposal: Proposal, context: DecisionContext, root: int) -> dict[str, Json]:
    """File what is remembered of one subject under another's name."""
    scope, old, new = (proposal.payload.get(name) for name in ("scope", "from", "into"))
    if not (isinstance(scope, str) and isinstance(old, str) and isinstance(new, str) and old and new and old != new):
        raise CannotDecide("proposals.no_names")
    act = ChangeContext(context.at, context.by, Sentence("reasons.names_are_one", old=old, new=new), part_of=root)
    records = store.list_newest_about(connection, scope, old, _MOST)
    if not records:
        raise CannotDecide("proposals.nothing_under_name")
    for record in records:
        change(connection, record, "merged", {"subject": new, "updated": stamp(context.at)}, act)
    return {"event": root}
