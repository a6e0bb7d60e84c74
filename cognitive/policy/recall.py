"""Thresholds of recall. The score's weights are the Personal AI seed's, the lifecycle's are Engram's."""

from dataclasses import dataclass, field
from typing import Literal

RecallNeed = Literal["no_recall", "minimal", "full"]


@dataclass(frozen=True, slots=True)
class RecallPolicy:
    """How memories are looked for, valued and packed.

    Looking: max_query_words: words of a message that are looked up. postings_per_word: newest documents read for one
    word; max_postings: for all
    together; paired_words: of the words with longer lists, how many are also looked up in pairs; postings_per_pair:
    documents
    read for a pair. max_weighed: documents whose words are counted exactly; max_weighed_past, max_query_words_past:
    of what no
    longer holds; share_beside_vectors: share of list, postings, frequent, meeting and what is weighed and rarest of
    the past,
    where meaning is looked at as well. max_candidates: candidates taken of those, and as many of the nearest in
    meaning;
    shortlist: times the limit, so many of all candidates are read at first; shortlist_beside: where meaning tells
    more of them before. records_per_subject: records read for one name.
    borrow_below_words: a message with fewer words of its own borrows those said before, at `borrowed_weight` of their
    weight.
    unknown_word_weight: weight of a word that memory has never seen, against the rarest that it has; min_word_weight:
    least weight of
    one that it has, likewise. words_of_full_match: words that make a full match. steepness: how fast a partial match
    counts as
    one. bm25_k1, bm25_b: of BM25. max_past: found among what no longer holds. max_nearest: records that fit best
    that a question is given, however well. falloff: how fast what fits less falls behind the best. Turns:
    turn_words: words that are looked up, turn_list: newest turns of each, turn_postings: of all together; talk:
    turns that are read for them, max_near_turns: for their meaning; turns_with_neighbours: of the best, so many are
    read with their
    neighbours; long_stretches: stretches of talk that are max_weighed, stretches: of the best, so many are read whole;
    max_ranked_turns: turns that come out of it.
    Valuing: relevance, importance, recency, stability, subject: weights of a score; when_asked: so much of importance
    and recency counts for a question whose answer is looked for by meaning. insight_factor: what `insight_categories`
    are multiplied
    by. min_relevance: least relevance. mention_relevance: relevance of what is about somebody named. lifecycle,
    disputed, faded:
    added to a score. hide_stale: leave such records out. approval, objection: of the person's own yes and no.
    share_per_step: share of a memory's value that each step along a link leaves; parents: memories whose links are
    followed; max_linked: so many links far where other memories take up all places. diversity: weight of a memory's own
    value against its likeness to better ones. Packing: limit, budget: memories and tokens. minimal_share: share of both
    for an order to a machine. reserved_for_linked: places of neighbours. strong_from: relevance of a memory that
    makes excerpts of
    the talk needless; max_excerpts: how many otherwise; excerpt_tokens: of each. profile_tokens: cap of the profile.
    low_up_to, high_from: relevance up to which confidence is low, and from which it is high; none_below, low_below,
    medium_below: the
    same of how likely a memory answers a question: below, none, low, medium. stability_per_use: what being shown adds
    to stability; again_minutes: so long a frame that is made anew does not count what was used already. frame_share:
    how much of the memory budget a frame takes when each message is searched for anyway.
    """

    max_query_words: int = 8
    postings_per_word: int = 256
    max_postings: int = 1024
    paired_words: int = 3
    postings_per_pair: int = 120
    max_weighed: int = 80
    share_beside_vectors: float = 0.25
    max_weighed_past: int = 24
    max_query_words_past: int = 4
    records_per_subject: int = 40
    max_candidates: int = 28
    shortlist: int = 3
    shortlist_beside: int = 2
    borrow_below_words: int = 3
    borrowed_weight: float = 0.4
    unknown_word_weight: float = 0.35
    min_word_weight: float = 0.1
    words_of_full_match: int = 4
    steepness: float = 1.2
    bm25_k1: float = 1.2
    bm25_b: float = 0.6

    relevance: float = 0.50
    importance: float = 0.20
    recency: float = 0.10
    stability: float = 0.05
    subject: float = 0.15
    when_asked: float = 0.25
    most_stable: float = 5.0
    insight_factor: float = 0.5
    insight_categories: tuple[str, ...] = ("insight", "meta")
    min_relevance: float = 0.20
    mention_relevance: float = 0.30
    max_past: int = 8
    max_nearest: int = 12
    falloff: float = 1.0
    turn_words: int = 10
    turn_list: int = 300
    turn_postings: int = 2400
    max_turns_read: int = 250
    max_ranked_turns: int = 120
    max_near_turns: int = 100
    turns_with_neighbours: int = 30
    stretches: int = 4
    long_stretches: int = 50
    lifecycle: dict[str, float] = field(
        default_factory=lambda: {
            "active": 0.05,
            "validated": 0.03,
            "candidate": -0.01,
            "stale": -0.06,
            "archived": -0.08,
        }
    )
    disputed: float = -0.12
    faded: float = -0.05
    hide_stale: bool = False
    approval: float = 0.05
    most_approval: float = 0.15
    objection: float = 0.10
    most_objection: float = 0.30

    share_per_step: float = 0.8
    parents: int = 3
    max_linked: int = 1
    reserved_for_linked: int = 2
    diversity: float = 0.7

    strong_from: float = 0.5
    max_excerpts: int = 4
    excerpt_tokens: int = 160
    limit: int = 12
    budget: int = 1200
    minimal_share: float = 0.4
    profile_tokens: int = 200
    low_up_to: float = 0.35
    high_from: float = 0.6
    none_below: float = 0.43
    low_below: float = 0.47
    medium_below: float = 0.6

    stability_per_use: float = 0.1
    again_minutes: float = 60.0
    frame_share: float = 0.5
