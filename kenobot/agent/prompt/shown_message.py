"""Derive what prompts need of the messages of a conversation, once a message and not once a prompt. Pure."""

from collections.abc import Iterable
from functools import cached_property

from kenobot.agent.media.message_words import shown_pictures
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

    def __init__(self, stored: StoredMessage) -> None:
        super().__init__(stored.text)
        self.id = stored.id
        self.role = stored.role
        self.context = stored.context
        self.at = stored.at
        self.trust = stored.trust
        self.text_tokens = stored.text_tokens
        self.context_tokens = stored.context_tokens
        self.pictures = shown_pictures(stored.pictures)
        self._rendered: tuple[int, bool, Message | None] | None = None

    @property
    def size(self) -> int:
        """Characters of the message and of all that is derived from it, at most."""
        return _COPIES * (len(self.text) + len(self.context))

    @cached_property
    def quoted_memory(self) -> tuple[AttributedText, ...]:
        """What memory beside the message shows of others' words."""
        return quotations(self.context)

    @cached_property
    def may_hold_markup(self) -> bool:
        return lookalikes.may_hold_markup(self.text)

    def render(self, tokens: int, *, with_context: bool) -> Message | None:
        """Render the message in `tokens`, with what memory showed beside it or without; None when it is blank."""
        last = self._rendered
        if last is None or last[:2] != (tokens, with_context):
            last = self._rendered = (tokens, with_context, self._render(tokens, with_context))
        return last[2]

    def _render(self, tokens: int, with_context: bool) -> Message | None:
        if not self.text.strip():
            return None
        notes = runtime_block(self.context) if with_context else ""
        text = clip_to_tokens(escape_runtime_block(self.text), tokens)
        blocks: tuple[Content, ...] = tuple(Block(part) for part in (notes, text) if part)
        return Message(self.role, (*blocks, *self.pictures))


class ShownMessages:
    """Messages that prompts showed last. For several threads."""

    def __init__(self) -> None:
        self._kept = SizedCache[StoredMessage, ShownMessage](_KEPT, _CHARACTERS, lambda message: message.size)

    def of(self, stored: Iterable[StoredMessage]) -> list[ShownMessage]:
        """Return messages as a prompt shows them; one that was changed in the database is another one."""
        return self._kept.get_all(stored, ShownMessage)


def quotations(memory: str) -> tuple[AttributedText, ...]:
    """Return the quotations of others in a text that memory shows."""
    return tuple(AttributedText(trust, text) for trust, text in find_quotations(memory))
