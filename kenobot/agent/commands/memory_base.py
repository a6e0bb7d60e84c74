"""What the chat commands on memory have in common: who may, in which language, and a memory in one line."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from zoneinfo import ZoneInfo

from kenobot.agent.commands.registry import CommandCall
from kenobot.cognitive.control.find import NearSearch, index_search
from kenobot.cognitive.recall.index.index import SideIndex
from kenobot.cognitive.remember.admit_context import AdmitContext
from kenobot.cognitive.store.records import Record
from kenobot.cognitive.text.calendar import local_day
from kenobot.core import texts
from kenobot.core.i18n import Language
from kenobot.ports.identity import OWNER_SCOPE, Principal
from kenobot.ports.messages import Inbound
from kenobot.ports.names import sanitize_name

_SHOWN = 160  # characters of a memory in a list


@dataclass(frozen=True, slots=True)
class MemoryCommandContext:
    """What the commands work with. folder: where the Markdown files are. language: of the answers; None goes by the
    name that a command is called by, and by what is written.
    """

    zone: ZoneInfo
    folder: Path
    index: SideIndex | None = None
    language: Language | None = None

    @property
    def memory_search(self) -> NearSearch | None:
        """What finds memories by words, where there is an index."""
        return index_search(self.index) if self.index is not None else None

    def reply_language(self, order: CommandCall, names: Sequence[str]) -> Language:
        """Choose the language of the answer: a command's first name is English, its second Spanish, others are old."""
        if self.language is not None:
            return self.language
        called = (
            order.inbound.text.strip().lstrip("/").split(maxsplit=1)[0].lower() if order.inbound.text.strip() else ""
        )
        if called in names:
            return "es" if called == names[1] else "en"
        return order.language

    def admit_context(self, order: CommandCall) -> AdmitContext:
        """The order, as an occasion to remember or forget."""
        by = sanitize_name(order.inbound.user_name) if order.principal.role == "guest" else ""
        actor = "owner" if OWNER_SCOPE in order.principal.read_scopes else "person"
        day = local_day(order.at, self.zone)
        evidence = order.inbox_id or None
        near = self.index.statement_similarity if self.index is not None else None
        return AdmitContext(
            order.at, day, actor, order.inbound.session, evidence=evidence, speaker_name=by, nearness=near
        )


def may_change_memory(principal: Principal, inbound: Inbound) -> bool:
    """Whether this person has hands on memory here: on their own in private, in a group on the group's.

    What they may see is what they may change; nobody's words but one's own order anything.
    """
    return bool(principal.read_scopes) and principal.trust in ("owner", "guest") and not inbound.forwarded


class MemoryCommand:
    """What every command on memory shares: the hands it works with, and who may order it."""

    def __init__(self, hands: MemoryCommandContext) -> None:
        self._hands = hands

    def is_allowed(self, principal: Principal, inbound: Inbound) -> bool:
        return may_change_memory(principal, inbound)


def record_line(record: Record) -> str:
    """A memory in one line that cannot pass for another."""
    return one_line(record.text)


def one_line(text: str) -> str:
    """A text in one line, not too long a one."""
    line = " ".join(text.split())
    return line if len(line) <= _SHOWN else f"{line[: _SHOWN - 1].rstrip()}…"


def numbered_lines(records: Sequence[Record], language: Language) -> str:
    """Memories with their numbers, one a line."""
    return "\n".join(texts.RECORD_LINE(language, number=record.id, what=record_line(record)) for record in records)


def parse_past_time(moment: str, now: datetime) -> datetime:
    """A stored moment, never later than `now`."""
    return min(datetime.fromisoformat(moment), now)
