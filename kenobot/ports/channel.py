"""The seam to a place where people talk to the bot."""

from collections.abc import AsyncIterator, Mapping, Sequence
from typing import Literal, Protocol, runtime_checkable

from kenobot.ports.errors import RemoteError
from kenobot.ports.frozen import dataclass
from kenobot.ports.messages import Attachment, Inbound, MediaKind, MessagePart, Outbound


class Sink(Protocol):
    """Receives the messages of a channel."""

    async def __call__(self, inbound: Inbound) -> bool:
        """Return once the message is on disk: True if it is new, False if it was seen before or turned away.

        Waits while the backlog is full. Raises StoreError when the disk fails: then do not acknowledge upstream.
        """
        ...

    async def dead_letter(self, channel: str, external_id: str, raw: str, reason: str) -> None:
        """Keep something that cannot be understood in the dead-letter box, so that it stops nobody else."""
        ...

    async def report(self, channel: str, problem: str) -> None:
        """Tell the owner, at most once an hour, of something that goes wrong and that only a person can mend.

        problem: one plain sentence without anybody's words or secrets. Never raises.
        """
        ...


@runtime_checkable
class FollowsChats(Protocol):
    """A sink that keeps a chat's conversation, memory and rights when its platform gives it another id."""

    async def follow_chat(self, channel: str, former: str, current: str) -> None:
        """Return once the new id is on disk; what comes from it belongs to the same chat from then on.

        What is sent keeps naming the chat by its first id. Raises StoreError.
        """
        ...


@runtime_checkable
class TakesBack(Protocol):
    """A sink that takes back what counted as sent, where its platform tells later that it did not arrive."""

    async def take_back(self, channel: str, message: str, error: RemoteError) -> bool:
        """Treat a sent part as if `send` had raised `error`; return once that is on disk. Raises StoreError.

        message: what `send` returned. False where no part is known as sent under it, or not yet.
        """
        ...


@dataclass(frozen=True, slots=True)
class Capabilities:
    """Declares what a platform can do.

    longest: UTF-16 units of one message. drafts: replies are shown while they are written, by `ShowsDrafts`;
    draft_seconds: the shortest time between two of them. previews: the same in groups, by `ShowsPreviews`.
    keeps_answers: people fetch what was sent later, so the outbox keeps its text as long as its row. owner_chat: the
    chat of such a channel in which its owner reads what the bot says of its own accord; "" where they wrote last.
    fails_later: text is kept as well, as the platform may take a part and tell afterwards that it did not arrive; see
    `TakesBack`.
    fragment_seconds: messages of one person that come within this time are answered as one; 0 answers each by itself.
    one_reader: it sends a part that is secret to its `reader` alone, in the group or else in private, never to others.
    """

    longest: int = 4096
    receives: frozenset[MediaKind] = frozenset()
    sends: frozenset[MediaKind] = frozenset()
    edits: bool = False
    reactions: bool = False
    buttons: bool = False
    drafts: bool = False
    draft_seconds: float = 1.0
    previews: bool = False
    threads: bool = False
    keeps_answers: bool = False
    owner_chat: str = ""
    fails_later: bool = False
    fragment_seconds: float = 0.0
    one_reader: bool = False


class Channel(Protocol):
    """A place where people talk to the bot."""

    @property
    def name(self) -> str: ...

    async def run(self, sink: Sink) -> None:
        """Take messages in until cancelled. Acknowledge upstream only after `sink` has returned.

        Returning means that the person ended the conversation. An exception means a restart, with a pause.
        """
        ...

    def render(self, text: str) -> Sequence[MessagePart]:
        """Cut a Markdown reply into parts this channel can show. Pure; at least one part for a non-empty text."""
        ...

    async def send(self, outbound: Outbound) -> str:
        """Send one part and return the platform's id of it. Raises RemoteError; the core decides about retries."""
        ...


_PLAIN = Capabilities()


def capabilities_of(channel: Channel) -> Capabilities:
    """Read the `capabilities` that a channel declares; the defaults for one that declares none: it takes text alone."""
    declared = getattr(channel, "capabilities", None)  # a turn asks several times, and to ask a protocol is slow
    return declared if isinstance(declared, Capabilities) else _PLAIN


@runtime_checkable
class FetchesMedia(Protocol):
    """A channel that hands over the bytes of an attachment."""

    def fetch(self, attachment: Attachment) -> AsyncIterator[bytes]:
        """Yield the file in pieces. Raises RemoteError."""
        ...


