"""What is meant, besides what is said: the vectors' part in finding records, where there are any."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from kenobot.cognitive.policy import Policy
from kenobot.cognitive.recall import recall_log
from kenobot.cognitive.recall.candidates import Found
from kenobot.cognitive.recall.vectors.calibration import relevance_of
from kenobot.cognitive.store.scopes import Reach, scopes_of
from kenobot.storage.connection import Connection

if TYPE_CHECKING:
    from kenobot.cognitive.recall.vectors.vector_search import Meaning


@dataclass(frozen=True, slots=True)
class Near:
    """How near records are in meaning to a message. relevance: 0 to 1, as far as it can be told; of some, nothing can.

    shares: of a usual answer's nearness; see `Scale.share`.
    """

    relevance: Mapping[int, float] = field(default_factory=dict)
    shares: Mapping[int, float] = field(default_factory=dict)


def records(
    connection: Connection, meaning: "Meaning", text: str, reach: Reach, by_words: Sequence[Found], policy: Policy
) -> Near:
    """The records nearest to a message, and those that its words found.

    A record is as near as the nearest of what it took the place of, if that is nearer: "Carmen runs the team now" says
    less of who the boss is than "my boss is Arturo" did.
    """
    scopes = scopes_of(reach)
    past = meaning.past_shares(text, scopes, policy.meaning.past)
    heads = recall_log.heads(connection, list(past), reach) if past else {}
    also = [*(found.number for found in by_words), *heads.values()]
    shares = meaning.record_shares(text, scopes, also, policy.meaning.records)
    for old, number in heads.items():
        shares[number] = max(shares.get(number, past[old]), past[old])
    relevance = {number: relevance_of(share, policy.meaning) for number, share in shares.items()}
    return Near(relevance, shares)


def of_today(connection: Connection, found: Sequence[Found], past: Sequence[Found], reach: Reach) -> list[Found]:
    """What words found, best first, with what took the place of what they found among the past."""
    heads = recall_log.heads(connection, [each.number for each in past], reach) if past else {}
    known = {each.number: each for each in found}
    for each in past:
        number = heads.get(each.number)
        if number is not None and (number not in known or known[number].relevance < each.relevance):
            known[number] = replace(each, number=number, terms=frozenset())
    return sorted(known.values(), key=lambda each: -each.relevance)


def spread(shares: Mapping[int, float]) -> dict[int, float]:
    """Nearness from 0, of the farthest that was looked at, to 1, of the nearest."""
    low, high = min(shares.values(), default=0.0), max(shares.values(), default=0.0)
    return {number: (share - low) / (high - low or 1.0) for number, share in shares.items()}
