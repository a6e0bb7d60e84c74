"""The night: every pass of sleep, in the order in which they run; each sees what those before it left."""

from kenobot.cognitive.sleep.consolidate import (
    distil,
    entities,
    hygiene,
    identity,
    patterns,
    profile,
    promote,
    synthesize,
    weeks,
)
from kenobot.cognitive.sleep.consolidate.pairs import pair_review
from kenobot.cognitive.sleep.improve import errors, guidelines, proposals
from kenobot.cognitive.sleep.plan.passes import Pass
from kenobot.cognitive.sleep.prune import commitments, endings, tiers

CONSOLIDATOR: tuple[Pass, ...] = (
    *(promote.PASS, patterns.PASS, pair_review.DUPLICATES, pair_review.CONTRADICTIONS, entities.PASS, profile.PASS),
    *(weeks.PASS, distil.PASS, hygiene.PASS, synthesize.PASS, guidelines.PASS, identity.PASS),
)
ERROR_ANALYZER: tuple[Pass, ...] = (errors.PASS,)
MEMORY_PRUNER: tuple[Pass, ...] = (
    *(endings.EXPIRY, commitments.PASS, endings.ARCHIVAL, tiers.TIERS, endings.LIFECYCLE, endings.BELIEFS),
    *(endings.SCRATCHPADS, tiers.DAILIES, endings.PATTERNS),
)
SELF_IMPROVER: tuple[Pass, ...] = (proposals.PASS,)

NIGHT: tuple[Pass, ...] = (*CONSOLIDATOR, *ERROR_ANALYZER, *MEMORY_PRUNER, *SELF_IMPROVER)
