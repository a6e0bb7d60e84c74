"""Commands that the owner alone gives: on people, on proposals of sleep, on memory files that vanished or came back."""

from collections.abc import Mapping, Sequence

from kenobot.agent.commands.command import CommandCall, CommandContext, numbered_lines, one_line, time_ago_text
from kenobot.cognitive.control import missing_files, revived_lines
from kenobot.cognitive.control.find import parse_number
from kenobot.cognitive.control.missing_files import PendingForget, forget_batch
from kenobot.cognitive.control.revived_lines import RevivedLine
from kenobot.cognitive.identity.identity_files import FOLDER
from kenobot.cognitive.policy import DEFAULT
from kenobot.cognitive.sleep import proposals
from kenobot.cognitive.sleep.proposals import CannotDecide, DecisionContext
from kenobot.cognitive.store import proposals as proposal_store
from kenobot.cognitive.store import records as store
from kenobot.cognitive.store.proposals import Proposal
from kenobot.core import texts
from kenobot.core.i18n import Language, Text
from kenobot.gateway import pairing
from kenobot.gateway.pairing import OpenPairing
from kenobot.storage import approved_people
from kenobot.storage.approved_people import ApprovedPerson
from kenobot.storage.connection import Connection

_POLICY = DEFAULT.control
_REVOKE = frozenset({"revoke", "revocar"})
_FORGET = frozenset({"forget", "olvida", "olvidar"})
_REMEMBER = frozenset({"remember", "recuerda", "recordar"})
_KEEP = frozenset({"keep", "guarda", "conserva", "guardar", "conservar"})
_SHOWN = 10  # proposals in a list
_LONGEST = 400  # characters of a proposal in a list
_DOES: Mapping[str, Text] = {
    "rule": Text(" (a line in rules.json)", " (una línea en rules.json)"),
    "preference": Text(" (a line in preferences.md)", " (una línea en preferences.md)"),
    "merge_entities": Text(" (two names become one)", " (dos nombres pasan a ser uno)"),
    "setting": Text(" (advice only)", " (solo un consejo)"),
}


# ── people ───────────────────────────────────────────────────────────────────────────────────────────────────────


def pair(connection: Connection, call: CommandCall, context: CommandContext) -> str:
    """`/pair CODE`: approve the person who was given the code."""
    if not call.arguments:
        return texts.PAIR_HOW(call.language)
    result = pairing.approve(connection, call.arguments, call.at, context.access.is_owner)
    match result.kind:
        case "approved":
            assert result.person is not None
            return texts.PAIR_DONE(call.language, who=_person_text(result.person))
        case "wrong":
            return texts.PAIR_WRONG(call.language, left=result.tries_left)
        case "locked":
            return texts.PAIR_LOCKED(call.language)
        case "nothing":
            return texts.PAIR_NOTHING(call.language)


def show_people(connection: Connection, call: CommandCall, _: CommandContext) -> str:
    """`/people`: list approved and waiting people; `/people revoke [CHANNEL] ID`: revoke one."""
    people = approved_people.list_people(connection)
    word, *account = call.arguments.split()[:4] or [""]
    if word.lower() in _REVOKE:
        named = [person for person in people if account in ([person.user], [person.channel, person.user])]
        if len(named) != 1:
            return texts.PEOPLE_UNKNOWN(call.language)
        approved_people.revoke_person(connection, *named[0].account)
        return texts.PEOPLE_REVOKED(call.language, who=_person_text(named[0]))
    lines = "\n".join(f"- {_person_text(person)}" for person in people)
    parts = [texts.PEOPLE_SOME(call.language, lines=lines) if people else texts.PEOPLE_NONE(call.language)]
    if waiting := pairing.open_pairings(connection, call.at):
        lines = "\n".join(f"- {_person_text(person)}" for person in waiting)
        parts.append(texts.PEOPLE_WAITING(call.language, lines=lines))
    return "\n\n".join(parts)


def _person_text(person: ApprovedPerson | OpenPairing) -> str:
    """Name a person by the name that they chose and the id that is theirs alone."""
    return f"{person.name} ({person.channel} `{person.user}`)".strip()


# ── proposals of sleep ───────────────────────────────────────────────────────────────────────────────────────────


def show_proposals(connection: Connection, call: CommandCall, _: CommandContext) -> str:
    """`/proposals`: list the proposals that wait for a decision."""
    waiting = proposal_store.list_proposals(connection)
    if not waiting:
        return texts.PROPOSALS_NONE(call.language)
    lines = "\n".join(_line(each, call.language) for each in waiting[:_SHOWN])
    parts = [texts.PROPOSALS_SOME(call.language, lines=lines)]
    if len(waiting) > _SHOWN:
        parts.append(texts.PROPOSALS_MORE(call.language, count=len(waiting) - _SHOWN))
    return "\n\n".join(parts)


def approve(connection: Connection, call: CommandCall, context: CommandContext) -> str:
    """`/approve N`: carry out a proposal."""
    number = parse_number(call.arguments.rstrip("."))
    if number is None:
        return texts.APPROVE_HOW(call.language)
    try:
        done = proposals.approve(connection, number, _decision(call, context))
    except CannotDecide as error:
        return texts.PROPOSAL_HINDERED(call.language, why=error)
    if done.kind == "setting":
        name = done.payload.get("setting")
        return texts.PROPOSAL_ADVICE(call.language, setting=f" (`{name}`)" if isinstance(name, str) else "")
    return texts.PROPOSAL_APPROVED(call.language, title=_plain(done.title), number=number)


