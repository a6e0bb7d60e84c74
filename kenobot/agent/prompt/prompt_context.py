"""Describe a prompt: its limits, the message that it is for, what it is to show, and what it shows."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import datetime, timedelta

from kenobot.agent.prompt.runtime_block import escape_runtime_block
from kenobot.agent.prompt.shown_message import ShownMessage, quotations
from kenobot.agent.prompt.shown_talk import ShownTalk
from kenobot.agent.safety.shown_texts import ShownTexts
from kenobot.agent.safety.trifecta import Exposure
from kenobot.cognitive.memory import NO_MEMORY, MemoryPack, MemoryQuery
from kenobot.core.history_window import HistoryWindow
from kenobot.identity import onboarding
from kenobot.identity.identity_files import IdentityText
from kenobot.language.provenance import AttributedText, SpeechContext
from kenobot.ports.frozen import dataclass
from kenobot.ports.identity import Principal
from kenobot.ports.provider import Request, ToolResult
from kenobot.storage.inbox_rows import PendingMessage
from kenobot.storage.prompt_prefix import PromptPrefix

_REDUCTION = 4
_REDUCED = (
    "budget_tokens", "memory_tokens", "recent_tokens", "message_tokens", "history_min", "history_max", "summary_tokens",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class PromptLimits:
    """Limits of a prompt; all but messages in tokens.

    memory_tokens: of memory in a prefix. recent_tokens: of its notes, once not all fit. history_min: messages that a
    new prefix begins with. history_max: messages before a new prefix is made. late_after: wait of a message from which
    on the model is told. always_new_prefix: make a new prefix for every prompt. summary_tokens: of the summary of
    messages that are not shown; 0 without summaries.
    """

    budget_tokens: int = 24_000
    memory_tokens: int = 6_000
    recent_tokens: int = 1_000
    message_tokens: int = 4_000
    history_min: int = 20
    history_max: int = 60
    max_tokens: int = 4096
    late_after: timedelta = timedelta(minutes=15)
    always_new_prefix: bool = False
    summary_tokens: int = 0

    @property
    def window(self) -> HistoryWindow:
        """Return how much of the conversation is shown."""
        room = max(self.message_tokens, self.budget_tokens - self.memory_tokens - 2 * self.message_tokens)
        return HistoryWindow(self.history_min, self.history_max, self.message_tokens, room, self.summary_tokens)

    def reduce(self) -> "PromptLimits":
        """Return limits of a quarter of the size, for a model that could not read a prompt of the usual one."""
        sizes = {name: getattr(self, name) // _REDUCTION for name in _REDUCED}
        return replace(self, always_new_prefix=True, **sizes)


@dataclass(frozen=True, slots=True)
class PromptRequest:
    """The message that a prompt is for. reduced: make it much smaller than usual."""

    pending: PendingMessage
    principal: Principal
    now: datetime
    reduced: bool = False


@dataclass(frozen=True, slots=True)
class PromptPlan:
    """Parts of a prompt besides what a search finds.

    memory: what this message shows of memory for the first time. texts: every memory text on show. query: the search
    for the message; None where the message is not searched for. preferences: a note of those that are new.
    """

    limits: PromptLimits
    identity: IdentityText
    prefix: PromptPrefix
    previous_prefix: PromptPrefix | None
    talk: ShownTalk
    memory: MemoryPack
    texts: tuple[str, ...]
    query: MemoryQuery | None = None
    preferences: str = ""

    @property
    def history(self) -> Sequence[ShownMessage]:
        """Return the messages of the conversation that the prompt shows."""
        return self.talk.lines

    @property
    def notes(self) -> str:
        """Return the notes that stay beside the message: of news since the prefix was made."""
        return _join_escaped(self.preferences, self.memory["updates"])

    @property
    def recalled(self) -> str:
        """Return the memories that are shown with this message alone, and with no later prompt."""
        return _join_escaped(self.memory["procedures"], self.memory["recalled"])

    @property
    def recalled_of_others(self) -> str:
        """Return them where they quote others, whose words a later reply may repeat; "" otherwise."""
        return self.recalled if any(quotations(self.recalled)) else ""

    @property
    def memory_on_show(self) -> tuple[str, ...]:
        """Return what the prompt shows of memory, as it stands there."""
        return (self.prefix.shown_text, *self.talk.later_contexts, self.notes, self.recalled)

    def quote_memory(self, tail: str) -> Iterator[AttributedText]:
        """Iterate over what memory shows of others' words."""
        yield from (*quotations(self.prefix.text), *quotations(self.prefix.later))
        yield from self.talk.quote_memory
        yield from (*quotations(self.notes), *quotations(self.recalled), *quotations(tail))

    def add_memory(self, pack: MemoryPack) -> "PromptPlan":
        """Return the plan with more of memory beside the message."""
        if pack is NO_MEMORY:
            return self
        return replace(self, memory=self.memory + pack, texts=(*self.texts, *pack.texts))


