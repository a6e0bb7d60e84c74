"""A job: what is to be said to whom, where, and when; and its occurrences."""

from datetime import datetime
from typing import Literal

from kenobot.core.i18n import Language, Text
from kenobot.language.when.meaning import Moment, Recurrence
from kenobot.ports.errors import KenobotError
from kenobot.ports.frozen import dataclass
from kenobot.ports.identity import OWNER_SCOPE, Principal, Trust
from kenobot.ports.messages import Inbound

JobKind = Literal["reminder", "morning"]
JobState = Literal["proposed", "active", "paused", "done", "cancelled"]
MissedPolicy = Literal["late", "summary"]
OccurrenceState = Literal["due", "sent", "done", "snoozed", "skipped", "missed"]

OWNER_PERSON = OWNER_SCOPE
"""The person of a job that is the owner's, on whatever account."""


class JobError(KenobotError):
    """A job cannot be made or changed as asked. Its text says what a person can do, in either language."""

    def __init__(self, text: Text, **values: object) -> None:
        super().__init__(text("en", **values))
        self._text = text
        self._values = values

    def words(self, language: Language) -> str:
        """Translate it."""
        return self._text(language, **self._values)


@dataclass(frozen=True, slots=True)
class Place:
    """Place, owner and readers of a job. person: `channel:user`, or the owner.

    name: of the person, where others read along; "" elsewhere. account: of the owner, in a private chat; "" elsewhere,
    and where the chat was named by hand.
    """

    channel: str
    chat: str
    thread: str
    private: bool
    language: Language
    person: str
    scope: str
    name: str = ""
    account: str = ""


def place_in(inbound: Inbound, principal: Principal, language: Language) -> Place:
    """Return where a reminder is told that the person of a message sets, and whose it is."""
    is_owners = principal.role == "owner"
    person = OWNER_PERSON if is_owners else f"{inbound.channel}:{inbound.user}"
    chat = inbound.channel, inbound.chat, inbound.thread
    name = "" if inbound.private else inbound.user_name
    account = inbound.user if is_owners and inbound.private else ""
    return Place(*chat, inbound.private, language, person, principal.write_scope, name, account)


@dataclass(frozen=True, slots=True)
class NewJob:
    """A job to be. zone: of its times where they are not the owner's; an IANA name. origin: inbox row that asks it.

    missed: whether it is told late when it was missed, or only within a summary.
    """

    text: str
    place: Place
    meaning: Moment | Recurrence
    zone: str = ""
    missed: MissedPolicy = "late"
    trust: Trust = "owner"
    origin: int | None = None
    kind: JobKind = "reminder"
    source_record: int | None = None


@dataclass(frozen=True, slots=True)
class Job:
    """A stored job. Local times are naive, the others aware and in UTC.

    rule: '' for once. zone: '' for the owner's. cursor: instances of the rule up to it are settled; a local time, or a
    moment where the rule counts hours. planned, planned_due: the next instance, and its moment. next_due: that, or an
    earlier snoozed one; None where nothing is to come.
    """

    id: int
    kind: JobKind
    text: str
    person: str
    scope: str
    channel: str
    chat: str
    thread: str
    private: bool
    language: Language
    name: str
    rule: str
    start_local: datetime
    zone: str
    exact: bool
    has_time: bool
    cursor: str
    planned: str
    planned_due: datetime | None
    next_due: datetime | None
    state: JobState
    missed: MissedPolicy
    trust: Trust
    origin: int | None
    created: datetime
    ended: datetime | None
    source_record: int | None
    undo: str
    account: str

    @property
    def place(self) -> Place:
        """Place in which it is told."""
        where = self.channel, self.chat, self.thread
        return Place(*where, self.private, self.language, self.person, self.scope, self.name, self.account)

    @property
    def is_recurring(self) -> bool:
        """True when it comes more than once."""
        return bool(self.rule)


@dataclass(frozen=True, slots=True)
class Occurrence:
    """A moment at which a job was or is to be told. covers: the instances it stands for, missed ones included."""

    id: int
    job_id: int
    due: datetime
    state: OccurrenceState
    planned: str = ""
    covers: int = 1
    outbox: int | None = None
    told_at: datetime | None = None
