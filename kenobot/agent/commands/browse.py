"""`/memory` and `/why`: page through what is remembered, open a memory, and tell where it comes from."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace

from kenobot.agent.commands.absence import render_absence
from kenobot.agent.commands.command import (
    CommandAnswer,
    CommandCall,
    CommandContext,
    button_rows,
    number_lines,
    one_line,
    time_ago_text,
)
from kenobot.agent.safety.unlinked import unlink
from kenobot.cognitive.memory import Memory, MemoryQuery
from kenobot.core import lazy, texts
from kenobot.core.i18n import Language, Text
from kenobot.gateway.buttons import Choice
from kenobot.language.number_words import parse_number
from kenobot.ports.identity import OWNER_SCOPE
from kenobot.ports.records import Record
from kenobot.storage import tool_runs
from kenobot.storage.connection import Connection

_NEWEST = 8  # memories a page
_LISTED = ("note", "episode", "summary")
_PAGE = lazy.regex(r"(?:page|p[aá]gina)\s+0*([1-9][0-9]{0,4})", re.IGNORECASE)
_BEHIND = 8  # memories that /why names
_QUOTED = 140  # characters of a message
_WHOLE = 1500  # characters of one memory
_ORIGINS: Mapping[str, Text] = {
    "tag": texts.FROM_TAG,
    "extraction": texts.FROM_EXTRACTION,
    "edit": texts.FROM_EDIT,
    "command": texts.FROM_COMMAND,
    "sleep": texts.FROM_SLEEP,
    "chat": texts.FROM_CHAT,
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


def show_memory(connection: Connection, call: CommandCall, context: CommandContext) -> str | CommandAnswer:
    """`/memory`: show how much is remembered here, and the newest; `/memory WORDS`: show the memories about them."""
    reach = call.principal.read_scopes
    counts = Memory.records.count_by_form(connection, reach, told_only=True)
    if not counts:
        return texts.MEMORY_NONE(call.language)
    page = _PAGE.fullmatch(call.arguments)
    if call.arguments and page is None:
        return _search(connection, call, context)
    number = int(page[1]) if page is not None else 1
    skipped = _NEWEST * (number - 1)
    newest = Memory.records.list_records(
        connection, reach, ("active",), _LISTED, skipped + _NEWEST + 1, told_only=True
    )[skipped:]
    if not newest:
        return texts.MEMORY_NO_PAGE(call.language)
    shown, has_more = newest[:_NEWEST], len(newest) > _NEWEST
    lines = number_lines(shown, call.language)
    if skipped:
        parts = [lines]
    else:
        parts = [
            texts.MEMORY_SOME(call.language, forms=count_forms(counts, call.language), lines=lines),
            texts.MEMORY_HANDS(call.language),
        ]
    if has_more:
        parts.append(texts.MEMORY_MORE(call.language, page=number + 1))
    if not skipped and OWNER_SCOPE in reach:
        parts.append(texts.MEMORY_FILES(call.language, folder=f"`{context.folder}`"))
    turning = [Choice(texts.BUTTON_NEWER(call.language), "memory", f"page {number - 1}")] if skipped else []
    turning += [Choice(texts.BUTTON_OLDER(call.language), "memory", f"page {number + 1}")] if has_more else []
    rows = (*_openers(shown, number), *([tuple(turning)] if turning else []))
    return CommandAnswer("\n\n".join(parts), rows)


def open_memory(connection: Connection, call: CommandCall, _: CommandContext) -> str | CommandAnswer:
    """Show one memory whole, with what can be done about it. arguments: its number, and the page to go back to."""
    number, page = [*call.arguments.split(), "1"][:2]
    record = Memory.records.get_statement(connection, int(number), call.principal.read_scopes)
    if record is None:
        return texts.FORGET_GONE(call.language, number=number)
    age = time_ago_text(record.created, call.at, call.language)
    text = texts.MEMORY_ONE(call.language, number=record.id, what=one_line(record.text, _WHOLE), age=age)
    return CommandAnswer(text, _hands(record, call.language, page))


def explain(connection: Connection, call: CommandCall, context: CommandContext) -> str | CommandAnswer:
    """List, for `/why`, the memories behind the last reply with their origin; for `/why NUMBER` that of one memory.

    `/why WORDS`: why what they say was not remembered.
    """
    number = parse_number(call.arguments)
    if number is None and call.arguments.strip():
        return _explain_absence(connection, call, context)
    if number is None:
        return _explain_reply(connection, call)
    record = Memory.records.get_statement(connection, number, call.principal.read_scopes)
    if record is None:
        return texts.FORGET_GONE(call.language, number=number)
    return CommandAnswer(_because(connection, record, call), _hands(record, call.language, "1"))


def _explain_absence(connection: Connection, call: CommandCall, context: CommandContext) -> str:
    """Explain why a text was not remembered, within the scopes of the chat; the command line searches all scopes."""
    own, session = call.principal.read_scopes, call.inbound.session
    query = MemoryQuery(call.arguments, own, call.at, context.zone, session)
    reply = Memory.history.explain_reply(connection, session, own)
    found = context.memory.explain(connection, call.arguments, query, reply, own)
    return render_absence(found, call.arguments, call.language)


def count_forms(counts: Mapping[str, int], language: Language) -> str:
    """Word how many memories there are of each form: "3 notes, 1 summary"."""
    known = ((_FORMS[form], count) for form, count in counts.items() if form in _FORMS)
    return ", ".join(f"{count} {names[count != 1](language)}" for names, count in known)


def _search(connection: Connection, call: CommandCall, context: CommandContext) -> str | CommandAnswer:
    number, reach = parse_number(call.arguments), call.principal.read_scopes
    if number is not None and Memory.records.get_statement(connection, number, reach) is not None:
        return open_memory(connection, replace(call, arguments=str(number)), context)
    meant = context.memory.find(connection, call.arguments, reach)
    found, words = [each.record for each in meant[:_NEWEST]], one_line(call.arguments, _QUOTED)
    if not found:
        return texts.MEMORY_NOT_FOUND(call.language, words=words)
    text = texts.MEMORY_FOUND(call.language, words=words, lines=number_lines(found, call.language))
    return CommandAnswer(text, _openers(found))


def _explain_reply(connection: Connection, call: CommandCall) -> str | CommandAnswer:
    reply = Memory.history.explain_reply(connection, call.inbound.session, call.principal.read_scopes)
    if reply is None:
        return texts.WHY_NONE(call.language)
    behind, others = Memory.history.split_used(reply)
    question = texts.QUOTED(call.language, text=one_line(reply.question, _QUOTED))
    present = (used.record for used in behind if used.record is not None)
    named = [record for record in present if not Memory.records.is_chat_summary(record)][
        :_BEHIND
    ]  # a chat's summary is no memory
    if not named:
        parts = [texts.WHY_NOTHING(call.language, question=question)]
    else:
        lines = "\n".join(_because(connection, record, call) for record in named)
        parts = [texts.WHY_SOME(call.language, question=question, lines=lines)]
    if others:
        parts.append(texts.WHY_MORE(call.language, count=len(others)))
    if runs := tool_runs.runs_of_turn(connection, reply.turn) if call.principal.role == "owner" else []:
        outcomes = {"done": texts.TOOL_DONE, "failed": texts.TOOL_FAILED, "refused": texts.TOOL_REFUSED}
        outcomes["begun"] = texts.TOOL_BROKEN_OFF
        called = [f"- `{_write_call(run.call)}`: {outcomes[run.outcome](call.language)}" for run in runs]
        parts.append("\n".join([texts.WHY_TOOLS(call.language), *called]))
    return CommandAnswer("\n\n".join(parts), _openers([record for record in named if record.status == "active"]))


def _write_call(text: str) -> str:
    """Write a call as code that nothing in it ends, and in which nothing can be pressed: it may have been held back."""
    return unlink(one_line(text)).replace("`", "'")


def _openers(shown: Sequence[Record], page: int = 1) -> tuple[tuple[Choice, ...], ...]:
    """Return the buttons that open memories."""
    return button_rows(Choice(f"#{record.id}", "open", f"{record.id} {page}") for record in shown)


def _hands(record: Record, language: Language, page: str) -> tuple[tuple[Choice, ...], ...]:
    """Return the buttons below one memory."""
    number = str(record.id)
    return (
        (
            Choice(texts.BUTTON_CORRECT(language), "correct", number),
            Choice(texts.BUTTON_FORGET(language), "forget", number),
            Choice(texts.BUTTON_WHY(language), "why", number),
        ),
        (Choice(texts.BUTTON_BACK(language), "memory", f"page {page}"),),
    )


def _because(connection: Connection, record: Record, call: CommandCall) -> str:
    """Return a memory with its origin, its time and the words it was told in."""
    quote = ""
    for _, said in Memory.history.list_quotations(connection, record.source_message_ids, call.principal.read_scopes)[
        :1
    ]:
        mine = said.trust == call.principal.trust
        quote = (texts.WHY_QUOTE if mine else texts.WHY_QUOTE_ELSE)(call.language, said=one_line(said.text, _QUOTED))
    origin = _ORIGINS.get(record.origin, texts.FROM_TAG)(call.language)
    age = time_ago_text(record.created, call.at, call.language)
    return texts.WHY_LINE(
        call.language, number=record.id, what=one_line(record.text), origin=origin, age=age, quote=quote
    )
