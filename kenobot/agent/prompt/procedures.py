"""What worked before when something like this happened: what procedural memory adds to one message's context.

The patterns that fit are shown as quoted data, few and short, beside what is recalled; being shown is being used, and
the person's next words tell how it went (`kenobot.cognitive.procedural.outcome`).
"""

from collections.abc import Iterable
from dataclasses import dataclass

from kenobot.cognitive.policy.practice import DEFAULT, PracticePolicy
from kenobot.cognitive.procedural import practice_store
from kenobot.cognitive.procedural.match import Match, best, match
from kenobot.cognitive.procedural.pattern import Pattern, patterns_of
from kenobot.cognitive.recall.filters import is_on_show
from kenobot.cognitive.recall.full_load import show
from kenobot.cognitive.recall.xray import Why
from kenobot.cognitive.store import records
from kenobot.cognitive.store.scopes import Reach
from kenobot.core.token_estimate import estimate
from kenobot.storage.connection import Connection

HEADING = "### What worked before"
_DIGITS = 3
_WIDER = 4  # times as many are looked at as are shown: some are on show already


@dataclass(frozen=True, slots=True)
class Offer:
    """The section of a message's context, "" when nothing fits; and why each pattern in it is there."""

    text: str = ""
    lines: tuple[str, ...] = ()
    because: tuple[Why, ...] = ()


def offer(
    connection: Connection, message: str, reach: Reach, shown: Iterable[str], policy: PracticePolicy = DEFAULT
) -> Offer:
    """The patterns within `reach` that fit `message` well enough and are not `shown` in the prompt already."""
    likely = practice_store.likely(connection, reach, policy.read)
    numbers = best(likely, message, policy.least, _WIDER * policy.shown)
    if not numbers:
        return Offer()
    known = patterns_of(records.by_ids(connection, numbers, reach).values())
    present = "".join(f"{text}\n" for text in shown if text)
    left = policy.tokens - estimate(HEADING)
    lines: list[str] = []
    because: list[Why] = []
    for fit in match(known, message):
        if fit.score < policy.least or len(lines) == policy.shown:
            break
        if is_on_show(show(fit.pattern.record), present):
            continue
        line = _line(fit.pattern)
        left -= estimate(f"{line}\n")
        if left < 0:
            break
        lines.append(line)
        because.append(_why(fit))
    return Offer("\n".join([HEADING, *lines]), tuple(lines), tuple(because)) if lines else Offer()


def _line(pattern: Pattern) -> str:
    times = pattern.record.uses
    used = "not tried yet" if not times else f"tried {times} time{'' if times == 1 else 's'}"
    return f"- {show(pattern.record)} _(confidence {pattern.confidence:.2f}, {used})_"


def _why(fit: Match) -> Why:
    parts = {"coverage": round(fit.coverage, _DIGITS), "confidence": round(fit.pattern.confidence, _DIGITS)}
    return Why(
        fit.pattern.id, round(fit.score, _DIGITS), round(fit.coverage, _DIGITS), parts, ("practice",), fit.matched
    )
