"""Merge duplicates: records of one scope and subject that say the same become one.

`admit` merges what it finds while it admits. What came by an import, an edit or in other words, and what its short
look did not find, is merged here by the same rules. What might be one goes to a model first; unread it stays.
"""

from collections.abc import Iterator, Sequence

from kenobot.cognitive.sleep import pass_rows
from kenobot.cognitive.sleep.consolidate.near_pairs import RecordPair, near_pairs
from kenobot.cognitive.sleep.consolidate.pair_review import PairReview
from kenobot.cognitive.sleep.consolidate.pair_rules import classify_pair
from kenobot.cognitive.sleep.plan.changes import Change
from kenobot.cognitive.sleep.plan.passes import ModelQuestion, NightView, Pass

NAME = "duplicates"


def questions(view: NightView) -> Sequence[ModelQuestion]:
    """Ask about the pairs that may be one and of which the rules cannot tell."""
    return review_of(view).questions()


def plan(view: NightView) -> Iterator[Change]:
    """Merge each group of records that are one, and resolve what a model found to be contradictions."""
    review = review_of(view)
    yield from review.merge([pair for pair in review.pairs if review.relation(pair) == "repeat"])
    for pair in review.pairs:
        if review.verdicts.get(pair.ids) == "contradiction":
            yield from review.resolve(pair.one, pair.other)
    yield from review.mark_told_apart()


def review_of(view: NightView) -> PairReview:
    """Review the pairs that may be one: near enough, learned and not concluded, and not kept apart."""
    policy = view.policy.consolidation
    least = min(policy.duplicate_from, 2 * policy.same_line_above / (1 + policy.same_line_above))
    pairs = [
        pair
        for pair in near_pairs(view, least, NAME, lambda pair: classify_pair(pair, None, view.policy) == "independent")
        if (pair.nearness >= policy.duplicate_from or pair.one.tier == pair.other.tier == "core")
        and "sleep" not in (pair.one.source, pair.other.source)
        and not _kept_apart(view, pair)
    ]
    return PairReview(view, pairs, lambda _, by_rules: by_rules == "open")


def _kept_apart(view: NightView, pair: RecordPair) -> bool:
    """Whether two records are known to be in conflict, or decisions about both were undone."""
    one, other = pair.ids
    if pass_rows.are_in_conflict(view.connection, one, other):
        return True
    return pass_rows.was_ever_undone(view.connection, one) and pass_rows.was_ever_undone(view.connection, other)


PASS = Pass(NAME, "consolidate", "joins memories that say the same", plan, questions)
