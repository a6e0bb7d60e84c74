"""`/remember`, `/memory`, `/why` and `/undo`: change and inspect memory from the chat.

`/forget`, which may have to ask, is in `kenobot.agent.commands.forget`. Who sees a memory may change it: the owner
theirs in private, a guest their own; in a group everybody adds to the group's, and a guest takes away their own alone.
"""

import re
from collections.abc import Mapping
from dataclasses import replace

from kenobot.agent.commands.command import (
    CommandAnswer,
    CommandCall,
    CommandContext,
    numbered_lines,
    one_line,
    time_ago_text,
    undo_button,
)
from kenobot.agent.fact_candidates import confided_tags
from kenobot.cognitive.control.find import find_memories, parse_number
from kenobot.cognitive.control.history import explain_last_reply
from kenobot.cognitive.control.undo import (
    UndoError,
    UndoResult,
    changes_only_words_of,
    last_undoable_event,
    undo,
)
from kenobot.cognitive.remember.admit import admit
from kenobot.cognitive.store import events, feedback, records
from kenobot.cognitive.store.records import Record
from kenobot.core import lazy, texts
from kenobot.core.i18n import Language, Text
from kenobot.ports.identity import OWNER_SCOPE, chat_scope
from kenobot.ports.memory import Candidate, Decision, Form
from kenobot.storage.connection import Connection

_NEWEST = 8  # memories a page
_LISTED = ("note", "episode", "summary")
_PAGE = lazy.regex(r"(?:page|p[aá]gina)\s+0*([1-9][0-9]{0,4})", re.IGNORECASE)
_BEHIND = 8  # memories that /why names
_QUOTED = 140  # characters of a message
_ORIGINS: Mapping[str, Text] = {
    "tag": texts.FROM_TAG,
    "extraction": texts.FROM_EXTRACTION,
    "edit": texts.FROM_EDIT,
    "command": texts.FROM_COMMAND,
    "sleep": texts.FROM_SLEEP,
    "import": texts.FROM_IMPORT,
}
_FORMS: Mapping[str, tuple[Text, Text]] = {
    "note": (Text("note", "nota"), Text("notes", "notas")),
    "episode": (Text("episode", "episodio"), Text("episodes", "episodios")),
    "scratchpad": (Text("scratchpad", "borrador"), Text("scratchpads", "borradores")),
    "profile": (Text("profile", "perfil"), Text("profiles", "perfiles")),
    "procedure": (Text("procedure", "procedimiento"), Text("procedures", "procedimientos")),
    "entity": (Text("entity", "entidad"), Text("entities", "entidades")),
    "box": (Text("box", "caja"), Text("boxes", "cajas")),
    "summary": (Text("summary", "resumen"), Text("summaries", "resúmenes")),
    "question": (Text("open question", "pregunta abierta"), Text("open questions", "preguntas abiertas")),
}


def remember(connection: Connection, call: CommandCall, context: CommandContext) -> str | CommandAnswer:
    """`/remember TEXT`: store a person's own words at once."""
    if not call.arguments:
        return texts.REMEMBER_HOW(call.language)
    scope = call.principal.write_scope
    form: Form = "episode" if scope.startswith("chat:") else "note"
    evidence = (call.inbox_id,) if call.inbox_id else ()
    trust = call.principal.trust
    candidate = Candidate(form, scope, call.arguments, source="command", trust=trust, evidence=evidence)
    candidate = replace(candidate, tags=confided_tags([call.arguments]))
    decision = admit(connection, candidate, context.admit_context(call))
    text = _learned(decision, call.arguments, call.language)
    if decision.action not in ("created", "replaced") or decision.record is None:
        return text
    event = events.last_decision_on(connection, decision.record)
    return CommandAnswer(text, ((undo_button(event, call.language),),) if event is not None else ())


