"""`/remember`, `/memory`, `/why` and `/undo`: a person's hands on memory in chat, each within the turn's transaction.

`/forget`, which may have to ask, is in `kenobot.agent.commands.forget`. Who sees a memory may change it: the owner
theirs in private, a guest their own, and in a group everybody the group's.
"""

from collections.abc import Sequence

from kenobot.agent.commands.memory_base import ByHand, listed, shown, since
from kenobot.agent.commands.memory_texts import MemorySentence, ago, forms, tell
from kenobot.agent.commands.registry import Order
from kenobot.cognitive.control.explain_reply import behind
from kenobot.cognitive.control.undo import CannotUndo, Undone, last_change, undo
from kenobot.cognitive.recall.access import Because
from kenobot.cognitive.remember.admit import admit
from kenobot.cognitive.store import history
from kenobot.cognitive.store.records import Record
from kenobot.cognitive.text.words import terms
from kenobot.core.i18n import Language
from kenobot.ports.identity import OWNER_SCOPE, chat_scope
from kenobot.ports.memory import Candidate, Decision, Form, Source
from kenobot.storage.connection import Connection

_NEWEST = 8
_BEHIND = 8  # memories that /why names
_QUOTED = 140  # characters of what was said
_ORIGINS: dict[str, MemorySentence] = {
    "tag": "from_tag",
    "extraction": "from_extraction",
    "edit": "from_edit",
    "command": "from_command",
    "sleep": "from_sleep",
    "import": "from_import",
}
_COMMAND: Source = "command"


class Remember(ByHand):
    """`/remember TEXT`: what a person wants kept, in their own words, at once."""

    names = ("remember", "recuerda")
    admits = True
    """What it is about goes into memory as it stands."""

    def run(self, connection: Connection, order: Order) -> str:
        language = self._hands.speak(order, self.names)
        if not order.rest:
            return tell("remember_how", language)
        scope = order.principal.writes
        form: Form = "episode" if scope.startswith("chat:") else "note"
        trust = order.principal.trust
        candidate = Candidate(
            form, scope, order.rest, source=_COMMAND, trust=trust, evidence=(order.message,) if order.message else ()
        )
        decision = admit(connection, candidate, self._hands.occasion(order))
        return _learned(decision, order.rest, language)


class Memory(ByHand):
    """`/memory`: how much is remembered here, and what came last."""

    names = ("memory", "memoria")

    def run(self, connection: Connection, order: Order) -> str:
        return self.overview(connection, order, self._hands.speak(order, self.names))

    def overview(self, connection: Connection, order: Order, language: Language) -> str:
        """What there is, in words."""
        reach = order.principal.reads
        counts = history.live_counts(connection, reach)
        if not counts:
            return tell("memory_none", language)
        newest = history.listed(connection, reach, ("active",), ("note", "episode", "summary"), _NEWEST)
        some = tell(
            "memory_some",
            language,
            count=sum(counts.values()),
            forms=forms(counts, language),
            lines=listed(newest, language),
        )
        parts = [some, tell("memory_hands", language)]
        if OWNER_SCOPE in reach:
            parts.append(tell("memory_files", language, folder=f"`{self._hands.folder}`"))
        return "\n\n".join(parts)


class Why(ByHand):
    """`/why`: the memories behind the last reply here, and where each came from."""

    names = ("why", "porque")

    def run(self, connection: Connection, order: Order) -> str:
        language = self._hands.speak(order, self.names)
        found = behind(connection, order.inbound.session, order.principal.reads)
        if found is None:
            return tell("why_none", language)
        because = [each for each in found.because if each.record is not None]
        likely = _likely(because, f"{found.question}\n{found.answer}")
        asked = f"“{_clipped(found.question)}”"
        more = len(because) - len(likely)
        if not likely:
            parts = [tell("why_nothing", language, question=asked)]
        else:
            lines = "\n".join(_because(connection, record, order, language) for record in likely)
            parts = [tell("why_some", language, question=asked, lines=lines)]
        return "\n\n".join([*parts, *([tell("why_more", language, count=more)] if more else [])])


class Undo(ByHand):
    """`/undo` takes back the last change of what is remembered here; `/undo NUMBER` a change of that number."""

    names = ("undo", "deshacer")

    def run(self, connection: Connection, order: Order) -> str:
        language = self._hands.speak(order, self.names)
        reach = order.principal.reads
        wanted = order.rest.lstrip("#")
        if wanted and not (wanted.isascii() and wanted.isdecimal() and len(wanted) <= 15):
            return tell("undo_how", language)
        event = int(wanted) if wanted else last_change(connection, _owned(order))
        if event is None:
            return tell("undo_none", language)
        try:
            done = undo(connection, event, reach, self._hands.occasion(order))
        except CannotUndo as error:
            return tell("undo_hindered", language, why=error)
        return tell("undone", language, lines=_what_came_of(done, language), event=done.event)


def _owned(order: Order) -> tuple[str, ...]:
    """The scopes whose last change `/undo` means: one's own, and the chat's."""
    return tuple(dict.fromkeys([order.principal.writes, chat_scope(order.inbound.session)]))


def _learned(decision: Decision, text: str, language: Language) -> str:
    what = _clipped(text)
    if decision.action in ("created", "replaced"):
        return tell("learned", language, what=what)
    if decision.action == "reinforced":
        return tell("known", language, what=what)
    if "looks like" in decision.reason:
        return tell("refused_secret", language)
    return tell("refused", language, why=decision.reason)


def _likely(because: Sequence[Because], said: str) -> list[Record]:
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


def _because(connection: Connection, record: Record, order: Order, language: Language) -> str:
    """A memory, where it came from and when, and what was said then."""
    quote = ""
    for turn in record.witnesses:
        said = history.quote(connection, turn, order.principal.reads)
        if said is not None:
            mine = said[0] == order.principal.trust
            quote = tell("why_quote" if mine else "why_quote_else", language, said=_clipped(said[3]))
            break
    origin = tell(_ORIGINS.get(record.source, "from_tag"), language)
    age = ago(order.at - since(record.created, order.at), language)
    return tell("why_line", language, number=record.id, what=shown(record), origin=origin, age=age, quote=quote)


def _what_came_of(done: Undone, language: Language) -> str:
    was = {record.id: record for record in done.before}
    lines = []
    for record in done.after:
        before = was[record.id]
        sentence: MemorySentence = "is_so"
        if (record.status == "active") != (before.status == "active"):
            sentence = "is_back" if record.status == "active" else "is_gone"
        elif record.status != "active":
            continue
        lines.append(tell(sentence, language, number=record.id, what=shown(record)))
    return "\n".join(lines) or listed(done.after, language)


def _clipped(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _QUOTED else f"{line[: _QUOTED - 1].rstrip()}…"
