"""What the chat commands on memory have in common: who may, in which language, and a memory in one line."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from zoneinfo import ZoneInfo

from kenobot.agent.commands.memory_texts import tell
from kenobot.agent.commands.registry import Order
from kenobot.cognitive.control.find import Near, near_in
from kenobot.cognitive.recall.index.index import Index
from kenobot.cognitive.remember.occasion import Occasion
from kenobot.cognitive.store.records import Record
from kenobot.cognitive.text.calendar import local_day
from kenobot.core.i18n import Language
from kenobot.ports.identity import OWNER_SCOPE, Principal
from kenobot.ports.messages import Inbound
from kenobot.ports.names import plain_name

_SHOWN = 160  # characters of a memory in a list


@dataclass(frozen=True, slots=True)
class Hands:
    """What the commands work with. folder: where the Markdown files are. language: of the answers; None goes by the
    name that a command is called by, and by what is written.
    """

    zone: ZoneInfo
    folder: Path
    index: Index | None = None
    language: Language | None = None

    @property
    def near(self) -> Near | None:
        """What finds memories by words, where there is an index."""
        return near_in(self.index) if self.index is not None else None

    def speak(self, order: Order, names: Sequence[str]) -> Language:
        """The language of the answer: a command has an English name first, then Spanish ones."""
        if self.language is not None:
            return self.language
        called = (
            order.inbound.text.strip().lstrip("/").split(maxsplit=1)[0].lower() if order.inbound.text.strip() else ""
        )
        if called in names:
            return "en" if called == names[0] else "es"
        return order.language

    def occasion(self, order: Order) -> Occasion:
        """The order, as an occasion to remember or forget."""
        by = plain_name(order.inbound.user_name) if order.principal.role == "guest" else ""
        actor = "owner" if OWNER_SCOPE in order.principal.reads else "person"
        day = local_day(order.at, self.zone)
        evidence = order.message or None
        near = self.index.nearness if self.index is not None else None
        return Occasion(order.at, day, actor, order.inbound.session, evidence=evidence, by=by, near=near)


def may(principal: Principal, inbound: Inbound) -> bool:
    """Whether this person has hands on memory here: on their own in private, in a group on the group's.

    What they may see is what they may change; nobody's words but one's own order anything.
    """
    return bool(principal.reads) and principal.trust in ("owner", "guest") and not inbound.forwarded


class ByHand:
    """What every command on memory shares: the hands it works with, and who may order it."""

    def __init__(self, hands: Hands) -> None:
        self._hands = hands

    def may(self, principal: Principal, inbound: Inbound) -> bool:
        return may(principal, inbound)


def shown(record: Record) -> str:
    """A memory in one line that cannot pass for another."""
    return clipped(record.text)


def clipped(text: str) -> str:
    """A text in one line, not too long a one."""
    line = " ".join(text.split())
    return line if len(line) <= _SHOWN else f"{line[: _SHOWN - 1].rstrip()}…"


def listed(records: Sequence[Record], language: Language) -> str:
    """Memories with their numbers, one a line."""
    return "\n".join(tell("line", language, number=record.id, what=shown(record)) for record in records)


def since(moment: str, now: datetime) -> datetime:
    """A stored moment, never later than `now`."""
    return min(datetime.fromisoformat(moment), now)
