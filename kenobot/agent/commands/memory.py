"""`/remember` and `/undo`: change memory from the chat.

`/forget`, `/correct`, `/memory` and `/why` are in the modules beside. Who sees a memory may change it: the owner theirs
in private, a guest their own; in a group everybody adds to the group's, and a guest takes away their own alone.
"""

from dataclasses import replace
from datetime import date

from kenobot.agent.commands.command import (
    CommandAnswer,
    CommandCall,
    CommandContext,
    number_lines,
    one_line,
    undo_button,
)
from kenobot.agent.commands.kept_secret import offer_secret
from kenobot.cognitive.memory import Memory
from kenobot.core import texts
from kenobot.core.i18n import Language
from kenobot.language.confidences import tags_of_confidence
from kenobot.language.facts import heuristic
from kenobot.language.number_words import parse_number
from kenobot.language.told_secrets import find_told_secret
from kenobot.ports.identity import chat_scope
from kenobot.ports.memory import Candidate, Decision, Form
from kenobot.ports.memory_changes import UndoError, UndoResult
from kenobot.storage import conversation
from kenobot.storage.connection import Connection

_QUOTED = 140  # characters of a message


def remember(connection: Connection, call: CommandCall, context: CommandContext) -> str | CommandAnswer:
    """`/remember TEXT`: store a person's own words at once."""
    if not call.arguments:
        return texts.REMEMBER_HOW(call.language)
    if find_told_secret(call.arguments) is not None:
        return _offer(connection, call)
    scope = call.principal.write_scope
    form: Form = "episode" if scope.startswith("chat:") else "note"
    evidence = (call.inbox_id,) if call.inbox_id else ()
    trust = call.principal.trust
    candidate = Candidate(form, scope, call.arguments, source="command", trust=trust, evidence=evidence)
    due = _due(call.arguments, call.at.astimezone(context.zone).date())
    candidate = replace(candidate, tags=tags_of_confidence([call.arguments]), attributes=due)
    note_author(connection, call)  # before memory asks whose words may end what
    decision = Memory.remember(connection, candidate, context.admit_context(call))
    return _offer_reminder(
        connection, tell_learned(connection, decision, call.arguments, scope, call.language), call, context
    )


def _offer_reminder(
    connection: Connection, answer: str | CommandAnswer, call: CommandCall, context: CommandContext
) -> str | CommandAnswer:
    """Offer a reminder, in a private chat, for a remembered deed that has an hour."""
    if isinstance(answer, str) or not call.inbound.private:
        return answer
    from kenobot.agent.commands import reminder_questions, reminders  # noqa: PLC0415 - read only where something is kept
    from kenobot.agent.commands.reminder_orders import read_deed  # noqa: PLC0415 - same

    order = read_deed(call.arguments, reminders.read_local_now(connection, call, context), call.language)
    if order is None:
        return answer
    question = reminder_questions.offer(connection, order, call, context)
    return CommandAnswer(f"{answer.text}\n\n{question.text}", (*question.buttons, *answer.buttons))


def _offer(connection: Connection, call: CommandCall) -> str | CommandAnswer:
    """Refuse to store a secret; in a private chat, offer to store it after a yes."""
    refused = texts.REMEMBER_REFUSED_SECRET(call.language)
    if not call.inbound.private or not call.inbox_id:
        return refused
    choices = offer_secret(connection, call.inbound, call.inbox_id, call.at, call.language)
    return CommandAnswer(f"{refused} {texts.SECRET_OFFER(call.language)}", (choices,))


def _due(text: str, said: date) -> tuple[tuple[str, str], ...]:
    """Return the attribute of the day for which words are planned, as the same words in a message would be read."""
    facts = heuristic.extract_facts(f"remember that {text}", said)
    return next((((name, day),) for fact in facts for name, day in fact.attributes if name == "due"), ())


