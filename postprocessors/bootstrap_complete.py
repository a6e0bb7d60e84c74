"""`<bootstrap-complete/>`: the model has got to know the person; onboarding ends in this chat."""

from collections.abc import Sequence
from dataclasses import dataclass

from kenobot.ports.plugin import NoSettings, Plugin
from kenobot.ports.postprocessor import Element, TurnEffects


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


plugin = Plugin(settings=NoSettings, build=lambda settings, surroundings: BootstrapComplete())
