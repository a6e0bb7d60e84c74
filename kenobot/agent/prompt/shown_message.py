"""Derive what prompts need of the messages of a conversation, once a message and not once a prompt. Pure."""

from collections.abc import Iterable
from datetime import datetime
from functools import cached_property, partial
from zoneinfo import ZoneInfo

from kenobot.agent.media.message_words import select_pictures
from kenobot.agent.prompt.runtime_block import escape_runtime_block, runtime_block
from kenobot.core import lookalikes
from kenobot.core.attachment_words import without_attachments
from kenobot.core.sized_cache import SizedCache
from kenobot.core.token_estimate import clip_to_tokens
from kenobot.language.provenance import AttributedText, is_long, split_quotes
from kenobot.language.quoting import find_quotations
from kenobot.ports.provider import Block, Content, Message
from kenobot.storage.conversation import StoredMessage

_KEPT = 4096
_CHARACTERS = 8_000_000
_COPIES = 4  # of a message's words, derived from them


class PersonText:
    """The words of a person, and what they quote."""

    def __init__(self, text: str) -> None:
        self.text = text

    @cached_property
    def _split(self) -> tuple[str, list[str]]:
        return split_quotes(self.text)

    @property
    def own_words(self) -> str:
        return self._split[0]

    @cached_property
    def passages(self) -> tuple[AttributedText, ...]:
        """The passages of others."""
        return tuple(AttributedText("forward", passage) for passage in self._split[1])

    @property
    def may_be_pasted(self) -> bool:
        """Return whether part of the text may be another's: quoted, or longer than people type in a chat."""
        return is_long(without_attachments(self.text)) or bool(self.passages)


class ShownMessage(PersonText):
    """A message of a conversation in a prompt."""

    def __init__(self, stored: StoredMessage, zone: ZoneInfo) -> None:
        super().__init__(stored.text)
        self.stored = stored
        self.id = stored.id
        self.role = stored.role
        self.context = stored.context
        self.recalled = stored.recalled
        self.at = stored.at
        self.trust = stored.trust
        self.text_tokens = stored.text_tokens
        self.context_tokens = stored.context_tokens
        self.pictures = select_pictures(stored.pictures)
        self._written = datetime.fromisoformat(stored.asked_at or stored.at).astimezone(zone)
        self._rendered: tuple[tuple[int, str, bool], Message | None] | None = None

    @property
    def size(self) -> int:
        """Characters of the message and of all that is derived from it, at most."""
        return _COPIES * (len(self.text) + len(self.context) + len(self.recalled))

    @cached_property
    def quote_memory(self) -> tuple[AttributedText, ...]:
        """Return the words of others that memory showed beside the message, which its reply may repeat."""
        return (*quotations(self.context), *quotations(self.recalled))

    @cached_property
    def may_hold_markup(self) -> bool:
        return lookalikes.may_hold_markup(self.text)

    def render(self, tokens: int, day: str, *, with_context: bool) -> Message | None:
        """Render the message in `tokens`, with its notes or without; None when it is blank.

        day: of the prompt, YYYY-MM-DD.
        """
        last, key = self._rendered, (tokens, day, with_context)
        if last is None or last[0] != key:
            last = self._rendered = (key, self._render(tokens, day, with_context))
        return last[1]

    def _render(self, tokens: int, day: str, with_context: bool) -> Message | None:
        if not self.text.strip():
            return None
        notes = runtime_block(self.context) if with_context else ""
        text = clip_to_tokens(escape_runtime_block(self.text), tokens)
        blocks: tuple[Content, ...] = tuple(Block(part) for part in (notes, text) if part)
        time = (Block(time_mark(self._written, day)),) if self.role == "user" else ()
        return Message(self.role, (*blocks, *self.pictures, *time))


class ShownMessages:
    """Messages that prompts showed last. For several threads."""

    def __init__(self, zone: ZoneInfo) -> None:
        """zone: of the times that people are shown."""
        self._make = partial(ShownMessage, zone=zone)
        self._kept = SizedCache[StoredMessage, ShownMessage](_KEPT, _CHARACTERS, lambda message: message.size)

    def of(self, stored: Iterable[StoredMessage]) -> list[ShownMessage]:
        """Return messages as a prompt shows them; one that was changed in the database is another one."""
        return self._kept.get_all(stored, self._make)


def time_mark(at: datetime, day: str) -> str:
    """Mark the time of a person's message, with its date where that is not `day`, YYYY-MM-DD.

    It is a block behind the words, so one that a person writes is followed by the true one. It is short, because
    each request repeats it: in the runtime's own block it took 14 tokens instead of 5.
    """
    return f"[{at:{'%H:%M' if at.date().isoformat() == day else '%a %Y-%m-%d %H:%M'}}]"


def quotations(memory: str) -> tuple[AttributedText, ...]:
    """Return the quotations of others in a text that memory shows."""
    return tuple(AttributedText(trust, text) for trust, text in find_quotations(memory))
