"""Classify the similarity of two statements, and search for similar ones by an embedder's vectors."""

from collections.abc import Mapping
from typing import Literal, Protocol

from kenobot.cognitive.policy.remember import AdmitPolicy
from kenobot.storage.connection import Connection

Band = Literal["repeat", "grey", "apart"]
"""Maybe the same; maybe at odds; about something else."""


class Nearness(Protocol):
    """Search for similar texts, such as by the vectors of an embedder."""

    def __call__(self, connection: Connection, scope: str, subject: str, text: str, limit: int) -> Mapping[int, float]:
        """The records of this scope and subject nearest to `text`, by id, each with its cosine; at most `limit`."""
        ...


def band_of(similarity: float, policy: AdmitPolicy) -> Band:
    """Classify a similarity. The limits belong to the lower band."""
    if similarity > policy.repeat_above:
        return "repeat"
    return "grey" if similarity > policy.compare_above else "apart"
