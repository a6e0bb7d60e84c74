"""Thresholds of recall, and of embedding and comparing vectors."""

from dataclasses import field

from kenobot.ports.frozen import dataclass


@dataclass(frozen=True, slots=True)
class RecallPolicy:
    """Thresholds of recall."""

    max_query_words: int = 8  # words of a message that are looked up
    postings_per_word: int = 256  # newest documents read for one word
    max_postings: int = 1024  # read for all words
    paired_words: int = 3  # words with longer lists that are also looked up in pairs
    postings_per_pair: int = 120  # documents read for a pair
    max_weighed: int = 80  # documents whose words are counted exactly
    share_beside_vectors: float = 0.25  # share of these limits where vectors are searched as well
    max_weighed_past: int = 24  # superseded documents weighed
    max_query_words_past: int = 4  # words looked up among superseded ones
    records_per_subject: int = 40  # read for one name
    max_candidates: int = 28  # by words, and as many by vectors
    shortlist: int = 3  # times `limit`: candidates read at first
    shortlist_beside: int = 2  # the same, where vectors tell more
    unknown_word_weight: float = 0.35  # of a word that memory has never seen, against its rarest
    min_word_weight: float = 0.1  # of a known word, likewise
    words_of_full_match: int = 4  # query words
    steepness: float = 1.2  # how fast a partial match counts as a full one
    bm25_k1: float = 1.2
    bm25_b: float = 0.6

    relevance: float = 0.50  # weight in a score
    importance: float = 0.20  # weight
    recency: float = 0.10  # weight
    stability: float = 0.05  # weight
    subject: float = 0.15  # weight
    when_asked: float = 0.25  # share of importance and recency for a question answered by vectors
    most_stable: float = 5.0  # stability that counts fully
    insight_factor: float = 0.5  # of the score of `insight_categories`
    insight_categories: tuple[str, ...] = ("insight", "meta")
    min_relevance: float = 0.20  # of what is recalled
    mention_relevance: float = 0.30  # of a record about a named subject
    max_past: int = 8  # superseded records found
    max_nearest: int = 12  # records kept for a question however low their relevance
    falloff: float = 1.0  # how fast relevance falls behind the best
    turn_words: int = 16  # looked up among turns
    turn_list: int = 300  # newest turns read of each word
    turn_postings: int = 2400  # of all words
    frequent_share: float = 0.1  # of turns: a word of more, and of more than `turn_list`, is left beside rarer ones
    max_turns_read: int = 250  # for their words
    max_ranked_turns: int = 120  # of a search
    max_near_turns: int = 100  # for their vectors
    per_better_turn: float = 0.1  # taken from a turn's score for each better one of its segment, with an assistant
    turns_weighed: int = 24  # best turns whose rare words are counted
    turns_with_neighbours: int = 30  # best turns read with their neighbours
    stretches: int = 4  # best stretches of talk read whole
    long_stretches: int = 50  # stretches of talk weighed
    # Added to a score.
    lifecycle: dict[str, float] = field(
        default_factory=lambda: {
            "active": 0.05, "validated": 0.03, "candidate": -0.01, "stale": -0.06, "archived": -0.08,
        }
    )  # fmt: skip
    disputed: float = -0.12
    faded: float = -0.05
    hide_stale: bool = False  # leave such records out
    approval: float = 0.05  # score of each yes
    most_approval: float = 0.15  # score of all
    objection: float = 0.10  # score taken by each no
    most_objection: float = 0.30  # score taken by all

    share_per_step: float = 0.8  # of a memory's score that each step along a link keeps
    parents: int = 3  # memories whose links are followed
    max_linked: int = 1  # linked memories where others fill all places
    reserved_for_linked: int = 2  # places
    diversity: float = 0.7  # weight of a memory's score against its likeness to better ones

    strong_from: float = 0.5  # relevance of a memory that makes excerpts needless, where nothing is asked
    max_excerpts: int = 12
    excerpt_tokens: int = 96  # of each
    message_tokens: int = 60  # of a person's message to the assistant, in a prompt, which quotes replies beside them
    reply_tokens: int = 128  # of a reply there
    limit: int = 12  # memories and excerpts
    fusion_offset: int = 5  # places before the first, where several searches are put into one order
    memory_falloff: float = 1.2  # exponent of a place among memories: how fast an answer there becomes unlikely
    turn_falloff: float = 0.8  # the same among turns
    budget: int = 1200  # tokens
    minimal_share: float = 0.4  # of both, for an order to a machine
    low_up_to: float = 0.35  # relevance
    high_from: float = 0.6  # relevance
    best_fits_from: float = 0.25  # probability that the best memory is about a question; below, none is shown
    fits_from: float = 0.1  # the same of each other memory
    fits_by_words_from: float = 0.7  # relevance by words from which a memory is about a question in any case
    none_below: float = 0.43  # probability of an answer; below, memory says that it does not know
    low_below: float = 0.47  # the same
    medium_below: float = 0.6  # the same; from it on confidence is high

    stability_per_use: float = 0.1  # gained by being shown
    again_minutes: float = 60.0  # until a use of the same memory counts again


@dataclass(frozen=True, slots=True)
class MeaningPolicy:
    """Thresholds of embedding, and of searching and comparing vectors."""

    exact_up_to: int = 2048  # vectors compared one by one; of more, `shortlist` are chosen by their signs
    shortlist: int = 1024
    records: int = 60  # found for a message
    past: int = 12  # superseded records found for a message
    max_turns_compared: int = 200_000  # newest turns
    relevant_from: float = 0.5  # where relevance begins, between an unrelated text (0) and the usual answer (1)
    fully_relevant_from: float = 2.0  # where relevance is 1, on the same scale
    passage_chars: int = 1000  # of a text that is embedded
    query_chars: int = 300  # of a query that are embedded
    cached_texts: int = 512  # vectors of texts in memory, of each kind
    query_seconds: float = 1.0  # waited for the embedding of a query
    settle_seconds: float = 0.25  # of these, for records just remembered
    prepare_seconds: float = 0.4  # waited for the embedding of a candidate
    page_rows: int = 2000  # read at a time
    resync_from_rows: int = 1000  # new rows that start a full synchronisation
    max_batch: int = 32  # texts
    grow_batch_below_seconds: float = 0.1  # of one batch
    shrink_batch_above_seconds: float = 0.25  # of one batch
    first_backoff_seconds: float = 5.0
    max_backoff_seconds: float = 600.0
    trip_after_failures: int = 3  # in a row, after which queries do not wait for the model
    cooldown_seconds: float = 60.0  # for so long