def tell_learned(
    connection: Connection, decision: Decision, words: str, scope: str, language: Language
) -> str | CommandAnswer:
    """Report the outcome of a person's words in a scope, and the memory they replace, with a button that undoes it."""
    text = _render_learned(decision, words, language)
    if decision.action not in ("created", "replaced") or decision.record is None:
        return text
    event = Memory.history.last_decision(connection, decision.record)
    if event is None:
        return CommandAnswer(text, ())
    if gone := _load_ended_texts(connection, event, scope):
        text = f"{text}\n{texts.EDIT_INSTEAD(language, what='; '.join(one_line(each, _QUOTED) for each in gone))}"
    return CommandAnswer(text, ((undo_button(event, language),),))


def _load_ended_texts(connection: Connection, decision: int, scope: str) -> list[str]:
    """Read the texts of the memories of a scope that a decision ended or changed."""
    found = []
    for each in Memory.history.list_decision(connection, decision):
        if each.record is not None and each.kind in ("superseded", "invalidated", "amended"):
            record = Memory.records.get(connection, each.record, (scope,))
            found += [str(each.previous_values.get("text") or record.text)] if record is not None else []
    return found


def note_author(connection: Connection, call: CommandCall) -> None:
    """Note in a group whose words went into memory: whoever said them may take them away."""
    if call.inbox_id and not call.inbound.private:
        conversation.note_author(connection, call.inbox_id, call.inbound.user)


def undo_change(connection: Connection, call: CommandCall, context: CommandContext) -> str | CommandAnswer:
    """`/undo`: take back the last change of what is remembered here; `/undo NUMBER`: the change of that number."""
    event = parse_number(call.arguments)
    if call.arguments and event is None:
        return texts.UNDO_HOW(call.language)
    if event is None:
        own = (call.principal.write_scope, chat_scope(call.inbound.session))
        event = Memory.history.find_undoable(connection, dict.fromkeys(own), call.author)
        if (undone := _undo_reminder(connection, call, context, event)) is not None:
            return undone
    if event is None:
        return texts.UNDO_NONE(call.language)
    if call.author and not Memory.history.is_only_of(connection, event, call.author, call.principal.read_scopes):
        return texts.UNDO_OTHERS(call.language)
    try:
        done = Memory.undo(connection, event, call.principal.read_scopes, context.admit_context(call), call.author)
    except UndoError as error:
        return texts.UNDO_HINDERED(call.language, why=error)
    return tell_undone(done, call.language)


def _undo_reminder(
    connection: Connection, call: CommandCall, context: CommandContext, event: int | None
) -> str | CommandAnswer | None:
    """Take back the last change of a reminder here, where it is newer than that of memory; None where it is not."""
    from kenobot.agent.commands import reminder_changes  # noqa: PLC0415 - seldom needed

    change = Memory.history.get_event(connection, event) if event is not None else None
    return reminder_changes.undo_last(connection, call, context, change.at if change is not None else "")


def tell_undone(done: UndoResult, language: Language) -> CommandAnswer:
    """Tell what an undo brought back and took away, with a button that takes the undo back."""
    text = texts.UNDONE(language, lines=_render_undone(done, language), event=done.event)
    return CommandAnswer(text, ((undo_button(done.event, language),),))


def _render_learned(decision: Decision, text: str, language: Language) -> str:
    what = one_line(text, _QUOTED)
    if decision.action in ("created", "replaced"):
        return texts.LEARNED(language, what=what)
    if decision.action == "reinforced":
        return texts.ALREADY_KNOWN(language, what=what)
    if "looks like" in decision.reason:
        return texts.REMEMBER_REFUSED_SECRET(language)
    return texts.REMEMBER_REFUSED(language, why=decision.reason)


def _render_undone(done: UndoResult, language: Language) -> str:
    was = {record.id: record for record in done.before}
    lines = []
    for record in done.after:
        before = was[record.id]
        sentence = texts.UNDONE_TEXT
        if (record.status == "active") != (before.status == "active"):
            sentence = texts.UNDONE_BACK if record.status == "active" else texts.UNDONE_GONE
        elif record.status != "active":
            continue
        lines.append(sentence(language, number=record.id, what=one_line(record.text)))
    return "\n".join(lines) or number_lines(done.after, language)
