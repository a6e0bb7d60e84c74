"""The seam to tools that a model may call: entry points of the group `kenobot.tools`."""

from collections.abc import Awaitable, Callable, Collection, Sequence
from dataclasses import field
from datetime import date, datetime
from typing import Any, Protocol, TypeVar

from pydantic import BaseModel, ConfigDict

from kenobot.ports.errors import ToolFailed
from kenobot.ports.frozen import dataclass
from kenobot.ports.identity import Principal
from kenobot.ports.tool_input import GivenInput

BACKGROUND = "background"
"""The name of the tool that has the request of a turn done as a task in the background."""

ArgumentsT = TypeVar("ArgumentsT", bound=BaseModel)


def _shorten(schema: dict[str, Any]) -> None:
    """Drop what a model need not read from a schema, which prompts hold: mistakes are told.

    Titles, empty defaults, limits of length, that null may stand for nothing, that no further arguments are known.
    """
    schema.pop("additionalProperties", None)
    for each in (schema, *schema.get("properties", {}).values()):
        kinds = [kind for kind in each.get("anyOf", ()) if kind != {"type": "null"}]
        if len(kinds) == 1:
            del each["anyOf"]
            each.update(kinds[0])
        for key in ("title", "minLength", "maxLength", "maxItems", "minimum", "maximum"):
            each.pop(key, None)
        if not each.get("default", True):
            del each["default"]


class ToolArguments(BaseModel):
    """Base of the arguments of a tool: an unknown one is a mistake that the model is told of."""

    model_config = ConfigDict(extra="forbid", frozen=True, json_schema_extra=_shorten)


@dataclass(frozen=True, slots=True)
class ToolEffects:
    """Effects of running a tool, as the guard against the lethal trifecta needs to know.

    reads_private: its results tell what the bot knows of people. brings_untrusted: they hold words of strangers, such
    as a web page. way_out: what the model gives it leaves the machine. changes_outside: a second run would do
    something a second time.
    asks_first: while words of others are on show, the owner is asked before it is run: it does something in their name.
    asks_always: the owner is asked each time, unless a rule of theirs or an "always" for the same call allows it.
    address: the argument that is the address of a page to read, where nothing else of a call leaves the machine: one
    that the owner wrote themselves carries nothing out.
    A tool that declares nothing is taken for one that does all of it, but for the last three.
    """

    reads_private: bool = True
    brings_untrusted: bool = True
    way_out: bool = True
    changes_outside: bool = True
    asks_first: bool = False
    asks_always: bool = False
    address: str = ""


class AgendaDoor(Protocol):
    """The speaker's agenda, for tools that read or change it. Each raises ToolFailed with what to do instead."""

    async def show(self, first: date | None, last: date | None) -> str:
        """Tell what is planned on these days, or was done on them; all that is open without a day."""
        ...

    async def remind(self, text: str, when: str) -> str:
        """Set a reminder in this chat, and tell when it comes. when: in words, or an ISO time."""
        ...

    async def cancel(self, number: int) -> str:
        """Cancel a reminder by its number."""
        ...


class NoAgenda:
    """The agenda where there is none."""

    async def show(self, first: date | None, last: date | None) -> str:
        raise ToolFailed(_NO_AGENDA)

    async def remind(self, text: str, when: str) -> str:
        raise ToolFailed(_NO_AGENDA)

    async def cancel(self, number: int) -> str:
        raise ToolFailed(_NO_AGENDA)


_NO_AGENDA = "There is no agenda here."


class MemoryDoor(Protocol):
    """The speaker's memory, for tools that explain or change it. Each raises ToolFailed with what to do instead."""

    async def explain(self, text: str) -> str:
        """Tell where the memories that a text names come from, and since when they are known."""
        ...

    async def forget(self, text: str) -> str:
        """Forget the one memory that has these words, in a way that can be undone."""
        ...


class NoMemory:
    """Memory where there is none."""

    async def explain(self, text: str) -> str:
        raise ToolFailed(_NO_MEMORY)

    async def forget(self, text: str) -> str:
        raise ToolFailed(_NO_MEMORY)


_NO_MEMORY = "There is no memory here."


async def read_no_document(content: bytes, name: str, mime: str, characters: int) -> str:
    """Read documents where nothing does."""
    raise ToolFailed("Documents cannot be read here.")


class SkillsDoor(Protocol):
    """The owner's skills, for tools that read them."""

    async def read(self, name: str, file: str, part: int) -> str:
        """Return a part of a file of a skill that the owner trusts. Raises ToolFailed with what to do instead."""
        ...


class NoSkills:
    """The skills where there are none."""

    async def read(self, name: str, file: str, part: int) -> str:
        raise ToolFailed("There are no skills here.")


@dataclass(frozen=True, slots=True)
class ToolContext:
    """The turn in which a tool runs.

    call: names this run; no other run has the same. now: the time in the owner's zone. search_memory: searches what the
    speaker may see of memory, for tools that read what is private. agenda: the speaker's reminders and promises.
    memory: what the bot knows of the speaker.
    read_document: the text, as far as so many characters, of a PDF or office file of this content, name and type, or
    ToolFailed with the reason. room: characters of a result that the model is shown. skills: those that the
    owner trusts. may_ask: whether the owner can be asked for an input, by `InputWanted`. given: what they answered.
    """

    session: str
    principal: Principal
    call: str
    trace: str
    now: datetime
    search_memory: Callable[[str], Awaitable[str]]
    agenda: AgendaDoor = field(default_factory=NoAgenda)
    memory: MemoryDoor = field(default_factory=NoMemory)
    read_document: Callable[[bytes, str, str, int], Awaitable[str]] = read_no_document
    room: int = 8000
    skills: SkillsDoor = field(default_factory=NoSkills)
    may_ask: bool = False
    given: GivenInput | None = None


class Tool(Protocol[ArgumentsT]):
    """A function that a model may call. Its arguments reach it validated."""

    @property
    def name(self) -> str:
        """The name by which a model calls it: up to 64 letters a-z, figures, `_` and `-`."""
        ...

    @property
    def description(self) -> str:
        """Purpose of the tool and occasion for it, for the model."""
        ...

    @property
    def arguments(self) -> type[ArgumentsT]:
        """The model of its arguments; a `description` of each field is shown to the language model."""
        ...

    @property
    def effects(self) -> ToolEffects: ...

    async def run(self, arguments: ArgumentsT, turn: ToolContext) -> str:
        """Run once and return the result, in words for the model.

        Raises ToolFailed, or any RemoteError, whose text the model is told. It is cancelled at the deadline, and when
        the person stops the turn.
        """
        ...


class ToolSource(Protocol):
    """Offers tools whose list may change while the bot runs."""

    @property
    def revision(self) -> int:
        """A number that is another one after each change of the list."""
        ...

    def list_tools(self, taken: Collection[str]) -> Sequence[Tool[BaseModel]]:
        """Return the tools in an order that stays the same while the list does. taken: names that others have."""
        ...
