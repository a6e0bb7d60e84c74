"""A chat command: its rights, the language of its answer, memories and spans of time as text."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import field
from datetime import datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Literal
from zoneinfo import ZoneInfo

from kenobot.agent.loop import ChatActivity
from kenobot.cognitive.memory import AdmitContext, Memory
from kenobot.core import texts
from kenobot.core.i18n import Language, Text
from kenobot.gateway.access import Access
from kenobot.gateway.buttons import Choice
from kenobot.language.calendar import local_day
from kenobot.ledger.limits import Limit
from kenobot.ports.frozen import dataclass
from kenobot.ports.identity import OWNER_SCOPE, Principal
from kenobot.ports.messages import Attachment, Inbound
from kenobot.ports.records import Record
from kenobot.skills.library import SkillLibrary
from kenobot.storage.connection import Connection

if TYPE_CHECKING:
    from kenobot.core.health import Cause
    from kenobot.tools.mcp.server import ServerState

_SHOWN = 160  # characters of a memory in a list
_UNITS = (
    (86_400, Text("day", "día"), Text("days", "días")),
    (3_600, Text("hour", "hora"), Text("hours", "horas")),
    (60, Text("minute", "minuto"), Text("minutes", "minutos")),
    (1, Text("second", "segundo"), Text("seconds", "segundos")),
)


WORDS_WANTED = "correct"
"""The kind of an open question whose answer is whatever the person writes next."""

REMINDER_QUESTION = "reminder"
"""The kind of an open question about a reminder."""

Change = Literal["memory", "people", "proposals", "settings", "sleep", "tasks"]


@dataclass(frozen=True, slots=True)
class CommandCall:
    """A command as it was given.

    arguments: the text after its name. language: of the message, then of the answer. inbox_id: its inbox row, 0 when
    unknown.
    """

    inbound: Inbound
    principal: Principal
    arguments: str
    language: Language
    at: datetime
    inbox_id: int = 0

    @property
    def author(self) -> str:
        """Return the account whose words alone this person may take away here; "" when everybody's.

        In private all that is in reach is the person's own, and in a group the owner's word goes for everything.
        """
        return "" if self.inbound.private or self.principal.role == "owner" else self.inbound.user


@dataclass(frozen=True, slots=True)
class CommandContext:
    """Dependencies of the commands.

    folder: the Markdown files. language: of the answers; None follows what the person writes. commands: all there are.
    budgets: the limits of what models may use. bot_name: of the bot. activity: what goes on in the chats. causes: what
    is wrong with the bot. without_model: no model answers, so that more wishes in plain words are obeyed. tools: the
    names of those that are on. tools_off: what of the settings is not, and why. servers: the MCP servers, which offer
    more. skills: the owner's.
    """

    zone: ZoneInfo
    folder: Path
    access: Access
    memory: Memory = field(default_factory=Memory)
    language: Language | None = None
    commands: "tuple[Command, ...]" = ()
    budgets: tuple[Limit, ...] = ()
    bot_name: str = "KenoBot"
    activity: Callable[[], Sequence[ChatActivity]] = tuple
    causes: "Callable[[], Sequence[Cause]]" = tuple
    without_model: bool = False
    tools: tuple[str, ...] = ()
    tools_off: Callable[[], Sequence[tuple[str, str]]] = tuple
    servers: "Callable[[], Sequence[ServerState]]" = tuple
    skills: SkillLibrary | None = None

    def find_zone(self, connection: Connection, call: CommandCall) -> ZoneInfo:
        """Return the time zone of the person who gave a command: where the owner is now, or that of the settings."""
        from kenobot.agenda.zones import zone_in_force  # noqa: PLC0415 - loads the reader of times

        return zone_in_force(connection, self.zone, call.at, call.principal.role)

    def admit_context(self, call: CommandCall) -> AdmitContext:
        """Describe the call as an occasion to remember or forget."""
        speaker = call.inbound.speaker if call.principal.role == "guest" else ""
        actor = "owner" if OWNER_SCOPE in call.principal.read_scopes else "person"
        return AdmitContext(
            call.at,
            local_day(call.at, self.zone),
            actor,
            call.inbound.session,
            evidence=call.inbox_id or None,
            speaker_name=speaker,
            nearness=self.memory.nearness,
        )


@dataclass(frozen=True, slots=True)
class CommandAnswer:
    """The answer to a command.

    text: Markdown; "" for no answer. buttons: by row. pressers: accounts that may press them beside the owner; None
    lets the person press who gave the command, and nobody else. awaits_words: the person's next message is for the
    question in it. file: sent with the text above it, where the channel can.
    """

    text: str
    buttons: tuple[tuple[Choice, ...], ...] = ()
    pressers: tuple[str, ...] | None = None
    awaits_words: bool = False
    file: Attachment | None = None


Answer = Callable[[Connection, CommandCall, CommandContext], str | CommandAnswer]
"""Carries out a command inside the turn's transaction, in the writer's thread, and returns the answer."""


@dataclass(frozen=True, slots=True)
class Command:
    """A chat command.

    names: without the slash: English, Spanish, then others that mean the same, by turns. help: what it does; None for
    a wish. owner_only: the owner gives it alone with the bot, or in a group where nobody else sees the answer.
    stores_argument: the arguments go into memory as they stand. language: of the words that it was given in. if_known:
    only in private, and only where memory has what it names. openly: in a group its answer is for everybody, not for
    the person alone who gave it. points_back: only in private, and where no question of the bot's is open that the
    words answer. for_model: a press that the model answers, as if its words had been written.
    """

    names: tuple[str, ...]
    answer: Answer
    help: Text | None = None
    changes: frozenset[Change] = frozenset({"memory"})
    owner_only: bool = False
    stores_argument: bool = False
    language: Language | None = None
    if_known: bool = False
    openly: bool = False
    points_back: bool = False
    for_model: bool = False

    def name(self, language: Language) -> str:
        """Return the name that a menu shows."""
        return self.names[1 if language == "es" else 0]

    def is_allowed(self, principal: Principal, inbound: Inbound, *, one_reader: bool = False) -> bool:
        """Return whether this person may give it here. If not, the message goes to the model like any other.

        A person may change the memory that they see, and never by a forwarded text. one_reader: see `Capabilities`.
        """
        allowed = bool(principal.read_scopes) and principal.trust in ("owner", "guest") and not inbound.forwarded
        unseen = OWNER_SCOPE in principal.read_scopes or (one_reader and principal.role == "owner")
        return allowed and (not self.owner_only or unseen)


def undo_button(event: int, language: Language) -> Choice:
    """Return the button that takes a change of memory back."""
    return Choice(texts.BUTTON_UNDO(language), "undo", str(event))


def button_rows(choices: Iterable[Choice], width: int = 4) -> tuple[tuple[Choice, ...], ...]:
    """Set short buttons in rows."""
    each = tuple(choices)
    return tuple(each[start : start + width] for start in range(0, len(each), width))


def one_line(text: str, longest: int = _SHOWN) -> str:
    """Clip a text to one line."""
    line = " ".join(text.split())
    return line if len(line) <= longest else f"{line[: longest - 1].rstrip()}…"


def number_lines(records: Sequence[Record], language: Language) -> str:
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