def show_memory(connection: Connection, call: CommandCall, context: CommandContext) -> str:
    """`/memory`: how much is remembered here, and the newest of it; `/memory WORDS`: what is about them."""
    reach = call.principal.read_scopes
    counts = records.live_counts_by_form(connection, reach)
    if not counts:
        return texts.MEMORY_NONE(call.language)
    page = _PAGE.fullmatch(call.arguments)
    if call.arguments and page is None:
        return _found(connection, call, context)
    skipped = _NEWEST * (int(page[1]) - 1 if page is not None else 0)
    newest = records.list_records(connection, reach, ("active",), _LISTED, skipped + _NEWEST + 1)[skipped:]
    if not newest:
        return texts.MEMORY_NO_PAGE(call.language)
    forms = [f"{count} {_FORMS[form][count != 1](call.language)}" for form, count in counts.items() if form in _FORMS]
    lines = numbered_lines(newest[:_NEWEST], call.language)
    if skipped:
        parts = [lines]
    else:
        parts = [
            texts.MEMORY_SOME(call.language, forms=", ".join(forms), lines=lines),
            texts.MEMORY_HANDS(call.language),
        ]
    if len(newest) > _NEWEST:
        parts.append(texts.MEMORY_MORE(call.language, page=skipped // _NEWEST + 2))
    if not skipped and OWNER_SCOPE in reach:
        parts.append(texts.MEMORY_FILES(call.language, folder=f"`{context.folder}`"))
    return "\n\n".join(parts)


def _found(connection: Connection, call: CommandCall, context: CommandContext) -> str:
    reach, number = call.principal.read_scopes, parse_number(call.arguments)
    named = records.get(connection, number, reach) if number is not None else None
    if named is not None and named.status == "active":
        found = [named]
    else:
        meant = find_memories(connection, call.arguments, reach, search=context.memory_search)
        found = [each.record for each in meant[:_NEWEST]]
    words = one_line(call.arguments, _QUOTED)
    if not found:
        return texts.MEMORY_NOT_FOUND(call.language, words=words)
    return texts.MEMORY_FOUND(call.language, words=words, lines=numbered_lines(found, call.language))


def explain_reply(connection: Connection, call: CommandCall, _: CommandContext) -> str:
    """`/why`: the memories behind the last reply here, and the origin of each."""
    reply = explain_last_reply(connection, call.inbound.session, call.principal.read_scopes)
    if reply is None:
        return texts.WHY_NONE(call.language)
    behind, others = reply.told_apart()
    question = texts.QUOTED(call.language, text=one_line(reply.question, _QUOTED))
    if not behind:
        parts = [texts.WHY_NOTHING(call.language, question=question)]
    else:
        named = [used.record for used in behind if used.record is not None][:_BEHIND]
        lines = "\n".join(_because(connection, record, call) for record in named)
        parts = [texts.WHY_SOME(call.language, question=question, lines=lines)]
    if others:
        parts.append(texts.WHY_MORE(call.language, count=len(others)))
    return "\n\n".join(parts)


def undo_change(connection: Connection, call: CommandCall, context: CommandContext) -> str | CommandAnswer:
    """`/undo`: take back the last change of what is remembered here; `/undo NUMBER`: the change of that number."""
    event = parse_number(call.arguments)
    if call.arguments and event is None:
        return texts.UNDO_HOW(call.language)
    if event is None:
        own = (call.principal.write_scope, chat_scope(call.inbound.session))
        event = last_undoable_event(connection, dict.fromkeys(own), call.author)
    if event is None:
        return texts.UNDO_NONE(call.language)
    if call.author and not changes_only_words_of(connection, event, call.author, call.principal.read_scopes):
        return texts.UNDO_OTHERS(call.language)
    try:
        done = undo(connection, event, call.principal.read_scopes, context.admit_context(call), call.author)
    except UndoError as error:
        return texts.UNDO_HINDERED(call.language, why=error)
    text = texts.UNDONE(call.language, lines=_undone_lines(done, call.language), event=done.event)
    return CommandAnswer(text, ((undo_button(done.event, call.language),),))


def _learned(decision: Decision, text: str, language: Language) -> str:
    what = one_line(text, _QUOTED)
    if decision.action in ("created", "replaced"):
        return texts.LEARNED(language, what=what)
    if decision.action == "reinforced":
        return texts.ALREADY_KNOWN(language, what=what)
    if "looks like" in decision.reason:
        return texts.REMEMBER_REFUSED_SECRET(language)
    return texts.REMEMBER_REFUSED(language, why=decision.reason)


def _because(connection: Connection, record: Record, call: CommandCall) -> str:
    """A memory, where it came from and when, and what was said then."""
    quote = ""
    for turn in record.source_message_ids:
        said = feedback.quotable_message(connection, turn, call.principal.read_scopes)
        if said is not None:
            mine = said.trust == call.principal.trust
            quote = (texts.WHY_QUOTE if mine else texts.WHY_QUOTE_ELSE)(
                call.language, said=one_line(said.text, _QUOTED)
            )
            break
    origin = _ORIGINS.get(record.source, texts.FROM_TAG)(call.language)
    age = time_ago_text(record.created, call.at, call.language)
    return texts.WHY_LINE(
        call.language, number=record.id, what=one_line(record.text), origin=origin, age=age, quote=quote
    )


def _undone_lines(done: UndoResult, language: Language) -> str:
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
    return "\n".join(lines) or numbered_lines(done.after, language)
