"""`/remember`, `/memory`, `/why` and `/undo`: a person's hands on memory in chat, each within the turn's transaction.

`/forget`, which may have to ask, is in `kenobot.agent.commands.forget`. Who sees a memory may change it: the owner
theirs in private, a guest their own, and in a group everybody the group's.
"""

from collections.abc import Mapping, Sequence

from kenobot.agent.commands.memory_base import MemoryCommand, numbered_lines, parse_past_time, record_line
from kenobot.agent.commands.memory_texts import form_counts_text, time_ago_text
from kenobot.agent.commands.registry import CommandCall
from kenobot.cognitive.control.explain_reply import explain_last_reply
from kenobot.cognitive.control.undo import UndoError, UndoResult, last_undoable_event, undo
from kenobot.cognitive.recall.usage import UsedMemory
from kenobot.cognitive.remember.admit import admit
from kenobot.cognitive.store import history, records
from kenobot.cognitive.store.records import Record
from kenobot.cognitive.text.words import terms
from kenobot.core import texts
from kenobot.core.i18n import Language, Text
from kenobot.ports.identity import OWNER_SCOPE, chat_scope
from kenobot.ports.memory import Candidate, Decision, Form, Source
from kenobot.storage.connection import Connection

_NEWEST = 8
_BEHIND = 8  # memories that /why names
_QUOTED = 140  # characters of what was said
_ORIGINS: Mapping[str, Text] = {
    "tag": texts.FROM_TAG,
    "extraction": texts.FROM_EXTRACTION,
    "edit": texts.FROM_EDIT,
    "command": texts.FROM_COMMAND,
    "sleep": texts.FROM_SLEEP,
    "import": texts.FROM_IMPORT,
}
_COMMAND: Source = "command"


class RememberCommand(MemoryCommand):
    """`/remember TEXT`: what a person wants kept, in their own words, at once."""

    names = ("remember", "recuerda")
    admits = True
    """What it is about goes into memory as it stands."""

    def run(self, connection: Connection, order: CommandCall) -> str:
        language = self._hands.reply_language(order, self.names)
        if not order.arguments:
            return texts.REMEMBER_HOW(language)
        scope = order.principal.write_scope
        form: Form = "episode" if scope.startswith("chat:") else "note"
        trust = order.principal.trust
        candidate = Candidate(
            form,
            scope,
            order.arguments,
            source=_COMMAND,
            trust=trust,
            evidence=(order.inbox_id,) if order.inbox_id else (),
        )
        decision = admit(connection, candidate, self._hands.admit_context(order))
        return _learned(decision, order.arguments, language)


class MemoryOverviewCommand(MemoryCommand):
    """`/memory`: how much is remembered here, and what came last."""

    names = ("memory", "memoria")

    def run(self, connection: Connection, order: CommandCall) -> str:
        return self.overview(connection, order, self._hands.reply_language(order, self.names))

    def overview(self, connection: Connection, order: CommandCall, language: Language) -> str:
        """What there is, in words."""
        reach = order.principal.read_scopes
        counts = records.live_counts_by_form(connection, reach)
        if not counts:
            return texts.MEMORY_NONE(language)
        newest = records.list_records(connection, reach, ("active",), ("note", "episode", "summary"), _NEWEST)
        some = texts.MEMORY_SOME(
            language,
            count=sum(counts.values()),
            forms=form_counts_text(counts, language),
            lines=numbered_lines(newest, language),
        )
        parts = [some, texts.MEMORY_HANDS(language)]
        if OWNER_SCOPE in reach:
            parts.append(texts.MEMORY_FILES(language, folder=f"`{self._hands.folder}`"))
        return "\n\n".join(parts)


