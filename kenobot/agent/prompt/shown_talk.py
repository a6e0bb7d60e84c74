"""Keep what prompts derive of a conversation, so that the next one derives it of the new messages alone. Pure."""

from collections.abc import Sequence
from copy import copy
from typing import NamedTuple
from zoneinfo import ZoneInfo

from kenobot.agent.prompt.shown_message import ShownMessage, ShownMessages
from kenobot.core.sized_cache import SizedCache
from kenobot.language.provenance import AttributedText
from kenobot.ports.identity import QUOTED_TRUST, Principal, Trust
from kenobot.ports.messages import Inbound
from kenobot.ports.names import label_id, split_line
from kenobot.ports.provider import Message
from kenobot.storage.conversation import StoredMessage

_KEPT = 256
_CHARACTERS = 8_000_000


class TalkReader(NamedTuple):
    """The speaker of a turn, whose own words earlier messages may be.

    trust: of what they write. label: that marks theirs in a group of guests; None where trust alone tells.
    """

    trust: Trust
    label: str | None = None

    @classmethod
    def of(cls, inbound: Inbound, principal: Principal) -> "TalkReader":
        """Return the speaker of a message."""
        if principal.role == "owner":
            return cls("owner")
        return cls("guest", None if inbound.private else label_id(inbound.user))

    def wrote(self, line: ShownMessage) -> bool:
        """Return whether a message of the conversation is theirs; ids tell guests of a group apart."""
        if line.role != "user" or line.trust != self.trust:
            return False
        return self.label is None or split_line(line.text).id == self.label


class TalkFrame(NamedTuple):
    """Hold what decides how a prompt shows a conversation, beside its messages.

    message_tokens: where a message is clipped. day: of the prompt, YYYY-MM-DD. last_message: up to which the beginning
    of the prompt holds the notes that were beside messages.
    """

    reader: TalkReader
    message_tokens: int
    day: str
    last_message: int


class ShownTalk:
    """The messages of a conversation in a prompt, and what is derived of them, in their order.

    It is extended by making a longer one, so that each prompt keeps its own. stored: the messages as they are stored.
    tokens: of all, each clipped. messages: rendered. said: people's texts. contexts: the notes beside messages.
    later_contexts, quote_memory: of the messages after `frame.last_message`, the notes, and the words of others that
    memory showed. before: the reader's own words. asked: the replies to those. others: what else was said. marked:
    people's texts that hold something like markup. last_own: the reader's last message.
    """

    def __init__(self, frame: TalkFrame) -> None:
        self.frame = frame
        self.stored: tuple[StoredMessage, ...] = ()
        self.lines: tuple[ShownMessage, ...] = ()
        self.size = self.tokens = 0
        self.messages: tuple[Message, ...] = ()
        self.said: tuple[str, ...] = ()
        self.contexts: tuple[str, ...] = ()
        self.later_contexts: tuple[str, ...] = ()
        self.quote_memory: tuple[AttributedText, ...] = ()
        self.before: tuple[str, ...] = ()
        self.asked: tuple[str, ...] = ()
        self.others: tuple[AttributedText, ...] = ()
        self.marked: tuple[str, ...] = ()
        self.last_own: ShownMessage | None = None
        self._answers_to: Trust | None = None  # whose words the next reply answers; None for the reader's

    def extend(self, stored: Sequence[StoredMessage], lines: Sequence[ShownMessage]) -> "ShownTalk":
        """Return the talk with further messages. lines: the same as `stored`, as prompts show them."""
        talk = copy(self)
        talk.stored += tuple(stored)
        talk.lines += tuple(lines)
        for line in lines:
            talk._show(line)
            talk._attribute(line)
        return talk

    def _show(self, line: ShownMessage) -> None:
        """Render a message, with its notes unless the beginning of the prompt holds them."""
        most, is_later = self.frame.message_tokens, line.id > self.frame.last_message
        self.size += line.size
        self.tokens += min(line.text_tokens, most) + line.context_tokens
        if line.context:
            self.contexts += (line.context,)
        if is_later:
            self.later_contexts += (line.context,)
            self.quote_memory += line.quote_memory
        message = line.render(most, self.frame.day, with_context=is_later)
        if message is not None:
            self.messages += (message,)

    def _attribute(self, line: ShownMessage) -> None:
        """Attribute a message's words to the reader, the model, or others.

        What the model answered to the text of others counts as theirs too, because it tells what stands there; so does
        what it said after a tool had brought text from outside.
        """
        if line.role == "assistant":
            if line.trust in QUOTED_TRUST:
                self.others += (AttributedText(line.trust, line.text),)
            elif self._answers_to is None:
                self.asked += (line.text,)
            else:
                self.others += (AttributedText(self._answers_to, line.text),)
            return
        self.said += (line.text,)
        if line.may_hold_markup:
            self.marked += (line.text,)
        if self.frame.reader.wrote(line):
            self._answers_to, self.last_own = None, line
            self.before += (line.own_words,)
            self.others += line.passages
        else:
            self._answers_to = line.trust
            self.others += (AttributedText(line.trust, line.text),)


class ShownTalks:
    """The talks that prompts showed last, each extended while nothing but new messages came. For several threads.

    messages: as prompts show them, from which a talk that was changed or cut off is made anew.
    """

    def __init__(self, zone: ZoneInfo) -> None:
        """zone: of the times that people are shown."""
        self.messages = ShownMessages(zone)
        self._kept = SizedCache[tuple[str, TalkReader], ShownTalk](_KEPT, _CHARACTERS, lambda talk: talk.size)

    def show(self, session: str, frame: TalkFrame, stored: Sequence[StoredMessage]) -> ShownTalk:
        """Return the talk of these messages; of one that goes on, only the new messages are derived from."""
        key = session, frame.reader
        talk = self._kept.peek(key)
        if talk is None or talk.frame != frame or tuple(stored[: len(talk.stored)]) != talk.stored:
            talk = ShownTalk(frame)
        new = stored[len(talk.stored) :]
        if new:
            talk = talk.extend(new, self.messages.of(new))
            self._kept.put(key, talk)
        return talk
