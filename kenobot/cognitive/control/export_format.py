"""Parse and check the lines of an export: one JSON object each, named by its kind."""

import json
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Annotated, Any, Final, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, JsonValue, ValidationError, ValidationInfo

from kenobot.ports.errors import KenobotError
from kenobot.ports.identity import Trust, is_scope
from kenobot.ports.memory import Form
from kenobot.ports.records import LinkType
from kenobot.ports.sentences import Sentence

FORMAT: Final = "kenobot-memory"
VERSION: Final = 2
MAX_LINE_CHARS = 8_000_000
IsMemoryFile = Callable[[str], bool]
"""Whether a path, relative to the memory folder, is one that memory writes."""


class ImportFormatError(KenobotError):
    """A file that is no export, or is broken; the text says in which line, and what is wrong there."""

    def __init__(self, line: int, why: str) -> None:
        super().__init__("memory.bad_line", line=line, why=why)
        self.line = line


def _scope(text: str) -> str:
    if not is_scope(text):
        raise ValueError(Sentence("memory.bad_scope"))
    return text


def _moment(text: str) -> str:
    """Convert a moment to how the database keeps it; one without an offset is UTC."""
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        raise ValueError(Sentence("memory.bad_moment")) from None
    moment = moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)
    return moment.strftime("%Y-%m-%dT%H:%M:%S.%f+00:00")


def _check_moment(text: str) -> str:
    """Check a moment, and keep its spelling: by that a message is known again."""
    _moment(text)
    return text


def _memory_file(path: str, info: ValidationInfo) -> str:
    if info.context is None or not info.context(path):
        raise ValueError(Sentence("memory.bad_file"))
    return path


# What version 1 called kinds of lines, and columns of a record.
_FORMER_KINDS = {"veil": "hidden_turn"}
_FORMER_COLUMNS = {"attrs": "attributes", "evidence": "source_messages", "seen": "mentions", "uses": "use_count"}


def _current_names(kind: str, content: object) -> object:
    """Return content of a line with the names of this version."""
    match kind, content:
        case "record", dict():
            return _rename(content, _FORMER_COLUMNS)
        case "head", {"counts": dict(counts), **rest}:
            return {**rest, "counts": _rename(counts, _FORMER_KINDS)}
        case "event", {"data": {"was": dict(was)} as data, **rest}:
            return {**rest, "data": {**data, "was": _rename(was, _FORMER_COLUMNS)}}
    return content


def _rename(content: Mapping[str, object], names: Mapping[str, str]) -> dict[str, object]:
    return {names.get(name, name): value for name, value in content.items()}


Scope = Annotated[str, AfterValidator(_scope)]
Timestamp = Annotated[str, AfterValidator(_moment)]
VerbatimTimestamp = Annotated[str, AfterValidator(_check_moment)]
RowId = Annotated[int, Field(ge=1, le=2**53)]
Fraction = Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)]
Count = Annotated[int, Field(ge=0, le=2**53)]


class _Line(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)


class HeadLine(_Line):
    """The first line. counts: how many lines of each kind follow, so that a file that was cut short is noticed."""

    format: Literal["kenobot-memory"]
    version: Literal[1, 2]
    exported: Timestamp
    counts: dict[str, Count] = {}


class RecordLine(_Line):
    """A record with every column but `changed_event`, which is a number of the database it came from."""

    id: RowId
    form: Form
    category: str = "fact"
    scope: Scope
    subject: str = "owner"
    text: str
    attributes: dict[str, JsonValue] = {}
    tags: list[str] = []
    lang: str = ""
    source: str = "import"
    trust: Trust = "owner"
    confidence: Fraction = 0.6
    importance: Fraction = 0.5
    stability: Annotated[float, Field(gt=0, le=1000, allow_inf_nan=False)] = 1.0
    mentions: Count = 1
    use_count: Count = 0
    status: Literal["active", "superseded", "expired", "archived", "forgotten", "invalidated"] = "active"
    lifecycle: str = "candidate"
    verification: str = "unverified"
    policy_class: str = "durable"
    tier: str = "daily"
    valid_from: Timestamp | None = None
    valid_to: Timestamp | None = None
    created: Timestamp
    updated: Timestamp | None = None
    last_seen: Timestamp | None = None
    last_used: Timestamp | None = None
    confirmed: Timestamp | None = None
    expires: Timestamp | None = None
    day: Annotated[str, Field(pattern=r"^[0-9]{4}-[0-9]{2}-[0-9]{2}$")] | None = None
    key: str = ""
    source_messages: list[RowId] = []


