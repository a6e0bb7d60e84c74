"""Learn from the person's next message whether a pattern worked.

Only a short, plain message counts, only for a pattern whose response the reply has used, and once for each reply.
"""

from collections.abc import Collection
from datetime import datetime, timedelta

from kenobot.cognitive.beliefs.value import clamp
from kenobot.cognitive.policy.procedural import DEFAULT, ProceduralPolicy
from kenobot.cognitive.procedural import pattern_rows
from kenobot.cognitive.procedural.pattern import Pattern, patterns_of
from kenobot.cognitive.store import records as store
from kenobot.cognitive.store.change import change
from kenobot.language.calendar import parse_time
from kenobot.language.outcomes import detect_outcome
from kenobot.language.problem_words import keyword_coverage
from kenobot.ports.identity import Principal
from kenobot.ports.memory_changes import ChangeContext
from kenobot.ports.sentences import Sentence
from kenobot.storage.connection import Connection
from kenobot.storage.scopes import Scopes


def is_too_old(moment: str, at: datetime, hours: float) -> bool:
    """Tell whether a reply of that moment is too long ago for what is said `at` to be about it."""
    when = parse_time(moment)
    return when is None or at - when > timedelta(hours=hours)


def apply_outcome(
    connection: Connection,
    session: str,
    text: str,
    principal: Principal,
    at: datetime,
    judged: Collection[int] = (),
    policy: ProceduralPolicy = DEFAULT,
) -> list[int]:
    """Move the confidence of the patterns in the session's last replies by the outcome in `text`, and return them.

    Runs in the turn's transaction, before the turn is written. judged: records that the message reacted to already.
    """
    outcome = detect_outcome(text) if principal.trust in ("owner", "guest") else None
    if outcome is None:
        return []
    step = policy.gain_when_worked if outcome == "worked" else -policy.loss_when_failed
    for trial in pattern_rows.recent_replies(connection, session, policy.max_trials):
        if is_too_old(trial.at, at, policy.trial_hours):
            break
        used = [
            pattern
            for pattern in _list_shown(connection, trial.records, principal.read_scopes)
            if keyword_coverage(pattern.response, trial.reply) >= policy.used_from_share
        ]
        if not used:
            continue
        moved = [p for p in used if p.id not in judged and not pattern_rows.has_outcome(connection, p.id, trial.inbox)]
        act = ChangeContext(at, principal.role, Sentence("reasons.they_said_of_it", words=text.strip()[:80]), session)
        for pattern in moved:
            # Recorded also where confidence cannot move. No prompt prefix shows patterns, so prompts stay valid.
            values = {"confidence": round(clamp(pattern.confidence + step), 6)}
            change(connection, pattern.record, outcome, values, act, shown=False, data={"inbox": trial.inbox})
        return [pattern.id for pattern in moved]
    return []


def _list_shown(connection: Connection, records: Collection[int], reach: Scopes) -> list[Pattern]:
    found = store.by_ids(connection, list(records), reach)
    return patterns_of(found[number] for number in records if number in found and found[number].status == "active")
