"""Find records by vectors, and the records that superseded the ones found."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from kenobot.cognitive.policy import Policy
from kenobot.cognitive.recall.candidates import recall_rows
from kenobot.cognitive.recall.candidates.by_words import LexicalHit
from kenobot.cognitive.recall.vectors.calibration import relevance_from_similarity
from kenobot.cognitive.store.scopes import Scopes, scope_names
from kenobot.storage.connection import Connection

if TYPE_CHECKING:
    from kenobot.cognitive.recall.vectors.vector_search import VectorIndex  # needs numpy


@dataclass(frozen=True, slots=True)
class VectorHits:
    """Relevance, 0 to 1, and similarity of records; for the latter see `SimilarityCalibration.share`."""

    relevance: Mapping[int, float] = field(default_factory=dict)  # bounded: what a search by vectors found; turn
    similarities: Mapping[int, float] = field(default_factory=dict)  # bounded: what a search by vectors found; turn


def find_by_meaning(
    connection: Connection,
    vectors: "VectorIndex",
    text: str,
    reach: Scopes,
    by_words: Sequence[LexicalHit],
    policy: Policy,
) -> VectorHits:
    """Compare the nearest records, and those found by words, with a message.

    A record counts with the similarity of a record that it superseded, where that is greater: "Carmen runs the team
    now" says less of the boss than "my boss is Arturo" did.
    """
    scopes = scope_names(reach)
    past = vectors.similarities("past", text, scopes, policy.meaning.past)
    heads = recall_rows.current_versions(connection, list(past), reach) if past else {}
    also = [*(found.id for found in by_words), *heads.values()]
    shares = vectors.similarities("record", text, scopes, policy.meaning.records, also)
    for old, number in heads.items():
        shares[number] = max(shares.get(number, past[old]), past[old])
    relevance = {number: relevance_from_similarity(share, policy.meaning) for number, share in shares.items()}
    return VectorHits(relevance, shares)


def replace_superseded(
    connection: Connection, found: Sequence[LexicalHit], past: Sequence[LexicalHit], reach: Scopes
) -> list[LexicalHit]:
    """Merge hits, best first, with the live versions of superseded hits."""
    heads = recall_rows.current_versions(connection, [each.id for each in past], reach) if past else {}
    known = {each.id: each for each in found}
    for each in past:
        number = heads.get(each.id)
        if number is not None and (number not in known or known[number].relevance < each.relevance):
            known[number] = replace(each, id=number, terms=frozenset())
    return sorted(known.values(), key=lambda each: -each.relevance)


def rescale(shares: Mapping[int, float]) -> dict[int, float]:
    """Rescale similarities to 0 for the lowest and 1 for the highest."""
    low, high = min(shares.values(), default=0.0), max(shares.values(), default=0.0)
    return {number: (share - low) / (high - low or 1.0) for number, share in shares.items()}
