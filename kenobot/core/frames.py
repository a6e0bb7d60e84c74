"""The frames of the home's socket: one JSON object a line, checked at both ends.

A connection begins with Hello, answered by Welcome or Refused. A chat then hands in `Say` and is told `Stored` once the
message is in the inbox; it is given `Show`, and answers `Shown` once the text is printed.
"""

from typing import Annotated, Literal, TypeVar

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, TypeAdapter, ValidationError

from kenobot.core.sentence_text import SentenceText
from kenobot.core.status_report import StatusReport
from kenobot.ports.errors import KenobotError

PROTOCOL = 1
LONGEST_MESSAGE = 1_000_000  # characters


def _replace_halves(text: object) -> object:
    """Replace halves of characters, which a terminal may bring and no UTF-8 can hold."""
    return text.encode("utf-8", "replace").decode("utf-8") if isinstance(text, str) else text


WholeText = Annotated[str, BeforeValidator(_replace_halves)]


class FrameError(KenobotError):
    """A line on the socket is no frame that belongs there."""


_WHEN_USED = ConfigDict(defer_build=True)  # a bot that starts waits for none of them to be compiled


class _Frame(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore", defer_build=True)


class Hello(_Frame):
    """Begins a connection. trace: show each memory that is written. drafts: show replies while they are written."""

    kind: Literal["hello"] = "hello"
    protocol: int = PROTOCOL
    chat: bool = False
    trace: bool = False
    drafts: bool = False


class Say(_Frame):
    """Hands in a message. id: the same for every try, so that the inbox keeps it once. sent_at: ISO 8601."""

    kind: Literal["say"] = "say"
    id: str = Field(min_length=1, max_length=64)
    text: WholeText = Field(max_length=LONGEST_MESSAGE)
    sent_at: str = Field(max_length=64)


class Shown(_Frame):
    """Confirms that a part was printed."""

    kind: Literal["shown"] = "shown"
    id: int


class Drain(_Frame):
    """Asks for Drained once all of the chat is answered."""

    kind: Literal["drain"] = "drain"


class Sync(_Frame):
    """Asks the bot to follow what a command wrote, and for Synced once its files are written too."""

    kind: Literal["sync"] = "sync"


class Stop(_Frame):
    """Asks the bot to end in good order."""

    kind: Literal["stop"] = "stop"


class ControlChannels(_Frame):
    """Asks to start, stop or restart one channel, or nothing but for all to be listed; answered by ChannelStates."""

    kind: Literal["control_channels"] = "control_channels"
    action: Literal["list", "start", "stop", "restart"]
    name: str = Field("", max_length=64)


class ListPlugins(_Frame):
    """Asks for PluginStates."""

    kind: Literal["list_plugins"] = "list_plugins"


class ReadLogLevel(_Frame):
    """Asks to log at the level that the settings say now; answered by LogLevel."""

    kind: Literal["read_log_level"] = "read_log_level"


class AskStatus(_Frame):
    """Request of a Status. stacks: dump the stacks of all threads and tasks, too."""

    kind: Literal["ask_status"] = "ask_status"
    stacks: bool = False


class Welcome(_Frame):
    """Opens the conversation. process: the bot's number."""

    kind: Literal["welcome"] = "welcome"
    version: str
    process: int


class Refused(_Frame):
    """Ends a connection, or says why a message was not stored."""

    kind: Literal["refused"] = "refused"
    reason: SentenceText


class Stored(_Frame):
    """Confirms that a message is in the inbox. new: for the first time."""

    kind: Literal["stored"] = "stored"
    id: str
    new: bool


class Show(_Frame):
    """A part to print. id: its row in the outbox. draft: the draft whose place it takes."""

    kind: Literal["show"] = "show"
    id: int
    text: WholeText
    draft: str = ""


class Draft(_Frame):
    """A reply that is still being written, to a chat that asked for such: the first `keep` characters of it, and on.

    draft: the same for all of one reply. Nothing kept and no text: there is no such reply any more.
    """

    kind: Literal["draft"] = "draft"
    draft: str
    keep: int = Field(ge=0)
    text: WholeText


class Typing(_Frame):
    """An answer is on its way."""

    kind: Literal["typing"] = "typing"


class Notice(_Frame):
    """A line to print beside the conversation."""

    kind: Literal["notice"] = "notice"
    text: WholeText


class Drained(_Frame):
    """All of the chat is answered, and every answer was sent."""

    kind: Literal["drained"] = "drained"


class Synced(_Frame):
    """The bot has followed. touched: facts that people's edits of the files changed."""

    kind: Literal["synced"] = "synced"
    touched: int


class ChannelRow(_Frame):
    """A channel, and why it is in a state that nobody asked for."""

    name: str
    state: str
    reason: SentenceText = ""


class ChannelStates(_Frame):
    """Lists the channels after a request of a command."""

    kind: Literal["channel_states"] = "channel_states"
    channels: tuple[ChannelRow, ...]


class PluginRow(_Frame):
    """A plugin. kind: of seam; "" where that is not known. shipped: with KenoBot."""

    kind: str
    name: str
    state: Literal["broken", "on", "off"]
    origin: str
    shipped: bool = False
    why: SentenceText = ""


class PluginStates(_Frame):
    """Lists the plugins of the bot that runs."""

    kind: Literal["plugin_states"] = "plugin_states"
    plugins: tuple[PluginRow, ...]


class Status(_Frame):
    """Tells how the bot is. stacks: the file in which that was written down; "" where it was not."""

    kind: Literal["status"] = "status"
    report: StatusReport
    stacks: str = ""


class LogLevel(_Frame):
    """Tells at which level the bot logs from now on."""

    kind: Literal["log_level"] = "log_level"
    level: str


class Stopping(_Frame):
    """The bot has begun to end."""

    kind: Literal["stopping"] = "stopping"


Request = Hello | Say | Shown | Drain | Sync | Stop | ControlChannels | ListPlugins | ReadLogLevel | AskStatus
Event = (
    Welcome
    | Refused
    | Stored
    | Show
    | Draft
    | Typing
    | Notice
    | Drained
    | Synced
    | Stopping
    | ChannelStates
    | PluginStates
    | LogLevel
    | Status
)

REQUESTS: TypeAdapter[Request] = TypeAdapter(Annotated[Request, Field(discriminator="kind")], config=_WHEN_USED)
EVENTS: TypeAdapter[Event] = TypeAdapter(Annotated[Event, Field(discriminator="kind")], config=_WHEN_USED)

F = TypeVar("F", Request, Event)


def encode(frame: Request | Event) -> bytes:
    """Write a frame as a line."""
    return frame.model_dump_json().encode() + b"\n"


def decode(line: bytes, kinds: TypeAdapter[F]) -> F:
    """Read a line. Raises FrameError."""
    try:
        return kinds.validate_json(line)
    except ValidationError as error:
        raise FrameError("talk.bad_frame") from error
