"""What is meant, besides what is said: the vectors' part in finding records, where there are any."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from kenobot.cognitive.policy import Policy
from kenobot.cognitive.recall.candidates import recall_log
from kenobot.cognitive.recall.candidates.by_words import LexicalHit
from kenobot.cognitive.recall.index.vector_port import VectorSearch
from kenobot.cognitive.recall.vectors.calibration import relevance_from_similarity
from kenobot.cognitive.store.scopes import Scopes, scope_names
from kenobot.storage.connection import Connection


@dataclass(frozen=True, slots=True)
class VectorHits:
    """How near records are in meaning to a message. relevance: 0 to 1, as far as it can be told; of some, nothing can.

    similarities: of a usual answer's nearness; see `SimilarityCalibration.share`.
    """

    relevance: Mapping[int, float] = field(default_factory=dict)  # bounded: what a search by vectors found; turn
    similarities: Mapping[int, float] = field(default_factory=dict)  # bounded: what a search by vectors found; turn


def find_by_meaning(
    connection: Connection,
    meaning: VectorSearch,
    text: str,
    reach: Scopes,
    by_words: Sequence[LexicalHit],
    policy: Policy,
) -> VectorHits:
    """The records nearest to a message, and those that its words found.

    A record is as near as the nearest of what it took the place of, if that is nearer: "Carmen runs the team now" says
    less of who the boss is than "my boss is Arturo" did.
    """
    scopes = scope_names(reach)
    past = meaning.past_similarities(text, scopes, policy.meaning.past)
    heads = recall_log.current_versions(connection, list(past), reach) if past else {}
    also = [*(found.id for found in by_words), *heads.values()]
    shares = meaning.record_similarities(text, scopes, also, policy.meaning.records)
    for old, number in heads.items():
        shares[number] = max(shares.get(number, past[old]), past[old])
    relevance = {number: relevance_from_similarity(share, policy.meaning) for number, share in shares.items()}
    return VectorHits(relevance, shares)


def replace_superseded(
    connection: Connection, found: Sequence[LexicalHit], past: Sequence[LexicalHit], reach: Scopes
) -> list[LexicalHit]:
    """What words found, best first, with what took the place of what they found among the past."""
    heads = recall_log.current_versions(connection, [each.id for each in past], reach) if past else {}
    known = {each.id: each for each in found}
    for each in past:
        number = heads.get(each.id)
        if number is not None and (number not in known or known[number].relevance < each.relevance):
            known[number] = replace(each, id=number, terms=frozenset())
    return sorted(known.values(), key=lambda each: -each.relevance)


def rescale(shares: Mapping[int, float]) -> dict[int, float]:
    """Nearness from 0, of the farthest that was looked at, to 1, of the nearest."""
    low, high = min(shares.values(), default=0.0), max(shares.values(), default=0.0)
    return {number: (share - low) / (high - low or 1.0) for number, share in shares.items()}
