"""Define the views of memory for people: filters of records, a timeline, a graph, and confidence over time."""

from collections.abc import Mapping, Sequence
from datetime import date
from typing import Final, Literal
from zoneinfo import ZoneInfo

from kenobot.ports.frozen import dataclass
from kenobot.ports.records import Record

Happening = Literal["learned", "confirmed", "replaced", "faded", "forgotten", "undone"]
"""What happened to a memory, as a timeline tells it."""

HAPPENINGS: Final[Mapping[Happening, tuple[str, ...]]] = {
    "learned": ("created", "imported"),
    "confirmed": ("reinforced", "confirmed", "pinned", "worked", "promoted", "restored"),
    "replaced": ("replaced", "superseded", "invalidated", "amended", "reworded", "edited", "merged"),
    "faded": ("expired", "archived", "put away", "faded", "cooled", "weakened"),
    "forgotten": ("forgotten", "purged"),
    "undone": ("undone",),
}
"""The types of events by what they tell; the others are bookkeeping."""

Period = Literal["day", "week", "month"]
NodeKind = Literal["subject", "topic", "memory"]
GraphDetail = Literal["topics", "memories"]


@dataclass(frozen=True, slots=True)
class Days:
    """Some days of the owner's calendar, the first and the last among them."""

    first: date
    last: date
    zone: ZoneInfo


@dataclass(frozen=True, slots=True)
class RecordFilter:
    """Choose records; what is empty chooses any.

    subject: whom or what it is about. tag: one of its topics. source: how it came in. first_day, last_day: the owner's
    days on which it was told, YYYY-MM-DD. text: letters that it holds, whatever their case.
    """

    statuses: Sequence[str] = ()
    forms: Sequence[str] = ()
    category: str = ""
    subject: str = ""
    tag: str = ""
    source: str = ""
    trust: str = ""
    scope: str = ""
    first_day: str = ""
    last_day: str = ""
    text: str = ""

    def matches(self, record: Record) -> bool:
        """Return whether a record is chosen, whose values may be of an earlier moment."""
        equal = ("category", "subject", "source", "trust", "scope")
        return (
            record.status in (self.statuses or (record.status,))
            and record.form in (self.forms or (record.form,))
            and all(getattr(self, name) in ("", getattr(record, name)) for name in equal)
            and (not self.tag or self.tag in record.tag_names)
            and (self.first_day or record.day) <= record.day <= (self.last_day or record.day)
            and self.text.casefold() in record.text.casefold()
        )


@dataclass(frozen=True, slots=True)
class Facets:
    """The values that live records have, each with how many have it, the most frequent first."""

    forms: Mapping[str, int]
    categories: Mapping[str, int]
    sources: Mapping[str, int]
    subjects: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class ConfidencePoint:
    """The confidence of a record, 0 to 1, from a moment on. kind: of the event that set it."""

    at: str
    value: float
    kind: str


@dataclass(frozen=True, slots=True)
class TimelinePeriod:
    """Count the changes of memory in a period. first, last: its days, in the owner's zone. counts: by what happened."""

    first: str
    last: str
    counts: Mapping[Happening, int]


@dataclass(frozen=True, slots=True)
class TimelineItem:
    """Something that happened to a memory. text: "" where it was forgotten since. decision: what an undo takes."""

    event: int
    at: str
    happening: Happening
    kind: str
    actor: str
    reason: str
    record: int
    subject: str
    text: str
    decision: int


@dataclass(frozen=True, slots=True)
class GraphNode:
    """A subject, a topic or a memory. id: its kind and its name or number. weight: how many memories it stands for."""

    id: str
    kind: NodeKind
    label: str
    weight: int


@dataclass(frozen=True, slots=True)
class GraphEdge:
    """A line between two nodes. kind: "about", "topic", or the type of a link. weight: how many lines it sums up."""

    source: str
    target: str
    kind: str
    weight: float


@dataclass(frozen=True, slots=True)
class Graph:
    """Memories with what they are about. memories: how many it is made of. left_out: nodes beyond the bound."""

    nodes: tuple[GraphNode, ...]
    edges: tuple[GraphEdge, ...]
    memories: int
    left_out: int
