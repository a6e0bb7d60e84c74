"""Offer the contents of tags to memory, and end onboarding: the six tags that ship."""

from collections.abc import Callable, Sequence

from kenobot.ports.frozen import dataclass
from kenobot.ports.identity import chat_scope
from kenobot.ports.memory import Candidate, Form
from kenobot.ports.plugin import NoSettings, Plugin
from kenobot.ports.postprocessor import Element, TurnEffects


@dataclass(frozen=True, slots=True)
class MemoryTag:
    """Offers each content of its tag to memory.

    tags: the canonical name first, then aliases. candidate: builds the candidate for a content.
    last_wins: only the last content that is not blank is offered.
    """

    tags: tuple[str, ...]
    candidate: Callable[[str, TurnEffects], Candidate]
    last_wins: bool = False

    @property
    def name(self) -> str:
        return self.tags[0]

    def extract(self, elements: Sequence[Element]) -> tuple[str, ...]:
        items = tuple(content for element in elements if (content := element.content.strip()))
        return items[-1:] if self.last_wins else items

    def apply(self, items: Sequence[str], turn: TurnEffects) -> None:
        for item in items:
            turn.admit(self.candidate(item, turn))


@dataclass(frozen=True, slots=True)
class BootstrapComplete:
    """Ends onboarding, however often the model says so in one reply."""

    name: str = "bootstrap-complete"
    tags: tuple[str, ...] = ("bootstrap-complete/",)

    def extract(self, elements: Sequence[Element]) -> tuple[str, ...]:
        return (self.name,) if elements else ()

    def apply(self, items: Sequence[str], turn: TurnEffects) -> None:
        if items:
            turn.end_bootstrap()


def _plugin(
    *tags: str, form: Form, category: str = "fact", slot: str = "", in_chat: bool = False
) -> Plugin[NoSettings, MemoryTag]:
    """Build the plugin of a tag. slot: one record that its last content replaces. in_chat: known in this chat alone."""

    def candidate(text: str, turn: TurnEffects) -> Candidate:
        scope = chat_scope(turn.session) if in_chat else turn.principal.write_scope
        return Candidate(form, scope, text, category=category, slot=slot, trust=turn.principal.trust)

    return Plugin(settings=NoSettings, build=lambda _settings, _context: MemoryTag(tags, candidate, bool(slot)))


memory = _plugin("memory", form="note")
chat_memory = _plugin("chat-memory", form="episode", in_chat=True)
chat_context = _plugin("chat-context", form="profile", slot="context", in_chat=True)
working_memory = _plugin("working-memory", form="scratchpad", slot="working", in_chat=True)
# <user> is an older name; <update-preferences> is what early onboarding texts taught the model to write.
user_update = _plugin("user-update", "user", "update-preferences", form="note", category="preference")
bootstrap_complete = Plugin(settings=NoSettings, build=lambda _settings, _context: BootstrapComplete())
