"""What worked before when something like this happened: what procedural memory adds to one message's context.

The patterns that fit are shown as quoted data, few and short, beside what is recalled; being shown is being used, and
the person's next words tell how it went (`kenobot.cognitive.procedural.outcome`).
"""

from collections.abc import Iterable
from dataclasses import dataclass

from kenobot.cognitive.policy.procedural import DEFAULT, ProceduralPolicy
from kenobot.cognitive.procedural import pattern_rows
from kenobot.cognitive.procedural.match import MatchedPattern, best_matches, match_patterns
from kenobot.cognitive.procedural.pattern import Pattern, patterns_of
from kenobot.cognitive.recall.filters import is_in_prompt
from kenobot.cognitive.recall.full_load import render_record
from kenobot.cognitive.recall.xray import MatchExplanation
from kenobot.cognitive.store import records
from kenobot.cognitive.store.scopes import Scopes
from kenobot.core.token_estimate import estimate_tokens
from kenobot.storage.connection import Connection

HEADING = "### What worked before"
_DIGITS = 3
_WIDER = 4  # times as many are looked at as are shown: some are on show already


@dataclass(frozen=True, slots=True)
class ProcedureSection:
    """The section of a message's context, "" when nothing fits; and why each pattern in it is there."""

    text: str = ""
    lines: tuple[str, ...] = ()
    reasons: tuple[MatchExplanation, ...] = ()


def select_procedures(
    connection: Connection, message: str, reach: Scopes, shown: Iterable[str], policy: ProceduralPolicy = DEFAULT
) -> ProcedureSection:
    """The patterns within `reach` that fit `message` well enough and are not `shown` in the prompt already."""
    likely = pattern_rows.live_texts(connection, reach, policy.max_matched)
    numbers = best_matches(likely, message, policy.min_score, _WIDER * policy.max_shown)
    if not numbers:
        return ProcedureSection()
    known = patterns_of(records.by_ids(connection, numbers, reach).values())
    present = "".join(f"{text}\n" for text in shown if text)
    left = policy.max_tokens - estimate_tokens(HEADING)
    lines: list[str] = []
    because: list[MatchExplanation] = []
    for fit in match_patterns(known, message):
        if fit.score < policy.min_score or len(lines) == policy.max_shown:
            break
        if is_in_prompt(render_record(fit.pattern.record), present):
            continue
        line = _line(fit.pattern)
        left -= estimate_tokens(f"{line}\n")
        if left < 0:
            break
        lines.append(line)
        because.append(_why(fit))
    return ProcedureSection("\n".join([HEADING, *lines]), tuple(lines), tuple(because)) if lines else ProcedureSection()


def _line(pattern: Pattern) -> str:
    times = pattern.record.uses
    used = "not tried yet" if not times else f"tried {times} time{'' if times == 1 else 's'}"
    return f"- {render_record(pattern.record)} _(confidence {pattern.confidence:.2f}, {used})_"


def _why(fit: MatchedPattern) -> MatchExplanation:
    parts = {"coverage": round(fit.coverage, _DIGITS), "confidence": round(fit.pattern.confidence, _DIGITS)}
    return MatchExplanation(
        fit.pattern.id, round(fit.score, _DIGITS), round(fit.coverage, _DIGITS), parts, ("practice",), fit.matched_words
    )