class WhyCommand(MemoryCommand):
    """`/why`: the memories behind the last reply here, and where each came from."""

    names = ("why", "porque")

    def run(self, connection: Connection, order: CommandCall) -> str:
        language = self._hands.reply_language(order, self.names)
        found = explain_last_reply(connection, order.inbound.session, order.principal.read_scopes)
        if found is None:
            return texts.WHY_NONE(language)
        because = [each for each in found.used_memories if each.record is not None]
        likely = _likely(because, f"{found.question}\n{found.answer}")
        asked = f"“{_clipped(found.question)}”"
        more = len(because) - len(likely)
        if not likely:
            parts = [texts.WHY_NOTHING(language, question=asked)]
        else:
            lines = "\n".join(_because(connection, record, order, language) for record in likely)
            parts = [texts.WHY_SOME(language, question=asked, lines=lines)]
        return "\n\n".join([*parts, *([texts.WHY_MORE(language, count=more)] if more else [])])


class UndoCommand(MemoryCommand):
    """`/undo` takes back the last change of what is remembered here; `/undo NUMBER` a change of that number."""

    names = ("undo", "deshacer")

    def run(self, connection: Connection, order: CommandCall) -> str:
        language = self._hands.reply_language(order, self.names)
        reach = order.principal.read_scopes
        wanted = order.arguments.lstrip("#")
        if wanted and not (wanted.isascii() and wanted.isdecimal() and len(wanted) <= 15):
            return texts.UNDO_HOW(language)
        event = int(wanted) if wanted else last_undoable_event(connection, _owned(order))
        if event is None:
            return texts.UNDO_NONE(language)
        try:
            done = undo(connection, event, reach, self._hands.admit_context(order))
        except UndoError as error:
            return texts.UNDO_HINDERED(language, why=error)
        return texts.UNDONE(language, lines=_what_came_of(done, language), event=done.event)


def _owned(order: CommandCall) -> tuple[str, ...]:
    """The scopes whose last change `/undo` means: one's own, and the chat's."""
    return tuple(dict.fromkeys([order.principal.write_scope, chat_scope(order.inbound.session)]))


def _learned(decision: Decision, text: str, language: Language) -> str:
    what = _clipped(text)
    if decision.action in ("created", "replaced"):
        return texts.LEARNED(language, what=what)
    if decision.action == "reinforced":
        return texts.ALREADY_KNOWN(language, what=what)
    if "looks like" in decision.reason:
        return texts.REMEMBER_REFUSED_SECRET(language)
    return texts.REMEMBER_REFUSED(language, why=decision.reason)


def _likely(because: Sequence[UsedMemory], said: str) -> list[Record]:
    """The memories that stand behind what was said: those recalled for it, then those on show that share its words."""
    spoken = set(terms(said))
    recalled = [each.record for each in because if each.where == "message" and each.record is not None]
    shared = [
        (len(spoken.intersection(terms(each.record.text))), each.record)
        for each in because
        if each.where != "message" and each.record is not None
    ]
    rest = [record for count, record in sorted(shared, key=lambda pair: -pair[0]) if count]
    return list({record.id: record for record in [*recalled, *rest]}.values())[:_BEHIND]


def _because(connection: Connection, record: Record, order: CommandCall, language: Language) -> str:
    """A memory, where it came from and when, and what was said then."""
    quote = ""
    for turn in record.source_message_ids:
        said = history.quotable_message(connection, turn, order.principal.read_scopes)
        if said is not None:
            mine = said[0] == order.principal.trust
            quote = (texts.WHY_QUOTE if mine else texts.WHY_QUOTE_ELSE)(language, said=_clipped(said[3]))
            break
    origin = _ORIGINS.get(record.source, texts.FROM_TAG)(language)
    age = time_ago_text(order.at - parse_past_time(record.created, order.at), language)
    return texts.WHY_LINE(language, number=record.id, what=record_line(record), origin=origin, age=age, quote=quote)


def _what_came_of(done: UndoResult, language: Language) -> str:
    was = {record.id: record for record in done.before}
    lines = []
    for record in done.after:
        before = was[record.id]
        sentence = texts.UNDONE_TEXT
        if (record.status == "active") != (before.status == "active"):
            sentence = texts.UNDONE_BACK if record.status == "active" else texts.UNDONE_GONE
        elif record.status != "active":
            continue
        lines.append(sentence(language, number=record.id, what=record_line(record)))
    return "\n".join(lines) or numbered_lines(done.after, language)


def _clipped(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _QUOTED else f"{line[: _QUOTED - 1].rstrip()}…"