@runtime_checkable
class ShowsDrafts(Protocol):
    """A channel that shows a reply while it is written: best effort, and never more than that of it.

    Nothing of it is stored. The answer itself comes by `send`, and takes the place of the draft that its `Outbound`
    names; the core shows no more of that draft then.
    """

    async def draft(self, chat: str, draft: str, text: str, thread: str = "") -> None:
        """Show `text`, Markdown, as what there is of a reply, in place of what was shown of it; "" takes that away.

        draft: the same for all of one reply. It need not go on where the last one ended: a reply may begin anew.
        """
        ...


@runtime_checkable
class ShowsPreviews(Protocol):
    """A channel that edits a message while the reply that will replace it is written: best effort, at its own pace.

    The message was sent by `send`, and the answer comes by `send` with `replaces`. What is shown before must not come
    in behind that.
    """

    async def preview(self, chat: str, message: str, text: str, thread: str = "") -> None:
        """Show `text`, Markdown, in the message, or leave it out where the platform wants a slower pace."""
        ...


@runtime_checkable
class Reacts(Protocol):
    """A channel that can react to a message."""

    async def react(self, chat: str, target: str, emoji: str) -> None: ...


@dataclass(frozen=True, slots=True)
class CommandMenu:
    """The commands that a platform offers for choosing: names without the slash, each with what it does.

    audience: private chats, groups, or the private chat of the owner `user`. language: two letters of the people it is
    for; "" for all who have none of their own. unseen: the commands of a group that need not be seen by the others in
    it, where the platform can hide them.
    """

    audience: Literal["private", "groups", "owner"]
    language: str
    commands: tuple[tuple[str, str], ...]
    user: str = ""
    unseen: frozenset[str] = frozenset()


@runtime_checkable
class ShowsMenus(Protocol):
    """A channel whose platform shows a menu of commands."""

    @property
    def account(self) -> str:
        """Return the bot's own account, to which a menu belongs."""
        ...

    async def set_menu(self, menu: CommandMenu) -> None:
        """Put a menu in place of the one there. Raises RemoteError."""
        ...


@runtime_checkable
class ReportsLiveness(Protocol):
    """A channel that can tell when its platform last answered, so that a silent stall is noticed."""

    @property
    def last_answer_at(self) -> float | None:
        """Return when the platform last answered, by the Clock's `monotonic`; None before it first did."""
        ...

    @property
    def stall_seconds(self) -> float:
        """Seconds of silence after which the channel counts as stalled and is started again."""
        ...


@runtime_checkable
class ReportsTrouble(Protocol):
    """A channel that asks again by itself while its platform refuses or cannot be reached, and tells since when."""

    @property
    def failing_since(self) -> float | None:
        """Return since when no request was answered well, by the Clock's `monotonic`; None while they are."""
        ...


def find_last_heard(channel: ReportsLiveness) -> float | None:
    """Return when a platform was last of use, by the Clock's `monotonic`; None before it first was."""
    if isinstance(channel, ReportsTrouble) and channel.failing_since is not None:
        return channel.failing_since
    return channel.last_answer_at


@dataclass(frozen=True, slots=True)
class HookRequest:
    """A request of a platform to the bot's HTTP server. headers: by name in lower case."""

    method: str
    query: Mapping[str, str]
    headers: Mapping[str, str]
    body: bytes


@dataclass(frozen=True, slots=True)
class HookAnswer:
    """The answer to a platform's request."""

    status: int
    text: str = ""


@runtime_checkable
class TakesRequests(Protocol):
    """A channel whose platform posts to the bot's HTTP server, below /hooks/ and the channel's name.

    The channel `http` hands requests over as they come, so it is the channel that knows whether they are genuine.
    """

    @property
    def awaits_requests(self) -> bool:
        """Return whether its settings have the platform post here."""
        ...

    async def take_request(self, request: HookRequest) -> HookAnswer:
        """Answer a request, after what it brings is stored. Never raises; a status from 500 on has it come again."""
        ...


@runtime_checkable
class ChecksAccess(Protocol):
    """A channel that can be tried out before it runs: `kenobot setup` does."""

    async def check_access(self) -> None:
        """Find out whether the platform lets the bot in, and take nothing in.

        Raises Rejected for what a person must mend; RemoteError.
        """
        ...


@runtime_checkable
class TypingIndicator(Protocol):
    """A channel that can show that an answer is on its way; the core calls it every few seconds while it is."""

    async def typing(self, chat: str, thread: str = "") -> None: ...
