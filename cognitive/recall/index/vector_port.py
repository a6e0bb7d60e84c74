"""What recall and the embedding worker ask of vectors in memory; free of numpy."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Protocol

from kenobot.ports.embedder import EmbedKind
from kenobot.storage.connection import Connection


class VectorSearch(Protocol):
    """Find records and turns by their vectors; see `vectors.vector_search.VectorIndex`."""

    @property
    def models(self) -> tuple[str, ...]: ...

    def size(self, model: str) -> int: ...

    def has_calibration(self, model: str) -> bool: ...

    def cached(self, model: str, kind: EmbedKind, text: str) -> object | None: ...

    def cache(self, model: str, kind: EmbedKind, texts: Sequence[str], rows: Sequence[Sequence[float]]) -> None: ...

    def has_query_vector(self, text: str) -> bool: ...

    def record_similarities(
        self, text: str, scopes: Sequence[str] | None, also: Iterable[int], limit: int
    ) -> dict[int, float]: ...

    def turn_similarities(
        self, text: str, scopes: Sequence[str] | None, also: Iterable[int], limit: int
    ) -> dict[int, float]: ...

    def past_similarities(self, text: str, scopes: Sequence[str] | None, limit: int) -> dict[int, float]: ...

    def similarity_without_names(self, text: str, names: str, number: int) -> float | None: ...

    def similar_records(self, text: str, scopes: Sequence[str] | None, limit: int) -> list[int]: ...

    def nearest_to_statement(
        self, connection: Connection, scope: str, subject: str, text: str, limit: int
    ) -> Mapping[int, float]: ...

    def nearest_to_record(self, scope: str, subject: str, record: int, limit: int) -> Mapping[int, float]: ...
