"""Offer the contents of tags to memory, and end onboarding: the six tags that ship."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from kenobot.ports.identity import chat_scope
from kenobot.ports.memory import Candidate
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


def _note(text: str, turn: TurnEffects) -> Candidate:
    return Candidate("note", turn.principal.write_scope, text, trust=turn.principal.trust)


def _preference(text: str, turn: TurnEffects) -> Candidate:
    return Candidate("note", turn.principal.write_scope, text, category="preference", trust=turn.principal.trust)


def _episode(text: str, turn: TurnEffects) -> Candidate:
    return Candidate("episode", chat_scope(turn.session), text, trust=turn.principal.trust)


def _chat_profile(text: str, turn: TurnEffects) -> Candidate:
    return Candidate("profile", chat_scope(turn.session), text, slot="context", trust=turn.principal.trust)


def _scratchpad(text: str, turn: TurnEffects) -> Candidate:
    return Candidate("scratchpad", chat_scope(turn.session), text, slot="working", trust=turn.principal.trust)


def _plugin(
    *tags: str, candidate: Callable[[str, TurnEffects], Candidate], last_wins: bool = False
) -> Plugin[NoSettings, MemoryTag]:
    return Plugin(settings=NoSettings, build=lambda _settings, _context: MemoryTag(tags, candidate, last_wins))


memory = _plugin("memory", candidate=_note)
chat_memory = _plugin("chat-memory", candidate=_episode)
chat_context = _plugin("chat-context", candidate=_chat_profile, last_wins=True)
working_memory = _plugin("working-memory", candidate=_scratchpad, last_wins=True)
# <user> is an older name; <update-preferences> is what early onboarding texts taught the model to write.
user_update = _plugin("user-update", "user", "update-preferences", candidate=_preference)
bootstrap_complete = Plugin(settings=NoSettings, build=lambda _settings, _context: BootstrapComplete())
