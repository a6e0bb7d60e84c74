"""Commands that the owner alone gives: on proposals of sleep, on memory files that vanished or came back."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from kenobot.agent.commands.command import (
    CommandAnswer,
    CommandCall,
    CommandContext,
    number_lines,
    one_line,
    time_ago_text,
    undo_button,
)
from kenobot.cognitive.memory import DEFAULT, HeldFiles, Memory, Proposals
from kenobot.core import texts
from kenobot.core.i18n import Language, Text
from kenobot.gateway.buttons import Choice, choices_of
from kenobot.identity.identity_files import FOLDER
from kenobot.language.number_words import parse_number
from kenobot.ports.memory_changes import CannotDecide, DecisionContext, Proposal
from kenobot.ports.memory_files import RevivedLine
from kenobot.storage.connection import Connection

_POLICY = DEFAULT.control
_FORGET = frozenset({"forget", "olvida", "olvidar"})
_REMEMBER = frozenset({"remember", "recuerda", "recordar"})
_KEEP = frozenset({"keep", "guarda", "conserva", "guardar", "conservar"})
_SHOWN = 10  # proposals in a list
_LONGEST = 600  # characters of a proposal in a list
_DOES: Mapping[str, Text] = {
    "rule": Text(" (a line in rules.json)", " (una línea en rules.json)"),
    "preference": Text(" (a line in preferences.md)", " (una línea en preferences.md)"),
    "skill": Text(" (a skill that I read)", " (una habilidad que leo)"),
    "merge_entities": Text(" (two names become one)", " (dos nombres pasan a ser uno)"),
    "setting": Text(" (advice only)", " (solo un consejo)"),
}


# ── proposals of sleep ───────────────────────────────────────────────────────────────────────────────────────────


def show_proposals(connection: Connection, call: CommandCall, _: CommandContext) -> str | CommandAnswer:
    """`/proposals`: list the proposals that wait for a decision."""
    waiting = Proposals.list_proposals(connection)
    if not waiting:
        return texts.PROPOSALS_NONE(call.language)
    lines = "\n".join(_line(each, call.language) for each in waiting[:_SHOWN])
    parts = [texts.PROPOSALS_SOME(call.language, lines=lines)]
    if len(waiting) > _SHOWN:
        parts.append(texts.PROPOSALS_MORE(call.language, count=len(waiting) - _SHOWN))
    rows = (
        (
            Choice(texts.BUTTON_APPROVE(call.language, number=each.id), "approve", str(each.id)),
            Choice(texts.BUTTON_REJECT(call.language, number=each.id), "reject", str(each.id)),
        )
        for each in waiting[:_SHOWN]
    )
    return CommandAnswer("\n\n".join(parts), tuple(rows))


def _and_the_rest(connection: Connection, call: CommandCall, context: CommandContext, done: str) -> CommandAnswer:
    """Follow a decision that a button gave by what still waits for one: its message held them all."""
    if call.inbound.kind != "action" or not Proposals.list_proposals(connection):
        return CommandAnswer(done)
    rest = show_proposals(connection, call, context)
    return CommandAnswer(f"{done}\n\n{rest}") if isinstance(rest, str) else replace(rest, text=f"{done}\n\n{rest.text}")


def approve(connection: Connection, call: CommandCall, context: CommandContext) -> str | CommandAnswer:
    """`/approve N`: carry out a proposal."""
    number = parse_number(call.arguments.rstrip("."))
    if number is None:
        return texts.APPROVE_HOW(call.language)
    try:
        done = Proposals.approve(connection, number, _decision(call, context))
    except CannotDecide as error:
        return texts.PROPOSAL_HINDERED(call.language, why=error)
    if done.kind == "setting":
        name = done.payload.get("setting")
        return texts.PROPOSAL_ADVICE(call.language, setting=f" (`{name}`)" if isinstance(name, str) else "")
    text = texts.PROPOSAL_APPROVED(call.language, title=_clip(done.title), number=number)
    answer = _and_the_rest(connection, call, context, text)
    undo = Choice(texts.BUTTON_UNDO_ONE(call.language, number=number), "reject", str(number))
    return replace(answer, buttons=((undo,), *answer.buttons))


def reject(connection: Connection, call: CommandCall, context: CommandContext) -> str | CommandAnswer:
    """`/reject N`: turn a proposal down, or take back one that was approved."""
    number = parse_number(call.arguments.rstrip("."))
    if number is None:
        return texts.REJECT_HOW(call.language)
    proposal = Proposals.get(connection, number)
    try:
        if proposal is not None and proposal.state == "approved":
            done = Proposals.undo(connection, number, _decision(call, context))
            return _and_the_rest(
                connection, call, context, texts.PROPOSAL_UNDONE(call.language, title=_clip(done.title))
            )
        done = Proposals.reject(connection, number, _decision(call, context))
    except CannotDecide as error:
        return texts.PROPOSAL_HINDERED(call.language, why=error)
    return _and_the_rest(connection, call, context, texts.PROPOSAL_REJECTED(call.language, title=_clip(done.title)))


def _decision(call: CommandCall, context: CommandContext) -> DecisionContext:
    skills = None if context.skills is None else context.skills.path
    return DecisionContext(call.at, "owner", context.folder / FOLDER, skills)


def _line(proposal: Proposal, language: Language) -> str:
    does = _DOES[proposal.kind](language) if proposal.kind in _DOES else ""
    return texts.PROPOSAL_LINE(
        language, number=proposal.id, title=_clip(proposal.title), text=_clip(proposal.text), does=does
    )


def _clip(text: str) -> str:
    """Clip a text to one line without formatting."""
    return one_line(text.replace("*", "").replace("`", "").strip().rstrip("."), _LONGEST)


# ── memory files that vanished ───────────────────────────────────────────────────────────────────────────────────


def missing_memory(connection: Connection, call: CommandCall, context: CommandContext) -> str | CommandAnswer:
    """`/missing`: list what vanished; `/missing forget` forgets it after all, `/missing keep` settles it.

    The records of the files are forgotten as one decision: a batch at once, the rest in the background.
    """
    loss = HeldFiles.get_loss(connection)
    if loss is None:
        return texts.MISSING_NONE(call.language)
    wish = call.arguments.strip().lower()
    if wish in _KEEP:
        HeldFiles.settle_loss(connection)
        return texts.MISSING_KEPT(call.language)
    reach, most = call.principal.read_scopes, _POLICY.max_forgotten_together
    records = Memory.records.get_all(connection, loss.records, reach)
    live = [record for record in records.values() if record.status == "active"]
    if wish not in _FORGET:
        age = time_ago_text(loss.at, call.at, call.language)
        lines = number_lines(live[: _POLICY.max_offered], call.language)
        text = texts.MISSING_SOME(call.language, count=loss.files, where=f"`{loss.where}`", age=age, lines=lines)
        return CommandAnswer(text, choices_of("missing", call.language))
    elsewhere = tuple(sorted(set(loss.records) - records.keys()))
    event = HeldFiles.forget_lost(connection, live, most, reach, context.admit_context(call))
    HeldFiles.settle_loss(connection, elsewhere)
    if not event:
        return (texts.MISSING_ELSEWHERE if elsewhere else texts.MISSING_NONE)(call.language)
    text = texts.MISSING_FORGOTTEN(call.language, count=len(live), event=event)
    return CommandAnswer(text, ((undo_button(event, call.language),),))


# ── what came back ───────────────────────────────────────────────────────────────────────────────────────────────


def revive_memory(connection: Connection, call: CommandCall, context: CommandContext) -> str | CommandAnswer:
    """`/revived`: list what was forgotten and stood in the files again; `remember` has it back, `forget` settles it."""
    held, reach = HeldFiles.get_revived(connection), call.principal.read_scopes
    lines = [line for line in held.lines if line.scope in reach] if held is not None else []
    if held is None:
        return texts.REVIVED_NONE(call.language)
    left = [line for line in held.lines if line.scope not in reach]
    if not lines:
        return texts.MISSING_ELSEWHERE(call.language)
    wish = call.arguments.strip().lower()
    if wish in _FORGET:
        HeldFiles.settle_revived(connection, left)
        return texts.REVIVED_LEFT(call.language)
    if wish not in _REMEMBER:
        age = time_ago_text(held.at, call.at, call.language)
        shown = _render_revived(connection, lines, reach, call.language)
        text = texts.REVIVED_SOME(call.language, where=f"`{held.where}`", age=age, lines=shown)
        return CommandAnswer(text, choices_of("revived", call.language))
    occasion = context.admit_context(call)
    found = [HeldFiles.restore(connection, line, occasion) for line in lines]
    HeldFiles.settle_revived(connection, left)
    records = [record for record in found if record is not None]
    if not records:
        return texts.REVIVED_NONE(call.language)
    return texts.REVIVED_BACK(call.language, lines=number_lines(records, call.language))


def _render_revived(
    connection: Connection, lines: Sequence[RevivedLine], reach: tuple[str, ...], language: Language
) -> str:
    """List the first of what came back."""
    some = lines[: _POLICY.max_offered]
    known = Memory.records.get_all(connection, [line.record for line in some if line.record], reach)
    shown = [number_lines(list(known.values()), language)] if known else []
    shown += [texts.REVIVED_ERASED(language, what=one_line(line.text)) for line in some if not line.record]
    more = len(lines) - len(some)
    return "\n".join([*shown, *([texts.REVIVED_MORE(language, count=more)] if more else [])])
