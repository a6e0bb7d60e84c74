"""What is meant, besides what is said: the vectors' part in finding records, where there are any."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from kenobot.cognitive.meaning.scale import relevance_of
from kenobot.cognitive.policy import Policy
from kenobot.cognitive.reach import Reach, scopes_of
from kenobot.cognitive.recall.candidates import Found
from kenobot.cognitive.recall.index import Index


@dataclass(frozen=True, slots=True)
class Near:
    """How near records are in meaning to a message. relevance: 0 to 1, as far as it can be told; of some, nothing can.

    close: each against the others that were found, from 0 to 1, the nearest.
    """

    relevance: Mapping[int, float] = field(default_factory=dict)
    close: Mapping[int, float] = field(default_factory=dict)


def records(index: Index, text: str, reach: Reach, by_words: Sequence[Found], policy: Policy) -> Near:
    """The records nearest to a message, and those that its words found."""
    if index.meaning is None:
        return Near()
    also = [found.number for found in by_words]
    shares = index.meaning.record_shares(text, scopes_of(reach), also, policy.meaning.records)
    relevance = {number: relevance_of(share, policy.meaning) for number, share in shares.items()}
    return Near(relevance, spread(shares))


def spread(shares: Mapping[int, float]) -> dict[int, float]:
    """Nearness from 0, of the farthest that was looked at, to 1, of the nearest."""
    low, high = min(shares.values(), default=0.0), max(shares.values(), default=0.0)
    return {number: (share - low) / (high - low or 1.0) for number, share in shares.items()}
