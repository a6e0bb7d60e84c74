"""Search the index for documents that share words with a message, by BM25.

No postings list is read to its end: the rarest words decide, and a limit bounds each list.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Self

from kenobot.cognitive.policy.recall import RecallPolicy
from kenobot.cognitive.recall.index import posting_rows
from kenobot.cognitive.recall.index.documents import IDS_PER_SOURCE, source_of
from kenobot.cognitive.recall.index.posting_rows import Partition
from kenobot.cognitive.store import records
from kenobot.language.fingerprint import OWNER_SUBJECT
from kenobot.language.question.question import parse_question
from kenobot.language.question.relations import Relationship, find_first_words, name_in
from kenobot.language.question.search_terms import ParsedQuery, QueryTerm, parse_query
from kenobot.language.words import search_stems
from kenobot.ports.frozen import dataclass
from kenobot.storage.connection import Connection
from kenobot.storage.scopes import Scopes, scope_names

_NEWEST = 40  # memories that are read for one relationship


@dataclass(frozen=True, slots=True)
class LexicalHit:
    """A document found by words. relevance: 0 to 1. matched: its stems of the query. text: all its stems."""

    id: int
    relevance: float
    matched: tuple[str, ...]
    text: str = ""

    @property
    def terms(self) -> frozenset[str]:
        """Return its stems, each once."""
        return frozenset(self.text.split(" ")) if self.text else frozenset()


@dataclass(frozen=True, slots=True)
class SearchLimits:
    """Bounds of the part of an index that a search reads.

    words: of the message. postings_per_word, postings_per_pair: newest documents of a word, and of two frequent words
    together. postings: documents of all words. paired_words: frequent words that are paired. weighed: documents whose
    words are counted exactly.
    """

    words: int
    postings_per_word: int
    postings: int
    paired_words: int
    postings_per_pair: int
    weighed: int

    @classmethod
    def of(cls, policy: RecallPolicy, share: float = 1.0) -> Self:
        """Return the limits of a search for live records. share: of what it reads; words are never fewer."""
        return cls(
            policy.max_query_words,
            math.ceil(share * policy.postings_per_word),
            math.ceil(share * policy.max_postings),
            math.ceil(share * policy.paired_words),
            math.ceil(share * policy.postings_per_pair),
            math.ceil(share * policy.max_weighed),
        )

    @classmethod
    def of_past(cls, policy: RecallPolicy, share: float = 1.0) -> Self:
        """Return the limits of a search for superseded records. share: of what it reads, words as well."""
        words, weighed = policy.max_query_words_past, policy.max_weighed_past
        return replace(cls.of(policy, share), words=math.ceil(share * words), weighed=math.ceil(share * weighed))


@dataclass(frozen=True, slots=True)
class MentionedSubjects:
    """Subjects that a message mentions, as records write them. first_person: it says "I" or "my"."""

    subjects: frozenset[str] = frozenset()
    first_person: bool = False

    def includes(self, subject: str) -> bool:
        """Return whether `subject` is mentioned."""
        return subject in self.subjects or (
            subject in ("", OWNER_SUBJECT) and (self.first_person or OWNER_SUBJECT in self.subjects)
        )


def find_mentioned(index: Connection, scopes: Sequence[str] | None, query: ParsedQuery) -> MentionedSubjects:
    """Find the known subjects that a message names by whole words, also in the genitive, or by an alias."""
    found = posting_rows.subjects_named(index, scopes, query.names) if query.names else ()
    return MentionedSubjects(frozenset(found), query.first_person)


def find_names(truth: Connection, index: Connection, reach: Scopes, relationships: Sequence[Relationship]) -> list[str]:
    """Search the newest live memories within `reach` for the names of people such as "my husband" or "mi jefa"."""
    rooms = posting_rows.partitions(index, scope_names(reach), ("record",))
    found: list[str] = []
    for each in relationships:
        for called in filter(None, (each.words, each.broader_words)):
            words = find_first_words(called)
            tokens = [room.token(stem) for room in rooms for word in words for stem in search_stems(word)]
            documents = posting_rows.documents_with(index, [tokens], _NEWEST) if tokens else []
            numbers = [document // IDS_PER_SOURCE for document in documents]
            known = records.by_ids(truth, numbers, reach)
            live = (known[number].text for number in numbers if number in known and known[number].status == "active")
            if name := name_in(live, called):
                found.append(name)
                break
    return found


def search_records(
    index: Connection, scopes: Sequence[str] | None, text: str, policy: RecallPolicy
) -> list[LexicalHit]:
    """Search the live records of `scopes` (None: of all) for `text`, best first."""
    places, query = posting_rows.partitions(index, scopes, ("record",)), parse_query(parse_question(text), "")
    standing = query_term_counts(index, places, query)
    return search_documents(index, places, query, standing, policy, SearchLimits.of(policy))


def query_term_counts(index: Connection, places: Sequence[Partition], query: ParsedQuery) -> dict[str, int]:
    """Count the documents of these partitions that have each token of the message."""
    return posting_rows.document_counts(
        index, [room.token(stem) for room in places for word in query.terms for stem in word.stems]
    )


def search_documents(
    index: Connection,
    places: Sequence[Partition],
    query: ParsedQuery,
    standing: Mapping[str, int],
    policy: RecallPolicy,
    limits: SearchLimits,
) -> list[LexicalHit]:
    """Search the documents of these partitions, best first, each source once.

    standing: as of `query_term_counts`, of these partitions or more.
    """
    if not places or not query.terms:
        return []
    total = sum(room.docs for room in places)
    docs = {
        stem: sum(standing.get(room.token(stem), 0) for room in places) for word in query.terms for stem in word.stems
    }
    # A word stands in at least as many documents as its commonest stem does: others may stand in the same ones.
    rarity = {word: min(total, max(docs[stem] for stem in word.stems)) for word in query.terms}
    least = policy.min_word_weight * idf(
        total, 1
    )  # where everything speaks of one thing, its name still means something
    gains = {word: word.weight * max(least, idf(total, docs)) for word, docs in rarity.items()}
    chosen = sorted((word for word in rarity if rarity[word]), key=lambda word: (-word.weight, rarity[word]))
    chosen = chosen[: limits.words]
    tokens = [[room.token(stem) for room in places for stem in word.stems] for word in chosen]
    lists = [[token for token in group if token in standing] for group in tokens]
    tally = _gather(index, lists, [rarity[word] for word in chosen], limits)
    rough = _roughly(tally, chosen, gains, limits.weighed)
    scale = _scale(gains, rarity, total, policy)
    best: dict[int, LexicalHit] = {}
    for hit in _weigh(index, rough, places, gains, policy):
        if hit.id not in best or best[hit.id].relevance < hit.relevance:
            best[hit.id] = hit
    order = sorted(best.values(), key=lambda hit: (-hit.relevance, -hit.id))
    steepness = policy.steepness / scale
    return [LexicalHit(hit.id, math.tanh(steepness * hit.relevance), hit.matched, hit.text) for hit in order]


def idf(total: int, docs: int) -> float:
    """Compute the inverse document frequency of BM25."""
    return math.log(1 + (total - docs + 0.5) / (docs + 0.5))


def _scale(
    gains: Mapping[QueryTerm, float], rarity: Mapping[QueryTerm, int], total: int, policy: RecallPolicy
) -> float:
    """Compute the score of a full match. Unknown words count less: people say new things."""
    rarest = idf(total, 1)
    values = [
        gains[word] if docs else policy.unknown_word_weight * word.weight * rarest for word, docs in rarity.items()
    ]
    return sum(sorted(values, reverse=True)[: policy.words_of_full_match]) or 1.0


def _gather(
    index: Connection, groups: Sequence[Sequence[str]], rarity: Sequence[int], limits: SearchLimits
) -> dict[int, int]:
    """Gather documents with the words that each holds, as a bit mask.

    groups: of each word the tokens that stand for it.

    The rarest are read first, each up to a limit; of frequent ones, what two of them share is read as well.
    """
    order = sorted(range(len(groups)), key=lambda at: rarity[at])
    frequent = [at for at in order if rarity[at] > limits.postings_per_word][: limits.paired_words]
    together = [(one, other) for place, one in enumerate(frequent) for other in frequent[place + 1 :]]
    searches = [(at,) for at in order] + together + ([tuple(frequent)] if len(frequent) > 2 else [])
    masks: dict[int, int] = {}
    left = limits.postings
    for ats in searches:
        limit = min(left, limits.postings_per_word if len(ats) == 1 else limits.postings_per_pair)
        if limit <= 0:
            continue
        mask = sum(1 << at for at in ats)
        documents = posting_rows.documents_with(index, [groups[at] for at in ats], limit)
        if len(ats) == 1:
            left = max(left - len(documents), limits.postings_per_pair if frequent else 0)
        for document in documents:
            masks[document] = masks.get(document, 0) | mask
    return masks


def _roughly(
    tally: Mapping[int, int], chosen: Sequence[QueryTerm], gains: Mapping[QueryTerm, float], most: int
) -> list[int]:
    """Select the documents with the greatest idf of matched words, the newest first among equals."""
    groups: dict[int, list[int]] = {}
    for document, mask in tally.items():
        groups.setdefault(mask, []).append(document)
    worth = {mask: sum(gains[word] for at, word in enumerate(chosen) if mask >> at & 1) for mask in groups}
    found: list[int] = []
    for mask in sorted(groups, key=lambda mask: -worth[mask]):
        found += sorted(groups[mask], reverse=True)[: most - len(found)]
        if len(found) >= most:
            break
    return found


def _weigh(
    index: Connection,
    documents: Sequence[int],
    places: Sequence[Partition],
    gains: Mapping[QueryTerm, float],
    policy: RecallPolicy,
) -> Iterator[LexicalHit]:
    """Score each document by BM25, as the relevance of its source.

    Words are counted in the text as it is stored: a week's summary has hundreds, and few documents come to be shown.
    """
    usual = max(1.0, sum(room.words for room in places) / max(1, sum(room.docs for room in places)))
    inside = {room.id for room in places}
    meant = {f" {stem} ": word for word in gains for stem in word.stems}
    fixed, by_length = policy.bm25_k1 * (1 - policy.bm25_b), policy.bm25_k1 * policy.bm25_b / usual
    for document, room, text in posting_rows.document_texts(index, documents):
        if room not in inside:
            continue
        length, apart = fixed + by_length * (text.count(" ") + 1), f" {text.replace(' ', '  ')} "
        matched: dict[QueryTerm, int] = {}
        for stem, word in meant.items():
            if count := apart.count(stem):
                matched[word] = max(matched.get(word, 0), count)
        value = 0.0
        for word, count in matched.items():
            value += gains[word] * min(1.0, count * (policy.bm25_k1 + 1) / (count + length))
        stems = tuple(word.stems[0] for word in matched)
        yield LexicalHit(source_of(document)[1], value, stems, text)
