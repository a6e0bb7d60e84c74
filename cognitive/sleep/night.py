"""The night: every pass of sleep, in the order in which they run. What a pass sees is what those before it left.

consolidate: promote, patterns, duplicates, contradictions, entities, profile, weeks, distil, hygiene, synthesize,
  topics, guidelines, identity
errors: errors
prune: expiry, commitments, archival, tiers, lifecycle, beliefs, scratchpads, dailies, practice
improve: proposals
"""

from kenobot.cognitive.sleep.consolidate import (
    contradictions,
    distil,
    duplicates,
    entities,
    guidelines,
    hygiene,
    identity,
    patterns,
    profile,
    promote,
    synthesize,
    weeks,
)
from kenobot.cognitive.sleep.errors import errors
from kenobot.cognitive.sleep.improve import proposals
from kenobot.cognitive.sleep.plan.passes import Pass
from kenobot.cognitive.sleep.prune import (
    archival,
    beliefs,
    commitments,
    dailies,
    expiry,
    lifecycle,
    practice,
    scratchpads,
    tiers,
)

_CONSOLIDATE: tuple[Pass, ...] = (
    promote.PASS,
    patterns.PASS,
    duplicates.PASS,
    contradictions.PASS,
    entities.PASS,
    profile.PASS,
    weeks.PASS,
    distil.PASS,
    hygiene.PASS,
    synthesize.PASS,
    guidelines.PASS,
    identity.PASS,
)
_ERRORS: tuple[Pass, ...] = (errors.PASS,)
_PRUNE: tuple[Pass, ...] = (
    expiry.PASS,
    commitments.PASS,
    archival.PASS,
    tiers.PASS,
    lifecycle.PASS,
    beliefs.PASS,
    scratchpads.PASS,
    dailies.PASS,
    practice.PASS,
)
_IMPROVE: tuple[Pass, ...] = (proposals.PASS,)

NIGHT: tuple[Pass, ...] = (*_CONSOLIDATE, *_ERRORS, *_PRUNE, *_IMPROVE)
