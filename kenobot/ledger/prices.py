"""Price calls of models: the published prices as dated data, and the owner's own before them.

Costs are integers: a price of a dollar a million tokens is a million picodollars a token.
"""

import asyncio
import re
import tomllib
from collections.abc import Mapping
from dataclasses import field
from functools import cache
from importlib import resources

from kenobot.core import lazy
from kenobot.ports.frozen import dataclass
from kenobot.ports.provider import Usage

PICODOLLARS = 10**12
"""Of a dollar."""

_DATED = lazy.regex(r"[-@](?:latest|\d{8}|\d{4}-\d{2}-\d{2}|\d{2}-\d{4})$", re.ASCII)


@dataclass(frozen=True, slots=True)
class Price:
    """The price of a model, in picodollars a token of each kind. minute: picodollars a minute of speech."""

    input: int = 0
    output: int = 0
    cache_read: int = 0
    cache_write: int = 0
    minute: int = 0

    @classmethod
    def of_dollars(cls, minute: float = 0, **dollars: float) -> "Price":
        """Convert dollars a million tokens. Without a price of their own, cached tokens cost what read ones do.

        minute: dollars a minute.
        """
        prices = {kind: round(dollar * PICODOLLARS / 10**6) for kind, dollar in dollars.items()}
        read = prices.get("input", 0)
        return cls(**{"cache_read": read, "cache_write": read, **prices}, minute=round(minute * PICODOLLARS))

    def cost(self, usage: Usage, seconds: float = 0) -> int:
        """Return what a call costs, in picodollars. seconds: of speech."""
        return (
            usage.input_tokens * self.input
            + usage.output_tokens * self.output
            + usage.cache_read_tokens * self.cache_read
            + usage.cache_write_tokens * self.cache_write
            + round(seconds * self.minute / 60)
        )


@dataclass(frozen=True, slots=True)
class PriceList:
    """The prices of models. own: the owner's, by PROVIDER:MODEL, or by PROVIDER for all of its models."""

    own: Mapping[str, Price] = field(default_factory=dict)  # bounded: the settings; start

    async def load(self) -> None:
        """Read the published prices, once, and not in the thread of the event loop."""
        if not _load_published.cache_info().currsize:
            await asyncio.to_thread(_load_published)

    def find(self, provider: str, model: str) -> Price | None:
        """Return the price of a model, also under a dated name of it; None when it is not known."""
        named = model.lower()
        plain = _DATED.sub("", named)
        own = (f"{provider}:{named}", f"{provider}:{plain}", provider)
        if (price := next((self.own[name] for name in own if name in self.own), None)) is not None:
            return price
        published = _load_published().get(provider, {})
        return published.get(named) or published.get(plain) or published.get("*")


@cache
def _load_published() -> Mapping[str, Mapping[str, Price]]:
    """Read the published prices; "*" stands for every model of a provider."""
    tables = tomllib.loads(resources.files(__package__).joinpath("prices.toml").read_text("utf-8"))
    free = {name: {"*": Price()} for name in tables.pop("free")["providers"]}
    priced = {
        name: {model.lower(): Price.of_dollars(**prices) for model, prices in table["models"].items()}
        for name, table in tables.items()
    }
    return {**free, **priced}
