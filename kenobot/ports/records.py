"""Records of memory, their events and links, as memory hands them out."""

import json
from collections.abc import Mapping
from typing import Literal, NamedTuple

from kenobot.ports.frozen import dataclass
from kenobot.ports.identity import QUOTED_TRUST
from kenobot.ports.json_value import Json
from kenobot.ports.memory import CONFIDED, KEPT_ON_YES
from kenobot.ports.sentences import recognise, unpack

LinkType = Literal[
    "supports", "contradicts", "supersedes", "derived", "member", "related", "entity", "time", "causal", "trace"
]


ColumnValue = str | int | float | None


HEARSAY = "hearsay"
"""The tag of what the bot made of notes of other programs: it is quoted as they are."""


NOTED_BY_RULES = "rules"
"""The tag of a memory that rules noted in the place of a model."""


MARKS = frozenset({CONFIDED, HEARSAY, KEPT_ON_YES, NOTED_BY_RULES})
"""The tags that say nothing of what a memory is about."""


class Record(NamedTuple):
    """A memory: something believed, a box, a pattern, a summary or a file's note. Times are ISO-8601 text in UTC.

    by: name of the speaker, where that is neither the owner nor the person whose scope it is.
    attributes, tags, source_messages: JSON, an object and two lists; see `attribute_map` and `source_message_ids`.
    """

    id: int
    form: str
    category: str
    scope: str
    text: str
    trust: str
    tier: str
    status: str
    confidence: float
    mentions: int
    created: str
    updated: str
    day: str
    changed_event: int
    by: str = ""
    subject: str = "owner"
    attributes: str = "{}"
    tags: str = "[]"
    lang: str = ""
    source: str = "tag"
    importance: float = 0.5
    stability: float = 1.0
    use_count: int = 0
    lifecycle: str = "candidate"
    verification: str = "unverified"
    policy_class: str = "durable"
    valid_from: str = ""
    valid_to: str | None = None
    last_seen: str = ""
    last_used: str | None = None
    confirmed: str | None = None
    expires: str | None = None
    key: str = ""
    source_messages: str = "[]"

    @property
    def origin(self) -> str:
        """Return how its words came about: its source; "chat" for a chat's summary, "edit" for a page's new words.

        A page that a night made, in whatever words its owner gave it, is still a night's by its source.
        """
        if self.source == "sleep" and self.trust == "owner":
            return "edit"
        return "chat" if (self.source, self.form, self.category) == ("sleep", "summary", "session") else self.source

    @property
    def attribute_map(self) -> dict[str, str]:
        """Return what it says of its subject, by name."""
        if self.attributes == "{}":
            return {}
        found = json.loads(self.attributes)
        return {name: str(value) for name, value in found.items()} if isinstance(found, dict) else {}

    @property
    def tag_names(self) -> tuple[str, ...]:
        """Return its tags."""
        found = json.loads(self.tags) if self.tags != "[]" else []
        return tuple(map(str, found)) if isinstance(found, list) else ()

    @property
    def is_hearsay(self) -> bool:
        """Return whether another program noted it, or the bot repeated such a note or made it of one: who said it there
        is not known.
        """
        made_of = self.tags != "[]" and HEARSAY in json.loads(self.tags)
        return self.trust == "model" and (made_of or self.source in ("import", "tag", "extraction"))

    @property
    def is_confided(self) -> bool:
        """Return whether it was told in confidence."""
        return self.tags != "[]" and CONFIDED in json.loads(self.tags)

    @property
    def needs_mark(self) -> bool:
        """Return whether it is told with a mark only: it is quoted, hearsay, or was told in confidence."""
        return self.trust in QUOTED_TRUST or self.is_hearsay or self.is_confided

    @property
    def source_message_ids(self) -> tuple[int, ...]:
        """The inbox rows of the turns that said so, each once."""
        return tuple(json.loads(self.source_messages))


@dataclass(frozen=True, slots=True)
class EventRow:
    """An event as it was written. data: what it tells, `previous_values` included."""

    id: int
    at: str
    session: str
    actor: str
    kind: str
    record: int | None
    data: Mapping[str, Json]

    @property
    def reason(self) -> str:
        """Return the reason of the event, with its key where it has one; "" without any."""
        return read_reason(self.data)

    @property
    def previous_values(self) -> dict[str, str | int | float | None]:
        """Return what the event overwrote, by column."""
        found = self.data.get("was")
        return (
            {str(k): v for k, v in found.items() if not isinstance(v, list | dict)} if isinstance(found, dict) else {}
        )

    @property
    def decision_id(self) -> int:
        """The event of the decision that this one belongs to: its own when it stands alone."""
        part = self.data.get("part_of")
        return part if isinstance(part, int) and not isinstance(part, bool) else self.id


def read_reason(data: Mapping[str, Json]) -> str:
    """Return the reason that the data of an event tells, with its key where it has one; "" without any."""
    return unpack(data.get("said")) or recognise(str(data.get("reason") or ""), "reasons")


@dataclass(frozen=True, slots=True)
class RecordWords:
    """A record's number and its words."""

    record: int
    text: str


@dataclass(frozen=True, slots=True)
class HistoryStep:
    """Something that happened to a record. changes: column, what it held before, what it held after.

    Bookkeeping, such as when it was last seen, is left out. undone: a later event took it back. former: the records
    that it took the place of. current: the one that took its place.
    """

    event: int
    at: str
    actor: str
    kind: str
    session: str
    reason: str
    changes: tuple[tuple[str, ColumnValue, ColumnValue], ...]
    undone: bool
    part_of: int | None
    former: tuple[RecordWords, ...] = ()
    current: RecordWords | None = None


@dataclass(frozen=True, slots=True)
class Link:
    """A relation of `src` to `dst`. `confidence` is as of `last_at`, an ISO-8601 time in UTC."""

    src: int
    dst: int
    type: LinkType
    weight: float
    confidence: float
    seen: int
    last_at: str