@dataclass(frozen=True, slots=True)
class PromptContext:
    """A prompt, and what is stored with the turn so that the next prompt repeats its bytes.

    asked_at: the time that it tells. untrusted_texts: texts whose tags must not act. speech: who said what of it.
    shows_private: it shows memory, preferences or history. shows_untrusted: it shows, or may show, words of others than
    the speaker. only_recalled: it shows none of them but in memory. reported, has_agenda: it has a report of memory, or
    what answers a question for days. shows_skills: it lists skills. private_results: of tools that read memory.
    recall_seconds: what finding memories took of the time.
    """

    request: Request
    plan: PromptPlan
    asked_at: datetime
    untrusted_texts: tuple[str, ...]
    bootstrap: onboarding.BootstrapState | None
    speech: SpeechContext
    shows_private: bool
    shows_untrusted: bool
    only_recalled: bool = False
    reported: bool = False
    has_agenda: bool = False
    shows_skills: bool = False
    private_results: tuple[str, ...] = ()
    recall_seconds: float = 0.0

    def with_report(self, request: Request, text: str, found: MemoryPack) -> "PromptContext":
        """Return the same prompt as `request` with a report of memory. found: the memories that its text shows."""
        texts = (*self.untrusted_texts, text)
        plan = self.plan.add_memory(found)
        return replace(self, request=request, plan=plan, untrusted_texts=texts, shows_private=True, reported=True)

    def with_agenda(self, request: Request, text: str, found: MemoryPack, *, of_others: bool) -> "PromptContext":
        """Return the same prompt as `request`, with the agenda of the days that a question asks for.

        of_others: in words of others, too.
        """
        return replace(
            self,
            request=request,
            plan=self.plan.add_memory(found),
            untrusted_texts=(*self.untrusted_texts, text),
            shows_private=True,
            shows_untrusted=self.shows_untrusted or of_others,
            has_agenda=True,
        )

    def with_recall_time(self, seconds: float) -> "PromptContext":
        """Return the same prompt, for whose search models were asked for so long beforehand."""
        return replace(self, recall_seconds=self.recall_seconds + seconds)

    @property
    def exposure(self) -> Exposure:
        """Return what meets in this turn, before the model has written anything."""
        return Exposure(self.shows_private, self.shows_untrusted, way_out=False)

    @property
    def shown(self) -> ShownTexts:
        """Return the prompt's texts as the guard compares a reply with them."""
        speech, plan = self.speech, self.plan
        own = (*speech.earlier_messages, *speech.model_replies, plan.identity.preferences)
        theirs = tuple(voice.text for voice in speech.other_texts)
        private = self.private_results
        return ShownTexts(
            self.texts,
            private=lambda: (*plan.memory_on_show, *private, *own),
            others=lambda: (speech.message, *theirs),
            own=lambda: (speech.message, *speech.earlier_messages),
            replies=lambda: speech.model_replies,
            recalled=lambda: theirs,
            only_recalled=self.only_recalled,
        )

    def texts(self) -> Iterator[str]:
        """Yield every text of the prompt."""
        yield from (block.text for block in self.request.system)
        for message in self.request.messages:
            yield message.text
            yield from (content.text for content in message.blocks if isinstance(content, ToolResult))


def _join_escaped(*parts: str) -> str:
    return "\n\n".join(escape_runtime_block(part) for part in parts if part)
