"""Read the procedures that fit a message, as the section "What worked before"."""

from collections.abc import Callable

from kenobot.cognitive.procedural import pattern_rows
from kenobot.cognitive.procedural.pattern import MatchedPattern, Pattern, best_matches, match_patterns, patterns_of
from kenobot.cognitive.recall.results.memory import NO_MEMORY, MemoryPack, MemoryQuery
from kenobot.cognitive.recall.results.render import render_record
from kenobot.cognitive.recall.search.on_show import ShownTexts
from kenobot.cognitive.store import records
from kenobot.core.token_estimate import estimate_tokens
from kenobot.ports.recall import DIGITS, MatchExplanation, MemoryEntry
from kenobot.storage.connection import Connection

HEADING = "### What worked before"
_WIDER = 4  # times as many are read as are shown: the prompt shows some already


def read_procedures(connection: Connection, query: MemoryQuery, on_show: Callable[[], str]) -> MemoryPack:
    """Read the patterns within reach that fit the message well enough and are not in the prompt already.

    on_show: makes the text of memory that the prompt shows; most messages call for no pattern, and need none of it.
    """
    policy = query.policy.procedural
    candidates = pattern_rows.live_texts(connection, query.reach, policy.max_matched)
    if not candidates:
        return NO_MEMORY
    numbers = best_matches(candidates, query.text, policy.min_score, _WIDER * policy.max_shown)
    if not numbers:
        return NO_MEMORY
    patterns = patterns_of(records.by_ids(connection, numbers, query.reach).values())
    left, shown = policy.max_tokens - estimate_tokens(HEADING), on_show()
    lines: list[str] = []
    entries: list[MemoryEntry] = []
    for fit in match_patterns(patterns, query.text):
        if fit.score < policy.min_score or len(lines) == policy.max_shown:
            break
        if render_record(fit.pattern.record) in ShownTexts(shown):
            continue
        line = _line(fit.pattern)
        left -= estimate_tokens(f"{line}\n")
        if left < 0:
            break
        lines.append(line)
        entries.append(MemoryEntry(fit.pattern.id, "procedures", _explain(fit)))
    if not lines:
        return NO_MEMORY
    return MemoryPack({"procedures": "\n".join([HEADING, *lines])}, tuple(lines), tuple(entries))


def _line(pattern: Pattern) -> str:
    times = pattern.record.use_count
    used = "not tried yet" if not times else f"tried {times} time{'' if times == 1 else 's'}"
    return f"- {render_record(pattern.record)} _(confidence {pattern.confidence:.2f}, {used})_"


def _explain(fit: MatchedPattern) -> MatchExplanation:
    coverage, confidence = round(fit.coverage, DIGITS), round(fit.pattern.confidence, DIGITS)
    parts = {"coverage": coverage, "confidence": confidence}
    return MatchExplanation(fit.pattern.id, round(fit.score, DIGITS), coverage, parts, ("practice",), fit.matched_words)
