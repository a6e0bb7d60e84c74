"""The base of the chat commands: rights, the language of an answer, memories and spans of time as text."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

from kenobot.agent.commands.registry import Change, CommandCall, CommandResult
from kenobot.cognitive.control.find import NearSearch, index_search
from kenobot.cognitive.recall.index.index import SideIndex
from kenobot.cognitive.remember.admit_context import AdmitContext
from kenobot.cognitive.store.records import Record
from kenobot.cognitive.text.calendar import local_day
from kenobot.core import texts
from kenobot.core.i18n import Language, Text
from kenobot.ports.identity import OWNER_SCOPE, Principal
from kenobot.ports.messages import Inbound
from kenobot.ports.names import sanitize_name
from kenobot.storage.connection import Connection

_SHOWN = 160  # characters of a memory in a list
_UNITS = (
    (86_400, Text("day", "día"), Text("days", "días")),
    (3_600, Text("hour", "hora"), Text("hours", "horas")),
    (60, Text("minute", "minuto"), Text("minutes", "minutos")),
    (1, Text("second", "segundo"), Text("seconds", "segundos")),
)


@dataclass(frozen=True, slots=True)
class CommandContext:
    """Dependencies of the commands.

    folder: the Markdown files. language: of the answers; None follows the command's name, then the message's text.
    """

    zone: ZoneInfo
    folder: Path
    index: SideIndex | None = None
    language: Language | None = None

    @property
    def memory_search(self) -> NearSearch | None:
        """The search by words, where there is an index."""
        return index_search(self.index) if self.index is not None else None

    def admit_context(self, call: CommandCall) -> AdmitContext:
        """Describe the call as an occasion to remember or forget."""
        speaker = sanitize_name(call.inbound.user_name) if call.principal.role == "guest" else ""
        actor = "owner" if OWNER_SCOPE in call.principal.read_scopes else "person"
        nearness = self.index.statement_similarity if self.index is not None else None
        return AdmitContext(
            call.at,
            local_day(call.at, self.zone),
            actor,
            call.inbound.session,
            evidence=call.inbox_id or None,
            speaker_name=speaker,
            nearness=nearness,
        )


def may_change_memory(principal: Principal, inbound: Inbound) -> bool:
    """Return whether a person may change memory here: what they may see, and never by a forwarded text."""
    return bool(principal.read_scopes) and principal.trust in ("owner", "guest") and not inbound.forwarded


class ChatCommand(ABC):
    """A command on memory, or, `owner_only`, one that the owner gives alone with the bot."""

    names: tuple[str, ...] = ()
    changes: frozenset[Change] = frozenset({"memory"})
    stores_argument = False
    owner_only = False

    def __init__(self, context: CommandContext) -> None:
        self._context = context

    def is_allowed(self, principal: Principal, inbound: Inbound) -> bool:
        allowed = may_change_memory(principal, inbound)
        return allowed and (not self.owner_only or OWNER_SCOPE in principal.read_scopes)

    def run(self, connection: Connection, call: CommandCall) -> CommandResult:
        return CommandResult(self.answer(connection, call, self._reply_language(call)), self.changes)

    @abstractmethod
    def answer(self, connection: Connection, call: CommandCall, language: Language) -> str:
        """Carry out the command and return the answer in `language`."""

    def _reply_language(self, call: CommandCall) -> Language:
        """A command's first name is English, its second Spanish, further ones are older English names."""
        if self._context.language is not None:
            return self._context.language
        name = call.inbound.text.strip().lstrip("/").split(maxsplit=1)[:1]
        if name and name[0].lower() in self.names:
            return "es" if name[0].lower() == self.names[1] else "en"
        return call.language


def one_line(text: str, longest: int = _SHOWN) -> str:
    """Clip a text to one line."""
    line = " ".join(text.split())
    return line if len(line) <= longest else f"{line[: longest - 1].rstrip()}…"


def numbered_lines(records: Sequence[Record], language: Language) -> str:
    """List memories with their numbers, one a line."""
    return "\n".join(texts.RECORD_LINE(language, number=record.id, what=one_line(record.text)) for record in records)


def duration_text(elapsed: timedelta, language: Language) -> str:
    """Express a span of time in its largest whole unit: "5 segundos", "1 day"."""
    seconds = max(0, int(elapsed.total_seconds()))
    size, one, many = next((unit for unit in _UNITS if seconds >= unit[0]), _UNITS[-1])
    count = seconds // size
    return f"{count} {(many if count > 1 else one)(language)}"


def time_ago_text(moment: str, now: datetime, language: Language) -> str:
    """Express how long before `now` a stored moment was; a later one counts as now."""
    elapsed = now - min(datetime.fromisoformat(moment), now)
    if elapsed < timedelta(seconds=1):
        return texts.JUST_NOW(language)
    return texts.TIME_AGO(language, span=duration_text(elapsed, language))
