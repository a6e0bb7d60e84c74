"""Search the index for documents that share words with a message, by BM25.

No postings list is read to its end: the rarest words decide, and a limit bounds each list.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Self

from kenobot.cognitive.policy.recall import RecallPolicy
from kenobot.cognitive.recall.index import posting_rows
from kenobot.cognitive.recall.index.documents import name_key, source_of
from kenobot.cognitive.recall.index.posting_rows import Partition
from kenobot.language.fingerprint import OWNER_SUBJECT
from kenobot.language.lexicon import STOPWORDS
from kenobot.language.question.question import Question, parse_question
from kenobot.language.words import fold, search_stems, words
from kenobot.storage.connection import Connection

_FIRST, _LAST = 80, 40  # words of a long message that are looked at: people say what it is about at either end
_LONGEST_NAMING = 120  # words of a message in which names are looked for
LONGEST_NAME = 3  # words of the longest name
_UNSPACED_NAMES = (2, 3, 4)
_FIRST_PERSON = frozenset(
    "i i'm im i've i'd i'll me my mine myself we our ours yo mi mis mio mia mios mias me conmigo nosotros nosotras "
    "nuestro nuestra nuestros nuestras soy tengo vivo".split()
)

_CALLED = frozenset("called llama llaman llamo llamas llamaba".split())


@dataclass(frozen=True, slots=True, eq=False)
class QueryTerm:
    """A word that is looked for, by any of its stems. weight: 1, or less when it was only said before.

    Each is one of its message and no other, which is what a dictionary of them goes by.
    """

    stems: tuple[str, ...]
    weight: float = 1.0


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
    """How much of an index a search reads.

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


@dataclass(frozen=True, slots=True)
class ParsedQuery:
    """Terms and names of a message."""

    terms: tuple[QueryTerm, ...]
    names: tuple[str, ...] = ()
    first_person: bool = False


def parse_query(question: Question, before: str, policy: RecallPolicy) -> ParsedQuery:
    """Parse a message. A short one, such as "and hers?", borrows words of the text before it."""
    own = question.said
    naming = _CALLED if question.answer_type == "name" else frozenset[str]()
    found = {_stems(word): policy.naming_weight if word in naming else 1.0 for word in _ends(own)}
    if len(found) < policy.borrow_below_words:
        for word in _ends(words(before)):
            found.setdefault(_stems(word), policy.borrowed_weight)
    speaker = any(word in _FIRST_PERSON for word in own)
    return ParsedQuery(
        tuple(QueryTerm(each, weight) for each, weight in found.items()), name_spans(question.text), speaker
    )


def with_names(query: ParsedQuery, names: Sequence[str]) -> ParsedQuery:
    """Add the names of people whom a query means without naming them."""
    held = {word.stems for word in query.terms}
    fresh = [QueryTerm(each) for each in dict.fromkeys(map(_stems, map(fold, names))) if each not in held]
    return replace(query, terms=(*query.terms, *fresh), names=(*query.names, *map(name_key, names)))


def _ends(said: Sequence[str]) -> list[str]:
    """Select the distinct content words; of very many the first and the last.

    What is left of a genitive is none: the "s" of "my brother's name" would match that of every other.
    """
    genitives = {"s"} if any(word.endswith("'s") for word in said) else set[str]()
    meant = list(dict.fromkeys(word for word in said if word not in STOPWORDS and word not in genitives))
    return meant if len(meant) <= _FIRST + _LAST else meant[:_FIRST] + meant[-_LAST:]


def name_spans(text: str) -> tuple[str, ...]:
    """List every span of a message that may be a name, as a name key."""
    parts = name_key(" ".join(fold(text).split()[:_LONGEST_NAMING])).split()
    spans = [
        " ".join(parts[at : at + size]) for size in range(1, LONGEST_NAME + 1) for at in range(len(parts) - size + 1)
    ]
    long = [part for part in parts if not part.isascii()]
    spans += [
        part[at : at + size] for part in long for size in _UNSPACED_NAMES for at in range(len(part[:64]) - size + 1)
    ]
    return tuple(dict.fromkeys(spans))


def find_mentioned(index: Connection, scopes: Sequence[str] | None, query: ParsedQuery) -> MentionedSubjects:
    """Find the known subjects that a message names by whole words, also in the genitive, or by an alias."""
    found = posting_rows.subjects_named(index, scopes, query.names) if query.names else ()
    return MentionedSubjects(frozenset(found), query.first_person)


def search_records(
    index: Connection, scopes: Sequence[str] | None, text: str, policy: RecallPolicy
) -> list[LexicalHit]:
    """Search the live records of `scopes` (None: of all) for `text`, best first."""
    places, query = posting_rows.partitions(index, scopes, ("record",)), parse_query(parse_question(text), "", policy)
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


def _stems(word: str) -> tuple[str, ...]:
    return tuple(stem.replace("'", "’") for stem in search_stems(word))


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
    """Documents by which words they hold, as a bit mask. groups: of each word the tokens that stand for it.

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
