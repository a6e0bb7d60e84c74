"""The seams to models that help recall: embedders, query expanders and rerankers."""

from collections.abc import Callable, Sequence
from typing import Literal, Protocol, runtime_checkable

EmbedKind = Literal["passage", "query"]


class Embedder(Protocol):
    """A model that turns texts into vectors by their meaning. Without one, memory is searched by words alone."""

    @property
    def model_id(self) -> str:
        """Names the model and its version: vectors of different ids are never compared."""
        ...

    @property
    def dimensions(self) -> int:
        """Return how many numbers a row has; 0 as long as that is not known, before the first answer of a server."""
        ...

    async def embed(self, texts: Sequence[str], kind: EmbedKind = "passage") -> Sequence[Sequence[float]]:
        """Return one row for each text, in order: `dimensions` 32-bit floats, of length 1 as a vector.

        kind: "query" for a question, "passage" for a text that is searched: some models tell them apart. Any
        text passes, a blank one too; of a very long one the beginning counts. A query goes before passages that wait.
        Raises RemoteError when the model is out of reach; the caller goes on without.
        """
        ...


class EmbeddingMeter(Protocol):
    """Counts what a server is asked to embed."""

    async def reserve(self, model_id: str, texts: Sequence[str]) -> Callable[[int | None], None]:
        """Reserve a request. Raises OverBudget where the owner's budget leaves no room for it.

        Returns what settles it with the tokens that the server counted: None where it did not say, 0 where it took
        none.
        """
        ...


@runtime_checkable
class Metered(Protocol):
    """An embedder whose requests are counted once it is given a meter."""

    meter: EmbeddingMeter | None


class Reranker(Protocol):
    """Judges what recall found, by reading it. Memory works without one."""

    async def score(self, question: str, texts: Sequence[str]) -> Sequence[float] | None:
        """Return how much each text helps to answer, from 0 to 1, in order; None when that cannot be told in time.

        Never raises for a failure outside, and is quick: a person waits for the reply meanwhile.
        """
        ...


class QueryExpander(Protocol):
    """Finds further queries for what answers a question. Memory works without one."""

    async def expand(self, question: str) -> Sequence[str]:
        """Return up to four further queries; none when the question needs none, or that cannot be told in time.

        Never raises for a failure outside, and is quick: a person waits for the reply meanwhile.
        """
        ...


PreviousEmbedders = Callable[[Sequence[str]], Sequence[Embedder]]
"""Finds the available embedders for model ids; blocking."""
