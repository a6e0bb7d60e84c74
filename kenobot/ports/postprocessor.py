"""The seam to what happens when the model writes a tag."""

from collections.abc import Sequence
from typing import Protocol

from kenobot.ports.frozen import dataclass
from kenobot.ports.identity import Principal
from kenobot.ports.memory import Candidate


class TurnEffects(Protocol):
    """Effects that a post-processor may have on its turn; all of it commits with the turn, or not at all."""

    @property
    def session(self) -> str: ...

    @property
    def principal(self) -> Principal: ...

    def admit(self, candidate: Candidate) -> None:
        """Ask memory to take this in, in the turn's own transaction."""
        ...

    def end_bootstrap(self) -> None:
        """End onboarding in this chat."""
        ...


@dataclass(frozen=True, slots=True)
class Element:
    """A tag the model wrote: its canonical name, its attributes as written, and what stood inside."""

    name: str
    content: str
    attributes: str = ""


class PostProcessor(Protocol):
    """Handles tags that the model writes. One scan finds all tags; each processor gets its own."""

    @property
    def name(self) -> str: ...

    @property
    def tags(self) -> tuple[str, ...]:
        """The tag's names, the canonical one first, the rest aliases. A name that ends in `/` has no content."""
        ...

    def extract(self, elements: Sequence[Element]) -> tuple[str, ...]:
        """Return the contents that count: trimmed, blanks dropped, all or only the last. Pure."""
        ...

    def apply(self, items: Sequence[str], turn: TurnEffects) -> None:
        """Write what was extracted into the turn. An exception costs these items, never the reply."""
        ...
