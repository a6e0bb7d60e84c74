"""The post-processor that nearly every tag needs: what stands in the tag is offered to memory."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from kenobot.ports.memory import Candidate
from kenobot.ports.postprocessor import Element, TurnEffects


@dataclass(frozen=True, slots=True)
class MemoryTag:
    """Offers each content of its tag to memory.

    tags: the canonical name first, then aliases.
    candidate: what to offer for a content in this turn; it decides form, scope and trust.
    last_wins: only the last content that is not blank counts, because it replaces what was there.
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