def reject(connection: Connection, call: CommandCall, context: CommandContext) -> str:
    """`/reject N`: turn a proposal down, or take back one that was approved."""
    number = parse_number(call.arguments.rstrip("."))
    if number is None:
        return texts.REJECT_HOW(call.language)
    proposal = proposal_store.get(connection, number)
    try:
        if proposal is not None and proposal.state == "approved":
            done = proposals.undo_approval(connection, number, _decision(call, context))
            return texts.PROPOSAL_UNDONE(call.language, title=_plain(done.title))
        done = proposals.reject(connection, number, _decision(call, context))
    except CannotDecide as error:
        return texts.PROPOSAL_HINDERED(call.language, why=error)
    return texts.PROPOSAL_REJECTED(call.language, title=_plain(done.title))


def _decision(call: CommandCall, context: CommandContext) -> DecisionContext:
    return DecisionContext(call.at, "owner", context.folder / FOLDER)


def _line(proposal: Proposal, language: Language) -> str:
    does = _DOES[proposal.kind](language) if proposal.kind in _DOES else ""
    return texts.PROPOSAL_LINE(
        language, number=proposal.id, title=_plain(proposal.title), text=_plain(proposal.text), does=does
    )


def _plain(text: str) -> str:
    """Clip a text to one line without formatting."""
    return one_line(text.replace("*", "").replace("`", "").strip().rstrip("."), _LONGEST)


# ── memory files that vanished ───────────────────────────────────────────────────────────────────────────────────


def missing_memory(connection: Connection, call: CommandCall, context: CommandContext) -> str:
    """`/missing`: list what vanished; `/missing forget` forgets it after all, `/missing keep` settles it.

    The records of the files are forgotten as one decision: a batch at once, the rest in the background.
    """
    loss = missing_files.open_loss(connection)
    if loss is None:
        return texts.MISSING_NONE(call.language)
    wish = call.arguments.strip().lower()
    if wish in _KEEP:
        missing_files.resolve_loss(connection)
        return texts.MISSING_KEPT(call.language)
    reach, batch = call.principal.read_scopes, _POLICY.max_forgotten_together
    records = store.by_ids(connection, loss.records, reach)
    live = [record for record in records.values() if record.status == "active"]
    if wish not in _FORGET:
        age = time_ago_text(loss.at, call.at, call.language)
        lines = numbered_lines(live[: _POLICY.max_offered], call.language)
        return texts.MISSING_SOME(call.language, count=loss.files, where=f"`{loss.where}`", age=age, lines=lines)
    elsewhere = tuple(sorted(set(loss.records) - records.keys()))
    event = forget_batch(connection, live[:batch], reach, context.admit_context(call))
    missing_files.resolve_loss(connection, elsewhere)
    if not event:
        return (texts.MISSING_ELSEWHERE if elsewhere else texts.MISSING_NONE)(call.language)
    rest = tuple(record.id for record in live[batch:])
    missing_files.save_pending_forget(connection, PendingForget(event, rest, reach, call.inbound.session))
    return texts.MISSING_FORGOTTEN(call.language, count=len(live), event=event)


# ── what came back ───────────────────────────────────────────────────────────────────────────────────────────────


def revived_memory(connection: Connection, call: CommandCall, context: CommandContext) -> str:
    """`/revived`: list what was forgotten and stood in the files again; `remember` has it back, `forget` settles it."""
    held, reach = revived_lines.open_question(connection), call.principal.read_scopes
    lines = [line for line in held.lines if line.scope in reach] if held is not None else []
    if held is None:
        return texts.REVIVED_NONE(call.language)
    left = [line for line in held.lines if line.scope not in reach]
    if not lines:
        return texts.MISSING_ELSEWHERE(call.language)
    wish = call.arguments.strip().lower()
    if wish in _FORGET:
        revived_lines.resolve(connection, left)
        return texts.REVIVED_LEFT(call.language)
    if wish not in _REMEMBER:
        age = time_ago_text(held.at, call.at, call.language)
        shown = _revived_lines(connection, lines, reach, call.language)
        return texts.REVIVED_SOME(call.language, where=f"`{held.where}`", age=age, lines=shown)
    occasion = context.admit_context(call)
    found = [revived_lines.restore_line(connection, line, occasion) for line in lines]
    revived_lines.resolve(connection, left)
    records = [record for record in found if record is not None]
    if not records:
        return texts.REVIVED_NONE(call.language)
    return texts.REVIVED_BACK(call.language, lines=numbered_lines(records, call.language))


def _revived_lines(
    connection: Connection, lines: Sequence[RevivedLine], reach: tuple[str, ...], language: Language
) -> str:
    """List the first of what came back."""
    some = lines[: _POLICY.max_offered]
    known = store.by_ids(connection, [line.record for line in some if line.record], reach)
    shown = [numbered_lines(list(known.values()), language)] if known else []
    shown += [texts.REVIVED_ERASED(language, what=one_line(line.text)) for line in some if not line.record]
    more = len(lines) - len(some)
    return "\n".join([*shown, *([texts.REVIVED_MORE(language, count=more)] if more else [])])