class EventLine(_Line):
    id: RowId
    at: Timestamp
    session: str = ""
    actor: str
    type: str
    record_id: RowId | None = None
    data: dict[str, JsonValue] = {}


class LinkLine(_Line):
    src: RowId
    dst: RowId
    type: LinkType
    weight: Annotated[float, Field(ge=0, le=1000, allow_inf_nan=False)] = 1.0
    confidence: Fraction = 1.0
    seen: Count = 1
    first_at: Timestamp
    last_at: Timestamp
    why: str = ""


class VectorLine(_Line):
    """embedding: the float32 numbers in base64."""

    record_id: RowId
    model: str
    embedding: str


class MessageLine(_Line):
    """One side of a turn of the conversation: the evidence that records refer to by `inbox_id`."""

    session: Annotated[str, Field(pattern=r"^[A-Za-z0-9_-]{1,128}$")]
    role: Literal["user", "assistant"]
    text: str
    at: VerbatimTimestamp
    inbox_id: RowId | None = None
    trust: Trust = "owner"
    scope: Literal[""] | Scope = ""


class HiddenTurnLine(_Line):
    inbox_id: RowId
    record_id: RowId


class TombstoneLine(_Line):
    scope: Scope
    key: str
    at: Timestamp


class FileLine(_Line):
    """A line of a file as a person arranged it: literal text, and the numbers of the records between."""

    path: Annotated[str, AfterValidator(_memory_file)]
    text: str
    blocks: list[str | int]


class StateLine(_Line):
    key: str
    value: str


_KINDS: dict[str, type[_Line]] = {
    "head": HeadLine,
    "message": MessageLine,
    "record": RecordLine,
    "event": EventLine,
    "link": LinkLine,
    "vector": VectorLine,
    "hidden_turn": HiddenTurnLine,
    "tombstone": TombstoneLine,
    "file": FileLine,
    "state": StateLine,
}

LINE_KINDS = tuple(_KINDS)[1:]
"""The kinds of lines after the first, in the order in which they stand."""


def parse(text: str, number: int, is_memory_file: IsMemoryFile) -> tuple[str, Any]:
    """Parse a line to its kind and content. Raises ImportFormatError."""
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        raise ImportFormatError(number, Sentence("memory.not_json")) from None
    if not isinstance(found, dict) or len(found) != 1:
        raise ImportFormatError(number, "not an object with one name, such as record or event")
    [(kind, content)] = found.items()
    kind = _FORMER_KINDS.get(kind, kind)
    if number == 1 and kind != "head":
        raise ImportFormatError(1, "invalid import format: this is no export of KenoBot's memory")
    if kind not in _KINDS or (kind == "head") != (number == 1):
        raise ImportFormatError(number, f"unknown kind {kind!r}")
    version = content.get("version") if kind == "head" and isinstance(content, dict) else None
    if isinstance(version, int) and version > VERSION:
        raise ImportFormatError(1, f"the export is of version {version}, this KenoBot knows {VERSION}: update it")
    try:
        return kind, _KINDS[kind].model_validate(_current_names(kind, content), context=is_memory_file)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        where = ".".join(str(part) for part in first["loc"])
        why = first["msg"].removeprefix("Value error, ")
        raise ImportFormatError(number, f"{kind}{'.' + where if where else ''}: {why[:1].lower()}{why[1:]}") from None
