"""Embed texts by a server; rows of length 1."""

import json
from array import array
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from math import isfinite, sqrt
from typing import TYPE_CHECKING, Any, ClassVar

from pydantic import BaseModel, Field

from kenobot.core.network import BaseAddress
from kenobot.ports.embedder import EmbeddingMeter, EmbedKind
from kenobot.ports.errors import AnswerLost, RemoteError
from kenobot.providers.embedders.texts import clip_text
from kenobot.providers.http_service import HttpService

if TYPE_CHECKING:
    from kenobot.providers.embedders.texts import Vector

_MOST = 32  # texts of one request
_LARGEST = 32_000_000  # bytes of an answer


_ASKS = "Represent this sentence for searching relevant passages: "
_PREFIXES: Mapping[str, tuple[str, str]] = {
    "e5-": ("query: ", "passage: "),
    "nomic-embed": ("search_query: ", "search_document: "),
    "embeddinggemma": ("task: search result | query: ", "title: none | text: "),
    "mxbai-embed": (_ASKS, ""),
}
"""The beginnings of a query and of a passage that models were trained with, by a part of the model's name."""


def find_prefixes(model: str) -> tuple[str, str]:
    """Return the beginnings of a query and of a passage that a model expects, "" for none."""
    name = model.lower()
    found = (prefixes for part, prefixes in _PREFIXES.items() if part in name and "instruct" not in name)
    return next(found, ("", ""))


def name_model(service: str, model: str) -> str:
    """Return the name that vectors bear: of another prefix they are others."""
    passage = find_prefixes(model)[1].strip()
    return f"{service}:{model}" + (f"+{passage}" if passage else "")


class HttpEmbedderSettings(BaseModel, extra="forbid", frozen=True):
    """seconds: longest time of a request."""

    base_url: BaseAddress
    model: str = Field(min_length=1)
    seconds: ClassVar[float] = 20


@dataclass(eq=False, repr=False)  # the headers hold the key
class HttpEmbedder:
    """An embedder behind HTTP.

    body: composes a request for texts. rows: returns the rows of an answer in the order of the texts, or raises
    KeyError, TypeError or ValueError.
    """

    model_id: str
    server: str
    settings: HttpEmbedderSettings
    path: str
    headers: Mapping[str, str]
    body: Callable[[Sequence[str]], Mapping[str, object]]
    rows: Callable[[Mapping[str, Any]], object]
    dimensions: int = 0
    meter: EmbeddingMeter | None = None
    _service: HttpService = field(init=False)

    def __post_init__(self) -> None:
        settings = self.settings
        self._service = HttpService(
            self.server, settings.model, settings.base_url, self.headers, settings.seconds, _LARGEST
        )

    async def embed(self, texts: Sequence[str], kind: EmbedKind = "passage") -> Sequence[Sequence[float]]:
        """Embed `texts`. Raises RateLimited, Unavailable and Rejected, whose texts hold no key."""
        prefix = find_prefixes(self.settings.model)[kind == "passage"]
        found: list[Vector] = []
        for at in range(0, len(texts), _MOST):
            # A blank input is refused by some servers.
            found += await self._embed([prefix + (clip_text(text).strip() or ".") for text in texts[at : at + _MOST]])
        return found

    async def aclose(self) -> None:
        """Close the connections."""
        await self._service.aclose()

    async def _embed(self, texts: Sequence[str]) -> "list[Vector]":
        if self.meter is None:
            return (await self._ask(texts))[0]
        settle, tokens = await self.meter.reserve(self.model_id, texts), None
        try:
            rows, tokens = await self._ask(texts)
        except RemoteError as error:
            # A request that was taken and not answered may be charged for: it counts as what was reserved.
            tokens = None if isinstance(error, AnswerLost) else 0
            raise
        finally:
            settle(tokens)
        return rows

    async def _ask(self, texts: Sequence[str]) -> "tuple[list[Vector], int | None]":
        """Return the rows of texts, and the tokens that the server counted, if it says how many."""
        body = await self._service.post(self.path, json=dict(self.body(texts)))
        try:
            answer = json.loads(body)
            items = self.rows(answer)
            if not isinstance(items, list):
                raise TypeError("no list")
            rows = [_unit(row) for row in items]
        except (ValueError, TypeError, KeyError, AttributeError):
            raise AnswerLost("embedder.no_embedding", server=self.server) from None
        if len(rows) != len(texts) or len({len(row) for row in rows}) > 1:
            raise AnswerLost("embedder.other_number", server=self.server)
        self.dimensions = len(rows[0]) if rows else self.dimensions
        return rows, _tokens(answer)


def _tokens(answer: Mapping[str, Any]) -> int | None:
    """Return the tokens that a server counted, as OpenAI's API or Ollama's spells it."""
    usage = answer.get("usage")
    told = usage.get("prompt_tokens") if isinstance(usage, dict) else answer.get("prompt_eval_count")
    return told if isinstance(told, int) and told > 0 else None


def _unit(row: object) -> "Vector":
    """Scale a row to length 1, as 32-bit floats. Raises ValueError or TypeError."""
    if not isinstance(row, list) or not row:
        raise ValueError("no row")
    numbers = array("f", row)
    length = sqrt(sum(number * number for number in numbers))
    if not isfinite(length) or length == 0:
        raise ValueError("no direction")
    return array("f", (number / length for number in numbers))
