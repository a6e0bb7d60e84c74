"""The seam to language models: what one is asked, and how its answer comes."""

from collections.abc import AsyncIterator, Mapping
from dataclasses import field
from itertools import takewhile
from typing import Literal, Protocol, runtime_checkable

from kenobot.ports.frozen import dataclass
from kenobot.ports.json_value import Json

Role = Literal["user", "assistant"]
_MOST_TOKENS = 10_000_000  # that one request is believed to have used, of each kind


@dataclass(frozen=True, slots=True)
class Block:
    """A piece of prompt text. `cache` marks the end of a prefix worth keeping in the provider's prompt cache."""

    text: str
    cache: bool = False


@dataclass(frozen=True, slots=True)
class Image:
    """A picture in a prompt. digest: SHA-256 of its stored bytes."""

    digest: str
    mime: str


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A tool that the model wants run. id: the provider's own, repeated in the result.

    problem: why it cannot be run, in words for the model; such a call has no arguments.
    signature: the service's own mark, which some want back with the call. given: what the owner answered to the tool,
    as JSON, in a call that goes on with it.
    """

    id: str
    name: str
    arguments: Mapping[str, Json]
    problem: str = ""
    signature: str = ""
    given: str = ""


@dataclass(frozen=True, slots=True)
class ToolResult:
    """Result of a tool call, for the model. wanted: what the tool wants to know of the owner first, as JSON."""

    id: str
    text: str
    failed: bool = False
    wanted: str = ""


@dataclass(frozen=True, slots=True)
class ToolSpec:
    """A tool as the model is told of it. schema: JSON Schema of the arguments. tokens: of it all; 0 before a count."""

    name: str
    description: str
    schema: Mapping[str, Json]
    tokens: int = field(default=0, compare=False, repr=False)


Content = Block | Image | ToolCall | ToolResult


@dataclass(frozen=True, slots=True)
class Message:
    """One message of the conversation shown to the model."""

    role: Role
    blocks: tuple[Content, ...]

    @property
    def text_blocks(self) -> tuple[Block, ...]:
        """Its text without images, calls and results."""
        return tuple(block for block in self.blocks if isinstance(block, Block))

    @property
    def text(self) -> str:
        return "\n\n".join(block.text for block in self.text_blocks)


@dataclass(frozen=True, slots=True)
class Request:
    """A prompt for a provider. `system` first, then `messages` in order; the last one is the user's.

    language: of an answer in ready-made sentences, "en" or "es"; "" where that goes by the messages.
    """

    system: tuple[Block, ...]
    messages: tuple[Message, ...]
    max_tokens: int = 4096
    tools: tuple[ToolSpec, ...] = ()
    language: Literal["", "en", "es"] = ""

    @property
    def asked(self) -> str:
        """Return the words that it has to be answered, with what was added to them."""
        last = takewhile(lambda message: message.role == "user", reversed(self.messages))
        return "\n".join(message.text for message in last)


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens of one request: read in full, written out, read from and written to the prompt cache."""

    input_tokens: int = 0
    output_tokens: int = 0
    cache_read_tokens: int = 0
    cache_write_tokens: int = 0

    @property
    def tokens(self) -> int:
        """Return the tokens of all kinds."""
        return self.input_tokens + self.output_tokens + self.cache_read_tokens + self.cache_write_tokens

    def within_reason(self) -> "Usage":
        """Keep each figure from 0 to ten million: a server may say anything."""
        figures = (self.input_tokens, self.output_tokens, self.cache_read_tokens, self.cache_write_tokens)
        return Usage(*(min(max(0, figure), _MOST_TOKENS) for figure in figures))


@dataclass(frozen=True, slots=True)
class Delta:
    """A step of a streamed reply: more text, and on the last one why it stopped and what it cost.

    call: a whole call of a tool, once it is complete. replaces: the text that came before was none of the answer.
    """

    text: str = ""
    stop_reason: str | None = None
    usage: Usage | None = None
    model: str = ""
    call: ToolCall | None = None
    replaces: bool = False


OVERLONG = "answer_chars"  # the stop reason of a reply that the core stopped reading

ReplyEnd = Literal["whole", "cut", "crowded", "paused", "calls", "refused", "overlong", "unknown"]
"""How a reply ended.

whole: the model had said all. cut: the reply had become as long as it might. crowded: prompt and reply filled the
model's window. paused: the model wants to be asked to go on. calls: it waits for the results of its tool calls.
refused: it will not answer, whatever it had begun to say. overlong: it was longer than any answer may be, and was not
read to its end.
unknown: for a reason that nobody here knows.
"""

_ENDS: Mapping[str, ReplyEnd] = {
    "end_turn": "whole",
    "stop_sequence": "whole",
    "stop": "whole",
    "max_tokens": "cut",
    "length": "cut",
    "model_context_window_exceeded": "crowded",
    "pause_turn": "paused",
    "tool_use": "calls",
    "tool_calls": "calls",
    "refusal": "refused",
    "content_filter": "refused",
    OVERLONG: "overlong",
}


@dataclass(frozen=True, slots=True)
class Reply:
    """A model's answer. It exists only when the stream ended with a stop reason, which need not make it whole."""

    text: str
    stop_reason: str
    model: str = ""
    usage: Usage = field(default_factory=Usage)
    calls: tuple[ToolCall, ...] = ()

    @property
    def end(self) -> ReplyEnd:
        """Return how it ended, by its stop reason as one provider or another spells it."""
        return _ENDS.get(self.stop_reason, "unknown")

    @property
    def whole(self) -> bool:
        """Return whether nothing of it is missing."""
        return self.end == "whole"


class Provider(Protocol):
    """A language model."""

    @property
    def name(self) -> str: ...

    def stream(self, request: Request) -> AsyncIterator[Delta]:
        """Yield the reply as it is written; the last delta has a stop reason, one of those that `ReplyEnd` tells of.

        Raises RateLimited, Unavailable, Rejected; AnswerLost where the request was taken and may be charged for. A
        stream that ends without a stop reason is a failed turn.
        """
        ...


@runtime_checkable
class ListsModels(Protocol):
    """A provider whose service tells which models it offers."""

    async def models(self) -> tuple[str, ...]:
        """List their names, in the service's order. Raises RemoteError."""
        ...


@runtime_checkable
class NamesModel(Protocol):
    """A provider that says before it is asked which model will answer, so that the call has a price."""

    @property
    def model(self) -> str: ...


def is_rule_based(provider: Provider) -> bool:
    """Return whether a provider follows rules or a script; one that does says so as `rule_based`.

    Such a one cannot be asked to read a text and say what is in it.
    """
    return bool(getattr(provider, "rule_based", False))


def sees_pictures(provider: Provider) -> bool:
    """Return whether a provider may show pictures to its model; one that does not says so as `sees_pictures`."""
    return bool(getattr(provider, "sees_pictures", True))


def calls_tools(provider: Provider) -> bool:
    """Return whether a provider may offer tools to its model; one that cannot says so as `calls_tools`."""
    return bool(getattr(provider, "calls_tools", True))
