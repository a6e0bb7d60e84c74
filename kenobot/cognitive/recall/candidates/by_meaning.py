"""Find records by vectors, and the records that superseded the ones found."""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from kenobot.cognitive.policy import Policy
from kenobot.cognitive.recall.candidates import recall_rows
from kenobot.cognitive.recall.candidates.by_words import LexicalHit
from kenobot.cognitive.recall.index import conversation_rows
from kenobot.cognitive.recall.index.index import SideIndex
from kenobot.language.question.search_terms import in_first_person, name_spans
from kenobot.storage.connection import Connection
from kenobot.storage.scopes import Scopes, scope_names

if TYPE_CHECKING:
    from kenobot.cognitive.recall.vectors.vector_search import VectorIndex  # needs numpy

_LONGEST = 300  # characters of a message that may be about a speaker


def find_by_meaning(
    connection: Connection,
    vectors: "VectorIndex",
    text: str,
    reach: Scopes,
    by_words: Sequence[LexicalHit],
    policy: Policy,
) -> dict[int, float]:
    """Compute the similarities of the nearest records, and of those found by words; see `query_similarity`.

    A record counts with the similarity of a record that it superseded, where that is greater: "Carmen runs the team
    now" says less of the boss than "my boss is Arturo" did.
    """
    scopes = scope_names(reach)
    past = vectors.similarities("past", text, scopes, policy.meaning.past)
    heads = recall_rows.current_versions(connection, list(past), reach) if past else {}
    also = [*(found.id for found in by_words), *heads.values()]
    similarities = vectors.similarities("record", text, scopes, policy.meaning.records, also)
    for old, number in heads.items():
        similarities[number] = max(similarities.get(number, past[old]), past[old])
    return similarities


def replace_superseded(
    connection: Connection, found: Sequence[LexicalHit], past: Sequence[LexicalHit], reach: Scopes
) -> list[LexicalHit]:
    """Merge hits, best first, with the live versions of superseded hits."""
    heads = recall_rows.current_versions(connection, [each.id for each in past], reach) if past else {}
    known = {each.id: each for each in found}
    for each in past:
        number = heads.get(each.id)
        if number is not None and (number not in known or known[number].relevance < each.relevance):
            known[number] = replace(each, id=number, text="")
    return sorted(known.values(), key=lambda each: (-each.relevance, -each.id))


def as_speakers_say(
    index: SideIndex, scopes: Sequence[str] | None, text: str, spans: Sequence[str] | None = None
) -> str:
    """Rephrase a message in the first person of the speakers of `scopes` (None: of all) that it names; or return it.

    spans: what of it may be a name, where that is known.
    """
    if len(text) > _LONGEST:
        return text
    none, names = set[str](), name_spans(text) if spans is None else spans
    named = index.read(partial(conversation_rows.speakers_named, scopes=scopes, names=names), none)
    return in_first_person(text, named)
